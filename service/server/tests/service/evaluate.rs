//! Evaluate and Duel: how players fare over all games, how it is told, and how it ends before its time.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use herdsman_proto::v1::{self, Level, Strategy, duel_response, evaluate_response::Event};
use herdsman_server::Config;
use tonic::{Code, Request, Status, Streaming};

use crate::{
    errors::check,
    host::{Client, Host, codes, guess_request, numbers, preset, service, soon, turns, words},
    play::player,
    work::RELEASED,
};

const HEURISTICS: &str = include_str!("../../../engine/tests/golden/heuristics.tsv");

fn evaluation(rules: Option<v1::Rules>, strategy: Strategy) -> v1::EvaluateRequest {
    v1::EvaluateRequest { rules, player: player(strategy), ..Default::default() }
}

/// An evaluation of many seconds: 151,200 codes, each a guess at each.
fn long_evaluation() -> v1::EvaluateRequest {
    evaluation(codes("0123456789", 6, false), Strategy::Entropy)
}

/// How a stream ends.
async fn end(mut stream: Streaming<v1::EvaluateResponse>) -> Result<v1::Evaluation, Status> {
    loop {
        match soon(stream.message()).await?.expect("a result comes last").event.unwrap() {
            Event::Progress(_) => {}
            Event::Result(result) => {
                assert!(stream.message().await.unwrap().is_none());
                return Ok(result);
            }
        }
    }
}

async fn evaluate(client: &Client, request: v1::EvaluateRequest) -> Result<v1::Evaluation, Status> {
    end(client.clone().evaluate(request).await?.into_inner()).await
}

async fn duel(client: &Client, request: v1::DuelRequest) -> Result<v1::DuelResult, Status> {
    let mut stream = client.clone().duel(request).await?.into_inner();
    loop {
        match soon(stream.message()).await?.expect("a result comes last").event.unwrap() {
            duel_response::Event::Progress(_) => {}
            duel_response::Event::Result(result) => return Ok(result),
        }
    }
}

#[tokio::test]
async fn strategies_fare_over_all_secrets_as_published() {
    let (_host, client) = service().await;
    for row in HEURISTICS.lines().filter(|row| row.starts_with("4\t6\trepeats")) {
        let columns: Vec<_> = row.split('\t').collect();
        let [_, _, _, strategy, tie, total, max] = columns[..] else { panic!("{row}") };
        let name = format!("STRATEGY_{}", strategy.to_uppercase());
        let mut request =
            evaluation(preset("mastermind"), Strategy::from_str_name(&name).expect(row));
        let player = request.player.as_mut().unwrap();
        match tie {
            "any" => player.tie = v1::TieRule::Any.into(),
            "candidate" => player.tie = v1::TieRule::Candidate.into(),
            _ => player.pool = v1::GuessPool::Consistent.into(),
        }
        let result = evaluate(&client, request).await.unwrap();
        assert_eq!((result.total.to_string(), result.max.to_string()), (total.into(), max.into()));
        assert_eq!(result.histogram.len(), result.max as usize);
        assert_eq!(result.histogram.iter().sum::<i32>(), 1296);
        assert_eq!((result.secrets, result.exact, result.margin), (1296, true, 0.0));
        assert!((result.mean * 1296.0 - result.total as f64).abs() < 1e-6);
    }
}

#[tokio::test]
async fn levels_play_every_game_and_none_plays_better_than_the_perfect_one() {
    let (_host, client) = service().await;
    let list = "cat car bar bat tar rat dog dig fog fig";
    let with = |rules: Option<v1::Rules>, feedback: v1::FeedbackRule| {
        Some(v1::Rules { feedback: feedback.into(), ..rules.unwrap() })
    };
    for rules in [
        codes("01234", 3, false),
        codes("0123", 3, true),
        with(codes("0123", 3, true), v1::FeedbackRule::Bulls),
        preset("numbers"),
        words(list, "sod arc"),
        with(words(list, ""), v1::FeedbackRule::Bulls),
        with(words(list, ""), v1::FeedbackRule::Total),
    ] {
        let mut totals = vec![];
        for level in [Level::Easy, Level::Medium, Level::Hard, Level::Perfect] {
            let mut request = evaluation(rules.clone(), Strategy::Unspecified);
            request.player.as_mut().unwrap().level = level.into();
            totals.push(evaluate(&client, request).await.unwrap().total);
        }
        assert!(totals.iter().all(|total| *total >= totals[3]), "{totals:?} for {rules:?}");
    }
    let numbers = evaluation(numbers(0, 100), Strategy::Optimal);
    let result = evaluate(&client, numbers).await.unwrap();
    assert_eq!((result.secrets, result.max), (101, 7));
}

#[tokio::test]
async fn an_evaluation_begins_where_the_turns_lead_and_with_the_guess_that_was_named() {
    let (_host, client) = service().await;
    let rules = || preset("bulls-and-cows-3");
    let guess = "345".to_owned();
    let analysis = v1::AnalyzeRequest { rules: rules(), guess, ..Default::default() };
    let first = client.clone().analyze(analysis).await.unwrap().into_inner();
    // The first guess counts for all, and what follows it is what follows its answers.
    let mut total = i64::from(first.remaining);
    for row in first.partition {
        let won = row.feedback.as_ref().unwrap().bulls == Some(3);
        let history = vec![v1::Turn { guess: "345".into(), feedback: row.feedback }];
        let request = v1::EvaluateRequest { history, ..evaluation(rules(), Strategy::MostParts) };
        let rest = evaluate(&client, request).await.unwrap();
        assert_eq!((rest.secrets, rest.exact), (row.count, true));
        assert_eq!(rest.total == 0, won, "whoever has won guesses no more");
        total += rest.total;
    }
    let mut request = evaluation(rules(), Strategy::MostParts);
    request.first_guess = "345".into();
    assert_eq!(evaluate(&client, request).await.unwrap().total, total);
}

#[tokio::test]
async fn a_sample_is_drawn_by_its_seed_and_tells_how_far_off_it_may_be() {
    let (_host, client) = service().await;
    let sample = |sample, sample_seed| v1::EvaluateRequest {
        sample,
        sample_seed,
        ..evaluation(preset("bulls-and-cows-3"), Strategy::FirstConsistent)
    };
    let all = evaluate(&client, sample(0, 0)).await.unwrap();
    assert_eq!(evaluate(&client, sample(720, 1)).await.unwrap(), all);
    assert_eq!(evaluate(&client, sample(i32::MAX, 1)).await.unwrap(), all);
    let mut held = 0;
    let mut totals = HashSet::new();
    for seed in 0..100 {
        let some = evaluate(&client, sample(300, seed)).await.unwrap();
        assert_eq!((some.secrets, some.exact), (300, false));
        assert_eq!(some.histogram.iter().sum::<i32>(), 300);
        held += i32::from((some.mean - all.mean).abs() <= some.margin);
        totals.insert(some.total);
    }
    assert!((90..=99).contains(&held), "the mean is within the margin in {held} of 100 samples");
    assert!(totals.len() > 10, "seeds draw differently");
    let again = evaluate(&client, sample(300, 7)).await.unwrap();
    assert_eq!(evaluate(&client, sample(300, 7)).await.unwrap(), again);
}

#[tokio::test]
async fn a_duel_is_what_all_pairs_of_secrets_come_to() {
    let (_host, client) = service().await;
    let request = |first, second| v1::DuelRequest {
        rules: preset("bulls-and-cows-3"),
        first: player(first),
        second: player(second),
        ..Default::default()
    };
    let (better, worse) = (Strategy::Optimal, Strategy::LastDigitSweep);
    let result = duel(&client, request(better, worse)).await.unwrap();
    for (strategy, told) in [(better, &result.first), (worse, &result.second)] {
        let alone = evaluate(&client, evaluation(preset("bulls-and-cows-3"), strategy)).await;
        assert_eq!(told.as_ref(), Some(&alone.unwrap()));
    }
    let (first, second) = (result.first.unwrap().histogram, result.second.unwrap().histogram);
    let pairs = |of: fn(usize, usize) -> bool| {
        let mut pairs = 0;
        for (mine, many) in first.iter().enumerate() {
            for (theirs, others) in second.iter().enumerate() {
                pairs += if of(mine, theirs) { many * others } else { 0 };
            }
        }
        f64::from(pairs) / (720.0 * 720.0)
    };
    assert!((result.win - pairs(|mine, theirs| mine < theirs)).abs() < 1e-12);
    assert!((result.draw - pairs(|mine, theirs| mine == theirs)).abs() < 1e-12);
    assert!((result.lose - pairs(|mine, theirs| mine > theirs)).abs() < 1e-12);
    assert!(result.win > result.lose);

    let other = duel(&client, request(worse, better)).await.unwrap();
    assert_eq!((other.win, other.draw, other.lose), (result.lose, result.draw, result.win));
    for sample in [0, 50] {
        let even = v1::DuelRequest { sample, ..request(better, better) };
        let even = duel(&client, even).await.unwrap();
        assert!(even.win == even.lose && (even.win + even.draw + even.lose - 1.0).abs() < 1e-12);
    }
}

#[tokio::test]
async fn what_cannot_be_played_is_refused_by_field() {
    let (_host, client) = service().await;
    let distinct = || preset("bulls-and-cows");
    let asked = |change: fn(&mut v1::EvaluateRequest)| {
        let mut request = evaluation(distinct(), Strategy::Unspecified);
        change(&mut request);
        request
    };
    for (request, reason, field) in [
        (asked(|request| request.rules = None), "INVALID_RULES", "rules"),
        (
            asked(|request| request.rules = codes("0123456789", 10, true)),
            "SPACE_TOO_LARGE",
            "rules",
        ),
        (
            asked(|request| request.player = player(Strategy::RepeatScan)),
            "INVALID_OPTION",
            "player.strategy",
        ),
        (
            asked(|request| request.player.as_mut().unwrap().strategy = 99),
            "INVALID_OPTION",
            "player.strategy",
        ),
        (
            asked(|request| request.player.as_mut().unwrap().pool = 3),
            "INVALID_OPTION",
            "player.pool",
        ),
        (
            asked(|request| request.player.as_mut().unwrap().level = 99),
            "INVALID_OPTION",
            "player.level",
        ),
        (
            asked(|request| {
                request.player = player(Strategy::Minimax);
                request.player.as_mut().unwrap().level = Level::Easy.into();
            }),
            "INVALID_OPTION",
            "player.level",
        ),
        (asked(|request| request.first_guess = "0012".into()), "INVALID_CODE", "first_guess"),
        (asked(|request| request.sample = -1), "INVALID_OPTION", "sample"),
        (asked(|request| request.sample = 1), "INVALID_OPTION", "sample"),
    ] {
        let status = evaluate(&client, request).await.unwrap_err();
        check(&status, Code::InvalidArgument, reason, &[field]);
    }
    let contradiction = v1::EvaluateRequest {
        history: turns("0123=4b0c 4567=1b0c"),
        ..evaluation(distinct(), Strategy::Minimax)
    };
    let status = evaluate(&client, contradiction).await.unwrap_err();
    check(&status, Code::FailedPrecondition, "CONTRADICTION", &[]);

    let (first, second) = (player(Strategy::RepeatScan), player(Strategy::RepeatScan));
    let request = v1::DuelRequest { rules: distinct(), first, second, sample: -1, sample_seed: 0 };
    let status = duel(&client, request).await.unwrap_err();
    let fields = ["first.strategy", "second.strategy", "sample"];
    check(&status, Code::InvalidArgument, "INVALID_OPTION", &fields);
}

#[tokio::test]
async fn an_evaluation_tells_how_far_it_is_and_ends_when_its_caller_leaves() {
    let (host, mut client) = service().await;
    let mut stream = client.evaluate(long_evaluation()).await.unwrap().into_inner();
    let mut last = v1::EvaluateProgress::default();
    for _ in 0..3 {
        let event = soon(stream.message()).await.unwrap().unwrap().event;
        let Some(Event::Progress(progress)) = event else { panic!("{event:?}") };
        assert!(progress.elapsed_ms > last.elapsed_ms && progress.done >= last.done);
        last = progress;
    }
    assert_eq!(last.secrets, 151_200);
    let left = Instant::now();
    drop(stream);
    host.when(|stats| stats.running == 0).await;
    assert!(left.elapsed() < RELEASED);
}

#[tokio::test]
async fn an_evaluation_has_the_deadline_of_proofs_and_holds_up_no_hint() {
    let config = Config {
        threads: 1,
        max_queue: 0,
        max_deadline_ms: 200,
        max_solve_deadline_ms: 1000,
        ..Config::default()
    };
    let host = Host::start(config).await;
    let mut client = host.client();
    let began = Instant::now();
    let stream = client.evaluate(long_evaluation()).await.unwrap().into_inner();
    host.when(|stats| stats.running == 1).await;
    soon(client.best_next_guess(guess_request(preset("mastermind"), "0011=1b0c"))).await.unwrap();
    let status = end(stream).await.unwrap_err();
    check(&status, Code::DeadlineExceeded, "DEADLINE_EXCEEDED", &[]);
    let took = began.elapsed();
    assert!(took > Duration::from_millis(900) && took < Duration::from_millis(1000) + RELEASED);
    host.when(|stats| stats.running == 0).await;
    let mut request = Request::new(long_evaluation());
    request.metadata_mut().insert("grpc-timeout", "100m".parse().unwrap());
    let stream = client.evaluate(request).await.unwrap().into_inner();
    check(&end(stream).await.unwrap_err(), Code::DeadlineExceeded, "DEADLINE_EXCEEDED", &[]);
}
