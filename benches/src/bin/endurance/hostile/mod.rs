//! Trials of peers that mean harm, or break, and of what a broken machine leaves behind.
//!
//! Owns the list of them, and what is asked of a server under any attack: honest calls, memory, life.

mod bodies;
mod cache_file;
mod connections;
mod cut;
mod floods;
mod frames;
mod gzip;
mod seeds;
mod settings;

use std::{
    env, fs, io,
    path::PathBuf,
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{
    honest::Honest,
    report::{Report, mib, ms},
    server::{Server, TASKS},
    trial::{Setup, Trial, Trouble},
};

/// All of them.
pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial { name: "resets", run: floods::resets },
        Trial { name: "stream-errors", run: floods::stream_errors },
        Trial { name: "frames", run: floods::frames },
        Trial { name: "empty-data", run: floods::empty_data },
        Trial { name: "cancels", run: cut::cancels },
        Trial { name: "broken-streams", run: cut::broken_streams },
        Trial { name: "zero-window", run: cut::zero_window },
        Trial { name: "silent", run: connections::silent },
        Trial { name: "silent-tls", run: connections::silent_tls },
        Trial { name: "wrong-protocol", run: connections::wrong_protocol },
        Trial { name: "descriptors", run: connections::descriptors },
        Trial { name: "gzip-bomb", run: gzip::bomb },
        Trial { name: "bodies", run: bodies::mutated },
        Trial { name: "settings", run: settings::bad },
        Trial { name: "cache-file", run: cache_file::damaged },
    ]
}

const MIB: u64 = 1 << 20;
/// Honest calls come this often: enough to notice a stall, and little beside the attack.
const HONEST_EVERY: Duration = Duration::from_millis(5);
/// How often tasks are counted.
const TASKS_EVERY: Duration = Duration::from_millis(10);
/// Honest calls before the attack, so that what they take of memory is not counted as the attack's.
const WARM_UP: Duration = Duration::from_secs(1);

/// A server under attack, with honest calls beside.
struct Attacked {
    server: Server,
    honest: Honest,
    before: u64,
}

impl Attacked {
    fn start(setup: &Setup, flags: &[&str]) -> Result<Attacked, Trouble> {
        Attacked::on(Server::start(setup, flags)?)
    }

    fn on(server: Server) -> Result<Attacked, Trouble> {
        let honest = Honest::start(server.address(), HONEST_EVERY);
        thread::sleep(WARM_UP);
        // From here on the peak is that of the attack.
        fs::write(format!("/proc/{}/clear_refs", server.pid()), "5")?;
        let before = server.memory();
        Ok(Attacked { server, honest, before })
    }

    /// Reports what the honest calls saw, that memory grew by at most `most` bytes, and that the server is whole.
    fn end(mut self, report: &mut Report, most: u64) {
        let grown = self.server.peak_memory().saturating_sub(self.before);
        let seen = self.honest.stop();
        let worst = ms(seen.percentile(99.9));
        report.law(
            "honest calls beside: 0 failed",
            format!("{}, p99.9 {worst}", seen.failures()),
            seen.failed == 0 && seen.calls > 0,
        );
        report.law(
            format!("memory at its peak + {} at most", mib(most)),
            format!("+ {}", mib(grown)),
            grown <= most,
        );
        whole(&mut self.server, report);
    }
}

/// Reports that the server runs and that nothing in it panicked.
fn whole(server: &mut Server, report: &mut Report) {
    let (alive, panics) = (server.alive(), server.panics());
    let state = if alive { "alive" } else { "dead" };
    report.law("alive, no panic", format!("{state}, {panics} panics"), alive && panics == 0);
}

/// The most tasks that a server has at a time, as its metrics tell as long as it is watched.
struct Tasks {
    leave: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<u64, String>>>,
}

impl Tasks {
    /// Begins to watch.
    fn watch(server: &Server) -> Tasks {
        let leave = Arc::new(AtomicBool::new(false));
        let (until, metrics) = (Arc::clone(&leave), server.metrics());
        let thread = thread::spawn(move || {
            let mut most = 0;
            while !until.load(Ordering::Relaxed) {
                let tasks = metrics.read(TASKS).map_err(|error| error.to_string())?;
                most = most.max(tasks as u64);
                thread::sleep(TASKS_EVERY);
            }
            Ok(most)
        });
        Tasks { leave, thread: Some(thread) }
    }

    /// Tells what was seen.
    fn most(mut self) -> Result<u64, Trouble> {
        self.leave.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it is asked once");
        Ok(thread.join().expect("it only counts")?)
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.leave.store(true, Ordering::Relaxed);
    }
}

/// A directory that goes with this value.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> io::Result<Scratch> {
        let path = env::temp_dir().join(format!("herdsman-{name}-{}", process::id()));
        fs::create_dir(&path)?;
        Ok(Scratch(path))
    }

    /// The path of a file in it, as a flag has it.
    fn file(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
