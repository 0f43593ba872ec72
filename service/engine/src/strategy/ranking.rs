//! What is better, and the best so far.
//!
//! A guess has a score, the less the better. Most guesses cannot be among the best, and a summary of the sizes of
//! their classes, which the kernels make of a whole block, is enough to see it: [`Best::limit`] is the summary
//! beyond which no guess is looked at any closer.

use std::collections::BinaryHeap;

use crate::{kernel::Summary, partition::COMPARED};

/// How a strategy measures guesses.
pub(crate) struct Measure {
    /// What bounds the score from below: it is the first part of the score itself, or the number of empty classes.
    pub(super) summary: Summary,
    /// The score of a guess by the sizes of its classes (empty ones may be left out), and by what it misses of the chance to
    /// be the secret: 0 for a candidate and 1 for another guess or, where candidates have weights, the largest weight less
    /// its own. Of all ways to split
    /// the candidates into so many classes, the most even by a candidate scores least.
    pub(crate) score: fn(&[u32], u32) -> Score,
}

/// What a guess is ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Score {
    /// Before the tie rule.
    pub(super) first: u64,
    /// Behind the tie rule, before the smaller code.
    pub(super) then: (u32, u64),
}

impl Score {
    /// A score that leaves ties to the tie rule.
    pub(super) fn plain(first: u64) -> Score {
        Score { first, then: (0, 0) }
    }
}

/// The first part of the score, whether the tie rule puts the guess behind, the rest of the score, and its number.
type Key = (u64, bool, (u32, u64), u32);

/// The best guesses so far.
pub(crate) struct Best {
    keys: BinaryHeap<Key>,
    top: usize,
    measure: &'static Measure,
    /// The least score at each summary: ascending. Empty where the summary is the score.
    least: Vec<u64>,
    /// The score of a guess that could be the secret and tells all candidates apart, if there are classes enough.
    perfect: Option<u64>,
}

impl Best {
    /// The best `top` guesses at `candidates` candidates, all there are if `exhaustive`, of `classes` classes.
    pub(crate) fn new(
        measure: &'static Measure,
        top: usize,
        candidates: usize,
        classes: usize,
        exhaustive: bool,
    ) -> Best {
        let least = |empty: usize| {
            let parts = (classes - empty).min(candidates);
            let even = |part| candidates / parts + usize::from(part < candidates % parts);
            let sizes: Vec<u32> = (0..parts).map(|part| even(part) as u32).collect();
            (measure.score)(&sizes, 0).first
        };
        let perfect = (exhaustive && candidates <= classes).then(|| least(classes - candidates));
        let least = match measure.summary {
            // Many classes are not summarized.
            Summary::Empty if classes <= COMPARED => (0..classes).map(least).collect(),
            Summary::Empty | Summary::Largest | Summary::Squares => vec![],
        };
        Best { keys: BinaryHeap::with_capacity(top + 1), top, measure, least, perfect }
    }

    /// Offers a guess. `behind` is whether the tie rule puts it behind others of its score.
    pub(crate) fn offer(&mut self, score: Score, behind: bool, guess: u32) {
        let key = (score.first, behind, score.then, guess);
        if self.keys.len() < self.top {
            self.keys.push(key);
        } else if let Some(mut worst) = self.keys.peek_mut()
            && key < *worst
        {
            *worst = key;
        }
    }

    /// The greatest summary that a guess may have which is still to come, in ascending order, and takes a place among
    /// the best; nothing if none can. `ahead` is whether the tie rule may put it before others.
    pub(super) fn limit(&self, ahead: bool) -> Option<u64> {
        let worst = match self.keys.peek() {
            Some(worst) if self.keys.len() == self.top => worst,
            _ => return Some(u64::MAX),
        };
        // At an equal score the later guess loses, unless something else than its number decides.
        let ties = (ahead && worst.1) || worst.2 != (0, 0);
        let score = if ties { worst.0 } else { worst.0.checked_sub(1)? };
        match self.measure.summary {
            Summary::Largest | Summary::Squares => Some(score),
            Summary::Empty => {
                self.least.partition_point(|&least| least <= score).checked_sub(1).map(|e| e as u64)
            }
        }
    }

    /// Whether no guess can beat the only one that is asked for, except for a tie.
    pub(super) fn is_perfect(&self) -> bool {
        self.top == 1 && self.keys.peek().is_some_and(|key| Some(key.0) == self.perfect)
    }

    /// The guesses, best first.
    pub(crate) fn into_guesses(self) -> Vec<u32> {
        self.keys.into_sorted_vec().into_iter().map(|key| key.3).collect()
    }
}
