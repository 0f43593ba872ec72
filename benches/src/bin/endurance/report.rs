//! What the trials found: rows of a Markdown table, and whether all was kept.

use std::{
    fmt::Display,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;

/// The table, printed row by row.
pub(crate) struct Report {
    short: bool,
    trial: &'static str,
    begun: Instant,
    kept: bool,
}

impl Report {
    /// Prints the head of the table.
    pub(crate) fn new(short: bool) -> Report {
        println!("| trial | asked | measured | |\n|---|---|---|---|");
        Report { short, trial: "", begun: Instant::now(), kept: true }
    }

    /// The rows that follow are of this trial.
    pub(crate) fn begin(&mut self, trial: &'static str) {
        eprintln!("{:6.1} s: {trial}", self.begun.elapsed().as_secs_f64());
        self.trial = trial;
    }

    /// A row for what must hold on any machine: codes, counts, answers, bounds of memory.
    pub(crate) fn law(&mut self, asked: impl Display, measured: impl Display, kept: bool) {
        self.row(asked, measured, if kept { "kept" } else { "MISSED" });
        self.kept &= kept;
    }

    /// A row for a figure of time; in short form it is only told.
    pub(crate) fn timing(&mut self, asked: impl Display, measured: impl Display, kept: bool) {
        match (kept, self.short) {
            (false, true) => self.row(asked, measured, "not asserted"),
            _ => self.law(asked, measured, kept),
        }
    }

    /// A row that only tells.
    pub(crate) fn note(&mut self, what: impl Display, measured: impl Display) {
        self.row(what, measured, "");
    }

    /// Whether everything was kept.
    pub(crate) fn end(self) -> bool {
        eprintln!("{:6.1} s: end", self.begun.elapsed().as_secs_f64());
        self.kept
    }

    fn row(&self, asked: impl Display, measured: impl Display, outcome: &str) {
        // A bar would end the cell.
        let measured = measured.to_string().replace('|', "\\|").replace('\n', " ");
        println!("| `{}` | {asked} | {measured} | {outcome} |", self.trial);
    }
}

/// Times in microseconds, up to an hour.
pub(crate) fn times() -> Histogram<u64> {
    Histogram::new_with_max(3_600_000_000, 3).expect("three digits can be kept")
}

/// The time within which so many per cent ended.
pub(crate) fn percentile(times: &Histogram<u64>, percent: f64) -> Duration {
    Duration::from_micros(times.value_at_percentile(percent))
}

/// Milliseconds, as in `12.3 ms`.
pub(crate) fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// Mebibytes, as in `12.3 MiB`.
pub(crate) fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
