//! More positions than any cache holds.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use herdsman_proto::v1::{BestNextGuessRequest, Strategy};

use super::{
    drive::{End, closed_loop, connections, guess},
    requests::{SMALL, position},
};
use crate::{
    report::{Report, mib},
    server::{Server, Solver},
    trial::{Setup, Trouble},
};

/// What answers that are kept may weigh.
const ANSWERS: u64 = 64 << 20;
/// What memory may grow by with that and smaller other caches.
const MOST: u64 = 96 << 20;
/// Callers, on [`CONNECTIONS`].
const CALLERS: u64 = 64;
const CONNECTIONS: usize = 4;

/// Two million histories, no two of them the same (RB-103).
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn histories(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let (answers, others) = (ANSWERS.to_string(), (4 << 20).to_string());
    let server = Server::start(
        setup,
        &[
            "--answer-cache-bytes",
            &answers,
            "--game-cache-bytes",
            &others,
            "--candidate-cache-bytes",
            &others,
        ],
    )?;
    let to = connections(&server, CONNECTIONS).await?;
    let numbers = Arc::new(AtomicU64::new(0));
    closed_loop(&to, CALLERS, Duration::from_millis(100), &numbers, ask).await;
    let base = server.memory();
    let (mut right, mut failed, mut first_failure) = (0, 0, String::new());
    let wanted = setup.scale(2_000_000, 5_000);
    while right < wanted {
        let part = setup.scale(Duration::from_secs(10), Duration::from_millis(500));
        let tally = closed_loop(&to, CALLERS, part, &numbers, ask).await;
        right += tally.right;
        failed += tally.failed + tally.refused;
        if tally.failed > 0 {
            first_failure = tally.first_failure;
        }
        if tally.right == 0 {
            break;
        }
    }
    report.law(
        format!("{wanted} histories: 0 failed"),
        format!("{failed} failed, {right} answered {first_failure}"),
        failed == 0,
    );
    let peak = server.peak_memory();
    report.law(
        "resident memory under base + 96 MiB",
        format!("{} at its peak, base {}", mib(peak), mib(base)),
        peak < base + MOST,
    );
    let mut weight = 0.0;
    for cache in ["advice", "analyses", "conflicts", "shared_advice", "shared_analyses"] {
        weight += server.metric(&format!("herdsman_cache_weight_bytes{{cache=\"{cache}\"}}"))?;
    }
    report.law(
        "answers that are kept weigh no more than they may",
        format!("{} of {}", mib(weight as u64), mib(ANSWERS)),
        weight as u64 <= ANSWERS,
    );
    Ok(())
}

async fn ask(solver: Solver, number: u64) -> End {
    let request = BestNextGuessRequest {
        rules: SMALL.rules(),
        history: position(number as usize),
        strategy: Strategy::Minimax.into(),
        ..BestNextGuessRequest::default()
    };
    guess(solver, request).await
}
