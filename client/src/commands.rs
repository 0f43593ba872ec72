//! The commands that are one question each: flags to request, call, reply to output, verdict.

use clap::CommandFactory as _;
use herdsman_proto::v1;

use crate::{
    args::{Analyze, Answer, Cli, Command, Filter, Format, Guess, Options, Score, Simulate},
    batch, csv, evaluate,
    failure::{Failure, Verdict},
    game::Position,
    load,
    output::{self, Output},
    remote::Remote,
    solve, words,
};

/// The candidates asked for at once; a server that allows fewer sends fewer.
const PAGE_SIZE: u32 = 10_000;

/// Runs one command. The request is put together before the server is called, so that bad input needs none.
pub(crate) async fn run(
    command: Command,
    options: &Options,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    match command {
        Command::Score(args) => score(args, options, output).await,
        Command::Filter(args) => filter(args, options, output).await,
        Command::Guess(args) => guess(args, options, output).await,
        Command::Analyze(args) => analyze(args, options, output).await,
        Command::Solve(args) => solve::run(args, options, output).await,
        Command::Diagnose(position) => diagnose(position, options, output).await,
        Command::Answer(args) => answer(args, options, output).await,
        Command::Simulate(args) => simulate(args, options, output).await,
        Command::Evaluate(args) => evaluate::evaluate(args, options, output).await,
        Command::Duel(args) => evaluate::duel(args, options, output).await,
        Command::Info => info(options, output).await,
        Command::Batch { source } => batch::run(&source, options, output).await,
        Command::Load(args) => load::run(*args, options, output).await,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "herdsman", &mut script);
            output.text(&script)?;
            Ok(Verdict::Yes)
        }
    }
}

async fn score(args: Score, options: &Options, output: &mut Output) -> Result<Verdict, Failure> {
    let request = v1::ScoreRequest {
        rules: Some(args.game.rules()?),
        secret: args.secret,
        guess: args.guess,
    };
    let remote = Remote::connect(options).await?;
    let reply = remote.solver().score(remote.request(request)).await?.into_inner();
    output.reply("Score", &reply, || words::score(&reply), || csv::score(&reply))?;
    Ok(Verdict::Yes)
}

/// Walks the pages. Text and JSON lines go out page by page; a JSON document is put together first.
async fn filter(args: Filter, options: &Options, output: &mut Output) -> Result<Verdict, Failure> {
    let mut request = v1::FilterRequest {
        rules: Some(args.position.rules()?),
        history: args.position.history()?,
        count_only: args.count,
        max_lies: args.lies,
        ..Default::default()
    };
    let remote = Remote::connect(options).await?;
    let mut wanted = args.limit.unwrap_or(u32::MAX);
    let mut document = Vec::new();
    let mut first = true;
    let page = loop {
        request.page_size = wanted.min(PAGE_SIZE) as i32;
        let mut page = remote.solver().filter(remote.request(request.clone())).await?.into_inner();
        wanted = wanted.saturating_sub(page.candidates.len() as u32);
        request.page_token.clone_from(&page.next_page_token);
        let last = page.next_page_token.is_empty() || wanted == 0;
        if output.format() == Format::Json {
            document.append(&mut page.candidates);
            page.candidates = if last { std::mem::take(&mut document) } else { Vec::new() };
        }
        if last || output.format() != Format::Json {
            let table = || {
                let table = csv::filter(&page, args.count);
                if first { table } else { table.without_header() }
            };
            output.reply("Filter", &page, || words::filter(&page, args.count), table)?;
            output.flush()?;
        }
        first = false;
        if last {
            break page;
        }
    };
    // In JSON it is said, and so it is where an estimate is printed.
    let said = args.count && page.count.is_some() && output.format() == Format::Text;
    if matches!(output.format(), Format::Text | Format::Csv) && !said {
        words::filtered(&page).iter().for_each(|unsaid| output::note(unsaid));
    }
    let some = page.remaining > 0 || page.count.is_some_and(|count| count.value > 0.0);
    let verdict = if some { Verdict::Yes } else { Verdict::No };
    if verdict == Verdict::No {
        output::note(match page.count {
            Some(_) => "nothing fits: some answer is wrong",
            None => "nothing fits: `herdsman diagnose` with the same turns finds the wrong answer",
        });
    }
    Ok(verdict)
}

async fn guess(args: Guess, options: &Options, output: &mut Output) -> Result<Verdict, Failure> {
    let v1::Player { strategy, tie, pool, seed, level } =
        args.choosing.player(args.strategy.as_ref());
    let request = v1::BestNextGuessRequest {
        rules: Some(args.position.rules()?),
        history: args.position.history()?,
        strategy,
        tie,
        pool,
        top_k: args.top,
        seed,
        limits: Some(v1::SearchLimits { max_scores: args.max_scores }),
        level,
        max_lies: args.lies,
    };
    let remote = Remote::connect(options).await?;
    let reply = remote.solver().best_next_guess(remote.request(request)).await?.into_inner();
    output.reply("BestNextGuess", &reply, || words::guess(&reply), || csv::guess(&reply))?;
    Ok(Verdict::Yes)
}

async fn analyze(
    args: Analyze,
    options: &Options,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let request = v1::AnalyzeRequest {
        rules: Some(args.position.rules()?),
        history: args.position.history()?,
        guess: args.guess,
        rate: true,
    };
    let remote = Remote::connect(options).await?;
    let reply = remote.solver().analyze(remote.request(request)).await?.into_inner();
    output.reply("Analyze", &reply, || words::analyze(&reply), || csv::analyze(&reply))?;
    Ok(Verdict::Yes)
}

async fn diagnose(
    position: Position,
    options: &Options,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let history = position.history()?;
    let request = v1::DiagnoseRequest { rules: Some(position.rules()?), history: history.clone() };
    let remote = Remote::connect(options).await?;
    let reply = remote.solver().diagnose(remote.request(request)).await?.into_inner();
    let words = || words::diagnose(&reply, &history);
    output.reply("Diagnose", &reply, words, || csv::diagnose(&reply))?;
    Ok(if reply.consistent { Verdict::Yes } else { Verdict::No })
}

async fn answer(args: Answer, options: &Options, output: &mut Output) -> Result<Verdict, Failure> {
    let request = v1::AnswerRequest {
        rules: Some(args.position.rules()?),
        history: args.position.history()?,
        guess: args.guess,
        policy: args.policy.unwrap_or_default(),
    };
    let remote = Remote::connect(options).await?;
    let reply = remote.solver().answer(remote.request(request)).await?.into_inner();
    output.reply("Answer", &reply, || words::play::answer(&reply), || csv::host(&reply))?;
    Ok(Verdict::Yes)
}

async fn simulate(
    args: Simulate,
    options: &Options,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let Simulate { mut secret, secret_seed, strategy, choosing, mut position } = args;
    // Where the secret is drawn, what stands first is a turn.
    if secret_seed.is_some()
        && let Some(turn) = secret.take()
    {
        position.begin_with(turn);
    }
    let history = position.history()?;
    let first = history.len() + 1;
    let request = v1::SimulateRequest {
        rules: Some(position.rules()?),
        history,
        player: Some(choosing.player(strategy.as_ref())),
        secret: secret.unwrap_or_default(),
        secret_seed: secret_seed.unwrap_or_default(),
    };
    let remote = Remote::connect(options).await?;
    let reply = remote.solver().simulate(remote.request(request)).await?.into_inner();
    let words = || words::play::simulate(&reply, first);
    output.reply("Simulate", &reply, words, || csv::simulate(&reply, first))?;
    if reply.solved {
        return Ok(Verdict::Yes);
    }
    output::note(&format!("not found: the secret is {}", reply.secret));
    Ok(Verdict::No)
}

async fn info(options: &Options, output: &mut Output) -> Result<Verdict, Failure> {
    let remote = Remote::connect(options).await?;
    let request = remote.request(v1::GetServerInfoRequest {});
    let reply = remote.solver().get_server_info(request).await?.into_inner();
    let words = || words::info::info(&reply, remote.server());
    output.reply("GetServerInfo", &reply, words, || csv::info(&reply))?;
    Ok(Verdict::Yes)
}
