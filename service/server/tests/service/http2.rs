//! What a connection is held to, frame by frame: it is spoken to without a client of HTTP/2.

use std::time::Duration;

use herdsman_server::Config;
use prost::Message as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};
use tonic::Request;

use crate::{
    host::{Host, guess_request, preset, service, soon},
    limits::{ASK, frame, headers, headers_of, raw, same_headers},
};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
/// Reasons of a reset.
const REFUSED_STREAM: u32 = 7;
const CANCEL: u32 = 8;
/// The reason of an end.
const ENHANCE_YOUR_CALM: u32 = 11;

/// The stream and the payload of the next frame of a kind; nothing if the connection ends before.
async fn next(connection: &mut TcpStream, kind: u8) -> Option<(u32, Vec<u8>)> {
    loop {
        let mut head = [0; 9];
        soon(connection.read_exact(&mut head)).await.ok()?;
        let [a, b, c, found, _, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        soon(connection.read_exact(&mut payload)).await.ok()?;
        if found == kind {
            return Some((u32::from_be_bytes(stream), payload));
        }
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes[..4].try_into().unwrap())
}

#[tokio::test]
async fn a_call_beyond_those_that_a_connection_may_have_is_refused() {
    let host = Host::start(Config { max_streams: 2, ..Config::default() }).await;
    let mut connection = raw(host.address).await;
    connection.write_all(&[headers(1), headers(3), headers(5)].concat()).await.unwrap();
    let (stream, reason) = next(&mut connection, RESET).await.unwrap();
    assert_eq!((stream, number(&reason)), (5, REFUSED_STREAM));
}

#[tokio::test]
async fn headers_beyond_their_size_are_refused_and_the_connection_stays() {
    let (_roomy, mut roomy) = service().await;
    let host = Host::start(Config { max_header_bytes: 1024, ..Config::default() }).await;
    let mut client = host.client();
    let request = || {
        let mut request = Request::new(ASK);
        request.metadata_mut().insert("x-long", "x".repeat(2000).parse().unwrap());
        request
    };
    soon(roomy.get_server_info(request())).await.unwrap();
    assert!(soon(client.get_server_info(request())).await.is_err());
    soon(client.get_server_info(ASK)).await.unwrap();
}

/// A whole call for a guess.
fn guess_call(stream: u32) -> Vec<u8> {
    let question = guess_request(preset("mastermind"), "").encode_to_vec();
    let length = (question.len() as u32).to_be_bytes();
    let message = [&[0], &length[..], &question].concat();
    [headers_of("BestNextGuess", stream), frame(DATA, 1, stream, &message)].concat()
}

/// Makes 15 calls in one go, each followed by this frame, and asserts that the server ends the connection for it.
async fn is_ended_by_calls_with(config: Config, kind: u8, payload: u32) {
    let host = Host::start(config).await;
    let mut connection = raw(host.address).await;
    let call = |stream| [headers(stream), frame(kind, 0, stream, &payload.to_be_bytes())].concat();
    let calls: Vec<u8> = (1..31).step_by(2).flat_map(call).collect();
    connection.write_all(&calls).await.unwrap();
    let (_, reason) = next(&mut connection, GOAWAY).await.unwrap();
    assert_eq!(number(&reason[4..]), ENHANCE_YOUR_CALM);
}

#[tokio::test]
async fn a_connection_that_gives_up_many_calls_at_once_is_ended() {
    let config = Config { max_early_cancels: 3, ..Config::default() };
    is_ended_by_calls_with(config, RESET, CANCEL).await;
}

#[tokio::test]
async fn a_page_that_is_left_may_give_up_all_its_calls_at_once() {
    // RB-115. What is beneath ends a connection for twenty in one turn, unless told otherwise.
    let host = Host::start(Config::default()).await;
    let mut connection = raw(host.address).await;
    connection.write_all(&guess_call(1)).await.unwrap();
    assert_eq!(next(&mut connection, DATA).await.unwrap().0, 1);
    let give_up =
        |stream| [same_headers(stream), frame(RESET, 0, stream, &CANCEL.to_be_bytes())].concat();
    let calls: Vec<u8> = (3..83).step_by(2).flat_map(give_up).collect();
    assert!(calls.len() < 2 << 10, "they are read in one turn");
    connection.write_all(&[calls, guess_call(83)].concat()).await.unwrap();
    assert_eq!(next(&mut connection, DATA).await.expect("it is open").0, 83);
}

#[tokio::test]
async fn a_connection_of_many_faulty_calls_is_ended() {
    let config = Config { max_reset_streams: 3, ..Config::default() };
    // A window that is opened further than windows go.
    is_ended_by_calls_with(config, WINDOW_UPDATE, 0x7fff_ffff).await;
}

#[tokio::test]
async fn a_connection_that_is_silent_after_its_first_words_is_closed() {
    let (keepalive_interval_ms, keepalive_timeout_ms) = (50, 50);
    let config = Config { keepalive_interval_ms, keepalive_timeout_ms, ..Config::default() };
    let host = Host::start(config).await;
    let mut silent = raw(host.address).await;
    // What it was asked meanwhile, and its end.
    let _ = soon(silent.read_to_end(&mut Vec::new())).await;
}

#[tokio::test]
async fn connections_beyond_their_number_wait_for_a_place() {
    let host = Host::start(Config { max_connections: 1, ..Config::default() }).await;
    let mut first = host.client();
    soon(first.get_server_info(ASK)).await.unwrap();
    let mut second = host.client();
    let call = tokio::spawn(async move { second.get_server_info(ASK).await });
    let mut call = Box::pin(call);
    assert!(timeout(Duration::from_millis(300), &mut call).await.is_err(), "there is no place");
    drop(first);
    soon(call).await.unwrap().unwrap();
}

/// Whether a call is answered that comes when the server has said that it ends; nothing if it came after the end.
async fn is_answered_late() -> Option<bool> {
    let host = Host::start(Config::default()).await;
    let mut connection = raw(host.address).await;
    let stopping = host.begin_stop();
    next(&mut connection, GOAWAY).await?;
    connection.write_all(&guess_call(1)).await.ok()?;
    // One that was ended has a status and no message.
    next(&mut connection, HEADERS).await?;
    let (stream, message) = next(&mut connection, DATA).await?;
    drop(connection);
    soon(stopping).await.unwrap().unwrap();
    Some(stream == 1 && message.len() > 5)
}

#[tokio::test]
async fn a_call_that_was_sent_before_its_caller_heard_of_the_end_is_answered() {
    // A machine may be too busy to send it in time.
    for _ in 0..5 {
        if let Some(answered) = is_answered_late().await {
            assert!(answered);
            return;
        }
    }
    panic!("every connection was closed before its call");
}
