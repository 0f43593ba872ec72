//! The guess that leaves the fewest candidates on average.

use crate::kernel::{LANES, Lanes};

pub(super) const DESCRIPTION: &str = "the smallest expected number of candidates left \
     (R. W. Irving, Towards an optimum Mastermind strategy, J. Recreational Math. 11, 1979)";

/// The cost is the sum of the squares of the classes.
#[inline(always)]
pub(super) fn add(costs: &mut [u64; LANES], counts: &Lanes) {
    for (cost, &count) in costs.iter_mut().zip(counts) {
        *cost += u64::from(count) * u64::from(count);
    }
}
