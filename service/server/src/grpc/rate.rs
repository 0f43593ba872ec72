//! How a guess compares with the best ones: by each score, and in guesses.

use herdsman_engine::{
    Budget, Candidates, Choice, Class, Code, Game, Goal, History, Partition, Progress, SolveLimits,
    Stopped, Strategy, Turn, solve, suggest,
};
use herdsman_proto::v1;

use super::convert;
use crate::{
    cache::{AdviceKey, Position},
    games::Games,
};

/// The most scores of one choice: some tenths of a second where every one is computed.
const CHOICE_SCORES: u64 = 1 << 28;

/// The most scores of one proof, counted as if every set in it were as large as the first: about a second of a core
/// where it fails, far less where it does not.
const PROOF_SCORES: u64 = 1 << 32;

/// What a proof may remember, more than it can meet; and what the answers of all guesses to all candidates, which it
/// holds beside, may take.
const PROOF_BYTES: usize = 64 << 20;

/// The scores that a guess is compared by.
const SCORES: [Strategy; 4] =
    [Strategy::Minimax, Strategy::ExpectedSize, Strategy::Entropy, Strategy::MostParts];

/// The best guess by each score.
pub(super) fn best(
    games: &Games,
    game: &Game,
    position: &Position,
    budget: &Budget,
) -> Result<Vec<v1::RatedGuess>, Stopped> {
    let budget = Budget::new(budget.stop.clone(), CHOICE_SCORES);
    let rated = SCORES.map(|strategy| {
        let choice = Choice { strategy, ..Choice::default() };
        let position = position.clone();
        let key =
            AdviceKey { position, choice, top: 1, max_scores: budget.max_scores, max_lies: 0 };
        let advice = games.advice(game, &key, &budget)?.map(|(advice, ..)| advice);
        let best = advice.as_ref().map(|advice| advice.suggestions[0]);
        Ok(v1::RatedGuess {
            strategy: convert::strategy_number(strategy).into(),
            suggestion: best.map(|best| convert::suggestion(game.rules(), &best)),
            exhaustive: advice.is_some_and(|advice| advice.exhaustive),
        })
    });
    rated.into_iter().collect()
}

/// How many guesses more than the best play it takes, over all candidates, to make this guess first; nothing where
/// that cannot be proven within these limits.
pub(super) fn cost(
    game: &Game,
    position: &Position,
    candidates: &Candidates,
    guess: Code,
    partition: &Partition,
    budget: &Budget,
) -> Result<Option<u64>, Stopped> {
    let limits = limits(game, candidates);
    let least = |history: &History, candidates: &Candidates| {
        least_total(game, history, candidates, limits, budget)
    };
    let Some(best) = least(&position.history, candidates)? else { return Ok(None) };
    let winning = game.rules().answers().winning();
    let parts = partition.parts().iter().map(|&(class, count)| (count, class));
    let mut classes: Vec<(u32, Class)> = parts.filter(|&(_, class)| class != winning).collect();
    // The largest first: if one is beyond proof, it is that one.
    classes.sort_unstable_by(|a, b| b.cmp(a));
    let mut total = candidates.len() as u64;
    for (_, class) in classes {
        let mut turns = position.history.turns().to_vec();
        turns.push(Turn { guess, class });
        // After the most turns that a history has, nothing is to be rated.
        let Ok(history) = History::new(turns) else { return Ok(None) };
        let left = game.candidates(&history, budget)?;
        let Some(rest) = least(&history, &left)? else { return Ok(None) };
        total += rest;
    }
    Ok(Some(total - best))
}

/// What a proof for some or all of these candidates may use: no nodes where that is nothing.
pub(super) fn limits(game: &Game, candidates: &Candidates) -> SolveLimits {
    let scores = u64::from(game.size()) * candidates.len() as u64;
    let max_nodes = if scores > PROOF_BYTES as u64 { 0 } else { PROOF_SCORES / scores };
    SolveLimits { memo_bytes: PROOF_BYTES, threads: 1, max_nodes }
}

/// The least number of guesses over all candidates: from a book, or by a proof within the limits.
fn least_total(
    game: &Game,
    history: &History,
    candidates: &Candidates,
    limits: SolveLimits,
    budget: &Budget,
) -> Result<Option<u64>, Stopped> {
    let choice = Choice { strategy: Strategy::Optimal, ..Choice::default() };
    let quick = Budget::new(budget.stop.clone(), CHOICE_SCORES);
    let advice = suggest(game, history, candidates, &choice, 1, &quick)?;
    if advice.proven.is_some() || limits.max_nodes == 0 {
        return Ok(advice.proven.map(|value| value.total));
    }
    match solve(game, candidates, Goal::default(), limits, &Progress::default(), budget) {
        Ok(solution) => Ok(Some(solution.total)),
        Err(_) if budget.stop.is_stopped() => Err(Stopped),
        Err(_) => Ok(None),
    }
}
