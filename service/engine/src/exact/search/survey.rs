//! What is known of the whole before the proof, and what is told of it meanwhile.

use std::sync::atomic::Ordering::Relaxed;

use super::Search;
use crate::{
    budget::Stopped,
    exact::{
        Objective,
        rename::Form,
        scan::{INFEASIBLE, Position, UNCAPPED, after},
    },
    history::MAX_TURNS,
};

/// Smaller sets are solved as fast as they are surveyed.
const SURVEYED_SET: usize = 100;

impl Search<'_> {
    /// Tells of the whole, before the search: what it must cost, and what a strategy without foresight costs. Returns a
    /// limit that some cost is below; none if that is not worth its time, or there is no such strategy.
    pub(super) fn survey(&self, form: &Form, left: u32) -> Result<u32, Stopped> {
        if self.scan.last_only {
            return Ok(INFEASIBLE);
        }
        let first = self.first_guess(form);
        if first.is_none() {
            // What bounds the cost without a cap bounds it with any.
            self.tell_bound(self.known(form, UNCAPPED)?.least);
        }
        if form.codes.len() < SURVEYED_SET {
            return Ok(INFEASIBLE);
        }
        let cost = self.greedy(form, left, first)?;
        if cost < INFEASIBLE {
            self.progress.best.fetch_min(cost.into(), Relaxed);
        }
        Ok(cost.saturating_add(1).min(INFEASIBLE))
    }

    /// What a set costs if every guess, the first one perhaps excepted, is one that must cost the least.
    fn greedy(&self, form: &Form, left: u32, first: Option<u32>) -> Result<u32, Stopped> {
        if form.depth > MAX_TURNS {
            return Ok(INFEASIBLE);
        }
        if first.is_none()
            && let Some(known) = self.glance(form, left)
            && known.exact
        {
            return Ok(known.least);
        }
        let position = self.scan.position(form, left)?;
        let guess = match first {
            Some(guess) => guess,
            None => match self.measure(&position)? {
                (known, Some(guess)) if !known.exact => guess,
                (known, _) => return Ok(known.least),
            },
        };
        let mut sum = self.scan.cost(&position, guess);
        for part in self.scan.parts(&position, guess) {
            if sum >= INFEASIBLE || part.len() == form.codes.len() {
                return Ok(INFEASIBLE);
            }
            let least = self.scan.least(part.len(), after(left));
            let mut next = self.renamer.form(&position.codes(&part));
            next.depth = form.depth + 1;
            sum += self.greedy(&next, after(left), None)? - least;
        }
        Ok(sum.min(INFEASIBLE))
    }

    /// Whether the guesses of a set are those that the goal leaves open for the whole, so that what is found is told.
    pub(super) fn is_whole_of_goal(&self, position: &Position<'_>) -> bool {
        let open = self.goal.first_guess.is_none();
        open && self.is_whole(position) && self.is_told(position.left)
    }

    /// Whether what is found of the whole with so many guesses left is told: not while caps are tried out, as what is
    /// true within one of them need not be within another.
    pub(super) fn is_told(&self, left: u32) -> bool {
        self.goal.objective == Objective::Expected && left == self.goal.cap()
    }

    /// Tells that no strategy for the whole costs less.
    pub(super) fn tell_bound(&self, cost: u32) {
        if cost < INFEASIBLE {
            self.progress.bound.fetch_max(cost.into(), Relaxed);
        }
    }
}
