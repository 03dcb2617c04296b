//! Functions of IP networks.

use num_bigint::BigInt;

use super::{Arguments, FromArguments, functions, string, string_list, whole};
use dropforge_base::stdlib::network::{Network, address, network};
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{BigNum, Value};

functions! {
    /// Network functions of OpenTofu.
    pub(super) static NETWORKS:
    "cidrhost" (prefix: String, hostnum: Number) -> String = host, "Returns the address with a number in a network."
        ["cidrhost(\"10.0.0.0/8\", 5)" => "\"10.0.0.5\""];
    "cidrnetmask" (prefix: String) -> String = netmask, "Returns the netmask of an IPv4 network."
        ["cidrnetmask(\"10.0.0.0/8\")" => "\"255.0.0.0\""];
    "cidrsubnet" (prefix: String, newbits: Number, netnum: Number) -> String = subnet,
        "Returns the subnet with a number among those whose prefix is longer by some bits."
        ["cidrsubnet(\"10.0.0.0/8\", 8, 2)" => "\"10.2.0.0/16\""];
    "cidrsubnets" (prefix: String, ... newbits: Number) -> (list String) = subnets,
        "Returns consecutive subnets whose prefixes are longer by these numbers of bits."
        ["cidrsubnets(\"10.0.0.0/8\", 8, 16)" => "[\"10.0.0.0/16\", \"10.1.0.0/24\"]"];
    "cidrcontains" (containing_prefix: String, contained_ip_or_prefix: String) -> Bool or null = contains,
        "Returns `true` if a network contains an address or network." ["cidrcontains(\"10.0.0.0/8\", \"10.1.2.3\")" => "true"];
}

impl FromArguments<'_> for Network {
    fn take(arguments: &Arguments<'_, '_>) -> Outcome<Self> {
        <&str>::take(arguments).and_then(parse_network)
    }
}

fn parse_network(prefix: &str) -> Outcome<Network> {
    network(prefix)
        .ok_or_else(|| Fault::wrong(format!("`{prefix}` is not a network (address, `/`, length of the prefix)")))
}

/// A whole number. One that is larger than any address is replaced by a power of two, which makes no difference.
struct Index(BigInt);

impl FromArguments<'_> for Index {
    fn take(arguments: &Arguments<'_, '_>) -> Outcome<Self> {
        let n = BigNum::take(arguments)?;
        if !n.is_whole() {
            return Err(Fault::wrong("a whole number is required"));
        }
        let is_small = n.to_f64().is_some_and(|n| n.abs() < 1e40);
        let small = if is_small { n.whole_text(10).and_then(|digits| digits.parse().ok()) } else { None };
        Ok(Self(small.unwrap_or_else(|| BigInt::from(if n.is_negative() { -1 } else { 1 }) << 256_u32)))
    }
}

fn host<'v>(cx: &Cx<'v>, network: Network, Index(hostnum): Index) -> Outcome<Value<'v>> {
    let host = network.host(&hostnum);
    string(cx, &host.ok_or_else(|| Fault::wrong(format!("the network has no address {hostnum}")))?.to_string())
}

fn netmask<'v>(cx: &Cx<'v>, network: Network) -> Outcome<Value<'v>> {
    if !network.first.is_short() {
        return Err(Fault::wrong("an IPv6 network has no netmask"));
    }
    string(cx, &network.mask().to_string())
}

fn subnet<'v>(cx: &Cx<'v>, network: Network, newbits: i64, Index(netnum): Index) -> Outcome<Value<'v>> {
    // The reference's text of a network without a mask.
    if newbits < -i64::from(network.prefix) && netnum == BigInt::ZERO {
        return string(cx, "<nil>");
    }
    let subnet = network.subnet(newbits, &netnum);
    let missing = || Fault::wrong(format!("with {newbits} more bits, the network has no subnet {netnum}"));
    string(cx, &subnet.ok_or_else(missing)?.to_string())
}

fn subnets<'v>(cx: &Cx<'v>, prefix: &str, newbits: &[Value<'v>]) -> Outcome<Value<'v>> {
    let network = parse_network(prefix).map_err(|fault| fault.of_argument(0))?;
    let (mut before, mut texts) = (None, Vec::new());
    for (at, newbits) in (1..).zip(newbits) {
        cx.charge(64)?;
        let newbits = whole(*newbits, at).map_err(|_| Fault::argument(at, "a whole number is required"))?;
        if newbits < 1 {
            return Err(Fault::argument(at, "the prefix must become longer by at least one bit"));
        }
        let length = u32::try_from(newbits).ok().and_then(|newbits| network.prefix.checked_add(newbits));
        let Some(length) = length.filter(|length| *length <= network.first.width) else {
            return Err(Fault::argument(at, format!("an address has only {} bits", network.first.width)));
        };
        let next = network.next(before, length);
        let next = next.ok_or_else(|| Fault::argument(at, "the network has no room for another subnet"))?;
        texts.push(next.to_string());
        before = Some(next);
    }
    string_list(cx, texts.iter().map(String::as_str))
}

fn contains<'v>(_: &Cx<'v>, outer: Network, inner: &str) -> Outcome<Value<'v>> {
    let (first, last) = match (address(inner), network(inner)) {
        (Some(address), _) => (address, address),
        (None, Some(inner)) => (inner.first, inner.last()),
        (None, None) => return Err(Fault::wrong(format!("`{inner}` is neither an address nor a network"))),
    };
    if first.is_short() != outer.first.is_short() {
        return Err(Fault::wrong("cannot compare an IPv4 address with an IPv6 address"));
    }
    Ok(Value::Bool(outer.contains(first) && outer.contains(last)))
}
