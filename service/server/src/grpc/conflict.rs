//! Which turn a contradiction begins with: what FAILED_PRECONDITION says in every call.

use herdsman_engine::{
    Budget, Count, History, LARGE_NODES, Rules, Stopped, Turn, first_conflict,
    first_conflict_lying, sample,
};
use herdsman_proto::{text, v1};

use super::{Shared, rules::is_large, status::Failure};
use crate::{cache::Position, dictionaries::Dictionaries, games::Games};

/// A history that no code agrees with, in the order of its caller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Conflict {
    position: Position,
    /// How many answers may be untrue.
    lies: usize,
}

/// The turn (from 1) that it begins with; nothing if there is none.
pub(super) type Begin = Option<usize>;

impl Shared {
    /// The failure of a history that no code agrees with: it names the turn, in the order of the caller.
    pub(super) async fn contradiction(
        &self,
        rules: Rules,
        history: History,
        turns: &[v1::Turn],
    ) -> Failure {
        self.contradiction_within(0, rules, history, turns).await
    }

    /// The same where so many answers may be untrue.
    pub(super) async fn contradiction_within(
        &self,
        lies: usize,
        rules: Rules,
        history: History,
        turns: &[v1::Turn],
    ) -> Failure {
        let large = is_large(&rules, &self.config);
        let conflict = self.conflicts.ask(Conflict { position: Position { rules, history }, lies });
        let find = || {
            let conflict = conflict.clone();
            self.begin(u64::MAX, move |games, budget| find(games, &conflict, large, budget))
        };
        match self.conflicts.get(&conflict, find).await {
            Ok((Some(turn), _)) => {
                Failure::Contradiction { turn, text: text::turn(&turns[turn - 1]), lies }
            }
            Ok((None, _)) => Failure::Internal,
            Err(failure) => failure,
        }
    }
}

/// The job of a contradiction.
fn find(
    games: &Games,
    conflict: &Conflict,
    large: bool,
    budget: &Budget,
) -> Result<Begin, Failure> {
    let Conflict { position: Position { rules, history }, lies } = conflict;
    Ok(match (large, lies) {
        (true, _) => Some(large_conflict(rules, history, budget)?),
        (_, 0) => first_conflict(&*games.game(rules)?, history, budget)?,
        _ => first_conflict_lying(&*games.game(rules)?, history, *lies, budget)?,
    })
}

/// Bytes that a conflict takes where it is kept, nearly.
pub(super) fn memory(conflict: &Conflict, dictionaries: &Dictionaries) -> usize {
    size_of::<(Conflict, Begin)>() + conflict.position.memory(dictionaries)
}

/// The first turns of a history, so many.
fn beginning(history: &History, turns: usize) -> History {
    let turns: Vec<Turn> = history.turns()[..turns].to_vec();
    History::new(turns).expect("a history has no more turns than itself")
}

/// The turn (from 1) after which it is proven that no code is left of a game that is not enumerated: the first, as far as
/// the search can tell. That none is left after all turns is known.
fn large_conflict(rules: &Rules, history: &History, budget: &Budget) -> Result<usize, Stopped> {
    let mut first = history.turns().len();
    while first > 1 {
        let left = sample(rules, &beginning(history, first - 1), 1, LARGE_NODES, 0, budget)?;
        if left.count != Count::Exact(0) {
            break;
        }
        first -= 1;
    }
    Ok(first)
}
