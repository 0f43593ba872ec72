//! The same loops compiled for AVX2.
//!
//! AVX-512 was tried and left out: its byte comparison writes a mask register, on one port only, so that counting
//! took 1.4 times as long as with AVX2 (a block of 64 guesses, 30 candidates and 14 classes: 410 ns, AVX2 290 ns,
//! portable 530 ns; Sapphire Rapids), and computing cells was 0.85 times as long, which does not make up for it.
//!
//! This is the only unsafe code of the engine: calling a function that was compiled for instructions which the
//! machine may not have. The kernel leaves this module only after the machine was asked.

use super::{ByteLanes, Kernel, LANES, Probe, Rows, Summary, View, lanes};

/// The AVX2 kernel, if this machine can run it.
pub(super) fn available() -> Option<Kernel> {
    is_x86_feature_detected!("avx2").then_some(AVX2)
}

/// The entry to a function of `lanes`, compiled for AVX2.
macro_rules! entry {
    (($($argument:ident: $kind:ty),*), $body:expr) => {{
        #[target_feature(enable = "avx2")]
        fn compiled($($argument: $kind),*) {
            $body($($argument),*);
        }
        fn entry($($argument: $kind),*) {
            // SAFETY: `available` gives this kernel out only where AVX2 was detected.
            unsafe { compiled($($argument),*) }
        }
        entry
    }};
}

const AVX2: Kernel = Kernel {
    name: "avx2",
    score: entry!((probes: &[Probe], columns: View<'_>, out: &mut [u8]), lanes::score::<LANES>),
    extend: entry!(
        (probe: &Probe, place: usize, columns: View<'_>, from: &[u8], to: &mut [u8]),
        lanes::extend::<LANES>
    ),
    count: entry!(
        (rows: Rows<'_>, which: &[u32], classes: &[u8], counts: &mut [ByteLanes]),
        lanes::count::<LANES>
    ),
    distinct: entry!(
        (rows: Rows<'_>, which: &[u32], counts: &mut ByteLanes),
        lanes::distinct::<LANES>
    ),
    summarize: entry!(
        (summary: Summary, counts: &[ByteLanes], out: &mut [u16; LANES]),
        lanes::summarize
    ),
    histogram: entry!(
        (cells: &[u8], classes: &[u8], counts: &mut [u32]),
        lanes::histogram::<LANES>
    ),
    bound: entry!(
        (rows: Rows<'_>, which: &[u32], classes: &[u8], lines: &[u8], sums: &mut [u8]),
        lanes::bound::<LANES>
    ),
};
