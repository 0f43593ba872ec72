//! What a letter is: one that a reader sees as one, whatever its case and however it is encoded.
//!
//! Owns folding, the split into letters and their numbers. Words and lists are not its business.

use std::collections::HashMap;

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark, is_nfc};
use unicode_segmentation::UnicodeSegmentation as _;

use super::{MAX_LETTER_BYTES, MAX_LETTERS, WordError};

/// How many letters a text has, if it may be a word.
pub(super) fn count(text: &str) -> Result<usize, WordError> {
    let Some(first) = text.chars().next() else { return Err(WordError::Empty) };
    if is_plain(text) {
        return Ok(text.chars().count());
    }
    if is_combining_mark(first) {
        return Err(WordError::Character(first));
    }
    match text.chars().find(|&character| is_unseen(character)) {
        Some(unseen) => Err(WordError::Character(unseen)),
        None => Ok(text.graphemes(true).count()),
    }
}

/// Whether the text is surely in NFC and each of its characters a letter. Most texts are, and for them this saves the
/// search for each character in tables of Unicode, which takes most of the time of reading a long list.
fn is_plain(text: &str) -> bool {
    text.chars().all(
        |character| matches!(character, '!'..='~' | 'À'..='ʯ' | 'Έ'..='Ͽ' | 'Ѐ'..='ҁ' | 'Ҋ'..='ԯ'),
    )
}

/// White space, control characters, and those of the format characters that would be a letter of their own.
pub(crate) fn is_unseen(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
                | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        )
}

/// A text in lower case and NFC. It has as many letters as the text has.
#[derive(Default)]
pub(super) struct Folded {
    text: String,
    plain: bool,
}

impl Folded {
    /// Replaces what was folded before.
    pub(super) fn fold(&mut self, text: &str) {
        self.text.clear();
        self.plain = is_plain(text);
        if self.plain {
            self.text.extend(text.chars().map(lower));
            return;
        }
        self.text.extend(text.nfc().map(lower));
        // Some letters are one character in lower case only, as J with a caron.
        if !is_nfc(&self.text) {
            self.text = self.text.nfc().collect();
        }
    }

    /// The letters, each of a size that a letter may have.
    pub(super) fn letters(&self) -> impl Iterator<Item = Result<&str, WordError>> {
        let characters = self.plain.then(|| self.text.split_inclusive(|_| true));
        let clusters = (!self.plain).then(|| self.text.graphemes(true));
        let letters = characters.into_iter().flatten().chain(clusters.into_iter().flatten());
        letters.enumerate().map(|(index, letter)| match letter {
            // How other programs write the lower case of the Turkish letter İ.
            "i\u{307}" => Ok("i"),
            _ if letter.len() > MAX_LETTER_BYTES => {
                Err(WordError::LongLetter { place: index + 1, bytes: letter.len() })
            }
            _ => Ok(letter),
        })
    }

    /// The error for one of the letters, that no word has.
    pub(super) fn unknown(&self, letter: &str) -> WordError {
        let own = letter.chars().find_map(script);
        let other = || self.text.chars().filter_map(script).find(|&other| Some(other) != own);
        let scripts = own.and_then(|own| Some((own, other()?)));
        WordError::UnknownLetter { letter: letter.to_owned(), scripts }
    }
}

/// One character for one: what has no single one in lower case stays as it is.
fn lower(character: char) -> char {
    match character {
        'İ' => 'i',
        'ς' => 'σ',
        _ => {
            let mut lower = character.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(one), None) => one,
                _ => character,
            }
        }
    }
}

/// The script of a letter, for those whose letters are often taken for each other.
fn script(character: char) -> Option<&'static str> {
    match character {
        'a'..='z' | 'ß'..='ɏ' | 'ḁ'..='ỿ' => Some("Latin"),
        'ͱ'..='Ͽ' | 'ἀ'..='῾' => Some("Greek"),
        'Ѐ'..='ԯ' => Some("Cyrillic"),
        _ => None,
    }
}

/// Numbers for letters, in the order in which they are met.
pub(super) struct Numbers {
    /// The number of each letter that is one of the first characters of Unicode, or [`UNKNOWN`].
    first: [u8; FIRST],
    others: HashMap<Box<str>, u8>,
    letters: Vec<Box<str>>,
}

/// Latin, Greek and Cyrillic end before it.
const FIRST: usize = 0x530;
const UNKNOWN: u8 = u8::MAX;

impl Numbers {
    pub(super) fn new() -> Numbers {
        Numbers { first: [UNKNOWN; FIRST], others: HashMap::new(), letters: Vec::new() }
    }

    /// The number of a letter, a new one if it was not met.
    pub(super) fn number(&mut self, letter: &str) -> Result<u8, WordError> {
        let mut characters = letter.chars();
        let known = match (characters.next(), characters.next()) {
            (Some(character), None) => self.first.get_mut(character as usize),
            _ => None,
        };
        let known = match known {
            Some(number) => number,
            None => match self.others.get_mut(letter) {
                Some(number) => number,
                None => self.others.entry(letter.into()).or_insert(UNKNOWN),
            },
        };
        if *known == UNKNOWN {
            if self.letters.len() == MAX_LETTERS {
                return Err(WordError::TooManyLetters(letter.to_owned()));
            }
            *known = self.letters.len() as u8;
            self.letters.push(letter.into());
        }
        Ok(*known)
    }

    /// The letters in the order of their text, and the place in it for each number.
    pub(super) fn sorted(self) -> (Vec<Box<str>>, Vec<u8>) {
        let mut order = (0..self.letters.len()).collect::<Vec<_>>();
        order.sort_unstable_by_key(|&number| &self.letters[number]);
        let mut places = vec![0; order.len()];
        for (place, &number) in order.iter().enumerate() {
            places[number] = place as u8;
        }
        let mut letters = self.letters;
        letters.sort_unstable();
        (letters, places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_of_a_plain_text_are_its_characters() {
        let plain = ('\0'..='\u{ffff}').filter(|character| is_plain(&character.to_string()));
        let plain = plain.collect::<String>();
        assert!(plain.contains("xyz") && plain.contains("эюя"));
        assert!(is_nfc(&plain) && !plain.chars().any(is_unseen));
        assert_eq!(plain.graphemes(true).count(), plain.chars().count());
        let lower = plain.chars().map(lower).collect::<String>();
        assert!(is_nfc(&lower));
        assert_eq!(lower.graphemes(true).count(), plain.chars().count());
    }
}
