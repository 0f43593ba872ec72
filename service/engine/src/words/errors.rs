//! Why a word, or a list of words, is refused.
//!
//! Owns what the errors say and where they point. What is refused is decided in `letters`, `merge` and `read`.

use std::fmt;

use super::{MAX_LETTER_BYTES, MAX_LETTERS, MAX_TOTAL_WEIGHT, MAX_WEIGHT, MAX_WORDS};
use crate::{budget::Stopped, rules::MAX_LENGTH};

/// Which of the two lists of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordsPart {
    /// The words that may be the secret.
    Secrets,
    /// The words that may be guessed besides.
    Guesses,
}

impl fmt::Display for WordsPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WordsPart::Secrets => "secrets",
            WordsPart::Guesses => "guesses",
        })
    }
}

/// Where in a list: [`WordsError::field`] tells an index, the text of the error a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPlace {
    /// The 0-based index in a list that came as a list.
    Index(usize),
    /// The 1-based line of a file.
    Line(usize),
}

impl fmt::Display for WordPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WordPlace::Index(_) => Ok(()),
            WordPlace::Line(line) => write!(f, "line {line}: "),
        }
    }
}

/// Why a text is not a word of the game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// There is no letter.
    #[error("a word cannot be empty: it has 1 to {MAX_LENGTH} letters")]
    Empty,
    /// A character that nobody could see or type as a letter.
    #[error(
        "{0:?} cannot stand there: a word has no white space, control or invisible characters, \
         and does not begin with a combining mark"
    )]
    Character(char),
    /// A letter with so many marks that it is none.
    #[error(
        "letter {place} of the word has {bytes} bytes with its marks: a letter has at most \
         {MAX_LETTER_BYTES}"
    )]
    LongLetter {
        /// Its place in the word, from 1.
        place: usize,
        /// Its size in UTF-8.
        bytes: usize,
    },
    /// More letters than a word of any game has.
    #[error("the word has {0} letters: a word has 1 to {MAX_LENGTH}")]
    TooLong(usize),
    /// Too few or too many letters.
    #[error("the word has {found} letters: the words of this game have {expected}")]
    Length {
        /// Letters in the text.
        found: usize,
        /// Letters in a word of the game.
        expected: usize,
    },
    /// In a list: the word brings one letter too many into the game.
    #[error("the letter `{0}` is one too many: a game has at most {MAX_LETTERS} different letters")]
    TooManyLetters(String),
    /// A letter that no word of the game has.
    #[error("no word of this game has the letter `{letter}`{}", in_script(.scripts))]
    UnknownLetter {
        /// The letter, in lower case.
        letter: String,
        /// Its script and that of another letter of the text, if they are known and differ: the two may look alike.
        scripts: Option<(&'static str, &'static str)>,
    },
    /// The word may not be guessed.
    #[error("the word is not in the list of this game")]
    NotInList,
}

fn in_script(scripts: &Option<(&str, &str)>) -> String {
    scripts.map_or(String::new(), |(own, other)| {
        format!(", which is {own} in a word with {other} letters")
    })
}

/// Why lists of words are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    /// An entry is not a word of the game.
    #[error("{place}{error}")]
    Word {
        /// The list it is in.
        part: WordsPart,
        /// Where it stands.
        place: WordPlace,
        /// What is wrong with it.
        error: WordError,
    },
    /// A word stands in one list twice, perhaps in another case.
    #[error("the word is at {part}[{first}] already: each word stands in its list once")]
    Repeated {
        /// The list.
        part: WordsPart,
        /// The 0-based index of the second one.
        index: usize,
        /// The 0-based index of the first one.
        first: usize,
    },
    /// A file is not text.
    #[error("line {line}: this is not UTF-8: save the file as UTF-8")]
    NotUtf8 {
        /// The list.
        part: WordsPart,
        /// The 1-based line.
        line: usize,
    },
    /// What follows a word in a file is not a weight.
    #[error(
        "line {line}: `{text}` is not a weight: a line is one word, and after white space, if \
         need be, a whole number from 1 to {MAX_WEIGHT}"
    )]
    WeightText {
        /// The list.
        part: WordsPart,
        /// The 1-based line.
        line: usize,
        /// What stands there; only its beginning if it is long.
        text: String,
    },
    /// A weight is out of range.
    #[error("a weight cannot be {weight}: it is a whole number from 1 to {MAX_WEIGHT}")]
    Weight {
        /// The 0-based index.
        index: usize,
        /// The weight.
        weight: u32,
    },
    /// There are weights, but not one a secret.
    #[error("there are {weights} weights for {secrets} secrets: give one for each, or none")]
    WeightCount {
        /// How many weights there are.
        weights: usize,
        /// How many secrets there are.
        secrets: usize,
    },
    /// The weights are too large to be added up many times.
    #[error(
        "the weights come to {0}: together they are at most {MAX_TOTAL_WEIGHT}, so divide all of \
         them by the same number"
    )]
    TotalWeight(u64),
    /// There is no word at all.
    #[error("there is no word of 1 to {MAX_LENGTH} letters: a game needs at least one")]
    NoWords(WordsPart),
    /// There are more than [`MAX_WORDS`] words.
    #[error("there are more than {MAX_WORDS} words: a game has at most that many")]
    TooManyWords(WordsPart),
    /// No length is that of most words.
    #[error(
        "{wrong} of {words} words do not have {letters} letters, the commonest length: keep the \
         words of one length"
    )]
    MixedLengths {
        /// The list.
        part: WordsPart,
        /// The commonest length.
        letters: usize,
        /// How many words have another one.
        wrong: usize,
        /// How many words there are.
        words: usize,
    },
    /// The two files have words of different lengths.
    #[error(
        "the guesses have {guesses} letters and the secrets {secrets}: all words of a game have \
         one length"
    )]
    DifferentLengths {
        /// Letters in a secret.
        secrets: usize,
        /// Letters in a guess.
        guesses: usize,
    },
    /// Nobody waits for the list any more.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl WordsError {
    /// The field that is wrong, as in `secrets[3]`, `guesses` or `weights[2]`; for a file, which one it is.
    pub fn field(&self) -> String {
        match self {
            WordsError::Word { part, place: WordPlace::Index(index), .. }
            | WordsError::Repeated { part, index, .. } => format!("{part}[{index}]"),
            WordsError::Word { part, .. }
            | WordsError::NotUtf8 { part, .. }
            | WordsError::WeightText { part, .. }
            | WordsError::NoWords(part)
            | WordsError::TooManyWords(part)
            | WordsError::MixedLengths { part, .. } => part.to_string(),
            WordsError::Weight { index, .. } => format!("weights[{index}]"),
            WordsError::WeightCount { .. } | WordsError::TotalWeight(_) => "weights".to_owned(),
            WordsError::DifferentLengths { .. } => WordsPart::Guesses.to_string(),
            WordsError::Stopped(_) => WordsPart::Secrets.to_string(),
        }
    }
}
