//! Strictly parsed IP addresses and CIDR blocks: no leading zeros, no zones, and no IPv4 addresses embedded in IPv6
//! notation. A block keeps the bits after its prefix.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

/// The reason that a text is not an address or block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadAddress {
    /// The syntax is wrong.
    Form,
    /// The address has a zone.
    Zone,
    /// The IPv6 address embeds an IPv4 address in dotted notation (`::ffff:1.2.3.4`).
    Mapped,
}

/// Parses an address.
///
/// # Errors
/// The reason that the text is not an address.
pub fn address(text: &str) -> Result<IpAddr, BadAddress> {
    let (plain, zone) = text.split_once('%').map_or((text, None), |(plain, zone)| (plain, Some(zone)));
    let address: IpAddr = plain.parse().map_err(|_| BadAddress::Form)?;
    match (address, zone) {
        (IpAddr::V4(_), Some(_)) | (_, Some("")) => Err(BadAddress::Form),
        (_, Some(_)) => Err(BadAddress::Zone),
        (IpAddr::V6(v6), None) if v6.to_ipv4_mapped().is_some() && plain.contains('.') => Err(BadAddress::Mapped),
        _ => Ok(address),
    }
}

/// Parses an address in its canonical form, in which an embedded IPv4 address has dots: `::ffff:10.0.0.1`.
pub fn canonical(text: &str) -> Option<IpAddr> {
    text.parse().ok()
}

/// Returns `true` for global and private unicast addresses: not unspecified, loopback, multicast, broadcast or link-local.
pub fn is_global_unicast(address: IpAddr) -> bool {
    let plain = address.to_canonical();
    address != IpAddr::V4(Ipv4Addr::BROADCAST)
        && !address.is_unspecified()
        && !plain.is_loopback()
        && !plain.is_multicast()
        && !is_link_local_unicast(address)
}

/// Returns `true` for link-local unicast addresses.
pub fn is_link_local_unicast(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

/// Returns `true` for link-local multicast addresses.
pub fn is_link_local_multicast(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => matches!(v4.octets(), [224, 0, 0, _]),
        IpAddr::V6(v6) => matches!(v6.octets(), [0xFF, scope, ..] if scope & 0x0F == 2),
    }
}

/// A CIDR block: one of its addresses, and the length of the common prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The address as given.
    pub address: IpAddr,
    /// The length of the prefix in bits.
    pub prefix: u8,
}

impl Block {
    /// Parses `address/length`.
    ///
    /// # Errors
    /// The reason that the text is not a block.
    pub fn parse(text: &str) -> Result<Self, BadAddress> {
        Self::parse_with(text, address)
    }

    /// Parses a block in its canonical form: see [`canonical`].
    pub fn canonical(text: &str) -> Option<Self> {
        Self::parse_with(text, |text| canonical(text).ok_or(BadAddress::Form)).ok()
    }

    fn parse_with(text: &str, address: impl Fn(&str) -> Result<IpAddr, BadAddress>) -> Result<Self, BadAddress> {
        let (start, length) = text.rsplit_once('/').ok_or(BadAddress::Form)?;
        let address = address(start)?;
        let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        let number = is_number && (length == "0" || !length.starts_with('0'));
        let prefix: u8 = length.parse().ok().filter(|_| number).ok_or(BadAddress::Form)?;
        if prefix > width(address) { Err(BadAddress::Form) } else { Ok(Self { address, prefix }) }
    }

    /// Returns the block with its first address.
    pub fn masked(self) -> Self {
        let address = match self.address {
            IpAddr::V4(v4) => {
                let bits = v4.to_bits() & u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0);
                IpAddr::V4(bits.into())
            }
            IpAddr::V6(v6) => {
                let bits = v6.to_bits() & u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or(0);
                IpAddr::V6(bits.into())
            }
        };
        Self { address, ..self }
    }

    /// Returns `true` if the block contains an address.
    pub fn contains(self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4() && Self { address, ..self }.masked() == self.masked()
    }

    /// Returns `true` if the block contains another block.
    pub fn contains_block(self, other: Self) -> bool {
        self.prefix <= other.prefix && self.contains(other.address)
    }
}

const fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_strictly() {
        for (text, canonical) in [
            ("127.0.0.1", "127.0.0.1"),
            ("2001:DB8:0::1", "2001:db8::1"),
            ("::1.2.3.4", "::102:304"),
            ("::FFFF:c0a8:0001", "::ffff:192.168.0.1"),
        ] {
            let address = address(text).unwrap();
            assert_eq!(address.to_string(), canonical, "{text}");
            assert_eq!(super::canonical(canonical), Some(address), "{text}");
        }
        for (text, why) in [
            ("", BadAddress::Form),
            ("127.0.0.01", BadAddress::Form),
            ("1.2.3", BadAddress::Form),
            ("1.2.3.4%eth0", BadAddress::Form),
            ("::1%", BadAddress::Form),
            ("fe80::1%eth0", BadAddress::Zone),
            ("::ffff:1.2.3.4", BadAddress::Mapped),
            (" ::1", BadAddress::Form),
        ] {
            assert_eq!(address(text), Err(why), "{text}");
        }
    }

    #[test]
    fn kinds_of_addresses() {
        let kinds = |text: &str| {
            let address = address(text).unwrap();
            (is_global_unicast(address), is_link_local_unicast(address), is_link_local_multicast(address))
        };
        for (text, wanted) in [
            ("192.168.0.1", (true, false, false)),
            ("255.255.255.255", (false, false, false)),
            ("0.0.0.0", (false, false, false)),
            ("224.0.0.1", (false, false, true)),
            ("224.0.1.1", (false, false, false)),
            ("169.254.169.254", (false, true, false)),
            ("fe80::1", (false, true, false)),
            ("fd80::1", (true, false, false)),
            ("ff02::1", (false, false, true)),
            ("ff12::1", (false, false, true)),
            ("ff00::1", (false, false, false)),
            ("::ffff:a00:1", (true, false, false)),
            ("::ffff:7f00:1", (false, false, false)),
            ("::ffff:a9fe:1", (false, true, false)),
            ("::ffff:e000:1", (false, false, true)),
            ("::ffff:0:0", (true, false, false)),
        ] {
            assert_eq!(kinds(text), wanted, "{text}");
        }
    }

    #[test]
    fn blocks() {
        let block = |text: &str| Block::parse(text).unwrap();
        assert_eq!(block("192.168.0.1/24").masked().to_string(), "192.168.0.0/24");
        assert_eq!(block("::ffff:c0a8:1/112").masked().to_string(), "::ffff:192.168.0.0/112");
        assert_eq!(block("1.2.3.4/0").masked().to_string(), "0.0.0.0/0");
        assert_eq!(block("2001:db8::1/128").masked().to_string(), "2001:db8::1/128");
        assert!(block("10.0.0.0/8").contains_block(block("10.0.0.0/8")));
        assert!(block("10.0.0.0/8").contains_block(block("10.255.0.0/16")));
        assert!(!block("10.0.0.0/8").contains_block(block("10.0.0.0/7")));
        assert!(!block("0.0.0.0/0").contains(address("::1").unwrap()));
        assert!(block("::/0").contains(address("::1").unwrap()));
        for bad in [
            "",
            "1.2.3.4",
            "1.2.3.4/33",
            "::1/129",
            "1.2.3.4/08",
            "1.2.3.4/+8",
            "1.2.3.4/",
            "::ffff:1.2.3.4/96",
            "fe80::%a/64",
            "::/999",
        ] {
            assert!(Block::parse(bad).is_err(), "{bad}");
        }
    }
}
