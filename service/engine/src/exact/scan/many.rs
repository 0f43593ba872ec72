//! Sets measured where there are many classes: to compare every cell with every class takes too long.

use super::{BYTES, Matrix, Position, Scan, after};
use crate::{
    budget::Stopped,
    kernel::{Kernel, LANES},
    partition::COMPARED,
};

/// Up to so many secrets, cells of many classes are compared in pairs; of more they are counted one by one. Measured
/// with 243 classes.
const PAIRED: usize = 176;

impl Scan<'_> {
    /// Whether each class of k secrets must cost 2 k - 1, so that only the number of classes counts, and comparing is
    /// the fastest way to find that.
    pub(super) fn is_paired(&self, position: &Position<'_>) -> bool {
        let n = position.form.codes.len();
        let plain = !self.last_only && self.fits(n, after(position.left));
        plain && n <= PAIRED.min(self.bound.room(2) as usize) && self.classes.len() > COMPARED
    }

    /// Costs by the number of classes; as soon as one is `enough` or less, the others are left out.
    pub(super) fn costs_paired(
        &self,
        position: &Position<'_>,
        enough: u32,
    ) -> Result<Vec<u32>, Stopped> {
        let Position { form, guesses, matrix, .. } = position;
        let n = form.codes.len() as u32;
        let mut won: Vec<u32> = form.codes.iter().map(|&code| guesses.place(code)).collect();
        won.sort_unstable();
        let mut won = won.into_iter().peekable();
        let mut costs = Vec::with_capacity(matrix.stride);
        let mut counts = [0; LANES];
        for start in (0..matrix.stride).step_by(LANES) {
            self.budget.check()?;
            Kernel::get().distinct(matrix.all(start), &matrix.rows, &mut counts);
            costs.extend(counts.map(|count| 3 * n - u32::from(count)));
            while let Some(place) = won.next_if(|&place| (place as usize) < start + LANES) {
                costs[place as usize] -= 1;
            }
            if costs[start..].iter().any(|&cost| cost <= enough) {
                break;
            }
        }
        Ok(costs)
    }

    /// Costs of any set, in time that does not depend on the number of classes.
    pub(super) fn costs_one_by_one(
        &self,
        matrix: &Matrix<'_>,
        n: usize,
        next: u32,
        base: u32,
    ) -> Result<Vec<u32>, Stopped> {
        // What one more secret adds to the cost of a class. (It is never less than what the one before added.)
        let more: Vec<u32> =
            (0..n).map(|n| self.least(n + 1, next) - self.least(n, next)).collect();
        let mut costs = vec![base; matrix.stride];
        let mut sizes: Vec<[u16; BYTES]> = vec![[0; BYTES]; LANES];
        for (block, costs) in costs.chunks_exact_mut(LANES).enumerate() {
            self.budget.check()?;
            sizes.fill([0; BYTES]);
            let all = matrix.all(block * LANES);
            for &row in &matrix.rows {
                let cells = &all.cells[row as usize * all.stride + all.offset..][..LANES];
                for ((&cell, sizes), cost) in cells.iter().zip(&mut sizes).zip(&mut *costs) {
                    let size = &mut sizes[usize::from(cell)];
                    *cost += more[usize::from(*size)];
                    *size += 1;
                }
            }
            for (sizes, cost) in sizes.iter().zip(costs) {
                // The secret that is guessed is in no class.
                *cost -= u32::from(sizes[usize::from(self.won)]) * more[0];
            }
        }
        Ok(costs)
    }
}
