//! How much the server does in a second, by the client's own load generator.

use std::{process::Command, time::Duration};

use herdsman_engine::{Budget, Code, CodeSpec, FeedbackRule, Rules, score_matrix};
use herdsman_proto::v1::{BatchScoreRequest, ScoreMatrixRequest, ScorePair};
use serde_json::Value;

use super::requests::{MIDDLE, pegs};
use crate::{
    report::Report,
    server::Server,
    trial::{Setup, Trouble},
};

/// Callers of a closed loop: enough to keep the server busy, fewer than the streams of their connections.
const CALLERS: &str = "64";

/// A unary call against the emptiest there is, in turns, so that what else the machine does meets both.
pub(crate) fn overhead(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let server = Server::start(setup, &[])?;
    let length = setup.scale("4s", "300ms");
    let rate = |mix: &str| {
        let flags =
            ["--closed", CALLERS, "--connections", "4", "--mix", mix, "--strategy", "minimax"];
        let load = load(setup, &server, &[&flags[..], &["--duration", length]].concat())?;
        let failed = load["all"]["failed"].as_u64().unwrap_or(u64::MAX);
        let rate = load["all"]["ok_per_second"].as_f64().unwrap_or(0.0);
        Ok::<_, Trouble>((rate, failed))
    };
    let mut rates = [const { Vec::new() }; 3];
    let mut failures = 0;
    for _ in 0..setup.scale(7, 1) {
        for (mix, rates) in ["health", "score", "guess-same"].iter().zip(&mut rates) {
            let (rate, failed) = rate(mix)?;
            rates.push(rate);
            failures += failed;
        }
    }
    // Each round is a comparison of its own; the middle one counts.
    let ratio = |of: usize| median(rates[of].iter().zip(&rates[0]).map(|(a, b)| a / b).collect());
    let [health, score, cached] = [0, 1, 2].map(|of| median(rates[of].clone()));
    report.law("every call is answered", format!("{failures} failed"), failures == 0);
    let told = |ratio: f64, rate: f64| format!("{ratio:.2} ({rate:.0}/s to {health:.0}/s)");
    let of_score = ratio(1);
    report.timing("Score to health, at least 0.85", told(of_score, score), of_score >= 0.85);
    let of_cached = ratio(2);
    report.timing(
        "a cached guess to health, at least 0.75",
        told(of_cached, cached),
        of_cached >= 0.75,
    );
    // RB-093: the first guess of each game is the same.
    let flags = ["--rate", "1000", "--mix", "guess-same", "--turns", "0", "--strategy", "minimax"];
    let load = load(setup, &server, &[&flags[..], &["--duration", length]].concat())?;
    let p99 = load["all"]["ok_ms"]["p99"].as_f64().unwrap_or(f64::INFINITY);
    report.timing("a cached first guess, p99 under 5 ms", format!("{p99:.1} ms"), p99 < 5.0);
    Ok(())
}

/// Scores in bulk, which are checked, and then counted.
pub(crate) fn bulk(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let server = Server::start(setup, &[])?;
    let (wrong, of) = check_bulk(&server)?;
    report.law("every score is right", format!("{wrong} of {of} wrong"), wrong == 0);
    let length = setup.scale("10s", "500ms");
    for (mix, size, asked) in
        [("batch-score", ["--pairs", "10000"], 1e6), ("score-matrix", ["--side", "1000"], 100e6)]
    {
        let flags = [
            "--closed",
            "4",
            "--connections",
            "2",
            "--mix",
            mix,
            size[0],
            size[1],
            "--duration",
            length,
        ];
        let load = load(setup, &server, &flags)?;
        let failed = load["all"]["failed"].as_u64().unwrap_or(u64::MAX);
        let rate = load["all"]["scores_per_second"].as_f64().unwrap_or(0.0);
        report.law(format!("{mix}: every call is answered"), failed, failed == 0);
        let asked_text = format!("{mix}, at least {:.0} million scores a second", asked / 1e6);
        report.timing(asked_text, format!("{:.1} million", rate / 1e6), rate >= asked);
    }
    Ok(())
}

/// Asks for 10,000 pairs and for 1,000 x 1,000, and tells how many scores are wrong.
#[tokio::main(flavor = "current_thread")]
async fn check_bulk(server: &Server) -> Result<(usize, usize), Trouble> {
    let mut solver = server.solver().await?;
    let code = |number: usize| MIDDLE.code(number * 7919 % MIDDLE.size());
    let pairs: Vec<ScorePair> =
        (0..10_000).map(|i| ScorePair { secret: code(i), guess: code(2 * i + 1) }).collect();
    let batch = BatchScoreRequest { rules: MIDDLE.rules(), pairs: pairs.clone() };
    let feedbacks = solver.batch_score(batch).await?.into_inner().feedbacks;
    let right = pairs.iter().zip(&feedbacks).filter(|(p, f)| pegs(&p.secret, &p.guess) == **f);
    let mut wrong = pairs.len() - right.count();

    let (guesses, secrets): (Vec<String>, Vec<String>) =
        (0..1000).map(|i| (code(i), code(i + 1000))).unzip();
    let spec = CodeSpec {
        alphabet: "01234567".into(),
        length: 5,
        repeats: true,
        not_first: String::new(),
    };
    let rules = Rules::codes(&spec, FeedbackRule::Pegs)?;
    let codes = |texts: &[String]| {
        texts.iter().map(|text| rules.code(text)).collect::<Result<Vec<Code>, _>>()
    };
    let cells = score_matrix(&rules, &codes(&guesses)?, &codes(&secrets)?, &Budget::unlimited());
    let matrix = ScoreMatrixRequest { rules: MIDDLE.rules(), guesses, secrets };
    let answer = solver.score_matrix(matrix).await?.into_inner();
    let expected = cells.map_err(|stopped| format!("{stopped:?}"))?;
    wrong += expected.len().abs_diff(answer.cells.len());
    wrong += expected.iter().zip(&answer.cells).filter(|(one, other)| one != other).count();
    Ok((wrong, pairs.len() + expected.len()))
}

/// Runs `herdsman load` against a server and returns its result.
fn load(setup: &Setup, server: &Server, flags: &[&str]) -> Result<Value, Trouble> {
    let address = format!("http://{}", server.address());
    let output = Command::new(&setup.client)
        .args(["load", "--format", "json", "--server", &address])
        .args(flags)
        .output()?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned().into())
}

/// The middle of some figures.
pub(super) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The middle of some times.
pub(super) fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(Duration::MAX)
}
