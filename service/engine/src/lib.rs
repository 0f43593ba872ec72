//! Solves guess-the-code games: rules, counting, strategies and diagnosis, as a pure library.
//!
//! Every game is a set of secrets, a set of guesses and an answer to each pair of them; everything else is data.
//!
//! ```
//! use herdsman_engine::{Budget, Choice, Game, History, Rules, Turn, suggest};
//!
//! let rules = Rules::preset("bulls-and-cows")?;
//! let game = Game::new(rules, 20_000_000)?;
//! let rules = game.rules();
//!
//! // The guess 0123 got one cow: 1440 of the 5040 codes are left.
//! let turn = Turn { guess: rules.code("0123")?, class: rules.answers().class(Some(0), Some(1))? };
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
mod evaluate;
mod exact;
mod feedback;
mod game;
mod history;
mod kernel;
mod logarithm;
mod matrix;
mod partition;
mod presets;
mod rules;
mod space;
mod strategy;
mod symmetry;

pub use book::{book, books, encode_book};
pub use budget::{Budget, StopFlag, Stopped};
pub use candidates::Candidates;
pub use code::Code;
pub use diagnose::{Diagnosis, Repair, RepairOption, diagnose, first_conflict};
pub use evaluate::{Evaluation, evaluate};
pub use exact::{
    Goal, Node, Objective, Progress, Solution, SolveError, SolveLimits, Tree, Unfinished, Value,
    solve,
};
pub use feedback::{Answers, Class, Feedback, FeedbackError};
pub use game::{Game, MAX_CODES, TooLarge};
pub use history::{History, MAX_TURNS, TooManyTurns, Turn};
pub use kernel::kernel_name;
pub use matrix::{row_histogram, score_matrix};
pub use partition::{Facts, Partition, partition};
pub use presets::{PRESETS, Preset};
pub use rules::{CodeError, CodeSpec, FeedbackRule, MAX_ALPHABET, MAX_LENGTH, Rules, RulesError};
pub use strategy::{Advice, Choice, Pool, SharedAdvice, Strategy, Suggestion, Tie, suggest};
pub use symmetry::Canonical;
