//! Advice that all histories of one canonical form share.
//!
//! Ties go to the smallest code, and which code is the smallest depends on the names of the symbols: so what is shared
//! is not the guesses but their kinds, each by one guess of it, and each history chooses the smallest guesses of a kind
//! under its own names.
//!
//! Shared are guesses that are proven, and the best by the heuristics where every guess is measured and few kinds are
//! equally good. Where fewer than [`scan::ALIKE_FROM`] candidates are left, the best guesses are not shared: of 6
//! candidates of 4 of 10 the best takes 2 us and the best five take 35, where the form of their history alone takes 6
//! and mostly too many kinds are equally good.

use std::collections::BTreeSet;

use super::{Advice, Choice, Pool, Strategy, Suggestion, Tie, measured, optimal, perfect, scan};
use crate::{
    budget::{Budget, Stopped},
    candidates::Candidates,
    code::Code,
    exact::{Objective, Value},
    game::Game,
    history::History,
    partition::partition,
    rules::Rules,
    symmetry::Canonical,
};

/// The most kinds of guesses that may be equally good, of which some but not all are among the best: each is some 100
/// bytes, and some microseconds to rename.
const MAX_TIED: usize = 64;

/// The best guesses for all histories of one canonical form.
#[derive(Clone, Debug)]
pub struct SharedAdvice {
    /// Guesses at the canonical form, best first: of each kind that is among the best at least one.
    kinds: Vec<Kind>,
    /// How many suggestions they are for.
    top: usize,
    /// The symbols that no candidate has, a bit each.
    dead: u64,
    candidates: usize,
    /// What the first guess needs, if that is proven by more than how it splits the candidates.
    proven: Option<Value>,
}

/// A guess that stands for all that are alike.
#[derive(Clone, Debug)]
struct Kind {
    suggestion: Suggestion,
    rank: Rank,
}

/// The first part of the score, whether the tie rule puts the guess behind, and the rest of the score.
type Rank = (u64, bool, (u32, u64));

impl SharedAdvice {
    /// Whether there is shared advice by this strategy after a history. There is none where a book has the answer: it
    /// is as quickly found, and its line is that of the history's own names.
    pub fn knows(rules: &Rules, history: &History, strategy: Strategy) -> bool {
        let in_book =
            |objective| optimal::from_book(rules, history.canonical().turns(), objective).is_some();
        match strategy.objective() {
            Some(objective) => !in_book(objective),
            None => strategy.measure().is_some(),
        }
    }

    /// The advice at a canonical form, given its candidates: the `top` best guesses. By a strategy that looks for a
    /// proof it is the proven guess alone; what is behind it, or instead of it, is advice by its rule of thumb. Nothing
    /// if it cannot be shared, or nothing is proven.
    ///
    /// # Errors
    /// [`Stopped`] if the budget's flag was raised.
    pub fn new(
        game: &Game,
        canonical: &Canonical<'_>,
        candidates: &Candidates,
        choice: &Choice,
        top: usize,
        budget: &Budget,
    ) -> Result<Option<SharedAdvice>, Stopped> {
        if let Some(objective) = choice.strategy.objective() {
            return SharedAdvice::proven(game, candidates, objective, budget);
        }
        match choice.strategy.measure() {
            Some(measure) if SharedAdvice::pays(game, candidates.len(), choice, budget) => {
                let question = scan::Question {
                    weights: None,
                    game,
                    turns: canonical.history().turns(),
                    candidates: candidates.indices(),
                    measure,
                    tie: choice.tie,
                    pool: choice.pool,
                    top: top.max(1) + MAX_TIED,
                    one_of_each: true,
                };
                SharedAdvice::ranked(&question, canonical, candidates, budget)
            }
            _ => Ok(None),
        }
    }

    /// Whether to share takes less time than to measure every guess, which must be within the budget. It is the same
    /// for all histories of one form.
    pub(super) fn pays(game: &Game, candidates: usize, choice: &Choice, budget: &Budget) -> bool {
        let guesses = match choice.pool {
            Pool::Any | Pool::Hints => u64::from(game.size()),
            Pool::Consistent => candidates as u64,
        };
        choice.strategy.measure().is_some()
            && candidates >= scan::ALIKE_FROM
            && guesses * candidates as u64 <= budget.max_scores
    }

    fn proven(
        game: &Game,
        candidates: &Candidates,
        objective: Objective,
        budget: &Budget,
    ) -> Result<Option<SharedAdvice>, Stopped> {
        let left = candidates.indices();
        if left.len() < 2 {
            return Ok(None);
        }
        let play = optimal::prove(game, left, objective, budget)?;
        let Some(play) = play else { return Ok(None) };
        let suggestion = measured(game, candidates, game.index(&play.guess), budget)?;
        Ok(Some(SharedAdvice {
            kinds: vec![Kind { suggestion, rank: Rank::default() }],
            top: 1,
            dead: scan::dead_symbols(game, left, budget)?,
            candidates: candidates.len(),
            proven: Some(play.value),
        }))
    }

    fn ranked(
        question: &scan::Question<'_>,
        canonical: &Canonical<'_>,
        candidates: &Candidates,
        budget: &Budget,
    ) -> Result<Option<SharedAdvice>, Stopped> {
        let scan::Question { game, measure, tie, .. } = *question;
        let top = question.top - MAX_TIED;
        let (guesses, _) = scan::best(question, budget)?;
        let dead = scan::dead_symbols(game, candidates.indices(), budget)?;
        // Kinds until as many guesses stand for them as are asked for, and those that are as good as the last.
        let (mut kinds, mut found): (Vec<Kind>, BTreeSet<Code>) = Default::default();
        let mut is_whole = guesses.len() < question.top;
        for guess in guesses {
            let (guess, candidate) = (game.code(guess), candidates.contains(guess));
            let parts = partition(game, candidates, &guess, budget)?;
            let sizes: Vec<u32> = parts.parts().iter().map(|&(_, n)| n).collect();
            let score = (measure.score)(&sizes, u32::from(!candidate));
            let rank = (score.first, tie == Tie::Candidate && !candidate, score.then);
            if found.len() >= top && kinds.last().is_some_and(|last| last.rank < rank) {
                is_whole = true;
                break;
            }
            found.extend(canonical.smallest(&guess, dead, top));
            let suggestion = Suggestion { guess, candidate, facts: parts.facts() };
            kinds.push(Kind { suggestion, rank });
        }
        Ok(is_whole.then(|| SharedAdvice {
            kinds,
            top,
            dead,
            candidates: candidates.len(),
            proven: None,
        }))
    }

    /// The advice under the names of one history: what [`suggest`](super::suggest) says to it, byte for byte.
    pub fn advice(&self, canonical: &Canonical<'_>) -> Advice {
        let mut suggestions: Vec<Suggestion> = vec![];
        for tied in self.kinds.chunk_by(|a, b| a.rank == b.rank) {
            let left = self.top - suggestions.len();
            let named = tied.iter().flat_map(|Kind { suggestion, .. }| {
                let guesses = canonical.smallest(&suggestion.guess, self.dead, left);
                guesses.into_iter().map(|guess| Suggestion { guess, ..*suggestion })
            });
            let mut named: Vec<Suggestion> = named.collect();
            named.sort_unstable_by_key(|suggestion| suggestion.guess);
            named.dedup_by_key(|suggestion| suggestion.guess);
            suggestions.extend(named.iter().take(left));
        }
        let proven = self.proven.or_else(|| perfect(&suggestions[0], self.candidates));
        Advice { suggestions, exhaustive: true, proven, from_book: false }
    }

    /// How many candidates are left.
    pub fn remaining(&self) -> usize {
        self.candidates
    }

    /// Bytes it takes, nearly.
    pub fn memory(&self) -> usize {
        size_of::<SharedAdvice>() + self.kinds.capacity() * size_of::<Kind>()
    }
}
