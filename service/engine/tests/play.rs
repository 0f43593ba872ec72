//! Whole games: one at a time, all at once, two players against each other, and hosts without a secret.

mod common;

use std::{cmp::Reverse, collections::BTreeMap};

use common::{
    any::{any_kind_of_game, left, pick, position_of},
    game, rules,
};
use herdsman_engine::{
    Budget, Choice, Code, Evaluation, FeedbackRule, Game, Goal, History, HostPolicy, Level,
    Objective, PRESETS, Played, Pool, Progress, Rules, SolveLimits, Strategy as Play, Trial, Turn,
    WordList, duel, evaluate, host_answer, keeps_hints, partition, simulate, solve, suggest,
};
use proptest::{prelude::*, sample::Index};

fn play(game: &Game, turns: &[Turn], secret: &Code, choice: &Choice) -> Vec<Played> {
    let history = History::new(turns.to_vec()).unwrap();
    simulate(game, &history, secret, choice, &Budget::unlimited()).unwrap()
}

fn fare(game: &Game, turns: &[Turn], choice: &Choice) -> Evaluation {
    let trial = Trial { history: History::new(turns.to_vec()).unwrap(), ..Trial::default() };
    evaluate(game, choice, &trial, &Default::default(), &Budget::unlimited()).unwrap()
}

fn words(secrets: &[&str], guesses: &[&str], feedback: FeedbackRule) -> Game {
    game(Rules::words(WordList::new(secrets, guesses, &[]).unwrap(), feedback).unwrap())
}

/// Endings that differ in one letter only, and words that tell some of them apart at once.
fn endings() -> Game {
    let secrets = ["batch", "catch", "hatch", "latch", "match", "patch", "watch"];
    words(&secrets, &["clamp", "stare"], FeedbackRule::Marks)
}

/// A game of every kind, small.
fn games() -> [Game; 5] {
    let bulls = rules(3, 4, true).with_feedback(FeedbackRule::Bulls).unwrap();
    let numbers = Rules::numbers(-3, 20).unwrap();
    [game(rules(3, 5, true)), game(rules(3, 6, false)), game(bulls), game(numbers), endings()]
}

#[test]
fn games_played_one_by_one_are_those_of_the_evaluation() {
    for game in games() {
        let all = left(&game, &[]);
        let guess = game.code(all[all.len() / 2]);
        let class = game.rules().score(&guess, &game.code(all[0]));
        for strategy in Play::ALL {
            if strategy.obstacle(game.rules()).is_some() {
                continue;
            }
            for (turns, seed) in [(vec![], 1), (vec![Turn { guess, class }], 2)] {
                let choice = Choice { strategy, seed, ..Choice::default() };
                let mut histogram = vec![];
                for secret in left(&game, &turns) {
                    let played = play(&game, &turns, &game.code(secret), &choice);
                    let last = played.last().unwrap();
                    assert_eq!(last.turn.guess, game.code(secret));
                    histogram.resize(histogram.len().max(played.len()), 0);
                    histogram[played.len() - 1] += 1;
                    assert_eq!(played[0].remaining, left(&game, &turns).len());
                }
                assert_eq!(fare(&game, &turns, &choice).histogram, histogram, "{choice:?}");
            }
        }
    }
}

#[test]
fn every_level_plays_every_named_game_to_its_end() {
    for preset in PRESETS {
        let words = preset.has_words().then(|| {
            let words = ["stone", "shore", "horse", "store", "those", "ghost", "hosts", "torso"];
            WordList::new(&words, &["tramp"], &[]).unwrap()
        });
        let game = game(preset.rules(words).unwrap());
        for level in Level::ALL {
            let choice = level.choice(game.rules(), 5);
            assert_eq!(choice.strategy.obstacle(game.rules()), None, "{} {level:?}", preset.name);
            let secrets = left(&game, &[]);
            let secret = game.code(secrets[secrets.len() * 2 / 3]);
            let played = play(&game, &[], &secret, &choice);
            let last = played.last().unwrap().turn.guess;
            assert_eq!(last, secret, "{} {level:?}", preset.name);
        }
    }
}

#[test]
fn levels_are_in_order_of_strength() {
    for game in games() {
        let mean = |level: Level| fare(&game, &[], &level.choice(game.rules(), 1)).total;
        let totals = Level::ALL.map(mean);
        assert!(totals[1..].is_sorted_by(|weaker, stronger| weaker >= stronger), "{totals:?}");
    }
}

#[test]
fn of_101_numbers_any_is_found_in_7_guesses() {
    let game = game(Rules::numbers(0, 100).unwrap());
    for strategy in [Play::Optimal, Play::OptimalWorstCase] {
        assert_eq!(fare(&game, &[], &Choice { strategy, ..Choice::default() }).max, 7);
    }
}

#[test]
fn numbers_take_no_more_guesses_than_they_must() {
    // The least total of `n` numbers: each takes a guess, and what is below it and above it is left.
    let mut least = vec![0];
    for n in 1..=130 {
        let after = |guess: usize| least[guess] + least[n - 1 - guess];
        least.push(n as u64 + (0..n).map(after).min().unwrap());
    }
    for n in (1..=40).chain(120..=130) {
        let game = game(Rules::numbers(1, n).unwrap());
        for strategy in [Play::Optimal, Play::OptimalWorstCase] {
            let choice = Choice { strategy, ..Choice::default() };
            let fares = fare(&game, &[], &choice);
            assert_eq!(fares.total, least[n as usize], "{n} numbers");
            assert_eq!(fares.max, n.ilog2() + 1, "{n} numbers");
            let first = &play(&game, &[], &game.code(0), &choice)[0];
            assert!(first.proven);
        }
    }
}

#[test]
fn a_probe_outside_the_candidates_tells_endings_apart() {
    let game = endings();
    for strategy in
        [Play::Entropy, Play::MostParts, Play::ExpectedSize, Play::Minimax, Play::Optimal]
    {
        let choice = Choice { strategy, ..Choice::default() };
        let all = game.candidates(&History::default(), &Budget::unlimited()).unwrap();
        let advice =
            suggest(&game, &History::default(), &all, &choice, 1, &Budget::unlimited()).unwrap();
        let best = advice.suggestions[0];
        assert_eq!(game.rules().text(&best.guess), "clamp", "{strategy:?}");
        assert!(!best.candidate);
        // One word after another would take up to seven.
        assert!(fare(&game, &[], &choice).max <= 4);
    }
}

/// Whether every code of a set can be found within so many guesses: every guess in turn.
fn within(game: &Game, set: &[u32], guesses: u32) -> bool {
    if set.len() <= 1 || guesses == 0 {
        return set.len() <= guesses as usize;
    }
    (0..game.size()).any(|guess| {
        let mut parts: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for &code in set {
            let class = game.rules().score(&game.code(guess), &game.code(code));
            parts.entry(class).or_default().push(code);
        }
        parts.remove(&game.rules().answers().winning());
        parts.values().all(|part| part.len() < set.len() && within(game, part, guesses - 1))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn twelve_words_are_found_as_soon_as_any_strategy_can(
        words in proptest::collection::btree_set("[a-e]{5}", 12),
    ) {
        let words: Vec<String> = words.into_iter().collect();
        let list = WordList::new(&words, &words[..0], &[]).unwrap();
        let game = game(Rules::preset("likeness", Some(list)).unwrap());
        let all: Vec<u32> = (0..12).collect();
        let least = (1..).find(|&guesses| within(&game, &all, guesses)).unwrap();
        let choice = Choice { strategy: Play::OptimalWorstCase, ..Choice::default() };
        prop_assert_eq!(fare(&game, &[], &choice).max, least);
    }
}

proptest! {
    #[test]
    fn candidates_and_suggestions_of_hard_mode_keep_the_hints(
        (game, _, turns) in position_of(any_kind_of_game(), 6),
        strategy in 0..Play::ALL.len(),
    ) {
        let history = History::new(turns.clone()).unwrap();
        let candidates = game.candidates(&history, &Budget::unlimited()).unwrap();
        let keeps = |guess: &Code| keeps_hints(game.rules(), &turns, guess);
        prop_assert!(candidates.indices().iter().all(|&index| keeps(&game.code(index))));
        let choice = Choice { strategy: Play::ALL[strategy], pool: Pool::Hints, ..Choice::default() };
        if choice.strategy.options().contains(&"pool") {
            let advice = suggest(&game, &history, &candidates, &choice, 5, &Budget::unlimited()).unwrap();
            prop_assert!(advice.suggestions.iter().all(|suggestion| keeps(&suggestion.guess)));
        }
    }

    #[test]
    fn a_host_keeps_the_most_candidates(
        (game, _, turns) in position_of(any_kind_of_game(), 5),
        guess: Index,
    ) {
        let (budget, limits) = (Budget::unlimited(), SolveLimits::default());
        let candidates = game.candidates(&History::new(turns).unwrap(), &budget).unwrap();
        let guess = pick(&game, guess);
        let policy = HostPolicy::MostCandidates;
        let answer = host_answer(&game, &candidates, &guess, policy, limits, &budget).unwrap();
        let winning = game.rules().answers().winning();
        let split = partition(&game, &candidates, &guess, &budget).unwrap();
        prop_assert_eq!(answer.class == winning, split.parts() == [(winning, 1)]);
        let others = split.parts().iter().filter(|part| part.0 != winning || split.parts().len() == 1);
        let most = others.max_by_key(|&&(class, count)| (count, Reverse(class))).unwrap();
        prop_assert_eq!((answer.class, answer.remaining), (most.0, most.1 as usize));
    }
}

#[test]
fn the_optimal_host_holds_out_as_long_as_is_proven() {
    let (budget, limits) = (Budget::unlimited(), SolveLimits::default());
    for game in [rules(3, 5, true), rules(3, 6, false), rules(4, 4, true)].map(game) {
        let all = game.candidates(&History::default(), &budget).unwrap();
        let goal = Goal { objective: Objective::WorstCase, ..Goal::default() };
        let proven = solve(&game, &all, goal, limits, &Progress::default(), &budget).unwrap().max;
        for strategy in [Play::OptimalWorstCase, Play::Minimax, Play::FirstConsistent] {
            let choice = Choice { strategy, ..Choice::default() };
            let mut turns: Vec<Turn> = vec![];
            while turns.last().is_none_or(|t| t.class != game.rules().answers().winning()) {
                let history = History::new(turns.clone()).unwrap();
                let candidates = game.candidates(&history, &budget).unwrap();
                let advice = suggest(&game, &history, &candidates, &choice, 1, &budget).unwrap();
                let guess = advice.suggestions[0].guess;
                let policy = HostPolicy::Optimal;
                let answer = host_answer(&game, &candidates, &guess, policy, limits, &budget);
                let answer = answer.unwrap();
                assert!(answer.proven);
                turns.push(Turn { guess, class: answer.class });
                assert_eq!(answer.remaining, left(&game, &turns).len());
            }
            let needed = turns.len() as u32;
            if strategy == Play::OptimalWorstCase {
                assert_eq!(needed, proven);
            }
            assert!(needed >= proven, "{strategy:?} needs {needed}");
        }
    }
}

#[test]
fn a_host_that_may_not_prove_enough_keeps_the_most_candidates() {
    let (game, budget) = (game(rules(3, 6, true)), Budget::unlimited());
    let all = game.candidates(&History::default(), &budget).unwrap();
    let limits = SolveLimits { max_nodes: 1, ..SolveLimits::default() };
    let answer = |policy| host_answer(&game, &all, &game.code(7), policy, limits, &budget).unwrap();
    assert_eq!(answer(HostPolicy::Optimal), answer(HostPolicy::MostCandidates));
}

/// Draws numbers below `most`, the same ones every time.
fn draw(state: &mut u64, most: usize) -> usize {
    // A linear congruence (Knuth, MMIX) of which the upper half is used.
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (((*state >> 32) * most as u64) >> 32) as usize
}

#[test]
fn a_duel_is_as_a_million_games_have_it() {
    const GAMES: u32 = 1_000_000;
    let game = game(rules(3, 6, true));
    let players = [Play::Entropy, Play::FirstConsistent]
        .map(|strategy| Choice { strategy, ..Choice::default() });
    // What each secret takes, from games that are played one by one.
    let needs = players.map(|choice| {
        let guesses = |secret| play(&game, &[], &game.code(secret), &choice).len();
        (0..game.size()).map(guesses).collect::<Vec<usize>>()
    });
    let (mut seed, mut counts) = (1, [0_u32; 3]);
    for _ in 0..GAMES {
        let [mine, theirs] = needs.each_ref().map(|needs| needs[draw(&mut seed, needs.len())]);
        counts[(mine.cmp(&theirs) as i8 + 1) as usize] += 1;
    }
    let [first, second] = players.map(|choice| fare(&game, &[], &choice));
    let chances = duel(&first, &second);
    for (count, chance) in counts.into_iter().zip([chances.win, chances.draw, chances.lose]) {
        let error = (chance * (1.0 - chance) / f64::from(GAMES)).sqrt();
        let off = f64::from(count) / f64::from(GAMES) - chance;
        assert!(off.abs() < 4.0 * error, "{counts:?}, {chances:?}");
    }
}

#[test]
fn whoever_duels_with_an_equal_wins_as_often_as_it_loses() {
    let mastermind = game(Rules::preset("mastermind", None).unwrap());
    let alone = fare(&mastermind, &[], &Choice::default());
    assert_eq!(alone.total, 5625);
    let chances = duel(&alone, &alone);
    assert_eq!(chances.win, chances.lose);
    assert!((chances.win + chances.draw + chances.lose - 1.0).abs() < 1e-12);
}
