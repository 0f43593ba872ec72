//! Making the calls: at their times (an open loop), or one after the other by so many callers (a closed one).
//!
//! A call of an open loop is timed from when it was due, so that a server which makes the next ones late is not spared
//! those that would have waited. Calls run on threads of their own; what they come to is `tally`.

use std::{
    error::Error as _,
    io,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use prost::bytes::{Buf as _, BufMut as _, Bytes};
use tokio::{
    runtime::{self, Runtime},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::interval,
};
use tonic::{
    Code, Status,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
};

use super::{
    schedule::{Slot, Stage, slots},
    tally::Tally,
    work::Work,
};
use crate::{
    args::Options,
    failure::{Failure, settled},
    remote::Remote,
    watch,
};

/// How often the line on the terminal is drawn.
const REDRAW: Duration = Duration::from_millis(200);

/// How calls are made.
pub(super) struct Plan {
    /// One for each rate; the first is the warm-up.
    pub(super) stages: Vec<Stage>,
    /// Callers, where the rates do not count.
    pub(super) closed: Option<u32>,
    /// The most calls under way.
    pub(super) outstanding: u32,
    pub(super) connections: usize,
    pub(super) threads: usize,
}

impl Plan {
    /// From the first call due to the end of the last stage.
    fn length(&self) -> Duration {
        self.stages.iter().map(|stage| stage.length).sum()
    }

    /// Where measuring begins.
    fn warm_up(&self) -> Duration {
        self.stages[0].length
    }
}

/// What a run came to.
pub(super) struct Outcome {
    pub(super) tally: Tally,
    /// How long was measured.
    pub(super) measured: Duration,
    pub(super) interrupted: bool,
}

/// Makes all calls of `plan` and waits for their answers, or for Ctrl-C.
pub(super) async fn drive(plan: Plan, work: Work, options: &Options) -> Result<Outcome, Failure> {
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(plan.threads)
        .enable_all()
        .build()
        .map_err(|error| Failure::Usage(format!("no {} threads: {error}", plan.threads)))?;
    let outcome = drive_on(&runtime, plan, work, options).await;
    // What is under way is left.
    runtime.shutdown_background();
    outcome
}

async fn drive_on(
    runtime: &Runtime,
    plan: Plan,
    work: Work,
    options: &Options,
) -> Result<Outcome, Failure> {
    let mut remotes = Vec::new();
    for _ in 0..plan.connections {
        // There, so that the connection is served by those threads.
        let options = options.clone();
        let remote = runtime.spawn(async move { Remote::connect(&options).await });
        remotes.push(remote.await.map_err(io::Error::other)??);
    }
    let (length, warm_up) = (plan.length(), plan.warm_up());
    let tally = Tally::new(plan.stages.len() - 1, work.kinds().len());
    let places = Arc::new(Semaphore::new(plan.outstanding as usize));
    let run = Arc::new(Run { remotes, work, tally: Mutex::new(tally), places });

    let mut interrupt = pin!(tokio::signal::ctrl_c());
    let began = Instant::now();
    let (go_on, stop) = mpsc::channel();
    let mut ended = pin!(run.clone().all(runtime, plan, began, stop));
    let line = watch::line();
    let mut redraw = interval(REDRAW);
    let interrupted = loop {
        tokio::select! {
            // In this order, so that the signal is watched before there is anything to stop.
            biased;
            _ = &mut interrupt => break true,
            () = &mut ended => break false,
            _ = redraw.tick() => line.set_message(run.progress(began.elapsed(), length)),
        }
    };
    drop(go_on);
    let end = if interrupted { began.elapsed().min(length) } else { length };
    let measured = end.saturating_sub(warm_up);
    let tally = run.tally(|tally| tally.clone());
    Ok(Outcome { tally, measured, interrupted })
}

/// What all calls share.
struct Run {
    remotes: Vec<Remote>,
    work: Work,
    tally: Mutex<Tally>,
    /// A place for each call that may be under way.
    places: Arc<Semaphore>,
}

impl Run {
    fn tally<T>(&self, change: impl FnOnce(&mut Tally) -> T) -> T {
        change(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Resolves when all calls of `plan` are made and answered.
    async fn all(
        self: Arc<Self>,
        runtime: &Runtime,
        plan: Plan,
        began: Instant,
        stop: mpsc::Receiver<()>,
    ) {
        if let Some(callers) = plan.closed {
            let next = Arc::new(AtomicU64::new(0));
            let callers: Vec<_> = (0..callers)
                .map(|caller| {
                    let (run, next) = (self.clone(), next.clone());
                    let (measure, end) = (began + plan.warm_up(), began + plan.length());
                    runtime.spawn(run.calls(caller as usize, next, measure, end))
                })
                .collect();
            for caller in callers {
                let _ = caller.await;
            }
            return;
        }
        // A thread, for timers of tokio are as coarse as a millisecond.
        let (run, handle) = (self.clone(), runtime.handle().clone());
        let stages = plan.stages;
        let _ = runtime.spawn_blocking(move || run.pace(&handle, stages, began, &stop)).await;
        // All places are free when no call is left.
        let _ = self.places.acquire_many(plan.outstanding).await;
    }

    /// Begins each call when it is due, if there is a place for it, until there is no more `stop` to hear from.
    fn pace(
        self: &Arc<Self>,
        runtime: &runtime::Handle,
        stages: Vec<Stage>,
        began: Instant,
        stop: &mpsc::Receiver<()>,
    ) {
        for Slot { index, due, step } in slots(stages) {
            let due = began + due;
            let early = due.saturating_duration_since(Instant::now());
            if stop.recv_timeout(early) != Err(mpsc::RecvTimeoutError::Timeout) {
                return;
            }
            let place = self.places.clone().try_acquire_owned().ok();
            if let Some(step) = step {
                let kind = self.work.kind(index);
                self.tally(|tally| {
                    let count = tally.at(step, kind);
                    count.started += u64::from(place.is_some());
                    count.missed += u64::from(place.is_none());
                    let delay = micros(due.elapsed());
                    tally.delays.record(delay).expect("the histogram grows");
                });
            }
            if let Some(place) = place {
                runtime.spawn(self.clone().call_at(index, due, step, place));
            }
        }
    }

    async fn call_at(
        self: Arc<Self>,
        index: u64,
        due: Instant,
        step: Option<usize>,
        _place: OwnedSemaphorePermit,
    ) {
        self.call(index, index as usize, due, step).await;
    }

    /// One caller of a closed loop: the next call after the answer to the last.
    async fn calls(
        self: Arc<Self>,
        caller: usize,
        next: Arc<AtomicU64>,
        measure: Instant,
        end: Instant,
    ) {
        loop {
            let now = Instant::now();
            if now >= end {
                return;
            }
            let index = next.fetch_add(1, Ordering::Relaxed);
            let step = (now >= measure).then_some(0);
            if let Some(step) = step {
                let kind = self.work.kind(index);
                self.tally(|tally| tally.at(step, kind).started += 1);
            }
            self.call(index, caller, now, step).await;
        }
    }

    /// Makes a call, and counts it where it is measured.
    async fn call(&self, index: u64, connection: usize, from: Instant, step: Option<usize>) {
        let kind = self.work.kind(index);
        let path = self.work.kinds()[kind].path();
        let remote = &self.remotes[connection % self.remotes.len()];
        let reply = remote.unary(Raw, path, self.work.request(index)).await;
        let time = micros(from.elapsed());
        let lost = reply.as_ref().is_err_and(is_lost);
        let code = reply.map_or_else(|status| settled(status).code(), |()| Code::Ok);
        self.tally(|tally| {
            tally.lost += u64::from(lost);
            if let Some(step) = step {
                tally.at(step, kind).end(code, time);
            }
        });
    }

    /// The line on the terminal.
    fn progress(&self, elapsed: Duration, length: Duration) -> String {
        let (mut ok, mut ended, mut started, mut missed) = (0, 0, 0, 0);
        self.tally(|tally| {
            for count in tally.steps().iter().flatten() {
                ok += count.ok();
                ended += count.ended();
                started += count.started;
                missed += count.missed;
            }
        });
        format!(
            "{:.1} of {:.1} s: {ok} calls ok, {} failed, {} under way, {missed} missed",
            elapsed.min(length).as_secs_f64(),
            length.as_secs_f64(),
            ended - ok,
            started - ended,
        )
    }
}

/// Whether a call failed on this side of the wire, and not because its time was up.
fn is_lost(status: &Status) -> bool {
    status.source().is_some() && status.code() != Code::Cancelled
}

fn micros(time: Duration) -> u64 {
    time.as_micros() as u64
}

/// How many threads make calls where nothing is said.
pub(super) fn half_of_the_cores() -> usize {
    thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2))
}

/// Requests as they are; replies are taken whole and not looked into, which would cost as much as serving them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = ();
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<()>, Status> {
        buffer.advance(buffer.remaining());
        Ok(Some(()))
    }
}
