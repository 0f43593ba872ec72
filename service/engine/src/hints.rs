//! Hard mode: guesses that keep what the answers showed.

use crate::{
    code::Code,
    feedback::{Feedback, Mark},
    history::Turn,
    rules::Rules,
};

/// Whether a guess agrees with every turn: hard mode as strictly as it can be read.
pub fn is_consistent(rules: &Rules, turns: &[Turn], guess: &Code) -> bool {
    turns.iter().all(|turn| rules.score(&turn.guess, guess) == turn.class)
}

/// Whether a guess keeps what the marks of every turn showed: right symbols in their places, and each symbol that was
/// found at least as often as it was found. Where answers are not marks, whether it [agrees](is_consistent).
///
/// Every code that agrees with the turns keeps what they showed.
pub fn keeps_hints(rules: &Rules, turns: &[Turn], guess: &Code) -> bool {
    turns.iter().all(|turn| match rules.answers().feedback(turn.class) {
        Feedback::Marks(marks) => keeps(turn.guess.symbols(), marks.marks(), guess.symbols()),
        _ => rules.score(&turn.guess, guess) == turn.class,
    })
}

fn keeps(guessed: &[u8], marks: &[Mark], guess: &[u8]) -> bool {
    let shown = || guessed.iter().zip(marks);
    let in_place = shown().zip(guess).all(|((old, mark), new)| *mark != Mark::Right || old == new);
    let found =
        |symbol: u8| shown().filter(move |(old, mark)| **old == symbol && **mark != Mark::Absent);
    let used = |symbol: u8| guess.iter().filter(|new| **new == symbol).count();
    in_place && guessed.iter().all(|&symbol| used(symbol) >= found(symbol).count())
}

#[cfg(test)]
mod tests {
    use crate::{CodeSpec, FeedbackRule, Given, Rules, Turn, is_consistent, keeps_hints};

    #[test]
    fn hard_mode_has_two_readings() {
        let alphabet = ('A'..='Z').collect();
        let spec = CodeSpec { alphabet, length: 5, repeats: true, not_first: String::new() };
        let rules = Rules::codes(&spec, FeedbackRule::Marks).unwrap();
        for (guessed, marks, guess, usual, strict) in [
            ("CECUM", "G-Y--", "CANDY", false, false),
            ("CECUM", "G-Y--", "CLOCK", true, true),
            ("TARSE", "-G--Y", "PAGLE", true, false),
            ("TARSE", "-G--Y", "EAGLY", true, true),
            ("TARSE", "-G--Y", "EBGLA", false, false),
        ] {
            let given = Given { marks: Some(marks), ..Given::default() };
            let class = rules.answers().class(&given).unwrap();
            let turns = [Turn { guess: rules.code(guessed).unwrap(), class }];
            let guess = rules.code(guess).unwrap();
            assert_eq!(keeps_hints(&rules, &turns, &guess), usual);
            assert_eq!(is_consistent(&rules, &turns, &guess), strict);
        }
    }
}
