//! The guess with the most possible answers.

use super::ranking::{Measure, Score};
use crate::kernel::Summary;

pub(super) const DESCRIPTION: &str = "the most classes that are not empty \
     (B. Kooi, Yet another Mastermind strategy, ICGA Journal 28, 2005)";

/// The number of empty classes.
pub(super) const MEASURE: Measure = Measure { summary: Summary::Empty, score };

fn score(counts: &[u32], _: bool) -> Score {
    Score::plain(empty(counts))
}

pub(super) fn empty(counts: &[u32]) -> u64 {
    counts.iter().filter(|&&n| n == 0).count() as u64
}
