//! The words of a word game: which may be the secret, which may be guessed, and how they are read.
//!
//! Owns lists of words, their order, and the way from a text to a code and back. Rules, answers and what is left
//! after some of them are other modules' business; so is where a list comes from.

mod errors;
mod letters;
mod merge;
mod read;
mod strict;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

pub use errors::{WordError, WordPlace, WordsError, WordsPart};
pub(crate) use letters::is_unseen;
pub use read::{FileReport, WordsReport};

use crate::{budget::StopFlag, code::Code, hash::drawn_hash, rules::MAX_LENGTH};

/// The most words in a game: codes are numbered, and columns of them kept, for each.
pub const MAX_WORDS: usize = 2_000_000;
/// The most different letters in a game: a symbol is a byte, and a few of its values are kept free.
pub const MAX_LETTERS: usize = 250;
/// The largest weight of a word.
pub const MAX_WEIGHT: u32 = 1_000_000;
/// The most that the weights of a game may come to, divided by what all have in common: sums of their products
/// with numbers of turns stay far within a `u64`.
const MAX_TOTAL_WEIGHT: u64 = 1 << 27;
/// The most bytes of one letter in lower case: room for five marks, and for most emoji.
const MAX_LETTER_BYTES: usize = 16;
/// Texts longer than this many bytes cannot be a word, however they are composed.
const MAX_WORD_BYTES: usize = 2048;

/// The words of a game: an ordered list, and which of them may be the secret. A clone is cheap.
///
/// Words are equal that differ in case or encoding only. Letter by letter: `ẞ` is `ß` and never `ss`; `Σ`, `σ` and `ς`
/// are one, and so are `İ`, `I` and `i`, but not `ı`. Two lists are equal if their words are also shown alike.
#[derive(Clone)]
pub struct WordList(Arc<Content>);

struct Content {
    /// Letters in a word.
    length: usize,
    /// Each letter in lower case, at its symbol number.
    letters: Vec<Box<str>>,
    /// All words as they are shown, one after the other, and where each ends.
    text: String,
    ends: Vec<u32>,
    /// The symbols of all words, one word after the other.
    codes: Vec<u8>,
    secrets: Vec<u32>,
    weights: Option<Vec<u32>>,
    /// Of all that makes two lists differ.
    hash: u64,
}

impl WordList {
    /// The words of `secrets`, and besides them those of `guesses`, may be guessed. Weights are those of the secrets:
    /// none, or one for each, from 1 to [`MAX_WEIGHT`]; only their proportions count.
    ///
    /// # Errors
    /// [`WordsError`] names the first entry that is wrong and says what would be right. Nothing is dropped: a word
    /// that stands in its list twice, or has not the length of the others, is refused.
    pub fn new(
        secrets: &[impl AsRef<str>],
        guesses: &[impl AsRef<str>],
        weights: &[u32],
    ) -> Result<WordList, WordsError> {
        WordList::new_until(secrets, guesses, weights, &StopFlag::default())
    }

    /// As [`WordList::new`], until the flag is raised.
    ///
    /// # Errors
    /// As there, and [`WordsError::Stopped`].
    pub fn new_until(
        secrets: &[impl AsRef<str>],
        guesses: &[impl AsRef<str>],
        weights: &[u32],
        stop: &StopFlag,
    ) -> Result<WordList, WordsError> {
        let secrets = secrets.iter().map(AsRef::as_ref).collect::<Vec<_>>();
        let guesses = guesses.iter().map(AsRef::as_ref).collect::<Vec<_>>();
        strict::new(&secrets, &guesses, weights, stop)
    }

    /// Reads files, given as their bytes: UTF-8, a word a line, and after it, if need be, white space and a weight (a
    /// whole number from 1 to [`MAX_WEIGHT`], 1 if there is none; it counts for secrets only).
    ///
    /// Blank lines and lines that begin with `#` are skipped; words that were there before, or have not the commonest
    /// length of their file (of several, the one met first), are dropped. The report counts all of them.
    ///
    /// # Errors
    /// [`WordsError`] says where, and what would be right: for what cannot be read as a word, and for files that make
    /// no game: without a word, mostly of other lengths than the commonest, or of two different ones.
    pub fn read(
        secrets: &[u8],
        guesses: Option<&[u8]>,
    ) -> Result<(WordList, WordsReport), WordsError> {
        read::read(secrets, guesses)
    }

    fn from_content(mut content: Content) -> WordList {
        content.hash = drawn_hash(&content.identity());
        WordList(Arc::new(content))
    }

    /// Letters in a word.
    pub fn letters(&self) -> usize {
        self.0.length
    }

    /// Different letters in all words.
    pub fn symbols(&self) -> usize {
        self.0.letters.len()
    }

    /// How many words may be guessed, which is all there are.
    #[expect(clippy::len_without_is_empty, reason = "no list is empty")]
    pub fn len(&self) -> usize {
        self.0.ends.len()
    }

    /// The numbers of the words that may be the secret, ascending.
    pub fn secrets(&self) -> &[u32] {
        &self.0.secrets
    }

    /// The weights of [`WordList::secrets`], in their order and without a common divisor; none if all are equal.
    pub fn weights(&self) -> Option<&[u32]> {
        self.0.weights.as_deref()
    }

    /// The code of a word. Words are numbered in the order of their codes, and letters in the order of their text.
    ///
    /// # Panics
    /// If there is no word of this number.
    pub fn code(&self, index: u32) -> Code {
        Code::new(self.0.symbols(index as usize))
    }

    /// The number of the word that has this code.
    pub fn find(&self, code: &Code) -> Option<u32> {
        let code = code.symbols();
        let (mut start, mut end) = (0, self.len());
        while start < end {
            let middle = start.midpoint(end);
            match self.0.symbols(middle).cmp(code) {
                std::cmp::Ordering::Less => start = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle as u32),
                std::cmp::Ordering::Greater => end = middle,
            }
        }
        None
    }

    /// The word as it was given first, in NFC.
    ///
    /// # Panics
    /// If there is no word of this number.
    pub fn word(&self, index: u32) -> &str {
        let index = index as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.0.ends[before]);
        &self.0.text[start as usize..self.0.ends[index] as usize]
    }

    /// The code of the word that a text means, in any case.
    ///
    /// # Errors
    /// [`WordError`] says why the text is not a word of this game.
    pub fn parse(&self, text: &str) -> Result<Code, WordError> {
        let expected = self.letters();
        if text.len() > MAX_WORD_BYTES {
            return Err(WordError::Length { found: text.chars().count(), expected });
        }
        let found = letters::count(text)?;
        if found != expected {
            return Err(WordError::Length { found, expected });
        }
        let mut folded = letters::Folded::default();
        folded.fold(text);
        let mut symbols = [0; MAX_LENGTH];
        for (symbol, letter) in symbols.iter_mut().zip(folded.letters()) {
            let letter = letter?;
            let place = self.0.letters.binary_search_by(|known| (**known).cmp(letter));
            *symbol = place.map_err(|_| folded.unknown(letter))? as u8;
        }
        let code = Code::new(&symbols[..expected]);
        self.find(&code).map(|_| code).ok_or(WordError::NotInList)
    }

    /// Bytes that the list takes, whatever the number of its clones.
    pub fn memory(&self) -> usize {
        let content = &*self.0;
        let letters = content.letters.iter().map(|letter| size_of_val(letter) + letter.len());
        let numbers = content.ends.len() + content.secrets.len();
        let weights = content.weights.as_ref().map_or(0, Vec::len);
        size_of::<Content>()
            + letters.sum::<usize>()
            + content.text.len()
            + content.codes.len()
            + (numbers + weights) * size_of::<u32>()
    }
}

impl Content {
    fn symbols(&self, index: usize) -> &[u8] {
        &self.codes[index * self.length..][..self.length]
    }

    /// What makes two lists differ; letters and codes follow from it.
    fn identity(&self) -> (&str, &[u32], &[u32], &Option<Vec<u32>>) {
        (&self.text, &self.ends, &self.secrets, &self.weights)
    }
}

impl PartialEq for WordList {
    fn eq(&self, other: &WordList) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || self.0.hash == other.0.hash && self.0.identity() == other.0.identity()
    }
}

impl Eq for WordList {}

impl Hash for WordList {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl fmt::Debug for WordList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordList")
            .field("letters", &self.letters())
            .field("words", &self.len())
            .field("secrets", &self.secrets().len())
            .field("weighted", &self.weights().is_some())
            .finish()
    }
}
