//! The strategies on lists of words as people play with them: 2315 secrets and 12972 guesses of five letters, which are not
//! part of the project. The environment variable `WORD_LISTS_DIR` says where they are; without it nothing is tested.

mod common;

use common::{code, game};
use herdsman_engine::{
    Budget, Choice, Game, Given, History, Rules, Strategy, Suggestion, Trial, Turn, WordList,
    evaluate, suggest,
};

/// The game with the lists, if there are any.
fn wordle() -> Option<Game> {
    let Some(folder) = std::env::var_os("WORD_LISTS_DIR") else {
        println!("not tested: WORD_LISTS_DIR is not set");
        return None;
    };
    let read = |name| std::fs::read(std::path::Path::new(&folder).join(name)).unwrap();
    let secrets = read("words5-secrets-2315.txt");
    let (words, _) = WordList::read(&secrets, Some(&read("words5-guesses-12972.txt"))).unwrap();
    Some(game(Rules::preset("wordle", Some(words)).unwrap()))
}

fn best(game: &Game, turns: &[(&str, &str)], strategy: Strategy) -> Suggestion {
    let budget = Budget::unlimited();
    let turn = |&(guess, marks): &(&str, &str)| {
        let given = Given { marks: Some(marks), ..Given::default() };
        let class = game.rules().answers().class(&given).unwrap();
        Turn { guess: code(game.rules(), guess), class }
    };
    let history = History::new(turns.iter().map(turn).collect()).unwrap();
    let candidates = game.candidates(&history, &budget).unwrap();
    let choice = Choice { strategy, ..Choice::default() };
    suggest(game, &history, &candidates, &choice, 1, &budget).unwrap().suggestions[0]
}

#[test]
fn first_guesses_are_the_known_ones() {
    let Some(game) = wordle() else { return };
    let first = |strategy| {
        let Suggestion { guess, facts, .. } = best(&game, &[], strategy);
        (game.rules().text(&guess), facts)
    };
    let (word, facts) = first(Strategy::Entropy);
    assert_eq!((word.as_str(), format!("{:.3}", facts.bits).as_str()), ("soare", "5.886"));
    let (word, facts) = first(Strategy::ExpectedSize);
    assert_eq!((word.as_str(), format!("{:.2}", facts.expected_size).as_str()), ("roate", "60.42"));
    let (word, facts) = first(Strategy::MostParts);
    assert_eq!((word.as_str(), facts.classes), ("trace", 150));
    let (word, facts) = first(Strategy::Minimax);
    assert_eq!((word.as_str(), facts.largest_class), ("arise", 168));
}

#[test]
fn every_secret_is_found_in_six_guesses() {
    let Some(game) = wordle() else { return };
    for (strategy, total) in [(Strategy::Entropy, 8020), (Strategy::MostParts, 7949)] {
        let choice = Choice { strategy, ..Choice::default() };
        let (done, budget) = (Default::default(), Budget::unlimited());
        let found = evaluate(&game, &choice, &Trial::default(), &done, &budget).unwrap();
        assert_eq!((found.total, found.max), (total, 6), "{}", strategy.name());
    }
}

#[test]
fn where_four_letters_are_fixed_a_probe_outside_the_candidates_is_found() {
    let Some(game) = wordle() else { return };
    for strategy in [Strategy::Entropy, Strategy::MostParts, Strategy::Minimax, Strategy::Optimal] {
        let probe = best(&game, &[("ratch", "-GGGG")], strategy);
        let word = game.rules().text(&probe.guess);
        // A candidate tells itself from the others, and little else.
        assert!(!probe.candidate && probe.facts.classes >= 5, "{}: {word}", strategy.name());
    }
}
