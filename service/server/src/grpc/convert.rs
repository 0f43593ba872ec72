//! The engine's nouns as messages, and back where nothing can be wrong.

use herdsman_engine::{
    Class, CodeSpec, Count, Facts, Feedback, FeedbackRule, Form, Level, Objective, Order, Pool,
    Rules, Strategy, Suggestion, Suspects, Tie,
};
use herdsman_proto::v1::{self, rules::Game};

use crate::cache::Origin;

pub(super) fn spec(codes: v1::CodeRules) -> CodeSpec {
    let v1::CodeRules { alphabet, length, repeats, not_first } = codes;
    CodeSpec { alphabet, length, repeats, not_first }
}

/// The rules spelled out; of a game of words, what its answers tell.
pub(super) fn rules(rules: &Rules) -> v1::Rules {
    let game = match rules.form() {
        Form::Codes(CodeSpec { alphabet, length, repeats, not_first }) => {
            Some(Game::Codes(v1::CodeRules { alphabet, length, repeats, not_first }))
        }
        Form::Numbers { min, max } => Some(Game::Numbers(v1::NumberRules { min, max })),
        Form::Words(_) => None,
    };
    v1::Rules { game, feedback: rule_number(rules.feedback()).into(), ..Default::default() }
}

/// Nothing stands for the rule of the game.
pub(super) fn rule(rule: v1::FeedbackRule) -> Option<FeedbackRule> {
    match rule {
        v1::FeedbackRule::Unspecified => None,
        v1::FeedbackRule::Pegs => Some(FeedbackRule::Pegs),
        v1::FeedbackRule::Bulls => Some(FeedbackRule::Bulls),
        v1::FeedbackRule::Total => Some(FeedbackRule::Total),
        v1::FeedbackRule::Marks => Some(FeedbackRule::Marks),
        v1::FeedbackRule::Order => Some(FeedbackRule::Order),
    }
}

pub(super) fn rule_number(rule: FeedbackRule) -> v1::FeedbackRule {
    match rule {
        FeedbackRule::Pegs => v1::FeedbackRule::Pegs,
        FeedbackRule::Bulls => v1::FeedbackRule::Bulls,
        FeedbackRule::Total => v1::FeedbackRule::Total,
        FeedbackRule::Marks => v1::FeedbackRule::Marks,
        FeedbackRule::Order => v1::FeedbackRule::Order,
    }
}

pub(super) fn feedback(rules: &Rules, class: Class) -> v1::Feedback {
    answer(rules.answers().feedback(class))
}

pub(super) fn answer(feedback: Feedback) -> v1::Feedback {
    let mut message = v1::Feedback::default();
    match feedback {
        Feedback::Pegs { bulls, cows } => {
            (message.bulls, message.cows) = (Some(bulls.into()), Some(cows.into()));
        }
        Feedback::Bulls { bulls } => message.bulls = Some(bulls.into()),
        Feedback::Total { total, solved } => {
            (message.total, message.solved) = (Some(total.into()), Some(solved));
        }
        Feedback::Marks(marks) => message.marks = Some(marks.to_string()),
        Feedback::Order(order) => message.order = Some(order_number(order).into()),
    }
    message
}

/// Nothing where it is not said.
pub(super) fn order(order: v1::Order) -> Option<Order> {
    match order {
        v1::Order::Unspecified => None,
        v1::Order::Lower => Some(Order::Lower),
        v1::Order::Equal => Some(Order::Equal),
        v1::Order::Higher => Some(Order::Higher),
    }
}

fn order_number(order: Order) -> v1::Order {
    match order {
        Order::Lower => v1::Order::Lower,
        Order::Equal => v1::Order::Equal,
        Order::Higher => v1::Order::Higher,
    }
}

pub(super) fn suggestion(rules: &Rules, suggestion: &Suggestion) -> v1::Suggestion {
    v1::Suggestion {
        guess: rules.text(&suggestion.guess),
        candidate: suggestion.candidate,
        facts: Some(facts(suggestion.facts)),
    }
}

pub(super) fn facts(facts: Facts) -> v1::GuessFacts {
    v1::GuessFacts {
        largest_class: count(facts.largest_class),
        expected_size: facts.expected_size,
        bits: facts.bits,
        classes: count(facts.classes),
    }
}

/// A count that the engine bounds by [`MAX_CODES`](herdsman_engine::MAX_CODES), or a limit of the settings.
pub(super) fn count(count: impl TryInto<i32>) -> i32 {
    count.try_into().unwrap_or(i32::MAX)
}

pub(super) fn strategy(strategy: v1::Strategy) -> Strategy {
    match strategy {
        v1::Strategy::Unspecified => Strategy::default(),
        v1::Strategy::Minimax => Strategy::Minimax,
        v1::Strategy::ExpectedSize => Strategy::ExpectedSize,
        v1::Strategy::Entropy => Strategy::Entropy,
        v1::Strategy::MostParts => Strategy::MostParts,
        v1::Strategy::FirstConsistent => Strategy::FirstConsistent,
        v1::Strategy::RandomConsistent => Strategy::RandomConsistent,
        v1::Strategy::Optimal => Strategy::Optimal,
        v1::Strategy::OptimalWorstCase => Strategy::OptimalWorstCase,
        v1::Strategy::EntropyLarmouth => Strategy::EntropyLarmouth,
        v1::Strategy::MostPartsRefined => Strategy::MostPartsRefined,
        v1::Strategy::RepeatScan => Strategy::RepeatScan,
        v1::Strategy::LastDigitSweep => Strategy::LastDigitSweep,
    }
}

pub(super) fn strategy_number(strategy: Strategy) -> v1::Strategy {
    match strategy {
        Strategy::Minimax => v1::Strategy::Minimax,
        Strategy::ExpectedSize => v1::Strategy::ExpectedSize,
        Strategy::Entropy => v1::Strategy::Entropy,
        Strategy::MostParts => v1::Strategy::MostParts,
        Strategy::FirstConsistent => v1::Strategy::FirstConsistent,
        Strategy::RandomConsistent => v1::Strategy::RandomConsistent,
        Strategy::Optimal => v1::Strategy::Optimal,
        Strategy::OptimalWorstCase => v1::Strategy::OptimalWorstCase,
        Strategy::EntropyLarmouth => v1::Strategy::EntropyLarmouth,
        Strategy::MostPartsRefined => v1::Strategy::MostPartsRefined,
        Strategy::RepeatScan => v1::Strategy::RepeatScan,
        Strategy::LastDigitSweep => v1::Strategy::LastDigitSweep,
    }
}

/// Nothing where the strategy decides.
pub(super) fn level(level: v1::Level) -> Option<Level> {
    match level {
        v1::Level::Unspecified => None,
        v1::Level::Easy => Some(Level::Easy),
        v1::Level::Medium => Some(Level::Medium),
        v1::Level::Hard => Some(Level::Hard),
        v1::Level::Perfect => Some(Level::Perfect),
    }
}

pub(super) fn level_number(level: Level) -> v1::Level {
    match level {
        Level::Easy => v1::Level::Easy,
        Level::Medium => v1::Level::Medium,
        Level::Hard => v1::Level::Hard,
        Level::Perfect => v1::Level::Perfect,
    }
}

pub(super) fn tie(tie: v1::TieRule) -> Tie {
    match tie {
        v1::TieRule::Any => Tie::Any,
        v1::TieRule::Unspecified | v1::TieRule::Candidate => Tie::Candidate,
    }
}

pub(super) fn tie_number(tie: Tie) -> v1::TieRule {
    match tie {
        Tie::Any => v1::TieRule::Any,
        Tie::Candidate => v1::TieRule::Candidate,
    }
}

pub(super) fn pool(pool: v1::GuessPool) -> Pool {
    match pool {
        v1::GuessPool::Unspecified | v1::GuessPool::Any => Pool::Any,
        v1::GuessPool::Consistent => Pool::Consistent,
        v1::GuessPool::Hints => Pool::Hints,
    }
}

pub(super) fn pool_number(pool: Pool) -> v1::GuessPool {
    match pool {
        Pool::Any => v1::GuessPool::Any,
        Pool::Consistent => v1::GuessPool::Consistent,
        Pool::Hints => v1::GuessPool::Hints,
    }
}

pub(super) fn objective(objective: v1::Objective) -> Objective {
    match objective {
        v1::Objective::Unspecified | v1::Objective::Expected => Objective::Expected,
        v1::Objective::WorstCase => Objective::WorstCase,
        v1::Objective::FewestAtMax => Objective::FewestAtMax,
    }
}

pub(super) fn objective_number(objective: Objective) -> v1::Objective {
    match objective {
        Objective::Expected => v1::Objective::Expected,
        Objective::WorstCase => v1::Objective::WorstCase,
        Objective::FewestAtMax => v1::Objective::FewestAtMax,
    }
}

/// What is known of a number of codes.
pub(super) fn known(count: Count) -> v1::Count {
    let (kind, value, error) = match count {
        Count::Exact(codes) => (v1::CountKind::Exact, codes as f64, 0.0),
        Count::AtLeast(codes) => (v1::CountKind::AtLeast, codes as f64, 0.0),
        Count::Estimate { value, error } => (v1::CountKind::Estimate, value, error),
    };
    v1::Count { kind: kind.into(), value, error }
}

/// How many codes there are by the number of turns they contradict.
pub(super) fn by_lies(suspects: &Suspects) -> Vec<i32> {
    suspects.by_lies().iter().map(|codes| count(codes.len())).collect()
}

/// What a sum over all candidates is for one of them.
pub(super) fn mean(total: u64, candidates: usize) -> f64 {
    total as f64 / candidates as f64
}

pub(super) fn source(origin: Origin) -> v1::Source {
    match origin {
        Origin::Computed => v1::Source::Computed,
        Origin::Cache => v1::Source::Cache,
    }
}

/// Whether a guess or an answer is known to be the best there is.
pub(super) fn proof(proven: bool) -> v1::Proof {
    if proven { v1::Proof::Proven } else { v1::Proof::Heuristic }
}
