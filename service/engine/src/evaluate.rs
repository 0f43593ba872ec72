//! A strategy against every secret.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use crate::{
    budget::{Budget, Stopped},
    code::Code,
    feedback::Class,
    game::Game,
    history::{History, Turn},
    partition::{classify, sizes},
    strategy::{Choice, rank},
};

/// How a strategy fares over all secrets of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// Guesses over all secrets, the winning ones included. Divide by the number of secrets for the mean.
    pub total: u64,
    /// Guesses that the worst secret takes.
    pub max: u32,
    /// How many secrets are found at guess 1, 2, and so on.
    pub histogram: Vec<u64>,
}

/// Where an evaluation begins, and which secrets it is about.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// The turns to begin after; guesses are counted from here on.
    pub history: History,
    /// The guess to begin with; the strategy's own if absent.
    pub first_guess: Option<Code>,
    /// The secrets to play against, as ascending numbers among the candidates; all candidates if absent.
    pub secrets: Option<Vec<u32>>,
}

/// Plays a strategy against every secret of a trial at once: secrets that have had the same answers so far share the
/// choice of the next guess. `done` is told how many secrets were found, now and then. A contradictory history has no
/// secret: then nothing is counted.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
pub fn evaluate(
    game: &Game,
    choice: &Choice,
    trial: &Trial,
    done: &AtomicU64,
    budget: &Budget,
) -> Result<Evaluation, Stopped> {
    let winning = game.rules().answers().winning();
    let mut evaluation = Evaluation::default();
    let candidates = Arc::new(game.candidates(&trial.history, budget)?.into_indices());
    let secrets = trial.secrets.clone().map_or_else(|| Arc::clone(&candidates), Arc::new);
    if secrets.is_empty() {
        return Ok(evaluation);
    }
    let turns = trial.history.canonical().turns().to_vec();
    let earlier = turns.len();
    // Sets yet to be split: no recursion, so no depth to bound.
    let mut open = vec![Open { candidates, secrets, turns }];
    while let Some(Open { candidates, secrets, turns }) = open.pop() {
        let made = (turns.len() - earlier) as u32 + 1;
        let guess = match trial.first_guess {
            Some(guess) if made == 1 => guess,
            _ => game.code(rank(game, &turns, &candidates, choice, 1, budget)?.guesses[0]),
        };
        // All candidates are what the strategy sees; only branches with a secret are followed.
        let parts = split(game, &secrets, &guess, budget)?;
        let mut kept = match secrets.len() == candidates.len() {
            true => None,
            false => Some(split(game, &candidates, &guess, budget)?),
        };
        for (class, secrets) in parts {
            if class == winning {
                evaluation.count(made, secrets.len() as u64);
                done.fetch_add(secrets.len() as u64, Relaxed);
                continue;
            }
            let turns = turns.iter().copied().chain([Turn { guess, class }]).collect();
            let secrets = Arc::new(secrets);
            let candidates = match &mut kept {
                None => Arc::clone(&secrets),
                Some(kept) => Arc::new(kept.remove(&class).expect("a secret is a candidate")),
            };
            open.push(Open { candidates, secrets, turns });
        }
    }
    Ok(evaluation)
}

/// A list that grows to millions is copied at times, which takes longer than anybody waits who has left: sets from here
/// on are counted before they are split. Below, to count takes longer than it saves.
const COUNTED_FROM: usize = 1 << 20;

/// A position of the game tree that is still to be played. Where all candidates are secrets, both are one list: lists of
/// millions take longer to copy than anybody waits who has left.
struct Open {
    candidates: Arc<Vec<u32>>,
    secrets: Arc<Vec<u32>>,
    turns: Vec<Turn>,
}

/// The parts of a set, by their answers.
pub(crate) fn split(
    game: &Game,
    set: &[u32],
    guess: &Code,
    budget: &Budget,
) -> Result<BTreeMap<Class, Vec<u32>>, Stopped> {
    let mut parts: BTreeMap<Class, Vec<u32>> = BTreeMap::new();
    if set.len() >= COUNTED_FROM {
        let sizes = sizes(game, set, guess, budget)?;
        let room = |&(class, size): &(Class, u32)| (class, Vec::with_capacity(size as usize));
        parts.extend(sizes.parts().iter().map(room));
    }
    classify(game, set, guess, budget, |index, class| parts.entry(class).or_default().push(index))?;
    Ok(parts)
}

impl Evaluation {
    pub(crate) fn count(&mut self, guesses: u32, secrets: u64) {
        if secrets > 0 {
            self.total += u64::from(guesses) * secrets;
            self.max = self.max.max(guesses);
            self.histogram.resize(self.max as usize, 0);
            self.histogram[guesses as usize - 1] += secrets;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CodeSpec, FeedbackRule, Rules};

    #[test]
    fn a_set_that_is_counted_first_has_the_parts_of_one_that_is_not() {
        let spec = CodeSpec {
            alphabet: "0123".into(),
            length: 10,
            repeats: true,
            not_first: String::new(),
        };
        let rules = Rules::codes(&spec, FeedbackRule::Pegs).unwrap();
        let guess = rules.code("0123301201").unwrap();
        let game = Game::new(rules, u32::MAX).unwrap();
        let all: Vec<u32> = (0..game.size()).collect();
        assert!(all.len() >= COUNTED_FROM);
        let budget = Budget::unlimited();
        let counted = split(&game, &all, &guess, &budget).unwrap();
        // The last one alone makes the difference.
        let (last, rest) = all.split_last().unwrap();
        let mut plain = split(&game, rest, &guess, &budget).unwrap();
        for (class, part) in split(&game, &[*last], &guess, &budget).unwrap() {
            plain.entry(class).or_default().extend(part);
        }
        assert_eq!(counted, plain);
    }
}
