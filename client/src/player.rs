//! Who guesses: strategies, levels and their options, from flags to the wire.
//!
//! Owns their names on the command line. Whether they can play a game is for the server to say.

use clap::{
    Args, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use herdsman_proto::v1;

/// The strategies by their short names: `expected_size` is `STRATEGY_EXPECTED_SIZE` on the wire.
const STRATEGIES: [&str; 12] = [
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
    "repeat_scan",
    "last_digit_sweep",
];

/// The levels by their short names.
const LEVELS: [&str; 4] = ["easy", "medium", "hard", "perfect"];

/// The name of `random_consistent` where the game is played with pencil and paper.
const SIEVE: &str = "sieve";

/// A strategy or a level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// As it was typed.
    pub(crate) name: String,
    strategy: i32,
    level: i32,
}

/// Reads the name of a strategy or of a level: one flag for both, so that players keep their order.
pub(crate) fn named() -> impl TypedValueParser<Value = Named> {
    let names = STRATEGIES.into_iter().chain(LEVELS).map(|name| match name {
        "random_consistent" => PossibleValue::new(name).alias(SIEVE),
        _ => PossibleValue::new(name),
    });
    PossibleValuesParser::new(names).map(|name| {
        let known = if name == SIEVE { "random_consistent" } else { name.as_str() };
        let known = known.to_ascii_uppercase();
        let strategy = v1::Strategy::from_str_name(&format!("STRATEGY_{known}"));
        let level = v1::Level::from_str_name(&format!("LEVEL_{known}"));
        Named {
            name,
            strategy: strategy.unwrap_or_default().into(),
            level: level.unwrap_or_default().into(),
        }
    })
}

/// What a strategy heeds.
#[derive(Debug, Args)]
#[command(next_help_heading = "Strategy")]
pub(crate) struct Choosing {
    /// What decides between guesses of equal score [default: candidate]
    #[arg(long, value_enum)]
    tie: Option<Tie>,
    /// Which guesses are considered [default: any]
    #[arg(long, value_enum, conflicts_with = "consistent_only")]
    pool: Option<Pool>,
    /// Consider only guesses that could be the secret: the same as `--pool consistent`, and as `--tie consistent`
    #[arg(long)]
    consistent_only: bool,
    /// What lots are drawn by
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) seed: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tie {
    /// The smallest code
    Any,
    /// A guess that could be the secret, then the smallest code
    Candidate,
    /// Only guesses that could be the secret, of them the smallest code
    Consistent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Pool {
    /// Every guess that the rules allow
    Any,
    /// Only guesses that could be the secret
    Consistent,
    /// Only guesses that keep what the answers showed: hard mode
    Hints,
}

impl Choosing {
    /// A player on the wire; the server's default without a name.
    pub(crate) fn player(&self, named: Option<&Named>) -> v1::Player {
        let Named { strategy, level, .. } = named.cloned().unwrap_or_default();
        let consistent = self.consistent_only || self.tie == Some(Tie::Consistent);
        let pool = match self.pool {
            None if consistent => v1::GuessPool::Consistent,
            None => v1::GuessPool::Unspecified,
            Some(Pool::Any) => v1::GuessPool::Any,
            Some(Pool::Consistent) => v1::GuessPool::Consistent,
            Some(Pool::Hints) => v1::GuessPool::Hints,
        };
        let tie = match self.tie {
            None | Some(Tie::Consistent) => v1::TieRule::Unspecified,
            Some(Tie::Any) => v1::TieRule::Any,
            Some(Tie::Candidate) => v1::TieRule::Candidate,
        };
        v1::Player { strategy, tie: tie.into(), pool: pool.into(), seed: self.seed, level }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn read(name: &str) -> Named {
        named().parse_ref(&clap::Command::new("herdsman"), None, OsStr::new(name)).unwrap()
    }

    #[test]
    fn every_strategy_and_level_of_the_wire_has_a_short_name() {
        let strategies: Vec<i32> = STRATEGIES.map(|name| read(name).strategy).into();
        let wire = |known: fn(i32) -> bool| (1..100).filter(|&n| known(n)).collect::<Vec<i32>>();
        assert_eq!(strategies, wire(|number| v1::Strategy::try_from(number).is_ok()));
        let levels: Vec<i32> = LEVELS.map(|name| read(name).level).into();
        assert_eq!(levels, wire(|number| v1::Level::try_from(number).is_ok()));
    }

    #[test]
    fn a_sieve_is_a_random_consistent_guess() {
        assert_eq!(read("sieve").strategy, read("random_consistent").strategy);
    }
}
