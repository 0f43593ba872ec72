//! What a trial is, and what it is told.

use std::{error::Error, path::PathBuf, time::Duration};

use crate::report::Report;

/// What ends a trial before its time.
pub(crate) type Trouble = Box<dyn Error + Send + Sync>;

/// One question to the server, with a name to ask for it.
#[derive(Clone, Copy)]
pub(crate) struct Trial {
    /// What it is called on the command line and in the record.
    pub(crate) name: &'static str,
    /// Runs it and reports what is asked and what was measured.
    ///
    /// # Errors
    /// What kept it from its end; that counts as a broken law.
    pub(crate) run: fn(&Setup, &mut Report) -> Result<(), Trouble>,
}

/// What all trials are told.
pub(crate) struct Setup {
    /// Small numbers, and no timing is asserted.
    pub(crate) short: bool,
    /// `herdsmand`.
    pub(crate) server: PathBuf,
    /// `herdsman`.
    pub(crate) client: PathBuf,
    /// How long the soak is in long form.
    pub(crate) soak: Duration,
}

impl Setup {
    /// The value for this scale.
    pub(crate) fn scale<T>(&self, long: T, short: T) -> T {
        if self.short { short } else { long }
    }
}
