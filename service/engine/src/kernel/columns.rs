//! Codes column by column: all first symbols, then all second symbols, and so on; and, where it pays, how often
//! each symbol occurs in each code.
//!
//! Counts cost a byte a symbol and code, and save a comparison for every place when a code is scored: worth it
//! where the same codes meet many others.

use super::LANES;
use crate::{code::Code, feedback::FeedbackRule, rules::Rules};

/// Not a symbol: it equals none, so padding scores nothing.
const PADDING: u8 = u8::MAX;

/// The most bytes of counts: the words of a language with hundreds of letters would take gigabytes.
const COUNTED_BYTES: usize = 64 << 20;

/// Codes as columns. Each column is padded to a whole number of [`LANES`] with a symbol that no alphabet has.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    length: usize,
    /// Symbols that are counted: the alphabet, or none.
    symbols: usize,
    stride: usize,
    /// A column a place, and then a column a symbol.
    data: Vec<u8>,
}

impl Columns {
    /// Room for `count` codes of `length` symbols, which are not counted.
    pub(crate) fn new(length: usize, count: usize) -> Columns {
        let mut columns = Columns { length, symbols: 0, stride: 0, data: vec![] };
        columns.resize(count);
        columns
    }

    /// Room for `count` codes with their symbols counted, if answers count symbols and the counts are not too large.
    pub(crate) fn counted(rules: &Rules, count: usize) -> Columns {
        let (length, mut symbols) = (rules.length(), rules.symbols());
        let counts = matches!(rules.feedback(), FeedbackRule::Pegs | FeedbackRule::Total);
        if !counts || symbols.saturating_mul(count) > COUNTED_BYTES {
            symbols = 0;
        }
        let mut columns = Columns { length, symbols, stride: 0, data: vec![] };
        columns.resize(count);
        columns
    }

    /// Makes room for `count` codes; what was there is lost.
    pub(crate) fn resize(&mut self, count: usize) {
        self.stride = count.next_multiple_of(LANES);
        self.data.clear();
        self.data.resize(self.length * self.stride, PADDING);
        self.data.resize((self.length + self.symbols) * self.stride, 0);
    }

    /// How many codes there are with their padding.
    pub(crate) fn padded(&self) -> usize {
        self.stride
    }

    /// Whether symbols are counted.
    #[inline(always)]
    pub(crate) fn is_counted(&self) -> bool {
        self.symbols > 0
    }

    /// The symbols at one place, padding included.
    #[inline(always)]
    pub(crate) fn column(&self, place: usize) -> &[u8] {
        &self.data[place * self.stride..][..self.stride]
    }

    /// Writes a row that was not written since the last [`resize`](Columns::resize).
    pub(crate) fn set(&mut self, row: usize, code: &Code) {
        for (place, &symbol) in code.symbols().iter().enumerate() {
            self.data[place * self.stride + row] = symbol;
            if self.symbols > 0 {
                self.data[(self.length + usize::from(symbol)) * self.stride + row] += 1;
            }
        }
    }

    /// Makes these the given rows of other columns.
    pub(crate) fn gather(&mut self, from: &Columns, rows: &[u32]) {
        self.resize(rows.len());
        for place in 0..self.length {
            let column = from.column(place);
            let (places, counts) = self.data.split_at_mut(self.length * self.stride);
            let into = &mut places[place * self.stride..][..rows.len()];
            for (symbol, &row) in into.iter_mut().zip(rows) {
                *symbol = column[row as usize];
            }
            if self.symbols > 0 {
                for (row, &symbol) in into.iter().enumerate() {
                    counts[usize::from(symbol) * self.stride + row] += 1;
                }
            }
        }
    }

    /// `count` codes from row `start` on, which is a whole number of [`LANES`].
    pub(crate) fn view(&self, start: usize, count: usize) -> View<'_> {
        assert!(start.is_multiple_of(LANES), "a view begins with a register");
        View { columns: self, start, padded: count.next_multiple_of(LANES) }
    }

    pub(crate) fn memory(&self) -> usize {
        self.data.capacity()
    }
}

/// Some consecutive codes of columns, padding included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    columns: &'a Columns,
    start: usize,
    padded: usize,
}

impl<'a> View<'a> {
    /// How many codes there are with their padding.
    #[inline(always)]
    pub(crate) fn padded(&self) -> usize {
        self.padded
    }

    /// The symbols at one place.
    #[inline(always)]
    pub(crate) fn column(&self, place: usize) -> &'a [u8] {
        &self.columns.column(place)[self.start..][..self.padded]
    }

    /// Whether symbols were counted.
    #[inline(always)]
    pub(super) fn is_counted(&self) -> bool {
        self.columns.is_counted()
    }

    /// How often each code has a symbol; only where symbols were counted.
    #[inline(always)]
    pub(super) fn counts(&self, symbol: u8) -> &'a [u8] {
        self.column(self.columns.length + usize::from(symbol))
    }
}

impl<'a> From<&'a Columns> for View<'a> {
    fn from(columns: &'a Columns) -> View<'a> {
        View { columns, start: 0, padded: columns.stride }
    }
}
