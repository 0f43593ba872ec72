//! Replies in words, for people: pure functions from a reply to the text that is printed.
//!
//! The first line is the answer alone wherever a script might want it.

pub(crate) mod info;
pub(crate) mod play;

use comfy_table::{CellAlignment, Table, presets};
use herdsman_proto::{text, v1};

pub(crate) fn score(reply: &v1::ScoreResponse) -> String {
    answer(&reply.feedback) + "\n"
}

fn answer(feedback: &Option<v1::Feedback>) -> String {
    feedback.as_ref().map_or_else(|| "?".to_owned(), text::feedback)
}

pub(crate) fn filter(page: &v1::FilterResponse, count: bool) -> String {
    if count {
        let many = page.count.as_ref().map_or_else(|| page.remaining.to_string(), many);
        return format!("{many}\n");
    }
    page.candidates.iter().fold(String::new(), |text, candidate| text + candidate + "\n")
}

/// What a list of candidates leaves unsaid: that it is a part of them, and how many lies they make.
pub(crate) fn filtered(page: &v1::FilterResponse) -> Option<String> {
    if let Some(count) = &page.count {
        let found = counted(page.remaining, "code");
        return Some(format!("{found} found; in all {}", many(count)));
    }
    by_lies(&page.remaining_by_lies)
}

/// How many codes there are: `at least 70000`.
fn many(count: &v1::Count) -> String {
    match count.kind() {
        v1::CountKind::AtLeast => format!("at least {:.0}", count.value),
        v1::CountKind::Estimate => {
            format!("about {:.0} (standard error {:.0})", count.value, count.error)
        }
        v1::CountKind::Exact | v1::CountKind::Unspecified => format!("{:.0}", count.value),
    }
}

/// `lies: 12 codes with 0, 80 codes with 1`; nothing where none were allowed.
fn by_lies(counts: &[i32]) -> Option<String> {
    let counts: Vec<_> = counts
        .iter()
        .enumerate()
        .map(|(lies, &count)| format!("{} with {lies}", counted(count, "code")))
        .collect();
    (!counts.is_empty()).then(|| format!("lies: {}", counts.join(", ")))
}

pub(crate) fn guess(reply: &v1::BestNextGuessResponse) -> String {
    let [best, others @ ..] = reply.suggestions.as_slice() else {
        return format!("solved: the secret is {}\n", reply.secret);
    };
    let mut text = format!("{}\n", best.guess);
    if reply.remaining == 1 && best.guess == reply.secret {
        text += "the secret: no other code is left\n";
    } else {
        text += &format!("{}\n", suggestion(best, reply.remaining));
    }
    text +=
        &format!("{}, {}, {}", strategy(reply.strategy), proof(reply.proof), source(reply.source));
    if !reply.exhaustive {
        text += "; not exhaustive: guesses and candidates were sampled";
    }
    text += "\n";
    if let Some(count) = &reply.count {
        text += &format!("codes left: {}; the figures are those of a sample\n", many(count));
    }
    if let Some(lies) = by_lies(&reply.remaining_by_lies) {
        text += &format!("{lies}\n");
    }
    if let Some(proven) = reply.proven {
        text += &value(proven.total, proven.mean, proven.max, reply.remaining);
    }
    if !others.is_empty() {
        text += "then:\n";
    }
    for other in others {
        text += &format!("  {}  {}\n", other.guess, suggestion(other, reply.remaining));
    }
    text
}

/// What was proven: `proven: 26274 guesses over 5040 secrets, 5.213 on average, at most 7`.
fn value(total: i32, mean: f64, max: i32, secrets: i32) -> String {
    let (guesses, secrets) = (counted(total, "guess"), counted(secrets, "secret"));
    format!("proven: {guesses} over {secrets}, {mean:.3} on average, at most {max}\n")
}

pub(crate) fn solve(reply: &v1::SolveResult, max_guesses: i32) -> String {
    if reply.impossible {
        let most = counted(max_guesses, "guess");
        return format!("proven: no strategy finds every secret with at most {most}\n");
    }
    if reply.first_guess.is_empty() {
        return "solved: nothing is left to guess\n".to_owned();
    }
    let secrets = reply.histogram.iter().sum();
    let mut text = format!("{}\n", reply.first_guess);
    text += &value(reply.total, reply.mean, reply.max, secrets);
    let found: Vec<_> = reply.histogram.iter().map(i32::to_string).collect();
    text += &format!("found at guess 1, 2, ...: {}\n{}\n", found.join(", "), source(reply.source));
    text
}

/// What speaks for a guess: `could be the secret; leaves at most 264 of 1440, 182.4 expected, 2.86 bits`.
fn suggestion(suggestion: &v1::Suggestion, remaining: i32) -> String {
    let facts = suggestion.facts.unwrap_or_default();
    format!(
        "{}; leaves at most {} of {remaining}, {:.1} expected, {:.2} bits",
        could_be(suggestion.candidate),
        facts.largest_class,
        facts.expected_size,
        facts.bits,
    )
}

pub(crate) fn analyze(reply: &v1::AnalyzeResponse) -> String {
    let mut rows = columns(&["answer", "count", "share", "bits"]);
    for column in 1..4 {
        if let Some(column) = rows.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for row in &reply.partition {
        rows.add_row([
            answer(&row.feedback),
            row.count.to_string(),
            format!("{:.1}%", row.share * 100.0),
            format!("{:.2}", row.bits),
        ]);
    }
    let facts = reply.facts.unwrap_or_default();
    let mut text = format!(
        "{}\n\n{}\nworst {} of {}, expected {:.1}, {:.2} bits, {}\n",
        rows.trim_fmt(),
        standing(reply),
        facts.largest_class,
        reply.remaining,
        facts.expected_size,
        facts.bits,
        counted(facts.classes, "possible answer"),
    );
    if !reply.best.is_empty() {
        text += &format!("\n{}", rating(reply));
    }
    text
}

/// Whether the guess could be the secret, and otherwise how much of the answers it keeps.
fn standing(reply: &v1::AnalyzeResponse) -> String {
    let kept = match (reply.candidate, reply.consistent, reply.keeps_hints) {
        (true, ..) | (_, false, false) => "",
        (_, true, _) => ": it agrees with every answer, but is on no list of secrets",
        (_, _, true) => ", but keeps what the answers showed",
    };
    format!("{}{kept}", could_be(reply.candidate))
}

/// The best guess by each score, and what the guess costs against the best play.
fn rating(reply: &v1::AnalyzeResponse) -> String {
    let mut rows = columns(&["best by", "guess", "worst", "expected", "bits", "answers"]);
    for rated in &reply.best {
        let best = rated.suggestion.clone().unwrap_or_default();
        let facts = best.facts.unwrap_or_default();
        let among = if rated.exhaustive { "" } else { " (of a sample)" };
        rows.add_row([
            format!("{}{among}", strategy(rated.strategy)),
            best.guess,
            facts.largest_class.to_string(),
            format!("{:.1}", facts.expected_size),
            format!("{:.2}", facts.bits),
            facts.classes.to_string(),
        ]);
    }
    let cost = match reply.cost {
        None => "what it costs against the best play is too long to prove here".to_owned(),
        Some(v1::GuessCost { total: 0, .. }) => "proven: no guess is better".to_owned(),
        Some(cost) => format!(
            "proven: it costs {} over {} against the best play, {:.3} on average",
            counted(cost.total, "guess"),
            counted(reply.remaining, "secret"),
            cost.mean,
        ),
    };
    format!("{}\n\n{cost}\n", rows.trim_fmt())
}

pub(crate) fn diagnose(reply: &v1::DiagnoseResponse, history: &[v1::Turn]) -> String {
    if reply.consistent {
        return format!("consistent: {} left\n", counted(reply.remaining, "code"));
    }
    let played = |turn: i32| history.get(usize::try_from(turn).ok()?.checked_sub(1)?);
    let named = |turn| match played(turn) {
        Some(known) => format!("turn {turn} ({})", text::turn(known)),
        None => format!("turn {turn}"),
    };
    let mut text =
        format!("contradiction: no code is left after {}\n", named(reply.first_conflict_turn));
    let clash =
        |turns: &[i32]| turns.iter().map(|turn| named(*turn)).collect::<Vec<_>>().join(", ");
    text += &match reply.clash.as_slice() {
        [alone] => format!("{} cannot be true\n", named(*alone)),
        several => format!("these cannot all be true: {}\n", clash(several)),
    };
    // The first is `clash`.
    for other in reply.clashes.iter().skip(1) {
        text += &format!("nor can: {}\n", clash(&other.turns));
    }
    if reply.repairs.is_empty() {
        text += "no single change mends it: at least two answers are wrong\n";
    }
    for repair in &reply.repairs {
        text += &format!("if only {} is wrong, it should be one of:\n", named(repair.turn));
        let guess = played(repair.turn).map_or("?", |turn| &turn.guess);
        for option in &repair.options {
            let turn = v1::Turn { guess: guess.to_owned(), feedback: option.feedback.clone() };
            text += &format!("  {}  {} left\n", text::turn(&turn), counted(option.count, "code"));
        }
    }
    if !reply.other_guesses.is_empty() {
        let others = reply.other_guesses.join(", ");
        text +=
            &format!("these agree with every answer, but are on no list of secrets: {others}\n");
    }
    text
}

/// A table without lines, which reads well and pipes well.
pub(crate) fn columns(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

fn could_be(candidate: bool) -> &'static str {
    if candidate { "could be the secret" } else { "cannot be the secret" }
}

fn counted(count: impl Into<i64>, noun: &str) -> String {
    let count = count.into();
    let ending = match (count, noun) {
        (1, _) => "",
        (_, "guess") => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// `expected_size` for `STRATEGY_EXPECTED_SIZE`; a newer server's strategies have numbers only.
fn strategy(number: i32) -> String {
    match v1::Strategy::try_from(number) {
        Ok(strategy) => strategy.as_str_name().trim_start_matches("STRATEGY_").to_lowercase(),
        Err(_) => format!("strategy {number}"),
    }
}

fn proof(number: i32) -> &'static str {
    match v1::Proof::try_from(number) {
        Ok(v1::Proof::Proven) => "proven best",
        _ => "heuristic",
    }
}

fn source(number: i32) -> &'static str {
    match v1::Source::try_from(number) {
        Ok(v1::Source::Cache) => "from the cache",
        Ok(v1::Source::Book) => "from the book",
        _ => "computed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(guess: &str, bulls: i32, cows: i32) -> v1::Turn {
        let feedback = v1::Feedback { bulls: Some(bulls), cows: Some(cows), ..Default::default() };
        v1::Turn { guess: guess.to_owned(), feedback: Some(feedback) }
    }

    fn suggested(guess: &str, candidate: bool) -> v1::Suggestion {
        let facts =
            v1::GuessFacts { largest_class: 264, expected_size: 182.43, bits: 2.857, classes: 14 };
        v1::Suggestion { guess: guess.to_owned(), candidate, facts: Some(facts) }
    }

    #[test]
    fn the_first_line_is_the_best_guess_alone() {
        let reply = v1::BestNextGuessResponse {
            suggestions: vec![suggested("4561", true), suggested("4071", false)],
            remaining: 1440,
            proof: v1::Proof::Heuristic.into(),
            exhaustive: true,
            source: v1::Source::Cache.into(),
            strategy: v1::Strategy::ExpectedSize.into(),
            ..Default::default()
        };
        assert_eq!(
            guess(&reply),
            "4561\n\
             could be the secret; leaves at most 264 of 1440, 182.4 expected, 2.86 bits\n\
             expected_size, heuristic, from the cache\n\
             then:\n  \
             4071  cannot be the secret; leaves at most 264 of 1440, 182.4 expected, 2.86 bits\n"
        );
    }

    #[test]
    fn a_solved_game_has_a_secret_and_no_guess() {
        let reply = v1::BestNextGuessResponse {
            solved: true,
            secret: "4561".to_owned(),
            ..Default::default()
        };
        assert_eq!(guess(&reply), "solved: the secret is 4561\n");
    }

    #[test]
    fn a_contradiction_is_told_in_turns() {
        let history = [turn("0123", 4, 0), turn("4567", 1, 0)];
        let option = |bulls, cows, count| v1::RepairOption {
            feedback: turn("", bulls, cows).feedback,
            count,
        };
        let reply = v1::DiagnoseResponse {
            first_conflict_turn: 2,
            clash: vec![1, 2],
            repairs: vec![v1::Repair { turn: 2, remaining: 1, options: vec![option(0, 0, 1)] }],
            ..Default::default()
        };
        assert_eq!(
            diagnose(&reply, &history),
            "contradiction: no code is left after turn 2 (4567=1b0c)\n\
             these cannot all be true: turn 1 (0123=4b0c), turn 2 (4567=1b0c)\n\
             if only turn 2 (4567=1b0c) is wrong, it should be one of:\n  \
             4567=0b0c  1 code left\n"
        );
    }

    #[test]
    fn every_smallest_clash_and_every_guess_that_fits_is_told() {
        let history = [turn("0123", 4, 0), turn("4567", 1, 0), turn("8901", 4, 0)];
        let clash = |turns: &[i32]| v1::Clash { turns: turns.to_vec() };
        let reply = v1::DiagnoseResponse {
            clash: vec![1, 2],
            clashes: vec![clash(&[1, 2]), clash(&[1, 3])],
            other_guesses: vec!["0134".to_owned()],
            ..Default::default()
        };
        let text = diagnose(&reply, &history);
        for part in [
            "these cannot all be true: turn 1 (0123=4b0c), turn 2 (4567=1b0c)\n\
             nor can: turn 1 (0123=4b0c), turn 3 (8901=4b0c)\n",
            "on no list of secrets: 0134\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_count_says_how_exact_it_is() {
        for (kind, text) in [
            (v1::CountKind::Exact, "10240000000000"),
            (v1::CountKind::AtLeast, "at least 10240000000000"),
            (v1::CountKind::Estimate, "about 10240000000000 (standard error 2048)"),
        ] {
            let count = Some(v1::Count { kind: kind.into(), value: 1.024e13, error: 2048.0 });
            let page = v1::FilterResponse { remaining: 7, count, ..Default::default() };
            assert_eq!(filter(&page, true), format!("{text}\n"));
            assert_eq!(filtered(&page), Some(format!("7 codes found; in all {text}")));
        }
    }

    #[test]
    fn a_guess_stands_by_what_it_keeps_of_the_answers() {
        for (candidate, consistent, keeps_hints, text) in [
            (true, true, true, "could be the secret"),
            (
                false,
                true,
                true,
                "cannot be the secret: it agrees with every answer, but is on no list of secrets",
            ),
            (false, false, true, "cannot be the secret, but keeps what the answers showed"),
            (false, false, false, "cannot be the secret"),
        ] {
            let reply =
                v1::AnalyzeResponse { candidate, consistent, keeps_hints, ..Default::default() };
            assert_eq!(standing(&reply), text);
        }
    }

    #[test]
    fn a_turn_that_the_server_made_up_is_no_panic() {
        let reply = v1::DiagnoseResponse { clash: vec![7, -1, i32::MIN], ..Default::default() };
        assert!(diagnose(&reply, &[]).contains("turn 7"));
    }
}
