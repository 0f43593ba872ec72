//! Which guesses a symmetry of the set exchanges: one of them stands for all.

use super::{
    guesses::Guesses,
    rename::{ABSENT, Look, Renamer},
};
use crate::{
    budget::{Budget, Stopped},
    symmetry::renaming::{Order, Renaming, alike, orders, symbols},
};

impl Renamer<'_> {
    /// Renamings that carry the set to itself, the identity left out: enough of them to join most guesses that are
    /// alike. Each was checked against every code.
    pub(super) fn automorphisms(
        &self,
        set: &[u32],
        budget: &Budget,
    ) -> Result<Vec<Renaming>, Stopped> {
        if self.is_fixed() {
            return Ok(vec![]);
        }
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
        let mut joined = Renaming::IDENTITY.places;
        let looks = |at: usize, from: usize| look.places[at] == look.places[from];
        let mut orders = orders(self.game.rules(), looks);
        orders.sort_by_key(|order| exchange(order).is_none());
        for places in orders {
            budget.check()?;
            let made =
                (0..).zip(&places).all(|(to, &from)| joined[to] == joined[usize::from(from)]);
            if !made
                && let Some(renaming) = self.matching(&look, places)
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
        let mut swaps = vec![];
        for a in (0..self.symbols).filter(|&symbol| look.symbols[symbol] != ABSENT) {
            let mut later = symbols(alike(self.game.rules(), a as u8) & u64::MAX << a << 1);
            let same = |&b: &u8| look.rows(self.symbols).all(|row| row[a] == row[usize::from(b)]);
            if let Some(b) = later.find(same) {
                let mut swap = Renaming::IDENTITY;
                swap.symbols.swap(a, usize::from(b));
                swaps.push(swap);
            }
        }
        swaps
    }

    /// The renaming that moves the positions as told and each symbol to the first that looks the same there.
    fn matching(&self, look: &Look, places: Order) -> Option<Renaming> {
        let mut renaming = Renaming { places, ..Renaming::IDENTITY };
        let mut taken = 0_u64;
        for a in 0..self.symbols {
            let same = |&b: &u8| {
                let pair = |(row, &from): (&[u64], &u8)| {
                    row[usize::from(b)] == look.cell(self.symbols, from, a)
                };
                look.rows(self.symbols).zip(&places).all(pair)
            };
            let b = symbols(alike(self.game.rules(), a as u8) & !taken).find(same)?;
            taken |= 1 << b;
            renaming.symbols[a] = b;
        }
        Some(renaming)
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
fn exchange(places: &Order) -> Option<[usize; 2]> {
    let mut moved = (0..places.len()).filter(|&at| usize::from(places[at]) != at);
    let both = [moved.next()?, moved.next()?];
    moved.next().is_none().then_some(both)
}
