//! Functions of IP networks.

use super::arguments::{answer, answers, number, text, whole};
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::Cx;
use crate::positional;
use crate::stdlib::network::{Network, address, network};
use crate::value::Value;

positional! {
    /// Functions of IP networks, all of them OpenTofu's.
    pub(super) static NETWORKS:
    "cidrhost" (prefix: String, hostnum: Number) -> String = host, "The address with a number in a network."
        ["cidrhost(\"10.0.0.0/8\", 5)" => "\"10.0.0.5\""];
    "cidrnetmask" (prefix: String) -> String = netmask, "The mask of a network of 32 bits."
        ["cidrnetmask(\"10.0.0.0/8\")" => "\"255.0.0.0\""];
    "cidrsubnet" (prefix: String, newbits: Number, netnum: Number) -> String = subnet,
        "The network with a number among those whose prefix is longer by some bits."
        ["cidrsubnet(\"10.0.0.0/8\", 8, 2)" => "\"10.2.0.0/16\""];
    "cidrsubnets" (prefix: String, ... newbits: Number) -> (list String) = subnets,
        "Networks one behind the other, each longer by some bits than the first argument."
        ["cidrsubnets(\"10.0.0.0/8\", 8, 16)" => "[\"10.0.0.0/16\", \"10.1.0.0/24\"]"];
    "cidrcontains" (containing_prefix: String, contained_ip_or_prefix: String) -> Bool or null = contains,
        "Whether an address or a network is in a network." ["cidrcontains(\"10.0.0.0/8\", \"10.1.2.3\")" => "true"];
}

fn network_at(args: &[Value<'_>]) -> Outcome<Network> {
    let prefix = text(args, 0)?;
    network(prefix).ok_or_else(|| Fault::wrong(format!("`{prefix}` is no network: address, `/`, length of the prefix")))
}

/// A whole number of any size; one beyond 127 bits has the same effect as the largest.
fn large(args: &[Value<'_>], at: usize) -> Outcome<i128> {
    let n = number(args, at)?;
    if !n.is_whole() {
        return Err(Fault::wrong("a whole number is required"));
    }
    let beyond = if n.is_negative() { i128::MIN } else { i128::MAX };
    Ok(if n.to_f64().is_some_and(|n| n.abs() < 1e38) {
        n.whole_text(10).and_then(|digits| digits.parse().ok()).unwrap_or(beyond)
    } else {
        beyond
    })
}

fn host<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (hostnum, network) = (large(args, 1)?, network_at(args)?);
    let host = network.host(hostnum);
    answer(cx, &host.ok_or_else(|| Fault::wrong(format!("the network has no address {hostnum}")))?.to_string())
}

fn netmask<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let network = network_at(args)?;
    if !network.first.is_short() {
        return Err(Fault::wrong("a network of 128 bits has no mask"));
    }
    answer(cx, &network.mask().to_string())
}

fn subnet<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (newbits, netnum) = (whole(args, 1)?, large(args, 2)?);
    let network = network_at(args)?;
    let subnet = u32::try_from(newbits).ok().zip(u128::try_from(netnum).ok());
    let subnet = subnet.and_then(|(newbits, netnum)| network.subnet(newbits, netnum));
    let missing = || Fault::wrong(format!("with {newbits} more bits the network has no network {netnum}"));
    answer(cx, &subnet.ok_or_else(missing)?.to_string())
}

fn subnets<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let prefix = text(args, 0)?;
    let network = network(prefix).ok_or_else(|| Fault::argument(0, format!("`{prefix}` is no network")))?;
    let (mut before, mut texts) = (None, Vec::new());
    for at in 1..args.len() {
        cx.charge(64)?;
        let newbits = number(args, at)?.to_i64().ok_or_else(|| Fault::argument(at, "a whole number is required"))?;
        if newbits < 1 {
            return Err(Fault::argument(at, "the prefix must become longer by one bit at least"));
        }
        let length = u32::try_from(newbits).ok().and_then(|newbits| network.prefix.checked_add(newbits));
        let Some(length) = length.filter(|length| *length <= network.first.width) else {
            return Err(Fault::argument(at, format!("an address has {} bits only", network.first.width)));
        };
        let next = network.next(before, length).ok_or_else(|| Fault::argument(at, "there is no room left for it"))?;
        texts.push(next.to_string());
        before = Some(next);
    }
    answers(cx, texts.iter().map(String::as_str))
}

fn contains<'v>(_: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (network, inner) = (network_at(args)?, text(args, 1)?);
    let (first, last) = match (address(inner), self::network(inner)) {
        (Some(address), _) => (address, address),
        (None, Some(inner)) => (inner.first, inner.last()),
        (None, None) => return Err(Fault::wrong(format!("`{inner}` is no address and no network"))),
    };
    if first.is_short() != network.first.is_short() {
        return Err(Fault::wrong("an address of 32 bits cannot be in a network of 128 bits, nor the other way round"));
    }
    Ok(Value::Bool(network.contains(first) && network.contains(last)))
}
