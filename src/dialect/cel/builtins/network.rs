//! Addresses and blocks of them.

use std::net::IpAddr;

use super::capsules::{CIDR, IP, content, make};
use super::{arguments, text};
use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::cel::values::errors::bad_argument;
use crate::function::Cx;
use crate::overloads;
use crate::stdlib::cidr::{self, Block, Refused};
use crate::value::Value;

overloads! {
    /// The library `network`, which is also that of Kubernetes.
    pub static TABLE:
    "ip": "The address that a text says, or that of a block."
        ["string(ip('2001:DB8::68'))" => "'2001:db8::68'", "cidr('192.168.0.1/24').ip() == ip('192.168.0.1')" => "true",
         "ip('127.0.0.01')" => "E0403", "ip('::ffff:10.0.0.1')" => "E0403"] {
        "string_to_ip" (String) -> "net.IP" = ip;
        "cidr_ip" member ("net.CIDR") -> "net.IP" = ip_of_block;
    }
    "isIP": "Whether a text says an address." ["isIP('127.0.0.1')" => "true", "isIP('127.0.0.1.0')" => "false", "isIP('::1%eth0')" => "false"] {
        "is_ip" (String) -> Bool = is_ip;
    }
    "ip.isCanonical": "Whether a text is an address as it is usually written."
        ["ip.isCanonical('2001:db8::1')" => "true", "ip.isCanonical('2001:DB8::1')" => "false", "ip.isCanonical('a')" => "E0403"] {
        "ip_is_canonical" (String) -> Bool = is_canonical;
    }
    "family": "4 or 6." ["ip('127.0.0.1').family()" => "4", "ip('::1').family()" => "6"] {
        "ip_family" member ("net.IP") -> Int = family;
    }
    "isUnspecified": "Whether it is the address that says no machine." ["ip('0.0.0.0').isUnspecified()" => "true", "ip('::1').isUnspecified()" => "false"] {
        "ip_is_unspecified" member ("net.IP") -> Bool = is_unspecified;
    }
    "isLoopback": "Whether it is an address of the same machine." ["ip('127.0.0.1').isLoopback()" => "true"] {
        "ip_is_loopback" member ("net.IP") -> Bool = is_loopback;
    }
    "isGlobalUnicast": "Whether it is an address of one machine beyond its link."
        ["ip('192.168.0.1').isGlobalUnicast()" => "true", "ip('255.255.255.255').isGlobalUnicast()" => "false"] {
        "ip_is_global_unicast" member ("net.IP") -> Bool = is_global_unicast;
    }
    "isLinkLocalUnicast": "Whether it is the address of one machine on a link." ["ip('fe80::1').isLinkLocalUnicast()" => "true"] {
        "ip_is_link_local_unicast" member ("net.IP") -> Bool = is_link_local_unicast;
    }
    "isLinkLocalMulticast": "Whether it is the address of many machines on a link." ["ip('224.0.0.1').isLinkLocalMulticast()" => "true"] {
        "ip_is_link_local_multicast" member ("net.IP") -> Bool = is_link_local_multicast;
    }
    "cidr": "The block of addresses that a text says."
        ["string(cidr('10.0.0.1/8'))" => "'10.0.0.1/8'", "cidr('10.0.0.0/33')" => "E0403"] {
        "string_to_cidr" (String) -> "net.CIDR" = block;
    }
    "isCIDR": "Whether a text says a block of addresses." ["isCIDR('10.0.0.0/8')" => "true", "isCIDR('10.0.0.0')" => "false"] {
        "is_cidr" (String) -> Bool = is_block;
    }
    "containsIP": "Whether an address is in a block."
        ["cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))" => "true", "cidr('10.0.0.0/8').containsIP('11.0.0.0')" => "false"] {
        "cidr_contains_ip_ip" member ("net.CIDR", "net.IP") -> Bool = contains_ip;
        "cidr_contains_ip_string" member ("net.CIDR", String) -> Bool = contains_ip;
    }
    "containsCIDR": "Whether all addresses of a block are in another."
        ["cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))" => "true", "cidr('10.0.0.0/8').containsCIDR('10.0.0.0/7')" => "false"] {
        "cidr_contains_cidr" member ("net.CIDR", "net.CIDR") -> Bool = contains_block;
        "cidr_contains_cidr_string" member ("net.CIDR", String) -> Bool = contains_block;
    }
    "prefixLength": "How many bits the addresses of a block share." ["cidr('10.0.0.0/8').prefixLength()" => "8"] {
        "cidr_prefix_length" member ("net.CIDR") -> Int = prefix_length;
    }
    "masked": "The same block by its first address." ["cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24')" => "true"] {
        "cidr_masked" member ("net.CIDR") -> "net.CIDR" = masked;
    }
    "isMask": "Whether a block is said by its first address."
        ["cidr('2001:db8::/32').isMask()" => "true", "cidr('2001:db8::1/32').isMask()" => "false"] {
        "cidr_is_mask" member ("net.CIDR") -> Bool = is_mask;
    }
    "string": "The text of an address or a block." ["string(ip('::1'))" => "'::1'"] {
        "ip_to_string" ("net.IP") -> String = string;
        "cidr_to_string" ("net.CIDR") -> String = string;
    }
}

#[cold]
fn wrong_address(text: &str, why: Refused) -> Box<Diagnostic> {
    let text: String = text.chars().take(60).collect();
    bad_argument(match why {
        Refused::Form => format!("IP Address {text:?} parse error during conversion from string"),
        Refused::Zone => format!("IP address {text:?} with zone value is not allowed"),
        Refused::Mapped => format!("IPv4-mapped IPv6 address {text:?} is not allowed"),
    })
}

#[cold]
fn wrong_block(text: &str, why: Refused) -> Box<Diagnostic> {
    let text: String = text.chars().take(60).collect();
    bad_argument(match why {
        Refused::Form => format!("network address {text:?} parse error during conversion from string"),
        Refused::Zone => format!("CIDR {text:?} with zone value is not allowed"),
        Refused::Mapped => format!("IPv4-mapped IPv6 address {text:?} is not allowed"),
    })
}

/// The address that a value is, or that its text says.
fn address(value: Value<'_>) -> Result<IpAddr> {
    let text = value.as_str().unwrap_or_else(|| content(value));
    cidr::address(text).map_err(|why| wrong_address(text, why))
}

/// The block that a value is, or that its text says.
fn block_of(value: Value<'_>) -> Result<Block> {
    let text = value.as_str().unwrap_or_else(|| content(value));
    Block::parse(text).map_err(|why| wrong_block(text, why))
}

/// The answer to a question about an address.
fn ask<'v>(cx: &Cx<'v>, given: &[Value<'v>], question: impl Fn(IpAddr) -> bool) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    address(value).map(|address| Value::Bool(question(address)))
}

fn ip<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    make(cx, IP, &cidr::text(address(value)?))
}

fn ip_of_block<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    make(cx, IP, &cidr::text(block_of(value)?.address))
}

fn is_ip<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?.map(text);
    Ok(Value::Bool(cidr::address(value).is_ok()))
}

fn is_canonical<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    Ok(Value::Bool(cidr::text(address(value)?) == text(value)))
}

fn family<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    Ok(Value::Int(if address(value)?.is_ipv4() { 4 } else { 6 }))
}

fn is_unspecified<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    ask(cx, given, |address| address.is_unspecified())
}

fn is_loopback<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    ask(cx, given, |address| address.is_loopback())
}

fn is_global_unicast<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    ask(cx, given, cidr::is_global_unicast)
}

fn is_link_local_unicast<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    ask(cx, given, cidr::is_link_local_unicast)
}

fn is_link_local_multicast<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    ask(cx, given, cidr::is_link_local_multicast)
}

fn block<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    make(cx, CIDR, &block_of(value)?.to_string())
}

fn is_block<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?.map(text);
    Ok(Value::Bool(Block::parse(value).is_ok()))
}

fn contains_ip<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [block, value] = arguments(cx, given)?;
    Ok(Value::Bool(block_of(block)?.contains(address(value)?)))
}

fn contains_block<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [block, other] = arguments(cx, given)?;
    Ok(Value::Bool(block_of(block)?.contains_block(block_of(other)?)))
}

fn prefix_length<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    Ok(Value::Int(block_of(value)?.prefix.into()))
}

fn masked<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    make(cx, CIDR, &block_of(value)?.masked().to_string())
}

fn is_mask<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    let block = block_of(value)?;
    Ok(Value::Bool(block == block.masked()))
}

fn string<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    cx.borrowed(content(value))
}
