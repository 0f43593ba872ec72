//! Games, lists of candidates, best guesses and analyses that were made before.
//!
//! Best guesses and analyses are kept here under canonical forms, so that all histories which are the same by renaming
//! share one entry; replies under the names of one history are `cache`.
//!
//! For use inside a job only: making one is CPU work, and a thread that finds another one making the same game
//! waits for it.

use std::sync::Arc;

use herdsman_engine::{
    Advice, Budget, Candidates, Canonical, Choice, Game, Partition, Rules, SharedAdvice, Stopped,
    TooLarge, suggest,
};

use crate::{
    cache::{AdviceKey, AnalysisKey, Counts, Kept, Origin, Position},
    config::Config,
    dictionaries::Dictionaries,
};

/// Advice, the number of candidates, and where both came from.
pub(crate) type Told = (Advice, usize, Origin);

/// What a guess is worth, under whatever names.
pub(crate) struct Analysis {
    /// How it splits the candidates.
    pub(crate) partition: Partition,
    /// Whether it could be the secret.
    pub(crate) candidate: bool,
    /// How many guesses more than the best play it takes, over all candidates, where that was asked and proven.
    pub(crate) cost: Option<u64>,
}

/// What is dear to make and was used lately.
pub(crate) struct Games {
    games: Kept<Rules, Arc<Game>>,
    candidates: Kept<Position, Arc<Candidates>>,
    /// By canonical position; nothing where advice cannot be shared.
    advice: Kept<AdviceKey, Option<Arc<SharedAdvice>>>,
    /// By canonical position and guess.
    analyses: Kept<AnalysisKey, Arc<Analysis>>,
    max_codes: u32,
}

impl Games {
    /// Keeps games and lists of candidates within the settings, and best guesses and analyses within `answer_bytes`. In what
    /// these are kept under, the words of a dictionary weigh nothing, as they are held once for all.
    pub(crate) fn new(
        config: &Config,
        answer_bytes: u64,
        dictionaries: &Arc<Dictionaries>,
    ) -> Games {
        let position_bytes = || {
            let dictionaries = Arc::clone(dictionaries);
            move |position: &Position| position.memory(&dictionaries)
        };
        let of_candidates = position_bytes();
        let of_advice = position_bytes();
        let of_analyses = position_bytes();
        Games {
            games: Kept::new(config.game_cache_bytes, |_, game: &Arc<Game>| game.memory()),
            candidates: Kept::new(
                config.candidate_cache_bytes,
                move |position, list: &Arc<Candidates>| {
                    of_candidates(position) + size_of_val(list.indices())
                },
            ),
            advice: Kept::new(
                answer_bytes / 2,
                move |key: &AdviceKey, advice: &Option<Arc<SharedAdvice>>| {
                    let advice = advice.as_ref().map_or(0, |advice| advice.memory());
                    size_of::<AdviceKey>() + of_advice(&key.position) + advice
                },
            ),
            analyses: Kept::new(
                answer_bytes / 2,
                move |key: &AnalysisKey, analysis: &Arc<Analysis>| {
                    let parts = size_of_val(analysis.partition.parts());
                    size_of::<(AnalysisKey, Analysis)>() + of_analyses(&key.position) + parts
                },
            ),
            max_codes: config.max_codes,
        }
    }

    /// The game of these rules.
    ///
    /// # Errors
    /// [`TooLarge`], before anything is allocated.
    pub(crate) fn game(&self, rules: &Rules) -> Result<Arc<Game>, TooLarge> {
        let make = || Game::new(rules.clone(), self.max_codes).map(Arc::new);
        self.games.get_or_make(rules, make)
    }

    /// What was asked of each cache, by its name.
    pub(crate) fn counts(&self) -> [(&'static str, Counts); 4] {
        [
            ("games", self.games.counts()),
            ("candidates", self.candidates.counts()),
            ("shared_advice", self.advice.counts()),
            ("shared_analyses", self.analyses.counts()),
        ]
    }

    /// The codes of a game that agree with a history.
    ///
    /// # Errors
    /// [`Stopped`] if the caller left.
    pub(crate) fn candidates(
        &self,
        game: &Game,
        position: &Position,
        budget: &Budget,
    ) -> Result<Arc<Candidates>, Stopped> {
        if let Some(candidates) = self.candidates.get(position) {
            return Ok(candidates);
        }
        let candidates = Arc::new(game.candidates(&position.history, budget)?);
        self.candidates.insert(position.clone(), Arc::clone(&candidates));
        Ok(candidates)
    }

    /// What to guess after a history; nothing if no code agrees with it. It is what the engine's `suggest` says, put
    /// together of what histories that are the same by renaming were told before, where that is shared.
    ///
    /// # Errors
    /// [`Stopped`] if the caller left.
    pub(crate) fn advice(
        &self,
        game: &Game,
        key: &AdviceKey,
        budget: &Budget,
    ) -> Result<Option<Told>, Stopped> {
        let (rules, history) = (game.rules(), &key.position.history);
        let knows = SharedAdvice::knows(rules, history, key.choice.strategy);
        let form = knows.then(|| Canonical::new(rules, history)).flatten();
        let Some(form) = form else { return self.fresh(game, key, budget) };
        let rule = Choice { strategy: key.choice.strategy.rule_of_thumb(), ..key.choice };
        let mut proven = None;
        if rule != key.choice {
            let first = AdviceKey { top: 1, ..key.clone() };
            proven = self.shared(game, &form, first, budget)?;
            if key.top == 1 && proven.is_some() {
                return Ok(proven);
            }
        }
        let key = AdviceKey { choice: rule, ..key.clone() };
        let others = match self.shared(game, &form, key.clone(), budget)? {
            Some(others) => Some(others),
            None => self.fresh(game, &key, budget)?,
        };
        Ok(others.map(|(others, remaining, origin)| match proven {
            Some((best, _, kept)) => {
                // From the cache only if both are.
                let origin = if kept == Origin::Cache { origin } else { kept };
                (best.ahead_of(others, key.top), remaining, origin)
            }
            None => (others, remaining, origin),
        }))
    }

    /// What a history is told that shares nothing.
    fn fresh(
        &self,
        game: &Game,
        key: &AdviceKey,
        budget: &Budget,
    ) -> Result<Option<Told>, Stopped> {
        let AdviceKey { position, choice, top, .. } = key;
        let candidates = self.candidates(game, position, budget)?;
        if candidates.is_empty() {
            return Ok(None);
        }
        let advice = suggest(game, &position.history, &candidates, choice, *top, budget)?;
        Ok(Some((advice, candidates.len(), Origin::Computed)))
    }

    /// What is shared by all histories of a canonical form, in the names of the one that it is the form of.
    fn shared(
        &self,
        game: &Game,
        form: &Canonical<'_>,
        key: AdviceKey,
        budget: &Budget,
    ) -> Result<Option<Told>, Stopped> {
        let position = Position::new(key.position.rules, form.history());
        let key = AdviceKey { position, ..key };
        let (shared, origin) = match self.advice.get(&key) {
            Some(shared) => (shared, Origin::Cache),
            None => {
                let left = self.candidates(game, &key.position, budget)?;
                let shared = SharedAdvice::new(game, form, &left, &key.choice, key.top, budget)?;
                let shared = shared.map(Arc::new);
                self.advice.insert(key, shared.clone());
                (shared, Origin::Computed)
            }
        };
        Ok(shared.map(|shared| (shared.advice(form), shared.remaining(), origin)))
    }

    /// What a guess is worth by `analyze`, which is asked under the canonical form: to find that takes some 10 us, no
    /// more than to count what is left, and what a guess costs takes up to a second.
    ///
    /// # Errors
    /// What `analyze` failed with.
    pub(crate) fn analysis<E>(
        &self,
        key: &AnalysisKey,
        analyze: impl FnOnce(&AnalysisKey) -> Result<Analysis, E>,
    ) -> Result<Arc<Analysis>, E> {
        let key = key.form();
        if let Some(analysis) = self.analyses.get(&key) {
            return Ok(analysis);
        }
        let analysis = Arc::new(analyze(&key)?);
        self.analyses.insert(key, Arc::clone(&analysis));
        Ok(analysis)
    }
}
