//! `herdsman load` against a server of its own: what it counts, and what it exits with. No test here measures speed.

use std::{
    process::{Command, Output, Stdio},
    sync::mpsc,
};

use herdsman_server::{Config, Server, Stats};
use serde_json::Value;
use tokio::{net::TcpListener, runtime::Runtime, sync::watch};

/// A server that lives as long as this.
struct Served {
    runtime: Runtime,
    address: String,
    stats: watch::Receiver<Stats>,
}

fn serve(config: Config) -> Served {
    let runtime = Runtime::new().unwrap();
    let (tell, told) = mpsc::channel();
    runtime.spawn(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server::new(config).unwrap();
        tell.send((listener.local_addr().unwrap(), server.stats())).unwrap();
        server.serve(listener, std::future::pending()).await.unwrap();
    });
    let (address, stats) = told.recv().unwrap();
    Served { runtime, address: address.to_string(), stats }
}

fn load(server: &str, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_herdsman"));
    command.arg("load").args(arguments.split_whitespace()).args(["--server", server]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(server: &Served, arguments: &str) -> Output {
    load(&server.address, arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The document of a run, in which the counts of every row add up.
#[track_caller]
fn document(output: &Output) -> Value {
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", said(output)));
    let rows = |name: &str| document[name].as_array().unwrap().clone();
    let all = &document["all"];
    for row in rows("calls").iter().chain(&rows("steps")).chain([all]) {
        let count = |name: &str| row[name].as_u64().unwrap();
        let parts = ["ok", "failed", "unfinished", "missed"].map(count);
        assert_eq!(parts.iter().sum::<u64>(), count("due"), "{row}");
        let codes = row["codes"].as_object().unwrap().values();
        let ended: u64 = codes.map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(ended, count("ok") + count("failed"), "{row}");
    }
    for part in ["calls", "steps"].map(rows).into_iter().filter(|rows| !rows.is_empty()) {
        let due = part.iter().map(|row| row["due"].as_u64().unwrap());
        assert_eq!(Some(due.sum()), all["due"].as_u64());
    }
    document
}

#[test]
fn every_call_that_was_due_is_counted_once() {
    let server = serve(Config::default());
    let mix = "score=4,batch-score,score-matrix,filter,filter-same,guess,guess-same,health";
    let games = "bulls-and-cows=2,mastermind,numbers";
    let arguments = format!(
        "--rate 100..300 --steps 3 --duration 1500ms --warm-up 100ms --pairs 10 --side 5 --seed 7 \
         --mix {mix} --games {games} --format json"
    );
    let [one, other] = [run(&server, &arguments), run(&server, &arguments)];
    assert_eq!(one.status.code(), Some(0), "{}", said(&one));
    let [one, other] = [one, other].map(|output| document(&output));
    assert_eq!((&one["all"]["due"], &one["all"]["ok"]), (&300.into(), &300.into()), "{one}");
    let due = |document: &Value, rows: &str| -> Vec<u64> {
        let rows = document[rows].as_array().unwrap().iter();
        rows.map(|row| row["due"].as_u64().unwrap()).collect()
    };
    assert_eq!(due(&one, "steps"), [50, 100, 150]);
    assert!(due(&one, "calls").iter().all(|&count| count > 0), "{one}");
    // The same seed, the same calls.
    assert_eq!(due(&one, "calls"), due(&other, "calls"));
}

#[test]
fn callers_ask_again_when_they_are_answered() {
    let server = serve(Config::default());
    let arguments = "--closed 3 --duration 200ms --mix health --format jsonl";
    let output = run(&server, arguments);
    let document = document(&output);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(document["all"]["ok"].as_u64() > Some(3), "{document}");
    assert_eq!(document["all"]["missed"], 0);
    assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1);
}

#[test]
fn a_call_without_a_place_is_missed_and_not_forgotten() {
    let server = serve(Config::default());
    let arguments = "--rate 100000 --duration 100ms --outstanding 1 --format json";
    let all = document(&run(&server, arguments))["all"].clone();
    assert_eq!(all["due"], 10_000);
    assert!(all["missed"].as_u64() > Some(0), "{all}");
}

#[test]
fn a_threshold_that_is_crossed_exits_with_1_and_says_which() {
    let server = serve(Config::default());
    let quick = "--rate 100 --duration 200ms --mix score,health";
    let kept = "--p99 1m,health=1m --errors 0% --goodput 100%";
    let output = run(&server, &format!("{quick} {kept}"));
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(0), ""));
    let crossed = [("--p99 health=0.0001ms", "p99 of health"), ("--goodput 101", "less than 101")];
    for (threshold, part) in crossed {
        let output = run(&server, &format!("{quick} {threshold}"));
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains(part), "{}", said(&output));
    }
}

#[test]
fn refusals_are_counted_by_code() {
    let server = serve(Config { threads: 1, max_queue: 1, ..Config::default() });
    let dear = "--closed 16 --duration 500ms --mix guess --games super-mastermind --turns 1";
    let output = run(&server, &format!("{dear} --errors 0% --format json"));
    let document = document(&output);
    assert_eq!(output.status.code(), Some(1), "{document}");
    assert!(document["all"]["codes"]["RESOURCE_EXHAUSTED"].as_u64() > Some(0), "{document}");
    assert!(document["crossed"][0].as_str().unwrap().starts_with("errors: "), "{document}");
}

#[test]
fn what_is_wrong_is_told_before_any_load() {
    let server = serve(Config::default());
    for (arguments, code, part) in [
        ("--games chess", 3, "--games chess: --rules: "),
        ("--games wordle:nothing", 3, "--games wordle:nothing: --dictionary"),
        ("--mix batch-score --pairs 10001", 3, "--pairs: pairs"),
        ("--mix score-matrix --side 9000", 3, "--side: "),
        ("--mix guess --strategy optimal --consistent-only", 3, "--pool"),
        ("--rate 5 --steps 3", 2, "--rate A..B"),
        ("--mix score,score", 2, "stands there twice"),
        ("--mix score --p99 guess=1ms", 2, "no guess in --mix"),
        ("--mix chess", 2, "batch-score"),
        ("--closed 5 --rate 5", 2, "--rate"),
    ] {
        let output = run(&server, arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {}", said(&output));
        assert!(said(&output).contains(part), "{arguments}: {}", said(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_table_is_for_people_and_a_csv_for_sheets() {
    let server = serve(Config::default());
    let quick = "--rate 100 --duration 100ms --mix score,health";
    let text = String::from_utf8(run(&server, quick).stdout).unwrap();
    assert!(text.contains("\n10 calls were due in 0.1 s; "), "{text}");
    let table = String::from_utf8(run(&server, &format!("{quick} --format csv")).stdout).unwrap();
    let names: Vec<_> = table.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(names, ["name", "score", "health", "all"]);
}

#[test]
fn a_dead_server_exits_with_4_also_where_it_died_under_the_load() {
    let Served { runtime, address, mut stats } = serve(Config::default());
    let arguments = "--rate 100 --duration 3s --mix guess --format json --errors 1%";
    let child = load(&address, arguments).spawn().unwrap();
    runtime.block_on(stats.wait_for(|stats| stats.started >= 20)).unwrap();
    runtime.shutdown_background();
    let output = child.wait_with_output().unwrap();
    let all = document(&output)["all"].clone();
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(all["codes"]["OK"].as_u64() > Some(0), "{all}");
    assert!(all["codes"]["UNAVAILABLE"].as_u64() > Some(0), "{all}");
    assert!(said(&output).contains("more than 1%"), "{}", said(&output));

    let output = load(&address, arguments).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(4), [].as_slice()));
}

#[test]
fn a_server_without_room_is_waited_for_before_the_load_begins() {
    // What a load must know first takes more calls than it lets in at once.
    let config = Config { rate_per_second: 5, rate_burst: 1, ..Config::default() };
    let output = run(&serve(config), "--rate 5 --duration 1s --mix score,health --format json");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(document(&output)["all"]["due"], 5);
    // A hasty load takes its time to get ready.
    let output = run(&serve(Config::default()), "--duration 200ms --timeout 1ms --format json");
    assert!(document(&output)["all"]["due"].as_u64() > Some(0), "{}", said(&output));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_run_with_what_there_is() {
    let mut server = serve(Config::default());
    let arguments = "--rate 100..200 --duration 60m --mix guess --format json";
    let child = load(&server.address, arguments).spawn().unwrap();
    server.runtime.block_on(server.stats.wait_for(|stats| stats.started >= 20)).unwrap();
    let interrupt = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let document = document(&output);
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert_eq!(document["interrupted"], true);
    assert!(document["all"]["ok"].as_u64() > Some(0), "{document}");
    // Of the others there is nothing to tell.
    assert_eq!(document["steps"].as_array().map(Vec::len), Some(1), "{document}");
}
