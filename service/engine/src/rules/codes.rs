//! All strings of one length over an alphabet.

use std::hash::{Hash, Hasher};

use unicode_normalization::UnicodeNormalization as _;

use super::{CodeError, MAX_ALPHABET, MAX_LENGTH, RulesError};
use crate::{code::Code, words::is_unseen};

/// Texts longer than this many bytes cannot be a code of [`MAX_LENGTH`] symbols, however they are composed.
const MAX_CODE_BYTES: usize = 512;

/// The rules of a codes game as somebody gave them; [`Rules::codes`](crate::Rules::codes) checks them.
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

/// Which codes there are, valid by construction.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    key: Key,
    /// The symbol of each ASCII character, or [`NO_SYMBOL`].
    ascii: [u8; 128],
}

/// What tells one set of codes from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    alphabet: Vec<char>,
    length: u8,
    repeats: bool,
    not_first: u64,
}

const NO_SYMBOL: u8 = u8::MAX;

impl Codes {
    /// The codes that a specification means.
    ///
    /// # Errors
    /// [`RulesError`] names the field that is wrong and says what would be right.
    pub(super) fn new(spec: &CodeSpec) -> Result<Codes, RulesError> {
        let mut alphabet = Vec::with_capacity(MAX_ALPHABET);
        for symbol in spec.alphabet.nfc() {
            if alphabet.len() == MAX_ALPHABET {
                return Err(RulesError::LargeAlphabet);
            }
            // A symbol is one character, so what joins characters or only changes their looks is none.
            if is_unseen(symbol)
                || matches!(symbol, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
            {
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
        let mut ascii = [NO_SYMBOL; 128];
        for (symbol, &character) in alphabet.iter().enumerate() {
            if character.is_ascii() {
                ascii[character as usize] = symbol as u8;
            }
        }
        let (length, repeats) = (length as u8, spec.repeats);
        Ok(Codes { key: Key { alphabet, length, repeats, not_first }, ascii })
    }

    /// The rules spelled out, as [`Rules::codes`] takes them.
    pub(super) fn spec(&self) -> CodeSpec {
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

    /// Symbols in a code.
    pub(super) fn length(&self) -> usize {
        usize::from(self.key.length)
    }

    /// Symbols in the alphabet.
    pub(super) fn symbols(&self) -> usize {
        self.key.alphabet.len()
    }

    /// Whether a symbol may occur more than once in a code.
    pub(super) fn repeats(&self) -> bool {
        self.key.repeats
    }

    /// The symbols that cannot stand first, a bit a symbol.
    pub(super) fn not_first(&self) -> u64 {
        self.key.not_first
    }

    /// How many codes there are.
    pub(super) fn size(&self) -> u128 {
        let symbols = self.key.alphabet.len() as u128;
        let first = symbols - u128::from(self.key.not_first.count_ones());
        let factor = |place| if self.key.repeats { symbols } else { symbols - place };
        (1..u128::from(self.key.length)).map(factor).fold(first, |size, factor| size * factor)
    }

    /// The code that a text means.
    ///
    /// # Errors
    /// [`CodeError`] says why the text is not a code of this game.
    pub(super) fn parse(&self, text: &str) -> Result<Code, CodeError> {
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
    pub(super) fn text(&self, code: &Code) -> String {
        code.symbols().iter().map(|&symbol| self.key.alphabet[usize::from(symbol)]).collect()
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

impl PartialEq for Codes {
    fn eq(&self, other: &Codes) -> bool {
        self.key == other.key
    }
}

impl Eq for Codes {}

impl Hash for Codes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}
