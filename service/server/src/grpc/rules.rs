//! The gate for rules: which game a request is about, and the words that it brings.

use std::sync::Arc;

use herdsman_engine::{
    FeedbackRule, MAX_WEIGHT, Rules, RulesError, StopFlag, TooLarge, WordList, WordsError,
};
use herdsman_proto::v1::{self, rules::Game};

use super::{
    Shared, convert,
    status::{Failure, Reason, Violation, Violations},
};
use crate::{config::Config, dictionaries::Dictionaries};

/// Dictionaries that an error names.
const NAMED: usize = 10;

/// Bytes of words that are read where the call came in, in less than a millisecond. The most that a request may hold take
/// a tenth of a second.
const QUICK_BYTES: usize = 16 << 10;

impl Violations {
    /// The rules of a game of any size. Long lists of words are read by a job.
    pub(super) async fn rules(
        &mut self,
        shared: &Shared,
        rules: Option<v1::Rules>,
    ) -> Result<Option<Rules>, Failure> {
        let most = shared.config.max_words.into();
        let words = rules.as_ref().map(count_words).unwrap_or_default();
        if self.limit("rules.words", "words", words.count, most).is_none() {
            return Ok(None);
        }
        let read = match rules {
            Some(rules) if words.bytes > QUICK_BYTES => {
                let dictionaries = Arc::clone(&shared.dictionaries);
                shared.compute.run(move |stop| read(Some(rules), &dictionaries, stop)).await?
            }
            rules => read(rules, &shared.dictionaries, &StopFlag::default()),
        };
        Ok(self.note(read))
    }

    /// The rules of a game whose codes will be enumerated, and after which these turns were played. Too many of either are
    /// refused before anything is allocated or waited for.
    pub(super) async fn game(
        &mut self,
        shared: &Shared,
        rules: Option<v1::Rules>,
        turns: &[v1::Turn],
    ) -> Result<Option<Rules>, Failure> {
        let rules = self.played(shared, rules, turns).await?;
        Ok(rules.and_then(|rules| self.enumerable(rules, &shared.config)))
    }

    /// The same for a game that will be sampled if it has too many codes.
    pub(super) async fn game_or_sample(
        &mut self,
        shared: &Shared,
        rules: Option<v1::Rules>,
        turns: &[v1::Turn],
    ) -> Result<Option<Rules>, Failure> {
        let rules = self.played(shared, rules, turns).await?;
        Ok(rules.and_then(|rules| self.enumerable_or_sampled(rules, &shared.config)))
    }

    /// The rules of a game of any size, if not too many turns of it were played: those would wait with it.
    async fn played(
        &mut self,
        shared: &Shared,
        rules: Option<v1::Rules>,
        turns: &[v1::Turn],
    ) -> Result<Option<Rules>, Failure> {
        let most = shared.config.max_turns.into();
        match self.limit("history", "turns", turns.len() as u64, most) {
            Some(_) => self.rules(shared, rules).await,
            None => Ok(None),
        }
    }

    /// The same rules, if the codes of the game may be enumerated, or can be sampled.
    pub(super) fn enumerable_or_sampled(&mut self, rules: Rules, config: &Config) -> Option<Rules> {
        match rules.code_spec() {
            Some(_) => Some(rules),
            None => self.enumerable(rules, config),
        }
    }

    /// The same rules, if the codes of the game may be enumerated.
    pub(super) fn enumerable(&mut self, rules: Rules, config: &Config) -> Option<Rules> {
        if !is_large(&rules, config) {
            return Some(rules);
        }
        let (codes, limit) = (rules.size(), config.max_codes);
        let others = match rules.code_spec() {
            Some(_) => "Score, BatchScore, ScoreMatrix, and Filter and BestNextGuess without lies",
            None => "Score, BatchScore and ScoreMatrix",
        };
        let problem = format!("{}; {others} take more", TooLarge { codes, limit });
        self.note(Err(Violation::new("rules", Reason::SpaceTooLarge, problem)))
    }
}

/// Whether a game has more codes than are enumerated.
pub(super) fn is_large(rules: &Rules, config: &Config) -> bool {
    rules.size() > config.max_codes.into()
}

/// What the words of a request come to.
#[derive(Default)]
struct Words {
    count: u64,
    bytes: usize,
}

fn count_words(rules: &v1::Rules) -> Words {
    let Some(Game::Words(words)) = &rules.game else { return Words::default() };
    let (count, all) =
        (words.secrets.len() + words.guesses.len(), words.secrets.iter().chain(&words.guesses));
    Words { count: count as u64, bytes: all.map(String::len).sum() }
}

fn invalid(field: &str, problem: impl ToString) -> Violation {
    Violation::new(format!("rules{field}"), Reason::InvalidRules, problem)
}

/// The rules of a request, of any size. A raised flag ends long lists of words.
pub(super) fn read(
    rules: Option<v1::Rules>,
    dictionaries: &Dictionaries,
    stop: &StopFlag,
) -> Result<Rules, Violation> {
    let missing = || {
        let forms = "set `preset`, as in `bulls-and-cows`, or `codes`, `words` or `numbers`";
        invalid("", format!("the game is missing: {forms}"))
    };
    let v1::Rules { game, feedback, dictionary } = rules.ok_or_else(missing)?;
    let feedback = match v1::FeedbackRule::try_from(feedback) {
        Ok(feedback) => convert::rule(feedback),
        Err(_) => {
            let rules = "1 is PEGS, 2 BULLS, 3 TOTAL, 4 MARKS, 5 ORDER, 0 the game's own";
            return Err(invalid(".feedback", format!("{feedback} is no feedback rule: {rules}")));
        }
    };
    let game = game.ok_or_else(missing)?;
    if !dictionary.is_empty() && !matches!(game, Game::Preset(_)) {
        let problem =
            "only a preset takes a dictionary here: that of `words` is `words.dictionary`";
        return Err(invalid(".dictionary", problem));
    }
    match game {
        Game::Preset(name) => {
            let words = match dictionary.as_str() {
                "" => None,
                name => Some(find(dictionaries, ".dictionary", name)?),
            };
            Rules::preset(&name, words)
        }
        Game::Codes(codes) => Rules::codes(&convert::spec(codes), FeedbackRule::Pegs),
        Game::Words(words) => {
            Rules::words(read_words(words, dictionaries, stop)?, FeedbackRule::Marks)
        }
        Game::Numbers(v1::NumberRules { min, max }) => Rules::numbers(min, max),
    }
    .and_then(|rules| match feedback {
        Some(feedback) => rules.with_feedback(feedback),
        None => Ok(rules),
    })
    .map_err(|error| explain(&error, dictionaries))
}

fn explain(error: &RulesError, dictionaries: &Dictionaries) -> Violation {
    let field = error.field();
    let parent = match field {
        "preset" | "dictionary" | "feedback" => "",
        "max" => ".numbers",
        _ => ".codes",
    };
    let problem = match error {
        RulesError::WithoutWords => format!("{error}; {}", names(dictionaries)),
        _ => error.to_string(),
    };
    invalid(&format!("{parent}.{field}"), problem)
}

fn names(dictionaries: &Dictionaries) -> String {
    let names: Vec<_> = dictionaries.iter().map(|own| own.name.as_str()).collect();
    match names.as_slice() {
        [] => "this server has none: send the list in `words`".to_owned(),
        [few @ .., _] if few.len() < NAMED => format!("this server has {}", names.join(", ")),
        names => {
            let (named, more) = names.split_at(NAMED);
            let named = named.join(", ");
            format!("this server has {named} and {} more: GetServerInfo lists them", more.len())
        }
    }
}

fn find(dictionaries: &Dictionaries, field: &str, name: &str) -> Result<WordList, Violation> {
    dictionaries.words(name).cloned().ok_or_else(|| {
        invalid(field, format!("there is no dictionary of this name; {}", names(dictionaries)))
    })
}

fn read_words(
    words: v1::WordRules,
    dictionaries: &Dictionaries,
    stop: &StopFlag,
) -> Result<WordList, Violation> {
    let v1::WordRules { dictionary, secrets, guesses, weights } = words;
    if !dictionary.is_empty() {
        if !(secrets.is_empty() && guesses.is_empty() && weights.is_empty()) {
            let problem = "a dictionary brings its words and weights: set nothing else beside it";
            return Err(invalid(".words.dictionary", problem));
        }
        return find(dictionaries, ".words.dictionary", &dictionary);
    }
    if let Some(at) = weights.iter().position(|&weight| weight < 0) {
        let problem = format!("a weight cannot be {}: it is 1 to {MAX_WEIGHT}", weights[at]);
        return Err(invalid(&format!(".words.weights[{at}]"), problem));
    }
    let weights: Vec<u32> = weights.into_iter().map(i32::cast_unsigned).collect();
    let words = WordList::new_until(&secrets, &guesses, &weights, stop);
    let refuse = |error: WordsError| invalid(&format!(".words.{}", error.field()), error);
    Ok(dictionaries.own(words.map_err(refuse)?))
}
