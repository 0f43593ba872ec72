//! The built program against a server of its own: what it prints, and what it exits with.

mod games;
mod play;
mod tls;
mod tokens;

use std::{
    collections::HashSet,
    env, fs,
    io::Write as _,
    net::TcpListener,
    path::PathBuf,
    process::{self, Command, Output, Stdio},
    sync::{LazyLock, mpsc},
    thread,
};

use herdsman_server::{Config, Server, Stats};
use serde_json::{Value, json};
use tokio::{runtime::Runtime, sync::watch};

/// The address of a server that lives as long as the tests, with pages small enough to be walked.
static SERVER: LazyLock<String> = LazyLock::new(|| serve().0);

/// The words of its dictionary.
const WORDS: &str = "crane\ncrate\ntrace\nslate\nstare\nbrave\ngrave\n";

/// A file of these tests.
fn file(name: &str, text: &str) -> PathBuf {
    let folder = env::temp_dir().join(format!("herdsman-cli-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

/// Starts such a server; also tells what its threads do.
fn serve() -> (String, watch::Receiver<Stats>) {
    let dictionary = file("words.txt", WORDS).display().to_string();
    let dictionary = vec![format!("words={dictionary}").parse().unwrap()];
    serve_with(Config { max_page_size: 1000, dictionary, ..Config::default() })
}

/// The same with other settings.
fn serve_with(config: Config) -> (String, watch::Receiver<Stats>) {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        Runtime::new().unwrap().block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let server = Server::new(config).unwrap();
            tell.send((listener.local_addr().unwrap(), server.stats())).unwrap();
            server.serve(listener, std::future::pending()).await.unwrap();
        });
    });
    let (address, stats) = told.recv().unwrap();
    (format!("http://{address}"), stats)
}

/// What a run of the program left behind.
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Run {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The program with its arguments, which are separated by spaces.
fn program(server: &str, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_herdsman"));
    command.args(arguments.split_whitespace()).env("HERDSMAN_SERVER", server);
    command
}

/// The one door to the program: its arguments, and its standard input.
fn run(server: &str, arguments: &str, input: &str) -> Run {
    let mut child = program(server, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Who needs no input may be gone before it is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

fn herdsman(arguments: &str) -> Run {
    run(&SERVER, arguments, "")
}

#[track_caller]
fn prints(arguments: &str, out: &str) {
    let run = herdsman(arguments);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), out, ""));
}

/// Checks that a run fails with `code`, prints nothing and says each of `parts`.
#[track_caller]
fn fails(arguments: &str, code: i32, parts: &[&str]) {
    let run = herdsman(arguments);
    assert_eq!((run.code, run.out.as_str()), (Some(code), ""), "{}", run.err);
    for part in parts {
        assert!(run.err.contains(part), "`{part}` is not in: {}", run.err);
    }
}

#[test]
fn score_prints_the_answer() {
    prints("score 5072 5279", "2b1c\n");
    prints("score 5072 5279 --feedback bulls", "2b\n");
    prints("score --rules mastermind 0011 0101", "2b2c\n");
    prints("score --length 3 --alphabet a-cX-Z --repeats aXa XXa", "2b0c\n");
    prints("score --alphabet -+ --repeats --length 4 -- -+-+ ++--", "2b2c\n");
    prints(
        "score 5072 5279 --format jsonl",
        "{\"feedback\":{\"bulls\":2,\"cows\":1},\"solved\":false}\n",
    );
}

#[test]
fn filter_counts_and_lists_what_fits() {
    prints("filter 0123=0b1c --count", "1440\n");
    prints("filter 0123=01 --count", "1440\n");
    prints("filter --limit 3", "0123\n0124\n0125\n");
    prints("filter --limit 2 --not-first 0", "1023\n1024\n");
    let codes = herdsman("filter 0123=0b1c").out;
    let codes: Vec<_> = codes.lines().collect();
    assert_eq!(codes.len(), 1440);
    assert!(codes.is_sorted_by(|a, b| a < b));
}

#[test]
fn filter_puts_pages_together_in_json_and_keeps_them_in_jsonl() {
    let whole = herdsman("filter 0123=0b1c --format json").json();
    assert_eq!((&whole["remaining"], &whole["nextPageToken"]), (&json!(1440), &json!("")));
    let pages = herdsman("filter 0123=0b1c --format jsonl").out;
    let pages: Vec<Value> = pages.lines().map(|page| serde_json::from_str(page).unwrap()).collect();
    let codes = |reply: &Value| reply["candidates"].as_array().unwrap().clone();
    assert_eq!(pages.iter().map(|page| codes(page).len()).collect::<Vec<_>>(), [1000, 440]);
    assert_eq!(pages.iter().flat_map(codes).collect::<Vec<_>>(), codes(&whole));
    let some = herdsman("filter 0123=0b1c --format json --limit 1200").json();
    assert_eq!(codes(&some), codes(&whole)[..1200]);
}

#[test]
fn half_an_answer_is_not_taken_for_a_whole_one() {
    fails("filter 0123=0b", 3, &["half an answer", "0b1c"]);
    let bulls = herdsman("filter 0123=0b --feedback bulls --count");
    assert_eq!(bulls.code, Some(0));
}

#[test]
fn turns_are_read_from_standard_input() {
    let run = run(&SERVER, "filter --count -", "0123=0b1c\n4567=1b1c 4");
    assert_eq!((run.code, run.out.as_str()), (Some(3), ""));
    let run = self::run(&SERVER, "filter --count -", " 0123=0b1c\n");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "1440\n"));
}

#[test]
fn a_contradiction_is_a_negative_answer_of_filter_and_diagnose() {
    let run = herdsman("filter 0123=4b0c 4567=1b0c");
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    assert!(run.err.contains("herdsman diagnose"), "{}", run.err);
    let run = herdsman("filter 0123=4b0c 4567=1b0c --count");
    assert_eq!((run.code, run.out.as_str()), (Some(1), "0\n"));
    let run = herdsman("diagnose 0123=4b0c 4567=1b0c");
    assert_eq!(run.code, Some(1));
    assert!(run.out.starts_with(
        "contradiction: no code is left after turn 2 (4567=1b0c)\n\
         these cannot all be true: turn 1 (0123=4b0c), turn 2 (4567=1b0c)\n"
    ));
    assert!(run.out.contains("\n  4567=0b0c  1 code left\n"), "{}", run.out);
    prints("diagnose 0123=0b1c", "consistent: 1440 codes left\n");
}

#[test]
fn guess_prints_the_guess_on_the_first_line() {
    let run = herdsman("guess --rules mastermind --strategy minimax");
    assert_eq!((run.code, run.out.lines().next()), (Some(0), Some("0011")), "{}", run.err);
    assert!(run.out.contains("at most 256 of 1296"), "{}", run.out);
    let best = herdsman("guess 0123=0b1c --top 3 --strategy entropy");
    let json = herdsman("guess 0123=0b1c --top 3 --strategy entropy --format json").json();
    assert_eq!(best.out.lines().next(), json["suggestions"][0]["guess"].as_str());
    assert_eq!(json["suggestions"].as_array().unwrap().len(), 3);
    assert_eq!(json["strategy"], "STRATEGY_ENTROPY");
    prints("guess 0123=4b0c", "solved: the secret is 0123\n");
}

#[test]
fn ties_and_pools_are_heeded() {
    for only in ["--tie consistent", "--consistent-only", "--consistent-only --tie any"] {
        let json = herdsman(&format!("guess 0123=0b1c --format json {only} --top 9")).json();
        let suggestions = json["suggestions"].as_array().unwrap();
        assert!(suggestions.iter().all(|suggestion| suggestion["candidate"] == true), "{only}");
    }
    fails("guess --strategy optimal --consistent-only", 3, &["--pool: ", "GUESS_POOL_ANY"]);
    let first = herdsman("guess 0123=0b1c --strategy first_consistent").out;
    assert!(first.starts_with("1456\n"), "{first}");
}

#[test]
fn analyze_prints_the_partition_and_the_facts() {
    let run = herdsman("analyze 4561 0123=0b1c");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let json = herdsman("analyze 4561 0123=0b1c --format json").json();
    let rows = json["partition"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["count"].as_u64().unwrap()).sum::<u64>(), 1440);
    assert_eq!(
        run.out.lines().take_while(|line| !line.starts_with("best by")).count(),
        rows.len() + 5
    );
    let worst = rows.iter().map(|row| row["count"].as_u64().unwrap()).max().unwrap();
    assert!(run.out.contains(&format!("\nworst {worst} of 1440, expected ")), "{}", run.out);
}

#[test]
fn analyze_rates_the_guess() {
    let run = herdsman("analyze 0011 --rules mastermind");
    for part in ["minimax        0011   256", "most_parts     0012", "bits"] {
        assert!(run.out.contains(part), "`{part}` is not in: {}", run.out);
    }
    // Whatever is guessed first of two codes that no guess tells apart but they themselves, and of one.
    let run = herdsman("analyze 00 --length 2 --alphabet 01 --repeats");
    assert!(run.out.ends_with("\nproven: no guess is better\n"), "{}", run.out);
    let history = "1234=0b4c 2143=0b4c";
    let run = herdsman(&format!("analyze 5678 {history}"));
    let left = herdsman(&format!("filter --count {history}")).out;
    let costs = format!(
        "\nproven: it costs {0} guesses over {0} secrets against the best play, 1.000 on average\n",
        left.trim()
    );
    assert!(run.out.ends_with(&costs), "{}", run.out);
}

#[test]
fn guess_tells_what_is_proven() {
    let run = herdsman("guess --rules bulls-and-cows");
    assert_eq!(
        run.out.lines().skip(2).collect::<Vec<_>>(),
        [
            "optimal, proven best, from the book",
            "proven: 26274 guesses over 5040 secrets, 5.213 on average, at most 7",
        ]
    );
    let run = herdsman("guess --rules mastermind --strategy optimal_worst_case");
    assert!(
        run.out.contains("\nproven: 5626 guesses over 1296 secrets, 4.341 on average, at most 5\n"),
        "{}",
        run.out
    );
}

#[test]
fn solve_prints_the_first_guess_and_what_is_proven() {
    let run = herdsman("solve --length 3 --alphabet 0-5 --no-book");
    let lines: Vec<_> = run.out.lines().collect();
    assert_eq!(
        (run.code, lines[1], lines[3], run.err.as_str()),
        (
            Some(0),
            "proven: 436 guesses over 120 secrets, 3.633 on average, at most 5",
            "computed",
            ""
        )
    );
    assert_eq!(lines[0].len(), 3);
    prints("solve 0123=4b0c", "solved: nothing is left to guess\n");
    let document = herdsman("solve --rules bulls-and-cows --format json").json();
    assert_eq!(
        (&document["total"], &document["max"], &document["proven"], &document["source"]),
        (&json!(26274), &json!(7), &json!(true), &json!("SOURCE_BOOK"))
    );
    assert_eq!(document["first_guess"], "0123");
    let histogram = document["histogram"].as_array().unwrap();
    assert_eq!(histogram.iter().map(|n| n.as_u64().unwrap()).sum::<u64>(), 5040);
    assert!((document["mean"].as_f64().unwrap() - 26274.0 / 5040.0).abs() < 1e-9);
    assert_eq!(herdsman("solve --rules bulls-and-cows --format jsonl").out.lines().count(), 1);
}

#[test]
fn a_bound_that_no_strategy_keeps_is_a_negative_answer() {
    let run = herdsman("solve --length 2 --alphabet 0-5 --repeats --max 4");
    let said = "proven: no strategy finds every secret with at most 4 guesses\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(1), said, ""));
    let run = herdsman("solve --length 2 --alphabet 0-5 --repeats --max 4 --format json");
    assert_eq!((run.code, &run.json()["impossible"]), (Some(1), &json!(true)));
    let capped = "solve --length 2 --alphabet 0-5 --repeats --format json";
    let [most, free] = ["--max 5", "--objective fewest-at-max"]
        .map(|flag| herdsman(&format!("{capped} {flag}")).json()["max"].clone());
    assert_eq!((most, free), (json!(5), json!(5)));
}

#[test]
fn a_tree_is_written_as_json_or_as_a_graph() {
    // What stood there before, longer or not, is gone.
    let [json, dot] = ["tree.json", "tree.dot"].map(|name| file(name, &"x".repeat(1 << 20)));
    for tree in [&json, &dot] {
        let run = herdsman(&format!("solve --length 2 --alphabet 0-3 --tree {}", tree.display()));
        assert_eq!(run.code, Some(0), "{}", run.err);
    }
    let tree: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(tree["guess"].as_str().unwrap().len(), 2);
    assert!(tree["next"].as_object().unwrap().values().all(|branch| branch["guess"].is_string()));
    let graph = fs::read_to_string(dot).unwrap();
    assert!(graph.starts_with("digraph strategy {\n") && graph.ends_with("}\n"), "{graph}");
    fails("solve --tree tree.txt", 2, &[".json or .dot"]);
    fails("solve --tree /no/such/directory/tree.dot", 2, &["/no/such/directory/tree.dot"]);
}

#[test]
fn a_search_ends_at_its_deadline() {
    let search = "solve --rules bulls-and-cows-repeats --no-book";
    fails(&format!("{search} --timeout 100ms"), 5, &["deadline", "allow more"]);
    fails(&format!("{search} --objective best"), 2, &["fewest-at-max"]);
    fails("solve 0123=4b0c 4567=1b0c", 3, &["turn 2", "4567=1b0c"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_search_on_the_server_too() {
    let (server, mut stats) = serve();
    let running = |count| move |stats: &Stats| stats.running == count;
    let runtime = Runtime::new().unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_herdsman"))
        .args(["solve", "--rules", "bulls-and-cows-repeats", "--no-book", "--server", &server])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    runtime.block_on(stats.wait_for(running(1))).unwrap();
    let interrupt = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    runtime.block_on(stats.wait_for(running(0))).unwrap();
}

#[test]
fn a_server_that_goes_away_during_a_search_exits_with_4_and_what_to_do() {
    let (tell, told) = mpsc::channel();
    let runtime = Runtime::new().unwrap();
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server::new(Config::default()).unwrap();
        tell.send((listener.local_addr().unwrap(), server.stats())).unwrap();
        server.serve(listener, std::future::pending()).await.unwrap();
    });
    let (address, mut stats) = told.recv().unwrap();
    let search = thread::spawn(move || {
        run(&address.to_string(), "solve --rules bulls-and-cows-repeats --no-book", "")
    });
    runtime.block_on(stats.wait_for(|stats| stats.running == 1)).unwrap();
    runtime.shutdown_background();
    let run = search.join().unwrap();
    assert_eq!((run.code, run.out.as_str()), (Some(4), ""), "{}", run.err);
    for part in ["went away", "see that `herdsmand` runs there", "ask again"] {
        assert!(run.err.contains(part), "{}", run.err);
    }
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
}

#[test]
fn info_names_games_and_strategies() {
    let run = herdsman("info");
    for part in [env!("CARGO_PKG_VERSION"), "bulls-and-cows", "1296", "minimax", "20000000"] {
        assert!(run.out.contains(part), "`{part}` is not in: {}", run.out);
    }
}

#[test]
fn a_batch_is_answered_in_order_with_its_errors_in_place() {
    let score = r#"{"method":"Score","request":{"rules":{"preset":"bulls-and-cows"},"#;
    let mut input = String::new();
    for secret in 1000..1100 {
        input += &format!("{score}\"guess\":\"0123\",\"secret\":\"{secret}\"}}}}\n");
    }
    input += "\nnot json\n{\"method\":\"GetServerInfo\"}";
    let run = run(&SERVER, "batch -", &input);
    assert_eq!(run.code, Some(1), "{}", run.err);
    let replies: Vec<Value> =
        run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(replies.len(), 102);
    for (index, (secret, reply)) in (1000..1100).zip(&replies).enumerate() {
        let digits: HashSet<char> = secret.to_string().chars().collect();
        if digits.len() == 4 {
            assert_eq!(reply["solved"], false, "{secret}: {reply}");
        } else {
            let error = &reply["error"];
            assert_eq!(error["line"], index + 1);
            assert_eq!(
                (&error["code"], &error["reason"], &error["violations"][0]["field"]),
                (&json!("INVALID_ARGUMENT"), &json!("INVALID_CODE"), &json!("secret"))
            );
        }
    }
    assert_eq!(replies[100]["error"]["line"], 102);
    assert_eq!(replies[101]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_answer_of_a_stream_in_a_batch_is_its_last_message() {
    let solve =
        r#"{"method":"Solve","request":{"rules":{"preset":"mastermind"},"includeTree":true}}"#;
    let run = run(&SERVER, "batch -", solve);
    let result = run.json()["result"].clone();
    assert_eq!(
        (run.code, &result["total"], &result["proven"]),
        (Some(0), &json!(5625), &json!(true))
    );
}

#[test]
fn a_batch_without_errors_exits_with_0() {
    let run = run(&SERVER, "batch -", "{\"method\":\"GetServerInfo\"}\n\n");
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 1));
    fails("batch /no/such/file", 2, &["/no/such/file"]);
}

#[test]
fn bad_input_exits_with_3_and_names_the_argument() {
    fails("guess 0123", 3, &["`0123` is not a turn", "0123=0b1c"]);
    fails("guess 0123=3b1c", 3, &["turn 1, the answer: "]);
    fails("guess 0123=0b1c 0122=0b1c", 3, &["turn 2, the guess: "]);
    fails("score 0123 012", 3, &["error: the guess: "]);
    fails("filter --rules chess", 3, &["--rules: "]);
    fails("filter --alphabet= --count", 3, &["--alphabet: "]);
    fails("analyze 012345678901 --length 12 --repeats", 3, &["20000000"]);
    fails("guess --top -1", 2, &[]);
    fails("guess --top=-1", 3, &["--top: "]);
    fails("guess 0123=4b0c 4567=1b0c", 3, &["turn 2", "4567=1b0c"]);
}

#[test]
fn wrong_usage_exits_with_2() {
    fails(
        "guess --rules mastermind --length 5",
        2,
        &["--rules", "cannot be used with", "--length"],
    );
    fails("guess --strategy best", 2, &["minimax"]);
    fails("guess --alphabet 9-0", 2, &["write 0-9"]);
    fails("guess --timeout 5", 2, &["200ms, 5s or 2m"]);
    fails("filter --limit 0", 2, &[]);
    fails("info --server ftp://localhost", 2, &["https://"]);
}

#[test]
fn a_deadline_that_passes_exits_with_5() {
    fails("guess --length 7 --repeats --timeout 20ms", 5, &["deadline", "allow more"]);
}

#[test]
fn a_server_that_is_not_there_exits_with_4_and_the_command_that_starts_it() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for command in ["score 5072 5279", "batch -"] {
        let run = run(&free.to_string(), command, "{\"method\":\"GetServerInfo\"}");
        assert_eq!((run.code, run.out.as_str()), (Some(4), ""));
        assert!(run.err.contains(&format!("http://{free}")), "{}", run.err);
        assert!(run.err.contains("`herdsmand`") && run.err.lines().count() == 1, "{}", run.err);
    }
}

#[test]
fn an_empty_variable_names_no_server() {
    let run = run("", "info --help", "");
    assert!(run.out.contains("[default: http://127.0.0.1:50051]"), "{}", run.out);
    let run = self::run("", &format!("score 5072 5279 --server {}", *SERVER), "");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "2b1c\n"));
    let run = self::run("ftp://host", "info", "");
    assert_eq!(run.code, Some(2), "{}", run.err);
    // Typed empty, it is a mistake of a script.
    fails("info --server=", 2, &["is not an address"]);
}

#[test]
fn who_stops_reading_hears_no_complaint() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_herdsman"))
        .args(["filter", "--server", &SERVER])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), [].as_slice()));
}

#[test]
fn completions_need_no_server() {
    let run = run("http://127.0.0.1:1", "completions bash", "");
    assert_eq!(run.code, Some(0));
    assert!(run.out.contains("--consistent-only"));
}
