//! Instruction counts of the shorter operations, under valgrind: hardly touched by whatever else the machine does.
//!
//! Games and positions are made before counting begins, and every operation checks its answer. What is counted is the
//! engine's `avx2` kernel, as on any machine that has AVX2: valgrind knows these instructions.

// Both in what the macros make.
#![allow(missing_docs, unused_qualifications)]

use std::hint::black_box;

use gungraun::prelude::*;
use herdsman_benches::{
    FOUR_OF_TEN, OPENINGS, PLAYED, PROOFS, Played, Position, Proof, everything, from_book, game,
    split,
};
use herdsman_engine::{Budget, Candidates, Code, Game, SharedAdvice, score_matrix};

fn all_of_four() -> (Game, Candidates) {
    let game = game(FOUR_OF_TEN);
    let all = everything(&game);
    (game, all)
}

fn codes() -> (Game, Vec<Code>) {
    let game = game(FOUR_OF_TEN);
    let codes = (0..game.size()).map(|index| game.code(index)).collect();
    (game, codes)
}

fn opening(which: usize) -> Position {
    OPENINGS[which].position()
}

fn remembered(which: usize) -> (Position, SharedAdvice) {
    let position = opening(which);
    let remembered = position.remember();
    (position, remembered)
}

/// With the book opened.
fn with_book(which: usize) -> Position {
    let position = opening(which);
    from_book(&position);
    position
}

fn played(which: usize) -> (Game, Played) {
    (game(PLAYED[which].spec), PLAYED[which])
}

fn proof(which: usize) -> (Game, Proof) {
    (game(PROOFS[which].spec), PROOFS[which])
}

#[library_benchmark]
#[bench::of_100_guesses_and_5040_secrets(setup = codes)]
fn matrix((game, codes): (Game, Vec<Code>)) -> (Game, Vec<Code>, Vec<u8>) {
    let cells = score_matrix(game.rules(), black_box(&codes[..100]), &codes, &Budget::unlimited());
    (game, codes, cells.unwrap())
}

#[library_benchmark]
#[bench::of_5040_candidates(setup = all_of_four)]
fn one_split((game, all): (Game, Candidates)) -> (Game, Candidates) {
    split(&game, black_box(&all));
    (game, all)
}

#[library_benchmark(setup = opening)]
#[bench::four_of_ten(0)]
#[bench::five_of_eight(1)]
#[bench::six_of_ten(2)]
fn minimax(position: Position) -> Position {
    black_box(&position).minimax();
    position
}

#[library_benchmark]
#[bench::four_of_ten(args = (0), setup = remembered)]
fn minimax_remembered(
    (position, remembered): (Position, SharedAdvice),
) -> (Position, SharedAdvice) {
    position.recall(black_box(&remembered));
    (position, remembered)
}

#[library_benchmark]
#[bench::four_of_ten(args = (0), setup = with_book)]
fn optimal_from_book(position: Position) -> Position {
    from_book(black_box(&position));
    position
}

#[library_benchmark]
#[bench::minimax_on_four_of_ten(args = (0), setup = played)]
#[bench::entropy_on_four_of_ten(args = (1), setup = played)]
#[bench::minimax_on_4x6(args = (2), setup = played)]
fn play_all((game, played): (Game, Played)) -> Game {
    black_box(played).play(&game);
    game
}

#[library_benchmark]
#[bench::of_4x5(args = (0), setup = proof)]
#[bench::of_4x6(args = (1), setup = proof)]
fn prove((game, proof): (Game, Proof)) -> Game {
    black_box(proof).prove(&game, 1);
    game
}

library_benchmark_group!(
    name = instructions,
    benchmarks =
        [matrix, one_split, minimax, minimax_remembered, optimal_from_book, play_all, prove]
);

main!(library_benchmark_groups = instructions);
