//! Puts a server under load, hostile peers and faults, and prints a record: the machine, then a row for what each trial
//! asks.
//!
//! Owns which trials there are and what is done with their outcome. What a trial does is in `load` and `hostile`. In
//! short form the numbers are small, and only what is not a timing can be missed.

mod honest;
mod hostile;
mod load;
mod report;
mod server;
mod trial;

use std::{env, error::Error, path::PathBuf, process::ExitCode, time::Duration};

use clap::Parser;
use herdsman_benches::{build, print_machine};
use report::Report;
use trial::{Setup, Trial};

/// That of the server: who makes the load should take less of the machine than who bears it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Puts a Herdsman server under load, hostile peers and faults; exit code 1 if it does not hold.
#[derive(Parser)]
#[command(name = "endurance", max_term_width = 100)]
struct Arguments {
    /// The trials to run; all without.
    trials: Vec<String>,
    /// All in under three minutes: less of everything, and no timing is asserted.
    #[arg(long)]
    short: bool,
    /// The server program; built from this workspace without.
    #[arg(long)]
    server: Option<PathBuf>,
    /// The command line program, which makes the load; built from this workspace without.
    #[arg(long)]
    client: Option<PathBuf>,
    /// Minutes of the long soak.
    #[arg(long, default_value_t = 20)]
    soak_minutes: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let all: Vec<Trial> = load::trials().into_iter().chain(hostile::trials()).collect();
    let wanted = |name: &str| arguments.trials.iter().any(|trial| trial == name);
    if let Some(unknown) = arguments.trials.iter().find(|name| all.iter().all(|t| t.name != **name))
    {
        let names: Vec<_> = all.iter().map(|trial| trial.name).collect();
        eprintln!("there is no trial `{unknown}`: write {}", names.join(", "));
        return ExitCode::from(2);
    }
    let setup = match prepare(&arguments) {
        Ok(setup) => setup,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let command: Vec<String> = env::args().skip(1).collect();
    let command =
        format!("cargo run --release -p herdsman-benches --bin endurance -- {}", command.join(" "));
    print_machine("Endurance", command.trim_end_matches([' ', '-']));
    let mut report = Report::new(setup.short);
    for trial in all.iter().filter(|trial| arguments.trials.is_empty() || wanted(trial.name)) {
        report.begin(trial.name);
        if let Err(error) = (trial.run)(&setup, &mut report) {
            report.law("the trial runs to its end", error, false);
        }
    }
    if report.end() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Builds what is not named, in the profile of the scale.
fn prepare(arguments: &Arguments) -> Result<Setup, Box<dyn Error>> {
    let program = |given: &Option<PathBuf>, name: &str, package: &str| match given {
        Some(path) => Ok(path.clone()),
        None => build(package, !arguments.short).map(|directory| directory.join(name)),
    };
    Ok(Setup {
        short: arguments.short,
        server: program(&arguments.server, "herdsmand", "herdsman-server")?,
        client: program(&arguments.client, "herdsman", "herdsman")?,
        soak: Duration::from_secs(60 * arguments.soak_minutes),
    })
}
