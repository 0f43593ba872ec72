//! Scoring in bulk: every guess of a list against every secret of another.

use crate::{
    budget::{Budget, Stopped},
    code::Code,
    kernel::{Columns, Kernel, LANES, Probe},
    partition::Cells,
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
    let answers = rules.answers();
    let mut columns = Columns::new(rules.length(), secrets.len());
    for (row, secret) in secrets.iter().enumerate() {
        columns.set(row, secret);
    }
    let width = cell_bytes(rules);
    let mut classes = Vec::with_capacity(guesses.len() * secrets.len() * width);
    let mut cells = vec![0; secrets.len().next_multiple_of(LANES) * answers.planes()];
    for guess in guesses {
        budget.check()?;
        Kernel::get().score(&Probe::guess(guess, rules.feedback()), &columns, &mut cells);
        let cells = Cells { padded: &cells, count: secrets.len() };
        if width == 1 {
            let (cells, numbers) = (&cells.padded[..cells.count], answers.byte_classes());
            classes.extend(cells.iter().map(|&cell| numbers[usize::from(cell)]));
        } else {
            let class = |at| cells.class(answers, at).0.to_le_bytes();
            classes.extend((0..cells.count).flat_map(class));
        }
    }
    Ok(classes)
}

/// The bytes of a class number in [`score_matrix`]: 1, or 4 (the lowest first) where there are more than 256 answers.
pub fn cell_bytes(rules: &Rules) -> usize {
    if rules.answers().count() <= 256 { 1 } else { 4 }
}

/// How many secrets of a row of [`score_matrix`], or of any part of one, are in each class.
///
/// # Panics
/// If the row holds a number that is no class of these rules, or class numbers of more than a byte.
pub fn row_histogram(rules: &Rules, row: &[u8]) -> Vec<u32> {
    let classes: Vec<u8> = (0..=rules.answers().winning().0 as u8).collect();
    assert_eq!(classes.len(), rules.answers().count(), "class numbers of a byte");
    let mut counts = vec![0; classes.len()];
    let (whole, rest) = row.split_at(row.len() - row.len() % LANES);
    Kernel::get().histogram(whole, &classes, &mut counts);
    rest.iter().for_each(|&class| counts[usize::from(class)] += 1);
    assert_eq!(counts.iter().sum::<u32>() as usize, row.len(), "a row holds class numbers");
    counts
}
