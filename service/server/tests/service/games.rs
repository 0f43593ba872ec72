//! Numbers, levels, answers that may be untrue, and games that nobody enumerates.

use herdsman_engine::{Budget, Game, Given, History, Rules, Turn};
use herdsman_proto::v1::{self, CountKind, Level, Strategy};
use tonic::Code;
use tonic_types::StatusExt as _;

use crate::{
    errors::check,
    host::{Client, codes, guess_request, numbers, preset, service, turns, words},
};

async fn filter(client: &mut Client, request: v1::FilterRequest) -> v1::FilterResponse {
    client.filter(request).await.unwrap().into_inner()
}

#[tokio::test]
async fn numbers_are_found_by_lower_and_higher() {
    let (_host, mut client) = service().await;
    let mut history = vec![];
    loop {
        let request = v1::BestNextGuessRequest {
            rules: numbers(-50, 50),
            history: history.clone(),
            ..Default::default()
        };
        let reply = client.best_next_guess(request).await.unwrap().into_inner();
        if reply.solved {
            assert_eq!(reply.secret, "-50");
            break;
        }
        let guess = reply.suggestions[0].guess.clone();
        let score = v1::ScoreRequest {
            rules: numbers(-50, 50),
            secret: "-50".into(),
            guess: guess.clone(),
        };
        let feedback = client.score(score).await.unwrap().into_inner().feedback;
        history.push(v1::Turn { guess, feedback });
    }
    assert!(history.len() <= 7, "{history:?}");
    let unknown = v1::Feedback { order: Some(4), ..Default::default() };
    history = vec![v1::Turn { guess: "0".into(), feedback: Some(unknown) }];
    let request = v1::FilterRequest { rules: numbers(-50, 50), history, ..Default::default() };
    let status = client.filter(request).await.unwrap_err();
    check(&status, Code::InvalidArgument, "INVALID_FEEDBACK", &["history[0].feedback"]);
}

#[tokio::test]
async fn a_level_is_a_strategy_and_one_that_cannot_play_is_refused_with_the_reason() {
    let (_host, mut client) = service().await;
    for (rules, level, strategy) in [
        (preset("mastermind"), Level::Easy, Strategy::RepeatScan),
        (preset("bulls-and-cows"), Level::Easy, Strategy::LastDigitSweep),
        (preset("numbers"), Level::Medium, Strategy::RandomConsistent),
        (words("match patch hatch", ""), Level::Medium, Strategy::MostParts),
        (preset("mastermind"), Level::Perfect, Strategy::Optimal),
    ] {
        let mut request = guess_request(rules, "");
        request.level = level.into();
        let reply = client.best_next_guess(request).await.unwrap().into_inner();
        assert_eq!(reply.strategy(), strategy);
    }
    let mut request = guess_request(preset("bulls-and-cows"), "");
    request.strategy = Strategy::RepeatScan.into();
    let status = client.best_next_guess(request).await.unwrap_err();
    check(&status, Code::InvalidArgument, "INVALID_OPTION", &["strategy"]);
}

#[tokio::test]
async fn codes_are_counted_and_listed_by_the_answers_they_make_untrue() {
    let (_host, mut client) = service().await;
    // A turn that was told twice may be untrue twice.
    let history = turns("0123=0b1c 4567=2b0c 4567=2b0c 0189=2b0c");
    let mut request = v1::FilterRequest {
        rules: preset("bulls-and-cows"),
        history: history.clone(),
        max_lies: 2,
        page_size: 7,
        ..Default::default()
    };
    let rules = Rules::preset("bulls-and-cows", None).unwrap();
    let game = Game::new(rules, 10_000).unwrap();
    let answers = game.rules().answers();
    let turn = |guess: &str, bulls, cows| Turn {
        guess: game.rules().code(guess).unwrap(),
        class: answers.class(&Given::pegs(bulls, cows)).unwrap(),
    };
    let two = turn("4567", 2, 0);
    let spelled = History::new(vec![turn("0123", 0, 1), two, two, turn("0189", 2, 0)]).unwrap();
    let suspects = game.suspects(&spelled, 2, &Budget::unlimited()).unwrap();
    let expected: Vec<String> =
        suspects.by_lies().iter().flatten().map(|&at| game.rules().text(&game.code(at))).collect();
    let mut seen = vec![];
    loop {
        let page = filter(&mut client, request.clone()).await;
        let counts: Vec<_> = suspects.by_lies().iter().map(|codes| codes.len() as i32).collect();
        assert_eq!((page.remaining as usize, &page.remaining_by_lies), (expected.len(), &counts));
        seen.extend(page.candidates);
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            break;
        }
        assert!(seen.len() <= expected.len());
    }
    assert_eq!(seen, expected);

    let guess = v1::BestNextGuessRequest {
        rules: preset("bulls-and-cows"),
        history: turns("0123=4b0c 4567=1b0c 4567=0b1c"),
        ..Default::default()
    };
    for (lies, turn) in [(0, Some("2")), (1, Some("3")), (2, None)] {
        let request = v1::BestNextGuessRequest { max_lies: lies, ..guess.clone() };
        match (client.best_next_guess(request).await, turn) {
            (Err(status), Some(turn)) => {
                check(&status, Code::FailedPrecondition, "CONTRADICTION", &[]);
                let details = status.get_error_details();
                assert_eq!(details.error_info().unwrap().metadata["turn"], turn);
            }
            (reply, None) => {
                let reply = reply.unwrap().into_inner();
                assert_eq!(reply.remaining_by_lies, [0, 0, 1]);
                assert_eq!((reply.secret.as_str(), reply.solved), ("0123", true));
            }
            (Ok(reply), _) => panic!("{reply:?}"),
        }
    }
}

#[tokio::test]
async fn games_that_nobody_enumerates_are_sampled() {
    let (_host, mut client) = service().await;
    let rules = || codes("abcdefghijklmnopqrst", 10, true);
    let secret = "tmaaeqjkoc";
    let mut history: Vec<v1::Turn> = vec![];
    while history.len() < 20 {
        let request = v1::BestNextGuessRequest {
            rules: rules(),
            history: history.clone(),
            strategy: Strategy::Entropy.into(),
            ..Default::default()
        };
        let reply = client.best_next_guess(request).await.unwrap().into_inner();
        let count = reply.count.unwrap();
        if reply.solved {
            assert_eq!((reply.secret.as_str(), reply.remaining), (secret, 1));
            break;
        }
        assert!(count.value >= 1.0 && reply.remaining >= 1);
        let guess = reply.suggestions[0].guess.clone();
        let score =
            v1::ScoreRequest { rules: rules(), secret: secret.into(), guess: guess.clone() };
        let feedback = client.score(score).await.unwrap().into_inner().feedback;
        history.push(v1::Turn { guess, feedback });
    }
    // Who does not watch what fits plays what fits here.
    let easy = v1::BestNextGuessRequest {
        rules: rules(),
        level: Level::Easy.into(),
        ..Default::default()
    };
    let reply = client.best_next_guess(easy).await.unwrap().into_inner();
    assert_eq!(reply.strategy(), Strategy::FirstConsistent);

    let request = |turns: &[v1::Turn]| v1::FilterRequest {
        rules: rules(),
        history: turns.to_vec(),
        ..Default::default()
    };
    let all = filter(&mut client, request(&[])).await;
    assert_eq!(all.count.unwrap().kind(), CountKind::Exact);
    assert_eq!(all.count.unwrap().value, 20_f64.powi(10));
    let some = filter(&mut client, request(&history[..3])).await;
    assert!(some.remaining > 0 && some.count.unwrap().value >= f64::from(some.remaining));
    let one = filter(&mut client, request(&history)).await;
    assert_eq!((one.candidates, one.solved), (vec![secret.to_owned()], true));

    // Two answers to one guess.
    history.push(history[0].clone());
    history[1].feedback = Some(v1::Feedback { bulls: Some(9), ..Default::default() });
    history[1].guess = history[0].guess.clone();
    assert_eq!(filter(&mut client, request(&history)).await.remaining, 0);
    let request = v1::BestNextGuessRequest { rules: rules(), history, ..Default::default() };
    let status = client.best_next_guess(request).await.unwrap_err();
    check(&status, Code::FailedPrecondition, "CONTRADICTION", &[]);
    assert_eq!(status.get_error_details().error_info().unwrap().metadata["turn"], "2");
}
