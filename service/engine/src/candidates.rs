//! What is still possible.

use std::ops::BitOrAssign;

use crate::{
    budget::{Budget, Stopped},
    game::Game,
    history::History,
    kernel::{Columns, Kernel, Probe},
    space::Numbers,
};

/// Codes scored between two looks at the stop flag: 64 turns of them take well under a millisecond.
pub(crate) const CHUNK: usize = 4096;

/// The codes that agree with a history, as ascending numbers of the space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates(Vec<u32>);

impl Candidates {
    /// These codes, ascending.
    pub(crate) fn from_sorted(codes: Vec<u32>) -> Candidates {
        Candidates(codes)
    }

    /// Their numbers, as [`indices`](Candidates::indices) tells them.
    pub(crate) fn into_indices(self) -> Vec<u32> {
        self.0
    }

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
    /// The secrets that agree with every turn of a history; none if it is contradictory.
    ///
    /// # Errors
    /// [`Stopped`] if the budget's flag was raised.
    pub fn candidates(&self, history: &History, budget: &Budget) -> Result<Candidates, Stopped> {
        let secrets = self.space().secrets();
        if history.turns().is_empty() {
            let mut all = Vec::with_capacity(secrets.len());
            for start in (0..secrets.len()).step_by(CHUNK) {
                budget.check()?;
                all.extend(secrets.part(start..secrets.len().min(start + CHUNK)).iter());
            }
            return Ok(Candidates(all));
        }
        Ok(Candidates(consistent(self, secrets, history, budget)?))
    }

    /// The guesses that agree with every turn of a history but cannot be the secret, as ascending numbers: of a game of
    /// words, those that are only on the list of guesses.
    ///
    /// # Errors
    /// [`Stopped`] if the budget's flag was raised.
    pub fn consistent_others(
        &self,
        history: &History,
        budget: &Budget,
    ) -> Result<Vec<u32>, Stopped> {
        let Numbers::Some(secrets) = self.space().secrets() else { return Ok(vec![]) };
        let mut all = consistent(self, Numbers::All(0, self.size()), history, budget)?;
        all.retain(|index| secrets.binary_search(index).is_err());
        Ok(all)
    }
}

/// Which of these guesses agree with every turn.
fn consistent(
    game: &Game,
    these: Numbers<'_>,
    history: &History,
    budget: &Budget,
) -> Result<Vec<u32>, Stopped> {
    let mut left = Vec::new();
    let mut kept = [0; CHUNK];
    mark(
        game,
        these,
        history,
        budget,
        |_, contradicts| u8::from(contradicts),
        |chunk, marks| {
            // Written first and kept only if it fits: no branch to guess.
            let mut count = 0;
            for (index, &contradicted) in chunk.iter().zip(marks) {
                kept[count] = index;
                count += usize::from(contradicted == 0);
            }
            left.extend_from_slice(&kept[..count]);
        },
    )?;
    left.shrink_to_fit();
    Ok(left)
}

/// Tells, for every secret in order, which turns of a history it contradicts, a bit a turn (the first turn is bit 0).
/// `visit` gets the numbers of a chunk of secrets and their turns.
pub(crate) fn scan(
    game: &Game,
    history: &History,
    budget: &Budget,
    visit: impl FnMut(Numbers<'_>, &[u64]),
) -> Result<(), Stopped> {
    let secrets = game.space().secrets();
    let mark_turn = |turn, contradicts| u64::from(contradicts) << turn;
    mark(game, secrets, history, budget, mark_turn, visit)
}

/// Joins, for each of these codes in order, the marks that it gets for each turn.
fn mark<T: Copy + Default + BitOrAssign>(
    game: &Game,
    these: Numbers<'_>,
    history: &History,
    budget: &Budget,
    mark: impl Fn(usize, bool) -> T,
    mut visit: impl FnMut(Numbers<'_>, &[T]),
) -> Result<(), Stopped> {
    let rules = game.rules();
    let answers = rules.answers();
    let probes: Vec<Probe> =
        history.turns().iter().map(|turn| Probe::guess(&turn.guess, rules.feedback())).collect();
    let mut columns = Columns::new(rules.length(), 0);
    let mut cells = vec![0; CHUNK * answers.planes()];
    let mut marks = [T::default(); CHUNK];
    for start in (0..these.len()).step_by(CHUNK) {
        budget.check()?;
        let chunk = these.part(start..these.len().min(start + CHUNK));
        let codes = game.space().columns(chunk, &mut columns);
        let marks = &mut marks[..chunk.len()];
        marks.fill(T::default());
        for (number, (probe, turn)) in probes.iter().zip(history.turns()).enumerate() {
            let cells = &mut cells[..codes.padded() * answers.planes()];
            Kernel::get().score(probe, codes, cells);
            for (plane, cells) in cells.chunks_exact(codes.padded()).enumerate() {
                let answer = answers.cell(turn.class, plane);
                for (marks, &cell) in marks.iter_mut().zip(cells) {
                    *marks |= mark(number, cell != answer);
                }
            }
        }
        visit(chunk, marks);
    }
    Ok(())
}
