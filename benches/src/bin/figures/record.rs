//! What a record says: the machine and the rows of the table.

use std::{fs, process::Command};

/// Prints what the figures depend on, and the head of their table.
pub(crate) fn print_head() {
    let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    println!("# Figures of {}\n", output("date", &["-u", "+%F"]));
    println!("| | |\n|---|---|");
    println!("| commit | {} |", output("git", &["describe", "--always", "--dirty"]));
    println!("| compiler | {} |", output("rustc", &["--version"]));
    println!(
        "| processor | {} x {} |",
        output("nproc", &[]),
        model.map_or("unknown", |model| model.1)
    );
    println!("| kernel of the engine | `{}` |", herdsman_engine::kernel_name());
    println!("| load before (1, 5, 15 minutes) | {} |", load());
    println!("| command | `cargo run --release -p herdsman-benches --bin figures` |\n");
    println!("| work | asked | measured |\n|---|---|---|");
}

fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// What a program prints, or `unknown`.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok();
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok());
    text.map_or("unknown".to_owned(), |text| text.trim().to_owned())
}

/// The most memory that a process had at a time; 0 where the system does not tell.
pub(crate) fn peak_bytes(process: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// Prints a row for seconds that must not be more.
pub(crate) fn row_of_time(work: &str, most: f64, measured: f64) {
    row(work, &format!("under {}", time(most)), &time(measured), measured < most);
}

/// Prints a row for a factor that must not be less.
pub(crate) fn row_of_factor(work: &str, least: f64, measured: f64) {
    row(work, &format!("at least {least}"), &format!("{measured:.2}"), measured >= least);
}

/// Prints a row for bytes that must not be more.
pub(crate) fn row_of_memory(work: &str, most: u64, measured: u64) {
    let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
    row(work, &format!("under {}", mib(most)), &mib(measured), measured < most);
}

fn row(work: &str, asked: &str, measured: &str, met: bool) {
    println!("| {work} | {asked} | **{measured}**{} |", if met { "" } else { " (missed)" });
}

/// Seconds in the unit that suits them.
fn time(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    let unit = units.into_iter().find(|(unit, _)| seconds >= *unit * 0.9995);
    let (unit, name) = unit.unwrap_or((1e-9, "ns"));
    let value = seconds / unit;
    let digits = usize::from(value < 9.95)
        + usize::from(value < 0.995 || (value < 9.95 && value.fract() != 0.0));
    format!("{value:.digits$} {name}")
}
