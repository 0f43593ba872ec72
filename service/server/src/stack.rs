//! What a call passes through from the socket to its handler and back: all of it, in order.

use std::{
    any::Any,
    convert::Infallible,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use http::{HeaderMap, Request, Response};
use tokio::{net::TcpListener, time::timeout_at};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{
    body::Body,
    service::Routes,
    transport::{self, Server},
};
use tower::{Service, service_fn};

use crate::{
    call::{Call, Deadline, Reply},
    callers::Callers,
    config::{Config, milliseconds},
    grpc::status::{Failure, explain, refuse},
    listen::Incoming,
    metrics::Metrics,
    tls::Tls,
};

/// How a server is told to stop, step by step.
#[derive(Default)]
pub(crate) struct Stop {
    /// No connection is accepted any more; streams that would never end do.
    pub(crate) accepting: CancellationToken,
    /// No call goes on.
    pub(crate) calls: CancellationToken,
    /// The calls whose reply was not taken whole.
    pub(crate) alive: TaskTracker,
}

/// What all calls share.
pub(crate) struct Shared {
    pub(crate) stop: Stop,
    pub(crate) callers: Arc<Callers>,
    pub(crate) metrics: Arc<Metrics>,
}

/// Serves `routes` until told to stop accepting and every connection is closed.
pub(crate) async fn serve(
    routes: Routes,
    config: Config,
    listener: TcpListener,
    tls: Option<Tls>,
    shared: Arc<Shared>,
) -> Result<(), transport::Error> {
    let incoming = Incoming::new(listener, tls, &config, Arc::clone(&shared.metrics.connections));
    let accepting = shared.stop.accepting.clone();
    let mut server = Server::builder();
    if config.max_connection_age_ms > 0 {
        // Without a grace, which would cut calls.
        server = server.max_connection_age(milliseconds(config.max_connection_age_ms));
    }
    // What is not set is bounded by what lies beneath: frames have 16 KiB, the least that HTTP/2 allows; a call holds
    // 400 KB of its reply that is not sent, beside the message itself; floods of empty DATA and of CONTINUATION end their
    // connection; SETTINGS and PING are answered one by one.
    server
        .initial_connection_window_size(config.window_bytes)
        .initial_stream_window_size(config.window_bytes)
        .max_concurrent_streams(config.max_streams)
        .http2_max_pending_accept_reset_streams(Some(config.max_early_cancels as usize))
        .http2_max_local_error_reset_streams(Some(config.max_reset_streams as usize))
        .http2_max_header_list_size(config.max_header_bytes)
        .http2_keepalive_interval(Some(milliseconds(config.keepalive_interval_ms)))
        .http2_keepalive_timeout(Some(milliseconds(config.keepalive_timeout_ms)))
        .serve_with_incoming_shutdown(
            service(routes.prepare(), &config, shared),
            incoming,
            accepting.cancelled_owned(),
        )
        .await
}

/// The layers around the handlers, outermost first: the log, the counters and the request id, the end of the server, the
/// deadline, who calls and how often, the number of calls, panics, and refusals that tonic makes itself.
fn service<R>(
    routes: R,
    config: &Config,
    shared: Arc<Shared>,
) -> impl Service<Request<Body>, Response = Response<Reply>, Error = Infallible, Future: Send>
+ Clone
+ use<R>
where
    R: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send,
    R::Future: Send,
{
    let longest = milliseconds(config.max_deadline_ms);
    let longest_solve = milliseconds(config.max_solve_deadline_ms);
    let (max_calls, max_message_bytes) = (config.max_calls as usize, config.max_message_bytes);
    service_fn(move |mut request: Request<Body>| {
        let shared = Arc::clone(&shared);
        let mut call = Call::start(&request, &shared);
        let method = call.method();
        let longest = if method.takes_long() { longest_solve } else { longest };
        // Taken before tonic starts its own timer, which must lose the race.
        let deadline = call.deadline(request.headers(), longest);
        request.extensions_mut().insert(Deadline(deadline));
        let alive = shared.stop.alive.token();
        let admitted = admit(&mut call, request.headers(), &shared, max_calls);
        let mut routes = routes.clone();
        // In a box, because each of the futures around it is moved, some more than once.
        let handled = Box::pin(async move { routes.call(request).await });
        async move {
            let answered = async {
                admitted?;
                match timeout_at(deadline, catch_panic(handled)).await {
                    Ok(Ok(Ok(response))) => Ok(explain(response, max_message_bytes)),
                    Ok(Err(_)) => {
                        shared.metrics.panicked();
                        Err(Failure::Internal)
                    }
                    Err(_) => Err(Failure::DeadlineExceeded),
                }
            };
            let answer = tokio::select! {
                biased;
                answer = answered => answer,
                () = shared.stop.calls.cancelled() => Err(Failure::ShuttingDown),
            };
            Ok(call.respond(answer.unwrap_or_else(refuse), alive))
        }
    })
}

/// Whether a call may begin. Health is told to everybody, and however many calls there are.
fn admit(
    call: &mut Call,
    headers: &HeaderMap,
    shared: &Shared,
    max_calls: usize,
) -> Result<(), Failure> {
    let method = call.method();
    if !method.is_open()
        && let Some(holder) = shared.callers.admit(headers, call.address())?
    {
        call.is_from(holder.name);
    }
    if method.solves() && shared.stop.alive.len() > max_calls {
        return Err(Failure::Overloaded);
    }
    Ok(())
}

/// A future whose panic is its error.
async fn catch_panic<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

#[cfg(test)]
impl Shared {
    /// Without any others who count.
    pub(crate) fn of(config: &Config, stop: Stop) -> Arc<Shared> {
        let callers = Arc::new(Callers::new(config).unwrap());
        Arc::new(Shared { stop, callers, metrics: Metrics::new(crate::metrics::Others::none()) })
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tonic::{Code, Status};
    use tower::ServiceExt as _;

    use super::*;

    /// What the layers make of a handler that does what the path says, and what they counted.
    async fn answer(path: &str, stop: Stop) -> (HeaderMap, String) {
        let handler = service_fn(|request: Request<Body>| async move {
            match request.uri().path() {
                "/panic" => panic!("on purpose"),
                "/wait" => pending::<()>().await,
                _ => {}
            }
            Ok(Response::new(Body::empty()))
        });
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let config = Config { max_deadline_ms: 50, ..Config::default() };
        let shared = Shared::of(&config, stop);
        let response = service(handler, &config, Arc::clone(&shared)).oneshot(request).await;
        let Ok(response) = response;
        (response.headers().clone(), shared.metrics.text())
    }

    #[track_caller]
    fn check((headers, _): &(HeaderMap, String), code: Code) {
        assert_eq!(Status::from_header_map(headers).map(|status| status.code()), Some(code));
        assert!(
            headers.contains_key("x-request-id") && headers.contains_key("grpc-status-details-bin")
        );
    }

    #[tokio::test]
    async fn a_handler_that_panics_is_a_fault_of_the_server_and_counted_once() {
        let panics = |text: &str, count| text.contains(&format!("handler_panics_total {count}\n"));
        let panicked = answer("/panic", Stop::default()).await;
        check(&panicked, Code::Internal);
        assert!(panics(&panicked.1, 1));
        let (headers, text) = answer("/", Stop::default()).await;
        assert!(Status::from_header_map(&headers).is_none() && panics(&text, 0));
    }

    #[tokio::test]
    async fn no_call_takes_longer_than_the_longest_deadline() {
        check(&answer("/wait", Stop::default()).await, Code::DeadlineExceeded);
    }

    #[tokio::test]
    async fn calls_end_with_the_server() {
        let stop = Stop::default();
        stop.calls.cancel();
        check(&answer("/wait", stop).await, Code::Unavailable);
    }
}
