//! What game is played: the one gate where rules, codes and answers from outside are validated.
//!
//! Codes over an alphabet are `codes`, ranges of numbers `numbers`, and lists of words the module `words` beside this
//! one. How many codes there are and which comes where is `space`; the named games are `presets`.

mod codes;
mod numbers;

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

pub use codes::CodeSpec;

use crate::{
    code::Code,
    feedback::{Answers, Class, FeedbackRule},
    hash::drawn_hash,
    presets::{PRESETS, preset_names},
    words::{WordError, WordList},
};
use codes::Codes;
use numbers::Numbers;

/// The most symbols in an alphabet: a set of symbols is one `u64`.
pub const MAX_ALPHABET: usize = 64;
/// The most symbols in a code: the cells of pegs (at most 13 x 13) stay within a byte.
pub const MAX_LENGTH: usize = 12;

/// The rules of a game, valid by construction. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Rules(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: Kind,
    feedback: FeedbackRule,
    /// Derived from the others.
    answers: Answers,
    /// Of the others: rules are a part of every question to a cache.
    hash: u64,
}

/// What secrets are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Codes(Codes),
    Words(WordList),
    Numbers(Numbers),
}

/// Rules spelled out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form<'a> {
    /// All strings over an alphabet.
    Codes(CodeSpec),
    /// The words of a list.
    Words(&'a WordList),
    /// All numbers of a range.
    Numbers {
        /// The first.
        min: i32,
        /// The last.
        max: i32,
    },
}

/// Why rules are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// No game has this name.
    #[error("there is no game of this name; the names are {}", preset_names())]
    UnknownPreset,
    /// A named game that is played with a list of words.
    #[error("this game is played with a list of words: name a dictionary")]
    WithoutWords,
    /// A list of words for a game that has none.
    #[error("this game has no words, so it takes no dictionary")]
    WithWords,
    /// A feedback rule that does not go with such a game.
    #[error("{0}")]
    Feedback(&'static str),
    /// The alphabet is empty.
    #[error("the alphabet is empty: it needs 1 to {MAX_ALPHABET} symbols, as in `0123456789`")]
    EmptyAlphabet,
    /// The alphabet has more than [`MAX_ALPHABET`] symbols.
    #[error("the alphabet has more than {MAX_ALPHABET} symbols")]
    LargeAlphabet,
    /// A symbol that nobody could read or type.
    #[error(
        "{0:?} cannot be a symbol: white space, control characters and what cannot be seen by itself are not allowed"
    )]
    BadSymbol(char),
    /// A symbol occurs twice in the alphabet.
    #[error("the alphabet has {0:?} twice: each symbol stands in it once")]
    RepeatedSymbol(char),
    /// The length is out of range.
    #[error("the length cannot be {0}: a code has 1 to {MAX_LENGTH} symbols")]
    Length(i32),
    /// Codes without repeats that are longer than the alphabet.
    #[error(
        "a code of {length} different symbols cannot be made of {symbols}: \
         shorten it, enlarge the alphabet or set `repeats`"
    )]
    TooFewSymbols {
        /// Symbols in a code.
        length: usize,
        /// Symbols in the alphabet.
        symbols: usize,
    },
    /// A symbol of `not_first` is not in the alphabet.
    #[error("{0:?} is not in the alphabet, so it need not be kept from the first place")]
    NotFirstUnknown(char),
    /// A symbol occurs twice in `not_first`.
    #[error("{0:?} is named twice: name each symbol that cannot stand first once")]
    NotFirstRepeated(char),
    /// `not_first` is the whole alphabet.
    #[error("no symbol is left for the first place: leave at least one out of `not_first`")]
    NotFirstAll,
    /// A range that ends before it begins.
    #[error("no number is between {min} and {max}: `max` is at least `min`")]
    EmptyRange {
        /// The first number.
        min: i32,
        /// The last.
        max: i32,
    },
}

impl RulesError {
    /// The field that is wrong: `preset`, `dictionary`, `feedback`, `alphabet`, `length`, `not_first` or `max`.
    pub fn field(&self) -> &'static str {
        match self {
            RulesError::UnknownPreset => "preset",
            RulesError::WithoutWords | RulesError::WithWords => "dictionary",
            RulesError::Feedback(_) => "feedback",
            RulesError::EmptyAlphabet
            | RulesError::LargeAlphabet
            | RulesError::BadSymbol(_)
            | RulesError::RepeatedSymbol(_) => "alphabet",
            RulesError::Length(_) | RulesError::TooFewSymbols { .. } => "length",
            RulesError::NotFirstUnknown(_)
            | RulesError::NotFirstRepeated(_)
            | RulesError::NotFirstAll => "not_first",
            RulesError::EmptyRange { .. } => "max",
        }
    }
}

/// Why a text is not a code of the game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// Too few or too many symbols.
    #[error("a code of this game has {expected} symbols, not {found}")]
    Length {
        /// Symbols in the text.
        found: usize,
        /// Symbols in a code.
        expected: usize,
    },
    /// A character that is not in the alphabet.
    #[error("{symbol:?} is not a symbol of this game; the symbols are {alphabet}")]
    UnknownSymbol {
        /// The character.
        symbol: char,
        /// The whole alphabet.
        alphabet: String,
    },
    /// A symbol occurs twice where symbols must differ.
    #[error("{0:?} occurs more than once: the symbols of a code of this game all differ")]
    Repeated(char),
    /// A symbol stands first that cannot.
    #[error("{0:?} cannot stand first in this game")]
    First(char),
    /// Not a word of the game.
    #[error(transparent)]
    Word(#[from] WordError),
    /// Not a number of the range.
    #[error("this game is played with whole numbers from {min} to {max}")]
    Number {
        /// The first number.
        min: i32,
        /// The last.
        max: i32,
    },
}

impl Rules {
    /// The rules of a codes game.
    ///
    /// # Errors
    /// [`RulesError`] names the field that is wrong and says what would be right.
    pub fn codes(spec: &CodeSpec, feedback: FeedbackRule) -> Result<Rules, RulesError> {
        Rules::new(Kind::Codes(Codes::new(spec)?), feedback)
    }

    /// The rules of a game of words.
    ///
    /// # Errors
    /// [`RulesError::Feedback`] if words cannot be answered so.
    pub fn words(words: WordList, feedback: FeedbackRule) -> Result<Rules, RulesError> {
        Rules::new(Kind::Words(words), feedback)
    }

    /// The rules of a game of all numbers from `min` to `max`, answered by lower, equal and higher.
    ///
    /// # Errors
    /// [`RulesError::EmptyRange`] if there are none.
    pub fn numbers(min: i32, max: i32) -> Result<Rules, RulesError> {
        Rules::new(Kind::Numbers(Numbers::new(min, max)?), FeedbackRule::Order)
    }

    /// The rules of a named game, one of [`PRESETS`]; `words` for those that are played with words.
    ///
    /// # Errors
    /// [`RulesError::UnknownPreset`] lists the names there are; others say that words are missing, or too much.
    pub fn preset(name: &str, words: Option<WordList>) -> Result<Rules, RulesError> {
        let preset = PRESETS.iter().find(|preset| preset.name == name);
        preset.ok_or(RulesError::UnknownPreset)?.rules(words)
    }

    /// The same game with other answers.
    ///
    /// # Errors
    /// [`RulesError::Feedback`] if this game cannot be answered so.
    pub fn with_feedback(self, feedback: FeedbackRule) -> Result<Rules, RulesError> {
        if feedback == self.0.feedback {
            return Ok(self);
        }
        Rules::new(self.0.kind.clone(), feedback)
    }

    fn new(kind: Kind, feedback: FeedbackRule) -> Result<Rules, RulesError> {
        let ordered = matches!(kind, Kind::Numbers(_));
        match feedback {
            FeedbackRule::Order if !ordered => {
                return Err(RulesError::Feedback("lower and higher are answers to numbers only"));
            }
            FeedbackRule::Order => {}
            _ if ordered => {
                return Err(RulesError::Feedback(
                    "numbers are answered by lower, equal and higher",
                ));
            }
            _ => {}
        }
        let length = match &kind {
            Kind::Codes(codes) => codes.length(),
            Kind::Words(words) => words.letters(),
            Kind::Numbers(_) => numbers::BYTES,
        };
        let answers = Answers::new(feedback, length as u8);
        let hash = drawn_hash(&(&kind, feedback));
        Ok(Rules(Arc::new(Inner { kind, feedback, answers, hash })))
    }

    /// The rules spelled out.
    pub fn form(&self) -> Form<'_> {
        match &self.0.kind {
            Kind::Codes(codes) => Form::Codes(codes.spec()),
            Kind::Words(words) => Form::Words(words),
            Kind::Numbers(numbers) => Form::Numbers { min: numbers.min(), max: numbers.max() },
        }
    }

    /// The rules of codes over an alphabet, as [`Rules::codes`] takes them.
    pub fn code_spec(&self) -> Option<CodeSpec> {
        match self.form() {
            Form::Codes(spec) => Some(spec),
            Form::Words(_) | Form::Numbers { .. } => None,
        }
    }

    /// What an answer tells.
    pub fn feedback(&self) -> FeedbackRule {
        self.0.feedback
    }

    /// Symbols in a code.
    pub fn length(&self) -> usize {
        match &self.0.kind {
            Kind::Codes(codes) => codes.length(),
            Kind::Words(words) => words.letters(),
            Kind::Numbers(_) => numbers::BYTES,
        }
    }

    /// Symbols in the alphabet; of words, the letters that occur.
    pub fn symbols(&self) -> usize {
        match &self.0.kind {
            Kind::Codes(codes) => codes.symbols(),
            Kind::Words(words) => words.symbols(),
            Kind::Numbers(_) => 256,
        }
    }

    /// Whether a symbol may occur more than once in a code.
    pub fn repeats(&self) -> bool {
        match &self.0.kind {
            Kind::Codes(codes) => codes.repeats(),
            Kind::Words(_) | Kind::Numbers(_) => true,
        }
    }

    /// The symbols that cannot stand first, a bit a symbol; only of codes.
    pub(crate) fn not_first(&self) -> u64 {
        match &self.0.kind {
            Kind::Codes(codes) => codes.not_first(),
            Kind::Words(_) | Kind::Numbers(_) => 0,
        }
    }

    /// Whether all strings over the alphabet are codes, so that symbols can change names and places.
    pub(crate) fn renames(&self) -> bool {
        matches!(self.0.kind, Kind::Codes(_))
    }

    /// The words, if it is a game of words.
    pub(crate) fn word_list(&self) -> Option<&WordList> {
        match &self.0.kind {
            Kind::Words(words) => Some(words),
            Kind::Codes(_) | Kind::Numbers(_) => None,
        }
    }

    /// How many guesses the game allows.
    pub fn size(&self) -> u128 {
        match &self.0.kind {
            Kind::Codes(codes) => codes.size(),
            Kind::Words(words) => words.len() as u128,
            Kind::Numbers(numbers) => numbers.size(),
        }
    }

    /// The answers that the game knows.
    pub fn answers(&self) -> &Answers {
        &self.0.answers
    }

    /// The code that a text means.
    ///
    /// # Errors
    /// [`CodeError`] says why the text is not a code of this game.
    pub fn code(&self, text: &str) -> Result<Code, CodeError> {
        match &self.0.kind {
            Kind::Codes(codes) => codes.parse(text),
            Kind::Words(words) => Ok(words.parse(text)?),
            Kind::Numbers(numbers) => numbers.parse(text),
        }
    }

    /// The text of a code.
    ///
    /// # Panics
    /// If it is no word of a game of words.
    pub fn text(&self, code: &Code) -> String {
        match &self.0.kind {
            Kind::Codes(codes) => codes.text(code),
            Kind::Words(words) => words.word(words.find(code).expect("a word of the game")).into(),
            Kind::Numbers(numbers) => numbers.text(code),
        }
    }

    /// The answer to one guess at one secret. For many at once there is [`score_matrix`](crate::score_matrix).
    pub fn score(&self, guess: &Code, secret: &Code) -> Class {
        let (guess, secret) = (guess.symbols(), secret.symbols());
        let bulls = || guess.iter().zip(secret).map(|(a, b)| u8::from(a == b)).sum::<u8>();
        let length = guess.len() as u8;
        match self.0.feedback {
            FeedbackRule::Bulls => Class(bulls().into()),
            FeedbackRule::Pegs => {
                let cell = bulls() * (length + 1) + matched(guess, secret);
                self.answers().of_cell(cell)
            }
            FeedbackRule::Total if guess == secret => self.answers().winning(),
            FeedbackRule::Total => Class(matched(guess, secret).into()),
            FeedbackRule::Marks => marks(guess, secret),
            FeedbackRule::Order => Class(match secret.cmp(guess) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Greater => 1,
                std::cmp::Ordering::Equal => 2,
            }),
        }
    }
}

/// Symbols that both codes have, each as often as both have it.
fn matched(guess: &[u8], secret: &[u8]) -> u8 {
    // Signed counts of each symbol: what is left of one code after the other is taken away.
    let mut counts = [0_i8; 256];
    for (&a, &b) in guess.iter().zip(secret) {
        counts[usize::from(a)] += 1;
        counts[usize::from(b)] -= 1;
    }
    let mut unmatched = 0;
    for &symbol in guess {
        unmatched += counts[usize::from(symbol)].max(0) as u8;
        counts[usize::from(symbol)] = 0;
    }
    guess.len() as u8 - unmatched
}

/// The number of the marks: right ones first, then misplaced ones from left to right, as many as the secret has.
fn marks(guess: &[u8], secret: &[u8]) -> Class {
    let mut free = [0_u8; 256];
    for (a, &b) in guess.iter().zip(secret) {
        free[usize::from(b)] += u8::from(*a != b);
    }
    let mark = |number, (&a, &b): (&u8, &u8)| {
        let free = &mut free[usize::from(a)];
        let mark = match (a == b, *free) {
            (true, _) => 2,
            (false, 0) => 0,
            (false, _) => {
                *free -= 1;
                1
            }
        };
        number * 3 + mark
    };
    Class(guess.iter().zip(secret).fold(0, mark))
}

impl PartialEq for Rules {
    fn eq(&self, other: &Rules) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || self.0.hash == other.0.hash
                && (&self.0.kind, self.0.feedback) == (&other.0.kind, other.0.feedback)
    }
}

impl Eq for Rules {}

impl Hash for Rules {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}
