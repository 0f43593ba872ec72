//! The two operations as loops over byte lanes, to be compiled once per instruction set.
//!
//! `W` is the number of lanes that fit a register; the loops over it have a fixed length, hold no branch and
//! no bounds check, and become one vector instruction each.

use super::{Columns, LANES, Lanes, Probe, Rows};

/// The most classes counted in one pass: their accumulators and a row stay within 16 registers.
const GROUP: usize = 14;
/// The most rows counted before byte accumulators could overflow.
const BYTE_ROWS: usize = 255;

/// The cells of one code against many: see [`super::Kernel::score`].
#[inline(always)]
pub(super) fn score<const W: usize>(probe: &Probe, columns: &Columns, out: &mut [u8]) {
    let code = probe.code.symbols();
    let mut places: [&[u8]; crate::rules::MAX_LENGTH] = [&[]; crate::rules::MAX_LENGTH];
    for (place, column) in places[..code.len()].iter_mut().enumerate() {
        *column = columns.column(place);
    }
    let places = &places[..code.len()];
    for (start, out) in (0..).step_by(W).zip(out.chunks_exact_mut(W)) {
        let mut cells = [0; W];
        for (column, &symbol) in places.iter().zip(code) {
            add_equal::<W>(&mut cells, lanes(column, start), symbol, probe.bull);
        }
        for &(symbol, count) in probe.symbols() {
            let mut found = [0; W];
            for column in places {
                add_equal::<W>(&mut found, lanes(column, start), symbol, 1);
            }
            for (cell, found) in cells.iter_mut().zip(found) {
                *cell = cell.wrapping_add(found.min(count));
            }
        }
        out.copy_from_slice(&cells);
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

/// Counts classes: see [`super::Kernel::tally`].
#[inline(always)]
pub(super) fn tally<const W: usize>(
    rows: Rows<'_>,
    which: &[u32],
    classes: &[u8],
    counts: &mut [Lanes],
) {
    // Groups of nearly equal size: 20 classes are two passes of 10, not 14 and 6.
    let groups = classes.len().div_ceil(GROUP);
    let size = classes.len().div_ceil(groups.max(1)).next_multiple_of(2);
    for (classes, counts) in classes.chunks(size.max(1)).zip(counts.chunks_mut(size.max(1))) {
        match classes.len().next_multiple_of(2) {
            2 => tally_group::<W, 2>(rows, which, classes, counts),
            4 => tally_group::<W, 4>(rows, which, classes, counts),
            6 => tally_group::<W, 6>(rows, which, classes, counts),
            8 => tally_group::<W, 8>(rows, which, classes, counts),
            10 => tally_group::<W, 10>(rows, which, classes, counts),
            12 => tally_group::<W, 12>(rows, which, classes, counts),
            _ => tally_group::<W, GROUP>(rows, which, classes, counts),
        }
    }
}

/// Counts up to `K` classes. If there are fewer, the last is counted twice and one count dropped.
#[inline(always)]
fn tally_group<const W: usize, const K: usize>(
    rows: Rows<'_>,
    which: &[u32],
    classes: &[u8],
    counts: &mut [Lanes],
) {
    let class: [u8; K] = std::array::from_fn(|k| classes[k.min(classes.len() - 1)]);
    for start in (0..LANES).step_by(W) {
        for part in which.chunks(BYTE_ROWS) {
            let mut sums = [[0_u8; W]; K];
            for &row in part {
                let row: &[u8; W] =
                    lanes(rows.cells, row as usize * rows.stride + rows.offset + start);
                for (sum, &class) in sums.iter_mut().zip(&class) {
                    add_equal::<W>(sum, row, class, 1);
                }
            }
            for (count, sum) in counts.iter_mut().zip(&sums) {
                for (count, &sum) in count[start..start + W].iter_mut().zip(sum) {
                    *count = count.wrapping_add(u32::from(sum));
                }
            }
        }
    }
}
