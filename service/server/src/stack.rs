//! What a call passes through from the socket to its handler and back: all of it, in order.

use std::{
    any::Any,
    convert::Infallible,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use http::{HeaderMap, Request, Response};
use tokio::{
    net::TcpListener,
    task::{JoinError, JoinSet},
    time::timeout_at,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{body::Body, service::Routes};
use tower::Service;

use crate::{
    MAX_QUESTION_BYTES,
    call::{Behind, Call, Reply},
    callers::Callers,
    config::{Config, milliseconds},
    connection::Protocol,
    grpc::status::{Failure, explain, refuse},
    listen::Door,
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
    /// The calls of the solver among those that are alive. Others need no token, so they take no place of these.
    pub(crate) solving: TaskTracker,
    pub(crate) callers: Arc<Callers>,
    pub(crate) metrics: Arc<Metrics>,
}

/// Serves `routes` until told to stop accepting and every connection is closed. Dropping it closes them.
pub(crate) async fn serve(
    routes: Routes,
    config: Config,
    listener: TcpListener,
    tls: Option<Tls>,
    shared: Arc<Shared>,
) {
    let mut door = Door::new(listener, tls, &config, Arc::clone(&shared.metrics.connections));
    let end = shared.stop.accepting.clone();
    let protocol = Arc::new(Protocol::new(&config));
    let metrics = Arc::clone(&shared.metrics);
    let stack = Arc::new(Stack::new(routes.prepare(), &config, shared));
    let answer = move |request| stack.answer(request);
    let mut connections = JoinSet::new();
    let count_panic = |ended: Result<(), JoinError>| {
        if ended.is_err_and(|error| error.is_panic()) {
            metrics.panicked();
        }
    };
    'accepting: loop {
        // One wait to its end, whoever leaves meanwhile: it has pauses.
        let mut next = pin!(door.next());
        let guest = loop {
            tokio::select! {
                guest = &mut next => break guest,
                Some(ended) = connections.join_next() => count_panic(ended),
                () = end.cancelled() => break 'accepting,
            }
        };
        connections.spawn(Arc::clone(&protocol).serve(guest, answer.clone(), end.clone()));
    }
    // So that nobody knocks in vain.
    drop(door);
    while let Some(ended) = connections.join_next().await {
        count_panic(ended);
    }
}

/// The layers around the handlers, outermost first: the log, the counters and the request id, the end of the server, the
/// deadline, who calls and how often, the number of calls, panics, and refusals that tonic makes itself.
struct Stack<R> {
    routes: R,
    shared: Arc<Shared>,
    longest: Duration,
    longest_solve: Duration,
    max_calls: usize,
    max_message_bytes: u32,
}

impl<R> Stack<R>
where
    R: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + Sync,
    R::Future: Send,
{
    fn new(routes: R, config: &Config, shared: Arc<Shared>) -> Stack<R> {
        Stack {
            routes,
            shared,
            longest: milliseconds(config.max_deadline_ms),
            longest_solve: milliseconds(config.max_solve_deadline_ms),
            max_calls: config.max_calls as usize,
            max_message_bytes: config.max_message_bytes,
        }
    }

    /// Begins a call at once, and answers it.
    fn answer(
        self: &Arc<Self>,
        mut request: Request<Body>,
    ) -> impl Future<Output = Result<Response<Reply>, Infallible>> + Send + use<R> {
        let stack = Arc::clone(self);
        let mut call = Call::start(&request, &stack.shared);
        async move {
            let Shared { stop, metrics, .. } = &*stack.shared;
            // Here and not before: a call that was given up before it came here takes nobody's place.
            let alive = stop.alive.token();
            let answered = async {
                stack.admit(&mut call, request.headers())?;
                let solves_long = call.method().takes_long();
                let longest = if solves_long { stack.longest_solve } else { stack.longest };
                let deadline = call.deadline(request.headers(), longest);
                if solves_long {
                    let metrics = Arc::clone(metrics);
                    request.extensions_mut().insert(Behind { deadline, metrics });
                }
                let mut routes = stack.routes.clone();
                // In a box, because each of the futures around it is moved, some more than once.
                let handled = Box::pin(async move { routes.call(request).await });
                match timeout_at(deadline, catch_panic(handled)).await {
                    Ok(Ok(Ok(response))) => {
                        let own = call.method().solves();
                        let most =
                            if own { stack.max_message_bytes } else { MAX_QUESTION_BYTES as u32 };
                        Ok(explain(response, most))
                    }
                    Ok(Err(_)) => {
                        metrics.panicked();
                        Err(Failure::Internal)
                    }
                    Err(_) => Err(Failure::DeadlineExceeded),
                }
            };
            let answer = tokio::select! {
                biased;
                answer = answered => answer,
                () = stop.calls.cancelled() => Err(Failure::ShuttingDown),
            };
            Ok(call.respond(answer.unwrap_or_else(refuse), alive))
        }
    }

    /// Whether a call may begin. Health is told to everybody, and however many calls there are.
    fn admit(&self, call: &mut Call, headers: &HeaderMap) -> Result<(), Failure> {
        let method = call.method();
        if !method.is_open() {
            let callers = &self.shared.callers;
            let holder = callers.identify(headers, call.address())?;
            let name = holder.map(|holder| holder.name);
            // Before it may be refused: the log tells who calls too often.
            if let Some(name) = &name {
                call.is_from(Arc::clone(name));
            }
            callers.count(name, call.address())?;
        }
        if method.solves() {
            call.take_place(self.shared.solving.token());
            if self.shared.solving.len() > self.max_calls {
                return Err(Failure::Overloaded);
            }
        }
        Ok(())
    }
}

/// A future whose panic is its error.
pub(crate) async fn catch_panic<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
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
        let (solving, metrics) = (TaskTracker::new(), Metrics::new(crate::metrics::Others::none()));
        Arc::new(Shared { stop, solving, callers, metrics })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        task::{Context, Waker},
    };

    use tonic::{Code, Status};
    use tower::service_fn;

    use super::*;
    use crate::{ahead::Ahead, connection::Peer};

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
        let stack = Arc::new(Stack::new(handler, &config, Arc::clone(&shared)));
        let Ok(response) = stack.answer(request).await;
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
    async fn a_call_is_begun_before_it_runs_and_until_its_reply_is_gone() {
        let handler = service_fn(async |_| Ok(Response::new(Body::empty())));
        let shared = Shared::of(&Config::default(), Stop::default());
        let stack = Arc::new(Stack::new(handler, &Config::default(), shared));
        let peer = Peer { address: ([127, 0, 0, 1], 1).into(), ahead: Arc::new(Ahead::new(0)) };
        let may_read = || {
            let context = &mut Context::from_waker(Waker::noop());
            peer.ahead.poll_read(context).is_ready()
        };
        let request = Request::builder().extension(peer.clone()).body(Body::empty()).unwrap();
        let answer = stack.answer(request);
        assert!(!may_read());
        let Ok(response) = answer.await;
        assert!(!may_read());
        drop(response);
        assert!(may_read());
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
    async fn no_table_of_headers_fills_with_request_ids() {
        let (headers, _) = answer("/", Stop::default()).await;
        assert!(headers["x-request-id"].is_sensitive());
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
