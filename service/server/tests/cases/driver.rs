//! Puts the requests of the cases to a server in this process, and tells its replies in their words.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::{Duration, Instant},
};

use clap::Parser as _;
use herdsman_proto::v1::{
    self, evaluate_response::Event, rules::Game, solver_service_client::SolverServiceClient,
};
use herdsman_server::Config;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tonic::{
    Code, Status,
    transport::{Channel, Endpoint},
};
use tonic_types::StatusExt as _;

use super::{Board, Request, Row, Variant, Word, turns};

/// Not a rule that the API has, nor one that it will have soon.
const NO_FEEDBACK_RULE: i32 = 99;
/// Lists of more words are not asked about word by word.
const FEW_WORDS: usize = 100;

/// What is true of a request, by the names that outcomes have for it.
type Facts = Result<Value, Status>;

/// The server, asked in the words of the cases.
pub(super) struct Driver(SolverServiceClient<Channel>);

impl Driver {
    pub(super) async fn start(args: &[&str]) -> Driver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let config = Config::parse_from([&["herdsmand"], args].concat());
        tokio::spawn(herdsman_server::run(listener, config, std::future::pending()));
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        Driver(SolverServiceClient::new(endpoint.connect_lazy()))
    }

    /// All that the driver can tell about a request.
    pub(super) async fn facts(&mut self, request: &Request) -> Value {
        let facts = match request {
            Request::Score { variant, secret, guess, guess_codepoints } => {
                self.score(variant, secret, &spelled(guess, guess_codepoints)).await
            }
            Request::Candidates(board) => self.candidates(board).await,
            Request::MultiCandidates { boards } => {
                let mut all = vec![];
                for board in boards {
                    all.push(
                        self.candidates(board).await.unwrap_or_else(|status| refusal(&status)),
                    );
                }
                Ok(json!({ "boards": all }))
            }
            Request::Suggest { deadline_ms: Some(allowed), .. } => {
                Ok(self.suggest_within(request, *allowed).await)
            }
            Request::Suggest { .. } => self.suggest(request).await,
            Request::CheckGuess { variant, history, guess } => {
                self.check_guess(variant, history, guess).await
            }
            Request::Play { variant, first_guess, .. } => self.play(variant, first_guess).await,
            Request::LoadDictionary { text, length } => load_dictionary(text, *length).await,
            Request::Sequence { steps } => Ok(self.sequence(steps).await),
        };
        facts.unwrap_or_else(|status| refusal(&status))
    }

    async fn score(&mut self, variant: &Variant, secret: &str, guess: &str) -> Facts {
        let more = match variant {
            // Where the list is told, a word that is not on it is refused.
            Variant::Wordle { length: Some(length), .. } => {
                assert_eq!(secret.chars().count(), *length);
                &[secret, guess][..]
            }
            _ => &[],
        };
        let (rules, secret, guess) = (Some(variant.rules(more)), secret.into(), guess.into());
        let request = v1::ScoreRequest { rules, secret, guess };
        let feedback = self.0.score(request).await?.into_inner().feedback.unwrap();
        Ok(json!({
            "exact": feedback.bulls,
            "misplaced": feedback.cows,
            "pattern": feedback.marks,
        }))
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

    /// The marks of some guesses at a secret.
    async fn patterns(
        &mut self,
        rules: v1::Rules,
        history: &[v1::Turn],
        secret: &str,
    ) -> Result<Vec<Option<String>>, Status> {
        let pair =
            |turn: &v1::Turn| v1::ScorePair { secret: secret.into(), guess: turn.guess.clone() };
        let pairs = history.iter().map(pair).collect();
        let request = v1::BatchScoreRequest { rules: Some(rules), pairs };
        let feedbacks = self.0.batch_score(request).await?.into_inner().feedbacks;
        Ok(feedbacks.into_iter().map(|feedback| feedback.marks).collect())
    }

    async fn candidates(&mut self, Board { variant, history, .. }: &Board) -> Facts {
        let rules = variant.rules(&guesses(history));
        let history = turns(history);
        let per_slot = v1::Rules { feedback: NO_FEEDBACK_RULE, ..rules.clone() };
        let per_slot = self.filter(per_slot, &history).await.expect_err("there is no such rule");
        let mut facts = match self.filter(rules.clone(), &history).await {
            Ok(left) => self.left(rules, &history, &left).await?,
            Err(status) => refusal(&status),
        };
        if let Variant::Codes { length, alphabet, .. } = variant {
            let (length, alphabet) = (*length, alphabet.clone());
            let with_repeats = Variant::Codes { length, alphabet, repeats: true }.rules(&[]);
            let left = self.filter(with_repeats, &history).await.map(|left| left.remaining);
            facts["count_if_repeats_allowed"] = left.ok().into();
        }
        facts["per_slot_rule"] = refusal(&per_slot);
        Ok(facts)
    }

    async fn left(
        &mut self,
        rules: v1::Rules,
        history: &[v1::Turn],
        left: &v1::FilterResponse,
    ) -> Facts {
        let codes = &left.candidates;
        assert!(codes.is_sorted() && codes.len() == left.remaining as usize);
        let leading_zero = codes.iter().filter(|code| code.starts_with('0')).count();
        let length = codes.first().map_or(0, |code| code.chars().count());
        assert!(codes.iter().all(|code| code.chars().count() == length));
        let patterns = match codes.first() {
            Some(secret) => self.patterns(rules.clone(), history, secret).await?,
            None => vec![],
        };
        let request = v1::DiagnoseRequest { rules: Some(rules.clone()), history: history.to_vec() };
        let diagnosis = self.0.diagnose(request).await?.into_inner();
        let fixes: BTreeMap<_, _> = diagnosis
            .repairs
            .iter()
            .map(|repair| ((repair.turn - 1).to_string(), repair.remaining))
            .collect();
        let wanted = Some(v1::Feedback { bulls: Some(1), cows: Some(4), ..Default::default() });
        let second = diagnosis.repairs.iter().filter(|repair| repair.turn == 2);
        let mut second = second.flat_map(|repair| &repair.options);
        let second = second.find(|option| option.feedback == wanted).map(|option| option.count);
        Ok(json!({
            "status": if left.remaining == 0 { "INCONSISTENT" } else { "CONSISTENT" },
            "count": left.remaining,
            "codes": codes,
            "in_answers": codes,
            "in_allowed": diagnosis.other_guesses,
            "first": codes.first(),
            "last": codes.last(),
            "codes_are": format!("strings of length {length}"),
            "word_length": length,
            "byte_length_trap": codes.first().map(String::len),
            "starting_with_0": leading_zero,
            "count_if_space_were_1000_to_9999": codes.len() - leading_zero,
            "space": self.filter(rules, &[]).await?.remaining,
            "first_conflict_row": diagnosis.first_conflict_turn - 1,
            "single_row_fixes": fixes,
            "if_second_answer_were_1_4": second,
            "pattern": patterns.first(),
            "patterns": patterns,
        }))
    }

    async fn suggest(&mut self, request: &Request) -> Facts {
        let Request::Suggest { variant, history, consistent_only, strategy, deadline_ms } = request
        else {
            unreachable!("only suggestions come here");
        };
        let rules = variant.rules(&guesses(history));
        let strategy = match strategy {
            None => v1::Strategy::Unspecified,
            Some(Word::Minimax) => v1::Strategy::Minimax,
            Some(_) => panic!("a strategy that the driver does not know"),
        };
        let mut request = v1::BestNextGuessRequest {
            rules: Some(rules.clone()),
            history: turns(history),
            strategy: strategy.into(),
            pool: v1::GuessPool::Any.into(),
            ..Default::default()
        };
        let within = |request: &v1::BestNextGuessRequest| {
            let mut request = tonic::Request::new(request.clone());
            if let Some(allowed) = deadline_ms {
                request.set_timeout(Duration::from_millis(*allowed));
            }
            request
        };
        let mut reply = self.0.best_next_guess(within(&request)).await?.into_inner();
        if *consistent_only {
            let remaining = reply.remaining;
            request.pool = v1::GuessPool::Consistent.into();
            reply = self.0.best_next_guess(within(&request)).await?.into_inner();
            assert_eq!(reply.remaining, remaining, "the pool changes nothing of what is left");
        }
        Ok(json!({
            "status": if reply.solved { "SOLVED" } else { "CONSISTENT" },
            "code": if reply.secret.is_empty() { "OK" } else { &reply.secret },
            "count": reply.remaining,
            "space": history.is_empty().then_some(reply.remaining),
            "suggestion": reply.suggestions.first().map(|suggestion| &suggestion.guess),
            "known": matches!(reply.source(), v1::Source::Cache | v1::Source::Book),
            "worst_case": self.worst_cases(rules, request.history).await?,
        }))
    }

    /// The most that each guess of a short list of words can leave.
    async fn worst_cases(
        &mut self,
        rules: v1::Rules,
        history: Vec<v1::Turn>,
    ) -> Result<BTreeMap<String, i32>, Status> {
        let words = match &rules.game {
            Some(Game::Words(words)) if words.guesses.len() <= FEW_WORDS => words.guesses.clone(),
            _ => vec![],
        };
        let mut worst = BTreeMap::new();
        for guess in words {
            let request = v1::AnalyzeRequest {
                rules: Some(rules.clone()),
                history: history.clone(),
                guess: guess.clone(),
                rate: false,
            };
            let facts = self.0.analyze(request).await?.into_inner().facts;
            worst.insert(guess, facts.unwrap_or_default().largest_class);
        }
        Ok(worst)
    }

    /// What a suggestion costs that must be there in time.
    async fn suggest_within(&mut self, request: &Request, allowed_ms: u64) -> Value {
        let (held, began) = (memory("VmRSS"), Instant::now());
        let mut facts = self.suggest(request).await.unwrap_or_else(|status| refusal(&status));
        let overrun = began.elapsed().saturating_sub(Duration::from_millis(allowed_ms));
        facts["overrun_ms"] = (overrun.as_millis() as u64).into();
        // The most that was ever held, so never too little.
        facts["rss_growth_MiB"] = (memory("VmHWM").saturating_sub(held) >> 20).into();
        facts
    }

    async fn check_guess(&mut self, variant: &Variant, history: &[Row], guess: &str) -> Facts {
        let Variant::Wordle { length: Some(length), .. } = variant else {
            panic!("a guess is checked in a game of words of some length")
        };
        // Nobody told the list: whatever can be spelled is a word.
        let letters: BTreeSet<char> =
            guesses(history).into_iter().chain([guess, "?"]).flat_map(str::chars).collect();
        let (alphabet, length) = (letters.into_iter().collect(), *length as i32);
        let codes = v1::CodeRules { alphabet, length, repeats: true, ..Default::default() };
        let (game, feedback) = (Some(Game::Codes(codes)), v1::FeedbackRule::Marks.into());
        let rules = v1::Rules { game, feedback, ..Default::default() };
        let history = turns(history);
        let left = self.filter(rules.clone(), &history).await?;
        let patterns = self.patterns(rules.clone(), &history, &left.candidates[0]).await?;
        let (rules, guess) = (Some(rules), guess.to_owned());
        let request = v1::AnalyzeRequest { rules, history, guess, rate: false };
        let analysis = self.0.analyze(request).await?.into_inner();
        Ok(json!({
            "patterns": patterns,
            "allowed_nyt": analysis.keeps_hints,
            "allowed_strict": analysis.consistent,
        }))
    }

    async fn play(&mut self, variant: &Variant, first_guess: &str) -> Facts {
        let strategy = v1::Strategy::Minimax.into();
        let tie = v1::TieRule::Candidate.into();
        let request = v1::EvaluateRequest {
            rules: Some(variant.rules(&[])),
            player: Some(v1::Player { strategy, tie, ..Default::default() }),
            first_guess: first_guess.to_owned(),
            ..Default::default()
        };
        let mut stream = self.0.evaluate(request).await?.into_inner();
        let result = loop {
            match stream.message().await?.expect("a result comes last").event.unwrap() {
                Event::Progress(_) => {}
                Event::Result(result) => break result,
            }
        };
        assert!(result.exact, "all secrets are played");
        let distribution: BTreeMap<_, _> = (1..)
            .zip(&result.histogram)
            .map(|(guesses, n): (i32, _)| (guesses.to_string(), n))
            .collect();
        Ok(json!({
            "max_moves": result.max,
            "total_moves": result.total,
            "mean": (result.mean * 1e4).round() / 1e4,
            "distribution": distribution,
        }))
    }

    async fn sequence(&mut self, steps: &[Request]) -> Value {
        let mut facts = Map::new();
        for (number, step) in steps.iter().enumerate() {
            facts.insert(format!("step{number}"), Box::pin(self.facts(step)).await);
        }
        if let [Request::Suggest { .. }, second @ Request::Suggest { .. }] = steps {
            facts.insert("second_call".into(), self.again(second, &facts["step0"]).await.into());
            facts.insert("space".into(), facts["step0"]["space"].clone());
        }
        facts.into()
    }

    /// What is true of a call that was made before, with these facts.
    async fn again(&mut self, request: &Request, first: &Value) -> String {
        let (mut known, mut same) = (true, true);
        for _ in 0..3 {
            let mut facts = self.suggest(request).await.unwrap();
            known &= facts["known"] == true;
            facts["known"] = first["known"].clone();
            same &= facts == *first;
        }
        let told = [(known, "cache hit"), (same, "identical body")];
        told.into_iter().filter_map(|(is, what)| is.then_some(what)).collect::<Vec<_>>().join(", ")
    }
}

/// A server with this text as its dictionary.
async fn load_dictionary(text: &str, length: i32) -> Facts {
    let path = std::env::temp_dir().join(format!("herdsman-cases-{}.txt", std::process::id()));
    fs::write(&path, text).unwrap();
    let mut driver = Driver::start(&["--dictionary", &format!("case={}", path.display())]).await;
    let info = driver.0.get_server_info(v1::GetServerInfoRequest {}).await;
    fs::remove_file(&path).unwrap();
    let info = info?.into_inner();
    let [dictionary] = &info.dictionaries[..] else { panic!("{:?}", info.dictionaries) };
    assert_eq!(dictionary.letters, length);
    let words = v1::WordRules { dictionary: "case".into(), ..Default::default() };
    let rules = v1::Rules { game: Some(Game::Words(words)), ..Default::default() };
    let words = driver.filter(rules, &[]).await?.candidates;
    let report = &dictionary.reports[0];
    let rejected = report.comments + report.wrong_length;
    let (duplicates, blank) = (report.duplicates, report.blank);
    Ok(json!({
        "words": words,
        "count": dictionary.secrets,
        "report": format!("{duplicates} duplicate, {blank} blank, {rejected} rejected line"),
    }))
}

fn guesses(history: &[Row]) -> Vec<&str> {
    history.iter().map(|row| row.guess.as_str()).collect()
}

/// A text by its code points, if they are told.
fn spelled(text: &str, codepoints: &[String]) -> String {
    if codepoints.is_empty() {
        return text.to_owned();
    }
    let read = |name: &String| char::from_u32(u32::from_str_radix(&name[2..], 16).unwrap());
    codepoints.iter().map(|name| read(name).unwrap()).collect()
}

/// Bytes that this process holds (`VmRSS`), or held at most (`VmHWM`); 0 where the system does not tell.
fn memory(what: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(what)).unwrap_or_default();
    line.split_whitespace().nth(1).map_or(0, |kib| kib.parse::<u64>().unwrap() << 10)
}

/// A refusal in the words of the cases.
fn refusal(status: &Status) -> Value {
    let details = status.get_error_details();
    let violation = details.bad_request().and_then(|bad| bad.field_violations.first());
    let impossible = details.error_info().is_some_and(|info| info.reason == "INVALID_FEEDBACK");
    let code = match status.code() {
        Code::InvalidArgument => "INVALID_ARGUMENT".to_owned(),
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED".to_owned(),
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED".to_owned(),
        other => format!("{other:?}"),
    };
    json!({
        "error": code,
        "code": code,
        "field": violation.map(|violation| violation.field.replace("].feedback", "].answer")),
        "reason": violation.map(|violation| &violation.description),
        // What no code can answer is refused here; a case may say that it leaves nothing.
        "standard_rule": impossible.then(|| json!({ "status": "INCONSISTENT", "count": 0 })),
    })
}
