//! Filter: what is still possible, page by page.
//!
//! A page token is the place where the page begins, sealed with a checksum over that place and the request it belongs
//! to. Any server can read it; a token of another request does not fit, whatever the order of its turns.

use herdsman_proto::v1;

use super::{
    Shared, convert,
    status::{Failure, Reason, Violation, Violations},
};
use crate::cache::Position;

/// Candidates on a page that asks for no size.
const DEFAULT_PAGE_SIZE: u64 = 100;

pub(super) async fn filter(
    shared: &Shared,
    request: v1::FilterRequest,
) -> Result<v1::FilterResponse, Failure> {
    let mut violations = Violations::default();
    let rules = violations.game(request.rules.as_ref(), &shared.config);
    let history = violations.history(rules.as_ref(), &request.history, &shared.config);
    let size = violations.natural("page_size", request.page_size.into());
    let (Some(rules), Some(history)) = (rules, history) else { return Err(violations.into()) };
    let position = Position::new(rules, &history);
    let start = violations.note(start_of(&request.page_token, &position));
    let (Some(start), Some(size)) = (start, size) else { return Err(violations.into()) };
    let size = match (request.count_only, size) {
        (true, _) => 0,
        (false, 0) => DEFAULT_PAGE_SIZE,
        (false, size) => size,
    };
    let size = size.min(shared.config.max_page_size.into()) as usize;
    shared
        .run(u64::MAX, move |games, budget| {
            let game = games.game(&position.rules)?;
            let candidates = games.candidates(&game, &position, budget)?;
            let rest = candidates.indices().get(start..).unwrap_or_default();
            let page = &rest[..rest.len().min(size)];
            let end = start + page.len();
            let more = !page.is_empty() && end < candidates.len();
            Ok(v1::FilterResponse {
                remaining: convert::count(candidates.len()),
                candidates: page.iter().map(|&at| position.rules.text(&game.code(at))).collect(),
                next_page_token: if more { token(end, &position) } else { String::new() },
                solved: !candidates.is_empty() && position.is_won(),
            })
        })
        .await
}

/// Where a page begins; an empty token is the first page.
fn start_of(page_token: &str, position: &Position) -> Result<usize, Violation> {
    if page_token.is_empty() {
        return Ok(0);
    }
    let start =
        page_token.split_once('-').and_then(|(start, _)| usize::from_str_radix(start, 16).ok());
    start.filter(|&start| token(start, position) == page_token).ok_or_else(|| {
        let problem = "this is no token of this request: send the `next_page_token` of a reply to the \
            same rules and history, or none for the first page";
        Violation::new("page_token", Reason::InvalidOption, problem)
    })
}

fn token(start: usize, position: &Position) -> String {
    format!("{start:x}-{:016x}", seal(start, position))
}

/// FNV-1a over the request as text: the same on every server and in every version.
fn seal(start: usize, position: &Position) -> u64 {
    let rules = &position.rules;
    let mut text = format!("{start}|{:?}|{:?}", rules.spec(), rules.feedback());
    for turn in position.history.turns() {
        text += &format!("|{}={}", rules.text(&turn.guess), turn.class.0);
    }
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use herdsman_engine::{History, Rules};

    use super::*;

    #[test]
    fn a_token_is_good_for_its_place_and_its_request_only() {
        let position = |preset| Position::new(Rules::preset(preset).unwrap(), &History::default());
        let (asked, other) = (position("mastermind"), position("bulls-and-cows"));
        assert_eq!(start_of(&token(1000, &asked), &asked), Ok(1000));
        assert!(start_of(&token(1000, &asked), &other).is_err());
        let moved = token(1000, &asked).replacen("3e8-", "3e9-", 1);
        for bad in [moved.as_str(), "3e8", "-", "3e8-", "+3e8-0", "é-"] {
            assert!(start_of(bad, &asked).is_err(), "{bad}");
        }
    }
}
