//! The golden values that concern counting and strategies.

mod common;

use common::{code, game, golden, golden_game, history};
use herdsman_engine::{
    Budget, Candidates, Choice, Feedback, Game, Given, History, Pool, Rules, Strategy, Tie, Trial,
    evaluate, partition,
};

fn bulls_and_cows() -> Game {
    game(Rules::preset("bulls-and-cows", None).unwrap())
}

fn everything(game: &Game) -> Candidates {
    game.candidates(&History::default(), &Budget::unlimited()).unwrap()
}

#[test]
fn first_answers_leave_what_they_leave() {
    let game = bulls_and_cows();
    let guess = code(game.rules(), "0123");
    let all = everything(&game);
    let partition = partition(&game, &all, &guess, &Budget::unlimited()).unwrap();
    let rows = golden("first_answers.tsv");
    assert_eq!(rows.len(), partition.parts().len());
    for row in rows {
        let [bulls, cows, count] = [0, 1, 2].map(|column| row[column].parse::<u32>().unwrap());
        let class = game.rules().answers().class(&Given::pegs(bulls as i32, cows as i32)).unwrap();
        assert_eq!(partition.count(class), count, "{bulls}b{cows}c");
        let expected = Feedback::Pegs { bulls: bulls as u8, cows: cows as u8 };
        assert_eq!(game.rules().answers().feedback(class), expected);
    }
    assert_eq!(format!("{:.3}", partition.facts().bits), "2.771");
}

#[test]
fn second_guesses_carry_their_bits() {
    let game = bulls_and_cows();
    let budget = Budget::unlimited();
    let left = game.candidates(&history(game.rules(), &[("0123", 0, 1)]), &budget).unwrap();
    let mut found = std::collections::BTreeMap::new();
    for index in 0..game.size() {
        let facts = partition(&game, &left, &game.code(index), &budget).unwrap().facts();
        *found.entry(format!("{:.3}", facts.bits)).or_insert(0) += 1;
    }
    let expected = golden("second_guess_bits.tsv");
    let expected = expected.iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect();
    assert_eq!(found, expected);
}

#[test]
fn heuristics_reach_their_totals() {
    for row in golden("heuristics.tsv") {
        let game = golden_game(&row);
        let name = row[3].as_str();
        let strategy = Strategy::ALL.into_iter().find(|strategy| strategy.name() == name).unwrap();
        let (tie, pool) = match row[4].as_str() {
            "any" => (Tie::Any, Pool::Any),
            "candidate" => (Tie::Candidate, Pool::Any),
            "consistent" => (Tie::Candidate, Pool::Consistent),
            other => panic!("no tie rule: {other}"),
        };
        let choice = Choice { strategy, tie, pool, seed: 0 };
        let result =
            evaluate(&game, &choice, &Trial::default(), &Default::default(), &Budget::unlimited())
                .unwrap();
        let expected = [row[5].parse().unwrap(), row[6].parse::<u64>().unwrap()];
        assert_eq!([result.total, u64::from(result.max)], expected, "{row:?}");
        assert_eq!(result.histogram.iter().sum::<u64>(), u64::from(game.size()));
    }
}

/// As the example `totals` wrote them. How much of a game without a book is proven on the spot, and so what `optimal`
/// needs there, depends on how fast the search is: it may need less.
#[test]
fn every_strategy_reaches_its_total() {
    let rows = golden("strategies.tsv");
    for row in &rows {
        let game = golden_game(row);
        let named = |strategy: &Strategy| strategy.name() == row[3];
        let strategy = Strategy::ALL.into_iter().find(named).unwrap();
        let choice = Choice { strategy, ..Choice::default() };
        let budget = Budget::unlimited();
        let result = evaluate(&game, &choice, &Trial::default(), &Default::default(), &budget);
        let result = result.unwrap();
        let expected = (row[4].parse().unwrap(), row[5].parse().unwrap());
        let proves = matches!(strategy, Strategy::Optimal | Strategy::OptimalWorstCase);
        if proves && game.size() == 10_000 {
            assert!(result.total <= expected.0 && result.max <= expected.1, "{row:?}: {result:?}");
        } else {
            assert_eq!((result.total, result.max), expected, "{row:?}");
        }
    }
    // Every strategy in three games, but for the one that cannot play where symbols differ.
    assert_eq!(rows.len(), 3 * Strategy::ALL.len() - 1);
}
