//! The text forms of turns and answers, the same on the command line, on the page and in error sentences.
//!
//! Owns how they are written and read: `0123=0b1c` is a turn, `0b1c` an answer. Whether the guess is a code of
//! the game and the answer possible is for the engine to say.

use crate::v1::{Feedback, Turn};

/// Why a text is no turn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// There is no `=`, or nothing on one side of it.
    #[error("`{turn}` is not a turn: write the guess, `=` and its answer, as in 0123=0b1c")]
    Incomplete {
        /// The text as it came.
        turn: String,
    },
    /// What follows the last `=` is no answer.
    #[error(
        "`{answer}` in `{turn}` is not an answer: write bulls and cows as 0b1c or 01, bulls alone as 2b or 2"
    )]
    Answer {
        /// The text as it came.
        turn: String,
        /// The part that should be an answer.
        answer: String,
    },
    /// Bulls or cows alone, in a game that tells both.
    #[error("`{answer}` in `{turn}` is half an answer: write both bulls and cows, as in 0b1c")]
    Half {
        /// The text as it came.
        turn: String,
        /// The half that is there.
        answer: String,
    },
}

/// An answer as text: `2b1c`; `2b` where only bulls are told; `?` where nothing is.
#[must_use]
pub fn feedback(feedback: &Feedback) -> String {
    match (feedback.bulls, feedback.cows) {
        (None, None) => "?".to_owned(),
        (Some(bulls), None) => format!("{bulls}b"),
        (bulls, Some(cows)) => format!("{}b{cows}c", bulls.unwrap_or(0)),
    }
}

/// A turn as text: `0123=0b1c`.
#[must_use]
pub fn turn(turn: &Turn) -> String {
    format!("{}={}", turn.guess, feedback(&turn.feedback.unwrap_or_default()))
}

/// Reads a turn: `0123=0b1c`, `0123=01` (bulls, cows), `0123=2b` or `0123=2` (bulls only).
///
/// B and C may be upper case, and spaces may stand around the guess, the answer and its parts. The last `=`
/// is the one that counts, for `=` may be a symbol.
///
/// # Errors
/// [`TurnError`], whose text says what would be right.
pub fn parse_turn(text: &str) -> Result<Turn, TurnError> {
    let (guess, answer) = text.rsplit_once('=').unwrap_or_default();
    let (guess, answer) = (guess.trim(), answer.trim());
    if guess.is_empty() || answer.is_empty() {
        return Err(TurnError::Incomplete { turn: text.to_owned() });
    }
    let feedback = parse_pegs(answer)
        .ok_or_else(|| TurnError::Answer { turn: text.to_owned(), answer: answer.to_owned() })?;
    Ok(Turn { guess: guess.to_owned(), feedback: Some(feedback) })
}

/// Reads bulls and cows. Without letters it is one digit each: eleven bulls are `11b`, for `11` is 1b1c.
fn parse_pegs(answer: &str) -> Option<Feedback> {
    let answer = answer.to_ascii_lowercase();
    if let [bulls, cows @ ..] = answer.as_bytes()
        && answer.len() <= 2
        && answer.bytes().all(|byte| byte.is_ascii_digit())
    {
        let digit = |byte: &u8| i32::from(byte - b'0');
        return Some(Feedback { bulls: Some(digit(bulls)), cows: cows.first().map(digit) });
    }
    let (bulls, rest) = match answer.split_once('b') {
        Some((bulls, rest)) => (Some(parse_count(bulls)?), rest.trim()),
        None => (None, answer.as_str()),
    };
    let cows = match rest {
        "" => None,
        rest => Some(parse_count(rest.strip_suffix('c')?)?),
    };
    Some(Feedback { bulls, cows })
}

/// Digits and nothing else: no sign, so that `-1b` is refused here.
fn parse_count(text: &str) -> Option<i32> {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, guess: &str, bulls: Option<i32>, cows: Option<i32>) {
        let expected = Turn { guess: guess.to_owned(), feedback: Some(Feedback { bulls, cows }) };
        assert_eq!(parse_turn(text), Ok(expected));
    }

    #[test]
    fn a_turn_is_read_in_every_form() {
        check("0123=0b1c", "0123", Some(0), Some(1));
        check("0123=01", "0123", Some(0), Some(1));
        check("0123=2b", "0123", Some(2), None);
        check("0123=2", "0123", Some(2), None);
        check("0123=3c", "0123", None, Some(3));
        check("0123456789ab=10B2C", "0123456789ab", Some(10), Some(2));
        check(" 0123 = 0b 1c ", "0123", Some(0), Some(1));
        check("ab=c=1b0c", "ab=c", Some(1), Some(0));
        check("红黄蓝绿=12", "红黄蓝绿", Some(1), Some(2));
    }

    #[test]
    fn half_a_turn_is_refused() {
        for text in ["", "0123", "=0b1c", "0123=", " = "] {
            assert_eq!(parse_turn(text), Err(TurnError::Incomplete { turn: text.to_owned() }));
        }
    }

    #[test]
    fn what_is_no_answer_is_refused_by_name() {
        for answer in [
            "-1b0c",
            "1b-1c",
            "123",
            "b",
            "c",
            "bc",
            "1c1b",
            "x",
            "1b1",
            "+1b",
            "99999999999b",
            "٢b",
        ] {
            let text = format!("0123={answer}");
            let error = parse_turn(&text).unwrap_err();
            assert_eq!(error, TurnError::Answer { turn: text, answer: answer.to_owned() });
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["0123=0b1c", "0123=2b", "0=1=12b0c"] {
            assert_eq!(turn(&parse_turn(text).unwrap()), text);
        }
    }

    #[test]
    fn an_answer_that_tells_nothing_is_a_question_mark() {
        assert_eq!(feedback(&Feedback::default()), "?");
        assert_eq!(turn(&Turn { guess: "0123".to_owned(), feedback: None }), "0123=?");
    }
}
