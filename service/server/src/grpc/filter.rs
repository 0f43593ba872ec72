//! Filter: what is still possible, page by page.
//!
//! A page token is the place where the page begins, sealed with a checksum over that place and the request it belongs
//! to. Any server can read it; a token of another request does not fit, whatever the order of its turns.

use herdsman_engine::{Budget, Count, Form, LARGE_NODES, LARGE_SAMPLE, Sample, sample};
use herdsman_proto::v1;

use super::{
    Shared, convert,
    rules::is_large,
    status::{Failure, Reason, Violation, Violations},
};
use crate::{cache::Position, games::Games};

/// Candidates on a page that asks for no size.
const DEFAULT_PAGE_SIZE: u64 = 100;

/// A request that was checked.
struct Question {
    position: Position,
    max_lies: usize,
    page_token: String,
    /// Candidates on the page.
    size: usize,
}

pub(super) async fn filter(
    shared: &Shared,
    request: v1::FilterRequest,
) -> Result<v1::FilterResponse, Failure> {
    let config = &shared.config;
    let mut violations = Violations::default();
    let rules = violations.game_or_sample(shared, request.rules, &request.history).await?;
    let history = violations.history(rules.as_ref(), &request.history);
    let size = violations.natural("page_size", request.page_size.into());
    let max_lies = violations.lies(request.max_lies);
    let rules = match max_lies {
        Some(1..) => rules.and_then(|rules| violations.enumerable(rules, config)),
        _ => rules,
    };
    let (Some(rules), Some(history), Some(size), Some(max_lies)) = (rules, history, size, max_lies)
    else {
        return Err(violations.into());
    };
    let size = match (request.count_only, size) {
        (true, _) => 0,
        (false, 0) => DEFAULT_PAGE_SIZE,
        (false, size) => size,
    };
    let most = config.max_page_size as usize;
    let large = is_large(&rules, config);
    let question = Question {
        position: Position::within(max_lies, rules, &history),
        max_lies,
        page_token: request.page_token,
        size: (size as usize).min(most),
    };
    let job = move |games: &Games, budget: &Budget| match large {
        true => question.sampled(most, budget),
        false => question.counted(games, budget),
    };
    shared.run(u64::MAX, job).await
}

impl Question {
    /// The page of a game whose codes are enumerated.
    fn counted(&self, games: &Games, budget: &Budget) -> Result<v1::FilterResponse, Failure> {
        let Question { position, max_lies, .. } = self;
        let game = games.game(&position.rules)?;
        let text = |&at: &u32| position.rules.text(&game.code(at));
        if *max_lies == 0 {
            let candidates = games.candidates(&game, position, budget)?;
            return self.page(candidates.indices(), text);
        }
        let suspects = game.suspects(&position.history, *max_lies, budget)?;
        let reply = self.page(&suspects.by_lies().concat(), text)?;
        Ok(v1::FilterResponse { remaining_by_lies: convert::by_lies(&suspects), ..reply })
    }

    /// The page of a game whose codes are too many for that: of all that are left if those are at most `most`, else of
    /// some.
    fn sampled(&self, most: usize, budget: &Budget) -> Result<v1::FilterResponse, Failure> {
        let Position { rules, history } = &self.position;
        let draw = |want| sample(rules, history, want, LARGE_NODES, 0, budget);
        let mut found = draw(LARGE_SAMPLE)?;
        if let Count::Exact(codes) = found.count
            && (found.codes.len() as u128 + 1..=most as u128).contains(&codes)
        {
            found = draw(codes as usize)?;
        }
        let Sample { codes, count } = found;
        let reply = self.page(&codes, |code| rules.text(code))?;
        Ok(v1::FilterResponse { count: Some(convert::known(count)), ..reply })
    }

    /// The page of these candidates.
    fn page<T>(
        &self,
        all: &[T],
        text: impl Fn(&T) -> String,
    ) -> Result<v1::FilterResponse, Failure> {
        let start = self.start()?;
        let rest = all.get(start..).unwrap_or_default();
        let page = &rest[..rest.len().min(self.size)];
        let end = start + page.len();
        let more = !page.is_empty() && end < all.len();
        Ok(v1::FilterResponse {
            remaining: convert::count(all.len()),
            candidates: page.iter().map(text).collect(),
            next_page_token: if more { self.token(end) } else { String::new() },
            solved: !all.is_empty() && self.position.is_won(),
            ..Default::default()
        })
    }

    /// Where the page begins; an empty token is the first page.
    fn start(&self) -> Result<usize, Violation> {
        let token = self.page_token.as_str();
        if token.is_empty() {
            return Ok(0);
        }
        let start =
            token.split_once('-').and_then(|(start, _)| usize::from_str_radix(start, 16).ok());
        start.filter(|&start| self.token(start) == token).ok_or_else(|| {
            let problem = "this is no token of this request: send the `next_page_token` of a reply \
                to the same rules and history, or none for the first page";
            Violation::new("page_token", Reason::InvalidOption, problem)
        })
    }

    /// The token of the page that begins there. Its seal takes a millisecond for a hundred thousand words.
    fn token(&self, start: usize) -> String {
        let Position { rules, history } = &self.position;
        let mut seal = Seal::default();
        seal.add(format!("{start}|{}|{:?}", self.max_lies, rules.feedback()).as_bytes());
        match rules.form() {
            Form::Words(words) => {
                for at in 0..words.len() as u32 {
                    seal.add(b"|");
                    seal.add(words.word(at).as_bytes());
                }
                words.secrets().iter().for_each(|secret| seal.add(&secret.to_le_bytes()));
            }
            form => seal.add(format!("|{form:?}").as_bytes()),
        }
        for turn in history.turns() {
            seal.add(format!("|{}={}", rules.text(&turn.guess), turn.class.0).as_bytes());
        }
        format!("{start:x}-{:016x}", seal.0)
    }
}

/// FNV-1a over a request: the same on every server and in every version.
struct Seal(u64);

impl Default for Seal {
    fn default() -> Seal {
        Seal(0xcbf2_9ce4_8422_2325)
    }
}

impl Seal {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use herdsman_engine::{History, Rules};

    use super::*;

    #[test]
    fn a_token_is_good_for_its_place_and_its_request_only() {
        let question = |preset, max_lies, token: &str| Question {
            position: Position::new(Rules::preset(preset, None).unwrap(), &History::default()),
            max_lies,
            page_token: token.to_owned(),
            size: 1,
        };
        let asked = |token: &str| question("mastermind", 0, token);
        let token = asked("").token(1000);
        assert_eq!(asked(&token).start(), Ok(1000));
        assert!(question("bulls-and-cows", 0, &token).start().is_err());
        assert!(question("mastermind", 1, &token).start().is_err());
        let moved = token.replacen("3e8-", "3e9-", 1);
        for bad in [moved.as_str(), "3e8", "-", "3e8-", "+3e8-0", "é-"] {
            assert!(asked(bad).start().is_err(), "{bad}");
        }
    }
}
