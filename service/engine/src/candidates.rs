//! What is still possible.

use std::ops::BitOrAssign;

use crate::{
    budget::{Budget, Stopped},
    game::Game,
    history::History,
    kernel::{Columns, Kernel, Probe},
};

/// Codes scored between two looks at the stop flag: 64 turns of them take well under a millisecond.
pub(crate) const CHUNK: usize = 4096;

/// The codes that agree with a history, as ascending numbers of the space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates(Vec<u32>);

impl Candidates {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the history is contradictory.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their numbers, ascending: alphabet order.
    pub fn indices(&self) -> &[u32] {
        &self.0
    }

    /// Whether the code of this number is among them.
    pub fn contains(&self, index: u32) -> bool {
        self.0.binary_search(&index).is_ok()
    }
}

impl Game {
    /// The codes that agree with every turn of a history; none if it is contradictory.
    ///
    /// # Errors
    /// [`Stopped`] if the budget's flag was raised.
    pub fn candidates(&self, history: &History, budget: &Budget) -> Result<Candidates, Stopped> {
        if history.turns().is_empty() {
            return Ok(Candidates((0..self.size()).collect()));
        }
        let mut left = Vec::new();
        let mut kept = [0; CHUNK];
        mark(
            self,
            history,
            budget,
            |_, contradicts| u8::from(contradicts),
            |start, marks| {
                // Written first and kept only if it fits: no branch to guess.
                let mut count = 0;
                for (index, &contradicted) in (start..).zip(marks) {
                    kept[count] = index;
                    count += usize::from(contradicted == 0);
                }
                left.extend_from_slice(&kept[..count]);
            },
        )?;
        left.shrink_to_fit();
        Ok(Candidates(left))
    }
}

/// Tells, for every code of the space in order, which turns of a history it contradicts, a bit a turn (the first
/// turn is bit 0). `visit` gets the number of the first code of a chunk and the chunk.
pub(crate) fn scan(
    game: &Game,
    history: &History,
    budget: &Budget,
    visit: impl FnMut(u32, &[u64]),
) -> Result<(), Stopped> {
    mark(game, history, budget, |turn, contradicts| u64::from(contradicts) << turn, visit)
}

/// Joins, for every code of the space in order, the marks that it gets for each turn.
fn mark<T: Copy + Default + BitOrAssign>(
    game: &Game,
    history: &History,
    budget: &Budget,
    mark: impl Fn(usize, bool) -> T,
    mut visit: impl FnMut(u32, &[T]),
) -> Result<(), Stopped> {
    let rules = game.rules();
    let turns: Vec<(Probe, u8)> = history
        .turns()
        .iter()
        .map(|turn| (Probe::new(&turn.guess, rules.feedback()), rules.answers().cell(turn.class)))
        .collect();
    let mut columns = Columns::new(rules.length(), 0);
    let mut cells = vec![0; CHUNK];
    let mut marks = [T::default(); CHUNK];
    for start in (0..game.size()).step_by(CHUNK) {
        budget.check()?;
        let count = CHUNK.min((game.size() - start) as usize);
        let codes = game.space().view(start, count, &mut columns);
        marks[..count].fill(T::default());
        for (turn, (probe, answer)) in turns.iter().enumerate() {
            Kernel::get().score(probe, codes, &mut cells[..codes.padded()]);
            for (marks, cell) in marks[..count].iter_mut().zip(&cells) {
                *marks |= mark(turn, cell != answer);
            }
        }
        visit(start, &marks[..count]);
    }
    Ok(())
}
