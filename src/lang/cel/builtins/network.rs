//! IP addresses and CIDR blocks.

use std::convert::identity;
use std::net::IpAddr;

use crate::values::capsules::{CIDR, Content, IP, Parsed, capsule};
use crate::values::errors::bad_argument;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::cidr::{self, BadAddress, Block};
use dropforge_machine::function::{Arguments, Cx, FromArgument, IntoValue, Outcome};
use dropforge_machine::functions;
use dropforge_value::Value;

functions! {
    /// The library `network`, which is also the one of Kubernetes.
    pub static TABLE:
    "ip", "Parses an IP address, or returns the address of a CIDR block."
        ["string(ip('2001:DB8::68'))" => "'2001:db8::68'", "cidr('192.168.0.1/24').ip() == ip('192.168.0.1')" => "true", "string(ip('::ffff:a00:1'))" => "'::ffff:10.0.0.1'",
         "ip('127.0.0.01')" => "E0403", "ip('::ffff:10.0.0.1')" => "E0403"]
        | "string_to_ip" (String) -> "net.IP" = identity::<Parsed<IpAddr>>;
        | "cidr_ip" member ("net.CIDR") -> "net.IP" = |block: Parsed<Block>| Parsed(block.address);
    "isIP", "Returns `true` if a string is an IP address." ["isIP('127.0.0.1')" => "true", "isIP('127.0.0.1.0')" => "false", "isIP('::1%eth0')" => "false"]
        | "is_ip" (String) -> Bool = |text: &str| cidr::address(text).is_ok();
    "ip.isCanonical", "Returns `true` if a string is an IP address in canonical form."
        ["ip.isCanonical('2001:db8::1')" => "true", "ip.isCanonical('2001:DB8::1')" => "false", "ip.isCanonical('a')" => "E0403"]
        | "ip_is_canonical" (String) -> Bool = is_canonical;
    "family", "Returns the address family: 4 or 6." ["ip('127.0.0.1').family()" => "4", "ip('::1').family()" => "6"]
        | "ip_family" member ("net.IP") -> Int = |address: Parsed<IpAddr>| if address.is_ipv4() { 4_i64 } else { 6 };
    "isUnspecified", "Returns `true` for the unspecified address." ["ip('0.0.0.0').isUnspecified()" => "true", "ip('::1').isUnspecified()" => "false"]
        | "ip_is_unspecified" member ("net.IP") -> Bool = |address: Parsed<IpAddr>| address.is_unspecified();
    "isLoopback", "Returns `true` for a loopback address." ["ip('127.0.0.1').isLoopback()" => "true"]
        | "ip_is_loopback" member ("net.IP") -> Bool = |address: Parsed<IpAddr>| address.to_canonical().is_loopback();
    "isGlobalUnicast", "Returns `true` for a global unicast address."
        ["ip('192.168.0.1').isGlobalUnicast()" => "true", "ip('255.255.255.255').isGlobalUnicast()" => "false"]
        | "ip_is_global_unicast" member ("net.IP") -> Bool = |address: Parsed<IpAddr>| cidr::is_global_unicast(address.0);
    "isLinkLocalUnicast", "Returns `true` for a link-local unicast address." ["ip('fe80::1').isLinkLocalUnicast()" => "true"]
        | "ip_is_link_local_unicast" member ("net.IP") -> Bool = |address: Parsed<IpAddr>| cidr::is_link_local_unicast(address.0);
    "isLinkLocalMulticast", "Returns `true` for a link-local multicast address." ["ip('224.0.0.1').isLinkLocalMulticast()" => "true"]
        | "ip_is_link_local_multicast" member ("net.IP") -> Bool = |address: Parsed<IpAddr>| cidr::is_link_local_multicast(address.0);
    "cidr", "Parses a CIDR block."
        ["string(cidr('10.0.0.1/8'))" => "'10.0.0.1/8'", "cidr('10.0.0.0/33')" => "E0403"]
        | "string_to_cidr" (String) -> "net.CIDR" = identity::<Parsed<Block>>;
    "isCIDR", "Returns `true` if a string is a CIDR block." ["isCIDR('10.0.0.0/8')" => "true", "isCIDR('10.0.0.0')" => "false"]
        | "is_cidr" (String) -> Bool = |text: &str| Block::parse(text).is_ok();
    "containsIP", "Returns `true` if a block contains an address."
        ["cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))" => "true", "cidr('10.0.0.0/8').containsIP('11.0.0.0')" => "false"]
        | "cidr_contains_ip_ip" member ("net.CIDR", "net.IP") -> Bool = contains;
        | "cidr_contains_ip_string" member ("net.CIDR", String) -> Bool = contains;
    "containsCIDR", "Returns `true` if a block contains another."
        ["cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))" => "true", "cidr('10.0.0.0/8').containsCIDR('10.0.0.0/7')" => "false"]
        | "cidr_contains_cidr" member ("net.CIDR", "net.CIDR") -> Bool = contains_block;
        | "cidr_contains_cidr_string" member ("net.CIDR", String) -> Bool = contains_block;
    "prefixLength", "Returns the prefix length of a block." ["cidr('10.0.0.0/8').prefixLength()" => "8"]
        | "cidr_prefix_length" member ("net.CIDR") -> Int = |block: Parsed<Block>| i64::from(block.prefix);
    "masked", "Returns the block with its host bits set to zero." ["cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24')" => "true"]
        | "cidr_masked" member ("net.CIDR") -> "net.CIDR" = |block: Parsed<Block>| Parsed(block.masked());
    "isMask", "Returns `true` if the host bits of a block are zero."
        ["cidr('2001:db8::/32').isMask()" => "true", "cidr('2001:db8::1/32').isMask()" => "false"]
        | "cidr_is_mask" member ("net.CIDR") -> Bool = |block: Parsed<Block>| block.0 == block.masked();
    "string", "Converts an address or a block to a string." ["string(ip('::1'))" => "'::1'"]
        | "ip_to_string" ("net.IP") -> String = Content::text;
        | "cidr_to_string" ("net.CIDR") -> String = Content::text;
}

#[cold]
fn invalid(text: &str, why: BadAddress, form: &str, zone: &str) -> Box<Diagnostic> {
    let text: String = text.chars().take(60).collect();
    bad_argument(match why {
        BadAddress::Form => format!("{form} {text:?} parse error during conversion from string"),
        BadAddress::Zone => format!("{zone} {text:?} with zone value is not allowed"),
        BadAddress::Mapped => format!("IPv4-mapped IPv6 address {text:?} is not allowed"),
    })
}

/// Converts an address, or a string that is parsed as one.
impl<'v> FromArgument<'_, 'v> for Parsed<IpAddr> {
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        let value = arguments.value()?;
        match cidr::canonical(Content::of(value).0) {
            Some(address) => Ok(Self(address)),
            None => Ok(Self(address(value.as_str().unwrap_or(""))?)),
        }
    }
}

fn address(text: &str) -> Result<IpAddr> {
    cidr::address(text).map_err(|why| invalid(text, why, "IP Address", "IP address"))
}

impl<'v> IntoValue<'v> for Parsed<IpAddr> {
    fn into_value(self, cx: &Cx<'v>) -> Result<Value<'v>> {
        capsule(cx, IP, &self.0.to_string())
    }
}

/// Converts a block, or a string that is parsed as one.
impl<'v> FromArgument<'_, 'v> for Parsed<Block> {
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        let value = arguments.value()?;
        if let Some(block) = Block::canonical(Content::of(value).0) {
            return Ok(Self(block));
        }
        let text = value.as_str().unwrap_or("");
        Ok(Block::parse(text).map(Self).map_err(|why| invalid(text, why, "network address", "CIDR"))?)
    }
}

impl<'v> IntoValue<'v> for Parsed<Block> {
    fn into_value(self, cx: &Cx<'v>) -> Result<Value<'v>> {
        capsule(cx, CIDR, &self.0.to_string())
    }
}

fn is_canonical(text: &str) -> Result<bool> {
    Ok(text == address(text)?.to_string())
}

fn contains(block: Parsed<Block>, address: Parsed<IpAddr>) -> bool {
    block.contains(address.0)
}

fn contains_block(block: Parsed<Block>, other: Parsed<Block>) -> bool {
    block.contains_block(other.0)
}
