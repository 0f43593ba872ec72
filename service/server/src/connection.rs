//! A connection from its first byte to its last: TLS, HTTP/2 and its limits, and how far it may run ahead.

use std::{
    convert::Infallible,
    future::{pending, poll_fn},
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep, sleep_until, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tonic::body::Body;

use crate::{
    ahead::Ahead,
    call::Reply,
    config::{Config, milliseconds},
    listen::Guest,
    metrics::Open,
};

/// What a client of HTTP/2 says first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How all connections are spoken to.
pub(crate) struct Protocol {
    http2: http2::Builder<TokioExecutor>,
    max_streams: usize,
    handshake_timeout: Duration,
    max_age: Option<Duration>,
}

/// What each call knows of its connection.
#[derive(Clone)]
pub(crate) struct Peer {
    /// Where it comes from.
    pub(crate) address: SocketAddr,
    /// What it has begun.
    pub(crate) ahead: Arc<Ahead>,
}

impl Protocol {
    pub(crate) fn new(config: &Config) -> Protocol {
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        // What is not set is bounded by what lies beneath: frames have 16 KiB, the least that HTTP/2 allows; a call holds
        // 400 KB of its reply that is not sent, beside the message itself; floods of empty DATA and of CONTINUATION end
        // their connection; SETTINGS and PING are answered one by one.
        http2
            .timer(TokioTimer::new())
            .initial_connection_window_size(config.window_bytes)
            .initial_stream_window_size(config.window_bytes)
            .max_concurrent_streams(config.max_streams)
            .max_pending_accept_reset_streams(config.max_early_cancels as usize)
            .max_local_error_reset_streams(config.max_reset_streams as usize)
            .max_header_list_size(config.max_header_bytes)
            .keep_alive_interval(milliseconds(config.keepalive_interval_ms))
            .keep_alive_timeout(milliseconds(config.keepalive_timeout_ms))
            .auto_date_header(false);
        let max_age = milliseconds(config.max_connection_age_ms);
        Protocol {
            http2,
            max_streams: config.max_streams as usize,
            handshake_timeout: milliseconds(config.handshake_timeout_ms),
            max_age: (!max_age.is_zero()).then_some(max_age),
        }
    }

    /// Answers a guest's calls by `call` until the guest leaves. At the end, or when it is old, the guest is asked to begin
    /// no more of them.
    pub(crate) async fn serve<C, F>(self: Arc<Self>, guest: Guest, call: C, end: CancellationToken)
    where
        C: Fn(Request<Body>) -> F,
        F: Future<Output = Result<Response<Reply>, Infallible>> + Send + 'static,
    {
        let Guest { stream, address, tls, open, share: _share, place: _place } = guest;
        let late = Instant::now() + self.handshake_timeout;
        let Some(tls) = tls else {
            return self.speak(stream, address, late, open, call, end).await;
        };
        let agreed = tokio::select! {
            agreed = timeout_at(late, tls.accept(stream)) => agreed,
            () = end.cancelled() => return,
        };
        match agreed {
            Ok(Ok(stream)) => self.speak(stream, address, late, open, call, end).await,
            Ok(Err(error)) => {
                open.refuse();
                tracing::debug!(%error, peer = %address, "no TLS");
            }
            Err(_) => open.refuse(),
        }
    }

    async fn speak<C, F>(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        address: SocketAddr,
        late: Instant,
        open: Open,
        call: C,
        end: CancellationToken,
    ) where
        C: Fn(Request<Body>) -> F,
        F: Future<Output = Result<Response<Reply>, Infallible>> + Send + 'static,
    {
        let ahead = Arc::new(Ahead::new(self.max_streams));
        let preface = Some(Preface { seen: 0, late: Box::pin(sleep_until(late)) });
        let io = TokioIo::new(Watched { stream, ahead: Arc::clone(&ahead), preface, open });
        let peer = Peer { address, ahead: Arc::clone(&ahead) };
        // Where HTTP/2 hands a call out, not where it runs: it is counted before there is another turn.
        let answer = service_fn(|request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(peer.clone());
            call(request)
        });
        let mut speaking = pin!(self.http2.serve_connection(io, answer));
        let old = async {
            match self.max_age {
                Some(age) => sleep(age).await,
                None => pending().await,
            }
        };
        let ended = tokio::select! {
            ended = in_turns(speaking.as_mut(), &ahead) => ended,
            () = async { tokio::select! { () = end.cancelled() => {}, () = old => {} } } => {
                speaking.as_mut().graceful_shutdown();
                in_turns(speaking, &ahead).await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, peer = %address, "the connection broke");
        }
    }
}

/// Each time that the connection goes on is a turn of what it reads: before the next, its calls run.
async fn in_turns<F: Future>(mut speaking: Pin<&mut F>, ahead: &Ahead) -> F::Output {
    poll_fn(|cx| {
        ahead.turn();
        speaking.as_mut().poll(cx)
    })
    .await
}

/// A stream that is read only while its calls are not too far ahead, and whose peer must say its preface in time.
struct Watched<S> {
    stream: S,
    ahead: Arc<Ahead>,
    preface: Option<Preface>,
    open: Open,
}

/// The preface that was not seen whole; from then on the keepalive of HTTP/2 watches over the connection.
struct Preface {
    seen: usize,
    late: Pin<Box<Sleep>>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let room = ready!(self.ahead.poll_read(cx));
        let before = buf.filled().len();
        let read = pin!((&mut self.stream).take(room as u64)).poll_read(cx, buf);
        let bytes = buf.filled().len() - before;
        self.ahead.took(bytes);
        if let Some(preface) = &mut self.preface {
            preface.seen += bytes;
            if preface.seen >= PREFACE.len() {
                self.preface = None;
            } else if read.is_pending() {
                ready!(preface.late.as_mut().poll(cx));
                self.open.refuse();
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt as _, duplex};

    use super::*;
    use crate::metrics::Connections;

    #[tokio::test]
    async fn a_connection_is_not_read_while_it_is_too_far_ahead() {
        let (mut peer, stream) = duplex(64);
        let (ahead, connections) = (Arc::new(Ahead::new(0)), Arc::<Connections>::default());
        let open = connections.accept();
        let mut watched = Watched { stream, ahead: Arc::clone(&ahead), preface: None, open };
        let call = ahead.begin();
        peer.write_all(b"more").await.unwrap();
        let mut buffer = [0; 4];
        let mut read = pin!(watched.read_exact(&mut buffer));
        tokio::select! {
            biased;
            _ = &mut read => panic!("it was read"),
            () = tokio::task::yield_now() => {}
        }
        drop(call);
        read.await.unwrap();
    }

    #[tokio::test]
    async fn calls_that_have_arrived_are_read_over_several_turns() {
        const ARRIVED: usize = 1 << 13;
        let (mut peer, stream) = duplex(ARRIVED);
        let (ahead, connections) = (Arc::new(Ahead::new(1)), Arc::<Connections>::default());
        let open = connections.accept();
        let mut watched = Watched { stream, ahead: Arc::clone(&ahead), preface: None, open };
        peer.write_all(&[0; ARRIVED]).await.unwrap();
        let mut bytes = [0; ARRIVED];
        let mut buffer = ReadBuf::new(&mut bytes);
        let mut most = 0;
        let reading = poll_fn(|cx| {
            let before = buffer.filled().len();
            while buffer.remaining() > 0
                && Pin::new(&mut watched).poll_read(cx, &mut buffer).is_ready()
            {}
            drop(ahead.begin());
            most = most.max(buffer.filled().len() - before);
            if buffer.remaining() > 0 { Poll::Pending } else { Poll::Ready(()) }
        });
        in_turns(pin!(reading), &ahead).await;
        assert!(most <= ARRIVED / 4, "a turn brought {most} bytes");
    }
}
