//! Troubles that people reported with programs of this kind, each a small request with its right outcome: a line of
//! `cases/open.jsonl`.
//!
//! The driver puts the requests to a server in this process, and its replies in the words of the cases: `exact` and
//! `misplaced` are bulls and cows, and rows count from 0. A request or an outcome with a field that the driver does
//! not know fails its case, so that nothing is passed over.

use std::collections::BTreeMap;

use herdsman_proto::v1::{self, rules::Game, solver_service_client::SolverServiceClient};
use herdsman_server::Config;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tonic::{
    Code, Status,
    transport::{Channel, Endpoint},
};
use tonic_types::StatusExt as _;

/// Not a rule that the API has, nor one that it will have soon.
const NO_FEEDBACK_RULE: i32 = 99;

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
    },
    Candidates {
        variant: Variant,
        history: Vec<Row>,
        #[serde(rename = "order")]
        _order: Option<Word>,
    },
    Suggest {
        variant: Variant,
        history: Vec<Row>,
        #[serde(default)]
        consistent_only: bool,
    },
    Play {
        variant: Variant,
        first_guess: String,
        #[serde(rename = "strategy")]
        _strategy: Word,
        #[serde(rename = "secrets")]
        _secrets: Word,
    },
    Sequence {
        steps: Vec<Request>,
    },
}

/// The words that a request may have beside its numbers. Each says what the driver does in any case; another one
/// would fail its case.
#[derive(Clone, Deserialize)]
enum Word {
    #[serde(rename = "bulls_cows", alias = "mastermind")]
    Pegs,
    #[serde(rename = "lexicographic")]
    InAlphabetOrder,
    #[serde(rename = "minimax (ties: candidate first, then lowest code)")]
    Minimax,
    #[serde(rename = "all 1296, in particular 5445")]
    AllSecrets,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variant {
    #[serde(rename = "game")]
    _game: Word,
    length: i32,
    alphabet: String,
    repeats: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    guess: String,
    answer: Pegs,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pegs {
    exact: i32,
    misplaced: i32,
}

impl Variant {
    fn rules(&self) -> v1::Rules {
        let codes = v1::CodeRules {
            alphabet: self.alphabet.clone(),
            length: self.length,
            repeats: self.repeats,
            not_first: String::new(),
        };
        v1::Rules { game: Some(Game::Codes(codes)), feedback: 0 }
    }
}

fn turns(history: &[Row]) -> Vec<v1::Turn> {
    let turn = |Row { guess, answer: Pegs { exact, misplaced } }: &Row| v1::Turn {
        guess: guess.clone(),
        feedback: Some(v1::Feedback { bulls: Some(*exact), cows: Some(*misplaced) }),
    };
    history.iter().map(turn).collect()
}

/// What is true of a request, by the names that outcomes have for it.
type Facts = Result<Value, Status>;

/// The server, asked in the words of the cases.
struct Driver(SolverServiceClient<Channel>);

impl Driver {
    async fn start() -> Driver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(herdsman_server::run(listener, Config::default(), std::future::pending()));
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        Driver(SolverServiceClient::new(endpoint.connect_lazy()))
    }

    /// All that the driver can tell about a request.
    async fn facts(&mut self, request: &Request) -> Value {
        let facts = match request {
            Request::Score { variant, secret, guess } => self.score(variant, secret, guess).await,
            Request::Candidates { variant, history, .. } => {
                self.candidates(variant, turns(history)).await
            }
            Request::Suggest { variant, history, consistent_only } => {
                self.suggest(variant, turns(history), *consistent_only).await
            }
            Request::Play { variant, first_guess, .. } => self.play(variant, first_guess).await,
            Request::Sequence { steps } => {
                let mut facts = Map::new();
                for (number, step) in steps.iter().enumerate() {
                    facts.insert(format!("step{number}"), Box::pin(self.facts(step)).await);
                }
                Ok(facts.into())
            }
        };
        facts.unwrap_or_else(|status| refusal(&status))
    }

    async fn score(&mut self, variant: &Variant, secret: &str, guess: &str) -> Facts {
        let (secret, guess) = (secret.to_owned(), guess.to_owned());
        let request = v1::ScoreRequest { rules: Some(variant.rules()), secret, guess };
        let feedback = self.0.score(request).await?.into_inner().feedback.unwrap();
        Ok(json!({ "exact": feedback.bulls, "misplaced": feedback.cows }))
    }

    async fn filter(
        &mut self,
        rules: v1::Rules,
        history: &[v1::Turn],
    ) -> Result<v1::FilterResponse, Status> {
        let (history, page_size) = (history.to_vec(), 10_000);
        let request =
            v1::FilterRequest { rules: Some(rules), history, page_size, ..Default::default() };
        Ok(self.0.filter(request).await?.into_inner())
    }

    async fn candidates(&mut self, variant: &Variant, history: Vec<v1::Turn>) -> Facts {
        let per_slot = v1::Rules { feedback: NO_FEEDBACK_RULE, ..variant.rules() };
        let per_slot = self.filter(per_slot, &history).await.expect_err("there is no such rule");
        let mut facts = match self.filter(variant.rules(), &history).await {
            Ok(left) => self.left(variant, &history, &left).await?,
            Err(status) => refusal(&status),
        };
        facts["per_slot_rule"] = refusal(&per_slot);
        Ok(facts)
    }

    async fn left(
        &mut self,
        variant: &Variant,
        history: &[v1::Turn],
        left: &v1::FilterResponse,
    ) -> Facts {
        let codes = &left.candidates;
        assert!(codes.is_sorted() && codes.len() == left.remaining as usize);
        let leading_zero = codes.iter().filter(|code| code.starts_with('0')).count();
        let length = codes.first().map_or(0, |code| code.chars().count());
        assert!(codes.iter().all(|code| code.chars().count() == length));
        let with_repeats = Variant { repeats: true, ..variant.clone() }.rules();

        let (rules, history) = (Some(variant.rules()), history.to_vec());
        let request = v1::DiagnoseRequest { rules, history: history.clone() };
        let diagnosis = self.0.diagnose(request).await?.into_inner();
        let fixes: BTreeMap<_, _> = diagnosis
            .repairs
            .iter()
            .map(|repair| ((repair.turn - 1).to_string(), repair.remaining))
            .collect();
        let wanted = Some(v1::Feedback { bulls: Some(1), cows: Some(4) });
        let second = diagnosis.repairs.iter().filter(|repair| repair.turn == 2);
        let mut second = second.flat_map(|repair| &repair.options);
        let second = second.find(|option| option.feedback == wanted).map(|option| option.count);
        Ok(json!({
            "status": if left.remaining == 0 { "INCONSISTENT" } else { "CONSISTENT" },
            "count": left.remaining,
            "codes": codes,
            "first": codes.first(),
            "last": codes.last(),
            "codes_are": format!("strings of length {length}"),
            "starting_with_0": leading_zero,
            "count_if_space_were_1000_to_9999": codes.len() - leading_zero,
            "count_if_repeats_allowed": self.filter(with_repeats, &history).await?.remaining,
            "space": self.filter(variant.rules(), &[]).await?.remaining,
            "first_conflict_row": diagnosis.first_conflict_turn - 1,
            "single_row_fixes": fixes,
            "if_second_answer_were_1_4": second,
        }))
    }

    async fn suggest(
        &mut self,
        variant: &Variant,
        history: Vec<v1::Turn>,
        consistent_only: bool,
    ) -> Facts {
        let mut request = v1::BestNextGuessRequest {
            rules: Some(variant.rules()),
            history,
            pool: v1::GuessPool::Any.into(),
            ..Default::default()
        };
        let mut reply = self.0.best_next_guess(request.clone()).await?.into_inner();
        if consistent_only {
            let remaining = reply.remaining;
            request.pool = v1::GuessPool::Consistent.into();
            reply = self.0.best_next_guess(request).await?.into_inner();
            assert_eq!(reply.remaining, remaining, "the pool changes nothing of what is left");
        }
        Ok(json!({
            "status": if reply.solved { "SOLVED" } else { "CONSISTENT" },
            "code": reply.secret,
            "count": reply.remaining,
            "suggestion": reply.suggestions.first().map(|suggestion| &suggestion.guess),
        }))
    }

    /// Plays every secret of the game; those that had the same answers so far share the next guess.
    async fn play(&mut self, variant: &Variant, first_guess: &str) -> Facts {
        let rules = Some(variant.rules());
        let secrets = self.filter(variant.rules(), &[]).await?.candidates;
        let size = secrets.len() as u64;
        let mut found = BTreeMap::<u64, u64>::new();
        let mut open = vec![(Vec::<v1::Turn>::new(), secrets)];
        while let Some((history, secrets)) = open.pop() {
            let request = v1::BestNextGuessRequest {
                rules: rules.clone(),
                history: history.clone(),
                strategy: v1::Strategy::Minimax.into(),
                tie: v1::TieRule::Candidate.into(),
                ..Default::default()
            };
            let reply = self.0.best_next_guess(request).await?.into_inner();
            let guess = &reply.suggestions[0].guess;
            assert!(!history.is_empty() || guess == first_guess, "{guess} is played first");
            let pair =
                |secret: &String| v1::ScorePair { secret: secret.clone(), guess: guess.clone() };
            let request = v1::BatchScoreRequest {
                rules: rules.clone(),
                pairs: secrets.iter().map(pair).collect(),
            };
            let answers = self.0.batch_score(request).await?.into_inner().feedbacks;
            let mut parts = BTreeMap::<_, Vec<String>>::new();
            for (secret, answer) in secrets.into_iter().zip(answers) {
                if secret == *guess {
                    *found.entry(history.len() as u64 + 1).or_default() += 1;
                } else {
                    parts.entry((answer.bulls, answer.cows)).or_default().push(secret);
                }
            }
            open.extend(parts.into_iter().map(|((bulls, cows), part)| {
                let turn =
                    v1::Turn { guess: guess.clone(), feedback: Some(v1::Feedback { bulls, cows }) };
                ([&history[..], &[turn]].concat(), part)
            }));
        }
        let total: u64 = found.iter().map(|(moves, secrets)| moves * secrets).sum();
        let distribution: BTreeMap<_, _> =
            found.iter().map(|(moves, secrets)| (moves.to_string(), secrets)).collect();
        Ok(json!({
            "max_moves": found.keys().last(),
            "total_moves": total,
            "mean": (total as f64 / size as f64 * 1e4).round() / 1e4,
            "distribution": distribution,
        }))
    }
}

/// A refusal in the words of the cases.
fn refusal(status: &Status) -> Value {
    let details = status.get_error_details();
    let violation = details.bad_request().and_then(|bad| bad.field_violations.first());
    let impossible = details.error_info().is_some_and(|info| info.reason == "INVALID_FEEDBACK");
    json!({
        "error": match status.code() {
            Code::InvalidArgument => "INVALID_ARGUMENT".to_owned(),
            other => format!("{other:?}"),
        },
        "field": violation.map(|violation| violation.field.replace("].feedback", "].answer")),
        "reason": violation.map(|violation| &violation.description),
        // What no code can answer is refused here; a case may say that it leaves nothing.
        "standard_rule": impossible.then(|| json!({ "status": "INCONSISTENT", "count": 0 })),
    })
}

/// Where what was found is not what a case expects.
fn differences(expected: &Value, found: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for (field, wanted) in expected.as_object().expect("an outcome is an object") {
        let actual = &found[field];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let right = match field.as_str() {
            // For whoever reads the case.
            "note" => true,
            "any_of" => {
                let outcomes = wanted.as_array().expect("a list of outcomes");
                outcomes.iter().any(|outcome| differences(outcome, found).is_empty())
            }
            "common_wrong_value" => !differences(wanted, found).is_empty(),
            "suggestion_alphabet_subset" => {
                let suggestion = text(&found["suggestion"]);
                !suggestion.is_empty()
                    && suggestion.chars().all(|symbol| text(wanted).contains(symbol))
            }
            // The sentence is ours; the numbers in it must be the same.
            "reason" => numbers(&text(wanted)).iter().all(|n| numbers(&text(actual)).contains(n)),
            // A rule that is not offered must be refused.
            "per_slot_rule" => actual["field"] == "rules.feedback",
            "standard_rule" | "step0" | "step1" | "step2" if actual.is_object() => {
                let inner = differences(wanted, actual);
                all.extend(inner.iter().map(|difference| format!("{field}: {difference}")));
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

fn numbers(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect()
}

#[tokio::test]
async fn every_reported_trouble_has_its_right_outcome() {
    let mut driver = Driver::start().await;
    let mut failures = String::new();
    for line in include_str!("cases/open.jsonl").lines() {
        let Case { id, kind, symptom, request, expected } = serde_json::from_str(line).unwrap();
        for difference in differences(&expected, &driver.facts(&request).await) {
            failures += &format!("\n{id} ({kind}): {difference}\n    {symptom}");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn an_outcome_that_is_not_known_or_not_right_is_a_difference() {
    let found =
        json!({ "count": 7, "suggestion": "0123", "reason": "5 of 4", "step0": { "count": 1 } });
    for (expected, right) in [
        (json!({ "count": 7, "note": "prose" }), true),
        (json!({ "count": 8 }), false),
        (json!({ "counts": 7 }), false),
        (json!({ "counts": null }), false),
        (json!({ "step0": { "count": 2 } }), false),
        (json!({ "step1": { "count": 1 } }), false),
        (json!({ "any_of": [{ "count": 8 }, { "count": 7 }] }), true),
        (json!({ "any_of": [{ "count": 8 }] }), false),
        (json!({ "common_wrong_value": { "count": 7 } }), false),
        (json!({ "suggestion_alphabet_subset": "012" }), false),
        (json!({ "reason": "5 > 4" }), true),
        (json!({ "reason": "6 > 4" }), false),
    ] {
        assert_eq!(differences(&expected, &found).is_empty(), right, "{expected}");
    }
}
