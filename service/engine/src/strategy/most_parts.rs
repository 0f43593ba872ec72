//! The guess with the most possible answers.

use super::ranking::{Measure, Score};
use crate::kernel::Summary;

pub(super) const DESCRIPTION: &str = "the most classes that are not empty \
     (B. Kooi, Yet another Mastermind strategy, ICGA Journal 28, 2005)";

/// Less, the more classes are not empty.
pub(super) const MEASURE: Measure = Measure { summary: Summary::Empty, score };

/// More classes than any game has.
const MANY: u64 = 1 << 20;

fn score(sizes: &[u32], _: u32) -> Score {
    Score::plain(missing(sizes))
}

/// How many classes there are less than [`MANY`].
pub(super) fn missing(sizes: &[u32]) -> u64 {
    MANY - sizes.iter().filter(|&&n| n > 0).count() as u64
}
