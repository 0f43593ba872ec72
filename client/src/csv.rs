//! Replies as tables of comma-separated values: pure functions from a reply to rows, as RFC 4180 writes them.

use std::fmt;

use herdsman_proto::{text, v1};

use crate::{evaluate::Fared, words};

/// Rows, the first of them the header.
#[derive(Debug)]
pub(crate) struct Table(Vec<Vec<String>>);

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        Self(vec![header.iter().map(|&name| name.to_owned()).collect()])
    }

    fn row<const N: usize>(mut self, row: [String; N]) -> Self {
        self.0.push(row.into());
        self
    }

    pub(crate) fn rows<const N: usize>(self, rows: impl IntoIterator<Item = [String; N]>) -> Self {
        rows.into_iter().fold(self, Self::row)
    }

    /// The rows alone: for what is printed below others.
    pub(crate) fn without_header(mut self) -> Self {
        self.0.remove(0);
        self
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.0 {
            for (column, cell) in row.iter().enumerate() {
                let comma = if column == 0 { "" } else { "," };
                if cell.contains([',', '"', '\n', '\r']) {
                    write!(f, "{comma}\"{}\"", cell.replace('"', "\"\""))?;
                } else {
                    write!(f, "{comma}{cell}")?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn answer(feedback: &Option<v1::Feedback>) -> String {
    feedback.as_ref().map_or_else(String::new, text::feedback)
}

pub(crate) fn score(reply: &v1::ScoreResponse) -> Table {
    Table::new(&["answer", "solved"]).row([answer(&reply.feedback), reply.solved.to_string()])
}

pub(crate) fn filter(page: &v1::FilterResponse, count: bool) -> Table {
    if count {
        let remaining =
            page.count.map_or_else(|| page.remaining.to_string(), |count| count.value.to_string());
        return Table::new(&["remaining"]).row([remaining]);
    }
    Table::new(&["candidate"]).rows(page.candidates.iter().map(|code| [code.clone()]))
}

pub(crate) fn guess(reply: &v1::BestNextGuessResponse) -> Table {
    let header = ["guess", "candidate", "largest_class", "expected_size", "bits", "classes"];
    Table::new(&header).rows(reply.suggestions.iter().map(|suggestion| {
        let facts = suggestion.facts.unwrap_or_default();
        [
            suggestion.guess.clone(),
            suggestion.candidate.to_string(),
            facts.largest_class.to_string(),
            facts.expected_size.to_string(),
            facts.bits.to_string(),
            facts.classes.to_string(),
        ]
    }))
}

pub(crate) fn analyze(reply: &v1::AnalyzeResponse) -> Table {
    let rows = reply.partition.iter().map(|row| {
        [answer(&row.feedback), row.count.to_string(), row.share.to_string(), row.bits.to_string()]
    });
    Table::new(&["answer", "count", "share", "bits"]).rows(rows)
}

/// The repairs: what a turn's answer should be, if it alone is wrong.
pub(crate) fn diagnose(reply: &v1::DiagnoseResponse) -> Table {
    let rows = reply.repairs.iter().flat_map(|repair| {
        let turn = repair.turn.to_string();
        let row = move |option: &v1::RepairOption| {
            [turn.clone(), answer(&option.feedback), option.count.to_string()]
        };
        repair.options.iter().map(row)
    });
    Table::new(&["turn", "answer", "count"]).rows(rows)
}

pub(crate) fn host(reply: &v1::AnswerResponse) -> Table {
    let header = ["answer", "remaining", "solved"];
    let row = [answer(&reply.feedback), reply.remaining.to_string(), reply.solved.to_string()];
    Table::new(&header).row(row)
}

/// The turns, the first of them the `first` of the game.
pub(crate) fn simulate(reply: &v1::SimulateResponse, first: usize) -> Table {
    let rows = words::play::turns(reply).zip(first..).map(|((turn, left), number)| {
        let left = left.map_or_else(String::new, |left| left.to_string());
        let answer = answer(&turn.feedback);
        [number.to_string(), turn.guess, answer, left]
    });
    Table::new(&["turn", "guess", "answer", "left"]).rows(rows)
}

/// What the server has, by kind.
pub(crate) fn info(reply: &v1::GetServerInfoResponse) -> Table {
    let row = |kind: &str, name: &str, about: &str| [kind, name, about].map(str::to_owned);
    let games = reply.presets.iter().map(|preset| row("game", &preset.name, &preset.title));
    let lists = reply.dictionaries.iter().map(|list| row("dictionary", &list.name, ""));
    let strategies = (reply.strategies.iter())
        .map(|strategy| row("strategy", &strategy.name, &strategy.description));
    let levels = (reply.levels.iter())
        .map(|level| row("level", &words::info::level(level), &level.description));
    Table::new(&["kind", "name", "description"])
        .rows(games.chain(lists).chain(strategies).chain(levels))
}

pub(crate) fn solve(result: &v1::SolveResult) -> Table {
    histograms(
        &["first_guess", "total", "mean", "max"],
        [(
            vec![
                result.first_guess.clone(),
                result.total.to_string(),
                result.mean.to_string(),
                result.max.to_string(),
            ],
            result.histogram.as_slice(),
        )],
    )
}

pub(crate) fn evaluate(results: &[Fared]) -> Table {
    let rows = results.iter().map(|Fared { name, result }| {
        let facts = vec![
            name.clone(),
            result.secrets.to_string(),
            result.total.to_string(),
            result.mean.to_string(),
            result.margin.to_string(),
            result.max.to_string(),
        ];
        (facts, result.histogram.as_slice())
    });
    histograms(&["strategy", "secrets", "total", "mean", "margin", "max"], rows)
}

/// Rows that end in a histogram each, in columns `1`, `2` and so on: as many as the longest has.
fn histograms<'a>(
    header: &[&str],
    rows: impl IntoIterator<Item = (Vec<String>, &'a [i32])>,
) -> Table {
    let rows: Vec<_> = rows.into_iter().collect();
    let longest = rows.iter().map(|(_, histogram)| histogram.len()).max().unwrap_or(0);
    let mut table = Table::new(header);
    table.0[0].extend((1..=longest).map(|guess| guess.to_string()));
    for (mut row, histogram) in rows {
        let found = |guess: usize| histogram.get(guess).copied().unwrap_or(0).to_string();
        row.extend((0..longest).map(found));
        table.0.push(row);
    }
    table
}

pub(crate) fn duel(result: &v1::DuelResult, [first, second]: [&str; 2]) -> Table {
    Table::new(&["first", "second", "win", "draw", "lose"]).row([
        first.to_owned(),
        second.to_owned(),
        result.win.to_string(),
        result.draw.to_string(),
        result.lose.to_string(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let table = Table::new(&["a", "b"]).row(["x,\"y\"".to_owned(), "=".to_owned()]);
        assert_eq!(table.to_string(), "a,b\n\"x,\"\"y\"\"\",=\n");
        assert_eq!(table.without_header().to_string(), "\"x,\"\"y\"\"\",=\n");
    }

    #[test]
    fn rows_of_different_length_have_the_same_columns() {
        let fared = |name: &str, histogram: &[i32]| Fared {
            name: name.to_owned(),
            result: v1::Evaluation { histogram: histogram.to_vec(), ..Default::default() },
        };
        let table = evaluate(&[fared("easy", &[1, 2, 3]), fared("hard", &[1])]).to_string();
        assert_eq!(
            table,
            "strategy,secrets,total,mean,margin,max,1,2,3\neasy,0,0,0,0,0,1,2,3\nhard,0,0,0,0,0,1,0,0\n"
        );
    }
}
