//! Proven strategies that ship in the binary.
//!
//! A book is one proven tree. Its file holds a line of text, `herdsman-book 1 ALPHABET LENGTH distinct|repeats
//! NOT_FIRST|- expected|worst-case TOTAL MAX`, and then the guesses in preorder, each as the number of its code in
//! LEB128; the children of a guess are its losing classes in class order. The classes imply the shape, so nothing else
//! is stored. Nor is what needs no choice: one candidate is guessed, of two the first is guessed first, and where some
//! candidate tells all others apart the first such candidate is the guess.
//!
//! Books are made by `cargo run --release -p herdsman-engine --example books` and checked whenever they are opened,
//! by playing them against every secret.

mod follow;
mod format;

use std::sync::OnceLock;

use crate::{
    budget::Budget,
    code::Code,
    exact::{Objective, Solution, Value},
    feedback::FeedbackRule,
    game::Game,
    history::{History, Turn},
    rules::{CodeSpec, Rules},
};
pub use format::encode as encode_book;

/// The largest game that has a book.
const MAX_CODES: u32 = 8192;

/// A book of the list.
#[derive(Debug)]
struct Entry {
    name: &'static str,
    /// Symbols, length, repeats, and the symbols that cannot stand first.
    rules: (usize, i32, bool, &'static str),
    objective: Objective,
    file: &'static [u8],
    opened: OnceLock<Book>,
}

/// A proven strategy for a whole game.
#[derive(Debug)]
pub(crate) struct Book {
    /// The rules, in the names of the book: digits.
    rules: Rules,
    solution: Solution,
}

macro_rules! entry {
    ($symbols:literal, $length:literal, $repeats:literal, $not_first:literal, $objective:ident, $file:literal) => {
        Entry {
            name: $file,
            rules: ($symbols, $length, $repeats, $not_first),
            objective: Objective::$objective,
            file: include_bytes!(concat!("trees/", $file, ".book")),
            opened: OnceLock::new(),
        }
    };
}

static BOOKS: [Entry; 10] = [
    entry!(10, 4, false, "", Expected, "bulls-and-cows.expected"),
    entry!(10, 4, false, "", WorstCase, "bulls-and-cows.worst-case"),
    entry!(10, 4, false, "0", Expected, "bulls-and-cows-no-leading-zero.expected"),
    entry!(10, 3, false, "", Expected, "bulls-and-cows-3.expected"),
    entry!(5, 4, true, "", Expected, "mastermind-4x5.expected"),
    entry!(6, 4, true, "", Expected, "mastermind.expected"),
    entry!(6, 4, true, "", WorstCase, "mastermind.worst-case"),
    entry!(7, 4, true, "", Expected, "mastermind-4x7.expected"),
    entry!(8, 4, true, "", Expected, "mastermind-4x8.expected"),
    entry!(9, 4, true, "", Expected, "mastermind-4x9.expected"),
];

/// The names of the symbols in every book.
const SYMBOLS: &str = "0123456789";

impl Entry {
    fn rules(&self) -> Rules {
        let (symbols, length, repeats, not_first) = self.rules;
        let (alphabet, not_first) = (SYMBOLS[..symbols].into(), not_first.into());
        let spec = CodeSpec { alphabet, length, repeats, not_first };
        Rules::codes(&spec, FeedbackRule::Pegs).expect("the rules of a book are valid")
    }

    fn open(&self) -> &Book {
        self.opened.get_or_init(|| {
            let game = Game::new(self.rules(), MAX_CODES).expect("a book's game is small");
            let solution = format::decode(&game, self.objective, self.file)
                .expect("a book that ships is whole, as a test shows");
            Book { rules: game.rules().clone(), solution }
        })
    }
}

/// The proven strategy that ships for a game, whatever its symbols are called; nothing if there is none.
pub(crate) fn open(rules: &Rules, objective: Objective) -> Option<&'static Book> {
    let same = |entry: &&Entry| {
        let (symbols, length, repeats, _) = entry.rules;
        rules.renames()
            && entry.objective == objective
            && (symbols, length as usize, repeats)
                == (rules.symbols(), rules.length(), rules.repeats())
            && rules.feedback() == FeedbackRule::Pegs
            && entry.rules().not_first() == rules.not_first()
    };
    BOOKS.iter().find(same).map(Entry::open)
}

/// The proven strategy that ships for a game, from a position of it on; nothing if there is none or the history does
/// not follow it. Names and the order of turns do not matter.
///
/// It is proven for the game from its start: that no strategy has a smaller total holds for every position of it, but a
/// worst case may be smaller than the one it keeps where a book for the worst case has guesses to spare.
pub fn book(game: &Game, history: &History, objective: Objective) -> Option<Solution> {
    let book = open(game.rules(), objective)?;
    let place = book.follow(history.canonical().turns())?;
    let candidates = game.candidates(history, &Budget::unlimited()).ok()?;
    Some(Solution::replay(game, candidates.indices(), place.tree(game.rules())))
}

/// The books that ship: the name of the file, the game and the objective of each.
pub fn books() -> impl Iterator<Item = (&'static str, Rules, Objective)> {
    BOOKS.iter().map(|entry| (entry.name, entry.rules(), entry.objective))
}

impl Book {
    /// What the book plays after turns that follow it under whatever names and in whatever order, and what it needs
    /// from there; nothing if they do not.
    pub(crate) fn guess(&self, turns: &[Turn]) -> Option<(Code, Value)> {
        self.follow(turns).map(|place| (place.guess, place.value()))
    }

    fn follow(&self, turns: &[Turn]) -> Option<follow::Place<'_>> {
        // Books know symbols by their numbers, as codes do: only texts differ.
        follow::follow(&self.rules, self.solution.tree.root(), turns)
    }
}
