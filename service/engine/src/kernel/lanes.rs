//! The operations as loops over byte lanes, to be compiled once per instruction set.
//!
//! `W` is the number of lanes that a loop works on; the loops over it have a fixed length, hold no branch and no
//! bounds check, and become one to four vector instructions each. That they do depends on the compiler's mood: with
//! 32 lanes, one AVX2 register, it unrolled them before it came to think of vectors, and counting was 40 times slower.
//! Whoever changes these loops measures every instance.

use super::{BYTE_ROWS, ByteLanes, LANES, Probe, Rows, Summary, View};
use crate::{
    feedback::{FeedbackRule, MARKS_A_BYTE},
    rules::MAX_LENGTH,
};

/// The most classes counted in one pass: with two registers of lanes each their counts, a row and what is compared fit
/// 16 registers. Measured: 5 to 7 are alike, 14 are a third slower.
const GROUP: usize = 7;

/// The cells of some codes against many: see [`super::Kernel::score`].
#[inline(always)]
pub(super) fn score<const W: usize>(probes: &[Probe], columns: View<'_>, out: &mut [u8]) {
    let Some(first) = probes.first() else { return };
    let mut places: [&[u8]; MAX_LENGTH] = [&[]; MAX_LENGTH];
    let places = &mut places[..first.code.symbols().len()];
    for (place, column) in places.iter_mut().enumerate() {
        *column = columns.column(place);
    }
    let bytes = columns.padded() * first.planes();
    for (probe, out) in probes.iter().zip(out.chunks_exact_mut(bytes.max(1))) {
        match (probe.rule, probe.secret) {
            (FeedbackRule::Marks, false) => marks_of_guess::<W>(probe, places, out),
            (FeedbackRule::Marks, true) => marks_of_secret::<W>(probe, places, out),
            (FeedbackRule::Order, _) => orders::<W>(probe, places, out),
            _ => score_pegs::<W>(probe, columns, places, out),
        }
    }
}

/// Cells made of bulls and of symbols that both codes have.
#[inline(always)]
fn score_pegs<const W: usize>(probe: &Probe, columns: View<'_>, places: &[&[u8]], out: &mut [u8]) {
    if columns.is_counted() {
        let mut counted: [&[u8]; MAX_LENGTH] = [&[]; MAX_LENGTH];
        for (column, &(symbol, _)) in counted.iter_mut().zip(probe.symbols()) {
            *column = columns.counts(symbol);
        }
        score_one::<W>(probe, places, out, |start, at, _| *lanes(counted[at], start));
    } else {
        score_one::<W>(probe, places, out, |start, _, symbol| occurrences(places, start, symbol));
    }
}

/// How often the codes from `start` on have a symbol.
#[inline(always)]
fn occurrences<const W: usize>(places: &[&[u8]], start: usize, symbol: u8) -> [u8; W] {
    let mut found = [0; W];
    for column in places {
        add_equal::<W>(&mut found, lanes(column, start), symbol, 1);
    }
    found
}

/// The cells of one code. `found` tells how often the codes from `start` on have the `at`-th symbol of the probe.
#[inline(always)]
fn score_one<const W: usize>(
    probe: &Probe,
    places: &[&[u8]],
    out: &mut [u8],
    found: impl Fn(usize, usize, u8) -> [u8; W],
) {
    let (bull, length) = (probe.bull(), places.len() as u8);
    for (start, out) in (0..).step_by(W).zip(out.chunks_exact_mut(W)) {
        let mut cells = [0; W];
        for (column, &symbol) in places.iter().zip(probe.code.symbols()) {
            add_equal::<W>(&mut cells, lanes(column, start), symbol, bull);
        }
        if probe.rule == FeedbackRule::Total {
            // All bulls are one more than all symbols right; fewer bulls count by their symbols only.
            for cell in &mut cells {
                *cell = u8::from(*cell == length);
            }
        }
        for (at, &(symbol, count)) in probe.symbols().iter().enumerate() {
            for (cell, found) in cells.iter_mut().zip(found(start, at, symbol)) {
                *cell = cell.wrapping_add(found.min(count));
            }
        }
        out.copy_from_slice(&cells);
    }
}

/// What a mark adds to a cell: see [`crate::feedback::Mark`].
const MISPLACED: u8 = 1;
const RIGHT: u8 = 2;

/// Marks for each place, of so many codes at once.
type MarkLanes<const W: usize> = [[u8; W]; MAX_LENGTH];

/// Marks the places that are right.
#[inline(always)]
fn right_places<const W: usize>(probe: &Probe, places: &[&[u8]], start: usize) -> MarkLanes<W> {
    let mut marks = [[0; W]; MAX_LENGTH];
    for ((marks, column), &symbol) in marks.iter_mut().zip(places).zip(probe.code.symbols()) {
        add_equal::<W>(marks, lanes(column, start), symbol, RIGHT);
    }
    marks
}

/// Joins the marks of five places each to a byte.
#[inline(always)]
fn join_marks<const W: usize>(marks: &[[u8; W]], start: usize, out: &mut [u8]) {
    let padded = out.len() / marks.len().div_ceil(MARKS_A_BYTE);
    for (marks, plane) in marks.chunks(MARKS_A_BYTE).zip(out.chunks_exact_mut(padded)) {
        let mut cells = [0_u8; W];
        for marks in marks {
            for (cell, &mark) in cells.iter_mut().zip(marks) {
                *cell = cell.wrapping_mul(3).wrapping_add(mark);
            }
        }
        plane[start..start + W].copy_from_slice(&cells);
    }
}

/// The marks that a guess gets from many secrets.
#[inline(always)]
fn marks_of_guess<const W: usize>(probe: &Probe, places: &[&[u8]], out: &mut [u8]) {
    let guess = probe.code.symbols();
    for start in (0..places[0].len()).step_by(W) {
        let mut marks = right_places::<W>(probe, places, start);
        for &(symbol, _) in probe.symbols() {
            // How many of this symbol the secrets have which are not in their place.
            let mut free: [u8; W] = occurrences(places, start, symbol);
            for marks in marks.iter().zip(guess).filter(|(_, other)| **other == symbol) {
                for (free, &mark) in free.iter_mut().zip(marks.0) {
                    *free = free.wrapping_sub(mark >> 1);
                }
            }
            for marks in marks.iter_mut().zip(guess).filter(|(_, other)| **other == symbol) {
                for (mark, free) in marks.0.iter_mut().zip(&mut free) {
                    let misplaced = u8::from(*mark == 0) & u8::from(*free > 0);
                    *mark |= misplaced * MISPLACED;
                    *free = free.wrapping_sub(misplaced);
                }
            }
        }
        join_marks(&marks[..guess.len()], start, out);
    }
}

/// The marks that many guesses get from a secret.
#[inline(always)]
fn marks_of_secret<const W: usize>(probe: &Probe, places: &[&[u8]], out: &mut [u8]) {
    let secret = probe.code.symbols();
    for start in (0..places[0].len()).step_by(W) {
        let right = right_places::<W>(probe, places, start);
        let mut marks = right;
        for (place, column) in places.iter().enumerate() {
            let symbols: &[u8; W] = lanes(column, start);
            // What the secret still has of the symbol, less what earlier places of the guess ask for.
            let mut free = [0_u8; W];
            for (right, &other) in right.iter().zip(secret) {
                for ((free, &symbol), &right) in free.iter_mut().zip(symbols).zip(right) {
                    *free = free.wrapping_add(u8::from(symbol == other) & u8::from(right == 0));
                }
            }
            for (right, column) in right.iter().zip(&places[..place]) {
                let earlier: &[u8; W] = lanes(column, start);
                for (((free, &symbol), &other), &right) in
                    free.iter_mut().zip(symbols).zip(earlier).zip(right)
                {
                    let asks = u8::from(symbol == other) & u8::from(right == 0);
                    *free = free.saturating_sub(asks);
                }
            }
            for (mark, &free) in marks[place].iter_mut().zip(&free) {
                *mark |= (u8::from(*mark == 0) & u8::from(free > 0)) * MISPLACED;
            }
        }
        join_marks(&marks[..secret.len()], start, out);
    }
}

/// Whether secrets are lower, higher or equal: numbers, as bytes from the highest to the lowest.
#[inline(always)]
fn orders<const W: usize>(probe: &Probe, places: &[&[u8]], out: &mut [u8]) {
    let (lower, higher, equal) = (0, 1, 2);
    let (below, above) = if probe.secret { (higher, lower) } else { (lower, higher) };
    for (start, out) in (0..).step_by(W).zip(out.chunks_exact_mut(W)) {
        let mut cells = [equal; W];
        for (column, &symbol) in places.iter().zip(probe.code.symbols()).rev() {
            for (cell, &other) in cells.iter_mut().zip(lanes::<W>(column, start)) {
                let differs = if other < symbol { below } else { above };
                *cell = if other == symbol { *cell } else { differs };
            }
        }
        out.copy_from_slice(&cells);
    }
}

/// Cells by one more symbol: see [`super::Kernel::extend`].
#[inline(always)]
pub(super) fn extend<const W: usize>(
    probe: &Probe,
    place: usize,
    columns: View<'_>,
    from: &[u8],
    to: &mut [u8],
) {
    let symbols = probe.code.symbols();
    let symbol = symbols[place];
    let column = columns.column(place);
    // A symbol that the code had before counts where it occurs more often than that.
    let before = symbols[..place].iter().filter(|&&other| other == symbol).count() as u8;
    let counts = columns.counts(symbol);
    let codes = column.chunks_exact(W).zip(counts.chunks_exact(W));
    for ((from, to), (column, counts)) in
        from.chunks_exact(W).zip(to.chunks_exact_mut(W)).zip(codes)
    {
        let mut cells = *lanes(from, 0);
        add_equal::<W>(&mut cells, lanes(column, 0), symbol, probe.bull());
        for (cell, &count) in cells.iter_mut().zip(counts) {
            *cell = cell.wrapping_add(count.saturating_sub(before).min(1));
        }
        to.copy_from_slice(&cells);
    }
}

#[inline(always)]
fn lanes<const W: usize>(bytes: &[u8], start: usize) -> &[u8; W] {
    bytes[start..].first_chunk().expect("columns and rows are whole numbers of lanes")
}

/// Adds `value` to each lane whose symbol is `symbol`.
#[inline(always)]
fn add_equal<const W: usize>(sums: &mut [u8; W], symbols: &[u8; W], symbol: u8, value: u8) {
    for (sum, &other) in sums.iter_mut().zip(symbols) {
        *sum = sum.wrapping_add(if other == symbol { value } else { 0 });
    }
}

/// Splits classes into groups of nearly equal size: 8 classes are two passes of 4, not 7 and 1.
fn group_size(classes: usize) -> usize {
    classes.div_ceil(classes.div_ceil(GROUP).max(1)).max(1)
}

/// Calls `$group` with the classes as an array.
macro_rules! with_size {
    ($group:ident, $width:ident, $classes:expr, $($argument:expr),*) => {
        match $classes {
            &[a] => $group::<$width, 1>([a], $($argument),*),
            &[a, b] => $group::<$width, 2>([a, b], $($argument),*),
            &[a, b, c] => $group::<$width, 3>([a, b, c], $($argument),*),
            &[a, b, c, d] => $group::<$width, 4>([a, b, c, d], $($argument),*),
            &[a, b, c, d, e] => $group::<$width, 5>([a, b, c, d, e], $($argument),*),
            &[a, b, c, d, e, f] => $group::<$width, 6>([a, b, c, d, e, f], $($argument),*),
            &[a, b, c, d, e, f, g] => $group::<$width, 7>([a, b, c, d, e, f, g], $($argument),*),
            _ => unreachable!("a group has at most {GROUP} classes"),
        }
    };
}

/// Counts, lane by lane, how many rows hold each class.
#[inline(always)]
fn totals<'a, const W: usize, const K: usize>(
    rows: impl Iterator<Item = &'a [u8; W]>,
    classes: [u8; K],
) -> [[u8; W]; K] {
    let mut sums = [[0_u8; W]; K];
    for row in rows {
        for (sum, &class) in sums.iter_mut().zip(&classes) {
            add_equal::<W>(sum, row, class, 1);
        }
    }
    sums
}

impl<'a> Rows<'a> {
    /// The lanes of some rows, from lane `start` on.
    #[inline(always)]
    fn lanes<const W: usize>(
        self,
        which: &'a [u32],
        start: usize,
    ) -> impl Iterator<Item = &'a [u8; W]> {
        let cells = &self.cells[self.offset + start..];
        which.iter().map(move |&row| lanes(cells, row as usize * self.stride))
    }
}

/// Counts classes: see [`super::Kernel::count`].
#[inline(always)]
pub(super) fn count<const W: usize>(
    rows: Rows<'_>,
    which: &[u32],
    classes: &[u8],
    counts: &mut [ByteLanes],
) {
    let size = group_size(classes.len());
    for (classes, counts) in classes.chunks(size).zip(counts.chunks_mut(size)) {
        with_size!(count_group, W, classes, rows, which, counts);
    }
}

#[inline(always)]
fn count_group<const W: usize, const K: usize>(
    classes: [u8; K],
    rows: Rows<'_>,
    which: &[u32],
    counts: &mut [ByteLanes],
) {
    for start in (0..LANES).step_by(W) {
        let sums = totals(rows.lanes::<W>(which, start), classes);
        for (count, sum) in counts.iter_mut().zip(&sums) {
            count[start..start + W].copy_from_slice(sum);
        }
    }
}

/// Counts different cells: see [`super::Kernel::distinct`].
#[inline(always)]
pub(super) fn distinct<const W: usize>(rows: Rows<'_>, which: &[u32], counts: &mut ByteLanes) {
    // Side by side the rows need no bounds checks, and they fit the first cache.
    let mut block = [[0; W]; BYTE_ROWS];
    for start in (0..LANES).step_by(W) {
        let mut fresh = [0_u8; W];
        for (i, row) in rows.lanes::<W>(which, start).enumerate() {
            // All bits, which is -1, where an earlier row has the same cell.
            let mut met = [0_u8; W];
            for other in &block[..i] {
                for ((met, &cell), &other) in met.iter_mut().zip(row).zip(other) {
                    *met |= if cell == other { u8::MAX } else { 0 };
                }
            }
            for (fresh, &met) in fresh.iter_mut().zip(&met) {
                *fresh = fresh.wrapping_add(met).wrapping_add(1);
            }
            block[i] = *row;
        }
        counts[start..start + W].copy_from_slice(&fresh);
    }
}

/// Makes one number of the counts of each guess: see [`super::Kernel::summarize`].
#[inline(always)]
pub(super) fn summarize(summary: Summary, counts: &[ByteLanes], out: &mut [u16; LANES]) {
    match summary {
        Summary::Largest => {
            let mut most = [0; LANES];
            fold(&mut most, counts, |most: u8, n| most.max(n));
            widen(&most, out);
        }
        Summary::Squares => {
            *out = [0; LANES];
            fold(out, counts, |sum, n| sum.wrapping_add(u16::from(n) * u16::from(n)));
        }
        Summary::Empty => {
            let mut empty = [0; LANES];
            fold(&mut empty, counts, |empty: u8, n| empty.wrapping_add(u8::from(n == 0)));
            widen(&empty, out);
        }
    }
}

#[inline(always)]
fn widen(from: &ByteLanes, to: &mut [u16; LANES]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = u16::from(from);
    }
}

#[inline(always)]
fn fold<T: Copy>(all: &mut [T; LANES], counts: &[ByteLanes], add: impl Fn(T, u8) -> T) {
    for counts in counts {
        for (one, &count) in all.iter_mut().zip(counts) {
            *one = add(*one, count);
        }
    }
}

/// Counts the classes of one guess: see [`super::Kernel::histogram`].
#[inline(always)]
pub(super) fn histogram<const W: usize>(cells: &[u8], classes: &[u8], counts: &mut [u32]) {
    let size = group_size(classes.len());
    for (classes, counts) in classes.chunks(size).zip(counts.chunks_mut(size)) {
        with_size!(histogram_group, W, classes, cells, counts);
    }
}

#[inline(always)]
fn histogram_group<const W: usize, const K: usize>(
    classes: [u8; K],
    cells: &[u8],
    counts: &mut [u32],
) {
    for part in cells.chunks(BYTE_ROWS * W) {
        let sums = totals(part.chunks_exact(W).map(|row| lanes::<W>(row, 0)), classes);
        for (count, sum) in counts.iter_mut().zip(&sums) {
            *count += sum.iter().map(|&lane| u32::from(lane)).sum::<u32>();
        }
    }
}

/// Bounds guesses: see [`super::Kernel::bound`].
#[inline(always)]
pub(super) fn bound<const W: usize>(
    rows: Rows<'_>,
    which: &[u32],
    classes: &[u8],
    lines: &[u8],
    sums: &mut [u8],
) {
    for classes in classes.chunks(group_size(classes.len())) {
        with_size!(bound_group, W, classes, rows, which, lines, sums);
    }
}

#[inline(always)]
fn bound_group<const W: usize, const K: usize>(
    classes: [u8; K],
    rows: Rows<'_>,
    which: &[u32],
    lines: &[u8],
    sums: &mut [u8],
) {
    for (start, sums) in (0..).step_by(W).zip(sums.chunks_exact_mut(W)) {
        let counts = totals(rows.lanes::<W>(which, start), classes);
        let sums: &mut [u8; W] = sums.try_into().expect("chunks are that long");
        match lines {
            [first] => counts.iter().for_each(|count| add_line::<W>(sums, count, *first)),
            _ => counts.iter().for_each(|count| add_lines::<W>(sums, count, lines)),
        }
    }
}

/// Adds `2 n - offset`, or 0 where that is less.
#[inline(always)]
fn add_line<const W: usize>(sums: &mut [u8; W], counts: &[u8; W], offset: u8) {
    for (sum, &n) in sums.iter_mut().zip(counts) {
        *sum = sum.wrapping_add(n.wrapping_add(n).saturating_sub(offset));
    }
}

/// Adds the greatest of `2 n - offsets[0]`, `3 n - offsets[1]`, and so on, or 0 where they are all less.
#[inline(always)]
fn add_lines<const W: usize>(sums: &mut [u8; W], counts: &[u8; W], offsets: &[u8]) {
    let mut products = *counts;
    let mut most = [0; W];
    for &offset in offsets {
        for ((most, product), &n) in most.iter_mut().zip(&mut products).zip(counts) {
            *product = product.wrapping_add(n);
            *most = (*most).max(product.saturating_sub(offset));
        }
    }
    for (sum, most) in sums.iter_mut().zip(most) {
        *sum = sum.wrapping_add(most);
    }
}
