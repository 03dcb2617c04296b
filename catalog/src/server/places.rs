//! Places for connections, bounded in all and from one address. A new connection takes the place of the oldest
//! one without a request.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus::IntGauge;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::driver::Progress;

/// Time for which a new connection keeps its place before its first request, unless its address has too many.
const GRACE: Duration = Duration::from_secs(1);

/// The places of a server.
pub(super) struct Places {
    limit: usize,
    per_address: usize,
    /// Time for which a connection keeps its place before its first request.
    grace: Duration,
    taken: Mutex<Taken>,
    /// Notified when a connection ends or becomes idle.
    changed: Arc<Notify>,
    gauge: IntGauge,
}

#[derive(Default)]
struct Taken {
    next: u64,
    /// The address and the progress of each connection.
    connections: BTreeMap<u64, (IpAddr, Arc<Progress>)>,
    addresses: HashMap<IpAddr, usize>,
}

/// The place of a connection, free again when dropped.
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    pub(super) progress: Arc<Progress>,
}

/// The reason why a connection has no place.
#[derive(Debug, PartialEq)]
enum Unplaced {
    /// All places are taken. Another connection was asked to close, or all have requests.
    Wait,
    /// All places of its address are taken by connections with requests.
    Refused,
}

impl Places {
    /// Creates `limit` places, of which one address may have `per_address`.
    pub(super) fn new(limit: usize, per_address: usize, gauge: IntGauge) -> Arc<Self> {
        let (limit, per_address) = (limit.max(1), per_address.max(1));
        Arc::new(Self { limit, per_address, grace: GRACE, taken: Mutex::default(), changed: Arc::default(), gauge })
    }

    /// Waits for a place. Returns `None` if the address has too many requests.
    pub(super) async fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let address = group(address);
        loop {
            // Before the check, so that no change is missed.
            let changed = self.changed.notified();
            match self.try_take(address) {
                Ok(place) => return Some(place),
                Err(Unplaced::Refused) => return None,
                // Nothing notifies of a connection that gets older.
                Err(Unplaced::Wait) => drop(timeout(GRACE / 10, changed).await),
            }
        }
    }

    fn try_take(self: &Arc<Self>, address: IpAddr) -> Result<Place, Unplaced> {
        let mut taken = self.taken();
        if taken.addresses.get(&address).is_some_and(|&count| count >= self.per_address) {
            let own = |from: IpAddr| from == address;
            let closes = taken.close_oldest_idle(own, Duration::ZERO);
            return Err(if closes { Unplaced::Wait } else { Unplaced::Refused });
        }
        if taken.connections.len() >= self.limit {
            taken.close_oldest_idle(|_| true, self.grace);
            return Err(Unplaced::Wait);
        }
        let progress = Arc::new(Progress::new(self.changed.clone()));
        let number = taken.add(address, progress.clone());
        self.gauge.inc();
        Ok(Place { places: self.clone(), number, progress })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn add(&mut self, address: IpAddr, progress: Arc<Progress>) -> u64 {
        self.next += 1;
        self.connections.insert(self.next, (address, progress));
        *self.addresses.entry(address).or_default() += 1;
        self.next
    }

    fn remove(&mut self, number: u64) {
        let Some((address, _)) = self.connections.remove(&number) else { return };
        if let Some(count) = self.addresses.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.addresses.remove(&address);
            }
        }
    }

    /// Asks the connection to close that has been without a request for the longest time. Returns `false` if all have
    /// requests and none is being closed.
    fn close_oldest_idle(&self, among: impl Fn(IpAddr) -> bool, grace: Duration) -> bool {
        let among = || self.connections.values().filter(|(from, _)| among(*from)).map(|(_, progress)| progress);
        if among().any(|progress| progress.is_closing()) {
            return true;
        }
        let idle = among().filter_map(|progress| Some((progress.idle_since(grace)?, progress)));
        let oldest = idle.min_by_key(|(since, _)| *since);
        oldest.map(|(_, progress)| progress.close()).is_some()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().remove(self.number);
        self.places.gauge.dec();
        self.places.changed.notify_one();
    }
}

/// The address that connections are counted by: one client can have a whole network of 64 bits in version 6.
fn group(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn places(limit: usize, per_address: usize) -> Arc<Places> {
        let places = Places::new(limit, per_address, IntGauge::new("open", "open").unwrap());
        Arc::new(Places { grace: Duration::ZERO, ..Arc::into_inner(places).unwrap() })
    }

    fn from(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    #[tokio::test]
    async fn a_new_connection_takes_the_place_of_the_oldest_idle_one() {
        let places = places(3, 3);
        let open: Vec<_> = (0..3).map(|at| places.try_take(from(at)).unwrap()).collect();
        open[0].progress.request_began();
        assert_eq!(places.try_take(from(9)).err(), Some(Unplaced::Wait));
        let closing: Vec<_> = open.iter().map(|place| place.progress.is_closing()).collect();
        assert_eq!(closing, [false, true, false]);
        // One is enough for one newcomer.
        assert_eq!(places.try_take(from(9)).err(), Some(Unplaced::Wait));
        assert!(!open[2].progress.is_closing());
        let taking = tokio::spawn({
            let places = places.clone();
            async move { places.take(from(9)).await.is_some() }
        });
        tokio::task::yield_now().await;
        drop(open);
        assert!(taking.await.unwrap());
        assert_eq!(places.gauge.get(), 0);
    }

    #[test]
    fn an_address_closes_its_own_connections() {
        let places = places(4, 2);
        let other = places.try_take(from(1)).unwrap();
        let own = [places.try_take(from(2)).unwrap(), places.try_take(from(2)).unwrap()];
        assert_eq!(places.try_take(from(2)).err(), Some(Unplaced::Wait));
        assert!(own[0].progress.is_closing() && !other.progress.is_closing());
        // The one to close has a request by now, and then the other one, too.
        own.iter().for_each(|place| place.progress.request_began());
        assert!(own.iter().all(|place| place.progress.has_request()));
        assert_eq!(places.try_take(from(2)).err(), Some(Unplaced::Refused));
        assert!(places.try_take(from(3)).is_ok());
    }

    #[test]
    fn a_new_connection_has_time_for_its_first_request() {
        let places = Places::new(1, 1, IntGauge::new("open", "open").unwrap());
        let open = places.try_take(from(1)).unwrap();
        assert_eq!(places.try_take(from(2)).err(), Some(Unplaced::Wait));
        assert!(!open.progress.is_closing());
        // After its response it has none.
        open.progress.request_began();
        open.progress.response_ended();
        open.progress.flushed();
        assert_eq!(places.try_take(from(2)).err(), Some(Unplaced::Wait));
        assert!(open.progress.is_closing());
    }

    #[test]
    fn connections_with_requests_are_never_closed() {
        let places = places(1, 1);
        let open = places.try_take(from(1)).unwrap();
        open.progress.request_began();
        open.progress.response_ended();
        assert_eq!(places.try_take(from(2)).err(), Some(Unplaced::Wait));
        assert!(!open.progress.is_closing());
        open.progress.flushed();
        assert_eq!(places.try_take(from(2)).err(), Some(Unplaced::Wait));
        assert!(open.progress.is_closing());
    }

    #[test]
    fn a_network_of_version_6_is_one_address() {
        let same = |one: &str, other: &str| group(one.parse().unwrap()) == group(other.parse().unwrap());
        assert!(same("2001:db8::1", "2001:db8::ffff:2"));
        assert!(!same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(same("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(!same("10.0.0.1", "10.0.0.2"));
    }
}
