//! What a record says: the machine and the rows of the table.

use herdsman_benches::{print_machine, process_status};

/// Prints what the figures depend on, and the head of their table.
pub(crate) fn print_head() {
    print_machine("Figures", "cargo run --release -p herdsman-benches --bin figures");
    println!("| work | asked | measured |\n|---|---|---|");
}

/// The most memory that a process had at a time; 0 where the system does not tell.
pub(crate) fn peak_bytes(process: &str) -> u64 {
    process_status(process, "VmHWM:") << 10
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
