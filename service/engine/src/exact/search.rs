//! Branch and bound over sets of candidates.
//!
//! A set is measured once against every different guess (`scan`): that bounds what each guess must cost, and the
//! least of these bounds the set. A guess that may still beat the best one is refined, its classes' size bounds
//! replaced by what is known of these very classes, and only then are the classes solved, smallest first, each
//! within what the others leave of the limit.

use std::{
    collections::HashSet,
    sync::{
        OnceLock,
        atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
    },
};

use rayon::prelude::*;

use super::{
    Progress, SolveLimits,
    guesses::{Guesses, Matrix},
    memo::{Known, Memo},
    rename::{Form, Renamer},
    size_bound::SizeBound,
    symmetry::Orbits,
    tree::Tree,
};
use crate::{
    budget::{Budget, Stopped},
    feedback::Class,
    game::Game,
    kernel::{BYTE_ROWS, ByteLanes, Kernel, LANES, Lanes},
};

/// Guesses left, where nothing limits them.
pub(super) const UNCAPPED: u32 = 255;
/// The cost of what cannot be done; sums of a few hundred of them fit 32 bits.
const INFEASIBLE: u32 = 1 << 23;

/// From this size on threads share the guesses of a set: each is milliseconds of work.
const SHARED_SET: usize = 100;
/// For whole sets from this size on tables of cells are made: they take some milliseconds.
const TABLE_SET: usize = 256;
/// From this size on a set is searched for symmetries: it costs as much as refining a few guesses.
const SYMMETRIC_SET: usize = 20;
/// With fewer guesses than this a symmetry has nothing to save.
const SYMMETRIC_GUESSES: usize = 8;

pub(super) struct Search<'a> {
    game: &'a Game,
    candidates: &'a [u32],
    /// Whether only the secrets found with the very last guess are counted, instead of all guesses.
    last_only: bool,
    limits: SolveLimits,
    progress: &'a Progress,
    budget: &'a Budget,
    renamer: Renamer<'a>,
    bound: SizeBound,
    /// The size bound of sets of each size as lines, where their products fit the kernel's bytes.
    lines: Vec<Vec<u8>>,
    /// The cells of the answers that do not win.
    classes: Vec<u8>,
    /// The different guesses, by the number of absent symbols of each kind.
    guesses: Vec<OnceLock<Guesses>>,
    memo: Memo,
}

/// A set with its cells, on which guesses are tried.
struct Position<'a> {
    form: &'a Form,
    guesses: &'a Guesses,
    matrix: Matrix<'a>,
    left: u32,
}

/// What is known of a guess by its classes.
struct Refined {
    /// What it must cost.
    sum: u32,
    /// The classes that are not settled, largest first, with what each must cost.
    open: Vec<(u32, Form)>,
}

impl Position<'_> {
    /// How a guess splits the set, whatever the classes are called: for each code the first one of its part. Whole
    /// partitions are compared, not hashes of them, because a proof rests on their being equal.
    fn partition(&self, guess: u32) -> Box<[u16]> {
        let mut first = [u16::MAX; 256];
        let part = |i: usize| {
            let first = &mut first[usize::from(self.matrix.cell(i, guess))];
            *first = (*first).min(i as u16);
            *first
        };
        (0..self.form.codes.len()).map(part).collect()
    }
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
        let answers = game.rules().answers();
        let kinds = game.rules().not_first().count_ones() as usize + 1;
        let views = (game.rules().symbols() + 1) * kinds;
        let mut search = Search {
            game,
            candidates,
            last_only,
            limits,
            progress,
            budget,
            renamer: Renamer::new(game),
            bound: SizeBound::new(0, &[]),
            lines: vec![],
            classes: answers.cells()[..usize::from(answers.winning().0)].to_vec(),
            guesses: (0..views).map(|_| OnceLock::new()).collect(),
            memo: Memo::new(limits.memo_bytes),
        };
        search.bound = SizeBound::new(candidates.len() as u32, &search.caps()?);
        let lines = |n| -> Vec<u8> {
            search.bound.lines(n).into_iter().map(|offset| offset.min(255) as u8).collect()
        };
        search.lines = (0..candidates.len() + 1)
            .map(lines)
            .enumerate()
            .take_while(|(n, lines)| n * (lines.len() + 1) <= 255)
            .map(|(_, lines)| lines)
            .collect();
        Ok(search)
    }

    pub(super) fn game(&self) -> &'a Game {
        self.game
    }

    /// The fewest guesses that may be enough for all candidates.
    pub(super) fn least_max(&self) -> u32 {
        self.bound.least_max(self.candidates.len())
    }

    /// A strategy that costs the least of all that keep the cap; nothing if none does.
    pub(super) fn best_tree(&self, cap: u32) -> Result<Option<Tree>, Stopped> {
        let form = self.renamer.form(self.candidates);
        let cost = self.solve(&form, cap, INFEASIBLE)?;
        if cost >= INFEASIBLE {
            return Ok(None);
        }
        if !self.last_only {
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
        let (_, place) = self.expand(&form, left, cost + 1)?;
        let place = place.expect("some guess reaches the cost");
        let guess = self.game.code(self.guesses(&form)?.list[place as usize]);
        let guess = form.naming.inverse().apply(&guess);
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
        if self.last_only || cost < 2 * form.codes.len() as u32 {
            return Ok(left);
        }
        for cap in self.bound.least_max(form.codes.len())..left {
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

    /// Tries the guesses of a set: the least cost below `limit` and the first guess that reaches it, or a bound
    /// that is not below.
    fn expand(&self, form: &Form, left: u32, limit: u32) -> Result<(u32, Option<u32>), Stopped> {
        let position = self.position(form, left)?;
        let (order, orbits) = self.order(&position, limit)?;
        self.try_in_turn(&position, &order, orbits, limit)
    }

    /// The same where it does not matter which guess it is: large sets are shared among the threads.
    fn cost(&self, form: &Form, left: u32, limit: u32) -> Result<u32, Stopped> {
        let position = self.position(form, left)?;
        let (order, orbits) = self.order(&position, limit)?;
        if self.limits.threads > 1 && form.codes.len() >= SHARED_SET && order.len() > 1 {
            self.try_shared(&position, &order, orbits, limit)
        } else {
            Ok(self.try_in_turn(&position, &order, orbits, limit)?.0)
        }
    }

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
        let mut keys: Vec<u64> = (0..).zip(self.scan(position)?).filter_map(pack).collect();
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
        let mut open = vec![];
        for part in self.parts(position, guess) {
            if self.least(part.len(), left) >= INFEASIBLE {
                return Ok(None);
            }
            // One or two secrets cost what their number says.
            if part.len() > 2 {
                let form = self.renamer.form(&part);
                let known = self.known(&form, left)?;
                sum += known.least - self.least(part.len(), left);
                if !known.exact {
                    open.push((known.least, form));
                }
            }
            if sum >= limit {
                return Ok(None);
            }
        }
        Ok(Some(Refined { sum, open }))
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

    /// The losing classes of a guess, largest first.
    fn parts(&self, position: &Position<'_>, guess: u32) -> Vec<Vec<u32>> {
        let answers = self.game.rules().answers();
        let mut parts = vec![vec![]; self.classes.len() + 1];
        for (i, &code) in position.form.codes.iter().enumerate() {
            let class = answers.of_cell(position.matrix.cell(i, guess));
            parts[usize::from(class.0)].push(code);
        }
        parts.truncate(self.classes.len());
        parts.retain(|part| !part.is_empty());
        parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
        parts
    }

    /// What is known of a set; at the first meeting it is measured against every guess.
    fn known(&self, form: &Form, left: u32) -> Result<Known, Stopped> {
        let n = form.codes.len();
        if n <= 2 || self.least(n, left) >= INFEASIBLE {
            return Ok(Known { least: self.least(n, left), exact: true });
        }
        let key = key(form, left);
        if let Some(known) = self.memo.get(&key) {
            return Ok(known);
        }
        if left != UNCAPPED
            && let Some(known) = self.known_uncapped(form, left)
        {
            self.memo.put(&key, known);
            return Ok(known);
        }
        let position = self.position(form, left)?;
        let known = match self.by_members(&position) {
            Some(cost) => Known { least: cost, exact: true },
            None => {
                if self.progress.nodes.fetch_add(1, Relaxed) >= self.limits.max_nodes {
                    return Err(Stopped);
                }
                self.budget.check()?;
                let costs = self.scan(&position)?;
                let least = costs.into_iter().min().unwrap_or(INFEASIBLE).min(INFEASIBLE);
                // At 2 n every class has one or two secrets, and these bounds are exact.
                let exact = least >= INFEASIBLE || (self.is_plain(left) && least <= 2 * n as u32);
                Known { least, exact }
            }
        };
        self.memo.put(&key, known);
        Ok(known)
    }

    /// What a set costs without a cap bounds what it costs with one.
    fn known_uncapped(&self, form: &Form, left: u32) -> Option<Known> {
        let known = self.memo.get(&key(form, UNCAPPED))?;
        let within = self.is_plain(left) && known.least <= 2 * form.codes.len() as u32;
        Some(Known { least: known.least, exact: known.exact && within })
    }

    /// Whether guesses are counted and three more are allowed: then bounds of up to 2 n are costs.
    fn is_plain(&self, left: u32) -> bool {
        !self.last_only && left >= 3
    }

    /// The cost of a small set if one of its own codes shows it: 2 n - 1 if the code tells all others apart, 2 n (which
    /// no other guess can beat then) if it leaves a single pair.
    fn by_members(&self, position: &Position<'_>) -> Option<u32> {
        let n = position.form.codes.len();
        if n > self.classes.len() + 1 || !self.is_plain(position.left) {
            return None;
        }
        let mut most = 0;
        for &code in &position.form.codes {
            let guess = position.guesses.place(code);
            let mut seen = [0_u64; 4];
            for i in 0..n {
                let cell = position.matrix.cell(i, guess);
                seen[usize::from(cell >> 6)] |= 1 << (cell & 63);
            }
            most = most.max(seen.iter().map(|seen| seen.count_ones() as usize).sum());
            if most == n {
                return Some(2 * n as u32 - 1);
            }
        }
        (most + 1 == n).then_some(2 * n as u32)
    }

    /// What each different guess must cost by the sizes of its classes.
    fn scan(&self, position: &Position<'_>) -> Result<Vec<u32>, Stopped> {
        let Position { form, guesses, matrix, left } = position;
        let n = form.codes.len();
        let base = if self.last_only { 0 } else { n as u32 };
        let next = after(*left);
        let fits = next == UNCAPPED || n <= self.bound.room(next) as usize;
        let mut costs: Vec<u32> = match self.lines.get(n) {
            Some(lines) if fits && !self.last_only => {
                let mut sums = vec![0; matrix.stride];
                let classes = &self.classes;
                Kernel::get().bound(matrix.all(0), &matrix.rows, classes, lines, &mut sums);
                sums.into_iter().map(|sum| u32::from(sum) + base).collect()
            }
            _ if n <= BYTE_ROWS && !self.last_only => self.scan_bytes(matrix, n, next)?,
            _ => self.scan_any(matrix, n, next, base)?,
        };
        costs.truncate(guesses.list.len());
        Ok(costs)
    }

    /// Costs where counts fit a byte: by the lines of the size bound, all lanes at once.
    fn scan_bytes(&self, matrix: &Matrix<'_>, n: usize, next: u32) -> Result<Vec<u32>, Stopped> {
        let lines: Vec<u16> = self.bound.lines(n).into_iter().map(|offset| offset as u16).collect();
        let room = self.bound.room(next).min(u32::from(u8::MAX)) as u8;
        let mut costs = Vec::with_capacity(matrix.stride);
        let mut counts: Vec<ByteLanes> = vec![[0; LANES]; self.classes.len()];
        for start in (0..matrix.stride).step_by(LANES) {
            self.budget.check()?;
            Kernel::get().count(matrix.all(start), &matrix.rows, &self.classes, &mut counts);
            let mut sums = [n as u16; LANES];
            counts.iter().for_each(|counts| add_least(&mut sums, counts, &lines, room));
            let cost = |sum| if sum >= BEYOND { INFEASIBLE } else { u32::from(sum) };
            costs.extend(sums.map(cost));
        }
        Ok(costs)
    }

    /// Costs of any set.
    fn scan_any(
        &self,
        matrix: &Matrix<'_>,
        n: usize,
        next: u32,
        base: u32,
    ) -> Result<Vec<u32>, Stopped> {
        let least: Vec<u32> = (0..=n).map(|n| self.least(n, next)).collect();
        let mut costs = Vec::with_capacity(matrix.stride);
        let mut counts: Vec<Lanes> = vec![[0; LANES]; self.classes.len()];
        for start in (0..matrix.stride).step_by(LANES) {
            self.budget.check()?;
            counts.fill([0; LANES]);
            Kernel::get().tally(matrix.all(start), &matrix.rows, &self.classes, &mut counts);
            costs.extend((0..LANES).map(|lane| {
                base + counts.iter().map(|count| least[count[lane] as usize]).sum::<u32>()
            }));
        }
        Ok(costs)
    }

    /// What `n` secrets must cost with so many guesses left; exact for one and two.
    fn least(&self, n: usize, left: u32) -> u32 {
        if n > self.bound.room(left) as usize {
            INFEASIBLE
        } else if self.last_only {
            n as u32 - self.bound.room(left.saturating_sub(1)).min(n as u32)
        } else {
            self.bound.total(n)
        }
    }

    /// The largest class, for each losing answer, that any guess makes of the candidates.
    fn caps(&self) -> Result<Vec<u32>, Stopped> {
        let form = self.renamer.form(self.candidates);
        let Position { matrix, .. } = self.position(&form, UNCAPPED)?;
        let mut caps = vec![0; self.classes.len()];
        let mut counts: Vec<Lanes> = vec![[0; LANES]; self.classes.len()];
        for start in (0..matrix.stride).step_by(LANES) {
            self.budget.check()?;
            counts.fill([0; LANES]);
            Kernel::get().tally(matrix.all(start), &matrix.rows, &self.classes, &mut counts);
            for (cap, counts) in caps.iter_mut().zip(&counts) {
                *cap = counts.iter().copied().fold(*cap, u32::max);
            }
        }
        Ok(caps)
    }

    fn guesses(&self, form: &Form) -> Result<&Guesses, Stopped> {
        let kinds = self.guesses.len() / (self.game.rules().symbols() + 1);
        let [first, other] = form.absent.map(usize::from);
        let slot = &self.guesses[first * kinds + other];
        if let Some(guesses) = slot.get() {
            return Ok(guesses);
        }
        let table = self.candidates.len() >= TABLE_SET;
        let guesses = Guesses::new(self.game, form.absent, table, self.budget)?;
        // Another thread may have been earlier with the same.
        Ok(slot.get_or_init(|| guesses))
    }

    fn position<'p>(&'p self, form: &'p Form, left: u32) -> Result<Position<'p>, Stopped> {
        self.budget.check()?;
        let guesses = self.guesses(form)?;
        let matrix = guesses.matrix(self.game, &form.codes, self.budget)?;
        Ok(Position { form, guesses, matrix, left })
    }
}

/// A sum that stands for what cannot be done. 255 secrets cost less even if each takes one more guess than the last.
const BEYOND: u16 = 1 << 15;

/// Adds what a class of each size must cost: the greatest of `2 n - lines[0]`, `3 n - lines[1]`, and so on; with more
/// than `room` secrets it cannot be done.
fn add_least(sums: &mut [u16; LANES], counts: &ByteLanes, lines: &[u16], room: u8) {
    let mut most = [0; LANES];
    for (slope, &offset) in (2..).zip(lines) {
        for (most, &n) in most.iter_mut().zip(counts) {
            *most = (u16::from(n) * slope).saturating_sub(offset).max(*most);
        }
    }
    for ((sum, most), &n) in sums.iter_mut().zip(most).zip(counts) {
        *sum = sum.saturating_add(if n > room { BEYOND } else { most });
    }
}

/// Guesses left after one more.
fn after(left: u32) -> u32 {
    if left == UNCAPPED { UNCAPPED } else { left - 1 }
}

/// What the memo knows a set by.
fn key(form: &Form, left: u32) -> Vec<u32> {
    let mut key = Vec::with_capacity(form.codes.len() + 1);
    key.push(left);
    key.extend(&form.codes);
    key
}
