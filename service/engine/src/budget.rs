//! How work is bounded and cancelled: a stop flag and a number of scores, never a clock.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A flag that many hands may hold: once raised, the work that watches it ends within a millisecond.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Raises the flag, for good.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was raised.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How much work a call may do.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Ends the work early, with [`Stopped`].
    pub stop: StopFlag,
    /// The most scores (one guess against one candidate) that choosing one guess may take; beyond it guesses
    /// and candidates are sampled, the same way every time.
    pub max_scores: u64,
}

/// The stop flag was raised before the work was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work was stopped")]
pub struct Stopped;

impl Budget {
    /// A budget with both bounds.
    pub fn new(stop: StopFlag, max_scores: u64) -> Budget {
        Budget { stop, max_scores }
    }

    /// A budget that nothing ends.
    pub fn unlimited() -> Budget {
        Budget { stop: StopFlag::default(), max_scores: u64::MAX }
    }

    /// Ends the work if the flag is up: `?` after every stretch of at most a millisecond.
    pub(crate) fn check(&self) -> Result<(), Stopped> {
        if self.stop.is_stopped() { Err(Stopped) } else { Ok(()) }
    }
}
