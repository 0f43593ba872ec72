//! What is counted: calls and connections.
//!
//! Each counter is an atomic in a place known beforehand, so that to count takes no lock and no look-up. What others
//! count is read when somebody asks. How all of it is told is `text`, who is told `scrape`.

mod text;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, SystemTime},
};

use tokio::sync::watch;
use tokio_util::task::TaskTracker;
use tonic::Code;

use crate::{LeftOut, cache::Counts, compute::Stats, methods::Method};

/// Codes of gRPC, from OK (0) to UNAUTHENTICATED (16).
const CODES: usize = 17;
/// Upper ends of the classes of times in seconds: from a score, some 100 us with all around it, to the longest deadline
/// of a hint.
const TIMES: [f64; 17] = [
    0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0, 30.0,
];

/// All that is counted.
pub(crate) struct Metrics {
    /// By [`Method::index`].
    calls: Vec<Calls>,
    handler_panics: AtomicU64,
    pub(crate) connections: Arc<Connections>,
    others: Others,
    started: SystemTime,
}

/// What is counted elsewhere.
pub(crate) struct Others {
    pub(crate) jobs: watch::Receiver<Stats>,
    /// Calls whose reply was not taken whole.
    pub(crate) alive: TaskTracker,
    pub(crate) caches: Box<dyn Fn() -> Vec<(&'static str, Counts)> + Send + Sync>,
    /// Lines of the log that were not written.
    pub(crate) left_out: LeftOut,
}

/// The calls of one method.
#[derive(Default)]
struct Calls {
    started: AtomicU64,
    handled: [AtomicU64; CODES],
    /// By class of time; the last is for what takes longer than any.
    times: [AtomicU64; TIMES.len() + 1],
    nanoseconds: AtomicU64,
}

/// Connections to callers.
#[derive(Default)]
pub(crate) struct Connections {
    open: AtomicU64,
    accepted: AtomicU64,
    refused: AtomicU64,
}

/// A connection that is open until this is dropped.
pub(crate) struct Open(Arc<Connections>);

impl Connections {
    /// Counts one that was accepted.
    pub(crate) fn accept(self: &Arc<Connections>) -> Open {
        self.accepted.fetch_add(1, Relaxed);
        self.open.fetch_add(1, Relaxed);
        Open(Arc::clone(self))
    }
}

impl Open {
    /// Counts that it was closed before it could make a call.
    pub(crate) fn refuse(&self) {
        self.0.refused.fetch_add(1, Relaxed);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
    }
}

impl Metrics {
    pub(crate) fn new(others: Others) -> Arc<Metrics> {
        Arc::new(Metrics {
            calls: Method::all().iter().map(|_| Calls::default()).collect(),
            handler_panics: AtomicU64::new(0),
            connections: Arc::default(),
            others,
            started: SystemTime::now(),
        })
    }

    /// Counts a call that came.
    pub(crate) fn begin(&self, method: &Method) {
        self.calls[method.index].started.fetch_add(1, Relaxed);
    }

    /// Counts a call that ended, with the time from its coming to the last byte of its reply.
    pub(crate) fn end(&self, method: &Method, code: Code, time: Duration) {
        let calls = &self.calls[method.index];
        calls.handled[code as usize].fetch_add(1, Relaxed);
        let seconds = time.as_secs_f64();
        calls.times[TIMES.partition_point(|&end| end < seconds)].fetch_add(1, Relaxed);
        calls.nanoseconds.fetch_add(time.as_nanos() as u64, Relaxed);
    }

    /// Counts a handler that panicked.
    pub(crate) fn panicked(&self) {
        self.handler_panics.fetch_add(1, Relaxed);
    }
}

#[cfg(test)]
impl Others {
    /// Nobody who counts.
    pub(crate) fn none() -> Others {
        Others {
            jobs: watch::channel(Stats::default()).1,
            alive: TaskTracker::new(),
            caches: Box::new(Vec::new),
            left_out: Box::new(|| 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a series.
    #[track_caller]
    fn value(text: &str, series: &str) -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.expect(series).parse().unwrap()
    }

    #[test]
    fn a_call_is_counted_once_under_its_method_code_and_class_of_time() {
        let metrics = Metrics::new(Others::none());
        let method = Method::at("/herdsman.v1.SolverService/Score");
        for time in [Duration::from_micros(100), Duration::from_millis(3), Duration::from_secs(31)]
        {
            metrics.begin(method);
            metrics.end(method, Code::NotFound, time);
        }
        metrics.begin(method);
        let text = metrics.text();
        let labels =
            "grpc_type=\"unary\",grpc_service=\"herdsman.v1.SolverService\",grpc_method=\"Score\"";
        let series = |name: &str, more: &str| match name.strip_suffix('!') {
            Some(name) => value(&text, &format!("{name}{{{more},{labels}}}")),
            None => value(&text, &format!("{name}{{{labels}{more}}}")),
        };
        assert_eq!(series("grpc_server_started_total", ""), 4.0);
        assert_eq!(series("grpc_server_handled_total", ",grpc_code=\"NOT_FOUND\""), 3.0);
        assert_eq!(series("grpc_server_handled_total", ",grpc_code=\"OK\""), 0.0);
        assert_eq!(series("grpc_server_handling_seconds_count", ""), 3.0);
        assert_eq!(series("grpc_server_handling_seconds_sum", ""), 31.0031);
        for (end, count) in [("0.0001", 1.0), ("0.0025", 1.0), ("0.005", 2.0), ("30.0", 2.0)] {
            let end = format!("le=\"{end}\"");
            assert_eq!(series("grpc_server_handling_seconds_bucket!", &end), count, "{end}");
        }
        assert_eq!(series("grpc_server_handling_seconds_bucket!", "le=\"+Inf\""), 3.0);
    }

    #[test]
    fn what_others_count_is_told_as_they_have_it() {
        let counts =
            Counts { hits: 3, misses: 2, joins: 1, entries: 2, bytes: 640, ..Counts::default() };
        let jobs = Stats { running: 2, waiting: 5, started: 9, refused: 4, panicked: 1 };
        let metrics = Metrics::new(Others {
            jobs: watch::channel(jobs).1,
            caches: Box::new(move || vec![("games", counts)]),
            left_out: Box::new(|| 8),
            ..Others::none()
        });
        metrics.panicked();
        let open = metrics.connections.accept();
        drop(metrics.connections.accept());
        open.refuse();
        let text = metrics.text();
        for (series, expected) in [
            ("herdsman_cache_hits_total{cache=\"games\"}", 3.0),
            ("herdsman_cache_misses_total{cache=\"games\"}", 2.0),
            ("herdsman_cache_joined_total{cache=\"games\"}", 1.0),
            ("herdsman_cache_entries{cache=\"games\"}", 2.0),
            ("herdsman_cache_weight_bytes{cache=\"games\"}", 640.0),
            ("herdsman_jobs_running", 2.0),
            ("herdsman_jobs_waiting", 5.0),
            ("herdsman_jobs_started_total", 9.0),
            ("herdsman_jobs_refused_total", 4.0),
            ("herdsman_jobs_panicked_total", 1.0),
            ("herdsman_handler_panics_total", 1.0),
            ("herdsman_log_lines_left_out_total", 8.0),
            ("herdsman_connections_open", 1.0),
            ("herdsman_connections_accepted_total", 2.0),
            ("herdsman_connections_refused_total", 1.0),
        ] {
            assert_eq!(value(&text, series), expected, "{series}");
        }
        assert!(text.ends_with("# EOF\n"));
    }
}
