//! What every machine runs, and what the other kernels must equal: 16 lanes, the width of SSE2 and NEON.
//!
//! On aarch64 this is the only kernel, and NEON is always there for it. It was measured on x86-64 alone, with SSE2,
//! where it counts at half the speed of AVX2.

use super::{ByteLanes, Kernel, LANES, Probe, Rows, Summary, View, lanes};

pub(super) const KERNEL: Kernel =
    Kernel { name: "portable", score, extend, count, distinct, summarize, histogram, bound };

fn score(probes: &[Probe], columns: View<'_>, out: &mut [u8]) {
    lanes::score::<16>(probes, columns, out);
}

fn extend(probe: &Probe, place: usize, columns: View<'_>, from: &[u8], to: &mut [u8]) {
    lanes::extend::<16>(probe, place, columns, from, to);
}

fn count(rows: Rows<'_>, which: &[u32], classes: &[u8], counts: &mut [ByteLanes]) {
    lanes::count::<16>(rows, which, classes, counts);
}

fn distinct(rows: Rows<'_>, which: &[u32], counts: &mut ByteLanes) {
    lanes::distinct::<16>(rows, which, counts);
}

fn summarize(summary: Summary, counts: &[ByteLanes], out: &mut [u16; LANES]) {
    lanes::summarize(summary, counts, out);
}

fn histogram(cells: &[u8], classes: &[u8], counts: &mut [u32]) {
    lanes::histogram::<16>(cells, classes, counts);
}

fn bound(rows: Rows<'_>, which: &[u32], classes: &[u8], lines: &[u8], sums: &mut [u8]) {
    lanes::bound::<16>(rows, which, classes, lines, sums);
}
