//! How often a caller may call: a bucket each, which fills again at the rate.
//!
//! Owns the buckets and their number. Who a caller is, is `callers`. One call is one, whatever it asks for: what work
//! costs is bounded by `compute`.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{config::Config, listen::network};

/// How long newcomers share one bucket before it is looked again for callers to forget: to look at ten thousand takes
/// some 50 us, which strangers with many addresses must not be able to ask for with each call.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Whose calls are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// The holder of a token.
    Name(Arc<str>),
    /// An address without one; of IPv6, a network that one customer has.
    Address(IpAddr),
    /// All for whom there is no bucket left.
    Others,
}

impl Key {
    pub(crate) fn of(address: Option<IpAddr>) -> Key {
        address.map_or(Key::Others, |address| Key::Address(network(address)))
    }
}

/// The buckets of all callers.
///
/// A bucket is the time when it will be full: each call moves it on by what it takes to fill one in, and none may move
/// it further ahead than the whole takes. So nothing is counted down, and one that is full need not be kept.
pub(crate) struct Rate {
    /// What it takes to fill one in.
    cost: Duration,
    /// How far ahead of now a bucket may be full for one more call.
    slack: Duration,
    most_callers: usize,
    began: Instant,
    buckets: Mutex<Buckets>,
}

#[derive(Default)]
struct Buckets {
    /// When each is full, from `began` on.
    full: HashMap<Key, Duration>,
    /// From when on it may be looked for full ones.
    look: Duration,
}

impl Rate {
    /// The rate of the settings, if there is one.
    pub(crate) fn new(config: &Config) -> Option<Rate> {
        let cost = Duration::from_secs(1).checked_div(config.rate_per_second)?;
        Some(Rate {
            cost,
            slack: cost * (config.rate_burst - 1),
            most_callers: config.rate_callers as usize,
            began: Instant::now(),
            buckets: Mutex::default(),
        })
    }

    /// Takes one out of a bucket.
    ///
    /// # Errors
    /// How long it takes until one is in it again.
    pub(crate) fn take(&self, key: Key) -> Result<(), Duration> {
        self.take_at(self.began.elapsed(), key)
    }

    fn take_at(&self, now: Duration, key: Key) -> Result<(), Duration> {
        // The map is whole between any two statements, so a panic elsewhere does not spoil it.
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let key = if buckets.have_room(now, &key, self.most_callers) { key } else { Key::Others };
        let full = buckets.full.get(&key).map_or(now, |&full| full.max(now));
        let wait = full.saturating_sub(now + self.slack);
        if !wait.is_zero() {
            return Err(wait);
        }
        buckets.full.insert(key, full + self.cost);
        Ok(())
    }
}

impl Buckets {
    /// Whether the caller has a bucket or can get one. If need be, those are forgotten that are full again: their
    /// callers are as good as new.
    fn have_room(&mut self, now: Duration, key: &Key, most: usize) -> bool {
        if self.full.contains_key(key) || self.full.len() < most {
            return true;
        }
        if now < self.look {
            return false;
        }
        self.look = now + LOOK_AGAIN;
        self.full.retain(|_, full| *full > now);
        self.full.len() < most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLER: Key = Key::Address(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));

    fn rate(rate_per_second: u32, rate_burst: u32, rate_callers: u32) -> Rate {
        Rate::new(&Config { rate_per_second, rate_burst, rate_callers, ..Config::default() })
            .unwrap()
    }

    fn name(number: usize) -> Key {
        Key::Name(number.to_string().into())
    }

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_burst_is_let_through_and_then_the_rate() {
        let rate = rate(10, 3, 100);
        for now in [0, 0, 0] {
            assert_eq!(rate.take_at(ms(now), CALLER), Ok(()));
        }
        assert_eq!(rate.take_at(ms(0), CALLER), Err(ms(100)));
        assert_eq!(rate.take_at(ms(99), CALLER), Err(ms(1)));
        assert_eq!(rate.take_at(ms(100), CALLER), Ok(()));
        assert_eq!(rate.take_at(ms(100), CALLER), Err(ms(100)));
        // Whoever was silent for long has the burst again, and not more.
        let taken = (0..10).filter(|_| rate.take_at(ms(60_000), CALLER).is_ok()).count();
        assert_eq!(taken, 3);
    }

    #[test]
    fn whoever_waits_as_told_is_let_through() {
        let rate = rate(7, 2, 100);
        let mut now = Duration::ZERO;
        for _ in 0..100 {
            if let Err(wait) = rate.take_at(now, CALLER) {
                now += wait;
                assert_eq!(rate.take_at(now, CALLER), Ok(()));
            }
        }
        // Two were the burst.
        assert_eq!(now, rate.cost * 98);
    }

    #[test]
    fn callers_do_not_take_from_each_other() {
        let rate = rate(1, 1, 100);
        assert!((0..50).all(|caller| rate.take_at(ms(0), name(caller)).is_ok()));
        assert!((0..50).all(|caller| rate.take_at(ms(0), name(caller)).is_err()));
    }

    #[test]
    fn beyond_the_most_callers_the_idle_are_forgotten_and_newcomers_share_a_bucket() {
        let rate = rate(1, 1, 10);
        assert!((0..10).all(|caller| rate.take_at(ms(0), name(caller)).is_ok()));
        // All ten are active: one newcomer gets what there is for the others, and the next ones nothing.
        assert_eq!(rate.take_at(ms(0), name(10)), Ok(()));
        assert!((11..1000).all(|caller| rate.take_at(ms(0), name(caller)).is_err()));
        assert_eq!(rate.take_at(ms(0), name(3)), Err(ms(1000)));
        assert_eq!(rate.buckets.lock().unwrap().full.len(), 11);
        // A second later none is.
        assert!((20..30).all(|caller| rate.take_at(ms(1000), name(caller)).is_ok()));
        assert_eq!(rate.buckets.lock().unwrap().full.len(), 10);
    }

    #[test]
    fn an_ipv6_network_is_one_caller_and_an_ipv4_address_is_one_in_both_forms() {
        let key = |text: &str| Key::of(Some(text.parse().unwrap()));
        assert_eq!(key("2001:db8:1:2::3"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::3"), key("2001:db8:1:3::3"));
        assert_eq!(key("::ffff:10.0.0.1"), key("10.0.0.1"));
        assert_ne!(key("10.0.0.2"), key("10.0.0.1"));
    }
}
