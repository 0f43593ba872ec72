//! Provably optimal play: the least total of guesses, the least worst case, and the strategy that reaches it.
//!
//! A depth-first branch and bound over sets of candidates, after Koyama and Lai (J. Recreational Math. 25, 1993) and
//! Ville (arXiv:1305.1010). What differs: sets that are renamings of each other are met once (`rename`), guesses that
//! a symmetry of the set exchanges are tried once (`symmetry`), and guesses whose symbols no candidate has are not
//! there at all (`guesses`). Words and numbers have no other names: there a set is its own form, and every guess differs.
//!
//! `size_bound` tells what a set must cost by its size, `scan` what every guess must by the sizes of its classes, `memo`
//! what is known of the sets met so far; `search` puts them together, and `tree` is the result.

mod guesses;
mod memo;
mod rename;
mod scan;
mod search;
mod size_bound;
mod symmetry;
mod tree;

use std::{
    ops::RangeInclusive,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

pub use tree::{Node, Tree, Unfinished, Value};

use crate::{
    budget::{Budget, Stopped},
    candidates::Candidates,
    code::Code,
    game::Game,
    history::MAX_TURNS,
};
use guesses::MAX_LABELLED;
use scan::UNCAPPED;
use search::Search;

/// Codes of a game times candidates, beyond which there is no search: so many bytes the first set alone may take.
const MAX_CELLS: u64 = 1 << 30;

/// Bytes of the stack of a thread of a search: a line of play of [`MAX_TURNS`] guesses takes about a megabyte without
/// optimisation, and a thread that waits for others may take up another line.
const STACK_BYTES: usize = 8 << 20;

/// Sets that a search of several threads measures with one before it starts the others, in games of up to
/// [`ALONE_CODES`]: some 20 milliseconds of 6^4 or of 8^4 codes. What ends within that would hardly end sooner with more.
const ALONE: u64 = 256;
/// Where there are more codes than this, a set takes longer by as much, and fewer are measured.
const ALONE_CODES: u64 = 1 << 12;

/// What is made as small as it can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Objective {
    /// The total of guesses over all secrets; of the strategies with the least total, one with the least worst case.
    #[default]
    Expected,
    /// The guesses that the worst secret takes; of those strategies, one with the least total.
    WorstCase,
    /// The guesses that the worst secret takes; of those strategies, one with the fewest secrets that take so many.
    FewestAtMax,
}

/// What a solution must reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Goal {
    /// What is made as small as it can be.
    pub objective: Objective,
    /// The most guesses that a secret may take; no cap if absent.
    pub max_guesses: Option<u32>,
    /// A code of the game to begin with; the best one if absent.
    pub first_guess: Option<Code>,
}

impl Goal {
    /// The most guesses that a secret may take, as the search counts them.
    fn cap(&self) -> u32 {
        self.max_guesses.map_or(UNCAPPED, |max| max.min(UNCAPPED - 1))
    }
}

/// What a search may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolveLimits {
    /// Bytes of what is remembered about sets; when they are full, the smallest sets are forgotten.
    pub memo_bytes: usize,
    /// Threads; at least one is used.
    pub threads: usize,
    /// Sets that are measured against every guess before the search gives up; each takes some 100 microseconds in a
    /// game of some thousand codes. With several threads, some are measured twice and counted twice.
    pub max_nodes: u64,
}

impl Default for SolveLimits {
    /// One thread, 512 MiB, and no end: what proves every game of the books.
    fn default() -> SolveLimits {
        SolveLimits { memo_bytes: 512 << 20, threads: 1, max_nodes: u64::MAX }
    }
}

/// How far a search is; other threads may look while it runs. Totals are told where they are what is made small: not
/// with [`Objective::FewestAtMax`].
#[derive(Debug)]
pub struct Progress {
    nodes: AtomicU64,
    best: AtomicU64,
    bound: AtomicU64,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { nodes: 0.into(), best: u64::MAX.into(), bound: 0.into() }
    }
}

impl Progress {
    /// Sets that were measured against every guess.
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Relaxed)
    }

    /// The total of the best strategy found so far that reaches the goal.
    pub fn best(&self) -> Option<u64> {
        Some(self.best.load(Relaxed)).filter(|&best| best < u64::MAX)
    }

    /// No strategy that reaches the goal has a smaller total than this.
    pub fn bound(&self) -> u64 {
        self.bound.load(Relaxed)
    }
}

/// A strategy that nothing beats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// Guesses over all candidates, the winning ones included.
    pub total: u64,
    /// Guesses that the worst candidate takes.
    pub max: u32,
    /// How many candidates are found at guess 1, 2, and so on.
    pub histogram: Vec<u64>,
    /// What to guess after every answer.
    pub tree: Tree,
}

/// Why there is no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SolveError {
    /// The stop flag was raised, or the nodes ran out, before the proof was complete.
    #[error("the search ended before the proof was complete")]
    Stopped,
    /// No strategy finds every candidate within the cap.
    #[error("no strategy always needs at most {max_guesses} guesses; allow more")]
    Impossible {
        /// The cap.
        max_guesses: u32,
    },
    /// Some line of play that was looked at takes more guesses than a history has room for.
    #[error("the search met play of more than {MAX_TURNS} guesses; play more turns first")]
    TooLong,
    /// There are too many codes and candidates to search.
    #[error(
        "{candidates} candidates are too many to search: with the {codes} codes of this game at most \
         {limit}; play more turns first"
    )]
    TooLarge {
        /// Codes of the game.
        codes: u32,
        /// Candidates left.
        candidates: usize,
        /// The most candidates that are searched: as many as memory allows, and at most 255 where answers are marks
        /// of more than five places.
        limit: usize,
    },
}

impl From<Stopped> for SolveError {
    fn from(_: Stopped) -> SolveError {
        SolveError::Stopped
    }
}

/// Finds a best strategy for the candidates and proves it.
///
/// The result does not depend on the number of threads, nor on the memory. Time grows steeply with the number of
/// candidates: 5040 codes of four different digits take some five seconds of one core.
///
/// # Errors
/// [`SolveError`] says why there is no proof.
///
/// # Panics
/// If there is no candidate, which is a contradiction, or the first guess is not of the game: the caller reports that.
pub fn solve(
    game: &Game,
    candidates: &Candidates,
    goal: Goal,
    limits: SolveLimits,
    progress: &Progress,
    budget: &Budget,
) -> Result<Solution, SolveError> {
    assert!(!candidates.is_empty(), "a contradictory history has no strategy");
    solve_set(game, candidates.indices(), goal, limits, progress, budget)
}

/// [`solve`] for the codes of these numbers, ascending.
pub(crate) fn solve_set(
    game: &Game,
    candidates: &[u32],
    goal: Goal,
    limits: SolveLimits,
    progress: &Progress,
    budget: &Budget,
) -> Result<Solution, SolveError> {
    let (codes, left) = (game.size(), candidates.len());
    let mut limit = (MAX_CELLS / u64::from(codes)) as usize;
    if game.rules().answers().planes() > 1 {
        limit = limit.min(MAX_LABELLED);
    }
    if left > limit {
        return Err(SolveError::TooLarge { codes, candidates: left, limit });
    }
    let alone = SolveLimits { threads: 1, ..limits };
    let mut search = Search::new(game, candidates, goal, alone, progress, budget)?;
    let least_max = search.least_max();
    if least_max as usize > MAX_TURNS {
        return Err(SolveError::TooLong);
    }
    let find = |search: &Search<'_>| {
        let cap = goal.cap();
        let solution = match goal.objective {
            Objective::Expected => within(search, candidates, cap..=cap),
            Objective::WorstCase | Objective::FewestAtMax => {
                within(search, candidates, least_max..=cap)
            }
        };
        if search.is_too_long() { Err(SolveError::TooLong) } else { solution }
    };
    if limits.threads > 1 {
        let sets = (ALONE * ALONE_CODES / u64::from(codes)).clamp(1, ALONE);
        search.limits.max_nodes = limits.max_nodes.min(sets);
        let found = find(&search);
        if found != Err(SolveError::Stopped) || progress.nodes() <= sets {
            return found;
        }
        // It begins again, with what it remembers.
        search.limits = limits;
        let threads = rayon::ThreadPoolBuilder::new().num_threads(limits.threads);
        if let Ok(pool) = threads.stack_size(STACK_BYTES).build() {
            return pool.install(|| find(&search));
        }
        // The system gives no more threads.
        search.limits.threads = 1;
    }
    find(&search)
}

/// What costs the least within the first of these caps that any strategy keeps.
fn within(
    search: &Search<'_>,
    candidates: &[u32],
    caps: RangeInclusive<u32>,
) -> Result<Solution, SolveError> {
    let max_guesses = *caps.end();
    for cap in caps {
        if let Some(tree) = search.best_tree(cap)? {
            return Ok(Solution::replay(search.game(), candidates, tree));
        }
    }
    Err(SolveError::Impossible { max_guesses })
}

impl Solution {
    /// The solution that a tree is, by playing it against every candidate.
    ///
    /// # Panics
    /// If the tree does not find one of them: a fault of whoever made it.
    pub(crate) fn replay(game: &Game, candidates: &[u32], tree: Tree) -> Solution {
        let played = tree.play(game, candidates).expect("a strategy finds every candidate");
        Solution { total: played.total, max: played.max, histogram: played.histogram, tree }
    }
}
