//! How the next guess is chosen: one strategy per file.
//!
//! Owns names, tie rules and the choice. Measuring guesses is `scan`, comparing them `ranking`; what a strategy
//! minimises is its file, and what is proven comes from `optimal`.

mod entropy;
mod entropy_larmouth;
mod expected_size;
mod first_consistent;
mod last_digit_sweep;
mod level;
mod lying;
mod minimax;
mod most_parts;
mod most_parts_refined;
mod optimal;
mod random_consistent;
mod ranking;
mod repeat_scan;
mod scan;
mod shared;

pub use level::Level;
pub use lying::suggest_lying;
pub use shared::SharedAdvice;

pub(crate) use ranking::{Best, Measure};

use crate::{
    budget::{Budget, Stopped},
    candidates::Candidates,
    code::Code,
    exact::{Objective, Value},
    game::Game,
    history::{History, Turn},
    partition::{Facts, partition},
    rules::Rules,
    symmetry::Canonical,
};

/// How the next guess is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The least total of guesses, proven where that can be done.
    #[default]
    Optimal,
    /// The fewest guesses in the worst case, proven where that can be done.
    OptimalWorstCase,
    /// The smallest largest class.
    Minimax,
    /// The least sum of squares of the classes.
    ExpectedSize,
    /// The most information.
    Entropy,
    /// The most information, with a bonus for a guess that could be the secret.
    EntropyLarmouth,
    /// The most classes that are not empty.
    MostParts,
    /// The most classes that are not empty, then the smallest largest class, then the least sum of squares.
    MostPartsRefined,
    /// The first candidate in alphabet order.
    FirstConsistent,
    /// Any candidate, by the seed.
    RandomConsistent,
    /// 0000, 1111 and so on, then the arrangements of what was found.
    RepeatScan,
    /// The first code with one last symbol after the other, then the first candidate.
    LastDigitSweep,
}

/// Which of several guesses of equal score is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tie {
    /// The smallest code.
    Any,
    /// A guess that could be the secret first, then the smallest code.
    #[default]
    Candidate,
}

/// Which guesses are considered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pool {
    /// Every guess that the rules allow.
    #[default]
    Any,
    /// Only guesses that could be the secret.
    Consistent,
    /// Only guesses that keep what marks showed: see [`keeps_hints`](crate::keeps_hints).
    Hints,
}

/// A strategy with its options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Choice {
    /// How the guess is chosen.
    pub strategy: Strategy,
    /// What decides between equal scores.
    pub tie: Tie,
    /// Which guesses are considered.
    pub pool: Pool,
    /// What [`Strategy::RandomConsistent`] draws by.
    pub seed: u64,
}

/// The best guesses to make next.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The guesses, best first: at least one.
    pub suggestions: Vec<Suggestion>,
    /// Whether every guess of the pool was measured against every candidate.
    pub exhaustive: bool,
    /// What the first suggestion needs from here, if that is proven: nothing does with fewer, in total or, if that is
    /// what the strategy looks for, in the worst case. For a book that looks for the worst case, the proof is that of
    /// the game from its start.
    pub proven: Option<Value>,
    /// Whether the first suggestion comes from a book.
    pub from_book: bool,
}

/// A guess and what speaks for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suggestion {
    /// The guess.
    pub guess: Code,
    /// Whether it could be the secret.
    pub candidate: bool,
    /// How it splits the candidates.
    pub facts: Facts,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 12] = [
        Strategy::Optimal,
        Strategy::OptimalWorstCase,
        Strategy::Minimax,
        Strategy::ExpectedSize,
        Strategy::Entropy,
        Strategy::EntropyLarmouth,
        Strategy::MostParts,
        Strategy::MostPartsRefined,
        Strategy::FirstConsistent,
        Strategy::RandomConsistent,
        Strategy::RepeatScan,
        Strategy::LastDigitSweep,
    ];

    /// The name in text: `expected_size`.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Optimal => "optimal",
            Strategy::OptimalWorstCase => "optimal_worst_case",
            Strategy::Minimax => "minimax",
            Strategy::ExpectedSize => "expected_size",
            Strategy::Entropy => "entropy",
            Strategy::EntropyLarmouth => "entropy_larmouth",
            Strategy::MostParts => "most_parts",
            Strategy::MostPartsRefined => "most_parts_refined",
            Strategy::FirstConsistent => "first_consistent",
            Strategy::RandomConsistent => "random_consistent",
            Strategy::RepeatScan => "repeat_scan",
            Strategy::LastDigitSweep => "last_digit_sweep",
        }
    }

    /// What it does, and its source.
    pub fn description(self) -> &'static str {
        match self {
            Strategy::Optimal => optimal::DESCRIPTION,
            Strategy::OptimalWorstCase => optimal::WORST_CASE_DESCRIPTION,
            Strategy::Minimax => minimax::DESCRIPTION,
            Strategy::ExpectedSize => expected_size::DESCRIPTION,
            Strategy::Entropy => entropy::DESCRIPTION,
            Strategy::EntropyLarmouth => entropy_larmouth::DESCRIPTION,
            Strategy::MostParts => most_parts::DESCRIPTION,
            Strategy::MostPartsRefined => most_parts_refined::DESCRIPTION,
            Strategy::FirstConsistent => first_consistent::DESCRIPTION,
            Strategy::RandomConsistent => random_consistent::DESCRIPTION,
            Strategy::RepeatScan => repeat_scan::DESCRIPTION,
            Strategy::LastDigitSweep => last_digit_sweep::DESCRIPTION,
        }
    }

    /// What it proves, if it proves anything.
    fn objective(self) -> Option<Objective> {
        match self {
            Strategy::Optimal => Some(Objective::Expected),
            Strategy::OptimalWorstCase => Some(Objective::WorstCase),
            _ => None,
        }
    }

    /// The heuristic that a strategy is, or falls back on where nothing is proven.
    pub fn rule_of_thumb(self) -> Strategy {
        match self {
            Strategy::Optimal => Strategy::EntropyLarmouth,
            Strategy::OptimalWorstCase => Strategy::Minimax,
            other => other,
        }
    }

    /// How it measures guesses, if that is what it does.
    pub(crate) fn measure(self) -> Option<&'static Measure> {
        match self {
            Strategy::Minimax => Some(&minimax::MEASURE),
            Strategy::ExpectedSize => Some(&expected_size::MEASURE),
            Strategy::Entropy => Some(&entropy::MEASURE),
            Strategy::EntropyLarmouth => Some(&entropy_larmouth::MEASURE),
            Strategy::MostParts => Some(&most_parts::MEASURE),
            Strategy::MostPartsRefined => Some(&most_parts_refined::MEASURE),
            Strategy::Optimal
            | Strategy::OptimalWorstCase
            | Strategy::FirstConsistent
            | Strategy::RandomConsistent
            | Strategy::RepeatScan
            | Strategy::LastDigitSweep => None,
        }
    }

    /// Why it cannot play a game, if it cannot.
    pub fn obstacle(self, rules: &Rules) -> Option<&'static str> {
        match self {
            Strategy::RepeatScan => (!repeat_scan::can_play(rules)).then_some(repeat_scan::NEEDS),
            Strategy::LastDigitSweep => {
                (!last_digit_sweep::can_play(rules)).then_some(last_digit_sweep::NEEDS)
            }
            _ => None,
        }
    }

    /// The options of a [`Choice`] that it heeds: `tie`, `pool`, `seed`.
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Strategy::Optimal
            | Strategy::OptimalWorstCase
            | Strategy::FirstConsistent
            | Strategy::RepeatScan
            | Strategy::LastDigitSweep => &[],
            Strategy::RandomConsistent => &["seed"],
            _ => &["tie", "pool"],
        }
    }
}

/// The best guesses by a strategy: `top` of them, or as many as there are. `candidates` are those of the history.
///
/// The order is part of the contract: by score, then by the tie rule. A single candidate is the only suggestion,
/// whatever the strategy, [`Strategy::RepeatScan`] excepted. The first guess always tells some candidates apart or, by
/// the two beginners, was not made before: every game ends.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
///
/// # Panics
/// If there is no candidate, which is a contradiction, or if the strategy [cannot play](Strategy::obstacle) the game: the
/// caller reports both.
pub fn suggest(
    game: &Game,
    history: &History,
    candidates: &Candidates,
    choice: &Choice,
    top: usize,
    budget: &Budget,
) -> Result<Advice, Stopped> {
    assert!(!candidates.is_empty(), "a contradictory history has no next guess");
    let (top, turns) = (top.max(1), history.canonical());
    let best = match play(game, turns.turns(), candidates.indices(), choice.strategy, budget)? {
        Some(play) => Some(play.advice(game, candidates, budget)?),
        None => None,
    };
    if top == 1
        && let Some(best) = best
    {
        return Ok(best);
    }
    let rule = Choice { strategy: choice.strategy.rule_of_thumb(), ..*choice };
    let others = by_rule(game, &turns, candidates, &rule, top, budget)?;
    Ok(match best {
        Some(best) => best.ahead_of(others, top),
        None => others,
    })
}

/// The best guesses by a strategy that proves nothing.
fn by_rule(
    game: &Game,
    history: &History,
    candidates: &Candidates,
    choice: &Choice,
    top: usize,
    budget: &Budget,
) -> Result<Advice, Stopped> {
    // Several guesses of one kind may be among the best, so the kinds are measured under the canonical form, where
    // it is known what each stands for.
    if top > 1
        && SharedAdvice::pays(game, candidates.len(), choice, budget)
        && let Some(canonical) = Canonical::new(game.rules(), history)
    {
        let renamed = game.candidates(canonical.history(), budget)?;
        if let Some(shared) = SharedAdvice::new(game, &canonical, &renamed, choice, top, budget)? {
            return Ok(shared.advice(&canonical));
        }
    }
    let ranked = rank(game, history.turns(), candidates.indices(), choice, top, budget)?;
    let guesses = ranked.guesses.iter();
    let suggestions: Vec<Suggestion> = guesses
        .map(|&guess| measured(game, candidates, guess, budget))
        .collect::<Result<_, _>>()?;
    // Where some codes are more likely than others, to find the likely ones first may be better.
    let proven = match game.is_weighted() {
        true => None,
        false => perfect(&suggestions[0], candidates.len()),
    };
    Ok(Advice { suggestions, exhaustive: ranked.exhaustive, proven, from_book: false })
}

impl Advice {
    /// This advice, of one guess, with others behind it: `top` of all, each once.
    pub fn ahead_of(self, others: Advice, top: usize) -> Advice {
        let Advice { mut suggestions, proven, from_book, .. } = self;
        let first = suggestions[0].guess;
        suggestions.extend(others.suggestions.iter().filter(|other| other.guess != first));
        suggestions.truncate(top);
        Advice { suggestions, exhaustive: others.exhaustive, proven, from_book }
    }
}

/// A guess with its facts.
fn measured(
    game: &Game,
    candidates: &Candidates,
    index: u32,
    budget: &Budget,
) -> Result<Suggestion, Stopped> {
    let guess = game.code(index);
    let facts = partition(game, candidates, &guess, budget)?.facts();
    Ok(Suggestion { guess, candidate: candidates.contains(index), facts })
}

/// The value of a candidate that tells all others apart: nothing does better, in total or in the worst case.
fn perfect(guess: &Suggestion, candidates: usize) -> Option<Value> {
    let n = candidates as u64;
    let perfect = guess.candidate && u64::from(guess.facts.classes) == n;
    perfect.then(|| Value { total: 2 * n - 1, max: n.min(2) as u32 })
}

/// The proven guess, if this strategy looks for one and there is one to be had.
fn play(
    game: &Game,
    turns: &[Turn],
    candidates: &[u32],
    strategy: Strategy,
    budget: &Budget,
) -> Result<Option<optimal::Play>, Stopped> {
    match strategy.objective() {
        // Proofs count candidates, whatever they weigh.
        Some(objective) if candidates.len() > 1 && !game.is_weighted() => {
            optimal::play(game, turns, candidates, objective, budget)
        }
        _ => Ok(None),
    }
}

/// Guesses in order of preference.
pub(crate) struct Ranked {
    pub(crate) guesses: Vec<u32>,
    pub(crate) exhaustive: bool,
}

/// The numbers of the best guesses, best first: the choice without its reasons. Where the first is proven, it is the
/// only one. `turns` are what left the candidates, each once.
pub(crate) fn rank(
    game: &Game,
    turns: &[Turn],
    candidates: &[u32],
    choice: &Choice,
    top: usize,
    budget: &Budget,
) -> Result<Ranked, Stopped> {
    let all = |guesses| Ok(Ranked { guesses, exhaustive: true });
    if let Some(play) = play(game, turns, candidates, choice.strategy, budget)? {
        return all(vec![game.index(&play.guess)]);
    }
    let Choice { strategy, tie, pool, .. } = *choice;
    // The beginner who does not watch what fits plays on where one code is left.
    if strategy == Strategy::RepeatScan {
        return all(vec![repeat_scan::choose(game, turns, candidates, budget)?]);
    }
    // Of two candidates each tells the two apart, and so does no better guess.
    let settled =
        candidates.len() == 2 && top == 1 && (tie == Tie::Candidate || pool == Pool::Consistent);
    let measure = strategy.rule_of_thumb().measure();
    let weights = game.weights(candidates, budget)?;
    if candidates.len() == 1 || settled && measure.is_some() && weights.is_none() {
        return all(candidates[..1].to_vec());
    }
    let Some(measure) = measure else {
        return all(by_fit(game, turns, candidates, choice, top, budget)?);
    };
    let (weights, one_of_each) = (weights.as_deref(), top == 1);
    let question =
        scan::Question { game, turns, candidates, weights, measure, tie, pool, top, one_of_each };
    let (guesses, exhaustive) = scan::best(&question, budget)?;
    Ok(Ranked { guesses, exhaustive })
}

/// The guesses of a strategy that measures none, best first.
fn by_fit(
    game: &Game,
    turns: &[Turn],
    candidates: &[u32],
    choice: &Choice,
    top: usize,
    budget: &Budget,
) -> Result<Vec<u32>, Stopped> {
    Ok(match choice.strategy {
        Strategy::RandomConsistent => random_consistent::choose(candidates, choice.seed, top),
        Strategy::LastDigitSweep => {
            vec![last_digit_sweep::choose(game, turns, candidates, budget)?]
        }
        _ => first_consistent::choose(candidates, top),
    })
}
