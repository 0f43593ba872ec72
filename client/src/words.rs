//! Replies in words, for people: pure functions from a reply to the text that is printed.
//!
//! The first line is the answer alone wherever a script might want it.

use comfy_table::{CellAlignment, Table, presets};
use herdsman_proto::{text, v1};

pub(crate) fn score(reply: &v1::ScoreResponse) -> String {
    text::feedback(&reply.feedback.unwrap_or_default()) + "\n"
}

pub(crate) fn filter(page: &v1::FilterResponse, count: bool) -> String {
    if count {
        return format!("{}\n", page.remaining);
    }
    page.candidates.iter().fold(String::new(), |text, candidate| text + candidate + "\n")
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
            text::feedback(&row.feedback.unwrap_or_default()),
            row.count.to_string(),
            format!("{:.1}%", row.share * 100.0),
            format!("{:.2}", row.bits),
        ]);
    }
    let facts = reply.facts.unwrap_or_default();
    let mut text = format!(
        "{}\n\n{}\nworst {} of {}, expected {:.1}, {:.2} bits, {}\n",
        rows.trim_fmt(),
        could_be(reply.candidate),
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
    let clash: Vec<_> = reply.clash.iter().map(|turn| named(*turn)).collect();
    text += &match clash.as_slice() {
        [alone] => format!("{alone} cannot be true\n"),
        several => format!("these cannot all be true: {}\n", several.join(", ")),
    };
    if reply.repairs.is_empty() {
        text += "no single change mends it: at least two answers are wrong\n";
    }
    for repair in &reply.repairs {
        text += &format!("if only {} is wrong, it should be one of:\n", named(repair.turn));
        let guess = played(repair.turn).map_or("?", |turn| &turn.guess);
        for option in &repair.options {
            let turn = v1::Turn { guess: guess.to_owned(), feedback: option.feedback };
            text += &format!("  {}  {} left\n", text::turn(&turn), counted(option.count, "code"));
        }
    }
    text
}

pub(crate) fn info(reply: &v1::GetServerInfoResponse, server: &str) -> String {
    let mut games = columns(&["GAME (--rules)", "CODES", ""]);
    for preset in &reply.presets {
        games.add_row([&preset.name, &preset.codes.to_string(), &preset.title]);
    }
    let mut strategies = columns(&["STRATEGY (--strategy)", ""]);
    for strategy in &reply.strategies {
        let mark = if strategy.default { " (default)" } else { "" };
        strategies.add_row([&format!("{}{mark}", strategy.name), &strategy.description]);
    }
    let mut books = columns(&["BOOK", "PROVES THE LEAST"]);
    for book in &reply.books {
        let least = match book.objective() {
            v1::Objective::WorstCase => "worst case",
            v1::Objective::FewestAtMax => "worst case, for the fewest secrets",
            v1::Objective::Unspecified | v1::Objective::Expected => "average",
        };
        books.add_row([book.name.as_str(), least]);
    }
    let limits = reply.limits.unwrap_or_default();
    let mut table = columns(&["LIMIT", ""]);
    for (what, limit) in [
        ("codes a game", i64::from(limits.max_codes)),
        ("bytes a message", limits.max_message_bytes.into()),
        ("turns a history", limits.max_turns.into()),
        ("pairs a BatchScore", limits.max_pairs.into()),
        ("cells a ScoreMatrix", limits.max_cells.into()),
        ("candidates a page", limits.max_page_size.into()),
        ("suggestions a call", limits.max_top_k.into()),
        ("scores a call", limits.max_scores),
        ("milliseconds a call", limits.max_deadline_ms.into()),
        ("milliseconds a Solve", limits.max_solve_deadline_ms.into()),
        ("threads a Solve", limits.max_solve_threads.into()),
        ("bytes a Solve holds", limits.max_solve_memo_bytes),
    ] {
        table.add_row([what.to_owned(), limit.to_string()]);
    }
    let tables = [games, strategies, books, table].map(|table| table.trim_fmt());
    format!("herdsmand {} at {server}\n\n{}\n", reply.version, tables.join("\n\n"))
}

/// A table without lines, which reads well and pipes well.
fn columns(header: &[&str]) -> Table {
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

fn counted(count: i32, noun: &str) -> String {
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
        let feedback = v1::Feedback { bulls: Some(bulls), cows: Some(cows) };
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
            feedback: Some(v1::Feedback { bulls: Some(bulls), cows: Some(cows) }),
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
    fn a_turn_that_the_server_made_up_is_no_panic() {
        let reply = v1::DiagnoseResponse { clash: vec![7, -1, i32::MIN], ..Default::default() };
        assert!(diagnose(&reply, &[]).contains("turn 7"));
    }
}
