//! The server in words: its games, dictionaries, strategies, levels, books and limits.

use comfy_table::Table;
use herdsman_proto::v1;

use super::{columns, counted};

pub(crate) fn info(reply: &v1::GetServerInfoResponse, server: &str) -> String {
    let tables = [
        games(reply),
        dictionaries(reply),
        strategies(reply),
        levels(reply),
        books(reply),
        limits(reply),
    ];
    let tables: Vec<_> =
        tables.iter().filter(|table| table.row_count() > 0).map(Table::trim_fmt).collect();
    format!("herdsmand {} at {server}\n\n{}\n", reply.version, tables.join("\n\n"))
}

fn games(reply: &v1::GetServerInfoResponse) -> Table {
    let mut games = columns(&["GAME (--rules)", "CODES", ""]);
    for preset in &reply.presets {
        let codes =
            if preset.needs_dictionary { "words".to_owned() } else { preset.codes.to_string() };
        games.add_row([&preset.name, &codes, &preset.title]);
    }
    games
}

/// The dictionaries, with what was left out of their files.
fn dictionaries(reply: &v1::GetServerInfoResponse) -> Table {
    let mut dictionaries = columns(&["DICTIONARY (--dictionary)", "SECRETS", "GUESSES", ""]);
    for dictionary in &reply.dictionaries {
        let weighted = if dictionary.weighted { ", weighted" } else { "" };
        let sum =
            |part: fn(&v1::ListReport) -> i32| -> i32 { dictionary.reports.iter().map(part).sum() };
        let mut about = format!("{}{weighted}", counted(dictionary.letters, "letter"));
        for (left_out, what) in [
            (sum(|report| report.duplicates), "repeated"),
            (sum(|report| report.wrong_length), "of another length"),
        ] {
            if left_out > 0 {
                about += &format!(", {left_out} {what} left out");
            }
        }
        dictionaries.add_row([
            dictionary.name.clone(),
            dictionary.secrets.to_string(),
            dictionary.guesses.to_string(),
            about,
        ]);
    }
    dictionaries
}

fn strategies(reply: &v1::GetServerInfoResponse) -> Table {
    let mut strategies = columns(&["STRATEGY (--strategy)", ""]);
    for strategy in &reply.strategies {
        let mark = if strategy.default { " (default)" } else { "" };
        strategies.add_row([&format!("{}{mark}", strategy.name), &strategy.description]);
    }
    strategies
}

fn levels(reply: &v1::GetServerInfoResponse) -> Table {
    let mut levels = columns(&["LEVEL (--level)", ""]);
    for level in &reply.levels {
        levels.add_row([&self::level(level), &level.description]);
    }
    levels
}

/// The short name of a level.
pub(crate) fn level(level: &v1::LevelInfo) -> String {
    level.level().as_str_name().trim_start_matches("LEVEL_").to_lowercase()
}

fn books(reply: &v1::GetServerInfoResponse) -> Table {
    let mut books = columns(&["BOOK", "PROVES THE LEAST"]);
    for book in &reply.books {
        let least = match book.objective() {
            v1::Objective::WorstCase => "worst case",
            v1::Objective::FewestAtMax => "worst case, for the fewest secrets",
            v1::Objective::Unspecified | v1::Objective::Expected => "average",
        };
        books.add_row([book.name.as_str(), least]);
    }
    books
}

fn limits(reply: &v1::GetServerInfoResponse) -> Table {
    let limits = reply.limits.unwrap_or_default();
    let mut table = columns(&["LIMIT", ""]);
    for (what, limit) in [
        ("codes a game", i64::from(limits.max_codes)),
        ("words a request", limits.max_words.into()),
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
    table
}
