//! The only place that starts CPU work: who is admitted, on which threads, and how it is cancelled.
//!
//! At most as many jobs run as there are threads, over all connections; a bounded number waits in line and the
//! rest is refused at once. Jobs that may take minutes are admitted apart ([`Compute::beside`]), so that the quick ones
//! never wait behind them: the system shares the cores. A job belongs to the future that awaits it: when that is
//! dropped (its deadline came, its caller left, the server stops) the job's stop flag goes up, and a job still in line
//! never runs.

use std::{
    cell::Cell,
    collections::BTreeMap,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use herdsman_engine::StopFlag;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::sync::{oneshot, watch};

/// Threads that compute, and the line in front of them.
pub(crate) struct Compute {
    line: Arc<Line>,
}

/// What was asked of the computing threads since they were started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Jobs that run now.
    pub running: usize,
    /// Jobs that wait for a thread now.
    pub waiting: usize,
    /// Jobs that began.
    pub started: u64,
    /// Jobs that found no place.
    pub refused: u64,
    /// Jobs that panicked.
    pub panicked: u64,
}

/// Why a job has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// All threads are busy and the line is full; nothing was computed.
    #[error("all threads are busy and the line is full")]
    Overloaded,
    /// The job panicked; the threads live on.
    #[error("the job panicked")]
    Panicked,
}

impl Compute {
    /// Starts the threads. `queue` jobs may wait beside those that run.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub(crate) fn new(threads: usize, queue: usize) -> io::Result<Compute> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("compute-{index}"))
            .start_handler(|_| give_way())
            .build()
            .map_err(io::Error::other)?;
        Ok(Compute::counted(Threads::Pool(pool), threads, queue, Arc::default()))
    }

    /// Threads for jobs that may take minutes, with a line of their own, in which `queue` of them may wait. They are
    /// counted with the rest. A job that uses several has one of these, and waits there for those that it starts by itself.
    ///
    /// They are no pool of rayon: there a thread that waited for others would meanwhile take up the next job, and be held
    /// up by it.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub(crate) fn beside(&self, threads: usize, queue: usize) -> io::Result<Compute> {
        let (tasks, given) = mpsc::channel::<Task>();
        let given = Arc::new(Mutex::new(given));
        for index in 0..threads {
            let given = Arc::clone(&given);
            thread::Builder::new().name(format!("proof-{index}")).spawn(move || {
                give_way();
                // The lock is open again before the task runs.
                let next = || given.lock().ok()?.recv().ok();
                while let Some(task) = next() {
                    task();
                }
            })?;
        }
        Ok(Compute::counted(Threads::Apart(tasks), threads, queue, Arc::clone(&self.line.stats)))
    }

    fn counted(
        threads: Threads,
        free: usize,
        queue: usize,
        stats: Arc<watch::Sender<Stats>>,
    ) -> Compute {
        let state = Mutex::new(State { free, jobs: BTreeMap::new(), next: 0 });
        Compute { line: Arc::new(Line { threads, queue, state, stats }) }
    }

    /// What happened so far; the receiver also tells when it changes.
    pub(crate) fn stats(&self) -> watch::Receiver<Stats> {
        self.line.stats.subscribe()
    }

    /// Runs a job on a thread of its own and returns what it returns. Dropping the future raises the flag that the
    /// job was given.
    ///
    /// # Errors
    /// [`Refusal`], without delay if there is no place in line.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&StopFlag) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        self.begin(1, job)?.await
    }

    /// Puts a job in line that uses so many threads, at most as many as there are; the future is as that of
    /// [`run`](Compute::run).
    ///
    /// # Errors
    /// If there is no place in line. Nothing was made for the job then: who refuses must not work for it.
    pub(crate) fn begin<T, J>(
        &self,
        threads: usize,
        job: J,
    ) -> Result<impl Future<Output = Result<T, Refusal>> + Send + use<T, J>, Refusal>
    where
        T: Send + 'static,
        J: FnOnce(&StopFlag) -> T + Send + 'static,
    {
        let (leave, outcome) = self.line.join(threads, job)?;
        Ok(async move {
            let _leave = leave;
            // Whoever drops a job unasked is at fault as one who panics is.
            outcome.await.unwrap_or(Err(Refusal::Panicked))
        })
    }
}

/// The jobs that wait, and what they wait for. Whichever thread ends a job starts the next one.
struct Line {
    threads: Threads,
    /// Jobs that may wait.
    queue: usize,
    state: Mutex<State>,
    stats: Arc<watch::Sender<Stats>>,
}

/// Threads that stay: with jobs that come and go they would take memory with them.
enum Threads {
    Pool(ThreadPool),
    /// They take one task after the other from here, and end with it.
    Apart(mpsc::Sender<Task>),
}

/// A job with the threads that it was given.
type Task = Box<dyn FnOnce() + Send>;

struct State {
    /// Threads of which no job has hold.
    free: usize,
    /// The jobs that wait, by number: the first that came is the first.
    jobs: BTreeMap<u64, Waiting>,
    /// The number of the next job.
    next: u64,
}

struct Waiting {
    threads: usize,
    job: Job,
}

/// Takes the threads that it was given, and gives them back before it tells its outcome.
type Job = Box<dyn FnOnce(Held) + Send>;

impl Line {
    /// Starts a job or has it wait, if there is a place: what ends it, and what it will have returned.
    fn join<T: Send + 'static>(
        self: &Arc<Line>,
        threads: usize,
        job: impl FnOnce(&StopFlag) -> T + Send + 'static,
    ) -> Result<(Leave, oneshot::Receiver<Result<T, Refusal>>), Refusal> {
        let mut state = self.state();
        let waits = !state.jobs.is_empty() || threads > state.free;
        if waits && state.jobs.len() >= self.queue {
            self.stats.send_modify(|stats| stats.refused += 1);
            REFUSED.set(true);
            return Err(Refusal::Overloaded);
        }
        let number = state.next;
        state.next += 1;
        let stop = StopFlag::default();
        let (done, outcome) = oneshot::channel();
        let leave = Leave { line: Arc::clone(self), number, stop: stop.clone() };
        let job = move |held: Held| {
            let outcome = catch_unwind(AssertUnwindSafe(|| job(&stop)));
            if outcome.is_err() {
                held.line.stats.send_modify(|stats| stats.panicked += 1);
            }
            // The thread is free before anybody learns of it, so that the next job finds a place.
            drop(held);
            let _ = done.send(outcome.map_err(|_| Refusal::Panicked));
        };
        state.jobs.insert(number, Waiting { threads, job: Box::new(job) });
        self.stats.send_modify(|stats| stats.waiting += 1);
        self.start(state);
        Ok((leave, outcome))
    }

    /// Drops the job of this number if it still waits.
    fn leave(self: &Arc<Line>, number: u64) {
        let mut state = self.state();
        let Some(gone) = state.jobs.remove(&number) else { return };
        self.stats.send_modify(|stats| stats.waiting -= 1);
        self.start(state);
        // What a job holds is none of the line's: it is dropped with the line open.
        drop(gone);
    }

    /// Starts those in front for whom there are threads.
    fn start(self: &Arc<Line>, mut state: MutexGuard<'_, State>) {
        let mut ready = Vec::new();
        while let State { free, jobs, .. } = &mut *state
            && let Some(first) = jobs.first_entry()
            && let Some(left) = free.checked_sub(first.get().threads)
        {
            *free = left;
            let Waiting { threads, job } = first.remove();
            self.stats.send_modify(|stats| {
                stats.waiting -= 1;
                stats.running += 1;
                stats.started += 1;
            });
            ready.push((job, Held { line: Arc::clone(self), threads }));
        }
        drop(state);
        for (job, held) in ready {
            // A job tells its own panic. One of what is dropped after it must not end the thread, nor, in the pool, all.
            let task = move || {
                let begun = Instant::now();
                drop(catch_unwind(AssertUnwindSafe(|| job(held))));
                let_others_go(begun.elapsed());
            };
            match &self.threads {
                Threads::Pool(pool) => pool.spawn(task),
                // The threads are there as long as the sender is.
                Threads::Apart(tasks) => drop(tasks.send(Box::new(task))),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // It is whole between any two statements, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads that a job has; when dropped, whoever is next in line has them.
struct Held {
    line: Arc<Line>,
    threads: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = self.line.state();
        state.free += self.threads;
        self.line.stats.send_modify(|stats| stats.running -= 1);
        self.line.start(state);
    }
}

/// Lets the threads that read and write connections go before this one and those that it begins, where the system knows
/// of such a thing: with all cores computing, a refusal is twice as quick (measured: 9 ms instead of 18, p99).
fn give_way() {
    #[cfg(target_os = "linux")]
    {
        /// Above the usual 0, and far from what would leave the cores to whatever else the machine does.
        const NICE: i32 = 3;
        // On Linux this is the thread, not the process. Without it all is as it was.
        let _ = rustix::process::setpriority_process(None, NICE);
    }
}

/// Lets those who wait for this core go before the next job of this thread, which computed for so long. Were they to wait
/// for the end of its slice (some 3 ms on Linux), what they refuse would be refused later.
///
/// Not after each short job: a thread that yields gives away all of its slice, and where the machine has other things to
/// do, it would have little left.
fn let_others_go(computed: Duration) {
    /// What a thread computes before it yields, at the least: a good part of its slice.
    const TURN: Duration = Duration::from_millis(1);
    thread_local! {
        static SINCE: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }
    SINCE.set(SINCE.get() + computed);
    if SINCE.get() >= TURN {
        SINCE.set(Duration::ZERO);
        thread::yield_now();
    }
}

thread_local! {
    /// Whether this thread has refused a job since it last rested.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// Has this thread rest a moment if it has refused a job since it last did. To be called when it has nothing to do
/// (tokio's `on_thread_park`), by threads that read and write connections.
///
/// With all cores computing, to wake for each call that is refused takes more from what computes than the refusal does:
/// an interrupt of another core, and two switches. After a rest, the calls that came meanwhile are refused together
/// (measured by `endurance overload` at a6b39f2 on two cores, with a rest of 0.7 ms and without: 93 % of the peak at twice
/// the load instead of 90 %). Other calls of the thread wait as long.
pub fn rest_after_refusals() {
    /// Several calls come in it. After longer ones more are open at once, for which HTTP/2 keeps room.
    const REST: Duration = Duration::from_millis(1);
    if REFUSED.take() {
        thread::sleep(REST);
    }
}

/// Ends a job when dropped.
struct Leave {
    line: Arc<Line>,
    number: u64,
    stop: StopFlag,
}

impl Drop for Leave {
    fn drop(&mut self) {
        self.stop.stop();
        self.line.leave(self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::{future::Future, pin::pin, time::Duration};

    use super::*;

    /// Long enough for a loaded machine; nothing here waits that long unless it is broken.
    async fn soon<F: Future>(future: F) -> F::Output {
        tokio::time::timeout(Duration::from_secs(10), future).await.expect("this ends soon")
    }

    fn until_stopped(stop: &StopFlag) {
        while !stop.is_stopped() {
            thread::yield_now();
        }
    }

    async fn when(compute: &Compute, reached: impl FnMut(&Stats) -> bool) -> Stats {
        *soon(compute.stats().wait_for(reached)).await.unwrap()
    }

    #[tokio::test]
    async fn a_panic_is_the_end_of_its_job_only() {
        let hints = Compute::new(1, 0).unwrap();
        for compute in [&hints, &hints.beside(1, 0).unwrap()] {
            assert_eq!(
                compute.run(|_| panic!("on purpose")).await,
                Err::<(), _>(Refusal::Panicked)
            );
            assert_eq!(compute.run(|_| 7).await, Ok(7));
        }
        assert_eq!(hints.stats().borrow().panicked, 2);
    }

    #[tokio::test]
    async fn a_result_that_panics_when_nobody_takes_it_costs_no_thread() {
        struct Fragile;
        impl Drop for Fragile {
            fn drop(&mut self) {
                panic!("on purpose");
            }
        }
        let hints = Compute::new(1, 0).unwrap();
        for compute in [&hints, &hints.beside(1, 0).unwrap()] {
            let job = compute.begin(1, |stop| {
                until_stopped(stop);
                Fragile
            });
            drop(job.unwrap());
            when(compute, |stats| stats.running == 0).await;
            assert_eq!(soon(compute.run(|_| 7)).await, Ok(7));
        }
    }

    #[tokio::test]
    async fn a_job_beyond_threads_and_line_is_refused_at_once() {
        let compute = Arc::new(Compute::new(1, 1).unwrap());
        let start = |compute: &Arc<Compute>| {
            let compute = Arc::clone(compute);
            tokio::spawn(async move { compute.run(until_stopped).await })
        };
        let first = start(&compute);
        when(&compute, |stats| stats.running == 1).await;
        let second = start(&compute);
        when(&compute, |stats| stats.waiting == 1).await;
        assert_eq!(compute.run(|_| ()).await, Err(Refusal::Overloaded));
        assert!(REFUSED.get());
        rest_after_refusals();
        assert!(!REFUSED.get());

        // Whoever leaves the line makes room in it, and never runs.
        second.abort();
        when(&compute, |stats| stats.waiting == 0).await;
        let third = start(&compute);
        when(&compute, |stats| stats.waiting == 1).await;
        first.abort();
        let stats = when(&compute, |stats| stats.waiting == 0 && stats.running == 1).await;
        assert_eq!((stats.started, stats.refused), (2, 1));
        third.abort();
        when(&compute, |stats| stats.running == 0).await;
    }

    #[tokio::test]
    async fn a_job_of_all_threads_waits_for_all_and_not_for_those_beside() {
        let hints = Compute::new(1, 0).unwrap();
        let proofs = Arc::new(hints.beside(2, 1).unwrap());
        let start = |threads| {
            let proofs = Arc::clone(&proofs);
            tokio::spawn(async move { proofs.begin(threads, until_stopped)?.await })
        };
        let first = start(1);
        when(&proofs, |stats| stats.running == 1).await;
        let both = start(2);
        when(&proofs, |stats| stats.waiting == 1).await;
        assert_eq!(proofs.begin(2, |_| ()).err(), Some(Refusal::Overloaded));
        assert_eq!(hints.run(|_| 7).await, Ok(7));
        first.abort();
        when(&proofs, |stats| stats.waiting == 0 && stats.running == 1).await;
        both.abort();
        when(&proofs, |stats| stats.running == 0).await;
    }

    #[tokio::test]
    async fn dropping_the_future_stops_the_job() {
        let compute = Compute::new(1, 0).unwrap();
        {
            let mut job = pin!(compute.run(until_stopped));
            let mut stats = compute.stats();
            tokio::select! {
                _ = &mut job => panic!("nothing stopped it"),
                running = stats.wait_for(|stats| stats.running == 1) => drop(running),
            }
        }
        when(&compute, |stats| stats.running == 0).await;
    }
}
