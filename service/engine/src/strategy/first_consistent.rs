//! The first candidate in alphabet order: the plainest player that never repeats a mistake.

pub(super) const DESCRIPTION: &str =
    "the first code in alphabet order that agrees with every answer (the plain sieve)";

pub(super) fn choose(candidates: &[u32], top: usize) -> Vec<u32> {
    candidates[..top.min(candidates.len())].to_vec()
}
