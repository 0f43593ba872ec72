//! Two strategies against each other, by how each fares alone.

use crate::evaluate::Evaluation;

/// The chances of the first player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chances {
    /// To need fewer guesses.
    pub win: f64,
    /// To need as many.
    pub draw: f64,
    /// To need more.
    pub lose: f64,
}

/// The chances of two players who guess in rounds, each at a secret of its own that is drawn evenly: exact sums over all
/// pairs of secrets, divided once. Both players have found some secret.
pub fn duel(first: &Evaluation, second: &Evaluation) -> Chances {
    let (mut win, mut draw, mut lose) = (0_u128, 0_u128, 0_u128);
    for (at, &mine) in first.histogram.iter().enumerate() {
        for (other, &theirs) in second.histogram.iter().enumerate() {
            let pairs = u128::from(mine) * u128::from(theirs);
            match at.cmp(&other) {
                std::cmp::Ordering::Less => win += pairs,
                std::cmp::Ordering::Equal => draw += pairs,
                std::cmp::Ordering::Greater => lose += pairs,
            }
        }
    }
    let share = |pairs: u128| pairs as f64 / (win + draw + lose) as f64;
    Chances { win: share(win), draw: share(draw), lose: share(lose) }
}
