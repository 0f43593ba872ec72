//! Measures every figure that the project promises, and prints a record: the machine, then the table.
//!
//! Those on lists of words are measured if `WORD_LISTS_DIR` says where the lists are.
//!
//! Times are CPU time of this process, so that what else runs on the machine counts little; only what is about waiting
//! (how much sooner two cores are done, the start of the server) is read off the wall.

mod record;
mod server;

use std::{
    error::Error,
    fs,
    hint::black_box,
    thread,
    time::{Duration, Instant},
};

use herdsman_benches::{
    BATCH, FOUR_OF_TEN, OPENINGS, Opening, PLAYED, PROOFS, Played, Proof, WordGame, batch,
    cpu_time, everything, game, histogram, row,
};
use herdsman_engine::{Code, Game, Strategy};
use record::{row_of_factor, row_of_memory, row_of_time};

/// Work that takes longer than this is done once.
const LONG: Duration = Duration::from_secs(1);
/// As long as a batch of short work takes: far more than reading the clock.
const BATCH_TIME: Duration = Duration::from_millis(20);
/// Batches, of which the middle one counts.
const BATCHES: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    record::print_head();
    let bulls_and_cows = game(FOUR_OF_TEN);
    let all = everything(&bulls_and_cows);
    let codes: Vec<Code> = all.indices().iter().map(|&code| bulls_and_cows.code(code)).collect();
    let scores = (BATCH * codes.len()) as f64;
    let each = seconds(|| batch(&bulls_and_cows, black_box(&codes))) / scores;
    let row = row(&bulls_and_cows);
    let alone = seconds(|| histogram(&bulls_and_cows, black_box(&row))) / row.len() as f64;
    row_of_time("histogram of a guess, a candidate, classes in the cache", 0.3e-9, alone);
    row_of_time("a score in a batch of 100 guesses at 5040 secrets", 20e-9, each);
    for (opening, most) in OPENINGS.iter().zip([100e-6, 3e-3, 50e-3]) {
        next_guess(opening, most);
    }
    for (played, most) in PLAYED.iter().zip([40e-3, 40e-3, 6e-3, 3.0, 3.0, 2.0]) {
        let Played { name, spec, strategy, .. } = played;
        let game = game(*spec);
        let work = format!("play all secrets of {name}, {}", strategy.name());
        row_of_time(&work, most, seconds(|| played.play(black_box(&game))));
    }
    for (proof, most) in PROOFS[1..].iter().zip([0.1, 4.0, 20.0, 30.0]) {
        let game = game(proof.spec);
        if proof.spec == FOUR_OF_TEN {
            threads(proof, &game, most);
        } else {
            let work = format!("prove {} of {}", proof.total, proof.name);
            row_of_time(&work, most, seconds(|| proof.prove(&game, 1)));
        }
    }
    if let Some(words) = WordGame::read() {
        for strategy in [Strategy::Entropy, Strategy::MostParts] {
            let work = format!("play all 2315 secrets of 12972 words, {}", strategy.name());
            row_of_time(&work, 5.0, seconds(|| words.play(black_box(strategy))));
        }
        let work = "entropy after immix=-----, 1429 of 2315 words left, cold";
        row_of_time(work, 60e-3, seconds(|| words.next_guess()));
    }
    let start = server::start()?;
    row_of_time("`herdsmand` start to first answer (wall)", 0.2, start.first_answer.as_secs_f64());
    row_of_memory("`herdsmand` after an answer from every book", 64 << 20, start.peak_bytes);
    Ok(())
}

/// The CPU time of some work in seconds: of one run if it is long, else the middle of several batches.
fn seconds(mut work: impl FnMut()) -> f64 {
    let mut run = |times: u32| {
        let start = cpu_time();
        (0..times).for_each(|_| work());
        cpu_time() - start
    };
    let once = run(1);
    if once > LONG {
        return once.as_secs_f64();
    }
    let times = (BATCH_TIME.as_nanos() / once.as_nanos().max(1)).clamp(1, 1 << 20) as u32;
    let mut batches: Vec<Duration> = (0..BATCHES).map(|_| run(times)).collect();
    batches.sort_unstable();
    batches[BATCHES / 2].as_secs_f64() / f64::from(times)
}

fn next_guess(opening: &Opening, most: f64) {
    let position = opening.position();
    let (guess, bulls, cows) = opening.turn;
    let work = format!("minimax after {guess}={bulls}b{cows}c of {}", opening.name);
    row_of_time(&format!("{work}, cold"), most, seconds(|| drop(position.minimax())));
    if opening.spec == FOUR_OF_TEN {
        let remembered = position.remember();
        let recall = seconds(|| drop(position.recall(&remembered)));
        row_of_time(&format!("{work}, remembered"), 40e-6, recall);
    }
}

/// One thread, all threads, and the memory of both.
fn threads(proof: &Proof, game: &Game, most: f64) {
    let work = format!("prove {} of {}", proof.total, proof.name);
    forget_peak();
    let (start, cpu) = (Instant::now(), cpu_time());
    proof.prove(game, 1);
    let alone = start.elapsed();
    row_of_time(&work, most, (cpu_time() - cpu).as_secs_f64());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let start = Instant::now();
    proof.prove(game, cores);
    let faster = alone.as_secs_f64() / start.elapsed().as_secs_f64();
    row_of_factor(&format!("{work} with {cores} threads, times sooner (wall)"), 1.7, faster);
    row_of_memory("memory at its peak meanwhile", 1 << 30, record::peak_bytes("self"));
}

/// Starts the peak of this process's memory anew, where the system can; elsewhere it is that of all work so far.
fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}
