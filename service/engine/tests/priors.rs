//! Secrets that are not all as likely.

mod common;

use std::collections::BTreeMap;

use common::{
    any::{ANSWERS, any_choice},
    game,
};
use herdsman_engine::{
    Budget, Choice, Class, FeedbackRule, Game, History, Pool, Rules, Strategy as Play, Tie, Turn,
    WordList, suggest,
};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
    sample::{Index, select},
};

/// Words, how many of them are secrets, and what these weigh.
type Words = (Vec<String>, usize, Vec<u32>);

fn any_weighted_words() -> impl Strategy<Value = Words> {
    let words = (2_usize..=6)
        .prop_flat_map(|letters| btree_set(vec(select(vec!['a', 'b', 'c', 'd']), letters), 2..50));
    (words, any::<Index>()).prop_flat_map(|(words, secrets)| {
        let words: Vec<String> = words.into_iter().map(String::from_iter).collect();
        let secrets = 1 + secrets.index(words.len());
        (Just(words), Just(secrets), vec(1_u32..=9, secrets))
    })
}

fn word_game((words, secrets, _): &Words, weights: &[u32], answers: usize) -> Game {
    let (secrets, guesses) = words.split_at(*secrets);
    let words = WordList::new(secrets, guesses, weights).unwrap();
    game(Rules::words(words, ANSWERS[answers]).unwrap())
}

/// The best guesses of a strategy, as numbers.
fn best(game: &Game, turns: &[Turn], choice: &Choice, top: usize) -> Vec<u32> {
    let (history, budget) = (History::new(turns.to_vec()).unwrap(), Budget::unlimited());
    let candidates = game.candidates(&history, &budget).unwrap();
    let advice = suggest(game, &history, &candidates, choice, top, &budget).unwrap();
    advice.suggestions.iter().map(|suggestion| game.index(&suggestion.guess)).collect()
}

proptest! {
    #[test]
    fn equal_weights_whatever_they_are_change_no_suggestion(
        words in any_weighted_words(),
        answers in 0..ANSWERS.len(),
        weight in prop_oneof![1_u32..=9, Just(1_000_000)],
        seed: u64,
        turns in vec(any::<Index>(), 0..3),
        secret: Index,
    ) {
        let plain = word_game(&words, &[], answers);
        let weighted = word_game(&words, &vec![weight; words.1], answers);
        let secret = plain.rules().code(&words.0[secret.index(words.1)]).unwrap();
        let turn = |guess: &Index| {
            let guess = plain.code(guess.index(plain.size() as usize) as u32);
            Turn { guess, class: plain.rules().score(&guess, &secret) }
        };
        let turns: Vec<Turn> = turns.iter().map(turn).collect();
        for strategy in Play::ALL {
            if strategy.obstacle(plain.rules()).is_none() {
                let choice = Choice { strategy, seed, ..Choice::default() };
                prop_assert_eq!(best(&weighted, &turns, &choice, 3), best(&plain, &turns, &choice, 3));
            }
        }
    }

    /// As if each secret stood there as often as its weight says.
    #[test]
    fn a_weighted_score_is_that_of_secrets_which_stand_there_so_often(
        words in any_weighted_words(),
        answers in 0..ANSWERS.len(),
        choice in any_choice(),
        top in 1_usize..=5,
    ) {
        let game = word_game(&words, &words.2, answers);
        let stands: Vec<(u32, u32)> = (words.0.iter().zip(&words.2))
            .map(|(word, &weight)| (game.index(&game.rules().code(word).unwrap()), weight))
            .collect();
        let weight = |guess: u32| stands.iter().find(|secret| secret.0 == guess).map_or(0, |secret| secret.1);
        let heaviest = words.2.iter().max().unwrap();
        let mut keys: Vec<_> = (0..game.size())
            .filter(|&guess| choice.pool != Pool::Consistent || weight(guess) > 0)
            .map(|guess| {
                let mut sizes: BTreeMap<Class, u32> = BTreeMap::new();
                for &(secret, weight) in &stands {
                    *sizes.entry(game.rules().score(&game.code(guess), &game.code(secret))).or_default() += weight;
                }
                let largest = *sizes.values().max().unwrap();
                let squares: u32 = sizes.values().map(|n| n * n).sum();
                let unknown: f64 = sizes.values().map(|&n| f64::from(n) * f64::from(n).log2()).sum();
                let score = match choice.strategy {
                    Play::Minimax => f64::from(largest),
                    Play::ExpectedSize => f64::from(squares),
                    Play::Entropy => unknown,
                    Play::EntropyLarmouth => unknown + 2.0 * f64::from(heaviest - weight(guess)),
                    // Classes do not weigh.
                    _ => -(sizes.len() as f64),
                };
                // Equal integers are a little apart as floats.
                let score = (score * 1e6).round() as i64;
                let refined = choice.strategy == Play::MostPartsRefined;
                let then = if refined { (largest, squares) } else { (0, 0) };
                (score, choice.tie == Tie::Candidate && weight(guess) == 0, then, guess)
            })
            .collect();
        keys.sort_unstable();
        let found = best(&game, &[], &choice, top);
        if words.1 > 1 {
            prop_assert_eq!(found, keys.iter().take(top).map(|key| key.3).collect::<Vec<u32>>());
        }
    }
}

#[test]
fn what_is_expected_goes_by_weights_and_nothing_is_proven() {
    let words = WordList::new(&["crane", "slate", "trace"], &[] as &[&str], &[5, 1, 900]).unwrap();
    let game = game(Rules::words(words, FeedbackRule::Marks).unwrap());
    let (history, budget) = (History::default(), Budget::unlimited());
    let all = game.candidates(&history, &budget).unwrap();
    for strategy in [Play::Optimal, Play::Entropy, Play::Minimax] {
        let choice = Choice { strategy, ..Choice::default() };
        let advice = suggest(&game, &history, &all, &choice, 1, &budget).unwrap();
        assert_eq!(advice.proven, None, "{strategy:?}");
        let facts = advice.suggestions[0].facts;
        assert_eq!((facts.largest_class, facts.classes), (1, 3));
        let log = |n: f64| n / 906.0 * (906.0 / n).log2();
        assert!((facts.bits - (log(5.0) + log(1.0) + log(900.0))).abs() < 1e-6);
    }
}
