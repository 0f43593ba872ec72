//! How counters are told: OpenMetrics as text.
//!
//! Labels are methods, codes and caches that the server has, and all of their series are there from the start: nothing
//! that a caller writes makes another.

use std::{fmt, sync::Arc, sync::atomic::Ordering::Relaxed, time::UNIX_EPOCH};

use prometheus_client::{
    collector::Collector,
    encoding::{
        DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, MetricEncoder, NoLabelSet, text,
    },
    metrics::MetricType,
    registry::{Registry, Unit},
};
use tokio::runtime::Handle;
use tonic::Code;

use super::{Connections, Metrics, TIMES};
use crate::{cache::Counts, grpc::status::code_name, methods::Method, process::Process};

static SECONDS: Unit = Unit::Seconds;
static BYTES: Unit = Unit::Bytes;

impl Metrics {
    /// All of it as OpenMetrics text.
    pub(crate) fn text(self: &Arc<Metrics>) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Arc::clone(self)));
        let mut text = String::new();
        text::encode(&mut text, &registry).expect("a string takes any text");
        text
    }

    /// The calls, by method.
    fn write_calls(&self, page: &mut Page<'_>) -> fmt::Result {
        let calls = || Method::all().iter().map(labels).zip(&self.calls);
        let mut started = page.counters("grpc_server_started", "Calls that came")?;
        for (labels, calls) in calls() {
            count(started.encode_family(&labels)?, calls.started.load(Relaxed))?;
        }
        let mut handled = page.counters("grpc_server_handled", "Calls that ended")?;
        for (labels, calls) in calls() {
            for (code, calls) in (0..).zip(&calls.handled) {
                let [kind, service, name] = labels;
                let code = ("grpc_code", code_name(Code::from_i32(code)));
                let labels = [kind, service, name, code];
                count(handled.encode_family(&labels)?, calls.load(Relaxed))?;
            }
        }
        let help = "Time from the coming of a call to the end of its reply";
        let (name, unit) = ("grpc_server_handling", Some(&SECONDS));
        let mut times = page.0.encode_descriptor(name, help, unit, MetricType::Histogram)?;
        for (labels, calls) in calls() {
            let ends = TIMES.into_iter().chain([f64::INFINITY]);
            let classes: Vec<_> =
                ends.zip(calls.times.iter().map(|count| count.load(Relaxed))).collect();
            let all = classes.iter().map(|(_, count)| count).sum();
            let seconds = calls.nanoseconds.load(Relaxed) as f64 / 1e9;
            times
                .encode_family(&labels)?
                .encode_histogram::<NoLabelSet>(seconds, all, &classes, None)?;
        }
        Ok(())
    }

    /// What the server does beside.
    fn write_server(&self, page: &mut Page<'_>) -> fmt::Result {
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        page.0
            .encode_descriptor("herdsman_build", "The program", None, MetricType::Info)?
            .encode_info(&version)?;
        if let Ok(runtime) = Handle::try_current() {
            let tasks = runtime.metrics().num_alive_tasks();
            page.gauge("herdsman_tasks_alive", "Tasks of the asynchronous runtime", None, tasks)?;
        }
        let alive = self.others.alive.len();
        page.gauge("herdsman_calls_in_flight", "Calls under way", None, alive)?;
        let help = "Panics outside of jobs, each answered with INTERNAL";
        page.counter("herdsman_handler_panics", help, self.handler_panics.load(Relaxed))?;
        let help = "Lines of the log that whoever reads it did not take in time";
        page.counter("herdsman_log_lines_left_out", help, (self.others.left_out)())?;

        let jobs = *self.others.jobs.borrow();
        page.gauge("herdsman_jobs_running", "Jobs that compute", None, jobs.running)?;
        page.gauge("herdsman_jobs_waiting", "Jobs in line for a thread", None, jobs.waiting)?;
        page.counter("herdsman_jobs_started", "Jobs that began to compute", jobs.started)?;
        page.counter("herdsman_jobs_refused", "Jobs that found no place in line", jobs.refused)?;
        page.counter("herdsman_jobs_panicked", "Jobs that panicked", jobs.panicked)?;

        let Connections { open, accepted, refused } = &*self.connections;
        page.gauge("herdsman_connections_open", "Connections", None, open.load(Relaxed))?;
        let help = "Connections that were accepted";
        page.counter("herdsman_connections_accepted", help, accepted.load(Relaxed))?;
        let help = "Connections closed before a call: without TLS or the certificate that is asked for, too late with \
                    TLS or HTTP/2, or too many of an address";
        page.counter("herdsman_connections_refused", help, refused.load(Relaxed))
    }

    fn write_caches(&self, page: &mut Page<'_>) -> fmt::Result {
        type Part = fn(&Counts) -> u64;
        let counters: [(&str, &str, Part); 3] = [
            ("herdsman_cache_hits", "Questions whose answer was there", |counts| counts.hits),
            ("herdsman_cache_misses", "Questions that had to be computed", |counts| counts.misses),
            ("herdsman_cache_joined", "Questions that waited for another's", |counts| counts.joins),
        ];
        let caches = (self.others.caches)();
        for (name, help, part) in counters {
            let mut family = page.counters(name, help)?;
            for (cache, counts) in &caches {
                count(family.encode_family(&[("cache", *cache)])?, part(counts))?;
            }
        }
        let gauges: [(&str, &str, Option<&Unit>, Part); 2] = [
            ("herdsman_cache_entries", "Answers that are kept", None, |counts| counts.entries),
            ("herdsman_cache_weight", "What they take", Some(&BYTES), |counts| counts.bytes),
        ];
        for (name, help, unit, part) in gauges {
            let mut family = page.0.encode_descriptor(name, help, unit, MetricType::Gauge)?;
            for (cache, counts) in &caches {
                family.encode_family(&[("cache", *cache)])?.encode_gauge(&part(counts))?;
            }
        }
        Ok(())
    }

    /// Under the names that these have of any program.
    fn write_process(&self, page: &mut Page<'_>) -> fmt::Result {
        let started = self.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let help = "When the server began, since 1970";
        page.gauge("process_start_time", help, Some(&SECONDS), started)?;
        let Some(process) = Process::now() else { return Ok(()) };
        let resident = process.resident_bytes;
        page.gauge("process_resident_memory", "Memory in use", Some(&BYTES), resident)?;
        page.gauge("process_open_fds", "Open files and sockets", None, process.open_descriptors)?;
        page.counter("process_cpu_seconds", "Time computed", process.cpu_seconds)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Collector for Metrics {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut page = Page(encoder);
        self.write_calls(&mut page)?;
        self.write_server(&mut page)?;
        self.write_caches(&mut page)?;
        self.write_process(&mut page)
    }
}

struct Page<'a>(DescriptorEncoder<'a>);

impl Page<'_> {
    fn counters<'a>(
        &'a mut self,
        name: &'a str,
        help: &str,
    ) -> Result<MetricEncoder<'a>, fmt::Error> {
        self.0.encode_descriptor(name, help, None, MetricType::Counter)
    }

    fn counter(&mut self, name: &str, help: &str, value: impl EncodeCounterValue) -> fmt::Result {
        count(self.counters(name, help)?, value)
    }

    fn gauge(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        value: impl EncodeGaugeValue,
    ) -> fmt::Result {
        self.0.encode_descriptor(name, help, unit, MetricType::Gauge)?.encode_gauge(&value)
    }
}

fn count(mut family: MetricEncoder<'_>, value: impl EncodeCounterValue) -> fmt::Result {
    family.encode_counter::<NoLabelSet, _, u64>(&value, None)
}

fn labels(method: &'static Method) -> [(&'static str, &'static str); 3] {
    [
        ("grpc_type", method.kind),
        ("grpc_service", method.service),
        ("grpc_method", method.name.as_str()),
    ]
}
