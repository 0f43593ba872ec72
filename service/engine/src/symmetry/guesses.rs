//! The guesses that differ: the smallest of those that are alike.

use super::{
    Symmetry,
    renaming::{NAMELESS, Renaming, alike},
};
use crate::{
    budget::{Budget, Stopped},
    code::Code,
    space::Space,
};

impl Symmetry<'_> {
    /// Guesses in ascending order, among them the smallest of any that split the candidates alike by a renaming.
    /// `dead` are symbols that no candidate has: they are all alike. Nothing if there would be more than `most`.
    pub(crate) fn guesses(
        &self,
        space: &Space,
        dead: u64,
        most: usize,
        budget: &Budget,
    ) -> Result<Option<Vec<u32>>, Stopped> {
        let code = Code::new(&[0; crate::rules::MAX_LENGTH][..self.rules.length()]);
        let mut walk = Walk { symmetry: self, space, dead, code, most, list: vec![] };
        Ok(walk.from(0, 0, budget)?.then_some(walk.list))
    }
}

/// A walk through the codes in alphabet order that leaves out what interchangeable symbols make superfluous.
struct Walk<'a> {
    symmetry: &'a Symmetry<'a>,
    space: &'a Space,
    dead: u64,
    code: Code,
    most: usize,
    list: Vec<u32>,
}

impl Walk<'_> {
    /// Goes through the codes that begin as this one does up to `place`; tells whether the list is not too long.
    fn from(&mut self, place: usize, used: u64, budget: &Budget) -> Result<bool, Stopped> {
        let mut choices = self.choices(place, used);
        while choices != 0 {
            let symbol = choices.trailing_zeros();
            choices &= choices - 1;
            self.code.symbols_mut()[place] = symbol as u8;
            if place + 1 < self.symmetry.rules.length() {
                if !self.from(place + 1, used | 1 << symbol, budget)? {
                    return Ok(false);
                }
                continue;
            }
            budget.check()?;
            let code = self.code.symbols();
            if !self.symmetry.renamings.iter().any(|renaming| self.symmetry.lowers(renaming, code))
            {
                if self.list.len() == self.most {
                    return Ok(false);
                }
                self.list.push(self.space.index(&self.code));
            }
        }
        Ok(true)
    }

    /// The symbols that may stand at a place, a bit each: of those that are alike only the first.
    fn choices(&self, place: usize, used: u64) -> u64 {
        let Symmetry { rules, seen, .. } = self.symmetry;
        let mut allowed = u64::MAX >> (64 - rules.symbols());
        if place == 0 {
            allowed &= !rules.not_first();
        }
        if !rules.repeats() {
            allowed &= !used;
        }
        let dead = allowed & self.dead;
        // Symbols that neither the turns nor this code have: alike if they may stand at the same places.
        let fresh = allowed & !self.dead & !seen & !used;
        let first = |set: u64| set & set.wrapping_neg();
        (allowed & !dead & !fresh)
            | first(dead)
            | first(fresh & rules.not_first())
            | first(fresh & !rules.not_first())
    }
}

impl Symmetry<'_> {
    /// Whether a renaming makes a code smaller, for some names of the symbols that are nameless: the first ones in
    /// the order of their use.
    fn lowers(&self, renaming: &Renaming, code: &[u8]) -> bool {
        let mut fresh = u64::MAX >> (64 - self.rules.symbols()) & !self.seen;
        for place in 0..code.len() {
            let from = renaming.places[place];
            let symbol = code[usize::from(from)];
            let mut name = renaming.symbols[usize::from(symbol)];
            if name == NAMELESS {
                // So far the code is its own image, so a symbol that has been named is named as the code has it.
                let before = renaming.places[..place].iter();
                let named = before.zip(code).find(|(from, _)| code[usize::from(**from)] == symbol);
                name = match named {
                    Some((_, &name)) => name,
                    None => (fresh & alike(self.rules, symbol)).trailing_zeros() as u8,
                };
                fresh &= !(1 << name);
            }
            if name != code[place] {
                return name < code[place];
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CodeSpec, FeedbackRule, Game, Rules, feedback::Class, history::Turn};

    #[test]
    fn there_are_as_many_different_guesses_as_in_the_golden_file() {
        let golden = include_str!("../../tests/golden/guess_classes.tsv");
        let mut rows = 0;
        for row in golden.lines().filter(|row| !row.starts_with('#')) {
            let row: Vec<&str> = row.split('\t').collect();
            let spec = CodeSpec {
                alphabet: "0123456789"[..row[1].parse().unwrap()].into(),
                length: row[0].parse().unwrap(),
                repeats: row[2] == "repeats",
                not_first: String::new(),
            };
            let rules = Rules::codes(&spec, FeedbackRule::Pegs).unwrap();
            let game = Game::new(rules, 10_000).unwrap();
            let guesses = row[3].split(' ').filter(|guess| *guess != "-");
            let turn = |guess| Turn { guess: game.rules().code(guess).unwrap(), class: Class(0) };
            let turns: Vec<Turn> = guesses.map(turn).collect();
            let symmetry = Symmetry::new(game.rules(), &turns);
            let list = symmetry.guesses(game.space(), 0, usize::MAX, &Budget::unlimited());
            let list = list.unwrap().unwrap();
            assert_eq!(list.len(), row[4].parse::<usize>().unwrap(), "{row:?}");
            assert!(list.is_sorted());
            rows += 1;
        }
        assert_eq!(rows, 8);
    }
}
