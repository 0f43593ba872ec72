//! Answers as dense class numbers, and which class wins.
//!
//! Owns the list of answers a rule can give and the gate for answers from outside. How an answer is computed
//! is `kernel` (in bulk) and [`Rules::score`](crate::Rules::score) (for one pair).

use crate::rules::FeedbackRule;

/// The answer to a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feedback {
    /// Right symbols in the right place, and right symbols in a wrong place.
    Pegs {
        /// Right symbol, right place.
        bulls: u8,
        /// Right symbol, wrong place.
        cows: u8,
    },
    /// Right symbols in the right place only.
    Bulls {
        /// Right symbol, right place.
        bulls: u8,
    },
}

/// The number of an answer in [`Answers::list`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class(pub u8);

/// Every answer that a feedback rule knows for codes of one length.
///
/// Beside its class number each answer has a *cell*: the byte that the kernels compute, `bulls * (length + 1) +
/// bulls + cows` for pegs and `bulls` for bulls only. Cells are cheap to compute, classes have no gaps.
#[derive(Clone, Debug)]
pub struct Answers {
    rule: FeedbackRule,
    length: u8,
    list: Vec<Feedback>,
    cells: Vec<u8>,
    classes: Box<[u8; 256]>,
}

/// Why an answer cannot be one of this game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedbackError {
    /// No field is set.
    #[error("the answer is missing: set {0}")]
    Missing(&'static str),
    /// A field that this rule does not know.
    #[error("`cows` does not belong to this game: its answers are bulls only")]
    UnexpectedCows,
    /// A count below zero.
    #[error("{field} cannot be {value}: a count is 0 or more")]
    Negative {
        /// `bulls` or `cows`.
        field: &'static str,
        /// What was given.
        value: i32,
    },
    /// More pegs than places.
    #[error(
        "an answer has at most {length} pegs, one for each symbol of a code, not {sum}",
        sum = i64::from(*.bulls) + i64::from(*.cows)
    )]
    TooMany {
        /// Right symbol, right place.
        bulls: i32,
        /// Right symbol, wrong place.
        cows: i32,
        /// Symbols in a code.
        length: u8,
    },
    /// All bulls but one, and the last one a cow.
    #[error(
        "{bulls} bulls and 1 cow of {length} cannot be: the last symbol has no other place to go; \
         {bulls} bulls go with 0 cows"
    )]
    LastCow {
        /// Right symbol, right place.
        bulls: i32,
        /// Symbols in a code.
        length: u8,
    },
}

impl Answers {
    pub(crate) fn new(rule: FeedbackRule, length: u8) -> Answers {
        let mut answers =
            Answers { rule, length, list: vec![], cells: vec![], classes: Box::new([0; 256]) };
        for bulls in 0..=length {
            match rule {
                FeedbackRule::Bulls => answers.push(Feedback::Bulls { bulls }, bulls),
                FeedbackRule::Pegs => {
                    for cows in 0..=length - bulls {
                        if bulls + 1 != length || cows != 1 {
                            let cell = bulls * (length + 1) + bulls + cows;
                            answers.push(Feedback::Pegs { bulls, cows }, cell);
                        }
                    }
                }
            }
        }
        answers
    }

    fn push(&mut self, feedback: Feedback, cell: u8) {
        self.classes[usize::from(cell)] = self.list.len() as u8;
        self.list.push(feedback);
        self.cells.push(cell);
    }

    /// Every answer in class order: by bulls, then by cows. `3 bulls 1 cow of 4` and its like are not among them.
    pub fn list(&self) -> &[Feedback] {
        &self.list
    }

    /// The answer of a class.
    ///
    /// # Panics
    /// If the class is not of this game.
    pub fn feedback(&self, class: Class) -> Feedback {
        self.list[usize::from(class.0)]
    }

    /// The class that means the guess is the secret.
    pub fn winning(&self) -> Class {
        Class((self.list.len() - 1) as u8)
    }

    /// The gate for answers from outside: `None` is a field that was not set; one that is not set beside one
    /// that is counts as 0.
    ///
    /// # Errors
    /// [`FeedbackError`] says what is wrong with the answer.
    pub fn class(&self, bulls: Option<i32>, cows: Option<i32>) -> Result<Class, FeedbackError> {
        match self.rule {
            FeedbackRule::Bulls if cows.is_some() => return Err(FeedbackError::UnexpectedCows),
            FeedbackRule::Bulls if bulls.is_none() => return Err(FeedbackError::Missing("bulls")),
            FeedbackRule::Pegs if bulls.is_none() && cows.is_none() => {
                return Err(FeedbackError::Missing("bulls and cows"));
            }
            _ => {}
        }
        let (bulls, cows) = (bulls.unwrap_or(0), cows.unwrap_or(0));
        for (field, value) in [("bulls", bulls), ("cows", cows)] {
            if value < 0 {
                return Err(FeedbackError::Negative { field, value });
            }
        }
        let length = i64::from(self.length);
        if i64::from(bulls) + i64::from(cows) > length {
            return Err(FeedbackError::TooMany { bulls, cows, length: self.length });
        }
        if i64::from(bulls) == length - 1 && cows == 1 {
            return Err(FeedbackError::LastCow { bulls, length: self.length });
        }
        Ok(self.of_cell(match self.rule {
            FeedbackRule::Bulls => bulls as u8,
            FeedbackRule::Pegs => bulls as u8 * (self.length + 1) + (bulls + cows) as u8,
        }))
    }

    /// The cell of every class, in class order.
    pub(crate) fn cells(&self) -> &[u8] {
        &self.cells
    }

    pub(crate) fn cell(&self, class: Class) -> u8 {
        self.cells[usize::from(class.0)]
    }

    pub(crate) fn of_cell(&self, cell: u8) -> Class {
        Class(self.classes[usize::from(cell)])
    }
}
