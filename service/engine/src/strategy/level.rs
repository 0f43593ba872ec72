//! How strong an opponent is, in every game.

use super::{Choice, Pool, Strategy};
use crate::rules::Rules;

/// How strong an opponent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// A beginner.
    Easy,
    /// Somebody who plays what fits.
    Medium,
    /// Somebody who reckons.
    Hard,
    /// Nobody plays better.
    Perfect,
}

impl Level {
    /// Every level.
    pub const ALL: [Level; 4] = [Level::Easy, Level::Medium, Level::Hard, Level::Perfect];

    /// The name in text.
    pub fn name(self) -> &'static str {
        match self {
            Level::Easy => "easy",
            Level::Medium => "medium",
            Level::Hard => "hard",
            Level::Perfect => "perfect",
        }
    }

    /// What it stands for.
    pub fn description(self) -> &'static str {
        match self {
            Level::Easy => {
                "codes: repeat_scan, or last_digit_sweep where some code of one symbol is missing; words and numbers: \
                 random_consistent"
            }
            Level::Medium => {
                "codes and numbers: random_consistent; words: most_parts among words that fit"
            }
            Level::Hard => "entropy_larmouth",
            Level::Perfect => "optimal",
        }
    }

    /// The strategy of this level in a game. `seed` is what lots are drawn by.
    pub fn choice(self, rules: &Rules, seed: u64) -> Choice {
        let mut choice = Choice { seed, ..Choice::default() };
        choice.strategy = match self {
            Level::Easy if Strategy::RepeatScan.obstacle(rules).is_none() => Strategy::RepeatScan,
            Level::Easy if Strategy::LastDigitSweep.obstacle(rules).is_none() => {
                Strategy::LastDigitSweep
            }
            Level::Medium if rules.word_list().is_some() => {
                choice.pool = Pool::Consistent;
                Strategy::MostParts
            }
            // Nobody counts up from the first number, which can take as many guesses as there are numbers.
            Level::Easy | Level::Medium => Strategy::RandomConsistent,
            Level::Hard => Strategy::EntropyLarmouth,
            Level::Perfect => Strategy::Optimal,
        };
        choice
    }
}
