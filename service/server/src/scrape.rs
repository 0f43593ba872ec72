//! Where metrics are read: a small HTTP/1 server of its own, so that it can be kept from strangers.
//!
//! Owns its connections. What is told is `metrics`.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use http_body_util::Full;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{callers::Callers, grpc::status::Failure, metrics::Metrics, tokens::Role};

/// Connections at a time; further ones wait. A scraper has one, and there are few of them.
const CONNECTIONS: usize = 8;
/// How long one may take from its first byte to the end of the reply: whoever is slower gives up its place.
const LONGEST: Duration = Duration::from_secs(5);
/// The most bytes of request headers: the least that hyper takes.
const MAX_HEADER_BYTES: usize = 8 << 10;
/// Pause after a failure to accept.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What requests are answered from.
pub(crate) struct Scrape {
    pub(crate) callers: Arc<Callers>,
    pub(crate) metrics: Arc<Metrics>,
}

impl Scrape {
    /// Serves for ever; dropping it closes all connections.
    pub(crate) async fn serve(self, listener: TcpListener) {
        let scrape = Arc::new(self);
        let mut connections = JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            if connections.len() == CONNECTIONS {
                connections.join_next().await;
            }
            match listener.accept().await {
                Ok((stream, peer)) => {
                    let answered = Arc::clone(&scrape).answer_one(stream, peer);
                    connections.spawn(timeout(LONGEST, answered));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection for metrics");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    async fn answer_one(self: Arc<Scrape>, stream: TcpStream, peer: SocketAddr) {
        let answer = service_fn(|request: Request<_>| {
            let response = self.answer(&request, peer);
            async move { Ok::<_, Infallible>(response) }
        });
        let served = http1::Builder::new()
            // Whoever is done makes room.
            .keep_alive(false)
            .max_buf_size(MAX_HEADER_BYTES)
            .serve_connection(TokioIo::new(stream), answer)
            .await;
        if let Err(error) = served {
            tracing::debug!(%error, %peer, "a connection for metrics broke");
        }
    }

    fn answer<B>(&self, request: &Request<B>, peer: SocketAddr) -> Response<Full<Bytes>> {
        if request.uri().path() != "/metrics" {
            return plain(StatusCode::NOT_FOUND, "there is only /metrics here\n");
        }
        if request.method() != Method::GET {
            let response = plain(StatusCode::METHOD_NOT_ALLOWED, "GET is the only method here\n");
            return with(response, ALLOW, HeaderValue::from_static("GET"));
        }
        match self.callers.identify(request.headers(), Some(peer.ip())) {
            Ok(Some(holder)) if holder.role != Role::Admin => {
                plain(StatusCode::FORBIDDEN, "metrics need a token with the role admin\n")
            }
            Ok(_) => {
                let text = plain(StatusCode::OK, self.metrics.text());
                let form = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                with(text, CONTENT_TYPE, HeaderValue::from_static(form))
            }
            Err(Failure::RateLimited { wait }) => {
                let response = plain(StatusCode::TOO_MANY_REQUESTS, "too many wrong tokens\n");
                // Whole seconds, upwards.
                with(response, RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1))
            }
            Err(_) => {
                let text = "send `authorization: Bearer TOKEN` with a token that is known here\n";
                let response = plain(StatusCode::UNAUTHORIZED, text);
                with(response, WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
            }
        }
    }
}

/// Listens for those who read metrics.
///
/// # Errors
/// If the address cannot be had; the error names the setting.
pub(crate) fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let bound = std::net::TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|error| {
        io::Error::other(format!(
            "cannot listen on {address} for metrics: {error}; choose another address with --metrics-listen"
        ))
    })
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    with(response, CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))
}

fn with(
    mut response: Response<Full<Bytes>>,
    name: http::HeaderName,
    value: HeaderValue,
) -> Response<Full<Bytes>> {
    response.headers_mut().insert(name, value);
    response
}
