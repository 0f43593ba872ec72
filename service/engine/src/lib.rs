//! Solves guess-the-code games: rules, counting, strategies and diagnosis, as a pure library.
//!
//! Every game is a set of secrets, a set of guesses and an answer to each pair of them; everything else is data.
//!
//! ```
//! use herdsman_engine::{Budget, Choice, Game, Given, History, Rules, Turn, suggest};
//!
//! let rules = Rules::preset("bulls-and-cows", None)?;
//! let game = Game::new(rules, 20_000_000)?;
//! let rules = game.rules();
//!
//! // The guess 0123 got one cow: 1440 of the 5040 codes are left.
//! let turn = Turn { guess: rules.code("0123")?, class: rules.answers().class(&Given::pegs(0, 1))? };
//! let budget = Budget::unlimited();
//! let history = History::new(vec![turn])?;
//! let candidates = game.candidates(&history, &budget)?;
//! assert_eq!(candidates.len(), 1440);
//!
//! let advice = suggest(&game, &history, &candidates, &Choice::default(), 1, &budget)?;
//! assert_eq!(rules.text(&advice.suggestions[0].guess), "1456");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The engine reads no clock, no environment and no file: work is bounded by a [`Budget`] and ends when its
//! [`StopFlag`] is raised. The same question gets the same answer on every machine.

mod book;
mod budget;
mod candidates;
mod code;
mod diagnose;
mod duel;
mod evaluate;
mod exact;
mod feedback;
mod game;
mod hash;
mod hints;
mod history;
mod host;
mod kernel;
mod large;
mod lies;
mod logarithm;
mod matrix;
mod partition;
mod presets;
mod random;
mod rules;
mod simulate;
mod space;
mod strategy;
mod symmetry;
mod words;

pub use book::{book, books, encode_book};
pub use budget::{Budget, StopFlag, Stopped};
pub use candidates::Candidates;
pub use code::Code;
pub use diagnose::{Diagnosis, MAX_CLASHES, Repair, RepairOption, diagnose, first_conflict};
pub use duel::{Chances, duel};
pub use evaluate::{Evaluation, Trial, evaluate};
pub use exact::{
    Goal, Node, Objective, Progress, Solution, SolveError, SolveLimits, Tree, Unfinished, Value,
    solve,
};
pub use feedback::{
    Answers, Class, Feedback, FeedbackError, FeedbackRule, Given, Mark, Marks, Order,
};
pub use game::{Game, MAX_CODES, TooLarge};
pub use hints::{is_consistent, keeps_hints};
pub use history::{History, MAX_TURNS, TooManyTurns, Turn};
pub use host::{HostAnswer, HostPolicy, host_answer};
pub use kernel::kernel_name;
pub use large::{
    Count, LARGE_NODES, LARGE_SAMPLE, LargeAdvice, LargeError, Sample, sample, suggest_large,
};
pub use lies::{MAX_LIES, Suspects, first_conflict_lying};
pub use matrix::{cell_bytes, row_histogram, score_matrix};
pub use partition::{Facts, Partition, partition};
pub use presets::{PRESETS, Preset};
pub use random::Random;
pub use rules::{CodeError, CodeSpec, Form, MAX_ALPHABET, MAX_LENGTH, Rules, RulesError};
pub use simulate::{Played, simulate};
pub use strategy::{
    Advice, Choice, Level, Pool, SharedAdvice, Strategy, Suggestion, Tie, suggest, suggest_lying,
};
pub use symmetry::Canonical;
pub use words::{
    FileReport, MAX_LETTERS, MAX_WEIGHT, MAX_WORDS, WordError, WordList, WordPlace, WordsError,
    WordsPart, WordsReport,
};
