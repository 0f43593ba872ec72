//! The beginner who finds the symbols first, and then tries how they can be arranged.

use std::collections::HashMap;

use crate::{
    budget::{Budget, Stopped},
    code::Code,
    feedback::{Class, Feedback, Mark},
    game::Game,
    history::Turn,
    rules::{MAX_ALPHABET, Rules},
};

pub(super) const DESCRIPTION: &str = "0000, 1111 and so on until all symbols are found, then their arrangements in \
     alphabet order, whatever the answers say of places: a beginner (folklore)";
pub(super) const NEEDS: &str = "repeat_scan guesses 0000, 1111 and so on: it needs codes whose symbols may repeat, and \
     any of them first";

/// Turns or arrangements that are looked through between two looks at the flag: some tenths of a millisecond.
const STRETCH: usize = 4096;

/// Whether the guesses it makes are codes of the game.
pub(super) fn can_play(rules: &Rules) -> bool {
    rules.renames() && rules.repeats() && rules.not_first() == 0
}

/// The next guess after these turns, of which a long game has hundreds of thousands.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
pub(super) fn choose(
    game: &Game,
    turns: &[Turn],
    candidates: &[u32],
    budget: &Budget,
) -> Result<u32, Stopped> {
    let rules = game.rules();
    let mut answers: HashMap<Code, Class> = HashMap::with_capacity(turns.len());
    for some in turns.chunks(STRETCH) {
        budget.check()?;
        answers.extend(some.iter().map(|turn| (turn.guess, turn.class)));
    }
    let mut code = game.code(0);
    let (mut counts, mut sum) = ([0_u8; MAX_ALPHABET], 0);
    for symbol in 0..rules.symbols() as u8 {
        code.symbols_mut().fill(symbol);
        let Some(&class) = answers.get(&code) else { return Ok(game.index(&code)) };
        counts[usize::from(symbol)] = places(rules.answers().feedback(class));
        sum += usize::from(counts[usize::from(symbol)]);
        if sum == rules.length() {
            break;
        }
    }
    let found = (0..).zip(counts).flat_map(|(symbol, n)| (0..n).map(move |_| symbol));
    for (place, symbol) in code.symbols_mut().iter_mut().zip(found) {
        *place = symbol;
    }
    for tried in 0.. {
        if !answers.contains_key(&code) {
            break;
        }
        if tried % STRETCH == 0 {
            budget.check()?;
        }
        if !rearrange(&mut code) {
            // Only if an answer is wrong, in a way that leaves candidates all the same.
            return Ok(candidates[0]);
        }
    }
    Ok(game.index(&code))
}

/// How many places have the only symbol of a guess.
fn places(feedback: Feedback) -> u8 {
    match feedback {
        Feedback::Pegs { bulls, .. } | Feedback::Bulls { bulls } => bulls,
        Feedback::Total { total, .. } => total,
        Feedback::Marks(marks) => {
            marks.marks().iter().filter(|mark| **mark == Mark::Right).count() as u8
        }
        Feedback::Order(_) => 0,
    }
}

/// Makes a code the next arrangement of its symbols in alphabet order; tells whether there is one.
fn rearrange(code: &mut Code) -> bool {
    let symbols = code.symbols_mut();
    let Some(at) = symbols.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let next = symbols.iter().rposition(|&symbol| symbol > symbols[at]).expect("the next one is");
    symbols.swap(at, next);
    symbols[at + 1..].reverse();
    true
}
