//! Scores against the plainest program that counts bulls and cows: pegs are crossed off one by one.

mod common;

use common::{game, rules};
use herdsman_engine::{
    Budget, Code, CodeSpec, Feedback, FeedbackRule, Game, MAX_LENGTH, Mark, Order, PRESETS, Rules,
    cell_bytes, row_histogram, score_matrix,
};
use proptest::{
    prelude::Rng as _,
    test_runner::{RngAlgorithm, TestRng},
};

/// Crosses off the bulls, and then for each symbol left in the guess, from left to right, one like it in the secret: what
/// became of each place, 2 for a bull and 1 for a cow.
fn naive(guess: &[u8], secret: &[u8]) -> [u8; MAX_LENGTH] {
    let mut crossed = [false; MAX_LENGTH];
    let mut marks = [0; MAX_LENGTH];
    for place in 0..guess.len() {
        if guess[place] == secret[place] {
            crossed[place] = true;
            marks[place] = 2;
        }
    }
    for place in 0..guess.len() {
        let like = |&at: &usize| !crossed[at] && secret[at] == guess[place];
        if marks[place] != 2
            && let Some(at) = (0..secret.len()).find(like)
        {
            crossed[at] = true;
            marks[place] = 1;
        }
    }
    marks
}

/// Whether an answer says what the oracle found.
fn says(feedback: Feedback, guess: &[u8], secret: &[u8]) -> bool {
    let found = naive(guess, secret);
    let found = &found[..guess.len()];
    let count = |mark| found.iter().filter(|other| **other == mark).count();
    match feedback {
        Feedback::Pegs { bulls, cows } => (bulls.into(), cows.into()) == (count(2), count(1)),
        Feedback::Bulls { bulls } => usize::from(bulls) == count(2),
        Feedback::Total { total, solved } => {
            usize::from(total) == count(2) + count(1) && solved == (count(2) == guess.len())
        }
        Feedback::Marks(marks) => marks.marks().iter().zip(found).all(|(mark, found)| {
            [Mark::Absent, Mark::Misplaced, Mark::Right][usize::from(*found)] == *mark
        }),
        Feedback::Order(order) => match order {
            Order::Lower => secret < guess,
            Order::Higher => secret > guess,
            Order::Equal => secret == guess,
        },
    }
}

fn check(rules: &Rules, guess: &Code, secret: &Code) {
    let class = rules.score(guess, secret);
    let answer = rules.answers().feedback(class);
    let right = says(answer, guess.symbols(), secret.symbols());
    let solved = class == rules.answers().winning();
    if !right || solved != (guess == secret) {
        panic!("{answer:?} to {} if the secret is {}", rules.text(guess), rules.text(secret));
    }
}

/// The presets that have codes, and the corners: the longest code, the largest alphabet, one symbol, marks of one, two
/// and three bytes; each with every kind of answer.
fn rule_sets() -> Vec<Rules> {
    let presets = PRESETS.iter().filter_map(|preset| preset.rules(None).ok());
    let mut sets: Vec<Rules> = presets.filter(|rules| rules.code_spec().is_some()).collect();
    let alphabet: String = ('!'..).take(64).collect();
    for (length, symbols, repeats) in [
        (12, 64, true),
        (12, 64, false),
        (12, 12, false),
        (5, 1, true),
        (1, 64, false),
        (6, 3, true),
        (11, 4, true),
    ] {
        let alphabet = alphabet.chars().take(symbols).collect();
        let spec = CodeSpec { alphabet, length, repeats, not_first: String::new() };
        sets.push(Rules::codes(&spec, FeedbackRule::Pegs).unwrap());
    }
    let rules = [FeedbackRule::Pegs, FeedbackRule::Bulls, FeedbackRule::Total, FeedbackRule::Marks];
    let each = |set: &Rules| rules.map(|rule| set.clone().with_feedback(rule).unwrap());
    sets.iter().flat_map(each).collect()
}

/// A random code of the game, made without its space.
fn random_code(rules: &Rules, rng: &mut TestRng) -> Code {
    let alphabet: Vec<char> = rules.code_spec().unwrap().alphabet.chars().collect();
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
        let width = cell_bytes(&rules);
        for (guess, row) in guesses.iter().zip(bulk.chunks(secrets.len() * width)) {
            let mut counts = vec![0; rules.answers().count().min(256)];
            for (secret, cell) in secrets.iter().zip(row.chunks(width)) {
                check(&rules, guess, secret);
                let mut bytes = [0; 4];
                bytes[..width].copy_from_slice(cell);
                let class = u32::from_le_bytes(bytes);
                assert_eq!(class, rules.score(guess, secret).0);
                counts[class as usize % 256] += 1;
            }
            if width == 1 {
                assert_eq!(row_histogram(&rules, row), counts);
            }
        }
    }
}

#[test]
fn every_pair_of_numbers_is_lower_higher_or_equal() {
    let game = game(Rules::numbers(-3, 300).unwrap());
    assert_eq!((game.rules().text(&game.code(0)), game.size()), ("-3".into(), 304));
    exhaustively(game);
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
    exhaustively(game(Rules::preset("mastermind", None).unwrap()));
}

#[test]
fn all_5040_times_5040_pairs_score_as_the_oracle_says() {
    exhaustively(game(rules(4, 10, false)));
}
