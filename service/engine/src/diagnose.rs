//! Which answers cannot all be true, and which one was given wrongly.
//!
//! Everything follows from one fact about each code: the set of turns that it contradicts. A code that contradicts
//! a single turn repairs it; a set of turns clashes if every code contradicts one of them.

use std::collections::HashSet;

use crate::{
    budget::{Budget, Stopped},
    candidates::{CHUNK, scan},
    feedback::Class,
    game::Game,
    history::History,
};

/// What is wrong with a history, if anything is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// Codes that agree with every answer.
    pub remaining: u32,
    /// The first turn (from 1) after which no code is left.
    pub first_conflict_turn: Option<usize>,
    /// A smallest set of turns (from 1, ascending) whose answers cannot all be true, the first such set in the order
    /// of its turns; empty for a consistent history.
    pub clash: Vec<usize>,
    /// Every single turn whose answer, changed, leaves some code; empty for a consistent history.
    pub repairs: Vec<Repair>,
}

/// A turn whose answer may be the wrong one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The turn, from 1.
    pub turn: usize,
    /// Codes that agree with all other turns.
    pub remaining: u32,
    /// The answers possible instead, most codes first, then in class order.
    pub options: Vec<RepairOption>,
}

/// An answer that would mend the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairOption {
    /// The answer.
    pub class: Class,
    /// Codes that then agree with the whole history.
    pub count: u32,
}

/// The first turn (from 1) after which nothing is left, if there is one.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
pub fn first_conflict(
    game: &Game,
    history: &History,
    budget: &Budget,
) -> Result<Option<usize>, Stopped> {
    let mut last = 0;
    scan(game, history, budget, |_, contradicted| {
        last = contradicted.iter().map(|turns| turns.trailing_zeros()).fold(last, u32::max);
    })?;
    Ok((last < u64::BITS).then_some(last as usize + 1))
}

/// What is wrong with a history, if anything is.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
pub fn diagnose(game: &Game, history: &History, budget: &Budget) -> Result<Diagnosis, Stopped> {
    let turns = history.turns();
    let rules = game.rules();
    let (mut remaining, mut last) = (0, 0);
    let mut options = vec![vec![0_u32; rules.answers().list().len()]; turns.len()];
    let mut together = Together::new(turns.len());
    scan(game, history, budget, |start, contradicted| {
        for (index, &set) in (start..).zip(contradicted) {
            remaining += u32::from(set == 0);
            last = last.max(set.trailing_zeros());
            if set.is_power_of_two() {
                let turn = set.trailing_zeros() as usize;
                let class = rules.score(&turns[turn].guess, &game.code(index));
                options[turn][usize::from(class.0)] += 1;
            }
            together.add(set);
        }
    })?;
    if remaining > 0 {
        let (first_conflict_turn, clash, repairs) = (None, vec![], vec![]);
        return Ok(Diagnosis { remaining, first_conflict_turn, clash, repairs });
    }
    let clash = match together.clash() {
        Some(clash) => clash,
        None => larger_clash(game, history, budget)?,
    };
    Ok(Diagnosis {
        remaining,
        first_conflict_turn: Some(last as usize + 1),
        clash: clash.into_iter().map(|turn| turn + 1).collect(),
        repairs: repairs(options),
    })
}

/// Which pairs of turns some code agrees with: most clashes are of one turn or two, and are found without keeping what
/// each code contradicts.
struct Together {
    turns: u64,
    /// For each turn, the turns that some code agrees with as well as with this one, itself included.
    with: Vec<u64>,
}

impl Together {
    fn new(turns: usize) -> Together {
        Together {
            turns: u64::MAX.checked_shr(64 - turns as u32).unwrap_or(0),
            with: vec![0; turns],
        }
    }

    /// Adds a code by the turns that it contradicts.
    fn add(&mut self, contradicted: u64) {
        let agreed = self.turns & !contradicted;
        let mut rest = agreed;
        while rest != 0 {
            self.with[rest.trailing_zeros() as usize] |= agreed;
            rest &= rest - 1;
        }
    }

    /// The first turn that no code agrees with, or else the first two that none agrees with together.
    fn clash(&self) -> Option<Vec<usize>> {
        if let Some(alone) = self.with.iter().position(|&with| with == 0) {
            return Some(vec![alone]);
        }
        let other = |&with: &u64| (with != self.turns).then(|| (!with).trailing_zeros() as usize);
        (0..).zip(&self.with).find_map(|(turn, with)| Some(vec![turn, other(with)?]))
    }
}

/// The smallest clash where it is known to have more than two turns.
fn larger_clash(game: &Game, history: &History, budget: &Budget) -> Result<Vec<usize>, Stopped> {
    let mut sets = HashSet::new();
    scan(game, history, budget, |_, contradicted| sets.extend(contradicted))?;
    smallest_hitting_set(&minimal(sets, budget)?, history.turns().len(), budget)
}

fn repairs(options: Vec<Vec<u32>>) -> Vec<Repair> {
    let repair = |(turn, counts): (usize, Vec<u32>)| {
        let mut options: Vec<RepairOption> = (0..)
            .zip(counts)
            .filter(|&(_, count)| count > 0)
            .map(|(class, count)| RepairOption { class: Class(class), count })
            .collect();
        options.sort_by_key(|option| (std::cmp::Reverse(option.count), option.class));
        let remaining = options.iter().map(|option| option.count).sum();
        (remaining > 0).then_some(Repair { turn: turn + 1, remaining, options })
    };
    options.into_iter().enumerate().filter_map(repair).collect()
}

/// The sets that contain no other: whoever hits these hits all.
fn minimal(sets: HashSet<u64>, budget: &Budget) -> Result<Vec<u64>, Stopped> {
    let mut by_size: Vec<Vec<u64>> = vec![vec![]; u64::BITS as usize + 1];
    for (at, set) in sets.into_iter().enumerate() {
        if at.is_multiple_of(CHUNK) {
            budget.check()?;
        }
        by_size[set.count_ones() as usize].push(set);
    }
    let mut minimal: Vec<u64> = vec![];
    for same_size in by_size {
        let smaller = minimal.len();
        for (at, set) in same_size.into_iter().enumerate() {
            // A few thousand comparisons, a fraction of a millisecond, where there are many sets.
            if at.is_multiple_of(16) {
                budget.check()?;
            }
            if minimal[..smaller].iter().all(|&smaller| smaller & !set != 0) {
                minimal.push(set);
            }
        }
    }
    Ok(minimal)
}

/// The smallest set of turns with a turn in common with every set, and of those the first in order.
fn smallest_hitting_set(
    sets: &[u64],
    turns: usize,
    budget: &Budget,
) -> Result<Vec<usize>, Stopped> {
    let mut size = 1;
    while !can_hit(sets, 0, size, budget)? {
        size += 1;
    }
    let (mut chosen, mut hit) = (vec![], 0);
    for turn in 0..turns {
        if chosen.len() < size && can_hit(sets, hit | 1 << turn, size - chosen.len() - 1, budget)? {
            hit |= 1 << turn;
            chosen.push(turn);
        }
    }
    Ok(chosen)
}

/// Whether `more` turns beside `hit` are enough to hit every set. Each branch takes a turn of the first set that
/// is not hit, so the depth is `more`.
fn can_hit(sets: &[u64], hit: u64, more: usize, budget: &Budget) -> Result<bool, Stopped> {
    budget.check()?;
    let Some(&open) = sets.iter().find(|&&set| set & hit == 0) else { return Ok(true) };
    if more == 0 {
        return Ok(false);
    }
    let mut rest = open;
    while rest != 0 {
        let turn = rest & rest.wrapping_neg();
        if can_hit(sets, hit | turn, more - 1, budget)? {
            return Ok(true);
        }
        rest &= !turn;
    }
    Ok(false)
}
