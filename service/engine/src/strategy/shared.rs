//! Advice that all histories of one canonical form share.
//!
//! Ties go to the smallest code, and which code is the smallest depends on the names of the symbols: so what is shared
//! is not the guess but all guesses that are equally good, one of each kind, and each history chooses among them under
//! its own names. Only the best guess of the heuristics is shared, only where every guess is measured, and only where
//! few kinds of guesses are equally good. Where that is not so, few candidates are left, and the advice is quickly had.

use super::{Advice, Choice, Pool, Strategy, Suggestion, measured, perfect, scan};
use crate::{
    budget::{Budget, Stopped},
    candidates::Candidates,
    game::Game,
    symmetry::Canonical,
};

/// The most kinds of guesses that may be equally good: each is some 100 bytes, and some microseconds to rename.
const MAX_TIED: usize = 16;

/// The best guess for all histories of one canonical form.
#[derive(Clone, Debug)]
pub struct SharedAdvice {
    /// Guesses at the canonical form that are equally good: of each kind at least one.
    tied: Vec<Suggestion>,
    /// The symbols that no candidate of the canonical form has, a bit each.
    dead: u64,
    candidates: usize,
}

impl SharedAdvice {
    /// Whether there is shared advice by this strategy.
    pub fn knows(strategy: Strategy) -> bool {
        strategy.measure().is_some()
    }

    /// The advice at a canonical form, given its candidates; nothing if it cannot be shared.
    ///
    /// # Errors
    /// [`Stopped`] if the budget's flag was raised.
    pub fn new(
        game: &Game,
        canonical: &Canonical<'_>,
        candidates: &Candidates,
        choice: &Choice,
        budget: &Budget,
    ) -> Result<Option<SharedAdvice>, Stopped> {
        let Choice { tie, pool, .. } = *choice;
        let guesses = match pool {
            Pool::Any => u64::from(game.size()),
            Pool::Consistent => candidates.len() as u64,
        };
        let all = guesses * candidates.len() as u64 <= budget.max_scores;
        let Some(measure) = choice.strategy.measure() else { return Ok(None) };
        if candidates.len() < scan::ALIKE_FROM || !all {
            return Ok(None);
        }
        let question = scan::Question {
            game,
            turns: canonical.history().turns(),
            candidates: candidates.indices(),
            measure,
            tie,
            pool,
            top: MAX_TIED + 1,
            one_of_each: true,
        };
        let tied = scan::ties(&question, budget)?;
        if tied.len() > MAX_TIED {
            return Ok(None);
        }
        let tied = tied.into_iter().map(|guess| measured(game, candidates, guess, budget));
        Ok(Some(SharedAdvice {
            tied: tied.collect::<Result<_, _>>()?,
            dead: scan::dead_symbols(game, candidates.indices()),
            candidates: candidates.len(),
        }))
    }

    /// The advice under the names of one history: what [`suggest`](super::suggest) says to it, byte for byte.
    pub fn advice(&self, canonical: &Canonical<'_>) -> Advice {
        let renamed = self.tied.iter().map(|suggestion| {
            let guess = canonical.smallest(&suggestion.guess, self.dead);
            Suggestion { guess, ..*suggestion }
        });
        let best = renamed.min_by_key(|suggestion| suggestion.guess).expect("some guess is best");
        let proven = perfect(&best, self.candidates);
        Advice { suggestions: vec![best], exhaustive: true, proven, from_book: false }
    }

    /// How many candidates are left.
    pub fn remaining(&self) -> usize {
        self.candidates
    }

    /// Bytes it takes, nearly.
    pub fn memory(&self) -> usize {
        size_of::<SharedAdvice>() + size_of_val(self.tied.as_slice())
    }
}
