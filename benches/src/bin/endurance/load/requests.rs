//! What is asked: positions that follow from a number, each with what is right there.
//!
//! Owns a naive way to answer a guess, so that what the server answers is not checked by itself.

use herdsman_engine::Random;
use herdsman_proto::v1::{
    self, BestNextGuessRequest, CodeRules, Feedback, SearchLimits, SolveLimits, SolveRequest,
    Strategy, rules::Game,
};

/// A game of pegs: how many symbols, from 0 on, and places.
#[derive(Clone, Copy)]
pub(crate) struct Codes {
    symbols: usize,
    length: usize,
}

/// 1296 codes: what Mastermind is in shops.
pub(crate) const SMALL: Codes = Codes { symbols: 6, length: 4 };
/// 2401 codes, of which a proof takes a core some seconds.
const PROVABLE: Codes = Codes { symbols: 7, length: 4 };
/// 32,768 codes.
pub(crate) const MIDDLE: Codes = Codes { symbols: 8, length: 5 };
/// 1,000,000 codes: a search without bounds takes minutes.
const LARGE: Codes = Codes { symbols: 10, length: 6 };

impl Codes {
    /// As the service is told of it.
    pub(crate) fn rules(self) -> Option<v1::Rules> {
        let rules = CodeRules {
            alphabet: "0123456789"[..self.symbols].into(),
            length: self.length as i32,
            repeats: true,
            not_first: String::new(),
        };
        Some(v1::Rules { game: Some(Game::Codes(rules)), ..v1::Rules::default() })
    }

    /// How many there are.
    pub(crate) fn size(self) -> usize {
        self.symbols.pow(self.length as u32)
    }

    /// The code of a number below the size, in alphabet order.
    pub(crate) fn code(self, number: usize) -> String {
        let place = |place| (number / self.symbols.pow(place) % self.symbols) as u8 + b'0';
        (0..self.length as u32).rev().map(|at| char::from(place(at))).collect()
    }

    /// A code by lot.
    pub(crate) fn draw(self, lots: &mut Random) -> String {
        self.code(lots.below(self.size()))
    }

    /// Turns with these guesses at a secret.
    pub(crate) fn history(self, secret: &str, guesses: &[String]) -> Vec<v1::Turn> {
        let turn =
            |guess: &String| v1::Turn { guess: guess.clone(), feedback: Some(pegs(secret, guess)) };
        guesses.iter().map(turn).collect()
    }
}

/// Bulls and cows, as a person counts them.
pub(crate) fn pegs(secret: &str, guess: &str) -> Feedback {
    let bulls = secret.chars().zip(guess.chars()).filter(|(one, other)| one == other).count();
    let count = |code: &str, symbol| code.chars().filter(|&other| other == symbol).count();
    let common: usize =
        ('0'..='9').map(|symbol| count(secret, symbol).min(count(guess, symbol))).sum();
    Feedback {
        bulls: Some(bulls as i32),
        cows: Some((common - bulls) as i32),
        ..Feedback::default()
    }
}

/// A guess that takes a few milliseconds, and is in no cache for any two numbers: the bound on the work differs, and is
/// a part of the question.
pub(crate) fn dear(number: u64) -> BestNextGuessRequest {
    /// At most some two milliseconds of a core.
    const SCORES: i64 = 8_000_000;
    let mut lots = Random::new(number);
    let secret = MIDDLE.draw(&mut lots);
    BestNextGuessRequest {
        rules: MIDDLE.rules(),
        history: MIDDLE.history(&secret, &[MIDDLE.draw(&mut lots)]),
        strategy: Strategy::Entropy.into(),
        limits: Some(SearchLimits { max_scores: SCORES + number as i64 % 4_000_000 }),
        ..BestNextGuessRequest::default()
    }
}

/// A guess that takes so many scores, some ten million of which a core does in 3 ms.
pub(crate) fn very_dear(scores: i64) -> BestNextGuessRequest {
    BestNextGuessRequest {
        rules: LARGE.rules(),
        history: LARGE.history("314159", &["001234".into()]),
        strategy: Strategy::Entropy.into(),
        limits: Some(SearchLimits { max_scores: scores }),
        ..BestNextGuessRequest::default()
    }
}

/// A proof that no book has.
pub(crate) fn proof() -> SolveRequest {
    SolveRequest {
        rules: PROVABLE.rules(),
        limits: Some(SolveLimits { threads: 1, memo_bytes: 0 }),
        no_book: true,
        ..SolveRequest::default()
    }
}

/// Three turns of a small game that leave something; no two numbers below eighty million have the same.
pub(crate) fn position(number: usize) -> Vec<v1::Turn> {
    // A guess of each third of the game, so that the order of turns makes no two the same.
    let third = SMALL.size() / 3;
    let guesses =
        [0, 1, 2].map(|at| SMALL.code(at * third + number / third.pow(at as u32) % third));
    let secret = SMALL.draw(&mut Random::new(number as u64));
    SMALL.history(&secret, &guesses)
}
