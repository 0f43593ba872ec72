//! `herdsman solve`: a search that is watched while it runs, and its result.
//!
//! Owns the stream. What is told of its progress is `progress`, how a tree is written `tree`.

use std::{
    fs::{self, OpenOptions},
    io,
    path::Path,
};

use herdsman_proto::v1::{self, solve_response::Event};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::{
    args::{Format, Options, Solve},
    failure::{self, Failure, Verdict},
    output::Output,
    progress::Gap,
    remote::Remote,
    tree, words,
};

/// The result as a script reads it.
#[derive(Serialize)]
struct Document<'a> {
    total: i32,
    mean: f64,
    max: i32,
    histogram: &'a [i32],
    first_guess: &'a str,
    proven: bool,
    source: &'a str,
    impossible: bool,
}

/// Solves a position, unless it is interrupted.
pub(crate) async fn run(
    args: Solve,
    options: &Options,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let max_guesses = args.max.unwrap_or_default();
    let request = v1::SolveRequest {
        rules: Some(args.position.rules()),
        history: args.position.history()?,
        objective: args.objective.unwrap_or_default(),
        max_guesses,
        no_book: args.no_book,
        include_tree: args.tree.is_some(),
        limits: Some(v1::SolveLimits { threads: args.threads.unwrap_or_default(), memo_bytes: 0 }),
    };
    let unwritable = |error| {
        let name = args.tree.as_ref().map_or_else(String::new, |path| path.display().to_string());
        Failure::Tree { name, error }
    };
    // Tried before the search: a name that cannot be written to should not cost minutes.
    args.tree.as_deref().map(writable).transpose().map_err(unwritable)?;
    let remote = Remote::connect(options).await?;
    let (result, nodes) = tokio::select! {
        // In this order, so that the signal is watched before there is anything to stop.
        biased;
        // Leaving the call makes the server stop.
        _ = tokio::signal::ctrl_c() => return Err(Failure::Interrupted),
        found = search(&remote, request) => found?,
    };
    if let Some(path) = &args.tree
        && !nodes.is_empty()
    {
        let graph = path.extension().is_some_and(|form| form == "dot");
        let text = if graph { tree::dot(&nodes) } else { tree::json(&nodes) };
        let text = text.ok_or(Failure::Broken("the tree has a node without its parent"))?;
        fs::write(path, text).map_err(unwritable)?;
    }
    if output.format() == Format::Text {
        output.text(words::solve(&result, max_guesses).as_bytes())?;
    } else {
        output.document(&document(&result))?;
    }
    Ok(if result.impossible { Verdict::No } else { Verdict::Yes })
}

/// Whether a file can be written; what was there stays, and a new one goes again.
fn writable(path: &Path) -> io::Result<()> {
    let new = !path.exists();
    OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    if new { fs::remove_file(path) } else { Ok(()) }
}

/// Follows the stream to its end; on a terminal, tells how far it is.
async fn search(
    remote: &Remote,
    request: v1::SolveRequest,
) -> Result<(v1::SolveResult, Vec<v1::StrategyNode>), Failure> {
    // On standard error, if that is a terminal; drawn from its first message on, and cleared when dropped.
    let style = ProgressStyle::with_template("{wide_msg}").expect("the template is sound");
    let line = ProgressBar::no_length().with_style(style);
    let mut gap = Gap::default();
    let mut stream = remote.solver().solve(remote.patient_request(request)).await?.into_inner();
    let mut nodes = Vec::new();
    let broken = |status| failure::broken_stream(status, remote.server());
    while let Some(message) = stream.message().await.map_err(broken)? {
        match message.event {
            Some(Event::Progress(progress)) => line.set_message(gap.line(&progress)),
            Some(Event::Tree(part)) => nodes.extend(part.nodes),
            Some(Event::Result(result)) => return Ok((result, nodes)),
            // What a newer server tells beside.
            None => {}
        }
    }
    Err(Failure::Broken("there is no result"))
}

fn document(result: &v1::SolveResult) -> Document<'_> {
    Document {
        total: result.total,
        mean: result.mean,
        max: result.max,
        histogram: &result.histogram,
        first_guess: &result.first_guess,
        proven: result.proven,
        source: result.source().as_str_name(),
        impossible: result.impossible,
    }
}
