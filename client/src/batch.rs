//! `herdsman batch`: many calls, a line each.
//!
//! Requests are read ahead and made side by side, replies written in the order of the requests. A line that
//! fails is answered in its place and stops nothing.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    thread,
};

use herdsman_proto::json::{Json, JsonError, Method};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{runtime::Handle, sync::mpsc, task::JoinHandle};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::{
    args::Options,
    failure::{Failure, Verdict, settled},
    output::Output,
    remote::Remote,
};

/// Calls made side by side: enough to hide the way to the server and back, few enough for a server that has
/// other clients.
const IN_FLIGHT: usize = 16;

/// A line of input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    method: String,
    #[serde(default)]
    request: Option<Value>,
}

/// A line of output.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Reply(Json),
    Failed { error: Refusal },
}

/// What went wrong, as a script reads it.
#[derive(Serialize)]
struct Refusal {
    line: usize,
    code: String,
    reason: String,
    message: String,
    violations: Vec<Violation>,
}

#[derive(Serialize)]
struct Violation {
    field: String,
    description: String,
}

/// Answers every line of `source`, a file or `-`.
pub(crate) async fn run(
    source: &str,
    options: &Options,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let unreadable = |error| Failure::Read { source_name: format!("`{source}`"), error };
    let input: Box<dyn BufRead + Send> = match source {
        "-" => Box::new(BufReader::new(io::stdin())),
        path => Box::new(BufReader::new(File::open(path).map_err(unreadable)?)),
    };
    // The channel is the bound: the reader waits while it is full of calls that are not yet written.
    let (calls, mut answers) = mpsc::channel(IN_FLIGHT);
    let (runtime, remote) = (Handle::current(), Remote::connect(options).await?);
    // A thread, for standard input blocks. When writing fails first, it ends with the process.
    thread::spawn(move || read(input, &runtime, &remote, &calls));
    let mut verdict = Verdict::Yes;
    while let Some(call) = answers.recv().await {
        let answer = call.map_err(unreadable)?.await.map_err(io::Error::other)?;
        if matches!(answer, Answer::Failed { .. }) {
            verdict = Verdict::No;
        }
        output.line(&answer)?;
        // At once: who asks may wait for this answer before the next question.
        output.flush()?;
    }
    Ok(verdict)
}

type Pending = io::Result<JoinHandle<Answer>>;

/// Starts a call for every line, until the input ends or nobody takes the answers.
fn read(input: Box<dyn BufRead>, runtime: &Handle, remote: &Remote, calls: &mpsc::Sender<Pending>) {
    for (index, line) in input.split(b'\n').enumerate() {
        let pending = match line {
            Ok(line) if line.trim_ascii().is_empty() => continue,
            Ok(line) => Ok(runtime.spawn(answer(index + 1, line, remote.clone()))),
            Err(error) => Err(error),
        };
        let broken = pending.is_err();
        if calls.blocking_send(pending).is_err() || broken {
            return;
        }
    }
}

/// Makes the call of one line, counted from 1.
async fn answer(line: usize, text: Vec<u8>, remote: Remote) -> Answer {
    let reply = match parse(&text) {
        Ok((method, request)) => remote.call(method, request).await.map_err(settled),
        Err(message) => {
            let details =
                tonic_types::ErrorDetails::with_error_info("INVALID_REQUEST", "herdsman", []);
            Err(Status::with_error_details(Code::InvalidArgument, message, details))
        }
    };
    match reply {
        Ok(reply) => Answer::Reply(reply),
        Err(status) => Answer::Failed { error: refusal(line, &status) },
    }
}

fn parse(line: &[u8]) -> Result<(Method, Json), String> {
    const FORM: &str = r#"write {"method":"Score","request":{...}}"#;
    // Its line is always the first, of one line: who reads the answer counts lines of input.
    let misread =
        |error: serde_json::Error| error.to_string().replace("at line 1 column", "at column");
    let call: Call =
        serde_json::from_slice(line).map_err(|error| format!("{}: {FORM}", misread(error)))?;
    let explain = |error: JsonError| error.to_string();
    let method = Method::named(&call.method).map_err(explain)?;
    let request = call.request.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let request = method.request(request).map_err(explain)?;
    Ok((method, request))
}

fn refusal(line: usize, status: &Status) -> Refusal {
    let details = status.get_error_details();
    let violations = details.bad_request().map_or_else(Vec::new, |bad| {
        let violations = bad.field_violations.iter();
        violations
            .map(|violation| Violation {
                field: violation.field.clone(),
                description: violation.description.clone(),
            })
            .collect()
    });
    Refusal {
        line,
        code: code_name(status.code()),
        reason: details.error_info().map_or_else(String::new, |info| info.reason.clone()),
        message: status.message().to_owned(),
        violations,
    }
}

/// A code as the gRPC documents write it: `INVALID_ARGUMENT`.
pub(crate) fn code_name(code: Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_says_what_would_be_right() {
        for (line, part) in [
            ("", "write {"),
            ("{", "write {"),
            ("x", "expected value at column 1: write {"),
            (r#"{"request":{}}"#, "missing field `method`"),
            (r#"{"method":"Score","req":{}}"#, "unknown field `req`"),
            (r#"{"method":"score"}"#, "use Score, BatchScore"),
            (
                r#"{"method":"Score","request":{"guss":""}}"#,
                "ScoreRequest has rules, secret, guess",
            ),
            (r#"{"method":"Score","request":7}"#, "expected a map"),
        ] {
            let error = parse(line.as_bytes()).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
        assert!(parse(b"{\"method\":\"\xff\"}").is_err());
    }

    #[test]
    fn a_request_may_be_left_out() {
        assert!(parse(br#"{"method":"GetServerInfo"}"#).is_ok());
    }

    #[test]
    fn codes_are_written_as_grpc_writes_them() {
        assert_eq!(code_name(Code::InvalidArgument), "INVALID_ARGUMENT");
        assert_eq!(code_name(Code::Internal), "INTERNAL");
    }
}
