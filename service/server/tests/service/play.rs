//! Answer and Simulate: hosts and players of a single game.

use std::collections::HashSet;

use herdsman_proto::v1::{self, Proof, Strategy};
use tonic::Code;

use crate::{
    errors::check,
    host::{Client, codes, guess_request, preset, service, soon, turns, words},
};

pub(crate) fn player(strategy: Strategy) -> Option<v1::Player> {
    Some(v1::Player { strategy: strategy.into(), ..Default::default() })
}

async fn filter(client: &Client, rules: Option<v1::Rules>, history: &[v1::Turn]) -> Vec<String> {
    let (history, page_size) = (history.to_vec(), 10_000);
    let request = v1::FilterRequest { rules, history, page_size, ..Default::default() };
    client.clone().filter(request).await.unwrap().into_inner().candidates
}

#[tokio::test]
async fn a_simulated_game_is_one_that_could_be_played() {
    let (_host, client) = service().await;
    let mut client = client;
    for strategy in [Strategy::Optimal, Strategy::RandomConsistent, Strategy::LastDigitSweep] {
        let request = v1::SimulateRequest {
            rules: preset("bulls-and-cows"),
            history: turns("0123=0b2c"),
            player: player(strategy),
            secret: "5072".into(),
            secret_seed: 0,
        };
        let game = client.simulate(request.clone()).await.unwrap().into_inner();
        assert_eq!((game.secret.as_str(), game.solved), ("5072", true));
        let mut history = request.history;
        for played in game.turns {
            let left = filter(&client, preset("bulls-and-cows"), &history).await;
            assert!(left.contains(&game.secret) && left.len() == played.remaining as usize);
            assert_ne!(played.proof(), Proof::Unspecified);
            let turn = played.turn.unwrap();
            let score = v1::ScoreRequest {
                rules: preset("bulls-and-cows"),
                secret: game.secret.clone(),
                guess: turn.guess.clone(),
            };
            let score = client.score(score).await.unwrap().into_inner();
            assert_eq!(score.feedback, turn.feedback);
            history.push(turn);
        }
        assert_eq!(history.last().unwrap().guess, "5072");
    }
    let won = v1::SimulateRequest {
        rules: preset("bulls-and-cows"),
        history: turns("0123=4b0c"),
        ..Default::default()
    };
    let won = client.simulate(won).await.unwrap().into_inner();
    assert_eq!((won.secret.as_str(), won.solved, won.turns.len()), ("0123", true, 0));
}

#[tokio::test]
async fn a_secret_is_drawn_by_its_seed_among_those_that_are_left() {
    let (_host, mut client) = service().await;
    let mut drawn = HashSet::new();
    let left = filter(&client, preset("bulls-and-cows"), &turns("0123=1b0c")).await;
    for secret_seed in 0..20 {
        let request = v1::SimulateRequest {
            rules: preset("bulls-and-cows"),
            history: turns("0123=1b0c"),
            // What the player draws by is not what the secret was drawn by.
            player: Some(v1::Player {
                seed: secret_seed,
                ..player(Strategy::RandomConsistent).unwrap()
            }),
            secret_seed,
            ..Default::default()
        };
        let game = client.simulate(request.clone()).await.unwrap().into_inner();
        assert!(left.contains(&game.secret) && game.turns.len() > 1);
        assert_eq!(client.simulate(request).await.unwrap().into_inner(), game);
        drawn.insert(game.secret);
    }
    assert!(drawn.len() > 15, "{drawn:?}");
}

#[tokio::test]
async fn a_history_that_is_not_true_of_the_secret_is_refused_by_its_turn() {
    let (_host, mut client) = service().await;
    for (secret, history, turn) in [
        ("5072", "0123=0b2c 4567=3b0c 8901=0b1c", "2"),
        ("", "0123=4b0c 4567=1b0c", "2"),
        ("0123", "4567=0b0c 0132=4b0c", "2"),
    ] {
        let request = v1::SimulateRequest {
            rules: preset("bulls-and-cows"),
            history: turns(history),
            secret: secret.into(),
            ..Default::default()
        };
        let status = client.simulate(request).await.unwrap_err();
        check(&status, Code::FailedPrecondition, "CONTRADICTION", &[]);
        assert!(status.message().contains(&format!("turn {turn}")), "{status}");
    }
}

#[tokio::test]
async fn a_host_keeps_the_most_and_gives_in_last() {
    let (_host, mut client) = service().await;
    let rules = || preset("bulls-and-cows");
    let mut history = vec![];
    loop {
        let request = v1::BestNextGuessRequest {
            history: history.clone(),
            strategy: Strategy::Entropy.into(),
            ..guess_request(rules(), "")
        };
        let advice = client.best_next_guess(request).await.unwrap().into_inner();
        let guess = advice.suggestions[0].guess.clone();
        let analysis = v1::AnalyzeRequest {
            rules: rules(),
            history: history.clone(),
            guess: guess.clone(),
            rate: false,
        };
        let rows = client.analyze(analysis).await.unwrap().into_inner().partition;
        let request = v1::AnswerRequest {
            rules: rules(),
            history: history.clone(),
            guess: guess.clone(),
            policy: 0,
        };
        let answer = client.answer(request).await.unwrap().into_inner();
        assert_eq!(answer.proof(), Proof::Heuristic);
        let bulls = |row: &v1::PartitionRow| row.feedback.as_ref().unwrap().bulls;
        let others = rows.iter().filter(|row| bulls(row) != Some(4));
        match others.map(|row| row.count).max() {
            Some(most) => assert_eq!((answer.solved, answer.remaining), (false, most)),
            None => assert!(answer.solved && answer.remaining == 1),
        }
        if answer.solved {
            break;
        }
        let kept = rows.iter().find(|row| row.count == answer.remaining && bulls(row) != Some(4));
        assert_eq!(kept.unwrap().feedback, answer.feedback, "the first of equals");
        history.push(v1::Turn { guess, feedback: answer.feedback });
    }
    // Nobody is sure to be found earlier.
    assert!(history.len() >= 6, "{}", history.len());
}

#[tokio::test]
async fn the_optimal_host_holds_out_as_long_as_can_be_and_says_so() {
    let (_host, mut client) = service().await;
    let rules = || codes("012345", 3, false);
    let guess = "012".to_owned();
    let analysis =
        v1::AnalyzeRequest { rules: rules(), guess: guess.clone(), ..Default::default() };
    let rows = client.analyze(analysis).await.unwrap().into_inner().partition;
    let request = v1::AnswerRequest {
        rules: rules(),
        history: vec![],
        guess: guess.clone(),
        policy: v1::HostPolicy::Optimal.into(),
    };
    let answer = client.answer(request).await.unwrap().into_inner();
    assert_eq!((answer.proof(), answer.solved), (Proof::Proven, false));
    let mut needs = vec![];
    for row in rows.into_iter().filter(|row| row.feedback.as_ref().unwrap().bulls != Some(3)) {
        let request = v1::SolveRequest {
            rules: rules(),
            history: vec![v1::Turn { guess: guess.clone(), feedback: row.feedback.clone() }],
            objective: v1::Objective::WorstCase.into(),
            ..Default::default()
        };
        let mut stream = client.solve(request).await.unwrap().into_inner();
        let max = loop {
            let event = soon(stream.message()).await.unwrap().unwrap().event;
            if let Some(v1::solve_response::Event::Result(result)) = event {
                break result.max;
            }
        };
        needs.push((max, row.feedback));
    }
    let longest = needs.iter().map(|(max, _)| *max).max().unwrap();
    assert!(needs.contains(&(longest, answer.feedback)), "{needs:?}");

    // Beyond what is proven for an answer, the most candidates are kept.
    let request = v1::AnswerRequest {
        rules: preset("super-mastermind"),
        history: vec![],
        guess: "00112".into(),
        policy: v1::HostPolicy::Optimal.into(),
    };
    let answer = soon(client.answer(request)).await.unwrap().into_inner();
    assert_eq!(answer.proof(), Proof::Heuristic);
}

#[tokio::test]
async fn what_is_no_game_for_a_host_or_a_player_is_refused_by_field() {
    let (_host, mut client) = service().await;
    let request =
        v1::AnswerRequest { rules: preset("bulls-and-cows"), policy: 9, ..Default::default() };
    let status = client.answer(request).await.unwrap_err();
    check(&status, Code::InvalidArgument, "INVALID_CODE", &["guess", "policy"]);

    for secret in ["zzz", "sod"] {
        let rules = words("cat dog", "sod");
        let request = v1::SimulateRequest { rules, secret: secret.into(), ..Default::default() };
        let status = client.simulate(request).await.unwrap_err();
        check(&status, Code::InvalidArgument, "INVALID_CODE", &["secret"]);
    }
}
