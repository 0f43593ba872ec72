//! One call from the outside: its id, its deadline, its line in the log, its place in the counters, and the end of its
//! reply.
//!
//! Knows HTTP headers and gRPC trailers, not messages.

use std::{
    hash::{BuildHasher as _, RandomState},
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body::{Frame, SizeHint};
use tokio::time::Instant;
use tokio_util::{sync::WaitForCancellationFutureOwned, task::task_tracker::TaskTrackerToken};
use tonic::{Code, Status, body::Body};

use crate::{
    ahead::Begun,
    connection::Peer,
    grpc::status::{Failure, code_name, explain_end, refuse},
    methods::Method,
    metrics::Metrics,
    stack::{Shared, Stop},
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longer ids are not taken over: a line of the log should stay a line.
const MAX_REQUEST_ID: usize = 128;
/// What is logged of the path of a method that there is not, in characters.
const MAX_PATH: usize = 128;

/// What a handler knows that replies with a stream and goes on behind it: nothing else ends it, or catches its panic.
#[derive(Clone)]
pub(crate) struct Behind {
    /// When the call must be answered.
    pub(crate) deadline: Instant,
    /// Where a panic is counted.
    pub(crate) metrics: Arc<Metrics>,
}

/// A call that is under way. Is counted and logs its line when dropped, whichever way it ended.
pub(crate) struct Call {
    id: HeaderValue,
    method: &'static Method,
    /// The path of a method that there is not.
    unknown: Option<Box<str>>,
    peer: Option<SocketAddr>,
    /// The name of whoever sent a token.
    caller: Option<Arc<str>>,
    started: Instant,
    shared: Arc<Shared>,
    /// How it ended; nothing while it has not: a caller that leaves drops the call.
    code: Option<Code>,
    /// Its place among the calls of the solver.
    place: Option<TaskTrackerToken>,
    _begun: Option<Begun>,
}

impl Call {
    pub(crate) fn start<B>(request: &Request<B>, shared: &Arc<Shared>) -> Call {
        let peer = request.extensions().get::<Peer>();
        let path = request.uri().path();
        let method = Method::at(path);
        shared.metrics.begin(method);
        Call {
            id: request_id(request.headers()),
            method,
            unknown: method
                .full_name()
                .is_none()
                .then(|| path.trim_start_matches('/').chars().take(MAX_PATH).collect()),
            peer: peer.map(|peer| peer.address),
            _begun: peer.map(|peer| peer.ahead.begin()),
            caller: None,
            started: Instant::now(),
            shared: Arc::clone(shared),
            code: None,
            place: None,
        }
    }

    pub(crate) fn method(&self) -> &'static Method {
        self.method
    }

    /// The address that it came from.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.peer.map(|peer| peer.ip())
    }

    /// Notes whose token came with it.
    pub(crate) fn is_from(&mut self, name: Arc<str>) {
        self.caller = Some(name);
    }

    /// Keeps a place for as long as the call is alive.
    pub(crate) fn take_place(&mut self, place: TaskTrackerToken) {
        self.place = Some(place);
    }

    /// When the call must be answered: what its caller allows, at most `longest`.
    pub(crate) fn deadline(&self, headers: &HeaderMap, longest: Duration) -> Instant {
        let allowed =
            headers.get("grpc-timeout").and_then(|value| parse_timeout(value.to_str().ok()?));
        self.started + allowed.map_or(longest, |timeout| timeout.min(longest))
    }

    /// The response as it leaves: with the request id, ended with the server, and counted until its last byte is taken.
    pub(crate) fn respond(
        mut self,
        response: Response<Body>,
        alive: TaskTrackerToken,
    ) -> Response<Reply> {
        let (mut parts, body) = response.into_parts();
        let mut id = self.id.clone();
        // Not a secret, but that is how HTTP/2 is told not to keep it in its table (HPACK), in case it came again: it would
        // compare each new one with all that are there.
        id.set_sensitive(true);
        parts.headers.insert(REQUEST_ID, id);
        self.note_code(&parts.headers);
        Response::from_parts(parts, Reply { body, call: self, end: None, _alive: alive })
    }

    fn note_code(&mut self, headers: &HeaderMap) {
        if let Some(status) = headers.get(Status::GRPC_STATUS) {
            self.code = Some(Code::from_bytes(status.as_bytes()));
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let code = self.code.unwrap_or(Code::Cancelled);
        let time = self.started.elapsed();
        self.shared.metrics.end(self.method, code, time);
        tracing::info!(
            method = self.method.full_name().or(self.unknown.as_deref()),
            code = code_name(code),
            ms = time.as_secs_f64() * 1e3,
            request_id = self.id.to_str().unwrap_or_default(),
            caller = self.caller.as_deref(),
            peer = self.peer.map(tracing::field::display),
            "call"
        );
    }
}

/// The body of a response.
pub(crate) struct Reply {
    body: Body,
    call: Call,
    /// Resolves when the server ends the reply; only one that has to be waited for needs it.
    end: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    _alive: TaskTrackerToken,
}

impl Reply {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // Only a solver call ends by itself; watching health does not.
        let Stop { calls, accepting, .. } = &self.call.shared.stop;
        let end = if self.call.method.solves() { calls } else { accepting };
        let end = self.end.get_or_insert_with(|| Box::pin(end.clone().cancelled_owned()));
        end.as_mut().poll(cx)
    }
}

impl http_body::Body for Reply {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let reply = &mut *self;
        let mut frame = Pin::new(&mut reply.body).poll_frame(cx);
        if frame.is_pending() && reply.poll_end(cx).is_ready() {
            // A stream that would go on: the server ends it, with a reason.
            reply.body = Body::empty();
            let trailers = refuse(Failure::ShuttingDown).into_parts().0.headers;
            frame = Poll::Ready(Some(Ok(Frame::trailers(trailers))));
        }
        if let Poll::Ready(Some(Ok(frame))) = &mut frame
            && let Some(trailers) = frame.trailers_mut()
        {
            explain_end(trailers);
            reply.call.note_code(trailers);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The caller's own id where it is fit for a log, else one of ours.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let sane = |value: &&HeaderValue| {
        let fit = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(byte);
        !value.is_empty() && value.len() <= MAX_REQUEST_ID && value.as_bytes().iter().all(fit)
    };
    headers.get(REQUEST_ID).filter(sane).cloned().unwrap_or_else(new_request_id)
}

/// Sixteen hexadecimal digits that no other call of any server is likely to have.
fn new_request_id() -> HeaderValue {
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let id = KEY.hash_one(CALLS.fetch_add(1, Ordering::Relaxed));
    HeaderValue::try_from(format!("{id:016x}")).expect("hexadecimal digits are a header value")
}

/// Reads a `grpc-timeout`: up to eight digits and a unit.
fn parse_timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let amount: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(amount * 3600)),
        "M" => Some(Duration::from_secs(amount * 60)),
        "S" => Some(Duration::from_secs(amount)),
        "m" => Some(Duration::from_millis(amount)),
        "u" => Some(Duration::from_micros(amount)),
        "n" => Some(Duration::from_nanos(amount)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn request(header: &'static str, value: &str) -> Request<()> {
        Request::builder().uri("/a.B/C").header(header, value).body(()).unwrap()
    }

    #[test]
    fn a_timeout_is_up_to_eight_digits_and_a_unit() {
        for (text, timeout) in [
            ("20m", Some(Duration::from_millis(20))),
            ("1H", Some(Duration::from_secs(3600))),
            ("99999999S", Some(Duration::from_secs(99_999_999))),
            ("7u", Some(Duration::from_micros(7))),
            ("0n", Some(Duration::ZERO)),
            ("100000000S", None),
            ("S", None),
            ("", None),
            ("-1S", None),
            ("1 S", None),
            ("5x", None),
            ("5é", None),
        ] {
            assert_eq!(parse_timeout(text), timeout, "{text}");
        }
    }

    #[test]
    fn the_deadline_is_the_earlier_of_the_callers_and_ours() {
        let longest = Duration::from_secs(30);
        for (text, milliseconds) in [("20m", 20), ("1H", 30_000), ("junk", 30_000), ("1m", 1)] {
            let request = request("grpc-timeout", text);
            let call = Call::start(&request, &Shared::of(&Config::default(), Stop::default()));
            let allowed = call.deadline(request.headers(), longest) - call.started;
            assert_eq!(allowed.as_millis(), milliseconds, "{text}");
        }
    }

    #[test]
    fn an_id_that_would_spoil_the_log_is_replaced() {
        let id = |value: &str| request_id(request("x-request-id", value).headers());
        assert_eq!(id("trace-7.a"), "trace-7.a");
        for bad in ["", "two words", &"x".repeat(129)] {
            assert_eq!(id(bad).len(), 16, "{bad}");
        }
        assert_ne!(id(""), id(""));
    }
}
