//! GetServerInfo: version, games, strategies and limits.

use herdsman_engine::{Objective, PRESETS, Preset, Rules, Strategy, books};
use herdsman_proto::v1;

use super::convert::{self, count};
use crate::config::Config;

pub(super) fn info(config: &Config) -> v1::GetServerInfoResponse {
    v1::GetServerInfoResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        presets: PRESETS.iter().map(preset).collect(),
        strategies: Strategy::ALL.iter().map(|&strategy| describe(strategy)).collect(),
        limits: Some(limits(config)),
        books: books().map(|(name, rules, objective)| book(name, &rules, objective)).collect(),
    }
}

fn book(name: &str, rules: &Rules, objective: Objective) -> v1::Book {
    v1::Book {
        name: name.to_owned(),
        rules: Some(convert::rules(rules)),
        objective: convert::objective_number(objective).into(),
    }
}

fn preset(preset: &Preset) -> v1::Preset {
    let rules = preset.rules();
    v1::Preset {
        name: preset.name.to_owned(),
        title: preset.title.to_owned(),
        codes: count(rules.size()),
        rules: Some(convert::rules(&rules)),
    }
}

fn describe(strategy: Strategy) -> v1::StrategyInfo {
    v1::StrategyInfo {
        strategy: convert::strategy_number(strategy).into(),
        name: strategy.name().to_owned(),
        description: strategy.description().to_owned(),
        default: strategy == Strategy::default(),
        options: strategy.options().iter().map(|&option| option.to_owned()).collect(),
    }
}

fn limits(config: &Config) -> v1::ServerLimits {
    v1::ServerLimits {
        max_codes: count(config.max_codes),
        max_message_bytes: count(config.max_message_bytes),
        max_turns: count(config.max_turns),
        max_pairs: count(config.max_pairs),
        max_cells: count(config.max_cells),
        max_page_size: count(config.max_page_size),
        max_top_k: count(config.max_top_k),
        max_scores: config.max_scores.cast_signed(),
        max_deadline_ms: count(config.max_deadline_ms),
        max_solve_deadline_ms: count(config.max_solve_deadline_ms),
        max_solve_threads: count(config.solver_threads()),
        max_solve_memo_bytes: i64::try_from(config.solve_memo_bytes).unwrap_or(i64::MAX),
    }
}
