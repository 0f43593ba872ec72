//! Honest calls beside a trial: what a player notices of it.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use herdsman_proto::v1::{self, Feedback, ScoreRequest, rules::Game};
use tokio::time::timeout;
use tonic_health::pb::HealthCheckRequest;

use crate::{
    report::{percentile, times},
    server::Connection,
};

/// A call that takes longer has failed, also on a machine with much else to do.
const LONGEST: Duration = Duration::from_secs(20);

/// A caller on a thread and a connection of its own, which asks for a Score and for the health in turn.
pub(crate) struct Honest {
    leave: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

/// What the caller saw.
pub(crate) struct Seen {
    /// Calls.
    pub(crate) calls: u64,
    /// Those that were not answered rightly.
    pub(crate) failed: u64,
    /// What the first of them said.
    pub(crate) first_failure: String,
    /// Times in microseconds from when a call was due to its answer, of Score and of health together.
    pub(crate) times: Histogram<u64>,
}

impl Honest {
    /// Begins to call, once every `every`.
    pub(crate) fn start(address: SocketAddr, every: Duration) -> Honest {
        let leave = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&leave);
        let thread = thread::spawn(move || call(address, every, &until));
        Honest { leave, thread }
    }

    /// Ends it and tells what it saw.
    pub(crate) fn stop(self) -> Seen {
        self.leave.store(true, Ordering::Relaxed);
        self.thread.join().expect("the caller only records")
    }
}

impl Seen {
    /// Nothing yet.
    pub(crate) fn new() -> Seen {
        Seen { calls: 0, failed: 0, first_failure: String::new(), times: times() }
    }

    /// What was seen here and at another time.
    pub(crate) fn add(&mut self, other: Seen) {
        if self.failed == 0 {
            self.first_failure = other.first_failure;
        }
        self.calls += other.calls;
        self.failed += other.failed;
        self.times += other.times;
    }

    /// The time within which so many per cent were answered.
    pub(crate) fn percentile(&self, percent: f64) -> Duration {
        percentile(&self.times, percent)
    }

    /// As in `0 of 1200 failed`, with what the first failure said.
    pub(crate) fn failures(&self) -> String {
        let Seen { calls, failed, first_failure, .. } = self;
        let said = if *failed == 0 { String::new() } else { format!(": {first_failure}") };
        format!("{failed} of {calls} failed{said}")
    }
}

#[tokio::main(flavor = "current_thread")]
async fn call(address: SocketAddr, every: Duration, leave: &AtomicBool) -> Seen {
    let mut seen = Seen::new();
    let mut connection = None;
    let begun = Instant::now();
    while !leave.load(Ordering::Relaxed) {
        // From when it was due, so that a server that stalls is not asked less.
        let due = begun + every * seen.calls as u32;
        tokio::time::sleep_until(due.into()).await;
        let answer = timeout(LONGEST, ask(address, &mut connection, seen.calls)).await;
        seen.calls += 1;
        seen.times.saturating_record(due.elapsed().as_micros() as u64);
        if let Err(error) = answer.unwrap_or_else(|_| Err(format!("no answer in {LONGEST:?}"))) {
            seen.failed += 1;
            if seen.failed == 1 {
                seen.first_failure = error;
            }
            connection = None;
        }
    }
    seen
}

/// Makes the call of this number; connects where there is no connection.
async fn ask(
    address: SocketAddr,
    connection: &mut Option<Connection>,
    number: u64,
) -> Result<(), String> {
    let open = match connection {
        Some(open) => open,
        None => {
            let new = Connection::open(address).await.map_err(|error| error.to_string())?;
            connection.insert(new)
        }
    };
    if number % 2 == 1 {
        let answer = open.health().check(HealthCheckRequest::default()).await;
        let status = answer.map_err(|status| status.to_string())?.into_inner().status();
        return if status.as_str_name() == "SERVING" { Ok(()) } else { Err("not serving".into()) };
    }
    let rules =
        v1::Rules { game: Some(Game::Preset("bulls-and-cows".into())), ..v1::Rules::default() };
    let request = ScoreRequest { rules: Some(rules), secret: "5072".into(), guess: "5279".into() };
    let answer = open.solver().score(request).await.map_err(|status| status.to_string())?;
    let right = Feedback { bulls: Some(2), cows: Some(1), ..Feedback::default() };
    if answer.get_ref().feedback.as_ref() == Some(&right) {
        Ok(())
    } else {
        Err(format!("a wrong answer: {answer:?}"))
    }
}
