//! All codes of a game in alphabet order, column by column.
//!
//! Owns the numbering of codes. A space beyond [`STORED_BYTES`] is not stored: its columns are made where they
//! are needed, so that a game of twenty million codes costs no memory by itself.

use crate::{
    code::Code,
    kernel::{Columns, View},
    rules::Rules,
};

/// Spaces whose columns take at most so many bytes keep them: to read them is some ten times faster than to make
/// them, and a million codes of the common games still fit.
const STORED_BYTES: usize = 16 << 20;

/// The codes of a game, numbered from 0 in alphabet order.
#[derive(Debug)]
pub(crate) struct Codes {
    length: usize,
    symbols: u8,
    repeats: bool,
    /// The symbols that may stand first, ascending, and those that may not, a bit each.
    first: Vec<u8>,
    not_first: u64,
    /// How many codes share their symbols up to and including each place.
    weights: Vec<u32>,
    size: u32,
    stored: Option<Columns>,
}

impl Codes {
    /// The space of rules whose size is known to fit `u32`.
    pub(super) fn new(rules: &Rules) -> Codes {
        let (length, symbols) = (rules.length(), rules.symbols() as u8);
        let mut weights = vec![1; length];
        for place in (0..length - 1).rev() {
            let used = if rules.repeats() { 0 } else { place as u32 + 1 };
            weights[place] = weights[place + 1] * (u32::from(symbols) - used);
        }
        let first = (0..symbols).filter(|symbol| rules.not_first() >> symbol & 1 == 0).collect();
        let mut space = Codes {
            length,
            symbols,
            repeats: rules.repeats(),
            first,
            not_first: rules.not_first(),
            weights,
            size: rules.size() as u32,
            stored: None,
        };
        let bytes = (length + rules.symbols()).saturating_mul(space.size as usize);
        if bytes <= STORED_BYTES {
            let mut columns = Columns::counted(rules, 0);
            space.generate(0, space.size as usize, &mut columns);
            space.stored = Some(columns);
        }
        space
    }

    pub(super) fn size(&self) -> u32 {
        self.size
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        self.stored.as_ref().map_or(0, Columns::memory)
    }

    /// The code of a number.
    pub(super) fn code(&self, index: u32) -> Code {
        let mut code = Code::new(&[0; crate::rules::MAX_LENGTH][..self.length]);
        if let Some(columns) = &self.stored {
            for (place, symbol) in code.symbols_mut().iter_mut().enumerate() {
                *symbol = columns.column(place)[index as usize];
            }
            return code;
        }
        let (mut rest, mut used) = (index, 0_u64);
        for (place, symbol) in code.symbols_mut().iter_mut().enumerate() {
            let digit = rest / self.weights[place];
            rest %= self.weights[place];
            *symbol = match (place, self.repeats) {
                (0, _) => self.first[digit as usize],
                (_, true) => digit as u8,
                (_, false) => nth_unset(used, digit),
            };
            used |= 1 << *symbol;
        }
        code
    }

    /// The number of a code of this space.
    pub(super) fn index(&self, code: &Code) -> u32 {
        let mut used = 0_u64;
        let mut index = 0;
        for (place, &symbol) in code.symbols().iter().enumerate() {
            let excluded = match (place, self.repeats) {
                (0, _) => self.not_first,
                (_, true) => 0,
                (_, false) => used,
            };
            // Counting bits is several instructions, so it is left out where there is nothing to count.
            let digit = match excluded & ((1_u64 << symbol) - 1) {
                0 => u32::from(symbol),
                smaller => u32::from(symbol) - smaller.count_ones(),
            };
            used |= 1 << symbol;
            index += digit * self.weights[place];
        }
        index
    }

    /// `count` codes from number `start` on, a whole number of lanes. They are made in `scratch` if the space is not
    /// stored.
    pub(super) fn view<'a>(
        &'a self,
        start: u32,
        count: usize,
        scratch: &'a mut Columns,
    ) -> View<'a> {
        match &self.stored {
            Some(stored) => stored.view(start as usize, count),
            None => {
                self.generate(start, count, scratch);
                scratch.view(0, count)
            }
        }
    }

    /// Makes `columns` the codes of these numbers.
    pub(super) fn gather(&self, indices: &[u32], columns: &mut Columns) {
        match &self.stored {
            Some(stored) => columns.gather(stored, indices),
            None => {
                columns.resize(indices.len());
                for (row, &index) in indices.iter().enumerate() {
                    columns.set(row, &self.code(index));
                }
            }
        }
    }

    fn generate(&self, start: u32, count: usize, columns: &mut Columns) {
        columns.resize(count);
        if count == 0 {
            return;
        }
        let mut code = self.code(start);
        columns.set(0, &code);
        for row in 1..count {
            self.advance(&mut code);
            columns.set(row, &code);
        }
    }

    /// Turns a code into the next one, which must exist.
    fn advance(&self, code: &mut Code) {
        let symbols = code.symbols_mut();
        for place in (0..self.length).rev() {
            let mut used = match self.repeats {
                true => 0,
                false => symbols[..place].iter().fold(0_u64, |set, symbol| set | 1 << symbol),
            };
            let next = (symbols[place] + 1..self.symbols).find(|symbol| {
                used >> symbol & 1 == 0 && (place > 0 || self.first.binary_search(symbol).is_ok())
            });
            if let Some(next) = next {
                symbols[place] = next;
                used |= 1 << next;
                for symbol in &mut symbols[place + 1..] {
                    *symbol = if self.repeats { 0 } else { nth_unset(used, 0) };
                    used |= 1 << *symbol;
                }
                return;
            }
        }
    }
}

/// The `n`-th (from 0) bit that is not set.
fn nth_unset(set: u64, n: u32) -> u8 {
    let mut free = !set;
    for _ in 0..n {
        free &= free - 1;
    }
    free.trailing_zeros() as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{feedback::FeedbackRule, rules::CodeSpec};

    fn space(alphabet: &str, length: i32, repeats: bool, not_first: &str) -> Codes {
        let spec =
            CodeSpec { alphabet: alphabet.into(), length, repeats, not_first: not_first.into() };
        Codes::new(&Rules::codes(&spec, FeedbackRule::Pegs).unwrap())
    }

    #[test]
    fn numbers_and_codes_are_inverse_and_in_alphabet_order() {
        for repeats in [false, true] {
            for not_first in ["", "0", "13", "0123"] {
                for length in 1..=5 {
                    let mut space = space("01234", length, repeats, not_first);
                    for stored in [true, false] {
                        if !stored {
                            space.stored = None;
                        }
                        let codes: Vec<Code> = (0..space.size()).map(|i| space.code(i)).collect();
                        assert!(codes.is_sorted());
                        for (index, code) in codes.iter().enumerate() {
                            assert_eq!(space.index(code), index as u32);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_space_that_is_not_stored_has_the_same_columns() {
        let stored = space("0123456", 4, false, "05");
        let mut generated = space("0123456", 4, false, "05");
        generated.stored = None;
        let columns = |space: &Codes| {
            let mut scratch = Columns::new(4, 0);
            let view = space.view(64, 300, &mut scratch);
            let viewed: Vec<Vec<u8>> = (0..4).map(|place| view.column(place).to_vec()).collect();
            let mut gathered = Columns::new(4, 0);
            space.gather(&[3, 70, 599], &mut gathered);
            (viewed, gathered.column(2)[..3].to_vec())
        };
        assert_eq!(columns(&stored).1, columns(&generated).1);
        for (a, b) in columns(&stored).0.iter().zip(columns(&generated).0) {
            assert_eq!(a[..300], b[..300]);
        }
    }
}
