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

/// How many secrets of a row of [`score_matrix`], or of any part of one, are in each class.
///
/// # Panics
/// If the row holds a number that is no class of these rules.
pub fn row_histogram(rules: &Rules, row: &[u8]) -> Vec<u32> {
    let classes: Vec<u8> = (0..=rules.answers().winning().0).collect();
    let mut counts = vec![0; classes.len()];
    let (whole, rest) = row.split_at(row.len() - row.len() % LANES);
    Kernel::get().histogram(whole, &classes, &mut counts);
    rest.iter().for_each(|&class| counts[usize::from(class)] += 1);
    assert_eq!(counts.iter().sum::<u32>() as usize, row.len(), "a row holds class numbers");
    counts
}
