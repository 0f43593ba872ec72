//! One form for all histories that are the same by renaming, and the way back.

use super::{MAX_ORDERED, MAX_RENAMINGS, NAMELESS, Renaming, orders};
use crate::{
    code::Code,
    history::{History, Turn},
    rules::{MAX_ALPHABET, MAX_LENGTH, Rules},
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
    /// The new names that were given, a bit each.
    taken: u64,
}

impl Way {
    /// The new name of a code; symbols without a name get the first ones that are left, in the order of their use.
    fn follow(mut self, rules: &Rules, turn: usize, code: &Code) -> (Code, Way) {
        let mut renamed = *code;
        for (place, name) in renamed.symbols_mut().iter_mut().enumerate() {
            let symbol = code.symbols()[usize::from(self.renaming.places[place])];
            let given = &mut self.renaming.symbols[usize::from(symbol)];
            if *given == NAMELESS {
                *given = (alike(rules, symbol) & !self.taken).trailing_zeros() as u8;
                self.taken |= 1 << *given;
            }
            *name = *given;
        }
        self.used |= 1 << turn;
        (renamed, self)
    }
}

/// The symbols that a symbol may change names with, a bit each: those that may stand at the same places.
fn alike(rules: &Rules, symbol: u8) -> u64 {
    let all = u64::MAX >> (64 - rules.symbols());
    all & if rules.not_first() >> symbol & 1 == 1 { rules.not_first() } else { !rules.not_first() }
}

impl<'a> Canonical<'a> {
    /// The canonical form of a history: of all its renamings, with the turns sorted by their answers, the one whose
    /// guesses come first. Nothing for codes of more than six places, more than sixteen turns, and where too many
    /// renamings lead there.
    pub fn new(rules: &'a Rules, history: &History) -> Option<Canonical<'a>> {
        let mut turns = history.canonical().turns().to_vec();
        if rules.length() > MAX_ORDERED || turns.len() > MAX_FORMED {
            return None;
        }
        turns.sort_by_key(|turn| turn.class);
        let way = |places| {
            let renaming = Renaming { places, symbols: [NAMELESS; MAX_ALPHABET] };
            Way { renaming, used: 0, taken: 0 }
        };
        let mut ways: Vec<Way> = orders(rules).into_iter().map(way).collect();
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

    /// The history in its canonical form.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The smallest guess of the given history that stands for `guess`, a guess of the canonical form: of all that a
    /// renaming makes of it, or another choice among the symbols that are `dead` in the canonical form, a bit each,
    /// because no candidate has them.
    pub(crate) fn smallest(&self, guess: &Code, dead: u64) -> Code {
        let named = self.ways.iter().map(|way| self.back(way, guess, dead));
        named.min().expect("at least one way leads to the form")
    }

    /// The smallest guess that one of the ways makes of `guess`.
    fn back(&self, way: &Way, guess: &Code, dead: u64) -> Code {
        let rules = self.rules;
        let all = u64::MAX >> (64 - rules.symbols());
        // Old names by new ones; the old symbols that are seen, and those that no candidate has.
        let mut names = [NAMELESS; MAX_ALPHABET];
        let (mut seen, mut old_dead) = (0_u64, 0_u64);
        for (symbol, &name) in way.renaming.symbols.iter().enumerate() {
            if name != NAMELESS {
                names[usize::from(name)] = symbol as u8;
                seen |= 1 << symbol;
                old_dead |= (dead >> name & 1) << symbol;
            }
        }
        // What no turn has is all dead or all alive, of each kind.
        let unseen_dead = dead & !way.taken;
        for name in (0..64).filter(|name| unseen_dead >> name & 1 == 1) {
            old_dead |= alike(rules, name) & !seen;
        }
        let mut places = [0; MAX_LENGTH];
        for (to, &from) in way.renaming.places.iter().enumerate() {
            places[usize::from(from)] = to;
        }
        let (mut code, mut used) = (*guess, 0_u64);
        for (place, old) in code.symbols_mut().iter_mut().enumerate() {
            let name = guess.symbols()[places[place]];
            let free = all & if rules.repeats() { u64::MAX } else { !used };
            if dead >> name & 1 == 1 {
                let first = if place == 0 { !rules.not_first() } else { u64::MAX };
                *old = (old_dead & free & first).trailing_zeros() as u8;
            } else {
                let known = &mut names[usize::from(name)];
                if *known == NAMELESS {
                    *known = (alike(rules, name) & !seen & !used).trailing_zeros() as u8;
                }
                *old = *known;
            }
            used |= 1 << *old;
        }
        code
    }
}
