//! Right answers to good requests, call by call.

use std::collections::BTreeSet;

use herdsman_engine::{self as engine, Budget, Game, History, Rules, Turn};
use herdsman_proto::{
    text,
    v1::{self, Source, Strategy},
};
use herdsman_server::Config;
use proptest::prelude::*;

use crate::host::{Client, Host, answer, codes, guess_request, preset, service, turns};

#[tokio::test]
async fn a_score_is_bulls_and_cows() {
    let (_host, mut client) = service().await;
    for (secret, guess, answer, solved) in [
        ("5072", "5279", "2b1c", false),
        ("0831", "0831", "4b0c", true),
        ("0123", "4567", "0b0c", false),
    ] {
        let request = v1::ScoreRequest {
            rules: preset("bulls-and-cows"),
            secret: secret.into(),
            guess: guess.into(),
        };
        let reply = client.score(request).await.unwrap().into_inner();
        assert_eq!(
            (text::feedback(&reply.feedback.unwrap()).as_str(), reply.solved),
            (answer, solved)
        );
    }
}

#[tokio::test]
async fn a_batch_is_answered_in_order() {
    let (_host, mut client) = service().await;
    let pairs = [("0011", "1100"), ("0123", "0123"), ("5555", "0005")];
    let pairs =
        pairs.map(|(secret, guess)| v1::ScorePair { secret: secret.into(), guess: guess.into() });
    let request = v1::BatchScoreRequest { rules: preset("mastermind"), pairs: pairs.to_vec() };
    let reply = client.batch_score(request).await.unwrap().into_inner();
    let answers: Vec<_> = reply.feedbacks.iter().map(text::feedback).collect();
    assert_eq!(answers, ["0b4c", "4b0c", "1b0c"]);
}

#[tokio::test]
async fn a_matrix_cell_is_the_score_of_its_row_and_column() {
    let (_host, mut client) = service().await;
    let mut rules = preset("bulls-and-cows-3");
    rules.as_mut().unwrap().feedback = v1::FeedbackRule::Bulls.into();
    let (guesses, secrets) = (["012", "345"], ["012", "210", "945"]);
    let request = v1::ScoreMatrixRequest {
        rules: rules.clone(),
        guesses: guesses.map(String::from).to_vec(),
        secrets: secrets.map(String::from).to_vec(),
    };
    let reply = client.score_matrix(request).await.unwrap().into_inner();
    assert_eq!((reply.bytes_per_cell, reply.cells.len()), (1, 6));
    let mut cells = reply.cells.iter();
    for guess in guesses {
        for secret in secrets {
            let request = v1::ScoreRequest {
                rules: rules.clone(),
                secret: secret.into(),
                guess: guess.into(),
            };
            let score = client.score(request).await.unwrap().into_inner();
            let cell = i32::from(*cells.next().unwrap());
            assert_eq!(
                Some(&reply.legend[cell as usize]),
                score.feedback.as_ref(),
                "{guess} {secret}"
            );
            assert_eq!(cell == reply.winning_class, score.solved);
        }
    }
}

async fn filter(client: &mut Client, request: &v1::FilterRequest) -> v1::FilterResponse {
    client.filter(request.clone()).await.unwrap().into_inner()
}

#[tokio::test]
async fn the_pages_of_a_filter_hold_every_candidate_once_in_order() {
    let (host, mut client) = service().await;
    let other_replica = Host::start(Config::default()).await;
    let mut other_client = other_replica.client();
    let mut request = v1::FilterRequest {
        rules: preset("bulls-and-cows"),
        history: turns("0123=0b1c 9876=0b1c"),
        page_size: 7,
        ..Default::default()
    };
    let mut seen = Vec::new();
    loop {
        // Any replica continues what another one began, whatever the order of the turns.
        std::mem::swap(&mut client, &mut other_client);
        request.history.reverse();
        let page = filter(&mut client, &request).await;
        assert!(page.candidates.len() == 7 || page.next_page_token.is_empty());
        seen.extend(page.candidates);
        if page.next_page_token.is_empty() {
            assert_eq!(seen.len(), page.remaining as usize);
            break;
        }
        request.page_token = page.next_page_token;
    }
    assert!(seen.is_sorted() && seen.iter().collect::<BTreeSet<_>>().len() == seen.len());
    assert!(host.stats.borrow().started > 0);
}

#[tokio::test]
async fn the_size_of_a_page_has_a_default_and_a_limit() {
    let host = Host::start(Config { max_page_size: 300, ..Config::default() }).await;
    let mut client = host.client();
    let request = v1::FilterRequest {
        rules: preset("bulls-and-cows"),
        history: turns("0123=0b1c"),
        ..Default::default()
    };
    for (page_size, count_only, listed) in
        [(0, false, 100), (5, false, 5), (5000, false, 300), (5, true, 0)]
    {
        let request = v1::FilterRequest { page_size, count_only, ..request.clone() };
        let page = filter(&mut client, &request).await;
        assert_eq!((page.remaining, page.candidates.len()), (1440, listed));
        assert_eq!(page.next_page_token.is_empty(), count_only);
    }
}

#[tokio::test]
async fn a_filter_tells_contradiction_from_solution() {
    let (_host, mut client) = service().await;
    for (history, remaining, solved) in [
        ("0123=0b1c", 1440, false),
        ("0123=4b0c", 1, true),
        ("1032=0b4c 0123=4b0c", 1, true),
        ("0123=4b0c 4567=1b0c", 0, false),
    ] {
        let rules = preset("bulls-and-cows");
        let request = v1::FilterRequest { rules, history: turns(history), ..Default::default() };
        let reply = filter(&mut client, &request).await;
        assert_eq!((reply.remaining, reply.solved), (remaining, solved), "{history}");
    }
}

#[tokio::test]
async fn the_best_next_guess_is_the_strategys() {
    let (_host, mut client) = service().await;
    let mut request = guess_request(preset("bulls-and-cows"), "0123=0b1c");
    request.strategy = Strategy::Minimax.into();
    request.top_k = 3;
    let reply = client.best_next_guess(request).await.unwrap().into_inner();
    assert_eq!((reply.remaining, reply.solved, reply.secret.as_str()), (1440, false, ""));
    assert_eq!((reply.strategy(), reply.proof()), (Strategy::Minimax, v1::Proof::Heuristic));
    assert!(reply.exhaustive && reply.suggestions.len() == 3);
    assert_eq!((reply.suggestions[0].guess.as_str(), reply.proven), ("1456", None));
}

#[tokio::test]
async fn nothing_is_suggested_once_the_game_is_solved() {
    let (_host, mut client) = service().await;
    let request = guess_request(preset("mastermind"), "1122=0b1c 2344=4b0c");
    let reply = client.best_next_guess(request).await.unwrap().into_inner();
    assert_eq!((reply.solved, reply.secret.as_str(), reply.remaining), (true, "2344", 1));
    assert!(reply.suggestions.is_empty() && reply.exhaustive);
    assert_eq!(reply.proof(), v1::Proof::Unspecified);
}

#[tokio::test]
async fn the_last_candidate_is_named_as_the_secret() {
    let (_host, mut client) = service().await;
    let request = guess_request(codes("ab", 2, false), "ab=0b2c");
    let reply = client.best_next_guess(request).await.unwrap().into_inner();
    assert_eq!((reply.solved, reply.secret.as_str(), reply.remaining), (false, "ba", 1));
    assert_eq!((reply.suggestions[0].guess.as_str(), reply.proof()), ("ba", v1::Proof::Proven));
}

#[tokio::test]
async fn a_cached_answer_equals_a_fresh_one_but_for_its_source() {
    let (host, mut client) = service().await;
    let mut request = guess_request(preset("bulls-and-cows"), "0123=0b1c 4567=1b1c");
    request.top_k = 10;
    for strategy in [1, 2, 3, 4, 5, 6, 9, 10] {
        request.strategy = strategy;
        let fresh = client.best_next_guess(request.clone()).await.unwrap().into_inner();
        let jobs = host.stats.borrow().started;
        // The same knowledge in another order is the same question.
        request.history.reverse();
        request.history.push(request.history[0].clone());
        let cached = client.best_next_guess(request.clone()).await.unwrap().into_inner();
        request.history.pop();
        assert_eq!((fresh.source(), cached.source()), (Source::Computed, Source::Cache));
        assert_eq!(v1::BestNextGuessResponse { source: fresh.source, ..cached }, fresh);
        assert_eq!(host.stats.borrow().started, jobs);
    }
}

#[tokio::test]
async fn histories_that_are_the_same_by_renaming_share_one_answer_under_their_own_names() {
    let (_host, mut client) = service().await;
    for (strategy, first, other) in [
        (Strategy::Minimax, "0123=0b1c", "9081=0b1c"),
        (Strategy::Entropy, "0123=1b1c 4567=0b2c", "1357=0b2c 9042=1b1c"),
    ] {
        let mut ask = async |history| {
            let mut request = guess_request(preset("bulls-and-cows"), history);
            request.strategy = strategy.into();
            client.best_next_guess(request).await.unwrap().into_inner()
        };
        let (computed, shared) = (ask(first).await, ask(other).await);
        assert_eq!((computed.source(), shared.source()), (Source::Computed, Source::Cache));
        assert_eq!(computed.suggestions[0].facts, shared.suggestions[0].facts);
        let (_fresh_host, mut fresh) = service().await;
        let mut request = guess_request(preset("bulls-and-cows"), other);
        request.strategy = strategy.into();
        let alone = fresh.best_next_guess(request).await.unwrap().into_inner();
        assert_eq!(v1::BestNextGuessResponse { source: alone.source, ..shared }, alone);
    }
}

#[tokio::test]
async fn options_that_a_strategy_does_not_heed_make_no_new_question() {
    let (_host, mut client) = service().await;
    let mut request = guess_request(preset("mastermind"), "0011=1b1c");
    for (strategy, seed, source) in [
        (Strategy::Minimax, 1, Source::Computed),
        (Strategy::Minimax, 2, Source::Cache),
        (Strategy::RandomConsistent, 1, Source::Computed),
        (Strategy::RandomConsistent, 2, Source::Computed),
        (Strategy::RandomConsistent, 1, Source::Cache),
    ] {
        request.strategy = strategy.into();
        request.seed = seed;
        let reply = client.best_next_guess(request.clone()).await.unwrap().into_inner();
        assert_eq!(reply.source(), source, "{strategy:?} {seed}");
    }
}

#[tokio::test]
async fn a_partial_answer_says_so_and_is_never_cached() {
    let (_host, mut client) = service().await;
    let mut request = guess_request(preset("bulls-and-cows"), "0123=0b1c");
    request.strategy = Strategy::Minimax.into();
    request.limits = Some(v1::SearchLimits { max_scores: 10_000 });
    for _ in 0..2 {
        let reply = client.best_next_guess(request.clone()).await.unwrap().into_inner();
        assert_eq!((reply.exhaustive, reply.source()), (false, Source::Computed));
    }
}

#[tokio::test]
async fn an_analysis_shows_every_class_of_the_partition() {
    let (host, mut client) = service().await;
    let request = v1::AnalyzeRequest {
        rules: preset("bulls-and-cows"),
        history: vec![],
        guess: "0123".into(),
        rate: false,
    };
    let reply = client.analyze(request.clone()).await.unwrap().into_inner();
    let rows: Vec<_> = reply
        .partition
        .iter()
        .map(|row| (text::feedback(row.feedback.as_ref().unwrap()), row.count))
        .collect();
    let first: Vec<_> =
        rows.iter().map(|(answer, count)| (answer.as_str(), *count)).take(3).collect();
    assert_eq!(first, [("0b0c", 360), ("0b1c", 1440), ("0b2c", 1260)]);
    assert_eq!((rows.len(), reply.remaining, reply.candidate), (14, 5040, true));
    assert_eq!(rows.iter().map(|(_, count)| count).sum::<i32>(), 5040);
    assert!((reply.partition.iter().map(|row| row.share).sum::<f64>() - 1.0).abs() < 1e-12);
    let jobs = host.stats.borrow().started;
    assert_eq!(client.analyze(request).await.unwrap().into_inner(), reply);
    assert_eq!(host.stats.borrow().started, jobs);
}

#[tokio::test]
async fn a_diagnosis_names_the_turns_that_clash_and_what_repairs_them() {
    let (_host, mut client) = service().await;
    let request = v1::DiagnoseRequest {
        rules: codes("BYGPR", 5, true),
        history: turns("BYGPR=0b5c PRBGY=1b0c"),
    };
    let reply = client.diagnose(request).await.unwrap().into_inner();
    assert_eq!((reply.consistent, reply.remaining, reply.first_conflict_turn), (false, 0, 2));
    assert_eq!(reply.clash, [1, 2]);
    let repairs: Vec<_> =
        reply.repairs.iter().map(|repair| (repair.turn, repair.remaining)).collect();
    assert_eq!(repairs.iter().map(|repair| repair.0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(repairs[1].1, 44);
    let kept = reply.repairs[1]
        .options
        .iter()
        .find(|option| text::feedback(option.feedback.as_ref().unwrap()) == "1b4c");
    assert_eq!(kept.unwrap().count, 18);
}

#[tokio::test]
async fn the_server_tells_its_games_strategies_and_limits() {
    let host = Host::start(Config { max_pairs: 123, ..Config::default() }).await;
    let info =
        host.client().get_server_info(v1::GetServerInfoRequest {}).await.unwrap().into_inner();
    assert_eq!(info.version, env!("CARGO_PKG_VERSION"));
    assert_eq!((info.presets.len(), info.presets[0].codes), (13, 5040));
    assert_eq!(info.levels.len(), 4);
    let default: Vec<_> = info.strategies.iter().filter(|strategy| strategy.default).collect();
    assert_eq!(
        (info.strategies.len(), default.len(), default[0].strategy()),
        (12, 1, Strategy::Optimal)
    );
    let limits = info.limits.unwrap();
    assert_eq!(
        (limits.max_pairs, limits.max_codes, limits.max_deadline_ms),
        (123, 20_000_000, 30_000)
    );
    assert!(limits.max_solve_threads > 0);
    assert!(info.books.iter().any(|book| book.name == "mastermind.expected"
        && book.objective() == v1::Objective::Expected
        && book.rules.as_ref().is_some_and(|rules| rules.game.is_some())));
    assert_eq!((limits.max_solve_deadline_ms, limits.max_solve_memo_bytes), (600_000, 512 << 20));
}

/// Small games of codes, and for each some choices of guess and answer by number.
fn games() -> impl proptest::strategy::Strategy<Value = (usize, i32, bool, usize, Vec<(u32, u32)>)>
{
    (
        2..6_usize,
        1..4_i32,
        any::<bool>(),
        0..4_usize,
        prop::collection::vec((any::<u32>(), any::<u32>()), 0..4),
    )
}

#[test]
fn the_wire_says_what_the_engine_says() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_host, client) = runtime.block_on(service());
    proptest!(ProptestConfig::with_cases(64), |((symbols, length, repeats, rule, picks) in games())| {
        prop_assume!(repeats || length as usize <= symbols);
        let alphabet: String = "aβçδe€".chars().take(symbols).collect();
        let mut wire = codes(&alphabet, length, repeats);
        let (feedback, rule) = [
            (v1::FeedbackRule::Pegs, engine::FeedbackRule::Pegs),
            (v1::FeedbackRule::Bulls, engine::FeedbackRule::Bulls),
            (v1::FeedbackRule::Total, engine::FeedbackRule::Total),
            (v1::FeedbackRule::Marks, engine::FeedbackRule::Marks),
        ][rule];
        wire.as_mut().unwrap().feedback = feedback.into();
        let spec = engine::CodeSpec { alphabet, length, repeats, not_first: String::new() };
        let game = Game::new(Rules::codes(&spec, rule).unwrap(), 10_000).unwrap();
        runtime.block_on(compare(client.clone(), &game, wire, &picks));
    });
}

/// Scores guesses and filters by them, on the wire and beside it. Each pick is a guess and the code that answers it.
pub(crate) async fn compare(
    mut client: Client,
    game: &Game,
    wire: Option<v1::Rules>,
    picks: &[(u32, u32)],
) {
    let rules = game.rules();
    let (mut history, mut messages) = (Vec::new(), Vec::new());
    for (guess, secret) in picks.iter().map(|(a, b)| (a % game.size(), b % game.size())) {
        let (guess, secret) = (game.code(guess), game.code(secret));
        let class = rules.score(&guess, &secret);
        let feedback = Some(answer(rules.answers().feedback(class)));
        let (secret, text) = (rules.text(&secret), rules.text(&guess));
        let request = v1::ScoreRequest { rules: wire.clone(), secret, guess: text.clone() };
        assert_eq!(client.score(request).await.unwrap().into_inner().feedback, feedback);
        history.push(Turn { guess, class });
        messages.push(v1::Turn { guess: text, feedback });
    }
    let expected = game.candidates(&History::new(history).unwrap(), &Budget::unlimited()).unwrap();
    let expected: Vec<_> =
        expected.indices().iter().map(|&index| rules.text(&game.code(index))).collect();
    let request = v1::FilterRequest {
        rules: wire,
        history: messages,
        page_size: 10_000,
        ..Default::default()
    };
    assert_eq!(filter(&mut client, &request).await.candidates, expected);
}
