//! Play that nothing beats: from a book, or proven on the spot.

use super::{Advice, measured, scan};
use crate::{
    book,
    budget::{Budget, Stopped},
    candidates::Candidates,
    code::Code,
    exact::{Goal, Objective, Progress, SolveError, SolveLimits, Value, solve_set},
    feedback::FeedbackRule,
    game::Game,
    history::Turn,
    partition::COMPARED,
    rules::Rules,
    symmetry::Canonical,
};

pub(super) const DESCRIPTION: &str = "the least total of guesses, proven: from a book, or by an exact search on the \
     spot where few candidates are left; else as entropy_larmouth (Koyama and Lai, An optimal Mastermind strategy, \
     J. Recreational Math. 25, 1993)";
pub(super) const WORST_CASE_DESCRIPTION: &str = "the fewest guesses in the worst case and, among those, the least \
     total, proven: from a book, or by an exact search on the spot where few candidates are left; else as minimax";

/// Scores that a proof on the spot may take: some tens of milliseconds at the most, and a few as a rule.
const PROOF_SCORES: u64 = 1 << 27;
/// With more candidates than this a proof within [`PROOF_SCORES`] was seen to be rare, and its attempt would be a hint's
/// whole delay.
const PROOF_CANDIDATES: usize = 128;
/// What such a proof may remember: more than it can meet.
const PROOF_BYTES: usize = 64 << 20;

/// A proven guess.
pub(super) struct Play {
    pub(super) guess: Code,
    pub(super) value: Value,
    pub(super) from_book: bool,
}

/// The best play after these turns, if a book has it or a proof fits the budget.
pub(super) fn play(
    game: &Game,
    turns: &[Turn],
    candidates: &[u32],
    objective: Objective,
    budget: &Budget,
) -> Result<Option<Play>, Stopped> {
    if game.rules().feedback() == FeedbackRule::Order {
        // The one in the middle; of two, the lower one. No guess has a part smaller than the half it leaves.
        let guess = game.code(candidates[(candidates.len() - 1) / 2]);
        return Ok(Some(Play { guess, value: halving(candidates.len()), from_book: false }));
    }
    if let Some((guess, value)) = from_book(game.rules(), turns, objective) {
        return Ok(Some(Play { guess, value, from_book: true }));
    }
    if candidates.len() > PROOF_CANDIDATES {
        return Ok(None);
    }
    // Proven at the canonical form, histories that are the same by renaming play alike, whoever remembers it for them.
    let Some(canonical) = Canonical::of(game.rules(), turns) else {
        return prove(game, candidates, objective, budget);
    };
    let renamed = game.candidates(canonical.history(), budget)?;
    let play = prove(game, renamed.indices(), objective, budget)?;
    let dead = scan::dead_symbols(game, renamed.indices(), budget)?;
    Ok(play.map(|play| {
        let guess = canonical.smallest(&play.guess, dead, 1).pop_first();
        Play { guess: guess.expect("some guess stands for it"), ..play }
    }))
}

/// What it takes to find one of `n` numbers by halving: at guess `d` at most `2^(d - 1)` of them are found.
fn halving(n: usize) -> Value {
    let (mut left, mut value) = (n as u64, Value::default());
    while left > 0 {
        value.max += 1;
        let found = left.min(1 << (value.max - 1));
        value.total += u64::from(value.max) * found;
        left -= found;
    }
    value
}

/// The guess of a book, in the names of these turns, and what it needs.
pub(super) fn from_book(
    rules: &Rules,
    turns: &[Turn],
    objective: Objective,
) -> Option<(Code, Value)> {
    book::open(rules, objective)?.guess(turns)
}

impl Play {
    /// This guess as advice, given the candidates under its names.
    pub(super) fn advice(
        &self,
        game: &Game,
        candidates: &Candidates,
        budget: &Budget,
    ) -> Result<Advice, Stopped> {
        let suggestion = measured(game, candidates, game.index(&self.guess), budget)?;
        Ok(Advice {
            suggestions: vec![suggestion],
            exhaustive: true,
            proven: Some(self.value),
            from_book: self.from_book,
        })
    }
}

/// The best play, if a proof fits the budget.
pub(super) fn prove(
    game: &Game,
    candidates: &[u32],
    objective: Objective,
    budget: &Budget,
) -> Result<Option<Play>, Stopped> {
    if candidates.len() > PROOF_CANDIDATES {
        return Ok(None);
    }
    // A score among many classes takes some four times as long.
    let dear = if game.rules().answers().count() > COMPARED { 4 } else { 1 };
    let scores = u64::from(game.size()) * candidates.len() as u64;
    let max_nodes = (PROOF_SCORES / dear).min(budget.max_scores) / scores;
    if max_nodes == 0 {
        return Ok(None);
    }
    let limits = SolveLimits { memo_bytes: PROOF_BYTES, threads: 1, max_nodes };
    let goal = Goal { objective, ..Goal::default() };
    match solve_set(game, candidates, goal, limits, &Progress::default(), budget) {
        Ok(solution) => {
            let (guess, value) = (solution.tree.root().guess(), solution.tree.root().value());
            Ok(Some(Play { guess, value, from_book: false }))
        }
        // Either the nodes ran out or the flag went up.
        Err(SolveError::Stopped) => budget.check().map(|()| None),
        Err(_) => Ok(None),
    }
}
