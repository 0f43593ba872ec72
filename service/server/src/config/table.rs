//! The settings as clap knows them: which there are, what each takes, and what is said of a value that it does not.

use std::{any::TypeId, error::Error as _};

use clap::{
    Arg, ArgAction, ArgMatches, Command, CommandFactory as _,
    error::{ContextKind, ContextValue},
};

use super::{Config, sources::Given};

/// The flag that names the file; it is a variable too.
pub(super) const FILE: &str = "config";
/// The flag that asks for a check only.
pub(super) const CHECK: &str = "check_config";
/// The flag that asks for the settings only.
pub(super) const PRINT: &str = "print_config";

/// What a setting takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Flag,
    Number,
    Text,
    List,
}

impl Kind {
    pub(super) fn of(arg: &Arg) -> Kind {
        let taken = arg.get_value_parser().type_id();
        let numbers = [TypeId::of::<u16>(), TypeId::of::<u32>(), TypeId::of::<u64>()];
        if matches!(arg.get_action(), ArgAction::Append) {
            Kind::List
        } else if taken == TypeId::of::<bool>() {
            Kind::Flag
        } else if numbers.iter().any(|number| taken == *number) {
            Kind::Number
        } else {
            Kind::Text
        }
    }
}

/// What can be given, wherever it is given.
pub(super) struct Table {
    settings: Command,
    /// The settings, and the flags that are none: what is to be done with them.
    program: Command,
}

impl Table {
    pub(super) fn new() -> Table {
        let settings = Config::command().mut_args(with_value);
        let file = Arg::new(FILE).value_name("FILE").help(
            "A TOML file of settings, as in `max_queue = 100`; --print-config writes one that has all",
        );
        let check = Arg::new(CHECK).action(ArgAction::SetTrue).help(
            "Tell all that is wrong with the settings and the files they name, and exit: 0 if nothing is, else 2",
        );
        let print = Arg::new(PRINT).action(ArgAction::SetTrue).help(
            "Print the settings in force and where each comes from, as a file for --config, and exit",
        );
        let flags = [file, check, print].map(|arg| {
            let name = arg.get_id().as_str().replace('_', "-");
            with_value(arg).long(name).help_heading("Configuration")
        });
        Table { program: settings.clone().args(flags), settings }
    }

    /// All settings, in the order in which they are declared.
    pub(super) fn settings(&self) -> impl Iterator<Item = &Arg> {
        self.settings.get_arguments()
    }

    /// The setting of this id, which is its key in a file.
    pub(super) fn setting(&self, id: &str) -> Option<&Arg> {
        self.settings().find(|arg| arg.get_id() == id)
    }

    /// The setting of this id, or what else is a flag of the program.
    pub(super) fn flag(&self, id: &str) -> Option<&Arg> {
        self.program.get_arguments().find(|arg| arg.get_id() == id)
    }

    /// The id that somebody may have meant by an unknown name, however it is spelled.
    pub(super) fn nearest(&self, name: &str) -> Option<String> {
        let name = name.to_lowercase().replace('-', "_");
        let name = name.strip_prefix("herdsman_").unwrap_or(&name);
        if self.flag(name).is_some() {
            return Some(name.to_owned());
        }
        let args = ["herdsmand".to_owned(), flag(name)];
        let error = self.program.clone().try_get_matches_from(args).err()?;
        match error.get(ContextKind::SuggestedArg) {
            Some(ContextValue::String(near)) => {
                Some(near.trim_start_matches('-').replace('-', "_"))
            }
            _ => None,
        }
    }

    /// Why a setting does not take this value, or nothing if it does.
    pub(super) fn refusal(&mut self, id: &str, text: &str) -> Option<String> {
        if text.is_empty() {
            return Some("write a value, or leave the setting out".to_owned());
        }
        let args = ["herdsmand".to_owned(), format!("{}={text}", flag(id))];
        let error = self.program.try_get_matches_from_mut(args).err()?;
        Some(match (error.source(), error.get(ContextKind::ValidValue)) {
            (Some(reason), _) => reason.to_string(),
            (None, Some(ContextValue::Strings(valid))) => format!("write {}", valid.join(" or ")),
            _ => first_line(&error),
        })
    }

    /// These values and no others, by all names.
    ///
    /// # Errors
    /// What clap says of values that cannot go together.
    pub(super) fn matches(&mut self, given: &[Given]) -> Result<ArgMatches, String> {
        let flags = given.iter().map(|given| format!("{}={}", flag(&given.id), given.text));
        let args = ["herdsmand".to_owned()].into_iter().chain(flags);
        self.program.try_get_matches_from_mut(args).map_err(|error| first_line(&error))
    }

    /// Prints what `--help` or `--version` asks for, and ends the process.
    pub(super) fn tell(&self, asked: &str) {
        self.program.clone().get_matches_from(["herdsmand", asked]);
    }
}

/// `--max-turns` for `max_turns`.
pub(super) fn flag(id: &str) -> String {
    format!("--{}", id.replace('_', "-"))
}

/// A switch takes `true` and `false` too, so that each source can set what another has set.
fn with_value(arg: Arg) -> Arg {
    if !matches!(arg.get_action(), ArgAction::SetTrue) {
        return arg;
    }
    let arg = arg.action(ArgAction::Set).value_parser(clap::value_parser!(bool));
    let arg = arg.num_args(0..=1).require_equals(true).default_missing_value("true");
    let arg = arg.default_value("false").hide_default_value(true);
    arg.value_name("true|false").hide_possible_values(true)
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
