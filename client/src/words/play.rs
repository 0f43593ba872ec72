//! Games that were played, in words: transcripts, hosts' answers, evaluations and duels.

use comfy_table::CellAlignment;
use herdsman_proto::{text, v1};

use super::{columns, counted};
use crate::evaluate::Fared;

/// Characters of the longest bar of a histogram.
const WIDTH: f64 = 40.0;

pub(crate) fn answer(reply: &v1::AnswerResponse) -> String {
    let answer = super::answer(&reply.feedback);
    let left = if reply.solved {
        "solved: no other code was left".to_owned()
    } else {
        format!("{} left", counted(reply.remaining, "code"))
    };
    let proof = match reply.proof() {
        v1::Proof::Proven => "; proven: no answer holds out longer",
        _ => "",
    };
    format!("{answer}\n{left}{proof}\n")
}

/// Each turn with how many codes are left after it, where that is known.
pub(crate) fn turns(reply: &v1::SimulateResponse) -> impl Iterator<Item = (v1::Turn, Option<i32>)> {
    // What is left after a turn is what was possible before the next one.
    let left = reply.turns.iter().skip(1).map(|turn| Some(turn.remaining));
    let left = left.chain([reply.solved.then_some(1)]);
    reply.turns.iter().map(|played| played.turn.clone().unwrap_or_default()).zip(left)
}

/// A turn a line, the first of them the `first` of the game: `1. 0123=0b1c  1440 left`.
pub(crate) fn simulate(reply: &v1::SimulateResponse, first: usize) -> String {
    let mut transcript = String::new();
    for ((turn, left), number) in turns(reply).zip(first..) {
        transcript += &format!("{number}. {}", text::turn(&turn));
        transcript += &left.map_or_else(String::new, |left| format!("  {left} left"));
        transcript += "\n";
    }
    transcript
}

/// The facts in a line, then the histogram with a bar a line.
pub(crate) fn evaluation(result: &v1::Evaluation) -> String {
    let most = result.histogram.iter().copied().max().unwrap_or(0).max(1);
    let mut rows = columns(&["guess", "secrets", ""]);
    for column in 0..2 {
        if let Some(column) = rows.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for (guess, &secrets) in (1..).zip(&result.histogram) {
        // Rounded up, so that one secret is seen.
        let bar = (f64::from(secrets) * WIDTH / f64::from(most)).ceil().max(0.0) as usize;
        rows.add_row([guess.to_string(), secrets.to_string(), "=".repeat(bar)]);
    }
    format!("{}\n\n{}\n", facts(result), rows.trim_fmt())
}

/// A row a strategy.
pub(crate) fn comparison(results: &[Fared]) -> String {
    let longest = results.iter().map(|fared| fared.result.histogram.len()).max().unwrap_or(0);
    let guesses: Vec<_> = (1..=longest).map(|guess| guess.to_string()).collect();
    let mut header = vec!["strategy", "total", "mean", "max"];
    header.extend(guesses.iter().map(String::as_str));
    let mut rows = columns(&header);
    for column in rows.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for Fared { name, result } in results {
        let mut row =
            vec![name.clone(), result.total.to_string(), mean(result), result.max.to_string()];
        row.extend(result.histogram.iter().map(i32::to_string));
        rows.add_row(row);
    }
    format!("{}\n", rows.trim_fmt())
}

/// The chances in a line, then the facts of each player.
pub(crate) fn duel(result: &v1::DuelResult, players: &[Fared; 2]) -> String {
    let percent = |share: f64| format!("{:.2}%", share * 100.0);
    let [win, draw, lose] = [result.win, result.draw, result.lose].map(percent);
    let mut text = format!("{} wins {win}, draws {draw}, loses {lose}\n", players[0].name);
    for player in players {
        text += &format!("{}: {}\n", player.name, facts(&player.result));
    }
    text
}

/// `26274 guesses over 5040 secrets, 5.213 on average, at most 7`; of a sample, how exact the mean is.
pub(crate) fn facts(result: &v1::Evaluation) -> String {
    let guesses = counted(result.total, "guess");
    let secrets = counted(result.secrets, "secret");
    let sample = if result.exact { "" } else { "a sample of " };
    format!("{guesses} over {sample}{secrets}, {} on average, at most {}", mean(result), result.max)
}

fn mean(result: &v1::Evaluation) -> String {
    if result.exact {
        format!("{:.3}", result.mean)
    } else {
        format!("{:.3} ± {:.3}", result.mean, result.margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(guess: &str, bulls: i32, remaining: i32) -> v1::SimulatedTurn {
        let feedback = v1::Feedback { bulls: Some(bulls), cows: Some(0), ..Default::default() };
        let turn = v1::Turn { guess: guess.to_owned(), feedback: Some(feedback) };
        v1::SimulatedTurn { turn: Some(turn), remaining, proof: 0 }
    }

    #[test]
    fn a_turn_tells_what_is_left_after_it() {
        let turns = vec![played("0123", 1, 5040), played("0456", 4, 720)];
        let mut reply = v1::SimulateResponse { turns, solved: true, ..Default::default() };
        assert_eq!(simulate(&reply, 1), "1. 0123=1b0c  720 left\n2. 0456=4b0c  1 left\n");
        reply.solved = false;
        assert_eq!(simulate(&reply, 7), "7. 0123=1b0c  720 left\n8. 0456=4b0c\n");
        assert_eq!(simulate(&v1::SimulateResponse::default(), 1), "");
    }

    fn result(histogram: &[i32], margin: f64) -> v1::Evaluation {
        let total: i32 = (1..).zip(histogram).map(|(guess, found)| guess * found).sum();
        let secrets = histogram.iter().sum();
        v1::Evaluation {
            total: total.into(),
            mean: f64::from(total) / f64::from(secrets),
            max: histogram.len() as i32,
            histogram: histogram.to_vec(),
            secrets,
            exact: margin == 0.0,
            margin,
        }
    }

    #[test]
    fn an_evaluation_is_its_facts_and_a_bar_for_each_guess() {
        assert_eq!(
            evaluation(&result(&[1, 20, 0, 40], 0.0)),
            format!(
                "201 guesses over 61 secrets, 3.295 on average, at most 4\n\n\
                 guess  secrets\n    1        1  =\n    2       20  {}\n    3        0\n    4       40  {}\n",
                "=".repeat(20),
                "=".repeat(40)
            )
        );
        let sample = evaluation(&result(&[1, 1], 0.25));
        assert!(
            sample.starts_with("3 guesses over a sample of 2 secrets, 1.500 ± 0.250 on average"),
            "{sample}"
        );
    }

    #[test]
    fn strategies_are_compared_row_by_row() {
        let fared = |name: &str, histogram: &[i32]| Fared {
            name: name.to_owned(),
            result: result(histogram, 0.0),
        };
        let [good, bad] = [fared("optimal", &[1, 2]), fared("easy", &[0, 1, 2])];
        let table = comparison(&[good, bad]);
        let rows: Vec<Vec<_>> =
            table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            rows,
            [
                vec!["strategy", "total", "mean", "max", "1", "2", "3"],
                vec!["optimal", "5", "1.667", "2", "1", "2"],
                vec!["easy", "8", "2.667", "3", "0", "1", "2"],
            ]
        );
    }
}
