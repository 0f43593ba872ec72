//! The server program from its start to its answers.

use std::{
    error::Error,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use herdsman_benches::build;
use herdsman_engine::{Objective, Rules, books};
use herdsman_proto::v1::{
    self, BestNextGuessRequest, CodeRules, Source, Strategy, rules::Game,
    solver_service_client::SolverServiceClient,
};

use tonic::transport::Endpoint;

use crate::record::peak_bytes;

/// What the server takes to begin.
pub(crate) struct Start {
    /// From before the process is there until a client has its first answer.
    pub(crate) first_answer: Duration,
    /// The most memory it had, when it had answered from every book.
    pub(crate) peak_bytes: u64,
}

/// Ends the server with the measurement, however that ends.
struct Herdsmand(Child);

impl Drop for Herdsmand {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Builds the server as it is released, starts it and asks it for the first guess of every book.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn start() -> Result<Start, Box<dyn Error>> {
    let program = build("herdsman-server", true)?.join("herdsmand");
    let begun = Instant::now();
    let (server, address) = spawn(&program)?;
    let mut client = SolverServiceClient::new(Endpoint::from_shared(address)?.connect().await?);
    let mut first_answer = None;
    for (name, rules, objective) in books() {
        let reply = client.best_next_guess(first_guess(&rules, objective)).await?.into_inner();
        first_answer.get_or_insert_with(|| begun.elapsed());
        assert_eq!(reply.source(), Source::Book, "{name}");
    }
    let first_answer = first_answer.ok_or("there is no book")?;
    Ok(Start { first_answer, peak_bytes: peak_bytes(&server.0.id().to_string()) })
}

/// The server on a free port, and its address.
fn spawn(program: &Path) -> Result<(Herdsmand, String), Box<dyn Error>> {
    let mut command = Command::new(program);
    command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let spawned = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
    let mut server = Herdsmand(spawned);
    let mut banner = String::new();
    let stdout = server.0.stdout.as_mut().ok_or("the server has no output")?;
    BufReader::new(stdout).read_line(&mut banner)?;
    let address = banner.trim().rsplit(' ').next().unwrap_or_default();
    Ok((server, format!("http://{address}")))
}

fn first_guess(rules: &Rules, objective: Objective) -> BestNextGuessRequest {
    let spec = rules.code_spec().expect("books are of codes");
    let codes = CodeRules {
        alphabet: spec.alphabet,
        length: spec.length,
        repeats: spec.repeats,
        not_first: spec.not_first,
    };
    let strategy = match objective {
        Objective::WorstCase => Strategy::OptimalWorstCase,
        _ => Strategy::Optimal,
    };
    BestNextGuessRequest {
        rules: Some(v1::Rules { game: Some(Game::Codes(codes)), ..Default::default() }),
        strategy: strategy.into(),
        ..Default::default()
    }
}
