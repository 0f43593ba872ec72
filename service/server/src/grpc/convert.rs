//! The engine's nouns as messages, and back where nothing can be wrong.

use herdsman_engine::{
    Class, CodeSpec, Facts, Feedback, FeedbackRule, Objective, Pool, Rules, Strategy, Suggestion,
    Tie,
};
use herdsman_proto::v1;

use crate::cache::Origin;

pub(super) fn spec(codes: &v1::CodeRules) -> CodeSpec {
    CodeSpec {
        alphabet: codes.alphabet.clone(),
        length: codes.length,
        repeats: codes.repeats,
        not_first: codes.not_first.clone(),
    }
}

pub(super) fn rules(rules: &Rules) -> v1::Rules {
    let CodeSpec { alphabet, length, repeats, not_first } = rules.spec();
    let codes = v1::CodeRules { alphabet, length, repeats, not_first };
    let feedback = match rules.feedback() {
        FeedbackRule::Pegs => v1::FeedbackRule::Pegs,
        FeedbackRule::Bulls => v1::FeedbackRule::Bulls,
    };
    v1::Rules { game: Some(v1::rules::Game::Codes(codes)), feedback: feedback.into() }
}

pub(super) fn feedback(rules: &Rules, class: Class) -> v1::Feedback {
    answer(rules.answers().feedback(class))
}

pub(super) fn answer(feedback: Feedback) -> v1::Feedback {
    match feedback {
        Feedback::Pegs { bulls, cows } => {
            v1::Feedback { bulls: Some(bulls.into()), cows: Some(cows.into()) }
        }
        Feedback::Bulls { bulls } => v1::Feedback { bulls: Some(bulls.into()), cows: None },
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
    }
}

pub(super) fn tie(tie: v1::TieRule) -> Tie {
    match tie {
        v1::TieRule::Any => Tie::Any,
        v1::TieRule::Unspecified | v1::TieRule::Candidate => Tie::Candidate,
    }
}

pub(super) fn pool(pool: v1::GuessPool) -> Pool {
    match pool {
        v1::GuessPool::Unspecified | v1::GuessPool::Any => Pool::Any,
        v1::GuessPool::Consistent => Pool::Consistent,
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
