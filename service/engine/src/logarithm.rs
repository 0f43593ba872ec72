//! Binary logarithms as integers, so that no rounding decides between two guesses.
//!
//! The logarithm of a prime is a rounded fixed-point number; that of any other number is the exact sum over its
//! prime factors. Two sums of `n log n` that are equal as real numbers are therefore equal here, on every machine.

use std::sync::OnceLock;

/// Bits behind the point: sums of `n log n` up to [`crate::MAX_CODES`] fit 64 bits.
const FRACTION: u32 = 32;
/// Numbers whose `n log n` is kept: 64 KiB, made in 0.1 ms. Larger classes are few, so they are factored when they
/// occur.
const KEPT: u32 = 1 << 13;

/// `n` times its binary logarithm; 0 for 0.
pub(crate) fn n_log_n(n: u32) -> u64 {
    static TABLE: OnceLock<Vec<u64>> = OnceLock::new();
    match TABLE.get_or_init(table).get(n as usize) {
        Some(&value) => value,
        None => u64::from(n) * log2(n),
    }
}

/// `n log n` below [`KEPT`]: a sieve adds the logarithm of each prime to the multiples of each of its powers.
fn table() -> Vec<u64> {
    let mut logs = vec![0; KEPT as usize];
    for prime in 2..KEPT {
        if logs[prime as usize] == 0 {
            let log = log2_of_prime(prime);
            let powers = std::iter::successors(Some(prime), |power| power.checked_mul(prime));
            for power in powers.take_while(|&power| power < KEPT) {
                for multiple in (power..KEPT).step_by(power as usize) {
                    logs[multiple as usize] += log;
                }
            }
        }
    }
    (0..).zip(logs).map(|(n, log): (u64, u64)| n * log).collect()
}

/// The binary logarithm of `n`; 0 for 0.
pub(crate) fn log2(n: u32) -> u64 {
    let (mut rest, mut sum, mut factor) = (n, 0, 2);
    while factor <= rest / factor {
        if rest.is_multiple_of(factor) {
            rest /= factor;
            sum += log2_of_prime(factor);
        } else {
            factor += 1;
        }
    }
    if rest > 1 { sum + log2_of_prime(rest) } else { sum }
}

/// A fixed-point number as a float: exact up to 2^53, and then as near as a float can be.
pub(crate) fn to_bits(fixed: u64) -> f64 {
    fixed as f64 / (1_u64 << FRACTION) as f64
}

/// Digit by digit: squaring a number in [1, 2) doubles its logarithm, and the digit is what overflows 2.
fn log2_of_prime(prime: u32) -> u64 {
    const ONE: u32 = 62;
    let whole = prime.ilog2();
    let mut x = u128::from(prime) << (ONE - whole);
    let mut log = u64::from(whole);
    for _ in 0..FRACTION {
        x = (x * x) >> ONE;
        let digit = x >> (ONE + 1);
        x >>= digit;
        log = log << 1 | digit as u64;
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_real_numbers() {
        for n in (1..2000).chain([65_535, 65_536, 65_537, 1 << 27, (1 << 27) - 39]) {
            let error = to_bits(log2(n)) - f64::from(n).log2();
            assert!(error.abs() < 27.0 * 2_f64.powi(-32), "log2({n}) is off by {error}");
        }
    }

    #[test]
    fn equal_sums_are_equal() {
        // 6 log 6 = 2 (3 log 3) + 3 (2 log 2), as 6 = 2 x 3.
        assert_eq!(n_log_n(6), 2 * n_log_n(3) + 3 * n_log_n(2));
        (0..3000).chain(8_100..8_300).for_each(|n| assert_eq!(n_log_n(n), u64::from(n) * log2(n)));
        assert_eq!(n_log_n(0), 0);
        assert_eq!(n_log_n(1), 0);
    }
}
