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

mod cache;
mod call;
mod compute;
mod config;
mod dictionaries;
mod games;
mod grpc;
mod listen;
mod saved;
mod stack;

use std::{io, time::Duration};

use tokio::{
    net::TcpListener,
    sync::watch,
    time::{sleep, timeout},
};
use tonic::service::Routes;
use tonic_health::{ServingStatus, server::HealthReporter};

pub use cache::Counts;
pub use compute::Stats;
pub use config::{Config, Mistakes};
pub use dictionaries::DictionaryFiles;

use compute::Compute;
use config::milliseconds;
use dictionaries::Dictionaries;
use grpc::{SERVICE, Solver, SolverServer};
use saved::Saver;
use stack::Stop;

/// How long connections may take to close once no call is left: what is written is sent by then, and a peer that
/// never says anything is not waited for.
const CLOSING: Duration = Duration::from_millis(500);

/// A server that is ready to listen.
pub struct Server {
    config: Config,
    solver: Solver,
    saver: Option<Saver>,
}

/// Serves on `listener` until `shutdown` resolves, then stops in order: health turns NOT_SERVING, connections are
/// accepted for the drain time, calls may finish within the grace time, and what is left is ended.
///
/// # Errors
/// If a dictionary cannot be used, no threads can be started or the listener fails.
pub async fn run(
    listener: TcpListener,
    config: Config,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    Server::new(config)?.serve(listener, shutdown).await
}

impl Server {
    /// A server with these settings; its dictionaries and saved answers are read and its threads are started.
    ///
    /// # Errors
    /// If a dictionary cannot be used, or the system gives no threads.
    pub fn new(config: Config) -> io::Result<Server> {
        let dictionaries = Dictionaries::read(&config.dictionary, config.max_dictionary_bytes)
            .map_err(io::Error::other)?;
        let compute = Compute::new(config.worker_threads(), config.max_queue as usize)
            .map_err(io::Error::other)?;
        let solver = Solver::new(config.clone(), compute, dictionaries);
        let file = saved::load(&config, &solver);
        let saver = file.map(|file| Saver::start(file, solver.clone(), &config)).transpose()?;
        Ok(Server { config, solver, saver })
    }

    /// What its threads do and did.
    pub fn stats(&self) -> watch::Receiver<Stats> {
        self.solver.compute().stats()
    }

    /// Tells, whenever it is called, what was asked of each cache, by its name.
    pub fn cache_counts(&self) -> impl Fn() -> Vec<(&'static str, Counts)> + use<> {
        let solver = self.solver.clone();
        move || solver.cache_counts()
    }

    /// Serves as [`run`] does.
    ///
    /// # Errors
    /// If the listener fails.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let Server { config, solver, saver } = self;
        let (health, health_service) = tonic_health::server::health_reporter();
        set_health(&health, ServingStatus::Serving).await;
        let solver = SolverServer::new(solver)
            .max_decoding_message_size(config.max_message_bytes as usize)
            .max_encoding_message_size(config.max_reply_bytes as usize);
        let routes = with_reflection(Routes::new(solver).add_service(health_service))?;

        let stop = Stop::default();
        let mut serving =
            tokio::spawn(stack::serve(routes, config.clone(), listener, stop.clone()));
        tokio::select! {
            ended = &mut serving => return ended?.map_err(io::Error::other),
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
        let finished = async { tokio::join!(stop.alive.wait(), saved) };
        if timeout(milliseconds(config.grace_ms), finished).await.is_err() {
            tracing::warn!(calls = stop.alive.len(), "ending what did not finish in time");
        }
        stop.calls.cancel();
        if timeout(CLOSING, &mut serving).await.is_err() {
            serving.abort();
        }
        tracing::info!("stopped");
        Ok(())
    }
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
    Ok(routes.add_service(v1).add_service(v1alpha))
}
