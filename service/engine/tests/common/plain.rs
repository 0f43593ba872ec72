//! A search that knows no shortcut: what the exact search must agree with.

#![allow(dead_code, unreachable_pub)] // each test binary uses its part

use std::collections::{BTreeMap, HashMap};

use herdsman_engine::{Class, Code, Game};

/// What sets cost, by trying every guess.
pub struct Plain<'a> {
    game: &'a Game,
    totals: HashMap<(Vec<u32>, u32), Option<u32>>,
}

impl<'a> Plain<'a> {
    pub fn new(game: &'a Game) -> Plain<'a> {
        Plain { game, totals: HashMap::new() }
    }

    /// The least total within so many guesses, if they are enough.
    pub fn total(&mut self, set: &[u32], guesses: u32) -> Option<u32> {
        if guesses == 0 || set.len() <= 1 {
            return (set.is_empty() || guesses > 0).then_some(set.len() as u32);
        }
        if let Some(&known) = self.totals.get(&(set.to_vec(), guesses)) {
            return known;
        }
        let mut best = None;
        for guess in 0..self.game.size() {
            let guess = self.game.code(guess);
            if self.parts(&guess, set).len() > 1 {
                let total = self.total_after(&guess, set, guesses);
                best = [best, total].into_iter().flatten().min();
            }
        }
        self.totals.insert((set.to_vec(), guesses), best);
        best
    }

    /// The least total within so many guesses, of which the first is this one.
    pub fn total_after(&mut self, guess: &Code, set: &[u32], guesses: u32) -> Option<u32> {
        let mut parts = self.parts(guess, set);
        parts.remove(&self.game.rules().answers().winning());
        let rest = parts.values().map(|part| self.total(part, guesses.checked_sub(1)?));
        rest.sum::<Option<u32>>().map(|rest| rest + set.len() as u32)
    }

    /// The fewest guesses that are enough.
    pub fn least_max(&mut self, set: &[u32]) -> u32 {
        (1..).find(|&guesses| self.total(set, guesses).is_some()).expect("some number is enough")
    }

    fn parts(&self, guess: &Code, set: &[u32]) -> BTreeMap<Class, Vec<u32>> {
        let mut parts: BTreeMap<Class, Vec<u32>> = BTreeMap::new();
        for &code in set {
            let class = self.game.rules().score(guess, &self.game.code(code));
            parts.entry(class).or_default().push(code);
        }
        parts
    }
}
