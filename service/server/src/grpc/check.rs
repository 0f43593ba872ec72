//! The checks of fields that several calls share. Each names the field it refuses and says what would be right.

use herdsman_engine::{Code, FeedbackRule, History, Rules, RulesError, TooLarge, Turn};
use herdsman_proto::v1::{self, rules::Game};

use super::{
    convert,
    status::{Reason, Violation, Violations},
};
use crate::config::Config;

impl Violations {
    /// The rules of a game of any size.
    pub(super) fn rules(&mut self, rules: Option<&v1::Rules>) -> Option<Rules> {
        let checked = read_rules(rules);
        self.note(checked)
    }

    /// The rules of a game whose codes will be enumerated. Too many are refused before anything is allocated.
    pub(super) fn game(&mut self, rules: Option<&v1::Rules>, config: &Config) -> Option<Rules> {
        let rules = self.rules(rules)?;
        let (codes, limit) = (rules.size(), config.max_codes);
        let within = (codes <= limit.into()).then_some(rules);
        self.note(within.ok_or_else(|| {
            Violation::new("rules", Reason::SpaceTooLarge, TooLarge { codes, limit })
        }))
    }

    /// The turns played; of a game that was refused, only their number is checked.
    pub(super) fn history(
        &mut self,
        rules: Option<&Rules>,
        turns: &[v1::Turn],
        config: &Config,
    ) -> Option<History> {
        self.limit("history", "turns", turns.len() as u64, config.max_turns.into())?;
        let rules = rules?;
        let turns = self.each(turns, |at, turn, violations| {
            let guess = violations.code(rules, || format!("history[{at}].guess"), &turn.guess);
            let answer = turn.feedback.unwrap_or_default();
            let class = rules.answers().class(answer.bulls, answer.cows).map_err(|error| {
                Violation::new(format!("history[{at}].feedback"), Reason::InvalidFeedback, error)
            });
            let class = violations.note(class);
            Some(Turn { guess: guess?, class: class? })
        })?;
        let history = History::new(turns);
        self.note(history.map_err(|error| Violation::new("history", Reason::LimitExceeded, error)))
    }

    /// A code of the game.
    pub(super) fn code(
        &mut self,
        rules: &Rules,
        field: impl FnOnce() -> String,
        text: &str,
    ) -> Option<Code> {
        let code = rules.code(text);
        self.note(code.map_err(|error| Violation::new(field(), Reason::InvalidCode, error)))
    }

    /// A list of codes of the game.
    pub(super) fn codes(
        &mut self,
        rules: &Rules,
        field: &str,
        texts: &[String],
    ) -> Option<Vec<Code>> {
        self.each(texts, |at, text, violations| {
            violations.code(rules, || format!("{field}[{at}]"), text)
        })
    }

    /// Reads every item, as long as further violations would be named.
    pub(super) fn each<I, T>(
        &mut self,
        items: &[I],
        mut read: impl FnMut(usize, &I, &mut Violations) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut all = Some(Vec::with_capacity(items.len()));
        for (at, item) in items.iter().enumerate() {
            match (read(at, item, self), &mut all) {
                (Some(item), Some(all)) => all.push(item),
                _ if self.is_full() => return None,
                _ => all = None,
            }
        }
        all
    }

    /// A count that must stay within a limit.
    pub(super) fn limit(
        &mut self,
        field: &str,
        things: &str,
        count: u64,
        most: u64,
    ) -> Option<u64> {
        let problem = || format!("{count} {things} are too many: this server takes at most {most}");
        let within = (count <= most).then_some(count);
        self.note(within.ok_or_else(|| Violation::new(field, Reason::LimitExceeded, problem())))
    }

    /// A number that may not be negative; 0 stands for a default.
    pub(super) fn natural(&mut self, field: &str, value: i64) -> Option<u64> {
        let problem =
            || format!("{value} is negative: 0 stands for the default, else give a count");
        self.note(
            u64::try_from(value)
                .map_err(|_| Violation::new(field, Reason::InvalidOption, problem())),
        )
    }

    /// A member of an enumeration.
    pub(super) fn member<T: TryFrom<i32>>(
        &mut self,
        field: &str,
        number: i32,
        what: &str,
    ) -> Option<T> {
        let problem = || {
            format!("{number} is no {what}: send one that herdsman.v1 names, or 0 for the default")
        };
        self.note(
            T::try_from(number)
                .map_err(|_| Violation::new(field, Reason::InvalidOption, problem())),
        )
    }
}

fn read_rules(rules: Option<&v1::Rules>) -> Result<Rules, Violation> {
    let invalid = |field: &str, problem: &dyn ToString| {
        Violation::new(field, Reason::InvalidRules, problem.to_string())
    };
    let missing = || {
        invalid("rules", &"the game is missing: set `preset`, as in `bulls-and-cows`, or `codes`")
    };
    let message = rules.ok_or_else(missing)?;
    let feedback = match v1::FeedbackRule::try_from(message.feedback) {
        Ok(v1::FeedbackRule::Unspecified | v1::FeedbackRule::Pegs) => FeedbackRule::Pegs,
        Ok(v1::FeedbackRule::Bulls) => FeedbackRule::Bulls,
        Err(_) => {
            let number = message.feedback;
            let problem = format!("{number} is no feedback rule: 1 is PEGS, 2 is BULLS");
            return Err(invalid("rules.feedback", &problem));
        }
    };
    match message.game.as_ref().ok_or_else(missing)? {
        Game::Preset(name) => Rules::preset(name).map(|rules| rules.with_feedback(feedback)),
        Game::Codes(codes) => Rules::codes(&convert::spec(codes), feedback),
    }
    .map_err(|error: RulesError| {
        let parent = if error.field() == "preset" { "rules" } else { "rules.codes" };
        invalid(&format!("{parent}.{}", error.field()), &error)
    })
}
