//! How far a search or an evaluation is, as a line with a bar.
//!
//! Owns what the bar means; drawing it is `watch`. An evaluation's bar is how many of its secrets were played. How long
//! a search takes nobody knows before its end: what has to close is the gap between the best strategy found and what
//! is proven that none can be below, so its bar is how much of that gap has closed since it was first known. Before,
//! there is no bar: an empty one would look like a search that stands still.

use herdsman_proto::v1::{EvaluateProgress, SolveProgress};

/// Characters of a full bar: with the text beside it a line is narrower than 80.
const WIDTH: usize = 20;

/// Follows the gap of one search.
#[derive(Debug, Default)]
pub(crate) struct Gap {
    /// How wide it was when it was first known, in guesses over all secrets.
    first: Option<u64>,
}

impl Gap {
    /// The line after one more message of the server.
    pub(crate) fn line(&mut self, progress: &SolveProgress) -> String {
        let seconds = progress.elapsed_ms as f64 / 1000.0;
        if progress.nodes == 0 {
            return format!("{seconds:.1} s, waiting for the search to begin");
        }
        // Every strategy takes guesses: a bound of 0 says that none is known yet.
        let bound = Some(progress.bound_total).filter(|&bound| bound > 0);
        let (bar, known) = match (progress.best_total, bound) {
            (None, None) => (String::new(), "no strategy yet".to_owned()),
            (None, Some(bound)) => (String::new(), format!("at least {bound} guesses")),
            (Some(best), None) => (String::new(), format!("at most {best} guesses")),
            (Some(best), Some(bound)) if best == bound => {
                (self.bar(0), format!("proven: {best} guesses"))
            }
            (Some(best), Some(bound)) => {
                (self.bar(best.abs_diff(bound)), format!("{bound} to {best} guesses"))
            }
        };
        format!("{bar}{seconds:.1} s, {} sets measured, {known}", progress.nodes)
    }

    /// The bar where the gap is `gap` guesses wide.
    fn bar(&mut self, gap: u64) -> String {
        let first = *self.first.get_or_insert(gap);
        bar(if gap == 0 { 1.0 } else { 1.0 - gap as f64 / first as f64 })
    }
}

/// The line of an evaluation of `player`.
pub(crate) fn share(player: &str, progress: &EvaluateProgress) -> String {
    let seconds = progress.elapsed_ms as f64 / 1000.0;
    let EvaluateProgress { done, secrets, .. } = *progress;
    if secrets == 0 {
        return format!("{player}: {seconds:.1} s, waiting to begin");
    }
    let bar = bar(f64::from(done) / f64::from(secrets));
    format!("{player}: {bar}{seconds:.1} s, {done} of {secrets} secrets")
}

/// A bar that is full where `share` is 1.
fn bar(share: f64) -> String {
    // Rounded down, so that only the end makes it full.
    let full = (share * WIDTH as f64) as usize;
    format!("[{:.<WIDTH$}] ", "=".repeat(full.min(WIDTH)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the lines of one search, one for each best total and bound.
    #[track_caller]
    fn check(search: &[(Option<i64>, i64, &str)]) {
        let mut gap = Gap::default();
        for &(best_total, bound_total, line) in search {
            let progress = SolveProgress { nodes: 7, best_total, bound_total, elapsed_ms: 1500 };
            assert_eq!(gap.line(&progress), line);
        }
    }

    #[test]
    fn the_bar_is_how_much_of_the_gap_has_closed() {
        check(&[
            (None, 0, "1.5 s, 7 sets measured, no strategy yet"),
            (None, 25_900, "1.5 s, 7 sets measured, at least 25900 guesses"),
            (
                Some(26_400),
                26_000,
                "[....................] 1.5 s, 7 sets measured, 26000 to 26400 guesses",
            ),
            (
                Some(26_300),
                26_000,
                "[=====...............] 1.5 s, 7 sets measured, 26000 to 26300 guesses",
            ),
            (
                Some(26_275),
                26_274,
                "[===================.] 1.5 s, 7 sets measured, 26274 to 26275 guesses",
            ),
            (
                Some(26_274),
                26_274,
                "[====================] 1.5 s, 7 sets measured, proven: 26274 guesses",
            ),
        ]);
    }

    #[test]
    fn without_a_bound_there_is_no_gap() {
        check(&[
            (Some(20_471), 0, "1.5 s, 7 sets measured, at most 20471 guesses"),
            (
                Some(20_471),
                20_471,
                "[====================] 1.5 s, 7 sets measured, proven: 20471 guesses",
            ),
        ]);
    }

    #[test]
    fn what_a_server_makes_up_is_no_panic() {
        let mut gap = Gap::default();
        for (best_total, bound_total) in
            [(5, 5), (1, i64::MAX), (i64::MIN, i64::MAX), (i64::MAX, i64::MIN), (7, 5)]
        {
            let best_total = Some(best_total);
            let progress = SolveProgress { nodes: -1, best_total, bound_total, elapsed_ms: -1 };
            assert!(gap.line(&progress).contains("guesses"));
        }
    }

    #[test]
    fn the_bar_of_an_evaluation_is_its_share_of_the_secrets() {
        for (done, secrets, line) in [
            (0, 0, "easy: 1.5 s, waiting to begin"),
            (0, 5040, "easy: [....................] 1.5 s, 0 of 5040 secrets"),
            (2520, 5040, "easy: [==========..........] 1.5 s, 2520 of 5040 secrets"),
            (5039, 5040, "easy: [===================.] 1.5 s, 5039 of 5040 secrets"),
            (7, 5, "easy: [====================] 1.5 s, 7 of 5 secrets"),
            (-7, 5, "easy: [....................] 1.5 s, -7 of 5 secrets"),
        ] {
            let progress = EvaluateProgress { done, secrets, elapsed_ms: 1500 };
            assert_eq!(share("easy", &progress), line);
        }
    }

    #[test]
    fn a_search_that_waits_says_so() {
        let waiting = SolveProgress { elapsed_ms: 2000, ..Default::default() };
        assert_eq!(Gap::default().line(&waiting), "2.0 s, waiting for the search to begin");
    }
}
