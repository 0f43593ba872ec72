//! The same loops compiled for AVX2 (32 lanes) and AVX-512 (64 lanes).
//!
//! This is the only unsafe code of the engine: calling a function that was compiled for instructions which the
//! machine may not have. The kernels leave this module only after the machine was asked.

use super::{Columns, Kernel, Lanes, Probe, Rows, lanes};

/// The kernels that this machine can run, slower first.
pub(super) fn available() -> impl Iterator<Item = Kernel> {
    let avx2 = is_x86_feature_detected!("avx2");
    let avx512 = is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl");
    [(avx2, AVX2), (avx2 && avx512, AVX512)]
        .into_iter()
        .filter(|(has, _)| *has)
        .map(|(_, kernel)| kernel)
}

/// A kernel of `W` lanes whose two functions are compiled with `features`.
macro_rules! kernel {
    ($constant:ident, $name:literal, $lanes:literal, $features:literal) => {
        const $constant: Kernel = {
            #[target_feature(enable = $features)]
            fn score_compiled(probe: &Probe, columns: &Columns, out: &mut [u8]) {
                lanes::score::<$lanes>(probe, columns, out);
            }
            #[target_feature(enable = $features)]
            fn tally_compiled(rows: Rows<'_>, which: &[u32], classes: &[u8], counts: &mut [Lanes]) {
                lanes::tally::<$lanes>(rows, which, classes, counts);
            }
            fn score(probe: &Probe, columns: &Columns, out: &mut [u8]) {
                // SAFETY: `available` gives this kernel out only where the features were detected.
                unsafe { score_compiled(probe, columns, out) }
            }
            fn tally(rows: Rows<'_>, which: &[u32], classes: &[u8], counts: &mut [Lanes]) {
                // SAFETY: `available` gives this kernel out only where the features were detected.
                unsafe { tally_compiled(rows, which, classes, counts) }
            }
            Kernel { name: $name, score, tally }
        };
    };
}

kernel!(AVX2, "avx2", 32, "avx2");
kernel!(AVX512, "avx512", 64, "avx2,avx512f,avx512bw,avx512vl");
