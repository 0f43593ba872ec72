//! Branch and bound over sets of candidates.
//!
//! A set is measured once against every different guess (`scan`): that bounds what each guess must cost, and the
//! least of these bounds the set. A guess that may still beat the best one is refined, its classes' size bounds
//! replaced by what is known of these very classes, and only then are the classes solved, smallest first, each
//! within what the others leave of the limit.
//!
//! `survey` tells how far that is, and `build` makes a strategy of it.

mod build;
mod survey;

use std::{
    collections::HashSet,
    sync::atomic::{
        AtomicBool, AtomicU32, AtomicUsize,
        Ordering::{Relaxed, SeqCst},
    },
};

use rayon::prelude::*;

use super::{
    Goal, Objective, Progress, SolveLimits,
    memo::{Known, Memo},
    rename::{Form, Renamer},
    scan::{INFEASIBLE, Position, Scan, UNCAPPED, after},
    symmetry::Orbits,
};
use crate::{
    budget::{Budget, Stopped},
    game::Game,
    history::MAX_TURNS,
};

/// From this size on threads share the guesses of a set: each is milliseconds of work.
const SHARED_SET: usize = 100;
/// From this size on a set is searched for symmetries: it costs as much as refining a few guesses.
const SYMMETRIC_SET: usize = 20;
/// With fewer guesses than this a symmetry has nothing to save.
const SYMMETRIC_GUESSES: usize = 8;

pub(super) struct Search<'a> {
    game: &'a Game,
    candidates: &'a [u32],
    goal: Goal,
    /// They may change between one search and the next.
    pub(super) limits: SolveLimits,
    progress: &'a Progress,
    budget: &'a Budget,
    renamer: Renamer<'a>,
    scan: Scan<'a>,
    memo: Memo,
    /// Whether a line of play went beyond [`MAX_TURNS`], which ended the search.
    too_long: AtomicBool,
}

/// What is known of a guess by its classes.
struct Refined {
    /// What it must cost.
    sum: u32,
    /// The classes that are not settled, largest first, with what each must cost.
    open: Vec<(u32, Form)>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        game: &'a Game,
        candidates: &'a [u32],
        goal: Goal,
        limits: SolveLimits,
        progress: &'a Progress,
        budget: &'a Budget,
    ) -> Result<Search<'a>, Stopped> {
        let renamer = Renamer::new(game);
        let last_only = goal.objective == Objective::FewestAtMax;
        let scan = Scan::new(&renamer, &renamer.form(candidates), last_only, budget)?;
        let memo = Memo::new(limits.memo_bytes);
        let too_long = AtomicBool::new(false);
        Ok(Search {
            game,
            candidates,
            goal,
            limits,
            progress,
            budget,
            renamer,
            scan,
            memo,
            too_long,
        })
    }

    /// Whether the search ended because a line of play went beyond [`MAX_TURNS`].
    pub(super) fn is_too_long(&self) -> bool {
        self.too_long.load(Relaxed)
    }

    pub(super) fn game(&self) -> &'a Game {
        self.game
    }

    /// The fewest guesses that may be enough for all candidates.
    pub(super) fn least_max(&self) -> u32 {
        self.scan.least_max(self.candidates.len())
    }

    /// The cost of the whole if it is below `limit`, else a bound that is not.
    fn cost_of_whole(&self, form: &Form, left: u32, limit: u32) -> Result<u32, Stopped> {
        let Some(guess) = self.first_guess(form) else { return self.solve(form, left, limit) };
        let position = self.scan.position(form, left)?;
        let cost = self.scan.cost(&position, guess);
        let others = if self.is_told(left) { u32::MAX } else { 0 };
        self.descend(&position, guess, cost, limit, others)
    }

    /// The place of the first guess, if the goal names one.
    fn first_guess(&self, form: &Form) -> Option<u32> {
        let guesses = self.scan.guesses(form).ok()?;
        let mut guess = self.goal.first_guess?;
        if !self.renamer.is_fixed() {
            guess = form.naming.apply(&guess);
            guesses.normalise(&mut guess);
        }
        Some(guesses.place(self.game.index(&guess)))
    }

    fn is_whole(&self, position: &Position<'_>) -> bool {
        position.form.codes.len() == self.candidates.len()
    }

    /// The cost of a set if it is below `limit`, else a bound that is not.
    fn solve(&self, form: &Form, left: u32, limit: u32) -> Result<u32, Stopped> {
        let known = self.known(form, left)?;
        if known.exact || known.least >= limit {
            return Ok(known.least);
        }
        if form.depth > MAX_TURNS {
            self.too_long.store(true, Relaxed);
            return Err(Stopped);
        }
        let cost = self.cost(form, left, limit)?;
        self.memo.put(&key(form, left), Known { least: cost, exact: cost < limit });
        Ok(cost)
    }

    /// The least cost of the guesses of a set if it is below `limit`, else a bound that is not. The guesses of large
    /// sets are shared among the threads.
    fn cost(&self, form: &Form, left: u32, limit: u32) -> Result<u32, Stopped> {
        let position = self.scan.position(form, left)?;
        let (order, orbits) = self.order(&position, limit)?;
        if self.limits.threads > 1 && form.codes.len() >= SHARED_SET && order.len() > 1 {
            self.try_shared(&position, &order, orbits, limit)
        } else {
            Ok(self.try_in_turn(&position, &order, orbits, limit)?.0)
        }
    }

    /// The least cost below `limit` and the first guess that reaches it, or a bound that is not below.
    fn try_in_turn(
        &self,
        position: &Position<'_>,
        order: &[(u32, u32)],
        mut orbits: Orbits<'_>,
        limit: u32,
    ) -> Result<(u32, Option<u32>), Stopped> {
        let least = self.known(position.form, position.left)?.least;
        let (mut best, mut choice) = (limit, None);
        let told = self.is_whole_of_goal(position);
        let mut tried = HashSet::new();
        for (at, &(cost, guess)) in order.iter().enumerate() {
            if cost >= best || best <= least {
                break;
            }
            // A guess that is like another one, or makes the same parts, costs the same.
            if !orbits.is_new(guess, self.budget)? || !tried.insert(position.partition(guess)) {
                continue;
            }
            let next = order.get(at + 1).map_or(best, |next| next.0.min(best));
            let others = if told { next } else { 0 };
            let cost = self.descend(position, guess, cost, best, others)?;
            if cost < best {
                (best, choice) = (cost, Some(guess));
                if told {
                    self.progress.best.fetch_min(cost.into(), Relaxed);
                }
            }
        }
        Ok((best, choice))
    }

    /// The first guess is tried alone, as it is likely to be a good one; then each thread takes the next that is left.
    fn try_shared(
        &self,
        position: &Position<'_>,
        order: &[(u32, u32)],
        mut orbits: Orbits<'_>,
        limit: u32,
    ) -> Result<u32, Stopped> {
        let least = self.known(position.form, position.left)?.least;
        let told = self.is_whole_of_goal(position);
        let mut others = vec![];
        for &(cost, guess) in order {
            if orbits.is_new(guess, self.budget)? {
                others.push((cost, guess));
            }
        }
        let (cost, guess) = others.remove(0);
        // The other guesses may turn out cheaper than the first, as far as is known.
        let behind = others.first().map_or(limit, |next| next.0.min(limit));
        let first = self.descend(position, guess, cost, limit, if told { behind } else { 0 })?;
        if first < limit && told {
            self.progress.best.fetch_min(first.into(), Relaxed);
        }
        let best = AtomicU32::new(first.min(limit));
        let next = AtomicUsize::new(0);
        // What the guess of each thread, and all behind it, must cost: those before it cost the best or more.
        let threads = self.limits.threads;
        let tried: Vec<AtomicU32> = (0..threads).map(|_| AtomicU32::new(cost)).collect();
        let work = |thread: usize| {
            while let Some(&(cost, guess)) = others.get(next.fetch_add(1, Relaxed)) {
                let limit = best.load(Relaxed);
                if cost >= limit || limit <= least {
                    break;
                }
                tried[thread].store(cost, SeqCst);
                if told {
                    let tried = tried.iter().map(|cost| cost.load(SeqCst)).min();
                    self.tell_bound(tried.unwrap_or(0).min(best.load(SeqCst)));
                }
                let cost = self.descend(position, guess, cost, limit, 0)?;
                if cost < best.fetch_min(cost, SeqCst) && told {
                    self.progress.best.fetch_min(cost.into(), Relaxed);
                }
            }
            Ok(())
        };
        (0..threads).into_par_iter().with_max_len(1).try_for_each(work)?;
        Ok(best.into_inner())
    }

    /// The guesses that may cost less than `limit`, the cheapest first, then candidates, then in alphabet order, and
    /// which of them a symmetry exchanges.
    fn order<'p>(
        &'p self,
        position: &Position<'p>,
        limit: u32,
    ) -> Result<(Vec<(u32, u32)>, Orbits<'p>), Stopped> {
        let Position { form, guesses, .. } = position;
        let mut behind = vec![true; guesses.list.len()];
        form.codes.iter().for_each(|&code| behind[guesses.place(code) as usize] = false);
        // Numbers in which cost, rank and guess stand one behind the other sort twice as fast as tuples.
        let pack = |(cost, place): (u32, usize)| {
            let (behind, guess) = (u64::from(behind[place]), u64::from(guesses.list[place]));
            (cost < limit).then_some(u64::from(cost) << 33 | behind << 32 | guess)
        };
        let costs = self.scan.costs(position)?.into_iter().zip(0..);
        let mut keys: Vec<u64> = costs.filter_map(pack).collect();
        keys.sort_unstable();
        let unpack = |key| ((key >> 33) as u32, guesses.place(key as u32));
        let order: Vec<(u32, u32)> = keys.into_iter().map(unpack).collect();
        let renamings = match form.codes.len() >= SYMMETRIC_SET && order.len() >= SYMMETRIC_GUESSES
        {
            true => self.renamer.automorphisms(&form.codes, self.budget)?,
            false => vec![],
        };
        Ok((order, Orbits::new(&self.renamer, guesses, renamings)))
    }

    /// What a guess must cost by what is known of its classes; nothing if that is not below `limit`.
    fn refine(
        &self,
        position: &Position<'_>,
        guess: u32,
        cost: u32,
        limit: u32,
    ) -> Result<Option<Refined>, Stopped> {
        let left = after(position.left);
        let mut sum = cost;
        // What costs least to find out comes first, for all classes, as it often settles the guess: that more than
        // halves the sets that are measured. One or two secrets cost what their number says.
        let mut unsettled = vec![];
        for part in self.scan.parts(position, guess) {
            let least = self.scan.least(part.len(), left);
            if least >= INFEASIBLE {
                return Ok(None);
            }
            if part.len() > 2 {
                let shown = self.scan.by_members(position, &part, left);
                let cost = shown.unwrap_or(self.scan.least_apart(part.len(), left));
                sum += cost - least;
                if shown.is_none() {
                    unsettled.push((cost, part));
                }
            }
        }
        let mut met = vec![];
        for (least, part) in unsettled {
            if sum >= limit {
                return Ok(None);
            }
            let mut form = self.renamer.form(&position.codes(&part));
            form.depth = position.form.depth + 1;
            // What the memo kept may say less than that no code of the part tells the others apart.
            let known = self.glance(&form, left).unwrap_or(Known { least, exact: false });
            let at_least = known.least.max(least);
            sum += at_least - least;
            if !known.exact {
                met.push((at_least, form));
            }
        }
        let mut open = vec![];
        for (least, form) in met {
            if sum >= limit {
                return Ok(None);
            }
            let known = self.known(&form, left)?;
            let at_least = known.least.max(least);
            sum += at_least - least;
            if !known.exact {
                open.push((at_least, form));
            }
        }
        Ok((sum < limit).then_some(Refined { sum, open }))
    }

    /// The cost of a guess if it is below `limit`, else a bound that is not. Of the whole it is told how far the guess
    /// is, as all others cost at least `others`; elsewhere that is 0.
    fn descend(
        &self,
        position: &Position<'_>,
        guess: u32,
        cost: u32,
        limit: u32,
        others: u32,
    ) -> Result<u32, Stopped> {
        let left = after(position.left);
        let Some(Refined { mut sum, mut open }) = self.refine(position, guess, cost, limit)? else {
            return Ok(limit);
        };
        // While there is nothing to beat, no class waits for what another leaves of the limit; nor do the classes of
        // the whole, whose limit is wide at first and exact when caps are lowered.
        let whole = self.is_whole(position);
        self.tell_bound(sum.min(others));
        if self.limits.threads > 1 && (whole || limit >= INFEASIBLE / 2) {
            let total = AtomicU32::new(sum);
            open.par_iter().with_max_len(1).try_for_each(|(least, form)| {
                let more = self.solve(form, left, limit - (sum - least))? - least;
                let total = total.fetch_add(more, Relaxed) + more;
                self.tell_bound(total.min(others));
                Ok(())
            })?;
            return Ok(total.into_inner().min(INFEASIBLE));
        }
        // The largest come first; the smallest are cheapest to settle.
        while let Some((least, form)) = open.pop() {
            sum += self.solve(&form, left, limit - (sum - least))? - least;
            self.tell_bound(sum.min(others));
            if sum >= limit {
                break;
            }
        }
        Ok(sum)
    }

    /// What is known of a set; at the first meeting it is measured against every guess.
    fn known(&self, form: &Form, left: u32) -> Result<Known, Stopped> {
        match self.glance(form, left) {
            Some(known) => Ok(known),
            None => Ok(self.measure(&self.scan.position(form, left)?)?.0),
        }
    }

    /// What is known of a set that need not be measured for it.
    fn glance(&self, form: &Form, left: u32) -> Option<Known> {
        let n = form.codes.len();
        if n <= 2 || self.scan.least(n, left) >= INFEASIBLE {
            return Some(Known { least: self.scan.least(n, left), exact: true });
        }
        let key = key(form, left);
        self.memo.get(&key).or_else(|| {
            let known = self.known_uncapped(form, left).filter(|_| left != UNCAPPED)?;
            self.memo.put(&key, known);
            Some(known)
        })
    }

    /// Measures a set against every guess, and remembers it. A guess that must cost the least is told if all were tried.
    fn measure(&self, position: &Position<'_>) -> Result<(Known, Option<u32>), Stopped> {
        let Position { form, left, .. } = position;
        let all: Vec<u32> = (0..form.codes.len() as u32).collect();
        let (known, guess) = match self.scan.by_members(position, &all, *left) {
            Some(cost) => (Known { least: cost, exact: true }, None),
            None => {
                if self.progress.nodes.fetch_add(1, Relaxed) >= self.limits.max_nodes {
                    return Err(Stopped);
                }
                self.budget.check()?;
                let (least, guess) = self.scan.least_cost(position)?;
                // Classes of one or two secrets cost what their number says; at 2 n there are no others.
                let small = least <= 2 * form.codes.len() as u32
                    || self.scan.is_settled_by(position, guess);
                let exact = least >= INFEASIBLE || (self.scan.is_plain(*left) && small);
                (Known { least, exact }, Some(guess))
            }
        };
        self.memo.put(&key(form, *left), known);
        Ok((known, guess))
    }

    /// What a set costs without a cap bounds what it costs with one.
    fn known_uncapped(&self, form: &Form, left: u32) -> Option<Known> {
        let known = self.memo.get(&key(form, UNCAPPED))?;
        let within = self.scan.is_plain(left) && known.least <= 2 * form.codes.len() as u32;
        Some(Known { least: known.least, exact: known.exact && within })
    }
}

/// What the memo knows a set by.
fn key(form: &Form, left: u32) -> Vec<u32> {
    let mut key = Vec::with_capacity(form.codes.len() + 1);
    key.push(left);
    key.extend(&form.codes);
    key
}
