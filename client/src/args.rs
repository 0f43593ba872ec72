//! The command line: what can be typed, with its help, and what the flags mean on the wire.
//!
//! Owns the commands and the flags that are theirs alone. Which game is played is `game`, who plays `player`.

use std::{env, path::PathBuf, time::Duration};

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use clap_complete::Shell;
use herdsman_proto::v1;

use crate::{
    game::{Game, Position},
    load::Load,
    player::{Choosing, Named, named},
};

const AFTER_HELP: &str = "\
A turn is a guess and its answer: 0123=0b1c or 0123=01; 0123=2b where only bulls are told; crane=3 where it
is how many symbols the secret shares, and crane=5! for the secret itself; crane=GY--G or coloured squares for a
mark a place; 50=> where the secret is higher, 50=< where it is lower. Quote < and >, or a shell takes them.
Put `--` before a code or turn that begins with `-`: herdsman score --alphabet=+- --repeats -- -+-+ ++--

Exit codes: 0 yes; 1 a negative answer (nothing fits, the answers clash, no strategy exists, a line of
a batch failed, a load crossed a threshold); 2 usage; 3 bad or contradictory input; 4 no server, or one that failed; 5 deadline; 6 not allowed;
130 stopped by Ctrl-C.";

/// Solves guess-the-code games: Bulls and Cows, Mastermind and their relatives.
#[derive(Debug, Parser)]
#[command(name = "herdsman", version, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command heeds.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Connection and output")]
pub(crate) struct Options {
    /// Where the server is, http:// or with TLS https://; the environment variable HERDSMAN_SERVER sets the default
    #[arg(long, global = true, value_name = "URL", default_value_t = default_server())]
    pub(crate) server: String,
    /// The authorities to trust at an https:// server, in PEM, instead of those of this system; HERDSMAN_CA is the default
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// The certificate to show to such a server, where it wants one, in PEM; HERDSMAN_CERT is the default
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) cert: Option<PathBuf>,
    /// The private key to that certificate, in PEM; HERDSMAN_KEY is the default
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// A file with the token that the server wants; without one, the environment variable HERDSMAN_TOKEN may hold it. No
    /// flag does, because everybody on a machine sees the arguments of its programs. A token is sent over https:// or to
    /// this machine only
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// How long to wait for the answer to one call: 200ms, 5s, 2m [default: 30s; of `solve`, `evaluate` and `duel` the server's limit]
    #[arg(long, global = true, value_name = "TIME", value_parser = time)]
    pub(crate) timeout: Option<Duration>,
    /// How replies are printed
    #[arg(long, global = true, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// The reply in proto3 JSON: one document
    Json,
    /// The same on one line; of `filter` a line a page, of `evaluate` a line a strategy
    Jsonl,
    /// The reply's table with a header line, as comma-separated values
    Csv,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Answer a guess at a secret
    Score(Score),
    /// List what is still possible, in alphabet order
    Filter(Filter),
    /// Find the best next guess
    Guess(Guess),
    /// Show how a guess would split what is still possible
    Analyze(Analyze),
    /// Find the best possible play and prove it
    #[command(after_help = "\
A terminal shows how far the search is: the bar is how much of the gap between the best strategy
found and what is proven has closed. Ctrl-C ends the search. With --format json the result is one
document with total, mean, max, histogram, first_guess, proven, source and impossible.")]
    Solve(Solve),
    /// Tell whether all answers can be true, and which is wrong if not
    Diagnose(Position),
    /// Answer a guess as a host who has not settled on a secret: so that the guesser learns as little as can be
    Answer(Answer),
    /// Play a game to its end against a secret, and print its turns
    #[command(after_help = "\
A line is a turn and how many codes are left after it. Exits with 1 if the secret is not found.")]
    Simulate(Simulate),
    /// Play a strategy against every secret, or several to compare them
    #[command(after_help = "\
With --format json the result is a document with strategy, total, mean, max, histogram (secrets
found at guess 1, 2, ...), secrets, exact and margin (of a sample, half of the 95 % interval of the
mean); of several strategies, an array of them.")]
    Evaluate(Evaluate),
    /// Tell the chances of two players who guess at each other's secrets, round by round
    #[command(after_help = "\
A round is played to its end: if both find their secrets in it, it is a draw. With --format json the
result is a document with win, draw and lose, the chances of the first player, and first and second,
each as `evaluate` has it.")]
    Duel(Duel),
    /// Tell the server's version, games, strategies and limits
    Info,
    /// Make many calls: a JSON request a line in, a JSON reply a line out, in order
    #[command(after_help = "\
A request is {\"method\":\"Score\",\"request\":{...}}. Its reply is the reply of the method, or
{\"error\":{\"line\":1,\"code\":...,\"reason\":...,\"message\":...,\"violations\":[{\"field\":...,\"description\":...}]}}.
Empty lines are skipped; a bad line does not stop the others.")]
    Batch {
        /// The file of requests; `-` for standard input
        #[arg(value_name = "FILE")]
        source: String,
    },
    /// Put a server under load and tell how long its answers take
    #[command(after_help = "\
Calls are begun at their times, whether or not earlier ones are answered, and timed from when they were due: a
server that falls behind is not spared. The same --seed makes the same calls. Exits with 1 if a threshold is
crossed. Ctrl-C ends the run with what there is. With --format json the result is a document with seconds, all,
calls (a row a kind), steps (a row a rate), start_delay_ms and crossed. A row has due, ok, failed, unfinished,
missed, ok_per_second, scores_per_second, codes, ok_ms and failed_ms; due is the sum of the four after it.

  herdsman load --rate 500 --duration 30s --mix score=8,guess=2 --p99 20ms --errors 0.1%
  herdsman load --closed 64 --mix guess-same
  herdsman load --rate 1000..10000 --mix guess --goodput 90%")]
    Load(Box<Load>),
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Score {
    /// The code to be found
    pub(crate) secret: String,
    /// The code that is tried
    pub(crate) guess: String,
    #[command(flatten)]
    pub(crate) game: Game,
}

#[derive(Debug, Args)]
pub(crate) struct Filter {
    /// Print only how many there are
    #[arg(long, conflicts_with = "limit")]
    pub(crate) count: bool,
    /// Print at most so many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// How many of the answers may be untrue, at most 3; what contradicts the fewest comes first
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) lies: i32,
    #[command(flatten)]
    pub(crate) position: Position,
}

#[derive(Debug, Args)]
pub(crate) struct Guess {
    /// Show the best K guesses
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) top: i32,
    /// The most scores to compute; beyond it guesses and candidates are sampled [default: the server's limit]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) max_scores: i64,
    /// How many of the answers may be untrue, at most 3
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) lies: i32,
    #[command(flatten)]
    pub(crate) position: Position,
    /// How the guess is chosen: a strategy, or a level from easy to perfect [default: the server's]
    #[arg(long, visible_alias = "level", value_parser = named(), help_heading = "Strategy")]
    pub(crate) strategy: Option<Named>,
    #[command(flatten)]
    pub(crate) choosing: Choosing,
}

#[derive(Debug, Args)]
pub(crate) struct Analyze {
    /// The guess to look at
    pub(crate) guess: String,
    #[command(flatten)]
    pub(crate) position: Position,
}

#[derive(Debug, Args)]
pub(crate) struct Solve {
    /// What is to be as small as it can be: the average, or the worst case and then the average, or the worst case and
    /// then the secrets that take so many [default: expected]
    #[arg(long, value_parser = wire_name(["expected", "worst-case", "fewest-at-max"], objective))]
    pub(crate) objective: Option<i32>,
    /// The most guesses that any secret may take, from here on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) max: Option<i32>,
    /// Search even where the server has a book with the answer
    #[arg(long)]
    pub(crate) no_book: bool,
    /// The most threads the search may use [default: the server's limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) threads: Option<i32>,
    /// Write the strategy as a tree to a file: as JSON, or for Graphviz if its name ends in .dot
    #[arg(long, value_name = "FILE.json|FILE.dot", value_parser = tree_file)]
    pub(crate) tree: Option<PathBuf>,
    /// The guess to begin with, whether or not it is the best: proven by a search, also where there is a book
    #[arg(long, value_name = "GUESS", allow_hyphen_values = true)]
    pub(crate) first_guess: Option<String>,
    #[command(flatten)]
    pub(crate) position: Position,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The guess to answer
    pub(crate) guess: String,
    /// The answer that keeps the most codes, or the one after which the best play needs the most guesses
    /// [default: most-candidates]
    #[arg(long, value_parser = wire_name(["most-candidates", "optimal"], policy))]
    pub(crate) policy: Option<i32>,
    #[command(flatten)]
    pub(crate) position: Position,
}

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// The code to be found; left out with --secret-seed
    #[arg(required_unless_present = "secret_seed")]
    pub(crate) secret: Option<String>,
    /// Draw the secret by this number
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) secret_seed: Option<i64>,
    #[command(flatten)]
    pub(crate) position: Position,
    /// Who plays: a strategy, or a level from easy to perfect [default: the server's]
    #[arg(long, visible_alias = "level", value_parser = named(), help_heading = "Strategy")]
    pub(crate) strategy: Option<Named>,
    #[command(flatten)]
    pub(crate) choosing: Choosing,
}

#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// The guess to begin with [default: the strategy's own]
    #[arg(long, value_name = "GUESS", allow_hyphen_values = true)]
    pub(crate) first_guess: Option<String>,
    #[command(flatten)]
    pub(crate) position: Position,
    /// Who plays: a strategy, or a level from easy to perfect; several are compared
    #[arg(long, visible_alias = "level", value_parser = named(), help_heading = "Strategy")]
    #[arg(required = true)]
    pub(crate) strategy: Vec<Named>,
    #[command(flatten)]
    pub(crate) choosing: Choosing,
    #[command(flatten)]
    pub(crate) report: Report,
}

#[derive(Debug, Args)]
pub(crate) struct Duel {
    #[command(flatten)]
    pub(crate) game: Game,
    /// The two players, the first one first: strategies, or levels from easy to perfect
    #[arg(long, visible_alias = "level", value_parser = named(), help_heading = "Strategy")]
    #[arg(required = true)]
    pub(crate) strategy: Vec<Named>,
    #[command(flatten)]
    pub(crate) choosing: Choosing,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Which secrets are played, and what is made of the outcome.
#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
pub(crate) struct Report {
    /// Play only so many secrets, drawn by --seed [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) sample: Option<i32>,
    /// Draw how many secrets are found at which guess
    #[arg(long, value_name = "FILE.svg|FILE.png", value_parser = plot_file)]
    pub(crate) plot: Option<PathBuf>,
}

/// The server that the environment names. clap's own reading would take an empty variable for an empty address.
fn default_server() -> String {
    env::var_os("HERDSMAN_SERVER").filter(|server| !server.is_empty()).map_or_else(
        || "http://127.0.0.1:50051".to_owned(),
        |server| server.to_string_lossy().into(),
    )
}

fn objective(name: &str) -> i32 {
    let name = format!("OBJECTIVE_{}", name.replace('-', "_"));
    v1::Objective::from_str_name(&name).unwrap_or_default() as i32
}

fn policy(name: &str) -> i32 {
    let name = format!("HOST_POLICY_{}", name.replace('-', "_"));
    v1::HostPolicy::from_str_name(&name).unwrap_or_default() as i32
}

/// Reads one of `names` as the number that `number` has for it in upper case.
pub(crate) fn wire_name<const N: usize>(
    names: [&'static str; N],
    number: fn(&str) -> i32,
) -> impl TypedValueParser<Value = i32> {
    PossibleValuesParser::new(names).map(move |name| number(&name.to_ascii_uppercase()))
}

/// Reads the name of a file that a tree can be written to.
fn tree_file(name: &str) -> Result<PathBuf, String> {
    file(name, ["json", "dot"], "a tree is written as JSON or for Graphviz")
}

/// Reads the name of a file that a chart can be written to.
fn plot_file(name: &str) -> Result<PathBuf, String> {
    file(name, ["svg", "png"], "a chart is written as SVG or PNG")
}

/// Reads the name of a file that ends in one of two ways.
fn file(name: &str, [one, other]: [&str; 2], forms: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    match path.extension() {
        Some(form) if form == one || form == other => Ok(path),
        _ => Err(format!("{forms}: end the name in .{one} or .{other}")),
    }
}

/// Reads a time such as `200ms`, `5s` or `2m`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    // Longer is surely a mistake; gRPC itself has no form for times beyond centuries.
    const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
    let (number, unit) = text.split_at(text.find(char::is_alphabetic).unwrap_or(text.len()));
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        _ => f64::NAN,
    };
    number
        .parse::<f64>()
        .ok()
        .and_then(|number| Duration::try_from_secs_f64(number * seconds).ok())
        .filter(|time| !time.is_zero() && *time <= LONGEST)
        .ok_or_else(|| "write a time such as 200ms, 5s or 2m, at most a day".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_and_is_above_zero() {
        assert_eq!(time("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(time("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        for text in ["", "5", "s", "0s", "-1s", "1h", "nans", "infs", "1e300s", "25000m", "5 s 5"] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_objective_and_policy_has_a_short_name() {
        let numbers = ["EXPECTED", "WORST-CASE", "FEWEST-AT-MAX"].map(objective);
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(["MOST-CANDIDATES", "OPTIMAL"].map(policy), [1, 2]);
    }

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }
}
