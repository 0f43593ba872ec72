//! Answers that may be untrue, for every game and every strategy.

mod common;

use common::{
    any::{any_kind_of_game, any_words, left, position_of},
    game, rules,
};
use herdsman_engine::{
    Budget, Choice, Class, Code, Game, History, MAX_LIES, MAX_TURNS, Pool, Rules, Strategy as Play,
    Tie, Turn, first_conflict_lying, suggest_lying,
};
use proptest::{collection::vec, prelude::*, sample::Index};

/// A game of which a whole play is quick.
fn any_short_game() -> impl Strategy<Value = Game> {
    let codes =
        (1..=3, 1_usize..=5).prop_map(|(length, symbols)| game(rules(length, symbols, true)));
    let numbers = (0..25).prop_map(|max| game(Rules::numbers(0, max).unwrap()));
    prop_oneof![codes, any_words(), numbers]
}

/// Any strategy that can play a game, with any options.
fn any_player(game: &Game, which: Index, pool: Index, seed: u64) -> Choice {
    let able = Play::ALL.into_iter().filter(|play| play.obstacle(game.rules()).is_none());
    let able: Vec<Play> = able.collect();
    let (strategy, tie) = (*which.get(&able), Tie::default());
    Choice { strategy, tie, pool: *pool.get(&[Pool::Any, Pool::Consistent, Pool::Hints]), seed }
}

/// How many of the turns a code contradicts.
fn contradicted(game: &Game, turns: &[Turn], code: &Code) -> usize {
    turns.iter().filter(|turn| game.rules().score(&turn.guess, code) != turn.class).count()
}

/// Plays a game to its end against a host who gives another answer than the true one at these turns, if that is not the
/// winning one. At every turn the secret is possible.
fn play(
    game: &Game,
    secret: &Code,
    choice: &Choice,
    max_lies: usize,
    lies: &[(usize, Class)],
) -> Vec<Turn> {
    let (answers, budget) = (game.rules().answers(), Budget::unlimited());
    let mut turns: Vec<Turn> = vec![];
    while turns.last().is_none_or(|turn| turn.class != answers.winning()) {
        assert!(turns.len() < MAX_TURNS, "{choice:?} goes in circles");
        let history = History::new(turns.clone()).unwrap();
        let suspects = game.suspects(&history, max_lies, &budget).unwrap();
        let told = contradicted(game, &turns, secret);
        assert!(suspects.by_lies()[told].contains(&game.index(secret)));
        let advice = suggest_lying(game, &history, &suspects, choice, 1, &budget).unwrap();
        let guess = advice.suggestions[0].guess;
        let lie = lies.iter().find(|(turn, _)| *turn == turns.len());
        let class = lie.map_or_else(|| game.rules().score(&guess, secret), |lie| lie.1);
        turns.push(Turn { guess, class });
    }
    turns
}

proptest! {
    #[test]
    fn suspects_are_told_apart_by_what_they_contradict(
        (game, secret, mut turns) in position_of(any_kind_of_game(), 6),
        untrue in vec(any::<(Index, Index)>(), 0..3),
        max_lies in 0..=MAX_LIES,
    ) {
        for (turn, class) in untrue {
            if !turns.is_empty() {
                let turn = turn.index(turns.len());
                turns[turn].class.0 = class.index(game.rules().answers().count()) as u32;
            }
        }
        let budget = Budget::unlimited();
        let history = History::new(turns.clone()).unwrap();
        let suspects = game.suspects(&history, max_lies, &budget).unwrap();
        prop_assert_eq!(suspects.by_lies().len(), max_lies + 1);
        // The winning answer is always true.
        let winning = game.rules().answers().winning();
        let won = |code: &Code| turns.iter().all(|turn| turn.class != winning || turn.guess == *code);
        let all = left(&game, &[]);
        for (lies, found) in suspects.by_lies().iter().enumerate() {
            let fits = |index: &u32| {
                let code = game.code(*index);
                contradicted(&game, &turns, &code) == lies && won(&code)
            };
            let expected: Vec<u32> = all.iter().copied().filter(fits).collect();
            prop_assert_eq!(found, &expected);
        }
        prop_assert_eq!(&suspects.by_lies()[0], &left(&game, &turns));
        if won(&secret) && contradicted(&game, &turns, &secret) <= max_lies {
            prop_assert!(!suspects.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_host_is_found_out_whatever_it_lies_about_and_when(
        (game, secret, _) in position_of(any_short_game(), 1),
        (which, pool, seed) in any::<(Index, Index, u64)>(),
        max_lies in 1..=MAX_LIES,
        lies in vec((0_usize..8, any::<Index>()), 0..=MAX_LIES),
    ) {
        let choice = any_player(&game, which, pool, seed);
        // Any answer but the winning one, which is the last.
        let other = game.rules().answers().count() - 1;
        let lies = lies.iter().take(max_lies).map(|(turn, class)| (*turn, Class(class.index(other) as u32)));
        let lies: Vec<(usize, Class)> = lies.collect();
        let turns = play(&game, &secret, &choice, max_lies, &lies);
        prop_assert_eq!(turns.last().map(|turn| turn.guess), Some(secret));
        // The secret is known, and so is every answer that was untrue.
        let history = History::new(turns.clone()).unwrap();
        let suspects = game.suspects(&history, max_lies, &Budget::unlimited()).unwrap();
        let told = contradicted(&game, &turns, &secret);
        prop_assert!(told <= lies.len());
        prop_assert_eq!(suspects.by_lies().concat(), [game.index(&secret)]);
        prop_assert_eq!(&suspects.by_lies()[told], &[game.index(&secret)]);
    }
}

#[test]
fn one_lie_at_any_turn_is_found_out_by_every_strategy() {
    let game = game(rules(3, 4, true));
    let answers = game.rules().answers();
    let mut found_out = 0;
    for strategy in Play::ALL {
        let choice = Choice { strategy, ..Choice::default() };
        for (secret, turn) in (0..game.size()).step_by(7).zip((0..4).cycle()) {
            let secret = game.code(secret);
            for lie in 0..answers.winning().0 {
                let turns = play(&game, &secret, &choice, 1, &[(turn, Class(lie))]);
                assert_eq!(turns.last().map(|turn| turn.guess), Some(secret));
                found_out += contradicted(&game, &turns, &secret);
            }
        }
    }
    assert!(found_out > 500, "{found_out} lies");
}

#[test]
fn a_contradiction_begins_where_more_answers_are_untrue_than_may_be() {
    let game = game(Rules::preset("bulls-and-cows", None).unwrap());
    // No code has so many bulls in each: the more lies, the later it shows.
    let turns = ["0123", "4567", "8901", "2345"].map(|guess| (guess, 3, 0));
    let history = common::history(game.rules(), &turns);
    let budget = Budget::unlimited();
    for lies in 0..=MAX_LIES {
        let expected = (1..=turns.len()).find(|&turn| {
            let beginning = History::new(history.turns()[..turn].to_vec()).unwrap();
            game.suspects(&beginning, lies, &budget).unwrap().is_empty()
        });
        assert_eq!(first_conflict_lying(&game, &history, lies, &budget).unwrap(), expected);
    }
}
