//! More than the server can carry, for long and in a burst.
//!
//! What is asked are guesses that no cache has: quick ones of some 1.3 milliseconds of a core each, and dear ones of some
//! 13. The caller shares the machine with the server, and to refuse costs both of them the more calls, the quicker the
//! guesses are: how much of a core each took is told.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, atomic::AtomicU64},
    thread,
    time::{Duration, Instant},
};

use herdsman_benches::cpu_time;
use herdsman_proto::v1::BestNextGuessRequest;
use tokio::runtime::{Builder, Runtime};

use super::{
    drive::{End, Tally, WINDOW, closed_loop, connections, guess, open_loop},
    requests::{dear, very_dear},
};
use crate::{
    honest::{Honest, Seen},
    report::{Report, mib, ms, percentile},
    server::{Connection, Server, Solver},
    trial::{Setup, Trouble},
};

/// Callers that keep all cores computing and never find the line full.
const BUSY: u64 = 16;
/// Scores that a dear guess may take, some 13 milliseconds of a core: the bound bites, so none is kept.
const SCORES: i64 = 16_000_000;
/// Connections of a load for long: room for 400 calls under way, of which some 260 wait for their guess. The more there
/// are, the more system calls it takes both sides to read and write them, at the cost of what computes.
const CONNECTIONS: usize = 2;
/// Connections of a burst: room for 1600 calls under way.
const BURST_CONNECTIONS: usize = 8;
/// How long a load runs before it counts: first the line fills, and nothing is refused.
const SETTLE: Duration = Duration::from_secs(3);
/// How often somebody asks for a Score or the health meanwhile.
const EVERY: Duration = Duration::from_millis(10);

/// What a burst may take of memory: as much as all calls that may be under way, with their buffers.
const MOST: u64 = 64 << 20;

/// The request of a number, no two alike.
type Question = fn(u64) -> BestNextGuessRequest;

/// Asks it.
fn asking(question: Question) -> impl Fn(Solver, u64) -> BoxFuture + Clone + Send + 'static {
    move |solver, number| Box::pin(guess(solver, question(number)))
}

/// What asks one guess.
type BoxFuture = Pin<Box<dyn Future<Output = End> + Send>>;

/// The most guesses a second there are, with an honest caller beside.
async fn peak(
    server: &Server,
    to: &[Connection],
    length: Duration,
    numbers: &Arc<AtomicU64>,
    question: Question,
) -> Tally {
    let honest = Honest::start(server.address(), EVERY);
    let tally = closed_loop(to, BUSY, length, numbers, asking(question)).await;
    honest.stop();
    tally
}

/// More quick guesses than it can carry.
pub(crate) fn quick(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    patient()?.block_on(overload(setup, report, dear))
}

/// More dear guesses than it can carry.
pub(crate) fn slow(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let question = |number| very_dear(SCORES + number as i64);
    patient()?.block_on(overload(setup, report, question))
}

/// A caller that does not wake for each answer: where all cores compute, that takes more from the server than the answer
/// did. What it is late counts as the server's.
fn patient() -> io::Result<Runtime> {
    /// Several answers come in it.
    const REST: Duration = Duration::from_micros(500);
    Builder::new_current_thread().enable_all().on_thread_park(|| thread::sleep(REST)).build()
}

/// Twice and four times what it can carry, a minute of each (RB-099).
async fn overload(setup: &Setup, report: &mut Report, question: Question) -> Result<(), Trouble> {
    let server = Server::start(setup, &[])?;
    let to = connections(&server, CONNECTIONS).await?;
    let numbers = Arc::default();
    peak(&server, &to, setup.scale(Duration::from_secs(3), WINDOW), &numbers, question).await;
    for times in [2.0, 4.0] {
        tell(times, &turns(setup, &server, &to, times, &numbers, question).await, setup, report);
    }
    report.law("no panic", server.panics(), server.panics() == 0);
    let kept = server.metric("herdsman_cache_hits_total{cache=\"advice\"}")?;
    report.law("no guess was known before it was asked", kept, kept == 0.0);
    Ok(())
}

/// What came of a load in turns, and of the peaks around them.
struct Turns {
    /// Of all turns; goodput is that of the counted parts.
    load: Tally,
    seen: Seen,
    /// Goodput of each turn.
    goodputs: Vec<f64>,
    /// The peak before each turn, and one after the last.
    peaks: Vec<Tally>,
    /// How long after its begin the first call of a turn was refused, at the most.
    filled: Duration,
    /// CPU time of the server and of this process under the load, to its last answer.
    served: Duration,
    caller: Duration,
    took: Duration,
}

impl Turns {
    /// For each turn, the mean of the peaks on its two sides.
    fn around(&self) -> impl Iterator<Item = f64> {
        self.peaks.windows(2).map(|peaks| (peaks[0].goodput() + peaks[1].goodput()) / 2.0)
    }

    fn peak(&self) -> f64 {
        self.around().sum::<f64>() / self.goodputs.len() as f64
    }

    /// As in `88 to 97 %`: the part of the peak that each turn had.
    fn ratios(&self) -> String {
        let ratios = || self.goodputs.iter().zip(self.around()).map(|(good, peak)| good / peak);
        let (lowest, highest) = (ratios().fold(f64::MAX, f64::min), ratios().fold(0.0, f64::max));
        format!("{:.0} to {:.0} %", 100.0 * lowest, 100.0 * highest)
    }

    fn share(&self, cpu: Duration) -> f64 {
        100.0 * cpu.div_duration_f64(self.took)
    }
}

/// Offers so many times what the server can carry, and counts a minute of it in turns. Between two turns the server is kept
/// at its peak, which is measured: a machine is not the same from one minute to the next, so that a peak before the minute
/// and one after it tell little of it.
async fn turns(
    setup: &Setup,
    server: &Server,
    to: &[Connection],
    times: f64,
    numbers: &Arc<AtomicU64>,
    question: Question,
) -> Turns {
    let second = Duration::from_secs(1);
    let (count, turn, measure) = setup.scale((6, 10 * second, 4 * second), (1, second, second));
    let settle = setup.scale(SETTLE, WINDOW);
    let mut before = peak(server, to, measure, numbers, question).await;
    let mut turns = Turns {
        load: Tally::new(),
        seen: Seen::new(),
        goodputs: Vec::new(),
        peaks: Vec::new(),
        filled: Duration::ZERO,
        served: Duration::ZERO,
        caller: Duration::ZERO,
        took: Duration::ZERO,
    };
    for _ in 0..count {
        let honest = Honest::start(server.address(), EVERY);
        let (begun, cpu, server_cpu) = (Instant::now(), cpu_time(), server.cpu());
        let rate = times * before.goodput();
        let mut load = open_loop(to, rate, settle + turn, numbers, asking(question)).await;
        turns.took += begun.elapsed();
        turns.caller += cpu_time() - cpu;
        turns.served += server.cpu() - server_cpu;
        turns.seen.add(honest.stop());
        turns.filled = turns.filled.max(load.refused_from.unwrap_or(load.length));
        load.settle(settle);
        turns.goodputs.push(load.goodput());
        turns.load.append(load);
        turns.peaks.push(before);
        before = peak(server, to, measure, numbers, question).await;
    }
    turns.peaks.push(before);
    turns
}

/// The rows of a load of so many times what the server can carry.
fn tell(times: f64, turns: &Turns, setup: &Setup, report: &mut Report) {
    let Turns { load, seen, peaks, .. } = turns;
    let asked = |what: &str| format!("{times} times: {what}");
    report.law(
        asked("refusals are RESOURCE_EXHAUSTED with RetryInfo, nothing fails"),
        format!("{}, {} refused", load.failures(), load.refused),
        load.failed == 0 && (setup.short || load.refused > 0),
    );
    report.law(asked("honest calls beside: 0 failed"), seen.failures(), seen.failed == 0);
    let unsound: u64 = peaks.iter().map(|peak| peak.failed + peak.refused).sum();
    report.law(asked("nothing fails or is refused at the peaks"), unsound, unsound == 0);
    let each = |peak: &Tally| format!("{:.0}", peak.goodput());
    let each = peaks.iter().map(each).collect::<Vec<_>>().join(", ");
    report.note(asked("peak goodput, a second"), format!("{:.0} ({each})", turns.peak()));
    report.timing(
        asked("the line is full before it counts, within 3 s"),
        ms(turns.filled),
        turns.filled < SETTLE,
    );
    let ratio = load.goodput() / turns.peak();
    report.timing(
        asked("goodput at least 90 % of peak"),
        format!(
            "{:.1} % (a turn {}), {:.0}/s (the server had {:.0} % of a core, the caller {:.0} %; it was {} late, p99)",
            100.0 * ratio,
            turns.ratios(),
            load.goodput(),
            turns.share(turns.served),
            turns.share(turns.caller),
            ms(percentile(&load.delays, 99.0))
        ),
        ratio >= 0.9,
    );
    let refusal = percentile(&load.refused_times, 99.0);
    let ten = Duration::from_millis(10);
    report.timing(asked("refusals p99 under 10 ms"), ms(refusal), refusal < ten);
    let late = seen.percentile(99.0);
    report.timing(asked("Score and health p99 under 20 ms"), ms(late), late < 2 * ten);
}

/// Ten times what it can carry, then half of it.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn burst(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    // Caches that are full before it begins, so that memory tells of the burst alone.
    let server = Server::start(
        setup,
        &[
            "--answer-cache-bytes",
            "100000",
            "--candidate-cache-bytes",
            "1000000",
            "--game-cache-bytes",
            "8000000",
        ],
    )?;
    let to = connections(&server, BURST_CONNECTIONS).await?;
    let second = Duration::from_secs(1);
    let numbers = Arc::default();
    let peak = peak(&server, &to, setup.scale(10 * second, second), &numbers, dear).await.goodput();
    let ask = asking(dear);
    let length = setup.scale(10 * second, 3 * second);
    open_loop(&to, peak / 2.0, length, &numbers, &ask).await;
    let before = server.memory();
    let short = setup.scale(length, second);
    let burst = open_loop(&to, 10.0 * peak, short, &numbers, &ask).await;
    let most = server.peak_memory();
    let after = open_loop(&to, peak / 2.0, length, &numbers, &ask).await;
    let memory = server.memory();
    let again = open_loop(&to, 10.0 * peak, short, &numbers, &ask).await;
    open_loop(&to, peak / 2.0, short, &numbers, &ask).await;
    let in_the_end = server.memory();
    report.law(
        "refusals are RESOURCE_EXHAUSTED with RetryInfo, nothing fails",
        format!("{}, {} refused; again: {}", burst.failures(), burst.refused, again.failures()),
        burst.failed + again.failed == 0,
    );
    report.law("nothing fails afterwards", after.failures(), after.failed == 0);
    // From two seconds on, every window but the last, which is cut, has what was offered.
    let settled = (2 * second).div_duration_f64(WINDOW) as usize;
    let whole = length.div_duration_f64(WINDOW) as usize;
    let late: u64 = after.right_in.iter().take(whole).skip(settled).sum();
    let offered = peak / 2.0 * (WINDOW * (whole.saturating_sub(settled)) as u32).as_secs_f64();
    report.timing(
        "full goodput within 2 s",
        format!("{:.1} % of what is offered from then on", 100.0 * late as f64 / offered),
        late as f64 >= 0.98 * offered,
    );
    let told = format!("{} before, {} at the most, {} after", mib(before), mib(most), mib(memory));
    report.law("memory at the most + 64 MiB", &told, most < before + MOST);
    // A burst this short, amid caches that still fill, tells nothing of what is left of it.
    report.timing("memory back within 10 %", told, memory as f64 <= 1.1 * before as f64);
    report.timing(
        "a second burst takes no more: within 10 % of the first",
        format!("{} after the first, {} after the second", mib(memory), mib(in_the_end)),
        in_the_end as f64 <= 1.1 * memory as f64,
    );
    Ok(())
}
