//! The checks of fields that several calls share. Each names the field it refuses and says what would be right.

use herdsman_engine::{Class, Code, Given, History, MAX_LIES, Rules, Turn};
use herdsman_proto::v1;

use super::{
    convert,
    status::{Reason, Violation, Violations},
};

impl Violations {
    /// The turns played of a game. There are none too many, or the game was refused with them.
    pub(super) fn history(&mut self, rules: Option<&Rules>, turns: &[v1::Turn]) -> Option<History> {
        let rules = rules?;
        let turns = self.each(turns, |at, turn, violations| {
            let guess = violations.code(rules, || format!("history[{at}].guess"), &turn.guess);
            let field = || format!("history[{at}].feedback");
            let class = violations.class(rules, field, turn.feedback.as_ref());
            Some(Turn { guess: guess?, class: class? })
        })?;
        let history = History::new(turns);
        self.note(history.map_err(|error| Violation::new("history", Reason::LimitExceeded, error)))
    }

    /// An answer of the game.
    fn class(
        &mut self,
        rules: &Rules,
        field: impl Fn() -> String,
        answer: Option<&v1::Feedback>,
    ) -> Option<Class> {
        let nothing = v1::Feedback::default();
        let v1::Feedback { bulls, cows, total, solved, marks, order } = answer.unwrap_or(&nothing);
        let number = order.unwrap_or_default();
        let Ok(order) = v1::Order::try_from(number).map(convert::order) else {
            let problem = format!("{number} is no order: 1 is LOWER, 2 EQUAL, 3 HIGHER");
            return self.note(Err(Violation::new(field(), Reason::InvalidFeedback, problem)));
        };
        let (bulls, cows, total, solved) = (*bulls, *cows, *total, *solved);
        let given = Given { bulls, cows, total, solved, marks: marks.as_deref(), order };
        let class = rules.answers().class(&given);
        self.note(class.map_err(|error| Violation::new(field(), Reason::InvalidFeedback, error)))
    }

    /// How many answers may be untrue.
    pub(super) fn lies(&mut self, lies: i32) -> Option<usize> {
        let problem =
            || format!("{lies} untrue answers are not reckoned with: 0 to {MAX_LIES} are");
        let within = usize::try_from(lies).ok().filter(|&lies| lies <= MAX_LIES);
        self.note(
            within.ok_or_else(|| Violation::new("max_lies", Reason::InvalidOption, problem())),
        )
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

    /// A code of the game, or none where the text is empty; of a game that was refused, nothing else is known.
    pub(super) fn optional_code(
        &mut self,
        rules: Option<&Rules>,
        field: &str,
        text: &str,
    ) -> Option<Option<Code>> {
        match text {
            "" => Some(None),
            text => self.code(rules?, || field.to_owned(), text).map(Some),
        }
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
        field: impl FnOnce() -> String,
        number: i32,
        what: &str,
    ) -> Option<T> {
        let problem = || {
            format!("{number} is no {what}: send one that herdsman.v1 names, or 0 for the default")
        };
        self.note(
            T::try_from(number)
                .map_err(|_| Violation::new(field(), Reason::InvalidOption, problem())),
        )
    }
}
