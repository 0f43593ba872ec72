//! The only place that starts CPU work: who is admitted, on which threads, and how it is cancelled.
//!
//! At most as many jobs run as there are threads, over all connections; a bounded number waits in line and the
//! rest is refused at once. Jobs that may take minutes are admitted apart ([`Compute::beside`]), so that the quick ones
//! never wait behind them: the system shares the cores. A job belongs to the future that awaits it: when that is
//! dropped (its deadline came, its caller left, the server stops) the job's stop flag goes up, and a job still in line
//! never runs.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use herdsman_engine::StopFlag;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use tokio::sync::{Semaphore, oneshot, watch};

/// Threads that compute, and the line in front of them.
pub(crate) struct Compute {
    /// Threads that stay; none where each job begins its own.
    pool: Option<ThreadPool>,
    /// One permit a thread of a job that runs.
    threads: Arc<Semaphore>,
    /// One permit a thread of a job that runs or waits.
    places: Arc<Semaphore>,
    stats: Arc<watch::Sender<Stats>>,
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
    pub(crate) fn new(threads: usize, queue: usize) -> Result<Compute, ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("compute-{index}"))
            .build()?;
        Ok(Compute::counted(Some(pool), threads, queue, Arc::default()))
    }

    /// Room for jobs that use up to `threads` threads together and start them by themselves, with a line of their own:
    /// `queue` threads may be waited for. They are counted with the rest.
    ///
    /// Such a job is on no thread of the pool: one of those that waited for others would meanwhile take up the next
    /// job, and be held up by it.
    pub(crate) fn beside(&self, threads: usize, queue: usize) -> Compute {
        Compute::counted(None, threads, queue, Arc::clone(&self.stats))
    }

    fn counted(
        pool: Option<ThreadPool>,
        threads: usize,
        queue: usize,
        stats: Arc<watch::Sender<Stats>>,
    ) -> Compute {
        Compute {
            pool,
            threads: Arc::new(Semaphore::new(threads)),
            places: Arc::new(Semaphore::new(threads + queue)),
            stats,
        }
    }

    /// What happened so far; the receiver also tells when it changes.
    pub(crate) fn stats(&self) -> watch::Receiver<Stats> {
        self.stats.subscribe()
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
        self.run_on(1, job).await
    }

    /// Runs a job that uses so many threads, at most as many as there are.
    ///
    /// # Errors
    /// As [`run`](Compute::run).
    pub(crate) async fn run_on<T: Send + 'static>(
        &self,
        threads: u32,
        job: impl FnOnce(&StopFlag) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let Ok(place) = Arc::clone(&self.places).try_acquire_many_owned(threads) else {
            self.stats.send_modify(|stats| stats.refused += 1);
            return Err(Refusal::Overloaded);
        };
        let thread = {
            let _waiting = self.count(|stats| &mut stats.waiting);
            let free = Arc::clone(&self.threads);
            free.acquire_many_owned(threads).await.expect("the semaphore is never closed")
        };
        let running = self.count(|stats| &mut stats.running);
        self.stats.send_modify(|stats| stats.started += 1);

        let stop = StopFlag::default();
        let _leaving = StopOnDrop(stop.clone());
        let (done, outcome) = oneshot::channel();
        let stats = Arc::clone(&self.stats);
        let job = move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| job(&stop)));
            if outcome.is_err() {
                stats.send_modify(|stats| stats.panicked += 1);
            }
            // The thread is free before anybody learns of it, so that the next job finds a place.
            drop((thread, place, running));
            let _ = done.send(outcome.map_err(|_| Refusal::Panicked));
        };
        match &self.pool {
            Some(pool) => pool.spawn(job),
            None => {
                // A system that gives no thread has no room for more work.
                thread::Builder::new()
                    .name("proof".to_owned())
                    .spawn(job)
                    .map_err(|_| Refusal::Overloaded)?;
            }
        }
        outcome.await.unwrap_or(Err(Refusal::Panicked))
    }

    /// Counts one more until the guard is dropped.
    fn count(&self, gauge: fn(&mut Stats) -> &mut usize) -> Counted {
        self.stats.send_modify(|stats| *gauge(stats) += 1);
        Counted { stats: Arc::clone(&self.stats), gauge }
    }
}

struct Counted {
    stats: Arc<watch::Sender<Stats>>,
    gauge: fn(&mut Stats) -> &mut usize,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.stats.send_modify(|stats| *(self.gauge)(stats) -= 1);
    }
}

struct StopOnDrop(StopFlag);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
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
        let compute = Compute::new(1, 0).unwrap();
        assert_eq!(compute.run(|_| panic!("on purpose")).await, Err::<(), _>(Refusal::Panicked));
        assert_eq!(compute.run(|_| 7).await, Ok(7));
        assert_eq!(compute.stats().borrow().panicked, 1);
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
        let proofs = Arc::new(hints.beside(2, 2));
        let start = |threads| {
            let proofs = Arc::clone(&proofs);
            tokio::spawn(async move { proofs.run_on(threads, until_stopped).await })
        };
        let first = start(1);
        when(&proofs, |stats| stats.running == 1).await;
        let both = start(2);
        when(&proofs, |stats| stats.waiting == 1).await;
        assert_eq!(proofs.run_on(2, |_| ()).await, Err(Refusal::Overloaded));
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
