//! The commands that are one question each: flags to request, call, reply to output, verdict.

use clap::CommandFactory as _;
use herdsman_proto::v1;

use crate::{
    args::{Analyze, Cli, Command, Filter, Format, Guess, Options, Position, Score, Tie},
    batch,
    failure::{Failure, Verdict},
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
        Command::Info => info(options, output).await,
        Command::Batch { source } => batch::run(&source, options, output).await,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "herdsman", &mut script);
            output.text(&script)?;
            Ok(Verdict::Yes)
        }
    }
}

async fn score(args: Score, options: &Options, output: &mut Output) -> Result<Verdict, Failure> {
    let request =
        v1::ScoreRequest { rules: Some(args.game.rules()), secret: args.secret, guess: args.guess };
    let remote = Remote::connect(options).await?;
    let reply = remote.solver().score(remote.request(request)).await?.into_inner();
    output.reply("Score", &reply, || words::score(&reply))?;
    Ok(Verdict::Yes)
}

/// Walks the pages. Text and JSON lines go out page by page; a JSON document is put together first.
async fn filter(args: Filter, options: &Options, output: &mut Output) -> Result<Verdict, Failure> {
    let mut request = v1::FilterRequest {
        rules: Some(args.position.rules()),
        history: args.position.history()?,
        count_only: args.count,
        ..Default::default()
    };
    let remote = Remote::connect(options).await?;
    let mut wanted = args.limit.unwrap_or(u32::MAX);
    let mut document = Vec::new();
    let verdict = loop {
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
            output.reply("Filter", &page, || words::filter(&page, args.count))?;
            output.flush()?;
        }
        if last {
            break if page.remaining == 0 { Verdict::No } else { Verdict::Yes };
        }
    };
    if verdict == Verdict::No {
        output::note(
            "nothing fits: `herdsman diagnose` with the same turns finds the wrong answer",
        );
    }
    Ok(verdict)
}

async fn guess(args: Guess, options: &Options, output: &mut Output) -> Result<Verdict, Failure> {
    let (tie, pool) = match args.tie {
        None => (v1::TieRule::Unspecified, v1::GuessPool::Unspecified),
        Some(Tie::Any) => (v1::TieRule::Any, v1::GuessPool::Unspecified),
        Some(Tie::Candidate) => (v1::TieRule::Candidate, v1::GuessPool::Unspecified),
        Some(Tie::Consistent) => (v1::TieRule::Unspecified, v1::GuessPool::Consistent),
    };
    let pool = if args.consistent_only { v1::GuessPool::Consistent } else { pool };
    let request = v1::BestNextGuessRequest {
        rules: Some(args.position.rules()),
        history: args.position.history()?,
        strategy: args.strategy.unwrap_or_default(),
        tie: tie.into(),
        pool: pool.into(),
        top_k: args.top,
        seed: args.seed,
        limits: Some(v1::SearchLimits { max_scores: args.max_scores }),
    };
    let remote = Remote::connect(options).await?;
    let reply = remote.solver().best_next_guess(remote.request(request)).await?.into_inner();
    output.reply("BestNextGuess", &reply, || words::guess(&reply))?;
    Ok(Verdict::Yes)
}

async fn analyze(
    args: Analyze,
    options: &Options,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let request = v1::AnalyzeRequest {
        rules: Some(args.position.rules()),
        history: args.position.history()?,
        guess: args.guess,
        rate: true,
    };
    let remote = Remote::connect(options).await?;
    let reply = remote.solver().analyze(remote.request(request)).await?.into_inner();
    output.reply("Analyze", &reply, || words::analyze(&reply))?;
    Ok(Verdict::Yes)
}

async fn diagnose(
    position: Position,
    options: &Options,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let history = position.history()?;
    let request = v1::DiagnoseRequest { rules: Some(position.rules()), history: history.clone() };
    let remote = Remote::connect(options).await?;
    let reply = remote.solver().diagnose(remote.request(request)).await?.into_inner();
    output.reply("Diagnose", &reply, || words::diagnose(&reply, &history))?;
    Ok(if reply.consistent { Verdict::Yes } else { Verdict::No })
}

async fn info(options: &Options, output: &mut Output) -> Result<Verdict, Failure> {
    let remote = Remote::connect(options).await?;
    let request = remote.request(v1::GetServerInfoRequest {});
    let reply = remote.solver().get_server_info(request).await?.into_inner();
    output.reply("GetServerInfo", &reply, || words::info(&reply, remote.server()))?;
    Ok(Verdict::Yes)
}
