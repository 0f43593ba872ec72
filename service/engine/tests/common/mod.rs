//! What the engine's tests share: games from golden rows, and codes and turns from text.

#![allow(dead_code, unreachable_pub)] // each test binary uses its part

pub mod any;

use herdsman_engine::{Code, CodeSpec, FeedbackRule, Game, Given, History, Rules, Turn};

pub const SYMBOLS: &str = "0123456789abcdef";

/// Rules of `symbols` symbols from `0` on.
pub fn rules(length: i32, symbols: usize, repeats: bool) -> Rules {
    let (alphabet, not_first) = (SYMBOLS[..symbols].to_string(), String::new());
    let spec = CodeSpec { alphabet, length, repeats, not_first };
    Rules::codes(&spec, FeedbackRule::Pegs).unwrap()
}

pub fn game(rules: Rules) -> Game {
    Game::new(rules, 20_000_000).unwrap()
}

pub fn code(rules: &Rules, text: &str) -> Code {
    rules.code(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A history of pegs, as in `[("0123", 0, 1)]`.
pub fn history(rules: &Rules, turns: &[(&str, i32, i32)]) -> History {
    let turn = |&(guess, bulls, cows): &(&str, i32, i32)| Turn {
        guess: code(rules, guess),
        class: rules.answers().class(&Given::pegs(bulls, cows)).unwrap(),
    };
    History::new(turns.iter().map(turn).collect()).unwrap()
}

/// The rows of a golden file as columns of text.
pub fn golden(file: &str) -> Vec<Vec<String>> {
    let path = format!("{}/tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rows = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    rows.map(|row| row.split('\t').map(String::from).collect()).collect()
}

/// The game of the first three columns of a golden row: positions, symbols, `distinct` or `repeats`.
pub fn golden_game(row: &[String]) -> Game {
    let repeats = match row[2].as_str() {
        "distinct" => false,
        "repeats" => true,
        other => panic!("neither distinct nor repeats: {other}"),
    };
    game(rules(row[0].parse().unwrap(), row[1].parse().unwrap(), repeats))
}
