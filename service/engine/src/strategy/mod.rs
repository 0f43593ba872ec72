//! How the next guess is chosen: one strategy per file.
//!
//! Owns names, tie rules and the choice. Measuring guesses is `scan`; what a strategy minimises is its file.

mod entropy;
mod expected_size;
mod first_consistent;
mod minimax;
mod most_parts;
mod random_consistent;
mod scan;

use std::collections::BinaryHeap;

use crate::{
    budget::{Budget, Stopped},
    candidates::Candidates,
    code::Code,
    game::Game,
    partition::{Facts, partition},
};

/// How the next guess is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The smallest largest class.
    #[default]
    Minimax,
    /// The least sum of squares of the classes.
    ExpectedSize,
    /// The most information.
    Entropy,
    /// The most classes that are not empty.
    MostParts,
    /// The first candidate in alphabet order.
    FirstConsistent,
    /// Any candidate, by the seed.
    RandomConsistent,
}

/// Which of several guesses of equal score is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tie {
    /// The smallest code.
    Any,
    /// A guess that could be the secret first, then the smallest code.
    #[default]
    Candidate,
}

/// Which guesses are considered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pool {
    /// Every guess that the rules allow.
    #[default]
    Any,
    /// Only guesses that could be the secret.
    Consistent,
}

/// A strategy with its options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Choice {
    /// How the guess is chosen.
    pub strategy: Strategy,
    /// What decides between equal scores.
    pub tie: Tie,
    /// Which guesses are considered.
    pub pool: Pool,
    /// What [`Strategy::RandomConsistent`] draws by.
    pub seed: u64,
}

/// The best guesses to make next.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The guesses, best first: at least one.
    pub suggestions: Vec<Suggestion>,
    /// Whether every guess of the pool was measured against every candidate.
    pub exhaustive: bool,
    /// Whether no play needs fewer guesses than the first suggestion, on average or in the worst case: it could
    /// be the secret and tells every other candidate apart.
    pub proven: bool,
}

/// A guess and what speaks for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suggestion {
    /// The guess.
    pub guess: Code,
    /// Whether it could be the secret.
    pub candidate: bool,
    /// How it splits the candidates.
    pub facts: Facts,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 6] = [
        Strategy::Minimax,
        Strategy::ExpectedSize,
        Strategy::Entropy,
        Strategy::MostParts,
        Strategy::FirstConsistent,
        Strategy::RandomConsistent,
    ];

    /// The name in text: `expected_size`.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Minimax => "minimax",
            Strategy::ExpectedSize => "expected_size",
            Strategy::Entropy => "entropy",
            Strategy::MostParts => "most_parts",
            Strategy::FirstConsistent => "first_consistent",
            Strategy::RandomConsistent => "random_consistent",
        }
    }

    /// What it does, and its source.
    pub fn description(self) -> &'static str {
        match self {
            Strategy::Minimax => minimax::DESCRIPTION,
            Strategy::ExpectedSize => expected_size::DESCRIPTION,
            Strategy::Entropy => entropy::DESCRIPTION,
            Strategy::MostParts => most_parts::DESCRIPTION,
            Strategy::FirstConsistent => first_consistent::DESCRIPTION,
            Strategy::RandomConsistent => random_consistent::DESCRIPTION,
        }
    }

    /// The options of a [`Choice`] that it heeds: `tie`, `pool`, `seed`.
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Strategy::FirstConsistent => &[],
            Strategy::RandomConsistent => &["seed"],
            _ => &["tie", "pool"],
        }
    }
}

/// The best guesses by a strategy: `top` of them, or as many as there are.
///
/// The order is part of the contract: by score, then by the tie rule. A single candidate is the only suggestion,
/// whatever the strategy. The first guess always tells some candidates apart, so that every game ends.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
///
/// # Panics
/// If there is no candidate: that is a contradiction, which the caller reports.
pub fn suggest(
    game: &Game,
    candidates: &Candidates,
    choice: &Choice,
    top: usize,
    budget: &Budget,
) -> Result<Advice, Stopped> {
    assert!(!candidates.is_empty(), "a contradictory history has no next guess");
    let ranked = rank(game, candidates.indices(), choice, top.max(1), budget)?;
    let mut suggestions = Vec::with_capacity(ranked.guesses.len());
    for index in ranked.guesses {
        let guess = game.code(index);
        let facts = partition(game, candidates, &guess, budget)?.facts();
        suggestions.push(Suggestion { guess, candidate: candidates.contains(index), facts });
    }
    let first = &suggestions[0];
    let proven = first.candidate && first.facts.classes as usize == candidates.len();
    Ok(Advice { exhaustive: ranked.exhaustive, proven, suggestions })
}

/// Guesses in order of preference.
pub(crate) struct Ranked {
    pub(crate) guesses: Vec<u32>,
    pub(crate) exhaustive: bool,
}

/// The numbers of the best guesses, best first: the choice without its reasons.
pub(crate) fn rank(
    game: &Game,
    candidates: &[u32],
    choice: &Choice,
    top: usize,
    budget: &Budget,
) -> Result<Ranked, Stopped> {
    let all = |guesses| Ok(Ranked { guesses, exhaustive: true });
    if candidates.len() == 1 {
        return all(candidates.to_vec());
    }
    let add = match choice.strategy {
        Strategy::FirstConsistent => return all(first_consistent::choose(candidates, top)),
        Strategy::RandomConsistent => {
            return all(random_consistent::choose(candidates, choice.seed, top));
        }
        Strategy::Minimax => minimax::add,
        Strategy::ExpectedSize => expected_size::add,
        Strategy::Entropy => entropy::add,
        Strategy::MostParts => most_parts::add,
    };
    let plan = scan::Plan::new(game, candidates, choice.pool, budget.max_scores);
    let mut best = Best { keys: BinaryHeap::with_capacity(top + 1), top };
    scan::scan(game, &plan, add, budget, |cost, guess, candidate| {
        best.offer((cost, choice.tie == Tie::Candidate && !candidate, guess));
    })?;
    let guesses = best.keys.into_sorted_vec().into_iter().map(|(_, _, guess)| guess).collect();
    Ok(Ranked { guesses, exhaustive: plan.exhaustive })
}

/// The least keys seen so far.
struct Best {
    /// Cost, whether the tie rule puts it behind, number of the code.
    keys: BinaryHeap<(u64, bool, u32)>,
    top: usize,
}

impl Best {
    fn offer(&mut self, key: (u64, bool, u32)) {
        if self.keys.len() < self.top {
            self.keys.push(key);
        } else if let Some(mut worst) = self.keys.peek_mut()
            && key < *worst
        {
            *worst = key;
        }
    }
}
