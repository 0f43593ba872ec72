//! Which connections are let in: how many, and how many from one address.

use std::{
    collections::{HashMap, hash_map::Entry},
    io,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::sleep,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    config::Config,
    metrics::{Connections, Open},
    tls::Tls,
};

/// Pause after a failure to accept, such as no file left to open: without one the loop would spin and flood the log.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Connections as they come in, never more than allowed at a time: the others wait in the system's backlog.
pub(crate) struct Door {
    listener: TcpListener,
    tls: Option<Tls>,
    places: Arc<Semaphore>,
    addresses: Arc<Addresses>,
    counted: Arc<Connections>,
}

/// A connection that was let in, and its places among the others.
pub(crate) struct Guest {
    pub(crate) stream: TcpStream,
    pub(crate) address: SocketAddr,
    /// How it is to be encrypted, if it is.
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) open: Open,
    pub(crate) share: Share,
    pub(crate) place: OwnedSemaphorePermit,
}

impl Door {
    pub(crate) fn new(
        listener: TcpListener,
        tls: Option<Tls>,
        config: &Config,
        counted: Arc<Connections>,
    ) -> Door {
        Door {
            listener,
            tls,
            places: Arc::new(Semaphore::new(config.max_connections as usize)),
            addresses: Arc::new(Addresses::new(config.max_connections_per_address)),
            counted,
        }
    }

    /// Waits for the next connection that may come in; those of an address that has too many are closed.
    pub(crate) async fn next(&mut self) -> Guest {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.expect("nobody closes the semaphore");
        loop {
            let (stream, address) = match self.listener.accept().await {
                Ok(accepted) => accepted,
                // One that left while it waited, which says nothing about the next.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let open = self.counted.accept();
            let Some(share) = self.addresses.enter(address.ip()) else {
                open.refuse();
                continue;
            };
            // What cannot be set on a socket that is gone already is of no use to it.
            let _ = stream.set_nodelay(true);
            let tls = self.tls.as_mut().map(|tls| tls.acceptor().clone());
            return Guest { stream, address, tls, open, share, place };
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
pub(crate) struct Share {
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
