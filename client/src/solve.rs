//! `herdsman solve`: a search that is watched while it runs, and its result.
//!
//! Owns the stream. What is told of its progress is `progress`, how a tree is written `tree`.

use herdsman_proto::v1::{self, solve_response::Event};
use serde::Serialize;

use crate::{
    args::{Options, Solve},
    csv,
    failure::{self, Failure, Verdict},
    output::{self, Output},
    progress::Gap,
    remote::Remote,
    tree, watch, words,
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
        rules: Some(args.position.rules()?),
        history: args.position.history()?,
        objective: args.objective.unwrap_or_default(),
        max_guesses,
        no_book: args.no_book,
        include_tree: args.tree.is_some(),
        limits: Some(v1::SolveLimits { threads: args.threads.unwrap_or_default(), memo_bytes: 0 }),
        first_guess: args.first_guess.unwrap_or_default(),
    };
    args.tree.as_deref().map(output::writable).transpose()?;
    let remote = Remote::connect(options).await?;
    let (result, nodes) = watch::interruptible(search(&remote, request)).await?;
    if let Some(path) = &args.tree
        && !nodes.is_empty()
    {
        let graph = path.extension().is_some_and(|form| form == "dot");
        let text = if graph { tree::dot(&nodes) } else { tree::json(&nodes) };
        let text = text.ok_or(Failure::Broken("the tree has a node without its parent"))?;
        output::file(path, text.as_bytes())?;
    }
    output.print(
        &document(&result),
        || words::solve(&result, max_guesses),
        || csv::solve(&result),
    )?;
    Ok(if result.impossible { Verdict::No } else { Verdict::Yes })
}

/// Follows the stream to its end; on a terminal, tells how far it is.
async fn search(
    remote: &Remote,
    request: v1::SolveRequest,
) -> Result<(v1::SolveResult, Vec<v1::StrategyNode>), Failure> {
    let line = watch::line();
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
