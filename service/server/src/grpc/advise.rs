//! BestNextGuess and Analyze: what to guess, and what a guess is worth. Both are answered from a cache where they can
//! be, and computed once for all who ask the same at the same time.

use std::sync::Arc;

use herdsman_engine::{
    Advice as Best, Budget, Choice, Class, History, LargeError, Rules, Strategy, is_consistent,
    keeps_hints, partition, suggest_large, suggest_lying,
};
use herdsman_proto::v1;

use super::{
    Shared, convert, rate,
    rules::is_large,
    status::{Failure, Reason, Violation, Violations},
};
use crate::{
    cache::{AdviceKey, AnalysisKey, Origin, Position, Timed},
    dictionaries::Dictionaries,
    games::{self, Games},
};

/// An answer, without its source; nothing if no code agrees with the history.
pub(super) type Advice = Option<v1::BestNextGuessResponse>;
/// An answer; nothing if no code agrees with the history.
pub(super) type Analysis = Option<v1::AnalyzeResponse>;

pub(super) async fn best_next_guess(
    shared: &Arc<Shared>,
    mut request: v1::BestNextGuessRequest,
) -> Result<v1::BestNextGuessResponse, Failure> {
    let mut violations = Violations::default();
    let rules = violations.game_or_sample(shared, request.rules.take(), &request.history).await?;
    let (key, history) = read(shared, violations, rules, &request)?;
    let key = shared.advice.ask(key);
    let (advice, origin) = shared
        .advice
        .get(&key, || {
            let key = key.clone();
            let large = is_large(&key.position.rules, &shared.config);
            let advise = if large { advise_large } else { advise };
            let max_scores = key.max_scores;
            shared
                .begin(max_scores, move |games, budget| Timed::run(|| advise(games, &key, budget)))
        })
        .await?;
    match advice.answer {
        Some(advice) => {
            let source = match advice.source() {
                // Where it was known from says more than where it was kept since.
                known @ (v1::Source::Book | v1::Source::Cache) => known,
                _ => convert::source(origin),
            };
            Ok(v1::BestNextGuessResponse { source: source.into(), ..advice })
        }
        None => {
            let (lies, rules) = (key.max_lies, key.position.rules.clone());
            Err(shared.contradiction_within(lies, rules, history, &request.history).await)
        }
    }
}

/// Checks what is asked of the game of these rules, and reduces it to what its answer depends on.
pub(super) fn read(
    shared: &Shared,
    mut violations: Violations,
    rules: Option<Rules>,
    request: &v1::BestNextGuessRequest,
) -> Result<(AdviceKey, History), Failure> {
    let config = &shared.config;
    let history = violations.history(rules.as_ref(), &request.history);
    let v1::BestNextGuessRequest { strategy, tie, pool, seed, level, .. } = *request;
    let player = v1::Player { strategy, tie, pool, seed, level };
    let choice = violations.choice(rules.as_ref(), "", player);
    let top = violations.natural("top_k", request.top_k.into());
    let most = u64::from(config.max_top_k);
    let top = top.and_then(|top| violations.limit("top_k", "suggestions", top, most));
    let max_scores = request.limits.unwrap_or_default().max_scores;
    let max_scores = violations.natural("limits.max_scores", max_scores);
    let max_lies = violations.lies(request.max_lies);
    let rules = match max_lies {
        Some(1..) => rules.and_then(|rules| violations.enumerable(rules, config)),
        _ => rules,
    };
    let (Some(rules), Some(history), Some(choice)) = (rules, history, choice) else {
        return Err(violations.into());
    };
    let (Some(top), Some(max_scores), Some(max_lies)) = (top, max_scores, max_lies) else {
        return Err(violations.into());
    };
    let choice = match choice.strategy {
        // Who does not watch what fits has nothing to go by here.
        Strategy::RepeatScan | Strategy::LastDigitSweep
            if max_lies > 0 || is_large(&rules, config) =>
        {
            Choice { strategy: Strategy::FirstConsistent, ..choice }
        }
        _ => choice,
    };
    let key = AdviceKey {
        position: Position::within(max_lies, rules, &history),
        choice,
        top: top.max(1) as usize,
        max_scores: if max_scores == 0 {
            config.max_scores
        } else {
            max_scores.min(config.max_scores)
        },
        max_lies,
    };
    Ok((key, history))
}

/// A reply with what it has before anything is computed.
fn begin(key: &AdviceKey) -> v1::BestNextGuessResponse {
    v1::BestNextGuessResponse {
        solved: key.position.is_won(),
        exhaustive: true,
        strategy: convert::strategy_number(key.choice.strategy).into(),
        ..Default::default()
    }
}

/// The job of BestNextGuess.
fn advise(games: &Games, key: &AdviceKey, budget: &Budget) -> Result<Advice, Failure> {
    if key.max_lies > 0 {
        return advise_lying(games, key, budget);
    }
    let position = &key.position;
    let game = games.game(&position.rules)?;
    let mut reply = begin(key);
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
        // Whatever a strategy guesses, one code is left.
        let candidates = games.candidates(&game, position, budget)?;
        reply.secret = position.rules.text(&game.code(candidates.indices()[0]));
    }
    if origin == Origin::Cache {
        reply.source = v1::Source::Cache.into();
    }
    Ok(Some(reply))
}

/// The same where some turns may be untrue.
fn advise_lying(games: &Games, key: &AdviceKey, budget: &Budget) -> Result<Advice, Failure> {
    let Position { rules, history } = &key.position;
    let game = games.game(rules)?;
    let suspects = game.suspects(history, key.max_lies, budget)?;
    let Some(&first) = suspects.by_lies().iter().flatten().next() else { return Ok(None) };
    let mut reply = begin(key);
    reply.remaining = convert::count(suspects.len());
    reply.remaining_by_lies = convert::by_lies(&suspects);
    if suspects.len() == 1 {
        reply.secret = rules.text(&game.code(first));
    }
    if !reply.solved {
        let advice = suggest_lying(&game, history, &suspects, &key.choice, key.top, budget)?;
        fill(&mut reply, rules, &advice, suspects.len());
    }
    Ok(Some(reply))
}

/// The same for a game whose codes are too many to be enumerated.
fn advise_large(_: &Games, key: &AdviceKey, budget: &Budget) -> Result<Advice, Failure> {
    let Position { rules, history } = &key.position;
    let AdviceKey { choice, top, .. } = key;
    let found = match suggest_large(rules, history, choice, *top, choice.seed, budget) {
        Ok(found) => found,
        Err(LargeError::Contradiction) => return Ok(None),
        Err(LargeError::Stopped(stopped)) => return Err(stopped.into()),
        Err(error @ LargeError::NotFound { .. }) => {
            return Err(Violation::new("rules", Reason::SpaceTooLarge, error).into());
        }
    };
    let mut reply = begin(key);
    reply.count = Some(convert::known(found.count));
    let sampled = found.sampled as usize;
    if sampled == 1 && found.advice.exhaustive {
        reply.secret = rules.text(&found.advice.suggestions[0].guess);
    }
    match reply.solved {
        true => reply.remaining = convert::count(sampled),
        false => fill(&mut reply, rules, &found.advice, sampled),
    }
    Ok(Some(reply))
}

/// Writes the engine's advice at `remaining` candidates into a reply.
fn fill(reply: &mut v1::BestNextGuessResponse, rules: &Rules, advice: &Best, remaining: usize) {
    reply.remaining = convert::count(remaining);
    reply.exhaustive = advice.exhaustive;
    reply.proof = convert::proof(advice.proven.is_some()).into();
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
    mut request: v1::AnalyzeRequest,
) -> Result<v1::AnalyzeResponse, Failure> {
    let mut violations = Violations::default();
    let rules = violations.game(shared, request.rules.take(), &request.history).await?;
    let (key, history) = read_analysis(violations, rules, &request)?;
    let key = shared.analyses.ask(key);
    let (analysis, _) = shared
        .analyses
        .get(&key, || {
            let key = key.clone();
            shared.begin(u64::MAX, move |games, budget| Timed::run(|| split(games, &key, budget)))
        })
        .await?;
    match analysis.answer {
        Some(analysis) => Ok(analysis),
        None => {
            Err(shared.contradiction(key.position.rules.clone(), history, &request.history).await)
        }
    }
}

/// As [`read`], for Analyze.
pub(super) fn read_analysis(
    mut violations: Violations,
    rules: Option<Rules>,
    request: &v1::AnalyzeRequest,
) -> Result<(AnalysisKey, History), Failure> {
    let history = violations.history(rules.as_ref(), &request.history);
    let guess =
        rules.as_ref().and_then(|rules| violations.code(rules, || "guess".into(), &request.guess));
    let (Some(rules), Some(history), Some(guess)) = (rules, history, guess) else {
        return Err(violations.into());
    };
    let position = Position::new(rules, &history);
    Ok((AnalysisKey { position, guess, rate: request.rate }, history))
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
    let row = |&(class, count): &(Class, u32)| v1::PartitionRow {
        feedback: Some(convert::feedback(rules, class)),
        count: convert::count(count),
        share: partition.share(class),
        bits: partition.class_bits(class),
    };
    let turns = key.position.history.turns();
    Ok(Some(v1::AnalyzeResponse {
        remaining: convert::count(remaining),
        candidate: analysis.candidate,
        partition: partition.parts().iter().map(row).collect(),
        facts: Some(convert::facts(partition.facts())),
        best,
        cost: analysis.cost.map(|total| v1::GuessCost {
            total: convert::count(total),
            mean: convert::mean(total, remaining),
        }),
        consistent: is_consistent(rules, turns, &key.guess),
        keeps_hints: keeps_hints(rules, turns, &key.guess),
    }))
}

/// Whether an answer measured all it should: only then is it kept.
pub(super) fn is_whole(advice: &Timed<Advice>) -> bool {
    advice.answer.as_ref().is_none_or(|advice| advice.exhaustive)
}

/// The same for an analysis.
pub(super) fn is_whole_analysis(analysis: &Timed<Analysis>) -> bool {
    analysis.answer.as_ref().is_none_or(|analysis| analysis.best.iter().all(|best| best.exhaustive))
}

pub(super) fn advice_memory(
    key: &AdviceKey,
    advice: &Timed<Advice>,
    dictionaries: &Dictionaries,
) -> usize {
    let suggestion =
        |suggestion: &v1::Suggestion| size_of::<v1::Suggestion>() + suggestion.guess.capacity();
    let reply = advice.answer.as_ref().map_or(0, |reply| {
        reply.secret.capacity() + reply.suggestions.iter().map(suggestion).sum::<usize>()
    });
    size_of::<(AdviceKey, Timed<Advice>)>() + key.position.memory(dictionaries) + reply
}

pub(super) fn analysis_memory(
    key: &AnalysisKey,
    analysis: &Timed<Analysis>,
    dictionaries: &Dictionaries,
) -> usize {
    let rows = analysis.answer.as_ref().map_or(0, |reply| {
        // A guess of a few bytes takes no more than its place in the allocator.
        size_of_val(reply.partition.as_slice())
            + reply.best.len() * (size_of::<v1::RatedGuess>() + 64)
    });
    size_of::<(AnalysisKey, Timed<Analysis>)>() + key.position.memory(dictionaries) + rows
}
