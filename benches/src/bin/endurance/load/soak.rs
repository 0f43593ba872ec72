//! All that can be asked, for long: nothing fails, and nothing grows.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use herdsman_engine::Random;
use herdsman_proto::v1::{
    AnalyzeRequest, AnswerRequest, BatchScoreRequest, BestNextGuessRequest, DiagnoseRequest,
    DuelRequest, EvaluateRequest, FilterRequest, GetServerInfoRequest, Player, ScoreMatrixRequest,
    ScorePair, ScoreRequest, SimulateRequest, SolveRequest, Strategy, Turn, duel_response,
    evaluate_response, solve_response,
};
use rustix::process::Signal;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tonic::Status;

use super::{
    drive::{End, Tally, closed_loop, connections, open_loop},
    requests::{MIDDLE, SMALL, pegs, position},
    throughput::median,
};
use crate::{
    honest::Honest,
    report::{Report, mib, ms, percentile},
    server::{Connection, Server, Solver, TASKS},
    trial::{Setup, Trouble},
};

const SECOND: Duration = Duration::from_secs(1);
/// Callers that find how much the server carries.
const BUSY: u64 = 16;
const CONNECTIONS: usize = 8;
/// The part of the time after which caches are full and threads are started: the first quarter.
const WARM: usize = 4;
/// What grows within this is noise.
const NOISE: f64 = 0.02;

/// Parts of a soak. Before each it is measured anew what the server can carry: this machine is not the same from one
/// minute to the next.
const PARTS: u32 = 10;

/// 70 % of what it can carry.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn soak(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    // Caches that are full before the warm-up ends.
    let server = Server::start(
        setup,
        &[
            "--answer-cache-bytes",
            "2000000",
            "--candidate-cache-bytes",
            "4000000",
            "--game-cache-bytes",
            "32000000",
        ],
    )?;
    let to = connections(&server, CONNECTIONS).await?;
    let length = setup.scale(setup.soak, 8 * SECOND);
    let numbers = Arc::default();
    let first = peak(setup, &to, &numbers).await.goodput();
    let memory = server.memory();
    let paused = setup.scale(3, 1) * SECOND;
    let crowd = crowd(&server, &to, 0.7 * first, paused, &numbers).await;
    let crowded = server.memory();
    let honest = Honest::start(server.address(), Duration::from_millis(50));
    let mut samples: [Vec<f64>; 4] = Default::default();
    let mut ticks = interval(setup.scale(SECOND, SECOND / 20));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let refused_before = refused_streams(&server)?;
    let load = in_parts(setup, &to, length, &numbers);
    tokio::pin!(load);
    let (tally, peaks) = loop {
        tokio::select! {
            ended = &mut load => break ended,
            _ = ticks.tick() => {
                let now = [
                    server.memory() as f64,
                    server.descriptors() as f64,
                    server.threads() as f64,
                    server.metric(TASKS)?,
                ];
                samples.iter_mut().zip(now).for_each(|(samples, now)| samples.push(now));
            }
        }
    };
    let seen = honest.stop();
    let told = format!("{} to {}", mib(memory), mib(crowded));
    report.note("memory before and after a pause of a second", told);
    report.law("a pause of the server: 0 failed", crowd.failures(), crowd.failed == 0);
    let streams = refused_streams(&server)? - refused_before;
    judge_calls(report, &tally, &peaks, streams);
    report.law("honest calls beside: 0 failed", seen.failures(), seen.failed == 0);
    judge_growth(setup, report, &samples);
    report.law("no panic", server.panics(), server.panics() == 0);
    Ok(())
}

/// What the server can carry.
async fn peak(setup: &Setup, to: &[Connection], numbers: &Arc<AtomicU64>) -> Tally {
    closed_loop(to, BUSY, setup.scale(6, 1) * SECOND, numbers, call).await
}

/// A load of some length, in parts, and the peak before each.
async fn in_parts(
    setup: &Setup,
    to: &[Connection],
    length: Duration,
    numbers: &Arc<AtomicU64>,
) -> (Tally, Vec<f64>) {
    let parts = setup.scale(PARTS, 1);
    let (mut tally, mut peaks) = (Tally::new(), vec![]);
    for _ in 0..parts {
        let peak = peak(setup, to, numbers).await;
        let part = open_loop(to, 0.7 * peak.goodput(), length / parts, numbers, call).await;
        peaks.push(peak.goodput());
        tally.append(peak);
        tally.append(part);
    }
    (tally, peaks)
}

/// Calls with a stream that were refused so far.
fn refused_streams(server: &Server) -> Result<f64, Trouble> {
    let mut streams = 0.0;
    for method in ["Solve", "Evaluate", "Duel"] {
        streams += server.metric(&format!(
            "grpc_server_handled_total{{grpc_type=\"server_stream\",grpc_service=\"herdsman.v1.SolverService\",\
             grpc_method=\"{method}\",grpc_code=\"RESOURCE_EXHAUSTED\"}}"
        ))?;
    }
    Ok(streams)
}

fn judge_calls(report: &mut Report, tally: &Tally, peaks: &[f64], streams: f64) {
    let time = |percent| ms(percentile(&tally.right_times, percent));
    let told = format!("{} s, {}, {}", tally.length.as_secs(), time(50.0), time(99.0));
    report.note("length, p50 and p99, with the peaks", told);
    let peaks: Vec<_> = peaks.iter().map(|peak| format!("{peak:.0}")).collect();
    report.note("the load was 70 % of these a second", peaks.join(", "));
    // After a pause of the machine, all that came due meanwhile comes at once.
    let late = |percent| ms(percentile(&tally.delays, percent));
    report
        .note("calls were begun late: p99.9, at most", format!("{}, {}", late(99.9), late(100.0)));
    let (failures, refused) = (tally.failures(), tally.refused);
    let told = format!("{failures}, {refused} refused ({streams} streams)");
    report.law("0 failures, none refused", told, tally.failed + tally.refused == 0);
}

/// Samples of memory, descriptors, threads and tasks: after the warm-up, none of them grows.
fn judge_growth(setup: &Setup, report: &mut Report, samples: &[Vec<f64>; 4]) {
    for (what, unit, samples) in [
        ("memory", f64::from(1 << 20), &samples[0]),
        ("descriptors", 1.0, &samples[1]),
        ("threads", 1.0, &samples[2]),
        ("tasks", 1.0, &samples[3]),
    ] {
        // The middles of the first and of the last fifth of what comes after the warm-up.
        let warm = &samples[samples.len() / WARM..];
        let fifth = warm.len() / 5;
        let first = median(warm[..fifth].to_vec());
        let last = median(warm[warm.len() - fifth..].to_vec());
        // In short form the caches are not full yet.
        let grown = last > first * (1.0 + setup.scale(NOISE, 0.5)) + 2.0;
        let unit_name = if unit > 1.0 { " MiB" } else { "" };
        report.law(
            format!("{what}: no growth after warm-up"),
            format!("{:.1} to {:.1}{unit_name}", first / unit, last / unit),
            !grown,
        );
    }
}

/// Calls at this rate to a server that pauses for a second, as machines do: HTTP/2 keeps room for as many calls as a
/// connection ever had open at once, until it is closed. That has a bound, which chance would reach at some time.
async fn crowd(
    server: &Server,
    to: &[Connection],
    rate: f64,
    length: Duration,
    numbers: &AtomicU64,
) -> Tally {
    let pause = async {
        sleep(length / 3).await;
        server.signal(Signal::STOP);
        sleep(SECOND).await;
        server.signal(Signal::CONT);
    };
    tokio::join!(open_loop(to, rate, length, numbers, call), pause).0
}

/// The call of this number: a kind by the number, about something drawn by it.
async fn call(mut solver: Solver, number: u64) -> End {
    match ask(&mut solver, number).await {
        Ok(true) => End::Right,
        Ok(false) => End::Failed(format!("a wrong answer to call {number}")),
        Err(status) => End::of::<()>(Err(status), |()| None),
    }
}

/// Asks, and tells whether the answer is right.
async fn ask(solver: &mut Solver, number: u64) -> Result<bool, Status> {
    let mut lots = Random::new(number);
    let (secret, guess) = (SMALL.draw(&mut lots), SMALL.draw(&mut lots));
    let rules = SMALL.rules();
    let history = position(number as usize);
    Ok(match number % 16 {
        0..4 => {
            let right = pegs(&secret, &guess);
            let request = ScoreRequest { rules, secret, guess };
            solver.score(request).await?.into_inner().feedback == Some(right)
        }
        4 => {
            let pairs = vec![ScorePair { secret: secret.clone(), guess: guess.clone() }; 100];
            let request = BatchScoreRequest { rules, pairs };
            let feedbacks = solver.batch_score(request).await?.into_inner().feedbacks;
            feedbacks == vec![pegs(&secret, &guess); 100]
        }
        5 => {
            let (guesses, secrets) = (vec![guess.clone(); 50], vec![secret.clone(); 50]);
            let request = ScoreMatrixRequest { rules, guesses, secrets };
            let reply = solver.score_matrix(request).await?.into_inner();
            let right = pegs(&secret, &guess);
            reply.cells.len() == 2500
                && reply.cells.iter().all(|&cell| reply.legend[usize::from(cell)] == right)
        }
        6 => {
            let history = MIDDLE.history(&MIDDLE.draw(&mut lots), &[MIDDLE.draw(&mut lots)]);
            let request = FilterRequest { rules: MIDDLE.rules(), history, ..Default::default() };
            let reply = solver.filter(request).await?.into_inner();
            reply.remaining as usize >= reply.candidates.len() && !reply.candidates.is_empty()
        }
        7 => {
            let request = AnalyzeRequest { rules, history, guess, rate: true };
            solver.analyze(request).await?.into_inner().remaining >= 1
        }
        8 => {
            let request = DiagnoseRequest { rules, history };
            solver.diagnose(request).await?.into_inner().consistent
        }
        9 => {
            let request = AnswerRequest { rules, history, guess, ..Default::default() };
            solver.answer(request).await?.into_inner().remaining >= 1
        }
        10 => solver.get_server_info(GetServerInfoRequest {}).await?.into_inner().limits.is_some(),
        11 => {
            let request = SimulateRequest {
                rules,
                player: Some(player(Strategy::Entropy)),
                secret,
                ..Default::default()
            };
            solver.simulate(request).await?.into_inner().solved
        }
        12 => stream(solver, number, history).await?,
        13 => game(solver, &secret).await?,
        _ => {
            let strategy = Strategy::Minimax.into();
            let request = BestNextGuessRequest { rules, history, strategy, ..Default::default() };
            solver.best_next_guess(request).await?.into_inner().remaining >= 1
        }
    })
}

fn player(strategy: Strategy) -> Player {
    Player { strategy: strategy.into(), ..Player::default() }
}

/// A call that tells its progress: a proof, an evaluation or a duel.
async fn stream(solver: &mut Solver, number: u64, history: Vec<Turn>) -> Result<bool, Status> {
    let (rules, mut last) = (SMALL.rules(), false);
    match number / 16 % 3 {
        0 => {
            let request = SolveRequest { rules, history, no_book: true, ..Default::default() };
            let mut events = solver.solve(request).await?.into_inner();
            while let Some(event) = events.message().await? {
                last = matches!(event.event, Some(solve_response::Event::Result(_)));
            }
        }
        1 => {
            let player = Some(player(Strategy::FirstConsistent));
            let request = EvaluateRequest { rules, player, sample: 20, ..Default::default() };
            let mut events = solver.evaluate(request).await?.into_inner();
            while let Some(event) = events.message().await? {
                last = matches!(event.event, Some(evaluate_response::Event::Result(_)));
            }
        }
        _ => {
            let [first, second] =
                [Strategy::FirstConsistent, Strategy::Minimax].map(|one| Some(player(one)));
            let request = DuelRequest { rules, first, second, sample: 20, ..Default::default() };
            let mut events = solver.duel(request).await?.into_inner();
            while let Some(event) = events.message().await? {
                last = matches!(event.event, Some(duel_response::Event::Result(_)));
            }
        }
    }
    Ok(last)
}

/// A whole game, played by guesses of the server and answers that are counted here.
async fn game(solver: &mut Solver, secret: &str) -> Result<bool, Status> {
    let mut guesses: Vec<String> = Vec::new();
    loop {
        let request = BestNextGuessRequest {
            rules: SMALL.rules(),
            history: SMALL.history(secret, &guesses),
            ..BestNextGuessRequest::default()
        };
        let reply = solver.best_next_guess(request).await?.into_inner();
        if reply.solved {
            return Ok(reply.secret == secret);
        }
        match reply.suggestions.into_iter().next() {
            Some(best) if guesses.len() < 10 => guesses.push(best.guess),
            _ => return Ok(false),
        }
    }
}
