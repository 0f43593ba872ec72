//! Solve: what is proven, how it is told, and how a search ends before its time.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use herdsman_engine::Rules;
use herdsman_proto::{
    text,
    v1::{self, Objective, Source, solve_response::Event},
};
use herdsman_server::Config;
use hyper_util::{client::legacy::Client as HttpClient, rt::TokioExecutor};
use tonic::{Code, Request, Status, Streaming};

use crate::{
    errors::check,
    host::{Client, Host, answer, codes, guess_request, preset, service, soon, turns},
    work::RELEASED,
};

const OPTIMAL: &str = include_str!("../../../engine/tests/golden/optimal.tsv");
const ENDGAMES: &str = include_str!("../../../engine/tests/golden/endgames.tsv");
/// Games of more codes are for the tests of the engine.
const SMALL: usize = 500;

fn request(rules: Option<v1::Rules>, history: &str) -> v1::SolveRequest {
    v1::SolveRequest { rules, history: turns(history), ..Default::default() }
}

/// A search of many seconds.
fn long_solve() -> v1::SolveRequest {
    v1::SolveRequest { no_book: true, ..request(preset("bulls-and-cows"), "") }
}

async fn start(
    client: &Client,
    request: impl tonic::IntoRequest<v1::SolveRequest>,
) -> Streaming<v1::SolveResponse> {
    client.clone().solve(request).await.unwrap().into_inner()
}

/// How a stream ends: its result and the nodes before it.
async fn end(
    mut stream: Streaming<v1::SolveResponse>,
) -> Result<(v1::SolveResult, Vec<v1::StrategyNode>), Status> {
    let mut nodes = Vec::new();
    loop {
        match soon(stream.message()).await?.expect("a result comes last").event.unwrap() {
            Event::Progress(_) => assert!(nodes.is_empty(), "progress is told while there is some"),
            Event::Tree(part) => nodes.extend(part.nodes),
            Event::Result(result) => {
                assert!(stream.message().await.unwrap().is_none());
                return Ok((result, nodes));
            }
        }
    }
}

async fn solve(
    client: &Client,
    request: v1::SolveRequest,
) -> (v1::SolveResult, Vec<v1::StrategyNode>) {
    end(start(client, request).await).await.unwrap()
}

async fn refused(client: &Client, request: v1::SolveRequest) -> Status {
    match client.clone().solve(request).await {
        Ok(stream) => end(stream.into_inner()).await.unwrap_err(),
        Err(status) => status,
    }
}

/// Plays a tree against every code of a game: how many are found at guess 1, 2, and so on.
fn replay(rules: &Rules, nodes: &[v1::StrategyNode], secrets: &[String]) -> Vec<i32> {
    let edges: HashMap<_, _> = (1..)
        .zip(&nodes[1..])
        .map(|(at, node)| ((node.parent, text::feedback(node.feedback.as_ref().unwrap())), at))
        .collect();
    let mut histogram = Vec::new();
    for secret in secrets {
        let (mut at, mut guesses) = (0, 1);
        while nodes[at as usize].guess != *secret {
            let guess = rules.code(&nodes[at as usize].guess).unwrap();
            let class = rules.score(&guess, &rules.code(secret).unwrap());
            let answer = answer(rules.answers().feedback(class));
            at = edges[&(at, text::feedback(&answer))];
            guesses += 1;
        }
        if histogram.len() < guesses {
            histogram.resize(guesses, 0);
        }
        histogram[guesses - 1] += 1;
    }
    histogram
}

#[tokio::test]
async fn what_is_proven_of_small_games_is_known_from_elsewhere_and_the_tree_plays_it() {
    let (_host, mut client) = service().await;
    for row in OPTIMAL.lines().filter(|row| !row.starts_with('#')) {
        let columns: Vec<_> = row.split('\t').collect();
        let [length, symbols, repeats, feedback, total, max] = columns[..] else { panic!("{row}") };
        let alphabet = &"0123456789"[..symbols.parse().unwrap()];
        let mut rules = codes(alphabet, length.parse().unwrap(), repeats == "repeats");
        if feedback == "bulls" {
            rules.as_mut().unwrap().feedback = v1::FeedbackRule::Bulls.into();
        }
        let listing =
            v1::FilterRequest { rules: rules.clone(), page_size: 10_000, ..Default::default() };
        let secrets = client.filter(listing).await.unwrap().into_inner().candidates;
        if secrets.len() > SMALL {
            continue;
        }
        let request = v1::SolveRequest { no_book: true, include_tree: true, ..request(rules, "") };
        let (result, nodes) = solve(&client, request).await;
        assert_eq!(result.total.to_string(), total, "{row}");
        // The column has the worst case of one strategy with this total; ours has the least.
        assert!(max == "-" || result.max <= max.parse().unwrap(), "{row}");
        assert!((result.mean - f64::from(result.total) / secrets.len() as f64).abs() < 1e-9);
        assert_eq!((result.proven, result.source()), (true, Source::Computed));
        assert_eq!(nodes.len(), result.tree_nodes as usize);
        assert_eq!((nodes[0].parent, &nodes[0].guess), (-1, &result.first_guess));
        let spec = herdsman_engine::CodeSpec {
            alphabet: alphabet.to_owned(),
            length: length.parse().unwrap(),
            repeats: repeats == "repeats",
            not_first: String::new(),
        };
        let rule = match feedback {
            "bulls" => herdsman_engine::FeedbackRule::Bulls,
            _ => herdsman_engine::FeedbackRule::Pegs,
        };
        let rules = Rules::codes(&spec, rule).unwrap();
        assert_eq!(replay(&rules, &nodes, &secrets), result.histogram, "{row}");
    }
}

#[tokio::test]
async fn a_book_answers_from_the_first_guess_on_and_within_a_bound_that_it_keeps() {
    let (host, client) = service().await;
    for (max_guesses, total, max, source) in
        [(0, 5625, 6, Source::Book), (6, 5625, 6, Source::Book), (5, 5626, 5, Source::Computed)]
    {
        let request = v1::SolveRequest { max_guesses, ..request(preset("mastermind"), "") };
        let (result, nodes) = solve(&client, request).await;
        assert_eq!((result.total, result.max, result.source()), (total, max, source));
        assert!(nodes.is_empty() && result.tree_nodes == 0, "nobody asked for the tree");
    }
    let (result, _) = solve(&client, request(preset("bulls-and-cows"), "")).await;
    assert_eq!((result.total, result.max, result.source()), (26274, 7, Source::Book));
    assert_eq!(host.stats.borrow().panicked, 0);
}

#[tokio::test]
async fn a_large_tree_comes_in_parts() {
    let (_host, client) = service().await;
    let request = v1::SolveRequest { include_tree: true, ..request(preset("bulls-and-cows"), "") };
    let mut stream = start(&client, request).await;
    let mut parts = Vec::new();
    let result = loop {
        match soon(stream.message()).await.unwrap().unwrap().event.unwrap() {
            Event::Tree(part) => parts.push(part.nodes.len()),
            Event::Result(result) => break result,
            Event::Progress(_) => {}
        }
    };
    assert!(parts.len() > 1, "{parts:?}");
    assert_eq!(parts.iter().sum::<usize>(), result.tree_nodes as usize);
}

#[tokio::test]
async fn a_search_begins_where_the_turns_lead() {
    let (_host, client) = service().await;
    for row in ENDGAMES.lines().filter(|row| !row.starts_with('#')) {
        let columns: Vec<i32> = row.split('\t').map(|column| column.parse().unwrap()).collect();
        let [bulls, cows, candidates, guesses] = columns[..] else { panic!("{row}") };
        let request = v1::SolveRequest {
            objective: Objective::WorstCase.into(),
            ..request(codes("0123456789", 4, false), &format!("1234={bulls}b{cows}c"))
        };
        let (result, _) = solve(&client, request).await;
        // The row counts the first guess too.
        assert_eq!(result.max + 1, guesses, "{row}");
        assert_eq!(result.histogram.iter().sum::<i32>(), candidates, "{row}");
    }
    let (won, _) = solve(&client, request(preset("bulls-and-cows"), "0123=4b0c")).await;
    assert_eq!((won.total, won.proven, won.first_guess.as_str()), (0, true, ""));
}

#[tokio::test]
async fn each_objective_is_best_at_its_own() {
    let (_host, client) = service().await;
    let solved = async |objective: Objective, max_guesses| {
        let request = v1::SolveRequest {
            objective: objective.into(),
            max_guesses,
            ..request(preset("mastermind"), "")
        };
        solve(&client, request).await.0
    };
    let expected = solved(Objective::Expected, 0).await;
    let worst = solved(Objective::WorstCase, 0).await;
    let fewest = solved(Objective::FewestAtMax, 0).await;
    assert_eq!((expected.total, expected.max), (5625, 6));
    assert_eq!((worst.total, worst.max, fewest.max), (5626, 5, 5));
    assert!(fewest.total >= worst.total && fewest.histogram[4] <= worst.histogram[4]);
    assert_eq!(solved(Objective::Expected, 5).await.total, 5626);
    let none = solved(Objective::Unspecified, 4).await;
    assert_eq!((none.impossible, none.proven, none.total), (true, true, 0));
}

#[tokio::test]
async fn threads_and_memory_change_no_answer() {
    let (_host, client) = service().await;
    let with = async |threads, memo_bytes| {
        let request = v1::SolveRequest {
            no_book: true,
            include_tree: true,
            limits: Some(v1::SolveLimits { threads, memo_bytes }),
            ..request(preset("bulls-and-cows-3"), "")
        };
        solve(&client, request).await
    };
    let all = with(0, 0).await;
    assert_eq!(with(1, 100_000).await, all);
    assert_eq!(with(2, i64::MAX).await, all);
    assert_eq!(with(i32::MAX, 1).await, all);
}

#[tokio::test]
async fn progress_is_told_while_a_search_runs() {
    let (_host, client) = service().await;
    let mut stream = start(&client, long_solve()).await;
    let mut last = v1::SolveProgress::default();
    for _ in 0..3 {
        let event = soon(stream.message()).await.unwrap().unwrap().event;
        let Some(Event::Progress(progress)) = event else { panic!("{event:?}") };
        assert!(progress.elapsed_ms > last.elapsed_ms && progress.nodes >= last.nodes);
        assert!(progress.best_total.is_none_or(|best| best >= progress.bound_total));
        last = progress;
    }
}

#[tokio::test]
async fn a_caller_that_leaves_stops_the_search() {
    let (host, client) = service().await;
    for _ in 0..3 {
        let stream = start(&client, long_solve()).await;
        host.when(|stats| stats.running == 1).await;
        let left = Instant::now();
        drop(stream);
        host.when(|stats| stats.running == 0).await;
        assert!(left.elapsed() < RELEASED);
    }
}

#[tokio::test]
async fn a_deadline_ends_the_search_and_is_longer_than_that_of_other_calls() {
    let config = Config { max_deadline_ms: 20, max_solve_deadline_ms: 600, ..Config::default() };
    let host = Host::start(config).await;
    let mut own = Request::new(long_solve());
    own.metadata_mut().insert("grpc-timeout", "300m".parse().unwrap());
    for (request, allowed) in [(own, 300), (Request::new(long_solve()), 600)] {
        let began = Instant::now();
        let mut stream = start(&host.client(), request).await;
        let first = soon(stream.message()).await.unwrap().unwrap();
        assert!(matches!(first.event, Some(Event::Progress(_))), "{first:?}");
        let status = end(stream).await.unwrap_err();
        check(&status, Code::DeadlineExceeded, "DEADLINE_EXCEEDED", &[]);
        assert!(began.elapsed() < Duration::from_millis(allowed) + RELEASED);
        let ended = Instant::now();
        host.when(|stats| stats.running == 0).await;
        assert!(ended.elapsed() < RELEASED);
    }
}

#[tokio::test]
async fn a_caller_that_takes_nothing_keeps_no_deadline_from_coming() {
    let (host, _) = service().await;
    let mut deaf = HttpClient::builder(TokioExecutor::new());
    let deaf = deaf.http2_only(true).http2_initial_stream_window_size(0).build_http();
    let mut request = Request::new(long_solve());
    request.metadata_mut().insert("grpc-timeout", "1500m".parse().unwrap());
    let _stream = start(&Client::with_origin(deaf, host.uri()), request).await;
    host.when(|stats| stats.running == 1).await;
    let began = Instant::now();
    host.when(|stats| stats.running == 0).await;
    assert!(began.elapsed() < Duration::from_millis(1500) + RELEASED);
}

#[tokio::test]
async fn a_server_that_stops_ends_the_stream_with_unavailable() {
    let host = Host::start(Config { grace_ms: 100, ..Config::default() }).await;
    let stream = start(&host.client(), long_solve()).await;
    host.when(|stats| stats.running == 1).await;
    let mut stats = host.stats.clone();
    host.stop().await;
    check(&end(stream).await.unwrap_err(), Code::Unavailable, "SHUTTING_DOWN", &[]);
    soon(stats.wait_for(|stats| stats.running == 0)).await.unwrap();
}

#[tokio::test]
async fn hints_do_not_wait_for_proofs_and_proofs_wait_in_a_line_of_their_own() {
    let config = Config {
        threads: 1,
        max_queue: 0,
        solve_threads: 1,
        max_solve_queue: 8,
        ..Config::default()
    };
    let host = Host::start(config).await;
    let mut client = host.client();
    let mut streams = vec![start(&client, long_solve()).await];
    host.when(|stats| stats.running == 1).await;
    for waiting in 1..=8 {
        streams.push(start(&client, long_solve()).await);
        host.when(|stats| stats.waiting == waiting).await;
    }
    let status = refused(&client, long_solve()).await;
    check(&status, Code::ResourceExhausted, "OVERLOADED", &[]);
    soon(client.best_next_guess(guess_request(preset("mastermind"), "0011=1b0c"))).await.unwrap();
    drop(streams);
    host.when(|stats| stats.running == 0 && stats.waiting == 0).await;
}

#[tokio::test]
async fn what_cannot_be_solved_is_refused_by_field() {
    let (_host, client) = service().await;
    let asked = |change: fn(&mut v1::SolveRequest)| {
        let mut request = request(preset("mastermind"), "");
        change(&mut request);
        request
    };
    let large = || codes("0123456789", 7, true);
    for (request, reason, field) in [
        (asked(|request| request.rules = None), "INVALID_RULES", "rules"),
        (asked(|request| request.objective = 9), "INVALID_OPTION", "objective"),
        (asked(|request| request.max_guesses = -1), "INVALID_OPTION", "max_guesses"),
        (
            asked(|request| request.limits = Some(v1::SolveLimits { threads: -1, memo_bytes: 0 })),
            "INVALID_OPTION",
            "limits.threads",
        ),
        (
            asked(|request| request.limits = Some(v1::SolveLimits { threads: 0, memo_bytes: -1 })),
            "INVALID_OPTION",
            "limits.memo_bytes",
        ),
        (request(large(), ""), "SPACE_TOO_LARGE", "rules"),
        // A gigabyte of answers.
        (request(preset("super-mastermind"), ""), "SPACE_TOO_LARGE", "rules"),
        // Of anagrams a total tells one from the rest at a time: longer play than a history, and than a stack, has room for.
        (request(Some(anagrams(&["abcde", "fghij"])), ""), "SPACE_TOO_LARGE", "rules"),
    ] {
        let status = refused(&client, request).await;
        check(&status, Code::InvalidArgument, reason, &[field]);
    }
    let status = refused(&client, request(preset("bulls-and-cows"), "0123=4b0c 4567=1b0c")).await;
    check(&status, Code::FailedPrecondition, "CONTRADICTION", &[]);
}

#[tokio::test]
async fn a_first_guess_is_where_the_best_play_begins_and_none_beats_the_best_of_all() {
    let (_host, client) = service().await;
    let rules = || codes("01234", 3, true);
    let ask = |first_guess: &str| v1::SolveRequest {
        rules: rules(),
        first_guess: first_guess.into(),
        include_tree: true,
        ..Default::default()
    };
    let (best, _) = solve(&client, ask("")).await;
    for (guess, as_good) in [(best.first_guess.as_str(), true), ("000", false)] {
        let (result, nodes) = solve(&client, ask(guess)).await;
        assert_eq!((result.first_guess.as_str(), nodes[0].guess.as_str()), (guess, guess));
        assert_eq!(result.total == best.total, as_good, "{guess}: {}", result.total);
        assert!(result.total >= best.total && result.source() == Source::Computed);
    }
    // A book knows the best play only.
    let rules = preset("mastermind");
    let from_book = v1::SolveRequest {
        rules,
        first_guess: "0000".into(),
        history: turns("0012=1b1c"),
        ..ask("")
    };
    assert_eq!(solve(&client, from_book).await.0.source(), Source::Computed);
    let worst = v1::SolveRequest { objective: Objective::WorstCase.into(), ..ask("000") };
    for (request, reason) in [(worst, "INVALID_OPTION"), (ask("005"), "INVALID_CODE")] {
        let status = refused(&client, request).await;
        check(&status, Code::InvalidArgument, reason, &["first_guess"]);
    }
}

/// Words that are all arrangements of the letters of each of these, answered by totals.
fn anagrams(words: &[&str]) -> v1::Rules {
    let mut secrets: Vec<String> = vec![];
    for word in words {
        let mut all = vec![String::new()];
        for _ in word.chars() {
            let longer = |start: &String| {
                let unused = word.chars().filter(|&letter| !start.contains(letter));
                unused.map(|letter| format!("{start}{letter}")).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        secrets.extend(all);
    }
    let words = v1::WordRules { secrets, ..Default::default() };
    let (game, feedback) = (Some(v1::rules::Game::Words(words)), v1::FeedbackRule::Total.into());
    v1::Rules { game, feedback, ..Default::default() }
}
