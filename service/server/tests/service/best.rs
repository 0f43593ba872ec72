//! The best possible play as BestNextGuess and Analyze tell it.

use herdsman_proto::v1::{self, Source, Strategy};

use crate::host::{Client, guess_request, preset, service, turns};

#[tokio::test]
async fn the_default_is_the_best_possible_play_from_the_book_also_when_it_was_cached() {
    let (_host, mut client) = service().await;
    for (strategy, name, total, mean, max) in [
        (Strategy::Unspecified, "bulls-and-cows", 26274, 26274.0 / 5040.0, 7),
        (Strategy::Optimal, "mastermind", 5625, 5625.0 / 1296.0, 6),
        (Strategy::OptimalWorstCase, "mastermind", 5626, 5626.0 / 1296.0, 5),
    ] {
        for _ in 0..2 {
            let mut request = guess_request(preset(name), "");
            request.strategy = strategy.into();
            let reply = client.best_next_guess(request).await.unwrap().into_inner();
            assert_eq!((reply.proof(), reply.source()), (v1::Proof::Proven, Source::Book));
            assert_eq!(reply.proven, Some(v1::ProvenValue { total, mean, max }));
            assert_ne!(reply.strategy(), Strategy::Unspecified);
        }
    }
}

#[tokio::test]
async fn what_no_book_has_is_proven_on_the_spot_where_few_candidates_are_left() {
    let (_host, mut client) = service().await;
    let request = guess_request(preset("bulls-and-cows"), "1234=0b4c 5678=0b0c");
    let reply = client.best_next_guess(request).await.unwrap().into_inner();
    assert_eq!((reply.remaining, reply.proof()), (9, v1::Proof::Proven));
    let proven = reply.proven.unwrap();
    let solve = v1::SolveRequest {
        rules: preset("bulls-and-cows"),
        history: turns("1234=0b4c"),
        ..Default::default()
    };
    let mut stream = client.solve(solve).await.unwrap().into_inner();
    let message = stream.message().await.unwrap().unwrap();
    let Some(v1::solve_response::Event::Result(result)) = message.event else {
        panic!("{message:?}")
    };
    assert_eq!((proven.total, proven.max, proven.mean), (result.total, result.max, result.mean));
}

async fn rate(client: &mut Client, name: &str, history: &str, guess: &str) -> v1::AnalyzeResponse {
    let (rules, history) = (preset(name), turns(history));
    let request = v1::AnalyzeRequest { rules, history, guess: guess.into(), rate: true };
    client.analyze(request).await.unwrap().into_inner()
}

#[tokio::test]
async fn a_rated_guess_stands_beside_the_best_by_each_score() {
    let (_host, mut client) = service().await;
    let reply = rate(&mut client, "mastermind", "", "0012").await;
    let best: Vec<_> = reply
        .best
        .iter()
        .map(|rated| {
            assert!(rated.exhaustive);
            (rated.strategy(), rated.suggestion.as_ref().unwrap().guess.as_str())
        })
        .collect();
    // Knuth, Irving, Neuwirth and Kooi open with these.
    assert_eq!(
        best,
        [
            (Strategy::Minimax, "0011"),
            (Strategy::ExpectedSize, "0012"),
            (Strategy::Entropy, "0123"),
            (Strategy::MostParts, "0012"),
        ]
    );
    assert_eq!(reply.best[1].suggestion.as_ref().unwrap().facts, reply.facts);
    assert!(rate(&mut client, "mastermind", "0011=4b0c", "0012").await.best.is_empty());
}

#[tokio::test]
async fn the_cost_of_a_guess_is_what_it_takes_more_than_the_best_play() {
    let (_host, mut client) = service().await;
    let history = "1234=0b4c";
    let request = guess_request(preset("bulls-and-cows"), history);
    let best = client.best_next_guess(request).await.unwrap().into_inner();
    let cost = async |guess| rate(&mut client.clone(), "bulls-and-cows", history, guess).await.cost;
    let none = Some(v1::GuessCost { total: 0, mean: 0.0 });
    assert_eq!(cost(best.suggestions[0].guess.as_str()).await, none);
    // What tells nothing costs each of the nine candidates a guess.
    assert_eq!(cost("1234").await, Some(v1::GuessCost { total: 9, mean: 1.0 }));
    let none_is_better = rate(&mut client, "bulls-and-cows", "", "9876").await.cost;
    assert_eq!(none_is_better, none);
}

/// A history and a guess, and both with other symbols, at other places, in another order of turns.
const ALIKE: [(&str, &str); 2] =
    [("0123=0b2c 4516=1b1c 4718=0b1c", "0456"), ("9523=0b1c 9548=1b1c 6709=0b2c", "8745")];

#[tokio::test]
async fn what_one_history_was_told_is_told_to_all_that_are_the_same_by_renaming() {
    for strategy in [Strategy::Optimal, Strategy::OptimalWorstCase, Strategy::MostPartsRefined] {
        for top_k in [1, 4] {
            let ask = |which: usize| v1::BestNextGuessRequest {
                strategy: strategy.into(),
                top_k,
                ..guess_request(preset("bulls-and-cows"), ALIKE[which].0)
            };
            let (_host, mut client) = service().await;
            let first = client.best_next_guess(ask(0)).await.unwrap().into_inner();
            let told = client.best_next_guess(ask(1)).await.unwrap().into_inner();
            assert_eq!((first.source(), told.source()), (Source::Computed, Source::Cache));
            assert_eq!((first.remaining, &first.proven), (26, &told.proven));
            let (_other, mut client) = service().await;
            let fresh = client.best_next_guess(ask(1)).await.unwrap().into_inner();
            assert_eq!(fresh.source(), Source::Computed);
            assert_eq!(told, v1::BestNextGuessResponse { source: told.source, ..fresh });
        }
    }
}

#[tokio::test]
async fn what_is_behind_a_proven_guess_is_computed_where_it_is_not_kept() {
    let (_host, mut client) = service().await;
    let mut ask = async |top_k| {
        let request = guess_request(preset("bulls-and-cows"), ALIKE[0].0);
        let request = v1::BestNextGuessRequest { top_k, ..request };
        client.best_next_guess(request).await.unwrap().into_inner()
    };
    let (one, three) = (ask(1).await, ask(3).await);
    assert_eq!((one.proof(), three.proof()), (v1::Proof::Proven, v1::Proof::Proven));
    assert_eq!((one.source(), three.source()), (Source::Computed, Source::Computed));
    assert_eq!((three.suggestions.len(), &three.suggestions[..1]), (3, &one.suggestions[..]));
}

#[tokio::test]
async fn a_guess_is_worth_the_same_under_other_names_whoever_asked_before() {
    let analyses = async |client: &mut Client, which: usize| {
        rate(client, "bulls-and-cows", ALIKE[which].0, ALIKE[which].1).await
    };
    let (_host, mut client) = service().await;
    let first = analyses(&mut client, 0).await;
    let told = analyses(&mut client, 1).await;
    assert!(first.cost.is_some());
    assert_eq!((&first.partition, first.facts), (&told.partition, told.facts));
    let (_other, mut client) = service().await;
    assert_eq!(told, analyses(&mut client, 1).await);
}
