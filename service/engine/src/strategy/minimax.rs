//! The guess whose worst answer leaves the fewest candidates.

use crate::kernel::{LANES, Lanes};

pub(super) const DESCRIPTION: &str = "the smallest largest class (D. E. Knuth, The computer as Master Mind, J. Recreational Math. 9, 1977)";

/// The cost is the largest class.
#[inline(always)]
pub(super) fn add(costs: &mut [u64; LANES], counts: &Lanes) {
    for (cost, &count) in costs.iter_mut().zip(counts) {
        *cost = (*cost).max(u64::from(count));
    }
}
