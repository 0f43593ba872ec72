//! Many who ask the same at once: it is computed once, whoever of them leaves.
//!
//! Computations are those that the server's own metrics count.

use std::time::Duration;

use herdsman_proto::v1::BestNextGuessResponse;
use tokio::{task::JoinSet, time::sleep};

use super::{
    drive::{End, connections, guess},
    requests::very_dear,
};
use crate::{
    report::Report,
    server::{Connection, Server},
    trial::{Setup, Trouble},
};

/// Those who ask at once.
const CALLERS: usize = 1000;
/// Connections, each with fewer calls than it may have.
const CONNECTIONS: usize = 8;
/// Some two tenths of a second of a core: longer than it takes to ask.
const SCORES: i64 = 1_500_000_000;
/// How long a leader that leaves has waited: so long that its computation has begun.
const PATIENCE: Duration = Duration::from_millis(3);

/// All of it, on one server.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn stampede(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let server = Server::start(setup, &[])?;
    let to = connections(&server, CONNECTIONS).await?;
    crowd(&to, SCORES, CALLERS, false).await?;
    let together = begun(&server)?;
    report.law("1,000 at once: one computation", together, together == 1.0);
    crowd(&to, SCORES + 1, CALLERS, true).await?;
    let led = begun(&server)? - together;
    report.law("the first of them leaves: at most two", led, led <= 2.0);

    leaders(&to, SCORES + 3, setup.scale(300, 50)).await;
    let idle = server.until_idle();
    report.law("the last who leaves ends the work", if idle { "idle" } else { "busy" }, idle);
    let answer = guess(to[0].solver(), very_dear(SCORES + 3)).await;
    report.law(
        "leaders that leave one after the other: then an answer",
        format!("{answer:?}"),
        matches!(answer, End::Right),
    );
    let before = begun(&server)?;
    let follower = tokio::spawn(guess(to[0].solver(), very_dear(SCORES + 4)));
    leaders(&to, SCORES + 4, setup.scale(300, 50)).await;
    let end = follower.await?;
    let followed = begun(&server)? - before;
    report.law(
        "and with one who stays: one computation",
        format!("{followed}, {end:?}"),
        followed == 1.0 && matches!(end, End::Right),
    );
    report.law("no panic", server.panics(), server.panics() == 0);
    Ok(())
}

/// The computations that began so far.
fn begun(server: &Server) -> Result<f64, Trouble> {
    server.metric("herdsman_jobs_started_total")
}

/// So many ask the same; the first may leave when its computation has begun. All others get one answer.
async fn crowd(to: &[Connection], scores: i64, callers: usize, leave: bool) -> Result<(), Trouble> {
    let call = |number: usize| {
        let mut solver = to[number % to.len()].solver();
        async move { solver.best_next_guess(very_dear(scores)).await }
    };
    let leader = tokio::spawn(call(0));
    if leave {
        sleep(PATIENCE).await;
    }
    let mut others: JoinSet<_> = (1..callers).map(call).collect();
    if leave {
        sleep(PATIENCE).await;
        leader.abort();
    }
    let mut first: Option<BestNextGuessResponse> = None;
    if let Ok(answer) = leader.await {
        first = Some(answer?.into_inner());
    }
    while let Some(answer) = others.join_next().await {
        let answer = answer??.into_inner();
        let first = first.get_or_insert_with(|| answer.clone());
        if first.suggestions != answer.suggestions || answer.suggestions.is_empty() {
            return Err(format!("two answers: {first:?} and {answer:?}").into());
        }
    }
    Ok(())
}

/// So many ask the same, one after the other, and leave.
async fn leaders(to: &[Connection], scores: i64, count: usize) {
    for number in 0..count {
        let mut solver = to[number % to.len()].solver();
        let call = solver.best_next_guess(very_dear(scores));
        let _ = tokio::time::timeout(PATIENCE, call).await;
    }
}
