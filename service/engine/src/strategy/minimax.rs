//! The guess whose worst answer leaves the fewest candidates.

use super::ranking::{Measure, Score};
use crate::kernel::Summary;

pub(super) const DESCRIPTION: &str = "the smallest largest class (D. E. Knuth, The computer as Master Mind, J. Recreational Math. 9, 1977)";

/// The size of the largest class.
pub(super) const MEASURE: Measure = Measure { summary: Summary::Largest, score };

fn score(counts: &[u32], _: u32) -> Score {
    Score::plain(counts.iter().copied().max().unwrap_or(0).into())
}
