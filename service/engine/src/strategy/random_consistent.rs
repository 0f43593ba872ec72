//! Any candidate, the same one for the same seed and the same candidates.

use crate::random::mix;

pub(super) const DESCRIPTION: &str =
    "any code that agrees with every answer, drawn by the seed (the shuffled sieve)";

/// Draws `top` different candidates. What is drawn depends on the seed and on what is left, so that a game played
/// with one seed does not draw the same place at every turn.
pub(super) fn choose(candidates: &[u32], seed: u64, top: usize) -> Vec<u32> {
    let ends = u64::from(candidates[0]) << 32 | u64::from(candidates[candidates.len() - 1]);
    let mut state = mix(seed ^ mix(ends) ^ candidates.len() as u64);
    let mut drawn: Vec<u32> = Vec::with_capacity(top.min(candidates.len()));
    // Floyd's sampling: draws without replacement in as many steps as there are draws.
    for last in candidates.len() - top.min(candidates.len())..candidates.len() {
        state = mix(state);
        // Multiply and shift: the bias is below 2^-32 for spaces of this size.
        let place = (u128::from(state) * (last as u128 + 1)) >> 64;
        let candidate = candidates[place as usize];
        drawn.push(if drawn.contains(&candidate) { candidates[last] } else { candidate });
    }
    drawn
}
