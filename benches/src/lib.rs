//! The work that is measured: games, positions and operations, each with its right answer.
//!
//! Owns what is measured and the check of every answer, so that criterion, gungraun, `figures` and `chart` measure the
//! same. How often it is done and what clock is read is theirs. Whatever answers wrongly panics: a time for a wrong
//! answer is worth nothing.

mod machine;
mod program;
mod word_lists;

use std::time::Duration;

use herdsman_engine::{
    Advice, Budget, Candidates, Canonical, Choice, Code, CodeSpec, FeedbackRule, Game, Given, Goal,
    History, Progress, Rules, SharedAdvice, SolveLimits, Strategy, Trial, Turn, evaluate,
    partition, row_histogram, score_matrix, solve, suggest,
};
pub use machine::print_machine;
pub use program::{build, process_status};
use rustix::time::{ClockId, clock_gettime};
pub use word_lists::WordGame;

/// A codes game with pegs: its length, its number of symbols and whether they repeat. Symbols are digits.
pub type Spec = (i32, usize, bool);

/// Four different digits: Bulls and Cows.
pub const FOUR_OF_TEN: Spec = (4, 10, false);

/// The game, ready to be played.
pub fn game((length, symbols, repeats): Spec) -> Game {
    let alphabet = "0123456789"[..symbols].into();
    let spec = CodeSpec { alphabet, length, repeats, not_first: String::new() };
    let rules = Rules::codes(&spec, FeedbackRule::Pegs).expect("the rules are valid");
    Game::new(rules, u32::MAX).expect("the game can be enumerated")
}

/// Every code of a game.
pub fn everything(game: &Game) -> Candidates {
    game.candidates(&History::default(), &Budget::unlimited()).expect("nothing stops it")
}

/// The CPU time that this process has taken, with all its threads.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A position after one turn, and what is right there.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// The game in words.
    pub name: &'static str,
    /// The game.
    pub spec: Spec,
    /// The first guess, its bulls and its cows.
    pub turn: (&'static str, i32, i32),
    /// How many candidates that leaves.
    pub left: usize,
    /// The guess of minimax.
    pub minimax: &'static str,
}

/// The positions in which a next guess is measured: the classic one of Bulls and Cows, and in the larger games the
/// first guess of minimax with the answer that leaves the most.
pub const OPENINGS: [Opening; 3] = [
    Opening {
        name: "4 of 10 distinct",
        spec: FOUR_OF_TEN,
        turn: ("0123", 0, 1),
        left: 1440,
        minimax: "1456",
    },
    Opening {
        name: "5x8",
        spec: (5, 8, true),
        turn: ("00123", 0, 2),
        left: 7051,
        minimax: "14235",
    },
    Opening {
        name: "6 of 10 distinct",
        spec: (6, 10, false),
        turn: ("012345", 0, 3),
        left: 34_080,
        minimax: "163758",
    },
];

/// A game and the history of one turn.
pub struct Position {
    /// The game.
    pub game: Game,
    /// The turn.
    pub history: History,
    opening: Opening,
}

impl Opening {
    /// The position, from which nothing is remembered.
    pub fn position(self) -> Position {
        let game = game(self.spec);
        let (guess, bulls, cows) = self.turn;
        let guess = game.rules().code(guess).expect("the guess is a code");
        let class =
            game.rules().answers().class(&Given::pegs(bulls, cows)).expect("such answers are");
        let history = History::new(vec![Turn { guess, class }]).expect("one turn is not too many");
        Position { game, history, opening: self }
    }
}

impl Position {
    /// What is still possible.
    pub fn filter(&self) -> Candidates {
        let left = self.game.candidates(&self.history, &Budget::unlimited()).expect("not stopped");
        assert_eq!(left.len(), self.opening.left, "{}", self.opening.name);
        left
    }

    /// The next guess by minimax from nothing: filter, classes of guesses, choice.
    pub fn minimax(&self) -> Advice {
        let (left, budget) = (self.filter(), Budget::unlimited());
        let advice = suggest(&self.game, &self.history, &left, &minimax(), 1, &budget);
        self.checked(advice.expect("not stopped"))
    }

    /// What is remembered of this position for all histories that are the same by renaming.
    pub fn remember(&self) -> SharedAdvice {
        let (left, budget) = (self.filter(), Budget::unlimited());
        let canonical = self.canonical();
        SharedAdvice::new(&self.game, &canonical, &left, &minimax(), 1, &budget)
            .expect("not stopped")
            .expect("few guesses are equally good")
    }

    /// The next guess by minimax where the position is remembered: canonical form, lookup left out, names.
    pub fn recall(&self, remembered: &SharedAdvice) -> Advice {
        self.checked(remembered.advice(&self.canonical()))
    }

    fn canonical(&self) -> Canonical<'_> {
        Canonical::new(self.game.rules(), &self.history).expect("codes this short have one")
    }

    fn checked(&self, advice: Advice) -> Advice {
        let guess = self.game.rules().text(&advice.suggestions[0].guess);
        assert_eq!(guess, self.opening.minimax, "{}", self.opening.name);
        assert!(advice.exhaustive, "every guess is measured");
        advice
    }
}

fn minimax() -> Choice {
    Choice { strategy: Strategy::Minimax, ..Choice::default() }
}

/// A strategy against all secrets of a game, and what it needs.
#[derive(Clone, Copy, Debug)]
pub struct Played {
    /// The game in words.
    pub name: &'static str,
    /// The game.
    pub spec: Spec,
    /// The strategy, with its default options.
    pub strategy: Strategy,
    /// Guesses in all.
    pub total: u64,
    /// Guesses for the worst secret.
    pub max: u32,
}

const fn played(name: &'static str, spec: Spec, strategy: Strategy, need: (u64, u32)) -> Played {
    Played { name, spec, strategy, total: need.0, max: need.1 }
}

/// What is played against all secrets. The totals of the first three are in the engine's golden files, with their
/// sources; those of the others were found by this engine.
pub const PLAYED: [Played; 6] = [
    played("4 of 10 distinct", FOUR_OF_TEN, Strategy::Minimax, (27_139, 7)),
    played("4 of 10 distinct", FOUR_OF_TEN, Strategy::Entropy, (26_424, 8)),
    played("4x6", (4, 6, true), Strategy::Minimax, (5801, 5)),
    played("5x8", (5, 8, true), Strategy::Minimax, (183_966, 7)),
    played("5x8", (5, 8, true), Strategy::Entropy, (179_863, 8)),
    played("5 of 10 distinct", (5, 10, false), Strategy::Minimax, (176_085, 8)),
];

impl Played {
    /// Plays it.
    pub fn play(&self, game: &Game) {
        let choice = Choice { strategy: self.strategy, ..Choice::default() };
        let result =
            evaluate(game, &choice, &Trial::default(), &Default::default(), &Budget::unlimited())
                .expect("not stopped");
        assert_eq!((result.total, result.max), (self.total, self.max), "{self:?}");
    }
}

/// A game whose least total is proven.
#[derive(Clone, Copy, Debug)]
pub struct Proof {
    /// The game in words.
    pub name: &'static str,
    /// The game.
    pub spec: Spec,
    /// The least total.
    pub total: u64,
}

/// The proofs, from the shortest on. The total of 4x5 was found by this engine; the others are published, and the
/// engine's golden files name the sources.
pub const PROOFS: [Proof; 5] = [
    Proof { name: "4x5", spec: (4, 5, true), total: 2463 },
    Proof { name: "4x6", spec: (4, 6, true), total: 5625 },
    Proof { name: "4x7", spec: (4, 7, true), total: 11_228 },
    Proof { name: "4 of 10 distinct", spec: FOUR_OF_TEN, total: 26_274 },
    Proof { name: "4x8", spec: (4, 8, true), total: 20_471 },
];

impl Proof {
    /// Proves the least total with so many threads, from nothing: no book.
    pub fn prove(&self, game: &Game, threads: usize) {
        let limits = SolveLimits { threads, ..SolveLimits::default() };
        let (all, goal, budget) = (everything(game), Goal::default(), Budget::unlimited());
        let solution = solve(game, &all, goal, limits, &Progress::default(), &budget);
        assert_eq!(solution.expect("nothing stops it").total, self.total, "{self:?}");
    }
}

/// How the first code of a game splits all of them, with all that one such question takes.
pub fn split(game: &Game, all: &Candidates) {
    let split = partition(game, all, &game.code(0), &Budget::unlimited()).expect("not stopped");
    assert_eq!(split.total(), game.size());
}

/// Guesses of a [`batch`].
pub const BATCH: usize = 100;

/// Scores the first [`BATCH`] codes of four different digits at all of them, as a matrix.
pub fn batch(game: &Game, codes: &[Code]) {
    let cells = score_matrix(game.rules(), &codes[..BATCH], codes, &Budget::unlimited());
    let cells = cells.expect("not stopped");
    let winning = game.rules().answers().winning().0;
    assert_eq!(cells.iter().filter(|&&cell| u32::from(cell) == winning).count(), BATCH);
}

/// The class of every secret for one guess of four different digits: a row of a matrix, 5 KB, which stay in the cache.
pub fn row(game: &Game) -> Vec<u8> {
    let codes: Vec<Code> = (0..game.size()).map(|index| game.code(index)).collect();
    let guess = game.rules().code("0123").expect("a code");
    score_matrix(game.rules(), &[guess], &codes, &Budget::unlimited()).expect("not stopped")
}

/// The histogram of that row: what each answer to the first guess leaves.
pub fn histogram(game: &Game, row: &[u8]) {
    let counts = row_histogram(game.rules(), row);
    assert_eq!(counts, [360, 1440, 1260, 264, 9, 480, 720, 216, 8, 180, 72, 6, 24, 1]);
}

/// The best next guess at a position of a game that has a book, from the book.
pub fn from_book(position: &Position) -> Advice {
    let (left, budget) = (position.filter(), Budget::unlimited());
    let choice = Choice { strategy: Strategy::Optimal, ..Choice::default() };
    let advice = suggest(&position.game, &position.history, &left, &choice, 1, &budget);
    let advice = advice.expect("not stopped");
    assert!(advice.from_book, "{}", position.opening.name);
    advice
}
