//! IP networks, parsed leniently: an address and the length of a prefix.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// An address of 32 or 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    bits: u128,
    /// 32 or 128.
    pub(crate) width: u32,
}

/// A network: its first address and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Network {
    /// The first address.
    pub(crate) first: Address,
    /// The length of the prefix in bits.
    pub(crate) prefix: u32,
}

/// Parses an address, ignoring leading zeros.
pub(crate) fn address(text: &str) -> Option<Address> {
    if text.contains(':') {
        let address: Ipv6Addr = text.parse().ok()?;
        return Some(Address { bits: address.to_bits(), width: 128 });
    }
    let mut parts = text.split('.');
    let mut bits = 0;
    for _ in 0..4 {
        bits = bits << 8 | u128::from(decimal(parts.next()?, 255)?);
    }
    parts.next().is_none().then_some(Address { bits, width: 32 })
}

/// Parses an unsigned decimal number up to `most`.
fn decimal(text: &str, most: u32) -> Option<u32> {
    let is_number = !text.is_empty() && text.len() <= 32 && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { text.trim_start_matches('0') } else { return None };
    let number = if number.is_empty() { 0 } else { number.parse().ok()? };
    (number <= most).then_some(number)
}

/// Parses `address/length`, clearing the bits after the prefix.
pub(crate) fn network(text: &str) -> Option<Network> {
    let (start, length) = text.split_once('/')?;
    let start = address(start)?;
    let prefix = decimal(length, start.width)?;
    Some(Network { first: Address { bits: start.bits & mask(start.width, prefix), ..start }, prefix })
}

/// Returns a mask of the first `prefix` of `width` bits.
fn mask(width: u32, prefix: u32) -> u128 {
    all(width) & !all(width - prefix.min(width))
}

/// Returns a mask of the lowest `count` bits.
fn all(count: u32) -> u128 {
    1_u128.checked_shl(count).map_or(u128::MAX, |bit| bit - 1)
}

impl Address {
    /// Returns `true` for IPv4 addresses and IPv4-mapped IPv6 addresses.
    pub(crate) fn is_short(self) -> bool {
        self.width == 32 || self.bits >> 32 == 0xFFFF
    }

    const fn with(self, bits: u128) -> Self {
        Self { bits, ..self }
    }
}

impl Network {
    /// Returns the last address.
    pub(crate) fn last(self) -> Address {
        self.first.with(self.first.bits | all(self.first.width - self.prefix))
    }

    /// Returns the netmask.
    pub(crate) fn mask(self) -> Address {
        self.first.with(mask(self.first.width, self.prefix))
    }

    /// Returns `true` if the network contains an address.
    pub(crate) fn contains(self, address: Address) -> bool {
        address.width == self.first.width && (self.first.bits..=self.last().bits).contains(&address.bits)
    }

    /// Returns the address with index `number`, counted from the end if negative. `None` if there are fewer addresses.
    pub(crate) fn host(self, number: i128) -> Option<Address> {
        let most = all(self.first.width - self.prefix);
        let (from_end, distance) = (number < 0, if number < 0 { -(number + 1) } else { number });
        let distance = u128::try_from(distance).ok().filter(|distance| *distance <= most)?;
        let host = if from_end { most - distance } else { distance };
        Some(self.first.with(self.first.bits | host))
    }

    /// Returns the subnet with index `number` among those whose prefix is `more` bits longer.
    pub(crate) fn subnet(self, more: u32, number: u128) -> Option<Self> {
        let prefix = self.prefix.checked_add(more).filter(|prefix| *prefix <= self.first.width)?;
        if number > all(more) {
            return None;
        }
        let place = number.checked_shl(self.first.width - prefix).unwrap_or(0);
        Some(Self { first: self.first.with(self.first.bits | place), prefix })
    }

    /// Returns the next subnet with this prefix length after `before`, or the first one.
    pub(crate) fn next(self, before: Option<Self>, prefix: u32) -> Option<Self> {
        let first = match before {
            None => self.first.bits,
            Some(before) => {
                let block = before.last().bits & mask(self.first.width, prefix);
                block.checked_add(1_u128.checked_shl(self.first.width - prefix)?)?
            }
        };
        let next = Self { first: self.first.with(first), prefix };
        // The address 0 means that the address space wrapped around.
        (first != 0 && self.contains(next.first)).then_some(next)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_short() {
            return write!(f, "{}", Ipv4Addr::from_bits((self.bits & 0xFFFF_FFFF) as u32));
        }
        write!(f, "{}", Ipv6Addr::from_bits(self.bits))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        network(text).map(|network| network.to_string())
    }

    #[test]
    fn networks_are_read_and_shown() {
        assert_eq!(shown("192.168.2.1/20").as_deref(), Some("192.168.0.0/20"));
        assert_eq!(shown("010.001.0.0/08").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(shown("2001:0db8::1/64").as_deref(), Some("2001:db8::/64"));
        assert_eq!(shown("::/0").as_deref(), Some("::/0"));
        for bad in ["", "1.2.3.4", "1.2.3/8", "1.2.3.4/33", "1.2.3.256/8", "1.2.3.4.5/8", "::/129", "1.2.3.4/-1", "a/8"]
        {
            assert_eq!(network(bad), None, "{bad}");
        }
    }

    #[test]
    fn hosts_and_subnets() {
        let net = network("192.168.1.0/24").unwrap();
        let host = |n| net.host(n).map(|host| host.to_string());
        assert_eq!(host(5).as_deref(), Some("192.168.1.5"));
        assert_eq!(host(-5).as_deref(), Some("192.168.1.251"));
        assert_eq!(host(-256).as_deref(), Some("192.168.1.0"));
        assert_eq!((host(256), host(-257), host(i128::MIN), host(i128::MAX)), (None, None, None, None));
        let wide = network("::/0").unwrap();
        assert_eq!(wide.subnet(128, u128::MAX).unwrap().to_string(), format!("{}/128", Ipv6Addr::from_bits(u128::MAX)));
        assert_eq!(net.subnet(9, 0), None);
        assert_eq!(net.subnet(u32::MAX, 0), None);
        assert_eq!(net.subnet(1, 2), None);
        assert_eq!(net.mask().to_string(), "255.255.255.0");
    }

    #[test]
    fn subnets_in_a_row() {
        let net = network("10.0.0.0/8").unwrap();
        let first = net.next(None, 9).unwrap();
        let second = net.next(Some(first), 9).unwrap();
        assert_eq!(second.to_string(), "10.128.0.0/9");
        assert_eq!(net.next(Some(second), 9), None);
        let wide = network("::/0").unwrap();
        assert_eq!(wide.next(wide.subnet(1, 1), 1), None);
    }
}
