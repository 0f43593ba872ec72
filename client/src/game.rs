//! Which game is played and what happened in it so far: from flags and files to the wire.
//!
//! Owns the reading of ranges such as `0-9`, of lists of words and of turns. Whether rules, words, codes and answers
//! are good is for the server to say.

use std::{
    fs,
    io::{self, Read as _},
};

use clap::Args;
use herdsman_proto::{text, v1};

use crate::{args::wire_name, failure::Failure};

/// What stands for standard input where a file or a turn could stand.
const STDIN: &str = "-";

/// Which game is played.
#[derive(Debug, Args)]
#[command(next_help_heading = "Game")]
pub(crate) struct Game {
    /// A game by its name, as `herdsman info` lists them [default: bulls-and-cows]
    #[arg(long, value_name = "PRESET", conflicts_with_all = ["words", "numbers"])]
    rules: Option<String>,
    /// Symbols in a code of a game of your own [default: 4]
    #[arg(long, value_name = "N", conflicts_with_all = NOT_CODES)]
    length: Option<i32>,
    /// Its symbols in order; 0-9 and a-f are ranges, `-` itself stands first or last [default: 0-9]
    #[arg(long, value_name = "SYMBOLS", value_parser = alphabet, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = NOT_CODES)]
    alphabet: Option<String>,
    /// A symbol may occur more than once in a code
    #[arg(long, conflicts_with_all = NOT_CODES)]
    repeats: bool,
    /// Symbols that cannot stand first
    #[arg(long, value_name = "SYMBOLS", value_parser = alphabet, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = NOT_CODES)]
    not_first: Option<String>,
    /// The words that can be the secret: a file with one a line and, if need be, its weight after it; `-` for
    /// standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dictionary", "numbers"])]
    words: Option<String>,
    /// Words that may be guessed beside those of --words
    #[arg(long, value_name = "FILE", requires = "words")]
    guesses: Option<String>,
    /// The words of the server's dictionary of this name: alone, or with --rules wordle, jotto or likeness
    #[arg(long, value_name = "NAME", conflicts_with = "numbers")]
    dictionary: Option<String>,
    /// The numbers of a range, both ends included
    #[arg(long, value_name = "MIN..MAX", value_parser = numbers, allow_hyphen_values = true)]
    numbers: Option<(i32, i32)>,
    /// What an answer tells [default: the game's own rule]
    #[arg(long, value_parser = wire_name(["pegs", "bulls", "total", "marks", "order"], feedback_rule))]
    feedback: Option<i32>,
}

/// What is no game of codes of one's own.
const NOT_CODES: [&str; 4] = ["rules", "words", "dictionary", "numbers"];

impl Game {
    /// The rules on the wire; words are read for it.
    pub(crate) fn rules(&self) -> Result<v1::Rules, Failure> {
        let name = self.rules.as_deref().unwrap_or("bulls-and-cows");
        let preset = v1::rules::Game::Preset(name.to_owned());
        let game = if let Some(file) = &self.words {
            v1::rules::Game::Words(self.word_rules(file)?)
        } else if let Some((min, max)) = self.numbers {
            v1::rules::Game::Numbers(v1::NumberRules { min, max })
        } else if self.is_codes() {
            v1::rules::Game::Codes(v1::CodeRules {
                alphabet: self.alphabet.clone().unwrap_or_else(|| "0123456789".to_owned()),
                length: self.length.unwrap_or(4),
                repeats: self.repeats,
                not_first: self.not_first.clone().unwrap_or_default(),
            })
        } else {
            match &self.dictionary {
                Some(dictionary) if self.rules.is_none() => {
                    let dictionary = dictionary.clone();
                    v1::rules::Game::Words(v1::WordRules { dictionary, ..Default::default() })
                }
                _ => preset,
            }
        };
        let of_preset = matches!(game, v1::rules::Game::Preset(_));
        Ok(v1::Rules {
            dictionary: self.dictionary.clone().filter(|_| of_preset).unwrap_or_default(),
            game: Some(game),
            feedback: self.feedback.unwrap_or_default(),
        })
    }

    fn is_codes(&self) -> bool {
        let spelled = self.length.is_some() || self.alphabet.is_some() || self.not_first.is_some();
        spelled || self.repeats
    }

    fn word_rules(&self, file: &str) -> Result<v1::WordRules, Failure> {
        if file == STDIN && self.guesses.as_deref() == Some(STDIN) {
            return Err(read_twice());
        }
        let (secrets, weights) = read_words(file)?;
        let guesses = self.guesses.as_deref().map(read_words).transpose()?.unwrap_or_default().0;
        Ok(v1::WordRules { dictionary: String::new(), secrets, guesses, weights })
    }

    fn reads_stdin(&self) -> bool {
        [&self.words, &self.guesses].into_iter().flatten().any(|file| file == STDIN)
    }

    /// What answers tell, as far as it is known here: nothing of most presets, whose answers tell by their shape. In two
    /// games the same shape, a number, means something else.
    fn told(&self) -> v1::FeedbackRule {
        if let Some(rule) = self.feedback {
            return v1::FeedbackRule::try_from(rule).unwrap_or_default();
        }
        match self.rules.as_deref() {
            Some("jotto") => v1::FeedbackRule::Total,
            Some("likeness") => v1::FeedbackRule::Bulls,
            Some(_) => v1::FeedbackRule::Unspecified,
            None if self.numbers.is_some() => v1::FeedbackRule::Order,
            None if self.words.is_some() || self.dictionary.is_some() => v1::FeedbackRule::Marks,
            None => v1::FeedbackRule::Pegs,
        }
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
    /// The rules on the wire; words are read for it.
    pub(crate) fn rules(&self) -> Result<v1::Rules, Failure> {
        self.game.rules()
    }

    /// The turns, those from standard input in the place of `-`.
    pub(crate) fn history(&self) -> Result<Vec<v1::Turn>, Failure> {
        let mut history = Vec::new();
        for turn in &self.turns {
            if turn != STDIN {
                history.push(text::parse_turn_of(turn, self.game.told())?);
                continue;
            }
            if self.game.reads_stdin() {
                return Err(read_twice());
            }
            for turn in read(STDIN)?.split_whitespace() {
                history.push(text::parse_turn_of(turn, self.game.told())?);
            }
        }
        Ok(history)
    }

    /// Takes what stands where the first turn would for something before it, if that is left out.
    pub(crate) fn begin_with(&mut self, turn: String) {
        self.turns.insert(0, turn);
    }
}

/// The text of a file, or of standard input.
fn read(file: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let (read, source_name) = if file == STDIN {
        (io::stdin().lock().read_to_string(&mut text), "standard input".to_owned())
    } else {
        let opened = fs::File::open(file);
        (opened.and_then(|mut file| file.read_to_string(&mut text)), format!("`{file}`"))
    };
    match read {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::Read { source_name, error }),
    }
}

fn read_twice() -> Failure {
    Failure::Usage("standard input can be read for one argument only".to_owned())
}

/// The words of a file, and their weights if it has any; blank lines and comments are skipped.
fn read_words(file: &str) -> Result<(Vec<String>, Vec<i32>), Failure> {
    parse_words(&read(file)?).map_err(|(line, text)| Failure::Weight {
        file: file.to_owned(),
        line,
        text,
    })
}

/// Reads a list of words, or finds the first line, counted from 1, with something after its word that is no weight.
fn parse_words(text: &str) -> Result<(Vec<String>, Vec<i32>), (usize, String)> {
    let (mut words, mut weights, mut weighted) = (Vec::new(), Vec::new(), false);
    // Some editors put a mark of the encoding before the first line.
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    for (index, line) in lines.enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (word, weight) = match line.split_once(char::is_whitespace) {
            Some((word, weight)) => (word, Some(weight.trim())),
            None => (line, None),
        };
        weighted |= weight.is_some();
        let weight = weight
            .map_or(Ok(1), |weight| weight.parse().map_err(|_| (index + 1, weight.to_owned())))?;
        words.push(word.to_owned());
        weights.push(weight);
    }
    Ok((words, if weighted { weights } else { Vec::new() }))
}

fn feedback_rule(name: &str) -> i32 {
    v1::FeedbackRule::from_str_name(&format!("FEEDBACK_RULE_{name}")).unwrap_or_default() as i32
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

/// Reads a range of numbers: `1..100`.
fn numbers(text: &str) -> Result<(i32, i32), String> {
    let ends = text
        .split_once("..")
        .and_then(|(min, max)| Some((min.trim().parse().ok()?, max.trim().parse().ok()?)));
    ends.ok_or_else(|| {
        format!("write the first and the last number, {} to {}, as 1..100", i32::MIN, i32::MAX)
    })
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
    fn a_range_of_numbers_has_two_ends() {
        assert_eq!(numbers("1..100"), Ok((1, 100)));
        assert_eq!(numbers("-5 .. -1"), Ok((-5, -1)));
        for text in ["", "5", "1..", "..5", "1-5", "1...5", "1..3000000000", "a..b"] {
            assert!(numbers(text).unwrap_err().contains("1..100"), "{text}");
        }
    }

    #[test]
    fn a_list_of_words_is_read_line_by_line() {
        let read = |text| parse_words(text).unwrap();
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let plain = "\u{feff}crane\r\n\r\n# a comment\r\n  slate  \r\n";
        assert_eq!(read(plain), (words(&["crane", "slate"]), vec![]));
        let weighted = read("crane\t7\nslate\nstare  2");
        assert_eq!(weighted, (words(&["crane", "slate", "stare"]), vec![7, 1, 2]));
        assert_eq!(read(""), (vec![], vec![]));
        assert_eq!(parse_words("crane\n\nice cream"), Err((3, "cream".to_owned())));
    }
}
