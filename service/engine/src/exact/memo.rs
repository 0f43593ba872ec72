//! What is known of the sets met so far.
//!
//! Keys are whole sets, so a hit is the same set and nothing else. The memo never fails: a shard that is full forgets
//! its smallest sets, which are the cheapest to measure again.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hash as _, Hasher},
    sync::{Mutex, MutexGuard},
};

/// Parts that are locked separately, so that threads seldom wait for one another.
const SHARDS: usize = 64;

/// What is known of the cost of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// No strategy costs less.
    pub(super) least: u32,
    /// Some strategy costs no more.
    pub(super) exact: bool,
}

#[derive(Debug)]
pub(super) struct Memo {
    shards: Vec<Mutex<Shard>>,
    /// The most bytes of one shard.
    limit: usize,
}

#[derive(Debug, Default)]
struct Shard {
    known: HashMap<Box<[u32]>, Known, BuildHasherDefault<SetHasher>>,
    bytes: usize,
}

impl Memo {
    /// A memo of about `bytes` bytes at most.
    pub(super) fn new(bytes: usize) -> Memo {
        Memo { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), limit: bytes / SHARDS }
    }

    pub(super) fn get(&self, key: &[u32]) -> Option<Known> {
        self.shard(key).known.get(key).copied()
    }

    /// Adds what is known now; the better of it and what was known before stays.
    pub(super) fn put(&self, key: &[u32], known: Known) {
        let mut shard = self.shard(key);
        if let Some(old) = shard.known.get_mut(key) {
            if !old.exact && (known.exact || known.least > old.least) {
                *old = known;
            }
            return;
        }
        let bytes = entry_bytes(key);
        if shard.bytes + bytes > self.limit {
            shard.shrink(self.limit / 2);
        }
        shard.bytes += bytes;
        shard.known.insert(key.into(), known);
    }

    fn shard(&self, key: &[u32]) -> MutexGuard<'_, Shard> {
        let mut hasher = SetHasher::default();
        key.hash(&mut hasher);
        let shard = &self.shards[(hasher.finish() >> 48) as usize % SHARDS];
        shard.lock().expect("nobody panics while holding it")
    }
}

impl Shard {
    /// Forgets the smallest sets until at most `limit` bytes are left.
    fn shrink(&mut self, limit: usize) {
        let mut by_length = std::collections::BTreeMap::new();
        for key in self.known.keys() {
            *by_length.entry(key.len()).or_insert(0) += entry_bytes(key);
        }
        let mut kept = 0;
        let smallest = by_length.into_iter().rev().find(|(_, bytes)| {
            kept += bytes;
            kept > limit
        });
        let above = smallest.map_or(0, |(length, _)| length);
        self.known.retain(|key, _| key.len() > above);
        self.bytes = self.known.keys().map(|key| entry_bytes(key)).sum();
    }
}

/// Bytes that an entry takes, its place in a table that is half full and the allocator's share included.
fn entry_bytes(key: &[u32]) -> usize {
    size_of_val(key) + 2 * size_of::<(Box<[u32]>, Known)>() + 16
}

/// Hashes the numbers of a set. Only speed matters, as keys are compared whole.
#[derive(Debug, Default)]
struct SetHasher(u64);

impl Hasher for SetHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_ne_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_memo_forgets_and_never_lies() {
        let memo = Memo::new(SHARDS * 4096);
        let key = |i: u32| -> Vec<u32> { (0..1 + i % 7).map(|j| i * 8 + j).collect() };
        for i in 0..100_000 {
            memo.put(&key(i), Known { least: i, exact: false });
            let shard = memo.shard(&key(i));
            assert!(shard.bytes <= 4096);
        }
        let known = (0..100_000).filter_map(|i| Some((i, memo.get(&key(i))?.least)));
        let known: Vec<(u32, u32)> = known.collect();
        assert!(!known.is_empty() && known.iter().all(|(i, least)| i == least));
    }

    #[test]
    fn the_better_knowledge_stays() {
        let memo = Memo::new(1 << 20);
        for (least, exact, stays) in
            [(5, false, 5), (4, false, 5), (7, false, 7), (9, true, 9), (8, false, 9)]
        {
            memo.put(&[1, 2, 3], Known { least, exact });
            assert_eq!(memo.get(&[1, 2, 3]).map(|known| known.least), Some(stays));
        }
    }
}
