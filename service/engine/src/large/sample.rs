//! Some of the consistent codes, and how many there are.

use std::{collections::HashSet, ops::ControlFlow};

use super::search::{End, Search};
use crate::{
    budget::{Budget, Stopped},
    code::Code,
    history::History,
    random::Random,
    rules::Rules,
};

/// Dives before it is decided whether the whole tree is searched, and at least made for an estimate.
const PILOT: usize = 64;
/// Nodes of a dive, after which another one is more promising: some ten times what a dive takes that never turns back,
/// which is at most 76 (a node for each symbol and each place).
const DIVE_NODES: u64 = 1000;
/// First ways down that must have arrived for an estimate: the error of fewer is itself a guess.
const ARRIVED: usize = 10;

/// Some of the codes that agree with a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Different codes in alphabet order; all there are if the count is exact and no larger.
    pub codes: Vec<Code>,
    /// How many there are.
    pub count: Count,
}

/// What is known of a number of codes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// The number, proven: there was no turn yet, or the search saw everything. 0 is a contradiction.
    Exact(u128),
    /// So many were found before the nodes ran out, which may be none.
    AtLeast(u128),
    /// An unbiased estimate.
    Estimate {
        /// The number, about: never less than what was found.
        value: f64,
        /// Its standard error.
        error: f64,
    },
}

/// Draws up to `want` different codes that agree with every turn, looking at `nodes` nodes of a search at most.
///
/// Each code is found by a dive of its own, so that they are spread over the space; they are not evenly likely. If the
/// whole tree of the search seems to fit the nodes, it is searched: then the count is exact and the codes are an even
/// draw. Otherwise the count is an estimate, if ten first ways down arrived at a code, or else what was found.
///
/// Source: D. E. Knuth, Estimating the efficiency of backtrack programs, Math. Comp. 29 (1975). Differs: likely branches
/// are drawn more often, and weigh less for it.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
///
/// # Panics
/// If the rules are not of codes over an alphabet: lists of words and ranges of numbers are enumerated.
pub fn sample(
    rules: &Rules,
    history: &History,
    want: usize,
    nodes: u64,
    seed: u64,
    budget: &Budget,
) -> Result<Sample, Stopped> {
    assert!(rules.renames(), "rules of codes over an alphabet");
    let mut draw = Draw {
        search: Search::new(rules, history, seed, budget),
        nodes,
        want,
        codes: vec![],
        seen: HashSet::new(),
        visited: 0,
        exhausted: false,
        estimates: vec![],
        tree: 0.0,
    };
    draw.dive(PILOT)?;
    let played = !history.turns().is_empty();
    if played && draw.is_small() {
        draw.exhaust(&mut Random::new(seed))?;
    }
    draw.dive(want)?;
    let mut sample = draw.finish();
    if !played {
        sample.count = Count::Exact(rules.size());
    }
    Ok(sample)
}

/// A sample that is being drawn.
struct Draw<'a> {
    search: Search<'a>,
    /// Nodes that are left.
    nodes: u64,
    want: usize,
    /// What was drawn, in this order, and the same as a set.
    codes: Vec<Code>,
    seen: HashSet<Code>,
    /// Codes that the search of the whole tree came to.
    visited: u128,
    exhausted: bool,
    /// What each first way down says of the number of codes, and all together of the nodes of the tree.
    estimates: Vec<f64>,
    tree: f64,
}

impl Draw<'_> {
    /// Dives until there were so many dives.
    fn dive(&mut self, dives: usize) -> Result<(), Stopped> {
        while self.estimates.len() < dives && self.nodes > 0 && !self.exhausted {
            let mut nodes = DIVE_NODES.min(self.nodes);
            self.nodes -= nodes;
            let (codes, seen) = (&mut self.codes, &mut self.seen);
            let (descent, end) = self.search.run(&mut nodes, &mut |code| {
                if seen.insert(code) {
                    codes.push(code);
                }
                ControlFlow::Break(())
            });
            self.nodes += nodes;
            match end {
                // A dive that ends by itself has seen everything, and found nothing.
                Ok(()) => self.exhausted = true,
                Err(End::Stopped) => return Err(Stopped),
                Err(End::Enough | End::Nodes) => {}
            }
            // The last dive may have been cut short before its first way down was over.
            if descent.over {
                self.estimates.push(descent.codes);
                self.tree += descent.nodes;
            }
        }
        Ok(())
    }

    /// Whether it pays to search the whole tree: it seems to fit half of the nodes, or nothing else found a code.
    fn is_small(&self) -> bool {
        let tree = self.tree / self.estimates.len() as f64;
        !self.exhausted && (self.codes.is_empty() || tree < self.nodes as f64 / 2.0)
    }

    /// Searches the whole tree by half of the nodes.
    fn exhaust(&mut self, random: &mut Random) -> Result<(), Stopped> {
        let mut nodes = self.nodes.div_ceil(2);
        self.nodes -= nodes;
        let (mut visited, mut drawn, want) = (0_u128, vec![], self.want);
        let (_, end) = self.search.run(&mut nodes, &mut |code| {
            // An even draw of a stream (A. Waterman's reservoir).
            visited += 1;
            if drawn.len() < want {
                drawn.push(code);
            } else if let Some(kept) = drawn.get_mut(random.below(visited as usize)) {
                *kept = code;
            }
            ControlFlow::Continue(())
        });
        self.nodes += nodes;
        self.visited = visited;
        self.exhausted = end.is_ok();
        if matches!(end, Err(End::Stopped)) {
            return Err(Stopped);
        }
        // If it did not see everything its codes are neighbours: only better than none.
        if self.exhausted || self.codes.is_empty() {
            self.seen = drawn.iter().copied().collect();
            self.codes = drawn;
        }
        Ok(())
    }

    fn finish(mut self) -> Sample {
        let found = self.visited.max(self.codes.len() as u128);
        let count = match self.exhausted {
            true => Count::Exact(found),
            false => estimate(&self.estimates)
                .filter(|(value, _)| *value >= found as f64)
                .map_or(Count::AtLeast(found), |(value, error)| Count::Estimate { value, error }),
        };
        self.codes.truncate(self.want);
        self.codes.sort_unstable();
        Sample { codes: self.codes, count }
    }
}

/// The mean of estimates and its standard error, if enough of them arrived at a code.
fn estimate(estimates: &[f64]) -> Option<(f64, f64)> {
    if estimates.iter().filter(|&&codes| codes > 0.0).count() < ARRIVED {
        return None;
    }
    let n = estimates.len() as f64;
    let mean = estimates.iter().sum::<f64>() / n;
    let squares: f64 = estimates.iter().map(|codes| (codes - mean) * (codes - mean)).sum();
    Some((mean, (squares / (n * (n - 1.0))).sqrt()))
}
