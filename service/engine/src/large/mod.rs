//! Games whose codes are too many to be enumerated.
//!
//! Owns samples of consistent codes, what they tell of how many there are, and guesses chosen by them. It needs rules
//! and a history only; games that fit a [`Game`](crate::Game) are better served there. Everything is drawn by a seed
//! and bounded by a number of nodes, so that the same question gets the same answer.

mod clue;
mod sample;
mod search;
mod suggest;

pub use sample::{Count, Sample, sample};
pub use suggest::{LARGE_NODES, LARGE_SAMPLE, LargeAdvice, LargeError, suggest_large};
