//! One form for all histories that are the same by renaming, and the way back.

use std::collections::BTreeSet;

use super::{
    MAX_RENAMINGS,
    renaming::{MAX_ORDERED, NAMELESS, Renaming, alike, orders, symbols},
};
use crate::{
    code::Code,
    feedback::Class,
    history::{History, Turn},
    rules::{MAX_ALPHABET, Rules},
};

/// Histories of more turns have no form: they leave too few candidates for one to pay.
const MAX_FORMED: usize = 16;

/// The canonical form of a history, and every renaming that leads to it.
#[derive(Clone, Debug)]
pub struct Canonical<'a> {
    rules: &'a Rules,
    history: History,
    ways: Vec<Way>,
}

/// A way from a history to its canonical form.
#[derive(Clone, Copy, Debug)]
struct Way {
    renaming: Renaming,
    /// The turns that have their place in the form, a bit each.
    used: u64,
}

impl Way {
    /// This way, with one more turn, and the new name of its guess.
    fn follow(mut self, rules: &Rules, turn: usize, code: &Code) -> (Code, Way) {
        let renamed = self.renaming.name(rules, code);
        self.used |= 1 << turn;
        (renamed, self)
    }
}

impl<'a> Canonical<'a> {
    /// The canonical form of a history: of all its renamings, with the turns sorted by their answers, the one whose
    /// guesses come first. Nothing for codes of more than six places, more than sixteen turns, and where too many
    /// renamings lead there.
    pub fn new(rules: &'a Rules, history: &History) -> Option<Canonical<'a>> {
        Canonical::of(rules, history.canonical().turns())
    }

    /// The same of turns of which no two are alike.
    pub(crate) fn of(rules: &'a Rules, turns: &[Turn]) -> Option<Canonical<'a>> {
        if !rules.renames() || rules.length() > MAX_ORDERED || turns.len() > MAX_FORMED {
            return None;
        }
        let mut turns = turns.to_vec();
        turns.sort_by_key(|turn| turn.class);
        let way = |places| Way { renaming: Renaming::begin(places), used: 0 };
        let mut ways: Vec<Way> = orders(rules, |_, _| true).into_iter().map(way).collect();
        let mut form: Vec<Turn> = Vec::with_capacity(turns.len());
        for Turn { class, .. } in &turns {
            // Every way on, and of those only the ones by which the least code comes next.
            let mut next: Vec<(Code, Way)> = vec![];
            for way in &ways {
                for (at, turn) in turns.iter().enumerate() {
                    if turn.class == *class && way.used >> at & 1 == 0 {
                        let (code, way) = way.follow(rules, at, &turn.guess);
                        match next.first().map(|(least, _)| code.cmp(least)) {
                            Some(std::cmp::Ordering::Greater) => continue,
                            Some(std::cmp::Ordering::Less) => next.clear(),
                            _ => {}
                        }
                        next.push((code, way));
                    }
                }
            }
            if next.len() > MAX_RENAMINGS {
                return None;
            }
            form.push(Turn { guess: next[0].0, class: *class });
            ways = next.into_iter().map(|(_, way)| way).collect();
        }
        let history = History::new(form).expect("as many turns as before").canonical();
        Some(Canonical { rules, history, ways })
    }

    /// The canonical form of a history together with a guess that has no answer yet, in the same cases.
    pub fn with_guess(rules: &Rules, history: &History, guess: Code) -> Option<(History, Code)> {
        // A class that no answer has: the guess stays the guess.
        let open = Class(u32::MAX);
        let mut turns = history.canonical().turns().to_vec();
        turns.push(Turn { guess, class: open });
        let form = Canonical::of(rules, &turns)?.history;
        let (asked, turns): (Vec<Turn>, Vec<Turn>) =
            form.turns().iter().partition(|turn| turn.class == open);
        Some((History::new(turns).ok()?, asked[0].guess))
    }

    /// The history in its canonical form.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The smallest guesses of the given history that stand for `guess`, a guess of the canonical form: up to `most`,
    /// at least one. They are what the renamings make of it, with any choice among the symbols that are `dead` in the
    /// canonical form, a bit each, because no candidate has them.
    pub(crate) fn smallest(&self, guess: &Code, dead: u64, most: usize) -> BTreeSet<Code> {
        let mut smallest = Smallest { most, codes: BTreeSet::new() };
        for way in &self.ways {
            let mut code = *guess;
            Back::new(self.rules, way, guess, dead).walk(0, 0, &mut code, &mut smallest);
        }
        smallest.codes
    }
}

/// The smallest codes so far.
struct Smallest {
    most: usize,
    codes: BTreeSet<Code>,
}

impl Smallest {
    /// Offers a code; tells whether a greater one may have a place as well.
    fn offer(&mut self, code: Code) -> bool {
        if self.codes.len() == self.most && self.codes.last().is_none_or(|last| code >= *last) {
            return false;
        }
        self.codes.insert(code);
        if self.codes.len() > self.most {
            self.codes.pop_last();
        }
        true
    }
}

/// A way back from the canonical form, for one guess.
struct Back<'a> {
    rules: &'a Rules,
    /// The guess in its new names, in the order of the old places.
    guess: Code,
    /// Old names by new ones.
    names: [u8; MAX_ALPHABET],
    /// The old symbols that are seen in the turns, a bit each.
    seen: u64,
    /// The symbols that no candidate has, a bit each, by new names and by old.
    dead: u64,
    old_dead: u64,
}

impl<'a> Back<'a> {
    fn new(rules: &'a Rules, way: &Way, guess: &Code, dead: u64) -> Back<'a> {
        let (mut names, mut seen, mut old_dead) = ([NAMELESS; MAX_ALPHABET], 0, 0);
        for (symbol, &name) in way.renaming.symbols.iter().enumerate() {
            if name != NAMELESS {
                names[usize::from(name)] = symbol as u8;
                seen |= 1 << symbol;
                old_dead |= (dead >> name & 1) << symbol;
            }
        }
        // What no turn has is all dead or all alive, of each kind.
        for name in symbols(dead & !way.renaming.taken) {
            old_dead |= alike(rules, name) & !seen;
        }
        let mut placed = *guess;
        for (&symbol, &from) in guess.symbols().iter().zip(&way.renaming.places) {
            placed.symbols_mut()[usize::from(from)] = symbol;
        }
        Back { rules, guess: placed, names, seen, dead, old_dead }
    }

    /// Offers what the guess may be, in alphabet order, with the places before `place` as in `code`, until a greater
    /// one has no place; tells whether one has. `used` are the symbols of these places, a bit each.
    fn walk(&mut self, place: usize, used: u64, code: &mut Code, smallest: &mut Smallest) -> bool {
        let Some(&name) = self.guess.symbols().get(place) else { return smallest.offer(*code) };
        let known = self.names[usize::from(name)];
        let is_dead = self.dead >> name & 1 == 1;
        let mut choices = if is_dead {
            let free = if self.rules.repeats() { u64::MAX } else { !used };
            let first = if place == 0 { !self.rules.not_first() } else { u64::MAX };
            self.old_dead & free & first
        } else if known == NAMELESS {
            alike(self.rules, name) & !self.seen & !used
        } else {
            1 << known
        };
        while choices != 0 {
            let old = choices.trailing_zeros() as u8;
            choices &= choices - 1;
            code.symbols_mut()[place] = old;
            if !is_dead {
                self.names[usize::from(name)] = old;
            }
            if !self.walk(place + 1, used | 1 << old, code, smallest) {
                return false;
            }
        }
        self.names[usize::from(name)] = known;
        true
    }
}
