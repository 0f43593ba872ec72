//! How far a connection may run ahead of the server.
//!
//! HTTP/2 bounds the calls that a connection has open, but those that its peer resets count no more there, while they
//! are still to be ended here. A peer that begins and resets calls faster than that is done would leave more and more of
//! them behind (rapid reset, CVE-2023-44487). So no connection is read that has more calls to be ended than it may have
//! open; servers written in Go bound their handlers likewise. What one read brings comes on top: as many calls again, and
//! as many that were reset at once as are borne (`--max-early-cancels`).
//!
//! Nor is a connection that brought several calls at once read before they ran: see [`AT_ONCE`].

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed},
        },
    },
    task::{Context, Poll, Waker},
};

/// Calls that a connection begins before it lets them run. What can be answered at once then is, before there are more:
/// HTTP/2 keeps the room of as many calls as a connection ever had open.
const AT_ONCE: usize = 16;

/// The calls of a connection that were begun and not ended.
pub(crate) struct Ahead {
    begun: AtomicUsize,
    /// Those that were begun since the connection last let others run.
    fresh: AtomicUsize,
    /// As many as HTTP/2 lets be open. What is beyond was reset, so it ends without anything that is yet to be read.
    most: usize,
    /// Who is to read on.
    reader: Mutex<Option<Waker>>,
}

impl Ahead {
    pub(crate) fn new(most: usize) -> Ahead {
        Ahead {
            begun: AtomicUsize::new(0),
            fresh: AtomicUsize::new(0),
            most,
            reader: Mutex::default(),
        }
    }

    /// Counts a call, as long as it is kept.
    pub(crate) fn begin(self: &Arc<Self>) -> Begun {
        self.begun.fetch_add(1, AcqRel);
        self.fresh.fetch_add(1, Relaxed);
        Begun(Arc::clone(self))
    }

    /// Resolves while the connection may be read.
    pub(crate) fn poll_read(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.fresh.load(Relaxed) >= AT_ONCE {
            self.fresh.store(0, Relaxed);
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.is_too_far() {
            *self.reader() = Some(cx.waker().clone());
            // A call that ended before the waker was there has woken nobody.
            if self.is_too_far() {
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }

    fn is_too_far(&self) -> bool {
        self.begun.load(Acquire) > self.most
    }

    fn reader(&self) -> MutexGuard<'_, Option<Waker>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that was begun.
pub(crate) struct Begun(Arc<Ahead>);

impl Drop for Begun {
    fn drop(&mut self) {
        let Ahead { begun, most, .. } = &*self.0;
        if begun.fetch_sub(1, AcqRel) == most + 1
            && let Some(reader) = self.0.reader().take()
        {
            reader.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, task::Waker};

    use super::*;

    #[test]
    fn it_is_read_until_more_is_begun_than_may_be_open() {
        let ahead = Arc::new(Ahead::new(2));
        let may_read = || ahead.poll_read(&mut Context::from_waker(Waker::noop())).is_ready();
        let calls = [ahead.begin(), ahead.begin()];
        assert!(may_read());
        let third = ahead.begin();
        assert!(!may_read());
        drop(third);
        assert!(may_read());
        drop(calls);
        assert!(may_read());
    }

    #[tokio::test]
    async fn what_came_at_once_runs_before_more_is_read() {
        let ahead = Arc::new(Ahead::new(2 * AT_ONCE));
        let calls: Vec<Begun> = (0..AT_ONCE).map(|_| ahead.begin()).collect();
        let ran = Arc::new(AtomicUsize::new(0));
        let run = tokio::spawn({
            let ran = Arc::clone(&ran);
            async move { ran.store(calls.len(), Relaxed) }
        });
        poll_fn(|cx| ahead.poll_read(cx)).await;
        assert_eq!(ran.load(Relaxed), AT_ONCE);
        run.await.unwrap();
    }

    #[tokio::test]
    async fn who_waits_to_read_learns_of_it() {
        let ahead = Arc::new(Ahead::new(1));
        let calls = [ahead.begin(), ahead.begin(), ahead.begin()];
        let reader = tokio::spawn({
            let ahead = Arc::clone(&ahead);
            async move { poll_fn(|cx| ahead.poll_read(cx)).await }
        });
        while ahead.reader().is_none() {
            tokio::task::yield_now().await;
        }
        drop(calls);
        reader.await.unwrap();
    }
}
