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
    honest::Honest,
    report::{Report, mib, ms, percentile},
    server::{Connection, Server, Solver},
    trial::{Setup, Trouble},
};

/// Callers that keep all cores computing and never find the line full.
const BUSY: u64 = 16;
/// Scores that a dear guess may take, some 13 milliseconds of a core: the bound bites, so none is kept.
const SCORES: i64 = 16_000_000;
/// Connections of the load: room for 1600 calls under way.
const CONNECTIONS: usize = 8;
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

/// The most guesses a second there are, numbered from `first` on, with an honest caller beside.
async fn peak(
    server: &Server,
    to: &[Connection],
    length: Duration,
    first: u64,
    question: Question,
) -> Tally {
    let honest = Honest::start(server.address(), EVERY);
    let numbers = Arc::new(AtomicU64::new(first));
    let tally = closed_loop(to, BUSY, length, &numbers, asking(question)).await;
    honest.stop();
    tally
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

/// Twice and four times what it can carry, for a minute (RB-099).
async fn overload(setup: &Setup, report: &mut Report, question: Question) -> Result<(), Trouble> {
    let server = Server::start(setup, &[])?;
    let to = connections(&server, CONNECTIONS).await?;
    peak(&server, &to, setup.scale(Duration::from_secs(3), WINDOW), 0, question).await;
    let measure = setup.scale(Duration::from_secs(15), Duration::from_secs(1));
    let mut before = peak(&server, &to, measure, 1_000_000, question).await.goodput();
    for times in [2.0, 4.0] {
        let honest = Honest::start(server.address(), EVERY);
        let (begun, cpu, server_cpu) = (Instant::now(), cpu_time(), server.cpu());
        let length = setup.scale(Duration::from_secs(60), Duration::from_secs(2));
        let first = 10_000_000 * times as u64;
        let tally = open_loop(&to, times * before, length, first, asking(question)).await;
        let took = begun.elapsed();
        let share = |cpu: Duration| 100.0 * cpu.div_duration_f64(took);
        let (caller, served) = (share(cpu_time() - cpu), share(server.cpu() - server_cpu));
        let seen = honest.stop();
        let asked = |what: &str| format!("{times} times: {what}");
        report.law(
            asked("refusals are RESOURCE_EXHAUSTED with RetryInfo, nothing fails"),
            format!("{}, {} refused", tally.failures(), tally.refused),
            tally.failed == 0 && (setup.short || tally.refused > 0),
        );
        report.law(asked("honest calls beside: 0 failed"), seen.failures(), seen.failed == 0);
        // The machine is not the same from one minute to the next, so its peak is that before and that after.
        let after = peak(&server, &to, measure, first + first / 2, question).await.goodput();
        let peak = (before + after) / 2.0;
        report.note(asked("peak goodput"), format!("{before:.0}/s before, {after:.0}/s after"));
        let ratio = tally.goodput() / peak;
        before = after;
        report.timing(
            asked("goodput at least 90 % of peak"),
            format!(
                "{:.1} %, {:.0}/s (the server had {served:.0} % of a core, the caller {caller:.0} %; it was \
                 {} late, p99)",
                100.0 * ratio,
                tally.goodput(),
                ms(percentile(&tally.delays, 99.0))
            ),
            ratio >= 0.9,
        );
        let refusal = percentile(&tally.refused_times, 99.0);
        report.timing(
            asked("refusals p99 under 10 ms"),
            ms(refusal),
            refusal < Duration::from_millis(10),
        );
        let late = seen.percentile(99.0);
        report.timing(
            asked("Score and health p99 under 20 ms"),
            ms(late),
            late < Duration::from_millis(20),
        );
    }
    report.law("no panic", server.panics(), server.panics() == 0);
    let kept = server.metric("herdsman_cache_hits_total{cache=\"advice\"}")?;
    report.law("no guess was known before it was asked", kept, kept == 0.0);
    Ok(())
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
    let to = connections(&server, CONNECTIONS).await?;
    let second = Duration::from_secs(1);
    let peak = peak(&server, &to, setup.scale(10 * second, second), 0, dear).await.goodput();
    let ask = asking(dear);
    let length = setup.scale(10 * second, 3 * second);
    open_loop(&to, peak / 2.0, length, 1_000_000, &ask).await;
    let before = server.memory();
    let short = setup.scale(length, second);
    let burst = open_loop(&to, 10.0 * peak, short, 2_000_000, &ask).await;
    let most = server.peak_memory();
    let after = open_loop(&to, peak / 2.0, length, 3_000_000, &ask).await;
    let memory = server.memory();
    let again = open_loop(&to, 10.0 * peak, short, 4_000_000, &ask).await;
    open_loop(&to, peak / 2.0, short, 5_000_000, &ask).await;
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
