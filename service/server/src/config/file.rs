//! What a TOML file gives, as text.

use std::{
    fs::File,
    io::{self, Read as _},
};

use toml::de::{DeTable, DeValue};

use super::{
    mistakes::{Mistakes, shown},
    sources::{Given, unknown},
    table::{Kind, Table},
};

/// The largest file: all settings with their reasons take some 10 KB.
const MAX_BYTES: usize = 1 << 20;

/// The values in the file of this path, which was given at `place`.
pub(super) fn read(path: &str, place: &str, table: &Table, mistakes: &mut Mistakes) -> Vec<Given> {
    match text(path) {
        Ok(text) => values(path, &text, table, mistakes),
        Err(error) => {
            mistakes.note(|| format!("{place}: {path}: {error}"));
            vec![]
        }
    }
}

fn text(path: &str) -> Result<String, String> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // Not what the file system says of its size: it may be no plain file.
        File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| error.to_string())?;
    if bytes.len() > MAX_BYTES {
        return Err(format!("the file has more than {MAX_BYTES} bytes: is it one of settings?"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let whole = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        format!("line {} is not UTF-8", 1 + whole.iter().filter(|&&byte| byte == b'\n').count())
    })
}

fn values(path: &str, text: &str, table: &Table, mistakes: &mut Mistakes) -> Vec<Given> {
    let line = |at: usize| 1 + text[..at].matches('\n').count();
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut broken = vec![];
    for error in errors {
        let at = line(error.span().map_or(0, |span| span.start));
        // One mistake in a line makes others that are none.
        if !broken.contains(&at) {
            broken.push(at);
            mistakes.note(|| {
                let line = shown(text.lines().nth(at - 1).unwrap_or_default().trim());
                format!("{path}:{at}: {line:?} is not TOML: {}", error.message())
            });
        }
    }
    let mut entries: Vec<_> = document.get_ref().iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut all = vec![];
    for (key, value) in entries {
        let (at, id) = (line(key.span().start), key.get_ref().as_ref());
        if broken.contains(&at) {
            continue;
        }
        let place = format!("{path}:{at}: {id}");
        let Some(known) = table.setting(id) else {
            mistakes.note(|| unknown(&place, id, table, str::to_owned));
            continue;
        };
        match texts(value.get_ref(), Kind::of(known)) {
            Ok(texts) => all.extend(texts.into_iter().map(|text| {
                let (id, place) = (id.to_owned(), place.clone());
                Given { id, text, place }
            })),
            Err(right) => mistakes.note(|| format!("{place}: {right}")),
        }
    }
    all
}

/// A value as a flag would have it, or what would be right.
fn texts(value: &DeValue<'_>, kind: Kind) -> Result<Vec<String>, &'static str> {
    match (value, kind) {
        (DeValue::String(text), _) => Ok(vec![text.as_ref().to_owned()]),
        (DeValue::Boolean(value), Kind::Flag) => Ok(vec![value.to_string()]),
        // Also what has a base of its own, as in 0xff; what fits no number is refused as it is written.
        (DeValue::Integer(number), Kind::Number) => {
            let value = u64::from_str_radix(number.as_str(), number.radix());
            Ok(vec![value.map_or_else(|_| number.to_string(), |value| value.to_string())])
        }
        (DeValue::Array(values), Kind::List) => {
            let texts = values.iter().map(|value| match value.get_ref() {
                DeValue::String(text) => Ok(text.as_ref().to_owned()),
                _ => Err("write strings in the list"),
            });
            texts.collect()
        }
        (DeValue::Table(_), _) => Err("write a value: settings have no sections"),
        (_, Kind::Flag) => Err("write true or false"),
        (_, Kind::Number) => Err("write a whole number"),
        (_, Kind::Text) => Err("write a string"),
        (_, Kind::List) => Err("write a list of strings"),
    }
}
