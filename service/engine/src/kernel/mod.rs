//! Counting at machine speed.
//!
//! Seven operations carry the engine. [`Kernel::score`] computes the cells of one code against many, [`Kernel::extend`]
//! those of a code whose first symbols were scored before. [`Kernel::count`] counts, for [`LANES`] guesses at once, how
//! many candidates fall into each class, and [`Kernel::summarize`] makes one number a guess of that;
//! [`Kernel::distinct`] counts the classes that are not empty, where there are many, and [`Kernel::histogram`] the sizes
//! of the classes of one guess. [`Kernel::bound`] turns counts into a least cost without letting them leave the
//! registers. They are written once, in `lanes`, as plain loops over byte lanes that the compiler turns into vector
//! code; the folder holds one instance of them per instruction set. `portable` is the oracle for the others. Which one
//! runs is decided once.

mod columns;
mod ladder;
mod lanes;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::sync::OnceLock;

pub(crate) use columns::{Columns, View};
pub(crate) use ladder::Ladder;

use crate::{
    code::Code,
    feedback::{FeedbackRule, MARKS_A_BYTE},
    rules::MAX_LENGTH,
};

/// Guesses that are counted together, one byte lane each: a cache line, and two AVX2 registers.
pub(crate) const LANES: usize = 64;

/// One number for each of [`LANES`] guesses.
pub(crate) type Lanes = [u32; LANES];

/// A small number for each of [`LANES`] guesses.
pub(crate) type ByteLanes = [u8; LANES];

/// The most rows that [`Kernel::count`] takes: their counts fit a byte.
pub(crate) const BYTE_ROWS: usize = 255;

/// Classes that [`Kernel::tally`] has room for on the stack: two passes of [`Kernel::count`].
const TALLIED: usize = 14;

/// What [`Kernel::summarize`] makes of the sizes of the classes of a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Summary {
    /// The size of the largest class.
    Largest,
    /// The sum of the squares of the sizes.
    Squares,
    /// How many classes are empty.
    Empty,
}

/// One code, prepared to be scored against many: as the guess of many secrets, or as the secret of many guesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    code: Code,
    rule: FeedbackRule,
    /// Whether the code is the secret. It matters only where an answer depends on which of the two codes is the guess.
    secret: bool,
    /// The symbols of the code, each once, with how often it occurs; empty where that does not count.
    symbols: [(u8, u8); MAX_LENGTH],
    distinct: usize,
}

impl Probe {
    /// A guess.
    pub(crate) fn guess(code: &Code, rule: FeedbackRule) -> Probe {
        let mut probe =
            Probe { code: *code, rule, secret: false, symbols: [(0, 0); MAX_LENGTH], distinct: 0 };
        if !matches!(rule, FeedbackRule::Bulls | FeedbackRule::Order) {
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

    /// A secret.
    pub(crate) fn secret(code: &Code, rule: FeedbackRule) -> Probe {
        Probe { secret: true, ..Probe::guess(code, rule) }
    }

    fn symbols(&self) -> &[(u8, u8)] {
        &self.symbols[..self.distinct]
    }

    /// What a bull adds to the cell, beside what the symbol itself adds.
    fn bull(&self) -> u8 {
        match self.rule {
            FeedbackRule::Pegs => self.code.symbols().len() as u8 + 1,
            _ => 1,
        }
    }

    /// How many bytes a cell has.
    fn planes(&self) -> usize {
        match self.rule {
            FeedbackRule::Marks => self.code.symbols().len().div_ceil(MARKS_A_BYTE),
            _ => 1,
        }
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

/// The instruction set that the kernels of this process use: `portable` or `avx2`.
pub fn kernel_name() -> &'static str {
    Kernel::get().name
}

type Bound = fn(Rows<'_>, &[u32], &[u8], &[u8], &mut [u8]);

/// The operations, for one instruction set.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    /// The name of the instruction set.
    pub(crate) name: &'static str,
    score: fn(&[Probe], View<'_>, &mut [u8]),
    extend: fn(&Probe, usize, View<'_>, &[u8], &mut [u8]),
    count: fn(Rows<'_>, &[u32], &[u8], &mut [ByteLanes]),
    distinct: fn(Rows<'_>, &[u32], &mut ByteLanes),
    summarize: fn(Summary, &[ByteLanes], &mut [u16; LANES]),
    histogram: fn(&[u8], &[u8], &mut [u32]),
    bound: Bound,
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

    /// The cells of one code against every code of `columns`, padding included. A cell of several bytes comes in as many
    /// planes: the first bytes of all cells, then the second ones.
    pub(crate) fn score<'a>(&self, probe: &Probe, columns: impl Into<View<'a>>, out: &mut [u8]) {
        self.score_each(std::slice::from_ref(probe), columns.into(), out);
    }

    /// The cells of some codes against every code of `columns`, padding included, one code after the other.
    pub(crate) fn score_each(&self, probes: &[Probe], columns: View<'_>, out: &mut [u8]) {
        let planes = probes.first().map_or(0, Probe::planes);
        let cells = probes.len() * columns.padded();
        assert_eq!(out.len(), cells * planes, "a cell for every code and padding");
        (self.score)(probes, columns, out);
    }

    /// The cells by the symbols up to and including that at `place`, made of those by the symbols before it. Unless
    /// only bulls count, the symbols of the columns must be counted.
    fn extend(&self, probe: &Probe, place: usize, columns: &Columns, from: &[u8], to: &mut [u8]) {
        let columns = View::from(columns);
        assert!(from.len() == columns.padded() && to.len() == from.len(), "a cell for every code");
        (self.extend)(probe, place, columns, from, to);
    }

    /// Sets `counts[k][lane]` to how many of the rows `which`, at most [`BYTE_ROWS`], hold the cell `classes[k]`.
    pub(crate) fn count(
        &self,
        rows: Rows<'_>,
        which: &[u32],
        classes: &[u8],
        counts: &mut [ByteLanes],
    ) {
        assert_eq!(classes.len(), counts.len(), "a count for every class");
        assert!(which.len() <= BYTE_ROWS, "counts fit a byte");
        (self.count)(rows, which, classes, counts);
    }

    /// Adds to `counts[k][lane]`, lane by lane, how many of the rows `which` hold the cell `classes[k]`.
    pub(crate) fn tally(
        &self,
        rows: Rows<'_>,
        which: &[u32],
        classes: &[u8],
        counts: &mut [Lanes],
    ) {
        for (classes, counts) in classes.chunks(TALLIED).zip(counts.chunks_mut(TALLIED)) {
            let part = &mut [[0; LANES]; TALLIED][..classes.len()];
            for which in which.chunks(BYTE_ROWS) {
                self.count(rows, which, classes, part);
                for (sums, part) in counts.iter_mut().zip(&*part) {
                    for (sum, &count) in sums.iter_mut().zip(part) {
                        *sum += u32::from(count);
                    }
                }
            }
        }
    }

    /// Sets `counts[lane]` to how many different cells the rows `which`, at most [`BYTE_ROWS`], hold. Every two rows are
    /// compared, which is faster than [`count`](Kernel::count) where there are many classes and few rows.
    pub(crate) fn distinct(&self, rows: Rows<'_>, which: &[u32], counts: &mut ByteLanes) {
        assert!(which.len() <= BYTE_ROWS, "counts fit a byte");
        (self.distinct)(rows, which, counts);
    }

    /// One number for each guess of a block. The counts of a guess must add up to at most [`BYTE_ROWS`].
    pub(crate) fn summarize(&self, summary: Summary, counts: &[ByteLanes], out: &mut [u16; LANES]) {
        (self.summarize)(summary, counts, out);
    }

    /// Adds to `counts[k]` how many of the cells, a whole number of [`LANES`], are `classes[k]`.
    pub(crate) fn histogram(&self, cells: &[u8], classes: &[u8], counts: &mut [u32]) {
        assert_eq!(classes.len(), counts.len(), "a count for every class");
        assert!(cells.len().is_multiple_of(LANES), "whole registers");
        (self.histogram)(cells, classes, counts);
    }

    /// Adds to `sums[guess]` what the classes of each guess must cost at least: for a class of `n` rows the greatest
    /// of `2 n - lines[0]`, `3 n - lines[1]`, and so on. The slopes times the number of rows must fit a byte.
    pub(crate) fn bound(
        &self,
        rows: Rows<'_>,
        which: &[u32],
        classes: &[u8],
        lines: &[u8],
        sums: &mut [u8],
    ) {
        assert!(which.len() * (lines.len() + 1) <= 255, "products fit a byte");
        assert!(sums.len().is_multiple_of(LANES), "a sum for every lane");
        (self.bound)(rows, which, classes, lines, sums);
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
            let probe = Probe::guess(&code, rules.feedback());
            for mut columns in [Columns::new(rules.length(), 0), Columns::counted(&rules, 0)] {
                columns.resize(codes.len());
                codes.iter().enumerate().for_each(|(row, code)| columns.set(row, code));
                for kernel in Kernel::all() {
                    let mut cells = vec![0; codes.len().next_multiple_of(LANES)];
                    let mut extended = cells.clone();
                    kernel.score(&probe, &columns, &mut cells);
                    for (other, &cell) in codes.iter().zip(&cells) {
                        prop_assert_eq!(rules.answers().of_cell(cell), rules.score(&code, other));
                    }
                    if columns.is_counted() {
                        for place in 0..rules.length() {
                            kernel.extend(&probe, place, &columns, &extended.clone(), &mut extended);
                        }
                        prop_assert_eq!(&extended, &cells, "{}", kernel.name);
                    }
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

        #[test]
        fn every_kernel_tells_cells_apart_as_a_set_does(
            bytes in vec(0_u8..=255, 128 * 40),
            which in vec(0_u32..40, 0..=255),
            offset in 0_usize..=64,
        ) {
            let rows = Rows { cells: &bytes, stride: 128, offset };
            for kernel in Kernel::all() {
                let mut counts = [7; LANES];
                kernel.distinct(rows, &which, &mut counts);
                for (lane, &count) in counts.iter().enumerate() {
                    let cells = which.iter().map(|&row| bytes[row as usize * 128 + offset + lane]);
                    let different = cells.collect::<std::collections::HashSet<u8>>().len();
                    prop_assert_eq!(usize::from(count), different, "{}", kernel.name);
                }
            }
        }

        #[test]
        fn every_kernel_summarizes_as_a_loop_does(
            counts in vec(vec(0_u8..=255, LANES), 0..30),
        ) {
            // At most 255 in a guess: what would be too many is cut off.
            let mut lanes = vec![[0; LANES]; counts.len()];
            for lane in 0..LANES {
                let mut left = 255;
                for (lanes, counts) in lanes.iter_mut().zip(&counts) {
                    lanes[lane] = counts[lane].min(left);
                    left -= lanes[lane];
                }
            }
            for lane in 0..LANES {
                let counts = || lanes.iter().map(|lanes| u16::from(lanes[lane]));
                let expected = [
                    (Summary::Largest, counts().max().unwrap_or(0)),
                    (Summary::Squares, counts().map(|n| n * n).sum()),
                    (Summary::Empty, counts().filter(|&n| n == 0).count() as u16),
                ];
                for (kernel, (summary, expected)) in
                    Kernel::all().iter().flat_map(|kernel| expected.map(|case| (kernel, case)))
                {
                    let mut out = [7; LANES];
                    kernel.summarize(summary, &lanes, &mut out);
                    prop_assert_eq!(out[lane], expected, "{} {:?}", kernel.name, summary);
                }
            }
        }

        #[test]
        fn every_kernel_makes_the_histogram_that_a_loop_makes(
            cells in vec(0_u8..30, 0..40_000),
            classes in proptest::sample::subsequence((0..40).collect::<Vec<u8>>(), 0..40),
        ) {
            let cells = &cells[..cells.len() / LANES * LANES];
            let expected: Vec<u32> = classes
                .iter()
                .map(|class| 7 + cells.iter().filter(|cell| *cell == class).count() as u32)
                .collect();
            for kernel in Kernel::all() {
                let mut counts = vec![7; classes.len()];
                kernel.histogram(cells, &classes, &mut counts);
                prop_assert_eq!(&counts, &expected, "{}", kernel.name);
            }
        }

        #[test]
        fn every_kernel_bounds_as_a_loop_does(
            bytes in vec(0_u8..20, 128 * 30),
            which in vec(0_u32..30, 0..60),
            classes in proptest::sample::subsequence((0..20).collect::<Vec<u8>>(), 0..20),
            lines in vec(0_u8..40, 1..4),
        ) {
            let rows = Rows { cells: &bytes, stride: 128, offset: 0 };
            let expected: Vec<u8> = (0..128)
                .map(|guess| {
                    let cost = |&class: &u8| {
                        let rows = which.iter().filter(|&&row| bytes[row as usize * 128 + guess] == class);
                        let n = rows.count() as i32;
                        let lines = (2..).zip(&lines).map(|(slope, &offset)| slope * n - i32::from(offset));
                        lines.max().unwrap_or(0).max(0)
                    };
                    // Sums of more than a byte do not occur in use, where they are at most slope times rows.
                    classes.iter().map(cost).sum::<i32>() as u8
                })
                .collect();
            for kernel in Kernel::all() {
                let mut sums = vec![0; 128];
                kernel.bound(rows, &which, &classes, &lines, &mut sums);
                prop_assert_eq!(&sums, &expected, "{}", kernel.name);
            }
        }
    }
}
