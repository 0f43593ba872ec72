//! Proven play of words, numbers, and codes answered by something else than pegs.

mod common;
#[path = "common/plain.rs"]
mod plain;

use std::thread;

use common::{game, rules};
use herdsman_engine::{
    Budget, Candidates, FeedbackRule, Game, Given, Goal, History, Objective, Progress, Rules,
    Solution, SolveError, SolveLimits, Turn, WordList, solve,
};
use plain::Plain;
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
    sample::{Index, select, subsequence},
};

fn left(game: &Game, turns: Vec<Turn>) -> Candidates {
    game.candidates(&History::new(turns).unwrap(), &Budget::unlimited()).unwrap()
}

fn prove(
    game: &Game,
    candidates: &Candidates,
    goal: Goal,
    threads: usize,
) -> Result<Solution, SolveError> {
    let limits = SolveLimits { threads, ..SolveLimits::default() };
    let (progress, budget) = (Progress::default(), Budget::unlimited());
    let solution = solve(game, candidates, goal, limits, &progress, &budget)?;
    let played = solution.tree.play(game, candidates.indices()).unwrap();
    assert_eq!((solution.total, solution.max), (played.total, played.max));
    if let Some(guess) = goal.first_guess {
        assert_eq!(solution.tree.root().guess(), guess);
    }
    if goal.objective == Objective::Expected {
        assert_eq!((progress.best(), progress.bound()), (Some(played.total), played.total));
    }
    Ok(solution)
}

/// A game of few letters: its words, and how many of them may be the secret.
fn words() -> impl Strategy<Value = Game> {
    let shape = (1_usize..=7, 2_usize..=5).prop_flat_map(|(length, letters)| {
        let letter = select("abcde".chars().take(letters).collect::<Vec<char>>());
        let word = vec(letter, length).prop_map(String::from_iter);
        (btree_set(word, 1..30).prop_map(Vec::from_iter).prop_shuffle(), 1_usize..=10)
    });
    let rule = select(vec![
        FeedbackRule::Marks,
        FeedbackRule::Pegs,
        FeedbackRule::Bulls,
        FeedbackRule::Total,
    ]);
    (shape, rule).prop_map(|((words, secrets), rule)| {
        let (secrets, guesses) = words.split_at(secrets.min(words.len()));
        game(Rules::words(WordList::new(secrets, guesses, &[]).unwrap(), rule).unwrap())
    })
}

/// A game of words so many that a search of all secrets is shared among its threads.
fn many_words() -> impl Strategy<Value = Game> {
    let all = game(rules(4, 6, true));
    let all: Vec<String> = left(&all, vec![])
        .indices()
        .iter()
        .map(|&code| all.rules().text(&all.code(code)))
        .collect();
    let words = subsequence(all, 1200..=1296).prop_shuffle();
    (words, 120..150_usize).prop_map(|(words, secrets)| {
        let (secrets, guesses) = words.split_at(secrets);
        let words = WordList::new(secrets, guesses, &[]).unwrap();
        game(Rules::words(words, FeedbackRule::Pegs).unwrap())
    })
}

/// A game of short codes, or of long ones of two symbols.
fn codes() -> impl Strategy<Value = Game> {
    let shape = prop_oneof![(2_i32..=3, 2_usize..=5), (6_i32..=7, 2_usize..=2)];
    let rule = select(vec![FeedbackRule::Marks, FeedbackRule::Bulls, FeedbackRule::Total]);
    (shape, rule, any::<bool>()).prop_map(|((length, symbols), rule, not_first)| {
        let mut spec = rules(length, symbols, true).code_spec().unwrap();
        if not_first {
            spec.not_first = "0".into();
        }
        game(Rules::codes(&spec, rule).unwrap())
    })
}

/// Numbers that begin anywhere.
fn numbers() -> impl Strategy<Value = Game> {
    (-300_i32..300, 0_i32..12)
        .prop_map(|(min, more)| game(Rules::numbers(min, min + more).unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_search_without_shortcuts_finds_the_same(
        game in prop_oneof![3 => words(), 2 => codes(), 1 => numbers()],
        secret: Index,
        turns in vec(any::<Index>(), 0..4),
        first: Index,
        cap in 1_u32..6,
        threads in 1_usize..=2,
    ) {
        let all = left(&game, vec![]);
        let secret = game.code(all.indices()[secret.index(all.len())]);
        let pick = |index: Index| game.code(index.index(game.size() as usize) as u32);
        let turns = turns.into_iter().map(|guess| {
            let guess = pick(guess);
            Turn { guess, class: game.rules().score(&guess, &secret) }
        });
        let left = left(&game, turns.collect());
        prop_assume!(left.len() <= 14);
        let mut plain = Plain::new(&game);
        let most = left.len() as u32 + 1;
        let total = plain.total(left.indices(), most).unwrap();
        let max = plain.least_max(left.indices());
        let prove = |goal| prove(&game, &left, goal, threads);

        let expected = prove(Goal::default()).unwrap();
        prop_assert_eq!(expected.total, u64::from(total));
        let least = (1..).find(|&guesses| plain.total(left.indices(), guesses) == Some(total));
        prop_assert_eq!(Some(expected.max), least);

        let worst = prove(Goal { objective: Objective::WorstCase, ..Goal::default() }).unwrap();
        let within = plain.total(left.indices(), max).map(u64::from);
        prop_assert_eq!((worst.max, Some(worst.total)), (max, within));
        let fewest = prove(Goal { objective: Objective::FewestAtMax, ..Goal::default() }).unwrap();
        prop_assert_eq!(fewest.max, max);
        prop_assert!(fewest.histogram.last() <= worst.histogram.last());

        let capped = prove(Goal { max_guesses: Some(cap), ..Goal::default() });
        let within = plain.total(left.indices(), cap).map(u64::from);
        prop_assert_eq!(capped.ok().map(|solution| solution.total), within);

        let first = pick(first);
        let begun = prove(Goal { first_guess: Some(first), ..Goal::default() }).unwrap();
        let total = plain.total_after(&first, left.indices(), most);
        prop_assert_eq!(Some(begun.total), total.map(u64::from));
        let least = (1..).find(|&guesses| {
            plain.total_after(&first, left.indices(), guesses).is_some_and(|least| Some(least) == total)
        });
        prop_assert_eq!(Some(begun.max), least);
        let goal = Goal { first_guess: Some(first), max_guesses: Some(cap), ..Goal::default() };
        let within = plain.total_after(&first, left.indices(), cap).map(u64::from);
        prop_assert_eq!(prove(goal).ok().map(|solution| solution.total), within);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn threads_that_share_a_search_find_the_same(game in many_words(), threads in 2_usize..=3) {
        let all = left(&game, vec![]);
        let alone = prove(&game, &all, Goal::default(), 1).unwrap();
        let goal = |objective, max_guesses| Goal { objective, max_guesses, ..Goal::default() };
        for goal in [
            Goal::default(),
            goal(Objective::WorstCase, None),
            goal(Objective::FewestAtMax, None),
            goal(Objective::Expected, Some(alone.max - 1)),
            goal(Objective::Expected, Some(alone.max)),
            Goal { first_guess: Some(game.code(7)), ..Goal::default() },
        ] {
            prop_assert_eq!(prove(&game, &all, goal, threads), prove(&game, &all, goal, 1));
        }
    }
}

#[test]
fn of_101_numbers_seven_guesses_find_any() {
    let game = game(Rules::numbers(0, 100).unwrap());
    let all = left(&game, vec![]);
    for objective in [Objective::Expected, Objective::WorstCase] {
        let solution = prove(&game, &all, Goal { objective, ..Goal::default() }, 1).unwrap();
        // Guess d finds at most 2^(d-1) of them: 63 take six guesses or fewer, and 38 a seventh.
        let total = (1..=6).map(|guess| guess << (guess - 1)).sum::<u64>() + 38 * 7;
        assert_eq!((solution.total, solution.max), (total, 7));
    }
}

#[test]
fn four_letters_fixed_and_many_endings_take_a_word_that_cannot_win() {
    let secrets = ["batch", "catch", "hatch", "latch", "match", "patch", "watch"];
    let words = WordList::new(&secrets, &["blimp", "chump", "crowd"], &[]).unwrap();
    let game = game(Rules::words(words, FeedbackRule::Marks).unwrap());
    let solution = prove(&game, &left(&game, vec![]), Goal::default(), 1).unwrap();
    assert!(!solution.tree.root().can_win());
    assert_eq!(solution.max, 3);
}

#[test]
fn too_many_candidates_with_long_marks_are_refused() {
    let game = game(rules(6, 3, true).with_feedback(FeedbackRule::Marks).unwrap());
    let refused = prove(&game, &left(&game, vec![]), Goal::default(), 1);
    let error = SolveError::TooLarge { codes: 729, candidates: 729, limit: 255 };
    assert_eq!(refused, Err(error));
    assert!(error.to_string().contains("at most 255"), "{error}");
    let given = Given { marks: Some("------"), ..Given::default() };
    let class = game.rules().answers().class(&given).unwrap();
    let turn = Turn { guess: game.rules().code("000000").unwrap(), class };
    assert_eq!(prove(&game, &left(&game, vec![turn]), Goal::default(), 1).unwrap().max, 2);
}

/// Wherever a search is stopped, what it told until then is true, and it told something.
#[test]
fn what_is_told_is_true_at_every_stop() {
    let game = game(rules(4, 5, true));
    let all = left(&game, vec![]);
    let first = Some(game.code(7));
    for goal in [
        Goal::default(),
        Goal { first_guess: first, ..Goal::default() },
        Goal { max_guesses: Some(6), ..Goal::default() },
    ] {
        let truth = prove(&game, &all, goal, 1).unwrap().total;
        let (mut lowest, mut highest) = (0, u64::MAX);
        for max_nodes in (0..4000).step_by(97) {
            let (progress, budget) = (Progress::default(), Budget::unlimited());
            let limits = SolveLimits { max_nodes, ..SolveLimits::default() };
            let _ = solve(&game, &all, goal, limits, &progress, &budget);
            let (bound, best) = (progress.bound(), progress.best().unwrap_or(u64::MAX));
            assert!(bound <= truth && truth <= best, "{bound} {truth} {best}");
            assert!(bound >= lowest && best <= highest, "more work tells no less");
            (lowest, highest) = (bound, best);
            let (progress, limits) = (Progress::default(), SolveLimits { threads: 2, ..limits });
            let _ = solve(&game, &all, goal, limits, &progress, &budget);
            let best = progress.best().unwrap_or(u64::MAX);
            assert!(progress.bound() <= truth && truth <= best, "with two threads");
            assert!(max_nodes == 0 || bound > 1000);
            assert!(max_nodes < 500 || best < 2600);
        }
    }
}

#[test]
fn what_is_told_is_true_at_all_times() {
    let game = game(rules(4, 5, true));
    let all = left(&game, vec![]);
    let truth = prove(&game, &all, Goal::default(), 1).unwrap().total;
    for threads in [1, 2, 3] {
        let (progress, budget) = (Progress::default(), Budget::unlimited());
        let limits = SolveLimits { threads, ..SolveLimits::default() };
        thread::scope(|scope| {
            let search = scope
                .spawn(|| solve(&game, &all, Goal::default(), limits, &progress, &budget).unwrap());
            while !search.is_finished() {
                let (bound, best) = (progress.bound(), progress.best().unwrap_or(u64::MAX));
                assert!(bound <= truth && truth <= best, "{bound} {truth} {best}");
                thread::yield_now();
            }
            assert_eq!(search.join().unwrap().total, truth);
            // More than one thread measures alone.
            assert!(progress.nodes() > 256);
        });
    }
}

/// Lists of five letters that everybody has, 2315 secrets and 12972 guesses: not ours to ship, so that the test is told
/// where they are.
#[cfg(feature = "proofs")]
#[test]
fn after_salet_the_least_total_is_the_published_one() {
    let Some(directory) = std::env::var_os("WORD_LISTS_DIR") else {
        println!("not run: WORD_LISTS_DIR does not say where the lists of words are");
        return;
    };
    let read = |file| std::fs::read(std::path::Path::new(&directory).join(file)).unwrap();
    let (secrets, guesses) = (read("words5-secrets-2315.txt"), read("words5-guesses-12972.txt"));
    let (words, _) = WordList::read(&secrets, Some(&guesses)).unwrap();
    let game = game(Rules::words(words, FeedbackRule::Marks).unwrap());
    let first_guess = Some(game.rules().code("salet").unwrap());
    for threads in [1, 2] {
        let goal = Goal { first_guess, ..Goal::default() };
        let solution = prove(&game, &left(&game, vec![]), goal, threads).unwrap();
        assert_eq!((solution.total, solution.max), (7920, 5));
    }
}
