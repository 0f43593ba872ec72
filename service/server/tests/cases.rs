//! Troubles that people reported with programs of this kind, each a small request with its right outcome: a line of
//! `cases/open.jsonl`.
//!
//! The driver (`cases/driver.rs`) puts the requests, as they are read here, to a server in this process, and tells its
//! replies in the words of the cases: `exact` and `misplaced` are bulls and cows, and rows count from 0. A request or an
//! outcome with a field that is not known here fails its case, so that nothing is passed over.

#[path = "cases/driver.rs"]
mod driver;

use driver::Driver;
use herdsman_proto::v1::{self, rules::Game};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    kind: String,
    symptom: String,
    request: Request,
    expected: Value,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    Score {
        variant: Variant,
        secret: String,
        guess: String,
        /// The same guess, beyond doubt: as `U+0042`.
        #[serde(default)]
        guess_codepoints: Vec<String>,
    },
    Candidates(Board),
    MultiCandidates {
        boards: Vec<Board>,
    },
    Suggest {
        variant: Variant,
        history: Vec<Row>,
        #[serde(default)]
        consistent_only: bool,
        strategy: Option<Word>,
        deadline_ms: Option<u64>,
    },
    CheckGuess {
        variant: Variant,
        history: Vec<Row>,
        guess: String,
    },
    Play {
        variant: Variant,
        first_guess: String,
        #[serde(rename = "strategy")]
        _strategy: Word,
        #[serde(rename = "secrets")]
        _secrets: Word,
    },
    LoadDictionary {
        text: String,
        length: i32,
    },
    Sequence {
        steps: Vec<Request>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Board {
    variant: Variant,
    history: Vec<Row>,
    #[serde(rename = "order")]
    _order: Option<Word>,
}

/// The words that a request may have beside its numbers. Each says what the driver does in any case; another one
/// would fail its case.
#[derive(Clone, Deserialize)]
enum Word {
    #[serde(rename = "lexicographic")]
    InAlphabetOrder,
    #[serde(rename = "minimax", alias = "minimax (ties: candidate first, then lowest code)")]
    Minimax,
    #[serde(rename = "all 1296, in particular 5445")]
    AllSecrets,
    #[serde(rename = "nyt")]
    UsualHardMode,
}

#[derive(Clone, Deserialize)]
#[serde(tag = "game", rename_all = "snake_case", deny_unknown_fields)]
enum Variant {
    #[serde(rename = "bulls_cows", alias = "mastermind")]
    Codes {
        length: i32,
        alphabet: String,
        repeats: bool,
    },
    Wordle {
        /// Of a game whose list is not told: then the words of the request are the list.
        length: Option<usize>,
        #[serde(default)]
        dictionary: Words,
        #[serde(default)]
        allowed_guesses: Words,
        #[serde(rename = "hard_mode")]
        _hard_mode: Option<Word>,
    },
    Likeness {
        dictionary: Words,
    },
}

/// A list of words, told or to be made: `<generated: 2000>`.
#[derive(Clone, Default, Deserialize)]
#[serde(from = "WordsForm")]
struct Words(Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum WordsForm {
    List(Vec<String>),
    Made(String),
}

impl From<WordsForm> for Words {
    fn from(form: WordsForm) -> Words {
        let list = match form {
            WordsForm::List(list) => list,
            WordsForm::Made(made) => vec![made],
        };
        match list.as_slice() {
            [made] if made.starts_with("<generated") => {
                Words(word_numbers(numbers(made)[0].parse().unwrap()))
            }
            _ => Words(list),
        }
    }
}

/// So many different words of five letters, a shorter list being the beginning of a longer one.
fn word_numbers(count: u32) -> Vec<String> {
    let letter =
        |number: u32, place: u32| char::from(b'a' + (number / 26_u32.pow(place) % 26) as u8);
    // A factor that shares none with 26 leads through all words.
    let word = |index: u32| (0..5).map(|place| letter(index.wrapping_mul(7919), place)).collect();
    (0..count).map(word).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    guess: String,
    answer: Answer,
}

#[derive(Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Answer {
    Pegs { exact: i32, misplaced: i32 },
    Likeness { likeness: i32 },
    Marks(String),
}

impl Variant {
    /// The game, in which these words may be guessed too if its lists are not all told.
    fn rules(&self, more: &[&str]) -> v1::Rules {
        let (secrets, guesses, feedback) = match self {
            Variant::Codes { length, alphabet, repeats } => {
                let (alphabet, length, repeats) = (alphabet.clone(), *length, *repeats);
                let codes = v1::CodeRules { alphabet, length, repeats, ..Default::default() };
                return v1::Rules { game: Some(Game::Codes(codes)), ..Default::default() };
            }
            Variant::Wordle { dictionary, allowed_guesses, .. } => {
                (dictionary, allowed_guesses.0.as_slice(), v1::FeedbackRule::Marks)
            }
            Variant::Likeness { dictionary } => (dictionary, &[][..], v1::FeedbackRule::Bulls),
        };
        let mut secrets = secrets.0.clone();
        let mut guesses = guesses.to_vec();
        if guesses.is_empty() {
            guesses.extend(more.iter().map(|&word| word.to_owned()));
            guesses.dedup();
        }
        if secrets.is_empty() {
            secrets.push(guesses.remove(0));
        }
        let words = v1::WordRules { secrets, guesses, ..Default::default() };
        let (game, feedback) = (Some(Game::Words(words)), feedback.into());
        v1::Rules { game, feedback, ..Default::default() }
    }
}

fn turns(history: &[Row]) -> Vec<v1::Turn> {
    let turn = |Row { guess, answer }: &Row| {
        let mut feedback = v1::Feedback::default();
        match answer.clone() {
            Answer::Pegs { exact, misplaced } => {
                (feedback.bulls, feedback.cows) = (Some(exact), Some(misplaced));
            }
            Answer::Likeness { likeness } => feedback.bulls = Some(likeness),
            Answer::Marks(marks) => feedback.marks = Some(marks),
        }
        v1::Turn { guess: guess.clone(), feedback: Some(feedback) }
    };
    history.iter().map(turn).collect()
}

/// Where what was found is not what a case expects.
fn differences(expected: &Value, found: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for (field, wanted) in expected.as_object().expect("an outcome is an object") {
        let actual = &found[field];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let nested = |wanted, actual, all: &mut Vec<String>| {
            let inner = differences(wanted, actual);
            all.extend(inner.iter().map(|difference| format!("{field}: {difference}")));
        };
        let at_most =
            |fact: &str| found[fact].as_f64() <= wanted.as_f64() && found[fact].is_number();
        let right = match field.as_str() {
            // For whoever reads the case.
            "note" => true,
            "any_of" => list(wanted).iter().any(|outcome| match outcome {
                Value::String(sentence) => {
                    sentence.ends_with(found["report"].as_str().unwrap_or("?"))
                }
                outcome => differences(outcome, found).is_empty(),
            }),
            "common_wrong_value" => !differences(wanted, found).is_empty(),
            "faulty_count" => found["count"].is_number() && found["count"] != *wanted,
            "must_not" => avoids(&text(wanted), found),
            "excludes" => list(wanted).iter().all(|code| !list(&found["codes"]).contains(code)),
            // What is found is in alphabet order, which the driver sees to.
            "codes" if wanted.is_array() && actual.is_array() => sorted(wanted) == sorted(actual),
            "worst_case" => wanted.as_object().is_some_and(|worst| {
                worst.iter().all(|(guess, largest)| actual.get(guess) == Some(largest))
            }),
            "suggestion_alphabet_subset" => {
                let suggestion = text(&found["suggestion"]);
                !suggestion.is_empty()
                    && suggestion.chars().all(|symbol| text(wanted).contains(symbol))
            }
            // The sentence is ours; the numbers in it must be the same.
            "reason" => numbers(&text(wanted)).iter().all(|n| numbers(&text(actual)).contains(n)),
            // What follows the word is what else may be told.
            "status" => text(wanted).split(' ').next() == actual.as_str(),
            "code_any_of" => list(wanted).contains(&found["code"]),
            "rss_growth_max_MiB" => at_most("rss_growth_MiB"),
            "overrun_max_ms" => at_most("overrun_ms"),
            // How quick it is, the benches tell (`rpc`): a test is no timing.
            "second_call" => text(wanted).strip_suffix(", p99 < 5 ms") == actual.as_str(),
            // A rule that is not offered must be refused.
            "per_slot_rule" => actual["field"] == "rules.feedback",
            "standard_rule" | "step0" | "step1" | "step2" if actual.is_object() => {
                nested(wanted, actual, &mut all);
                true
            }
            "boards" if list(wanted).len() == list(actual).len() => {
                for (wanted, actual) in list(wanted).iter().zip(list(actual)) {
                    nested(wanted, actual, &mut all);
                }
                true
            }
            _ => found.get(field).is_some_and(|actual| actual == wanted),
        };
        if !right {
            all.push(format!("{field} should be {wanted} and is {actual}"));
        }
    }
    all
}

/// Whether what was found is not the fault that a case warns of; one that is not known here was not looked for.
fn avoids(fault: &str, found: &Value) -> bool {
    let panicked = found["error"] == "Internal";
    match fault {
        "panic or report GGGGG" => !panicked && found["pattern"] != "GGGGG",
        "panic / index out of range" => !panicked,
        "accept the dictionary and then refuse every guess" => found["field"] != "guess",
        "a 6-character word ending in CR" => list(&found["words"])
            .iter()
            .all(|word| word.as_str().is_some_and(|word| word.len() == 5)),
        _ => false,
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn sorted(codes: &Value) -> Vec<&str> {
    let mut codes: Vec<_> = list(codes).iter().filter_map(Value::as_str).collect();
    codes.sort_unstable();
    codes
}

fn numbers(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect()
}

#[tokio::test]
async fn every_reported_trouble_has_its_right_outcome() {
    let mut driver = Driver::start(&[]).await;
    let mut failures = String::new();
    for line in include_str!("cases/open.jsonl").lines() {
        let case = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
        let Case { id, kind, symptom, request, expected } = case;
        for difference in differences(&expected, &driver.facts(&request).await) {
            failures += &format!("\n{id} ({kind}): {difference}\n    {symptom}");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn an_outcome_that_is_not_known_or_not_right_is_a_difference() {
    let found = json!({
        "count": 7,
        "suggestion": "0123",
        "reason": "5 of 4",
        "status": "SOLVED",
        "step0": { "count": 1 },
        "codes": ["01", "23"],
        "boards": [{ "count": 1 }, { "count": 2 }],
        "report": "1 blank",
        "worst_case": { "01": 2 },
        "code": "OK",
        "overrun_ms": 5,
    });
    for (expected, right) in [
        (json!({ "count": 7, "note": "prose" }), true),
        (json!({ "count": 8 }), false),
        (json!({ "counts": 7 }), false),
        (json!({ "counts": null }), false),
        (json!({ "faulty_count": 8 }), true),
        (json!({ "faulty_count": 7 }), false),
        (json!({ "step0": { "count": 2 } }), false),
        (json!({ "step1": { "count": 1 } }), false),
        (json!({ "boards": [{ "count": 1 }, { "count": 2 }] }), true),
        (json!({ "boards": [{ "count": 1 }] }), false),
        (json!({ "boards": [{ "count": 1 }, { "count": 3 }] }), false),
        (json!({ "any_of": [{ "count": 8 }, { "count": 7 }] }), true),
        (json!({ "any_of": [{ "count": 8 }] }), false),
        (json!({ "any_of": ["drop and report 1 blank"] }), true),
        (json!({ "any_of": ["drop and report 2 blank"] }), false),
        (json!({ "common_wrong_value": { "count": 7 } }), false),
        (json!({ "must_not": "panic or report GGGGG" }), true),
        (json!({ "must_not": "be slow" }), false),
        (json!({ "codes": ["23", "01"], "excludes": ["02"] }), true),
        (json!({ "codes": ["01"] }), false),
        (json!({ "excludes": ["23"] }), false),
        (json!({ "worst_case": { "01": 2 } }), true),
        (json!({ "worst_case": { "01": 2, "23": 2 } }), false),
        (json!({ "suggestion_alphabet_subset": "012" }), false),
        (json!({ "reason": "5 > 4" }), true),
        (json!({ "reason": "6 > 4" }), false),
        (json!({ "status": "SOLVED at last" }), true),
        (json!({ "status": "INCONSISTENT" }), false),
        (json!({ "code_any_of": ["OK"], "overrun_max_ms": 5 }), true),
        (json!({ "code_any_of": ["NO"] }), false),
        (json!({ "overrun_max_ms": 4 }), false),
        (json!({ "rss_growth_max_MiB": 4 }), false),
    ] {
        assert_eq!(differences(&expected, &found).is_empty(), right, "{expected}");
    }
}
