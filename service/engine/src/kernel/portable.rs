//! What every machine runs, and what the other kernels must equal: 16 lanes, the width of SSE2 and NEON.

use super::{Columns, Kernel, Lanes, Probe, Rows, lanes};

pub(super) const KERNEL: Kernel = Kernel { name: "portable", score, tally };

fn score(probe: &Probe, columns: &Columns, out: &mut [u8]) {
    lanes::score::<16>(probe, columns, out);
}

fn tally(rows: Rows<'_>, which: &[u32], classes: &[u8], counts: &mut [Lanes]) {
    lanes::tally::<16>(rows, which, classes, counts);
}
