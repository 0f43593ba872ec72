//! Plays every strategy against every secret of the games that the literature measures them by, writes the golden file
//! and prints the table of the docs: `cargo run --release -p herdsman-engine --example totals`.

use std::{fmt::Write, fs, path::Path};

use herdsman_engine::{
    Budget, Choice, CodeSpec, Evaluation, FeedbackRule, Game, Rules, Strategy, Trial, evaluate,
};

/// Positions, symbols and whether they repeat.
const GAMES: [(i32, usize, bool); 3] = [(4, 10, false), (4, 6, true), (4, 10, true)];

const GOLDEN_HEAD: &str = "\
# Every strategy with its default options (ties to candidates, any guess, seed 0), written by the example `totals`. No book
# has the last game: there `optimal` and `optimal_worst_case` are rules of thumb until few enough candidates are left to
# prove the rest, and a faster search may do better.
#positions\tsymbols\trepeats\tstrategy\ttotal\tmax
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut golden = String::from(GOLDEN_HEAD);
    let mut rows = vec![String::new(); Strategy::ALL.len()];
    for (length, symbols, repeats) in GAMES {
        let game = game(length, symbols, repeats)?;
        for (row, strategy) in rows.iter_mut().zip(Strategy::ALL) {
            let Some(Evaluation { total, max, .. }) = play(&game, strategy)? else {
                row.push_str(" – |");
                continue;
            };
            let mean = total as f64 / f64::from(game.secrets());
            write!(row, " {total} ({mean:.4}), {max} |")?;
            let kind = if repeats { "repeats" } else { "distinct" };
            writeln!(golden, "{length}\t{symbols}\t{kind}\t{}\t{total}\t{max}", strategy.name())?;
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/strategies.tsv");
    fs::write(path, golden)?;
    println!("Total of guesses over all secrets (the mean), and the most for any of them.\n");
    println!("| strategy | 4 of 10, distinct | 4 of 6, repeats | 4 of 10, repeats |");
    println!("|---|---|---|---|");
    for (row, strategy) in rows.iter().zip(Strategy::ALL) {
        println!("| `{}` |{row}", strategy.name());
    }
    Ok(())
}

fn game(length: i32, symbols: usize, repeats: bool) -> Result<Game, Box<dyn std::error::Error>> {
    let (alphabet, not_first) = ("0123456789"[..symbols].to_string(), String::new());
    let spec = CodeSpec { alphabet, length, repeats, not_first };
    Ok(Game::new(Rules::codes(&spec, FeedbackRule::Pegs)?, u32::MAX)?)
}

/// How a strategy fares, if it can play the game.
fn play(game: &Game, strategy: Strategy) -> Result<Option<Evaluation>, Box<dyn std::error::Error>> {
    if strategy.obstacle(game.rules()).is_some() {
        return Ok(None);
    }
    let choice = Choice { strategy, ..Choice::default() };
    let (trial, done, budget) = (Trial::default(), Default::default(), Budget::unlimited());
    Ok(Some(evaluate(game, &choice, &trial, &done, &budget)?))
}
