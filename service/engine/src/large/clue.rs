//! What one answer still allows while a code is being made.
//!
//! Owns bulls and matches of one turn beside a code that is half made: first how often each symbol occurs, then which
//! place has which. Who decides what, and in which order, is `search`.

use crate::{
    code::Code,
    rules::{MAX_ALPHABET, MAX_LENGTH},
};

/// The symbols that may stand at each place, a bit a symbol.
pub(super) type Domains = [u64; MAX_LENGTH];

/// A set of places, a bit each.
pub(super) type Places = u16;

/// A number for each symbol: how often it occurs, or may occur at most.
pub(super) type Counts = [u8; MAX_ALPHABET];

/// No choice is thought less likely than this, nor more likely than the rest of 1: what is a guess must exclude nothing.
const UNLIKELY: f64 = 0.02;

/// The places of a set, ascending.
pub(super) fn places(set: Places) -> impl Iterator<Item = usize> {
    symbols(set.into())
}

/// The symbols of a set, ascending.
pub(super) fn symbols(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let least = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        least
    })
}

/// Bulls and matches (bulls and cows together) of one guess, each from a least to a most.
pub(super) struct Clue {
    guess: Code,
    counts: Counts,
    bulls: [u8; 2],
    matches: [u8; 2],
    /// Of the places that are filled.
    bulls_so_far: u8,
    /// Of the symbols that are counted.
    matches_so_far: u8,
    /// What the symbols from each one on in the order of counting can do.
    rest: Vec<Rest>,
}

/// What symbols that are not counted yet can do.
#[derive(Clone, Copy, Default)]
struct Rest {
    /// Places they can fill with a match, and without.
    matching: u16,
    other: u16,
    /// How many of them are in the guess, and how many there are.
    known: u8,
    all: u8,
}

impl Clue {
    pub(super) fn new(guess: &Code, bulls: [u8; 2], matches: [u8; 2]) -> Clue {
        let mut counts = [0; MAX_ALPHABET];
        guess.symbols().iter().for_each(|&symbol| counts[usize::from(symbol)] += 1);
        let (bulls_so_far, matches_so_far, rest) = (0, 0, vec![]);
        Clue { guess: *guess, counts, bulls, matches, bulls_so_far, matches_so_far, rest }
    }

    /// Whether a symbol is in the guess.
    pub(super) fn has(&self, symbol: u8) -> bool {
        self.counts[usize::from(symbol)] > 0
    }

    /// Settles the order in which symbols are counted, and how often each may occur.
    pub(super) fn prepare(&mut self, order: &[u8], most: &Counts) {
        self.rest = vec![Rest::default(); order.len() + 1];
        for (at, &symbol) in order.iter().enumerate().rev() {
            let most = most[usize::from(symbol)];
            let matching = most.min(self.counts[usize::from(symbol)]);
            let after = self.rest[at + 1];
            self.rest[at] = Rest {
                matching: after.matching + u16::from(matching),
                other: after.other + u16::from(most - matching),
                known: after.known + u8::from(self.has(symbol)),
                all: after.all + 1,
            };
        }
    }

    /// How likely the answer is, about, if a symbol occurs `count` times and the symbols from number `at` on fill `rest`
    /// places; nothing if it cannot be.
    pub(super) fn likelihood(&self, symbol: u8, count: u8, at: usize, rest: u8) -> Option<f64> {
        let so_far = self.matches_so_far + count.min(self.counts[usize::from(symbol)]);
        let Rest { matching, other, known, all } = self.rest[at];
        let most = so_far + matching.min(rest.into()) as u8;
        let least = so_far + rest - other.min(rest.into()) as u8;
        if most < self.matches[0] || least > self.matches[1] {
            return None;
        }
        if self.matches[0] < self.matches[1] || all == 0 {
            return Some(1.0);
        }
        let chance = likely(f64::from(known) / f64::from(all));
        Some(binomial(rest, self.matches[0] - so_far, chance))
    }

    pub(super) fn count(&mut self, symbol: u8, count: u8) {
        self.matches_so_far += count.min(self.counts[usize::from(symbol)]);
    }

    pub(super) fn uncount(&mut self, symbol: u8, count: u8) {
        self.matches_so_far -= count.min(self.counts[usize::from(symbol)]);
    }

    pub(super) fn put(&mut self, place: usize, symbol: u8) {
        self.bulls_so_far += u8::from(self.guess.symbols()[place] == symbol);
    }

    pub(super) fn take(&mut self, place: usize, symbol: u8) {
        self.bulls_so_far -= u8::from(self.guess.symbols()[place] == symbol);
    }

    fn bull(&self, place: usize) -> u64 {
        1 << self.guess.symbols()[place]
    }

    /// Strikes out what the bulls exclude at the open places; returns whether they can still be had.
    pub(super) fn narrow(&self, domains: &mut Domains, open: Places) -> bool {
        let (mut possible, mut certain): (Places, Places) = (0, 0);
        for place in places(open) {
            possible |= Places::from(domains[place] & self.bull(place) != 0) << place;
            certain |= Places::from(domains[place] == self.bull(place)) << place;
        }
        let [least, most] = self.bulls;
        let at_most = self.bulls_so_far + possible.count_ones() as u8;
        let at_least = self.bulls_so_far + certain.count_ones() as u8;
        if at_least > most || at_most < least {
            return false;
        }
        if at_least == most {
            places(possible & !certain).for_each(|place| domains[place] &= !self.bull(place));
        } else if at_most == least {
            places(possible).for_each(|place| domains[place] = self.bull(place));
        }
        true
    }

    /// The symbol that would be a bull at a place, and how likely it is one, about; nothing if that is not known.
    pub(super) fn bull_chance(
        &self,
        place: usize,
        domains: &Domains,
        open: Places,
    ) -> Option<(usize, f64)> {
        let bull = self.bull(place);
        if self.bulls[0] < self.bulls[1] || domains[place] & bull == 0 || domains[place] == bull {
            return None;
        }
        let possible = places(open).filter(|&place| domains[place] & self.bull(place) != 0).count();
        let missing = self.bulls[0] - self.bulls_so_far;
        let chance = likely(f64::from(missing) / possible as f64);
        Some((bull.trailing_zeros() as usize, chance))
    }
}

fn likely(chance: f64) -> f64 {
    chance.clamp(UNLIKELY, 1.0 - UNLIKELY)
}

/// The chance of `k` successes in `n` trials. By products only, which are the same on every machine.
pub(super) fn binomial(n: u8, k: u8, chance: f64) -> f64 {
    if k > n {
        return 0.0;
    }
    let hits = (0..k).map(|i| f64::from(n - i) / f64::from(i + 1) * chance).product::<f64>();
    (k..n).fold(hits, |product, _| product * (1.0 - chance))
}
