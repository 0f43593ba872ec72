//! A strategy against every secret.

use crate::{
    budget::{Budget, Stopped},
    feedback::Class,
    game::Game,
    history::Turn,
    partition::classify,
    strategy::{Choice, rank},
};

/// How a strategy fares over all secrets of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// Guesses over all secrets, the winning ones included. Divide by the number of secrets for the mean.
    pub total: u64,
    /// Guesses that the worst secret takes.
    pub max: u32,
    /// How many secrets are found at guess 1, 2, and so on.
    pub histogram: Vec<u64>,
}

/// Plays a strategy against every secret of a game at once: secrets that have had the same answers so far share
/// the choice of the next guess.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
pub fn evaluate(game: &Game, choice: &Choice, budget: &Budget) -> Result<Evaluation, Stopped> {
    let winning = game.rules().answers().winning();
    let classes = game.rules().answers().list().len();
    let mut evaluation = Evaluation::default();
    // Sets of candidates yet to be split, with the turns that left them: no recursion, so no depth to bound.
    let mut open: Vec<(Vec<u32>, Vec<Turn>)> = vec![((0..game.size()).collect(), vec![])];
    while let Some((candidates, turns)) = open.pop() {
        let guess = rank(game, &turns, &candidates, choice, 1, budget)?.guesses[0];
        let guess = game.code(guess);
        let mut parts = vec![vec![]; classes];
        classify(game, &candidates, &guess, budget, |index, class| {
            parts[usize::from(class.0)].push(index);
        })?;
        let made = turns.len() as u32 + 1;
        for (class, part) in (0..).map(Class).zip(parts) {
            if class == winning {
                evaluation.count(made, part.len() as u64);
            } else if !part.is_empty() {
                let turns = turns.iter().copied().chain([Turn { guess, class }]).collect();
                open.push((part, turns));
            }
        }
    }
    Ok(evaluation)
}

impl Evaluation {
    pub(crate) fn count(&mut self, guesses: u32, secrets: u64) {
        if secrets > 0 {
            self.total += u64::from(guesses) * secrets;
            self.max = self.max.max(guesses);
            self.histogram.resize(self.max as usize, 0);
            self.histogram[guesses as usize - 1] += secrets;
        }
    }
}
