//! What flags and environment variables give, as text.
//!
//! Owns names: which there are, what to say of others, and what is given twice. Values are the table's to judge.

use std::ffi::OsString;

use super::{
    mistakes::{Mistakes, shown},
    table::{FILE, Kind, Table, flag},
};

/// What variables of this program begin with.
const PREFIX: &str = "HERDSMAN_";

/// Variables of the command line client: who uses both has them in one environment.
const OF_THE_CLIENT: [&str; 5] =
    ["HERDSMAN_SERVER", "HERDSMAN_TOKEN", "HERDSMAN_CA", "HERDSMAN_CERT", "HERDSMAN_KEY"];

/// A value that a source has for a setting.
#[derive(Clone, Debug)]
pub(super) struct Given {
    /// The setting, as it is named in the code and in a file.
    pub(super) id: String,
    pub(super) text: String,
    /// Where to mend it: a flag, a variable, or a line of a file with the key.
    pub(super) place: String,
}

/// The values of the flags. Ends the process if help or the version is asked for.
pub(super) fn flags(
    args: impl IntoIterator<Item = OsString>,
    table: &Table,
    mistakes: &mut Mistakes,
) -> Vec<Given> {
    let mut args = args.into_iter().map(Text::from).peekable();
    let mut all: Vec<Given> = vec![];
    while let Some(arg) = args.next() {
        if ["-h", "--help", "-V", "--version"].contains(&arg.text.as_str()) {
            table.tell(&arg.text);
        }
        let Some(name) = arg.text.strip_prefix("--") else {
            mistakes.note(|| format!("{:?}: write a flag, as in --max-turns 64", shown(&arg.text)));
            continue;
        };
        let (name, value) =
            name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
        let id = name.replace('-', "_");
        let known = table.flag(&id).filter(|_| !name.contains('_'));
        let switch = known.is_some_and(|known| Kind::of(known) == Kind::Flag);
        let value = match value {
            Some(value) => Some(Text { text: value.to_owned(), whole: arg.whole }),
            None if switch => Some(Text { text: "true".to_owned(), whole: true }),
            None => args.next_if(|next| !next.text.starts_with("--")),
        };
        let place = format!("--{name}");
        let Some(known) = known else {
            mistakes.note(|| unknown(&place, name, table, flag));
            continue;
        };
        let twice = Kind::of(known) != Kind::List && all.iter().any(|given| given.id == id);
        match value {
            _ if twice => mistakes.note(|| format!("{place}: it is given twice; write it once")),
            None => mistakes.note(|| format!("{place}: a value must follow")),
            Some(value) => all.extend(value.given(id, place, mistakes)),
        }
    }
    all
}

/// The values of the environment variables.
pub(super) fn variables(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    table: &Table,
    mistakes: &mut Mistakes,
) -> Vec<Given> {
    let ours = variables.into_iter().map(|(name, value)| (Text::from(name).text, value));
    let mut ours: Vec<(String, OsString)> =
        ours.filter(|(name, _)| name.starts_with(PREFIX)).collect();
    ours.retain(|(name, _)| !OF_THE_CLIENT.contains(&name.as_str()));
    // The system has them in no order.
    ours.sort();
    let mut all = vec![];
    for (place, value) in ours {
        let id = place[PREFIX.len()..].to_lowercase();
        let known = id == FILE || table.setting(&id).is_some();
        if known && place == variable(&id) {
            all.extend(Text::from(value).given(id, place, mistakes));
        } else if of_a_kubernetes_service(&place) {
            mistakes.note(|| {
                format!(
                    "{place}: no such setting; Kubernetes sets it for a Service of this name unless the pod has \
                     enableServiceLinks: false"
                )
            });
        } else {
            mistakes.note(|| unknown(&place, &place, table, variable));
        }
    }
    all
}

/// What to say of a name that nothing has; `spelled` writes the name of a setting as this source does.
pub(super) fn unknown(
    place: &str,
    name: &str,
    table: &Table,
    spelled: impl Fn(&str) -> String,
) -> String {
    let place = shown(place);
    let place = place.escape_debug();
    // What is the program's may be no setting here, though it has this very name.
    match table.nearest(name).map(|near| spelled(&near)).filter(|near| near != name) {
        Some(near) => format!("{place}: no such setting; did you mean {near}?"),
        None => format!("{place}: no such setting; herdsmand --help lists all"),
    }
}

/// `HERDSMAN_MAX_TURNS` for `max_turns`.
pub(super) fn variable(id: &str) -> String {
    format!("{PREFIX}{}", id.to_uppercase())
}

/// Such as `HERDSMAN_SERVICE_HOST` and `HERDSMAN_PORT_50051_TCP`, for a Service called `herdsman`.
fn of_a_kubernetes_service(variable: &str) -> bool {
    let service = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT_"];
    variable.ends_with("_PORT") || service.iter().any(|part| variable.contains(part))
}

/// Text from the system, and whether it is what the system gave: the rest is no UTF-8.
struct Text {
    text: String,
    whole: bool,
}

impl From<OsString> for Text {
    fn from(text: OsString) -> Text {
        match text.into_string() {
            Ok(text) => Text { text, whole: true },
            Err(text) => Text { text: text.to_string_lossy().into_owned(), whole: false },
        }
    }
}

impl Text {
    fn given(self, id: String, place: String, mistakes: &mut Mistakes) -> Option<Given> {
        if !self.whole {
            mistakes.note(|| format!("{place}: {:?} is not UTF-8", shown(&self.text)));
            return None;
        }
        Some(Given { id, text: self.text, place })
    }
}
