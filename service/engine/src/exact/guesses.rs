//! The guesses that differ for a set in which some symbols do not occur.
//!
//! Symbols that no candidate has are all alike, so a guess may as well use the first of them first and the second of
//! them second. Late in a game the guesses that are left are a fraction of all, and their cells against the codes that
//! are left fit the cache.

use std::borrow::Cow;

use super::rename::Absent;
use crate::{
    budget::{Budget, Stopped},
    candidates::CHUNK,
    code::Code,
    game::Game,
    kernel::{Columns, Kernel, LANES, Probe, Rows},
    rules::MAX_ALPHABET,
    symmetry::renaming::{kinds, symbols},
};

/// Tables up to this size are kept; for larger ones the cells of a set are computed when it is met.
const TABLE_BYTES: usize = 64 << 20;

/// The different guesses for sets in which the last symbols of each kind do not occur.
#[derive(Debug)]
pub(super) struct Guesses {
    /// Their numbers, ascending.
    pub(super) list: Vec<u32>,
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

impl Guesses {
    /// The guesses for this number of absent symbols; with `table`, for use with many sets.
    pub(super) fn new(
        game: &Game,
        absent: Absent,
        table: bool,
        budget: &Budget,
    ) -> Result<Guesses, Stopped> {
        let rules = game.rules();
        let [kind, other] = kinds(rules).map(|kind| symbols(kind).collect::<Vec<u8>>());
        let last = |kind: Vec<u8>, count| kind[kind.len() - usize::from(count)..].to_vec();
        let mut guesses = Guesses {
            list: vec![],
            columns: Columns::new(rules.length(), 0),
            table: None,
            absent: [last(kind, absent[0]), last(other, absent[1])],
        };
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
        guesses.columns.resize(guesses.list.len());
        for (row, &guess) in guesses.list.iter().enumerate() {
            guesses.columns.set(row, &game.code(guess));
        }
        if table {
            guesses.table = guesses.make_table(game, budget)?;
        }
        Ok(guesses)
    }

    fn stride(&self) -> usize {
        self.list.len().next_multiple_of(LANES)
    }

    fn make_table(&self, game: &Game, budget: &Budget) -> Result<Option<Table>, Stopped> {
        let is_absent = |symbol: &u8| self.absent.iter().any(|absent| absent.contains(symbol));
        let can_occur = |index: &u32| !game.code(*index).symbols().iter().any(is_absent);
        let codes: Vec<u32> = (0..game.size()).filter(can_occur).collect();
        let bytes = codes.len().saturating_mul(self.stride());
        if bytes > TABLE_BYTES {
            return Ok(None);
        }
        let mut table = Table { cells: vec![0; bytes], rows: vec![0; game.size() as usize] };
        let rows = table.cells.chunks_exact_mut(self.stride());
        for ((row, &index), cells) in (0..).zip(&codes).zip(rows) {
            budget.check()?;
            table.rows[index as usize] = row;
            self.score(game, index, cells);
        }
        Ok(Some(table))
    }

    fn score(&self, game: &Game, code: u32, cells: &mut [u8]) {
        let probe = Probe::new(&game.code(code), game.rules().feedback());
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
        if self.list.get(guess as usize) == Some(&guess) {
            // Nothing is absent up to here: most often the list is that of all codes.
            return guess;
        }
        self.list.binary_search(&guess).expect("the guess is normal") as u32
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
