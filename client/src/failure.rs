//! Why a command failed, in sentences, and every exit code.
//!
//! The only place that knows exit codes and that reads the details of a gRPC status.

use std::{error::Error as _, fmt::Write as _, io, iter};

use herdsman_proto::text::TurnError;
use tonic::{Code, Status, TimeoutExpired};
use tonic_types::StatusExt as _;

use crate::tls;

/// What a command found, where it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// An answer.
    Yes,
    /// A negative one: nothing fits, the answers clash, no strategy exists, a line of a batch failed.
    No,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("`{server}` is not an address: {reason}")]
    Address { server: String, reason: &'static str },
    #[error(transparent)]
    Turn(#[from] TurnError),
    #[error("cannot read {source_name}: {error}")]
    Read { source_name: String, error: io::Error },
    #[error("cannot write the reply: {0}")]
    Write(#[from] io::Error),
    #[error(
        "no Herdsman server answers at {server}: start one with `herdsmand`, or with `cargo run --release` \
         in the project, or name another with --server"
    )]
    Unreachable { server: String },
    #[error("{server}: {fault}")]
    Tls { server: String, fault: tls::Fault },
    #[error(
        "the server at {server} went away in the middle of its answer: see that `herdsmand` runs there, and ask again"
    )]
    Gone { server: String },
    #[error(
        "`{file}`, line {line}: `{text}` is not a weight: a line is one word and, if need be, a whole number after it"
    )]
    Weight { file: String, line: usize, text: String },
    #[error("{0}")]
    Usage(String),
    #[error("cannot write {name}: {error}")]
    File { name: String, error: io::Error },
    #[error("stopped")]
    Interrupted,
    #[error("the server's answer is not whole: {0}")]
    Broken(&'static str),
    #[error("{}", sentences(.0))]
    Refused(Box<Status>),
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Refused(Box::new(settled(status)))
    }
}

/// A status with the code that it should have. What fails on this side of the wire, the only statuses that have
/// a source, comes under many: CANCELLED where our own timer rang before the server's answer, UNKNOWN, INTERNAL.
pub(crate) fn settled(status: Status) -> Status {
    let mut causes = iter::successors(status.source(), |&cause| cause.source()).peekable();
    if causes.peek().is_none() {
        return status;
    }
    if causes.any(|cause| cause.is::<TimeoutExpired>()) {
        return Status::deadline_exceeded(
            "the deadline came before the answer: allow more with --timeout",
        );
    }
    let fault = status.source().and_then(tls::fault);
    match fault {
        Some(fault @ tls::Fault::NotAdmitted(_)) => Status::permission_denied(fault.to_string()),
        Some(fault) => Status::unavailable(fault.to_string()),
        // Whoever is not let in for want of a certificate hears no more than that in TLS 1.3.
        None => Status::unavailable(format!(
            "the server went away before its answer, or it is no Herdsman server: see that `herdsmand` runs there, whether \
             it wants https:// and whether a certificate (--cert and --key), and ask again ({})",
            status.message()
        )),
    }
}

/// Why a stream that had begun is not whole. If it broke on the way, the server is one of ours and went away.
pub(crate) fn broken_stream(status: Status, server: &str) -> Failure {
    let on_the_way = status.source().is_some();
    match settled(status) {
        status if on_the_way && status.code() == Code::Unavailable => {
            Failure::Gone { server: server.to_owned() }
        }
        status => status.into(),
    }
}

impl Failure {
    /// The same, where the server refuses what `argument` asks for: it knows the field, not what became it.
    pub(crate) fn about(self, argument: &str) -> Self {
        match self {
            Self::Refused(status)
                if matches!(
                    status.code(),
                    Code::InvalidArgument | Code::NotFound | Code::FailedPrecondition
                ) =>
            {
                let text = format!("{argument}: {}", sentences(&status));
                Self::Refused(Box::new(Status::new(status.code(), text)))
            }
            other => other,
        }
    }
}

/// The exit code of a command.
pub(crate) fn exit_code(result: &Result<Verdict, Failure>) -> u8 {
    match result {
        Ok(Verdict::Yes) => 0,
        Ok(Verdict::No) => 1,
        // Who reads us has had enough, as in `herdsman filter | head -1`.
        Err(Failure::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(
            Failure::Address { .. }
            | Failure::Read { .. }
            | Failure::Write(_)
            | Failure::Usage(_)
            | Failure::File { .. },
        ) => 2,
        Err(Failure::Turn(_) | Failure::Weight { .. }) => 3,
        Err(Failure::Tls { fault: tls::Fault::NotAdmitted(_), .. }) => 6,
        Err(
            Failure::Tls { .. }
            | Failure::Unreachable { .. }
            | Failure::Gone { .. }
            | Failure::Broken(_),
        ) => 4,
        // As shells count a program that SIGINT ended.
        Err(Failure::Interrupted) => 130,
        Err(Failure::Refused(status)) => match status.code() {
            Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => 3,
            Code::DeadlineExceeded => 5,
            Code::PermissionDenied | Code::Unauthenticated => 6,
            // Overloaded, stopping, at fault or not a Herdsman server: as good as none.
            _ => 4,
        },
    }
}

/// What a status says: a line for each field that is wrong, else its message, and when to try again.
fn sentences(status: &Status) -> String {
    let details = status.get_error_details();
    let mut text = match details.bad_request() {
        Some(bad) if !bad.field_violations.is_empty() => {
            let lines: Vec<_> = bad
                .field_violations
                .iter()
                .map(|wrong| format!("{}: {}", argument(&wrong.field), wrong.description))
                .collect();
            lines.join("\n       ")
        }
        _ if status.message().is_empty() => status.code().description().to_owned(),
        _ => status.message().to_owned(),
    };
    if status.code() == Code::Unauthenticated {
        text.push_str(
            "\n       name a file that holds it with --token-file, or set HERDSMAN_TOKEN",
        );
    }
    if let Some(delay) = details.retry_info().and_then(|retry| retry.retry_delay) {
        let _ = write!(text, "\n       try again in {delay:?}");
    }
    text
}

/// What was typed that became `field` of a request: `turn 1, the guess` for `history[0].guess`. A field that no
/// argument is made into, or that only a newer server checks, keeps its name.
fn argument(field: &str) -> String {
    if let Some((index, part)) =
        field.strip_prefix("history[").and_then(|rest| rest.split_once(']'))
        && let Ok(index) = index.parse::<u32>()
    {
        let part = match part {
            ".guess" => ", the guess",
            ".feedback" => ", the answer",
            _ => "",
        };
        return format!("turn {}{part}", u64::from(index) + 1);
    }
    if let Some((list, index)) =
        field.strip_prefix("rules.words.").and_then(|rest| rest.strip_suffix(']')?.split_once('['))
        && let Ok(index) = index.parse::<u32>()
    {
        let word = u64::from(index) + 1;
        return match list {
            "guesses" => format!("--guesses, word {word}"),
            "weights" => format!("--words, the weight of word {word}"),
            _ => format!("--words, word {word}"),
        };
    }
    // A player's options are the same flags, whoever of two it is.
    let field = ["player.", "first.", "second."]
        .iter()
        .find_map(|player| field.strip_prefix(player))
        .unwrap_or(field);
    let argument = match field {
        "rules" => "the game",
        "history" => "the turns",
        "secret" => "the secret",
        "guess" => "the guess",
        "rules.preset" => "--rules",
        "rules.numbers.min" | "rules.numbers.max" => "--numbers",
        "rules.words.secrets" | "rules.words.weights" => "--words",
        "top_k" => "--top",
        "max_guesses" => "--max",
        "max_lies" => "--lies",
        "sample_seed" => "--seed",
        "limits.threads"
        | "limits.max_scores"
        | "strategy"
        | "level"
        | "tie"
        | "pool"
        | "policy"
        | "sample"
        | "first_guess"
        | "objective"
        | "rules.feedback"
        | "rules.dictionary"
        | "rules.numbers"
        | "rules.words"
        | "rules.words.dictionary"
        | "rules.words.guesses"
        | "rules.codes.alphabet"
        | "rules.codes.length"
        | "rules.codes.repeats"
        | "rules.codes.not_first" => {
            let name = field.rsplit('.').next().unwrap_or(field);
            return format!("--{}", name.replace('_', "-"));
        }
        _ => field,
    };
    argument.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_an_exit_code() {
        for (code, exit) in [
            (Code::InvalidArgument, 3),
            (Code::FailedPrecondition, 3),
            (Code::Unavailable, 4),
            (Code::ResourceExhausted, 4),
            (Code::Internal, 4),
            (Code::DeadlineExceeded, 5),
            (Code::PermissionDenied, 6),
            (Code::Unauthenticated, 6),
        ] {
            assert_eq!(exit_code(&Err(Status::new(code, "").into())), exit, "{code:?}");
        }
        assert_eq!([Verdict::Yes, Verdict::No].map(|verdict| exit_code(&Ok(verdict))), [0, 1]);
    }

    #[test]
    fn a_field_is_named_by_what_was_typed() {
        for (field, typed) in [
            ("history[0].guess", "turn 1, the guess"),
            ("history[9].feedback", "turn 10, the answer"),
            ("history[9]", "turn 10"),
            ("history[-1].guess", "history[-1].guess"),
            ("history[1", "history[1"),
            ("rules.codes.not_first", "--not-first"),
            ("rules.preset", "--rules"),
            ("limits.max_scores", "--max-scores"),
            ("rules.words.secrets[3]", "--words, word 4"),
            ("rules.words.guesses[0]", "--guesses, word 1"),
            ("rules.words.dictionary", "--dictionary"),
            ("rules.numbers", "--numbers"),
            ("second.strategy", "--strategy"),
            ("page_token", "page_token"),
            ("", ""),
        ] {
            assert_eq!(argument(field), typed);
        }
    }

    #[test]
    fn an_error_names_every_field_that_is_wrong() {
        let mut details =
            tonic_types::ErrorDetails::with_error_info("INVALID_CODE", "herdsman", []);
        details.add_bad_request_violation("guess", "write 4 digits");
        details.add_bad_request_violation("secret", "write 4 more");
        let status = Status::with_error_details(Code::InvalidArgument, "two fields", details);
        assert_eq!(
            sentences(&status),
            "the guess: write 4 digits\n       the secret: write 4 more"
        );
    }
}
