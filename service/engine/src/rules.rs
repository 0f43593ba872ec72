//! What game is played: the one gate where rules and codes from outside are validated.
//!
//! Owns alphabets and text forms. How many codes there are and which comes where is `space`; the named games
//! are `presets`.

use std::hash::{Hash, Hasher};

use unicode_normalization::UnicodeNormalization as _;

use crate::{
    code::Code,
    feedback::{Answers, Class},
    presets::PRESETS,
};

/// The most symbols in an alphabet: a set of symbols is one `u64`.
pub const MAX_ALPHABET: usize = 64;
/// The most symbols in a code: the cells of pegs (at most 13 x 13) stay within a byte.
pub const MAX_LENGTH: usize = 12;
/// Texts longer than this many bytes cannot be a code of [`MAX_LENGTH`] symbols, however they are composed.
const MAX_CODE_BYTES: usize = 512;

/// The rules of a codes game as somebody gave them; [`Rules::codes`] checks them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSpec {
    /// The symbols, in the order that sorts codes: one character each after NFC.
    pub alphabet: String,
    /// Symbols in a code.
    pub length: i32,
    /// Whether a symbol may occur more than once.
    pub repeats: bool,
    /// Symbols that cannot stand first.
    pub not_first: String,
}

/// What an answer tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FeedbackRule {
    /// Bulls and cows. A symbol counts as often as it occurs in both codes.
    #[default]
    Pegs,
    /// Bulls only.
    Bulls,
}

/// The rules of a game, valid by construction.
#[derive(Clone, Debug)]
pub struct Rules {
    key: Key,
    answers: Answers,
    /// The symbol of each ASCII character, or [`NO_SYMBOL`].
    ascii: [u8; 128],
}

/// What tells one set of rules from another; the rest of [`Rules`] is derived from it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    alphabet: Vec<char>,
    length: u8,
    repeats: bool,
    not_first: u64,
    feedback: FeedbackRule,
}

const NO_SYMBOL: u8 = u8::MAX;

/// Why rules are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// No game has this name.
    #[error("there is no game of this name; the names are {}", preset_names())]
    UnknownPreset,
    /// The alphabet is empty.
    #[error("the alphabet is empty: it needs 1 to {MAX_ALPHABET} symbols, as in `0123456789`")]
    EmptyAlphabet,
    /// The alphabet has more than [`MAX_ALPHABET`] symbols.
    #[error("the alphabet has more than {MAX_ALPHABET} symbols")]
    LargeAlphabet,
    /// A symbol that nobody could read or type.
    #[error("{0:?} cannot be a symbol: white space and control characters are not allowed")]
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
}

impl RulesError {
    /// The field that is wrong: `preset`, `alphabet`, `length` or `not_first`.
    pub fn field(&self) -> &'static str {
        match self {
            RulesError::UnknownPreset => "preset",
            RulesError::EmptyAlphabet
            | RulesError::LargeAlphabet
            | RulesError::BadSymbol(_)
            | RulesError::RepeatedSymbol(_) => "alphabet",
            RulesError::Length(_) | RulesError::TooFewSymbols { .. } => "length",
            RulesError::NotFirstUnknown(_)
            | RulesError::NotFirstRepeated(_)
            | RulesError::NotFirstAll => "not_first",
        }
    }
}

fn preset_names() -> String {
    PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ")
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
}

impl Rules {
    /// The rules of a codes game.
    ///
    /// # Errors
    /// [`RulesError`] names the field that is wrong and says what would be right.
    pub fn codes(spec: &CodeSpec, feedback: FeedbackRule) -> Result<Rules, RulesError> {
        let mut alphabet = Vec::with_capacity(MAX_ALPHABET);
        for symbol in spec.alphabet.nfc() {
            if alphabet.len() == MAX_ALPHABET {
                return Err(RulesError::LargeAlphabet);
            }
            if symbol.is_whitespace() || symbol.is_control() {
                return Err(RulesError::BadSymbol(symbol));
            }
            if alphabet.contains(&symbol) {
                return Err(RulesError::RepeatedSymbol(symbol));
            }
            alphabet.push(symbol);
        }
        if alphabet.is_empty() {
            return Err(RulesError::EmptyAlphabet);
        }
        let length = match usize::try_from(spec.length) {
            Ok(length @ 1..=MAX_LENGTH) => length,
            _ => return Err(RulesError::Length(spec.length)),
        };
        if !spec.repeats && length > alphabet.len() {
            return Err(RulesError::TooFewSymbols { length, symbols: alphabet.len() });
        }
        let not_first = not_first(&alphabet, &spec.not_first)?;
        let length = length as u8;
        Ok(Rules::from_key(Key { alphabet, length, repeats: spec.repeats, not_first, feedback }))
    }

    /// The rules of a named game, one of [`PRESETS`].
    ///
    /// # Errors
    /// [`RulesError::UnknownPreset`] lists the names there are.
    pub fn preset(name: &str) -> Result<Rules, RulesError> {
        let preset = PRESETS.iter().find(|preset| preset.name == name);
        Ok(preset.ok_or(RulesError::UnknownPreset)?.rules())
    }

    /// The same game with other answers.
    pub fn with_feedback(self, feedback: FeedbackRule) -> Rules {
        Rules::from_key(Key { feedback, ..self.key })
    }

    fn from_key(key: Key) -> Rules {
        let mut ascii = [NO_SYMBOL; 128];
        for (symbol, &character) in key.alphabet.iter().enumerate() {
            if character.is_ascii() {
                ascii[character as usize] = symbol as u8;
            }
        }
        Rules { answers: Answers::new(key.feedback, key.length), key, ascii }
    }

    /// The rules spelled out, as [`Rules::codes`] takes them.
    pub fn spec(&self) -> CodeSpec {
        let first_forbidden = |&(symbol, _): &(usize, &char)| self.key.not_first >> symbol & 1 == 1;
        CodeSpec {
            alphabet: self.key.alphabet.iter().collect(),
            length: i32::from(self.key.length),
            repeats: self.key.repeats,
            not_first: self
                .key
                .alphabet
                .iter()
                .enumerate()
                .filter(first_forbidden)
                .map(|(_, &character)| character)
                .collect(),
        }
    }

    /// What an answer tells.
    pub fn feedback(&self) -> FeedbackRule {
        self.key.feedback
    }

    /// Symbols in a code.
    pub fn length(&self) -> usize {
        usize::from(self.key.length)
    }

    /// Symbols in the alphabet.
    pub fn symbols(&self) -> usize {
        self.key.alphabet.len()
    }

    /// Whether a symbol may occur more than once in a code.
    pub fn repeats(&self) -> bool {
        self.key.repeats
    }

    /// The symbols that cannot stand first, a bit a symbol.
    pub(crate) fn not_first(&self) -> u64 {
        self.key.not_first
    }

    /// How many codes the game has.
    pub fn size(&self) -> u128 {
        let symbols = self.key.alphabet.len() as u128;
        let first = symbols - u128::from(self.key.not_first.count_ones());
        let factor = |place| if self.key.repeats { symbols } else { symbols - place };
        (1..u128::from(self.key.length)).map(factor).fold(first, |size, factor| size * factor)
    }

    /// The answers that the game knows.
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// The code that a text means.
    ///
    /// # Errors
    /// [`CodeError`] says why the text is not a code of this game.
    pub fn code(&self, text: &str) -> Result<Code, CodeError> {
        let expected = self.length();
        if text.len() > MAX_CODE_BYTES {
            return Err(CodeError::Length { found: text.chars().count(), expected });
        }
        let mut symbols = [0; MAX_LENGTH];
        let mut found = 0;
        let mut unknown = None;
        let mut read = |character: char| {
            let symbol = self.symbol(character);
            if symbol == NO_SYMBOL {
                unknown = unknown.or(Some(character));
            }
            if found < expected {
                symbols[found] = symbol;
            }
            found += 1;
        };
        if text.is_ascii() {
            text.chars().for_each(&mut read);
        } else {
            text.nfc().for_each(&mut read);
        }
        if found != expected {
            return Err(CodeError::Length { found, expected });
        }
        if let Some(symbol) = unknown {
            let alphabet = self.key.alphabet.iter().collect();
            return Err(CodeError::UnknownSymbol { symbol, alphabet });
        }
        self.check(Code::new(&symbols[..expected]))
    }

    /// Refuses a code of known symbols that the rules forbid.
    fn check(&self, code: Code) -> Result<Code, CodeError> {
        let symbols = code.symbols();
        let character = |symbol: u8| self.key.alphabet[usize::from(symbol)];
        if self.key.not_first >> symbols[0] & 1 == 1 {
            return Err(CodeError::First(character(symbols[0])));
        }
        if !self.key.repeats {
            let mut used = 0_u64;
            for &symbol in symbols {
                if used >> symbol & 1 == 1 {
                    return Err(CodeError::Repeated(character(symbol)));
                }
                used |= 1 << symbol;
            }
        }
        Ok(code)
    }

    fn symbol(&self, character: char) -> u8 {
        if let Some(&symbol) = self.ascii.get(character as usize) {
            return symbol;
        }
        let place = self.key.alphabet.iter().position(|&other| other == character);
        place.map_or(NO_SYMBOL, |place| place as u8)
    }

    /// The text of a code.
    pub fn text(&self, code: &Code) -> String {
        code.symbols().iter().map(|&symbol| self.key.alphabet[usize::from(symbol)]).collect()
    }

    /// The answer to one guess at one secret. For many at once there is [`score_matrix`](crate::score_matrix).
    pub fn score(&self, guess: &Code, secret: &Code) -> Class {
        let pairs = || guess.symbols().iter().zip(secret.symbols());
        let bulls = pairs().map(|(a, b)| u8::from(a == b)).sum::<u8>();
        if self.key.feedback == FeedbackRule::Bulls {
            return self.answers.of_cell(bulls);
        }
        // Signed counts of each symbol: what is left of one code after the other is taken away. Half of the
        // sum of their sizes did not match.
        let mut counts = [0_i8; MAX_ALPHABET];
        for (&a, &b) in pairs() {
            counts[usize::from(a)] += 1;
            counts[usize::from(b)] -= 1;
        }
        let mut unmatched = 0;
        for &symbol in guess.symbols() {
            unmatched += counts[usize::from(symbol)].max(0) as u8;
            counts[usize::from(symbol)] = 0;
        }
        let length = self.key.length;
        self.answers.of_cell(bulls * (length + 1) + length - unmatched)
    }
}

fn not_first(alphabet: &[char], text: &str) -> Result<u64, RulesError> {
    let mut set = 0_u64;
    for character in text.nfc() {
        let Some(symbol) = alphabet.iter().position(|&other| other == character) else {
            return Err(RulesError::NotFirstUnknown(character));
        };
        if set >> symbol & 1 == 1 {
            return Err(RulesError::NotFirstRepeated(character));
        }
        set |= 1 << symbol;
    }
    if set.count_ones() as usize == alphabet.len() {
        return Err(RulesError::NotFirstAll);
    }
    Ok(set)
}

impl PartialEq for Rules {
    fn eq(&self, other: &Rules) -> bool {
        self.key == other.key
    }
}

impl Eq for Rules {}

impl Hash for Rules {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}
