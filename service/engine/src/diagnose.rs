//! Which answers cannot all be true, and which one was given wrongly.
//!
//! Everything follows from one fact about each code: the set of turns that it contradicts. A code that contradicts
//! a single turn repairs it; a set of turns clashes if every code contradicts one of them.

use std::collections::{BTreeMap, HashSet};

use crate::{
    budget::{Budget, Stopped},
    candidates::{CHUNK, scan},
    feedback::Class,
    game::Game,
    history::History,
};

/// The most clashes that are listed: more help nobody to find the wrong answer, and there can be very many.
pub const MAX_CLASHES: usize = 16;

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
    /// All smallest such sets in the order of their turns, the first [`MAX_CLASHES`] of them; none for a consistent
    /// history.
    pub clashes: Vec<Vec<usize>>,
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
    let mut options: Vec<BTreeMap<Class, u32>> = vec![BTreeMap::new(); turns.len()];
    let mut together = Together::new(turns.len());
    scan(game, history, budget, |secrets, contradicted| {
        for (index, &set) in secrets.iter().zip(contradicted) {
            remaining += u32::from(set == 0);
            last = last.max(set.trailing_zeros());
            if set.is_power_of_two() {
                let turn = set.trailing_zeros() as usize;
                let class = rules.score(&turns[turn].guess, &game.code(index));
                *options[turn].entry(class).or_default() += 1;
            }
            together.add(set);
        }
    })?;
    if remaining > 0 {
        let (first_conflict_turn, clash, clashes, repairs) = (None, vec![], vec![], vec![]);
        return Ok(Diagnosis { remaining, first_conflict_turn, clash, clashes, repairs });
    }
    let mut clashes = together.clashes();
    if clashes.is_empty() {
        clashes = larger_clashes(game, history, budget)?;
    }
    clashes.iter_mut().flatten().for_each(|turn| *turn += 1);
    Ok(Diagnosis {
        remaining,
        first_conflict_turn: Some(last as usize + 1),
        clash: clashes.first().cloned().unwrap_or_default(),
        clashes,
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

    /// The turns that no code agrees with or, if there are none, the pairs that none agrees with together.
    fn clashes(&self) -> Vec<Vec<usize>> {
        let turns = 0..self.with.len();
        let alone = turns.clone().filter(|&turn| self.with[turn] == 0).map(|turn| vec![turn]);
        let alone: Vec<Vec<usize>> = alone.take(MAX_CLASHES).collect();
        if !alone.is_empty() {
            return alone;
        }
        let pairs = turns.clone().flat_map(|one| (one + 1..turns.end).map(move |two| [one, two]));
        let apart = pairs.filter(|&[one, two]| self.with[one] >> two & 1 == 0);
        apart.take(MAX_CLASHES).map(Vec::from).collect()
    }
}

/// The smallest clashes where they are known to have more than two turns.
fn larger_clashes(
    game: &Game,
    history: &History,
    budget: &Budget,
) -> Result<Vec<Vec<usize>>, Stopped> {
    let mut sets = HashSet::new();
    scan(game, history, budget, |_, contradicted| sets.extend(contradicted))?;
    let sets = minimal(sets, budget)?;
    smallest_hitting_sets(&sets, history.turns().len(), budget)
}

fn repairs(options: Vec<BTreeMap<Class, u32>>) -> Vec<Repair> {
    let repair = |(turn, counts): (usize, BTreeMap<Class, u32>)| {
        let mut options: Vec<RepairOption> =
            counts.into_iter().map(|(class, count)| RepairOption { class, count }).collect();
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

/// The smallest sets of turns with a turn in common with every set, in order, at most [`MAX_CLASHES`].
fn smallest_hitting_sets(
    sets: &[u64],
    turns: usize,
    budget: &Budget,
) -> Result<Vec<Vec<usize>>, Stopped> {
    let mut size = 1;
    while !can_hit(sets, 0, u64::MAX, size, budget)? {
        size += 1;
    }
    // Sets are grown turn by turn, the last one in order on top; only what can be completed is.
    let mut open = vec![vec![]];
    let mut found = vec![];
    while let Some(chosen) = open.pop() {
        if chosen.len() == size {
            found.push(chosen);
            if found.len() == MAX_CLASHES {
                break;
            }
            continue;
        }
        let hit = chosen.iter().fold(0, |hit, &turn: &usize| hit | 1_u64 << turn);
        for turn in (chosen.last().map_or(0, |last| last + 1)..turns).rev() {
            let later = u64::MAX << turn << 1;
            if can_hit(sets, hit | 1 << turn, later, size - chosen.len() - 1, budget)? {
                open.push([&chosen[..], &[turn]].concat());
            }
        }
    }
    Ok(found)
}

/// Whether `more` of the turns `free` are enough, beside `hit`, to hit every set. Each branch takes a turn of the first
/// set that is not hit, so the depth is `more`.
fn can_hit(
    sets: &[u64],
    hit: u64,
    mut free: u64,
    more: usize,
    budget: &Budget,
) -> Result<bool, Stopped> {
    budget.check()?;
    // Sets that have no turn in common need a turn each.
    let (mut first, mut met, mut apart) = (None, 0, 0);
    for set in sets.iter().filter(|&&set| set & hit == 0).map(|set| set & free) {
        if set & met == 0 {
            first.get_or_insert(set);
            met |= set;
            apart += 1;
        }
    }
    if apart > more {
        return Ok(false);
    }
    let mut rest = first.unwrap_or(0);
    while rest != 0 {
        let turn = rest & rest.wrapping_neg();
        // What this turn cannot do it need not help the next ones to do.
        free &= !turn;
        if can_hit(sets, hit | turn, free, more - 1, budget)? {
            return Ok(true);
        }
        rest &= !turn;
    }
    Ok(first.is_none())
}
