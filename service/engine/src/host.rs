//! A host who has not settled on a secret, and answers so that the guesser learns as little as can be.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::{
    budget::{Budget, Stopped},
    candidates::Candidates,
    code::Code,
    evaluate::split,
    exact::{Goal, Objective, Progress, SolveLimits, Value, solve_set},
    feedback::Class,
    game::Game,
};

/// How a host answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HostPolicy {
    /// Keeps the most candidates; of equal answers, the first in class order.
    #[default]
    MostCandidates,
    /// Holds out longest against the best play: the most guesses in the worst case, then the most on average, then the
    /// most candidates, then the first in class order. Where that is not proven, as `MostCandidates`.
    Optimal,
}

/// A host's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostAnswer {
    /// The answer.
    pub class: Class,
    /// Candidates that it keeps.
    pub remaining: usize,
    /// Whether no answer holds out longer.
    pub proven: bool,
}

/// Answers a guess. The winning answer is given only if no other keeps a candidate.
///
/// `limits` bound each of the proofs that [`HostPolicy::Optimal`] takes, one an answer.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
///
/// # Panics
/// If there is no candidate: that is a contradiction, which the caller reports.
pub fn host_answer(
    game: &Game,
    candidates: &Candidates,
    guess: &Code,
    policy: HostPolicy,
    limits: SolveLimits,
    budget: &Budget,
) -> Result<HostAnswer, Stopped> {
    let winning = game.rules().answers().winning();
    let mut parts = split(game, candidates.indices(), guess, budget)?;
    if parts.len() > 1 {
        parts.remove(&winning);
    }
    if policy == HostPolicy::Optimal
        && parts.len() > 1
        && let Some(answer) = longest(game, &parts, limits, budget)?
    {
        return Ok(answer);
    }
    let sizes = parts.iter().map(|(&class, part)| (part.len(), Reverse(class)));
    let (remaining, Reverse(class)) = sizes.max().expect("some candidate is left");
    // Where there is one answer only, none holds out longer.
    Ok(HostAnswer { class, remaining, proven: policy == HostPolicy::Optimal && parts.len() == 1 })
}

/// The answer that holds out longest, if what every part needs can be proven.
fn longest(
    game: &Game,
    parts: &BTreeMap<Class, Vec<u32>>,
    limits: SolveLimits,
    budget: &Budget,
) -> Result<Option<HostAnswer>, Stopped> {
    let mut longest: Option<(Value, HostAnswer)> = None;
    for (&class, part) in parts {
        let Some(value) = needed(game, part, limits, budget)? else { return Ok(None) };
        let answer = HostAnswer { class, remaining: part.len(), proven: true };
        if longest.is_none_or(|(most, than)| holds_out((value, part.len()), (most, than.remaining)))
        {
            longest = Some((value, answer));
        }
    }
    Ok(longest.map(|(_, answer)| answer))
}

/// Whether a part holds out longer than another, each by what it needs and its candidates. Means are compared as
/// fractions.
fn holds_out((value, size): (Value, usize), (other, than): (Value, usize)) -> bool {
    let mean = |total: u64, other: usize| u128::from(total) * other as u128;
    let order = value.max.cmp(&other.max);
    order.then(mean(value.total, than).cmp(&mean(other.total, size))).then(size.cmp(&than)).is_gt()
}

/// What the best play in the worst case needs for a set, if that can be proven.
fn needed(
    game: &Game,
    part: &[u32],
    limits: SolveLimits,
    budget: &Budget,
) -> Result<Option<Value>, Stopped> {
    let goal = Goal { objective: Objective::WorstCase, ..Goal::default() };
    match solve_set(game, part, goal, limits, &Progress::default(), budget) {
        Ok(solution) => Ok(Some(solution.tree.root().value())),
        // Either it is beyond the limits or the flag went up.
        Err(_) => budget.check().map(|()| None),
    }
}
