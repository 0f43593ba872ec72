//! Score, BatchScore and ScoreMatrix: answers to guesses. No game is enumerated, so any size will do.

use herdsman_engine::{cell_bytes, score_matrix};
use herdsman_proto::v1;

use super::{
    Shared, convert,
    status::{Failure, Violations},
};

/// Takes a microsecond, if the rules bring no long list of words: runs where it is called.
pub(super) async fn score(
    shared: &Shared,
    request: v1::ScoreRequest,
) -> Result<v1::ScoreResponse, Failure> {
    let mut violations = Violations::default();
    let Some(rules) = violations.rules(shared, request.rules).await? else {
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
    let most = shared.config.max_pairs.into();
    // Before the rules, for which the request may have to wait.
    if violations.limit("pairs", "pairs", request.pairs.len() as u64, most).is_none() {
        return Err(violations.into());
    }
    let Some(rules) = violations.rules(shared, request.rules).await? else {
        return Err(violations.into());
    };
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
    let most = shared.config.max_pairs.into();
    let guesses = violations.limit("guesses", "codes", request.guesses.len() as u64, most);
    let secrets = violations.limit("secrets", "codes", request.secrets.len() as u64, most);
    // Before the rules, for which the request may have to wait.
    let (Some(_), Some(_)) = (guesses, secrets) else { return Err(violations.into()) };
    let rules = violations.rules(shared, request.rules).await?;
    let cells = request.guesses.len() as u64 * request.secrets.len() as u64;
    // A cell of several bytes counts as so many.
    let width = rules.as_ref().map_or(1, cell_bytes);
    let most = shared.config.max_cells as usize / width;
    let count = violations.limit("guesses", "cells (guesses times secrets)", cells, most as u64);
    let (Some(rules), Some(_)) = (rules, count) else { return Err(violations.into()) };
    shared
        .run(u64::MAX, move |_, budget| {
            let guesses = violations.codes(&rules, "guesses", &request.guesses);
            let secrets = violations.codes(&rules, "secrets", &request.secrets);
            let (Some(guesses), Some(secrets)) = (guesses, secrets) else {
                return Err(violations.into());
            };
            let answers = rules.answers();
            let legend = match width {
                1 => answers.list().map(convert::answer).collect(),
                _ => vec![],
            };
            Ok(v1::ScoreMatrixResponse {
                cells: score_matrix(&rules, &guesses, &secrets, budget)?,
                bytes_per_cell: convert::count(width),
                legend,
                winning_class: convert::count(answers.winning().0),
            })
        })
        .await
}
