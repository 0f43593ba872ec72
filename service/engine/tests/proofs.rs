//! The long proofs: some minutes in a debug build, so they are behind the feature `proofs`. The gate runs them with
//! `cargo test --release -p herdsman-engine --features proofs --test proofs`.

mod common;

use std::{collections::HashMap, thread};

use common::{game, golden};
use herdsman_engine::{
    Budget, Candidates, Game, Goal, History, Node, Objective, Progress, Rules, Solution,
    SolveError, SolveLimits, book, solve,
};

fn everything(game: &Game) -> Candidates {
    game.candidates(&History::default(), &Budget::unlimited()).unwrap()
}

/// With as many threads as there are cores.
fn prove(game: &Game, goal: Goal) -> Result<Solution, SolveError> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let limits = SolveLimits { threads, ..SolveLimits::default() };
    solve(game, &everything(game), goal, limits, &Progress::default(), &Budget::unlimited())
}

/// What the short tests leave out.
const LONG: u32 = 1500;

#[test]
fn the_large_least_totals_are_the_published_ones() {
    for row in golden("optimal.tsv") {
        let game = common::golden_game(&row);
        if game.size() > LONG {
            let solution = prove(&game, Goal::default()).unwrap();
            assert_eq!(solution.total.to_string(), row[4], "{row:?}");
            assert!(solution.max <= row[5].parse().unwrap(), "{row:?}");
        }
    }
}

#[test]
fn the_large_least_worst_cases_are_the_published_ones() {
    for row in golden("worst_case.tsv") {
        let game = common::golden_game(&row);
        if game.size() > LONG {
            // That so many are enough, the book shows by being played; that fewer are not is the proof.
            let max: u32 = row[3].parse().unwrap();
            assert_eq!(
                book(&game, &History::default(), Objective::WorstCase).map(|book| book.max),
                Some(max)
            );
            let below = Goal {
                objective: Objective::Expected,
                max_guesses: Some(max - 1),
                ..Goal::default()
            };
            let impossible = SolveError::Impossible { max_guesses: max - 1 };
            assert_eq!(prove(&game, below), Err(impossible), "{row:?}");
        }
    }
}

#[test]
fn the_least_total_without_a_leading_zero_is_proven_afresh() {
    let game = game(Rules::preset("bulls-and-cows-no-leading-zero", None).unwrap());
    let fresh = prove(&game, Goal::default()).unwrap();
    let book = book(&game, &History::default(), Objective::Expected).unwrap();
    assert_eq!((fresh.total, fresh.max), (book.total, book.max));
}

/// The least total of a set by a search of its own: every guess in turn, pruned by nothing but the size of what is
/// left, and each set met once.
fn plain(game: &Game, set: &[u32], known: &mut HashMap<Vec<u32>, u32>) -> u32 {
    let least = |n: usize| (2 * n as u32).saturating_sub(1);
    if set.len() <= 2 {
        return least(set.len());
    }
    if let Some(&total) = known.get(set) {
        return total;
    }
    let mut best = u32::MAX;
    for guess in 0..game.size() {
        let guess = game.code(guess);
        let mut parts: HashMap<_, Vec<u32>> = HashMap::new();
        for &code in set {
            let class = game.rules().score(&guess, &game.code(code));
            parts.entry(class).or_default().push(code);
        }
        if parts.len() == 1 {
            continue;
        }
        parts.remove(&game.rules().answers().winning());
        let mut sum = set.len() as u32 + parts.values().map(|part| least(part.len())).sum::<u32>();
        for part in parts.values() {
            if sum >= best {
                break;
            }
            sum += plain(game, part, known) - least(part.len());
        }
        best = best.min(sum);
    }
    known.insert(set.to_vec(), best);
    best
}

/// No value of this game is published that we know of, so it is checked in a second way: on the positions of the proven
/// tree that are small enough for the plain search.
#[test]
fn without_a_leading_zero_the_plain_search_agrees() {
    fn descend(
        game: &Game,
        set: &[u32],
        node: Node<'_>,
        known: &mut HashMap<Vec<u32>, u32>,
    ) -> u32 {
        if set.len() <= 12 {
            assert_eq!(node.value().total, u64::from(plain(game, set, known)));
            return 1;
        }
        let part = |class| {
            let same = |&&code: &&u32| game.rules().score(&node.guess(), &game.code(code)) == class;
            set.iter().filter(same).copied().collect::<Vec<u32>>()
        };
        node.children().map(|(class, child)| descend(game, &part(class), child, known)).sum()
    }
    let game = game(Rules::preset("bulls-and-cows-no-leading-zero", None).unwrap());
    let solution = book(&game, &History::default(), Objective::Expected).unwrap();
    let all: Vec<u32> = (0..game.size()).collect();
    let checked = descend(&game, &all, solution.tree.root(), &mut HashMap::new());
    assert!(checked > 500, "{checked} positions");
}
