//! `herdsman evaluate` and `herdsman duel`: strategies against every secret, watched while they play, and how they fare.
//!
//! Owns the streams and the documents. What is drawn of the results is `chart`, what is told of them `words`.

use std::path::Path;

use herdsman_proto::v1::{self, duel_response, evaluate_response};
use serde::Serialize;
use tonic::Streaming;

use crate::{
    args::{Duel, Evaluate, Format, Options},
    chart, csv,
    failure::{self, Failure, Verdict},
    output::{self, Output},
    progress,
    remote::Remote,
    watch, words,
};

/// How a player fares, and who it is.
pub(crate) struct Fared {
    pub(crate) name: String,
    pub(crate) result: v1::Evaluation,
}

/// The same as a script reads it.
#[derive(Serialize)]
struct Document<'a> {
    strategy: &'a str,
    total: i64,
    mean: f64,
    max: i32,
    histogram: &'a [i32],
    secrets: i32,
    exact: bool,
    margin: f64,
}

/// The chances of the first player as a script reads them.
#[derive(Serialize)]
struct Chances<'a> {
    win: f64,
    draw: f64,
    lose: f64,
    first: Document<'a>,
    second: Document<'a>,
}

/// Plays one strategy after the other, unless it is interrupted.
pub(crate) async fn evaluate(
    args: Evaluate,
    options: &Options,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let mut request = v1::EvaluateRequest {
        rules: Some(args.position.rules()?),
        history: args.position.history()?,
        player: None,
        first_guess: args.first_guess.unwrap_or_default(),
        sample: args.report.sample.unwrap_or_default(),
        sample_seed: args.choosing.seed,
    };
    args.report.plot.as_deref().map(output::writable).transpose()?;
    let remote = Remote::connect(options).await?;
    let mut results = Vec::new();
    for named in &args.strategy {
        request.player = Some(args.choosing.player(Some(named)));
        let result = watch::interruptible(evaluation(&remote, request.clone(), &named.name));
        let fared = Fared { name: named.name.clone(), result: result.await? };
        if output.format() == Format::Jsonl {
            // At once: the next one may take minutes.
            output.line(&document(&fared))?;
            output.flush()?;
        }
        results.push(fared);
    }
    plot(args.report.plot.as_deref(), &results)?;
    let table = || csv::evaluate(&results);
    match results.as_slice() {
        _ if output.format() == Format::Jsonl => {}
        [alone] => {
            output.print(&document(alone), || words::play::evaluation(&alone.result), table)?
        }
        several => {
            let documents: Vec<_> = several.iter().map(document).collect();
            output.print(&documents, || words::play::comparison(several), table)?;
        }
    }
    Ok(Verdict::Yes)
}

/// Lets two players meet, unless it is interrupted.
pub(crate) async fn duel(
    args: Duel,
    options: &Options,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let [first, second] = args.strategy.as_slice() else {
        let said = "a duel has two players: give --strategy (or --level) twice";
        return Err(Failure::Usage(said.to_owned()));
    };
    let request = v1::DuelRequest {
        rules: Some(args.game.rules()?),
        first: Some(args.choosing.player(Some(first))),
        second: Some(args.choosing.player(Some(second))),
        sample: args.report.sample.unwrap_or_default(),
        sample_seed: args.choosing.seed,
    };
    args.report.plot.as_deref().map(output::writable).transpose()?;
    let remote = Remote::connect(options).await?;
    let names = [first.name.as_str(), second.name.as_str()];
    let result = watch::interruptible(chances(&remote, request, &names.join(" and "))).await?;
    let fared = |name: &str, result: &Option<v1::Evaluation>| Fared {
        name: name.to_owned(),
        result: result.clone().unwrap_or_default(),
    };
    let players = [fared(names[0], &result.first), fared(names[1], &result.second)];
    plot(args.report.plot.as_deref(), &players)?;
    let v1::DuelResult { win, draw, lose, .. } = result;
    let [first, second] = players.each_ref().map(document);
    output.print(
        &Chances { win, draw, lose, first, second },
        || words::play::duel(&result, &players),
        || csv::duel(&result, names),
    )?;
    Ok(Verdict::Yes)
}

fn plot(file: Option<&Path>, results: &[Fared]) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    let chart = chart::histograms(results);
    let image = match file.extension() {
        Some(form) if form == "png" => chart::png::image(&chart),
        _ => chart::svg::image(&chart).into_bytes(),
    };
    output::file(file, &image)
}

/// What a message of a stream is.
enum Step<T> {
    Progress(v1::EvaluateProgress),
    Result(T),
}

async fn evaluation(
    remote: &Remote,
    request: v1::EvaluateRequest,
    player: &str,
) -> Result<v1::Evaluation, Failure> {
    let call = remote.solver().evaluate(remote.patient_request(request)).await;
    follow(call?.into_inner(), remote, player, |message: v1::EvaluateResponse| {
        Some(match message.event? {
            evaluate_response::Event::Progress(progress) => Step::Progress(progress),
            evaluate_response::Event::Result(result) => Step::Result(result),
        })
    })
    .await
}

async fn chances(
    remote: &Remote,
    request: v1::DuelRequest,
    players: &str,
) -> Result<v1::DuelResult, Failure> {
    let call = remote.solver().duel(remote.patient_request(request)).await;
    follow(call?.into_inner(), remote, players, |message: v1::DuelResponse| {
        Some(match message.event? {
            duel_response::Event::Progress(progress) => Step::Progress(progress),
            duel_response::Event::Result(result) => Step::Result(result),
        })
    })
    .await
}

/// Follows a stream to its result; on a terminal, tells how far it is. What a newer server tells beside is no step.
async fn follow<M, T>(
    mut stream: Streaming<M>,
    remote: &Remote,
    players: &str,
    step: impl Fn(M) -> Option<Step<T>>,
) -> Result<T, Failure> {
    let line = watch::line();
    let broken = |status| failure::broken_stream(status, remote.server());
    while let Some(message) = stream.message().await.map_err(broken)? {
        match step(message) {
            Some(Step::Progress(progress)) => {
                line.set_message(progress::share(players, &progress));
            }
            Some(Step::Result(result)) => return Ok(result),
            None => {}
        }
    }
    Err(Failure::Broken("there is no result"))
}

fn document(Fared { name, result }: &Fared) -> Document<'_> {
    Document {
        strategy: name,
        total: result.total,
        mean: result.mean,
        max: result.max,
        histogram: &result.histogram,
        secrets: result.secrets,
        exact: result.exact,
        margin: result.margin,
    }
}
