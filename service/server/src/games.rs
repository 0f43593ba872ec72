//! Games and lists of candidates that were made before.
//!
//! For use inside a job only: making one is CPU work, and a thread that finds another one making the same game
//! waits for it.

use std::sync::Arc;

use herdsman_engine::{Budget, Candidates, Game, Rules, Stopped, TooLarge};
use moka::sync::Cache;

use crate::cache::{Position, weight};

/// What is dear to make and was used lately.
pub(crate) struct Games {
    games: Cache<Rules, Arc<Game>>,
    candidates: Cache<Position, Arc<Candidates>>,
    max_codes: u32,
}

impl Games {
    /// Keeps games of up to `max_codes` codes within `game_bytes`, and lists of candidates within `candidate_bytes`.
    pub(crate) fn new(max_codes: u32, game_bytes: u64, candidate_bytes: u64) -> Games {
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
}
