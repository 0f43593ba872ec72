//! Word lists that come in a request: whatever is wrong with them is refused, for nobody reads a report there.

use super::{
    MAX_WEIGHT, MAX_WORDS, WordError, WordList, WordPlace, WordsError, WordsPart, letters,
    merge::Merge, read::commonest_length,
};
use crate::budget::{StopFlag, Stopped};

/// See [`WordList::new_until`].
pub(super) fn new(
    secrets: &[&str],
    guesses: &[&str],
    weights: &[u32],
    stop: &StopFlag,
) -> Result<WordList, WordsError> {
    if secrets.is_empty() {
        return Err(WordsError::NoWords(WordsPart::Secrets));
    }
    check_weights(weights, secrets.len())?;
    let lists = [(WordsPart::Secrets, secrets), (WordsPart::Guesses, guesses)];
    if let Some(&(part, _)) = lists.iter().find(|(_, words)| words.len() > MAX_WORDS) {
        return Err(WordsError::TooManyWords(part));
    }
    let words = || {
        lists.iter().flat_map(|&(part, words)| {
            words.iter().enumerate().map(move |(index, &word)| (part, index, word))
        })
    };
    let refused =
        |part, index, error| WordsError::Word { part, place: WordPlace::Index(index), error };

    let mut lengths = Vec::with_capacity(secrets.len() + guesses.len());
    for (part, index, word) in words() {
        go_on(index, stop)?;
        lengths.push(letters::count(word).map_err(|error| refused(part, index, error))?);
    }
    let Some(expected) = commonest_length(lengths.iter().copied()) else {
        return Err(refused(WordsPart::Secrets, 0, WordError::TooLong(lengths[0])));
    };
    let mut merge = Merge::new(expected, secrets.len(), lengths.len());
    for ((part, index, word), found) in words().zip(lengths) {
        go_on(index, stop)?;
        if found != expected {
            return Err(refused(part, index, WordError::Length { found, expected }));
        }
        merge.push(word).map_err(|error| refused(part, index, error))?;
    }
    let merged = merge.finish(weights)?;
    for ((part, _), repeats) in lists.iter().zip([merged.secrets, merged.guesses]) {
        if let Some((index, first)) = repeats.first {
            return Err(WordsError::Repeated { part: *part, index, first });
        }
    }
    Ok(merged.list)
}

/// Looks at the flag once in a fraction of a millisecond.
fn go_on(index: usize, stop: &StopFlag) -> Result<(), Stopped> {
    const LOOK_EVERY: usize = 256;
    if index.is_multiple_of(LOOK_EVERY) && stop.is_stopped() { Err(Stopped) } else { Ok(()) }
}

/// Refuses weights that are not one a secret, or out of range.
fn check_weights(weights: &[u32], secrets: usize) -> Result<(), WordsError> {
    if !weights.is_empty() && weights.len() != secrets {
        return Err(WordsError::WeightCount { weights: weights.len(), secrets });
    }
    match weights.iter().position(|weight| !(1..=MAX_WEIGHT).contains(weight)) {
        Some(index) => Err(WordsError::Weight { index, weight: weights[index] }),
        None => Ok(()),
    }
}
