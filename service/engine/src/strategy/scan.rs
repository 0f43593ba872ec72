//! Measures the guesses of a pool against the candidates.
//!
//! Guesses that are alike by a renaming are measured once, where only the best guess is asked for. Where there are
//! few candidates, guesses go through in blocks of one byte lane each: a block meets the candidates one after the
//! other. Where there are many, the candidates lie in the lanes and meet one guess after the other. Cells are
//! computed in both cases.
//!
//! A table of all cells was measured and left out. Read from the cache, it halves the time of a block (1.7 MB, all of
//! 4 x 6: 9 us for 30 candidates, computed 19 us); at 6 MB a quarter is left of that for 120 candidates, and from 17 MB
//! on (4 x 8, 4 of 10) it is slower than to compute. Where it gains, a game takes microseconds and the table
//! milliseconds.

use std::{borrow::Cow, ops::Range};

use super::{
    Pool, Tie,
    ranking::{Best, Measure},
};
use crate::{
    budget::{Budget, Stopped},
    game::Game,
    history::Turn,
    kernel::{BYTE_ROWS, ByteLanes, Columns, Kernel, LANES, Probe, Rows},
    partition::{Cells, tally},
    rules::MAX_LENGTH,
    symmetry::Symmetry,
};

/// With fewer candidates than this, to find out which guesses are alike takes longer than to measure all. With more
/// it is a small part (6 us of 38 after `0123=0b1c`; 4 % of a whole game of 5 x 8), so it is not remembered.
pub(super) const ALIKE_FROM: usize = 24;
/// Candidates that meet a guess at once: with all their columns they stay within a second-level cache.
const TILE: usize = 1 << 14;
/// Guesses that meet a tile before the next one: so many that to gather the tile costs little.
const GUESSES: usize = 512;

/// To count the symbols of the candidates takes as long as so many guesses save by it.
const COUNTED_FROM: usize = 40;
/// The most classes of any game: pegs of the longest codes.
const MAX_CLASSES: usize = (MAX_LENGTH + 1) * (MAX_LENGTH + 2) / 2 - 1;

/// The guesses to measure.
enum Guesses<'a> {
    /// Every code of a game of this size.
    All(u32),
    /// These codes, ascending.
    Some(Cow<'a, [u32]>),
}

impl Guesses<'_> {
    fn len(&self) -> usize {
        match self {
            Guesses::All(size) => *size as usize,
            Guesses::Some(list) => list.len(),
        }
    }

    fn get(&self, at: usize) -> u32 {
        match self {
            Guesses::All(_) => at as u32,
            Guesses::Some(list) => list[at],
        }
    }
}

/// What is asked: a position, and how its guesses are ranked.
pub(super) struct Question<'a> {
    pub(super) game: &'a Game,
    pub(super) turns: &'a [Turn],
    pub(super) candidates: &'a [u32],
    pub(super) measure: &'static Measure,
    pub(super) tie: Tie,
    pub(super) pool: Pool,
    pub(super) top: usize,
    /// Whether one of the guesses that are alike will do: the first of them.
    pub(super) one_of_each: bool,
}

/// The best guesses, best first, and whether all were measured against all candidates.
pub(super) fn best(question: &Question<'_>, budget: &Budget) -> Result<(Vec<u32>, bool), Stopped> {
    let (best, exhaustive) = run(question, budget)?;
    Ok((best.into_guesses(), exhaustive))
}

/// The best guess and those of the best that nothing but their numbers tells from it.
pub(super) fn ties(question: &Question<'_>, budget: &Budget) -> Result<Vec<u32>, Stopped> {
    Ok(run(question, budget)?.0.into_ties())
}

fn run(question: &Question<'_>, budget: &Budget) -> Result<(Best, bool), Stopped> {
    let Question { game, candidates, top, .. } = *question;
    let Plan { guesses, against, exhaustive } = Plan::new(question, budget)?;
    let classes = game.rules().answers().list().len();
    let best = Best::new(question.measure, top, against.len(), classes, exhaustive);
    let mut scan = Scan { question, budget, kernel: Kernel::get(), best };
    // A candidate that tells all apart is the best guess there can be, if the tie rule prefers candidates: then no
    // other guess need be measured. And if there is none, the first other guess that tells all apart is the best.
    let first = question.tie == Tie::Candidate && question.pool == Pool::Any;
    if first && exhaustive && top == 1 && candidates.len() <= classes {
        scan.run(&Guesses::Some(candidates.into()), &against)?;
    }
    scan.run(&guesses, &against)?;
    Ok((scan.best, exhaustive))
}

/// What is measured: the guesses, the candidates, and whether that is all of them.
struct Plan<'a> {
    guesses: Guesses<'a>,
    against: Cow<'a, [u32]>,
    exhaustive: bool,
}

impl<'a> Plan<'a> {
    /// Everything, where that takes at most as many scores as the budget allows; else an even sample of guesses (half
    /// of them candidates) against an even sample of the candidates.
    fn new(question: &Question<'a>, budget: &Budget) -> Result<Plan<'a>, Stopped> {
        let Question { game, candidates, pool, .. } = *question;
        let different = match question.one_of_each && candidates.len() >= ALIKE_FROM {
            true => different(question, budget)?,
            false => None,
        };
        let guesses = match (pool, different) {
            (Pool::Any, None) => Guesses::All(game.size()),
            (Pool::Any, Some(list)) => Guesses::Some(list.into()),
            (Pool::Consistent, None) => Guesses::Some(candidates.into()),
            (Pool::Consistent, Some(mut list)) => {
                list.retain(|guess| candidates.binary_search(guess).is_ok());
                Guesses::Some(list.into())
            }
        };
        let most = budget.max_scores;
        if (guesses.len() as u64).saturating_mul(candidates.len() as u64) <= most {
            return Ok(Plan { guesses, against: candidates.into(), exhaustive: true });
        }
        // The first candidate is among the guesses and, with another, among those it is measured against: so the
        // best guess of the sample tells at least these two apart.
        let against = even(candidates.len(), most.isqrt().max(2), |at| candidates[at]);
        let share = (most / against.len() as u64).max(2) / 2;
        let mut list = even(candidates.len(), share, |at| candidates[at]);
        if pool == Pool::Any {
            list.extend(even(guesses.len(), share, |at| guesses.get(at)));
            list.sort_unstable();
            list.dedup();
        }
        let guesses = Guesses::Some(list.into());
        Ok(Plan { guesses, against: against.into(), exhaustive: false })
    }
}

/// At most `most` of `count` things, evenly spaced, the first among them.
fn even(count: usize, most: u64, get: impl Fn(usize) -> u32) -> Vec<u32> {
    let most = (count as u64).min(most);
    (0..most).map(|i| get((u128::from(i) * count as u128 / u128::from(most)) as usize)).collect()
}

/// The guesses that differ, if they are so few that it pays to pick them out of the space.
fn different(question: &Question<'_>, budget: &Budget) -> Result<Option<Vec<u32>>, Stopped> {
    let Question { game, turns, candidates, .. } = *question;
    let dead = dead_symbols(game, candidates);
    let most = game.size() as usize / 2;
    Symmetry::new(game.rules(), turns).guesses(game.space(), dead, most, budget)
}

/// The symbols that no candidate has, a bit each.
pub(super) fn dead_symbols(game: &Game, candidates: &[u32]) -> u64 {
    let mut dead = u64::MAX >> (64 - game.rules().symbols());
    // Neighbours have most symbols in common, so candidates that lie apart are looked at first: once all symbols are
    // found the rest need not be.
    for start in 0..LANES {
        for &candidate in candidates.iter().skip(start).step_by(LANES) {
            let code = game.code(candidate);
            dead = code.symbols().iter().fold(dead, |dead, symbol| dead & !(1 << symbol));
        }
        if dead == 0 {
            break;
        }
    }
    dead
}

/// A scan under way.
struct Scan<'a> {
    question: &'a Question<'a>,
    budget: &'a Budget,
    kernel: &'static Kernel,
    best: Best,
}

impl Scan<'_> {
    /// Offers the guesses, which ascend, until there can be no better one.
    fn run(&mut self, guesses: &Guesses<'_>, against: &[u32]) -> Result<(), Stopped> {
        if self.best.is_perfect() {
            Ok(())
        } else if against.len() <= BYTE_ROWS && guesses.len() >= against.len() {
            self.blocks(guesses, against)
        } else {
            self.singles(guesses, against)
        }
    }

    /// Guesses in the lanes.
    fn blocks(&mut self, guesses: &Guesses<'_>, against: &[u32]) -> Result<(), Stopped> {
        let (game, kernel) = (self.question.game, self.kernel);
        let rules = game.rules();
        let probe = |&index: &u32| Probe::new(&game.code(index), rules.feedback());
        let probes: Vec<Probe> = against.iter().map(probe).collect();
        let which: Vec<u32> = (0..against.len() as u32).collect();
        let mut columns = Columns::counted(rules, 0);
        let mut cells = vec![0; against.len() * LANES];
        let classes = rules.answers().cells();
        let mut counts = vec![[0; LANES]; classes.len()];
        let mut summaries = [0; LANES];
        for start in (0..guesses.len()).step_by(LANES) {
            self.budget.check()?;
            let block = start..guesses.len().min(start + LANES);
            let codes = match guesses {
                Guesses::All(_) => game.space().view(start as u32, block.len(), &mut columns),
                Guesses::Some(list) => {
                    game.space().gather(&list[block.clone()], &mut columns);
                    columns.view(0, block.len())
                }
            };
            kernel.score_each(&probes, codes, &mut cells);
            let rows = Rows { cells: &cells, stride: LANES, offset: 0 };
            kernel.count(rows, &which, classes, &mut counts);
            kernel.summarize(self.question.measure.summary, &counts, &mut summaries);
            self.offer_block(guesses, block, &counts, &summaries);
            if self.best.is_perfect() {
                break;
            }
        }
        Ok(())
    }

    /// Offers those guesses of a block that may be among the best.
    fn offer_block(
        &mut self,
        guesses: &Guesses<'_>,
        block: Range<usize>,
        counts: &[ByteLanes],
        summaries: &[u16; LANES],
    ) {
        let candidates = self.question.candidates;
        let (first, last) = (guesses.get(block.start), guesses.get(block.end - 1));
        let next = candidates.partition_point(|&candidate| candidate < first);
        let ahead = candidates.get(next).is_some_and(|&candidate| candidate <= last);
        let summaries = &summaries[..block.len()];
        let least = summaries.iter().fold(u16::MAX, |least, &summary| least.min(summary));
        let mut limit = self.best.limit(ahead);
        if limit.is_none_or(|limit| least > limit) {
            return;
        }
        let mut sizes = [0; MAX_CLASSES];
        let sizes = &mut sizes[..counts.len()];
        for (lane, (at, &summary)) in block.zip(summaries).enumerate() {
            if limit.is_some_and(|limit| summary <= limit) {
                for (size, counts) in sizes.iter_mut().zip(counts) {
                    *size = u32::from(counts[lane]);
                }
                self.offer(guesses.get(at), sizes);
                limit = self.best.limit(ahead);
            }
        }
    }

    fn offer(&mut self, guess: u32, sizes: &[u32]) {
        let Question { candidates, measure, tie, .. } = *self.question;
        let candidate = candidates.binary_search(&guess).is_ok();
        let behind = tie == Tie::Candidate && !candidate;
        self.best.offer((measure.score)(sizes, candidate), behind, guess);
    }

    /// Candidates in the lanes.
    fn singles(&mut self, guesses: &Guesses<'_>, against: &[u32]) -> Result<(), Stopped> {
        let game = self.question.game;
        let answers = game.rules().answers();
        let mut columns = match guesses.len() {
            0..COUNTED_FROM => Columns::new(game.rules().length(), 0),
            _ => Columns::counted(game.rules(), 0),
        };
        let mut cells = vec![0; against.len().min(TILE).next_multiple_of(LANES)];
        for start in (0..guesses.len()).step_by(GUESSES) {
            let part = start..guesses.len().min(start + GUESSES);
            let classes = answers.list().len();
            let mut sizes = vec![0; part.len() * classes];
            for tile in against.chunks(TILE) {
                // A single tile stays where it is.
                if start == 0 || against.len() > TILE {
                    game.space().gather(tile, &mut columns);
                }
                let padded = &mut cells[..tile.len().next_multiple_of(LANES)];
                for (at, sizes) in part.clone().zip(sizes.chunks_exact_mut(classes)) {
                    self.budget.check()?;
                    let guess = game.code(guesses.get(at));
                    let probe = Probe::new(&guess, game.rules().feedback());
                    self.kernel.score(&probe, &columns, padded);
                    tally(answers, Cells { padded, count: tile.len() }, sizes);
                }
            }
            for (at, sizes) in part.zip(sizes.chunks_exact(classes)) {
                self.offer(guesses.get(at), sizes);
            }
        }
        Ok(())
    }
}
