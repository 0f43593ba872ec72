//! Which connections are let in: how many, and how long they may stay silent before they speak HTTP/2.
//!
//! Owns sockets until HTTP/2 begins; from then on its keepalive watches over them.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Sleep, sleep},
};
use tokio_stream::Stream;
use tokio_util::sync::PollSemaphore;
use tonic::transport::server::{Connected, TcpConnectInfo, TcpIncoming};

use crate::metrics::{Connections, Open};

/// What a client of HTTP/2 says first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Pause after a failure to accept, such as no file left to open: without one the loop would spin and flood the log.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Connections as they come in, never more than allowed at a time: the others wait in the system's backlog.
pub(crate) struct Incoming {
    listener: TcpIncoming,
    places: PollSemaphore,
    place: Option<OwnedSemaphorePermit>,
    handshake_timeout: Duration,
    pause: Option<Pin<Box<Sleep>>>,
    counted: Arc<Connections>,
}

impl Incoming {
    pub(crate) fn new(
        listener: TcpListener,
        most: usize,
        handshake_timeout: Duration,
        counted: Arc<Connections>,
    ) -> Incoming {
        Incoming {
            listener: TcpIncoming::from(listener).with_nodelay(Some(true)),
            places: PollSemaphore::new(Arc::new(Semaphore::new(most))),
            place: None,
            handshake_timeout,
            pause: None,
            counted,
        }
    }
}

impl Stream for Incoming {
    type Item = io::Result<Connection>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(cx));
            self.pause = None;
        }
        if self.place.is_none() {
            self.place = ready!(self.places.poll_acquire(cx));
        }
        let accepted = ready!(Pin::new(&mut self.listener).poll_next(cx));
        if let Some(Err(error)) = &accepted {
            tracing::warn!(%error, "cannot accept a connection");
            self.pause = Some(Box::pin(sleep(ACCEPT_PAUSE)));
        }
        Poll::Ready(accepted.map(|stream| {
            let handshake = Handshake { seen: 0, timeout: Box::pin(sleep(self.handshake_timeout)) };
            Ok(Connection {
                stream: stream?,
                handshake: Some(handshake),
                open: self.counted.accept(),
                _place: self.place.take(),
            })
        }))
    }
}

/// A connection that must say its preface in time.
pub(crate) struct Connection {
    stream: TcpStream,
    handshake: Option<Handshake>,
    open: Open,
    _place: Option<OwnedSemaphorePermit>,
}

struct Handshake {
    seen: usize,
    timeout: Pin<Box<Sleep>>,
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if let Some(handshake) = &mut self.handshake {
            handshake.seen += buf.filled().len() - before;
            if handshake.seen >= PREFACE.len() {
                self.handshake = None;
            } else if read.is_pending() {
                ready!(handshake.timeout.as_mut().poll(cx));
                self.open.refuse();
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        read
    }
}

impl AsyncWrite for Connection {
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
