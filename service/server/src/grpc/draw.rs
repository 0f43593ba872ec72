//! Draws that are the same for the same seed on every machine.

use std::collections::BTreeSet;

use herdsman_engine::Random;

/// Draws `count` different numbers below `bound`, ascending; all of them if there are no more.
///
/// They are independent of what the strategies that draw lots draw by the same seed.
pub(super) fn sample(bound: usize, count: usize, seed: u64) -> BTreeSet<usize> {
    let mut random = Random::new(seed ^ SALT);
    let mut drawn = BTreeSet::new();
    // Floyd's sampling: draws without replacement in as many steps as there are draws.
    for last in bound.saturating_sub(count)..bound {
        let number = random.below(last + 1);
        drawn.insert(if drawn.contains(&number) { last } else { number });
    }
    drawn
}

/// Any number would do that the engine does not mix its seeds with.
const SALT: u64 = 0x5e_c2e7_0f4e_2d5a;

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
