//! How calls are made: at a rate whatever comes of them, or as fast as they are answered; and what came of them.
//!
//! Owns the counting. What is called, and when its answer is right, is told by the trial.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use tokio::{task::JoinSet, time::sleep_until};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::{
    report::times,
    server::{Connection, Server, Solver},
    trial::Trouble,
};

/// What goodput is counted in.
pub(crate) const WINDOW: Duration = Duration::from_millis(500);

/// How a call ended.
#[derive(Debug)]
pub(crate) enum End {
    /// With the right answer.
    Right,
    /// Refused as it should be: no room, and when to come again.
    Refused,
    /// Otherwise.
    Failed(String),
}

impl End {
    /// Judges an answer, of which `wrong` says what is wrong, if anything is.
    pub(crate) fn of<T>(
        answer: Result<tonic::Response<T>, Status>,
        wrong: impl FnOnce(&T) -> Option<String>,
    ) -> End {
        match answer {
            Ok(answer) => wrong(answer.get_ref()).map_or(End::Right, End::Failed),
            Err(status)
                if status.code() == Code::ResourceExhausted
                    && status.get_details_retry_info().is_some() =>
            {
                End::Refused
            }
            Err(status) => End::Failed(status.to_string()),
        }
    }
}

/// What came of many calls. Times are microseconds from when a call was due.
pub(crate) struct Tally {
    /// Answered rightly.
    pub(crate) right: u64,
    /// Refused.
    pub(crate) refused: u64,
    /// Neither.
    pub(crate) failed: u64,
    /// What the first of those said.
    pub(crate) first_failure: String,
    /// Times of right answers.
    pub(crate) right_times: Histogram<u64>,
    /// Times of refusals.
    pub(crate) refused_times: Histogram<u64>,
    /// How late calls were begun: what was measured is worth little where that is much.
    pub(crate) delays: Histogram<u64>,
    /// Right answers by the window of their coming.
    pub(crate) right_in: Vec<u64>,
    /// When the first refusal came, if one did; of calls that were appended, nothing is told.
    pub(crate) refused_from: Option<Duration>,
    begun: Instant,
    /// How long calls were made.
    pub(crate) length: Duration,
}

struct Done {
    due: Instant,
    came: Instant,
    end: End,
}

impl Tally {
    /// Nothing yet.
    pub(crate) fn new() -> Tally {
        Tally {
            right: 0,
            refused: 0,
            failed: 0,
            first_failure: String::new(),
            right_times: times(),
            refused_times: times(),
            delays: times(),
            right_in: Vec::new(),
            refused_from: None,
            begun: Instant::now(),
            length: Duration::ZERO,
        }
    }

    fn count(&mut self, done: Done) {
        let time = done.came.saturating_duration_since(done.due).as_micros() as u64;
        match done.end {
            End::Right => {
                self.right += 1;
                self.right_times.saturating_record(time);
                let window = (done.came - self.begun).div_duration_f64(WINDOW) as usize;
                self.right_in.resize(self.right_in.len().max(window + 1), 0);
                self.right_in[window] += 1;
            }
            End::Refused => {
                self.refused += 1;
                self.refused_times.saturating_record(time);
                let from = done.came - self.begun;
                self.refused_from = Some(self.refused_from.map_or(from, |first| first.min(from)));
            }
            End::Failed(reason) => {
                if self.failed == 0 {
                    self.first_failure = reason;
                }
                self.failed += 1;
            }
        }
    }

    /// Right answers a second, those left out that came after the time.
    pub(crate) fn goodput(&self) -> f64 {
        let right: u64 = self.right_in.iter().take(self.windows()).sum();
        right as f64 / self.length.as_secs_f64()
    }

    fn windows(&self) -> usize {
        self.length.div_duration_f64(WINDOW).round() as usize
    }

    /// Leaves out of goodput what came in the first windows of this length.
    pub(crate) fn settle(&mut self, first: Duration) {
        let windows = first.div_duration_f64(WINDOW).round() as usize;
        self.right_in.drain(..windows.min(self.right_in.len()));
        self.length -= first;
    }

    /// Counts the calls of another time as if they had followed these; both were made for whole windows.
    pub(crate) fn append(&mut self, next: Tally) {
        if self.failed == 0 {
            self.first_failure = next.first_failure;
        }
        self.right += next.right;
        self.refused += next.refused;
        self.failed += next.failed;
        self.right_times += next.right_times;
        self.refused_times += next.refused_times;
        self.delays += next.delays;
        self.right_in.resize(self.windows(), 0);
        self.right_in.extend(next.right_in);
        self.length += next.length;
    }

    /// As in `0 of 1200 failed`, with what the first failure said.
    pub(crate) fn failures(&self) -> String {
        let all = self.right + self.refused + self.failed;
        let said =
            if self.failed == 0 { String::new() } else { format!(": {}", self.first_failure) };
        format!("{} of {all} failed{said}", self.failed)
    }
}

/// Connections to a server.
///
/// # Errors
/// If it takes one of them not soon.
pub(crate) async fn connections(server: &Server, count: usize) -> Result<Vec<Connection>, Trouble> {
    let mut open = Vec::new();
    for _ in 0..count {
        open.push(server.connect().await?);
    }
    Ok(open)
}

/// Begins `rate` calls a second for so long, whatever comes of them, and waits for their ends. `call` is told the number
/// of the call, which is taken from `numbers`.
pub(crate) async fn open_loop<F>(
    connections: &[Connection],
    rate: f64,
    length: Duration,
    numbers: &AtomicU64,
    call: impl Fn(Solver, u64) -> F,
) -> Tally
where
    F: Future<Output = End> + Send + 'static,
{
    let mut tally = Tally::new();
    let mut under_way = JoinSet::new();
    for begun in 0..(rate * length.as_secs_f64()) as u64 {
        let due = tally.begun + Duration::from_secs_f64(begun as f64 / rate);
        sleep_until(due.into()).await;
        tally.delays.saturating_record(due.elapsed().as_micros() as u64);
        let connection = &connections[begun as usize % connections.len()];
        let end = call(connection.solver(), numbers.fetch_add(1, Ordering::Relaxed));
        under_way.spawn(async move {
            let end = end.await;
            Done { due, came: Instant::now(), end }
        });
        while let Some(done) = under_way.try_join_next() {
            tally.count(done.expect("a call does not panic"));
        }
    }
    tally.length = length;
    while let Some(done) = under_way.join_next().await {
        tally.count(done.expect("a call does not panic"));
    }
    tally
}

/// Has `callers` call one by one for so long. `call` is told the number of the call, which is taken from `numbers`.
pub(crate) async fn closed_loop<F>(
    connections: &[Connection],
    callers: u64,
    length: Duration,
    numbers: &Arc<AtomicU64>,
    call: impl Fn(Solver, u64) -> F + Clone + Send + 'static,
) -> Tally
where
    F: Future<Output = End> + Send + 'static,
{
    let mut tally = Tally::new();
    let until = tally.begun + length;
    let (done, mut all) = tokio::sync::mpsc::unbounded_channel();
    for caller in 0..callers {
        let connection = connections[caller as usize % connections.len()].clone();
        let (call, done, numbers) = (call.clone(), done.clone(), Arc::clone(numbers));
        tokio::spawn(async move {
            while Instant::now() < until {
                let due = Instant::now();
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                let end = call(connection.solver(), number).await;
                // Whoever counts is there to the end.
                let _ = done.send(Done { due, came: Instant::now(), end });
            }
        });
    }
    drop(done);
    while let Some(done) = all.recv().await {
        tally.count(done);
    }
    tally.length = length;
    tally
}

/// Asks for the best next guess. Whatever has a secret has a guess.
pub(crate) async fn guess(
    mut solver: Solver,
    request: herdsman_proto::v1::BestNextGuessRequest,
) -> End {
    End::of(solver.best_next_guess(request).await, |reply| {
        let sound = reply.remaining >= 1 && reply.suggestions.len() == usize::from(!reply.solved);
        (!sound).then(|| format!("no guess: {reply:?}"))
    })
}
