//! Which connections are let in: how many, from one address too, and how long they may take to begin TLS and HTTP/2.
//!
//! Owns sockets until HTTP/2 begins; from then on its keepalive watches over them.

use std::{
    collections::{HashMap, hash_map::Entry},
    convert::Infallible,
    io,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Sleep, sleep},
};
use tokio_rustls::Accept;
use tokio_stream::Stream;
use tokio_util::sync::PollSemaphore;
use tonic::transport::server::{Connected, TcpConnectInfo};

use crate::{
    config::{Config, milliseconds},
    metrics::{Connections, Open},
    tls::Tls,
};

/// What a client of HTTP/2 says first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Pause after a failure to accept, such as no file left to open: without one the loop would spin and flood the log.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Connections as they come in, never more than allowed at a time: the others wait in the system's backlog.
pub(crate) struct Incoming {
    listener: TcpListener,
    tls: Option<Tls>,
    places: PollSemaphore,
    place: Option<OwnedSemaphorePermit>,
    addresses: Arc<Addresses>,
    handshake_timeout: Duration,
    pause: Option<Pin<Box<Sleep>>>,
    counted: Arc<Connections>,
}

impl Incoming {
    pub(crate) fn new(
        listener: TcpListener,
        tls: Option<Tls>,
        config: &Config,
        counted: Arc<Connections>,
    ) -> Incoming {
        let places = Semaphore::new(config.max_connections as usize);
        Incoming {
            listener,
            tls,
            places: PollSemaphore::new(Arc::new(places)),
            place: None,
            addresses: Arc::new(Addresses::new(config.max_connections_per_address)),
            handshake_timeout: milliseconds(config.handshake_timeout_ms),
            pause: None,
            counted,
        }
    }

    /// What is made of a connection: nothing if its address has too many.
    fn admit(&mut self, stream: TcpStream, peer: SocketAddr) -> Option<Connection> {
        let open = self.counted.accept();
        let Some(share) = self.addresses.enter(peer.ip()) else {
            open.refuse();
            return None;
        };
        // What cannot be set on a socket that is gone already is of no use to it.
        let _ = stream.set_nodelay(true);
        let info = stream.connect_info();
        let socket = match &mut self.tls {
            Some(tls) => Socket::Greeting(Box::new(tls.acceptor().accept(stream))),
            None => Socket::Open(Box::new(stream)),
        };
        let handshake = Handshake { seen: 0, timeout: Box::pin(sleep(self.handshake_timeout)) };
        Some(Connection {
            socket,
            info,
            handshake: Some(handshake),
            open,
            _share: share,
            _place: self.place.take(),
        })
    }
}

impl Stream for Incoming {
    type Item = Result<Connection, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            if self.place.is_none() {
                self.place = ready!(self.places.poll_acquire(cx));
            }
            match ready!(self.listener.poll_accept(cx)) {
                Ok((stream, peer)) => {
                    if let Some(connection) = self.admit(stream, peer) {
                        return Poll::Ready(Some(Ok(connection)));
                    }
                }
                // One that left while it waited, which says nothing about the next.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    self.pause = Some(Box::pin(sleep(ACCEPT_PAUSE)));
                }
            }
        }
    }
}

/// How many connections each address has. It knows those that have one, so `max_connections` at most.
struct Addresses {
    most: u32,
    taken: Mutex<HashMap<IpAddr, Taken>>,
}

struct Taken {
    connections: u32,
    /// Whether the log has it that this address wanted more.
    told: bool,
}

impl Addresses {
    fn new(most: u32) -> Addresses {
        Addresses { most, taken: Mutex::default() }
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<IpAddr, Taken>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more, as long as it is kept; nothing if that is too many.
    fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Share> {
        let address = network(address);
        let mut all = self.taken();
        let taken = all.entry(address).or_insert(Taken { connections: 0, told: false });
        if taken.connections >= self.most {
            if !taken.told {
                taken.told = true;
                tracing::warn!(
                    %address,
                    limit = self.most,
                    "connections of an address that has as many as it may are closed at once: see \
                     --max-connections-per-address"
                );
            }
            return None;
        }
        taken.connections += 1;
        Some(Share { addresses: self.clone(), address })
    }
}

/// Whose an address is: one customer of a provider has 2^64 of IPv6.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
        address => address,
    }
}

/// A connection counted for its address.
struct Share {
    addresses: Arc<Addresses>,
    address: IpAddr,
}

impl Drop for Share {
    fn drop(&mut self) {
        if let Entry::Occupied(mut taken) = self.addresses.taken().entry(self.address) {
            taken.get_mut().connections -= 1;
            if taken.get().connections == 0 {
                taken.remove();
            }
        }
    }
}

/// A connection that must agree on TLS, where there is any, and say its preface in time. It does so in its own task: a
/// silent one holds up nobody.
pub(crate) struct Connection {
    socket: Socket,
    info: TcpConnectInfo,
    handshake: Option<Handshake>,
    open: Open,
    _share: Share,
    _place: Option<OwnedSemaphorePermit>,
}

enum Socket {
    /// TLS is being agreed on.
    Greeting(Box<Accept<TcpStream>>),
    Open(Box<dyn Io>),
    /// It was not.
    Failed,
}

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

struct Handshake {
    seen: usize,
    timeout: Pin<Box<Sleep>>,
}

impl Connection {
    /// What can be read and written, once TLS is agreed on.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Pin<&mut dyn Io>>> {
        if let Socket::Greeting(accept) = &mut self.socket {
            match Pin::new(accept).poll(cx) {
                Poll::Ready(Ok(stream)) => self.socket = Socket::Open(Box::new(stream)),
                Poll::Ready(Err(error)) => {
                    self.open.refuse();
                    tracing::debug!(%error, peer = ?self.info.remote_addr, "no TLS");
                    self.socket = Socket::Failed;
                }
                Poll::Pending => {
                    ready!(self.poll_late(cx));
                    self.socket = Socket::Failed;
                }
            }
        }
        Poll::Ready(match &mut self.socket {
            Socket::Open(io) => Ok(Pin::new(io)),
            _ => Err(io::ErrorKind::ConnectionAborted.into()),
        })
    }

    /// Resolves if the connection did not begin in time.
    fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.handshake {
            Some(handshake) => {
                ready!(handshake.timeout.as_mut().poll(cx));
                self.open.refuse();
                Poll::Ready(())
            }
            None => Poll::Pending,
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.info.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = ready!(self.poll_open(cx))?.poll_read(cx, buf);
        if let Some(handshake) = &mut self.handshake {
            handshake.seen += buf.filled().len() - before;
            if handshake.seen >= PREFACE.len() {
                self.handshake = None;
            } else if read.is_pending() {
                ready!(self.poll_late(cx));
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
        ready!(self.poll_open(cx))?.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(cx))?.poll_write_vectored(cx, bufs)
    }

    /// TCP and TLS both take several buffers at once.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_open(cx))?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Open(io) => Pin::new(io).poll_shutdown(cx),
            // There is nobody yet to say goodbye to.
            _ => Poll::Ready(Ok(())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share_and_no_more() {
        let addresses = Arc::new(Addresses::new(2));
        let enter = |address: &str| addresses.enter(address.parse().unwrap());
        let (first, _second) = (enter("10.0.0.1").unwrap(), enter("::ffff:10.0.0.1").unwrap());
        assert!(enter("10.0.0.1").is_none() && enter("10.0.0.2").is_some());
        drop(first);
        assert!(enter("10.0.0.1").is_some());
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_and_who_left_is_forgotten() {
        let addresses = Arc::new(Addresses::new(1));
        let enter = |address: &str| addresses.enter(address.parse().unwrap());
        let one = enter("2001:db8::1").unwrap();
        assert!(enter("2001:db8::ffff:2").is_none() && enter("2001:db8:0:1::1").is_some());
        drop(one);
        assert!(addresses.taken().is_empty());
    }
}
