//! What the server counts, and who may read it.

use std::{
    collections::{HashMap, HashSet},
    net::SocketAddr,
};

use herdsman_proto::v1;
use herdsman_server::{Config, Server};
use http::uri::PathAndQuery;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tonic::{Code, Request};
use tonic_prost::ProstCodec;

use crate::{
    host::{Client, Host, guess_request, preset, soon},
    tokens::TokenFile,
};

pub(crate) fn any_port() -> Option<SocketAddr> {
    Some("127.0.0.1:0".parse().unwrap())
}

/// The status and the text of the answer to a request, which ends the connection.
async fn ask(address: SocketAddr, request: &str) -> (u16, String) {
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    soon(connection.read_to_string(&mut answer)).await.unwrap();
    let status = answer.split(' ').nth(1).expect(&answer).parse().unwrap();
    (status, answer)
}

pub(crate) async fn get(address: SocketAddr, headers: &str) -> (u16, String) {
    ask(address, &format!("GET /metrics HTTP/1.1\r\nhost: x\r\n{headers}\r\n")).await
}

/// Every series with its value, of a page that is as OpenMetrics has it.
async fn series(host: &Host) -> HashMap<String, f64> {
    let (status, answer) = get(host.metrics.unwrap(), "").await;
    assert_eq!(status, 200);
    assert!(answer.contains("content-type: application/openmetrics-text; version=1.0.0"));
    let page = answer.split_once("\r\n\r\n").unwrap().1;
    let page = page.strip_suffix("# EOF\n").expect("the page is whole");
    let mut families = HashSet::new();
    let mut series = HashMap::new();
    for line in page.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let fields: Vec<_> = comment.splitn(3, ' ').collect();
            assert!(["HELP", "TYPE", "UNIT"].contains(&fields[0]), "{line}");
            let first = fields[0] == "HELP";
            assert_eq!(families.insert(fields[1].to_owned()), first, "{line}");
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        let bare = name.split('{').next().unwrap();
        let endings = ["", "_total", "_info", "_sum", "_count", "_bucket"];
        let mut of = endings.iter().filter_map(|ending| bare.strip_suffix(ending));
        assert!(of.any(|family| families.contains(family)), "{line}");
        let before = series.insert(name.to_owned(), value.parse().unwrap());
        assert!(before.is_none(), "twice: {line}");
    }
    series
}

async fn counting() -> (Host, Client) {
    let config = Config { metrics_listen: any_port(), threads: 1, ..Config::default() };
    let host = Host::start(config).await;
    let client = host.client();
    (host, client)
}

/// Waits until a series has this value: a call is counted when its last byte was taken, which its caller may know
/// earlier.
async fn when(host: &Host, name: &str, value: f64) -> HashMap<String, f64> {
    soon(async {
        loop {
            let all = series(host).await;
            if all.get(name).copied().expect(name) == value {
                return all;
            }
        }
    })
    .await
}

fn handled(method: &str, code: &str) -> String {
    format!(
        "grpc_server_handled_total{{grpc_type=\"unary\",grpc_service=\"herdsman.v1.SolverService\",\
         grpc_method=\"{method}\",grpc_code=\"{code}\"}}"
    )
}

#[tokio::test]
async fn what_was_called_is_what_is_counted() {
    let (host, mut client) = counting().await;
    for _ in 0..7 {
        client.get_server_info(v1::GetServerInfoRequest {}).await.unwrap();
    }
    for _ in 0..3 {
        client.score(v1::ScoreRequest::default()).await.unwrap_err();
    }
    client.best_next_guess(guess_request(preset("mastermind"), "0011=1b0c")).await.unwrap();

    when(&host, &handled("GetServerInfo", "OK"), 7.0).await;
    when(&host, &handled("BestNextGuess", "OK"), 1.0).await;
    let all = when(&host, &handled("Score", "INVALID_ARGUMENT"), 3.0).await;
    let sum = |name: &str| -> f64 {
        let of = all.iter().filter(|(series, _)| series.starts_with(name));
        of.map(|(_, value)| value).sum()
    };
    assert_eq!(sum("grpc_server_started_total"), 11.0);
    assert_eq!(sum("grpc_server_handled_total"), 11.0);
    assert_eq!(sum("grpc_server_handling_seconds_count"), 11.0);
    assert_eq!(all["herdsman_jobs_started_total"], host.stats.borrow().started as f64);
    assert_eq!((all["herdsman_calls_in_flight"], all["herdsman_connections_open"]), (0.0, 1.0));
    for name in ["process_resident_memory_bytes", "process_open_fds", "herdsman_tasks_alive"] {
        assert!(all[name] > 0.0, "{name}");
    }
}

// RB-109.
#[tokio::test]
async fn what_callers_write_makes_no_series() {
    let (host, client) = counting().await;
    let before: HashSet<_> = series(&host).await.into_keys().collect();
    let mut calls = tokio::task::JoinSet::new();
    for lane in 0..50 {
        let (http, uri, mut client) = (host.http(), host.uri(), client.clone());
        calls.spawn(async move {
            let mut raw = tonic::client::Grpc::with_origin(http, uri);
            for call in 0..100 {
                let name = format!("v{lane}x{call}");
                let mut request = Request::new(v1::ScoreRequest::default());
                request.metadata_mut().insert("x-request-id", name.parse().unwrap());
                request.metadata_mut().insert("user-agent", name.parse().unwrap());
                let service = if call % 2 == 0 { "herdsman.v1.SolverService" } else { &name };
                let path = PathAndQuery::try_from(format!("/{service}/{name}")).unwrap();
                raw.ready().await.unwrap();
                let codec = ProstCodec::<v1::ScoreRequest, v1::ScoreResponse>::default();
                let status = raw.unary(request, path, codec).await.unwrap_err();
                assert_eq!(status.code(), Code::Unimplemented);
                let request = v1::FilterRequest { rules: preset(&name), ..Default::default() };
                client.filter(request).await.unwrap_err();
            }
        });
    }
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
    let unknown = "grpc_server_started_total{grpc_type=\"unknown\",grpc_service=\"unknown\",\
                   grpc_method=\"unknown\"}";
    let after = when(&host, unknown, 5000.0).await;
    assert_eq!(after[&handled("Filter", "INVALID_ARGUMENT")], 5000.0);
    assert_eq!(after.into_keys().collect::<HashSet<_>>(), before);
}

#[tokio::test]
async fn metrics_are_for_admins_where_there_are_tokens() {
    let file = TokenFile::new("metrics", "bot solve one, prometheus admin two");
    let config = Config { metrics_listen: any_port(), ..file.config() };
    let host = Host::start(config).await;
    let address = host.metrics.unwrap();
    for (headers, expected) in [
        ("", 401),
        ("authorization: Bearer three\r\n", 401),
        ("authorization: Basic two\r\n", 401),
        ("authorization: Bearer one\r\n", 403),
        ("authorization: Bearer two\r\n", 200),
    ] {
        let (status, answer) = get(address, headers).await;
        assert_eq!(status, expected, "{headers}");
        assert_eq!(answer.contains("grpc_server"), expected == 200, "{headers}");
        assert_eq!(answer.contains("www-authenticate: Bearer"), expected == 401, "{headers}");
    }
}

#[tokio::test]
async fn there_is_nothing_there_but_metrics() {
    let (host, _) = counting().await;
    let address = host.metrics.unwrap();
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n", 404),
        ("GET /metrics/ HTTP/1.1\r\n\r\n", 404),
        ("POST /metrics HTTP/1.1\r\ncontent-length: 0\r\n\r\n", 405),
        ("DELETE /metrics HTTP/1.1\r\n\r\n", 405),
        ("GET /metrics?x=y HTTP/1.0\r\n\r\n", 200),
        ("nonsense\r\n\r\n", 400),
    ] {
        assert_eq!(ask(address, request).await.0, status, "{request}");
    }
    let long = format!("GET /metrics HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(6000));
    assert_eq!(ask(address, &long).await.0, 200);
}

#[tokio::test]
async fn silent_connections_do_not_keep_a_scraper_out() {
    let (host, _) = counting().await;
    let address = host.metrics.unwrap();
    let mut silent = vec![];
    for _ in 0..10 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    assert_eq!(get(address, "").await.0, 200);
}

#[tokio::test]
async fn an_address_for_metrics_that_is_taken_is_told_with_its_setting() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let metrics_listen = Some(taken.local_addr().unwrap());
    let error = Server::new(Config { metrics_listen, ..Config::default() }).err().unwrap();
    assert!(error.to_string().contains("--metrics-listen"), "{error}");
}
