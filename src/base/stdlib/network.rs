//! IP networks, parsed leniently: an address and the length of a prefix.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use num_bigint::{BigInt, Sign};

/// An address of 32 or 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    bits: u128,
    /// 32 or 128.
    pub width: u32,
}

/// A network: its first address and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// The first address.
    pub first: Address,
    /// The length of the prefix in bits.
    pub prefix: u32,
}

/// Parses an address, ignoring leading zeros.
pub fn address(text: &str) -> Option<Address> {
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
pub fn network(text: &str) -> Option<Network> {
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
    pub fn is_short(self) -> bool {
        self.width == 32 || self.bits >> 32 == 0xFFFF
    }

    const fn with(self, bits: u128) -> Self {
        Self { bits, ..self }
    }

    /// Returns the IPv4 address that an IPv4-mapped IPv6 address stands for, and any other address as it is.
    fn shortened(self) -> Self {
        if self.is_short() { Self { bits: self.bits & all(32), width: 32 } } else { self }
    }
}

/// Returns the lowest 64 bits of the absolute value of `number`.
fn lowest_bits(number: &BigInt) -> u64 {
    number.iter_u64_digits().next().unwrap_or(0)
}

impl Network {
    /// Returns the last address.
    pub fn last(self) -> Address {
        self.first.with(self.first.bits | all(self.first.width - self.prefix))
    }

    /// Returns the netmask.
    pub fn mask(self) -> Address {
        self.first.with(mask(self.first.width, self.prefix))
    }

    /// Returns `true` if the network contains an address. IPv4-mapped IPv6 addresses are IPv4 addresses.
    pub fn contains(self, address: Address) -> bool {
        let (own, address) = (self.shortened(), address.shortened());
        address.width == own.first.width && (own.first.bits..=own.last().bits).contains(&address.bits)
    }

    /// Returns the IPv4 network that an IPv4-mapped IPv6 network stands for, and any other network as it is.
    fn shortened(self) -> Self {
        let first = self.first.shortened();
        Self { first, prefix: self.prefix.saturating_sub(self.first.width - first.width) }
    }

    /// Returns the address with index `number`, counted from the end if negative. `None` if there are fewer addresses.
    ///
    /// The reference compares only the lowest 64 bits of an index with the number of addresses, as a signed number.
    pub fn host(self, number: &BigInt) -> Option<Address> {
        let most = all(self.first.width - self.prefix);
        let index = if number.sign() == Sign::Minus {
            let distance: BigInt = -(number + 1_u32);
            let distance = u128::try_from(distance).ok().filter(|distance| *distance <= most)?;
            BigInt::from(most - distance)
        } else {
            let low = lowest_bits(number).cast_signed();
            if u128::try_from(low).is_ok_and(|low| low > most) {
                return None;
            }
            number.clone()
        };
        self.with_index(&index, self.first.width - self.first.shortened().width)
    }

    /// Returns the first address with the bits of `index` in it, the lowest of them at bit `shift`. `None` if they do
    /// not fit. A negative index counts as in the reference: the bits are combined in two's complement, and the result
    /// loses its sign.
    fn with_index(self, index: &BigInt, shift: u32) -> Option<Address> {
        let bits = BigInt::from(self.first.bits) | (index << shift);
        let bits = u128::try_from(bits.magnitude()).ok()?;
        (bits & !all(self.first.width) == 0).then_some(self.first.with(bits))
    }

    /// Returns the subnet with index `number` among those whose prefix is `more` bits longer, or shorter if negative:
    /// then every index is valid, as in the reference.
    pub fn subnet(self, more: i64, number: &BigInt) -> Option<Self> {
        let prefix = u32::try_from(i64::from(self.prefix).checked_add(more)?).ok()?;
        let shift = self.first.width.checked_sub(prefix)?;
        let most =
            u32::try_from(more).ok().and_then(|more| 1_u64.checked_shl(more)).map_or(u64::MAX, |count| count - 1);
        if lowest_bits(number) > most {
            return None;
        }
        Some(Self { first: self.with_index(number, shift)?, prefix })
    }

    /// Returns the next subnet with this prefix length after `before`, or the first one.
    pub fn next(self, before: Option<Self>, prefix: u32) -> Option<Self> {
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
            return write!(f, "{}", Ipv4Addr::from_bits(self.shortened().bits as u32));
        }
        write!(f, "{}", Ipv6Addr::from_bits(self.bits))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.shortened();
        write!(f, "{}/{}", shown.first, shown.prefix)
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
        assert_eq!(shown("::ffff:10.1.2.3/104").as_deref(), Some("10.0.0.0/8"));
        for bad in ["", "1.2.3.4", "1.2.3/8", "1.2.3.4/33", "1.2.3.256/8", "1.2.3.4.5/8", "::/129", "1.2.3.4/-1", "a/8"]
        {
            assert_eq!(network(bad), None, "{bad}");
        }
    }

    #[test]
    fn hosts() {
        let big = |text: &str| text.parse::<BigInt>().unwrap();
        for (prefix, number, host) in [
            ("192.168.1.0/24", "5", Some("192.168.1.5")),
            ("192.168.1.0/24", "-5", Some("192.168.1.251")),
            ("192.168.1.0/24", "-256", Some("192.168.1.0")),
            ("192.168.1.0/24", "256", None),
            ("192.168.1.0/24", "-257", None),
            ("192.168.1.0/24", "18446744073709551616", None),
            ("::/0", "170141183460469231731687303715884105727", Some("7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")),
            ("::/0", "340282366920938463463374607431768211455", Some("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")),
            ("::/0", "340282366920938463463374607431768211456", None),
            ("::/0", "-340282366920938463463374607431768211456", Some("::")),
            ("fd00::/64", "18446744073709551617", Some("fd00:0:0:1::1")),
        ] {
            let found = network(prefix).unwrap().host(&big(number)).map(|host| host.to_string());
            assert_eq!(found.as_deref(), host, "{prefix} {number}");
        }
    }

    #[test]
    fn subnets() {
        for (prefix, more, number, subnet) in [
            ("10.0.0.0/8", 8, 2, Some("10.2.0.0/16")),
            ("10.0.0.0/8", 8, 256, None),
            ("10.0.0.0/8", 25, 0, None),
            ("10.0.0.0/8", 8, -1, Some("0.1.0.0/16")),
            ("10.1.2.3/16", -1, 0, Some("10.1.0.0/15")),
            ("10.1.2.3/16", -1, 1, Some("10.3.0.0/15")),
            ("10.0.0.0/31", -1, -1, Some("0.0.0.4/30")),
            ("10.0.0.0/8", -9, 0, None),
            ("10.0.0.0/8", i64::MIN, 0, None),
            ("::/0", 128, i64::MAX, Some("::7fff:ffff:ffff:ffff/128")),
            ("::ffff:10.0.0.0/104", 24, 255, Some("10.0.0.255/32")),
        ] {
            let found = network(prefix).unwrap().subnet(more, &BigInt::from(number)).map(|subnet| subnet.to_string());
            assert_eq!(found.as_deref(), subnet, "{prefix} {more} {number}");
        }
        assert_eq!(network("10.0.0.0/8").unwrap().mask().to_string(), "255.0.0.0");
        assert!(network("::ffff:10.0.0.0/104").unwrap().contains(address("10.1.2.3").unwrap()));
    }

    #[test]
    fn subnets_in_a_row() {
        let net = network("10.0.0.0/8").unwrap();
        let first = net.next(None, 9).unwrap();
        let second = net.next(Some(first), 9).unwrap();
        assert_eq!(second.to_string(), "10.128.0.0/9");
        assert_eq!(net.next(Some(second), 9), None);
        let wide = network("::/0").unwrap();
        assert_eq!(wide.next(wide.subnet(1, &BigInt::from(1)), 1), None);
    }
}
