//! The guess whose answer tells the most.

use super::ranking::{Measure, Score};
use crate::{kernel::Summary, logarithm::n_log_n};

pub(super) const DESCRIPTION: &str = "the most information in bits \
     (E. Neuwirth, Some strategies for Mastermind, Zeitschrift fuer Operations Research 26, 1982)";

/// The sum of `n log n` over the classes: the bits that stay unknown, times the candidates.
pub(super) const MEASURE: Measure = Measure { summary: Summary::Empty, score };

fn score(counts: &[u32], _: u32) -> Score {
    Score::plain(unknown(counts))
}

pub(super) fn unknown(counts: &[u32]) -> u64 {
    counts.iter().map(|&n| n_log_n(n)).sum()
}
