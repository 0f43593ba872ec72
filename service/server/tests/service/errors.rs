//! Bad requests: each gets its code, its reason, the path of the field, and a sentence.

use herdsman_proto::v1;
use herdsman_server::Config;
use tonic::{Code, Status};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_types::StatusExt as _;

use crate::host::{
    Client, Host, codes, guess_request, long_search, numbers, preset, service, turns, words,
};

/// Checks an error: its code and reason, and the fields it names, in order.
#[track_caller]
pub(crate) fn check(status: &Status, code: Code, reason: &str, fields: &[&str]) {
    assert_eq!(status.code(), code, "{status}");
    assert!(!status.message().is_empty() && !status.message().ends_with('.'), "{status}");
    let details = status.get_error_details();
    let info = details.error_info().expect("every error has an ErrorInfo");
    assert_eq!((info.domain.as_str(), info.reason.as_str()), ("herdsman", reason), "{status}");
    let named = details.bad_request().map_or(&[][..], |bad| &bad.field_violations);
    let named: Vec<_> = named.iter().map(|violation| violation.field.as_str()).collect();
    assert_eq!(named, fields, "{status}");
}

#[track_caller]
fn check_bad(status: &Status, reason: &str, field: &str) {
    check(status, Code::InvalidArgument, reason, &[field]);
}

fn history(guess: &str, bulls: Option<i32>, cows: Option<i32>) -> Vec<v1::Turn> {
    let feedback = Some(v1::Feedback { bulls, cows, ..Default::default() });
    vec![v1::Turn { guess: guess.into(), feedback }]
}

async fn filter(client: &mut Client, rules: Option<v1::Rules>, history: Vec<v1::Turn>) -> Status {
    let request = v1::FilterRequest { rules, history, ..Default::default() };
    client.filter(request).await.unwrap_err()
}

#[tokio::test]
async fn rules_that_make_no_game_are_refused_by_field() {
    let (_host, mut client) = service().await;
    let bulls = |rules: Option<v1::Rules>, feedback| Some(v1::Rules { feedback, ..rules.unwrap() });
    let not_first = |symbols: &str| {
        let codes = v1::CodeRules {
            alphabet: "0123".into(),
            length: 2,
            repeats: true,
            not_first: symbols.into(),
        };
        Some(v1::Rules { game: Some(v1::rules::Game::Codes(codes)), ..Default::default() })
    };
    for (rules, field) in [
        (None, "rules"),
        (Some(v1::Rules::default()), "rules"),
        (preset("chess"), "rules.preset"),
        (codes("", 4, false), "rules.codes.alphabet"),
        (codes("0120", 3, false), "rules.codes.alphabet"),
        (codes(&('0'..='z').collect::<String>(), 3, false), "rules.codes.alphabet"),
        (codes("0123", 0, false), "rules.codes.length"),
        (codes("0123", -4, false), "rules.codes.length"),
        (codes("0123", 13, true), "rules.codes.length"),
        (codes("0123", 5, false), "rules.codes.length"),
        (not_first("4"), "rules.codes.not_first"),
        (not_first("00"), "rules.codes.not_first"),
        (not_first("0123"), "rules.codes.not_first"),
        (bulls(preset("mastermind"), 7), "rules.feedback"),
        (bulls(preset("mastermind"), 5), "rules.feedback"),
        (bulls(preset("numbers"), 1), "rules.feedback"),
        (numbers(7, 6), "rules.numbers.max"),
    ] {
        let status = filter(&mut client, rules.clone(), vec![]).await;
        check_bad(&status, "INVALID_RULES", field);
        let request = v1::ScoreRequest { rules, secret: "0123".into(), guess: "0123".into() };
        check_bad(&client.score(request).await.unwrap_err(), "INVALID_RULES", field);
    }
}

#[tokio::test]
async fn a_text_that_is_no_code_of_the_game_is_refused() {
    let (_host, mut client) = service().await;
    let long = "0".repeat(100_000);
    for guess in ["", "012", "01234", "012x", "0112", "🐮🐮🐮🐮", &long] {
        let status =
            filter(&mut client, preset("bulls-and-cows"), history(guess, Some(0), None)).await;
        check_bad(&status, "INVALID_CODE", "history[0].guess");
    }
    let status = filter(
        &mut client,
        preset("bulls-and-cows-no-leading-zero"),
        history("0123", Some(0), None),
    )
    .await;
    check_bad(&status, "INVALID_CODE", "history[0].guess");
    let request = v1::AnalyzeRequest {
        rules: preset("mastermind"),
        guess: "0127".into(),
        ..Default::default()
    };
    check_bad(&client.analyze(request).await.unwrap_err(), "INVALID_CODE", "guess");
}

#[tokio::test]
async fn an_answer_that_cannot_be_is_refused() {
    let (_host, mut client) = service().await;
    for (bulls, cows) in [
        (None, None),
        (Some(3), Some(2)),
        (Some(5), None),
        (Some(3), Some(1)),
        (Some(-1), Some(0)),
        (Some(0), Some(-1)),
        (Some(i32::MAX), Some(i32::MAX)),
    ] {
        let status = filter(&mut client, preset("mastermind"), history("1122", bulls, cows)).await;
        check_bad(&status, "INVALID_FEEDBACK", "history[0].feedback");
    }
    let mut bulls_only = preset("mastermind");
    bulls_only.as_mut().unwrap().feedback = v1::FeedbackRule::Bulls.into();
    let status = filter(&mut client, bulls_only, history("1122", Some(1), Some(0))).await;
    check_bad(&status, "INVALID_FEEDBACK", "history[0].feedback");
    let unanswered = vec![v1::Turn { guess: "1122".into(), feedback: None }];
    let status = filter(&mut client, preset("mastermind"), unanswered).await;
    check_bad(&status, "INVALID_FEEDBACK", "history[0].feedback");
}

#[tokio::test]
async fn options_that_do_not_exist_are_refused() {
    let (_host, mut client) = service().await;
    let good = guess_request(preset("mastermind"), "");
    let limits = Some(v1::SearchLimits { max_scores: -1 });
    for (request, field) in [
        (v1::BestNextGuessRequest { strategy: 99, ..good.clone() }, "strategy"),
        (v1::BestNextGuessRequest { strategy: 7, pool: 2, ..good.clone() }, "pool"),
        (v1::BestNextGuessRequest { tie: -1, ..good.clone() }, "tie"),
        (v1::BestNextGuessRequest { pool: 4, ..good.clone() }, "pool"),
        (v1::BestNextGuessRequest { pool: 3, ..good.clone() }, "pool"),
        (v1::BestNextGuessRequest { level: 5, ..good.clone() }, "level"),
        (v1::BestNextGuessRequest { level: 1, strategy: 1, ..good.clone() }, "level"),
        (v1::BestNextGuessRequest { max_lies: 4, ..good.clone() }, "max_lies"),
        (v1::BestNextGuessRequest { max_lies: -1, ..good.clone() }, "max_lies"),
        (v1::BestNextGuessRequest { top_k: -1, ..good.clone() }, "top_k"),
        (v1::BestNextGuessRequest { limits, ..good.clone() }, "limits.max_scores"),
    ] {
        check_bad(&client.best_next_guess(request).await.unwrap_err(), "INVALID_OPTION", field);
    }
    let page =
        v1::FilterRequest { rules: preset("mastermind"), page_size: 7, ..Default::default() };
    let token = client.filter(page.clone()).await.unwrap().into_inner().next_page_token;
    for (request, field) in [
        (v1::FilterRequest { page_size: -7, ..page.clone() }, "page_size"),
        (v1::FilterRequest { page_token: "7".into(), ..page.clone() }, "page_token"),
        (
            v1::FilterRequest { page_token: token, history: turns("0011=1b1c"), ..page.clone() },
            "page_token",
        ),
    ] {
        check_bad(&client.filter(request).await.unwrap_err(), "INVALID_OPTION", field);
    }
}

#[tokio::test]
async fn requests_beyond_a_limit_are_refused_before_any_work() {
    let (host, mut client) = service().await;
    let pairs = vec![v1::ScorePair::default(); 10_001];
    let request = v1::BatchScoreRequest { rules: preset("mastermind"), pairs };
    check_bad(&client.batch_score(request).await.unwrap_err(), "LIMIT_EXCEEDED", "pairs");
    let list = |count| vec!["0123".to_owned(); count];
    let request = v1::ScoreMatrixRequest {
        rules: preset("mastermind"),
        guesses: list(10_001),
        secrets: list(1000),
    };
    check_bad(&client.score_matrix(request).await.unwrap_err(), "LIMIT_EXCEEDED", "guesses");
    let request = v1::ScoreMatrixRequest {
        rules: preset("mastermind"),
        guesses: list(10_000),
        secrets: list(1001),
    };
    check_bad(&client.score_matrix(request).await.unwrap_err(), "LIMIT_EXCEEDED", "guesses");
    // No cells, but long lists, beside words that a job would read.
    let long: String = (0..5000).map(|number| format!("{number:04} ")).collect();
    let secrets = vec![String::new(); 10_001];
    let request = v1::ScoreMatrixRequest { rules: words(&long, ""), secrets, ..Default::default() };
    check_bad(&client.score_matrix(request).await.unwrap_err(), "LIMIT_EXCEEDED", "secrets");
    let status = filter(&mut client, words(&long, ""), vec![v1::Turn::default(); 65]).await;
    check_bad(&status, "LIMIT_EXCEEDED", "history");
    let history: Vec<_> = std::iter::repeat_n(turns("0123=0b1c"), 10_000).flatten().collect();
    let status = filter(&mut client, preset("mastermind"), history).await;
    check_bad(&status, "LIMIT_EXCEEDED", "history");
    let request =
        v1::BestNextGuessRequest { top_k: 101, ..guess_request(preset("mastermind"), "") };
    check_bad(&client.best_next_guess(request).await.unwrap_err(), "LIMIT_EXCEEDED", "top_k");
    let huge: String = ('0'..).take(64).collect();
    for (rules, guess) in [
        (codes("0123456789", 8, true), "01234567"),
        (codes(&huge, 12, true), "000000000000"),
        (numbers(0, i32::MAX), "0"),
    ] {
        let request = v1::AnalyzeRequest { rules, guess: guess.into(), ..Default::default() };
        let status = client.analyze(request).await.unwrap_err();
        check_bad(&status, "SPACE_TOO_LARGE", "rules");
        assert!(status.message().contains("20000000"), "{status}");
        assert!(status.message().contains("ScoreMatrix"), "{status}");
    }
    let lies = v1::FilterRequest {
        rules: codes("0123456789", 8, true),
        max_lies: 1,
        ..Default::default()
    };
    check_bad(&client.filter(lies).await.unwrap_err(), "SPACE_TOO_LARGE", "rules");
    let status = filter(&mut client, numbers(0, i32::MAX), vec![]).await;
    check_bad(&status, "SPACE_TOO_LARGE", "rules");
    assert_eq!(host.stats.borrow().started, 0);
}

#[tokio::test]
async fn an_answer_too_large_to_be_sent_is_told_as_a_limit_with_both_sizes() {
    let host = Host::start(Config { max_reply_bytes: 1024, ..Config::default() }).await;
    let pair = v1::ScorePair { secret: "0123".into(), guess: "3210".into() };
    let request = |count| v1::BatchScoreRequest {
        rules: preset("mastermind"),
        pairs: vec![pair.clone(); count],
    };
    let status = host.client().batch_score(request(1000)).await.unwrap_err();
    check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", &[]);
    assert!(
        status.message().contains("too large") && status.message().contains("1024"),
        "{status}"
    );
    assert!(host.client().batch_score(request(10)).await.is_ok());
}

#[tokio::test]
async fn the_largest_requests_are_answered() {
    let (_host, mut client) = service().await;
    let pair = v1::ScorePair { secret: "0123".into(), guess: "3210".into() };
    let request = v1::BatchScoreRequest { rules: preset("mastermind"), pairs: vec![pair; 10_000] };
    let reply = client.batch_score(request).await.unwrap().into_inner();
    assert_eq!(reply.feedbacks.len(), 10_000);
    let list = |count| vec!["0123".to_owned(); count];
    let request = v1::ScoreMatrixRequest {
        rules: preset("mastermind"),
        guesses: list(10_000),
        secrets: list(1000),
    };
    let reply = client.score_matrix(request).await.unwrap().into_inner();
    assert_eq!(reply.cells.len(), 10_000_000);
}

#[tokio::test]
async fn all_that_is_wrong_is_told_at_once_as_far_as_trailers_hold_it() {
    let (_host, mut client) = service().await;
    let request = v1::BestNextGuessRequest {
        strategy: 99,
        top_k: -1,
        ..guess_request(preset("mastermind"), "0123=5b0c 012=0b0c 0000=0b0c 0127=3b1c")
    };
    let status = client.best_next_guess(request).await.unwrap_err();
    let fields = [
        "history[0].feedback",
        "history[1].guess",
        "history[3].guess",
        "history[3].feedback",
        "strategy",
        "top_k",
    ];
    check(&status, Code::InvalidArgument, "INVALID_FEEDBACK", &fields);
    assert!(status.message().contains("5 more"), "{status}");

    // The longest sentences there are: an alphabet of 64 symbols of four bytes each.
    let alphabet: String = ('𝀀'..).take(64).collect();
    let pairs = vec![v1::ScorePair { secret: "x".repeat(4), guess: "y".repeat(4) }; 10_000];
    let request = v1::BatchScoreRequest { rules: codes(&alphabet, 4, true), pairs };
    let status = client.batch_score(request).await.unwrap_err();
    let named = status.get_error_details().bad_request().unwrap().field_violations.len();
    assert_eq!(named, 8);
    let trailers = status.into_http::<()>().into_parts().0.headers;
    // HTTP/2 counts 32 bytes for each field beside its name and value.
    let bytes: usize =
        trailers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum();
    assert!(bytes < 8192, "{bytes} bytes of trailers");
}

#[tokio::test]
async fn lists_name_the_items_that_are_wrong() {
    let (_host, mut client) = service().await;
    let pair =
        |secret: &str, guess: &str| v1::ScorePair { secret: secret.into(), guess: guess.into() };
    let pairs = vec![pair("0123", "3210"), pair("0123", "9"), pair("8", "0000")];
    let request = v1::BatchScoreRequest { rules: preset("mastermind"), pairs };
    let status = client.batch_score(request).await.unwrap_err();
    check(&status, Code::InvalidArgument, "INVALID_CODE", &["pairs[1].guess", "pairs[2].secret"]);
    let request = v1::ScoreMatrixRequest {
        rules: preset("mastermind"),
        guesses: vec!["0000".into(), "0".into()],
        secrets: vec!["6666".into()],
    };
    let status = client.score_matrix(request).await.unwrap_err();
    check(&status, Code::InvalidArgument, "INVALID_CODE", &["guesses[1]", "secrets[0]"]);
}

#[tokio::test]
async fn a_contradiction_names_the_turn_that_left_nothing() {
    let (_host, mut client) = service().await;
    let rules = preset("bulls-and-cows");
    // In another order it is another turn, although it is the same knowledge.
    for (history, turn) in [("0123=4b0c 4567=1b0c", "2"), ("4567=1b0c 4568=1b0c 0123=4b0c", "3")] {
        let analyze = v1::AnalyzeRequest {
            rules: rules.clone(),
            history: turns(history),
            guess: "0123".into(),
            rate: false,
        };
        for status in [
            client.best_next_guess(guess_request(rules.clone(), history)).await.unwrap_err(),
            client.analyze(analyze.clone()).await.unwrap_err(),
        ] {
            check(&status, Code::FailedPrecondition, "CONTRADICTION", &[]);
            let details = status.get_error_details();
            assert_eq!(details.error_info().unwrap().metadata["turn"], turn);
            assert!(status.message().contains(history.split(' ').next_back().unwrap()), "{status}");
        }
    }
}

#[tokio::test]
async fn work_beyond_threads_and_line_is_refused_at_once_with_a_time_to_retry() {
    let host = Host::start(Config { threads: 1, max_queue: 0, ..Config::default() }).await;
    let mut client = host.client();
    let busy = crate::host::send(&client, long_search());
    host.when(|stats| stats.running == 1).await;
    let status = filter(&mut client, preset("mastermind"), vec![]).await;
    check(&status, Code::ResourceExhausted, "OVERLOADED", &[]);
    assert!(status.get_error_details().retry_info().unwrap().retry_delay.is_some());
    // What takes microseconds is never in the way.
    let request = v1::ScoreRequest {
        rules: preset("mastermind"),
        secret: "0123".into(),
        guess: "0123".into(),
    };
    assert!(client.score(request).await.unwrap().into_inner().solved);
    busy.abort();
    host.when(|stats| stats.running == 0).await;
    let request = v1::FilterRequest { rules: preset("mastermind"), ..Default::default() };
    assert_eq!(client.filter(request).await.unwrap().into_inner().remaining, 1296);
}

#[tokio::test]
async fn calls_beyond_their_number_are_refused_but_health_is_told() {
    let host = Host::start(Config { max_calls: 1, ..Config::default() }).await;
    let mut client = host.client();
    // Those who watch health take no place of the others.
    let mut watching = vec![];
    for _ in 0..3 {
        let mut health = HealthClient::with_origin(host.http(), host.uri());
        watching.push(health.watch(HealthCheckRequest::default()).await.unwrap());
    }
    client.get_server_info(v1::GetServerInfoRequest {}).await.unwrap();
    let _busy = crate::host::send(&client, long_search());
    host.when(|stats| stats.running == 1).await;
    // Over all connections.
    for mut client in [client, host.client()] {
        let status = client.get_server_info(v1::GetServerInfoRequest {}).await.unwrap_err();
        check(&status, Code::ResourceExhausted, "OVERLOADED", &[]);
        assert!(status.get_details_retry_info().is_some());
    }
    let mut health = HealthClient::with_origin(host.http(), host.uri());
    assert!(health.check(HealthCheckRequest::default()).await.is_ok());
}
