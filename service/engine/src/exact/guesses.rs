//! The guesses that differ for a set in which some symbols do not occur, and their cells.
//!
//! Symbols that no candidate has are all alike, so a guess may as well use the first of them first and the second of
//! them second. Late in a game the guesses that are left are a fraction of all, and their cells against the codes that
//! are left fit the cache. Where nothing can be renamed, all guesses are there, those that tell most secrets apart
//! first: many a small set is split by one of the first few.

use std::{borrow::Cow, cmp::Reverse, collections::HashMap};

use super::rename::Absent;
use crate::{
    budget::{Budget, Stopped},
    candidates::CHUNK,
    code::Code,
    game::Game,
    kernel::{Columns, Kernel, LANES, Probe, Rows},
    partition::Cells,
    rules::MAX_ALPHABET,
    symmetry::renaming::{kinds, symbols},
};

/// Tables up to this size are kept; for larger ones the cells of a set are computed when it is met.
const TABLE_BYTES: usize = 64 << 20;

/// The label of the secret that is guessed, where cells are labels.
pub(super) const WON: u8 = u8::MAX;
/// The most secrets that can be labelled: one label is [`WON`].
pub(super) const MAX_LABELLED: usize = 255;

/// The different guesses for sets in which the last symbols of each kind do not occur.
#[derive(Debug)]
pub(super) struct Guesses {
    /// Their numbers; ascending where something can be renamed.
    pub(super) list: Vec<u32>,
    /// The place of each guess of the game in the list, if it is there.
    places: Vec<u32>,
    columns: Columns,
    table: Option<Table>,
    /// The absent symbols of each kind, ascending.
    absent: [Vec<u8>; 2],
}

/// The cells of every code that can be a candidate.
#[derive(Debug)]
struct Table {
    cells: Vec<u8>,
    /// The row of each code of the game; meaningless for one that cannot be a candidate.
    rows: Vec<u32>,
}

/// The cells of a set: a row a code, a byte a guess.
pub(super) struct Matrix<'a> {
    cells: Cow<'a, [u8]>,
    pub(super) rows: Vec<u32>,
    pub(super) stride: usize,
}

impl Matrix<'_> {
    /// The cell of a guess against the `i`-th code of the set.
    pub(super) fn cell(&self, i: usize, guess: u32) -> u8 {
        self.cells[self.rows[i] as usize * self.stride + guess as usize]
    }

    pub(super) fn all(&self, offset: usize) -> Rows<'_> {
        Rows { cells: &self.cells, stride: self.stride, offset }
    }
}

impl Table {
    /// Room for a row of cells for each of these codes.
    fn new(game: &Game, codes: &[u32], stride: usize) -> Table {
        let cells = vec![0; codes.len() * stride];
        let mut table = Table { cells, rows: vec![0; game.size() as usize] };
        for (row, &index) in (0..).zip(codes) {
            table.rows[index as usize] = row;
        }
        table
    }
}

impl Guesses {
    /// The guesses for this number of absent symbols; with `table`, for use with many sets.
    pub(super) fn new(
        game: &Game,
        absent: Absent,
        table: bool,
        budget: &Budget,
    ) -> Result<Guesses, Stopped> {
        let [kind, other] = kinds(game.rules()).map(|kind| symbols(kind).collect::<Vec<u8>>());
        let last = |kind: Vec<u8>, count| kind[kind.len() - usize::from(count)..].to_vec();
        let absent = [last(kind, absent[0]), last(other, absent[1])];
        let mut guesses = Guesses::of(game, absent, budget)?;
        if table {
            let is_absent = |symbol: &u8| guesses.absent.iter().any(|kind| kind.contains(symbol));
            let can_occur = |index: &u32| !game.code(*index).symbols().iter().any(is_absent);
            let codes: Vec<u32> = (0..game.size()).filter(can_occur).collect();
            guesses.table = guesses.make_table(game, &codes, budget)?;
        }
        Ok(guesses)
    }

    /// All guesses, for subsets of `whole`, where nothing is renamed. If cells are more than a byte, there are at most
    /// [`MAX_LABELLED`] secrets, and a cell is then a label that its guess gives to a part of the whole.
    pub(super) fn fixed(game: &Game, whole: &[u32], budget: &Budget) -> Result<Guesses, Stopped> {
        let mut guesses = Guesses::of(game, [vec![], vec![]], budget)?;
        guesses.table = match game.rules().answers().planes() {
            1 => guesses.make_table(game, whole, budget)?,
            _ => Some(guesses.label(game, whole, budget)?),
        };
        let Some(mut table) = guesses.table.take() else { return Ok(guesses) };
        let mut seen = vec![[0_u64; 4]; guesses.stride()];
        for row in table.cells.chunks_exact(seen.len()) {
            budget.check()?;
            for (seen, &cell) in seen.iter_mut().zip(row) {
                seen[usize::from(cell >> 6)] |= 1 << (cell & 63);
            }
        }
        let parts = |&at: &u32| seen[at as usize].iter().map(|seen| seen.count_ones()).sum::<u32>();
        guesses.list.sort_by_key(|at| Reverse(parts(at)));
        let mut row = vec![0; seen.len()];
        for cells in table.cells.chunks_exact_mut(seen.len()) {
            budget.check()?;
            row.copy_from_slice(cells);
            for (cell, &from) in cells.iter_mut().zip(&guesses.list) {
                *cell = row[from as usize];
            }
        }
        guesses.settle(game);
        guesses.table = Some(table);
        Ok(guesses)
    }

    /// The guesses, with no table.
    fn of(game: &Game, absent: [Vec<u8>; 2], budget: &Budget) -> Result<Guesses, Stopped> {
        let columns = Columns::new(game.rules().length(), 0);
        let mut guesses = Guesses { list: vec![], places: vec![], columns, table: None, absent };
        for index in 0..game.size() {
            if (index as usize).is_multiple_of(CHUNK) {
                budget.check()?;
            }
            let code = game.code(index);
            let mut normal = code;
            guesses.normalise(&mut normal);
            if normal == code {
                guesses.list.push(index);
            }
        }
        guesses.settle(game);
        Ok(guesses)
    }

    /// Makes of the list what follows from it.
    fn settle(&mut self, game: &Game) {
        self.places.resize(game.size() as usize, u32::MAX);
        self.columns.resize(self.list.len());
        for (row, &guess) in self.list.iter().enumerate() {
            self.places[guess as usize] = row as u32;
            self.columns.set(row, &game.code(guess));
        }
    }

    fn stride(&self) -> usize {
        self.list.len().next_multiple_of(LANES)
    }

    /// A table of these codes, unless it is too large.
    fn make_table(
        &self,
        game: &Game,
        codes: &[u32],
        budget: &Budget,
    ) -> Result<Option<Table>, Stopped> {
        if codes.len().saturating_mul(self.stride()) > TABLE_BYTES {
            return Ok(None);
        }
        let mut table = Table::new(game, codes, self.stride());
        for (&index, cells) in codes.iter().zip(table.cells.chunks_exact_mut(self.stride())) {
            budget.check()?;
            self.score(game, index, cells);
        }
        Ok(Some(table))
    }

    /// A table of labels: each guess numbers its parts in the order of their first codes.
    fn label(&self, game: &Game, codes: &[u32], budget: &Budget) -> Result<Table, Stopped> {
        let (rules, stride) = (game.rules(), self.stride());
        let mut table = Table::new(game, codes, stride);
        let mut columns = Columns::new(rules.length(), 0);
        game.space().gather(codes, &mut columns);
        let mut cells = vec![0; columns.padded() * rules.answers().planes()];
        let mut labels = HashMap::new();
        for (place, &guess) in self.list.iter().enumerate() {
            budget.check()?;
            let probe = Probe::guess(&game.code(guess), rules.feedback());
            Kernel::get().score(&probe, &columns, &mut cells);
            let cells = Cells { padded: &cells, count: codes.len() };
            labels.clear();
            labels.insert(rules.answers().winning(), WON);
            for row in 0..codes.len() {
                let next = labels.len() as u8 - 1;
                let label = labels.entry(cells.class(rules.answers(), row)).or_insert(next);
                table.cells[row * stride + place] = *label;
            }
        }
        Ok(table)
    }

    fn score(&self, game: &Game, code: u32, cells: &mut [u8]) {
        let probe = Probe::secret(&game.code(code), game.rules().feedback());
        Kernel::get().score(&probe, &self.columns, cells);
    }

    /// The cells of a set.
    pub(super) fn matrix(
        &self,
        game: &Game,
        set: &[u32],
        budget: &Budget,
    ) -> Result<Matrix<'_>, Stopped> {
        let stride = self.stride();
        if let Some(table) = &self.table {
            let rows = set.iter().map(|&code| table.rows[code as usize]).collect();
            return Ok(Matrix { cells: Cow::Borrowed(&table.cells), rows, stride });
        }
        let mut cells = vec![0; set.len() * stride];
        for (&code, cells) in set.iter().zip(cells.chunks_exact_mut(stride)) {
            budget.check()?;
            self.score(game, code, cells);
        }
        Ok(Matrix { cells: Cow::Owned(cells), rows: (0..set.len() as u32).collect(), stride })
    }

    /// The place of a guess in the list.
    pub(super) fn place(&self, guess: u32) -> u32 {
        self.places[guess as usize]
    }

    /// Puts the absent symbols of a guess in the order of their first use.
    pub(super) fn normalise(&self, guess: &mut Code) {
        let mut names = [u8::MAX; MAX_ALPHABET];
        for absent in self.absent.iter().filter(|absent| !absent.is_empty()) {
            let mut next = absent.iter();
            for symbol in guess.symbols_mut().iter_mut().filter(|symbol| absent.contains(symbol)) {
                let name = &mut names[usize::from(*symbol)];
                if *name == u8::MAX {
                    *name = *next.next().expect("as many names as symbols");
                }
                *symbol = *name;
            }
        }
    }
}
