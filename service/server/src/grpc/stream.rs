//! Calls that may take minutes and answer with a stream: how far they are, then what they found.
//!
//! The work belongs to a task of its own, not to the stream: a client that takes nothing from the stream cannot keep
//! the deadline from coming. The task ends with its result, its deadline, or when the stream is dropped.

use std::{pin::pin, time::Duration};

use tokio::{
    sync::mpsc,
    time::{Instant, interval_at, timeout_at},
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use super::{convert, status::Failure};
use crate::{call::Behind, stack::catch_panic};

/// How often progress is told: often enough to look alive to a person.
const TICK: Duration = Duration::from_millis(250);
/// Messages made before the client takes them.
const AHEAD: usize = 4;

/// The messages of one call.
pub(super) type Events<M> = ReceiverStream<Result<M, Status>>;

/// Where a call puts its messages.
pub(super) struct Teller<M> {
    events: mpsc::Sender<Result<M, Status>>,
    began: Instant,
}

/// Begins a call. What it fails with ends the stream.
pub(super) fn start<M, F>(
    Behind { deadline, metrics }: Behind,
    call: impl FnOnce(Teller<M>) -> F,
) -> Events<M>
where
    M: Send + 'static,
    F: Future<Output = Result<(), Failure>> + Send + 'static,
{
    let (events, stream) = mpsc::channel(AHEAD);
    let called = call(Teller { events: events.clone(), began: Instant::now() });
    tokio::spawn(async move {
        let ended = tokio::select! {
            ended = timeout_at(deadline, catch_panic(called)) => ended,
            // Leaving drops the call, which stops its work.
            () = events.closed() => return,
        };
        let ended = ended.unwrap_or(Ok(Err(Failure::DeadlineExceeded)));
        let ended = ended.unwrap_or_else(|_| {
            metrics.panicked();
            Err(Failure::Internal)
        });
        if let Err(failure) = ended {
            // If nobody is there to be told, so be it.
            let _ = events.send(Err(failure.into())).await;
        }
    });
    ReceiverStream::new(stream)
}

impl<M> Teller<M> {
    /// Waits for a job and tells meanwhile how far it is: `progress` is given the milliseconds since the call came.
    pub(super) async fn watch<T>(
        &self,
        job: impl Future<Output = T>,
        progress: impl Fn(i64) -> M,
    ) -> T {
        let mut job = pin!(job);
        let mut ticks = interval_at(self.began + TICK, TICK);
        loop {
            tokio::select! {
                done = &mut job => return done,
                _ = ticks.tick() => {
                    let elapsed_ms = convert::count(self.began.elapsed().as_millis());
                    // A client that has not taken the last ones gets the next.
                    let _ = self.events.try_send(Ok(progress(elapsed_ms.into())));
                }
            }
        }
    }

    /// Sends a message as soon as there is room.
    pub(super) async fn tell(&self, message: M) {
        // If the stream was dropped, the call is about to be.
        let _ = self.events.send(Ok(message)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio_stream::StreamExt as _;
    use tonic::Code;

    use super::*;
    use crate::metrics::{Metrics, Others};

    #[tokio::test]
    async fn a_call_that_panics_ends_its_stream_with_internal_and_is_counted() {
        let metrics = Metrics::new(Others::none());
        let deadline = Instant::now() + Duration::from_secs(20);
        let behind = Behind { deadline, metrics: Arc::clone(&metrics) };
        let mut events: Events<()> = start(behind, async |teller| {
            teller.tell(()).await;
            panic!("on purpose")
        });
        assert!(events.next().await.unwrap().is_ok());
        assert_eq!(events.next().await.unwrap().unwrap_err().code(), Code::Internal);
        assert!(events.next().await.is_none());
        assert!(metrics.text().contains("handler_panics_total 1\n"));
    }
}
