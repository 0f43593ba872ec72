//! The turns that were played.

use crate::{code::Code, feedback::Class};

/// The most turns in a history: a set of turns is one `u64`.
pub const MAX_TURNS: usize = 64;

/// One guess and the class of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn {
    /// The guess.
    pub guess: Code,
    /// The class of the answer it got.
    pub class: Class,
}

/// The turns of a game in the order they were played.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct History(Vec<Turn>);

/// A history has more than [`MAX_TURNS`] turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a history has at most {MAX_TURNS} turns, not {0}")]
pub struct TooManyTurns(pub usize);

impl History {
    /// A history of these turns.
    ///
    /// # Errors
    /// [`TooManyTurns`] beyond [`MAX_TURNS`].
    pub fn new(turns: Vec<Turn>) -> Result<History, TooManyTurns> {
        if turns.len() > MAX_TURNS { Err(TooManyTurns(turns.len())) } else { Ok(History(turns)) }
    }

    /// The turns in the order they were played.
    pub fn turns(&self) -> &[Turn] {
        &self.0
    }

    /// The same knowledge in one form: each turn once, sorted. The order of turns and repeated turns change no
    /// candidate.
    pub fn canonical(&self) -> History {
        let mut turns = self.0.clone();
        turns.sort_unstable();
        turns.dedup();
        History(turns)
    }
}
