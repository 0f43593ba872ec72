//! The guess that leaves the fewest candidates on average.

use super::ranking::{Measure, Score};
use crate::kernel::Summary;

pub(super) const DESCRIPTION: &str = "the smallest expected number of candidates left \
     (R. W. Irving, Towards an optimum Mastermind strategy, J. Recreational Math. 11, 1979)";

/// The sum of the squares of the classes.
pub(super) const MEASURE: Measure = Measure { summary: Summary::Squares, score };

fn score(counts: &[u32], _: u32) -> Score {
    Score::plain(squares(counts))
}

pub(super) fn squares(counts: &[u32]) -> u64 {
    counts.iter().map(|&n| u64::from(n) * u64::from(n)).sum()
}
