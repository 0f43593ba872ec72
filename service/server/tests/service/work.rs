//! How work is shared, and how it ends: deadlines, callers that leave.

use std::time::{Duration, Instant};

use herdsman_proto::v1::{self, GetServerInfoRequest};
use herdsman_server::Config;
use tonic::{Code, Request};

use crate::{
    errors::check,
    host::{Host, guess_request, long_search, preset, send, soon},
};

/// From the end of a search until its thread is free. The engine looks at its flag every millisecond; the rest is for
/// a loaded machine.
pub(crate) const RELEASED: Duration = Duration::from_millis(500);

/// A server with one thread, and a search that keeps it busy until it is aborted.
async fn busy() -> (Host, tokio::task::JoinHandle<impl Sized>) {
    let host = Host::start(Config { threads: 1, ..Config::default() }).await;
    let search = send(&host.client(), long_search());
    host.when(|stats| stats.running == 1).await;
    (host, search)
}

#[tokio::test]
async fn a_deadline_is_answered_with_deadline_exceeded_and_frees_the_thread() {
    let host = Host::start(Config { threads: 1, ..Config::default() }).await;
    for _ in 0..5 {
        let mut request = Request::new(long_search());
        // As it stands on the wire: this client does not watch the time itself.
        request.metadata_mut().insert("grpc-timeout", "20m".parse().unwrap());
        let started = Instant::now();
        let status = host.client().best_next_guess(request).await.unwrap_err();
        assert!(started.elapsed() < Duration::from_millis(20) + RELEASED);
        check(&status, Code::DeadlineExceeded, "DEADLINE_EXCEEDED", &[]);
        let ended = Instant::now();
        host.when(|stats| stats.running == 0 && stats.waiting == 0).await;
        assert!(ended.elapsed() < RELEASED);
    }
}

#[tokio::test]
async fn the_server_has_a_longest_deadline_of_its_own() {
    let host = Host::start(Config { max_deadline_ms: 50, ..Config::default() }).await;
    for timeout in [None, Some("1H")] {
        let mut request = Request::new(long_search());
        if let Some(timeout) = timeout {
            request.metadata_mut().insert("grpc-timeout", timeout.parse().unwrap());
        }
        let status = soon(host.client().best_next_guess(request)).await.unwrap_err();
        check(&status, Code::DeadlineExceeded, "DEADLINE_EXCEEDED", &[]);
    }
}

#[tokio::test]
async fn the_last_caller_to_leave_stops_the_work() {
    let (host, search) = busy().await;
    let client = host.client();
    let other = send(&client, long_search());
    // A round trip on the same connection, so that the server has seen the other call.
    client.clone().get_server_info(GetServerInfoRequest {}).await.unwrap();
    search.abort();
    client.clone().get_server_info(GetServerInfoRequest {}).await.unwrap();
    let left = Instant::now();
    other.abort();
    let stats = host.when(|stats| stats.running == 0).await;
    assert!(left.elapsed() < RELEASED);
    assert_eq!(stats.waiting, 0);
}

#[tokio::test]
async fn callers_who_ask_the_same_at_once_share_one_job() {
    let (host, search) = busy().await;
    let client = host.client();
    let question = || v1::BestNextGuessRequest {
        strategy: v1::Strategy::Minimax.into(),
        ..guess_request(preset("bulls-and-cows"), "0123=0b1c")
    };
    let first = send(&client, question());
    host.when(|stats| stats.waiting == 1).await;
    let others: Vec<_> = (0..20).map(|_| send(&client, question())).collect();
    client.clone().get_server_info(GetServerInfoRequest {}).await.unwrap();
    // The one who began it leaves; the others get their answer all the same.
    first.abort();
    client.clone().get_server_info(GetServerInfoRequest {}).await.unwrap();
    search.abort();
    for other in others {
        let reply = soon(other).await.unwrap().unwrap();
        assert_eq!(reply.suggestions[0].guess, "1456");
    }
    let stats = host.when(|stats| stats.running == 0).await;
    assert_eq!((stats.started, stats.waiting), (2, 0));
}

#[tokio::test]
async fn a_call_whose_caller_left_the_line_never_runs() {
    let (host, search) = busy().await;
    let waiting = send(&host.client(), guess_request(preset("mastermind"), ""));
    host.when(|stats| stats.waiting == 1).await;
    waiting.abort();
    host.when(|stats| stats.waiting == 0).await;
    search.abort();
    assert_eq!(host.when(|stats| stats.running == 0).await.started, 1);
}
