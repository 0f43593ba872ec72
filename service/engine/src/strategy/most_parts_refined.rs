//! The guess with the most possible answers, and of several the one whose classes are the most even.

use super::{
    expected_size, most_parts,
    ranking::{Measure, Score},
};
use crate::kernel::Summary;

pub(super) const DESCRIPTION: &str = "the most classes that are not empty; of equal guesses that the tie rule does not \
     tell apart, the smallest largest class, then the smallest expected number of candidates left";

/// How many classes are missing; behind the tie rule, the largest class and the sum of the squares.
pub(super) const MEASURE: Measure = Measure { summary: Summary::Empty, score };

fn score(counts: &[u32], _: u32) -> Score {
    let largest = counts.iter().copied().max().unwrap_or(0);
    Score { first: most_parts::missing(counts), then: (largest, expected_size::squares(counts)) }
}
