//! Measures guesses where the lanes do not help: where answers are many, where candidates have weights, and where answers
//! are an order.
//!
//! To compare each cell with each of 243 classes takes longer than to count the cells one by one, which is what is done
//! here. And how a number splits the candidates is seen from its place among them.

use super::{Guesses, Scan};
use crate::{
    budget::Stopped,
    kernel::{Columns, LANES, Probe},
    partition::{Cells, Tally},
};

impl Scan<'_> {
    /// Guesses one after the other, cells one by one; candidates with their weights, if they have some.
    pub(super) fn each(&mut self, guesses: &Guesses<'_>, against: &[u32]) -> Result<(), Stopped> {
        let game = self.question.game;
        let answers = game.rules().answers();
        let mut columns = Columns::counted(game.rules(), against.len());
        game.space().gather(against, &mut columns);
        let mut cells = vec![0; against.len().next_multiple_of(LANES) * answers.planes()];
        let weigh = |_| -> Vec<u32> {
            against.iter().map(|&candidate| self.question.weight(candidate)).collect()
        };
        let weights = self.question.weights.map(weigh);
        let mut tally = Tally::new(answers);
        let mut sizes = Vec::with_capacity(against.len().min(answers.count()));
        for at in 0..guesses.len() {
            self.budget.check()?;
            let guess = guesses.get(at);
            let probe = Probe::guess(&game.code(guess), game.rules().feedback());
            self.kernel.score(&probe, &columns, &mut cells);
            let cells = Cells { padded: &cells, count: against.len() };
            match &weights {
                None => tally.add(cells),
                Some(weights) => {
                    for (at, &weight) in weights.iter().enumerate() {
                        tally.weigh(cells.class(answers, at), weight);
                    }
                }
            }
            sizes.clear();
            sizes.extend(tally.take_any());
            self.offer(guess, &sizes);
            if self.best.is_perfect() {
                break;
            }
        }
        Ok(())
    }

    /// Numbers by their place: what is before it is lower, what is behind it higher.
    pub(super) fn places(&mut self, guesses: &Guesses<'_>, against: &[u32]) -> Result<(), Stopped> {
        for at in 0..guesses.len() {
            self.budget.check()?;
            let guess = guesses.get(at);
            let lower = against.partition_point(|&candidate| candidate < guess);
            let equal = usize::from(against.get(lower) == Some(&guess));
            let sizes = [lower, against.len() - lower - equal, equal].map(|size| size as u32);
            self.offer(guess, &sizes);
        }
        Ok(())
    }
}
