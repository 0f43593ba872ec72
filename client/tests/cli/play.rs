//! Games that are played: by a strategy, by a host, against every secret, against another.

use std::fs;

use serde_json::{Value, json};

use crate::{fails, file, herdsman, prints};

#[test]
fn a_transcript_has_a_turn_a_line_with_what_is_left() {
    let run = herdsman("simulate 5072 0123=0b2c --strategy first_consistent");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let lines: Vec<_> = run.out.lines().collect();
    assert!(lines[0].starts_with("2. 1045=") && lines[0].ends_with(" left"), "{}", run.out);
    assert_eq!(lines.last().unwrap().split_once(". ").unwrap().1, "5072=4b0c  1 left");
    // What is left is what the turns up to there leave.
    let first = lines[0].split([' ', '=']).collect::<Vec<_>>();
    let left = herdsman(&format!("filter --count 0123=0b2c {}={}", first[1], first[2])).out;
    assert_eq!(first[4], left.trim_end());
    let run = herdsman("simulate 5072 --strategy optimal --format csv");
    assert!(run.out.starts_with("turn,guess,answer,left\n1,0123,0b2c,1260\n"), "{}", run.out);
}

#[test]
fn a_secret_may_be_drawn() {
    let [first, again, other] = [7, 7, 8].map(|seed| {
        herdsman(&format!("simulate --secret-seed {seed} 0123=0b1c --format json")).json()
    });
    assert_eq!(first, again);
    assert_ne!(first["secret"], other["secret"]);
    assert_eq!(first["solved"], true);
    fails("simulate", 2, &["SECRET"]);
    fails("simulate 5072 0123=4b0c", 3, &["turn 1", "0123=4b0c"]);
}

#[test]
fn a_host_keeps_what_is_hardest_to_find() {
    prints("answer 0123", "0b1c\n1440 codes left\n");
    prints("answer --format csv 0123", "answer,remaining,solved\n0b1c,1440,false\n");
    prints("answer 1 --length 1 --alphabet 1", "1b0c\nsolved: no other code was left\n");
    let run = herdsman("answer 012 --length 3 --alphabet 0-4 --policy optimal");
    assert!(run.out.contains("; proven: "), "{}", run.out);
    fails("answer 012", 3, &["the guess: "]);
}

/// A game of 120 secrets.
const SMALL: &str = "--length 3 --alphabet 0-5";

#[test]
fn a_strategy_is_played_against_every_secret() {
    let run = herdsman(&format!("evaluate --strategy optimal {SMALL}"));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let facts = "436 guesses over 120 secrets, 3.633 on average, at most 5";
    assert_eq!(run.out.lines().next(), Some(facts));
    let document = herdsman(&format!("evaluate --strategy optimal {SMALL} --format json")).json();
    assert_eq!((&document["total"], &document["max"]), (&json!(436), &json!(5)));
    let histogram: Vec<u64> = serde_json::from_value(document["histogram"].clone()).unwrap();
    assert_eq!(histogram.iter().sum::<u64>(), 120);
    assert_eq!((1..).zip(&histogram).map(|(guess, found)| guess * found).sum::<u64>(), 436);
    assert!((document["mean"].as_f64().unwrap() - 436.0 / 120.0).abs() < 1e-9);
    assert_eq!(document["exact"], true);
}

#[test]
fn a_first_guess_and_a_sample_are_heeded() {
    let evaluate = |flags: &str| {
        herdsman(&format!("evaluate --level medium --rules mastermind --format json {flags}"))
            .json()
    };
    let first = evaluate("--first-guess 0000");
    assert_eq!((&first["histogram"][0], &first["secrets"]), (&json!(1), &json!(1296)));
    assert_ne!(first["total"], evaluate("--first-guess 0011")["total"]);
    let [sample, again] = ["--sample 100 --seed 3"; 2].map(evaluate);
    assert_eq!(sample, again);
    assert_eq!((&sample["secrets"], &sample["exact"]), (&json!(100), &json!(false)));
    assert!(sample["margin"].as_f64().unwrap() > 0.0);
    fails("evaluate --strategy optimal --first-guess 01", 3, &["--first-guess: "]);
    fails("evaluate", 2, &["--strategy"]);
}

#[test]
fn strategies_are_compared_in_the_order_they_are_named() {
    let compare = format!("evaluate --strategy optimal --level easy --strategy sieve {SMALL}");
    let table = herdsman(&compare).out;
    let names: Vec<_> = table.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["strategy", "optimal", "easy", "sieve"]);
    let documents = herdsman(&format!("{compare} --format json")).json();
    assert_eq!(documents.as_array().unwrap().len(), 3);
    let lines = herdsman(&format!("{compare} --format jsonl")).out;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json!(lines), documents);
    let csv = herdsman(&format!("{compare} --format csv")).out;
    assert!(csv.starts_with("strategy,secrets,total,mean,margin,max,1,2,"), "{csv}");
    assert!(csv.contains("\noptimal,120,436,3.6333"), "{csv}");
}

#[test]
fn a_duel_is_told_by_its_chances() {
    let duel = format!("duel --strategy optimal --level easy {SMALL}");
    let document = herdsman(&format!("{duel} --format json")).json();
    let chance = |name: &str| document[name].as_f64().unwrap();
    let [win, draw, lose] = ["win", "draw", "lose"].map(chance);
    assert!((win + draw + lose - 1.0).abs() < 1e-9 && win > lose, "{document}");
    assert_eq!(
        (&document["first"]["total"], &document["second"]["strategy"]),
        (&json!(436), &json!("easy"))
    );
    let run = herdsman(&duel);
    assert!(
        run.out.starts_with(&format!("optimal wins {:.2}%, draws ", win * 100.0)),
        "{}",
        run.out
    );
    assert!(herdsman(&format!("{duel} --format csv")).out.contains("\noptimal,easy,0."));
    for players in ["", "--strategy optimal", "--level easy --level hard --level easy"] {
        fails(&format!("duel {players}"), 2, &["--strategy"]);
    }
}

#[test]
fn charts_are_drawn_as_svg_and_png() {
    let [svg, png] = ["chart.svg", "chart.png"].map(|name| file(name, "what stood there before"));
    for chart in [&svg, &png] {
        let run = herdsman(&format!(
            "evaluate --strategy optimal --strategy easy {SMALL} --plot {}",
            chart.display()
        ));
        assert_eq!(run.code, Some(0), "{}", run.err);
    }
    let text = fs::read_to_string(svg).unwrap();
    assert!(text.starts_with("<svg ") && text.contains(">optimal: 436 guesses"), "{text}");
    assert!(fs::read(png).unwrap().starts_with(b"\x89PNG\r\n"));
    fails("evaluate --strategy optimal --plot chart.gif", 2, &[".svg or .png"]);
    // Before the work, not after it.
    fails(
        "duel --level easy --level hard --rules mastermind --plot /no/such/folder/a.svg",
        2,
        &["a.svg"],
    );
}
