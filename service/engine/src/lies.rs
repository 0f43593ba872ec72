//! Answers that may be untrue: codes by how many turns they contradict.
//!
//! The winning answer is never untrue, or a game would have no end. How guesses are ranked is `strategy`.

use crate::{
    budget::{Budget, Stopped},
    candidates::{CHUNK, scan},
    game::Game,
    history::History,
};

/// The most lies that are reckoned with.
pub const MAX_LIES: usize = 3;

/// The codes that contradict at most so many turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspects {
    by_lies: Vec<Vec<u32>>,
}

impl Suspects {
    /// Codes that contradict no turn, one turn, and so on, each as ascending numbers.
    pub fn by_lies(&self) -> &[Vec<u32>] {
        &self.by_lies
    }

    /// How many codes there are.
    pub fn len(&self) -> usize {
        self.by_lies.iter().map(Vec::len).sum()
    }

    /// Whether more answers are untrue than may be.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The codes, ascending, with a weight for each: what it still may contradict makes it the more likely, and the worse to
    /// be left with; and so does what it weighs in the game.
    ///
    /// The weight grows by one factor for each lie to spare (after E. R. Berlekamp, Block coding for the binary symmetric
    /// channel with noiseless, delayless feedback, 1964, where the factor depends on the questions that are left). The sum
    /// stays below 2^27 or, where the game's own weights leave no room, no more than theirs.
    ///
    /// # Errors
    /// [`Stopped`] if the budget's flag was raised.
    pub fn weighted(&self, game: &Game, budget: &Budget) -> Result<(Vec<u32>, Vec<u32>), Stopped> {
        let most = self.by_lies.len() as u32 - 1;
        let (mut codes, mut weights) = (vec![], vec![]);
        let mut lists: Vec<_> = self.by_lies.iter().map(|codes| codes.iter().peekable()).collect();
        for at in 0..self.len() {
            if at % CHUNK == 0 {
                budget.check()?;
            }
            let next = (0..).zip(&mut lists).filter_map(|(lies, list)| Some((list.peek()?, lies)));
            let (&&code, lies) = next.min().expect("there are as many codes as are counted");
            lists[lies as usize].next();
            codes.push(code);
            // For now, how many lies it has to spare.
            weights.push(most - lies);
        }
        let priors = game.weights(&codes, budget)?;
        let sum = match &priors {
            Some(priors) => priors.iter().map(|&weight| u64::from(weight)).sum(),
            None => codes.len() as u64,
        };
        let fits = |factor: &u32| u64::from(*factor).pow(most).saturating_mul(sum) < 1 << 27;
        let factor = (1..=FACTOR).rev().find(fits).unwrap_or(1);
        for (at, weight) in weights.iter_mut().enumerate() {
            if at % CHUNK == 0 {
                budget.check()?;
            }
            *weight = priors.as_ref().map_or(1, |priors| priors[at]) * factor.pow(*weight);
        }
        Ok((codes, weights))
    }
}

/// How much a lie to spare weighs: about what three more questions of a dozen answers each leave room for.
const FACTOR: u32 = 32;

impl Game {
    /// The secrets that contradict at most `max_lies` turns, and no winning answer.
    ///
    /// # Errors
    /// [`Stopped`] if the budget's flag was raised.
    pub fn suspects(
        &self,
        history: &History,
        max_lies: usize,
        budget: &Budget,
    ) -> Result<Suspects, Stopped> {
        let wins = wins(self, history);
        let mut by_lies = vec![vec![]; max_lies + 1];
        if history.turns().is_empty() {
            by_lies[0] = self.candidates(history, budget)?.into_indices();
            return Ok(Suspects { by_lies });
        }
        scan(self, history, budget, |secrets, contradicted| {
            for (index, &turns) in secrets.iter().zip(contradicted) {
                let lies = turns.count_ones() as usize;
                if lies <= max_lies && turns & wins == 0 {
                    by_lies[lies].push(index);
                }
            }
        })?;
        Ok(Suspects { by_lies })
    }
}

/// The first turn (from 1) after which every secret contradicts more turns than may be untrue, or a winning answer; nothing
/// if some secret never does.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
pub fn first_conflict_lying(
    game: &Game,
    history: &History,
    max_lies: usize,
    budget: &Budget,
) -> Result<Option<usize>, Stopped> {
    let wins = wins(game, history);
    let mut last = 0;
    scan(game, history, budget, |_, contradicted| {
        for &turns in contradicted {
            // What is left of the turns once as many as may be untrue are forgiven.
            let unforgiven = (0..max_lies).fold(turns, |turns, _| turns & turns.wrapping_sub(1));
            last = last.max((unforgiven | turns & wins).trailing_zeros());
        }
    })?;
    Ok((last < u64::BITS).then_some(last as usize + 1))
}

/// The turns whose answer wins, a bit each.
fn wins(game: &Game, history: &History) -> u64 {
    let winning = game.rules().answers().winning();
    let wins = history.turns().iter().enumerate().filter(|(_, turn)| turn.class == winning);
    wins.fold(0, |wins, (at, _)| wins | 1 << at)
}
