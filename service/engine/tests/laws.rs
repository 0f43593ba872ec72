//! What holds for every game and every history.

mod common;

use std::{
    cell::Cell,
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
};

use common::{
    any::{
        any_choice, any_game, any_kind_of_game, any_position, any_rules, left, pick, position_of,
    },
    game, rules,
};
use herdsman_engine::{
    Advice, Budget, Canonical, Choice, Class, Code, FeedbackRule, Form, Game, Given, Goal, History,
    Pool, Progress, Rules, SharedAdvice, SolveError, SolveLimits, StopFlag, Stopped,
    Strategy as Play, Tie, Trial, Turn, WordList, WordsError, diagnose, evaluate, keeps_hints,
    partition, simulate, solve, suggest, suggest_lying,
};
use proptest::{prelude::*, sample::Index, test_runner::TestRunner};

proptest! {
    #[test]
    fn rules_are_equal_and_hash_alike_if_they_say_the_same(a in any_kind_of_game(), b in any_kind_of_game()) {
        let (a, b) = (a.rules(), b.rules());
        let hash = |rules: &Rules| BuildHasherDefault::<DefaultHasher>::default().hash_one(rules);
        let again = match a.form() {
            Form::Codes(spec) => Rules::codes(&spec, a.feedback()),
            Form::Words(words) => Rules::words(words.clone(), a.feedback()),
            Form::Numbers { min, max } => Rules::numbers(min, max),
        };
        let again = again.unwrap();
        prop_assert_eq!((&again, hash(&again)), (a, hash(a)));
        let alike = (a.form(), a.feedback()) == (b.form(), b.feedback());
        prop_assert_eq!((a == b, hash(a) == hash(b)), (alike, alike));
        // Two games that are drawn seldom differ in their answers alone.
        if let Ok(other) = a.clone().with_feedback(FeedbackRule::Bulls) {
            let alike = a.feedback() == FeedbackRule::Bulls;
            prop_assert_eq!((&other == a, hash(&other) == hash(a)), (alike, alike));
        }
    }

    #[test]
    fn score_is_symmetric(game in any_game(), a: Index, b: Index) {
        let (a, b) = (pick(&game, a), pick(&game, b));
        prop_assert_eq!(game.rules().score(&a, &b), game.rules().score(&b, &a));
        prop_assert_eq!(game.rules().score(&a, &b) == game.rules().answers().winning(), a == b);
    }

    #[test]
    fn candidates_are_the_codes_that_answer_every_turn_alike((game, secret, turns) in position_of(any_kind_of_game(), 6)) {
        let agrees = |index: &u32| {
            let code = game.code(*index);
            turns.iter().all(|turn| game.rules().score(&turn.guess, &code) == turn.class)
        };
        let found = left(&game, &turns);
        let secrets = game.candidates(&History::default(), &Budget::unlimited()).unwrap();
        let expected: Vec<u32> = secrets.indices().iter().copied().filter(agrees).collect();
        prop_assert_eq!(&found, &expected);
        prop_assert!(found.contains(&game.index(&secret)));
    }

    #[test]
    fn classes_sum_to_the_candidates((game, _, turns) in position_of(any_kind_of_game(), 6), guess: Index) {
        let history = History::new(turns).unwrap();
        let candidates = game.candidates(&history, &Budget::unlimited()).unwrap();
        let parts = partition(&game, &candidates, &pick(&game, guess), &Budget::unlimited()).unwrap();
        prop_assert_eq!(parts.total() as usize, candidates.len());
        let facts = parts.facts();
        prop_assert!(facts.largest_class >= 1 && facts.expected_size <= f64::from(facts.largest_class));
        prop_assert!(facts.bits >= 0.0 && facts.bits <= f64::from(facts.classes).log2() + 1e-6);
    }

    #[test]
    fn order_and_repetition_of_turns_change_nothing((game, _, turns) in position_of(any_kind_of_game(), 6), again: Index) {
        let expected = left(&game, &turns);
        let mut other = turns.clone();
        other.reverse();
        if !turns.is_empty() {
            other.push(*again.get(&turns));
        }
        prop_assert_eq!(left(&game, &other), expected);
        let canonical = History::new(other).unwrap().canonical();
        prop_assert_eq!(canonical, History::new(turns).unwrap().canonical());
    }

    #[test]
    fn renaming_symbols_and_positions_changes_no_count(
        (game, _, turns) in any_position(),
        guess: Index,
        symbols in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(),
        places in Just((0..4).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let alphabet: Vec<char> = game.rules().code_spec().unwrap().alphabet.chars().collect();
        let symbols: Vec<usize> = symbols.into_iter().filter(|&symbol| symbol < alphabet.len()).collect();
        let places: Vec<usize> = places.into_iter().filter(|&place| place < game.rules().length()).collect();
        let rename = |code: &Code| {
            let text: String = places.iter().map(|&place| alphabet[symbols[usize::from(code.symbols()[place])]]).collect();
            game.rules().code(&text).unwrap()
        };
        let renamed: Vec<Turn> =
            turns.iter().map(|turn| Turn { guess: rename(&turn.guess), class: turn.class }).collect();
        let count = |turns: &[Turn], guess: &Code| {
            let history = History::new(turns.to_vec()).unwrap();
            let candidates = game.candidates(&history, &Budget::unlimited()).unwrap();
            partition(&game, &candidates, guess, &Budget::unlimited()).unwrap()
        };
        let guess = pick(&game, guess);
        prop_assert_eq!(count(&turns, &guess), count(&renamed, &rename(&guess)));
    }

    #[test]
    fn the_best_guess_is_the_best_of_all(
        (game, _, turns) in position_of(any_kind_of_game(), 4),
        choice in any_choice(),
        top in 1_usize..=5,
    ) {
        let history = History::new(turns).unwrap();
        let candidates = game.candidates(&history, &Budget::unlimited()).unwrap();
        let advice = suggest(&game, &history, &candidates, &choice, top, &Budget::unlimited()).unwrap();
        prop_assert!(advice.exhaustive);
        // The same ranking, one guess at a time, from the definition of each score: without symmetry and shortcuts.
        let mut keys: Vec<_> = (0..game.size())
            .filter(|&index| match choice.pool {
                Pool::Any => true,
                Pool::Consistent => candidates.contains(index),
                Pool::Hints => keeps_hints(game.rules(), history.turns(), &game.code(index)),
            })
            .map(|index| {
                let parts = partition(&game, &candidates, &game.code(index), &Budget::unlimited()).unwrap();
                let facts = parts.facts();
                let squares: u64 = parts.parts().iter().map(|&(_, n)| u64::from(n) * u64::from(n)).sum();
                let bits = facts.bits * candidates.len() as f64;
                let candidate = candidates.contains(index);
                let score = match choice.strategy {
                    Play::Minimax => f64::from(facts.largest_class),
                    Play::ExpectedSize => squares as f64,
                    Play::Entropy => -bits,
                    Play::EntropyLarmouth => -bits - if candidate { 2.0 } else { 0.0 },
                    _ => -f64::from(facts.classes),
                };
                // Equal integers are a little apart as floats.
                let score = (score * 1e6).round() as i64;
                let refined = choice.strategy == Play::MostPartsRefined;
                let then = if refined { (facts.largest_class, squares) } else { (0, 0) };
                (score, choice.tie == Tie::Candidate && !candidate, then, index)
            })
            .collect();
        keys.sort_unstable();
        let guesses: Vec<u32> = advice.suggestions.iter().map(|s| game.index(&s.guess)).collect();
        if candidates.len() == 1 {
            prop_assert_eq!(guesses, candidates.indices());
        } else {
            prop_assert_eq!(guesses, keys.iter().take(top).map(|key| key.3).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn a_seed_draws_the_same_candidates_again((game, _, turns) in position_of(any_kind_of_game(), 6), seed: u64) {
        let history = History::new(turns).unwrap();
        let candidates = game.candidates(&history, &Budget::unlimited()).unwrap();
        let choice = Choice { strategy: Play::RandomConsistent, seed, ..Choice::default() };
        let draw = || suggest(&game, &history, &candidates, &choice, 5, &Budget::unlimited()).unwrap().suggestions;
        let drawn = draw();
        prop_assert_eq!(&drawn, &draw());
        prop_assert_eq!(drawn.len(), candidates.len().min(5));
        let mut codes: Vec<Code> = drawn.iter().map(|suggestion| suggestion.guess).collect();
        codes.sort_unstable();
        codes.dedup();
        prop_assert_eq!(codes.len(), drawn.len());
        prop_assert!(drawn.iter().all(|suggestion| suggestion.candidate));
    }
}

/// The turns with other names: the symbols of each kind in another order, and the places too if no symbol is barred
/// from the first.
fn renamed(game: &Game, turns: &[Turn], symbols: &[usize], places: &[usize]) -> Vec<Turn> {
    let spec = game.rules().code_spec().unwrap();
    let alphabet: Vec<char> = spec.alphabet.chars().collect();
    let kind = |symbol: usize| spec.not_first.contains(alphabet[symbol]);
    let mut names: Vec<usize> = (0..alphabet.len()).collect();
    for barred in [false, true] {
        let old: Vec<usize> = (0..alphabet.len()).filter(|&at| kind(at) == barred).collect();
        let new = symbols.iter().filter(|&&at| at < alphabet.len() && kind(at) == barred);
        old.iter().zip(new).for_each(|(&old, &new)| names[old] = new);
    }
    let mut order: Vec<usize> = (0..game.rules().length()).collect();
    if spec.not_first.is_empty() {
        order = places.iter().copied().filter(|&place| place < order.len()).collect();
    }
    let rename = |code: &Code| {
        let symbol = |&place: &usize| alphabet[names[usize::from(code.symbols()[place])]];
        game.rules().code(&order.iter().map(symbol).collect::<String>()).unwrap()
    };
    turns.iter().map(|turn| Turn { guess: rename(&turn.guess), class: turn.class }).collect()
}

/// What is told to a history by whoever remembers what was told to another of its form, `form`; and whether
/// what is proven was remembered, and the rest.
fn remembered(
    game: &Game,
    (form, own): (&Canonical<'_>, &History),
    choice: &Choice,
    top: usize,
    budget: &Budget,
) -> (Advice, [bool; 2]) {
    let canonical = Canonical::new(game.rules(), own).unwrap();
    let left = game.candidates(form.history(), budget).unwrap();
    let rule = Choice { strategy: choice.strategy.rule_of_thumb(), ..*choice };
    let fresh = |choice: &Choice| {
        let candidates = game.candidates(own, budget).unwrap();
        suggest(game, own, &candidates, choice, top, budget).unwrap()
    };
    if !SharedAdvice::knows(game.rules(), own, choice.strategy) {
        return (fresh(choice), [false, false]);
    }
    let known = |choice: &Choice, top| {
        let shared = SharedAdvice::new(game, form, &left, choice, top, budget).unwrap();
        shared.map(|shared| shared.advice(&canonical))
    };
    let best = known(choice, 1).filter(|_| rule != *choice);
    if top == 1
        && let Some(best) = best
    {
        return (best, [true, false]);
    }
    let others = known(&rule, top);
    let parts = [best.is_some(), others.is_some()];
    let others = others.unwrap_or_else(|| fresh(&rule));
    (best.map_or(others.clone(), |best| best.ahead_of(others, top)), parts)
}

#[test]
fn histories_that_are_the_same_by_renaming_share_what_each_would_be_told() {
    let shared = Cell::new([[0; 2]; 2]);
    let any_order = |count: usize| Just((0..count).collect::<Vec<usize>>()).prop_shuffle();
    let top = prop_oneof![Just(1_usize), 2_usize..=5];
    let options = (0..Play::ALL.len(), any::<[bool; 2]>(), top, 10_u32..26);
    let given = (position_of(any_rules(), 4), options, any_order(8), any_order(7), any::<Index>());
    let cases = |(position, options, symbols, places, turn): (_, _, Vec<_>, Vec<_>, Index)| {
        let (game, _, turns): (Game, Code, Vec<Turn>) = position;
        let (strategy, [any_tie, any_pool], top, scores): (usize, [bool; 2], usize, u32) = options;
        let choice = Choice {
            strategy: Play::ALL[strategy],
            tie: if any_tie { Tie::Any } else { Tie::Candidate },
            pool: if any_pool { Pool::Any } else { Pool::Consistent },
            seed: 0,
        };
        prop_assume!(choice.strategy.obstacle(game.rules()).is_none());
        let budget = Budget::new(StopFlag::default(), 1 << scores);
        let asked = pick(&game, turn);
        let with_asked = [&turns[..], &[Turn { guess: asked, class: Class(0) }]].concat();
        let mut other = renamed(&game, &with_asked, &symbols, &places);
        let other_asked = other.pop().unwrap().guess;
        if !other.is_empty() {
            let turn = turn.index(other.len());
            other.rotate_left(turn);
            other.push(other[turn / 2]);
        }
        let histories = [turns, other].map(|turns| History::new(turns).unwrap());
        let form = Canonical::new(game.rules(), &histories[0]);
        let other = Canonical::new(game.rules(), &histories[1]);
        let history =
            |form: &Option<Canonical<'_>>| form.as_ref().map(|form| form.history().clone());
        prop_assert_eq!(history(&form), history(&other));
        let with_guess = |history, guess| Canonical::with_guess(game.rules(), history, guess);
        let asked = with_guess(&histories[0], asked);
        prop_assert_eq!(&asked, &with_guess(&histories[1], other_asked));
        let Some(form) = form else { return Ok(()) };
        prop_assert!(
            asked.is_none_or(|(history, _)| history.turns().len() == form.history().turns().len())
        );
        for history in &histories {
            let candidates = game.candidates(history, &budget).unwrap();
            let fresh = suggest(&game, history, &candidates, &choice, top, &budget).unwrap();
            let (told, parts) = remembered(&game, (&form, history), &choice, top, &budget);
            prop_assert_eq!(told, fresh);
            let mut counts = shared.get();
            for (count, part) in counts[usize::from(top > 1)].iter_mut().zip(parts) {
                *count += usize::from(part);
            }
            shared.set(counts);
        }
        Ok(())
    };
    // Two histories each.
    let config = ProptestConfig { cases: 10_000, ..ProptestConfig::default() };
    TestRunner::new(config).run(&given, cases).unwrap();
    let shared = shared.get();
    assert!(shared.as_flattened().iter().all(|&count| count > 500), "{shared:?} shared");
}

#[test]
fn every_strategy_finds_every_secret() {
    let game = game(rules(3, 6, true));
    for strategy in Play::ALL {
        for seed in 0..3 {
            let choice = Choice { strategy, seed, ..Choice::default() };
            let result = evaluate(
                &game,
                &choice,
                &Trial::default(),
                &Default::default(),
                &Budget::unlimited(),
            )
            .unwrap();
            assert_eq!(result.histogram.iter().sum::<u64>(), 216);
            let total: u64 = (1..)
                .zip(&result.histogram)
                .map(|(guesses, &secrets): (u64, _)| guesses * secrets)
                .sum();
            assert_eq!(total, result.total);
            assert_eq!(result.histogram.len(), result.max as usize);
        }
    }
}

#[test]
fn a_raised_flag_stops_every_kind_of_work() {
    let game = game(Rules::preset("super-mastermind", None).unwrap());
    let all = game.candidates(&History::default(), &Budget::unlimited()).unwrap();
    let guess = game.code(0);
    let history =
        History::new(vec![Turn { guess, class: game.rules().score(&guess, &guess) }]).unwrap();
    let (start, trial) = (History::default(), Trial::default());
    let suspects = game.suspects(&start, 1, &Budget::unlimited()).unwrap();
    let flag = StopFlag::default();
    let budget = Budget::new(flag.clone(), u64::MAX);
    flag.stop();
    assert_eq!(game.candidates(&start, &budget), Err(Stopped));
    assert_eq!(game.candidates(&history, &budget), Err(Stopped));
    assert_eq!(partition(&game, &all, &guess, &budget), Err(Stopped));
    for strategy in Play::ALL {
        let choice = Choice { strategy, ..Choice::default() };
        assert_eq!(suggest(&game, &start, &all, &choice, 1, &budget), Err(Stopped));
        assert_eq!(simulate(&game, &start, &guess, &choice, &budget), Err(Stopped));
        assert_eq!(evaluate(&game, &choice, &trial, &Default::default(), &budget), Err(Stopped));
        assert_eq!(suggest_lying(&game, &start, &suspects, &choice, 1, &budget), Err(Stopped));
    }
    assert_eq!(diagnose(&game, &history, &budget), Err(Stopped));
    assert_eq!(game.suspects(&history, 1, &budget), Err(Stopped));
    let (limits, progress) = (SolveLimits::default(), Progress::default());
    let solved = solve(&game, &all, Goal::default(), limits, &progress, &budget);
    assert_eq!(solved.err(), Some(SolveError::Stopped));
    let words = WordList::new_until(&["crane", "slate"], &["zesty"], &[], &budget.stop);
    assert_eq!(words, Err(WordsError::Stopped(Stopped)));
}

#[test]
fn a_bounded_search_says_so_and_still_counts_rightly() {
    let game = game(Rules::preset("bulls-and-cows", None).unwrap());
    // Somewhere in the middle, so that symmetry does not make the whole search cheap.
    let guess = game.code(0);
    let class = game.rules().answers().class(&Given::pegs(0, 1)).unwrap();
    let history = History::new(vec![Turn { guess, class }]).unwrap();
    let all = game.candidates(&history, &Budget::unlimited()).unwrap();
    for max_scores in [1, 100, 1000] {
        let budget = Budget::new(StopFlag::default(), max_scores);
        for pool in [Pool::Any, Pool::Consistent] {
            let choice = Choice { strategy: Play::Minimax, pool, ..Choice::default() };
            let advice = suggest(&game, &history, &all, &choice, 1, &budget).unwrap();
            assert!(!advice.exhaustive);
            let best = advice.suggestions[0];
            assert_eq!(best.facts, partition(&game, &all, &best.guess, &budget).unwrap().facts());
            assert_eq!(advice, suggest(&game, &history, &all, &choice, 1, &budget).unwrap());
        }
    }
}
