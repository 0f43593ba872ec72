//! Games, lists of candidates and best guesses that were made before.
//!
//! Best guesses are kept here under the canonical form of a history, so that all histories which are the same by
//! renaming share one entry; replies under the names of one history are `cache`.
//!
//! For use inside a job only: making one is CPU work, and a thread that finds another one making the same game
//! waits for it.

use std::sync::Arc;

use herdsman_engine::{
    Advice, Budget, Candidates, Canonical, Game, Rules, SharedAdvice, Stopped, TooLarge,
};
use moka::sync::Cache;

use crate::cache::{AdviceKey, Origin, Position, weight};

/// What is dear to make and was used lately.
pub(crate) struct Games {
    games: Cache<Rules, Arc<Game>>,
    candidates: Cache<Position, Arc<Candidates>>,
    /// By canonical position; nothing where advice cannot be shared.
    advice: Cache<AdviceKey, Option<Arc<SharedAdvice>>>,
    max_codes: u32,
}

impl Games {
    /// Keeps games of up to `max_codes` codes within `game_bytes`, lists of candidates within `candidate_bytes`, and
    /// best guesses within `advice_bytes`.
    pub(crate) fn new(
        max_codes: u32,
        game_bytes: u64,
        candidate_bytes: u64,
        advice_bytes: u64,
    ) -> Games {
        Games {
            games: Cache::builder()
                .max_capacity(game_bytes)
                .weigher(|_, game: &Arc<Game>| weight(game.memory()))
                .build(),
            candidates: Cache::builder()
                .max_capacity(candidate_bytes)
                .weigher(|position: &Position, list: &Arc<Candidates>| {
                    weight(position.memory() + size_of_val(list.indices()))
                })
                .build(),
            advice: Cache::builder()
                .max_capacity(advice_bytes)
                .weigher(|key: &AdviceKey, advice: &Option<Arc<SharedAdvice>>| {
                    let advice = advice.as_ref().map_or(0, |advice| advice.memory());
                    weight(size_of::<AdviceKey>() + key.position.memory() + advice)
                })
                .build(),
            max_codes,
        }
    }

    /// The game of these rules.
    ///
    /// # Errors
    /// [`TooLarge`], before anything is allocated.
    pub(crate) fn game(&self, rules: &Rules) -> Result<Arc<Game>, TooLarge> {
        let make = || Game::new(rules.clone(), self.max_codes).map(Arc::new);
        self.games.try_get_with_by_ref(rules, make).map_err(|error| *error)
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

    /// The best guess after a history, the number of candidates, and where that came from; nothing where it is not
    /// shared with the histories that are the same by renaming.
    ///
    /// # Errors
    /// [`Stopped`] if the caller left.
    pub(crate) fn advice(
        &self,
        game: &Game,
        key: &AdviceKey,
        budget: &Budget,
    ) -> Result<Option<(Advice, usize, Origin)>, Stopped> {
        if key.top > 1 || !SharedAdvice::knows(key.choice.strategy) {
            return Ok(None);
        }
        let Some(canonical) = Canonical::new(game.rules(), &key.position.history) else {
            return Ok(None);
        };
        let position = Position::new(key.position.rules.clone(), canonical.history());
        let key = AdviceKey { position, ..key.clone() };
        let (shared, origin) = match self.advice.get(&key) {
            Some(shared) => (shared, Origin::Cache),
            None => {
                let candidates = self.candidates(game, &key.position, budget)?;
                let shared = SharedAdvice::new(game, &canonical, &candidates, &key.choice, budget)?;
                let shared = shared.map(Arc::new);
                self.advice.insert(key, shared.clone());
                (shared, Origin::Computed)
            }
        };
        Ok(shared.map(|shared| (shared.advice(&canonical), shared.remaining(), origin)))
    }
}
