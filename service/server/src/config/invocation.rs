//! How the program was started: settings from all sources, in one.
//!
//! Owns their order: defaults, then the file, then variables, then flags. Everything that is given is checked, also
//! where another source has the last word.

use std::ffi::OsString;

use clap::FromArgMatches as _;

use super::{
    Config, file,
    mistakes::{Mistakes, shown},
    print,
    sources::{self, Given},
    table::{CHECK, FILE, PRINT, Table, flag},
};

/// What the program is asked to do, and the settings it has.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The settings in force.
    pub config: Config,
    /// Only to tell whether all is well, and not to serve.
    pub check_config: bool,
    /// Only to print the settings, and not to serve.
    pub print_config: bool,
    /// Every setting in force, with its reason and where it comes from: a file for `--config`.
    pub toml: String,
}

impl Invocation {
    /// Reads the arguments behind the name of the program, the environment, and the file that one of them names.
    /// Ends the process after `--help` and `--version`.
    ///
    /// # Errors
    /// [`Mistakes`] has all that is wrong, with the place of each.
    pub fn read(
        args: impl IntoIterator<Item = OsString>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Invocation, Mistakes> {
        let (mut table, mut mistakes) = (Table::new(), Mistakes::default());
        let flags = sources::flags(args, &table, &mut mistakes);
        let variables = sources::variables(variables, &table, &mut mistakes);
        let named = |given: &&Given| given.id == FILE && !given.text.is_empty();
        let named = flags.iter().find(named).or(variables.iter().find(named));
        let file = named
            .map_or(vec![], |named| file::read(&named.text, &named.place, &table, &mut mistakes));

        let refused = refused([&file, &variables, &flags], &mut table, &mut mistakes);
        let mut given = in_force([file, variables, flags]);
        given.retain(|given| !refused.contains(&given.id));
        let config = table.matches(&given).and_then(|matches| {
            let config = Config::from_arg_matches(&matches).map_err(|error| error.to_string())?;
            Ok((config, matches.get_flag(CHECK), matches.get_flag(PRINT)))
        });
        let (config, check_config, print_config) = match config {
            Ok(config) => config,
            Err(mistake) => {
                mistakes.note(|| mistake);
                return Err(mistakes);
            }
        };
        for mistake in config.check() {
            // Whose value is refused, its default may be at odds with the others.
            if !refused.iter().any(|id| mentions(&mistake, &flag(id))) {
                mistakes.note(|| with_places(&mistake, &given));
            }
        }
        mistakes.none()?;
        let toml = print::toml(&mut table, &given);
        Ok(Invocation { config, check_config, print_config, toml })
    }
}

/// The settings that have a value which they do not take.
fn refused(sources: [&Vec<Given>; 3], table: &mut Table, mistakes: &mut Mistakes) -> Vec<String> {
    let mut refused = vec![];
    for Given { id, text, place } in sources.into_iter().flatten() {
        if let Some(reason) = table.refusal(id, text) {
            mistakes.note(|| format!("{place}: {:?} cannot be used: {reason}", shown(text)));
            refused.push(id.clone());
        }
    }
    refused
}

/// Of each setting the values of the last source that has any.
fn in_force(sources: [Vec<Given>; 3]) -> Vec<Given> {
    sources.into_iter().fold(vec![], |mut all: Vec<Given>, source| {
        all.retain(|before| !source.iter().any(|given| given.id == before.id));
        all.extend(source);
        all
    })
}

/// Whether a text names this flag, and not only one that begins with it.
fn mentions(text: &str, flag: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|word| word == flag)
}

/// A mistake between settings, with where each of them is given.
fn with_places(mistake: &str, given: &[Given]) -> String {
    let of_it = given.iter().filter(|given| mentions(mistake, &flag(&given.id)));
    let mut places: Vec<&str> = of_it.map(|given| given.place.as_str()).collect();
    places.dedup();
    if places.is_empty() {
        return mistake.to_owned();
    }
    format!("{mistake} (given: {})", places.join(", "))
}
