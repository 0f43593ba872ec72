//! How one guess splits the candidates into feedback classes.

use crate::{
    budget::{Budget, Stopped},
    candidates::{CHUNK, Candidates},
    code::Code,
    feedback::{Answers, Class},
    game::Game,
    kernel::{Columns, Kernel, LANES, Probe},
    logarithm,
};

/// The size of every class, empty ones included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    counts: Vec<u32>,
}

/// A partition in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// The size of the largest class.
    pub largest_class: u32,
    /// The expected number of candidates left: the sum of squares over the candidates.
    pub expected_size: f64,
    /// The information in bits.
    pub bits: f64,
    /// Classes that are not empty.
    pub classes: u32,
}

impl Partition {
    pub(crate) fn new(counts: Vec<u32>) -> Partition {
        Partition { counts }
    }

    /// Candidates in each class, in class order.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Candidates in all.
    pub fn total(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// The partition in numbers; of no candidates, all are 0.
    pub fn facts(&self) -> Facts {
        let total = self.total();
        let squares: u64 = self.counts.iter().map(|&n| u64::from(n) * u64::from(n)).sum();
        let missing: u64 = self.counts.iter().map(|&n| logarithm::n_log_n(n)).sum();
        let per_candidate = |sum: f64| if total == 0 { 0.0 } else { sum / f64::from(total) };
        Facts {
            largest_class: self.counts.iter().copied().max().unwrap_or(0),
            expected_size: per_candidate(squares as f64),
            bits: per_candidate(logarithm::to_bits(logarithm::n_log_n(total) - missing)),
            classes: self.counts.iter().filter(|&&n| n > 0).count() as u32,
        }
    }

    /// The information that this answer gives, in bits: the negative logarithm of its share; 0 for an empty class.
    pub fn class_bits(&self, class: Class) -> f64 {
        match self.counts[usize::from(class.0)] {
            0 => 0.0,
            n => logarithm::to_bits(logarithm::log2(self.total()) - logarithm::log2(n)),
        }
    }
}

/// How a guess splits the candidates.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
pub fn partition(
    game: &Game,
    candidates: &Candidates,
    guess: &Code,
    budget: &Budget,
) -> Result<Partition, Stopped> {
    let mut counts = vec![0; game.rules().answers().list().len()];
    cells(game, candidates.indices(), guess, budget, |_, cells| {
        tally(game.rules().answers(), cells, &mut counts);
    })?;
    Ok(Partition::new(counts))
}

/// Adds the cells of a chunk to the size of each class.
pub(crate) fn tally(answers: &Answers, cells: Cells<'_>, counts: &mut [u32]) {
    Kernel::get().histogram(cells.padded, answers.cells(), counts);
    // Padding scores nothing, which is what the first class means.
    counts[0] -= (cells.padded.len() - cells.count) as u32;
}

/// The cells of some candidates, padded to a whole number of lanes with cells that score nothing.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    pub(crate) padded: &'a [u8],
    pub(crate) count: usize,
}

/// Tells the class of every candidate, in order.
pub(crate) fn classify(
    game: &Game,
    candidates: &[u32],
    guess: &Code,
    budget: &Budget,
    mut visit: impl FnMut(u32, Class),
) -> Result<(), Stopped> {
    cells(game, candidates, guess, budget, |chunk, cells| {
        for (&index, &cell) in chunk.iter().zip(cells.padded) {
            visit(index, game.rules().answers().of_cell(cell));
        }
    })
}

/// Runs through the candidates in chunks and their cells.
fn cells(
    game: &Game,
    candidates: &[u32],
    guess: &Code,
    budget: &Budget,
    mut visit: impl FnMut(&[u32], Cells<'_>),
) -> Result<(), Stopped> {
    let probe = Probe::new(guess, game.rules().feedback());
    let mut columns = Columns::new(game.rules().length(), 0);
    let mut cells = [0; CHUNK];
    for chunk in candidates.chunks(CHUNK) {
        budget.check()?;
        game.space().gather(chunk, &mut columns);
        let padded = &mut cells[..chunk.len().next_multiple_of(LANES)];
        Kernel::get().score(&probe, &columns, padded);
        visit(chunk, Cells { padded, count: chunk.len() });
    }
    Ok(())
}
