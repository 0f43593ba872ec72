//! Replies on standard output, in the format that was asked for; notes on standard error.
//!
//! Owns the choice between words and JSON; `words` has the words.

use std::io::{self, BufWriter, Stdout, Write as _};

use herdsman_proto::json::{Json, Method};
use prost::Message;
use serde::Serialize;

use crate::args::Format;

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

    /// Prints a reply of `method`: `words` as they are, or the reply as JSON.
    pub(crate) fn reply(
        &mut self,
        method: &str,
        reply: &impl Message,
        words: impl FnOnce() -> String,
    ) -> io::Result<()> {
        if self.format == Format::Text {
            return self.text(words().as_bytes());
        }
        let method = Method::named(method).map_err(io::Error::other)?;
        let json: Json = method.reply(reply).map_err(io::Error::other)?;
        self.document(&json)
    }

    /// Prints a value as JSON: on several lines, or on one.
    pub(crate) fn document(&mut self, value: &impl Serialize) -> io::Result<()> {
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
