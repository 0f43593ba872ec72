//! The guess whose answer tells the most.

use crate::{
    kernel::{LANES, Lanes},
    logarithm::n_log_n,
};

pub(super) const DESCRIPTION: &str = "the most information in bits \
     (E. Neuwirth, Some strategies for Mastermind, Zeitschrift fuer Operations Research 26, 1982)";

/// The cost is the sum of `n log n` over the classes: the bits that stay unknown, times the candidates.
#[inline(always)]
pub(super) fn add(costs: &mut [u64; LANES], counts: &Lanes) {
    for (cost, &count) in costs.iter_mut().zip(counts) {
        *cost += n_log_n(count);
    }
}
