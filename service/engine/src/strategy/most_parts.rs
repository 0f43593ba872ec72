//! The guess with the most possible answers.

use crate::kernel::{LANES, Lanes};

pub(super) const DESCRIPTION: &str = "the most classes that are not empty \
     (B. Kooi, Yet another Mastermind strategy, ICGA Journal 28, 2005)";

/// The cost is the number of empty classes.
#[inline(always)]
pub(super) fn add(costs: &mut [u64; LANES], counts: &Lanes) {
    for (cost, &count) in costs.iter_mut().zip(counts) {
        *cost += u64::from(count == 0);
    }
}
