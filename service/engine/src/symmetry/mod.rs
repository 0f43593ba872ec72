//! Which guesses are the same by renaming, after a history.
//!
//! A renaming moves places and gives symbols other names. One that carries the turns of a history to themselves (a
//! turn to a turn of the same answer) and breaks no rule carries candidates to candidates, and a guess to one that
//! splits them alike. It suffices to measure one guess of those that are alike, and as ties go to the smallest code,
//! that must be the smallest. Here a guess is left out if *some* renaming makes it smaller: what it becomes is then
//! measured, or is left out for one smaller still. So any collection of renamings is sound, a bounded one too;
//! leaving some out costs time, never the answer.
//!
//! Owns the renamings of a history, its canonical form and the list of guesses. Renamings of sets of codes, where no
//! history is known, are `exact::rename`; what a renaming is, for both, is `renaming`.

mod canonical;
mod guesses;
pub(crate) mod renaming;

pub use canonical::Canonical;

use crate::{
    history::{MAX_TURNS, Turn},
    rules::Rules,
};
use renaming::{Renaming, orders};

/// Attempts to carry one turn to another: more than any history of a few turns takes, and some 0.1 ms. Turns that
/// have no symbol in common may be exchanged in any order, of which there can be far too many.
const MAX_ATTEMPTS: u32 = 1 << 14;
/// The most renamings that are kept: what six different symbols and one turn have, and some more.
const MAX_RENAMINGS: usize = 1024;

/// What may be renamed after a history.
#[derive(Debug)]
pub(crate) struct Symmetry<'a> {
    rules: &'a Rules,
    /// The symbols that occur in the turns, a bit each.
    seen: u64,
    /// Renamings that carry the history to itself, the identity left out. Symbols that no turn has are nameless: any
    /// of them may become any other.
    renamings: Vec<Renaming>,
}

impl<'a> Symmetry<'a> {
    /// The symmetry of these turns, of which there are no two alike in use.
    pub(crate) fn new(rules: &'a Rules, turns: &[Turn]) -> Symmetry<'a> {
        let symbols = || turns.iter().flat_map(|turn| turn.guess.symbols());
        let seen = symbols().fold(0, |seen, symbol| seen | 1_u64 << symbol);
        let mut search = Search { rules, turns, attempts: MAX_ATTEMPTS, found: vec![] };
        if turns.len() <= MAX_TURNS {
            for places in orders(rules, |_, _| true) {
                search.carry(0, 0, Renaming::begin(places));
            }
        }
        let mut renamings = search.found;
        renamings.retain(|renaming| !renaming.is_identity());
        Symmetry { rules, seen, renamings }
    }
}

/// Looks for names of the symbols under which an order of the places carries the turns to themselves.
struct Search<'a> {
    rules: &'a Rules,
    turns: &'a [Turn],
    attempts: u32,
    found: Vec<Renaming>,
}

impl Search<'_> {
    /// Carries the turns from number `turn` on to turns that are not `used`.
    fn carry(&mut self, turn: usize, used: u64, renaming: Renaming) {
        if turn == self.turns.len() {
            if self.found.len() < MAX_RENAMINGS {
                self.found.push(renaming);
            }
            return;
        }
        for other in 0..self.turns.len() {
            let (from, to) = (&self.turns[turn], &self.turns[other]);
            if used >> other & 1 == 1 || from.class != to.class || self.attempts == 0 {
                continue;
            }
            self.attempts -= 1;
            if let Some(renaming) = renaming.carry(self.rules, &from.guess, &to.guess) {
                self.carry(turn + 1, used | 1 << other, renaming);
            }
        }
    }
}
