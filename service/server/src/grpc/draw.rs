//! Draws that are the same for the same seed on every machine.

use std::collections::BTreeSet;

/// Draws `count` different numbers below `bound`, ascending; all of them if there are no more.
///
/// They are independent of what the strategies that draw lots draw by the same seed.
pub(super) fn sample(bound: usize, count: usize, seed: u64) -> BTreeSet<usize> {
    let mut state = seed ^ SALT;
    let mut drawn = BTreeSet::new();
    // Floyd's sampling: draws without replacement in as many steps as there are draws.
    for last in bound.saturating_sub(count)..bound {
        let number = below(&mut state, last + 1);
        drawn.insert(if drawn.contains(&number) { last } else { number });
    }
    drawn
}

/// Any number would do that the engine does not mix its seeds with.
const SALT: u64 = 0x5e_c2e7_0f4e_2d5a;

/// A number below `bound`, by SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) and a multiplication; its bias is below
/// `bound` / 2^64.
fn below(state: &mut u64, bound: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    ((u128::from(z) * bound as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::sample;

    #[test]
    fn a_draw_has_as_many_different_numbers_as_were_asked_for_or_all() {
        for (bound, count) in [(0, 3), (1, 1), (5, 2), (5, 5), (5, 9), (1000, 100)] {
            let drawn = sample(bound, count, 7);
            assert_eq!(drawn.len(), bound.min(count));
            assert!(drawn.iter().all(|&number| number < bound));
        }
    }

    #[test]
    fn every_number_is_drawn_as_often() {
        let mut often = [0; 10];
        for seed in 0..10_000 {
            for number in sample(10, 3, seed) {
                often[number] += 1;
            }
        }
        // 3000 each; 46 is the standard deviation.
        assert!(often.iter().all(|count| (2800..3200).contains(count)), "{often:?}");
    }
}
