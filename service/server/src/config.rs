//! Every setting of the server: its name, its default and the reason for the number.
//!
//! Owns flags, environment and ranges. A setting `--max-codes` is also `HERDSMAN_MAX_CODES`; the flag wins. All
//! mistakes are told at once, before anything listens.

use std::{
    ffi::OsString, fmt, net::SocketAddr, ops::RangeInclusive, path::PathBuf, time::Duration,
};

use clap::{
    CommandFactory as _, FromArgMatches as _, Parser,
    builder::{RangedU64ValueParser, ValueParser},
    error::{ContextKind, ContextValue, ErrorKind},
};
use tracing_subscriber::EnvFilter;

use crate::dictionaries::DictionaryFiles;

/// The Herdsman server: scores guesses, filters what is possible and finds the best next guess, over gRPC.
///
/// Every option can be set by an environment variable too: --max-codes is HERDSMAN_MAX_CODES.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "herdsmand", version, max_term_width = 100)]
pub struct Config {
    /// The address and port to listen on; port 0 takes a free one. Only this machine by default: there is no TLS and
    /// no login here.
    #[arg(long, default_value = "127.0.0.1:50051", value_parser = address)]
    pub listen: SocketAddr,
    /// What to log: a level, or levels by target, as in `info,herdsman_server=debug`.
    #[arg(long, default_value = "info", value_parser = log_filter)]
    pub log: String,

    /// Threads that compute; 0 is one a core, because the work never waits for anything.
    #[arg(long, default_value_t = 0, value_parser = range(0..=1024), help_heading = "Work")]
    pub threads: u32,
    /// Calls that may wait for a thread; one more is RESOURCE_EXHAUSTED. With usual answers of a few milliseconds the
    /// last one waits under a second.
    #[arg(long, default_value_t = 256, value_parser = range(0..=100_000), help_heading = "Work")]
    pub max_queue: u32,
    /// Calls under way at a time, those included that do not compute yet; one more is RESOURCE_EXHAUSTED. Each may
    /// hold a request of a megabyte.
    #[arg(long, default_value_t = 2000, value_parser = range(1..=1_000_000), help_heading = "Work")]
    pub max_calls: u32,
    /// The longest that a call may take, in milliseconds, also where it sets no deadline: nobody watches a hint come
    /// for longer.
    #[arg(long, default_value_t = 30_000, value_parser = range(1..=3_600_000), help_heading = "Work")]
    pub max_deadline_ms: u32,
    /// The most scores that one BestNextGuess computes: what a core does within the longest deadline even of the
    /// longest codes, so that a search which nothing else ends still answers.
    #[arg(long, default_value_t = 2_000_000_000,
        value_parser = clap::value_parser!(u64).range(1..=i64::MAX as u64), help_heading = "Work")]
    pub max_scores: u64,
    /// Threads that all Solve, Evaluate and Duel calls share, beside those that compute the rest; 0 is one a core. A
    /// Solve takes all of them unless it asks for fewer, the others one.
    #[arg(long, default_value_t = 0, value_parser = range(0..=1024), help_heading = "Work")]
    pub solve_threads: u32,
    /// Bytes that all Solve calls may hold together; a call has its share by its threads. Half of it is enough for the
    /// answers of 16,000 guesses to as many candidates, the other for what a proof of a minute remembers.
    #[arg(long, default_value_t = 512 << 20,
        value_parser = clap::value_parser!(u64).range(1 << 20..=1 << 40), help_heading = "Work")]
    pub solve_memo_bytes: u64,
    /// The longest that a Solve, Evaluate or Duel may take, in milliseconds: its caller watches its progress.
    #[arg(long, default_value_t = 600_000, value_parser = range(1..=86_400_000),
        help_heading = "Work")]
    pub max_solve_deadline_ms: u32,

    /// The most codes of a game: a list of all takes 80 MB and a tenth of a second.
    #[arg(long, default_value_t = 20_000_000,
        value_parser = range(1..=herdsman_engine::MAX_CODES.into()), help_heading = "Requests")]
    pub max_codes: u32,
    /// The largest request in bytes: room for the largest batch.
    #[arg(long, default_value_t = 1 << 20, value_parser = range(1024..=i32::MAX as u64),
        help_heading = "Requests")]
    pub max_message_bytes: u32,
    /// The largest reply in bytes: room for the largest matrix.
    #[arg(long, default_value_t = 16 << 20, value_parser = range(1024..=i32::MAX as u64),
        help_heading = "Requests")]
    pub max_reply_bytes: u32,
    /// The most turns of a history: more than any game takes, and what the engine holds in one word.
    #[arg(long, default_value_t = 64, value_parser = range(1..=herdsman_engine::MAX_TURNS as u64),
        help_heading = "Requests")]
    pub max_turns: u32,
    /// The most pairs of a BatchScore: a message of some 300 KB.
    #[arg(long, default_value_t = 10_000, value_parser = range(1..=10_000_000),
        help_heading = "Requests")]
    pub max_pairs: u32,
    /// The most cells (guesses times secrets) of a ScoreMatrix: a byte each in the reply.
    #[arg(long, default_value_t = 10_000_000, value_parser = range(1..=1_000_000_000),
        help_heading = "Requests")]
    pub max_cells: u32,
    /// The most candidates on a page of Filter: a reply of some 100 KB.
    #[arg(long, default_value_t = 10_000, value_parser = range(1..=100_000),
        help_heading = "Requests")]
    pub max_page_size: u32,
    /// The most suggestions of a BestNextGuess: more than anybody reads, and each is measured anew.
    #[arg(long, default_value_t = 100, value_parser = range(1..=10_000), help_heading = "Requests")]
    pub max_top_k: u32,
    /// The most words in the lists of a request: what is read in some 30 ms. Longer lists are dictionaries.
    #[arg(long, default_value_t = 65_536,
        value_parser = range(0..=herdsman_engine::MAX_WORDS as u64), help_heading = "Requests")]
    pub max_words: u32,

    /// A list of words that requests can name, as in `--dictionary daily=secrets.txt,guesses=more.txt`, or without
    /// guesses where every word can be the secret; a word a line, with its weight behind it where they are not all as
    /// likely. To be given once for each; in the environment, with `;` between them.
    #[arg(long, value_name = "NAME=FILE[,guesses=FILE]", value_delimiter = ';',
        value_parser = str::parse::<DictionaryFiles>, help_heading = "Words")]
    pub dictionary: Vec<DictionaryFiles>,
    /// The largest file of a dictionary in bytes: room for two million words.
    #[arg(long, default_value_t = 64 << 20, value_parser = clap::value_parser!(u64).range(1..=1 << 30),
        help_heading = "Words")]
    pub max_dictionary_bytes: u64,

    /// Bytes of games kept ready: those with names take some 3 MB together, one of a million codes some 5.
    #[arg(long, default_value_t = 256 << 20, help_heading = "Caches")]
    pub game_cache_bytes: u64,
    /// Bytes of candidate lists kept, for the pages of Filter: 8 bytes a candidate.
    #[arg(long, default_value_t = 64 << 20, help_heading = "Caches")]
    pub candidate_cache_bytes: u64,
    /// Bytes of answers of BestNextGuess and Analyze kept: some thirty thousand.
    #[arg(long, default_value_t = 64 << 20, help_heading = "Caches")]
    pub answer_cache_bytes: u64,
    /// A file that answers are saved to, now and then and on stop, and are there again after a restart. None by
    /// default. Whoever can write it decides what is answered.
    #[arg(long, value_name = "FILE", help_heading = "Caches")]
    pub cache_file: Option<PathBuf>,
    /// Bytes of requests and answers saved, those first that took longest: some fifty thousand. The file takes up to four
    /// times as much.
    #[arg(long, default_value_t = 16 << 20,
        value_parser = clap::value_parser!(u64).range(1 << 10..=1 << 32), help_heading = "Caches")]
    pub cache_file_bytes: u64,
    /// How often answers are saved, in milliseconds, where there are new ones: a crash costs what minutes gathered.
    #[arg(long, default_value_t = 300_000, value_parser = range(1..=86_400_000),
        help_heading = "Caches")]
    pub cache_save_ms: u32,
    /// The longest that reading answers back may hold up a start, in milliseconds; what is left then is left out.
    #[arg(long, default_value_t = 1000, value_parser = range(1..=60_000), help_heading = "Caches")]
    pub cache_load_ms: u32,

    /// The most connections; further ones wait to be accepted. Below the 1024 files that a process may usually open.
    #[arg(long, default_value_t = 1000, value_parser = range(1..=1_000_000), help_heading = "Network")]
    pub max_connections: u32,
    /// The most calls at a time on one connection.
    #[arg(long, default_value_t = 200, value_parser = range(1..=100_000), help_heading = "Network")]
    pub max_streams: u32,
    /// Calls of one connection that are cancelled before the server took them up, before it is closed
    /// (CVE-2023-44487): as many as it may have at a time, so that an honest client can give all of them up.
    #[arg(long, default_value_t = 200, value_parser = range(1..=100_000), help_heading = "Network")]
    pub max_early_cancels: u32,
    /// Faulty streams of one connection, each answered by a reset, before it is closed (CVE-2025-8671).
    #[arg(long, default_value_t = 1024, value_parser = range(1..=1_000_000), help_heading = "Network")]
    pub max_reset_streams: u32,
    /// The most bytes of request headers.
    #[arg(long, default_value_t = 16 << 10, value_parser = range(1024..=1 << 20),
        help_heading = "Network")]
    pub max_header_bytes: u32,
    /// How long a new connection may take to begin to speak HTTP/2, in milliseconds.
    #[arg(long, default_value_t = 10_000, value_parser = range(1..=3_600_000),
        help_heading = "Network")]
    pub handshake_timeout_ms: u32,
    /// How often a connection is asked whether it lives, in milliseconds: below the minutes after which middleboxes
    /// forget an idle one.
    #[arg(long, default_value_t = 60_000, value_parser = range(100..=3_600_000),
        help_heading = "Network")]
    pub keepalive_interval_ms: u32,
    /// How long it may take to say so, in milliseconds, before it is closed.
    #[arg(long, default_value_t = 20_000, value_parser = range(100..=3_600_000),
        help_heading = "Network")]
    pub keepalive_timeout_ms: u32,

    /// Milliseconds from a stop signal, when health turns NOT_SERVING, until no connection is accepted any more. None
    /// by default; behind a balancer, as long as it takes to notice.
    #[arg(long, default_value_t = 0, value_parser = range(0..=600_000), help_heading = "Stop")]
    pub drain_ms: u32,
    /// Milliseconds that running calls then get to finish; those that are left end with UNAVAILABLE.
    #[arg(long, default_value_t = 10_000, value_parser = range(0..=600_000), help_heading = "Stop")]
    pub grace_ms: u32,
}

/// What is wrong with the settings, all of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistakes(Vec<String>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the settings cannot be used:", self.0.len())?;
        self.0.iter().try_for_each(|mistake| write!(f, "\n  {mistake}"))
    }
}

impl std::error::Error for Mistakes {}

impl Default for Config {
    /// The settings of a server that is told nothing; the environment is not read.
    fn default() -> Config {
        Config::parse_from(["herdsmand"])
    }
}

impl Config {
    /// The settings of this process: its arguments, then its environment. Ends the process after `--help`,
    /// `--version` and an argument that does not exist.
    ///
    /// # Errors
    /// [`Mistakes`] names every setting with a bad value.
    pub fn load() -> Result<Config, Mistakes> {
        let command = Config::command().mut_args(|arg| match arg.get_id().as_str() {
            "help" | "version" => arg,
            id => {
                let name = format!("HERDSMAN_{}", id.to_uppercase());
                arg.env(name)
            }
        });
        Config::read(command, std::env::args_os().collect())
    }

    /// Reads until nothing is wrong: a value that is refused is noted and then passed as text.
    fn read(mut command: clap::Command, args: Vec<OsString>) -> Result<Config, Mistakes> {
        let mut mistakes = Vec::new();
        let config = loop {
            match command.clone().try_get_matches_from(&args) {
                Ok(matches) if mistakes.is_empty() => {
                    break Config::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
                }
                Ok(_) => return Err(Mistakes(mistakes)),
                Err(error) => {
                    let id = refused_setting(&error).unwrap_or_else(|| error.exit());
                    mistakes.push(first_line(&error));
                    command = command.mut_arg(id, |arg| arg.value_parser(ValueParser::os_string()));
                }
            }
        };
        config.check()?;
        Ok(config)
    }

    /// What no single setting can tell of itself.
    fn check(&self) -> Result<(), Mistakes> {
        let mut mistakes = Vec::new();
        // The legend and the frame of a matrix take at most some three thousand bytes.
        let needed = u64::from(self.max_cells) + 4096;
        if u64::from(self.max_reply_bytes) < needed {
            mistakes.push(format!(
                "--max-reply-bytes is {}, and a matrix of --max-cells {} needs {needed}",
                self.max_reply_bytes, self.max_cells
            ));
        }
        let names = self.dictionary.iter().map(|files| files.name.as_str());
        for (at, name) in names.clone().enumerate() {
            if names.clone().take(at).any(|before| before == name) {
                mistakes.push(format!("--dictionary has {name} twice: each name stands for one"));
            }
        }
        if mistakes.is_empty() { Ok(()) } else { Err(Mistakes(mistakes)) }
    }

    /// Threads that compute.
    pub(crate) fn worker_threads(&self) -> usize {
        or_one_a_core(self.threads)
    }

    /// Threads that solve.
    pub(crate) fn solver_threads(&self) -> usize {
        or_one_a_core(self.solve_threads)
    }
}

fn or_one_a_core(threads: u32) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads as usize,
    }
}

/// A setting in milliseconds as a duration.
pub(crate) fn milliseconds(setting: u32) -> Duration {
    Duration::from_millis(setting.into())
}

/// The id of the argument whose value an error refuses, or nothing if it is about something else.
fn refused_setting(error: &clap::Error) -> Option<String> {
    let about_a_value =
        matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue);
    match error.get(ContextKind::InvalidArg) {
        // As in `--max-codes <MAX_CODES>`.
        Some(ContextValue::String(arg)) if about_a_value => {
            let name = arg.split_whitespace().next()?.trim_start_matches('-');
            Some(name.replace('-', "_"))
        }
        _ => None,
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// A whole number within these bounds.
fn range(bounds: RangeInclusive<u64>) -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(bounds)
}

/// An address to listen on.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "write an IP address and a port, as in 127.0.0.1:50051".to_owned())
}

fn log_filter(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<Config, Mistakes> {
        let args = ["herdsmand"].iter().chain(args).map(OsString::from).collect();
        Config::read(Config::command(), args)
    }

    #[test]
    fn settings_that_are_not_given_have_their_defaults() {
        let config = read(&["--threads", "3"]).unwrap();
        assert_eq!(config, Config { threads: 3, ..Config::default() });
        assert_eq!(config.listen.to_string(), "127.0.0.1:50051");
    }

    #[test]
    fn every_mistake_is_told_at_once_with_the_name_of_its_setting() {
        let Mistakes(mistakes) =
            read(&["--listen=here", "--max-turns=65", "--log=a=b=c", "--max-queue=-"]).unwrap_err();
        for name in ["--listen", "--max-turns", "--log", "--max-queue"] {
            assert!(mistakes.iter().any(|mistake| mistake.contains(name)), "{name}: {mistakes:?}");
        }
        assert_eq!(mistakes.len(), 4);
    }

    #[test]
    fn a_reply_must_have_room_for_the_largest_matrix() {
        let error = read(&["--max-cells", "100000000"]).unwrap_err().to_string();
        assert!(error.contains("--max-reply-bytes") && error.contains("--max-cells"), "{error}");
    }

    #[test]
    fn flags_and_help_agree() {
        Config::command().debug_assert();
    }
}
