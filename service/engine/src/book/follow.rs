//! Finds a position in a book under other names and in another order of turns.

use crate::{
    code::Code,
    exact::{Node, Tree, Value},
    history::Turn,
    rules::Rules,
    symmetry::renaming::{Renaming, orders},
};

/// A position of a book, and what renames it to the caller's.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    node: Node<'a>,
    renaming: Renaming,
    /// The book's guess in the caller's names.
    pub(super) guess: Code,
}

/// Where these turns, each of which is there once, lead in the book, if they follow it. Of several readings, the one
/// with the smallest guess.
pub(super) fn follow<'a>(rules: &Rules, root: Node<'a>, turns: &[Turn]) -> Option<Place<'a>> {
    let mut turns = turns.to_vec();
    let mut best = None;
    for places in orders(rules, |_, _| true) {
        search(rules, root, &mut turns, Renaming::begin(places), &mut best);
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
        let mut renaming = self.renaming;
        let mut tree = Tree::default();
        // Nodes yet to be renamed, with the node and the answer that lead to them.
        let mut open = vec![(self.node, None)];
        while let Some((node, link)) = open.pop() {
            let index = tree.push(renaming.name(rules, &node.guess()), node.can_win());
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
    mut renaming: Renaming,
    best: &mut Option<Place<'a>>,
) {
    if turns.is_empty() {
        let guess = renaming.name(rules, &node.guess());
        if best.is_none_or(|other| guess < other.guess) {
            *best = Some(Place { node, renaming, guess });
        }
        return;
    }
    for at in 0..turns.len() {
        let turn = turns[at];
        if let Some(child) = node.after(turn.class)
            && let Some(renaming) = renaming.carry(rules, &node.guess(), &turn.guess)
        {
            turns.swap_remove(at);
            search(rules, child, turns, renaming, best);
            turns.push(turn);
            let last = turns.len() - 1;
            turns.swap(at, last);
        }
    }
}
