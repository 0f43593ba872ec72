//! Scoring in bulk: every guess of a list against every secret of another.

use crate::{
    budget::{Budget, Stopped},
    code::Code,
    kernel::{Columns, Kernel, LANES, Probe},
    rules::Rules,
};

/// The class numbers of every guess (a row) against every secret (a column), row after row.
///
/// # Errors
/// [`Stopped`] if the budget's flag was raised.
pub fn score_matrix(
    rules: &Rules,
    guesses: &[Code],
    secrets: &[Code],
    budget: &Budget,
) -> Result<Vec<u8>, Stopped> {
    let mut columns = Columns::new(rules.length(), secrets.len());
    for (row, secret) in secrets.iter().enumerate() {
        columns.set(row, secret);
    }
    let mut classes = Vec::with_capacity(guesses.len() * secrets.len());
    let mut cells = vec![0; secrets.len().next_multiple_of(LANES)];
    for guess in guesses {
        budget.check()?;
        Kernel::get().score(&Probe::new(guess, rules.feedback()), &columns, &mut cells);
        classes.extend(cells[..secrets.len()].iter().map(|&cell| rules.answers().of_cell(cell).0));
    }
    Ok(classes)
}
