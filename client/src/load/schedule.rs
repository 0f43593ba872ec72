//! When each call of an open loop is due: at its time, whatever became of the others.
//!
//! Pure arithmetic; who keeps the times is `drive`.

use std::time::Duration;

/// A time with one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stage {
    /// Calls a second.
    pub(super) rate: f64,
    /// How long.
    pub(super) length: Duration,
    /// Which of the steps that are measured it is; none while warming up.
    pub(super) step: Option<usize>,
}

impl Stage {
    /// Calls that are due in it.
    fn calls(&self) -> u64 {
        // Less than a millionth of a call is how the product was rounded.
        (self.length.as_secs_f64() * self.rate - 1e-6).ceil() as u64
    }
}

/// A call that is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slot {
    /// Which of all calls it is; what is called follows from it.
    pub(super) index: u64,
    /// From the beginning of the run.
    pub(super) due: Duration,
    /// As in its [`Stage`].
    pub(super) step: Option<usize>,
}

/// The stages of a run: the warm-up at the first rate, then as many steps of the same length as there are rates.
pub(super) fn stages(rates: &[f64], warm_up: Duration, duration: Duration) -> Vec<Stage> {
    let length = duration / rates.len() as u32;
    let warm_up = Stage { rate: rates[0], length: warm_up, step: None };
    let steps = rates.iter().enumerate();
    let steps = steps.map(|(step, &rate)| Stage { rate, length, step: Some(step) });
    std::iter::once(warm_up).chain(steps).collect()
}

/// From the first rate to the last in even steps.
pub(super) fn rates((first, last): (f64, f64), steps: u32) -> Vec<f64> {
    if first == last {
        return vec![first];
    }
    let stride = (last - first) / f64::from(steps - 1);
    (0..steps).map(|step| first + stride * f64::from(step)).collect()
}

/// Every call of the stages, in order.
pub(super) fn slots(stages: Vec<Stage>) -> impl Iterator<Item = Slot> + Send {
    let mut begins = Duration::ZERO;
    let due = stages.into_iter().flat_map(move |stage| {
        let begin = begins;
        begins += stage.length;
        // From the beginning of the stage, so that no error adds up.
        let due = move |n| begin + Duration::from_secs_f64(n as f64 / stage.rate);
        (0..stage.calls()).map(move |n| (due(n), stage.step))
    });
    (0..).zip(due).map(|(index, (due, step))| Slot { index, due, step })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn calls_are_due_at_even_distances_from_the_first_moment_on() {
        let slots: Vec<_> = slots(stages(&[4.0], SECOND / 2, SECOND)).collect();
        let due: Vec<_> = slots.iter().map(|slot| slot.due.as_millis()).collect();
        assert_eq!(due, [0, 250, 500, 750, 1000, 1250]);
        assert!(slots.iter().zip(0..).all(|(slot, index)| slot.index == index));
        assert!(slots.iter().all(|slot| slot.step.is_some() == (slot.due >= SECOND / 2)));
    }

    #[test]
    fn a_stage_has_as_many_calls_as_its_rate_says() {
        for (rate, millis, calls) in
            [(100.0, 100, 10), (0.1, 1000, 1), (3.0, 1000, 3), (1e6, 10_000, 10_000_000)]
        {
            let stage = Stage { rate, length: Duration::from_millis(millis), step: None };
            assert_eq!(stage.calls(), calls, "{stage:?}");
        }
    }

    #[test]
    fn steps_go_from_the_first_rate_to_the_last() {
        assert_eq!(rates((100.0, 300.0), 3), [100.0, 200.0, 300.0]);
        assert_eq!(rates((300.0, 100.0), 2), [300.0, 100.0]);
        assert_eq!(rates((5.0, 5.0), 10), [5.0]);
        let slots = slots(stages(&rates((100.0, 300.0), 3), Duration::ZERO, 3 * SECOND));
        let mut calls = [0; 3];
        slots.for_each(|slot| calls[slot.step.unwrap()] += 1);
        assert_eq!(calls, [100, 200, 300]);
    }
}
