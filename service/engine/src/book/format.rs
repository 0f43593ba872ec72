//! Books as bytes.

use crate::{
    exact::{Node, Objective, Solution, Tree},
    feedback::Class,
    game::Game,
};

/// Why bytes are no book of a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Damaged {
    #[error("the first line is not {0:?}")]
    Header(String),
    #[error("the guesses end too early")]
    Short,
    #[error("there are bytes behind the last guess")]
    Long,
    #[error("{0} is not the number of a code")]
    Guess(u64),
    #[error("the strategy is not the one that the first line tells")]
    Result,
}

/// The bytes of a solution for a whole game.
pub fn encode(game: &Game, objective: Objective, solution: &Solution) -> Vec<u8> {
    let mut bytes = header(game, objective, solution.total, solution.max).into_bytes();
    write(game, &everything(game), solution.tree.root(), &mut bytes);
    bytes
}

fn write(game: &Game, set: &[u32], node: Node<'_>, bytes: &mut Vec<u8>) {
    if implied(game, set).is_some() {
        return;
    }
    let guess = game.index(&node.guess());
    let mut rest = guess;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    for (class, part) in parts(game, set, guess) {
        let child = node.after(class).expect("a strategy answers every class");
        write(game, &part, child, bytes);
    }
}

/// The solution that bytes are, played against every secret.
pub(super) fn decode(game: &Game, objective: Objective, bytes: &[u8]) -> Result<Solution, Damaged> {
    let end = bytes.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let (first, mut rest) = bytes.split_at(end);
    let first = String::from_utf8_lossy(first);
    let mut values = first.trim_end().rsplit(' ').map(|word| word.parse::<u32>().unwrap_or(0));
    let (max, total) = (values.next().unwrap_or(0), values.next().unwrap_or(0));
    let expected = header(game, objective, total.into(), max);
    if first != expected {
        return Err(Damaged::Header(expected));
    }
    let all = everything(game);
    let mut tree = Tree::default();
    read(game, &all, &mut rest, &mut tree)?;
    if !rest.is_empty() {
        return Err(Damaged::Long);
    }
    let played = tree.play(game, &all).map_err(|_| Damaged::Result)?;
    if (played.total, played.max) != (total.into(), max) {
        return Err(Damaged::Result);
    }
    Ok(Solution { total: played.total, max, histogram: played.histogram, tree })
}

fn read(game: &Game, set: &[u32], bytes: &mut &[u8], tree: &mut Tree) -> Result<u32, Damaged> {
    let guess = match implied(game, set) {
        Some(guess) => guess,
        None => {
            let mut guess = 0_u64;
            for shift in (0..).step_by(7) {
                let (&byte, rest) = bytes.split_first().ok_or(Damaged::Short)?;
                *bytes = rest;
                guess |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
                if shift > 28 {
                    return Err(Damaged::Guess(guess));
                }
            }
            let valid = u32::try_from(guess).ok().filter(|&guess| guess < game.size());
            valid.ok_or(Damaged::Guess(guess))?
        }
    };
    let node = tree.push(game.code(guess), set.binary_search(&guess).is_ok());
    for (class, part) in parts(game, set, guess) {
        // A guess that tells nothing apart would be followed for ever.
        if part.len() == set.len() {
            return Err(Damaged::Result);
        }
        let child = read(game, &part, bytes, tree)?;
        tree.link(node, class, child);
    }
    Ok(node)
}

/// The guess that needs no choice: the first candidate that tells all others apart. Of one or two candidates it is
/// the first.
fn implied(game: &Game, set: &[u32]) -> Option<u32> {
    let classes = game.rules().answers().count();
    if set.len() > classes {
        return None;
    }
    set.iter().copied().find(|&guess| {
        let mut seen = vec![false; classes];
        set.iter().all(|&code| {
            let class = game.rules().score(&game.code(guess), &game.code(code));
            !std::mem::replace(&mut seen[class.index()], true)
        })
    })
}

/// The losing classes of a guess that are not empty, in class order.
fn parts(game: &Game, set: &[u32], guess: u32) -> Vec<(Class, Vec<u32>)> {
    let answers = game.rules().answers();
    let guess = game.code(guess);
    let mut parts = vec![vec![]; answers.count()];
    for &code in set {
        let class = game.rules().score(&guess, &game.code(code));
        parts[class.index()].push(code);
    }
    let losing = (0..).map(Class).zip(parts).take(answers.winning().index());
    losing.filter(|(_, part)| !part.is_empty()).collect()
}

fn everything(game: &Game) -> Vec<u32> {
    (0..game.size()).collect()
}

fn header(game: &Game, objective: Objective, total: u64, max: u32) -> String {
    let spec = game.rules().code_spec().expect("a book is of codes over an alphabet");
    let repeats = if spec.repeats { "repeats" } else { "distinct" };
    let not_first = if spec.not_first.is_empty() { "-" } else { &spec.not_first };
    let objective = match objective {
        Objective::Expected => "expected",
        Objective::WorstCase => "worst-case",
        Objective::FewestAtMax => "fewest-at-max",
    };
    let (alphabet, length) = (&spec.alphabet, spec.length);
    format!("herdsman-book 1 {alphabet} {length} {repeats} {not_first} {objective} {total} {max}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        budget::Budget,
        exact::{Goal, Progress, SolveLimits, solve_set},
        feedback::FeedbackRule,
        rules::{CodeSpec, Rules},
    };

    #[test]
    fn a_book_says_what_was_written_and_damage_is_seen() {
        let spec = CodeSpec {
            alphabet: "0123".into(),
            length: 4,
            repeats: true,
            not_first: String::new(),
        };
        let game = Game::new(Rules::codes(&spec, FeedbackRule::Pegs).unwrap(), 1000).unwrap();
        let (limits, progress) = (SolveLimits::default(), Progress::default());
        let budget = Budget::unlimited();
        let solution =
            solve_set(&game, &everything(&game), Goal::default(), limits, &progress, &budget)
                .unwrap();
        let bytes = encode(&game, Objective::Expected, &solution);
        let read = decode(&game, Objective::Expected, &bytes).unwrap();
        assert_eq!((read.total, read.max), (solution.total, solution.max));
        assert_eq!(read.total, 905);

        assert!(decode(&game, Objective::WorstCase, &bytes).is_err());
        for cut in 0..bytes.len() {
            assert!(decode(&game, Objective::Expected, &bytes[..cut]).is_err());
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            // Some other guess may be as good; then the book is still true.
            if let Ok(other) = decode(&game, Objective::Expected, &damaged) {
                assert_eq!((other.total, other.max), (solution.total, solution.max));
            }
        }
        assert_eq!(
            decode(&game, Objective::Expected, &[&bytes[..], &[0]].concat()),
            Err(Damaged::Long)
        );
    }
}
