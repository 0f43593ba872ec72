//! Depth-first search for the codes that agree with every turn.
//!
//! Owns the tree: first how often each symbol occurs, then which place has which. Both numbers of an answer bite early
//! so: the matches of a turn depend on the first half alone, and bulls are few. Branches are tried in an order drawn by
//! the seed, those first that are likely to lead somewhere. What a turn allows is `clue`; what is made of the codes is
//! `large`.

use std::ops::ControlFlow;

use super::clue::{Clue, Counts, Domains, Places, binomial, places, symbols};
use crate::{
    budget::{Budget, Stopped},
    code::Code,
    feedback::{Feedback, Mark},
    history::{History, Turn},
    random::Random,
    rules::{MAX_ALPHABET, MAX_LENGTH, Rules},
};

/// Each branch has at least this share of an even chance, so that no code is next to unreachable.
const EVEN_SHARE: f64 = 0.05;

/// Why a search ended before it had seen everything.
pub(super) enum End {
    /// The visitor had enough.
    Enough,
    /// It may look at no more nodes.
    Nodes,
    /// The stop flag was raised.
    Stopped,
}

/// A search over the codes of some rules.
pub(super) struct Search<'a> {
    clues: Vec<Clue>,
    /// What may stand where, and the least and the most that a symbol may occur, by what is known at once.
    root: Domains,
    least: Counts,
    most: Counts,
    repeats: bool,
    /// Whether a turn tells how often symbols occur.
    count_symbols: bool,
    /// The symbols in the order in which they are counted: all, or none.
    counted: Vec<u8>,
    /// The least and the most places that the symbols from each one on in that order can fill.
    behind: Vec<(u16, u16)>,
    /// The places in the order in which those of equally many symbols are filled.
    order: [u8; MAX_LENGTH],
    code: Code,
    random: Random,
    budget: &'a Budget,
    /// Nodes that may still be looked at.
    nodes: u64,
    descent: Descent,
}

/// What the first way down, until it turns back, tells of the whole tree: Knuth's estimates.
#[derive(Clone, Copy, Default)]
pub(super) struct Descent {
    /// How many codes there are: 0 if it did not arrive at one.
    pub(super) codes: f64,
    /// How many nodes the tree has.
    pub(super) nodes: f64,
    /// The inverse of the chance to come here.
    weight: f64,
    /// It turned back or arrived.
    pub(super) over: bool,
}

/// A visitor of codes, which may have enough.
pub(super) type Visit<'v> = &'v mut dyn FnMut(Code) -> ControlFlow<()>;

impl<'a> Search<'a> {
    pub(super) fn new(
        rules: &Rules,
        history: &History,
        seed: u64,
        budget: &'a Budget,
    ) -> Search<'a> {
        let length = rules.length();
        let all = u64::MAX >> (MAX_ALPHABET - rules.symbols());
        let mut search = Search {
            clues: vec![],
            root: [all; MAX_LENGTH],
            least: [0; MAX_ALPHABET],
            most: [if rules.repeats() { length as u8 } else { 1 }; MAX_ALPHABET],
            repeats: rules.repeats(),
            count_symbols: false,
            counted: vec![],
            behind: vec![],
            order: std::array::from_fn(|place| place as u8),
            code: Code::new(&[0; MAX_LENGTH][..length]),
            random: Random::new(seed),
            budget,
            nodes: 0,
            descent: Descent::default(),
        };
        search.root[0] &= !rules.not_first();
        let turns = history.canonical();
        turns.turns().iter().for_each(|turn| search.learn(rules, turn));
        if search.count_symbols {
            search.counted = (0..rules.symbols() as u8).collect();
        }
        search
    }

    /// Takes a turn into account.
    fn learn(&mut self, rules: &Rules, turn: &Turn) {
        let length = rules.length() as u8;
        let all = [0, length];
        let (bulls, matches) = match rules.answers().feedback(turn.class) {
            Feedback::Pegs { bulls, cows } => ([bulls; 2], [bulls + cows; 2]),
            Feedback::Bulls { bulls } => ([bulls; 2], all),
            Feedback::Total { solved: true, .. } => ([length; 2], all),
            Feedback::Total { total, .. } => ([0, length - 1], [total; 2]),
            Feedback::Marks(marks) => return self.learn_marks(&turn.guess, marks.marks()),
            Feedback::Order(_) => unreachable!("codes are not answered by order"),
        };
        self.count_symbols |= matches != all;
        self.clues.push(Clue::new(&turn.guess, bulls, matches));
    }

    /// Marks tell what may stand where and bound how often a symbol occurs: they are used up at the root.
    fn learn_marks(&mut self, guess: &Code, marks: &[Mark]) {
        self.count_symbols = true;
        let mut hits = [0; MAX_ALPHABET];
        let mut missed = 0_u64;
        for (place, (&symbol, &mark)) in guess.symbols().iter().zip(marks).enumerate() {
            let bit = 1 << symbol;
            hits[usize::from(symbol)] += u8::from(mark != Mark::Absent);
            self.root[place] &= if mark == Mark::Right { bit } else { !bit };
            match mark {
                Mark::Absent => missed |= bit,
                // The left one of two would have got the mark.
                Mark::Misplaced if missed & bit != 0 => self.root[place] = 0,
                Mark::Misplaced | Mark::Right => {}
            }
        }
        for symbol in guess.symbols().iter().map(|&symbol| usize::from(symbol)) {
            self.least[symbol] = self.least[symbol].max(hits[symbol]);
            if missed >> symbol & 1 == 1 {
                self.most[symbol] = self.most[symbol].min(hits[symbol]);
            }
        }
    }

    fn length(&self) -> usize {
        self.code.symbols().len()
    }

    /// Visits the consistent codes, in an order drawn anew, looking at `nodes` nodes at most, which it counts down.
    pub(super) fn run(&mut self, nodes: &mut u64, visit: Visit<'_>) -> (Descent, Result<(), End>) {
        self.nodes = *nodes;
        self.descent = Descent { weight: 1.0, ..Descent::default() };
        let length = self.length();
        let none = |symbol: usize| self.least[symbol] > self.most[symbol];
        if self.root[..length].contains(&0) || (0..MAX_ALPHABET).any(none) {
            return (self.descent, Ok(()));
        }
        self.random.shuffle(&mut self.order[..length]);
        // Symbols of many guesses decide most, so they are counted first.
        let mut counted = std::mem::take(&mut self.counted);
        self.random.shuffle(&mut counted);
        let guesses = |&symbol: &u8| self.clues.iter().filter(|clue| clue.has(symbol)).count();
        counted.sort_by_key(|symbol| std::cmp::Reverse(guesses(symbol)));
        self.clues.iter_mut().for_each(|clue| clue.prepare(&counted, &self.most));
        self.behind = vec![(0, 0); counted.len() + 1];
        for (at, symbol) in counted.iter().map(|&symbol| usize::from(symbol)).enumerate().rev() {
            let (least, most) = self.behind[at + 1];
            self.behind[at] =
                (least + u16::from(self.least[symbol]), most + u16::from(self.most[symbol]));
        }
        self.counted = counted;
        let (root, mut supply) = (self.root, self.most);
        let end = self.count(0, length as u8, root, &mut supply, visit);
        *nodes = self.nodes;
        (self.descent, end)
    }

    /// Accounts for a node.
    fn enter(&mut self) -> Result<(), End> {
        self.nodes = self.nodes.checked_sub(1).ok_or(End::Nodes)?;
        if !self.descent.over {
            self.descent.nodes += self.descent.weight;
        }
        self.budget.check().map_err(|Stopped| End::Stopped)
    }

    /// Decides how often symbol number `at` occurs, if `rest` places are left to it and those behind it.
    fn count(
        &mut self,
        at: usize,
        rest: u8,
        domains: Domains,
        supply: &mut Counts,
        visit: Visit<'_>,
    ) -> Result<(), End> {
        if at == self.counted.len() {
            return self.fill(domains, supply, (1 << self.length()) - 1, visit);
        }
        self.enter()?;
        let symbol = self.counted[at];
        let mut weights = [0.0; MAX_ALPHABET];
        let most = self.most[usize::from(symbol)].min(rest);
        let mut branches = 0;
        for count in self.least[usize::from(symbol)]..=most {
            if let Some(weight) = self.count_weight(at, count, rest) {
                weights[usize::from(count)] = weight;
                branches |= 1 << count;
            }
        }
        let mut branch = Branches::new(self.descent.weight, branches, &weights);
        while let Some((count, weight)) = branch.draw(&mut self.random) {
            self.descent.weight = weight;
            let count = count as u8;
            let mut below = domains;
            if count == 0 {
                below.iter_mut().for_each(|domain| *domain &= !(1 << symbol));
            }
            supply[usize::from(symbol)] = count;
            self.clues.iter_mut().for_each(|clue| clue.count(symbol, count));
            let end = self.count(at + 1, rest - count, below, supply, visit);
            self.clues.iter_mut().for_each(|clue| clue.uncount(symbol, count));
            end?;
        }
        self.descent.over = true;
        Ok(())
    }

    /// How likely it is, about, that symbol number `at` occurs so often; nothing if it cannot be.
    fn count_weight(&self, at: usize, count: u8, rest: u8) -> Option<f64> {
        let symbol = self.counted[at];
        let left = rest - count;
        let (least, most) = self.behind[at + 1];
        if !(least..=most).contains(&u16::from(left)) {
            return None;
        }
        // How many codes have so many of it, before any turn.
        let share = 1.0 / (self.counted.len() - at) as f64;
        let prior = match (self.repeats, count) {
            (true, _) => binomial(rest, count, share),
            (false, 0) => 1.0 - f64::from(rest) * share,
            (false, _) => f64::from(rest) * share,
        };
        self.clues.iter().try_fold(prior.max(0.0), |weight, clue| {
            Some(weight * clue.likelihood(symbol, count, at + 1, left)?)
        })
    }

    /// Fills the open places from what is left of each symbol.
    fn fill(
        &mut self,
        mut domains: Domains,
        supply: &mut Counts,
        open: Places,
        visit: Visit<'_>,
    ) -> Result<(), End> {
        self.enter()?;
        if !self.narrow(&mut domains, supply, open) {
            self.descent.over = true;
            return Ok(());
        }
        let order = self.order[..self.length()].iter().map(|&place| usize::from(place));
        let place = order
            .filter(|place| open >> place & 1 == 1)
            .min_by_key(|&place| domains[place].count_ones());
        let Some(place) = place else {
            if !self.descent.over {
                self.descent.codes = self.descent.weight;
                self.descent.over = true;
            }
            return if visit(self.code).is_break() { Err(End::Enough) } else { Ok(()) };
        };
        let open_below = open & !(1 << place);
        let weights = self.symbol_weights(place, &domains, supply, open);
        let mut branch = Branches::new(self.descent.weight, domains[place], &weights);
        while let Some((symbol, weight)) = branch.draw(&mut self.random) {
            self.descent.weight = weight;
            let mut below = domains;
            supply[symbol] -= 1;
            if supply[symbol] == 0 {
                places(open_below).for_each(|place| below[place] &= !(1 << symbol));
            }
            self.code.symbols_mut()[place] = symbol as u8;
            self.clues.iter_mut().for_each(|clue| clue.put(place, symbol as u8));
            let end = self.fill(below, supply, open_below, visit);
            self.clues.iter_mut().for_each(|clue| clue.take(place, symbol as u8));
            supply[symbol] += 1;
            end?;
        }
        self.descent.over = true;
        Ok(())
    }

    /// Strikes out what cannot be until nothing changes; returns whether something is left at each place.
    fn narrow(&self, domains: &mut Domains, supply: &Counts, open: Places) -> bool {
        loop {
            let before = *domains;
            let possible = self.clues.iter().all(|clue| clue.narrow(domains, open))
                && (self.counted.is_empty() || use_up(domains, supply, open))
                && places(open).all(|place| domains[place] != 0);
            if !possible || *domains == before {
                return possible;
            }
        }
    }

    /// How likely each symbol of a place is, about.
    fn symbol_weights(
        &self,
        place: usize,
        domains: &Domains,
        supply: &Counts,
        open: Places,
    ) -> [f64; MAX_ALPHABET] {
        let mut weights = [0.0; MAX_ALPHABET];
        let domain = domains[place];
        let mut total = 0.0;
        for symbol in symbols(domain) {
            weights[symbol] = if self.counted.is_empty() { 1.0 } else { f64::from(supply[symbol]) };
            total += weights[symbol];
        }
        let prior = weights;
        for clue in &self.clues {
            if let Some((bull, chance)) = clue.bull_chance(place, domains, open) {
                let even = prior[bull] / total;
                let other = (1.0 - chance) / (1.0 - even);
                symbols(domain).for_each(|symbol| {
                    weights[symbol] *= if symbol == bull { chance / even } else { other };
                });
            }
        }
        weights
    }
}

/// Strikes out what the supply excludes: each symbol must be used up. Returns whether it can be.
fn use_up(domains: &mut Domains, supply: &Counts, open: Places) -> bool {
    let all = places(open).fold(0, |all, place| all | domains[place]);
    let mut places_for = 0;
    for symbol in symbols(all) {
        let room: Places = places(open)
            .map(|place| Places::from(domains[place] >> symbol & 1 == 1) << place)
            .sum();
        let (room_count, needed) = (room.count_ones(), u32::from(supply[symbol]));
        if room_count < needed {
            return false;
        }
        if room_count == needed {
            places(room).for_each(|place| domains[place] &= 1 << symbol);
        }
        places_for += needed;
    }
    places_for == open.count_ones()
}

/// Branches of a node that were not taken yet.
struct Branches<'a> {
    left: u64,
    weights: &'a [f64; MAX_ALPHABET],
    /// What is added to each weight, and the sum of both over what is left.
    even: f64,
    total: f64,
    /// The weight of the node.
    node: f64,
}

impl<'a> Branches<'a> {
    fn new(node: f64, left: u64, weights: &'a [f64; MAX_ALPHABET]) -> Branches<'a> {
        let sum: f64 = symbols(left).map(|branch| weights[branch]).sum();
        let branches = f64::from(left.count_ones().max(1));
        // Products of many small numbers may be too small for a float.
        let even = if sum > 0.0 { sum * EVEN_SHARE / branches } else { 1.0 };
        Branches { left, weights, even, total: sum + even * branches, node }
    }

    /// A branch by weight, and the weight of what is below it if it is the first.
    fn draw(&mut self, random: &mut Random) -> Option<(usize, f64)> {
        let mut rest = random.unit() * self.total;
        let mut drawn = None;
        for branch in symbols(self.left) {
            drawn = Some(branch);
            rest -= self.weights[branch] + self.even;
            if rest < 0.0 {
                break;
            }
        }
        let drawn = drawn?;
        let weight = self.weights[drawn] + self.even;
        let below = self.node * self.total / weight;
        self.left &= !(1 << drawn);
        self.total -= weight;
        Some((drawn, below))
    }
}
