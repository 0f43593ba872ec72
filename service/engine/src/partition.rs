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

/// The classes that are not empty and how many candidates are in each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    parts: Vec<(Class, u32)>,
    /// What the candidates of each part weigh together, where some are more likely than others.
    weights: Option<Vec<u32>>,
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
    /// The classes that are not empty, in class order, with their candidates.
    pub fn parts(&self) -> &[(Class, u32)] {
        &self.parts
    }

    fn sizes(&self) -> impl Iterator<Item = u32> {
        self.parts.iter().map(|&(_, n)| n)
    }

    /// Candidates in a class.
    pub fn count(&self, class: Class) -> u32 {
        self.parts.binary_search_by_key(&class, |part| part.0).map_or(0, |at| self.parts[at].1)
    }

    /// Candidates in all.
    pub fn total(&self) -> u32 {
        self.sizes().sum()
    }

    /// What the candidates of each part weigh: one each, where all are as likely.
    fn weights(&self) -> impl Iterator<Item = u32> {
        let weights = self.weights.as_ref();
        self.parts.iter().enumerate().map(move |(at, &(_, n))| weights.map_or(n, |all| all[at]))
    }

    fn weight(&self, class: Class) -> u32 {
        let place = self.parts.binary_search_by_key(&class, |part| part.0);
        place.map_or(0, |at| self.weights.as_ref().map_or(self.parts[at].1, |all| all[at]))
    }

    /// The partition in numbers; of no candidates, all are 0. Where some candidates are more likely than others, so are
    /// what is expected and the bits.
    pub fn facts(&self) -> Facts {
        let total: u32 = self.weights().sum();
        let sizes = || self.weights().zip(self.sizes());
        let expected: u64 = sizes().map(|(weight, n)| u64::from(weight) * u64::from(n)).sum();
        let missing: u64 = self.weights().map(logarithm::n_log_n).sum();
        let per_candidate = |sum: f64| if total == 0 { 0.0 } else { sum / f64::from(total) };
        Facts {
            largest_class: self.sizes().max().unwrap_or(0),
            expected_size: per_candidate(expected as f64),
            bits: per_candidate(logarithm::to_bits(logarithm::n_log_n(total) - missing)),
            classes: self.parts.len() as u32,
        }
    }

    /// How likely this answer is: the share of its candidates, by what they weigh.
    pub fn share(&self, class: Class) -> f64 {
        f64::from(self.weight(class)) / f64::from(self.weights().sum::<u32>().max(1))
    }

    /// The information that this answer gives, in bits: the negative logarithm of its share; 0 for an empty class.
    pub fn class_bits(&self, class: Class) -> f64 {
        match self.weight(class) {
            0 => 0.0,
            n => logarithm::to_bits(logarithm::log2(self.weights().sum()) - logarithm::log2(n)),
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
    let partition = sizes(game, candidates.indices(), guess, budget)?;
    let weights = game.weights(candidates.indices(), budget)?;
    let Some(weights) = weights else { return Ok(partition) };
    let mut all = weights.into_iter();
    let mut tally = Tally::new(game.rules().answers());
    classify(game, candidates.indices(), guess, budget, |_, class| {
        tally.weigh(class, all.next().expect("a weight a candidate"));
    })?;
    Ok(Partition { weights: Some(tally.take().map(|(_, weight)| weight).collect()), ..partition })
}

/// How a guess splits a set, whatever its codes weigh.
pub(crate) fn sizes(
    game: &Game,
    set: &[u32],
    guess: &Code,
    budget: &Budget,
) -> Result<Partition, Stopped> {
    let mut tally = Tally::new(game.rules().answers());
    cells(game, set, guess, budget, |_, cells| tally.add(cells))?;
    Ok(tally.partition())
}

/// Answers of more classes than this, which only marks have, are counted one by one: to compare every cell with every
/// class takes longer. (Pegs of the longest codes have 90.)
pub(crate) const COMPARED: usize = 90;

/// From so many cells on, to look at every byte that a cell can be is a small part of counting them.
const BYTES_FROM: usize = 128;

/// Sizes of classes as they are counted.
pub(crate) struct Tally<'a> {
    answers: &'a Answers,
    /// Of every class; zero where none was met.
    counts: Vec<u32>,
    /// The classes that were met, where they are too many to look at all.
    met: Vec<u32>,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(answers: &'a Answers) -> Tally<'a> {
        Tally { answers, counts: vec![0; answers.count()], met: vec![] }
    }

    /// Adds a weight to a class.
    #[inline(always)]
    pub(crate) fn weigh(&mut self, class: Class, weight: u32) {
        let count = &mut self.counts[class.index()];
        if *count == 0 {
            self.met.push(class.0);
        }
        *count += weight;
    }

    /// Adds the cells of a chunk.
    pub(crate) fn add(&mut self, cells: Cells<'_>) {
        if self.counts.len() <= COMPARED {
            cells.add_to(Kernel::get(), self.answers, &mut self.counts);
        } else if self.answers.planes() == 1 && cells.count >= BYTES_FROM {
            self.add_bytes(&cells.padded[..cells.count]);
        } else {
            (0..cells.count).for_each(|at| self.weigh(cells.class(self.answers, at), 1));
        }
    }

    /// Adds many cells of a byte each. Most answers are alike, and to add to the same count again and again takes
    /// longer than to add to several in turn.
    fn add_bytes(&mut self, cells: &[u8]) {
        let mut counts = [[0_u32; 256]; 4];
        let (fours, rest) = cells.as_chunks::<4>();
        for four in fours {
            for (counts, &cell) in counts.iter_mut().zip(four) {
                counts[usize::from(cell)] += 1;
            }
        }
        rest.iter().for_each(|&cell| counts[0][usize::from(cell)] += 1);
        for (class, &cell) in (0..).zip(self.answers.cells()) {
            let count = counts.iter().map(|counts| counts[usize::from(cell)]).sum();
            if count > 0 {
                self.weigh(Class(class), count);
            }
        }
    }

    /// The classes that are not empty and their sizes, in class order; then all are empty.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (u32, u32)> {
        if self.counts.len() <= COMPARED {
            self.met.clear();
            let counts = &self.counts;
            self.met.extend((0..counts.len() as u32).filter(|&class| counts[class as usize] > 0));
        }
        self.met.sort_unstable();
        self.met.drain(..).map(|class| (class, std::mem::take(&mut self.counts[class as usize])))
    }

    /// The classes that are not empty; then all are empty.
    pub(crate) fn partition(&mut self) -> Partition {
        let parts = self.take().map(|(class, n)| (Class(class), n)).collect();
        Partition { parts, weights: None }
    }

    /// The sizes alone, of many classes, in any order.
    pub(crate) fn take_any(&mut self) -> impl Iterator<Item = u32> {
        self.met.drain(..).map(|class| std::mem::take(&mut self.counts[class as usize]))
    }
}

/// The cells of some candidates, padded to a whole number of lanes with cells that score nothing.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    /// One plane behind the other.
    pub(crate) padded: &'a [u8],
    pub(crate) count: usize,
}

impl Cells<'_> {
    /// Adds the cells, of a byte each, to the sizes of all classes.
    pub(crate) fn add_to(&self, kernel: &Kernel, answers: &Answers, counts: &mut [u32]) {
        kernel.histogram(self.padded, answers.cells(), counts);
        counts[answers.padding().index()] -= (self.padded.len() - self.count) as u32;
    }

    /// The class of a candidate.
    #[inline(always)]
    pub(crate) fn class(&self, answers: &Answers, at: usize) -> Class {
        let padded = self.padded.len() / answers.planes();
        answers.of_planes(|plane| self.padded[plane * padded + at])
    }
}

/// Tells the class of every candidate, in order.
pub(crate) fn classify(
    game: &Game,
    candidates: &[u32],
    guess: &Code,
    budget: &Budget,
    mut visit: impl FnMut(u32, Class),
) -> Result<(), Stopped> {
    let answers = game.rules().answers();
    cells(game, candidates, guess, budget, |chunk, cells| {
        for (at, &index) in chunk.iter().enumerate() {
            visit(index, cells.class(answers, at));
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
    let rules = game.rules();
    let probe = Probe::guess(guess, rules.feedback());
    let mut columns = Columns::new(rules.length(), 0);
    let mut cells =
        vec![0; CHUNK.min(candidates.len().next_multiple_of(LANES)) * rules.answers().planes()];
    for chunk in candidates.chunks(CHUNK) {
        budget.check()?;
        game.space().gather(chunk, &mut columns);
        let padded = chunk.len().next_multiple_of(LANES) * rules.answers().planes();
        let padded = &mut cells[..padded];
        Kernel::get().score(&probe, &columns, padded);
        visit(chunk, Cells { padded, count: chunk.len() });
    }
    Ok(())
}
