//! Settings as a TOML file, each with its reason.

use std::fmt::Write as _;

use clap::Arg;
use toml::Value;

use super::{
    sources::Given,
    table::{Kind, Table},
};

/// Comments end here, as they do in the code.
const WIDTH: usize = 100;

/// All settings with the values that are given, and the others with their defaults.
pub(super) fn toml(table: &mut Table, given: &[Given]) -> String {
    let mut text = comment(
        "The settings of herdsmand, as --config FILE or HERDSMAN_CONFIG takes them. Each is also a variable \
         (max_queue is HERDSMAN_MAX_QUEUE) and a flag (--max-queue). Flags win over variables, and variables over \
         the file. Files are found from where the server is started.",
    );
    let settings: Vec<Arg> = table.settings().cloned().collect();
    let mut heading = None;
    for arg in &settings {
        let id = arg.get_id().as_str();
        if heading != arg.get_help_heading() {
            heading = arg.get_help_heading();
            let _ = write!(text, "\n## {}\n", heading.unwrap_or("General"));
        }
        text.push('\n');
        text += &comment(&reason(arg));
        // No number is written so, and the refusal tells which can be.
        if let (Kind::Number, Some(right)) = (Kind::of(arg), table.refusal(id, "?")) {
            text += &comment(&format!("{}.", right.replacen("write a", "A", 1)));
        }
        let of_it: Vec<&Given> = given.iter().filter(|given| given.id == id).collect();
        let default: Vec<String> =
            arg.get_default_values().iter().map(|text| text.to_string_lossy().into()).collect();
        if let Some(from) = of_it.first() {
            let default = if default.is_empty() { "nothing".to_owned() } else { default.join(";") };
            text += &comment(&format!("From {}; by default {default}.", from.place));
        }
        let of_it: Vec<String> = of_it.into_iter().map(|given| given.text.clone()).collect();
        text += &line(arg, if of_it.is_empty() { default } else { of_it });
    }
    text
}

fn line(arg: &Arg, texts: Vec<String>) -> String {
    let id = arg.get_id();
    let written = |text: String| match Kind::of(arg) {
        // As the number it is: text may be `007`, which TOML has not.
        Kind::Number => text.parse().map_or(text, |number: u64| number.to_string()),
        Kind::Flag => text,
        Kind::Text | Kind::List => Value::String(text).to_string(),
    };
    let mut values = texts.into_iter().map(written);
    if Kind::of(arg) == Kind::List {
        return format!("{id} = [{}]\n", values.collect::<Vec<_>>().join(", "));
    }
    match values.next() {
        Some(value) => format!("{id} = {value}\n"),
        None => {
            let name = arg.get_value_names().and_then(|names| names.first());
            format!("# {id} = \"{}\"\n", name.map_or("", |name| name.as_str()))
        }
    }
}

/// What the code says of a setting; clap takes the last full stop away.
fn reason(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    format!("{}.", help.trim_end_matches('.'))
}

fn comment(text: &str) -> String {
    let mut lines = String::from("#");
    let mut width = 1;
    for word in text.split_whitespace() {
        let length = word.chars().count() + 1;
        if width > 1 && width + length > WIDTH {
            lines += "\n#";
            width = 1;
        }
        lines.push(' ');
        lines += word;
        width += length;
    }
    lines + "\n"
}
