//! The beginner who changes one symbol at a time.

use crate::{
    budget::{Budget, Stopped},
    candidates::CHUNK,
    game::Game,
    history::Turn,
    rules::Rules,
};

pub(super) const DESCRIPTION: &str = "the first code with one last symbol after the other, watching what changes, until \
     the last symbol is known; then the first candidate: a beginner (folklore)";
pub(super) const NEEDS: &str =
    "last_digit_sweep changes the last symbol of a code: it needs codes over an alphabet";

/// Whether the guesses it makes are codes of the game.
pub(super) fn can_play(rules: &Rules) -> bool {
    rules.renames()
}

/// The next guess after these turns.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
pub(super) fn choose(
    game: &Game,
    turns: &[Turn],
    candidates: &[u32],
    budget: &Budget,
) -> Result<u32, Stopped> {
    let last = |index: u32| game.code(index).symbols().last().copied();
    let first = candidates[0];
    let mut known = true;
    for some in candidates.chunks(CHUNK) {
        budget.check()?;
        known = some.iter().all(|&candidate| last(candidate) == last(first));
        if !known {
            break;
        }
    }
    if known {
        return Ok(first);
    }
    let mut code = game.code(0);
    for symbol in 0..game.rules().symbols() as u8 {
        let (end, before) = code.symbols_mut().split_last_mut().expect("a code has a symbol");
        let allowed = if before.is_empty() {
            game.rules().not_first() >> symbol & 1 == 0
        } else {
            game.rules().repeats() || !before.contains(&symbol)
        };
        *end = symbol;
        if allowed && turns.iter().all(|turn| turn.guess != code) {
            return Ok(game.index(&code));
        }
    }
    Ok(first)
}
