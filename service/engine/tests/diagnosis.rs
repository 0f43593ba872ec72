//! Which answers cannot all be true: for every game and every history.

mod common;

use common::{
    SYMBOLS,
    any::{any_kind_of_game, left, position_of},
    history, rules,
};
use herdsman_engine::{
    Budget, Diagnosis, Game, Given, History, MAX_CLASHES, MAX_TURNS, Turn, diagnose, first_conflict,
};
use proptest::{collection::vec, prelude::*, sample::Index};

proptest! {
    #[test]
    fn a_wrong_answer_is_found_and_mended((game, _, mut turns) in position_of(any_kind_of_game(), 6), which: Index, class: Index) {
        prop_assume!(!turns.is_empty());
        let turn = which.index(turns.len());
        let truth = turns[turn].class;
        turns[turn].class.0 = class.index(game.rules().answers().count()) as u32;
        let history = History::new(turns.clone()).unwrap();
        let found = diagnose(&game, &history, &Budget::unlimited()).unwrap();
        let conflict = first_conflict(&game, &history, &Budget::unlimited()).unwrap();
        prop_assert_eq!(found.first_conflict_turn, conflict);
        prop_assert_eq!(found.remaining as usize, left(&game, &turns).len());
        let Some(first) = conflict else {
            prop_assert!(found.remaining > 0 && found.clash.is_empty() && found.repairs.is_empty());
            return Ok(());
        };
        prop_assert!(left(&game, &turns[..first]).is_empty() && !left(&game, &turns[..first - 1]).is_empty());
        // The clash cannot hold, and no smaller part of it is impossible.
        let some = |set: &[usize]| set.iter().map(|&turn| turns[turn - 1]).collect::<Vec<Turn>>();
        prop_assert!(left(&game, &some(&found.clash)).is_empty());
        for out in 0..found.clash.len() {
            let mut smaller = found.clash.clone();
            smaller.remove(out);
            prop_assert!(!left(&game, &some(&smaller)).is_empty());
        }
        // The true answer is among the repairs, and every repair leaves as many codes as it says.
        let repair = found.repairs.iter().find(|repair| repair.turn == turn + 1).unwrap();
        prop_assert!(repair.options.iter().any(|option| option.class == truth));
        for repair in &found.repairs {
            for option in &repair.options {
                let mut mended = turns.clone();
                mended[repair.turn - 1].class = option.class;
                prop_assert_eq!(left(&game, &mended).len(), option.count as usize);
            }
        }
    }

    #[test]
    fn clashes_are_all_the_smallest_sets_of_turns_that_cannot_be_true_in_order(
        (game, _, mut turns) in position_of(any_kind_of_game(), 8),
        wrong in vec(any::<(Index, Index)>(), 0..8),
    ) {
        for (turn, class) in wrong {
            if !turns.is_empty() {
                let turn = turn.index(turns.len());
                turns[turn].class.0 = class.index(game.rules().answers().count()) as u32;
            }
        }
        let found = diagnosis(&game, &turns);
        // Every set of turns, from the definition.
        let set = |bits: &u32| (0..turns.len()).filter(|turn| bits >> turn & 1 == 1).collect::<Vec<usize>>();
        let clashes = |set: &Vec<usize>| left(&game, &set.iter().map(|&turn| turns[turn]).collect::<Vec<Turn>>()).is_empty();
        let mut expected: Vec<Vec<usize>> = (1_u32..1 << turns.len()).map(|bits| set(&bits)).filter(clashes).collect();
        let least = expected.iter().map(Vec::len).min();
        expected.retain(|set| Some(set.len()) == least);
        expected.sort_unstable();
        expected.truncate(MAX_CLASHES);
        expected.iter_mut().flatten().for_each(|turn| *turn += 1);
        prop_assert_eq!(found.clash, expected.first().cloned().unwrap_or_default());
        prop_assert_eq!(found.clashes, expected);
    }
}

fn diagnosis(game: &Game, turns: &[Turn]) -> Diagnosis {
    diagnose(game, &History::new(turns.to_vec()).unwrap(), &Budget::unlimited()).unwrap()
}

#[test]
fn as_many_clashes_are_listed_as_help() {
    // So many bulls of each symbol: too many for the places in any `size` turns, and in no fewer.
    for (length, symbols, bulls, size) in [(4, 6, 2, 3), (5, 12, 1, 6)] {
        let game = common::game(rules(length, symbols, true));
        let guess = |symbol: &str| symbol.repeat(length as usize);
        let guesses: Vec<String> = (0..symbols).map(|at| guess(&SYMBOLS[at..=at])).collect();
        let turns: Vec<_> = guesses.iter().map(|guess| (guess.as_str(), bulls, 0)).collect();
        let found = diagnosis(&game, history(game.rules(), &turns).turns());
        assert_eq!(found.clashes.len(), MAX_CLASHES);
        assert!(found.clashes.iter().all(|clash| clash.len() == size), "{:?}", found.clashes);
        assert_eq!(found.clash, (1..=size).collect::<Vec<usize>>());
    }
}

#[test]
fn a_long_history_of_contradictions_is_diagnosed() {
    // Answers as they come most often, to guesses all over the space: few turns agree with each other.
    for (symbols, (bulls, cows)) in [(10, (0, 1)), (10, (1, 1)), (6, (1, 1)), (10, (0, 2))] {
        let game = common::game(rules(4, symbols, true));
        let class = game.rules().answers().class(&Given::pegs(bulls, cows));
        let class = class.unwrap();
        let guess = |turn: u32| game.code(turn * 7919 % game.size());
        let turns: Vec<Turn> =
            (0..MAX_TURNS as u32).map(|turn| Turn { guess: guess(turn), class }).collect();
        let found = diagnosis(&game, &turns);
        assert!(!found.clashes.is_empty());
        for clash in &found.clashes {
            let turns: Vec<Turn> = clash.iter().map(|turn| turns[turn - 1]).collect();
            assert!(left(&game, &turns).is_empty());
        }
    }
}
