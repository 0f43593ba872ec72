//! Why a call fails, and how that is said on the wire: the only place where a `Status` is built.

use std::{collections::HashMap, sync::LazyLock, time::Duration};

use herdsman_engine::{Stopped, TooLarge};
use http::{HeaderMap, Response};
use tonic::{Code, Status, body::Body};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::compute::Refusal;

/// The domain of every `ErrorInfo`.
const DOMAIN: &str = "herdsman";
/// Fields that are named in one reply: its trailers must fit the 8 KiB that many clients allow.
const MAX_VIOLATIONS: usize = 8;
/// When to come back after an overload: some jobs will have ended by then.
const RETRY_DELAY: Duration = Duration::from_millis(250);

/// Why a call is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The request is wrong.
    Invalid(Vec<Violation>),
    /// No code agrees with the history, even if so many answers are untrue; `turn` (from 1), as text, is the first that
    /// left none.
    Contradiction { turn: usize, text: String, lies: usize },
    /// A turn (from 1), as text, is not true of the secret that was named.
    Untrue { turn: usize, text: String, secret: String },
    /// No token that is known; which part is wrong is not told.
    Unauthenticated,
    /// More calls of one caller than are allowed; after this time there is room for one.
    RateLimited { wait: Duration },
    /// No place for more work.
    Overloaded,
    /// The deadline came first.
    DeadlineExceeded,
    /// The server ends.
    ShuttingDown,
    /// A fault of ours.
    Internal,
}

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The path of the field, as in `history[1].guess`; empty for the request as a whole.
    pub(crate) field: String,
    pub(crate) reason: Reason,
    /// What is wrong and what would be right.
    pub(crate) problem: String,
}

/// What kind of thing is wrong: part of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    InvalidRules,
    InvalidCode,
    InvalidFeedback,
    InvalidOption,
    SpaceTooLarge,
    LimitExceeded,
}

impl Reason {
    fn name(self) -> &'static str {
        match self {
            Reason::InvalidRules => "INVALID_RULES",
            Reason::InvalidCode => "INVALID_CODE",
            Reason::InvalidFeedback => "INVALID_FEEDBACK",
            Reason::InvalidOption => "INVALID_OPTION",
            Reason::SpaceTooLarge => "SPACE_TOO_LARGE",
            Reason::LimitExceeded => "LIMIT_EXCEEDED",
        }
    }
}

impl Violation {
    pub(crate) fn new(
        field: impl Into<String>,
        reason: Reason,
        problem: impl ToString,
    ) -> Violation {
        Violation { field: field.into(), reason, problem: problem.to_string() }
    }
}

impl From<Violation> for Failure {
    fn from(violation: Violation) -> Failure {
        Failure::Invalid(vec![violation])
    }
}

impl From<TooLarge> for Failure {
    fn from(error: TooLarge) -> Failure {
        Violation::new("rules", Reason::SpaceTooLarge, error).into()
    }
}

impl From<Stopped> for Failure {
    /// Work is stopped when nobody waits for it, so this is for the log at most.
    fn from(_: Stopped) -> Failure {
        Failure::DeadlineExceeded
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        match refusal {
            Refusal::Overloaded => Failure::Overloaded,
            Refusal::Panicked => Failure::Internal,
        }
    }
}

impl Failure {
    fn code(&self) -> Code {
        match self {
            Failure::Invalid(_) => Code::InvalidArgument,
            Failure::Contradiction { .. } | Failure::Untrue { .. } => Code::FailedPrecondition,
            Failure::Unauthenticated => Code::Unauthenticated,
            Failure::RateLimited { .. } | Failure::Overloaded => Code::ResourceExhausted,
            Failure::DeadlineExceeded => Code::DeadlineExceeded,
            Failure::ShuttingDown => Code::Unavailable,
            Failure::Internal => Code::Internal,
        }
    }

    fn reason(&self) -> &'static str {
        match self {
            Failure::Invalid(violations) => violations[0].reason.name(),
            Failure::Contradiction { .. } | Failure::Untrue { .. } => "CONTRADICTION",
            Failure::Unauthenticated => "UNAUTHENTICATED",
            Failure::RateLimited { .. } => "RATE_LIMITED",
            Failure::Overloaded => "OVERLOADED",
            Failure::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Failure::ShuttingDown => "SHUTTING_DOWN",
            Failure::Internal => "INTERNAL",
        }
    }

    fn message(&self) -> String {
        match self {
            Failure::Invalid(violations) => {
                let first = match &violations[0] {
                    Violation { field, problem, .. } if field.is_empty() => problem.clone(),
                    Violation { field, problem, .. } => format!("{field}: {problem}"),
                };
                match violations.len() - 1 {
                    0 => first,
                    more => format!("{first} (and {more} more, in the details)"),
                }
            }
            Failure::Contradiction { turn, text, lies } => {
                let lies = match lies {
                    0 => String::new(),
                    1 => ", even if one of the answers is untrue".into(),
                    lies => format!(", even if {lies} of the answers are untrue"),
                };
                format!(
                    "no code agrees with turn {turn} (`{text}`) and the turns before it{lies}; \
                     Diagnose tells which answer may be wrong"
                )
            }
            Failure::Untrue { turn, text, secret } => format!(
                "turn {turn} (`{text}`) is not true of the secret {secret}: correct its answer, or \
                 name another secret"
            ),
            Failure::Unauthenticated => {
                "send `authorization: Bearer TOKEN` with a token that this server knows".into()
            }
            Failure::RateLimited { wait } => {
                format!("these are more calls than one caller may make; try again in {wait:.1?}")
            }
            Failure::Overloaded => "the server has no room for more work; try again later".into(),
            Failure::DeadlineExceeded => {
                "the deadline came before the answer: allow more time or ask for less".into()
            }
            Failure::ShuttingDown => "the server is stopping; try another one".into(),
            Failure::Internal => {
                "a fault of the server; its log has more under this request id".into()
            }
        }
    }
}

/// Made once: who has no room has no time either.
static OVERLOADED: LazyLock<Status> = LazyLock::new(|| status(&Failure::Overloaded));

impl From<Failure> for Status {
    fn from(failure: Failure) -> Status {
        match failure {
            Failure::Overloaded => OVERLOADED.clone(),
            failure => status(&failure),
        }
    }
}

fn status(failure: &Failure) -> Status {
    let mut details = ErrorDetails::new();
    let mut metadata = HashMap::new();
    match failure {
        Failure::Invalid(violations) => {
            for violation in violations.iter().filter(|violation| !violation.field.is_empty()) {
                details.add_bad_request_violation(&violation.field, &violation.problem);
            }
        }
        Failure::Contradiction { turn, .. } | Failure::Untrue { turn, .. } => {
            metadata.insert("turn".to_owned(), turn.to_string());
        }
        Failure::Overloaded => {
            details.set_retry_info(Some(RETRY_DELAY));
        }
        &Failure::RateLimited { wait } => {
            details.set_retry_info(Some(wait));
        }
        Failure::Unauthenticated
        | Failure::DeadlineExceeded
        | Failure::ShuttingDown
        | Failure::Internal => {}
    }
    details.set_error_info(failure.reason(), DOMAIN, metadata);
    Status::with_error_details(failure.code(), failure.message(), details)
}

/// A response that is nothing but a failure.
pub(crate) fn refuse(failure: Failure) -> Response<Body> {
    Status::from(failure).into_http()
}

/// Gives the refusals that tonic makes before a handler is called, for messages too large or unreadable, the form of
/// ours.
pub(crate) fn explain(response: Response<Body>, max_message_bytes: u32) -> Response<Body> {
    // What has details is ours.
    if response.headers().contains_key(Status::GRPC_STATUS_DETAILS) {
        return response;
    }
    let Some(status) = Status::from_header_map(response.headers()) else { return response };
    match status.code() {
        // The second is what tonic says of a request that grew too large when it was unpacked.
        Code::OutOfRange | Code::ResourceExhausted => {
            let problem = format!(
                "the request is larger than the {max_message_bytes} bytes that are accepted: split it, or have long lists of \
                 words as dictionaries of the server"
            );
            refuse(Violation::new("", Reason::LimitExceeded, problem).into())
        }
        Code::Internal => refuse(unreadable(status.message())),
        _ => response,
    }
}

/// Does the same with the end of a reply that tonic found too large to send.
pub(crate) fn explain_end(trailers: &mut HeaderMap) {
    if trailers.contains_key(Status::GRPC_STATUS_DETAILS) {
        return;
    }
    let Some(status) = Status::from_header_map(trailers) else { return };
    if status.code() == Code::OutOfRange {
        let sizes = status.message().rsplit("too large: ").next().unwrap_or_default();
        let problem = format!("the answer is too large to be sent ({sizes}): ask for less at once");
        let failure = Failure::from(Violation::new("", Reason::LimitExceeded, problem));
        *trailers = refuse(failure).into_parts().0.headers;
    }
}

/// Reads why a message cannot be decoded, as in `failed to decode Protobuf message: Turn.guess: FilterRequest.history:
/// invalid string value: data is not UTF-8 encoded`; the innermost field comes first. Or what keeps it from being a
/// message at all.
fn unreadable(message: &str) -> Failure {
    let Some(mut rest) = message.strip_prefix("failed to decode Protobuf message: ") else {
        let problem = format!(
            "the request is not a message of gRPC ({message}): send one, whole, and packed as its headers say"
        );
        return Violation::new("", Reason::InvalidOption, problem).into();
    };
    let mut path = Vec::new();
    let mut inner = "";
    while let Some((place, after)) = rest.split_once(": ")
        && let Some((message, field)) = place.split_once('.')
    {
        // A oneof goes by the name of the field that was chosen.
        let field = match (message, field, inner) {
            ("Rules", "game", "CodeRules") => "codes",
            ("Rules", "game", "WordRules") => "words",
            ("Rules", "game", "NumberRules") => "numbers",
            ("Rules", "game", _) => "preset",
            _ => field,
        };
        inner = message;
        path.insert(0, field);
        rest = after;
    }
    let problem = match rest.strip_prefix("invalid string value: ") {
        Some(_) => "the text is not UTF-8: send it in that encoding".to_owned(),
        None => format!("the message cannot be decoded ({rest}): send what herdsman.v1 describes"),
    };
    let reason = match path.as_slice() {
        ["rules", ..] => Reason::InvalidRules,
        [.., "guess" | "secret" | "guesses" | "secrets"] => Reason::InvalidCode,
        [.., "feedback", _] => Reason::InvalidFeedback,
        _ => Reason::InvalidOption,
    };
    Violation::new(path.join("."), reason, problem).into()
}

/// Collects what is wrong with a request, so that its sender learns all of it at once.
#[derive(Debug, Default)]
pub(crate) struct Violations(Vec<Violation>);

impl Violations {
    /// What was checked, or nothing and a note.
    pub(crate) fn note<T>(&mut self, checked: Result<T, Violation>) -> Option<T> {
        match checked {
            Ok(value) => Some(value),
            Err(violation) => {
                if !self.is_full() {
                    self.0.push(violation);
                }
                None
            }
        }
    }

    /// Whether further violations would not be named.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() == MAX_VIOLATIONS
    }
}

impl From<Violations> for Failure {
    /// For use where a check gave nothing, so that there is something to tell.
    fn from(violations: Violations) -> Failure {
        if violations.0.is_empty() { Failure::Internal } else { Failure::Invalid(violations.0) }
    }
}

/// The name of a code as the specification has it.
pub(crate) fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_panicked_is_a_fault_of_the_server_and_a_full_line_is_none() {
        assert_eq!(Failure::from(Refusal::Panicked).code(), Code::Internal);
        assert_eq!(Failure::from(Refusal::Overloaded).code(), Code::ResourceExhausted);
    }
}
