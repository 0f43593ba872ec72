//! The guess whose answer tells the most, with something on top for one that may win at once.

use super::{
    entropy,
    ranking::{Measure, Score},
};
use crate::{kernel::Summary, logarithm::n_log_n};

pub(super) const DESCRIPTION: &str = "the least sum of n ln n over the classes, less 2 ln 2 for a guess that could be \
     the secret (J. Larmouth's rule for Bulls and Cows)";

/// The sum of `n log n`, less `2 log 2` if the guess can be the secret: added to the others, so that it stays
/// a natural number.
pub(super) const MEASURE: Measure = Measure { summary: Summary::Empty, score };

fn score(counts: &[u32], missed: u32) -> Score {
    Score::plain(entropy::unknown(counts) + u64::from(missed) * n_log_n(2))
}
