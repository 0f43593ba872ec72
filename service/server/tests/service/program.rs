//! The program `herdsmand`: what it prints, what it returns, how it takes signals.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    net::TcpListener,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use herdsman_proto::v1::{GetServerInfoRequest, solver_service_client::SolverServiceClient};
use tonic::transport::Endpoint;

use crate::{host::soon, metrics::get};

pub(crate) fn herdsmand(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_herdsmand"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts it on a free port and reads the address off its banner.
pub(crate) fn start(args: &[&str]) -> (Child, String) {
    started(herdsmand(&["--listen", "127.0.0.1:0"]).args(args))
}

/// Starts a command that becomes herdsmand on a free port.
pub(crate) fn started(command: &mut Command) -> (Child, String) {
    let mut child = command.spawn().unwrap();
    let mut banner = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    banner.read_line(&mut line).unwrap();
    let address = line.trim().rsplit(' ').next().unwrap().to_owned();
    let mut rest = String::new();
    banner.read_line(&mut rest).unwrap();
    assert!(
        rest.contains(&format!("herdsman guess 0123=0b1c --server http://{address}")),
        "{rest}"
    );
    (child, address)
}

pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn it_serves_until_it_is_terminated_and_logs_a_json_line_a_call() {
    let (mut child, address) = start(&[]);
    let mut client = SolverServiceClient::new(
        Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap(),
    );
    let mut request = tonic::Request::new(GetServerInfoRequest {});
    request.metadata_mut().insert("x-request-id", "order-66".parse().unwrap());
    client.get_server_info(request).await.unwrap();
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));

    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let call = lines.iter().find(|line| line["message"] == "call").expect(&log);
    assert_eq!(call["method"], "herdsman.v1.SolverService/GetServerInfo");
    assert_eq!((&call["code"], &call["request_id"]), (&"OK".into(), &"order-66".into()));
    assert!(call["ms"].is_number() && call["peer"].is_string(), "{call}");
}

#[tokio::test]
async fn nobody_waits_for_whoever_does_not_read_the_log() {
    let metrics = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let listen = metrics.to_string();
    let (mut child, address) = start(&["--max-log-lines", "10", "--metrics-listen", &listen]);
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let mut client = SolverServiceClient::new(endpoint.connect().await.unwrap());
    // Much more than a pipe holds.
    for _ in 0..2000 {
        soon(client.get_server_info(GetServerInfoRequest {})).await.unwrap();
    }
    let page = get(metrics, "").await.1;
    let left_out =
        page.lines().find_map(|line| line.strip_prefix("herdsman_log_lines_left_out_total "));
    assert!(left_out.unwrap().parse::<u32>().unwrap() > 1000, "{left_out:?}");
    signal(&child, "-TERM");
    let began = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // It has no call to wait for.
    assert!(began.elapsed() < Duration::from_secs(8));
}

#[test]
fn a_lone_word_that_is_no_level_is_no_filter_of_the_log() {
    for (filter, wrong) in [("verbose", "verbose"), ("warning", "warning"), ("info,foo", "foo")] {
        let output = herdsmand(&["--log", filter, "--check-config"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{filter}");
        let error = text(&output);
        assert!(
            error.contains(&format!("`{wrong}` is no level")) && error.contains("debug"),
            "{error}"
        );
    }
    for filter in ["WARN", "info,herdsman_server=debug", "off", "info,[call{code}]=debug"] {
        let output = herdsmand(&["--log", filter, "--check-config"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{filter}: {}", text(&output));
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let (mut child, _) = start(&["--drain-ms", "600000"]);
    signal(&child, "-INT");
    let log = BufReader::new(child.stderr.take().unwrap());
    let stopping = log.lines().any(|line| line.unwrap().contains("stopping"));
    assert!(stopping && child.try_wait().unwrap().is_none());
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_port_in_use_is_one_clear_sentence() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = herdsmand(&["--listen", &address]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let error = text(&output);
    assert!(
        error.contains(&address) && error.contains("--listen") && error.lines().count() == 1,
        "{error}"
    );
}

#[test]
fn settings_that_cannot_be_used_are_all_told_and_nothing_is_begun() {
    let files = [
        ("broken", "max_turns = = 3", "max_turns"),
        ("unknown", "max_turn = 3", "max_turn"),
        ("range", "max_turns = 0", "max_turns"),
        ("kind", "max_turns = []", "max_turns"),
        ("twice", "max_turns = 3\nmax_turns = 3", "max_turns"),
        ("section", "[max_turns]", "max_turns"),
    ];
    let scratch = env!("CARGO_TARGET_TMPDIR");
    let files = files.map(|(name, text, key)| {
        let path = format!("{scratch}/{name}.toml");
        std::fs::write(&path, text).unwrap();
        (["--config".to_owned(), path], key)
    });
    let flags = [
        (["--max-turns", "65"], "--max-turns"),
        (["--max-turn", "6"], "--max-turn"),
        (["--max-queue", "many"], "--max-queue"),
        (["--listen", "here"], "--listen"),
        (["--dictionary", "One=x"], "--dictionary"),
        (["--config", "no-such-file"], "no-such-file"),
        (["--config", scratch], "--config"),
    ];
    let flags = flags.map(|(args, key)| (args.map(str::to_owned), key));
    for (args, key) in files.iter().chain(&flags) {
        let output = herdsmand(&[&args[0], &args[1], "--dictionary", "a=no-such-list"])
            .env("HERDSMAN_THREADS", "many")
            .output()
            .unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
        let error = text(&output);
        assert!(error.contains(key) && error.contains("HERDSMAN_THREADS"), "{args:?}: {error}");
        assert!(!error.contains("no-such-list"), "{args:?}: {error}");
    }
}

#[test]
fn a_check_reads_all_that_a_server_reads_and_serves_nothing() {
    let output = herdsmand(&["--check-config"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"ok\n"[..]));
    let output = herdsmand(&["--check-config", "--dictionary", "a=no-such-file"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(text(&output).contains("a: no-such-file"), "{}", text(&output));
    let args = ["--check-config", "--dictionary", "a=no-list", "--tokens", "no-tokens"];
    let tls = ["--tls-cert", "no-cert", "--tls-key", "no-key"];
    let output = herdsmand(&[&args[..], &tls].concat()).output().unwrap();
    for file in ["no-list", "no-tokens", "no-cert"] {
        assert!(text(&output).contains(file), "{file}: {}", text(&output));
    }
    let here = env!("CARGO_MANIFEST_DIR");
    for (path, fault) in [
        (here.to_owned(), "is a directory"),
        (format!("{here}/Cargo.toml"), "not written by herdsmand"),
        (format!("{here}/no-such-place/answers"), "No such file"),
    ] {
        let output = herdsmand(&["--check-config", "--cache-file", &path]).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{path}");
        let told = text(&output);
        assert!(told.contains("--cache-file") && told.contains(fault), "{path}: {told}");
    }
    let fit = concat!(env!("CARGO_TARGET_TMPDIR"), "/checked-answers");
    let output = herdsmand(&["--check-config", "--cache-file", fit]).output().unwrap();
    assert_eq!((output.status.code(), std::fs::exists(fit).unwrap()), (Some(0), false));
}

#[test]
fn printed_settings_are_a_file_of_settings() {
    let printed = herdsmand(&["--print-config"]).env("HERDSMAN_MAX_PAIRS", "7").output().unwrap();
    assert_eq!((printed.status.code(), printed.stderr.len()), (Some(0), 0));
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/printed.toml");
    std::fs::write(path, &printed.stdout).unwrap();
    let again = herdsmand(&["--print-config", "--config", path]).output().unwrap();
    let again = String::from_utf8(again.stdout).unwrap();
    assert!(again.contains("\nmax_pairs = 7\n"), "{again}");
}

#[test]
fn dictionaries_that_cannot_be_read_are_all_told_before_it_listens() {
    let output = herdsmand(&["--listen", "127.0.0.1:0"])
        .env("HERDSMAN_DICTIONARY", "one=no-such-file;two=nor-this,guesses=neither")
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let error = text(&output);
    assert!(error.contains("one: no-such-file") && error.contains("two: nor-this"), "{error}");
}
