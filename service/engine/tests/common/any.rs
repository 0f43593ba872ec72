//! Games, positions and choices of any kind, for laws that hold for all of them.

use herdsman_engine::{
    Budget, Choice, Code, FeedbackRule, Game, History, Pool, Rules, Strategy as Play, Tie, Turn,
    WordList,
};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
    sample::{Index, select},
};

use super::{game, rules};

/// A small game of any kind.
pub fn any_game() -> impl Strategy<Value = Game> {
    (1_i32..=4, 1_usize..=6, any::<bool>())
        .prop_filter("enough symbols", |&(length, symbols, repeats)| {
            repeats || length as usize <= symbols
        })
        .prop_map(|(length, symbols, repeats)| game(rules(length, symbols, repeats)))
}

/// A small game of codes, words or numbers, with any kind of answer.
pub fn any_kind_of_game() -> impl Strategy<Value = Game> {
    let codes = (any_rules(), 0..ANSWERS.len()).prop_map(|(pegs, answers)| {
        game(pegs.rules().clone().with_feedback(ANSWERS[answers]).unwrap())
    });
    let numbers =
        (-5..5, 0..60).prop_map(|(min, more)| game(Rules::numbers(min, min + more).unwrap()));
    prop_oneof![4 => codes, 2 => any_words(), 1 => numbers]
}

/// What codes and words can be answered by.
pub const ANSWERS: [FeedbackRule; 4] =
    [FeedbackRule::Pegs, FeedbackRule::Bulls, FeedbackRule::Total, FeedbackRule::Marks];

/// A game of a few words, some of which are guesses only.
pub fn any_words() -> impl Strategy<Value = Game> {
    let word = |letters| vec(select(vec!['a', 'b', 'c', 'd', 'е']), letters);
    let words = (1_usize..=7).prop_flat_map(move |letters| btree_set(word(letters), 1..60));
    (words, any::<Index>(), 0..ANSWERS.len()).prop_map(|(words, secrets, answers)| {
        let words: Vec<String> = words.into_iter().map(String::from_iter).collect();
        let (guesses, secrets) = words.split_at(secrets.index(words.len()));
        let words = WordList::new(secrets, guesses, &[]).unwrap();
        game(Rules::words(words, ANSWERS[answers]).unwrap())
    })
}

/// A game of any rules, so small that all of it is quickly measured, and not too small to be shared.
pub fn any_rules() -> impl Strategy<Value = Game> {
    let spec = (1_usize..=7, 2_usize..=8, any::<bool>(), 0_usize..3, any::<bool>());
    let small = |&(length, symbols, repeats, _, _): &(usize, usize, bool, usize, bool)| {
        let free = |place: usize| if repeats { symbols } else { symbols.saturating_sub(place) };
        (50..=2000).contains(&(0..length).map(free).product::<usize>())
    };
    spec.prop_filter("small", small).prop_map(|(length, symbols, repeats, barred, bulls_only)| {
        let mut spec = rules(length as i32, symbols, repeats).code_spec().unwrap();
        spec.not_first = spec.alphabet[1..].chars().rev().take(barred).collect();
        let feedback = if bulls_only { FeedbackRule::Bulls } else { FeedbackRule::Pegs };
        game(Rules::codes(&spec, feedback).unwrap())
    })
}

/// The strategies that measure guesses.
pub const MEASURES: [Play; 6] = [
    Play::Minimax,
    Play::ExpectedSize,
    Play::Entropy,
    Play::EntropyLarmouth,
    Play::MostParts,
    Play::MostPartsRefined,
];

/// A strategy that measures guesses, with any options.
pub fn any_choice() -> impl Strategy<Value = Choice> {
    let pools = select(vec![Pool::Any, Pool::Consistent, Pool::Hints]);
    let ties = select(vec![Tie::Any, Tie::Candidate]);
    (select(MEASURES.to_vec()), ties, pools).prop_map(|(strategy, tie, pool)| Choice {
        strategy,
        tie,
        pool,
        seed: 0,
    })
}

pub fn pick(game: &Game, index: Index) -> Code {
    game.code(index.index(game.size() as usize) as u32)
}

/// A game, a secret, and the turns of some guesses at it: a history that holds.
pub fn any_position() -> impl Strategy<Value = (Game, Code, Vec<Turn>)> {
    position_of(any_game(), 6)
}

/// The same with fewer than `turns` turns.
pub fn position_of(
    game: impl Strategy<Value = Game>,
    turns: usize,
) -> impl Strategy<Value = (Game, Code, Vec<Turn>)> {
    (game, any::<Index>(), vec(any::<Index>(), 0..turns)).prop_map(|(game, secret, guesses)| {
        let secrets = game.candidates(&History::default(), &Budget::unlimited()).unwrap();
        let secret = game.code(secrets.indices()[secret.index(secrets.len())]);
        let turn = |guess: Index| {
            let guess = pick(&game, guess);
            Turn { guess, class: game.rules().score(&guess, &secret) }
        };
        let turns = guesses.into_iter().map(turn).collect();
        (game, secret, turns)
    })
}

pub fn left(game: &Game, turns: &[Turn]) -> Vec<u32> {
    let history = History::new(turns.to_vec()).unwrap();
    game.candidates(&history, &Budget::unlimited()).unwrap().indices().to_vec()
}
