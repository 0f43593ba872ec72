//! Which guesses a symmetry of the set exchanges: one of them stands for all.

use super::{
    guesses::Guesses,
    rename::{ABSENT, Look, Renamer, Renaming},
};
use crate::{
    budget::{Budget, Stopped},
    rules::MAX_LENGTH,
};

/// Orders of the positions that are tried: all of them for codes of up to six symbols. Leaving some out costs time,
/// never the answer.
const MAX_ORDERS: usize = 720;

impl Renamer<'_> {
    /// Renamings that carry the set to itself, the identity left out: enough of them to join most guesses that are
    /// alike. Each was checked against every code.
    pub(super) fn automorphisms(
        &self,
        set: &[u32],
        budget: &Budget,
    ) -> Result<Vec<Renaming>, Stopped> {
        let codes = self.codes(set);
        let look = self.look(&codes);
        let mut member = vec![false; self.game.size() as usize];
        set.iter().for_each(|&index| member[index as usize] = true);
        let fixes = |renaming: &Renaming| {
            codes.iter().all(|code| member[self.game.index(&renaming.apply(code)) as usize])
        };
        let mut kept = vec![];
        for swap in self.swaps(&look) {
            budget.check()?;
            if fixes(&swap) {
                kept.push(swap);
            }
        }
        // Where exchanges of two positions join some of them, every order of these is made of such exchanges.
        let mut joined: [u8; MAX_LENGTH] = Renaming::IDENTITY.places;
        for places in self.orders(&look) {
            budget.check()?;
            let made =
                (0..).zip(&places).all(|(from, &to)| joined[from] == joined[usize::from(to)]);
            if let Some(renaming) = self.matching(&look, places).filter(|_| !made)
                && fixes(&renaming)
            {
                kept.push(renaming);
                if let Some([a, b]) = exchange(&places) {
                    let (old, new) = (joined[a], joined[b]);
                    joined.iter_mut().filter(|group| **group == old).for_each(|group| *group = new);
                }
            }
        }
        Ok(kept)
    }

    /// Exchanges of two symbols that look alike: each with the next, which makes all orders of them.
    fn swaps(&self, look: &Look) -> Vec<Renaming> {
        let present = |&symbol: &usize| look.symbols[symbol] != ABSENT;
        let mut swaps = vec![];
        for a in (0..self.symbols).filter(present) {
            let alike = |&b: &usize| {
                self.kind(a) == self.kind(b) && look.rows(self.symbols).all(|row| row[a] == row[b])
            };
            if let Some(b) = (a + 1..self.symbols).find(alike) {
                let mut swap = Renaming::IDENTITY;
                swap.symbols.swap(a, b);
                swaps.push(swap);
            }
        }
        swaps
    }

    /// Orders of the positions in which each looks like the one whose place it takes, the identity left out: exchanges
    /// of two first.
    fn orders(&self, look: &Look) -> Vec<[u8; MAX_LENGTH]> {
        let mut orders = vec![Renaming::IDENTITY.places];
        for at in self.first_movable()..self.length {
            let mut longer = vec![];
            for order in &orders {
                for other in at..self.length {
                    let mut order = *order;
                    order.swap(at, other);
                    if look.places[at] == look.places[usize::from(order[at])] {
                        longer.push(order);
                    }
                }
            }
            longer.truncate(MAX_ORDERS);
            orders = longer;
        }
        orders.retain(|order| *order != Renaming::IDENTITY.places);
        orders.sort_by_key(|order| exchange(order).is_none());
        orders
    }

    /// The renaming that moves the positions as told and each symbol to the first that looks the same there.
    fn matching(&self, look: &Look, places: [u8; MAX_LENGTH]) -> Option<Renaming> {
        let mut symbols = Renaming::IDENTITY.symbols;
        let mut taken = 0_u64;
        for a in 0..self.symbols {
            let same = |&b: &usize| {
                let alike = |(row, &to): (&[u64], &u8)| row[a] == look.cell(self.symbols, to, b);
                taken >> b & 1 == 0
                    && self.kind(a) == self.kind(b)
                    && look.rows(self.symbols).zip(&places).all(alike)
            };
            let b = (0..self.symbols).find(same)?;
            taken |= 1 << b;
            symbols[a] = b as u8;
        }
        Some(Renaming { places, symbols })
    }
}

/// Tells of the guesses of a set, one after the other, whether a symmetry carries an earlier one to them.
pub(super) struct Orbits<'a> {
    renamer: &'a Renamer<'a>,
    guesses: &'a Guesses,
    /// Renamings that carry the set to itself; where there are none, every guess is new.
    renamings: Vec<Renaming>,
    seen: Vec<bool>,
}

impl<'a> Orbits<'a> {
    pub(super) fn new(
        renamer: &'a Renamer<'a>,
        guesses: &'a Guesses,
        renamings: Vec<Renaming>,
    ) -> Orbits<'a> {
        let seen = vec![false; if renamings.is_empty() { 0 } else { guesses.list.len() }];
        Orbits { renamer, guesses, renamings, seen }
    }

    /// Whether the guess at this place of the list is like none before. All that are like it are not new any more.
    pub(super) fn is_new(&mut self, place: u32, budget: &Budget) -> Result<bool, Stopped> {
        if self.renamings.is_empty() {
            return Ok(true);
        }
        if self.seen[place as usize] {
            return Ok(false);
        }
        let game = self.renamer.game;
        self.seen[place as usize] = true;
        let mut open = vec![place];
        while let Some(place) = open.pop() {
            budget.check()?;
            let code = game.code(self.guesses.list[place as usize]);
            for renaming in &self.renamings {
                let mut image = renaming.apply(&code);
                self.guesses.normalise(&mut image);
                let image = self.guesses.place(game.index(&image));
                if !std::mem::replace(&mut self.seen[image as usize], true) {
                    open.push(image);
                }
            }
        }
        Ok(true)
    }
}

/// The two positions that an order exchanges, if that is all it does.
fn exchange(places: &[u8; MAX_LENGTH]) -> Option<[usize; 2]> {
    let mut moved = (0..MAX_LENGTH).filter(|&at| usize::from(places[at]) != at);
    let both = [moved.next()?, moved.next()?];
    moved.next().is_none().then_some(both)
}
