//! Time of the engine's main operations. Each checks its answer before it is timed, and whenever it is.
//!
//! What takes longer than some seconds is measured by `figures` alone.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use herdsman_benches::{FOUR_OF_TEN, OPENINGS, PLAYED, PROOFS, everything, from_book, game, split};
use herdsman_engine::{Budget, Code, score_matrix};

fn kernels(criterion: &mut Criterion) {
    let game = game(FOUR_OF_TEN);
    let all = everything(&game);
    let codes: Vec<Code> = (0..game.size()).map(|index| game.code(index)).collect();
    let (guesses, budget) = (&codes[..100], Budget::unlimited());
    let cells = score_matrix(game.rules(), guesses, &codes, &budget).unwrap();
    for (guess, row) in guesses.iter().zip(cells.chunks(codes.len())) {
        for (secret, &class) in codes.iter().zip(row) {
            assert_eq!(u32::from(class), game.rules().score(guess, secret).0);
        }
    }
    let mut group = criterion.benchmark_group("kernels");
    group.throughput(Throughput::Elements(codes.len() as u64));
    group.bench_function("score one guess against 5040 secrets, pair by pair", |bencher| {
        bencher
            .iter(|| codes.iter().map(|code| game.rules().score(&guesses[7], code).0).sum::<u32>());
    });
    group.bench_function("split 5040 candidates by one guess", |bencher| {
        bencher.iter(|| split(&game, black_box(&all)));
    });
    group.throughput(Throughput::Elements(cells.len() as u64));
    group.bench_function("score 100 guesses against 5040 secrets, as a matrix", |bencher| {
        bencher.iter(|| score_matrix(game.rules(), black_box(guesses), &codes, &budget).unwrap());
    });
    group.finish();
}

fn next_guess(criterion: &mut Criterion) {
    for opening in OPENINGS {
        let position = opening.position();
        let mut group = criterion.benchmark_group(format!("after one turn of {}", opening.name));
        group.bench_function("filter", |bencher| bencher.iter(|| black_box(&position).filter()));
        group.bench_function("minimax, cold", |bencher| {
            bencher.iter(|| black_box(&position).minimax());
        });
        let remembered = position.remember();
        group.bench_function("minimax, remembered", |bencher| {
            bencher.iter(|| position.recall(black_box(&remembered)));
        });
        group.finish();
    }
}

fn play_all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("play all secrets");
    group.sample_size(10);
    for played in PLAYED {
        let game = game(played.spec);
        let name = format!("{}, {}", played.name, played.strategy.name());
        group.bench_function(name, |bencher| bencher.iter(|| black_box(played).play(&game)));
    }
    group.finish();
}

fn exact(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("prove");
    group.sample_size(10);
    for proof in &PROOFS[..3] {
        let game = game(proof.spec);
        group.bench_function(proof.name, |bencher| {
            bencher.iter(|| black_box(proof).prove(&game, 1))
        });
    }
    group.finish();
}

fn book(criterion: &mut Criterion) {
    let position = OPENINGS[0].position();
    // A process opens a book once, so there is a single time to tell.
    let start = Instant::now();
    from_book(&position);
    let opened: Duration = start.elapsed();
    println!("book/open, replay and first guess: {opened:?}");
    criterion.bench_function("book/optimal guess", |bencher| {
        bencher.iter(|| from_book(black_box(&position)));
    });
}

criterion_group!(benches, kernels, next_guess, play_all, exact, book);
criterion_main!(benches);
