//! `herdsman`: Herdsman's solver on the command line.
//!
//! A thin client: it reads flags, calls the server and prints the reply. It knows no game and computes nothing.

mod args;
mod batch;
mod chart;
mod commands;
mod csv;
mod evaluate;
mod failure;
mod game;
mod load;
mod output;
mod player;
mod progress;
mod remote;
mod solve;
mod tls;
mod token;
mod tree;
mod watch;
mod words;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{
    args::Cli,
    failure::{Failure, Verdict},
    output::Output,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let result = run(Cli::parse()).await;
    let code = failure::exit_code(&result);
    if let Err(failure) = result
        && code != 0
    {
        output::note(&format!("error: {failure}"));
    }
    ExitCode::from(code)
}

async fn run(cli: Cli) -> Result<Verdict, Failure> {
    let mut output = Output::new(cli.options.format);
    let verdict = commands::run(cli.command, &cli.options, &mut output).await?;
    output.flush()?;
    Ok(verdict)
}
