//! The cells of codes that come in alphabet order.
//!
//! Such a code mostly begins as the one before did, and what those symbols score is still there: of five symbols one or
//! two are new, and a code takes a quarter of the time that [`Kernel::score`] takes.

use super::{Columns, Kernel, Probe};
use crate::{code::Code, feedback::FeedbackRule};

/// The cells of a code by its first symbols: by none of them, by one, and so on.
#[derive(Debug, Default)]
pub(crate) struct Ladder {
    rungs: Vec<Vec<u8>>,
    /// The code whose cells these are, if any.
    code: Option<Code>,
}

impl Ladder {
    /// Makes room for the cells of codes of `length` symbols against these, and forgets what was there.
    pub(crate) fn reset(&mut self, length: usize, columns: &Columns) {
        self.rungs.resize_with(length + 1, Vec::new);
        for rung in &mut self.rungs {
            rung.clear();
            rung.resize(columns.padded(), 0);
        }
        self.code = None;
    }

    /// The cells of a code against every code of the columns, padding included. The columns are the same as at the last
    /// [`reset`](Ladder::reset).
    pub(crate) fn score(&mut self, kernel: &Kernel, probe: &Probe, columns: &Columns) -> &[u8] {
        let length = self.rungs.len() - 1;
        if !columns.is_counted() || probe.rule != FeedbackRule::Pegs {
            kernel.score(probe, columns, &mut self.rungs[length]);
            return &self.rungs[length];
        }
        let symbols = probe.code.symbols();
        let same = self.code.map_or(0, |code| {
            let pairs = symbols.iter().zip(code.symbols());
            pairs.take_while(|(symbol, other)| symbol == other).count()
        });
        for place in same..length {
            let (from, to) = self.rungs.split_at_mut(place + 1);
            kernel.extend(probe, place, columns, &from[place], &mut to[0]);
        }
        self.code = Some(probe.code);
        &self.rungs[length]
    }
}
