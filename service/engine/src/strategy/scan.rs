//! Measures every guess of a pool against the candidates.
//!
//! Guesses go through in blocks of one byte lane each; a block meets the candidates one after the other and
//! leaves with the size of each of its classes. Cells come from the table of the game if it has one and the
//! block is a run of codes, and are computed for the block otherwise.

use std::borrow::Cow;

use crate::{
    budget::{Budget, Stopped},
    game::Game,
    kernel::{Columns, Kernel, LANES, Lanes, Probe, Rows},
    strategy::Pool,
};

/// Candidates counted between two looks at the stop flag: a quarter of a million cells, some 50 us.
const TILE: usize = 4096;
/// Candidates whose cells are computed before they are counted: 16 KiB, half of a first-level cache.
const COMPUTED: usize = 255;

/// What is measured: the guesses, the candidates, and whether that is all of them.
pub(super) struct Plan<'a> {
    guesses: Guesses<'a>,
    /// The candidates, ascending.
    candidates: &'a [u32],
    /// Those that guesses are measured against.
    against: Cow<'a, [u32]>,
    pub(super) exhaustive: bool,
}

enum Guesses<'a> {
    /// Every code of the game.
    All,
    /// These codes, ascending.
    Some(Cow<'a, [u32]>),
}

impl<'a> Plan<'a> {
    /// Everything, where that takes at most `max_scores`; else an even sample of guesses (half of them candidates)
    /// against an even sample of the candidates.
    pub(super) fn new(game: &Game, candidates: &'a [u32], pool: Pool, max_scores: u64) -> Plan<'a> {
        let guesses = match pool {
            Pool::Any => u64::from(game.size()),
            Pool::Consistent => candidates.len() as u64,
        };
        if guesses.saturating_mul(candidates.len() as u64) <= max_scores {
            let guesses = match pool {
                Pool::Any => Guesses::All,
                Pool::Consistent => Guesses::Some(candidates.into()),
            };
            return Plan { guesses, candidates, against: candidates.into(), exhaustive: true };
        }
        // The first candidate is among the guesses and, with another, among those it is measured against: so the
        // best guess of the sample tells at least these two apart.
        let against = even(candidates.len(), max_scores.isqrt().max(2), |at| candidates[at]);
        let budget = (max_scores / against.len() as u64).max(2);
        let mut list = even(candidates.len(), budget / 2, |at| candidates[at]);
        if pool == Pool::Any {
            list.extend(even(game.size() as usize, budget / 2, |at| at as u32));
            list.sort_unstable();
            list.dedup();
        }
        Plan {
            guesses: Guesses::Some(list.into()),
            candidates,
            against: against.into(),
            exhaustive: false,
        }
    }
}

/// At most `most` of `count` things, evenly spaced, the first among them.
fn even(count: usize, most: u64, get: impl Fn(usize) -> u32) -> Vec<u32> {
    let most = (count as u64).min(most);
    (0..most).map(|i| get((u128::from(i) * count as u128 / u128::from(most)) as usize)).collect()
}

/// Measures every guess of the plan: `add` sums the cost of a block class by class, and `visit` gets the cost of
/// each guess, its number, and whether it is a candidate, in the order of the guesses.
pub(super) fn scan(
    game: &Game,
    plan: &Plan<'_>,
    add: impl Fn(&mut [u64; LANES], &Lanes),
    budget: &Budget,
    mut visit: impl FnMut(u64, u32, bool),
) -> Result<(), Stopped> {
    let mut candidates = plan.candidates.iter().copied().peekable();
    blocks(game, plan, budget, |guesses, counts| {
        let mut costs = [0; LANES];
        for counts in counts {
            add(&mut costs, counts);
        }
        for (&guess, cost) in guesses.iter().zip(costs) {
            while candidates.next_if(|&candidate| candidate < guess).is_some() {}
            visit(cost, guess, candidates.peek() == Some(&guess));
        }
    })
}

/// Runs the guesses through in blocks; `visit` gets the numbers of a block and the size of each of its classes.
fn blocks(
    game: &Game,
    plan: &Plan<'_>,
    budget: &Budget,
    mut visit: impl FnMut(&[u32], &[Lanes]),
) -> Result<(), Stopped> {
    let mut counter = Counter::new(game, budget);
    match (&plan.guesses, game.table()) {
        (Guesses::All, Some(table)) => {
            for start in (0..game.size()).step_by(LANES) {
                let rows =
                    Rows { cells: &table.cells, stride: table.stride, offset: start as usize };
                let counts = counter.stored(rows, &plan.against)?;
                visit(&run(start, game.size()), counts);
            }
        }
        (Guesses::All, None) => {
            let probes = counter.probes(&plan.against);
            for start in (0..game.size()).step_by(LANES) {
                let guesses = run(start, game.size());
                visit(&guesses, counter.computed(&guesses, &probes)?);
            }
        }
        (Guesses::Some(list), _) => {
            let probes = counter.probes(&plan.against);
            for guesses in list.chunks(LANES) {
                visit(guesses, counter.computed(guesses, &probes)?);
            }
        }
    }
    Ok(())
}

/// The numbers of a block of consecutive guesses.
fn run(start: u32, end: u32) -> Vec<u32> {
    (start..end.min(start + LANES as u32)).collect()
}

/// Counts the classes of one block after the other.
struct Counter<'a> {
    game: &'a Game,
    budget: &'a Budget,
    kernel: &'static Kernel,
    columns: Columns,
    cells: Vec<u8>,
    /// The numbers of the computed rows, which lie one after the other.
    rows: Vec<u32>,
    counts: Vec<Lanes>,
}

impl<'a> Counter<'a> {
    fn new(game: &'a Game, budget: &'a Budget) -> Counter<'a> {
        Counter {
            game,
            budget,
            kernel: Kernel::get(),
            columns: Columns::new(game.rules().length(), LANES),
            cells: vec![0; COMPUTED * LANES],
            rows: (0..COMPUTED as u32).collect(),
            counts: vec![[0; LANES]; game.rules().answers().list().len()],
        }
    }

    fn probes(&self, codes: &[u32]) -> Vec<Probe> {
        let rule = self.game.rules().feedback();
        codes.iter().map(|&index| Probe::new(&self.game.code(index), rule)).collect()
    }

    /// The classes of the guesses at `rows.offset` of a table against these candidates.
    fn stored(&mut self, rows: Rows<'_>, against: &[u32]) -> Result<&[Lanes], Stopped> {
        self.counts.fill([0; LANES]);
        for tile in against.chunks(TILE) {
            self.budget.check()?;
            self.kernel.tally(rows, tile, self.game.rules().answers().cells(), &mut self.counts);
        }
        Ok(&self.counts)
    }

    /// The classes of any guesses, at most a block of them.
    fn computed(&mut self, guesses: &[u32], against: &[Probe]) -> Result<&[Lanes], Stopped> {
        self.columns.resize(guesses.len());
        for (row, &guess) in guesses.iter().enumerate() {
            self.columns.set(row, &self.game.code(guess));
        }
        self.counts.fill([0; LANES]);
        for tile in against.chunks(COMPUTED) {
            self.budget.check()?;
            for (probe, cells) in tile.iter().zip(self.cells.chunks_exact_mut(LANES)) {
                self.kernel.score(probe, &self.columns, cells);
            }
            let rows = Rows { cells: &self.cells, stride: LANES, offset: 0 };
            let classes = self.game.rules().answers().cells();
            self.kernel.tally(rows, &self.rows[..tile.len()], classes, &mut self.counts);
        }
        Ok(&self.counts)
    }
}
