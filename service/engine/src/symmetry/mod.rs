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
//! history is known, are `exact::rename`.

mod canonical;
mod guesses;

pub use canonical::Canonical;

use crate::{
    history::{MAX_TURNS, Turn},
    rules::{MAX_ALPHABET, MAX_LENGTH, Rules},
};

/// Codes of up to so many places have all orders of their places tried (720); of longer ones, exchanges of two.
const MAX_ORDERED: usize = 6;
/// Attempts to carry one turn to another: more than any history of a few turns takes, and some 0.1 ms. Turns that
/// have no symbol in common may be exchanged in any order, of which there can be far too many.
const MAX_ATTEMPTS: u32 = 1 << 14;
/// The most renamings that are kept: what six different symbols and one turn have, and some more.
const MAX_RENAMINGS: usize = 1024;

/// A symbol that has no name yet.
const NAMELESS: u8 = u8::MAX;

/// Place `p` of the renamed code holds the new name of the symbol that was at `places[p]`. Symbols that no turn has
/// are nameless: any of them may become any other.
#[derive(Clone, Copy, Debug)]
struct Renaming {
    places: [u8; MAX_LENGTH],
    symbols: [u8; MAX_ALPHABET],
}

/// What may be renamed after a history.
#[derive(Debug)]
pub(crate) struct Symmetry<'a> {
    rules: &'a Rules,
    /// The symbols that occur in the turns, a bit each.
    seen: u64,
    /// Renamings that carry the history to itself, the identity left out.
    renamings: Vec<Renaming>,
}

impl<'a> Symmetry<'a> {
    /// The symmetry of these turns, of which there are no two alike in use.
    pub(crate) fn new(rules: &'a Rules, turns: &[Turn]) -> Symmetry<'a> {
        let symbols = || turns.iter().flat_map(|turn| turn.guess.symbols());
        let seen = symbols().fold(0, |seen, symbol| seen | 1_u64 << symbol);
        let mut search = Search { rules, turns, attempts: MAX_ATTEMPTS, found: vec![] };
        if turns.len() <= MAX_TURNS {
            for places in orders(rules) {
                let renaming = Renaming { places, symbols: [NAMELESS; MAX_ALPHABET] };
                search.carry(0, 0, renaming, 0);
            }
        }
        let mut renamings = search.found;
        renamings.retain(|renaming| !renaming.is_identity());
        Symmetry { rules, seen, renamings }
    }
}

impl Renaming {
    fn is_identity(&self) -> bool {
        let stays = |(to, &from): (usize, &u8)| to == usize::from(from) || from == NAMELESS;
        self.places.iter().enumerate().all(stays) && self.symbols.iter().enumerate().all(stays)
    }
}

/// The orders of the places that are tried. Where some symbol cannot stand first, the first place stays.
fn orders(rules: &Rules) -> Vec<[u8; MAX_LENGTH]> {
    let length = rules.length();
    let first = usize::from(rules.not_first() != 0);
    let mut orders = vec![std::array::from_fn(|place| place as u8)];
    for at in first..length {
        let shorter = if length <= MAX_ORDERED { orders.clone() } else { vec![orders[0]] };
        for other in at + 1..length {
            orders.extend(shorter.iter().map(|order| {
                let mut order = *order;
                order.swap(at, other);
                order
            }));
        }
    }
    orders
}

/// Looks for names of the symbols under which an order of the places carries the turns to themselves.
struct Search<'a> {
    rules: &'a Rules,
    turns: &'a [Turn],
    attempts: u32,
    found: Vec<Renaming>,
}

impl Search<'_> {
    /// Carries the turns from number `turn` on to turns that are not `used`. `taken` are the names given so far.
    fn carry(&mut self, turn: usize, used: u64, renaming: Renaming, taken: u64) {
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
            let codes = (from.guess.symbols(), to.guess.symbols());
            let (mut renaming, mut taken) = (renaming, taken);
            if self.name(&mut renaming, &mut taken, codes) {
                self.carry(turn + 1, used | 1 << other, renaming, taken);
            }
        }
    }

    /// Gives names so that one code becomes the other; tells whether that can be.
    fn name(&self, renaming: &mut Renaming, taken: &mut u64, (from, to): (&[u8], &[u8])) -> bool {
        let kind = |symbol: u8| self.rules.not_first() >> symbol & 1;
        for (&place, &name) in renaming.places.iter().zip(to) {
            let symbol = from[usize::from(place)];
            let given = &mut renaming.symbols[usize::from(symbol)];
            if *given == NAMELESS && *taken >> name & 1 == 0 && kind(symbol) == kind(name) {
                *given = name;
                *taken |= 1 << name;
            } else if *given != name {
                return false;
            }
        }
        true
    }
}
