//! Branch and bound over sets of candidates.
//!
//! A set is measured once against every different guess (`scan`): that bounds what each guess must cost, and the
//! least of these bounds the set. A guess that may still beat the best one is refined, its classes' size bounds
//! replaced by what is known of these very classes, and only then are the classes solved, smallest first, each
//! within what the others leave of the limit.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
};

use rayon::prelude::*;

use super::{
    Progress, SolveLimits,
    memo::{Known, Memo},
    rename::{Form, Renamer},
    scan::{INFEASIBLE, Position, Scan, UNCAPPED, after},
    symmetry::Orbits,
    tree::Tree,
};
use crate::{
    budget::{Budget, Stopped},
    feedback::Class,
    game::Game,
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
    limits: SolveLimits,
    progress: &'a Progress,
    budget: &'a Budget,
    renamer: Renamer<'a>,
    scan: Scan<'a>,
    memo: Memo,
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
        last_only: bool,
        limits: SolveLimits,
        progress: &'a Progress,
        budget: &'a Budget,
    ) -> Result<Search<'a>, Stopped> {
        let renamer = Renamer::new(game);
        let scan = Scan::new(game, &renamer.form(candidates), last_only, budget)?;
        let memo = Memo::new(limits.memo_bytes);
        Ok(Search { game, candidates, limits, progress, budget, renamer, scan, memo })
    }

    pub(super) fn game(&self) -> &'a Game {
        self.game
    }

    /// The fewest guesses that may be enough for all candidates.
    pub(super) fn least_max(&self) -> u32 {
        self.scan.least_max(self.candidates.len())
    }

    /// A strategy that costs the least of all that keep the cap; nothing if none does.
    pub(super) fn best_tree(&self, cap: u32) -> Result<Option<Tree>, Stopped> {
        let form = self.renamer.form(self.candidates);
        let cost = self.solve(&form, cap, INFEASIBLE)?;
        if cost >= INFEASIBLE {
            return Ok(None);
        }
        if !self.scan.last_only {
            self.progress.best.fetch_min(cost.into(), Relaxed);
            self.progress.bound.fetch_max(cost.into(), Relaxed);
        }
        let mut tree = Tree::default();
        self.build(&mut tree, self.candidates, cap)?;
        Ok(Some(tree))
    }

    /// Adds a best strategy for a set to the tree and returns the number of its root: of those with the least cost, one
    /// with the smallest cap. Which one depends on the set alone: its guess is the first, in the order of
    /// [`Search::order`], that reaches the cost within that cap.
    fn build(&self, tree: &mut Tree, set: &[u32], left: u32) -> Result<u32, Stopped> {
        if set.len() <= 2 {
            let node = tree.push(self.game.code(set[0]), true);
            if let Some(&other) = set.get(1) {
                let class =
                    self.game.rules().score(&self.game.code(set[0]), &self.game.code(other));
                let child = tree.push(self.game.code(other), true);
                tree.link(node, class, child);
            }
            return Ok(node);
        }
        let form = self.renamer.form(set);
        let cost = self.solve(&form, left, INFEASIBLE)?;
        let left = self.least_cap(&form, left, cost)?;
        let guess = self.expand(&form, left, cost + 1)?.expect("some guess reaches the cost");
        let guess = form.naming.inverse().apply(&self.game.code(guess));
        let node = tree.push(guess, set.binary_search(&self.game.index(&guess)).is_ok());
        let winning = self.game.rules().answers().winning();
        let mut parts = vec![vec![]; usize::from(winning.0) + 1];
        for &code in set {
            let class = self.game.rules().score(&guess, &self.game.code(code));
            parts[usize::from(class.0)].push(code);
        }
        for (class, part) in (0..winning.0).zip(&parts).filter(|(_, part)| !part.is_empty()) {
            let child = self.build(tree, part, after(left))?;
            tree.link(node, Class(class), child);
        }
        Ok(node)
    }

    /// The smallest cap within which a set costs no more. (Where only the last guess counts, a cap is part of the
    /// cost.)
    fn least_cap(&self, form: &Form, left: u32, cost: u32) -> Result<u32, Stopped> {
        // At 2 n - 1 the guess tells all others apart, and no cap is smaller than what that keeps.
        if self.scan.last_only || cost < 2 * form.codes.len() as u32 {
            return Ok(left);
        }
        for cap in self.scan.least_max(form.codes.len())..left {
            if self.solve(form, cap, cost + 1)? <= cost {
                return Ok(cap);
            }
        }
        Ok(left)
    }

    /// The cost of a set if it is below `limit`, else a bound that is not.
    fn solve(&self, form: &Form, left: u32, limit: u32) -> Result<u32, Stopped> {
        let known = self.known(form, left)?;
        if known.exact || known.least >= limit {
            return Ok(known.least);
        }
        let cost = self.cost(form, left, limit)?;
        self.memo.put(&key(form, left), Known { least: cost, exact: cost < limit });
        Ok(cost)
    }

    /// The first guess of those that cost the least, if that is below `limit`.
    fn expand(&self, form: &Form, left: u32, limit: u32) -> Result<Option<u32>, Stopped> {
        let position = self.scan.position(form, left)?;
        if let Some(guess) = self.scan.teller(&position) {
            return Ok(Some(guess));
        }
        let (order, orbits) = self.order(&position, limit)?;
        let (_, place) = self.try_in_turn(&position, &order, orbits, limit)?;
        Ok(place.map(|place| position.guesses.list[place as usize]))
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
        let mut tried = HashSet::new();
        for &(cost, guess) in order {
            if cost >= best || best <= least {
                break;
            }
            // A guess that is like another one, or makes the same parts, costs the same.
            if !orbits.is_new(guess, self.budget)? || !tried.insert(position.partition(guess)) {
                continue;
            }
            let cost = self.descend(position, guess, cost, best)?;
            if cost < best {
                (best, choice) = (cost, Some(guess));
                self.tell(position, cost);
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
        let (first, rest) = order.split_at(1);
        let mut others = vec![];
        orbits.is_new(first[0].1, self.budget)?;
        for &(cost, guess) in rest {
            if orbits.is_new(guess, self.budget)? {
                others.push((cost, guess));
            }
        }
        let alone = Orbits::new(&self.renamer, position.guesses, vec![]);
        let best = AtomicU32::new(self.try_in_turn(position, first, alone, limit)?.0);
        let next = AtomicUsize::new(0);
        let work = |_| {
            while let Some(&(cost, guess)) = others.get(next.fetch_add(1, Relaxed)) {
                let limit = best.load(Relaxed);
                if cost >= limit || limit <= least {
                    break;
                }
                let cost = self.descend(position, guess, cost, limit)?;
                if cost < best.fetch_min(cost, Relaxed) {
                    self.tell(position, cost);
                }
            }
            Ok(())
        };
        (0..self.limits.threads).into_par_iter().with_max_len(1).try_for_each(work)?;
        Ok(best.into_inner())
    }

    /// Tells how good the best strategy for the whole is.
    fn tell(&self, position: &Position<'_>, cost: u32) {
        let whole = position.form.codes.len() == self.candidates.len();
        if whole && position.left == UNCAPPED {
            self.progress.best.fetch_min(cost.into(), Relaxed);
        }
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
        let pack = |(guess, cost): (u32, u32)| {
            let behind = u64::from(behind[guess as usize]);
            (cost < limit).then_some(u64::from(cost) << 33 | behind << 32 | u64::from(guess))
        };
        let mut keys: Vec<u64> = (0..).zip(self.scan.costs(position)?).filter_map(pack).collect();
        keys.sort_unstable();
        let order: Vec<_> = keys.into_iter().map(|key| ((key >> 33) as u32, key as u32)).collect();
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
            let codes: Vec<u32> = part.iter().map(|&i| position.form.codes[i as usize]).collect();
            let form = self.renamer.form(&codes);
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

    /// The cost of a guess if it is below `limit`, else a bound that is not.
    fn descend(
        &self,
        position: &Position<'_>,
        guess: u32,
        cost: u32,
        limit: u32,
    ) -> Result<u32, Stopped> {
        let left = after(position.left);
        let Some(Refined { mut sum, mut open }) = self.refine(position, guess, cost, limit)? else {
            return Ok(limit);
        };
        // While there is nothing to beat, no class waits for what another leaves of the limit; nor do the classes of
        // the whole, whose limit is wide at first and exact when caps are lowered.
        let whole = position.form.codes.len() == self.candidates.len();
        if self.limits.threads > 1 && (whole || limit >= INFEASIBLE / 2) {
            let costs = open
                .par_iter()
                .with_max_len(1)
                .map(|(least, form)| Ok(self.solve(form, left, limit - (sum - least))? - least));
            let more: Vec<u32> = costs.collect::<Result<_, Stopped>>()?;
            return Ok(more
                .iter()
                .fold(sum, |sum, more| sum.saturating_add(*more))
                .min(INFEASIBLE));
        }
        // The largest come first; the smallest are cheapest to settle.
        while let Some((least, form)) = open.pop() {
            sum += self.solve(&form, left, limit - (sum - least))? - least;
            if sum >= limit {
                break;
            }
        }
        Ok(sum)
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

    /// What is known of a set; at the first meeting it is measured against every guess.
    fn known(&self, form: &Form, left: u32) -> Result<Known, Stopped> {
        if let Some(known) = self.glance(form, left) {
            return Ok(known);
        }
        let n = form.codes.len();
        let position = self.scan.position(form, left)?;
        let all: Vec<u32> = (0..n as u32).collect();
        let known = match self.scan.by_members(&position, &all, left) {
            Some(cost) => Known { least: cost, exact: true },
            None => {
                if self.progress.nodes.fetch_add(1, Relaxed) >= self.limits.max_nodes {
                    return Err(Stopped);
                }
                self.budget.check()?;
                let least = self.scan.least_cost(&position)?;
                // At 2 n every class has one or two secrets, and these bounds are exact.
                let exact =
                    least >= INFEASIBLE || (self.scan.is_plain(left) && least <= 2 * n as u32);
                Known { least, exact }
            }
        };
        self.memo.put(&key(form, left), known);
        Ok(known)
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
