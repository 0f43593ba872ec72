//! A strategy against every secret.

use crate::{
    budget::{Budget, Stopped},
    game::Game,
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
    // Sets of candidates yet to be split, with the number of guesses made: no recursion, so no depth to bound.
    let mut open: Vec<(Vec<u32>, u32)> = vec![((0..game.size()).collect(), 0)];
    while let Some((candidates, made)) = open.pop() {
        let guess = rank(game, &candidates, choice, 1, budget)?.guesses[0];
        let mut parts = vec![vec![]; classes];
        classify(game, &candidates, &game.code(guess), budget, |index, class| {
            parts[usize::from(class.0)].push(index);
        })?;
        for (class, part) in parts.into_iter().enumerate() {
            if class == usize::from(winning.0) {
                evaluation.count(made + 1, part.len() as u64);
            } else if !part.is_empty() {
                open.push((part, made + 1));
            }
        }
    }
    Ok(evaluation)
}

impl Evaluation {
    fn count(&mut self, guesses: u32, secrets: u64) {
        if secrets > 0 {
            self.total += u64::from(guesses) * secrets;
            self.max = self.max.max(guesses);
            self.histogram.resize(self.max as usize, 0);
            self.histogram[guesses as usize - 1] += secrets;
        }
    }
}
