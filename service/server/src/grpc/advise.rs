//! BestNextGuess and Analyze: what to guess, and what a guess is worth. Both are answered from a cache where they can
//! be, and computed once for all who ask the same at the same time.

use std::sync::Arc;

use herdsman_engine::{Budget, Choice, Class, History, Pool, Rules, Strategy, Tie, partition};
use herdsman_proto::v1;

use super::{
    Shared, convert, rate,
    status::{Failure, Reason, Violation, Violations},
};
use crate::{
    cache::{AdviceKey, AnalysisKey, Origin, Position},
    games::{self, Games},
};

/// An answer, without its source; nothing if no code agrees with the history.
pub(super) type Advice = Option<v1::BestNextGuessResponse>;
/// An answer; nothing if no code agrees with the history.
pub(super) type Analysis = Option<v1::AnalyzeResponse>;

pub(super) async fn best_next_guess(
    shared: &Arc<Shared>,
    request: v1::BestNextGuessRequest,
) -> Result<v1::BestNextGuessResponse, Failure> {
    let (key, history) = read(shared, &request)?;
    let computing = (Arc::clone(shared), key.clone());
    let (advice, origin) = shared
        .advice
        .get(&key, move || async move {
            let (shared, key) = computing;
            let max_scores = key.max_scores;
            shared.run(max_scores, move |games, budget| advise(games, &key, budget)).await
        })
        .await?;
    match advice {
        Some(advice) => {
            let source = match advice.source() {
                // Where it was known from says more than where it was kept since.
                known @ (v1::Source::Book | v1::Source::Cache) => known,
                _ => convert::source(origin),
            };
            Ok(v1::BestNextGuessResponse { source: source.into(), ..advice })
        }
        None => Err(shared.contradiction(key.position.rules, history, &request.history).await),
    }
}

/// Checks a request and reduces it to what its answer depends on.
fn read(
    shared: &Shared,
    request: &v1::BestNextGuessRequest,
) -> Result<(AdviceKey, History), Failure> {
    let config = &shared.config;
    let mut violations = Violations::default();
    let rules = violations.game(request.rules.as_ref(), config);
    let history = violations.history(rules.as_ref(), &request.history, config);
    let strategy = violations.member("strategy", request.strategy, "strategy");
    let tie = violations.member("tie", request.tie, "tie rule");
    let pool = violations.member("pool", request.pool, "guess pool");
    let top = violations.natural("top_k", request.top_k.into());
    let most = u64::from(config.max_top_k);
    let top = top.and_then(|top| violations.limit("top_k", "suggestions", top, most));
    let max_scores = request.limits.unwrap_or_default().max_scores;
    let max_scores = violations.natural("limits.max_scores", max_scores);
    let (Some(rules), Some(history)) = (rules, history) else { return Err(violations.into()) };
    let (Some(strategy), Some(tie), Some(pool), Some(top), Some(max_scores)) =
        (strategy, tie, pool, top, max_scores)
    else {
        return Err(violations.into());
    };
    let strategy = match (strategy, pool) {
        // The best play may be a guess that cannot be the secret: who wants none such wants another default.
        (v1::Strategy::Unspecified, v1::GuessPool::Consistent) => Strategy::EntropyLarmouth,
        (v1::Strategy::Optimal | v1::Strategy::OptimalWorstCase, v1::GuessPool::Consistent) => {
            let problem = "the best play considers every guess: send GUESS_POOL_ANY, or leave `strategy` to the server";
            return Err(Violation::new("pool", Reason::InvalidOption, problem).into());
        }
        (strategy, _) => convert::strategy(strategy),
    };
    let choice = Choice {
        strategy,
        tie: convert::tie(tie),
        pool: convert::pool(pool),
        seed: request.seed.cast_unsigned(),
    };
    let key = AdviceKey {
        position: Position::new(rules, &history),
        choice: heeded(choice),
        top: top.max(1) as usize,
        max_scores: if max_scores == 0 {
            config.max_scores
        } else {
            max_scores.min(config.max_scores)
        },
    };
    Ok((key, history))
}

/// A choice without the options that its strategy does not heed, so that they make no second entry of one answer.
fn heeded(choice: Choice) -> Choice {
    let heeds = |option| choice.strategy.options().contains(&option);
    let Choice { strategy, tie, pool, seed } = choice;
    Choice {
        strategy,
        tie: if heeds("tie") { tie } else { Tie::default() },
        pool: if heeds("pool") { pool } else { Pool::default() },
        seed: if heeds("seed") { seed } else { 0 },
    }
}

/// The job of BestNextGuess.
fn advise(games: &Games, key: &AdviceKey, budget: &Budget) -> Result<Advice, Failure> {
    let position = &key.position;
    let game = games.game(&position.rules)?;
    let mut reply = v1::BestNextGuessResponse {
        solved: position.is_won(),
        exhaustive: true,
        strategy: convert::strategy_number(key.choice.strategy).into(),
        ..Default::default()
    };
    if reply.solved {
        let candidates = games.candidates(&game, position, budget)?;
        let Some(&secret) = candidates.indices().first() else { return Ok(None) };
        reply.remaining = convert::count(candidates.len());
        reply.secret = position.rules.text(&game.code(secret));
        return Ok(Some(reply));
    }
    let Some((advice, remaining, origin)) = games.advice(&game, key, budget)? else {
        return Ok(None);
    };
    fill(&mut reply, &position.rules, &advice, remaining);
    if remaining == 1 {
        // A single candidate is the only suggestion.
        reply.secret = position.rules.text(&advice.suggestions[0].guess);
    }
    if origin == Origin::Cache {
        reply.source = v1::Source::Cache.into();
    }
    Ok(Some(reply))
}

/// Writes the engine's advice at `remaining` candidates into a reply.
fn fill(
    reply: &mut v1::BestNextGuessResponse,
    rules: &Rules,
    advice: &herdsman_engine::Advice,
    remaining: usize,
) {
    reply.remaining = convert::count(remaining);
    reply.exhaustive = advice.exhaustive;
    let proof = if advice.proven.is_some() { v1::Proof::Proven } else { v1::Proof::Heuristic };
    reply.proof = proof.into();
    reply.proven = advice.proven.map(|value| v1::ProvenValue {
        total: convert::count(value.total),
        mean: convert::mean(value.total, remaining),
        max: convert::count(value.max),
    });
    if advice.from_book {
        reply.source = v1::Source::Book.into();
    }
    let suggestions = advice.suggestions.iter();
    reply.suggestions =
        suggestions.map(|suggestion| convert::suggestion(rules, suggestion)).collect();
}

pub(super) async fn analyze(
    shared: &Arc<Shared>,
    request: v1::AnalyzeRequest,
) -> Result<v1::AnalyzeResponse, Failure> {
    let mut violations = Violations::default();
    let rules = violations.game(request.rules.as_ref(), &shared.config);
    let history = violations.history(rules.as_ref(), &request.history, &shared.config);
    let guess =
        rules.as_ref().and_then(|rules| violations.code(rules, || "guess".into(), &request.guess));
    let (Some(rules), Some(history), Some(guess)) = (rules, history, guess) else {
        return Err(violations.into());
    };
    let key = AnalysisKey { position: Position::new(rules, &history), guess, rate: request.rate };
    let computing = (Arc::clone(shared), key.clone());
    let (analysis, _) = shared
        .analyses
        .get(&key, move || async move {
            let (shared, key) = computing;
            shared.run(u64::MAX, move |games, budget| split(games, &key, budget)).await
        })
        .await?;
    match analysis {
        Some(analysis) => Ok(analysis),
        None => Err(shared.contradiction(key.position.rules, history, &request.history).await),
    }
}

/// The job of Analyze.
fn split(games: &Games, key: &AnalysisKey, budget: &Budget) -> Result<Analysis, Failure> {
    let rules = &key.position.rules;
    let game = games.game(rules)?;
    let rate = key.rate && !key.position.is_won();
    let analysis = games.analysis(key, |AnalysisKey { position, guess, .. }| {
        let candidates = games.candidates(&game, position, budget)?;
        let partition = partition(&game, &candidates, guess, budget)?;
        let cost = match rate && !candidates.is_empty() {
            true => rate::cost(&game, position, &candidates, *guess, &partition, budget)?,
            false => None,
        };
        let candidate = candidates.contains(game.index(guess));
        Ok::<_, Failure>(games::Analysis { partition, candidate, cost })
    })?;
    let partition = &analysis.partition;
    let remaining = partition.total() as usize;
    if remaining == 0 {
        return Ok(None);
    }
    let best = if rate { rate::best(games, &game, &key.position, budget)? } else { vec![] };
    let row = |(class, &count): (u8, &u32)| v1::PartitionRow {
        feedback: Some(convert::feedback(rules, Class(class))),
        count: convert::count(count),
        share: f64::from(count) / f64::from(partition.total()),
        bits: partition.class_bits(Class(class)),
    };
    Ok(Some(v1::AnalyzeResponse {
        remaining: convert::count(remaining),
        candidate: analysis.candidate,
        partition: (0..)
            .zip(partition.counts())
            .filter(|(_, count)| **count > 0)
            .map(row)
            .collect(),
        facts: Some(convert::facts(partition.facts())),
        best,
        cost: analysis.cost.map(|total| v1::GuessCost {
            total: convert::count(total),
            mean: convert::mean(total, remaining),
        }),
    }))
}

/// Whether an answer measured all it should: only then is it kept.
pub(super) fn is_whole(advice: &Advice) -> bool {
    advice.as_ref().is_some_and(|advice| advice.exhaustive)
}

/// The same for an analysis.
pub(super) fn is_whole_analysis(analysis: &Analysis) -> bool {
    analysis.as_ref().is_some_and(|analysis| analysis.best.iter().all(|best| best.exhaustive))
}

pub(super) fn advice_memory(key: &AdviceKey, advice: &Advice) -> usize {
    let suggestion =
        |suggestion: &v1::Suggestion| size_of::<v1::Suggestion>() + suggestion.guess.capacity();
    let reply = advice.as_ref().map_or(0, |reply| {
        reply.secret.capacity() + reply.suggestions.iter().map(suggestion).sum::<usize>()
    });
    size_of::<(AdviceKey, Advice)>() + key.position.memory() + reply
}

pub(super) fn analysis_memory(key: &AnalysisKey, analysis: &Analysis) -> usize {
    let rows = analysis.as_ref().map_or(0, |reply| {
        // A guess of a few bytes takes no more than its place in the allocator.
        size_of_val(reply.partition.as_slice())
            + reply.best.len() * (size_of::<v1::RatedGuess>() + 64)
    });
    size_of::<(AnalysisKey, Analysis)>() + key.position.memory() + rows
}
