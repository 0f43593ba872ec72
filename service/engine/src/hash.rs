//! Hashes that are made once and kept with what they are of.

use std::{
    hash::{BuildHasher as _, Hash, RandomState},
    sync::LazyLock,
};

/// A hash by keys that are drawn anew for each process, so that nobody can make things of one hash.
pub(crate) fn drawn_hash(value: &impl Hash) -> u64 {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    KEYS.hash_one(value)
}
