//! Time of the engine's main operations. Each checks its answer before it is timed.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use herdsman_engine::{
    Budget, Choice, Code, Game, History, Rules, Strategy, Turn, evaluate, score_matrix, suggest,
};

/// Four different digits: 5040 codes.
fn bulls_and_cows() -> Game {
    Game::new(Rules::preset("bulls-and-cows").unwrap(), u32::MAX).unwrap()
}

/// `0123=0b1c`, which leaves 1440 candidates.
fn one_cow(game: &Game) -> History {
    let rules = game.rules();
    let guess = rules.code("0123").unwrap();
    let class = rules.answers().class(Some(0), Some(1)).unwrap();
    History::new(vec![Turn { guess, class }]).unwrap()
}

fn score(criterion: &mut Criterion) {
    let game = bulls_and_cows();
    let codes: Vec<Code> = (0..game.size()).map(|index| game.code(index)).collect();
    let (guesses, budget) = (&codes[..100], Budget::unlimited());
    let cells = score_matrix(game.rules(), guesses, &codes, &budget).unwrap();
    for (guess, row) in guesses.iter().zip(cells.chunks(codes.len())) {
        for (secret, &class) in codes.iter().zip(row) {
            assert_eq!(class, game.rules().score(guess, secret).0);
        }
    }
    let mut group = criterion.benchmark_group("score");
    group.throughput(Throughput::Elements(codes.len() as u64));
    group.bench_function("one guess against 5040 secrets, pair by pair", |bencher| {
        bencher.iter(|| {
            codes.iter().map(|code| u32::from(game.rules().score(&guesses[7], code).0)).sum::<u32>()
        });
    });
    group.throughput(Throughput::Elements(cells.len() as u64));
    group.bench_function("100 guesses against 5040 secrets, as a matrix", |bencher| {
        bencher.iter(|| score_matrix(game.rules(), black_box(guesses), &codes, &budget).unwrap());
    });
    group.finish();
}

fn filter(criterion: &mut Criterion) {
    let game = bulls_and_cows();
    let (history, budget) = (one_cow(&game), Budget::unlimited());
    assert_eq!(game.candidates(&history, &budget).unwrap().len(), 1440);
    criterion.bench_function("filter/0123=0b1c", |bencher| {
        bencher.iter(|| game.candidates(black_box(&history), &budget).unwrap());
    });
}

fn next_guess(criterion: &mut Criterion) {
    let game = bulls_and_cows();
    let (history, budget) = (one_cow(&game), Budget::unlimited());
    let candidates = game.candidates(&history, &budget).unwrap();
    let mut group = criterion.benchmark_group("next guess after 0123=0b1c");
    for (strategy, expected) in [(Strategy::Minimax, "1456"), (Strategy::Entropy, "1456")] {
        let choice = Choice { strategy, ..Choice::default() };
        let advice = suggest(&game, &candidates, &choice, 1, &budget).unwrap();
        assert_eq!(game.rules().text(&advice.suggestions[0].guess), expected);
        group.bench_function(strategy.name(), |bencher| {
            bencher.iter(|| {
                let candidates = game.candidates(black_box(&history), &budget).unwrap();
                suggest(&game, &candidates, &choice, 1, &budget).unwrap()
            });
        });
    }
    group.finish();
}

fn play_all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("play all secrets");
    group.sample_size(10);
    let mastermind = || Game::new(Rules::preset("mastermind").unwrap(), u32::MAX).unwrap();
    for (name, game, strategy, total, max) in [
        ("4 of 10, minimax", bulls_and_cows(), Strategy::Minimax, 27_139, 7),
        ("4 of 10, entropy", bulls_and_cows(), Strategy::Entropy, 26_424, 8),
        ("4x6, minimax", mastermind(), Strategy::Minimax, 5_801, 5),
    ] {
        let choice = Choice { strategy, ..Choice::default() };
        let result = evaluate(&game, &choice, &Budget::unlimited()).unwrap();
        assert_eq!((result.total, result.max), (total, max), "{name}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| evaluate(&game, black_box(&choice), &Budget::unlimited()).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, score, filter, next_guess, play_all);
criterion_main!(benches);
