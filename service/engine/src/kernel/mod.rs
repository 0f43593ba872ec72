//! Counting at machine speed.
//!
//! Two operations carry the engine: [`Kernel::score`] computes the cells of one code against many, and
//! [`Kernel::tally`] counts, for [`LANES`] guesses at once, how many candidates fall into each class. Both are
//! written once, in `lanes`, as plain loops over byte lanes that the compiler turns into vector code; the
//! folder holds one instance of them per instruction set. `portable` is the oracle for the others. Which one
//! runs is decided once.

mod lanes;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::sync::OnceLock;

use crate::{
    code::Code,
    rules::{FeedbackRule, MAX_LENGTH},
};

/// Guesses that are counted together, one byte lane each: a cache line, and one AVX-512 register.
pub(crate) const LANES: usize = 64;

/// One number for each of [`LANES`] guesses.
pub(crate) type Lanes = [u32; LANES];

/// Codes column by column: all first symbols, then all second symbols, and so on. Columns are padded to a whole
/// number of [`LANES`] with a symbol that no alphabet has.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    length: usize,
    stride: usize,
    data: Vec<u8>,
}

/// Not a symbol: it equals none, so padding scores nothing.
const PADDING: u8 = u8::MAX;

impl Columns {
    /// Room for `count` codes of `length` symbols.
    pub(crate) fn new(length: usize, count: usize) -> Columns {
        let mut columns = Columns { length, stride: 0, data: vec![] };
        columns.resize(count);
        columns
    }

    /// Makes room for `count` codes; what was there is lost.
    pub(crate) fn resize(&mut self, count: usize) {
        self.stride = count.next_multiple_of(LANES);
        self.data.clear();
        self.data.resize(self.length * self.stride, PADDING);
    }

    /// The symbols at one place, padding included.
    pub(crate) fn column(&self, place: usize) -> &[u8] {
        &self.data[place * self.stride..][..self.stride]
    }

    pub(crate) fn set(&mut self, row: usize, code: &Code) {
        for (place, &symbol) in code.symbols().iter().enumerate() {
            self.data[place * self.stride + row] = symbol;
        }
    }

    pub(crate) fn copy_from(&mut self, other: &Columns, start: usize, count: usize) {
        self.resize(count);
        for place in 0..self.length {
            self.data[place * self.stride..][..count]
                .copy_from_slice(&other.column(place)[start..start + count]);
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.data.capacity()
    }
}

/// One code, prepared to be scored against many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    code: Code,
    /// The symbols of the code, each once, with how often it occurs; empty where only bulls count.
    symbols: [(u8, u8); MAX_LENGTH],
    distinct: usize,
    /// What a bull adds to the cell.
    bull: u8,
}

impl Probe {
    pub(crate) fn new(code: &Code, rule: FeedbackRule) -> Probe {
        let length = code.symbols().len() as u8;
        let bull = match rule {
            FeedbackRule::Bulls => 1,
            FeedbackRule::Pegs => length + 1,
        };
        let mut probe = Probe { code: *code, symbols: [(0, 0); MAX_LENGTH], distinct: 0, bull };
        if rule == FeedbackRule::Pegs {
            for &symbol in code.symbols() {
                let seen = &mut probe.symbols[..probe.distinct];
                match seen.iter_mut().find(|(other, _)| *other == symbol) {
                    Some((_, count)) => *count += 1,
                    None => {
                        probe.symbols[probe.distinct] = (symbol, 1);
                        probe.distinct += 1;
                    }
                }
            }
        }
        probe
    }

    fn symbols(&self) -> &[(u8, u8)] {
        &self.symbols[..self.distinct]
    }
}

/// Rows of cells to count: row `i` holds the cells of [`LANES`] guesses against candidate `i`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    /// The rows, `stride` bytes apart.
    pub(crate) cells: &'a [u8],
    /// Bytes from one row to the next.
    pub(crate) stride: usize,
    /// Where in a row the guesses begin.
    pub(crate) offset: usize,
}

/// The instruction set that the kernels of this process use: `portable`, `avx2` or `avx512`.
pub fn kernel_name() -> &'static str {
    Kernel::get().name
}

/// The two operations, for one instruction set.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    /// The name of the instruction set.
    pub(crate) name: &'static str,
    score: fn(&Probe, &Columns, &mut [u8]),
    tally: fn(Rows<'_>, &[u32], &[u8], &mut [Lanes]),
}

impl Kernel {
    /// The best kernel of this machine.
    pub(crate) fn get() -> &'static Kernel {
        static CHOSEN: OnceLock<Kernel> = OnceLock::new();
        CHOSEN.get_or_init(|| *Kernel::all().last().expect("the portable kernel is always there"))
    }

    /// Every kernel that this machine can run, slowest first; the first is portable.
    pub(crate) fn all() -> Vec<Kernel> {
        let mut kernels = vec![portable::KERNEL];
        #[cfg(target_arch = "x86_64")]
        kernels.extend(x86_64::available());
        kernels
    }

    /// The cells of one code against every code of `columns`, padding included: `out` is a whole number of
    /// [`LANES`] long.
    pub(crate) fn score(&self, probe: &Probe, columns: &Columns, out: &mut [u8]) {
        assert_eq!(out.len(), columns.stride, "a cell for every code and its padding");
        (self.score)(probe, columns, out);
    }

    /// Adds to `counts[k][lane]`, lane by lane, how many of the rows `which` hold the cell `classes[k]`.
    pub(crate) fn tally(
        &self,
        rows: Rows<'_>,
        which: &[u32],
        classes: &[u8],
        counts: &mut [Lanes],
    ) {
        assert_eq!(classes.len(), counts.len(), "a count for every class");
        (self.tally)(rows, which, classes, counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{CodeSpec, Rules};
    use proptest::{collection::vec, prelude::*};

    /// A rule set, some codes of it as columns, and one more code.
    fn codes() -> impl Strategy<Value = (Rules, Vec<Code>, Code)> {
        let rules = (1_usize..=12, 1_u8..=9, any::<bool>()).prop_map(|(length, symbols, pegs)| {
            let spec = CodeSpec {
                alphabet: "abcdefghi"[..usize::from(symbols)].into(),
                length: length as i32,
                repeats: true,
                not_first: String::new(),
            };
            let rule = if pegs { FeedbackRule::Pegs } else { FeedbackRule::Bulls };
            Rules::codes(&spec, rule).unwrap()
        });
        rules.prop_flat_map(|rules| {
            let symbols = rules.symbols() as u8;
            let code = vec(0..symbols, rules.length()).prop_map(|symbols| Code::new(&symbols));
            (Just(rules), vec(code.clone(), 1..400), code)
        })
    }

    proptest! {
        #[test]
        fn every_kernel_scores_as_the_rules_do((rules, codes, code) in codes()) {
            let mut columns = Columns::new(rules.length(), codes.len());
            codes.iter().enumerate().for_each(|(row, code)| columns.set(row, code));
            let probe = Probe::new(&code, rules.feedback());
            for kernel in Kernel::all() {
                let mut cells = vec![0; columns.stride];
                kernel.score(&probe, &columns, &mut cells);
                for (other, &cell) in codes.iter().zip(&cells) {
                    prop_assert_eq!(rules.answers().of_cell(cell), rules.score(&code, other));
                }
            }
        }

        #[test]
        fn every_kernel_counts_as_a_loop_does(
            bytes in vec(0_u8..30, 128 * 40),
            which in vec(0_u32..40, 0..700),
            classes in proptest::sample::subsequence((0..40).collect::<Vec<u8>>(), 0..40),
            offset in 0_usize..=64,
        ) {
            let rows = Rows { cells: &bytes, stride: 128, offset };
            let mut expected = vec![[7; LANES]; classes.len()];
            for &row in &which {
                for lane in 0..LANES {
                    let cell = bytes[row as usize * 128 + offset + lane];
                    if let Some(class) = classes.iter().position(|&other| other == cell) {
                        expected[class][lane] += 1;
                    }
                }
            }
            for kernel in Kernel::all() {
                let mut counts = vec![[7; LANES]; classes.len()];
                kernel.tally(rows, &which, &classes, &mut counts);
                prop_assert_eq!(&counts, &expected, "{}", kernel.name);
            }
        }
    }
}
