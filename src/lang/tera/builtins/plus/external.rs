//! Filters that need other crates: hashes, regular expressions, networks.

use num_bigint::BigInt;

use crate::builtins::wrong;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::network::network;
use dropforge_base::stdlib::{hashes, strings};
use dropforge_machine::function::{Cx, Fault};
use dropforge_machine::functions;
use dropforge_value::{Text, Value};

functions! {
    /// Filters that need other crates.
    pub(in crate::builtins) static EXTERNAL:
    filter "sha256" (value: Str) = hash(hashes::sha256),
        "The SHA-256 hash in hexadecimal digits."
        [r"{{ 'abc' | sha256 | trunc(length=16) }}" => "ba7816bf8f01cfea"];
    filter "sha1" (value: Str) = hash(hashes::sha1),
        "The SHA-1 hash in hexadecimal digits."
        [r"{{ 'abc' | sha1 }}" => "a9993e364706816aba3e25717850c26c9cd0d89d"];
    filter "md5" (value: Str) = hash(hashes::md5),
        "The MD5 hash in hexadecimal digits."
        [r"{{ 'abc' | md5 }}" => "900150983cd24fb0d6963f7d28e17f72"];
    filter "regex_match" (value: Str, pattern: Str) = regex_match,
        "True if the regular expression `pattern`, in RE2 syntax, is found in the text."
        [r"{{ 'web-01' | regex_match(pattern='-[0-9]+$') }}" => "true", r"{{ 'a' | regex_match(pattern='(') }}" => "E0403"];
    filter "regex_replace" (value: Str, pattern: Str, to: Str) = regex_replace,
        "With every match of the regular expression `pattern`, in RE2 syntax, replaced by `to`. `$1` or `${name}` in `to` stands for a group."
        [
            r"{{ 'web-01' | regex_replace(pattern='([a-z]+)-0*', to='${1}.') }}" => "web.1",
            r"{{ 'a' | regex_replace(pattern='(?=a)', to='') }}" => "E0403",
        ];
    filter "cidr_host" (value: Str, n: Int) = cidr_host,
        "The address number `n` of a network, counted from the end if negative."
        [
            r"{{ '10.12.0.0/16' | cidr_host(n=10) }} {{ '10.12.0.0/16' | cidr_host(n=-2) }}" => "10.12.0.10 10.12.255.254",
            r"{{ '10.12.0.0/31' | cidr_host(n=2) }}" => "E0403",
        ];
}

/// Returns a body that prints a hash.
fn hash<'v, const N: usize>(of: fn(&[u8]) -> [u8; N]) -> impl Fn(&Cx<'v>, &'v str) -> Result<String> {
    move |cx, text| {
        cx.spend(text.len() as u64 / 16)?;
        Ok(strings::hex(&of(text.as_bytes())))
    }
}

/// Returns the error of an invalid pattern, or of a limit.
fn refused(of: &str, fault: Fault) -> Box<Diagnostic> {
    match fault {
        Fault::Limit(limit) => limit,
        Fault::Wrong(wrong) => Diagnostic::new(Code::BadArgument, format!("{of}: {}", wrong.message)),
    }
}

fn regex_match<'v>(cx: &Cx<'v>, text: &'v str, pattern: &'v str) -> Result<bool> {
    let pattern = cx.pattern(pattern).map_err(|fault| refused("filter `regex_match`", fault))?;
    pattern.charge_search(cx, text)?;
    Ok(pattern.is_match(text))
}

fn regex_replace<'v>(cx: &Cx<'v>, text: &'v str, pattern: &'v str, to: &'v str) -> Result<Value<'v>> {
    let pattern = cx.pattern(pattern).map_err(|fault| refused("filter `regex_replace`", fault))?;
    cx.text(&pattern.replaced(cx, text, to)?)
}

fn cidr_host<'v>(value: &'v Text<'v>, n: Value<'v>) -> Result<String> {
    const CIDR_HOST: &str = "filter `cidr_host`";
    let number = match n {
        Value::Int(n) => BigInt::from(n),
        Value::Uint(n) => BigInt::from(n),
        other => return Err(wrong(CIDR_HOST, "n", "an integer", other)),
    };
    let network = network(value.as_str())
        .ok_or_else(|| wrong(CIDR_HOST, "value", "a network such as `10.0.0.0/8`", Value::Str(value)))?;
    let address = network.host(&number);
    let wanted = || wrong(CIDR_HOST, "n", &format!("the number of an address in `{network}`"), n);
    Ok(address.ok_or_else(wanted)?.to_string())
}
