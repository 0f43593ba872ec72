//! How often a caller may call. How buckets fill is tested where they are, with a clock that stands still.

use std::time::{Duration, Instant};

use herdsman_proto::v1;
use herdsman_server::Config;
use tonic::{Code, Status};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_types::StatusExt as _;

use crate::{
    errors::check,
    host::{Client, Host},
    tokens::{TokenFile, info},
};

const CALLS: u32 = 100;

/// A call a second, and five at once.
fn slow(config: Config) -> Config {
    Config { rate_per_second: 1, rate_burst: 5, ..config }
}

/// Makes calls, by turns on each connection, and checks that the burst was let through and then what the time since
/// `began` allowed. The last of those that were not.
async fn check_limited(mut clients: Vec<Client>, authorization: &str, began: Instant) -> Status {
    let (mut passed, mut refused) = (0, vec![]);
    for call in 0..CALLS {
        let connection = call as usize % clients.len();
        match info(&mut clients[connection], authorization).await {
            Ok(()) => passed += 1,
            Err(status) => refused.push(status),
        }
    }
    let allowed = 5 + began.elapsed().as_secs() as u32 + 1;
    assert!((5..=allowed).contains(&passed), "{passed} of {allowed}");
    refused.pop().expect("a hundred calls are more than a few seconds allow")
}

#[tokio::test]
async fn the_connections_of_an_address_share_a_rate_and_are_told_when_to_come_back() {
    let began = Instant::now();
    let host = Host::start(slow(Config::default())).await;
    let status = check_limited(vec![host.client(), host.client()], "", began).await;
    check(&status, Code::ResourceExhausted, "RATE_LIMITED", &[]);
    let wait = status.get_error_details().retry_info().unwrap().retry_delay.unwrap();
    assert!(!wait.is_zero() && wait <= Duration::from_secs(1), "{wait:?}");
}

#[tokio::test]
async fn health_is_not_limited() {
    let host = Host::start(slow(Config::default())).await;
    let mut health = HealthClient::with_origin(host.http(), host.uri());
    for _ in 0..CALLS {
        assert!(health.check(HealthCheckRequest::default()).await.is_ok());
    }
}

#[tokio::test]
async fn each_holder_of_a_token_has_a_rate_for_all_of_its_tokens() {
    let file = TokenFile::new("rate", "one solve a, one solve b, two solve c");
    let began = Instant::now();
    let host = Host::start(slow(file.config())).await;
    check_limited(vec![host.client()], "Bearer a", began).await;
    // What is left of it is at most what the time allowed since.
    let mut client = host.client();
    let mut others = 0;
    while info(&mut client, "Bearer b").await.is_ok() {
        others += 1;
    }
    assert!(others <= began.elapsed().as_secs() + 1, "{others}");
    assert!(info(&mut client, "Bearer c").await.is_ok());
}

#[tokio::test]
async fn wrong_tokens_are_limited_by_address_and_right_ones_still_pass() {
    let file = TokenFile::new("guesses", "bot solve right");
    let host = Host::start(slow(file.config())).await;
    let mut client = host.client();
    let mut codes = vec![];
    for guess in 0..CALLS {
        codes.push(info(&mut client, &format!("Bearer {guess}")).await.unwrap_err().code());
    }
    assert_eq!(codes[..5], [Code::Unauthenticated; 5]);
    assert!(codes.contains(&Code::ResourceExhausted), "{codes:?}");
    assert!(info(&mut client, "Bearer right").await.is_ok());
}

#[tokio::test]
async fn a_stream_is_one_call() {
    let host = Host::start(Config { rate_per_second: 1, rate_burst: 1, ..Config::default() }).await;
    let mut client = host.client();
    let rules = crate::host::preset("mastermind");
    let request = v1::SolveRequest { rules, ..Default::default() };
    let mut stream = client.solve(request).await.unwrap().into_inner();
    let mut messages = 0;
    while stream.message().await.unwrap().is_some() {
        messages += 1;
    }
    assert!(messages > 0);
}
