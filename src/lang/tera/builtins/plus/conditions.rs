//! Conditions on versions and addresses.

use crate::builtins::arguments::{required_text, subject, wrong};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::cidr::{self, Block};
use dropforge_base::stdlib::semver;
use dropforge_machine::builtins;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

builtins! {
    /// Conditions on versions and addresses.
    pub(super) static CONDITIONS:
    filter "semver_compare" (value: Str, constraint: Str) = semver_compare,
        "True if a version fulfils a `constraint`, as Helm reads it: `>=1.27, <2`, `~1.2`, `^1`, `1.x`, `1.2 - 1.4`, `a || b`. A prerelease fulfils only constraints that have one."
        [
            r"{{ 'v1.29.3' | semver_compare(constraint='>=1.27, <2') }}" => "true",
            r"{{ '1.30.0-rc.1' | semver_compare(constraint='>=1.27') }}" => "false",
            r"{{ '1.2.3' | semver_compare(constraint='=>') }}" => "E0403",
            r"{{ 'latest' | semver_compare(constraint='1') }}" => "E0403",
        ];
    filter "ip_in" (value: Str, cidr: Any) = ip_in,
        "True if an address is in the network `cidr`, or in one of a list of networks."
        [
            r"{{ '10.1.2.3' | ip_in(cidr='10.0.0.0/8') }}" => "true",
            r"{{ 'fd00::1' | ip_in(cidr=['10.0.0.0/8', 'fd00::/8']) }}" => "true",
            r"{{ '10.1.2' | ip_in(cidr='10.0.0.0/8') }}" => "E0403",
            r"{{ '10.1.2.3' | ip_in(cidr='10.0.0.0') }}" => "E0403",
        ];
}

fn semver_compare<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [value, Value::Str(constraint)] = args else { return Err(cx.arity()) };
    let (text, constraint) = (subject(cx, args)?, constraint.as_str());
    // Each part of a version takes a slice of its text.
    cx.charge(text.len().saturating_add(constraint.len()).saturating_mul(size_of::<&str>()))?;
    cx.spend((text.len() as u64 / 8).saturating_mul(constraint.len() as u64 / 8))?;
    let version = semver::normalized(text).map_err(|why| {
        wrong("filter `semver_compare`", "value", "a version such as `1.29.3`", *value).with_note(why)
    })?;
    let version = semver::Version::parse(&version).map_err(|why| {
        wrong("filter `semver_compare`", "value", "a version such as `1.29.3`", *value).with_note(why)
    })?;
    let fulfils = version.fulfils(constraint);
    fulfils.map(Value::Bool).map_err(|why| {
        let message = format!("filter `semver_compare`: `constraint` cannot be read: {why}");
        cx.fault(Code::BadArgument, message).with_help("write constraints as `>=1.27, <2`")
    })
}

fn ip_in<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    const IP_IN: &str = "filter `ip_in`";
    let [value, networks] = args else { return Err(cx.arity()) };
    let text = subject(cx, args)?;
    let address = cidr::address(text).map_err(|_| wrong(IP_IN, "value", "an IP address", *value))?;
    let mut found = false;
    for network in networks.as_list().unwrap_or(std::slice::from_ref(networks)) {
        cx.spend(1)?;
        let block = Block::parse(required_text(IP_IN, "cidr", *network)?);
        let block = block.map_err(|_| wrong(IP_IN, "cidr", "a network such as `10.0.0.0/8`", *network))?;
        found |= block.contains(address);
    }
    Ok(Value::Bool(found))
}
