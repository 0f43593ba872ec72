//! The next guess where answers may be untrue.

use super::{Advice, Choice, Pool, Strategy, by_fit, measured, scan};
use crate::{
    budget::{Budget, Stopped},
    candidates::Candidates,
    game::Game,
    history::History,
    lies::Suspects,
};

/// The best guesses by a strategy, where some answers may be untrue: `top` of them, or as many as there are.
///
/// Guesses are ranked by how they split the codes that are possible, each with [its weight](Suspects::weighted); proofs
/// count codes that are told the truth, so the optimal strategies are rules of thumb here. Strategies that do not
/// measure choose among the codes that contradict the fewest turns. [`Pool::Hints`] counts as [`Pool::Any`]: what the
/// answers showed may be untrue, and maybe nothing keeps it. Facts are of all possible codes. Whatever the host answers
/// within its lies, the game ends: the guess tells some codes apart, so that some contradict one turn more.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
///
/// # Panics
/// If no code is possible: that is a contradiction, which the caller reports.
pub fn suggest_lying(
    game: &Game,
    history: &History,
    suspects: &Suspects,
    choice: &Choice,
    top: usize,
    budget: &Budget,
) -> Result<Advice, Stopped> {
    let (all, weights) = suspects.weighted(game, budget)?;
    assert!(!all.is_empty(), "a contradictory history has no next guess");
    let candidates = Candidates::from_sorted(all);
    let turns = history.turns();
    let measure = choice.strategy.rule_of_thumb().measure();
    let (guesses, exhaustive) = match measure {
        Some(measure) if candidates.len() > 1 => {
            let question = scan::Question {
                game,
                turns,
                candidates: candidates.indices(),
                weights: Some(&weights),
                measure,
                tie: choice.tie,
                pool: if choice.pool == Pool::Hints { Pool::Any } else { choice.pool },
                top,
                one_of_each: false,
            };
            scan::best(&question, budget)?
        }
        _ => {
            let likely = suspects.by_lies().iter().find(|codes| !codes.is_empty());
            let likely = likely.expect("some code is possible");
            // What goes by the answers alone would go in circles where one of them is untrue.
            let strategy = match choice.strategy {
                Strategy::RandomConsistent => Strategy::RandomConsistent,
                _ => Strategy::FirstConsistent,
            };
            (by_fit(game, turns, likely, &Choice { strategy, ..*choice }, top, budget)?, true)
        }
    };
    let suggestions = guesses.iter().map(|&guess| measured(game, &candidates, guess, budget));
    let suggestions = suggestions.collect::<Result<Vec<_>, _>>()?;
    Ok(Advice { suggestions, exhaustive, proven: None, from_book: false })
}
