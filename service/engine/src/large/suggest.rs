//! The next guess of a game that cannot be enumerated.
//!
//! Owns the choice among sampled codes. How guesses compare is `strategy::ranking`, what is sampled `sample`.

use super::sample::{Count, Sample, sample};
use crate::{
    budget::{Budget, Stopped},
    code::Code,
    exact::Value,
    history::History,
    kernel::{Columns, Kernel, LANES, Probe},
    partition::{Cells, Tally},
    random::Random,
    rules::Rules,
    strategy::{Advice, Best, Choice, Strategy, Suggestion},
};

/// Codes that a guess is chosen by. Over 60 to 200 games of 10 pegs of 20 colours, samples of 300, 400 and 1000 codes all
/// needed 12.0 to 12.3 guesses; to try guesses that mix the sample place by place changed nothing either.
pub const LARGE_SAMPLE: usize = 400;
/// Nodes of the search for a sample: 0.2 s, which some turns in the middle of such a game take; most take a tenth of it.
pub const LARGE_NODES: u64 = 300_000;

/// The best guesses to make next, judged by a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct LargeAdvice {
    /// The guesses, all of which could be the secret. Their facts are those of the sample: sizes are to be seen beside
    /// [`sampled`](LargeAdvice::sampled).
    pub advice: Advice,
    /// Codes in the sample.
    pub sampled: u32,
    /// How many codes agree with the history. If that is exactly 1 the suggestion is the secret, proven.
    pub count: Count,
}

/// Why there is no suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LargeError {
    /// No code agrees with every turn: the search saw everything.
    #[error("no code agrees with every answer")]
    Contradiction,
    /// The search was too short to find a code, and to see that there is none.
    #[error(
        "no code that agrees with every answer was found among {nodes} nodes, and there may be one"
    )]
    NotFound {
        /// Nodes that were looked at.
        nodes: u64,
    },
    /// The stop flag was raised.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// The best guesses by a strategy among [`LARGE_SAMPLE`] sampled codes: `top` of them, or as many as there are.
///
/// They are measured by how they split the sample, by the strategy's own score and tie rule; strategies that prove act
/// as their rule of thumb. Guesses that cannot be the secret are not considered, whatever the pool.
///
/// # Errors
/// [`LargeError`] if no consistent code was found, or the budget's flag was raised.
///
/// # Panics
/// If the rules are not of codes over an alphabet.
pub fn suggest_large(
    rules: &Rules,
    history: &History,
    choice: &Choice,
    top: usize,
    seed: u64,
    budget: &Budget,
) -> Result<LargeAdvice, LargeError> {
    let Sample { codes, count } = sample(rules, history, LARGE_SAMPLE, LARGE_NODES, seed, budget)?;
    if codes.is_empty() {
        return Err(match count {
            Count::Exact(_) => LargeError::Contradiction,
            _ => LargeError::NotFound { nodes: LARGE_NODES },
        });
    }
    let mut split = Split::new(rules, &codes, budget);
    let mut suggestions = vec![];
    for guess in split.choose(choice, top.max(1))? {
        let facts = split.count(&guess)?.partition().facts();
        suggestions.push(Suggestion { guess, candidate: true, facts });
    }
    let secret = count == Count::Exact(1);
    let proven = secret.then_some(Value { total: 1, max: 1 });
    let advice = Advice { suggestions, exhaustive: secret, proven, from_book: false };
    Ok(LargeAdvice { advice, sampled: codes.len() as u32, count })
}

/// A sample that guesses split.
struct Split<'a> {
    rules: &'a Rules,
    codes: &'a [Code],
    columns: Columns,
    cells: Vec<u8>,
    tally: Tally<'a>,
    budget: &'a Budget,
}

impl<'a> Split<'a> {
    fn new(rules: &'a Rules, codes: &'a [Code], budget: &'a Budget) -> Split<'a> {
        let mut columns = Columns::counted(rules, codes.len());
        codes.iter().enumerate().for_each(|(row, code)| columns.set(row, code));
        let answers = rules.answers();
        let cells = vec![0; codes.len().next_multiple_of(LANES) * answers.planes()];
        Split { rules, codes, columns, cells, tally: Tally::new(answers), budget }
    }

    /// Counts the classes of a guess: to be taken before the next one.
    fn count(&mut self, guess: &Code) -> Result<&mut Tally<'a>, Stopped> {
        self.budget.check()?;
        let probe = Probe::guess(guess, self.rules.feedback());
        Kernel::get().score(&probe, &self.columns, &mut self.cells);
        self.tally.add(Cells { padded: &self.cells, count: self.codes.len() });
        Ok(&mut self.tally)
    }

    /// The best guesses of the sample, best first.
    fn choose(&mut self, choice: &Choice, top: usize) -> Result<Vec<Code>, Stopped> {
        let Some(measure) = choice.strategy.rule_of_thumb().measure() else {
            let mut codes = self.codes.to_vec();
            if choice.strategy == Strategy::RandomConsistent {
                Random::new(choice.seed).shuffle(&mut codes);
            }
            codes.truncate(top);
            return Ok(codes);
        };
        let classes = self.rules.answers().count();
        let mut best = Best::new(measure, top, self.codes.len(), classes, false);
        // As many guesses as the budget allows, evenly spaced.
        let count = self.codes.len();
        let most = (self.budget.max_scores / count as u64).clamp(1, count as u64) as usize;
        for at in (0..most).map(|guess| guess * count / most) {
            let sizes: Vec<u32> = self.count(&self.codes[at])?.take().map(|part| part.1).collect();
            // The tie rule has nothing to say: every guess could be the secret, and smaller codes come first.
            best.offer((measure.score)(&sizes, 0), false, at as u32);
        }
        Ok(best.into_guesses().into_iter().map(|at| self.codes[at as usize]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        budget::StopFlag,
        feedback::{Class, FeedbackRule},
        history::Turn,
        rules::CodeSpec,
    };

    /// 10 pegs of 20 colours.
    fn rules(rule: FeedbackRule) -> Rules {
        let alphabet = "abcdefghijklmnopqrst".to_string();
        let spec = CodeSpec { alphabet, length: 10, repeats: true, not_first: String::new() };
        Rules::codes(&spec, rule).unwrap()
    }

    fn by(strategy: Strategy) -> Choice {
        Choice { strategy, ..Choice::default() }
    }

    fn turn(rules: &Rules, guess: &str, secret: &str) -> Turn {
        let guess = rules.code(guess).unwrap();
        Turn { guess, class: rules.score(&guess, &rules.code(secret).unwrap()) }
    }

    fn check_game(rule: FeedbackRule, secret: &str) {
        let rules = rules(rule);
        let secret = rules.code(secret).unwrap();
        let mut turns: Vec<Turn> = vec![];
        while turns.last().is_none_or(|turn| turn.class != rules.answers().winning()) {
            assert!(turns.len() < 18);
            let history = History::new(turns.clone()).unwrap();
            let choice = by(Strategy::Entropy);
            let found =
                suggest_large(&rules, &history, &choice, 1, 7, &Budget::unlimited()).unwrap();
            let guess = found.advice.suggestions[0].guess;
            if found.count == Count::Exact(1) {
                assert_eq!(guess, secret);
            }
            assert_eq!(found.advice.proven.is_some(), found.count == Count::Exact(1));
            turns.push(Turn { guess, class: rules.score(&guess, &secret) });
        }
    }

    #[test]
    fn games_of_ten_pegs_and_twenty_colours_are_won_in_eighteen_turns() {
        check_game(FeedbackRule::Pegs, "tmaaeqjkoc");
        check_game(FeedbackRule::Pegs, "bbbbbbbbbb");
        check_game(FeedbackRule::Marks, "hgttsaabco");
    }

    #[test]
    fn every_strategy_suggests_consistent_codes_and_the_same_ones_for_the_same_seed() {
        let rules = rules(FeedbackRule::Pegs);
        let turn = turn(&rules, "aabbccddee", "abcdefghij");
        let history = History::new(vec![turn]).unwrap();
        for strategy in Strategy::ALL {
            let suggest = || {
                suggest_large(&rules, &history, &by(strategy), 2, 1, &Budget::unlimited()).unwrap()
            };
            let found = suggest();
            assert_eq!(found, suggest());
            assert_eq!(found.advice.suggestions.len(), 2);
            assert!(!found.advice.exhaustive);
            for suggestion in found.advice.suggestions {
                assert_eq!(rules.score(&turn.guess, &suggestion.guess), turn.class, "{strategy:?}");
            }
        }
    }

    #[test]
    fn a_contradiction_and_a_raised_flag_are_errors() {
        let rules = rules(FeedbackRule::Pegs);
        let guess = rules.code("abcdefghij").unwrap();
        // Two answers to one guess.
        let turns = [0, 1].map(|class| Turn { guess, class: Class(class) });
        let history = History::new(turns.to_vec()).unwrap();
        let suggest =
            |budget| suggest_large(&rules, &history, &by(Strategy::Entropy), 1, 1, &budget);
        assert_eq!(suggest(Budget::unlimited()), Err(LargeError::Contradiction));
        let stop = StopFlag::default();
        stop.stop();
        assert_eq!(suggest(Budget::new(stop, u64::MAX)), Err(LargeError::Stopped(Stopped)));
    }
}
