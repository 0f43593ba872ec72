//! Two lists of words of one length, become one [`WordList`].
//!
//! Owns the order of words, repetitions and the common measure of weights. Which words come here is decided by
//! [`WordList::new`], which refuses whatever is wrong, and by `read`, which cleans.

use unicode_normalization::UnicodeNormalization as _;

use super::{
    Content, MAX_TOTAL_WEIGHT, MAX_WORDS, WordError, WordList, WordsError, WordsPart, letters,
};
use crate::rules::MAX_LENGTH;

/// Words as they come in: the secrets, then the guesses.
pub(super) struct Merge {
    length: usize,
    numbers: letters::Numbers,
    folded: letters::Folded,
    text: String,
    ends: Vec<u32>,
    /// The letters of each word, as bytes from the top, and below them which word it is: they sort as words do.
    keys: Vec<u128>,
    /// How many of them are secrets.
    border: usize,
}

/// The words of one list that are in it before.
#[derive(Clone, Copy, Default)]
pub(super) struct Repeats {
    pub(super) count: usize,
    /// The first of them and the word that it repeats, both counted from the start of the list.
    pub(super) first: Option<(usize, usize)>,
}

/// What [`Merge::finish`] makes.
pub(super) struct Merged {
    pub(super) list: WordList,
    pub(super) secrets: Repeats,
    pub(super) guesses: Repeats,
}

impl Merge {
    /// For words of `length` letters, at most [`MAX_LENGTH`]: `secrets` of them, and as many guesses as make `words`.
    pub(super) fn new(length: usize, secrets: usize, words: usize) -> Merge {
        Merge {
            length,
            numbers: letters::Numbers::new(),
            folded: letters::Folded::default(),
            text: String::with_capacity(words * length),
            ends: Vec::with_capacity(words),
            keys: Vec::with_capacity(words),
            border: secrets,
        }
    }

    /// Takes one more word, which [`letters::count`] accepted.
    pub(super) fn push(&mut self, word: &str) -> Result<(), WordError> {
        let mut key = [0; 16];
        let mut found = 0;
        self.folded.fold(word);
        for letter in self.folded.letters() {
            let number = self.numbers.number(letter?)?;
            if found < self.length {
                key[found] = number;
            }
            found += 1;
        }
        if found != self.length {
            return Err(WordError::Length { found, expected: self.length });
        }
        key[MAX_LENGTH..].copy_from_slice(&(self.ends.len() as u32).to_be_bytes());
        self.keys.push(u128::from_be_bytes(key));
        if word.is_ascii() {
            self.text.push_str(word);
        } else {
            self.text.extend(word.nfc());
        }
        self.ends.push(self.text.len() as u32);
        Ok(())
    }

    /// The list. `weights` are those of the secrets as they came, or none.
    pub(super) fn finish(self, weights: &[u32]) -> Result<Merged, WordsError> {
        let Merge { length, numbers, text: given, ends: given_ends, mut keys, border, .. } = self;
        let (letters, places) = numbers.sorted();
        for key in &mut keys {
            let mut bytes = key.to_be_bytes();
            for symbol in &mut bytes[..length] {
                *symbol = places[usize::from(*symbol)];
            }
            *key = u128::from_be_bytes(bytes);
        }
        keys.sort_unstable();

        let mut text = String::with_capacity(given.len());
        let mut ends = Vec::with_capacity(keys.len());
        let mut codes = Vec::with_capacity(keys.len() * length);
        let mut secrets = Vec::with_capacity(border);
        let mut kept_weights = Vec::with_capacity(weights.len());
        let (mut secret_repeats, mut guess_repeats) = (Repeats::default(), Repeats::default());
        for same in keys.chunk_by(|a, b| a >> ENTRY_BITS == b >> ENTRY_BITS) {
            let first = entry(same[0]);
            if first < border {
                secrets.push(ends.len() as u32);
                kept_weights.extend(weights.get(first));
            }
            let start = first.checked_sub(1).map_or(0, |before| given_ends[before]);
            text.push_str(&given[start as usize..given_ends[first] as usize]);
            ends.push(text.len() as u32);
            codes.extend_from_slice(&same[0].to_be_bytes()[..length]);

            let (of_secrets, of_guesses) =
                same.split_at(same.partition_point(|&key| entry(key) < border));
            secret_repeats.add(of_secrets, 0);
            guess_repeats.add(of_guesses, border);
        }
        drop((keys, given, given_ends));
        if ends.len() > MAX_WORDS {
            return Err(WordsError::TooManyWords(WordsPart::Guesses));
        }
        text.shrink_to_fit();
        ends.shrink_to_fit();
        codes.shrink_to_fit();
        secrets.shrink_to_fit();
        let weights = reduced(kept_weights)?;
        let content = Content { length, letters, text, ends, codes, secrets, weights, hash: 0 };
        Ok(Merged {
            list: WordList::from_content(content),
            secrets: secret_repeats,
            guesses: guess_repeats,
        })
    }
}

impl Repeats {
    /// `same` are the keys of equal words of one list, which starts at the entry `start`.
    fn add(&mut self, same: &[u128], start: usize) {
        if let [first, second, ..] = *same {
            self.count += same.len() - 1;
            let pair = (entry(second) - start, entry(first) - start);
            self.first = Some(self.first.map_or(pair, |earlier| earlier.min(pair)));
        }
    }
}

const ENTRY_BITS: u32 = 32;

fn entry(key: u128) -> usize {
    key as u32 as usize
}

/// Weights in their smallest whole proportion; none if that is the same for all.
fn reduced(mut weights: Vec<u32>) -> Result<Option<Vec<u32>>, WordsError> {
    let divisor = weights.iter().fold(0, |divisor, &weight| gcd(weight, divisor));
    for weight in &mut weights {
        *weight /= divisor;
    }
    let total = weights.iter().map(|&weight| u64::from(weight)).sum::<u64>();
    if total > MAX_TOTAL_WEIGHT {
        return Err(WordsError::TotalWeight(total));
    }
    Ok((total > weights.len() as u64).then_some(weights))
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
