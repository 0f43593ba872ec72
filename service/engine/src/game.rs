//! Rules with their space and tables: what is dear to make and is shared by all calls on a game.

use std::sync::OnceLock;

use crate::{
    code::Code,
    kernel::{Columns, Kernel, LANES, Probe},
    rules::Rules,
    space::Space,
};

/// The most codes a game may have, whatever its caller allows: sums of fixed-point logarithms over a space fit
/// 64 bits up to here.
pub const MAX_CODES: u32 = 1 << 27;

/// Games up to this size keep the cell of every pair of codes: at most 64 MiB.
const TABLE_CODES: u32 = 8192;

/// A game ready to be played. Making one takes time in proportion to its codes (milliseconds for a million);
/// share it behind an `Arc`.
#[derive(Debug)]
pub struct Game {
    rules: Rules,
    space: Space,
    table: OnceLock<Table>,
}

/// The cells of every pair of codes: a row a secret, a byte a guess.
#[derive(Debug)]
pub(crate) struct Table {
    /// The rows, `stride` bytes apart.
    pub(crate) cells: Vec<u8>,
    /// Bytes from one row to the next, a whole number of [`LANES`].
    pub(crate) stride: usize,
}

/// The game has more codes than may be enumerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the game has {codes} codes, and at most {limit} are enumerated: shorten the code or the alphabet"
)]
pub struct TooLarge {
    /// Codes of the game.
    pub codes: u128,
    /// The most that are allowed.
    pub limit: u32,
}

impl Game {
    /// A game of at most `max_codes` codes.
    ///
    /// # Errors
    /// [`TooLarge`], before anything is allocated, beyond `max_codes` or [`MAX_CODES`].
    pub fn new(rules: Rules, max_codes: u32) -> Result<Game, TooLarge> {
        let (codes, limit) = (rules.size(), max_codes.min(MAX_CODES));
        if codes > u128::from(limit) {
            return Err(TooLarge { codes, limit });
        }
        let space = Space::new(&rules);
        Ok(Game { rules, space, table: OnceLock::new() })
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// How many codes there are.
    pub fn size(&self) -> u32 {
        self.space.size()
    }

    /// The code of a number below [`size`](Game::size); numbers are in alphabet order.
    pub fn code(&self, index: u32) -> Code {
        self.space.code(index)
    }

    /// The number of a code.
    pub fn index(&self, code: &Code) -> u32 {
        self.space.index(code)
    }

    /// The most bytes the game will hold, tables included that are not made yet.
    pub fn memory(&self) -> usize {
        let table = if self.has_table() { self.size() as usize * self.table_stride() } else { 0 };
        size_of::<Game>() + self.space.memory() + table
    }

    pub(crate) fn space(&self) -> &Space {
        &self.space
    }

    /// The table of all pairs, made on first use, where the game is small enough to have one.
    pub(crate) fn table(&self) -> Option<&Table> {
        self.has_table().then(|| self.table.get_or_init(|| self.make_table()))
    }

    fn has_table(&self) -> bool {
        self.size() <= TABLE_CODES
    }

    fn table_stride(&self) -> usize {
        (self.size() as usize).next_multiple_of(LANES)
    }

    fn make_table(&self) -> Table {
        let (size, stride) = (self.size(), self.table_stride());
        let mut codes = Columns::new(self.rules.length(), 0);
        self.space.fill(0, size as usize, &mut codes);
        let mut cells = vec![0; size as usize * stride];
        for (secret, row) in cells.chunks_exact_mut(stride).enumerate() {
            let probe = Probe::new(&self.code(secret as u32), self.rules.feedback());
            Kernel::get().score(&probe, &codes, row);
        }
        Table { cells, stride }
    }
}
