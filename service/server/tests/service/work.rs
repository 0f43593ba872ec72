//! How work is shared, and how it ends: deadlines, callers that leave.

use std::time::{Duration, Instant};

use herdsman_proto::v1::{self, GetServerInfoRequest};
use herdsman_server::Config;
use hyper_util::{client::legacy::Client as HttpClient, rt::TokioExecutor};
use tonic::{Code, Request};

use crate::{
    errors::check,
    host::{Client, Host, guess_request, long_search, preset, send, service, soon},
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
        // RB-097. As it stands on the wire: this client does not watch the time itself.
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

/// Waits until so many calls wait for the computation of another one.
async fn joined(host: &Host, calls: u64) {
    let mut client = host.client();
    let all_are_there = async {
        while host.counts("advice").joins < calls {
            client.get_server_info(GetServerInfoRequest {}).await.unwrap();
        }
    };
    soon(all_are_there).await;
}

#[tokio::test]
async fn a_thousand_who_ask_at_once_are_one_computation_also_when_the_first_of_them_leaves() {
    let (host, search) = busy().await;
    let question = || v1::BestNextGuessRequest {
        strategy: v1::Strategy::Entropy.into(),
        ..guess_request(preset("bulls-and-cows"), "0123=1b1c")
    };
    let first = send(&host.client(), question());
    host.when(|stats| stats.waiting == 1).await;
    let clients: Vec<_> = (0..5).map(|_| host.client()).collect();
    let others: Vec<_> =
        clients.iter().flat_map(|client| (0..200).map(|_| send(client, question()))).collect();
    joined(&host, 1000).await;
    first.abort();
    search.abort();
    for other in others {
        assert_eq!(soon(other).await.unwrap().unwrap().source(), v1::Source::Computed);
    }
    let counts = host.counts("advice");
    // The search that kept the thread busy, and this one.
    assert_eq!((counts.hits, counts.misses, counts.joins), (0, 2, 1000));
    assert_eq!(host.when(|stats| stats.running == 0).await.started, 2);
}

#[tokio::test]
async fn three_hundred_who_begin_and_leave_spoil_nothing_for_the_next() {
    let host = Host::start(Config { threads: 1, ..Config::default() }).await;
    let client = host.client();
    for _ in 0..300 {
        let search = send(&client, long_search());
        host.when(|stats| stats.running == 1).await;
        search.abort();
        host.when(|stats| stats.running == 0).await;
    }
    let mut short = long_search();
    short.limits = Some(v1::SearchLimits { max_scores: 1 });
    assert!(!soon(send(&client, short)).await.unwrap().unwrap().suggestions.is_empty());
    let stats = host.when(|stats| stats.running == 0).await;
    assert_eq!((stats.started, stats.panicked), (301, 0));
}

#[tokio::test]
async fn a_caller_who_reads_nothing_holds_up_nobody_who_asks_the_same() {
    let (host, search) = busy().await;
    let mut deaf = HttpClient::builder(TokioExecutor::new());
    let deaf = deaf.http2_only(true).http2_initial_stream_window_size(0).build_http();
    let deaf = Client::with_origin(deaf, host.uri());
    let question = || guess_request(preset("bulls-and-cows"), "0123=0b1c 4567=1b1c");
    let first = send(&deaf, question());
    host.when(|stats| stats.waiting == 1).await;
    let second = send(&host.client(), question());
    let mut hasty = Request::new(question());
    hasty.metadata_mut().insert("grpc-timeout", "20m".parse().unwrap());
    let third = send(&host.client(), hasty);
    joined(&host, 2).await;
    check(
        &soon(third).await.unwrap().unwrap_err(),
        Code::DeadlineExceeded,
        "DEADLINE_EXCEEDED",
        &[],
    );
    search.abort();
    assert!(!soon(second).await.unwrap().unwrap().suggestions.is_empty());
    assert!(!first.is_finished(), "it has nothing to read from");
}

#[tokio::test]
async fn who_asks_what_cannot_be_is_told_from_what_was_computed_once() {
    let (host, client) = service().await;
    let contradiction = || guess_request(preset("mastermind"), "0123=0b0c 0123=1b0c");
    let calls: Vec<_> = (0..50).map(|_| send(&client, contradiction())).collect();
    for call in calls {
        let status = call.await.unwrap().unwrap_err();
        check(&status, Code::FailedPrecondition, "CONTRADICTION", &[]);
    }
    let other = guess_request(preset("mastermind"), "0123=1b0c 0123=0b0c");
    assert!(send(&client, other).await.unwrap().unwrap_err().message().contains("`0123=0b0c`"));
    // One that finds out that no code is left, and one for each order of the turns that finds the turn.
    assert_eq!(host.stats.borrow().started, 3);
}
