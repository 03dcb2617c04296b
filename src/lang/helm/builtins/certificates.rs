//! Functions of private keys and certificates.

use super::arguments::{bytes, int, only_bytes};
use crate::error::failed;
use crate::values::{CERTIFICATE, string};
use dropforge_base::diagnostics::Result;
use dropforge_machine::assigned;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

#[cfg(feature = "crypto")]
mod made;
#[cfg(not(feature = "crypto"))]
mod missing;

#[cfg(feature = "crypto")]
use made as keys;
#[cfg(not(feature = "crypto"))]
use missing as keys;

assigned! {
    /// Functions of private keys and certificates.
    pub(super) static CERTIFICATES:
    "genPrivateKey" (Str) = private_key, needs RANDOM,
        "Makes a private key in PEM: `rsa` of 4096 bits, `ecdsa` on P-256, `ed25519` or `dsa`."
        [r#"{{ genPrivateKey "ed25519" | trunc 27 }}"# => "-----BEGIN PRIVATE KEY-----", r#"{{ genPrivateKey "x" }}"# => "Unknown type x"];
    "genCA" (Str, Int) = authority, needs RANDOM,
        "Makes a certificate of an authority, by its name and the days that it is valid, with an RSA key of 2048 bits. It has the fields `Cert` and `Key`."
        [r#"{{ (genCA "ca" 365).Cert | trunc 27 }}"# => "-----BEGIN CERTIFICATE-----"];
    "genCAWithKey" (Str, Int, Str) = authority, needs RANDOM, "Makes a certificate of an authority with a private key in PEM."
        [r#"{{ (genCAWithKey "ca" 365 (genPrivateKey "ecdsa")).Key | trunc 30 }}"# => "-----BEGIN EC PRIVATE KEY-----",
         r#"{{ genCAWithKey "ca" 365 "" }}"# => "E0404"];
    "genSelfSignedCert" (Str, List, List, Int) = self_signed, needs RANDOM,
        "Makes a certificate of a server, by its name, IP addresses, other DNS names and the days that it is valid, with an RSA key of 2048 bits."
        [r#"{{ (genSelfSignedCert "a" (list "10.0.0.1") (list "b") 9).Key | trunc 31 }}"# => "-----BEGIN RSA PRIVATE KEY-----",
         r#"{{ genSelfSignedCert "a" (list "x") nil 9 }}"# => "E0404"];
    "genSelfSignedCertWithKey" (Str, List, List, Int, Str) = self_signed, needs RANDOM,
        "Makes a certificate of a server with a private key in PEM."
        [r#"{{ (genSelfSignedCertWithKey "a" nil nil 9 (genPrivateKey "ed25519")).Cert | trunc 27 }}"# => "-----BEGIN CERTIFICATE-----"];
    "genSignedCert" (Str, List, List, Int, Capsule("sprig.certificate")) = signed, needs RANDOM,
        "Makes a certificate of a server, signed by an authority, with an RSA key of 2048 bits."
        [r#"{{ $ca := genCAWithKey "ca" 9 (genPrivateKey "ecdsa") }}{{ (genSignedCert "a" nil nil 9 $ca).Cert | trunc 27 }}"# => "-----BEGIN CERTIFICATE-----"];
    "genSignedCertWithKey" (Str, List, List, Int, Capsule("sprig.certificate"), Str) = signed, needs RANDOM,
        "Makes a certificate of a server, signed by an authority, with a private key in PEM."
        [r#"{{ $k := genPrivateKey "ecdsa" }}{{ (genSignedCertWithKey "a" nil nil 9 (genCAWithKey "ca" 9 $k) $k).Cert | trunc 27 }}"# => "-----BEGIN CERTIFICATE-----"];
    "buildCustomCert" (Str, Str) = custom, "Returns a certificate of its PEM and that of its private key, both in base64."
        [r#"{{ buildCustomCert "!" "" }}"# => "E0404"];
}

/// The memory that is charged for a certificate and its key.
const MEMORY: usize = 1 << 14;

/// Returns a certificate of these texts.
fn certificate<'v>(cx: &Cx<'v>, cert: &[u8], key: &[u8]) -> Result<Value<'v>> {
    let content = cx.map(&[("Cert", string(cx, cert)?), ("Key", string(cx, key)?)])?;
    cx.extended(dropforge_value::Extended::Typed(CERTIFICATE, content))
}

/// Returns a text that can be a PEM block.
fn pem<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<std::borrow::Cow<'v, str>> {
    let text = bytes(cx, value)?;
    cx.charge(text.len())?;
    Ok(String::from_utf8_lossy(text))
}

fn private_key<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let kind = only_bytes(cx, args)?;
    cx.charge(MEMORY)?;
    match keys::pem_of(cx, kind)? {
        Some(pem) => cx.text(&pem),
        None => string(cx, &[b"Unknown type ", kind].concat()),
    }
}

fn authority<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [name, days, key @ ..] = args else { return Err(cx.arity()) };
    let server =
        keys::Server { name: pem(cx, *name)?, addresses: Vec::new(), dns_names: Vec::new(), days: int(cx, *days)? };
    keys::issued(cx, &server, true, key.first().copied(), None)
}

fn self_signed<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [name, addresses, names, days, key @ ..] = args else { return Err(cx.arity()) };
    let server = keys::Server::new(cx, [*name, *addresses, *names, *days])?;
    keys::issued(cx, &server, false, key.first().copied(), None)
}

fn signed<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [name, addresses, names, days, authority, key @ ..] = args else { return Err(cx.arity()) };
    let server = keys::Server::new(cx, [*name, *addresses, *names, *days])?;
    keys::issued(cx, &server, false, key.first().copied(), Some(*authority))
}

fn custom<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    use dropforge_base::stdlib::base64::octets_of_padded_base64;

    let [cert, key] = args else { return Err(cx.arity()) };
    let decoded = |value: Value<'v>, what: &str| {
        let text = bytes(cx, value)?;
        cx.charge(text.len().saturating_mul(2))?;
        octets_of_padded_base64(text).map_err(|_| failed(format!("unable to decode base64 {what}")))
    };
    let (cert, key) = (decoded(*cert, "certificate")?, decoded(*key, "private key")?);
    keys::check(&String::from_utf8_lossy(&cert), &String::from_utf8_lossy(&key))?;
    certificate(cx, &cert, &key)
}
