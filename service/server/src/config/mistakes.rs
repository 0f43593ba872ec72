//! What is wrong with the settings, told all at once.

use std::{error::Error, fmt};

/// As many as anybody reads; a file that is not meant for us may hold thousands.
const MAX_TOLD: usize = 100;
/// Characters of what was given that a mistake shows: enough to find it.
const MAX_SHOWN: usize = 80;

/// What is wrong with the settings, all of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mistakes {
    told: Vec<String>,
    more: usize,
}

impl Mistakes {
    /// Takes note of one; its text is not made if there are too many already.
    pub(super) fn note(&mut self, text: impl FnOnce() -> String) {
        if self.told.len() < MAX_TOLD { self.told.push(text()) } else { self.more += 1 }
    }

    /// An error if there is one.
    pub(super) fn none(self) -> Result<(), Mistakes> {
        if self.told.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the settings cannot be used:", self.told.len() + self.more)?;
        self.told.iter().try_for_each(|mistake| write!(f, "\n  {mistake}"))?;
        if self.more > 0 { write!(f, "\n  and {} more", self.more) } else { Ok(()) }
    }
}

impl Error for Mistakes {}

/// The beginning of what was given.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}
