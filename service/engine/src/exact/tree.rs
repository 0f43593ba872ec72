//! A strategy as a tree: what to guess after every answer.

use crate::{code::Code, evaluate::Evaluation, feedback::Class, game::Game};

/// A strategy for the candidates of a position. Equal trees are equal strategies: nodes are in preorder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    guess: Code,
    /// Whether the guess is one of the candidates that come here.
    wins: bool,
    /// The nodes that follow, by the answer that leads there, in class order.
    children: Vec<(Class, u32)>,
}

/// A guess of a tree and what follows it.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    tree: &'a Tree,
    index: u32,
}

/// What a strategy needs for the candidates of a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// Guesses over all candidates, the winning ones included.
    pub total: u64,
    /// Guesses for the worst of them.
    pub max: u32,
}

/// The tree has no guess for some answer to some candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the strategy does not find code number {candidate}")]
pub struct Unfinished {
    /// The number of the candidate.
    pub candidate: u32,
}

impl Tree {
    /// The first guess.
    ///
    /// # Panics
    /// If the tree is empty, as only one under construction is.
    pub fn root(&self) -> Node<'_> {
        assert!(!self.nodes.is_empty(), "a strategy has a first guess");
        Node { tree: self, index: 0 }
    }

    /// Adds a node behind the others and returns its number. `wins` tells whether the guess may be the secret.
    pub(crate) fn push(&mut self, guess: Code, wins: bool) -> u32 {
        self.nodes.push(Entry { guess, wins, children: vec![] });
        self.nodes.len() as u32 - 1
    }

    /// Says which node follows an answer; classes must come in order.
    pub(crate) fn link(&mut self, parent: u32, class: Class, child: u32) {
        self.nodes[parent as usize].children.push((class, child));
    }

    /// Plays the strategy against the codes of these numbers.
    ///
    /// # Errors
    /// [`Unfinished`] names a candidate that it does not find.
    pub fn play(&self, game: &Game, candidates: &[u32]) -> Result<Evaluation, Unfinished> {
        let winning = game.rules().answers().winning();
        let mut evaluation = Evaluation::default();
        for &candidate in candidates {
            let secret = game.code(candidate);
            let mut node = self.root();
            let mut guesses = 1;
            loop {
                let class = game.rules().score(&node.guess(), &secret);
                if class == winning {
                    break;
                }
                node = node.after(class).ok_or(Unfinished { candidate })?;
                guesses += 1;
            }
            evaluation.count(guesses, 1);
        }
        Ok(evaluation)
    }
}

impl<'a> Node<'a> {
    /// What to guess.
    pub fn guess(self) -> Code {
        self.tree.nodes[self.index as usize].guess
    }

    /// Whether the guess may be the secret.
    pub fn can_win(self) -> bool {
        self.tree.nodes[self.index as usize].wins
    }

    /// What the strategy needs from here, this guess included.
    pub fn value(self) -> Value {
        let mut value = Value::default();
        // Nodes yet to be counted, with the number of guesses made when theirs is.
        let mut open = vec![(self, 1)];
        while let Some((node, guesses)) = open.pop() {
            if node.can_win() {
                value.total += u64::from(guesses);
                value.max = value.max.max(guesses);
            }
            open.extend(node.children().map(|(_, child)| (child, guesses + 1)));
        }
        value
    }

    /// The node after each answer that some candidate gives, the winning one excepted, in class order.
    pub fn children(self) -> impl Iterator<Item = (Class, Node<'a>)> {
        let children = self.tree.nodes[self.index as usize].children.iter();
        children.map(move |&(class, index)| (class, Node { tree: self.tree, index }))
    }

    /// The node after one answer.
    pub fn after(self, class: Class) -> Option<Node<'a>> {
        self.children().find(|&(other, _)| other == class).map(|(_, node)| node)
    }
}
