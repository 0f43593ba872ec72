//! Evaluate and Duel: how players fare over all secrets, or over a sample of them.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use herdsman_engine::{Budget, Choice, Code, Evaluation, Trial, duel as chances, evaluate as play};
use herdsman_proto::v1::{self, duel_response, evaluate_response};

use super::{
    Shared, convert, draw,
    status::{Failure, Reason, Violation, Violations},
    stream::{self, Events, Teller},
};
use crate::{cache::Position, call::Behind, games::Games};

/// What an evaluation is about: the secrets that are possible at a position, or some of them.
struct Exam {
    position: Position,
    /// The guess to begin with; the player's own if absent.
    first_guess: Option<Code>,
    /// How many secrets are drawn; 0 for all.
    sample: u64,
    seed: u64,
}

/// How one player fared, and over how many of the secrets.
#[derive(Clone)]
struct Outcome {
    evaluation: Evaluation,
    secrets: usize,
    possible: usize,
}

/// How far an evaluation is.
#[derive(Default)]
struct Done {
    found: AtomicU64,
    secrets: AtomicU64,
}

pub(super) async fn evaluate(
    shared: &Arc<Shared>,
    mut request: v1::EvaluateRequest,
    behind: Behind,
) -> Result<Events<v1::EvaluateResponse>, Failure> {
    let mut violations = Violations::default();
    let rules = violations.game(shared, request.rules.take(), &request.history).await?;
    let history = violations.history(rules.as_ref(), &request.history);
    let player = request.player.unwrap_or_default();
    let choice = violations.choice(rules.as_ref(), "player.", player);
    let first_guess = violations.optional_code(rules.as_ref(), "first_guess", &request.first_guess);
    let sample = violations.sample(request.sample);
    let (Some(rules), Some(history), Some(choice)) = (rules, history, choice) else {
        return Err(violations.into());
    };
    let (Some(first_guess), Some(sample)) = (first_guess, sample) else {
        return Err(violations.into());
    };
    let position = Position::new(rules.clone(), &history);
    let exam = Exam { position, first_guess, sample, seed: request.sample_seed.cast_unsigned() };
    let shared = Arc::clone(shared);
    let message = |event| v1::EvaluateResponse { event: Some(event) };
    Ok(stream::start(behind, move |teller| async move {
        let tell = |progress| message(evaluate_response::Event::Progress(progress));
        let Some(outcomes) = sit(&shared, exam, vec![choice], &teller, tell).await? else {
            return Err(shared.contradiction(rules, history, &request.history).await);
        };
        teller.tell(message(evaluate_response::Event::Result(report(&outcomes[0])))).await;
        Ok(())
    }))
}

pub(super) async fn duel(
    shared: &Arc<Shared>,
    request: v1::DuelRequest,
    behind: Behind,
) -> Result<Events<v1::DuelResponse>, Failure> {
    let mut violations = Violations::default();
    let rules = violations.game(shared, request.rules, &[]).await?;
    let (first, second) = (request.first.unwrap_or_default(), request.second.unwrap_or_default());
    let first = violations.choice(rules.as_ref(), "first.", first);
    let second = violations.choice(rules.as_ref(), "second.", second);
    let sample = violations.sample(request.sample);
    let (Some(rules), Some(first), Some(second), Some(sample)) = (rules, first, second, sample)
    else {
        return Err(violations.into());
    };
    let position = Position::new(rules, &Default::default());
    // Both players have the same secrets, so that only their play tells them apart.
    let seed = request.sample_seed.cast_unsigned();
    let exam = Exam { position, first_guess: None, sample, seed };
    let shared = Arc::clone(shared);
    let message = |event| v1::DuelResponse { event: Some(event) };
    Ok(stream::start(behind, move |teller| async move {
        let tell = |progress| message(duel_response::Event::Progress(progress));
        let players = vec![first, second];
        // A game without turns has secrets.
        let outcomes =
            sit(&shared, exam, players, &teller, tell).await?.ok_or(Failure::Internal)?;
        let [first, second] = &outcomes[..] else { return Err(Failure::Internal) };
        let chances = chances(&first.evaluation, &second.evaluation);
        let result = v1::DuelResult {
            win: chances.win,
            draw: chances.draw,
            lose: chances.lose,
            first: Some(report(first)),
            second: Some(report(second)),
        };
        teller.tell(message(duel_response::Event::Result(result))).await;
        Ok(())
    }))
}

impl Violations {
    /// The size of a sample; 0 for all secrets.
    fn sample(&mut self, sample: i32) -> Option<u64> {
        let sample = self.natural("sample", sample.into())?;
        let problem = "one secret tells nothing of how they differ: draw 2 or more, or 0 for all";
        let enough = (sample != 1).then_some(sample);
        self.note(enough.ok_or_else(|| Violation::new("sample", Reason::InvalidOption, problem)))
    }
}

/// Lets players sit an exam, and tells how far they are; nothing if no code agrees with the history.
async fn sit<M>(
    shared: &Shared,
    exam: Exam,
    players: Vec<Choice>,
    teller: &Teller<M>,
    tell: impl Fn(v1::EvaluateProgress) -> M,
) -> Result<Option<Vec<Outcome>>, Failure> {
    let done = Arc::new(Done::default());
    let (games, watched) = (Arc::clone(&shared.games), Arc::clone(&done));
    let max_scores = shared.config.max_scores;
    let job = shared.proofs.run(move |stop| {
        mark(&games, &exam, &players, &watched, &Budget::new(stop.clone(), max_scores))
    });
    let progress = |elapsed_ms| {
        let count = |number: &AtomicU64| convert::count(number.load(Relaxed));
        let (done, secrets) = (count(&done.found), count(&done.secrets));
        tell(v1::EvaluateProgress { done, secrets, elapsed_ms })
    };
    teller.watch(job, progress).await?
}

/// The job of an exam: how each player fares.
fn mark(
    games: &Games,
    exam: &Exam,
    players: &[Choice],
    done: &Done,
    budget: &Budget,
) -> Result<Option<Vec<Outcome>>, Failure> {
    let Exam { position, first_guess, sample, seed } = exam;
    let game = games.game(&position.rules)?;
    let candidates = games.candidates(&game, position, budget)?;
    let possible = candidates.len();
    if possible == 0 {
        return Ok(None);
    }
    let drawn = match *sample {
        sample if (1..possible as u64).contains(&sample) => {
            let drawn = draw::sample(possible, sample as usize, *seed, &budget.stop)?;
            let both = candidates.indices().iter().zip(drawn);
            Some(both.filter_map(|(&index, drawn)| drawn.then_some(index)).collect::<Vec<_>>())
        }
        _ => None,
    };
    let secrets = drawn.as_ref().map_or(possible, Vec::len);
    done.secrets.store((secrets * players.len()) as u64, Relaxed);
    let history = position.history.clone();
    let trial = Trial { history, first_guess: *first_guess, secrets: drawn };
    let mut outcomes: Vec<Outcome> = vec![];
    for (at, player) in players.iter().enumerate() {
        // Who plays against their like fares alike.
        if let Some(like) = players[..at].iter().position(|other| other == player) {
            outcomes.push(outcomes[like].clone());
            done.found.fetch_add(secrets as u64, Relaxed);
            continue;
        }
        let evaluation = match position.is_won() {
            true => Evaluation::default(),
            false => play(&game, player, &trial, &done.found, budget)?,
        };
        outcomes.push(Outcome { evaluation, secrets, possible });
    }
    Ok(Some(outcomes))
}

fn report(outcome: &Outcome) -> v1::Evaluation {
    let Outcome { evaluation, secrets, possible } = outcome;
    v1::Evaluation {
        total: evaluation.total.cast_signed(),
        mean: convert::mean(evaluation.total, *secrets),
        max: convert::count(evaluation.max),
        histogram: evaluation.histogram.iter().map(|&secrets| convert::count(secrets)).collect(),
        secrets: convert::count(*secrets),
        exact: secrets == possible,
        margin: if secrets == possible { 0.0 } else { margin(outcome) },
    }
}

/// Half of the 95 % interval of the mean of a sample that was drawn without repetition.
fn margin(outcome: &Outcome) -> f64 {
    let (secrets, possible) = (outcome.secrets as f64, outcome.possible as f64);
    let mean = outcome.evaluation.total as f64 / secrets;
    let square = |(guesses, &found): (u64, &u64)| found as f64 * (guesses as f64 - mean).powi(2);
    let squares: f64 = (1..).zip(&outcome.evaluation.histogram).map(square).sum();
    let variance = squares / (secrets - 1.0);
    // What is left of the chance when a part of all secrets is known.
    let unknown = 1.0 - secrets / possible;
    1.96 * (variance / secrets * unknown).sqrt()
}
