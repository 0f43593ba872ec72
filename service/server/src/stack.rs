//! What a call passes through from the socket to its handler and back: all of it, in order.

use std::{
    any::Any,
    convert::Infallible,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

use http::{Request, Response};
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
    config::{Config, milliseconds},
    grpc::{
        SERVICE,
        status::{Failure, explain, refuse},
        stream,
    },
    listen::Incoming,
    tls::Tls,
};

/// How a server is told to stop, step by step.
#[derive(Clone, Default)]
pub(crate) struct Stop {
    /// No connection is accepted any more; streams that would never end do.
    pub(crate) accepting: CancellationToken,
    /// No call goes on.
    pub(crate) calls: CancellationToken,
    /// The calls whose reply was not taken whole.
    pub(crate) alive: TaskTracker,
}

/// Serves `routes` until told to stop accepting and every connection is closed.
pub(crate) async fn serve(
    routes: Routes,
    config: Config,
    listener: TcpListener,
    tls: Option<Tls>,
    stop: Stop,
) -> Result<(), transport::Error> {
    let incoming = Incoming::new(listener, tls, &config);
    let accepting = stop.accepting.clone();
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
            service(routes.prepare(), &config, stop),
            incoming,
            accepting.cancelled_owned(),
        )
        .await
}

/// The layers around the handlers, outermost first: the log and the request id, the end of the server, the deadline,
/// the number of calls, panics, and refusals that tonic makes itself.
fn service<R>(
    routes: R,
    config: &Config,
    stop: Stop,
) -> impl Service<Request<Body>, Response = Response<Reply>, Error = Infallible, Future: Send>
+ Clone
+ use<R>
where
    R: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone,
    R::Future: Send,
{
    let longest = milliseconds(config.max_deadline_ms);
    let longest_solve = milliseconds(config.max_solve_deadline_ms);
    let (max_calls, max_message_bytes) = (config.max_calls as usize, config.max_message_bytes);
    service_fn(move |mut request: Request<Body>| {
        let call = Call::start(&request);
        let streams = stream::METHODS.iter().any(|method| call.is_for(SERVICE, method));
        let longest = if streams { longest_solve } else { longest };
        // Taken before tonic starts its own timer, which must lose the race.
        let deadline = call.deadline(request.headers(), longest);
        request.extensions_mut().insert(Deadline(deadline));
        let solves = call.is_to(SERVICE);
        let stop = stop.clone();
        let alive = stop.alive.token();
        let handled = routes.clone().call(request);
        async move {
            let handled = async {
                let Ok(response) = catch_panic(handled).await.map_err(|_| Failure::Internal)?;
                Ok(explain(response, max_message_bytes))
            };
            let admitted = async {
                // Health is told however many calls there are.
                if solves && stop.alive.len() > max_calls {
                    return Err(Failure::Overloaded);
                }
                handled.await
            };
            let in_time = async {
                timeout_at(deadline, admitted).await.unwrap_or(Err(Failure::DeadlineExceeded))
            };
            let answer = tokio::select! {
                biased;
                answer = in_time => answer,
                () = stop.calls.cancelled() => Err(Failure::ShuttingDown),
            };
            // Only a solver call ends by itself; watching health does not.
            let end = if solves { stop.calls } else { stop.accepting };
            Ok(call.respond(answer.unwrap_or_else(refuse), end.cancelled_owned(), alive))
        }
    })
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
mod tests {
    use std::future::pending;

    use http::HeaderMap;
    use tonic::{Code, Status};
    use tower::ServiceExt as _;

    use super::*;

    /// What the layers make of a handler that does what the path says.
    async fn answer(path: &str, stop: Stop) -> HeaderMap {
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
        let response = service(handler, &config, stop).oneshot(request).await;
        let Ok(response) = response;
        response.headers().clone()
    }

    #[track_caller]
    fn check(headers: &HeaderMap, code: Code) {
        assert_eq!(Status::from_header_map(headers).map(|status| status.code()), Some(code));
        assert!(
            headers.contains_key("x-request-id") && headers.contains_key("grpc-status-details-bin")
        );
    }

    #[tokio::test]
    async fn a_handler_that_panics_is_a_fault_of_the_server() {
        check(&answer("/panic", Stop::default()).await, Code::Internal);
        assert!(Status::from_header_map(&answer("/", Stop::default()).await).is_none());
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
