//! Answers that may be untrue: codes by how many turns they contradict.
//!
//! The winning answer is never untrue, or a game would have no end. How guesses are ranked is `strategy`.

use crate::{
    budget::{Budget, Stopped},
    candidates::scan,
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
    /// be left with.
    ///
    /// The weight grows by one factor for each lie to spare (after E. R. Berlekamp, Block coding for the binary symmetric
    /// channel with noiseless, delayless feedback, 1964, where the factor depends on the questions that are left). The sum
    /// stays below 2^27.
    pub fn weighted(&self) -> (Vec<u32>, Vec<u32>) {
        let spare = self.by_lies.len() as u32 - 1;
        let fits = |factor: &u32| {
            u64::from(*factor).pow(spare).saturating_mul(self.len() as u64) < 1 << 27
        };
        let factor = (1..=FACTOR).rev().find(fits).unwrap_or(1);
        let weight = |lies: usize| factor.pow(spare - lies as u32);
        let mut all: Vec<(u32, u32)> = (self.by_lies.iter().enumerate())
            .flat_map(|(lies, codes)| codes.iter().map(move |&code| (code, weight(lies))))
            .collect();
        all.sort_unstable();
        all.into_iter().unzip()
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
        let winning = self.rules().answers().winning();
        let wins = history.turns().iter().enumerate().filter(|(_, turn)| turn.class == winning);
        let wins = wins.fold(0_u64, |wins, (at, _)| wins | 1 << at);
        let mut by_lies = vec![vec![]; max_lies + 1];
        if history.turns().is_empty() {
            by_lies[0] = self.space().secrets().iter().collect();
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
