//! What a connection may do to the others, which is nothing: floods, noise, silence and lack of files.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use herdsman_proto::v1::{
    GetServerInfoRequest, ScoreRequest, solver_service_client::SolverServiceClient,
};
use herdsman_server::Config;
use hyper_util::{
    client::legacy::{Client as HttpClient, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
    time::timeout,
};
use tonic::{Code, Request, codec::CompressionEncoding, transport::Endpoint};
use tower::{Service as _, service_fn};

use crate::{
    authority::Authority,
    errors::check,
    host::{Host, long_search, preset, service, soon},
    metrics::{any_port, get},
};

pub(crate) const ASK: GetServerInfoRequest = GetServerInfoRequest {};
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The program on a free port, ended when dropped.
struct Program {
    child: Child,
    address: SocketAddr,
}

impl Program {
    /// `limit` is how many files it may open.
    fn start(limit: u32, args: &str) -> Program {
        let mut child = Command::new("sh")
            .args(["-c", &format!("ulimit -n {limit}; exec \"$0\" --listen 127.0.0.1:0 {args}")])
            .arg(env!("CARGO_BIN_EXE_herdsmand"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut banner = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        banner.read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().parse().expect(&line);
        Program { child, address }
    }

    /// A call over a new connection.
    async fn call(&self) {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        let mut client = SolverServiceClient::new(soon(endpoint.connect()).await.unwrap());
        soon(client.get_server_info(ASK)).await.unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn it_serves_again_when_there_are_files_to_open_again() {
    // RB-095.
    let server = Program::start(64, "");
    let mut open = Vec::new();
    // As many more as the system lets wait for us.
    for number in 0..150 {
        let mut connection = TcpStream::connect(server.address).await.unwrap();
        // Half of them end with a reset: what the server says first is never read.
        if number % 2 == 0 {
            let _ = connection.write_all(PREFACE).await;
        }
        open.push(connection);
    }
    drop(open);
    server.call().await;
}

#[tokio::test]
async fn five_hundred_silent_connections_hold_up_no_handshake_and_are_closed() {
    // RB-111.
    let ours = Authority::new("silent");
    ours.config();
    let path = |name: &str| ours.file(name).display().to_string();
    let (cert, key) = (path("cert.pem"), path("key.pem"));
    let args = format!("--handshake-timeout-ms 1000 --tls-cert '{cert}' --tls-key '{key}'");
    let server = Program::start(1024, &args);
    let mut silent = Vec::new();
    for _ in 0..500 {
        silent.push(TcpStream::connect(server.address).await.unwrap());
    }
    let mut honest = soon(ours.connect(server.address, None)).await.unwrap();
    soon(honest.get_server_info(ASK)).await.unwrap();
    for mut connection in silent {
        assert_eq!(soon(connection.read_to_end(&mut Vec::new())).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn connections_of_one_address_beyond_its_share_are_closed_at_once() {
    let host = Host::start(Config { max_connections_per_address: 1, ..Config::default() }).await;
    let mut client = host.client();
    client.get_server_info(ASK).await.unwrap();
    let mut second = TcpStream::connect(host.address).await.unwrap();
    assert_eq!(soon(second.read_to_end(&mut Vec::new())).await.unwrap(), 0);
    client.get_server_info(ASK).await.unwrap();
}

/// A client that counts its connections.
fn counting(
    host: &Host,
    count: &Arc<AtomicUsize>,
) -> SolverServiceClient<
    impl tonic::client::GrpcService<
        tonic::body::Body,
        ResponseBody = hyper::body::Incoming,
        Error: std::fmt::Debug,
        Future: Send,
    > + Clone
    + Send
    + use<>,
> {
    let count = count.clone();
    let connector = service_fn(move |uri| {
        count.fetch_add(1, Ordering::Relaxed);
        HttpConnector::new().call(uri)
    });
    let http = HttpClient::builder(TokioExecutor::new()).http2_only(true).build(connector);
    SolverServiceClient::with_origin(http, host.uri())
}

#[tokio::test]
async fn a_client_may_give_up_many_calls_and_keeps_its_connection() {
    // RB-115, its first part.
    let (host, _) = service().await;
    let connections = Arc::new(AtomicUsize::new(0));
    let client = counting(&host, &connections);
    let mut lanes = JoinSet::new();
    for lane in 0..50 {
        let mut client = client.clone();
        lanes.spawn(async move {
            for call in 0..40 {
                let patience = Duration::from_millis(1 + (lane + call) % 10);
                let answer = timeout(patience, client.best_next_guess(long_search())).await;
                assert!(answer.is_err(), "{answer:?}");
            }
        });
    }
    let mut honest = client.clone();
    while !lanes.is_empty() {
        soon(honest.get_server_info(ASK)).await.unwrap();
        while let Some(lane) = lanes.try_join_next() {
            lane.unwrap();
        }
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_connection_of_its_age_ends_without_loss_of_calls() {
    let host = Host::start(Config { max_connection_age_ms: 20, ..Config::default() }).await;
    let connections = Arc::new(AtomicUsize::new(0));
    let mut client = counting(&host, &connections);
    while connections.load(Ordering::Relaxed) < 4 {
        soon(client.get_server_info(ASK)).await.unwrap();
    }
    // One that takes longer than that ends in its own time.
    let mut request = Request::new(long_search());
    request.metadata_mut().insert("grpc-timeout", "300m".parse().unwrap());
    let status = soon(client.best_next_guess(request)).await.unwrap_err();
    check(&status, Code::DeadlineExceeded, "DEADLINE_EXCEEDED", &[]);
}

/// A frame of HTTP/2.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The headers of a call of Score, whose message is yet to come.
pub(crate) fn headers(stream: u32) -> Vec<u8> {
    headers_of("Score", stream)
}

/// The same of a call of another method.
pub(crate) fn headers_of(method: &str, stream: u32) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    let literals = [
        [&[0x44], &text(&format!("/herdsman.v1.SolverService/{method}"))[..]].concat(),
        [&[0x41], &text("localhost")[..]].concat(),
        [&[0x40], &text("te")[..], &text("trailers")].concat(),
        [&[0x5f], &text("application/grpc")[..]].concat(),
    ];
    // POST and http, by their numbers in the table of HPACK, and what enters it.
    frame(1, 4, stream, &[&[0x83, 0x86][..], &literals.concat()].concat())
}

/// The same headers again, by their numbers in the table, as clients send them.
pub(crate) fn same_headers(stream: u32) -> Vec<u8> {
    frame(1, 4, stream, &[0x83, 0x86, 0xc1, 0xc0, 0xbf, 0xbe])
}

/// A connection that has said what HTTP/2 begins with.
pub(crate) async fn raw(address: SocketAddr) -> TcpStream {
    let mut connection = TcpStream::connect(address).await.unwrap();
    let _ = connection.write_all(&[PREFACE, &frame(4, 0, 0, &[])].concat()).await;
    connection
}

#[tokio::test]
async fn a_flood_of_resets_costs_its_own_connection_only() {
    let (host, mut honest) = service().await;
    let address = host.address;
    let flood = tokio::spawn(async move {
        let mut connections = 0;
        let mut resets = 0;
        while resets < 10_000 {
            connections += 1;
            let mut connection = raw(address).await;
            for first in (1..).step_by(200) {
                let streams = (first..first + 200).step_by(2);
                let bytes: Vec<u8> = streams
                    .flat_map(|stream| [headers(stream), frame(3, 0, stream, &8u32.to_be_bytes())])
                    .flatten()
                    .collect();
                if resets >= 10_000 || connection.write_all(&bytes).await.is_err() {
                    break;
                }
                resets += 100;
            }
        }
        connections
    });
    while !flood.is_finished() {
        soon(honest.get_server_info(ASK)).await.unwrap();
    }
    assert!(flood.await.unwrap() >= 1);
    soon(honest.get_server_info(ASK)).await.unwrap();
}

#[tokio::test]
async fn noise_of_every_kind_disturbs_nobody_with_tls_and_without() {
    // RB-117.
    let ours = Authority::new("noise");
    let counting = |config| Config { metrics_listen: any_port(), ..config };
    let secure = Host::start(counting(ours.config())).await;
    let mut over_tls = soon(ours.connect(secure.address, None)).await.unwrap();
    let plain = Host::start(counting(Config::default())).await;
    let mut over_tcp = plain.client();
    let twice = [
        PREFACE.to_vec(),
        frame(4, 0, 0, &[]),
        headers(1),
        headers(1),
        frame(0, 1, 1, &[0, 0, 0, 0, 0]),
    ];
    let hello = [&[0x16, 3, 1, 0, 64, 1, 0, 0, 60, 3, 3][..], &[7; 58]].concat();
    for noise in [
        b"GET / HTTP/1.1\r\nhost: x\r\n\r\n",
        &hello[..],
        &[0xa7; 64],
        &PREFACE[..11],
        &twice.concat(),
    ] {
        for _ in 0..100 {
            for host in [&secure, &plain] {
                let mut connection = TcpStream::connect(host.address).await.unwrap();
                let _ = connection.write_all(noise).await;
            }
        }
        soon(over_tls.get_server_info(ASK)).await.unwrap();
        soon(over_tcp.get_server_info(ASK)).await.unwrap();
    }
    for host in [&secure, &plain] {
        let metrics = get(host.metrics.unwrap(), "").await.1;
        assert!(metrics.contains("herdsman_handler_panics_total 0\n"), "{metrics}");
    }
}

fn score(secret: String) -> ScoreRequest {
    ScoreRequest { rules: preset("bulls-and-cows"), secret, guess: "5279".into() }
}

#[tokio::test]
async fn a_packed_request_is_refused_unless_compression_is_on() {
    let (host, client) = service().await;
    let mut packing = client.send_compressed(CompressionEncoding::Gzip);
    let status = packing.score(score("5072".into())).await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
    assert_eq!(status.metadata().get("grpc-accept-encoding").unwrap(), "identity");
    drop(host);
}

#[tokio::test]
async fn with_compression_requests_and_replies_may_be_packed_but_no_bomb_is_unpacked() {
    let host = Host::start(Config { compression: true, ..Config::default() }).await;
    let mut packing = host
        .client()
        .send_compressed(CompressionEncoding::Gzip)
        .accept_compressed(CompressionEncoding::Gzip);
    let reply = packing.score(score("5072".into())).await.unwrap();
    assert_eq!(reply.metadata().get("grpc-encoding").unwrap(), "gzip");
    // Four mebibytes in four kibibytes.
    let status = packing.score(score("0".repeat(4 << 20))).await.unwrap_err();
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", &[]);
    assert!(status.message().contains("1048576"), "{status}");
    // Who asks for nothing gets nothing packed.
    let reply = host.client().score(score("5072".into())).await.unwrap();
    assert!(reply.metadata().get("grpc-encoding").is_none());
}
