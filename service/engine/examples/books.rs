//! Proves the games of the books anew and writes their files: `cargo run --release -p herdsman-engine --example books`.
//! With names as arguments, only those books.

use std::{env, fs, path::Path, thread, time::Instant};

use herdsman_engine::{
    Budget, Game, Goal, History, Progress, SolveLimits, books, encode_book, solve,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Vec<String> = env::args().skip(1).collect();
    if let Some(unknown) = wanted.iter().find(|wanted| books().all(|(name, ..)| name != *wanted)) {
        let names: Vec<&str> = books().map(|(name, ..)| name).collect();
        return Err(
            format!("there is no book {unknown}; the books are {}", names.join(", ")).into()
        );
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    for (name, rules, objective) in books() {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
            continue;
        }
        let game = Game::new(rules, u32::MAX)?;
        let budget = Budget::unlimited();
        let all = game.candidates(&History::default(), &budget)?;
        let goal = Goal { objective, ..Goal::default() };
        let limits = SolveLimits { threads, ..SolveLimits::default() };
        let started = Instant::now();
        let solution = solve(&game, &all, goal, limits, &Progress::default(), &budget)?;
        let bytes = encode_book(&game, objective, &solution);
        let path = format!("src/book/trees/{name}.book");
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path), &bytes)?;
        println!(
            "{name}: total {}, max {}, first {}, histogram {:?}, {} bytes, {:.1} s",
            solution.total,
            solution.max,
            game.rules().text(&solution.tree.root().guess()),
            solution.histogram,
            bytes.len(),
            started.elapsed().as_secs_f64(),
        );
    }
    Ok(())
}
