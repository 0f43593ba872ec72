//! The text forms of turns and answers, the same on the command line, on the page and in error sentences.
//!
//! Owns how they are written and read: `0123=0b1c` is a turn, `0b1c` an answer. Whether the guess is a code of
//! the game and the answer possible is for the engine to say.

use crate::v1::{Feedback, FeedbackRule, Order, Turn};

/// Why a text is no turn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// There is no `=`, or nothing on one side of it.
    #[error("`{turn}` is not a turn: write the guess, `=` and its answer, as in 0123=0b1c")]
    Incomplete {
        /// The text as it came.
        turn: String,
    },
    /// What follows the `=` is no answer, or none that the rule knows.
    #[error("`{answer}` in `{turn}` is not an answer: write {}", form(*.rule))]
    Answer {
        /// The text as it came.
        turn: String,
        /// The part that should be an answer.
        answer: String,
        /// What answers tell in this game; unspecified if that is not known.
        rule: FeedbackRule,
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

/// How an answer of a rule is written.
fn form(rule: FeedbackRule) -> &'static str {
    match rule {
        FeedbackRule::Unspecified => {
            "bulls and cows as 0b1c or 01, marks as GY--G, lower, equal or higher as <, = or >"
        }
        FeedbackRule::Pegs => "bulls and cows as 0b1c or 01",
        FeedbackRule::Bulls => "bulls as 2b or 2",
        FeedbackRule::Total => "the symbols in common as 3, or as 5! if the guess is the secret",
        FeedbackRule::Marks => {
            "a mark for each place as GY--G: G right, Y of another place, - neither"
        }
        FeedbackRule::Order => "< if the secret is lower, > if it is higher, = if the guess is it",
    }
}

/// An answer as text: `2b1c`; `2b` where only bulls are told; `3` for a total and `5!` if the guess is the secret;
/// `GY--G`; `<`, `>` or `=` for a secret that is lower, higher or equal; `?` where nothing is told.
#[must_use]
pub fn feedback(feedback: &Feedback) -> String {
    if let Some(marks) = &feedback.marks {
        return marks.clone();
    }
    if let Some(total) = feedback.total {
        let solved = if feedback.solved() { "!" } else { "" };
        return format!("{total}{solved}");
    }
    match (feedback.order(), feedback.bulls, feedback.cows) {
        (Order::Lower, ..) => "<".to_owned(),
        (Order::Equal, ..) => "=".to_owned(),
        (Order::Higher, ..) => ">".to_owned(),
        (_, None, None) => "?".to_owned(),
        (_, Some(bulls), None) => format!("{bulls}b"),
        (_, bulls, Some(cows)) => format!("{}b{cows}c", bulls.unwrap_or(0)),
    }
}

/// A turn as text: `0123=0b1c`.
#[must_use]
pub fn turn(turn: &Turn) -> String {
    let answer = turn.feedback.as_ref().map_or_else(|| "?".to_owned(), feedback);
    format!("{}={answer}", turn.guess)
}

/// Reads a turn by its shape alone: [`parse_turn_of`] where the rule is not known.
///
/// # Errors
/// [`TurnError`], whose text says what would be right.
pub fn parse_turn(text: &str) -> Result<Turn, TurnError> {
    parse_turn_of(text, FeedbackRule::Unspecified)
}

/// Reads a turn of a game with this rule, its answer as [`feedback`] writes it: `0123=0b1c`.
///
/// Bulls and cows may be two digits (`0123=01`), and bulls alone one. Letters may be in either case, marks also be
/// coloured squares, and spaces stand around the guess, the answer and its parts. The last `=` that something follows
/// is the one that counts, for `=` may be a symbol, and an answer (`50==`).
///
/// # Errors
/// [`TurnError`], whose text says what would be right.
pub fn parse_turn_of(text: &str, rule: FeedbackRule) -> Result<Turn, TurnError> {
    let (guess, answer) = split(text.trim()).unwrap_or_default();
    if guess.is_empty() || answer.is_empty() {
        return Err(TurnError::Incomplete { turn: text.to_owned() });
    }
    let wrong = || TurnError::Answer { turn: text.to_owned(), answer: answer.to_owned(), rule };
    let feedback = match rule {
        FeedbackRule::Unspecified => parse_order(answer)
            .or_else(|| parse_marks(answer))
            .or_else(|| answer.ends_with('!').then(|| parse_total(answer)).flatten())
            .or_else(|| parse_pegs(answer)),
        FeedbackRule::Pegs => parse_pegs(answer),
        FeedbackRule::Bulls => parse_pegs(answer).filter(|answer| answer.cows.is_none()),
        FeedbackRule::Total => parse_total(answer),
        FeedbackRule::Marks => parse_marks(answer),
        FeedbackRule::Order => parse_order(answer),
    }
    .ok_or_else(wrong)?;
    if rule != FeedbackRule::Bulls && feedback.bulls.is_some() != feedback.cows.is_some() {
        return Err(TurnError::Half { turn: text.to_owned(), answer: answer.to_owned() });
    }
    Ok(Turn { guess: guess.to_owned(), feedback: Some(feedback) })
}

/// The guess and the answer of a turn.
fn split(turn: &str) -> Option<(&str, &str)> {
    let (guess, answer) = turn.rsplit_once('=')?;
    match guess.trim_end().strip_suffix('=') {
        Some(guess) if answer.is_empty() => Some((guess.trim_end(), "=")),
        _ => Some((guess.trim_end(), answer.trim_start())),
    }
}

fn parse_order(answer: &str) -> Option<Feedback> {
    let order = match answer {
        "<" => Order::Lower,
        "=" => Order::Equal,
        ">" => Order::Higher,
        _ => return None,
    };
    Some(Feedback { order: Some(order.into()), ..Feedback::default() })
}

/// Reads marks, and writes them as the server does.
fn parse_marks(answer: &str) -> Option<Feedback> {
    // What follows a square in some programs, to have it drawn in colour, is no mark.
    let marks = answer.chars().filter(|&mark| mark != '\u{fe0f}').map(|mark| match mark {
        'G' | 'g' | '🟩' => Some('G'),
        'Y' | 'y' | '🟨' => Some('Y'),
        '-' | '.' | '⬛' | '⬜' => Some('-'),
        _ => None,
    });
    Some(Feedback { marks: Some(marks.collect::<Option<_>>()?), ..Feedback::default() })
}

/// Reads a total. Two digits of which the first is 0 are bulls and cows, and no total.
fn parse_total(answer: &str) -> Option<Feedback> {
    let (total, solved) = match answer.strip_suffix('!') {
        Some(total) => (total, Some(true)),
        None => (answer, None),
    };
    let total = parse_count(total).filter(|_| total.len() == 1 || !total.starts_with('0'))?;
    Some(Feedback { total: Some(total), solved, ..Feedback::default() })
}

/// Reads bulls and cows. Without letters it is one digit each: eleven bulls are `11b`, for `11` is 1b1c.
fn parse_pegs(answer: &str) -> Option<Feedback> {
    let answer = answer.to_ascii_lowercase();
    let pegs = |bulls, cows| Some(Feedback { bulls, cows, ..Feedback::default() });
    if let [bulls, cows @ ..] = answer.as_bytes()
        && answer.len() <= 2
        && answer.bytes().all(|byte| byte.is_ascii_digit())
    {
        let digit = |byte: &u8| i32::from(byte - b'0');
        return pegs(Some(digit(bulls)), cows.first().map(digit));
    }
    let (bulls, rest) = match answer.split_once('b') {
        Some((bulls, rest)) => (Some(parse_count(bulls)?), rest.trim()),
        None => (None, answer.as_str()),
    };
    let cows = match rest {
        "" => None,
        rest => Some(parse_count(rest.strip_suffix('c')?)?),
    };
    pegs(bulls, cows)
}

/// Digits and nothing else: no sign, so that `-1b` is refused here.
fn parse_count(text: &str) -> Option<i32> {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use FeedbackRule::{Bulls, Marks, Order as OrderRule, Pegs, Total, Unspecified};

    use super::*;

    /// Checks that `text` is read as the turn that is written as `written`, by the rule and, where `by_shape`, without it.
    #[track_caller]
    fn check(rule: FeedbackRule, text: &str, written: &str, by_shape: bool) {
        let read = parse_turn_of(text, rule).unwrap();
        assert_eq!(turn(&read), written);
        assert_eq!(parse_turn_of(written, rule), Ok(read.clone()), "it is not read back");
        assert_eq!(parse_turn(text) == Ok(read), by_shape, "by its shape");
    }

    #[test]
    fn a_turn_is_read_in_every_form() {
        check(Pegs, "0123=0b1c", "0123=0b1c", true);
        check(Pegs, "0123=01", "0123=0b1c", true);
        check(Pegs, "0123456789ab=10B2C", "0123456789ab=10b2c", true);
        check(Pegs, " 0123 = 0b 1c ", "0123=0b1c", true);
        check(Pegs, "ab=c=1b0c", "ab=c=1b0c", true);
        check(Pegs, "红黄蓝绿=12", "红黄蓝绿=1b2c", true);
        check(Bulls, "MRKEV=1b", "MRKEV=1b", false);
        check(Bulls, "MRKEV=1", "MRKEV=1b", false);
        check(Total, "crane=3", "crane=3", false);
        check(Total, "crane=5!", "crane=5!", true);
        check(Total, "abcdefghijkl=10", "abcdefghijkl=10", false);
        check(Marks, "crane=GY--G", "crane=GY--G", true);
        check(Marks, "crane=gy..g", "crane=GY--G", true);
        check(Marks, "crane=🟩🟨⬛️⬜🟩", "crane=GY--G", true);
        check(Marks, "a=-", "a=-", true);
        check(OrderRule, "50=>", "50=>", true);
        check(OrderRule, "-5 = <", "-5=<", true);
        check(OrderRule, "50==", "50==", true);
        check(OrderRule, "50 = = ", "50==", true);
    }

    #[test]
    fn a_turn_without_guess_or_answer_is_refused() {
        for text in ["", "0123", "=0b1c", "0123=", " = ", "=="] {
            assert_eq!(parse_turn(text), Err(TurnError::Incomplete { turn: text.to_owned() }));
        }
    }

    #[test]
    fn half_an_answer_is_not_taken_for_a_whole_one() {
        for (text, answer) in [("0123=2b", "2b"), ("0123=2", "2"), ("0123=3c", "3c")] {
            let half = TurnError::Half { turn: text.to_owned(), answer: answer.to_owned() };
            assert_eq!(
                [Unspecified, Pegs].map(|rule| parse_turn_of(text, rule)),
                [Err(half.clone()), Err(half)]
            );
        }
    }

    #[test]
    fn what_is_no_answer_is_refused_by_name() {
        for (rule, answers) in [
            (Unspecified, "-1b0c 1b-1c 123 b c bc 1c1b x 1b1 +1b 99999999999b ٢b GYB 5!! ! lower"),
            (Pegs, "GY-- > 5! 123"),
            (Bulls, "01 1b0c 1c 123 > --G"),
            (Total, "01 1b -1 3!! ! 99999999999 GY"),
            (Marks, "11 1b0c GYX >"),
            (OrderRule, "0 G << <>"),
        ] {
            for answer in answers.split(' ') {
                let text = format!("0123={answer}");
                let error = parse_turn_of(&text, rule).unwrap_err();
                let TurnError::Answer { answer: named, .. } = &error else {
                    panic!("{error:?}");
                };
                assert_eq!(named, answer);
                assert!(error.to_string().ends_with(form(rule)), "{error}");
            }
        }
    }

    #[test]
    fn an_answer_that_tells_nothing_is_a_question_mark() {
        assert_eq!(feedback(&Feedback::default()), "?");
        assert_eq!(turn(&Turn { guess: "0123".to_owned(), feedback: None }), "0123=?");
    }
}
