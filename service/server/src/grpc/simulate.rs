//! Simulate: one game, played to its end.

use herdsman_engine::{Budget, Code, History, Played, Rules, simulate as play};
use herdsman_proto::{text, v1};

use super::{
    Shared, convert, draw,
    status::{Failure, Reason, Violation, Violations},
};
use crate::{cache::Position, games::Games};

pub(super) async fn simulate(
    shared: &Shared,
    mut request: v1::SimulateRequest,
) -> Result<v1::SimulateResponse, Failure> {
    let config = &shared.config;
    let mut violations = Violations::default();
    let rules = violations.game(shared, request.rules.take(), &request.history).await?;
    let history = violations.history(rules.as_ref(), &request.history);
    let player = request.player.unwrap_or_default();
    let choice = violations.choice(rules.as_ref(), "player.", player);
    let secret = violations.optional_code(rules.as_ref(), "secret", &request.secret);
    let (Some(rules), Some(history), Some(choice), Some(secret)) = (rules, history, choice, secret)
    else {
        return Err(violations.into());
    };
    if let Some(secret) = secret
        && let Some(at) = untrue(&rules, &history, &secret)
    {
        let turn = text::turn(&request.history[at]);
        return Err(Failure::Untrue { turn: at + 1, text: turn, secret: request.secret });
    }
    let (known, seed) = ((rules.clone(), history.clone()), request.secret_seed.cast_unsigned());
    let job = move |games: &Games, budget: &Budget| {
        let (rules, history) = known;
        let game = games.game(&rules)?;
        let candidates =
            games.candidates(&game, &Position::new(rules.clone(), &history), budget)?;
        let secret = match secret {
            Some(secret) if candidates.contains(game.index(&secret)) => secret,
            Some(_) => {
                let problem = "this word may only be guessed: name one of the list of secrets";
                return Err(Violation::new("secret", Reason::InvalidCode, problem).into());
            }
            None => match draw::one(candidates.len(), seed) {
                Some(number) => game.code(candidates.indices()[number]),
                None => return Ok(None),
            },
        };
        let played = play(&game, &history, &secret, &choice, budget)?;
        Ok(Some(reply(&rules, &history, &secret, &played)))
    };
    match shared.run(config.max_scores, job).await? {
        Some(reply) => Ok(reply),
        None => Err(shared.contradiction(rules, history, &request.history).await),
    }
}

/// The first turn, from 0, that is not true of a secret.
fn untrue(rules: &Rules, history: &History, secret: &Code) -> Option<usize> {
    history.turns().iter().position(|turn| rules.score(&turn.guess, secret) != turn.class)
}

fn reply(
    rules: &Rules,
    history: &History,
    secret: &Code,
    played: &[Played],
) -> v1::SimulateResponse {
    let winning = rules.answers().winning();
    let mut turns = history.turns().iter().chain(played.iter().map(|played| &played.turn));
    v1::SimulateResponse {
        secret: rules.text(secret),
        solved: turns.any(|turn| turn.class == winning),
        turns: played.iter().map(|played| told(rules, played)).collect(),
    }
}

fn told(rules: &Rules, played: &Played) -> v1::SimulatedTurn {
    v1::SimulatedTurn {
        turn: Some(v1::Turn {
            guess: rules.text(&played.turn.guess),
            feedback: Some(convert::feedback(rules, played.turn.class)),
        }),
        remaining: convert::count(played.remaining),
        proof: convert::proof(played.proven).into(),
    }
}
