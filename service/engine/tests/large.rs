//! Samples of codes that are not enumerated: against small games that are, and on large ones.

mod common;

use common::{SYMBOLS, code, game, rules};
use herdsman_engine::{
    Budget, Class, Code, CodeSpec, Count, FeedbackRule, Game, History, Rules, StopFlag, Stopped,
    Turn, sample,
};
use proptest::{
    prelude::Rng as _,
    test_runner::{RngAlgorithm, TestRng},
};

/// More than any tree of these small games has.
const ALL: u64 = 10_000_000;

/// Small games of every rule: repeats or not, symbols that cannot stand first or not.
fn small_games() -> Vec<Game> {
    let mut games = vec![];
    for (length, symbols, repeats, not_first) in [
        (4, 6, true, ""),
        (5, 4, true, "0"),
        (4, 7, false, ""),
        (4, 6, false, "05"),
        (6, 2, true, ""),
        (1, 5, true, ""),
        (3, 3, false, ""),
    ] {
        let (alphabet, not_first) = (SYMBOLS[..symbols].to_string(), not_first.to_string());
        let spec = CodeSpec { alphabet, length, repeats, not_first };
        for rule in
            [FeedbackRule::Pegs, FeedbackRule::Bulls, FeedbackRule::Total, FeedbackRule::Marks]
        {
            games.push(game(Rules::codes(&spec, rule).unwrap()));
        }
    }
    games
}

/// Some histories of a game, from short to long: of every two, one with a secret, and one whose answers are drawn
/// without, so that most of them are contradictory.
fn histories(game: &Game) -> Vec<History> {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut below = |bound: usize| rng.next_u32() as usize % bound;
    let mut histories = vec![];
    for number in 0..24 {
        let secret = game.code(below(game.size() as usize) as u32);
        let turns = (0..=number / 4).map(|_| {
            let guess = game.code(below(game.size() as usize) as u32);
            let class = match number % 2 {
                0 => game.rules().score(&guess, &secret),
                _ => Class(below(game.rules().answers().count()) as u32),
            };
            Turn { guess, class }
        });
        histories.push(History::new(turns.collect()).unwrap());
    }
    histories
}

fn candidates(game: &Game, history: &History) -> Vec<Code> {
    let candidates = game.candidates(history, &Budget::unlimited()).unwrap();
    candidates.indices().iter().map(|&index| game.code(index)).collect()
}

#[test]
fn a_search_that_saw_everything_found_exactly_the_candidates() {
    for game in small_games() {
        for history in histories(&game) {
            let want = game.size() as usize;
            let found = sample(game.rules(), &history, want, ALL, 1, &Budget::unlimited()).unwrap();
            let expected = candidates(&game, &history);
            assert_eq!(found.count, Count::Exact(expected.len() as u128));
            assert_eq!(found.codes, expected, "{:?} {history:?}", game.rules().feedback());
        }
    }
}

#[test]
fn whatever_the_nodes_a_count_is_true_and_codes_are_consistent_and_different() {
    for game in small_games() {
        for history in histories(&game) {
            let expected = candidates(&game, &history);
            for (nodes, seed) in [(0, 1), (10, 2), (100, 3), (1000, 4), (4000, 5)] {
                let budget = Budget::unlimited();
                let found = sample(game.rules(), &history, 20, nodes, seed, &budget).unwrap();
                assert!(found.codes.len() <= 20);
                assert!(found.codes.is_sorted_by(|a, b| a < b));
                assert!(found.codes.iter().all(|code| expected.binary_search(code).is_ok()));
                match found.count {
                    Count::Exact(n) => assert_eq!(n, expected.len() as u128),
                    Count::AtLeast(n) => assert!(n <= expected.len() as u128),
                    Count::Estimate { value, .. } => assert!(value > 0.0 && !expected.is_empty()),
                }
            }
        }
    }
}

/// A game of 7776 or 5040 codes after one turn, and too few nodes to see them all.
fn check_estimate(rule: FeedbackRule, length: i32, symbols: usize, repeats: bool, guess: &str) {
    let rules = rules(length, symbols, repeats).with_feedback(rule).unwrap();
    let game = game(rules.clone());
    let guess = code(&rules, guess);
    for secret in [17, 1234, 4321].map(|index| game.code(index)) {
        let turn = Turn { guess, class: rules.score(&guess, &secret) };
        let history = History::new(vec![turn]).unwrap();
        let truth = candidates(&game, &history).len() as f64;
        for seed in 0..10 {
            let found = sample(&rules, &history, 100, 2000, seed, &Budget::unlimited()).unwrap();
            match found.count {
                Count::Estimate { value, error } => {
                    // Where all ways down weigh the same there is no error but that of rounding.
                    let off = (value - truth).abs();
                    assert!(
                        off <= 5.0 * error + 1e-9 * truth,
                        "{value} +- {error} is not {truth}: {rule:?}, {seed}"
                    );
                }
                Count::Exact(n) => assert_eq!(n as f64, truth),
                Count::AtLeast(n) => assert!(n as f64 <= truth),
            }
        }
    }
}

#[test]
fn an_estimate_is_within_five_of_its_errors() {
    for rule in [FeedbackRule::Pegs, FeedbackRule::Bulls, FeedbackRule::Total, FeedbackRule::Marks]
    {
        check_estimate(rule, 5, 6, true, "01123");
        check_estimate(rule, 4, 10, false, "0123");
    }
}

/// 10 pegs of 20 colours.
fn large_rules(rule: FeedbackRule) -> Rules {
    let alphabet = "abcdefghijklmnopqrst".to_string();
    let spec = CodeSpec { alphabet, length: 10, repeats: true, not_first: String::new() };
    Rules::codes(&spec, rule).unwrap()
}

fn turns(rules: &Rules, secret: &str, guesses: &[&str]) -> History {
    let secret = code(rules, secret);
    let turn = |guess: &&str| {
        let guess = code(rules, guess);
        Turn { guess, class: rules.score(&guess, &secret) }
    };
    History::new(guesses.iter().map(turn).collect()).unwrap()
}

#[test]
fn the_largest_game_is_counted_before_its_first_turn() {
    let alphabet = ('!'..).take(64).collect();
    let spec = CodeSpec { alphabet, length: 12, repeats: true, not_first: String::new() };
    let rules = Rules::codes(&spec, FeedbackRule::Pegs).unwrap();
    let found = sample(&rules, &History::default(), 50, 10_000, 1, &Budget::unlimited()).unwrap();
    assert_eq!(found.count, Count::Exact(64_u128.pow(12)));
    assert_eq!(found.codes.len(), 50);
}

#[test]
fn the_same_seed_gives_the_same_answer_and_another_one_another_sample() {
    let rules = large_rules(FeedbackRule::Pegs);
    let history = turns(&rules, "abcdefghij", &["aabbccddee", "jihgfedcba"]);
    let draw = |seed| sample(&rules, &history, 50, 50_000, seed, &Budget::unlimited()).unwrap();
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1).codes, draw(2).codes);
}

#[test]
fn a_contradiction_is_proven_or_unknown() {
    let rules = large_rules(FeedbackRule::Pegs);
    let budget = Budget::unlimited();
    // Two answers to one guess.
    let guess = code(&rules, "abcdefghij");
    let turns = [0, 1].map(|class| Turn { guess, class: Class(class) });
    let history = History::new(turns.to_vec()).unwrap();
    let found = sample(&rules, &history, 5, ALL, 1, &budget).unwrap();
    assert_eq!(found.count, Count::Exact(0));
    let found = sample(&rules, &history, 5, 0, 1, &budget).unwrap();
    assert_eq!(found.count, Count::AtLeast(0));
}

#[test]
fn a_raised_flag_stops_it() {
    let stop = StopFlag::default();
    stop.stop();
    let budget = Budget::new(stop, u64::MAX);
    let rules = large_rules(FeedbackRule::Pegs);
    let history = turns(&rules, "abcdefghij", &["aabbccddee"]);
    assert_eq!(sample(&rules, &history, 5, ALL, 1, &budget), Err(Stopped));
}
