//! `herdsman load`: how much a server carries, and how long its callers wait.
//!
//! Owns the course of a run: codes and positions from the server, each kind of call tried once, then the load, the
//! report and its thresholds. What is asked is `work`, when `schedule`, how `drive`; what came of it is counted by
//! `tally` and told by `report`.

mod args;
mod drive;
mod report;
mod schedule;
mod tally;
mod work;

pub(crate) use args::Load;

use tonic::Code;

use crate::{
    args::Options,
    failure::{Failure, Verdict, settled},
    output::{self, Output},
    remote::Remote,
};
use drive::{Plan, drive, half_of_the_cores};
use report::Report;
use work::{Draw, Kind, Work};

/// Rates that `--rate A..B` has unless told otherwise.
const STEPS: u32 = 10;

/// Runs a load. A threshold that is crossed is a negative answer.
pub(crate) async fn run(
    args: Load,
    options: &Options,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let mut named = args.thresholds.p99.iter().filter_map(|&(kind, _)| kind);
    let mixed = |&wanted: &Kind| args.mix.iter().any(|&(kind, _)| kind == wanted);
    if let Some(kind) = named.find(|kind| !mixed(kind)) {
        let name = kind.name();
        return Err(Failure::Usage(format!("--p99 {name}=...: there is no {name} in --mix")));
    }
    if args.steps.is_some() && args.rate.0 == args.rate.1 {
        return Err(Failure::Usage("--steps are those of a --rate A..B: there is one rate".into()));
    }
    let remote = Remote::connect(options).await?;
    let work = Work::prepare(&args, &remote).await?;
    try_each(&work, &remote, args.choosing.seed).await?;

    let rates = schedule::rates(args.rate, args.steps.unwrap_or(STEPS));
    let plan = Plan {
        stages: schedule::stages(&rates, args.warm_up.unwrap_or_default(), args.duration),
        closed: args.closed,
        outstanding: args.outstanding,
        connections: args.connections.into(),
        threads: args.threads.map_or_else(half_of_the_cores, usize::from),
    };
    let kinds = work.kinds().to_vec();
    let outcome = drive(plan, work, options).await?;
    let report = Report::new(&outcome, &args, &kinds, &rates);
    output.print(&report, || report.words(), || report.table())?;
    output.flush()?;
    if outcome.interrupted {
        return Err(Failure::Interrupted);
    }
    report.crossed.iter().for_each(|threshold| output::note(threshold));
    // Calls were lost on the way: is anybody there?
    if outcome.tally.lost > 0 {
        Remote::connect(options).await?;
    }
    Ok(if report.crossed.is_empty() { Verdict::Yes } else { Verdict::No })
}

/// Makes a call of each kind, so that one which the server takes for wrong ends the run before it begins. One that it has
/// no room or time for does not.
async fn try_each(work: &Work, remote: &Remote, seed: i64) -> Result<(), Failure> {
    for &kind in work.kinds() {
        let request = work.request_of(kind, &mut Draw::new(seed as u64, u64::MAX));
        match remote.unary(drive::Raw, kind.path(), request).await.map_err(settled) {
            Err(status)
                if !matches!(status.code(), Code::ResourceExhausted | Code::DeadlineExceeded) =>
            {
                return Err(Failure::from(status).about(kind.arguments()));
            }
            _ => {}
        }
    }
    Ok(())
}
