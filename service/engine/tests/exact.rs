//! Proven play against published values, against a search that knows no shortcut, and against itself.

mod common;
#[path = "common/plain.rs"]
mod plain;

use common::{game, golden, history, rules};
use herdsman_engine::{
    Budget, Candidates, Choice, FeedbackRule, Game, Goal, History, Objective, Progress, Rules,
    Solution, SolveError, SolveLimits, Strategy as Play, Trial, Turn, book, books, evaluate, solve,
    suggest,
};
use plain::Plain;
use proptest::{collection::vec, prelude::*, sample::Index};

fn everything(game: &Game) -> Candidates {
    game.candidates(&History::default(), &Budget::unlimited()).unwrap()
}

fn prove(game: &Game, candidates: &Candidates, goal: Goal) -> Result<Solution, SolveError> {
    let (limits, progress) = (SolveLimits::default(), Progress::default());
    let solution = solve(game, candidates, goal, limits, &progress, &Budget::unlimited())?;
    // What is claimed is what the tree does.
    let played = solution.tree.play(game, candidates.indices()).unwrap();
    assert_eq!((solution.total, solution.max), (played.total, played.max));
    assert_eq!(solution.histogram, played.histogram);
    Ok(solution)
}

fn goal(objective: Objective) -> Goal {
    Goal { objective, ..Goal::default() }
}

/// Games of more codes than this are proven in the release tests.
const SMALL: u32 = 1500;

#[test]
fn least_totals_are_the_published_ones() {
    for row in golden("optimal.tsv") {
        let mut game = common::golden_game(&row);
        if game.size() > SMALL {
            continue;
        }
        if row[3] == "bulls" {
            let rules = game.rules().clone().with_feedback(FeedbackRule::Bulls).unwrap();
            game = common::game(rules);
        }
        let solution = prove(&game, &everything(&game), goal(Objective::Expected)).unwrap();
        assert_eq!(solution.total.to_string(), row[4], "{row:?}");
        // The row names the worst case of one such strategy; ours is the least.
        assert!(row[5] == "-" || solution.max <= row[5].parse().unwrap(), "{row:?}");
    }
}

#[test]
fn least_worst_cases_are_the_published_ones() {
    for row in golden("worst_case.tsv") {
        let game = common::golden_game(&row);
        if game.size() > SMALL {
            continue;
        }
        let all = everything(&game);
        let solution = prove(&game, &all, goal(Objective::WorstCase)).unwrap();
        assert_eq!(solution.max.to_string(), row[3], "{row:?}");
        let fewest = prove(&game, &all, goal(Objective::FewestAtMax)).unwrap();
        assert_eq!(fewest.max, solution.max);
        assert!(fewest.histogram.last() <= solution.histogram.last());
        assert!(fewest.total >= solution.total);
        let max_guesses = solution.max - 1;
        let below = Goal {
            objective: Objective::Expected,
            max_guesses: Some(max_guesses),
            ..Goal::default()
        };
        assert_eq!(prove(&game, &all, below), Err(SolveError::Impossible { max_guesses }));
    }
}

#[test]
fn mastermind_within_five_guesses_costs_one_more() {
    let game = game(Rules::preset("mastermind", None).unwrap());
    let capped = Goal { objective: Objective::Expected, max_guesses: Some(5), ..Goal::default() };
    let solution = prove(&game, &everything(&game), capped).unwrap();
    assert_eq!((solution.total, solution.max), (5626, 5));
}

#[test]
fn endgames_take_what_they_take() {
    let game = game(Rules::preset("bulls-and-cows", None).unwrap());
    for row in golden("endgames.tsv") {
        let [bulls, cows, count, guesses] = [0, 1, 2, 3].map(|i| row[i].parse::<i32>().unwrap());
        let history = history(game.rules(), &[("1234", bulls, cows)]);
        let left = game.candidates(&history, &Budget::unlimited()).unwrap();
        assert_eq!(left.len() as i32, count);
        let solution = prove(&game, &left, goal(Objective::WorstCase)).unwrap();
        assert_eq!(solution.max as i32 + 1, guesses, "{row:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_search_without_shortcuts_finds_the_same(
        (length, symbols, repeats) in (1_i32..=3, 2_usize..=5, any::<bool>())
            .prop_filter("enough symbols", |&(length, symbols, repeats)| repeats || length as usize <= symbols),
        no_leading_zero: bool,
        secret: Index,
        guesses in vec(any::<Index>(), 0..3),
        cap in 1_u32..6,
    ) {
        let mut spec = rules(length, symbols, repeats).code_spec().unwrap();
        if no_leading_zero {
            spec.not_first = "0".into();
        }
        let game = game(Rules::codes(&spec, Default::default()).unwrap());
        let pick = |index: Index| game.code(index.index(game.size() as usize) as u32);
        let secret = pick(secret);
        let turns = guesses.into_iter().map(|guess| {
            let guess = pick(guess);
            Turn { guess, class: game.rules().score(&guess, &secret) }
        });
        let left = game
            .candidates(&History::new(turns.collect()).unwrap(), &Budget::unlimited())
            .unwrap();
        prop_assume!(left.len() <= 14);
        let mut plain = Plain::new(&game);
        let most = left.len() as u32;
        let total = plain.total(left.indices(), most).unwrap();
        let max = (1..).find(|&guesses| plain.total(left.indices(), guesses).is_some()).unwrap();
        let expected = prove(&game, &left, goal(Objective::Expected)).unwrap();
        prop_assert_eq!(expected.total, u64::from(total));
        let least_max = (1..).find(|&guesses| plain.total(left.indices(), guesses) == Some(total));
        prop_assert_eq!(Some(expected.max), least_max);
        let worst = prove(&game, &left, goal(Objective::WorstCase)).unwrap();
        prop_assert_eq!(worst.max, max);
        prop_assert_eq!(Some(worst.total), plain.total(left.indices(), max).map(u64::from));
        let capped = Goal { objective: Objective::Expected, max_guesses: Some(cap), ..Goal::default() };
        let capped = prove(&game, &left, capped).ok().map(|solution| solution.total);
        prop_assert_eq!(capped, plain.total(left.indices(), cap).map(u64::from));
    }
}

#[test]
fn threads_and_memory_change_nothing() {
    let game = game(rules(4, 5, true));
    let all = everything(&game);
    let alone = prove(&game, &all, goal(Objective::Expected)).unwrap();
    assert_eq!((alone.total, alone.max), (2463, 5));
    for (threads, memo_bytes) in [(2, 512 << 20), (3, 512 << 20), (1, 1 << 16), (2, 1 << 16)] {
        let limits = SolveLimits { threads, memo_bytes, ..SolveLimits::default() };
        let progress = Progress::default();
        let budget = Budget::unlimited();
        let other = solve(&game, &all, Goal::default(), limits, &progress, &budget).unwrap();
        assert_eq!(other, alone, "{limits:?}");
        assert_eq!((progress.best(), progress.bound()), (Some(2463), 2463));
        // More than one thread measures alone.
        assert!(progress.nodes() > 256);
    }
}

#[test]
fn a_search_ends_when_it_is_told_to() {
    let game = game(Rules::preset("bulls-and-cows", None).unwrap());
    let all = everything(&game);
    let budget = Budget::unlimited();
    let limits = SolveLimits { max_nodes: 1000, ..SolveLimits::default() };
    let ended = solve(&game, &all, Goal::default(), limits, &Progress::default(), &budget);
    assert_eq!(ended, Err(SolveError::Stopped));
    budget.stop.stop();
    let limits = SolveLimits { threads: 2, ..SolveLimits::default() };
    let ended = solve(&game, &all, Goal::default(), limits, &Progress::default(), &budget);
    assert_eq!(ended, Err(SolveError::Stopped));
}

#[test]
fn every_book_plays_its_game_to_the_end() {
    let mut bytes = 0;
    for (name, rules, objective) in books() {
        let game = game(rules);
        let solution = book(&game, &History::default(), objective).unwrap();
        let played = solution.tree.play(&game, everything(&game).indices()).unwrap();
        assert_eq!((played.total, played.max), (solution.total, solution.max), "{name}");
        bytes += herdsman_engine::encode_book(&game, objective, &solution).len();
    }
    assert!(bytes < 64 << 10, "{bytes} bytes of books");
}

#[test]
fn what_is_proven_here_is_in_the_books() {
    for row in golden("proven_here.tsv") {
        let mut spec = common::golden_game(&row).rules().code_spec().unwrap();
        spec.not_first = row[3].replace('-', "");
        let game = game(Rules::codes(&spec, Default::default()).unwrap());
        let book = book(&game, &History::default(), Objective::Expected).unwrap();
        let first = game.rules().text(&book.tree.root().guess());
        assert_eq!([book.total.to_string(), book.max.to_string(), first], row[4..7], "{row:?}");
    }
}

#[test]
fn small_books_are_proven_afresh() {
    for (name, rules, objective) in books() {
        let game = game(rules);
        if game.size() <= SMALL {
            let fresh = prove(&game, &everything(&game), goal(objective)).unwrap();
            let book = book(&game, &History::default(), objective).unwrap();
            assert_eq!((book.total, book.max), (fresh.total, fresh.max), "{name}");
        }
    }
}

#[test]
fn optimal_play_follows_the_book_to_its_total() {
    for (preset, strategy) in [
        ("mastermind", Play::Optimal),
        ("mastermind", Play::OptimalWorstCase),
        ("bulls-and-cows-3", Play::Optimal),
    ] {
        let game = game(Rules::preset(preset, None).unwrap());
        let objective = match strategy {
            Play::Optimal => Objective::Expected,
            _ => Objective::WorstCase,
        };
        let book = book(&game, &History::default(), objective).unwrap();
        let choice = Choice { strategy, ..Choice::default() };
        let played =
            evaluate(&game, &choice, &Trial::default(), &Default::default(), &Budget::unlimited())
                .unwrap();
        assert_eq!((played.total, played.max), (book.total, book.max), "{preset}");
    }
}

proptest! {
    #[test]
    fn a_book_is_followed_under_any_names(
        symbols in Just((0..10).collect::<Vec<usize>>()).prop_shuffle(),
        places in Just((0..4).collect::<Vec<usize>>()).prop_shuffle(),
        secret in 0_u32..5040,
    ) {
        let game = game(Rules::preset("bulls-and-cows", None).unwrap());
        let alphabet: Vec<char> = game.rules().code_spec().unwrap().alphabet.chars().collect();
        let rename = |code: &herdsman_engine::Code| {
            let text: String =
                places.iter().map(|&at| alphabet[symbols[usize::from(code.symbols()[at])]]).collect();
            game.rules().code(&text).unwrap()
        };
        // The book's own line against a secret, and the same line renamed, its turns reversed.
        let secret = game.code(secret);
        let solution = book(&game, &History::default(), Objective::Expected).unwrap();
        let (mut node, mut turns) = (solution.tree.root(), vec![]);
        loop {
            let class = game.rules().score(&node.guess(), &secret);
            let Some(next) = node.after(class) else { break };
            turns.push(Turn { guess: rename(&node.guess()), class });
            node = next;
            let mut reversed = turns.clone();
            reversed.reverse();
            let history = History::new(reversed).unwrap();
            let left = game.candidates(&history, &Budget::unlimited()).unwrap();
            let choice = Choice { strategy: Play::Optimal, ..Choice::default() };
            let advice = suggest(&game, &history, &left, &choice, 1, &Budget::unlimited()).unwrap();
            prop_assert_eq!(advice.proven, Some(node.value()));
            let from_here = book(&game, &history, Objective::Expected).unwrap();
            prop_assert_eq!((from_here.total, from_here.max), (node.value().total, node.value().max));
            if left.len() > 1 {
                prop_assert_eq!(from_here.tree.root().guess(), advice.suggestions[0].guess);
            }
            prop_assert!(advice.from_book || left.len() == 1);
        }
    }
}

#[test]
fn off_the_book_a_few_candidates_are_solved_on_the_spot() {
    let game = game(Rules::preset("bulls-and-cows", None).unwrap());
    let turns = [("9876", 0, 1), ("1234", 1, 1), ("5634", 0, 2)];
    let history = history(game.rules(), &turns);
    let left = game.candidates(&history, &Budget::unlimited()).unwrap();
    for (strategy, objective) in
        [(Play::Optimal, Objective::Expected), (Play::OptimalWorstCase, Objective::WorstCase)]
    {
        let choice = Choice { strategy, ..Choice::default() };
        let advice = suggest(&game, &history, &left, &choice, 1, &Budget::unlimited()).unwrap();
        let solution = prove(&game, &left, goal(objective)).unwrap();
        let value = advice.proven.unwrap();
        assert!(!advice.from_book && left.len() > 10);
        assert_eq!((value.total, value.max), (solution.total, solution.max));
    }
}

#[test]
fn play_that_is_longer_than_a_history_is_refused_and_does_no_harm() {
    // All codes are anagrams, so that a total tells nothing but whether a guess is right: one code goes at a time.
    let total = |places| {
        let game = rules(places, places as usize, false).with_feedback(FeedbackRule::Total);
        common::game(game.unwrap())
    };
    let game = total(5);
    assert_eq!(
        prove(&game, &everything(&game), goal(Objective::Expected)),
        Err(SolveError::TooLong)
    );
    let game = total(4);
    let solution = prove(&game, &everything(&game), goal(Objective::Expected)).unwrap();
    assert_eq!((solution.total, solution.max), (24 * 25 / 2, 24));
}
