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
/// Connections of a load for long: room for 400 calls under way, of which at most some 260 wait for their guess. The more
/// there are, the more it takes both sides to read and write them, by which guesses are lost that nobody refused.
const CONNECTIONS: usize = 2;
/// Connections of a burst: room for 1600 calls under way.
const BURST_CONNECTIONS: usize = 8;
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
) -> f64 {
    let honest = Honest::start(server.address(), EVERY);
    let tally = closed_loop(to, BUSY, length, numbers, asking(question)).await;
    honest.stop();
    tally.goodput()
}

/// More quick guesses than it can carry.
pub(crate) fn quick(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    patient()?.block_on(overload(setup, report, dear))
}

/// More dear guesses than it can carry.
pub(crate) fn slow(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let question = |number| very_dear(SCORES + number as i64 % 1_000_000);
    patient()?.block_on(overload(setup, report, question))
}

/// A caller that does not wake for each answer: where all cores compute, that takes more from the server than the answer
/// did. What it is late counts as the server's.
fn patient() -> io::Result<Runtime> {
    /// Several answers come in it.
    const REST: Duration = Duration::from_micros(500);
    Builder::new_current_thread().enable_all().on_thread_park(|| thread::sleep(REST)).build()
}

/// Twice and four times what it can carry, for a minute each (RB-099).
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

/// What came of a load in turns, and of the peaks before, between and after them.
struct Turns {
    load: Tally,
    seen: Seen,
    peaks: Vec<f64>,
    /// CPU time of the server and of this process under the load.
    served: Duration,
    caller: Duration,
    /// How long that took, with what waited in line at the end of each turn.
    took: Duration,
}

impl Turns {
    /// The peak amid the turns: that of each is the mean of those on its two sides.
    fn peak(&self) -> f64 {
        let around = self.peaks.windows(2).map(|peaks| (peaks[0] + peaks[1]) / 2.0);
        around.sum::<f64>() / (self.peaks.len() - 1) as f64
    }

    fn share(&self, cpu: Duration) -> f64 {
        100.0 * cpu.div_duration_f64(self.took)
    }
}

/// Offers so many times what the server can carry, a minute in all. It has no rest meanwhile: between two turns it is kept
/// at its peak. This machine computes a fifth more in one minute than in the next, so that a peak is measured not only before
/// the minute and after it.
async fn turns(
    setup: &Setup,
    server: &Server,
    to: &[Connection],
    times: f64,
    numbers: &Arc<AtomicU64>,
    question: Question,
) -> Turns {
    let second = Duration::from_secs(1);
    let (count, turn, measure) = setup.scale((12, 5 * second, 3 * second), (2, second, second));
    let mut turns = Turns {
        load: Tally::new(),
        seen: Seen::new(),
        peaks: vec![peak(server, to, measure, numbers, question).await],
        served: Duration::ZERO,
        caller: Duration::ZERO,
        took: Duration::ZERO,
    };
    for at in 0..count {
        let honest = Honest::start(server.address(), EVERY);
        let (begun, cpu, server_cpu) = (Instant::now(), cpu_time(), server.cpu());
        let rate = times * turns.peaks[at];
        turns.load.append(open_loop(to, rate, turn, numbers, asking(question)).await);
        turns.took += begun.elapsed();
        turns.caller += cpu_time() - cpu;
        turns.served += server.cpu() - server_cpu;
        turns.seen.add(honest.stop());
        turns.peaks.push(peak(server, to, measure, numbers, question).await);
    }
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
    let lowest = peaks.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = peaks.iter().copied().fold(0.0, f64::max);
    report.note(
        asked("peak goodput"),
        format!("{:.0}/s ({lowest:.0} to {highest:.0} in {} peaks)", turns.peak(), peaks.len()),
    );
    let ratio = load.goodput() / turns.peak();
    report.timing(
        asked("goodput at least 90 % of peak"),
        format!(
            "{:.1} %, {:.0}/s (the server had {:.0} % of a core, the caller {:.0} %; it was {} late, p99)",
            100.0 * ratio,
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
    let peak = peak(&server, &to, setup.scale(10 * second, second), &numbers, dear).await;
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
