//! Brings sets of codes that are the same up to renaming to one form.
//!
//! Positions and symbols are put in an order that depends only on how they occur together, refined as in the colour
//! refinement of Weisfeiler and Leman. Where the refinement leaves two of them alike, the one that was first stays
//! first: so two sets that are renamings of each other nearly always come to one form, and two sets that come to one
//! form always are. A memo keyed by the form itself is therefore sound: no proof rests on a hash or an invariant.

use std::sync::OnceLock;

use crate::{
    code::Code,
    game::Game,
    rules::{MAX_ALPHABET, MAX_LENGTH},
    symmetry::renaming::{Renaming, kinds, movable, symbols},
};

/// Rounds of refinement. A third one was seen to tell no more sets apart.
const ROUNDS: usize = 2;

/// The colour of a symbol that no code of the set has: behind all others.
pub(super) const ABSENT: u64 = u64::MAX;

/// Renames sets of codes of one game.
#[derive(Debug)]
pub(super) struct Renamer<'a> {
    pub(super) game: &'a Game,
    pub(super) length: usize,
    pub(super) symbols: usize,
}

/// How many symbols occur in no code of a set: of those that may stand first, and of the others. In a form, they are
/// the last of their kind.
pub(super) type Absent = [u8; 2];

/// A set under the names that its own structure gives it.
#[derive(Debug)]
pub(super) struct Form {
    /// The renamed codes, ascending.
    pub(super) codes: Vec<u32>,
    pub(super) absent: Absent,
    /// What turned the set into this.
    pub(super) naming: Renaming,
    /// What the classes of each guess must cost, once `scan` has found that out: a set is measured when it is met, and
    /// once more when its guesses are tried.
    pub(super) sums: OnceLock<Vec<u8>>,
    /// How many guesses of the search led here.
    pub(super) depth: usize,
}

/// Colours: equal for what the refinement does not tell apart.
pub(super) struct Look {
    /// Of a symbol at a position, position by position; 0 if it does not occur there.
    cells: Vec<u64>,
    pub(super) places: [u64; MAX_LENGTH],
    pub(super) symbols: [u64; MAX_ALPHABET],
}

impl Look {
    /// The colours of the symbols at each position in turn.
    pub(super) fn rows(&self, symbols: usize) -> impl Iterator<Item = &[u64]> {
        self.cells.chunks_exact(symbols)
    }

    pub(super) fn cell(&self, symbols: usize, place: u8, symbol: usize) -> u64 {
        self.cells[usize::from(place) * symbols + symbol]
    }
}

impl<'a> Renamer<'a> {
    pub(super) fn new(game: &'a Game) -> Renamer<'a> {
        let rules = game.rules();
        Renamer { game, length: rules.length(), symbols: rules.symbols() }
    }

    /// Whether every set is a form: words and numbers have no other names, and labels of cells belong to the codes.
    pub(super) fn is_fixed(&self) -> bool {
        !self.game.rules().renames() || self.game.rules().answers().planes() > 1
    }

    pub(super) fn codes(&self, set: &[u32]) -> Vec<Code> {
        set.iter().map(|&index| self.game.code(index)).collect()
    }

    pub(super) fn form(&self, set: &[u32]) -> Form {
        if self.is_fixed() {
            let (codes, naming) = (set.to_vec(), Renaming::IDENTITY);
            return Form { codes, absent: [0; 2], naming, sums: OnceLock::new(), depth: 0 };
        }
        let codes = self.codes(set);
        let look = self.look(&codes);
        let mut naming = Renaming::IDENTITY;
        naming.places[movable(self.game.rules())].sort_by_key(|&at| look.places[usize::from(at)]);
        let kinds = kinds(self.game.rules());
        let colour = |symbol: u8| look.symbols[usize::from(symbol)];
        let mut order = naming.symbols;
        let order = &mut order[..self.symbols];
        order.sort_by_key(|&symbol| (kinds[1] >> symbol & 1, colour(symbol)));
        for (&from, to) in order.iter().zip(kinds.into_iter().flat_map(symbols)) {
            naming.symbols[usize::from(from)] = to;
        }
        let is_absent = |&symbol: &u8| colour(symbol) == ABSENT;
        let absent = kinds.map(|kind| symbols(kind).filter(is_absent).count() as u8);
        let rename = |code: &Code| self.game.index(&naming.apply(code));
        let mut codes: Vec<u32> = codes.iter().map(rename).collect();
        codes.sort_unstable();
        Form { codes, absent, naming, sums: OnceLock::new(), depth: 0 }
    }

    /// A guess at a form as one at the set.
    pub(super) fn original(&self, form: &Form, guess: &Code) -> Code {
        if self.is_fixed() { *guess } else { form.naming.inverse().apply(guess) }
    }

    /// How positions and symbols look from within the set.
    pub(super) fn look(&self, codes: &[Code]) -> Look {
        let mut look = Look {
            cells: vec![0; self.length * self.symbols],
            places: [0; MAX_LENGTH],
            symbols: [0; MAX_ALPHABET],
        };
        let mut weights = vec![1_u64; codes.len()];
        for round in 1..=ROUNDS {
            self.colour(&mut look, codes, &weights);
            if round < ROUNDS {
                for (code, weight) in codes.iter().zip(&mut weights) {
                    let pairs = code.symbols().iter().zip(&look.places);
                    let sum = pairs.fold(0_u64, |sum, (&symbol, place)| {
                        sum.wrapping_add(mix(look.symbols[usize::from(symbol)] ^ place))
                    });
                    *weight = mix(sum);
                }
            }
        }
        look
    }

    /// Colours symbols at positions by the weights of their codes, and positions and symbols by these colours.
    fn colour(&self, look: &mut Look, codes: &[Code], weights: &[u64]) {
        let (length, symbols) = (self.length, self.symbols);
        look.cells.fill(0);
        for (code, &weight) in codes.iter().zip(weights) {
            for (row, &symbol) in look.cells.chunks_exact_mut(symbols).zip(code.symbols()) {
                let cell = &mut row[usize::from(symbol)];
                *cell = cell.wrapping_add(weight);
            }
        }
        for (place, row) in look.places[..length].iter_mut().zip(look.cells.chunks_exact(symbols)) {
            *place = row.iter().fold(0, |sum, &cell| sum.wrapping_add(mix(cell)));
        }
        for (symbol, colour) in look.symbols[..symbols].iter_mut().enumerate() {
            let (mut sum, mut any) = (0_u64, 0);
            for (row, place) in look.cells.chunks_exact(symbols).zip(&look.places) {
                any |= row[symbol];
                sum = sum.wrapping_add(mix(row[symbol] ^ place.rotate_left(17)));
            }
            *colour = if any == 0 { ABSENT } else { sum >> 1 };
        }
    }
}

/// Scatters the bits of a colour.
fn mix(value: u64) -> u64 {
    let z = (value ^ (value >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ (z >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rules;
    use proptest::{collection::btree_set, prelude::*};

    proptest! {
        #[test]
        fn a_form_is_a_renaming_of_its_set(
            set in btree_set(0_u32..4536, 1..40),
            preset in prop::sample::select(vec!["bulls-and-cows-no-leading-zero", "mastermind"]),
        ) {
            let game = Game::new(Rules::preset(preset, None).unwrap(), u32::MAX).unwrap();
            let set: Vec<u32> = set.into_iter().filter(|&index| index < game.size()).collect();
            let renamer = Renamer::new(&game);
            let form = renamer.form(&set);
            let back = form.naming.inverse();
            let mut again: Vec<u32> =
                renamer.codes(&form.codes).iter().map(|code| game.index(&back.apply(code))).collect();
            again.sort_unstable();
            prop_assert_eq!(again, set);
        }
    }

    #[test]
    fn renamed_sets_mostly_have_one_form() {
        let game = Game::new(Rules::preset("bulls-and-cows", None).unwrap(), u32::MAX).unwrap();
        let renamer = Renamer::new(&game);
        let mut renaming = Renaming::IDENTITY;
        renaming.places[..4].copy_from_slice(&[2, 0, 3, 1]);
        renaming.symbols[..10].copy_from_slice(&[7, 2, 9, 0, 4, 1, 3, 8, 5, 6]);
        let mut same = 0;
        for start in 0..500 {
            let set: Vec<u32> = (0..20).map(|i| (start * 97 + i * i * 131) % 5040).collect();
            let renamed: Vec<u32> =
                renamer.codes(&set).iter().map(|code| game.index(&renaming.apply(code))).collect();
            same += usize::from(renamer.form(&set).codes == renamer.form(&renamed).codes);
        }
        assert!(same >= 450, "{same} of 500");
    }
}
