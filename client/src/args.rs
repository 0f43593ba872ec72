//! The command line: what can be typed, with its help, and what the flags mean on the wire.
//!
//! Owns the reading of flags and of ranges such as `0-9`. Whether rules, codes and answers are good is for the
//! server to say.

use std::{env, io, path::PathBuf, time::Duration};

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use clap_complete::Shell;
use herdsman_proto::{
    text::{self, TurnError},
    v1,
};

use crate::failure::Failure;

const AFTER_HELP: &str = "\
A turn is a guess and its answer: 0123=0b1c, or 0123=01, or 0123=2b where only bulls are told.
Put `--` before a code or turn that begins with `-`: herdsman score --alphabet=+- -- -+-+ ++--

Exit codes: 0 yes; 1 a negative answer (nothing fits, the answers clash, no strategy exists, a line of
a batch failed); 2 usage; 3 bad or contradictory input; 4 no server, or one that failed; 5 deadline; 6 not allowed;
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
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection and output")]
pub(crate) struct Options {
    /// Where the server is; the environment variable HERDSMAN_SERVER sets the default
    #[arg(long, global = true, value_name = "URL", default_value_t = default_server())]
    pub(crate) server: String,
    /// How long to wait for the answer to one call: 200ms, 5s, 2m [default: 30s; of `solve` the server's limit]
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
    /// The same on one line; of `filter` a line a page
    Jsonl,
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
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Which game is played.
#[derive(Debug, Args)]
#[command(next_help_heading = "Game")]
pub(crate) struct Game {
    /// A game by its name, as `herdsman info` lists them [default: bulls-and-cows]
    #[arg(long, value_name = "PRESET", conflicts_with_all = ["length", "alphabet", "repeats", "not_first"])]
    rules: Option<String>,
    /// Symbols in a code of a game of your own [default: 4]
    #[arg(long, value_name = "N")]
    length: Option<i32>,
    /// Its symbols in order; 0-9 and a-f are ranges, `-` itself stands first or last [default: 0-9]
    #[arg(long, value_name = "SYMBOLS", value_parser = alphabet, allow_hyphen_values = true)]
    alphabet: Option<String>,
    /// A symbol may occur more than once in a code
    #[arg(long)]
    repeats: bool,
    /// Symbols that cannot stand first
    #[arg(long, value_name = "SYMBOLS", value_parser = alphabet, allow_hyphen_values = true)]
    not_first: Option<String>,
    /// What an answer tells [default: the game's own rule]
    #[arg(long, value_parser = wire_name(["pegs", "bulls"], feedback_rule))]
    feedback: Option<i32>,
}

impl Game {
    pub(crate) fn rules(&self) -> v1::Rules {
        let own = self.length.is_some()
            || self.alphabet.is_some()
            || self.repeats
            || self.not_first.is_some();
        let game = if own {
            v1::rules::Game::Codes(v1::CodeRules {
                alphabet: self.alphabet.clone().unwrap_or_else(|| "0123456789".to_owned()),
                length: self.length.unwrap_or(4),
                repeats: self.repeats,
                not_first: self.not_first.clone().unwrap_or_default(),
            })
        } else {
            let name = self.rules.as_deref().unwrap_or("bulls-and-cows");
            v1::rules::Game::Preset(name.to_owned())
        };
        v1::Rules { game: Some(game), feedback: self.feedback.unwrap_or_default() }
    }
}

/// A game and the turns so far.
#[derive(Debug, Args)]
pub(crate) struct Position {
    /// The turns so far, as 0123=0b1c; `-` reads them from standard input
    #[arg(value_name = "TURN")]
    turns: Vec<String>,
    #[command(flatten)]
    game: Game,
}

impl Position {
    pub(crate) fn rules(&self) -> v1::Rules {
        self.game.rules()
    }

    /// A turn. Where bulls and cows are told, an answer with only one of them is half of what was meant.
    fn turn(&self, text: &str) -> Result<v1::Turn, TurnError> {
        let turn = text::parse_turn(text)?;
        let answer = turn.feedback.unwrap_or_default();
        let bulls_only = self.game.feedback == Some(v1::FeedbackRule::Bulls.into());
        if bulls_only || (answer.bulls.is_some() && answer.cows.is_some()) {
            return Ok(turn);
        }
        let answer = text::feedback(&answer);
        Err(TurnError::Half { turn: text.to_owned(), answer })
    }

    /// The turns, those from standard input in the place of `-`.
    pub(crate) fn history(&self) -> Result<Vec<v1::Turn>, Failure> {
        let mut history = Vec::new();
        for turn in &self.turns {
            if turn == "-" {
                let input = io::read_to_string(io::stdin().lock()).map_err(|error| {
                    Failure::Read { source_name: "standard input".to_owned(), error }
                })?;
                for turn in input.split_whitespace() {
                    history.push(self.turn(turn)?);
                }
            } else {
                history.push(self.turn(turn)?);
            }
        }
        Ok(history)
    }
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
    #[command(flatten)]
    pub(crate) position: Position,
}

#[derive(Debug, Args)]
pub(crate) struct Guess {
    /// How the guess is chosen [default: the server's]
    #[arg(long, value_parser = wire_name(STRATEGIES, strategy))]
    pub(crate) strategy: Option<i32>,
    /// What decides between guesses of equal score [default: candidate]
    #[arg(long, value_enum)]
    pub(crate) tie: Option<Tie>,
    /// Consider only guesses that could be the secret; the same as `--tie consistent`
    #[arg(long)]
    pub(crate) consistent_only: bool,
    /// Show the best K guesses
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) top: i32,
    /// What random_consistent draws by
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) seed: i64,
    /// The most scores to compute; beyond it guesses and candidates are sampled [default: the server's limit]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) max_scores: i64,
    #[command(flatten)]
    pub(crate) position: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tie {
    /// The smallest code
    Any,
    /// A guess that could be the secret, then the smallest code
    Candidate,
    /// Only guesses that could be the secret, of them the smallest code
    Consistent,
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
    #[command(flatten)]
    pub(crate) position: Position,
}

/// The strategies by their short names: `expected_size` is `STRATEGY_EXPECTED_SIZE` on the wire.
const STRATEGIES: [&str; 10] = [
    "minimax",
    "expected_size",
    "entropy",
    "most_parts",
    "first_consistent",
    "random_consistent",
    "optimal",
    "optimal_worst_case",
    "entropy_larmouth",
    "most_parts_refined",
];

/// The server that the environment names. clap's own reading would take an empty variable for an empty address.
fn default_server() -> String {
    env::var_os("HERDSMAN_SERVER").filter(|server| !server.is_empty()).map_or_else(
        || "http://127.0.0.1:50051".to_owned(),
        |server| server.to_string_lossy().into(),
    )
}

fn strategy(name: &str) -> i32 {
    v1::Strategy::from_str_name(&format!("STRATEGY_{name}")).unwrap_or_default() as i32
}

fn objective(name: &str) -> i32 {
    let name = format!("OBJECTIVE_{}", name.replace('-', "_"));
    v1::Objective::from_str_name(&name).unwrap_or_default() as i32
}

fn feedback_rule(name: &str) -> i32 {
    v1::FeedbackRule::from_str_name(&format!("FEEDBACK_RULE_{name}")).unwrap_or_default() as i32
}

/// Reads one of `names` as the number that `number` has for it in upper case.
fn wire_name<const N: usize>(
    names: [&'static str; N],
    number: fn(&str) -> i32,
) -> impl TypedValueParser<Value = i32> {
    PossibleValuesParser::new(names).map(move |name| number(&name.to_ascii_uppercase()))
}

/// Spells out the ranges of an alphabet: `0-9A-F` has 16 symbols.
fn alphabet(text: &str) -> Result<String, String> {
    let symbols: Vec<char> = text.chars().collect();
    let mut spelled = String::new();
    let mut rest = symbols.as_slice();
    loop {
        rest = match rest {
            [first, '-', last, rest @ ..] if first <= last => {
                spelled.extend(*first..=*last);
                rest
            }
            [first, '-', last, ..] => {
                return Err(format!(
                    "the range {first}-{last} runs backwards: write {last}-{first}, or put `-` first or last"
                ));
            }
            [symbol, rest @ ..] => {
                spelled.push(*symbol);
                rest
            }
            [] => return Ok(spelled),
        };
    }
}

/// Reads the name of a file that a tree can be written to.
fn tree_file(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    match path.extension() {
        Some(form) if form == "json" || form == "dot" => Ok(path),
        _ => {
            Err("a tree is written as JSON or for Graphviz: end the name in .json or .dot"
                .to_owned())
        }
    }
}

/// Reads a time such as `200ms`, `5s` or `2m`.
fn time(text: &str) -> Result<Duration, String> {
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
    fn ranges_are_spelled_out() {
        for (text, symbols) in [
            ("0-9", "0123456789"),
            ("0-9A-F", "0123456789ABCDEF"),
            ("rgb", "rgb"),
            ("-+", "-+"),
            ("+-", "+-"),
            ("-", "-"),
            ("a-a", "a"),
            ("а-г", "абвг"),
            ("", ""),
        ] {
            assert_eq!(alphabet(text).as_deref(), Ok(symbols));
        }
        assert!(alphabet("9-0").unwrap_err().contains("write 0-9"));
    }

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
    fn every_strategy_of_the_wire_has_a_short_name() {
        let named: Vec<i32> = STRATEGIES.map(|name| strategy(&name.to_ascii_uppercase())).into();
        let wire: Vec<i32> =
            (1..100).filter(|number| v1::Strategy::try_from(*number).is_ok()).collect();
        assert_eq!(named, wire);
    }

    #[test]
    fn every_objective_has_a_short_name() {
        let numbers = ["EXPECTED", "WORST-CASE", "FEWEST-AT-MAX"].map(objective);
        assert_eq!(numbers, [1, 2, 3]);
    }

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }
}
