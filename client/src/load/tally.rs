//! What is counted while a load runs: calls by what became of them, and how long they took.

use hdrhistogram::Histogram;
use tonic::Code;

/// Codes that a call can end with.
const CODES: usize = 17;

/// Microseconds, to three digits.
pub(super) type Times = Histogram<u64>;

/// No times.
pub(super) fn times() -> Times {
    Times::new(3).expect("three digits are possible")
}

/// Calls of a kind.
#[derive(Clone, Debug)]
pub(super) struct Count {
    /// Were due and not made, because too many were under way.
    pub(super) missed: u64,
    /// Were made.
    pub(super) started: u64,
    /// Ended, by code.
    codes: [u64; CODES],
    /// How long those took that were answered OK.
    pub(super) ok_times: Times,
    /// How long the others took.
    pub(super) failed_times: Times,
}

impl Count {
    pub(super) fn new() -> Self {
        let (missed, started, codes) = (0, 0, [0; CODES]);
        Self { missed, started, codes, ok_times: times(), failed_times: times() }
    }

    /// Counts a call that ended after so many microseconds.
    pub(super) fn end(&mut self, code: Code, micros: u64) {
        self.codes[code as usize] += 1;
        let times = if code == Code::Ok { &mut self.ok_times } else { &mut self.failed_times };
        times.record(micros).expect("the histogram grows");
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.missed += other.missed;
        self.started += other.started;
        self.codes.iter_mut().zip(other.codes).for_each(|(sum, count)| *sum += count);
        for (sum, times) in
            [(&mut self.ok_times, &other.ok_times), (&mut self.failed_times, &other.failed_times)]
        {
            sum.add(times).expect("the histogram grows");
        }
    }

    pub(super) fn ok(&self) -> u64 {
        self.codes[Code::Ok as usize]
    }

    pub(super) fn ended(&self) -> u64 {
        self.codes.iter().sum()
    }

    /// The codes that came, and how often each.
    pub(super) fn codes(&self) -> impl Iterator<Item = (Code, u64)> {
        let codes = (0..).map(Code::from_i32).zip(self.codes);
        codes.filter(|&(_, count)| count > 0)
    }
}

/// Calls by step and kind.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    counts: Vec<Vec<Count>>,
    /// How much later than they were due calls were made.
    pub(super) delays: Times,
    /// Calls, also before measuring, that ended without an answer of the server's.
    pub(super) lost: u64,
}

impl Tally {
    pub(super) fn new(steps: usize, kinds: usize) -> Self {
        Self { counts: vec![vec![Count::new(); kinds]; steps], delays: times(), lost: 0 }
    }

    pub(super) fn at(&mut self, step: usize, kind: usize) -> &mut Count {
        &mut self.counts[step][kind]
    }

    /// The counts of each kind, for every step.
    pub(super) fn steps(&self) -> &[Vec<Count>] {
        &self.counts
    }
}

/// All counts together.
pub(super) fn sum<'a>(counts: impl IntoIterator<Item = &'a Count>) -> Count {
    counts.into_iter().fold(Count::new(), |mut sum, count| {
        sum.add(count);
        sum
    })
}
