//! Scores against the plainest program that counts bulls and cows: pegs are crossed off one by one.

mod common;

use common::{game, rules};
use herdsman_engine::{
    Budget, Code, CodeSpec, Feedback, FeedbackRule, Game, PRESETS, Rules, row_histogram,
    score_matrix,
};
use proptest::{
    prelude::Rng as _,
    test_runner::{RngAlgorithm, TestRng},
};

/// Crosses off the bulls, and then for each symbol left in the guess one like it in the secret.
fn naive(rule: FeedbackRule, guess: &Code, secret: &Code) -> Feedback {
    let length = guess.symbols().len();
    let (mut guess, mut secret) = (guess.symbols().to_vec(), secret.symbols().to_vec());
    for place in (0..length).rev() {
        if guess[place] == secret[place] {
            guess.remove(place);
            secret.remove(place);
        }
    }
    let bulls = (length - guess.len()) as u8;
    if rule == FeedbackRule::Bulls {
        return Feedback::Bulls { bulls };
    }
    let mut cows = 0;
    for symbol in guess {
        if let Some(place) = secret.iter().position(|&other| other == symbol) {
            secret.remove(place);
            cows += 1;
        }
    }
    Feedback::Pegs { bulls, cows }
}

fn check(rules: &Rules, guess: &Code, secret: &Code) {
    let answer = rules.answers().feedback(rules.score(guess, secret));
    let expected = naive(rules.feedback(), guess, secret);
    assert_eq!(answer, expected, "{} against {}", rules.text(guess), rules.text(secret));
}

/// The presets, their bulls-only forms, and the corners: the longest code, the largest alphabet, one symbol.
fn rule_sets() -> Vec<Rules> {
    let mut sets: Vec<Rules> = PRESETS.iter().map(|preset| preset.rules()).collect();
    let alphabet: String = ('!'..).take(64).collect();
    for (length, symbols, repeats) in
        [(12, 64, true), (12, 64, false), (12, 12, false), (5, 1, true), (1, 64, false)]
    {
        let alphabet = alphabet.chars().take(symbols).collect();
        let spec = CodeSpec { alphabet, length, repeats, not_first: String::new() };
        sets.push(Rules::codes(&spec, FeedbackRule::Pegs).unwrap());
    }
    let bulls: Vec<Rules> =
        sets.iter().map(|rules| rules.clone().with_feedback(FeedbackRule::Bulls)).collect();
    sets.extend(bulls);
    sets
}

/// A random code of the game, made without its space.
fn random_code(rules: &Rules, rng: &mut TestRng) -> Code {
    let alphabet: Vec<char> = rules.spec().alphabet.chars().collect();
    loop {
        let mut left = alphabet.clone();
        let text: String = (0..rules.length())
            .map(|_| {
                let place = rng.next_u32() as usize % left.len();
                if rules.repeats() { left[place] } else { left.swap_remove(place) }
            })
            .collect();
        // Codes that the rules forbid (a leading zero) are drawn again.
        if let Ok(code) = rules.code(&text) {
            return code;
        }
    }
}

#[test]
fn a_million_random_pairs_of_every_rule_set_score_as_the_oracle_says() {
    for rules in rule_sets() {
        let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        // A thousand guesses against a thousand secrets, scored one by one and in bulk.
        let mut draw =
            |count| (0..count).map(|_| random_code(&rules, &mut rng)).collect::<Vec<Code>>();
        let (guesses, secrets) = (draw(1000), draw(1000));
        let bulk = score_matrix(&rules, &guesses, &secrets, &Budget::unlimited()).unwrap();
        for (guess, row) in guesses.iter().zip(bulk.chunks(secrets.len())) {
            for (secret, &class) in secrets.iter().zip(row) {
                check(&rules, guess, secret);
                assert_eq!(class, rules.score(guess, secret).0);
            }
            let mut counts = vec![0; rules.answers().list().len()];
            row.iter().for_each(|&class| counts[usize::from(class)] += 1);
            assert_eq!(row_histogram(&rules, row), counts);
        }
    }
}

fn exhaustively(game: Game) {
    let codes: Vec<Code> = (0..game.size()).map(|index| game.code(index)).collect();
    for guess in &codes {
        for secret in &codes {
            check(game.rules(), guess, secret);
        }
    }
}

#[test]
fn all_1296_times_1296_pairs_score_as_the_oracle_says() {
    exhaustively(game(Rules::preset("mastermind").unwrap()));
}

#[test]
fn all_5040_times_5040_pairs_score_as_the_oracle_says() {
    exhaustively(game(rules(4, 10, false)));
}
