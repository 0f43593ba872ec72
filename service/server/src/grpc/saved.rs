//! Answers as bytes: each is a request and its reply, as they are on the wire.
//!
//! So what was saved is read by the gate that all requests go through, and there is no second format. What is kept
//! under other names (`games`) is not saved: it is as dear, and serves no caller by itself.

use herdsman_engine::{Form, Rules, StopFlag, Turn, WordList};
use herdsman_proto::v1::{self, rules::Game};
use prost::Message;
use sha2::{Digest as _, Sha256};

use super::{Shared, Solver, advise, convert, rules, status::Violations};
use crate::{
    cache::{AdviceKey, AnalysisKey, Position, Timed},
    saved::Answer,
};

const ADVICE: u8 = 0;
const ANALYSIS: u8 = 1;

impl Solver {
    /// What an answer depends on beside its request: the program, its dictionaries, and what it enumerates.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        let Shared { config, dictionaries, .. } = &*self.0;
        let mut hash = Sha256::new();
        hash.update(concat!(env!("CARGO_PKG_VERSION"), " ", env!("SOURCES_HASH")));
        hash.update(config.max_codes.to_le_bytes());
        for dictionary in dictionaries.iter() {
            add_text(&mut hash, &dictionary.name);
            add_words(&mut hash, &dictionary.words);
        }
        hash.finalize().into()
    }

    /// How many answers were kept so far: if none was since, there is nothing to save.
    pub(crate) fn answers_kept(&self) -> u64 {
        self.0.advice.counts().kept + self.0.analyses.counts().kept
    }

    /// The answers that took longest to compute, in that order, as many as there is room for.
    pub(crate) fn dearest(&self, max_bytes: u64) -> Vec<Answer> {
        let shared = &*self.0;
        let advice = shared.advice.entries().filter_map(|(key, Timed { answer, took })| {
            let (request, reply) = (shared.advice_request(&key)?.encode_to_vec(), answer?);
            Some(Answer { kind: ADVICE, took, request, reply: reply.encode_to_vec() })
        });
        let analyses = shared.analyses.entries().filter_map(|(key, Timed { answer, took })| {
            let (request, reply) = (shared.analysis_request(&key)?.encode_to_vec(), answer?);
            Some(Answer { kind: ANALYSIS, took, request, reply: reply.encode_to_vec() })
        });
        let (mut all, mut bytes) = (vec![], 0);
        for answer in advice.chain(analyses) {
            bytes += answer.bytes() as u64;
            all.push(answer);
            // So that there are never more than twice as many.
            if bytes > 2 * max_bytes {
                bytes = cut(&mut all, max_bytes);
            }
        }
        cut(&mut all, max_bytes);
        all
    }

    /// Keeps a saved answer, if it is one that is given today.
    pub(crate) fn restore(&self, saved: &Answer) -> Option<()> {
        let (shared, took) = (&*self.0, saved.took);
        let stop = StopFlag::default();
        let mut violations = Violations::default();
        match saved.kind {
            ADVICE => {
                let mut request = v1::BestNextGuessRequest::decode(&*saved.request).ok()?;
                let reply = v1::BestNextGuessResponse::decode(&*saved.reply).ok()?;
                let rules = rules::read(request.rules.take(), &shared.dictionaries, &stop).ok()?;
                let rules = violations.enumerable_or_sampled(rules, &shared.config);
                let (key, _) = advise::read(shared, violations, rules, &request).ok()?;
                // What is asked must not have been changed by the limits of today.
                let same = shared.advice_request(&key)?.encode_to_vec() == saved.request;
                same.then(|| shared.advice.keep(key, Timed { answer: Some(reply), took }))
            }
            ANALYSIS => {
                let mut request = v1::AnalyzeRequest::decode(&*saved.request).ok()?;
                let reply = v1::AnalyzeResponse::decode(&*saved.reply).ok()?;
                let rules = rules::read(request.rules.take(), &shared.dictionaries, &stop).ok()?;
                let rules = violations.enumerable(rules, &shared.config);
                let (key, _) = advise::read_analysis(violations, rules, &request).ok()?;
                shared.analyses.keep(key, Timed { answer: Some(reply), took });
                Some(())
            }
            _ => None,
        }
    }
}

/// What comes after a text is none of it.
fn add_text(hash: &mut Sha256, text: &str) {
    hash.update(text.len().to_le_bytes());
    hash.update(text);
}

/// All that games of these words depend on. (Their own hash has keys that are drawn for each process.)
fn add_words(hash: &mut Sha256, words: &WordList) {
    hash.update(words.len().to_le_bytes());
    (0..words.len() as u32).for_each(|index| add_text(hash, words.word(index)));
    for numbers in [Some(words.secrets()), words.weights()] {
        // One more, as there may be none.
        hash.update(numbers.map_or(0, |numbers| numbers.len() + 1).to_le_bytes());
        numbers.into_iter().flatten().for_each(|number| hash.update(number.to_le_bytes()));
    }
}

/// Sorts answers, the dearest first, cuts off those beyond `max_bytes`, and tells the bytes of the rest.
fn cut(answers: &mut Vec<Answer>, max_bytes: u64) -> u64 {
    // Of those that took as long, some order that is always the same.
    answers.sort_unstable_by(|a, b| (b.took, &a.request).cmp(&(a.took, &b.request)));
    let mut bytes = 0;
    let fits = answers.iter().take_while(|answer| {
        bytes += answer.bytes() as u64;
        bytes <= max_bytes
    });
    let fitting = fits.count();
    answers.truncate(fitting);
    answers.iter().map(|answer| answer.bytes() as u64).sum()
}

impl Shared {
    /// The request that is read as this key, if it can be sent: not with words that nobody would send again.
    fn advice_request(&self, key: &AdviceKey) -> Option<v1::BestNextGuessRequest> {
        let AdviceKey { position, choice, top, max_scores, max_lies } = key;
        let (rules, history) = self.position(position)?;
        Some(v1::BestNextGuessRequest {
            rules: Some(rules),
            history,
            strategy: convert::strategy_number(choice.strategy).into(),
            tie: convert::tie_number(choice.tie).into(),
            pool: convert::pool_number(choice.pool).into(),
            seed: choice.seed.cast_signed(),
            top_k: convert::count(*top),
            limits: Some(v1::SearchLimits { max_scores: max_scores.cast_signed() }),
            max_lies: convert::count(*max_lies),
            ..Default::default()
        })
    }

    fn analysis_request(&self, key: &AnalysisKey) -> Option<v1::AnalyzeRequest> {
        let AnalysisKey { position, guess, rate } = key;
        let (rules, history) = self.position(position)?;
        let guess = position.rules.text(guess);
        Some(v1::AnalyzeRequest { rules: Some(rules), history, guess, rate: *rate })
    }

    fn position(&self, position: &Position) -> Option<(v1::Rules, Vec<v1::Turn>)> {
        let Position { rules, history } = position;
        let turn = |turn: &Turn| v1::Turn {
            guess: rules.text(&turn.guess),
            feedback: Some(convert::feedback(rules, turn.class)),
        };
        Some((self.rules(rules)?, history.turns().iter().map(turn).collect()))
    }

    fn rules(&self, rules: &Rules) -> Option<v1::Rules> {
        let mut message = convert::rules(rules);
        if let Form::Words(words) = rules.form() {
            let dictionary = self.dictionaries.name(words)?.to_owned();
            message.game = Some(Game::Words(v1::WordRules { dictionary, ..Default::default() }));
        }
        Some(message)
    }
}
