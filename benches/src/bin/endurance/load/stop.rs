//! The end of a server amid its work.

use std::{
    error::Error as _,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use herdsman_proto::v1::ScoreRequest;
use rustix::process::Signal;
use tokio::{net::TcpStream, task::JoinSet, time::sleep};
use tonic::{Code, Status};

use super::{
    drive::connections,
    requests::{MIDDLE, dear, pegs, proof},
};
use crate::{
    report::Report,
    server::{Connection, Server},
    trial::{Setup, Trouble},
};

/// What calls get to finish.
const GRACE: Duration = Duration::from_secs(2);
/// Callers, on [`CONNECTIONS`]: half of them ask for scores, half for guesses of a few milliseconds.
const CALLERS: usize = 16;
const CONNECTIONS: usize = 4;
/// Connections that never say a word, and as many that say no more than that they speak HTTP/2.
const SILENT: usize = 5;

/// What became of the calls of a round.
#[derive(Default)]
struct Calls {
    answered: u64,
    /// Begun before the signal and not answered.
    lost: Vec<String>,
    /// Begun after it, and neither answered nor refused as they should be.
    wrong: Vec<String>,
}

/// SIGTERM under load, again and again; then amid proofs that take longer than the grace.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn stop(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let mut all = Calls::default();
    let (mut slowest, mut unclean) = (Duration::ZERO, Vec::new());
    let rounds = setup.scale(20, 3);
    for round in 0..rounds {
        let (calls, took, status) = round_of(setup, round).await?;
        all.answered += calls.answered;
        all.lost.extend(calls.lost);
        all.wrong.extend(calls.wrong);
        slowest = slowest.max(took);
        unclean.extend((!status.starts_with("exit status: 0")).then_some(status));
    }
    let told = |what: &[String], of: u64| match what.first() {
        Some(first) => format!("{} beside {of} answered: {first}", what.len()),
        None => format!("0 beside {of} answered"),
    };
    report.law(
        format!("{rounds} stops under load: 0 failed in flight"),
        told(&all.lost, all.answered),
        all.lost.is_empty(),
    );
    report.law(
        "new calls are answered, UNAVAILABLE, or find no connection",
        told(&all.wrong, all.answered),
        all.wrong.is_empty(),
    );
    report.law("exit 0", format!("{} otherwise {unclean:?}", unclean.len()), unclean.is_empty());
    report.timing(
        "exit within grace + 1 s, with 10 silent connections",
        format!("{slowest:.2?} at most, grace {GRACE:?}"),
        slowest <= GRACE + Duration::from_secs(1),
    );
    proofs(setup, report).await
}

/// A server, its load and its end: what became of the calls, how long the end took, and what it was.
async fn round_of(setup: &Setup, round: u64) -> Result<(Calls, Duration, String), Trouble> {
    let grace = GRACE.as_millis().to_string();
    let mut server = Server::start(setup, &["--grace-ms", &grace])?;
    let to = connections(&server, CONNECTIONS).await?;
    let mut silent = Vec::new();
    for _ in 0..SILENT {
        silent.push((TcpStream::connect(server.address()).await?, server.connect().await?));
    }
    let signalled = Arc::new(OnceLock::new());
    let mut callers: JoinSet<Calls> = (0..CALLERS)
        .map(|caller| call(caller, to[caller % to.len()].clone(), Arc::clone(&signalled)))
        .collect();
    // Not always at the same point of the work.
    sleep(Duration::from_millis(300 + 7 * round)).await;
    let begun = Instant::now();
    signalled.set(begun).expect("nobody else sets it");
    server.signal(Signal::TERM);
    let (server, status) = tokio::task::spawn_blocking(move || {
        let status = server.wait(2 * GRACE + Duration::from_secs(1));
        (server, status)
    })
    .await?;
    let took = begun.elapsed();
    let mut calls = Calls::default();
    while let Some(caller) = callers.join_next().await {
        let caller = caller?;
        calls.answered += caller.answered;
        calls.lost.extend(caller.lost);
        calls.wrong.extend(caller.wrong);
    }
    drop((server, silent));
    Ok((calls, took, status?.to_string()))
}

/// Calls until a call is not answered.
async fn call(caller: usize, to: Connection, signalled: Arc<OnceLock<Instant>>) -> Calls {
    let mut calls = Calls::default();
    for number in (caller..).step_by(CALLERS) {
        let begun = Instant::now();
        let Err(status) = ask(&to, number).await else {
            calls.answered += 1;
            continue;
        };
        let said = format!("{status}, after {:?}", begun.elapsed());
        if signalled.get().is_none_or(|signal| begun < *signal) {
            calls.lost.push(said);
        } else if status.code() != Code::Unavailable && status.source().is_none() {
            // What has a source was made here: there is no connection any more.
            calls.wrong.push(said);
        }
        break;
    }
    calls
}

/// The call of this number.
async fn ask(to: &Connection, number: usize) -> Result<(), Status> {
    if number.is_multiple_of(2) {
        let reply = to.solver().best_next_guess(dear(number as u64)).await?.into_inner();
        let sound = reply.remaining >= 1 && reply.suggestions.len() == 1;
        return if sound { Ok(()) } else { Err(Status::data_loss(format!("{reply:?}"))) };
    }
    let codes = [number, number * 31].map(|number| MIDDLE.code(number % MIDDLE.size()));
    let [secret, guess] = codes;
    let right = pegs(&secret, &guess);
    let request = ScoreRequest { rules: MIDDLE.rules(), secret, guess };
    let reply = to.solver().score(request).await?.into_inner();
    let sound = reply.feedback == Some(right);
    if sound { Ok(()) } else { Err(Status::data_loss(format!("{reply:?}"))) }
}

/// Twenty proofs that take longer than the grace: each ends with its result or UNAVAILABLE (RB-113).
async fn proofs(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    const PROOFS: usize = 20;
    let grace = Duration::from_secs(setup.scale(2, 1));
    let milliseconds = grace.as_millis().to_string();
    let flags = ["--grace-ms", &milliseconds, "--solve-threads", "20"];
    let mut server = Server::start(setup, &flags)?;
    let mut solver = server.solver().await?;
    let mut streams = Vec::new();
    for _ in 0..PROOFS {
        let mut events = solver.solve(proof()).await?.into_inner();
        events.message().await?.ok_or("a proof ends without a word")?;
        streams.push(events);
    }
    let begun = Instant::now();
    server.signal(Signal::TERM);
    let mut ends = JoinSet::new();
    for mut events in streams {
        ends.spawn(async move {
            loop {
                match events.message().await {
                    Ok(Some(_)) => {}
                    Ok(None) => break Code::Ok,
                    Err(status) => break status.code(),
                }
            }
        });
    }
    let ends = ends.join_all().await;
    let count = |code| ends.iter().filter(|&&end| end == code).count();
    let (done, cut) = (count(Code::Ok), count(Code::Unavailable));
    report.law(
        "20 proofs under way: all end with OK or UNAVAILABLE",
        format!("{done} OK, {cut} UNAVAILABLE"),
        done + cut == PROOFS,
    );
    // Else nothing was shown of those that the grace does not suffice for.
    report.law("some are cut", format!("{cut} of {PROOFS}"), cut > 0);
    let status = server.wait(grace + Duration::from_secs(10))?;
    let took = begun.elapsed();
    report.law("and the server with exit 0", status, status.success());
    report.timing(
        format!("within {} s", grace.as_secs() + 1),
        format!("{took:.2?}"),
        took <= grace + Duration::from_secs(1),
    );
    Ok(())
}
