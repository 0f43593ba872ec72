//! Finds a position in a book under other names and in another order of turns.

use crate::{
    code::Code,
    exact::{Node, Tree, Value},
    history::Turn,
    rules::{MAX_ALPHABET, MAX_LENGTH, Rules},
};

/// Orders of the positions that are tried: all of those of codes of up to six symbols.
const MAX_ORDERS: usize = 720;
const NONE: u8 = u8::MAX;

/// A way to read the caller's codes as the book's: position `p` of the caller is position `places[p]` of the book.
#[derive(Clone, Copy)]
struct Names {
    places: [u8; MAX_LENGTH],
    to_book: [u8; MAX_ALPHABET],
    from_book: [u8; MAX_ALPHABET],
}

/// A position of a book, and the caller's names for it.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    node: Node<'a>,
    names: Names,
    /// The book's guess in the caller's names.
    pub(super) guess: Code,
}

/// Where these turns, each of which is there once, lead in the book, if they follow it. Of several readings, the one
/// with the smallest guess.
pub(super) fn follow<'a>(rules: &Rules, root: Node<'a>, turns: &[Turn]) -> Option<Place<'a>> {
    let mut turns = turns.to_vec();
    let mut best = None;
    for places in orders(rules) {
        let names =
            Names { places, to_book: [NONE; MAX_ALPHABET], from_book: [NONE; MAX_ALPHABET] };
        search(rules, root, &mut turns, names, &mut best);
    }
    best
}

impl Place<'_> {
    /// What the book needs from here.
    pub(super) fn value(&self) -> Value {
        self.node.value()
    }

    /// The strategy from here on, in the caller's names.
    pub(super) fn tree(&self, rules: &Rules) -> Tree {
        let mut names = self.names;
        let mut tree = Tree::default();
        // Nodes yet to be renamed, with the node and the answer that lead to them.
        let mut open = vec![(self.node, None)];
        while let Some((node, link)) = open.pop() {
            let index = tree.push(names.rename_back(rules, &node.guess()), node.can_win());
            if let Some((parent, class)) = link {
                tree.link(parent, class, index);
            }
            let children: Vec<_> = node.children().collect();
            open.extend(
                children.into_iter().rev().map(|(class, child)| (child, Some((index, class)))),
            );
        }
        tree
    }
}

/// Reads the turns as a path from a node on, in every way that this order of positions allows.
fn search<'a>(
    rules: &Rules,
    node: Node<'a>,
    turns: &mut Vec<Turn>,
    mut names: Names,
    best: &mut Option<Place<'a>>,
) {
    if turns.is_empty() {
        let guess = names.rename_back(rules, &node.guess());
        if best.is_none_or(|other| guess < other.guess) {
            *best = Some(Place { node, names, guess });
        }
        return;
    }
    for at in 0..turns.len() {
        let turn = turns[at];
        if let Some(child) = node.after(turn.class)
            && let Some(names) = names.read(rules, &turn.guess, &node.guess())
        {
            turns.swap_remove(at);
            search(rules, child, turns, names, best);
            turns.push(turn);
            let last = turns.len() - 1;
            turns.swap(at, last);
        }
    }
}

impl Names {
    /// These names and what it takes to read a guess of the caller as one of the book; nothing if it cannot be.
    fn read(mut self, rules: &Rules, guess: &Code, book: &Code) -> Option<Names> {
        for (&symbol, &place) in guess.symbols().iter().zip(&self.places) {
            let other = book.symbols()[usize::from(place)];
            let (to, from) =
                (&mut self.to_book[usize::from(symbol)], &mut self.from_book[usize::from(other)]);
            if (*to, *from) == (NONE, NONE) && kind(rules, symbol) == kind(rules, other) {
                (*to, *from) = (other, symbol);
            } else if (*to, *from) != (other, symbol) {
                return None;
            }
        }
        Some(self)
    }

    /// A guess of the book in the caller's names; symbols without a name yet get the smallest that are free.
    fn rename_back(&mut self, rules: &Rules, book: &Code) -> Code {
        let mut guess = *book;
        for (symbol, &place) in guess.symbols_mut().iter_mut().zip(&self.places) {
            let other = book.symbols()[usize::from(place)];
            let from = &mut self.from_book[usize::from(other)];
            if *from == NONE {
                let free = |&symbol: &u8| {
                    self.to_book[usize::from(symbol)] == NONE
                        && kind(rules, symbol) == kind(rules, other)
                };
                let name = (0..rules.symbols() as u8).find(free).expect("as many names as symbols");
                *from = name;
                self.to_book[usize::from(name)] = other;
            }
            *symbol = *from;
        }
        guess
    }
}

/// Symbols that may stand first and symbols that may not are never names of each other.
fn kind(rules: &Rules, symbol: u8) -> u64 {
    rules.not_first() >> symbol & 1
}

/// The orders of the positions; the first stays where some symbols may not stand there.
fn orders(rules: &Rules) -> Vec<[u8; MAX_LENGTH]> {
    let mut orders = vec![std::array::from_fn(|place| place as u8)];
    for at in usize::from(rules.not_first() != 0)..rules.length() {
        let swapped = |order: &[u8; MAX_LENGTH]| {
            let order = *order;
            (at..rules.length()).map(move |other| {
                let mut order = order;
                order.swap(at, other);
                order
            })
        };
        orders = orders.iter().flat_map(swapped).take(MAX_ORDERS).collect();
    }
    orders
}
