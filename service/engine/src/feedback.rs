//! Answers as dense class numbers, and which class wins.
//!
//! Owns the answers that a rule can give and the gate for answers from outside. How an answer is computed is `kernel`
//! (in bulk) and [`Rules::score`](crate::Rules::score) (for one pair).

use crate::rules::MAX_LENGTH;

/// What an answer tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FeedbackRule {
    /// Bulls and cows. A symbol counts as often as it occurs in both codes.
    #[default]
    Pegs,
    /// Bulls only.
    Bulls,
    /// Bulls and cows in one number; whether the guess is the secret is told apart from an anagram of it.
    Total,
    /// A mark for each place.
    Marks,
    /// Whether the secret is lower, equal or higher.
    Order,
}

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
    /// Right symbols, wherever they are.
    Total {
        /// Right symbols.
        total: u8,
        /// Whether the guess is the secret itself.
        solved: bool,
    },
    /// A mark for each place.
    Marks(Marks),
    /// Where the secret is.
    Order(Order),
}

/// What is told of one place of a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// The secret has no more of this symbol: `-`.
    Absent,
    /// The secret has the symbol at another place: `Y`.
    Misplaced,
    /// The symbol is right and in its place: `G`.
    Right,
}

/// A mark for each place of a guess; as text `GY--G`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Marks {
    marks: [Mark; MAX_LENGTH],
    length: u8,
}

/// Where the secret is, seen from the guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The secret is lower than the guess.
    Lower,
    /// The secret is higher than the guess.
    Higher,
    /// The guess is the secret.
    Equal,
}

/// The number of an answer among those of its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class(pub u32);

impl Class {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An answer as somebody gave it: what is not set is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given<'a> {
    /// Right symbol, right place.
    pub bulls: Option<i32>,
    /// Right symbol, wrong place.
    pub cows: Option<i32>,
    /// Right symbols.
    pub total: Option<i32>,
    /// Whether the guess is the secret, beside `total`.
    pub solved: Option<bool>,
    /// A character a place: `G`, `Y` or `-`, in either case, or a coloured square.
    pub marks: Option<&'a str>,
    /// Where the secret is.
    pub order: Option<Order>,
}

impl Given<'_> {
    /// So many bulls and cows.
    pub fn pegs(bulls: i32, cows: i32) -> Given<'static> {
        Given { bulls: Some(bulls), cows: Some(cows), ..Given::default() }
    }

    /// The fields that are set.
    fn fields(&self) -> impl Iterator<Item = &'static str> {
        let set = [
            (self.bulls.is_some(), "bulls"),
            (self.cows.is_some(), "cows"),
            (self.total.is_some(), "total"),
            (self.solved.is_some(), "solved"),
            (self.marks.is_some(), "marks"),
            (self.order.is_some(), "order"),
        ];
        set.into_iter().filter(|(set, _)| *set).map(|(_, name)| name)
    }
}

/// Marks whose numbers fit a byte; longer ones take a byte for each so many places.
pub(crate) const MARKS_A_BYTE: usize = 5;

/// Every answer that a feedback rule knows for codes of one length.
///
/// Beside its class number each answer has *cells*: the bytes that the kernels compute. For pegs that is one byte,
/// `bulls * (length + 1) + bulls + cows`; elsewhere the class number itself, and for marks of more than five places
/// their number in parts of five places. Cells are cheap to compute, classes have no gaps.
#[derive(Clone, Debug)]
pub struct Answers {
    rule: FeedbackRule,
    length: u8,
    count: u32,
    /// Of pegs, the cell of each class and the class of each cell; elsewhere they are the same.
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
    #[error("`{field}` does not belong to this game: its answers are {answers}")]
    Unexpected {
        /// The field.
        field: &'static str,
        /// What answers are made of.
        answers: &'static str,
    },
    /// A count below zero.
    #[error("{field} cannot be {value}: a count is 0 or more")]
    Negative {
        /// `bulls`, `cows` or `total`.
        field: &'static str,
        /// What was given.
        value: i32,
    },
    /// More pegs than places.
    #[error("an answer has at most {length} pegs, one for each symbol of a code, not {sum}")]
    TooMany {
        /// Pegs that were given.
        sum: i64,
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
    /// Solved with less than everything right.
    #[error("a guess that is the secret has all of its {length} symbols right, not {total}")]
    SolvedTotal {
        /// What was given.
        total: i32,
        /// Symbols in a code.
        length: u8,
    },
    /// Too few or too many marks.
    #[error("an answer has {length} marks, one for each place, not {found}")]
    MarksLength {
        /// What was given.
        found: usize,
        /// Places of a code.
        length: u8,
    },
    /// A character that is no mark.
    #[error("{0:?} is no mark: write G (right place), Y (another place) or - (no more of it)")]
    BadMark(char),
    /// All marks right but one, and that one misplaced.
    #[error("all but one mark are G, so the last symbol has no other place to go: it is G or -")]
    LastMark,
}

impl Marks {
    /// Of how many places.
    fn new(length: u8) -> Marks {
        Marks { marks: [Mark::Absent; MAX_LENGTH], length }
    }

    /// The marks, first place first.
    pub fn marks(&self) -> &[Mark] {
        &self.marks[..usize::from(self.length)]
    }

    fn from_class(class: Class, length: u8) -> Marks {
        let (mut marks, mut rest) = (Marks::new(length), class.0);
        for mark in marks.marks[..usize::from(length)].iter_mut().rev() {
            *mark = [Mark::Absent, Mark::Misplaced, Mark::Right][rest as usize % 3];
            rest /= 3;
        }
        marks
    }

    fn class(&self) -> Class {
        Class(self.marks().iter().fold(0, |number, &mark| number * 3 + mark as u32))
    }

    /// Right everywhere but at one place, and there misplaced: which cannot be.
    fn is_impossible(&self) -> bool {
        let count = |mark| self.marks().iter().filter(|&&other| other == mark).count();
        count(Mark::Misplaced) == 1 && count(Mark::Right) + 1 == self.marks().len()
    }

    fn read(text: &str, length: u8) -> Result<Marks, FeedbackError> {
        let mut marks = Marks::new(length);
        let mut found = 0;
        // What follows a square in some programs, to have it drawn in colour, is no mark.
        for character in text.chars().filter(|&character| character != '\u{fe0f}') {
            let mark = match character {
                'G' | 'g' | '🟩' => Mark::Right,
                'Y' | 'y' | '🟨' => Mark::Misplaced,
                '-' | '.' | '⬛' | '⬜' => Mark::Absent,
                other => return Err(FeedbackError::BadMark(other)),
            };
            if let Some(place) = marks.marks[..usize::from(length)].get_mut(found) {
                *place = mark;
            }
            found += 1;
        }
        if found != usize::from(length) {
            return Err(FeedbackError::MarksLength { found, length });
        }
        Ok(marks)
    }
}

impl std::fmt::Display for Marks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letter = |mark: &Mark| ['-', 'Y', 'G'][*mark as usize];
        self.marks().iter().try_for_each(|mark| write!(f, "{}", letter(mark)))
    }
}

impl Answers {
    pub(crate) fn new(rule: FeedbackRule, length: u8) -> Answers {
        let mut answers =
            Answers { rule, length, count: 0, cells: vec![], classes: Box::new([0; 256]) };
        match rule {
            FeedbackRule::Pegs => {
                for bulls in 0..=length {
                    for cows in
                        (0..=length - bulls).filter(|cows| bulls + 1 != length || *cows != 1)
                    {
                        answers.push(bulls * (length + 1) + bulls + cows);
                    }
                }
            }
            FeedbackRule::Bulls => (0..=length).for_each(|bulls| answers.push(bulls)),
            FeedbackRule::Total => (0..=length + 1).for_each(|total| answers.push(total)),
            FeedbackRule::Order => (0..3).for_each(|order| answers.push(order)),
            FeedbackRule::Marks if usize::from(length) <= MARKS_A_BYTE => {
                (0..3_u8.pow(length.into())).for_each(|marks| answers.push(marks));
            }
            FeedbackRule::Marks => answers.count = 3_u32.pow(length.into()),
        }
        answers
    }

    fn push(&mut self, cell: u8) {
        self.classes[usize::from(cell)] = self.count as u8;
        self.count += 1;
        self.cells.push(cell);
    }

    /// How many answers there are. They are in class order: by bulls, then by cows, or by the total (solved last), or
    /// by the first mark, then the second and so on (`-` before `Y` before `G`), or lower, higher, equal. `3 bulls 1
    /// cow of 4` and its like are not among them; marks of this kind (`GGGGY`) have a number that no guess gets.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The answer of a class.
    ///
    /// # Panics
    /// If the class is not of this game.
    pub fn feedback(&self, class: Class) -> Feedback {
        assert!(class.0 < self.count, "a class of this game");
        let number = class.0 as u8;
        match self.rule {
            FeedbackRule::Pegs => {
                let cell = self.cells[class.index()];
                let bulls = cell / (self.length + 1);
                Feedback::Pegs { bulls, cows: cell % (self.length + 1) - bulls }
            }
            FeedbackRule::Bulls => Feedback::Bulls { bulls: number },
            FeedbackRule::Total => {
                Feedback::Total { total: number.min(self.length), solved: class == self.winning() }
            }
            FeedbackRule::Marks => Feedback::Marks(Marks::from_class(class, self.length)),
            FeedbackRule::Order => {
                Feedback::Order([Order::Lower, Order::Higher, Order::Equal][class.index()])
            }
        }
    }

    /// Every answer, in class order.
    pub fn list(&self) -> impl Iterator<Item = Feedback> {
        (0..self.count).map(|class| self.feedback(Class(class)))
    }

    /// The class that means the guess is the secret.
    pub fn winning(&self) -> Class {
        Class(self.count - 1)
    }

    /// The gate for answers from outside. A count that is not set beside one that is counts as 0.
    ///
    /// # Errors
    /// [`FeedbackError`] says what is wrong with the answer.
    pub fn class(&self, given: &Given<'_>) -> Result<Class, FeedbackError> {
        let (known, answers): (&[&str], _) = match self.rule {
            FeedbackRule::Pegs => (&["bulls", "cows"], "bulls and cows"),
            FeedbackRule::Bulls => (&["bulls"], "bulls only"),
            FeedbackRule::Total => (&["total", "solved"], "`total` (and `solved`)"),
            FeedbackRule::Marks => (&["marks"], "`marks`, one a place"),
            FeedbackRule::Order => (&["order"], "`order`"),
        };
        if let Some(field) = given.fields().find(|field| !known.contains(field)) {
            return Err(FeedbackError::Unexpected { field, answers });
        }
        let missing = FeedbackError::Missing(match self.rule {
            FeedbackRule::Pegs => "bulls and cows",
            _ => known[0],
        });
        match self.rule {
            _ if given.fields().next().is_none() => Err(missing),
            FeedbackRule::Pegs | FeedbackRule::Bulls => self.pegs(given),
            FeedbackRule::Total => {
                let total = given.total.unwrap_or(if given.solved == Some(true) {
                    self.length.into()
                } else {
                    0
                });
                self.total(total, given.solved.unwrap_or(false))
            }
            FeedbackRule::Marks => {
                let marks = Marks::read(given.marks.unwrap_or_default(), self.length)?;
                if marks.is_impossible() {
                    return Err(FeedbackError::LastMark);
                }
                Ok(marks.class())
            }
            FeedbackRule::Order => given.order.map(|order| Class(order as u32)).ok_or(missing),
        }
    }

    fn pegs(&self, given: &Given<'_>) -> Result<Class, FeedbackError> {
        let (bulls, cows) = (given.bulls.unwrap_or(0), given.cows.unwrap_or(0));
        self.count_of(&[("bulls", bulls), ("cows", cows)])?;
        if self.rule == FeedbackRule::Bulls {
            return Ok(Class(bulls as u32));
        }
        if bulls + 1 == i32::from(self.length) && cows == 1 {
            return Err(FeedbackError::LastCow { bulls, length: self.length });
        }
        Ok(self.of_cell(bulls as u8 * (self.length + 1) + (bulls + cows) as u8))
    }

    fn total(&self, total: i32, solved: bool) -> Result<Class, FeedbackError> {
        self.count_of(&[("total", total)])?;
        match solved {
            false => Ok(Class(total as u32)),
            true if total == i32::from(self.length) => Ok(self.winning()),
            true => Err(FeedbackError::SolvedTotal { total, length: self.length }),
        }
    }

    /// Refuses counts that are negative or too many together.
    fn count_of(&self, counts: &[(&'static str, i32)]) -> Result<(), FeedbackError> {
        if let Some(&(field, value)) = counts.iter().find(|(_, value)| *value < 0) {
            return Err(FeedbackError::Negative { field, value });
        }
        let sum: i64 = counts.iter().map(|&(_, value)| i64::from(value)).sum();
        if sum > i64::from(self.length) {
            return Err(FeedbackError::TooMany { sum, length: self.length });
        }
        Ok(())
    }

    /// The class that the kernels give to what they fill rows up with: a code whose symbols are above all others.
    pub(crate) fn padding(&self) -> Class {
        Class(u32::from(self.rule == FeedbackRule::Order))
    }

    /// How many bytes a cell has.
    pub(crate) fn planes(&self) -> usize {
        match self.rule {
            FeedbackRule::Marks => usize::from(self.length).div_ceil(MARKS_A_BYTE),
            _ => 1,
        }
    }

    /// The cell of every class, in class order. Nothing where a cell is more than a byte.
    pub(crate) fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// One byte of the cell of a class.
    pub(crate) fn cell(&self, class: Class, plane: usize) -> u8 {
        if self.planes() == 1 {
            return self.cells[class.index()];
        }
        let behind = usize::from(self.length).saturating_sub((plane + 1) * MARKS_A_BYTE);
        (class.0 / 3_u32.pow(behind as u32) % 3_u32.pow(self.places(plane))) as u8
    }

    /// Of how many places a byte of a cell tells.
    fn places(&self, plane: usize) -> u32 {
        MARKS_A_BYTE.min(usize::from(self.length) - plane * MARKS_A_BYTE) as u32
    }

    /// The class of a cell of one byte.
    pub(crate) fn of_cell(&self, cell: u8) -> Class {
        Class(self.byte_classes()[usize::from(cell)].into())
    }

    /// The number of the class of each cell of one byte.
    pub(crate) fn byte_classes(&self) -> &[u8; 256] {
        &self.classes
    }

    /// The class of a cell whose bytes are `plane(0)`, `plane(1)` and so on.
    pub(crate) fn of_planes(&self, plane: impl Fn(usize) -> u8) -> Class {
        if self.planes() == 1 {
            return self.of_cell(plane(0));
        }
        let join = |number, at| number * 3_u32.pow(self.places(at)) + u32::from(plane(at));
        Class((0..self.planes()).fold(0, join))
    }
}
