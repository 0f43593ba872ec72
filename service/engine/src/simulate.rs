//! One game, played by a strategy to its end.

use crate::{
    budget::{Budget, Stopped},
    code::Code,
    game::Game,
    history::{History, MAX_TURNS, Turn},
    strategy::{Choice, suggest},
};

/// A turn that a strategy played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    /// The guess and the answer it got.
    pub turn: Turn,
    /// Candidates before it.
    pub remaining: usize,
    /// Whether the guess was known to be the best possible play.
    pub proven: bool,
}

/// Plays a strategy against a secret that agrees with the turns so far, until it is found or the history is full.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
///
/// # Panics
/// If the secret does not agree with the turns: which the caller checks.
pub fn simulate(
    game: &Game,
    history: &History,
    secret: &Code,
    choice: &Choice,
    budget: &Budget,
) -> Result<Vec<Played>, Stopped> {
    let winning = game.rules().answers().winning();
    let mut turns = history.turns().to_vec();
    let mut played = vec![];
    while turns.len() < MAX_TURNS && turns.iter().all(|turn| turn.class != winning) {
        let history = History::new(turns.clone()).expect("no more turns than a history may have");
        let candidates = game.candidates(&history, budget)?;
        let advice = suggest(game, &history, &candidates, choice, 1, budget)?;
        let guess = advice.suggestions[0].guess;
        let turn = Turn { guess, class: game.rules().score(&guess, secret) };
        let (remaining, proven) = (candidates.len(), advice.proven.is_some());
        played.push(Played { turn, remaining, proven });
        turns.push(turn);
    }
    Ok(played)
}
