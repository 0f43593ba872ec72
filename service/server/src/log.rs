//! The log of the program, on standard error: lines for people on a terminal, JSON for machines.
//!
//! A thread of its own writes it, so that whoever reads it slowly, or no more, holds up no call. What it cannot write in
//! time is left out and counted.

use std::{
    io::{self, BufWriter, IsTerminal as _},
    panic,
    sync::mpsc,
    thread,
    time::Duration,
};

use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

/// How long the end of the program waits for the last lines to be taken.
const LAST_LINES: Duration = Duration::from_millis(500);

/// The log, until it is dropped: then what was logged is written, if somebody takes it.
pub(crate) struct Log {
    writer: Option<WorkerGuard>,
    left_out: ErrorCounter,
}

impl Log {
    /// Begins to log what passes the filter, a panic too. At most `waiting` lines wait to be written.
    pub(crate) fn start(filter: &str, waiting: u32) -> Log {
        // Many lines are one write where there are many.
        let (writer, guard) = NonBlockingBuilder::default()
            .buffered_lines_limit(waiting as usize)
            .thread_name("log")
            .finish(BufWriter::new(io::stderr()));
        let left_out = writer.error_counter();
        let logs =
            tracing_subscriber::fmt().with_env_filter(EnvFilter::new(filter)).with_writer(writer);
        if io::stderr().is_terminal() {
            logs.init();
        } else {
            logs.json().flatten_event(true).init();
        }
        panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
        Log { writer: Some(guard), left_out }
    }

    /// Tells, whenever it is called, how many lines were left out.
    pub(crate) fn left_out(&self) -> impl Fn() -> u64 + Send + Sync + use<> {
        let count = self.left_out.clone();
        move || count.dropped_lines() as u64
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let writer = self.writer.take();
        let (end, ended) = mpsc::channel::<()>();
        // It waits for longer than a stop may take; the end of the program ends it.
        thread::spawn(move || {
            drop(writer);
            drop(end);
        });
        let _ = ended.recv_timeout(LAST_LINES);
    }
}
