//! Measures the guesses of a pool against the candidates.
//!
//! Guesses that are alike by a renaming are measured once, where only the best guess is asked for. Where there are
//! few candidates, guesses go through in blocks of one byte lane each: a block meets the candidates one after the
//! other. Where there are many, the candidates lie in the lanes and meet one guess after the other, which is dropped
//! once a few of its classes are too large. Cells are computed in both cases.
//!
//! A table of all cells was measured and left out. Read from the cache, it halves the time of a block (1.7 MB, all of
//! 4 x 6: 9 us for 30 candidates, computed 19 us); at 6 MB a quarter is left of that for 120 candidates, and from 17 MB
//! on (4 x 8, 4 of 10) it is slower than to compute. Where it gains, a game takes microseconds and the table
//! milliseconds.

mod many;

use std::{borrow::Cow, ops::Range};

use super::{
    Pool, Tie,
    ranking::{Best, Measure},
};
use crate::{
    budget::{Budget, Stopped},
    candidates::CHUNK,
    feedback::FeedbackRule,
    game::Game,
    hints::keeps_hints,
    history::Turn,
    kernel::{BYTE_ROWS, ByteLanes, Columns, Kernel, LANES, Ladder, Probe, Rows, Summary},
    partition::{COMPARED, Cells},
    symmetry::Symmetry,
};

/// With fewer candidates than this, to find out which guesses are alike takes longer than to measure all. With more
/// it is a small part (6 us of 38 after `0123=0b1c`; 4 % of a whole game of 5 x 8), so it is not remembered.
pub(super) const ALIKE_FROM: usize = 24;
/// Candidates that meet a guess at once: with all their columns they stay within a second-level cache.
const TILE: usize = 1 << 14;
/// Guesses that meet a tile before the next one: so many that to gather the tile costs little.
const GUESSES: usize = 512;
/// Classes that are counted before the others, to see whether a guess can be among the best at all. Measured: 2 to 4
/// are alike; of 7, a pass as for all, half of what this saves is lost.
const FIRST_CLASSES: usize = 3;
/// To count the symbols of the candidates takes as long as so many guesses save by it (8 to 15 in the common games).
const COUNTED_FROM: usize = 12;

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
    /// What each candidate weighs, where that is not the same.
    pub(super) weights: Option<&'a [u32]>,
    pub(super) measure: &'static Measure,
    pub(super) tie: Tie,
    pub(super) pool: Pool,
    pub(super) top: usize,
    /// Whether one of the guesses that are alike will do: the first of them.
    pub(super) one_of_each: bool,
}

impl Question<'_> {
    fn is_candidate(&self, guess: u32) -> bool {
        self.candidates.binary_search(&guess).is_ok()
    }

    /// What a candidate weighs; 0 for another guess.
    fn weight(&self, guess: u32) -> u32 {
        let place = self.candidates.binary_search(&guess);
        place.map_or(0, |place| self.weights.map_or(1, |weights| weights[place]))
    }
}

/// The best guesses, best first, and whether all were measured against all candidates.
pub(super) fn best(question: &Question<'_>, budget: &Budget) -> Result<(Vec<u32>, bool), Stopped> {
    let Question { game, candidates, top, .. } = *question;
    let Plan { guesses, against, exhaustive } = Plan::new(question, budget)?;
    let classes = game.rules().answers().count();
    // What is best of all is known by numbers of candidates only.
    let counted = exhaustive && question.weights.is_none();
    let best = Best::new(question.measure, top, against.len(), classes, counted);
    let heaviest =
        question.weights.map_or(1, |weights| weights.iter().fold(1, |most, &n| most.max(n)));
    let mut scan = Scan { question, budget, kernel: Kernel::get(), best, heaviest };
    // A candidate that tells all apart is the best guess there can be, if the tie rule prefers candidates: then no
    // other guess need be measured. And if there is none, the first other guess that tells all apart is the best.
    let first = question.tie == Tie::Candidate && question.pool != Pool::Consistent;
    if first && exhaustive && top == 1 && candidates.len() <= classes {
        scan.run(&Guesses::Some(candidates.into()), &against)?;
    }
    scan.run(&guesses, &against)?;
    Ok((scan.best.into_guesses(), exhaustive))
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
            true if game.rules().renames() => different(question, budget)?,
            _ => None,
        };
        let guesses = match (pool, different) {
            (Pool::Any, None) => Guesses::All(game.size()),
            (Pool::Any, Some(list)) => Guesses::Some(list.into()),
            (Pool::Consistent, None) => Guesses::Some(candidates.into()),
            (Pool::Consistent, Some(list)) => {
                let fits = |guess| candidates.binary_search(&guess).is_ok();
                Guesses::Some(those(&Guesses::Some(list.into()), fits, budget)?.into())
            }
            (Pool::Hints, list) => {
                let list =
                    list.map_or(Guesses::All(game.size()), |list| Guesses::Some(list.into()));
                let keeps = |guess| keeps_hints(game.rules(), question.turns, &game.code(guess));
                Guesses::Some(those(&list, keeps, budget)?.into())
            }
        };
        let most = budget.max_scores;
        let each = match game.rules().feedback() {
            FeedbackRule::Order if question.weights.is_none() => 1,
            _ => candidates.len() as u64,
        };
        if (guesses.len() as u64).saturating_mul(each) <= most {
            return Ok(Plan { guesses, against: candidates.into(), exhaustive: true });
        }
        // The first candidate is among the guesses and, with another, among those it is measured against: so the
        // best guess of the sample tells at least these two apart.
        let against = even(candidates.len(), most.isqrt().max(2), |at| candidates[at]);
        let share = (most / against.len() as u64).max(2) / 2;
        let mut list = even(candidates.len(), share, |at| candidates[at]);
        if pool != Pool::Consistent {
            list.extend(even(guesses.len(), share, |at| guesses.get(at)));
            list.sort_unstable();
            list.dedup();
        }
        let guesses = Guesses::Some(list.into());
        Ok(Plan { guesses, against: against.into(), exhaustive: false })
    }
}

/// Those of the guesses that are as they should be.
fn those(
    guesses: &Guesses<'_>,
    fits: impl Fn(u32) -> bool,
    budget: &Budget,
) -> Result<Vec<u32>, Stopped> {
    let mut kept = vec![];
    for at in 0..guesses.len() {
        if at % CHUNK == 0 {
            budget.check()?;
        }
        kept.extend(Some(guesses.get(at)).filter(|&guess| fits(guess)));
    }
    Ok(kept)
}

/// At most `most` of `count` things, evenly spaced, the first among them.
fn even(count: usize, most: u64, get: impl Fn(usize) -> u32) -> Vec<u32> {
    let most = (count as u64).min(most);
    (0..most).map(|i| get((u128::from(i) * count as u128 / u128::from(most)) as usize)).collect()
}

/// The guesses that differ, if they are so few that it pays to pick them out of the space.
fn different(question: &Question<'_>, budget: &Budget) -> Result<Option<Vec<u32>>, Stopped> {
    let Question { game, turns, candidates, .. } = *question;
    let dead = dead_symbols(game, candidates, budget)?;
    let most = game.size() as usize / 2;
    Symmetry::new(game.rules(), turns).guesses(game.space(), dead, most, budget)
}

/// The symbols that no candidate has, a bit each.
pub(super) fn dead_symbols(
    game: &Game,
    candidates: &[u32],
    budget: &Budget,
) -> Result<u64, Stopped> {
    let mut dead = u64::MAX >> (64 - game.rules().symbols());
    // Neighbours have most symbols in common, so candidates that lie apart are looked at first: once all symbols are
    // found the rest need not be.
    for start in 0..LANES.min(candidates.len()) {
        for some in candidates[start..].chunks(CHUNK * LANES) {
            budget.check()?;
            for &candidate in some.iter().step_by(LANES) {
                let code = game.code(candidate);
                dead = code.symbols().iter().fold(dead, |dead, symbol| dead & !(1 << symbol));
            }
            if dead == 0 {
                return Ok(0);
            }
        }
    }
    Ok(dead)
}

/// A scan under way.
struct Scan<'a> {
    question: &'a Question<'a>,
    budget: &'a Budget,
    kernel: &'static Kernel,
    best: Best,
    /// The largest weight of a candidate.
    heaviest: u32,
}

impl Scan<'_> {
    /// Offers the guesses, which ascend, until there can be no better one.
    fn run(&mut self, guesses: &Guesses<'_>, against: &[u32]) -> Result<(), Stopped> {
        if self.best.is_perfect() {
            Ok(())
        } else if self.question.weights.is_some() {
            self.each(guesses, against)
        } else if self.question.game.rules().feedback() == FeedbackRule::Order {
            self.places(guesses, against)
        } else if self.question.game.rules().answers().count() > COMPARED {
            self.each(guesses, against)
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
        let probe = |&index: &u32| Probe::secret(&game.code(index), rules.feedback());
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
        if limit.is_none_or(|limit| u64::from(least) > limit) {
            return;
        }
        let mut sizes = [0; COMPARED];
        let sizes = &mut sizes[..counts.len()];
        for (lane, (at, &summary)) in block.zip(summaries).enumerate() {
            if limit.is_some_and(|limit| u64::from(summary) <= limit) {
                for (size, counts) in sizes.iter_mut().zip(counts) {
                    *size = u32::from(counts[lane]);
                }
                self.offer(guesses.get(at), sizes);
                limit = self.best.limit(ahead);
            }
        }
    }

    fn offer(&mut self, guess: u32, sizes: &[u32]) {
        let Question { measure, tie, .. } = *self.question;
        let candidate = self.question.is_candidate(guess);
        let behind = tie == Tie::Candidate && !candidate;
        let missed = self.heaviest - self.question.weight(guess);
        self.best.offer((measure.score)(sizes, missed), behind, guess);
    }

    /// Candidates in the lanes.
    fn singles(&mut self, guesses: &Guesses<'_>, against: &[u32]) -> Result<(), Stopped> {
        let game = self.question.game;
        let mut columns = match guesses.len() {
            0..COUNTED_FROM => Columns::new(game.rules().length(), 0),
            _ => Columns::counted(game.rules(), 0),
        };
        let mut ladder = Ladder::default();
        let mut order = Order::new(game.rules().answers().cells(), self.question.measure.summary);
        let classes = order.cells.len();
        for start in (0..guesses.len()).step_by(GUESSES) {
            let part = start..guesses.len().min(start + GUESSES);
            let mut sizes = vec![0; part.len() * classes];
            for (at, tile) in against.chunks(TILE).enumerate() {
                // A single tile stays where it is.
                if start == 0 || against.len() > TILE {
                    game.space().gather(tile, &mut columns);
                    ladder.reset(game.rules().length(), &columns);
                }
                let is_last = (at + 1) * TILE >= against.len();
                for (at, sizes) in part.clone().zip(sizes.chunks_exact_mut(classes)) {
                    self.budget.check()?;
                    let guess = guesses.get(at);
                    let limit = self.best.limit(self.question.is_candidate(guess));
                    let Some(limit) = limit.filter(|&limit| order.floor(sizes) <= limit) else {
                        continue;
                    };
                    let probe = Probe::guess(&game.code(guess), game.rules().feedback());
                    let padded = ladder.score(self.kernel, &probe, &columns);
                    let cells = Cells { padded, count: tile.len() };
                    if order.count(self.kernel, cells, limit, sizes) && is_last {
                        self.offer(guess, sizes);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The classes in the order in which they are counted: those that made the latest guesses fall behind come first.
struct Order {
    summary: Summary,
    /// The cell and the number of each class.
    cells: Vec<u8>,
    classes: Vec<usize>,
}

impl Order {
    fn new(cells: &[u8], summary: Summary) -> Order {
        Order { summary, cells: cells.to_vec(), classes: (0..cells.len()).collect() }
    }

    /// What the summary is at least, by the candidates that were counted so far.
    fn floor(&self, sizes: &[u32]) -> u64 {
        let sizes = sizes.iter().map(|&n| u64::from(n));
        match self.summary {
            Summary::Largest => sizes.max().unwrap_or(0),
            Summary::Squares => sizes.map(|n| n * n).sum(),
            Summary::Empty => 0,
        }
    }

    /// Adds cells to the sizes of the classes. Stops, and returns false, once the guess is beyond the limit; the class
    /// that is to blame comes first from then on.
    fn count(&mut self, kernel: &Kernel, cells: Cells<'_>, limit: u64, sizes: &mut [u32]) -> bool {
        let first = match self.summary {
            Summary::Largest | Summary::Squares => FIRST_CLASSES.min(self.cells.len()),
            Summary::Empty => 0,
        };
        for group in [0..first, first..self.cells.len()] {
            let mut counts = [0; COMPARED];
            let counts = &mut counts[..group.len()];
            kernel.histogram(cells.padded, &self.cells[group.clone()], counts);
            for (&class, &mut count) in self.classes[group.clone()].iter().zip(counts) {
                sizes[class] += count;
            }
            // Padding scores nothing, which is what the first class means.
            if self.classes[group.clone()].contains(&0) {
                sizes[0] -= (cells.padded.len() - cells.count) as u32;
            }
            if self.floor(sizes) > limit {
                let largest = group.max_by_key(|&at| sizes[self.classes[at]]).unwrap_or(0);
                self.cells[..=largest].rotate_right(1);
                self.classes[..=largest].rotate_right(1);
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Budget, Choice, CodeSpec, FeedbackRule, Game, History, Rules, Strategy, partition, suggest,
    };

    #[test]
    fn a_guess_that_is_dropped_early_is_none_of_the_best() {
        // The candidates fit a tile, and do not.
        for symbols in [9, 12] {
            let spec = CodeSpec {
                alphabet: "0123456789ab"[..symbols].into(),
                length: 4,
                repeats: true,
                not_first: "0".into(),
            };
            let game =
                Game::new(Rules::codes(&spec, FeedbackRule::Pegs).unwrap(), u32::MAX).unwrap();
            let budget = Budget::unlimited();
            let all = game.candidates(&History::default(), &budget).unwrap();
            let facts = |&index: &u32| {
                let parts = partition(&game, &all, &game.code(index), &budget).unwrap();
                (
                    parts.facts().largest_class,
                    parts.parts().iter().map(|&(_, n)| u64::from(n).pow(2)).sum(),
                )
            };
            let facts: Vec<(u32, u64)> = all.indices().iter().map(facts).collect();
            for strategy in [Strategy::Minimax, Strategy::ExpectedSize] {
                let choice = Choice { strategy, ..Choice::default() };
                let found =
                    suggest(&game, &History::default(), &all, &choice, 600, &budget).unwrap();
                let mut best: Vec<u32> = all.indices().to_vec();
                best.sort_by_key(|&index| match (strategy, facts[index as usize]) {
                    (Strategy::Minimax, (largest, _)) => u64::from(largest),
                    (_, (_, squares)) => squares,
                });
                let found = found.suggestions.iter().map(|found| game.index(&found.guess));
                assert!(found.eq(best.into_iter().take(600)), "{symbols} symbols, {strategy:?}");
            }
        }
    }
}
