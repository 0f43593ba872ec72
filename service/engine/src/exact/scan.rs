//! What every guess must cost at least, by the sizes of the classes that it makes of a set.
//!
//! Owns what a set costs by its size, and the measuring of a set against every different guess. What is known of the
//! very classes of a guess is for `search`, which corrects a measured cost class by class: so however a set is
//! measured, the cost of a guess is [`Scan::least`] of its losing classes, added up, and where guesses are counted
//! one more for each secret. Any way to find that sum will do; [`Scan::costs`] takes the fastest that fits the set.

mod many;

use std::{cmp::Reverse, sync::OnceLock};

use super::{
    guesses::{Guesses, Matrix, WON},
    rename::{Form, Renamer},
    size_bound::SizeBound,
};
use crate::{
    budget::{Budget, Stopped},
    game::Game,
    kernel::{BYTE_ROWS, ByteLanes, Kernel, LANES, Lanes},
    partition::COMPARED,
};

/// Guesses left, where nothing limits them.
pub(super) const UNCAPPED: u32 = 255;
/// The cost of what cannot be done; sums of a few hundred of them fit 32 bits.
pub(super) const INFEASIBLE: u32 = 1 << 23;

/// For whole sets from this size on tables of cells are made: they take some milliseconds.
const TABLE_SET: usize = 256;

/// What a byte can be.
const BYTES: usize = 256;

/// How the sets of one search are measured.
pub(super) struct Scan<'a> {
    game: &'a Game,
    budget: &'a Budget,
    /// Whether only the secrets found with the very last guess are counted, instead of all guesses.
    pub(super) last_only: bool,
    bound: SizeBound,
    /// The size bound of sets of each size as lines, where their products fit the kernel's bytes.
    lines: Vec<Vec<u8>>,
    /// The cells of the answers that do not win.
    classes: Vec<u8>,
    /// The cell of the one that does.
    won: u8,
    /// The different guesses, by the number of absent symbols of each kind.
    guesses: Vec<OnceLock<Guesses>>,
    /// Whether tables of cells are made.
    tables: bool,
}

/// A set with its cells, on which guesses are tried.
pub(super) struct Position<'a> {
    pub(super) form: &'a Form,
    pub(super) guesses: &'a Guesses,
    /// Guesses left.
    pub(super) left: u32,
    matrix: Matrix<'a>,
}

impl Position<'_> {
    /// How a guess splits the set, whatever the classes are called: for each code the first one of its part. Whole
    /// partitions are compared, not hashes of them, because a proof rests on their being equal.
    pub(super) fn partition(&self, guess: u32) -> Box<[u16]> {
        let mut first = [u16::MAX; BYTES];
        let part = |i: usize| {
            let first = &mut first[usize::from(self.matrix.cell(i, guess))];
            *first = (*first).min(i as u16);
            *first
        };
        (0..self.form.codes.len()).map(part).collect()
    }

    /// The codes at these places.
    pub(super) fn codes(&self, places: &[u32]) -> Vec<u32> {
        places.iter().map(|&i| self.form.codes[i as usize]).collect()
    }

    /// Into how many classes one code of a part of the set splits that part; codes are given by their places in the set.
    fn classes(&self, part: &[u32], member: u32) -> usize {
        let guess = self.guesses.place(self.form.codes[member as usize]);
        let mut seen = [0_u64; 4];
        for &i in part {
            let cell = self.matrix.cell(i as usize, guess);
            seen[usize::from(cell >> 6)] |= 1 << (cell & 63);
        }
        seen.iter().map(|seen| seen.count_ones() as usize).sum()
    }
}

impl<'a> Scan<'a> {
    /// For subsets of the set `whole`.
    pub(super) fn new(
        renamer: &Renamer<'a>,
        whole: &Form,
        last_only: bool,
        budget: &'a Budget,
    ) -> Result<Scan<'a>, Stopped> {
        let game = renamer.game;
        let answers = game.rules().answers();
        let kinds = game.rules().not_first().count_ones() as usize + 1;
        let views = (game.rules().symbols() + 1) * kinds;
        let size = whole.codes.len();
        let (classes, won) = match answers.cells() {
            // Labels.
            [] => ((0..size as u8).collect(), WON),
            [classes @ .., won] => (classes.to_vec(), *won),
        };
        let guesses = match renamer.is_fixed() {
            true => vec![Guesses::fixed(game, &whole.codes, budget)?.into()],
            false => (0..views).map(|_| OnceLock::new()).collect(),
        };
        let mut scan = Scan {
            game,
            budget,
            last_only,
            bound: SizeBound::new(0, &[]),
            lines: vec![],
            classes,
            won,
            guesses,
            tables: size >= TABLE_SET,
        };
        scan.bound = SizeBound::new(size as u32, &scan.caps(whole)?);
        let lines = |n| -> Vec<u8> {
            scan.bound.lines(n).into_iter().map(|offset| offset.min(255) as u8).collect()
        };
        scan.lines = (0..=size)
            .map(lines)
            .enumerate()
            .take_while(|(n, lines)| n * (lines.len() + 1) <= 255)
            .map(|(_, lines)| lines)
            .collect();
        Ok(scan)
    }

    /// A set on which guesses are tried, with so many of them left.
    pub(super) fn position<'p>(
        &'p self,
        form: &'p Form,
        left: u32,
    ) -> Result<Position<'p>, Stopped> {
        self.budget.check()?;
        let guesses = self.guesses(form)?;
        let matrix = guesses.matrix(self.game, &form.codes, self.budget)?;
        Ok(Position { form, guesses, left, matrix })
    }

    /// The losing classes of a guess, largest first: the places of their codes in the set.
    pub(super) fn parts(&self, position: &Position<'_>, guess: u32) -> Vec<Vec<u32>> {
        let mut sizes = [0_u16; BYTES];
        let n = position.form.codes.len();
        let cell = |i| usize::from(position.matrix.cell(i, guess));
        (0..n).for_each(|i| sizes[cell(i)] += 1);
        let mut parts: Vec<Vec<u32>> = vec![];
        let mut places = [0_u8; BYTES];
        for class in self.classes.iter().map(|&class| usize::from(class)) {
            if sizes[class] > 0 {
                places[class] = parts.len() as u8;
                parts.push(Vec::with_capacity(sizes[class].into()));
            }
        }
        for i in (0..n).filter(|&i| cell(i) != self.won.into()) {
            parts[usize::from(places[cell(i)])].push(i as u32);
        }
        parts.sort_by_key(|part| Reverse(part.len()));
        parts
    }

    /// Whether a guess leaves one or two secrets in every class, so that it costs what it must.
    pub(super) fn is_settled_by(&self, position: &Position<'_>, guess: u32) -> bool {
        let mut sizes = [0_u8; BYTES];
        (0..position.form.codes.len()).all(|i| {
            let size = &mut sizes[usize::from(position.matrix.cell(i, guess))];
            *size += 1;
            *size <= 2
        })
    }

    /// What each different guess must cost by the sizes of its classes.
    pub(super) fn costs(&self, position: &Position<'_>) -> Result<Vec<u32>, Stopped> {
        let Position { form, guesses, left, matrix } = position;
        let n = form.codes.len();
        let base = if self.last_only { 0 } else { n as u32 };
        let next = after(*left);
        let mut costs: Vec<u32> = match self.sums(position) {
            Some(sums) => sums.iter().map(|&sum| u32::from(sum) + base).collect(),
            _ if self.is_paired(position) => self.costs_paired(position, 0)?,
            _ if self.classes.len() > COMPARED => self.costs_one_by_one(matrix, n, next, base)?,
            _ if n <= BYTE_ROWS && !self.last_only => self.costs_bytes(matrix, n, next)?,
            _ => self.costs_any(matrix, n, next, base)?,
        };
        costs.truncate(guesses.list.len());
        Ok(costs)
    }

    /// What one guess must cost by the sizes of its classes.
    pub(super) fn cost(&self, position: &Position<'_>, guess: u32) -> u32 {
        let own = if self.last_only { 0 } else { position.form.codes.len() as u32 };
        let left = after(position.left);
        let parts = self.parts(position, guess);
        own + parts.iter().map(|part| self.least(part.len(), left)).sum::<u32>()
    }

    /// The least of the costs and a guess that has it, of a set for which [`Scan::by_members`] found none.
    pub(super) fn least_cost(&self, position: &Position<'_>) -> Result<(u32, u32), Stopped> {
        if let Some(sums) = self.sums(position) {
            // Found without leaving the bytes, as most sets are only ever asked for this.
            let (sum, guess) = first_least(&sums[..position.guesses.list.len()]);
            return Ok((u32::from(sum) + position.form.codes.len() as u32, guess));
        }
        let costs = match self.is_paired(position) {
            true => {
                // What tells all apart and cannot win; that no candidate tells all apart was seen if it matters.
                let all_apart = 2 * position.form.codes.len() as u32;
                let enough = all_apart - u32::from(!self.is_plain(position.left));
                self.costs_paired(position, enough)?
            }
            false => self.costs(position)?,
        };
        let costs = &costs[..costs.len().min(position.guesses.list.len())];
        let (cost, guess) = first_least(costs);
        Ok((cost.min(INFEASIBLE), guess))
    }

    /// What the classes of each guess must cost, padding included, where that fits bytes and no cap cuts it off.
    fn sums<'p>(&self, position: &Position<'p>) -> Option<&'p [u8]> {
        let Position { form, left, matrix, .. } = position;
        let (n, next) = (form.codes.len(), after(*left));
        let fits = self.fits(n, next) && !self.last_only && self.classes.len() <= COMPARED;
        let lines = self.lines.get(n).filter(|_| fits)?;
        Some(form.sums.get_or_init(|| {
            let mut sums = vec![0; matrix.stride];
            Kernel::get().bound(matrix.all(0), &matrix.rows, &self.classes, lines, &mut sums);
            sums
        }))
    }

    /// Whether a class of `n` secrets may be found with so many guesses.
    fn fits(&self, n: usize, left: u32) -> bool {
        left == UNCAPPED || n <= self.bound.room(left) as usize
    }

    /// Costs where counts fit a byte: by the lines of the size bound, all lanes at once.
    fn costs_bytes(&self, matrix: &Matrix<'_>, n: usize, next: u32) -> Result<Vec<u32>, Stopped> {
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
    fn costs_any(
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

    /// The cost of a small part of a set if one of its own codes shows it: 2 n - 1 if the code tells all others apart,
    /// 2 n (which no other guess can beat then) if it leaves a single pair. `part` are places in the set.
    pub(super) fn by_members(
        &self,
        position: &Position<'_>,
        part: &[u32],
        left: u32,
    ) -> Option<u32> {
        let n = part.len();
        if n > self.classes.len() + 1 || self.last_only || left < 2 {
            return None;
        }
        let mut most = 0;
        for &member in part {
            most = most.max(position.classes(part, member));
            if most == n {
                return Some(2 * n as u32 - 1);
            }
        }
        (most + 1 == n && self.is_plain(left)).then_some(2 * n as u32)
    }

    /// The first code of a set that tells all others apart: the first of the best guesses, as no other guess does that.
    pub(super) fn teller(&self, position: &Position<'_>) -> Option<u32> {
        let codes = &position.form.codes;
        if codes.len() > self.classes.len() + 1 || self.last_only || position.left < 2 {
            return None;
        }
        let all: Vec<u32> = (0..codes.len() as u32).collect();
        let tells = |&&member: &&u32| position.classes(&all, member) == all.len();
        all.iter().find(tells).map(|&member| codes[member as usize])
    }

    /// What `n` secrets must cost of which none tells all others apart.
    pub(super) fn least_apart(&self, n: usize, left: u32) -> u32 {
        let least = self.least(n, left);
        if self.is_plain(left) { least.max(2 * n as u32) } else { least }
    }

    /// What `n` secrets must cost with so many guesses left; exact for one and two.
    pub(super) fn least(&self, n: usize, left: u32) -> u32 {
        if n > self.bound.room(left) as usize {
            INFEASIBLE
        } else if self.last_only {
            n as u32 - self.bound.room(left.saturating_sub(1)).min(n as u32)
        } else {
            self.bound.total(n)
        }
    }

    /// The fewest guesses that may be enough for all of `n` secrets.
    pub(super) fn least_max(&self, n: usize) -> u32 {
        self.bound.least_max(n)
    }

    /// Whether guesses are counted and three more are allowed: then bounds of up to 2 n are costs.
    pub(super) fn is_plain(&self, left: u32) -> bool {
        !self.last_only && left >= 3
    }

    /// The largest class, for each losing answer, that any guess makes of the whole.
    fn caps(&self, whole: &Form) -> Result<Vec<u32>, Stopped> {
        let Position { matrix, guesses, .. } = self.position(whole, UNCAPPED)?;
        let mut caps = vec![0; self.classes.len()];
        let mut counts: Vec<Lanes> = vec![[0; LANES]; self.classes.len()];
        for start in (0..matrix.stride).step_by(LANES) {
            self.budget.check()?;
            counts.fill([0; LANES]);
            Kernel::get().tally(matrix.all(start), &matrix.rows, &self.classes, &mut counts);
            // What fills up the last lanes is no guess.
            let lanes = LANES.min(guesses.list.len() - start);
            for (cap, counts) in caps.iter_mut().zip(&counts) {
                *cap = counts[..lanes].iter().copied().fold(*cap, u32::max);
            }
        }
        Ok(caps)
    }

    pub(super) fn guesses(&self, form: &Form) -> Result<&Guesses, Stopped> {
        if let [guesses] = &self.guesses[..]
            && let Some(fixed) = guesses.get()
        {
            return Ok(fixed);
        }
        let kinds = self.guesses.len() / (self.game.rules().symbols() + 1);
        let [first, other] = form.absent.map(usize::from);
        let slot = &self.guesses[first * kinds + other];
        if let Some(guesses) = slot.get() {
            return Ok(guesses);
        }
        let guesses = Guesses::new(self.game, form.absent, self.tables, self.budget)?;
        // Another thread may have been earlier with the same.
        Ok(slot.get_or_init(|| guesses))
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

/// The least of some costs, and where it is first.
fn first_least<T: Copy + Ord>(costs: &[T]) -> (T, u32) {
    let least = costs.iter().copied().min().expect("there are guesses");
    let place = costs.iter().position(|&cost| cost == least).expect("it is one of them");
    (least, place as u32)
}

/// Guesses left after one more.
pub(super) fn after(left: u32) -> u32 {
    if left == UNCAPPED { UNCAPPED } else { left - 1 }
}

#[cfg(test)]
mod tests {
    use super::{super::rename::Renamer, *};
    use crate::rules::Rules;

    /// For a set of so many codes, with so many guesses left.
    #[track_caller]
    fn check(last_only: bool, size: usize, left: u32) {
        let game = Game::new(Rules::preset("mastermind", None).unwrap(), u32::MAX).unwrap();
        let renamer = Renamer::new(&game);
        let (all, budget): (Vec<u32>, _) = ((0..game.size()).collect(), Budget::unlimited());
        let scan = Scan::new(&renamer, &renamer.form(&all), last_only, &budget).unwrap();
        let mut set: Vec<u32> = (0..size as u32).map(|i| i * 7 % game.size()).collect();
        set.sort_unstable();
        let form = renamer.form(&set);
        let position = scan.position(&form, left).unwrap();
        let costs = scan.costs(&position).unwrap();
        assert_eq!(costs.len(), position.guesses.list.len());
        for (guess, cost) in (0..).zip(costs) {
            let parts = scan.parts(&position, guess);
            let least = parts.iter().map(|part| scan.least(part.len(), after(left))).sum::<u32>();
            let own = if last_only { 0 } else { size as u32 };
            assert_eq!(cost.min(INFEASIBLE), (own + least).min(INFEASIBLE), "{guess}");
        }
    }

    #[test]
    fn a_guess_costs_what_its_classes_must_however_it_is_measured() {
        for last_only in [false, true] {
            for left in [3, 5, UNCAPPED] {
                [4, 40, 200, 300].into_iter().for_each(|size| check(last_only, size, left));
            }
        }
    }
}
