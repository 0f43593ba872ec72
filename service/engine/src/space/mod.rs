//! All guesses of a game in alphabet order, numbered, column by column; and which of them can be the secret.
//!
//! Codes over an alphabet are made from their numbers (`codes`), words are kept, and numbers are their own bytes.

mod codes;

use std::ops::Range;

use crate::{
    code::Code,
    kernel::{Columns, View},
    rules::Rules,
    words::WordList,
};
use codes::Codes;

/// The guesses of a game, numbered from 0 in alphabet order.
#[derive(Debug)]
pub(crate) enum Space {
    Codes(Codes),
    Words { words: WordList, columns: Columns },
    Numbers { size: u32 },
}

/// Some guesses by their numbers, ascending.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Numbers<'a> {
    /// All of a range.
    All(u32, u32),
    /// These.
    Some(&'a [u32]),
}

impl<'a> Numbers<'a> {
    pub(crate) fn len(self) -> usize {
        match self {
            Numbers::All(start, end) => (end - start) as usize,
            Numbers::Some(list) => list.len(),
        }
    }

    pub(crate) fn get(self, at: usize) -> u32 {
        match self {
            Numbers::All(start, _) => start + at as u32,
            Numbers::Some(list) => list[at],
        }
    }

    pub(crate) fn part(self, part: Range<usize>) -> Numbers<'a> {
        match self {
            Numbers::All(start, _) => {
                Numbers::All(start + part.start as u32, start + part.end as u32)
            }
            Numbers::Some(list) => Numbers::Some(&list[part]),
        }
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = u32> + 'a {
        (0..self.len()).map(move |at| self.get(at))
    }
}

impl Space {
    /// The space of rules whose size is known to fit `u32`.
    pub(crate) fn new(rules: &Rules) -> Space {
        if let Some(words) = rules.word_list() {
            let mut columns = Columns::counted(rules, words.len());
            (0..words.len()).for_each(|row| columns.set(row, &words.code(row as u32)));
            Space::Words { words: words.clone(), columns }
        } else if rules.renames() {
            Space::Codes(Codes::new(rules))
        } else {
            Space::Numbers { size: rules.size() as u32 }
        }
    }

    pub(crate) fn size(&self) -> u32 {
        match self {
            Space::Codes(codes) => codes.size(),
            Space::Words { words, .. } => words.len() as u32,
            Space::Numbers { size } => *size,
        }
    }

    /// The guesses that can be the secret.
    pub(crate) fn secrets(&self) -> Numbers<'_> {
        match self {
            Space::Words { words, .. } => Numbers::Some(words.secrets()),
            Space::Codes(_) | Space::Numbers { .. } => Numbers::All(0, self.size()),
        }
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Space::Codes(codes) => codes.memory(),
            Space::Words { words, columns } => words.memory() + columns.memory(),
            Space::Numbers { .. } => 0,
        }
    }

    /// The code of a number.
    pub(crate) fn code(&self, index: u32) -> Code {
        match self {
            Space::Codes(codes) => codes.code(index),
            Space::Words { words, .. } => words.code(index),
            Space::Numbers { .. } => Code::new(&index.to_be_bytes()),
        }
    }

    /// The number of a code of this space.
    pub(crate) fn index(&self, code: &Code) -> u32 {
        match self {
            Space::Codes(codes) => codes.index(code),
            Space::Words { words, .. } => words.find(code).expect("a word of the game"),
            Space::Numbers { .. } => {
                u32::from_be_bytes(code.symbols().try_into().expect("a number has four bytes"))
            }
        }
    }

    /// `count` codes from number `start` on, a whole number of lanes. They are made in `scratch` if the space is not
    /// stored.
    pub(crate) fn view<'a>(
        &'a self,
        start: u32,
        count: usize,
        scratch: &'a mut Columns,
    ) -> View<'a> {
        match self {
            Space::Codes(codes) => codes.view(start, count, scratch),
            Space::Words { columns, .. } => columns.view(start as usize, count),
            Space::Numbers { .. } => {
                scratch.resize(count);
                (0..count).for_each(|row| scratch.set(row, &self.code(start + row as u32)));
                scratch.view(0, count)
            }
        }
    }

    /// Makes `columns` the codes of these numbers.
    pub(crate) fn gather(&self, indices: &[u32], columns: &mut Columns) {
        match self {
            Space::Codes(codes) => codes.gather(indices, columns),
            Space::Words { columns: stored, .. } => columns.gather(stored, indices),
            Space::Numbers { .. } => {
                columns.resize(indices.len());
                for (row, &index) in indices.iter().enumerate() {
                    columns.set(row, &self.code(index));
                }
            }
        }
    }

    /// These codes, a whole number of lanes each time; made in `scratch` if need be.
    pub(crate) fn columns<'a>(&'a self, these: Numbers<'_>, scratch: &'a mut Columns) -> View<'a> {
        match these {
            Numbers::All(start, _) => self.view(start, these.len(), scratch),
            Numbers::Some(list) => {
                self.gather(list, scratch);
                scratch.view(0, list.len())
            }
        }
    }
}
