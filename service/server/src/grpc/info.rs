//! GetServerInfo: version, games, dictionaries, strategies and limits.

use herdsman_engine::{FileReport, Level, Objective, PRESETS, Preset, Rules, Strategy, books};
use herdsman_proto::v1;

use super::{
    Shared,
    convert::{self, count},
};
use crate::{config::Config, dictionaries::Dictionary};

pub(super) fn info(shared: &Shared) -> v1::GetServerInfoResponse {
    v1::GetServerInfoResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        presets: PRESETS.iter().map(preset).collect(),
        strategies: Strategy::ALL.iter().map(|&strategy| describe(strategy)).collect(),
        limits: Some(limits(&shared.config)),
        books: books().map(|(name, rules, objective)| book(name, &rules, objective)).collect(),
        dictionaries: shared.dictionaries.iter().map(dictionary).collect(),
        levels: Level::ALL.iter().map(|&level| stands_for(level)).collect(),
    }
}

fn dictionary(Dictionary { name, words, report }: &Dictionary) -> v1::Dictionary {
    let reports = [Some(&report.secrets), report.guesses.as_ref()];
    v1::Dictionary {
        name: name.clone(),
        letters: count(words.letters()),
        secrets: count(words.secrets().len()),
        guesses: count(words.len()),
        weighted: words.weights().is_some(),
        reports: reports.into_iter().flatten().map(left_out).collect(),
    }
}

fn left_out(report: &FileReport) -> v1::ListReport {
    v1::ListReport {
        words: count(report.words),
        blank: count(report.blank),
        comments: count(report.comments),
        duplicates: count(report.duplicates),
        wrong_length: count(report.wrong_length),
    }
}

fn stands_for(level: Level) -> v1::LevelInfo {
    v1::LevelInfo {
        level: convert::level_number(level).into(),
        description: level.description().to_owned(),
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
    // What is played with words is no game without them.
    let rules = preset.rules(None).ok();
    let feedback = convert::rule_number(preset.feedback()).into();
    let answers = v1::Rules { feedback, ..Default::default() };
    v1::Preset {
        name: preset.name.to_owned(),
        title: preset.title.to_owned(),
        codes: rules.as_ref().map_or(0, |rules| count(rules.size())),
        rules: Some(rules.as_ref().map_or(answers, convert::rules)),
        needs_dictionary: preset.has_words(),
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
        max_words: count(config.max_words),
    }
}
