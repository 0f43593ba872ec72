//! Every setting of the server: its name, its default and the reason for the number.
//!
//! Owns the one table of settings, their ranges, and what must hold between them. Where values come from is `sources`
//! and `file`, which of them are in force `invocation`, and how they are written `print`. Every value is tried alone, so
//! what one setting wants of another is said in `Config::check`, and never by clap's `requires` and its like.

mod file;
mod invocation;
mod mistakes;
mod print;
mod sources;
mod table;

use std::{net::SocketAddr, ops::RangeInclusive, path::PathBuf, time::Duration};

use clap::{Parser, builder::TypedValueParser};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

pub use self::{invocation::Invocation, mistakes::Mistakes};
use crate::dictionaries::DictionaryFiles;

/// The Herdsman server: scores guesses, filters what is possible and finds the best next guess, over gRPC.
///
/// Every setting is also an environment variable (--max-codes is HERDSMAN_MAX_CODES) and a key of the TOML file of
/// --config (max_codes). Flags win over variables, and variables over the file.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "herdsmand", version, max_term_width = 100)]
pub struct Config {
    /// The address and port to listen on; port 0 takes a free one. Only this machine by default: others are let in with
    /// TLS and tokens.
    #[arg(long, default_value = "127.0.0.1:50051", value_parser = address)]
    pub listen: SocketAddr,
    /// What to log: a level, or levels by target, as in `info,herdsman_server=debug`.
    #[arg(long, default_value = "info", value_parser = log_filter)]
    pub log: String,
    /// Lines of the log that may wait for whoever reads it, some hundred bytes each: what a quarter of a second of quick
    /// calls logs. Further ones are left out and counted, and no call waits for them.
    #[arg(long, default_value_t = 8192, value_parser = range(1..=1_000_000))]
    pub max_log_lines: u32,

    /// Threads that compute; 0 is one a core, because the work never waits for anything.
    #[arg(long, default_value_t = 0, value_parser = range(0..=1024), help_heading = "Work")]
    pub threads: u32,
    /// Threads that read and write connections; 0 is one for two cores. The others have the cores when there is much to
    /// compute, and few threads wake each other less (measured on two cores: 1.2 times the calls a second of two).
    #[arg(long, default_value_t = 0, value_parser = range(0..=1024), help_heading = "Work")]
    pub io_threads: u32,
    /// Calls that may wait for a thread; one more is RESOURCE_EXHAUSTED. With usual answers of a few milliseconds the
    /// last one waits under a second.
    #[arg(long, default_value_t = 256, value_parser = range(0..=100_000), help_heading = "Work")]
    pub max_queue: u32,
    /// Calls of the solver under way at a time, those included that do not compute yet; one more is RESOURCE_EXHAUSTED.
    /// Each may hold a request of a megabyte, whose lists take some times as much once they are read. Calls of health and
    /// reflection are not among them: as they need no place, nobody who has no token takes one.
    #[arg(long, default_value_t = 2000, value_parser = range(1..=1_000_000), help_heading = "Work")]
    pub max_calls: u32,
    /// The longest that a call may take, in milliseconds, also where it sets no deadline: nobody watches a hint come
    /// for longer.
    #[arg(long, default_value_t = 30_000, value_parser = range(1..=3_600_000), help_heading = "Work")]
    pub max_deadline_ms: u32,
    /// The most scores that one BestNextGuess computes: what a core does within the longest deadline even of the
    /// longest codes, so that a search which nothing else ends still answers.
    #[arg(long, default_value_t = 2_000_000_000,
        value_parser = range64(1..=i64::MAX as u64), help_heading = "Work")]
    pub max_scores: u64,
    /// Threads that all Solve, Evaluate and Duel calls share, beside those that compute the rest; 0 is one a core. A
    /// Solve takes all of them unless it asks for fewer, the others one.
    #[arg(long, default_value_t = 0, value_parser = range(0..=1024), help_heading = "Work")]
    pub solve_threads: u32,
    /// Solve, Evaluate and Duel calls that may wait in line for those; one more is RESOURCE_EXHAUSTED. A sample of a few
    /// games takes milliseconds, so this many of them wait for a second or two; behind proofs of minutes their callers'
    /// deadlines come first.
    #[arg(long, default_value_t = 256, value_parser = range(0..=100_000), help_heading = "Work")]
    pub max_solve_queue: u32,
    /// Bytes that all Solve calls may hold together; a call has its share by its threads. Half of it is enough for the
    /// answers of 16,000 guesses to as many candidates, the other for what a proof of a minute remembers.
    #[arg(long, default_value_t = 512 << 20,
        value_parser = range64(1 << 20..=1 << 40), help_heading = "Work")]
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
    /// The most pairs of a BatchScore, a message of some 300 KB, and codes in each list of a ScoreMatrix.
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
    #[arg(long, default_value_t = 64 << 20, value_parser = range64(1..=1 << 30),
        help_heading = "Words")]
    pub max_dictionary_bytes: u64,

    /// Bytes of games kept ready: those with names take some 3 MB together, one of a million codes some 5.
    #[arg(long, default_value_t = 256 << 20, value_parser = range64(0..=1 << 40),
        help_heading = "Caches")]
    pub game_cache_bytes: u64,
    /// Bytes of candidate lists kept, for the pages of Filter: 8 bytes a candidate.
    #[arg(long, default_value_t = 64 << 20, value_parser = range64(0..=1 << 40),
        help_heading = "Caches")]
    pub candidate_cache_bytes: u64,
    /// Bytes of answers of BestNextGuess and Analyze kept: some thirty thousand.
    #[arg(long, default_value_t = 64 << 20, value_parser = range64(0..=1 << 40),
        help_heading = "Caches")]
    pub answer_cache_bytes: u64,
    /// A file that answers are saved to, now and then and on stop, and are there again after a restart. None by
    /// default. Whoever can write it decides what is answered.
    #[arg(long, value_name = "FILE", help_heading = "Caches")]
    pub cache_file: Option<PathBuf>,
    /// Bytes of requests and answers saved, those first that took longest: some fifty thousand. The file takes up to four
    /// times as much.
    #[arg(long, default_value_t = 16 << 20,
        value_parser = range64(1 << 10..=1 << 32), help_heading = "Caches")]
    pub cache_file_bytes: u64,
    /// How often answers are saved, in milliseconds, where there are new ones: a crash costs what minutes gathered.
    #[arg(long, default_value_t = 300_000, value_parser = range(1..=86_400_000),
        help_heading = "Caches")]
    pub cache_save_ms: u32,
    /// The longest that answers may be taken back at a start, in milliseconds; what is left then is left out. To read and
    /// check the file comes before that.
    #[arg(long, default_value_t = 1000, value_parser = range(1..=60_000), help_heading = "Caches")]
    pub cache_load_ms: u32,

    /// The most connections; further ones wait to be accepted. Below the 1024 files that a process may usually open.
    #[arg(long, default_value_t = 1000, value_parser = range(1..=1_000_000), help_heading = "Network")]
    pub max_connections: u32,
    /// The most connections of one address (of IPv6, of a network of 64 bits); further ones are closed at once. Enough for
    /// a proxy with many clients, and a quarter of all is left to others.
    #[arg(long, default_value_t = 750, value_parser = range(1..=1_000_000), help_heading = "Network")]
    pub max_connections_per_address: u32,
    /// Milliseconds after which a connection is told to end; its calls finish, and clients open another. Never (0) by
    /// default: as long as it is good for something, a connection that stays is the quickest. To be set where connections
    /// must spread anew over replicas, or soon have a new certificate.
    #[arg(long, default_value_t = 0, value_parser = range(0..=86_400_000), help_heading = "Network")]
    pub max_connection_age_ms: u32,
    /// Bytes that a connection may send ahead of what is read of it, in all its calls together: the largest request, so
    /// that it needs no pause.
    #[arg(long, default_value_t = 1 << 20, value_parser = range(65_535..=1 << 30),
        help_heading = "Network")]
    pub window_bytes: u32,
    /// The most calls at a time on one connection.
    #[arg(long, default_value_t = 200, value_parser = range(1..=100_000), help_heading = "Network")]
    pub max_streams: u32,
    /// Calls of one connection that are cancelled before the server took them up, before it is closed
    /// (CVE-2023-44487). They are counted in one turn of reading: 2 KiB where calls come, in which there are 60 at the
    /// most, and more in the midst of long messages.
    #[arg(long, default_value_t = 500, value_parser = range(1..=100_000), help_heading = "Network")]
    pub max_early_cancels: u32,
    /// Faulty streams of one connection, each answered by a reset, before it is closed (CVE-2025-8671).
    #[arg(long, default_value_t = 1024, value_parser = range(1..=1_000_000), help_heading = "Network")]
    pub max_reset_streams: u32,
    /// The most bytes of request headers.
    #[arg(long, default_value_t = 16 << 10, value_parser = range(1024..=1 << 20),
        help_heading = "Network")]
    pub max_header_bytes: u32,
    /// How long a new connection may take to agree on TLS, if there is any, and to begin to speak HTTP/2, in
    /// milliseconds: a few round trips around the world, lost packets included.
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
    /// Take requests in gzip, and answer in gzip those who ask for it. Off by default: to pack a large reply takes longer
    /// than to compute it, and threads that serve other calls do it. A request counts as large as it is unpacked.
    #[arg(long, help_heading = "Network")]
    pub compression: bool,

    /// The certificate of the server in PEM, followed by those that signed it; turns on TLS. The files of TLS are read
    /// anew when they change, for connections that begin then.
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub tls_cert: Option<PathBuf>,
    /// The private key to that certificate, in PEM and not encrypted.
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub tls_key: Option<PathBuf>,
    /// Authorities in PEM: only clients with a certificate that one of them signed are let in.
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub tls_client_ca: Option<PathBuf>,

    /// A file of tokens, one of which every call must then bring as `authorization: Bearer TOKEN`; only health is told to
    /// all. A line is a name for the log, `solve` or `admin` (who may read the metrics too), and the SHA-256 of the token,
    /// as `printf %s TOKEN | sha256sum` prints it; `#` begins a comment. It is read again when it changes.
    #[arg(long, value_name = "FILE", help_heading = "Callers")]
    pub tokens: Option<PathBuf>,
    /// The calls that one caller may make in a second on all its connections, whatever they ask for; 0 is as many as it
    /// likes, as most servers have only callers of their own. One more is RESOURCE_EXHAUSTED. A caller is the name of a
    /// token or, without tokens, an address.
    #[arg(long, default_value_t = 0, value_parser = range(0..=1_000_000), help_heading = "Callers")]
    pub rate_per_second: u32,
    /// The calls that a caller who was silent for long may make at once: those of a page that asks for all it shows.
    #[arg(long, default_value_t = 100, value_parser = range(1..=1_000_000), help_heading = "Callers")]
    pub rate_burst: u32,
    /// The most callers whose calls are counted; those who come when all of them are active share what is one's. They
    /// take some megabyte.
    #[arg(long, default_value_t = 10_000, value_parser = range(1..=1_000_000),
        help_heading = "Callers")]
    pub rate_callers: u32,

    /// An address and port on which `GET /metrics` tells, over HTTP/1, what the server counts; not at all by default. With
    /// tokens it takes one with the role admin.
    #[arg(long, value_name = "ADDRESS", value_parser = address, help_heading = "Metrics")]
    pub metrics_listen: Option<SocketAddr>,

    /// Milliseconds from a stop signal, when health turns NOT_SERVING, until no connection is accepted any more. None
    /// by default; behind a balancer, as long as it takes to notice.
    #[arg(long, default_value_t = 0, value_parser = range(0..=600_000), help_heading = "Stop")]
    pub drain_ms: u32,
    /// Milliseconds that running calls then get to finish; those that are left end with UNAVAILABLE.
    #[arg(long, default_value_t = 10_000, value_parser = range(0..=600_000), help_heading = "Stop")]
    pub grace_ms: u32,
}

impl Default for Config {
    /// The settings of a server that is told nothing; no file and no environment is read.
    fn default() -> Config {
        Config::parse_from(["herdsmand"])
    }
}

/// Whether no two programs could listen on these. Port 0 is one that is free.
fn overlap(one: SocketAddr, other: SocketAddr) -> bool {
    let [all, others] = [one, other].map(|address| address.ip().to_canonical());
    one.port() == other.port()
        && one.port() != 0
        && (all == others || all.is_unspecified() || others.is_unspecified())
}

/// The most bytes on the wire of a feedback, of a code, and of a suggestion: a code has at most 12 symbols of 4 bytes.
const ANSWER_BYTES: u64 = 32;
const CODE_BYTES: u64 = 64;
const SUGGESTION_BYTES: u64 = 128;

impl Config {
    /// What no single setting can tell of itself: mistakes that name the settings by their flags.
    fn check(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        // Each with what its frame takes. The legend of a matrix has at most some three thousand bytes.
        for (what, flag, count, each) in [
            ("a matrix", "--max-cells", self.max_cells, 1),
            ("a batch", "--max-pairs", self.max_pairs, ANSWER_BYTES),
            ("a page", "--max-page-size", self.max_page_size, CODE_BYTES),
            ("advice", "--max-top-k", self.max_top_k, SUGGESTION_BYTES),
        ] {
            let needed = u64::from(count) * each + 4096;
            if u64::from(self.max_reply_bytes) < needed {
                mistakes.push(format!(
                    "--max-reply-bytes is {}, and {what} of {flag} {count} needs {needed}",
                    self.max_reply_bytes
                ));
            }
        }
        let names = self.dictionary.iter().map(|files| files.name.as_str());
        for (at, name) in names.clone().enumerate() {
            if names.clone().take(at).any(|before| before == name) {
                mistakes.push(format!("--dictionary has {name} twice: each name stands for one"));
            }
        }
        let [cert, key, ca] =
            [&self.tls_cert, &self.tls_key, &self.tls_client_ca].map(Option::is_some);
        for (missing, given) in [
            (key && !cert, "--tls-key is given without --tls-cert"),
            (cert && !key, "--tls-cert is given without --tls-key"),
            (ca && !cert && !key, "--tls-client-ca is given without --tls-cert and --tls-key"),
        ] {
            if missing {
                mistakes.push(format!("{given}: TLS needs a certificate and its key"));
            }
        }
        if self.metrics_listen.is_some_and(|metrics| overlap(self.listen, metrics)) {
            mistakes.push(format!(
                "--metrics-listen has port {} of --listen: give it one of its own",
                self.listen.port()
            ));
        }
        mistakes
    }

    /// What others than this machine can do that the operator may not want, each with the setting that prevents it.
    pub fn exposed(&self) -> Vec<&'static str> {
        let reached = |address: SocketAddr| !address.ip().to_canonical().is_loopback();
        let mut exposed = Vec::new();
        if self.metrics_listen.is_some_and(reached) {
            exposed.push(match self.tokens {
                None => {
                    "METRICS FOR EVERYBODY on an address that others reach. Set --tokens, or --metrics-listen on 127.0.0.1 or \
                     a network of your own"
                }
                Some(_) => {
                    "NO TLS FOR METRICS on an address that others reach: whoever is on the way can read the admin's token. \
                     Set --metrics-listen on 127.0.0.1 or a network of your own"
                }
            });
        }
        if !reached(self.listen) {
            return exposed;
        }
        if self.tls_cert.is_none() {
            exposed.push(
                "NO TLS on an address that others reach: whoever is on the way can read and change all calls. Set \
                 --tls-cert and --tls-key, or --listen on 127.0.0.1",
            );
        }
        if self.tls_client_ca.is_none() && self.tokens.is_none() {
            exposed.push(
                "NO TOKENS on an address that others reach: whoever reaches it can call it. Set --tokens or \
                 --tls-client-ca, or --listen on 127.0.0.1",
            );
        }
        exposed
    }

    /// Threads that compute.
    pub(crate) fn worker_threads(&self) -> usize {
        or_one_a_core(self.threads)
    }

    /// Threads that read and write connections: those of the runtime on which a server is to be served.
    pub fn connection_threads(&self) -> usize {
        match self.io_threads {
            0 => or_one_a_core(0).div_ceil(2),
            threads => threads as usize,
        }
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

/// A whole number within these bounds.
fn range(bounds: RangeInclusive<u64>) -> impl TypedValueParser<Value = u32> {
    number(bounds)
}

/// A whole number within these bounds, which may be beyond 32 bits.
fn range64(bounds: RangeInclusive<u64>) -> impl TypedValueParser<Value = u64> {
    number(bounds)
}

fn number<T>(bounds: RangeInclusive<u64>) -> impl TypedValueParser<Value = T>
where
    T: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    move |text: &str| {
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            format!("write a whole number from {} to {}", bounds.start(), bounds.end())
        })
    }
}

/// An address to listen on.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "write an IP address and a port, as in 127.0.0.1:50051".to_owned())
}

fn log_filter(text: &str) -> Result<String, String> {
    // The filter takes a lone word for a target, of which it logs everything, and nothing else.
    let word = |part: &&str| part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':');
    let mut words = text.split(',').map(str::trim).filter(word);
    if let Some(wrong) = words.find(|word| word.parse::<LevelFilter>().is_err()) {
        return Err(format!(
            "`{wrong}` is no level: write off, error, warn, info, debug or trace, or a target with its level, as in \
             `info,herdsman_server=debug`"
        ));
    }
    EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}
