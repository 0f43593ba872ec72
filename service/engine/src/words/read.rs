//! Word lists from files: what people keep in them, cleaned, and told.
//!
//! Owns the form of a file and what is dropped. It opens no file: it is given the bytes.

use std::fmt;

use super::{
    MAX_WEIGHT, MAX_WORDS, WordError, WordList, WordPlace, WordsError, WordsPart, letters,
    merge::{Merge, Repeats},
};
use crate::rules::MAX_LENGTH;

/// What was read from the files of a game, and what was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordsReport {
    /// The file of secrets.
    pub secrets: FileReport,
    /// The file of guesses, if there is one.
    pub guesses: Option<FileReport>,
}

/// What was read from one file. Its [`Display`](fmt::Display) says the same in a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReport {
    /// Words that are kept.
    pub words: usize,
    /// Lines with nothing in them.
    pub blank: usize,
    /// Lines that begin with `#`.
    pub comments: usize,
    /// Words dropped because they were there before.
    pub duplicates: usize,
    /// The 1-based line of the first of those.
    pub first_duplicate: Option<usize>,
    /// Words dropped because they do not have the commonest length.
    pub wrong_length: usize,
    /// The 1-based line of the first of those.
    pub first_wrong_length: Option<usize>,
}

impl fmt::Display for FileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "words: {}", self.words)?;
        for (what, count, first) in [
            ("duplicates dropped", self.duplicates, self.first_duplicate),
            ("of another length dropped", self.wrong_length, self.first_wrong_length),
        ] {
            if let Some(line) = first {
                write!(f, ", {what}: {count} (the first in line {line})")?;
            }
        }
        for (what, count) in [("blank lines", self.blank), ("comments", self.comments)] {
            if count > 0 {
                write!(f, ", {what}: {count}")?;
            }
        }
        Ok(())
    }
}

/// A word of a file.
struct Entry<'a> {
    word: &'a str,
    /// How many letters it has, or 0 if those are more than any word has.
    letters: u8,
    line: u32,
    weight: Option<u32>,
}

/// The words of one file that have its commonest length.
struct File<'a> {
    part: WordsPart,
    letters: usize,
    entries: Vec<Entry<'a>>,
    report: FileReport,
}

/// See [`WordList::read`].
pub(super) fn read(
    secrets: &[u8],
    guesses: Option<&[u8]>,
) -> Result<(WordList, WordsReport), WordsError> {
    let secrets = File::parse(WordsPart::Secrets, secrets)?;
    let guesses = guesses.map(|bytes| File::parse(WordsPart::Guesses, bytes)).transpose()?;
    if let Some(guesses) = guesses.as_ref().filter(|guesses| guesses.letters != secrets.letters) {
        let (secrets, guesses) = (secrets.letters, guesses.letters);
        return Err(WordsError::DifferentLengths { secrets, guesses });
    }
    let secret_count = secrets.entries.len();
    let guess_count = guesses.as_ref().map_or(0, |guesses| guesses.entries.len());
    let mut merge = Merge::new(secrets.letters, secret_count, secret_count + guess_count);
    let weights = secrets.weights();
    let secrets = secrets.push_to(&mut merge)?;
    let guesses = guesses.map(|guesses| guesses.push_to(&mut merge)).transpose()?;
    let merged = merge.finish(&weights)?;
    let report = WordsReport {
        secrets: secrets.report(merged.secrets),
        guesses: guesses.map(|guesses| guesses.report(merged.guesses)),
    };
    Ok((merged.list, report))
}

impl File<'_> {
    fn parse(part: WordsPart, bytes: &[u8]) -> Result<File<'_>, WordsError> {
        let text = str::from_utf8(bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            WordsError::NotUtf8 { part, line }
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut file =
            File { part, letters: 0, entries: Vec::new(), report: FileReport::default() };
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() {
                file.report.blank += 1;
            } else if line.starts_with('#') {
                file.report.comments += 1;
            } else if file.entries.len() == MAX_WORDS {
                return Err(WordsError::TooManyWords(part));
            } else {
                file.entries.push(entry(part, index as u32 + 1, line)?);
            }
        }
        file.keep_commonest_length()?;
        Ok(file)
    }

    fn keep_commonest_length(&mut self) -> Result<(), WordsError> {
        let part = self.part;
        let lengths = self.entries.iter().map(|entry| usize::from(entry.letters));
        let Some(letters) = commonest_length(lengths) else {
            return Err(WordsError::NoWords(part));
        };
        let words = self.entries.len();
        let is_wrong = |entry: &Entry<'_>| usize::from(entry.letters) != letters;
        let first = self.entries.iter().find(|entry| is_wrong(entry));
        self.report.first_wrong_length = first.map(|entry| entry.line as usize);
        self.entries.retain(|entry| !is_wrong(entry));
        let wrong = words - self.entries.len();
        if wrong > words / 2 {
            return Err(WordsError::MixedLengths { part, letters, wrong, words });
        }
        self.report.wrong_length = wrong;
        self.letters = letters;
        Ok(())
    }

    fn push_to(self, merge: &mut Merge) -> Result<Pushed, WordsError> {
        for entry in &self.entries {
            merge.push(entry.word).map_err(|error| refused(self.part, entry.line, error))?;
        }
        let lines = self.entries.iter().map(|entry| entry.line).collect();
        Ok(Pushed { report: self.report, lines })
    }

    /// The weights of all words, if any has one.
    fn weights(&self) -> Vec<u32> {
        if self.entries.iter().all(|entry| entry.weight.is_none()) {
            return Vec::new();
        }
        self.entries.iter().map(|entry| entry.weight.unwrap_or(1)).collect()
    }
}

/// What is kept of a file whose words are on their way into a list: a million entries are heavier than their lines.
struct Pushed {
    report: FileReport,
    lines: Vec<u32>,
}

impl Pushed {
    fn report(self, repeats: Repeats) -> FileReport {
        FileReport {
            words: self.lines.len() - repeats.count,
            duplicates: repeats.count,
            first_duplicate: repeats.first.map(|(entry, _)| self.lines[entry] as usize),
            ..self.report
        }
    }
}

/// The word, and perhaps its weight, of a line that is neither blank nor a comment.
fn entry(part: WordsPart, line: u32, text: &str) -> Result<Entry<'_>, WordsError> {
    let (word, weight) = match text.split_once(char::is_whitespace) {
        Some((word, weight)) => (word, Some(weight.trim_start())),
        None => (text, None),
    };
    let weight = match weight.map(|text| (text, text.parse())) {
        Some((_, Ok(weight @ 1..=MAX_WEIGHT))) => Some(weight),
        Some((text, _)) => {
            let text = text.chars().take(SHOWN_CHARACTERS).collect();
            return Err(WordsError::WeightText { part, line: line as usize, text });
        }
        None => None,
    };
    let count = letters::count(word).map_err(|error| refused(part, line, error))?;
    let letters = if count <= MAX_LENGTH { count as u8 } else { 0 };
    Ok(Entry { word, letters, line, weight })
}

fn refused(part: WordsPart, line: u32, error: WordError) -> WordsError {
    WordsError::Word { part, place: WordPlace::Line(line as usize), error }
}

/// How much of a wrong weight an error shows.
const SHOWN_CHARACTERS: usize = 20;

/// The length that occurs most often, of several the one that is met first. Only what a word may have counts.
pub(super) fn commonest_length(lengths: impl Iterator<Item = usize>) -> Option<usize> {
    let mut counts = Vec::<(usize, usize)>::new();
    for length in lengths.filter(|length| (1..=MAX_LENGTH).contains(length)) {
        match counts.iter_mut().find(|(known, _)| *known == length) {
            Some((_, count)) => *count += 1,
            None => counts.push((length, 1)),
        }
    }
    // `max_by_key` takes the last of equals.
    counts.iter().rev().max_by_key(|(_, count)| count).map(|&(length, _)| length)
}
