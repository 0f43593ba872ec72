//! What a load came to: the document, the table, and which thresholds were crossed.

use std::{collections::BTreeMap, fmt::Write as _};

use comfy_table::CellAlignment;
use serde::Serialize;

use super::{
    args::{Goodput, Load, Thresholds},
    drive::Outcome,
    tally::{Count, Times, sum},
    work::Kind,
};
use crate::{batch::code_name, csv::Table, words::columns};

/// A run as a script reads it.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// How long was measured.
    seconds: f64,
    interrupted: bool,
    /// All calls.
    all: Row,
    /// Those of a kind.
    calls: Vec<Row>,
    /// Those at a rate, where there were several.
    steps: Vec<Row>,
    /// How much later than they were due calls were made: what was measured is worth little where that is much.
    start_delay_ms: Summary,
    /// The thresholds that were crossed, in words.
    pub(super) crossed: Vec<String>,
}

/// Calls that have something in common.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// Calls that were due: `ok`, `failed`, `unfinished` and `missed` together.
    due: u64,
    ok: u64,
    failed: u64,
    /// Not answered when the run was interrupted.
    unfinished: u64,
    /// Not made, because too many were under way.
    missed: u64,
    /// Calls answered OK.
    ok_per_second: f64,
    /// Scores in them; of Score and its kin only.
    scores_per_second: f64,
    /// Answers by gRPC code.
    codes: BTreeMap<String, u64>,
    ok_ms: Summary,
    failed_ms: Summary,
}

/// Times in milliseconds.
#[derive(Debug, Serialize)]
struct Summary {
    mean: f64,
    p50: f64,
    p90: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

impl Summary {
    fn new(times: &Times) -> Self {
        let at = |quantile| times.value_at_quantile(quantile) as f64 / 1000.0;
        let (mean, max) = (times.mean() / 1000.0, times.max() as f64 / 1000.0);
        // A percentile is the end of a class of times, which may be above the longest.
        let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(|part| at(part).min(max));
        Self { mean, p50, p90, p99, p999, max }
    }

    fn columns(&self) -> [String; 5] {
        [self.p50, self.p90, self.p99, self.p999, self.max].map(|ms| format!("{ms:.3}"))
    }
}

impl Row {
    fn new(name: &str, count: &Count, seconds: f64, scores: u64) -> Self {
        let (ok, ended) = (count.ok(), count.ended());
        let per_second = |n: u64| if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
        Self {
            name: name.to_owned(),
            due: count.started + count.missed,
            ok,
            failed: ended - ok,
            unfinished: count.started - ended,
            missed: count.missed,
            ok_per_second: per_second(ok),
            scores_per_second: per_second(scores),
            codes: count.codes().map(|(code, count)| (code_name(code), count)).collect(),
            ok_ms: Summary::new(&count.ok_times),
            failed_ms: Summary::new(&count.failed_times),
        }
    }
}

/// 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl Report {
    /// What became of a run with these flags.
    pub(super) fn new(outcome: &Outcome, args: &Load, kinds: &[Kind], rates: &[f64]) -> Self {
        let Outcome { tally, measured, interrupted } = outcome;
        let scored = |kind: Kind, count: &Count| count.ok() * args.scores(kind);
        let scored_all = |counts: &[Count]| {
            kinds.iter().zip(counts).map(|(&kind, count)| scored(kind, count)).sum()
        };

        let seconds = measured.as_secs_f64();
        let of_kind = |kind: usize| sum(tally.steps().iter().map(|step| &step[kind]));
        let counts: Vec<_> = (0..kinds.len()).map(of_kind).collect();
        let calls = kinds.iter().zip(&counts);
        let calls: Vec<_> = calls
            .map(|(&kind, count)| Row::new(kind.name(), count, seconds, scored(kind, count)))
            .collect();
        let all = Row::new("all", &sum(&counts), seconds, scored_all(&counts));

        // Of an interrupted run, the last step is shorter, and further ones did not come.
        let length = args.duration / rates.len() as u32;
        let steps = (0..).zip(rates).zip(tally.steps());
        let steps = steps.filter(|((step, _), _)| !interrupted || *measured > length * *step);
        let steps = steps.map(|((step, rate), counts)| {
            let length = measured.saturating_sub(length * step).min(length).as_secs_f64();
            Row::new(&format!("{rate:.0}/s"), &sum(counts), length, scored_all(counts))
        });
        let steps = if rates.len() > 1 { steps.collect() } else { Vec::new() };
        let start_delay_ms = Summary::new(&tally.delays);
        let crossed = crossed(&all, &calls, &args.thresholds);
        Self { seconds, interrupted: *interrupted, all, calls, steps, start_delay_ms, crossed }
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.steps.iter().chain(&self.calls).chain([&self.all])
    }

    /// The table, and what there is to say of calls that were not answered OK.
    pub(super) fn words(&self) -> String {
        let header = ["", "ok", "failed", "missed", "ok/s", "p50 ms", "p90", "p99", "p99.9", "max"];
        let mut rows = columns(&header);
        for column in rows.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        for row in self.rows() {
            let counts = [row.ok, row.failed, row.missed].map(|count| count.to_string());
            let rate = [format!("{:.1}", row.ok_per_second)];
            let times = row.ok_ms.columns();
            rows.add_row([row.name.clone()].into_iter().chain(counts).chain(rate).chain(times));
        }
        let mut text = format!("{}\n\n", rows.trim_fmt());
        let Row { due, unfinished, scores_per_second, .. } = self.all;
        let _ = write!(text, "{due} calls were due in {:.1} s", self.seconds);
        if unfinished > 0 {
            let _ = write!(text, ", {unfinished} not answered in the end");
        }
        if scores_per_second > 0.0 {
            let _ = write!(text, "; {scores_per_second:.0} scores a second");
        }
        text.push('\n');
        for (code, count) in self.all.codes.iter().filter(|(code, _)| *code != "OK") {
            let _ = writeln!(text, "{code}: {count}");
        }
        if self.all.failed > 0 {
            let Summary { p50, p99, max, .. } = self.all.failed_ms;
            let _ =
                writeln!(text, "they took {p50:.3} ms (p50), {p99:.3} ms (p99), {max:.3} ms (max)");
        }
        if self.start_delay_ms.max > 0.0 {
            let Summary { p99, max, .. } = self.start_delay_ms;
            let _ = writeln!(text, "calls were begun {p99:.3} ms late (p99), {max:.3} ms (max)");
        }
        text
    }

    pub(super) fn table(&self) -> Table {
        let header = [
            "name",
            "due",
            "ok",
            "failed",
            "unfinished",
            "missed",
            "ok_per_second",
            "scores_per_second",
            "p50_ms",
            "p90_ms",
            "p99_ms",
            "p999_ms",
            "max_ms",
        ];
        Table::new(&header).rows(self.rows().map(|row| {
            let [p50, p90, p99, p999, max] = row.ok_ms.columns();
            let [due, ok, failed, unfinished, missed] =
                [row.due, row.ok, row.failed, row.unfinished, row.missed].map(|n| n.to_string());
            let [rate, scores] =
                [row.ok_per_second, row.scores_per_second].map(|rate| format!("{rate:.1}"));
            let name = row.name.clone();
            [name, due, ok, failed, unfinished, missed, rate, scores, p50, p90, p99, p999, max]
        }))
    }
}

/// The thresholds that were crossed. A time that no call has is above every limit.
fn crossed(all: &Row, calls: &[Row], thresholds: &Thresholds) -> Vec<String> {
    let mut crossed = Vec::new();
    for (kind, limit) in &thresholds.p99 {
        let name = kind.map_or("all", Kind::name);
        let row = calls.iter().find(|row| row.name == name).unwrap_or(all);
        let limit = limit.as_secs_f64() * 1000.0;
        let p99 = row.ok_ms.p99;
        if row.ok == 0 {
            crossed.push(format!("p99 of {name}: no call was answered OK"));
        } else if p99 > limit {
            crossed.push(format!("p99 of {name}: {p99:.3} ms, more than {limit} ms"));
        }
    }
    if let Some(limit) = thresholds.errors {
        let errors = share(all.failed, all.failed + all.ok);
        if errors > limit {
            let [errors, limit] = [errors, limit].map(|share| share * 100.0);
            crossed.push(format!("errors: {errors:.3}%, more than {limit}%"));
        }
    }
    match thresholds.goodput {
        Some(Goodput::Share(least)) if share(all.ok, all.due) < least => {
            let [percent, least] = [share(all.ok, all.due), least].map(|share| share * 100.0);
            crossed.push(format!("goodput: {percent:.3}% of the calls due, less than {least}%"));
        }
        Some(Goodput::PerSecond(least)) if all.ok_per_second < least => {
            let rate = all.ok_per_second;
            crossed.push(format!("goodput: {rate:.1} calls a second, less than {least}"));
        }
        _ => {}
    }
    crossed
}
