//! Calls whose callers leave, or take nothing: cancelled calls, streams cut off half-way, windows of zero.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use herdsman_engine::Random;
use herdsman_proto::v1::{
    BestNextGuessRequest, CodeRules, EvaluateRequest, Feedback, Player, Rules, ScoreRequest,
    SearchLimits, Strategy, Turn, rules::Game, solver_service_client::SolverServiceClient,
};
use hyper_util::rt::TokioIo;
use prost::Message as _;
use tokio::{net::TcpStream, task::JoinSet, time};
use tonic::transport::{Channel, Endpoint};
use tower::service_fn;

use super::{
    Attacked, MIB,
    frames::{CANCEL, DATA, END_STREAM, HEADERS, RST_STREAM, WIDE, Wire, call, frame},
    whole,
};
use crate::{
    report::{Report, mib, ms},
    server::{Server, TASKS},
    trial::{Setup, Trouble},
};

const GUESS: &str = "/herdsman.v1.SolverService/BestNextGuess";
const EVALUATE: &str = "/herdsman.v1.SolverService/Evaluate";

/// What a search may take at most, and the flag that allows it: more than there is time for.
const MAX_SCORES: i64 = 1_000_000_000_000;
const LONG_SEARCHES: &[&str] = &["--max-scores=1000000000000"];

/// A game of codes with repeats.
fn codes(alphabet: &str, length: i32) -> Option<Rules> {
    let codes =
        CodeRules { alphabet: alphabet.into(), length, repeats: true, ..Default::default() };
    Some(Rules { game: Some(Game::Codes(codes)), ..Default::default() })
}

/// A search that keeps a core busy until it is stopped. Each number is a question of its own.
fn dear(number: u64) -> BestNextGuessRequest {
    let limits = SearchLimits { max_scores: MAX_SCORES - number as i64 };
    let turn = |guess: &str| {
        let feedback = Feedback { bulls: Some(1), cows: Some(1), ..Default::default() };
        Turn { guess: guess.into(), feedback: Some(feedback) }
    };
    BestNextGuessRequest {
        rules: codes("0123456789", 7),
        // No two digits are alike after these, so that no guess stands for others.
        history: vec![turn("0123456"), turn("6701899")],
        strategy: Strategy::Entropy.into(),
        limits: Some(limits),
        ..Default::default()
    }
}

/// Calls that their client cancels, and others on the same channel, which must not notice (RB-115).
#[tokio::main]
pub(super) async fn cancels(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    const AT_A_TIME: u64 = 8;
    let mut server = Server::start(setup, LONG_SEARCHES)?;
    let (channel, connects) = counted(server.address()).await?;
    let calls: u64 = setup.scale(10_000, 800);
    let mut cancelling = JoinSet::new();
    for first in 0..AT_A_TIME {
        let mut client = SolverServiceClient::new(channel.clone());
        cancelling.spawn(async move {
            let (mut random, mut cancelled) = (Random::new(first), 0_u64);
            for number in (first..calls).step_by(AT_A_TIME as usize) {
                let patience = Duration::from_micros(1000 + random.below(9000) as u64);
                let call = client.best_next_guess(dear(number));
                cancelled += u64::from(time::timeout(patience, call).await.is_err());
            }
            cancelled
        });
    }
    let others = async {
        let mut client = SolverServiceClient::new(channel);
        let mut every = time::interval(Duration::from_millis(100));
        let (mut cancelled, mut calls, mut failed) = (0, 0, Vec::new());
        loop {
            tokio::select! {
                ended = cancelling.join_next() => match ended {
                    Some(count) => cancelled += count?,
                    None => return Ok::<_, Trouble>((cancelled, calls, failed)),
                },
                _ = every.tick() => {
                    calls += 1;
                    failed.extend(client.score(score()).await.err());
                }
            }
        }
    };
    let (cancelled, others, failed) = others.await?;
    let again = connects.load(Ordering::Relaxed) - 1;
    report.law(
        format!("{calls} calls, nearly all cancelled after 1 to 10 ms"),
        format!("{cancelled} cancelled"),
        cancelled * 10 >= calls * 9,
    );
    let said = failed.first().map(|status| format!(": {status}")).unwrap_or_default();
    report.law(
        "others on the same channel: 0 failed",
        format!("{} of {others} failed{said}", failed.len()),
        failed.is_empty(),
    );
    report.law("20 reconnects at most", again, again <= 20);
    whole(&mut server, report);
    Ok(())
}

fn score() -> ScoreRequest {
    let rules = Rules { game: Some(Game::Preset("bulls-and-cows".into())), ..Default::default() };
    ScoreRequest { rules: Some(rules), secret: "0123".into(), guess: "0132".into() }
}

/// A channel as clients have it, which connects again by itself, and how often it did.
async fn counted(address: SocketAddr) -> Result<(Channel, Arc<AtomicU64>), Trouble> {
    let connects = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&connects);
    let connector = service_fn(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        async move { TcpStream::connect(address).await.map(TokioIo::new) }
    });
    let endpoint = Endpoint::from_static("http://herdsman");
    Ok((endpoint.connect_with_connector(connector).await?, connects))
}

/// Evaluations whose streams end by a reset, or with their connection (RB-107).
pub(super) fn broken_streams(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    const SOON: Duration = Duration::from_secs(2);
    let server = Server::start(setup, &[])?;
    // What one takes for its work is no leak.
    cut(server.address(), 0, true)?;
    server.until_idle();
    let attacked = Attacked::on(server)?;
    let server = &attacked.server;
    let tasks = || server.metric(TASKS);
    let (before, tasks_before) = ((server.descriptors(), server.threads()), tasks()?);
    let memory = server.memory();
    let calls: u32 = setup.scale(10_000, 400);
    let mut refused = 0;
    for round in 0..calls.div_ceil(AT_ONCE) {
        // A few stay until they are told of the progress, which comes four times a second.
        refused += cut(server.address(), round, round.is_multiple_of(16))?;
    }
    let begun = Instant::now();
    let back = server.until(SOON, |server| {
        (server.descriptors(), server.threads()) <= before
            && tasks().is_ok_and(|tasks| tasks <= tasks_before)
    });
    let after = begun.elapsed();
    report.law(
        format!("{calls} streams cut off: threads, tasks and connections back within 2 s"),
        format!(
            "{} threads, {} tasks, {} descriptors after {}; {}, {tasks_before} and {} before; {refused} refused",
            server.threads(),
            tasks()?,
            server.descriptors(),
            ms(after),
            before.1,
            before.0
        ),
        back,
    );
    let grown = server.memory().saturating_sub(memory);
    report.law("memory + 16 MiB at most", format!("+ {}", mib(grown)), grown <= 16 * MIB);
    attacked.end(report, 32 * MIB);
    Ok(())
}

/// Streams of a connection: as many as run and wait in line on two cores.
const AT_ONCE: u32 = 8;

/// Opens as many streams, waits until all have begun, and ends them, in one way or the other by turns. Returns how
/// many were refused because the line was full.
fn cut(address: SocketAddr, round: u32, progress: bool) -> io::Result<u32> {
    let player = Player { strategy: Strategy::Entropy.into(), ..Default::default() };
    // Some seconds of work.
    let rules = codes("01234567", 5);
    let evaluate = EvaluateRequest { rules, player: Some(player), ..Default::default() };
    let mut wire = Wire::open(address, WIDE)?;
    let streams = (0..AT_ONCE).map(|nth| 2 * nth + 1);
    let mut bytes = Vec::new();
    for stream in streams.clone() {
        call(&mut bytes, stream, EVALUATE, &[], &evaluate.encode_to_vec());
    }
    wire.send(&bytes)?;
    let (mut begun, mut refused, mut told) = (0, 0, !progress);
    while begun < AT_ONCE || !told {
        let frame = wire.next()?;
        if frame.kind == HEADERS {
            begun += 1;
            refused += u32::from(frame.flags & END_STREAM != 0);
        }
        told |= frame.kind == DATA || refused == AT_ONCE;
    }
    if round.is_multiple_of(2) {
        let mut bytes = Vec::new();
        streams.for_each(|stream| frame(&mut bytes, RST_STREAM, 0, stream, &CANCEL));
        wire.send_and_sync(bytes, |_| {})?;
    }
    Ok(refused)
}

/// A caller who takes nothing must not keep another from the same answer (RB-101).
pub(super) fn zero_window(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let mut server = Server::start(setup, LONG_SEARCHES)?;
    let (rounds, mut slowest) = (setup.scale(20, 2), Duration::ZERO);
    let mut others = Vec::new();
    for round in 0..rounds {
        // An answer that the first cannot take, and a search that outlives the second.
        for (question, expected) in [(quick(round), 0), (dear(round), 4)] {
            let (code, took) = follow(server.address(), &question.encode_to_vec())?;
            if code != expected {
                others.push(format!("{code} for {expected}"));
            }
            slowest = slowest.max(took);
        }
    }
    report.law(
        format!("{} followers of a caller who takes nothing: the answer, or code 4", 2 * rounds),
        format!("{} had another code {}", others.len(), others.join(", ")),
        others.is_empty(),
    );
    report.timing("within 550 ms", ms(slowest), slowest <= Duration::from_millis(550));
    whole(&mut server, report);
    Ok(())
}

/// The code that a caller gets who may wait 500 ms, and when, after another who takes nothing asked the same.
fn follow(address: SocketAddr, question: &[u8]) -> io::Result<(u8, Duration)> {
    let mut first = Wire::open(address, 0)?;
    let mut bytes = Vec::new();
    call(&mut bytes, 1, GUESS, &[], question);
    first.send_and_sync(bytes, |_| {})?;
    let mut second = Wire::open(address, WIDE)?;
    let mut bytes = Vec::new();
    call(&mut bytes, 1, GUESS, &[("grpc-timeout", "500m")], question);
    let begun = Instant::now();
    second.send(&bytes)?;
    Ok((second.status(1)?, begun.elapsed()))
}

/// A question of a millisecond. Each number is a question of its own.
fn quick(number: u64) -> BestNextGuessRequest {
    let rules = Rules { game: Some(Game::Preset("bulls-and-cows".into())), ..Default::default() };
    BestNextGuessRequest {
        rules: Some(rules),
        strategy: Strategy::Entropy.into(),
        top_k: 1 + number as i32,
        ..Default::default()
    }
}
