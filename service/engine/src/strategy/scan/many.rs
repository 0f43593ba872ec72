//! Measures guesses where the lanes do not help: where answers are many, where candidates have weights, and where answers
//! are an order.
//!
//! To compare each cell with each of 243 classes takes longer than to count the cells one by one, which is what is done
//! here. And how a number splits the candidates is seen from its place among them.

use super::{Guesses, Scan, TILE};
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
        // To gather millions takes longer than whoever has left should be waited for.
        let mut tiles = vec![];
        for tile in against.chunks(TILE) {
            self.budget.check()?;
            let mut columns = Columns::counted(game.rules(), tile.len());
            game.space().gather(tile, &mut columns);
            let weigh = |_| -> Vec<u32> {
                tile.iter().map(|&candidate| self.question.weight(candidate)).collect()
            };
            tiles.push((columns, tile.len(), self.question.weights.map(weigh)));
        }
        let most = against.len().min(TILE).next_multiple_of(LANES);
        let mut cells = vec![0; most * answers.planes()];
        let mut tally = Tally::new(answers);
        let mut sizes = Vec::with_capacity(against.len().min(answers.count()));
        for at in 0..guesses.len() {
            let guess = guesses.get(at);
            let probe = Probe::guess(&game.code(guess), game.rules().feedback());
            for (columns, count, weights) in &tiles {
                self.budget.check()?;
                let padded = &mut cells[..count.next_multiple_of(LANES) * answers.planes()];
                self.kernel.score(&probe, columns, padded);
                let cells = Cells { padded, count: *count };
                match weights {
                    None => tally.add(cells),
                    Some(weights) => {
                        for (at, &weight) in weights.iter().enumerate() {
                            tally.weigh(cells.class(answers, at), weight);
                        }
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
