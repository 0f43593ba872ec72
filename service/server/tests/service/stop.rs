//! The end of a server: in order, in time, whatever its clients do.

use std::time::{Duration, Instant};

use herdsman_server::Config;
use tokio::net::TcpStream;
use tonic::{Code, Request};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::{
    errors::check,
    host::{Host, guess_request, long_search, preset, send, soon},
};

#[tokio::test]
async fn a_server_without_calls_stops_at_once_although_a_connection_stays_silent() {
    let host = Host::start(Config::default()).await;
    let mut client = host.client();
    client.best_next_guess(guess_request(preset("mastermind"), "")).await.unwrap();
    let _silent = TcpStream::connect(host.address).await.unwrap();
    let began = Instant::now();
    host.stop().await;
    assert!(began.elapsed() < Duration::from_secs(5), "the grace time is for calls only");
}

#[tokio::test]
async fn a_call_may_finish_within_the_grace_time() {
    let host = Host::start(Config::default()).await;
    let mut request = Request::new(long_search());
    request.metadata_mut().insert("grpc-timeout", "1500m".parse().unwrap());
    let call = send(&host.client(), request);
    host.when(|stats| stats.running == 1).await;
    let (address, began) = (host.address, Instant::now());
    let stopping = host.begin_stop();
    // Meanwhile nobody else is let in.
    soon(async { while TcpStream::connect(address).await.is_ok() {} }).await;
    assert!(!stopping.is_finished());
    soon(stopping).await.unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(8));
    // It ended by its own deadline, not by the stop.
    check(&call.await.unwrap().unwrap_err(), Code::DeadlineExceeded, "DEADLINE_EXCEEDED", &[]);
}

#[tokio::test]
async fn after_the_grace_time_calls_end_with_unavailable() {
    let host = Host::start(Config { grace_ms: 100, ..Config::default() }).await;
    let _silent = TcpStream::connect(host.address).await.unwrap();
    let call = send(&host.client(), long_search());
    host.when(|stats| stats.running == 1).await;
    let mut stats = host.stats.clone();
    host.stop().await;
    check(&soon(call).await.unwrap().unwrap_err(), Code::Unavailable, "SHUTTING_DOWN", &[]);
    soon(stats.wait_for(|stats| stats.running == 0)).await.unwrap();
}

#[tokio::test]
async fn health_turns_before_connections_are_refused_and_watchers_are_let_go() {
    let host = Host::start(Config { drain_ms: 300, ..Config::default() }).await;
    let mut health = HealthClient::with_origin(host.http(), host.uri());
    let request = || HealthCheckRequest { service: "herdsman.v1.SolverService".into() };
    let mut watch = health.watch(request()).await.unwrap().into_inner();
    assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::Serving);

    let (address, uri) = (host.address, host.uri());
    let mut late = HealthClient::with_origin(host.http(), uri);
    let stopping = host.begin_stop();
    assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
    // Still draining: a new connection is served, and told.
    let overall = late.check(HealthCheckRequest::default()).await.unwrap().into_inner();
    assert_eq!(overall.status(), ServingStatus::NotServing);
    check(&soon(watch.message()).await.unwrap_err(), Code::Unavailable, "SHUTTING_DOWN", &[]);
    soon(stopping).await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}
