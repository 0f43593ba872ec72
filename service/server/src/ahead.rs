//! How far a connection may run ahead of the server.
//!
//! HTTP/2 bounds the calls that a connection has open, but those that its peer resets count no more there, while they
//! are still to be ended here. A peer that begins and resets calls faster than that is done would leave more and more of
//! them behind (rapid reset, CVE-2023-44487). So no connection is read that has more calls to be ended than it may have
//! open; servers written in Go bound their handlers likewise. What one turn brings comes on top: as many calls again, and
//! as many that were reset at once as are borne (`--max-early-cancels`).
//!
//! Nor is a connection that begins calls read further before they ran: HTTP/2 would take in all that has arrived before
//! it hands out the first, and it keeps the room of as many calls as a connection ever had open. So it is read in turns,
//! each with some room ([`AT_ONCE`]).

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed},
        },
    },
    task::{Context, Poll, Waker},
};

/// Bytes that are read of a connection in a turn: some 16 calls. Where a turn was full and began no call, it was a part of
/// a long message, and the next has twice its room. (Not all that has come: many small calls may have their messages in a
/// row too, after their headers, and what follows those are calls.)
const AT_ONCE: usize = 2048;

/// The calls of a connection that were begun and not ended.
pub(crate) struct Ahead {
    begun: AtomicUsize,
    /// As many as HTTP/2 lets be open. What is beyond was reset, so it ends without anything that is yet to be read.
    most: usize,
    /// Who is to read on.
    reader: Mutex<Option<Waker>>,
    /// Whether a call was begun since the turn that last brought anything.
    fresh: AtomicBool,
    /// Bytes that the turn has brought.
    read: AtomicUsize,
    /// Bytes that the turn may bring.
    room: AtomicUsize,
}

impl Ahead {
    pub(crate) fn new(most: usize) -> Ahead {
        Ahead {
            begun: AtomicUsize::new(0),
            most,
            reader: Mutex::default(),
            fresh: AtomicBool::new(false),
            read: AtomicUsize::new(0),
            room: AtomicUsize::new(AT_ONCE),
        }
    }

    /// Counts a call, as long as it is kept.
    pub(crate) fn begin(self: &Arc<Self>) -> Begun {
        self.begun.fetch_add(1, AcqRel);
        self.fresh.store(true, Relaxed);
        Begun(Arc::clone(self))
    }

    /// Begins a turn: what the last one brought was handed out and could run.
    pub(crate) fn turn(&self) {
        let read = self.read.swap(0, Relaxed);
        // Turns that bring nothing (there are replies to be sent) do not tell of what is to come.
        if read > 0 {
            let room = self.room.load(Relaxed);
            let long = !self.fresh.swap(false, Relaxed) && read >= room;
            self.room.store(if long { room.saturating_mul(2) } else { AT_ONCE }, Relaxed);
        }
    }

    /// Counts bytes that the turn has brought.
    pub(crate) fn took(&self, bytes: usize) {
        self.read.fetch_add(bytes, Relaxed);
    }

    /// Resolves while the connection may be read: to how many bytes, at least one.
    pub(crate) fn poll_read(&self, cx: &mut Context<'_>) -> Poll<usize> {
        let room = self.room.load(Relaxed).saturating_sub(self.read.load(Relaxed));
        if room == 0 {
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
        Poll::Ready(room)
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

    #[test]
    fn calls_are_read_in_turns_and_long_messages_in_longer_ones() {
        let ahead = Arc::new(Ahead::new(9));
        let may_read = || ahead.poll_read(&mut Context::from_waker(Waker::noop()));
        ahead.turn();
        assert_eq!(may_read(), Poll::Ready(AT_ONCE));
        ahead.took(AT_ONCE - 1);
        assert_eq!(may_read(), Poll::Ready(1));
        ahead.took(1);
        assert_eq!(may_read(), Poll::Pending, "the turn has brought enough");
        let call = ahead.begin();
        assert_eq!(may_read(), Poll::Pending, "until the next, however often HTTP/2 hands out");
        ahead.turn();
        assert_eq!(may_read(), Poll::Ready(AT_ONCE), "what was read began a call");
        ahead.turn();
        assert_eq!(may_read(), Poll::Ready(AT_ONCE), "nothing was read meanwhile");
        for turn in 0..9 {
            ahead.took(AT_ONCE << turn);
            ahead.turn();
            assert_eq!(may_read(), Poll::Ready(AT_ONCE << (turn + 1)), "a message is long");
        }
        ahead.took(AT_ONCE);
        ahead.turn();
        assert_eq!(may_read(), Poll::Ready(AT_ONCE), "and ends, so that calls may follow");
        ahead.took(AT_ONCE);
        ahead.turn();
        ahead.took(2 * AT_ONCE);
        let next = ahead.begin();
        ahead.turn();
        assert_eq!(may_read(), Poll::Ready(AT_ONCE), "calls follow in the midst of a turn");
        drop((call, next));
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
