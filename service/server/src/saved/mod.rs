//! Answers that outlive the process: saved now and then and on stop, read back at the start.
//!
//! Owns when that is done, and the thread that does it; what is on the disk is `file`, what answers are as bytes is
//! `grpc::saved`. Nothing here fails a start, a call or a stop: what goes wrong is one warning.

mod file;

use std::{
    io,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use crate::{
    config::{Config, milliseconds},
    grpc::Solver,
};
use file::CacheFile;

/// An answer as bytes.
pub(crate) struct Answer {
    /// Which call it is of.
    pub(crate) kind: u8,
    /// How long it took to compute.
    pub(crate) took: Duration,
    /// The request that has it.
    pub(crate) request: Vec<u8>,
    /// The reply.
    pub(crate) reply: Vec<u8>,
}

impl Answer {
    /// Bytes it takes in a file, nearly.
    pub(crate) fn bytes(&self) -> usize {
        self.request.len() + self.reply.len()
    }
}

/// Why the file of the settings cannot be saved to, if that shows without writing it.
pub(crate) fn check(config: &Config) -> Option<String> {
    let path = config.cache_file.as_deref()?;
    let error = CacheFile::new(path, [0; 32], config.cache_file_bytes).check().err()?;
    Some(format!("--cache-file {}: {error}", path.display()))
}

/// Reads back what was saved to the file of the settings, if they name one.
pub(crate) fn load(config: &Config, solver: &Solver) -> Option<CacheFile> {
    let path = config.cache_file.as_deref()?;
    let mut file = CacheFile::new(path, solver.fingerprint(), config.cache_file_bytes);
    let (began, most) = (Instant::now(), milliseconds(config.cache_load_ms));
    let (mut used, mut unused) = (0, 0);
    let loaded = file.load(|answer| {
        if solver.restore(&answer).is_some() {
            used += 1
        } else {
            unused += 1
        }
        began.elapsed() < most
    });
    match loaded {
        Ok(()) => tracing::info!(file = %path.display(), used, unused, "saved answers"),
        Err(error) => {
            tracing::warn!(file = %path.display(), "saved answers are not used: {error}");
            return Some(file);
        }
    }
    if let Err(error) = file.lock() {
        tracing::warn!(file = %path.display(), "answers are not saved: {error}");
    }
    Some(file)
}

/// The thread that saves answers.
pub(crate) struct Saver {
    /// Dropped to have it end.
    running: mpsc::Sender<()>,
    ended: oneshot::Receiver<()>,
}

impl Saver {
    /// Starts it.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(crate) fn start(file: CacheFile, solver: Solver, config: &Config) -> io::Result<Saver> {
        let every = milliseconds(config.cache_save_ms);
        let (running, stop) = mpsc::channel();
        let (end, ended) = oneshot::channel();
        thread::Builder::new().name("saver".to_owned()).spawn(move || {
            keep_saving(file, &solver, &stop, every);
            drop(end);
        })?;
        Ok(Saver { running, ended })
    }

    /// Has answers saved once more, and waits for it.
    pub(crate) async fn finish(self) {
        drop(self.running);
        // An error is the news: the thread says nothing, it ends.
        let _ = self.ended.await;
    }
}

/// Saves at each interval, and when `stop` says so.
fn keep_saving(mut file: CacheFile, solver: &Solver, stop: &mpsc::Receiver<()>, every: Duration) {
    let mut saved = solver.answers_kept();
    loop {
        let waited = stop.recv_timeout(every);
        let kept = solver.answers_kept();
        if kept != saved {
            match file.save(&solver.dearest(file.max_bytes())) {
                Ok(()) => saved = kept,
                Err(error) => {
                    let path = file.path().display();
                    tracing::warn!(file = %path, "answers are not saved: {error}");
                }
            }
        }
        if waited != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}
