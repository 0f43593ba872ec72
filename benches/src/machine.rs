//! What the figures of a record depend on.

use std::{fs, process::Command};

/// Prints the head of a record: its title with the date, then the machine and the command, as a table.
pub fn print_machine(title: &str, command: &str) {
    let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    println!("# {title} of {}\n", output("date", &["-u", "+%F"]));
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
    println!("| command | `{command}` |\n");
}

fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// What a program prints, or `unknown`.
fn output(program: &str, arguments: &[&str]) -> String {
    let output =
        Command::new(program).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok();
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok());
    text.map_or("unknown".to_owned(), |text| text.trim().to_owned())
}
