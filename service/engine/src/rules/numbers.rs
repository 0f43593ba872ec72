//! All whole numbers of a range. As a code, a number is its place in the range in four bytes, the highest first: so
//! codes compare as numbers do.

use super::{CodeError, RulesError};
use crate::code::Code;

/// Bytes of a number as a code.
pub(super) const BYTES: usize = 4;

/// Which numbers there are: at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Numbers {
    min: i32,
    max: i32,
}

impl Numbers {
    pub(super) fn new(min: i32, max: i32) -> Result<Numbers, RulesError> {
        if min > max { Err(RulesError::EmptyRange { min, max }) } else { Ok(Numbers { min, max }) }
    }

    pub(super) fn min(self) -> i32 {
        self.min
    }

    pub(super) fn max(self) -> i32 {
        self.max
    }

    pub(super) fn size(self) -> u128 {
        u128::from(self.max.abs_diff(self.min)) + 1
    }

    pub(super) fn parse(self, text: &str) -> Result<Code, CodeError> {
        let Numbers { min, max } = self;
        match text.trim().parse::<i32>() {
            Ok(number) if (min..=max).contains(&number) => {
                Ok(Code::new(&number.abs_diff(min).to_be_bytes()))
            }
            _ => Err(CodeError::Number { min, max }),
        }
    }

    pub(super) fn text(self, code: &Code) -> String {
        let bytes = code.symbols().try_into().expect("a number has four bytes");
        (i64::from(self.min) + i64::from(u32::from_be_bytes(bytes))).to_string()
    }
}
