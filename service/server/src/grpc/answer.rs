//! Answer: what a host says who has not settled on a secret.

use herdsman_engine::{Budget, HostPolicy, host_answer};
use herdsman_proto::v1;

use super::{
    Shared, convert, rate,
    status::{Failure, Violations},
};
use crate::{cache::Position, games::Games};

pub(super) async fn answer(
    shared: &Shared,
    mut request: v1::AnswerRequest,
) -> Result<v1::AnswerResponse, Failure> {
    let config = &shared.config;
    let mut violations = Violations::default();
    let rules = violations.game(shared, request.rules.take(), &request.history).await?;
    let history = violations.history(rules.as_ref(), &request.history);
    let guess =
        rules.as_ref().and_then(|rules| violations.code(rules, || "guess".into(), &request.guess));
    let policy = violations.member(|| "policy".into(), request.policy, "policy of a host");
    let (Some(rules), Some(history), Some(guess), Some(policy)) = (rules, history, guess, policy)
    else {
        return Err(violations.into());
    };
    let position = Position::new(rules.clone(), &history);
    let job = move |games: &Games, budget: &Budget| {
        let game = games.game(&position.rules)?;
        let candidates = games.candidates(&game, &position, budget)?;
        if candidates.is_empty() {
            return Ok(None);
        }
        let limits = rate::limits(&game, &candidates);
        let policy = match policy {
            v1::HostPolicy::Optimal => HostPolicy::Optimal,
            _ => HostPolicy::MostCandidates,
        };
        let answer = host_answer(&game, &candidates, &guess, policy, limits, budget)?;
        Ok(Some(v1::AnswerResponse {
            feedback: Some(convert::feedback(&position.rules, answer.class)),
            remaining: convert::count(answer.remaining),
            solved: answer.class == position.rules.answers().winning(),
            proof: convert::proof(answer.proven).into(),
        }))
    };
    match shared.run(config.max_scores, job).await? {
        Some(answer) => Ok(answer),
        None => Err(shared.contradiction(rules, history, &request.history).await),
    }
}
