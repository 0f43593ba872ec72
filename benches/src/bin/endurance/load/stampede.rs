//! Many who ask the same at once: it is computed once, whoever of them leaves.
//!
//! Computations are counted by CPU time: that of the calls as such, which the same calls take when the answer is in the
//! cache, is taken off, and the rest is compared with one call alone.

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
/// Some half a second of a core.
const SCORES: i64 = 1_500_000_000;
/// How long a leader that leaves has waited: so long that its computation has begun.
const PATIENCE: Duration = Duration::from_millis(3);

/// All of it, on one server.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn stampede(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let server = Server::start(setup, &[])?;
    let to = connections(&server, CONNECTIONS).await?;
    // The game is ready when the trial begins.
    to[0].solver().best_next_guess(very_dear(1_000_000)).await?;
    let alone = cpu_of(&server, async { crowd(&to, SCORES, 1, false).await }).await?;
    crowd(&to, SCORES, CALLERS, false).await?;
    let calls = cpu_of(&server, crowd(&to, SCORES, CALLERS, false)).await?;
    let computed = |cpu: Duration| cpu.saturating_sub(calls).div_duration_f64(alone);

    let together = computed(cpu_of(&server, crowd(&to, SCORES + 1, CALLERS, false)).await?);
    let told = |computed: f64| format!("{computed:.2} (one takes {alone:.2?} of CPU)");
    report.law("1,000 at once: one computation", told(together), together < 1.5);
    let led = computed(cpu_of(&server, crowd(&to, SCORES + 2, CALLERS, true)).await?);
    report.law("the first of them leaves: at most two", told(led), led < 2.5);

    leaders(&to, SCORES + 3, setup.scale(300, 50)).await;
    let idle = server.until_idle();
    report.law("the last who leaves ends the work", if idle { "idle" } else { "busy" }, idle);
    let answer = guess(to[0].solver(), very_dear(SCORES + 3)).await;
    report.law(
        "leaders that leave one after the other: then an answer",
        format!("{answer:?}"),
        matches!(answer, End::Right),
    );
    let followed = cpu_of(&server, async {
        let follower = tokio::spawn(guess(to[0].solver(), very_dear(SCORES + 4)));
        leaders(&to, SCORES + 4, setup.scale(300, 50)).await;
        match follower.await? {
            End::Right => Ok(()),
            end => Err(format!("the follower: {end:?}").into()),
        }
    });
    let followed = followed.await?.div_duration_f64(alone);
    report.law("and with one who stays: one computation", told(followed), followed < 1.8);
    report.law("no panic", server.panics(), server.panics() == 0);
    Ok(())
}

/// The CPU time that the server takes for it.
async fn cpu_of(
    server: &Server,
    work: impl Future<Output = Result<(), Trouble>>,
) -> Result<Duration, Trouble> {
    if !server.until_idle() {
        return Err("the server computes although nobody asks".into());
    }
    let before = server.cpu();
    work.await?;
    server.until_idle();
    Ok(server.cpu().saturating_sub(before))
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
