//! Required values, fallbacks, merged maps; conditions on versions and addresses.

use crate::Rules;
use crate::builtins::functions::throw;
use crate::builtins::{RAW_FILE, required_text, wrong};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::cidr::{self, Block};
use dropforge_base::stdlib::semver;
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_machine::vm::Semantics;
use dropforge_value::{Map, Text, Value};

functions! {
    /// Required values, fallbacks, merged maps.
    pub(super) static CHOICES:
    filter "required" (value: Any = absent, message: Str) = required,
        "The value, or the error `message` if it is missing, null or an empty string."
        [
            r"{{ 'web' | required(message='give a name') }}" => "web",
            r"{{ name | required(message='give a name') }}" => "E0404",
            r"{{ '' | required(message='give a name') }}" => "E0404",
        ];
    filter "coalesce" (value: Any = absent, with: Any) = coalesce,
        "The first value that is neither missing nor null, false, 0 or empty: this one, or one of those in `with`, a list or a single value. Null if there is none."
        [
            r"{{ tag | coalesce(with=['', 'latest']) }}" => "latest",
            r"{{ 'v1' | coalesce(with='latest') }}" => "v1",
        ];
    filter "ternary" (value: Any = absent, yes: Any, no: Any) = ternary,
        "The argument `yes` if the value is true in a condition, otherwise `no`; also if it is missing."
        [
            r"{{ true | ternary(yes='https', no='http') }} {{ tls | ternary(yes='https', no='http') }}" => "https http",
            r"{{ true | ternary(yes=1) }}" => "E0402",
        ];
    filter "merge" (value: Map, with: Map) = merging(false),
        "With the entries of `with`, which win over its own. Maps under a key of both are replaced."
        [
            r#"{% set a = '{"a": {"x": 1}}' | from_json %}{% set b = '{"a": {"y": 2}, "b": 3}' | from_json %}{{ a | merge(with=b) | to_json }}"# => r#"{"a":{"y":2},"b":3}"#,
            r"{{ [1] | merge(with=1) }}" => "E0403",
        ];
    filter "merge_deep" (value: Map, with: Map) = merging(true),
        "With the entries of `with`, which win over its own. Maps under a key of both are merged, lists are replaced."
        [
            r#"{% set a = '{"a": {"x": 1}}' | from_json %}{% set b = '{"a": {"y": 2}, "b": 3}' | from_json %}{{ a | merge_deep(with=b) | to_json }}"# => r#"{"a":{"x":1,"y":2},"b":3}"#,
        ];
    function "fail" (message: Str) = throw,
        "Stops the render with the error `message`."
        [r"{{ fail(message='no owner') }}" => "E0404", r"{{ fail() }}" => "E0402"];
    function "raw_file" (path: Str) = raw_file,
        "The text of a file next to the templates, as it is. `path` is a literal text: the file is read when the template is compiled, and found as an include is."
        [r"{% set p = 'rules.yaml' %}{{ raw_file(path=p) }}" => "E0403", r"{{ raw_file() }}" => "E0402"];
}

/// Fails: a call with a literal path is the text of the file.
fn raw_file<'v>(cx: &Cx<'v>, path: &'v str) -> Result<Value<'v>> {
    Err(wrong(RAW_FILE, "path", "a literal text, which is read when a template is compiled", cx.borrowed(path)?))
}

fn required<'v>(cx: &Cx<'v>, value: Value<'v>, message: &'v str) -> Result<Value<'v>> {
    let lacks = match value {
        Value::Undefined => "missing",
        Value::Null => "null",
        Value::Str(text) if text.as_str().is_empty() => "an empty string",
        _ => return Ok(value),
    };
    Err(cx.fault(Code::FunctionFailed, message).with_note(format!("the value is required, but it is {lacks}")))
}

fn coalesce<'v>(cx: &Cx<'v>, value: Value<'v>, with: Value<'v>) -> Result<Value<'v>> {
    let others = with.as_list().unwrap_or(std::slice::from_ref(&with));
    for candidate in std::iter::once(&value).chain(others) {
        cx.spend(1)?;
        if Rules.truth(cx, *candidate)? {
            return Ok(*candidate);
        }
    }
    Ok(Value::Null)
}

fn ternary<'v>(cx: &Cx<'v>, value: Value<'v>, yes: Value<'v>, no: Value<'v>) -> Result<Value<'v>> {
    Ok(if Rules.truth(cx, value)? { yes } else { no })
}

/// Returns a body that merges two maps like [`merged`].
fn merging<'v>(deep: bool) -> impl Fn(&Cx<'v>, &'v Map<'v>, &'v Map<'v>) -> Result<Value<'v>> {
    move |cx, old, new| merged(cx, old, new, deep)
}

/// Merges two maps, and the maps under a key of both if `deep`. The depth of values is limited.
fn merged<'v>(cx: &Cx<'v>, old: &Map<'v>, new: &Map<'v>, deep: bool) -> Result<Value<'v>> {
    let most = old.len() + new.len();
    cx.spend(most as u64)?;
    cx.charge(most.saturating_mul(size_of::<(&str, Value<'_>)>()))?;
    let mut entries = Vec::with_capacity(most);
    for entry in cx.in_turn(old.iter()) {
        let (key, value) = entry?;
        let value = match (value, new.get(key)) {
            (value, None) => value,
            (Value::Map(below), Some(Value::Map(other))) if deep => merged(cx, below, other, true)?,
            (_, Some(other)) => other,
        };
        entries.push((key, value));
    }
    for entry in cx.in_turn(new.iter()) {
        entries.extend(Some(entry?).filter(|(key, _)| old.get(key).is_none()));
    }
    cx.map(&entries)
}

functions! {
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

fn semver_compare<'v>(cx: &Cx<'v>, value: &'v Text<'v>, constraint: &'v str) -> Result<bool> {
    let (text, value) = (value.as_str(), Value::Str(value));
    // Each part of a version takes a slice of its text.
    cx.charge(text.len().saturating_add(constraint.len()).saturating_mul(size_of::<&str>()))?;
    cx.spend((text.len() as u64 / 8).saturating_mul(constraint.len() as u64 / 8))?;
    let version = semver::normalized(text)
        .map_err(|why| wrong("filter `semver_compare`", "value", "a version such as `1.29.3`", value).with_note(why))?;
    let version = semver::Version::parse(&version)
        .map_err(|why| wrong("filter `semver_compare`", "value", "a version such as `1.29.3`", value).with_note(why))?;
    let fulfils = version.fulfils(constraint);
    fulfils.map_err(|why| {
        let message = format!("filter `semver_compare`: `constraint` cannot be read: {why}");
        cx.fault(Code::BadArgument, message).with_help("write constraints as `>=1.27, <2`")
    })
}

fn ip_in<'v>(cx: &Cx<'v>, value: &'v Text<'v>, networks: Value<'v>) -> Result<bool> {
    const IP_IN: &str = "filter `ip_in`";
    let address =
        cidr::address(value.as_str()).map_err(|_| wrong(IP_IN, "value", "an IP address", Value::Str(value)))?;
    let mut found = false;
    for network in networks.as_list().unwrap_or(std::slice::from_ref(&networks)) {
        cx.spend(1)?;
        let block = Block::parse(required_text(IP_IN, "cidr", Some(*network))?);
        let block = block.map_err(|_| wrong(IP_IN, "cidr", "a network such as `10.0.0.0/8`", *network))?;
        found |= block.contains(address);
    }
    Ok(found)
}
