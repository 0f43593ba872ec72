//! Measures how cost grows with the size of the space, from 10^3 to 10^7 codes: prints a table and writes `chart.svg`
//! beside the manifest.
//!
//! The games are all strings of three to seven digits. The second guess is asked after the first guess of minimax got
//! the answer that leaves the most candidates.

use std::{fmt::Write as _, fs, io, time::Duration};

use herdsman_benches::{cpu_time, everything, game};
use herdsman_engine::{
    Budget, Candidates, Choice, Game, History, StopFlag, Strategy, Turn, partition, suggest,
};

/// The most scores of one guess, the default of `herdsmand`.
const MAX_SCORES: u64 = 2_000_000_000;
/// What is measured, with a colour each.
const SERIES: [(&str, &str); 3] =
    [("filter after one turn", "#1b7f5c"), ("first guess", "#2f5fb3"), ("second guess", "#b3472f")];

/// A game's size, and of each of [`SERIES`] the seconds and whether nothing was left out.
struct Row {
    size: u32,
    left: usize,
    cells: [(f64, bool); SERIES.len()],
}

fn main() -> io::Result<()> {
    let rows: Vec<Row> = (3..=7).map(measure).collect();
    println!("| codes | left after one turn | filter | first guess | second guess |");
    println!("|---|---|---|---|---|");
    for Row { size, left, cells } in &rows {
        let cells = cells.map(|(seconds, all)| {
            format!("{:.3} ms{}", seconds * 1e3, if all { "" } else { " (sampled)" })
        });
        println!("| {size} | {left} | {} |", cells.join(" | "));
    }
    fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/chart.svg"), draw(&rows))
}

fn measure(digits: i32) -> Row {
    let game = game((digits, 10, true));
    let all = everything(&game);
    let (first, first_time, first_all) = best(&game, &History::default(), &all);
    let split = partition(&game, &all, &game.code(first), &Budget::unlimited()).expect("no stop");
    let parts = split.parts().iter().copied();
    let (class, largest) = parts.max_by_key(|&(_, n)| n).expect("some class");
    let turn = Turn { guess: game.code(first), class };
    let history = History::new(vec![turn]).expect("one turn is not too many");
    let (left, filter_time) =
        timed(|| game.candidates(&history, &Budget::unlimited()).expect("no stop"));
    assert_eq!(left.len() as u32, largest);
    let (_, second_time, second_all) = best(&game, &history, &left);
    Row {
        size: game.size(),
        left: left.len(),
        cells: [(filter_time, true), (first_time, first_all), (second_time, second_all)],
    }
}

/// The best guess by minimax, its time, and whether every guess was measured against every candidate.
fn best(game: &Game, history: &History, candidates: &Candidates) -> (u32, f64, bool) {
    let choice = Choice { strategy: Strategy::Minimax, ..Choice::default() };
    let budget = Budget::new(StopFlag::default(), MAX_SCORES);
    let (advice, seconds) =
        timed(|| suggest(game, history, candidates, &choice, 1, &budget).expect("no stop"));
    (game.index(&advice.suggestions[0].guess), seconds, advice.exhaustive)
}

/// What some work gives, and its CPU time in seconds: the least of three runs, or that of one longer than a second.
fn timed<T>(mut work: impl FnMut() -> T) -> (T, f64) {
    let mut run = || {
        let start = cpu_time();
        (work(), cpu_time() - start)
    };
    let (mut result, mut least) = run();
    for _ in 0..2 {
        if least < Duration::from_secs(1) {
            let (again, time) = run();
            (result, least) = (again, least.min(time));
        }
    }
    (result, least.as_secs_f64())
}

/// Both axes are logarithmic: 10^3 to 10^7 codes, 1 µs to 100 s. A hollow mark is an answer from a sample.
fn draw(rows: &[Row]) -> String {
    let x = |size: f64| 80.0 + (size.log10() - 3.0) * 130.0;
    let y = |seconds: f64| 40.0 + (2.0 - seconds.log10()) * 45.0;
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"780\" height=\"450\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<title>CPU time against codes of the game</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
    );
    let line =
        |svg: &mut String, from: (f64, f64), to: (f64, f64), (label, at): (&str, (f64, f64))| {
            let ((x1, y1), (x2, y2), (x, y)) = (from, to, at);
            let _ = writeln!(
                svg,
                "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>"
            );
        };
    let times = ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"];
    for (label, power) in times.iter().zip(-6..) {
        let at = y(10_f64.powi(power));
        line(&mut svg, (80.0, at), (600.0, at), (label, (72.0, at + 4.0)));
    }
    for (label, power) in
        ["1,000", "10,000", "100,000", "1,000,000", "10,000,000 codes"].iter().zip(3..)
    {
        let at = x(10_f64.powi(power));
        line(&mut svg, (at, 40.0), (at, 400.0), (label, (at + 28.0, 420.0)));
    }
    for (series, (name, colour)) in SERIES.iter().enumerate() {
        let points: Vec<(f64, f64, bool)> = rows
            .iter()
            .map(|row| (x(row.size.into()), y(row.cells[series].0), row.cells[series].1))
            .collect();
        let path: Vec<String> = points.iter().map(|(x, y, _)| format!("{x:.1},{y:.1}")).collect();
        let path = path.join(" ");
        let _ = writeln!(
            svg,
            "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
        for (x, y, all) in &points {
            let fill = if *all { colour } else { "#fff" };
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"2\"/>"
            );
        }
        if let Some((x, y, _)) = points.last() {
            let (x, y) = (x + 12.0, y + 4.0);
            let _ =
                writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\">{name}</text>");
        }
    }
    svg + "</svg>\n"
}
