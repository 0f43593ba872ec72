//! The flags of `herdsman load`, and what is written in them: rates, weights, thresholds.

use std::time::Duration;

use clap::{Args, ValueEnum as _};

use super::work::Kind;
use crate::{
    args::time,
    player::{Choosing, Named, named},
};

/// The most calls begun in a second: more than one machine can make.
const MAX_RATE: f64 = 1_000_000.0;

/// What is called, how often, and what is demanded of the answers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct Load {
    /// Calls to begin in a second, whether or not earlier ones are answered; A..B goes from A to B in --steps
    #[arg(long, value_name = "N|A..B", value_parser = rates, default_value = "100")]
    pub(super) rate: (f64, f64),
    /// How many rates A..B has, each as long as the others [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(super) steps: Option<u32>,
    /// So many callers instead of a rate, each of which asks again when it is answered: the highest throughput
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    #[arg(conflicts_with_all = ["rate", "steps", "outstanding"])]
    pub(super) closed: Option<u32>,
    /// How long to measure
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "10s")]
    pub(super) duration: Duration,
    /// How long to call before that, at the first rate, without measuring [default: not at all]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) warm_up: Option<Duration>,
    /// Connections that calls are spread over; Herdsman takes 200 calls at a time on one, further ones wait here
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), default_value_t = 8)]
    pub(super) connections: u16,
    /// The most calls under way; one that is due beyond them is not made, but counted as missed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), default_value_t = 1000)]
    pub(super) outstanding: u32,
    /// Threads that make the calls [default: half of the cores, as the server may have the others]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,

    /// The calls that are made and how often each, as in score=8,guess=2: score, batch-score, score-matrix, filter and
    /// guess after turns drawn anew, filter-same and guess-same after the same turns, which a server remembers, health
    #[arg(long, value_name = "CALL[=WEIGHT],...", value_delimiter = ',', default_value = "score")]
    #[arg(value_parser = weighted_kind, help_heading = "Calls")]
    pub(super) mix: Vec<(Kind, u32)>,
    /// The games they are about, by name; one of words as wordle:DICTIONARY
    #[arg(
        long,
        value_name = "GAME[=WEIGHT],...",
        value_delimiter = ',',
        default_value = "bulls-and-cows"
    )]
    #[arg(value_parser = weighted, help_heading = "Calls")]
    pub(super) games: Vec<(String, u32)>,
    /// Turns of a position
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=64), default_value_t = 3)]
    #[arg(help_heading = "Calls")]
    pub(super) turns: u8,
    /// Pairs of a batch-score
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value_t = 1000)]
    #[arg(help_heading = "Calls")]
    pub(super) pairs: u32,
    /// Guesses, and as many secrets, of a score-matrix
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), default_value_t = 100)]
    #[arg(help_heading = "Calls")]
    pub(super) side: u16,
    /// How guesses are chosen: a strategy, or a level from easy to perfect [default: the server's]
    #[arg(long, visible_alias = "level", value_parser = named(), help_heading = "Strategy")]
    pub(super) strategy: Option<Named>,
    #[command(flatten)]
    pub(super) choosing: Choosing,
    #[command(flatten)]
    pub(super) thresholds: Thresholds,
}

impl Load {
    /// Scores that a call of `kind` asks for.
    pub(super) fn scores(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Score => 1,
            Kind::BatchScore => self.pairs.into(),
            Kind::ScoreMatrix => u64::from(self.side).pow(2),
            _ => 0,
        }
    }
}

/// What makes a run fail.
#[derive(Debug, Args)]
#[command(next_help_heading = "Thresholds")]
pub(crate) struct Thresholds {
    /// The longest that 99 of 100 calls that were answered OK may take: of all calls, or of one kind
    #[arg(long, value_name = "[CALL=]TIME", value_delimiter = ',', value_parser = slowest)]
    pub(super) p99: Vec<(Option<Kind>, Duration)>,
    /// The largest share of the calls made that may not be answered OK
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(super) errors: Option<f64>,
    /// The least of the calls that must be answered OK: a share of those that were due, or a number a second
    #[arg(long, value_name = "PERCENT|N", value_parser = goodput)]
    pub(super) goodput: Option<Goodput>,
}

/// How many calls must be answered OK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goodput {
    /// As a share of those that were due: 0 to 1.
    Share(f64),
    /// A second.
    PerSecond(f64),
}

fn rates(text: &str) -> Result<(f64, f64), String> {
    let rate = |text: &str| text.parse().ok().filter(|rate| (0.001..=MAX_RATE).contains(rate));
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    rate(first)
        .zip(rate(last))
        .ok_or_else(|| format!("write calls a second as 100 or 100..2000, at most {MAX_RATE}"))
}

/// Reads `score=8`; without a weight it is 1.
fn weighted(text: &str) -> Result<(String, u32), String> {
    let (name, weight) = text.split_once('=').unwrap_or((text, "1"));
    let weight = weight.parse().ok().filter(|weight| (1..=1_000_000).contains(weight));
    let weight = weight
        .ok_or_else(|| format!("write {name}=2 for one that comes twice as often: 1 to 1000000"))?;
    Ok((name.to_owned(), weight))
}

fn weighted_kind(text: &str) -> Result<(Kind, u32), String> {
    let (name, weight) = weighted(text)?;
    Ok((kind(&name)?, weight))
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::from_str(name, false).map_err(|_| {
        let names: Vec<_> = Kind::value_variants().iter().map(|kind| kind.name()).collect();
        format!("no call is named `{name}`: write {}", names.join(", "))
    })
}

fn slowest(text: &str) -> Result<(Option<Kind>, Duration), String> {
    Ok(match text.split_once('=') {
        Some((name, limit)) => (Some(kind(name)?), time(limit)?),
        None => (None, time(text)?),
    })
}

/// Reads `0.1%` as a share.
fn percent(text: &str) -> Result<f64, String> {
    text.strip_suffix('%')
        .and_then(|percent| percent.parse::<f64>().ok())
        .filter(|percent| (0.0..=100.0).contains(percent))
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "write a share as 0.1%, from 0% to 100%".to_owned())
}

fn goodput(text: &str) -> Result<Goodput, String> {
    if text.ends_with('%') {
        return percent(text).map(Goodput::Share);
    }
    let number = text.parse().ok().filter(|number| (0.0..=f64::MAX).contains(number));
    let wrong = || "write a share as 90%, or a number of calls a second as 450".to_owned();
    number.map(Goodput::PerSecond).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_wrongly_is_told_how_to_write() {
        assert_eq!(rates("50"), Ok((50.0, 50.0)));
        assert_eq!(rates("0.5..2000"), Ok((0.5, 2000.0)));
        for text in ["", "0", "-1", "nan", "inf", "1..", "..1", "1e9", "5/s"] {
            assert!(rates(text).unwrap_err().contains("100..2000"), "{text}");
        }
        assert_eq!(weighted_kind("guess=2"), Ok((Kind::Guess, 2)));
        assert_eq!(weighted_kind("guess-same"), Ok((Kind::GuessSame, 1)));
        assert!(weighted_kind("gues").unwrap_err().contains("guess-same"));
        for text in ["score=", "score=0", "score=-1", "score=1.5", "score=1=2"] {
            assert!(weighted_kind(text).unwrap_err().contains("score=2"), "{text}");
        }
    }

    #[test]
    fn a_threshold_has_a_unit() {
        let limit = Duration::from_millis(20);
        assert_eq!(slowest("20ms"), Ok((None, limit)));
        assert_eq!(slowest("health=20ms"), Ok((Some(Kind::Health), limit)));
        assert!(slowest("20").is_err() && slowest("all=20ms").is_err());
        assert_eq!(percent("0.5%"), Ok(0.005));
        for text in ["5", "101%", "-1%", "%", "nan%"] {
            assert!(percent(text).is_err(), "{text}");
        }
        assert_eq!(goodput("90%"), Ok(Goodput::Share(0.9)));
        assert_eq!(goodput("450"), Ok(Goodput::PerSecond(450.0)));
        for text in ["", "-1", "inf", "nan", "450/s"] {
            assert!(goodput(text).is_err(), "{text}");
        }
    }
}
