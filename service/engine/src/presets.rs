//! The games that have a name.

use crate::rules::{CodeSpec, FeedbackRule, Rules};

/// A game that has a name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// The game in a few words.
    pub title: &'static str,
    alphabet: &'static str,
    length: u8,
    repeats: bool,
    not_first: &'static str,
}

const DIGITS: Preset = Preset {
    name: "bulls-and-cows",
    title: "four different digits, 0 may lead",
    alphabet: "0123456789",
    length: 4,
    repeats: false,
    not_first: "",
};

/// The named games, the most played first.
pub const PRESETS: &[Preset] = &[
    DIGITS,
    Preset {
        name: "bulls-and-cows-no-leading-zero",
        title: "four different digits, 0 does not lead",
        not_first: "0",
        ..DIGITS
    },
    Preset {
        name: "bulls-and-cows-repeats",
        title: "four digits, which may repeat",
        repeats: true,
        ..DIGITS
    },
    Preset {
        name: "bulls-and-cows-3",
        title: "three different digits, 0 may lead",
        length: 3,
        ..DIGITS
    },
    Preset {
        name: "mastermind",
        title: "four pegs of six colours, which may repeat",
        alphabet: "012345",
        repeats: true,
        ..DIGITS
    },
    Preset {
        name: "super-mastermind",
        title: "five pegs of eight colours, which may repeat",
        alphabet: "01234567",
        length: 5,
        repeats: true,
        ..DIGITS
    },
];

impl Preset {
    /// The rules that the name stands for.
    pub fn rules(&self) -> Rules {
        let spec = CodeSpec {
            alphabet: self.alphabet.into(),
            length: self.length.into(),
            repeats: self.repeats,
            not_first: self.not_first.into(),
        };
        Rules::codes(&spec, FeedbackRule::Pegs).expect("presets are valid rules, as a test shows")
    }
}
