//! Replies on standard output, in the format that was asked for; notes on standard error; files.
//!
//! Owns the choice between words, JSON and tables; `words` has the words, `csv` the tables.

use std::{
    fs::{self, OpenOptions},
    io::{self, BufWriter, Stdout, Write as _},
    path::Path,
};

use herdsman_proto::json::{Json, Method};
use prost::Message;
use serde::Serialize;

use crate::{args::Format, csv::Table, failure::Failure};

/// Where replies go. What is written appears at [`Output::flush`], or when there is much of it.
pub(crate) struct Output {
    format: Format,
    out: BufWriter<Stdout>,
}

impl Output {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, out: BufWriter::new(io::stdout()) }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Prints a reply of `method`: `words` as they are, the reply as JSON, or its `table`.
    pub(crate) fn reply(
        &mut self,
        method: &str,
        reply: &impl Message,
        words: impl FnOnce() -> String,
        table: impl FnOnce() -> Table,
    ) -> io::Result<()> {
        match self.format {
            Format::Text => return self.text(words().as_bytes()),
            Format::Csv => return self.text(table().to_string().as_bytes()),
            Format::Json | Format::Jsonl => {}
        }
        let method = Method::named(method).map_err(io::Error::other)?;
        let json: Json = method.reply(reply).map_err(io::Error::other)?;
        self.document(&json)
    }

    /// Prints what is no reply of one method: `words` as they are, `value` as JSON, or the `table`.
    pub(crate) fn print(
        &mut self,
        value: &impl Serialize,
        words: impl FnOnce() -> String,
        table: impl FnOnce() -> Table,
    ) -> io::Result<()> {
        match self.format {
            Format::Text => self.text(words().as_bytes()),
            Format::Csv => self.text(table().to_string().as_bytes()),
            Format::Json | Format::Jsonl => self.document(value),
        }
    }

    /// Prints a value as JSON: on several lines, or on one.
    fn document(&mut self, value: &impl Serialize) -> io::Result<()> {
        if self.format != Format::Json {
            return self.line(value);
        }
        serde_json::to_writer_pretty(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }

    /// Prints text as it is, whatever the format.
    pub(crate) fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.out.write_all(text)
    }

    /// Prints a value as one line of JSON, whatever the format.
    pub(crate) fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Prints a line for people on standard error. Where that is closed nobody misses it.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Sees that a file can be written, before work that may take minutes; what was there stays, and a new one goes again.
pub(crate) fn writable(path: &Path) -> Result<(), Failure> {
    let new = !path.exists();
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .and_then(|_| if new { fs::remove_file(path) } else { Ok(()) })
        .map_err(|error| unwritable(path, error))
}

/// Writes a file.
pub(crate) fn file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| unwritable(path, error))
}

fn unwritable(path: &Path, error: io::Error) -> Failure {
    Failure::File { name: path.display().to_string(), error }
}
