//! Rules with their space: what is dear to make and is shared by all calls on a game.

use crate::{
    budget::{Budget, Stopped},
    candidates::CHUNK,
    code::Code,
    rules::Rules,
    space::Space,
};

/// The most codes a game may have, whatever its caller allows: sums of fixed-point logarithms over a space fit
/// 64 bits up to here.
pub const MAX_CODES: u32 = 1 << 27;

/// A game ready to be played. Making one takes time in proportion to its codes (milliseconds for a million);
/// share it behind an `Arc`.
#[derive(Debug)]
pub struct Game {
    rules: Rules,
    space: Space,
}

/// The game has more codes than may be enumerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the game has {codes} codes, and at most {limit} are enumerated: take fewer places, symbols or numbers"
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
        Ok(Game { rules, space })
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// How many guesses are allowed.
    pub fn size(&self) -> u32 {
        self.space.size()
    }

    /// How many of them can be the secret.
    pub fn secrets(&self) -> u32 {
        self.space.secrets().len() as u32
    }

    /// The code of a number below [`size`](Game::size); numbers are in alphabet order.
    pub fn code(&self, index: u32) -> Code {
        self.space.code(index)
    }

    /// The number of a code.
    pub fn index(&self, code: &Code) -> u32 {
        self.space.index(code)
    }

    /// The bytes the game holds.
    pub fn memory(&self) -> usize {
        size_of::<Game>() + self.space.memory()
    }

    /// How likely each of these secrets is, where they differ in that.
    pub(crate) fn weights(
        &self,
        secrets: &[u32],
        budget: &Budget,
    ) -> Result<Option<Vec<u32>>, Stopped> {
        let Some(words) = self.rules.word_list() else { return Ok(None) };
        let Some(weights) = words.weights() else { return Ok(None) };
        let mut all = Vec::with_capacity(secrets.len());
        for some in secrets.chunks(CHUNK) {
            budget.check()?;
            let place = |secret| words.secrets().partition_point(|other| other < secret);
            all.extend(some.iter().map(|secret| weights[place(secret)]));
        }
        Ok(all.windows(2).any(|pair| pair[0] != pair[1]).then_some(all))
    }

    /// Whether some secrets are more likely than others.
    pub(crate) fn is_weighted(&self) -> bool {
        self.rules.word_list().is_some_and(|words| words.weights().is_some())
    }

    pub(crate) fn space(&self) -> &Space {
        &self.space
    }
}
