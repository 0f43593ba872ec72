//! `herdsmand`: the Herdsman engine as a gRPC service.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use herdsman_server::{Config, run};
//!
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! let stop = async { tokio::signal::ctrl_c().await.unwrap_or_default() };
//! run(listener, Config::default(), stop).await
//! # }
//! ```
//!
//! The caller owns the port and the stop signal. A call goes through `stack` (log, deadline, panics) to a handler of
//! `grpc`, which checks it, asks `cache`, and has the rest done by `compute`; nothing else starts CPU work.

mod ahead;
mod cache;
mod call;
mod callers;
mod compute;
mod config;
mod connection;
mod dictionaries;
mod games;
mod grpc;
mod listen;
mod methods;
mod metrics;
mod process;
mod rate;
mod saved;
mod scrape;
mod stack;
mod tls;
mod tokens;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::TcpListener,
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep, timeout, timeout_at},
};
use tokio_util::task::TaskTracker;
use tonic::{codec::CompressionEncoding, service::Routes};
use tonic_health::{ServingStatus, server::HealthReporter};

pub use cache::Counts;
pub use compute::{Stats, rest_after_refusals};
pub use config::{Config, Invocation, Mistakes};
pub use dictionaries::DictionaryFiles;

use callers::Callers;
use compute::Compute;
use config::milliseconds;
use dictionaries::Dictionaries;
use grpc::{SERVICE, Solver, SolverServer};
use metrics::{Metrics, Others};
use saved::Saver;
use scrape::Scrape;
use stack::{Shared, Stop};
use tls::Tls;

/// How long connections may take to close once no call is left: what is written is sent by then, and a peer that
/// never says anything is not waited for.
const CLOSING: Duration = Duration::from_millis(500);
/// The largest request for health and reflection, which name a service at the most. Health is open to everybody.
const MAX_QUESTION_BYTES: usize = 4096;

/// A server that is ready to listen.
pub struct Server {
    config: Config,
    solver: Solver,
    tls: Option<Tls>,
    callers: Callers,
    saver: Option<Saver>,
    scraped: Option<std::net::TcpListener>,
    left_out: LeftOut,
}

/// Tells how many lines of the log were left out.
type LeftOut = Box<dyn Fn() -> u64 + Send + Sync>;

/// Serves on `listener` until `shutdown` resolves, then stops in order: health turns NOT_SERVING, connections are
/// accepted for the drain time, calls may finish within the grace time, and what is left is ended.
///
/// # Errors
/// If a file or the address for metrics cannot be used, no threads can be started, or what serves panics.
pub async fn run(
    listener: TcpListener,
    config: Config,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    Server::new(config)?.serve(listener, shutdown).await
}

impl Server {
    /// A server with these settings; its files and saved answers are read and its threads are started.
    ///
    /// # Errors
    /// If a file or the address for metrics cannot be used, or the system gives no threads.
    pub fn new(config: Config) -> io::Result<Server> {
        let Files { dictionaries, tls, callers } = read_files(&config)?;
        let compute = Compute::new(config.worker_threads(), config.max_queue as usize)?;
        let scraped = config.metrics_listen.map(scrape::listen).transpose()?;
        let solver = Solver::new(config.clone(), compute, dictionaries)?;
        let file = saved::load(&config, &solver);
        let saver = file.map(|file| Saver::start(file, solver.clone(), &config)).transpose()?;
        let left_out = Box::new(|| 0);
        Ok(Server { config, solver, tls, callers, saver, scraped, left_out })
    }

    /// Has its metrics tell how many lines of its log were left out.
    #[must_use]
    pub fn with_log(self, left_out: impl Fn() -> u64 + Send + Sync + 'static) -> Server {
        Server { left_out: Box::new(left_out), ..self }
    }

    /// Reads all files that these settings name, as [`Server::new`] does, and starts nothing.
    ///
    /// # Errors
    /// If one of them cannot be used. That of saved answers keeps no server from starting, and is told here all the same.
    pub fn check(config: &Config) -> io::Result<()> {
        let wrong = [read_files(config).err().map(|error| error.to_string()), saved::check(config)];
        let wrong: Vec<_> = wrong.into_iter().flatten().collect();
        if wrong.is_empty() { Ok(()) } else { Err(io::Error::other(wrong.join("\n"))) }
    }

    /// What its threads do and did.
    pub fn stats(&self) -> watch::Receiver<Stats> {
        self.solver.compute().stats()
    }

    /// Where metrics are read, if they are.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.scraped.as_ref()?.local_addr().ok()
    }

    /// Tells, whenever it is called, what was asked of each cache, by its name.
    pub fn cache_counts(&self) -> impl Fn() -> Vec<(&'static str, Counts)> + use<> {
        let solver = self.solver.clone();
        move || solver.cache_counts()
    }

    /// Serves as [`run`] does.
    ///
    /// # Errors
    /// If the listener for metrics cannot be used, or what serves panics.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let caches = Box::new(self.cache_counts());
        let Server { config, solver, tls, callers, saver, scraped, left_out } = self;
        let stop = Stop::default();
        let jobs = solver.compute().stats();
        let metrics = Metrics::new(Others { jobs, alive: stop.alive.clone(), caches, left_out });
        let (solving, callers) = (TaskTracker::new(), Arc::new(callers));
        let shared = Arc::new(Shared { stop, solving, callers, metrics });
        let stop = &shared.stop;
        // To the end: metrics tell of the stop too.
        let _beside = beside(&shared, scraped)?;
        let (health, health_service) = tonic_health::server::health_reporter();
        set_health(&health, ServingStatus::Serving).await;
        let mut solver = SolverServer::new(solver)
            .max_decoding_message_size(config.max_message_bytes as usize)
            .max_encoding_message_size(config.max_reply_bytes as usize);
        if config.compression {
            solver = solver
                .accept_compressed(CompressionEncoding::Gzip)
                .send_compressed(CompressionEncoding::Gzip);
        }
        let health_service = health_service.max_decoding_message_size(MAX_QUESTION_BYTES);
        let routes = with_reflection(Routes::new(solver).add_service(health_service))?;

        let mut serving =
            tokio::spawn(stack::serve(routes, config.clone(), listener, tls, Arc::clone(&shared)));
        tokio::select! {
            ended = &mut serving => return ended.map_err(io::Error::other),
            () = shutdown => {}
        }

        tracing::info!("stopping");
        set_health(&health, ServingStatus::NotServing).await;
        sleep(milliseconds(config.drain_ms)).await;
        stop.accepting.cancel();
        stop.alive.close();
        // Answers are saved meanwhile: what calls still find by then is not among them.
        let saved = async {
            if let Some(saver) = saver {
                saver.finish().await;
            }
        };
        let late = Instant::now() + milliseconds(config.grace_ms);
        let finished = async { tokio::join!(stop.alive.wait(), saved) };
        if timeout_at(late, finished).await.is_err() {
            tracing::warn!(calls = stop.alive.len(), "ending what did not finish in time");
            stop.calls.cancel();
        }
        while timeout(CLOSING, &mut serving).await.is_err() {
            if stop.alive.is_empty() || stop.calls.is_cancelled() {
                serving.abort();
                break;
            }
            // A call that was sent before its caller heard of the end has the grace time too.
            if timeout_at(late, stop.alive.wait()).await.is_err() {
                stop.calls.cancel();
            }
        }
        tracing::info!("stopped");
        Ok(())
    }
}

/// What a server has from files.
struct Files {
    dictionaries: Dictionaries,
    tls: Option<Tls>,
    callers: Callers,
}

/// Reads all files. Whatever else is read before a server listens belongs here, so that a check reads it too.
fn read_files(config: &Config) -> io::Result<Files> {
    let dictionaries = Dictionaries::read(&config.dictionary, config.max_dictionary_bytes);
    let tls = Tls::load(config);
    let callers = Callers::new(config);
    match (dictionaries, tls, callers) {
        (Ok(dictionaries), Ok(tls), Ok(callers)) => Ok(Files { dictionaries, tls, callers }),
        (dictionaries, tls, callers) => {
            let told = [
                dictionaries.err().map(|error| error.to_string()),
                tls.err().map(|error| error.to_string()),
                callers.err().map(|error| error.to_string()),
            ];
            Err(io::Error::other(told.into_iter().flatten().collect::<Vec<_>>().join("\n")))
        }
    }
}

/// Starts what goes on beside the calls: reading tokens again and telling metrics. Ends when dropped.
fn beside(shared: &Shared, scraped: Option<std::net::TcpListener>) -> io::Result<JoinSet<()>> {
    let mut tasks = JoinSet::new();
    let callers = Arc::clone(&shared.callers);
    tasks.spawn(async move { callers.follow().await });
    if let Some(listener) = scraped {
        let listener = TcpListener::from_std(listener)?;
        tracing::info!(address = %listener.local_addr()?, "metrics are told");
        let (callers, metrics) = (Arc::clone(&shared.callers), Arc::clone(&shared.metrics));
        tasks.spawn(Scrape { callers, metrics }.serve(listener));
    }
    Ok(tasks)
}

async fn set_health(health: &HealthReporter, status: ServingStatus) {
    for service in ["", SERVICE] {
        health.set_service_status(service, status).await;
    }
}

/// Adds reflection in both versions that clients ask for, with everything that replies and errors are made of.
fn with_reflection(routes: Routes) -> io::Result<Routes> {
    let builder = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(herdsman_proto::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
    };
    let v1 = builder().build_v1().map_err(io::Error::other)?;
    let v1alpha = builder().build_v1alpha().map_err(io::Error::other)?;
    Ok(routes
        .add_service(v1.max_decoding_message_size(MAX_QUESTION_BYTES))
        .add_service(v1alpha.max_decoding_message_size(MAX_QUESTION_BYTES)))
}
