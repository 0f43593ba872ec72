//! What surrounds the calls: health, reflection, request ids, broken messages and broken connections.

use bytes::Bytes;
use herdsman_proto::v1;
use herdsman_server::Config;
use http::uri::PathAndQuery;
use http_body_util::Full;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tonic::{Code, Request, Status, body::Body};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_prost::ProstCodec;
use tonic_reflection::pb;

use crate::{
    errors::check,
    host::{Host, preset, service, soon},
};

#[tokio::test]
async fn what_is_open_to_all_takes_no_long_messages() {
    let (host, _) = service().await;
    let mut health = HealthClient::with_origin(host.http(), host.uri());
    let status = health.check(HealthCheckRequest { service: "x".repeat(5000) }).await.unwrap_err();
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", &[]);
    assert!(status.message().contains("4096 bytes"), "{status}");
}

#[tokio::test]
async fn health_is_told_for_the_server_and_the_service() {
    let (host, _) = service().await;
    let mut health = HealthClient::with_origin(host.http(), host.uri());
    for service in ["", "herdsman.v1.SolverService"] {
        let reply = health.check(HealthCheckRequest { service: service.into() }).await.unwrap();
        assert_eq!(reply.into_inner().status(), ServingStatus::Serving);
    }
    let unknown = health.check(HealthCheckRequest { service: "x".into() }).await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
}

#[tokio::test]
async fn reflection_describes_the_service_and_the_details_of_its_errors() {
    use pb::v1::{
        ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
        server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
    };
    let (host, _) = service().await;
    let mut client = ServerReflectionClient::with_origin(host.http(), host.uri());
    for symbol in [
        "herdsman.v1.SolverService",
        "google.rpc.ErrorInfo",
        "google.rpc.BadRequest",
        "grpc.health.v1.Health",
    ] {
        let request = ServerReflectionRequest {
            host: String::new(),
            message_request: Some(MessageRequest::FileContainingSymbol(symbol.into())),
        };
        let replies = client.server_reflection_info(tokio_stream::once(request)).await.unwrap();
        let reply = replies.into_inner().message().await.unwrap().unwrap();
        let described =
            matches!(reply.message_response, Some(MessageResponse::FileDescriptorResponse(_)));
        assert!(described, "{symbol}");
    }
}

#[tokio::test]
async fn reflection_answers_older_tools_too() {
    use pb::v1alpha::{
        ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
        server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
    };
    let (host, _) = service().await;
    let mut client = ServerReflectionClient::with_origin(host.http(), host.uri());
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let replies = client.server_reflection_info(tokio_stream::once(request)).await.unwrap();
    let reply = replies.into_inner().message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = reply.message_response else {
        panic!("no list: {reply:?}");
    };
    assert!(list.service.iter().any(|service| service.name == "herdsman.v1.SolverService"));
}

#[tokio::test]
async fn a_request_id_is_echoed_or_made_for_errors_too() {
    let (_host, mut client) = service().await;
    let mut request = Request::new(v1::GetServerInfoRequest {});
    request.metadata_mut().insert("x-request-id", "order-66".parse().unwrap());
    let reply = client.get_server_info(request).await.unwrap();
    assert_eq!(reply.metadata().get("x-request-id").unwrap(), "order-66");
    let error = client.score(v1::ScoreRequest::default()).await.unwrap_err();
    assert_eq!(error.metadata().get("x-request-id").unwrap().len(), 16);
}

/// A message whose texts are any bytes.
#[derive(Clone, PartialEq, prost::Message)]
struct Raw {
    #[prost(message, optional, tag = "1")]
    rules: Option<RawRules>,
    #[prost(bytes = "vec", tag = "2")]
    second: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    fourth: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct RawRules {
    #[prost(bytes = "vec", tag = "1")]
    preset: Vec<u8>,
    #[prost(message, optional, tag = "2")]
    codes: Option<RawText>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct RawText {
    #[prost(bytes = "vec", tag = "1")]
    first: Vec<u8>,
}

async fn send_raw(host: &Host, method: &str, message: Raw) -> Status {
    let mut client = tonic::client::Grpc::with_origin(host.http(), host.uri());
    client.ready().await.unwrap();
    let path = PathAndQuery::try_from(format!("/herdsman.v1.SolverService/{method}")).unwrap();
    let codec = ProstCodec::<Raw, v1::ScoreResponse>::default();
    client.unary(Request::new(message), path, codec).await.unwrap_err()
}

#[tokio::test]
async fn text_that_is_not_utf_8_is_bad_input_with_the_path_of_the_field() {
    let (host, _) = service().await;
    let bad = || vec![b'0', 0xff];
    let preset = RawRules { preset: bad(), ..Default::default() };
    let codes = RawRules { codes: Some(RawText { first: bad() }), ..Default::default() };
    let turn = prost::Message::encode_to_vec(&RawText { first: bad() });
    for (method, message, reason, field) in [
        ("Score", Raw { second: bad(), ..Default::default() }, "INVALID_CODE", "secret"),
        ("Filter", Raw { second: turn, ..Default::default() }, "INVALID_CODE", "history.guess"),
        ("Filter", Raw { fourth: bad(), ..Default::default() }, "INVALID_OPTION", "page_token"),
        (
            "Score",
            Raw { rules: Some(preset), ..Default::default() },
            "INVALID_RULES",
            "rules.preset",
        ),
        (
            "Score",
            Raw { rules: Some(codes), ..Default::default() },
            "INVALID_RULES",
            "rules.codes.alphabet",
        ),
    ] {
        let status = send_raw(&host, method, message).await;
        check(&status, Code::InvalidArgument, reason, &[field]);
    }
}

#[tokio::test]
async fn a_message_that_is_too_large_is_bad_input_that_names_the_limit() {
    let (host, _) = service().await;
    let message = Raw { second: vec![b'0'; (1 << 20) + 1], ..Default::default() };
    let status = send_raw(&host, "Score", message).await;
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", &[]);
    assert!(status.message().contains("1048576"), "{status}");
}

#[tokio::test]
async fn what_is_no_message_is_bad_input() {
    let host = Host::start(Config { compression: true, ..Config::default() }).await;
    let frame = |packed: u8, length: u8, bytes: &[u8]| [&[packed, 0, 0, 0, length], bytes].concat();
    for body in [
        vec![],
        frame(0, 9, b"short"),
        frame(1, 11, b"hello world"),
        frame(2, 0, b""),
        frame(0, 5, b"\xff\xff\xff\xff\xff"),
    ] {
        let request = http::Request::post(format!("{}herdsman.v1.SolverService/Score", host.uri()))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header("grpc-encoding", "gzip")
            .body(Body::new(Full::new(Bytes::from(body))))
            .unwrap();
        let response = host.http().request(request).await.unwrap();
        let status = Status::from_header_map(response.headers()).unwrap();
        check(&status, Code::InvalidArgument, "INVALID_OPTION", &[]);
    }
}

#[tokio::test]
async fn an_unknown_method_is_unimplemented() {
    let (host, _) = service().await;
    assert_eq!(send_raw(&host, "Win", Raw::default()).await.code(), Code::Unimplemented);
}

#[tokio::test]
async fn whatever_speaks_another_protocol_does_not_disturb_the_others() {
    let (host, mut client) = service().await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    for noise in [
        &b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"[..],
        &[0x16, 3, 1, 0, 200, 1],
        &[0; 64],
        &preface[..9],
        preface,
    ] {
        for _ in 0..20 {
            let mut connection = TcpStream::connect(host.address).await.unwrap();
            connection.write_all(noise).await.unwrap();
        }
    }
    let request = v1::FilterRequest { rules: preset("mastermind"), ..Default::default() };
    assert_eq!(client.filter(request).await.unwrap().into_inner().remaining, 1296);
}

#[tokio::test]
async fn silent_connections_are_closed_and_make_room_for_others() {
    let config = Config { max_connections: 1, handshake_timeout_ms: 100, ..Config::default() };
    let host = Host::start(config).await;
    let mut silent = TcpStream::connect(host.address).await.unwrap();
    let mut dribbling = TcpStream::connect(host.address).await.unwrap();
    dribbling.write_all(b"PRI").await.unwrap();
    // Both hold up the only place there is, one after the other, and then no longer.
    let reply = soon(host.client().get_server_info(v1::GetServerInfoRequest {})).await;
    assert!(reply.is_ok(), "{reply:?}");
    for connection in [&mut silent, &mut dribbling] {
        let mut rest = Vec::new();
        // The server may have said its own first words; then it hung up.
        let _ = soon(connection.read_to_end(&mut rest)).await;
    }
}
