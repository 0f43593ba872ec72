//! A deadline that only the server watches: when its answer comes, and when the work behind it ends.

use std::{
    thread,
    time::{Duration, Instant},
};

use herdsman_proto::v1::BestNextGuessRequest;
use tonic::{Code, Request, Status, metadata::MetadataValue};

use super::{
    requests::{proof, very_dear},
    throughput::middle,
};
use crate::{
    report::{Report, ms},
    server::{Server, Solver},
    trial::{Setup, Trouble},
};

/// How long the CPU time is watched after an answer: well beyond the longest that it may go on.
const WATCH: Duration = Duration::from_millis(80);
/// How often it is looked at.
const GLANCE: Duration = Duration::from_millis(1);
/// The part of a glance that tells work from a wake-up.
const WORK: f64 = 0.25;

/// 20 ms for a search of minutes, of a guess and of a proof in turns.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn deadline(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let server = Server::start(setup, &["--max-scores", "1000000000000000"])?;
    let mut solver = server.solver().await?;
    // The game is ready when the trial begins.
    solver.best_next_guess(very_dear(1_000_000)).await?;
    let (mut answers, mut stops, mut other) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..setup.scale(50, 10) {
        if !server.until_idle() {
            return Err("the server computes although nobody asks".into());
        }
        let begun = Instant::now();
        let answer =
            if round % 2 == 0 { guess(&mut solver).await } else { solve(&mut solver).await };
        answers.push(begun.elapsed());
        stops.push(stop_of_work(&server));
        match answer {
            Err(status) if status.code() == Code::DeadlineExceeded => {}
            Err(status) => other.push(status.to_string()),
            Ok(()) => other.push("an answer".to_owned()),
        }
    }
    let unlike = format!("{} of {} otherwise {}", other.len(), answers.len(), other.join("; "));
    report.law("every answer is code 4", unlike, other.is_empty());
    let slowest = answers.iter().max().copied().unwrap_or_default();
    report.timing(
        "code 4 within 30 ms",
        format!("{}, at most {}", ms(middle(answers)), ms(slowest)),
        slowest <= Duration::from_millis(30),
    );
    let last = stops.iter().max().copied().unwrap_or_default();
    let median = middle(stops);
    report.timing(
        "CPU stops within 10 ms (median)",
        ms(median),
        median <= Duration::from_millis(10),
    );
    report.timing("CPU stops within 50 ms (max)", ms(last), last <= Duration::from_millis(50));
    let idle = server.until_idle();
    report.law("nothing is computed in the end", if idle { "idle" } else { "busy" }, idle);
    report.law("no panic", server.panics(), server.panics() == 0);
    Ok(())
}

async fn guess(solver: &mut Solver) -> Result<(), Status> {
    let request = BestNextGuessRequest { limits: None, ..very_dear(0) };
    solver.best_next_guess(with_deadline(request)).await.map(drop)
}

async fn solve(solver: &mut Solver) -> Result<(), Status> {
    let mut events = solver.solve(with_deadline(proof())).await?.into_inner();
    while events.message().await?.is_some() {}
    Ok(())
}

/// The deadline goes over the wire as a header, and nobody here heeds it.
fn with_deadline<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("grpc-timeout", MetadataValue::from_static("20m"));
    request
}

/// How long from now on the server still works.
fn stop_of_work(server: &Server) -> Duration {
    let begun = Instant::now();
    let (mut before, mut last, mut stop) = (server.cpu_of_threads(), begun, Duration::ZERO);
    while begun.elapsed() < WATCH {
        thread::sleep(GLANCE);
        let (now, at) = (server.cpu_of_threads(), Instant::now());
        // A proof ends its thread: only what goes on is compared.
        let worked: Duration = now
            .iter()
            .map(|(thread, cpu)| *cpu - before.get(thread).copied().unwrap_or_default().min(*cpu))
            .sum();
        if worked > (at - last).mul_f64(WORK) {
            stop = at - begun;
        }
        (before, last) = (now, at);
    }
    stop
}
