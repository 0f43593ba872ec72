//! Renamings of places and symbols: what may change names, and names that are given as they are needed.
//!
//! Owns the notion; which renamings matter is for those who look for them: `symmetry` for histories, `exact` for sets
//! of codes, `book` for positions of a tree.

use std::{iter, ops::Range};

use crate::{
    code::Code,
    feedback::FeedbackRule,
    rules::{MAX_ALPHABET, MAX_LENGTH, Rules},
};

/// Codes of up to so many places have all orders of their places tried (720); of longer ones, exchanges of two.
pub(crate) const MAX_ORDERED: usize = 6;

/// A symbol that has no name yet.
pub(crate) const NAMELESS: u8 = u8::MAX;

/// An order of the places: what stands at place `p` comes from place `order[p]`.
pub(crate) type Order = [u8; MAX_LENGTH];

/// A renaming, whole or begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Renaming {
    /// Place `p` of the renamed code holds the new name of the symbol that was at `places[p]`.
    pub(crate) places: Order,
    /// The new name of each symbol, or [`NAMELESS`].
    pub(crate) symbols: [u8; MAX_ALPHABET],
    /// The names that are given, a bit each.
    pub(crate) taken: u64,
}

impl Renaming {
    /// The renaming that changes nothing.
    pub(crate) const IDENTITY: Renaming = {
        let mut identity =
            Renaming { places: [0; MAX_LENGTH], symbols: [0; MAX_ALPHABET], taken: u64::MAX };
        let mut at = 0;
        while at < MAX_ALPHABET {
            identity.symbols[at] = at as u8;
            if at < MAX_LENGTH {
                identity.places[at] = at as u8;
            }
            at += 1;
        }
        identity
    };

    /// The places in this order, and no symbol named.
    pub(crate) fn begin(places: Order) -> Renaming {
        Renaming { places, symbols: [NAMELESS; MAX_ALPHABET], taken: 0 }
    }

    /// Whether all that is named stays what and where it is.
    pub(crate) fn is_identity(&self) -> bool {
        let stays = |(to, &from): (usize, &u8)| to == usize::from(from) || from == NAMELESS;
        self.places.iter().enumerate().all(stays) && self.symbols.iter().enumerate().all(stays)
    }

    /// The new name of a code whose symbols all have one.
    pub(crate) fn apply(&self, code: &Code) -> Code {
        let mut renamed = *code;
        for (name, &from) in renamed.symbols_mut().iter_mut().zip(&self.places) {
            *name = self.symbols[usize::from(code.symbols()[usize::from(from)])];
        }
        renamed
    }

    /// The new name of a code. Symbols without a name get the first ones that are left, in the order of their use.
    pub(crate) fn name(&mut self, rules: &Rules, code: &Code) -> Code {
        let mut renamed = *code;
        for (name, &from) in renamed.symbols_mut().iter_mut().zip(&self.places) {
            let symbol = code.symbols()[usize::from(from)];
            let given = &mut self.symbols[usize::from(symbol)];
            if *given == NAMELESS {
                *given = (alike(rules, symbol) & !self.taken).trailing_zeros() as u8;
                self.taken |= 1 << *given;
            }
            *name = *given;
        }
        renamed
    }

    /// This renaming with the names that make the one code the other; nothing if that cannot be.
    pub(crate) fn carry(mut self, rules: &Rules, code: &Code, to: &Code) -> Option<Renaming> {
        for (&from, &name) in self.places.iter().zip(to.symbols()) {
            let symbol = code.symbols()[usize::from(from)];
            let given = &mut self.symbols[usize::from(symbol)];
            if *given == NAMELESS && alike(rules, symbol) & !self.taken & 1 << name != 0 {
                *given = name;
                self.taken |= 1 << name;
            } else if *given != name {
                return None;
            }
        }
        Some(self)
    }

    /// The renaming that takes this one, which is whole, back.
    pub(crate) fn inverse(&self) -> Renaming {
        let mut inverse = Renaming::IDENTITY;
        for (to, &from) in (0..).zip(&self.places) {
            inverse.places[usize::from(from)] = to;
        }
        for (symbol, &name) in (0..).zip(&self.symbols) {
            inverse.symbols[usize::from(name)] = symbol;
        }
        inverse
    }
}

/// The symbols that may stand first and those that may not, a bit each: names change within a kind only.
pub(crate) fn kinds(rules: &Rules) -> [u64; 2] {
    [u64::MAX >> (64 - rules.symbols()) & !rules.not_first(), rules.not_first()]
}

/// The symbols that a symbol may change names with, a bit each.
pub(crate) fn alike(rules: &Rules, symbol: u8) -> u64 {
    kinds(rules)[(rules.not_first() >> symbol & 1) as usize]
}

/// The symbols of a set of bits, ascending.
pub(crate) fn symbols(mut set: u64) -> impl Iterator<Item = u8> {
    iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as u8);
        set &= set.wrapping_sub(1);
        first
    })
}

/// The places that may move: where some symbol cannot stand first, the first place stays; and where each place has a mark,
/// all do, as marks go from left to right.
pub(crate) fn movable(rules: &Rules) -> Range<usize> {
    let length = rules.length();
    match rules.feedback() {
        FeedbackRule::Marks => length..length,
        _ => usize::from(rules.not_first() != 0)..length,
    }
}

/// The orders of the places that are tried, the identity first, if each place may take what `fits` says of the place
/// and the one that it comes from. What fits must be an equivalence.
pub(crate) fn orders(rules: &Rules, fits: impl Fn(usize, usize) -> bool) -> Vec<Order> {
    let all = rules.length() <= MAX_ORDERED;
    let mut orders = vec![Renaming::IDENTITY.places];
    for at in movable(rules) {
        let mut longer = vec![];
        for order in &orders {
            let changes = all || *order == Renaming::IDENTITY.places;
            for other in at..if changes { rules.length() } else { at + 1 } {
                let mut order = *order;
                order.swap(at, other);
                if fits(at, usize::from(order[at])) {
                    longer.push(order);
                }
            }
        }
        orders = longer;
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CodeSpec;

    #[track_caller]
    fn check(length: i32, not_first: &str, count: usize) {
        let (alphabet, not_first) = ("012345".into(), not_first.into());
        let spec = CodeSpec { alphabet, length, repeats: true, not_first };
        let rules = Rules::codes(&spec, FeedbackRule::Pegs).unwrap();
        let mut orders = orders(&rules, |_, _| true);
        assert_eq!(orders[0], Renaming::IDENTITY.places);
        orders.sort_unstable();
        orders.dedup();
        assert_eq!(orders.len(), count);
    }

    #[test]
    fn short_codes_have_all_orders_and_long_ones_exchanges() {
        check(1, "", 1);
        check(4, "", 24);
        check(4, "0", 6);
        check(6, "", 720);
        check(7, "", 1 + 7 * 6 / 2);
        check(12, "0", 1 + 11 * 10 / 2);
    }
}
