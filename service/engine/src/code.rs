//! One code: a secret or a guess, as symbol numbers.

use crate::rules::MAX_LENGTH;

/// A secret or a guess: up to [`MAX_LENGTH`] symbols, each the index of a character in the alphabet of its rules.
///
/// Codes of one game compare in alphabet order. Text forms are the business of [`Rules`](crate::Rules).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    symbols: [u8; MAX_LENGTH],
    length: u8,
}

impl Code {
    /// A code of these symbols; there must be at most [`MAX_LENGTH`].
    pub(crate) fn new(symbols: &[u8]) -> Code {
        let mut code = Code { symbols: [0; MAX_LENGTH], length: symbols.len() as u8 };
        code.symbols[..symbols.len()].copy_from_slice(symbols);
        code
    }

    /// The symbols, first place first.
    pub fn symbols(&self) -> &[u8] {
        &self.symbols[..usize::from(self.length)]
    }

    pub(crate) fn symbols_mut(&mut self) -> &mut [u8] {
        &mut self.symbols[..usize::from(self.length)]
    }
}
