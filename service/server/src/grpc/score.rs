//! Score, BatchScore and ScoreMatrix: answers to guesses. No game is enumerated, so any size will do.

use herdsman_engine::score_matrix;
use herdsman_proto::v1;

use super::{
    Shared, convert,
    status::{Failure, Violations},
};

/// Takes a microsecond: runs where it is called.
pub(super) fn score(request: &v1::ScoreRequest) -> Result<v1::ScoreResponse, Failure> {
    let mut violations = Violations::default();
    let Some(rules) = violations.rules(request.rules.as_ref()) else {
        return Err(violations.into());
    };
    let secret = violations.code(&rules, || "secret".into(), &request.secret);
    let guess = violations.code(&rules, || "guess".into(), &request.guess);
    let (Some(secret), Some(guess)) = (secret, guess) else { return Err(violations.into()) };
    let feedback = convert::feedback(&rules, rules.score(&guess, &secret));
    Ok(v1::ScoreResponse { feedback: Some(feedback), solved: guess == secret })
}

pub(super) async fn batch(
    shared: &Shared,
    request: v1::BatchScoreRequest,
) -> Result<v1::BatchScoreResponse, Failure> {
    let mut violations = Violations::default();
    let rules = violations.rules(request.rules.as_ref());
    let most = shared.config.max_pairs;
    let count = violations.limit("pairs", "pairs", request.pairs.len() as u64, most.into());
    let (Some(rules), Some(_)) = (rules, count) else { return Err(violations.into()) };
    shared
        .run(u64::MAX, move |_, _| {
            let feedbacks = violations.each(&request.pairs, |at, pair, violations| {
                let secret =
                    violations.code(&rules, || format!("pairs[{at}].secret"), &pair.secret);
                let guess = violations.code(&rules, || format!("pairs[{at}].guess"), &pair.guess);
                Some(convert::feedback(&rules, rules.score(&guess?, &secret?)))
            });
            let feedbacks = feedbacks.ok_or_else(|| Failure::from(violations))?;
            Ok(v1::BatchScoreResponse { feedbacks })
        })
        .await
}

pub(super) async fn matrix(
    shared: &Shared,
    request: v1::ScoreMatrixRequest,
) -> Result<v1::ScoreMatrixResponse, Failure> {
    let mut violations = Violations::default();
    let rules = violations.rules(request.rules.as_ref());
    let cells = request.guesses.len() as u64 * request.secrets.len() as u64;
    let most = shared.config.max_cells;
    let count = violations.limit("guesses", "cells (guesses times secrets)", cells, most.into());
    let (Some(rules), Some(_)) = (rules, count) else { return Err(violations.into()) };
    shared
        .run(u64::MAX, move |_, budget| {
            let guesses = violations.codes(&rules, "guesses", &request.guesses);
            let secrets = violations.codes(&rules, "secrets", &request.secrets);
            let (Some(guesses), Some(secrets)) = (guesses, secrets) else {
                return Err(violations.into());
            };
            Ok(v1::ScoreMatrixResponse {
                cells: score_matrix(&rules, &guesses, &secrets, budget)?,
                bytes_per_cell: 1,
                legend: rules
                    .answers()
                    .list()
                    .iter()
                    .map(|&answer| convert::answer(answer))
                    .collect(),
                winning_class: rules.answers().winning().0.into(),
            })
        })
        .await
}
