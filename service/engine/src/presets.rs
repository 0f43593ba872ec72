//! The games that have a name.

use std::{collections::HashMap, sync::LazyLock};

use crate::{
    feedback::FeedbackRule,
    rules::{CodeSpec, Rules, RulesError},
    words::WordList,
};

/// A game that has a name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// The game in a few words.
    pub title: &'static str,
    game: Game,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
enum Game {
    Codes { alphabet: &'static str, length: u8, repeats: bool, not_first: &'static str },
    Words(FeedbackRule),
    Numbers { min: i32, max: i32 },
}

const fn codes(alphabet: &'static str, length: u8, repeats: bool) -> Game {
    Game::Codes { alphabet, length, repeats, not_first: "" }
}

const DIGITS: &str = "0123456789";

/// The named games, the most played first.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "bulls-and-cows",
        title: "four different digits, 0 may lead",
        game: codes(DIGITS, 4, false),
    },
    Preset {
        name: "bulls-and-cows-no-leading-zero",
        title: "four different digits, 0 does not lead",
        game: Game::Codes { alphabet: DIGITS, length: 4, repeats: false, not_first: "0" },
    },
    Preset {
        name: "bulls-and-cows-repeats",
        title: "four digits, which may repeat",
        game: codes(DIGITS, 4, true),
    },
    Preset {
        name: "bulls-and-cows-3",
        title: "three different digits, 0 may lead",
        game: codes(DIGITS, 3, false),
    },
    Preset {
        name: "bagels",
        title: "three different digits, as in Pico, Fermi, Bagels: fermi is a bull, pico a cow",
        game: codes(DIGITS, 3, false),
    },
    Preset {
        name: "hex",
        title: "four different hexadecimal digits",
        game: codes("0123456789ABCDEF", 4, false),
    },
    Preset {
        name: "mastermind",
        title: "four pegs of six colours, which may repeat",
        game: codes("012345", 4, true),
    },
    Preset {
        name: "super-mastermind",
        title: "five pegs of eight colours, which may repeat",
        game: codes("01234567", 5, true),
    },
    Preset {
        name: "blanks",
        title: "four holes, each empty (0) or with a peg of six colours (1 to 6), which may repeat",
        game: codes("0123456", 4, true),
    },
    Preset {
        name: "numbers",
        title: "a number from 1 to 100, answered by lower or higher",
        game: Game::Numbers { min: 1, max: 100 },
    },
    Preset {
        name: "wordle",
        title: "a word of a dictionary, a mark for each letter",
        game: Game::Words(FeedbackRule::Marks),
    },
    Preset {
        name: "jotto",
        title: "a word of a dictionary, answered by how many letters it shares",
        game: Game::Words(FeedbackRule::Total),
    },
    Preset {
        name: "likeness",
        title: "a word of a dictionary, answered by how many letters are in their place",
        game: Game::Words(FeedbackRule::Bulls),
    },
];

impl Preset {
    /// Whether the game is played with a list of words.
    pub fn has_words(&self) -> bool {
        matches!(self.game, Game::Words(_))
    }

    /// What an answer tells.
    pub fn feedback(&self) -> FeedbackRule {
        match self.game {
            Game::Codes { .. } => FeedbackRule::Pegs,
            Game::Words(feedback) => feedback,
            Game::Numbers { .. } => FeedbackRule::Order,
        }
    }

    /// The rules that the name stands for.
    ///
    /// # Errors
    /// [`RulesError`] if words are missing, or there are some and the game has none.
    pub fn rules(&self, words: Option<WordList>) -> Result<Rules, RulesError> {
        /// The games without words, made once: they are asked for in every call, and equal at a glance.
        static READY: LazyLock<HashMap<&str, Rules>> = LazyLock::new(|| {
            let made = PRESETS.iter().map(|preset| Some((preset.name, preset.make(None).ok()?)));
            made.flatten().collect()
        });
        match READY.get(self.name) {
            Some(rules) if words.is_none() => Ok(rules.clone()),
            _ => self.make(words),
        }
    }

    fn make(&self, words: Option<WordList>) -> Result<Rules, RulesError> {
        match (self.game, words) {
            (Game::Words(feedback), Some(words)) => Rules::words(words, feedback),
            (Game::Words(_), None) => Err(RulesError::WithoutWords),
            (_, Some(_)) => Err(RulesError::WithWords),
            (Game::Numbers { min, max }, None) => Rules::numbers(min, max),
            (Game::Codes { alphabet, length, repeats, not_first }, None) => {
                let spec = CodeSpec {
                    alphabet: alphabet.into(),
                    length: length.into(),
                    repeats,
                    not_first: not_first.into(),
                };
                Rules::codes(&spec, FeedbackRule::Pegs)
            }
        }
    }
}

/// The names, for an error that lists them.
pub(crate) fn preset_names() -> String {
    PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ")
}
