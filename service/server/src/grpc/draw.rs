//! Draws that are the same for the same seed on every machine.

use herdsman_engine::{Random, StopFlag, Stopped};

/// Draws a number below `bound`, if there is one.
pub(super) fn one(bound: usize, seed: u64) -> Option<usize> {
    (bound > 0).then(|| Random::new(seed ^ SALT).below(bound))
}

/// Draws `count` different numbers below `bound`: for each number whether it was drawn; all of them if there are no more.
///
/// They are independent of what the strategies that draw lots draw by the same seed.
///
/// # Errors
/// [`Stopped`] within milliseconds of the flag.
pub(super) fn sample(
    bound: usize,
    count: usize,
    seed: u64,
    stop: &StopFlag,
) -> Result<Vec<bool>, Stopped> {
    let mut random = Random::new(seed ^ SALT);
    let mut drawn = vec![false; bound];
    // Floyd's sampling: draws without replacement in as many steps as there are draws.
    for last in bound.saturating_sub(count)..bound {
        if last % BATCH == 0 && stop.is_stopped() {
            return Err(Stopped);
        }
        let number = random.below(last + 1);
        let number = if drawn[number] { last } else { number };
        drawn[number] = true;
    }
    Ok(drawn)
}

/// Draws from one look at the flag to the next.
const BATCH: usize = 1 << 14;
/// Any number would do that the engine does not mix its seeds with.
const SALT: u64 = 0x5e_c2e7_0f4e_2d5a;

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(bound: usize, count: usize, seed: u64) -> Vec<usize> {
        let drawn = sample(bound, count, seed, &StopFlag::default()).unwrap();
        assert_eq!(drawn.len(), bound);
        (0..bound).filter(|&number| drawn[number]).collect()
    }

    #[test]
    fn a_draw_has_as_many_numbers_as_were_asked_for_or_all() {
        for (bound, count) in [(0, 3), (1, 1), (5, 2), (5, 5), (5, 9), (1000, 100)] {
            assert_eq!(drawn(bound, count, 7).len(), bound.min(count));
        }
    }

    #[test]
    fn every_number_is_drawn_as_often() {
        let mut often = [0; 10];
        for seed in 0..10_000 {
            for number in drawn(10, 3, seed) {
                often[number] += 1;
            }
        }
        // 3000 each; 46 is the standard deviation.
        assert!(often.iter().all(|count| (2800..3200).contains(count)), "{often:?}");
    }

    #[test]
    fn a_draw_can_be_stopped() {
        let stop = StopFlag::default();
        stop.stop();
        assert_eq!(sample(2 * BATCH, 2 * BATCH - 1, 7, &stop), Err(Stopped));
    }
}
