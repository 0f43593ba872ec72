//! Diagnose: whether the answers can all be true, and which one was given wrongly.

use herdsman_engine::{Repair, RepairOption};
use herdsman_proto::v1;

use super::{
    Shared, convert,
    status::{Failure, Violations},
};

/// Words beside the secrets that are named: enough to see what kind of word is missing from the list.
const OTHER_GUESSES: usize = 10;

pub(super) async fn diagnose(
    shared: &Shared,
    request: v1::DiagnoseRequest,
) -> Result<v1::DiagnoseResponse, Failure> {
    let mut violations = Violations::default();
    let rules = violations.game(shared, request.rules, &request.history).await?;
    let history = violations.history(rules.as_ref(), &request.history);
    let (Some(rules), Some(history)) = (rules, history) else { return Err(violations.into()) };
    shared
        .run(u64::MAX, move |games, budget| {
            let game = games.game(&rules)?;
            let diagnosis = herdsman_engine::diagnose(&game, &history, budget)?;
            let others = match diagnosis.remaining {
                0 => game.consistent_others(&history, budget)?,
                _ => vec![],
            };
            let turns = |turns: &[usize]| turns.iter().map(|&turn| convert::count(turn)).collect();
            let options = |repair: &Repair| {
                let option = |option: &RepairOption| v1::RepairOption {
                    feedback: Some(convert::feedback(&rules, option.class)),
                    count: convert::count(option.count),
                };
                repair.options.iter().map(option).collect()
            };
            let repair = |repair: &Repair| v1::Repair {
                turn: convert::count(repair.turn),
                remaining: convert::count(repair.remaining),
                options: options(repair),
            };
            Ok(v1::DiagnoseResponse {
                consistent: diagnosis.remaining > 0,
                remaining: convert::count(diagnosis.remaining),
                first_conflict_turn: diagnosis.first_conflict_turn.map_or(0, convert::count),
                clash: turns(&diagnosis.clash),
                repairs: diagnosis.repairs.iter().map(repair).collect(),
                clashes: diagnosis
                    .clashes
                    .iter()
                    .map(|clash| v1::Clash { turns: turns(clash) })
                    .collect(),
                other_guesses: others
                    .iter()
                    .take(OTHER_GUESSES)
                    .map(|&index| rules.text(&game.code(index)))
                    .collect(),
            })
        })
        .await
}
