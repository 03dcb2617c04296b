//! Functions of private keys and certificates.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::UNIX_EPOCH;

use x509_cert::der::asn1::Ia5String;

use super::crypto::array;
use super::elements;
use crate::error::failed;
use crate::objects::fields;
use crate::values::{CERTIFICATE, text_bytes};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::encodings::octets_of_padded_base64;
use dropforge_base::stdlib::timestamps;
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::{Extended, Value};
use issue::{Issuer, PrivateKey, Request, dsa_pem, issue};

mod issue;

functions! {
    /// Functions of private keys and certificates.
    pub(super) static CERTIFICATES:
    "genPrivateKey" [Str] = private_key, needs RANDOM,
        "Makes a private key in PEM: `rsa` of 4096 bits, `ecdsa` on P-256, `ed25519` or `dsa`."
        [r#"{{ genPrivateKey "ed25519" | trunc 27 }}"# => "-----BEGIN PRIVATE KEY-----", r#"{{ genPrivateKey "x" }}"# => "Unknown type x"];
    "genCA" [Str, Int] = authority, needs RANDOM,
        "Makes a certificate of an authority, by its name and the days that it is valid, with an RSA key of 2048 bits. It has the fields `Cert` and `Key`."
        [r#"{{ (genCA "ca" 365).Cert | trunc 27 }}"# => "-----BEGIN CERTIFICATE-----"];
    "genCAWithKey" [Str, Int, Str] = authority, needs RANDOM, "Makes a certificate of an authority with a private key in PEM."
        [r#"{{ (genCAWithKey "ca" 365 (genPrivateKey "ecdsa")).Key | trunc 30 }}"# => "-----BEGIN EC PRIVATE KEY-----",
         r#"{{ genCAWithKey "ca" 365 "" }}"# => "E0404"];
    "genSelfSignedCert" [Str, List, List, Int] = self_signed, needs RANDOM,
        "Makes a certificate of a server, by its name, IP addresses, other DNS names and the days that it is valid, with an RSA key of 2048 bits."
        [r#"{{ (genSelfSignedCert "a" (list "10.0.0.1") (list "b") 9).Key | trunc 31 }}"# => "-----BEGIN RSA PRIVATE KEY-----",
         r#"{{ genSelfSignedCert "a" (list "x") nil 9 }}"# => "E0404"];
    "genSelfSignedCertWithKey" [Str, List, List, Int, Str] = self_signed, needs RANDOM,
        "Makes a certificate of a server with a private key in PEM."
        [r#"{{ (genSelfSignedCertWithKey "a" nil nil 9 (genPrivateKey "ed25519")).Cert | trunc 27 }}"# => "-----BEGIN CERTIFICATE-----"];
    "genSignedCert" [Str, List, List, Int, Capsule("sprig.certificate")] = signed, needs RANDOM,
        "Makes a certificate of a server, signed by an authority, with an RSA key of 2048 bits."
        [r#"{{ $ca := genCAWithKey "ca" 9 (genPrivateKey "ecdsa") }}{{ (genSignedCert "a" nil nil 9 $ca).Cert | trunc 27 }}"# => "-----BEGIN CERTIFICATE-----"];
    "genSignedCertWithKey" [Str, List, List, Int, Capsule("sprig.certificate"), Str] = signed, needs RANDOM,
        "Makes a certificate of a server, signed by an authority, with a private key in PEM."
        [r#"{{ $k := genPrivateKey "ecdsa" }}{{ (genSignedCertWithKey "a" nil nil 9 (genCAWithKey "ca" 9 $k) $k).Cert | trunc 27 }}"# => "-----BEGIN CERTIFICATE-----"];
    "buildCustomCert" [Str, Str] = custom, "Returns a certificate of its PEM and that of its private key, both in base64."
        [r#"{{ buildCustomCert "!" "" }}"# => "E0404"];
}

/// The memory that is charged for a certificate and its key.
const MEMORY: usize = 1 << 14;

/// Steps charged for an RSA key of 2048 bits, for one of 4096 bits, for a key of DSA, and for a signature. They are in
/// proportion to their times, and few: a step of cryptography takes as long as some fifty others, so that a chart may have
/// as many keys as it takes half a minute to make. A time limit counts, too.
const KEY: u64 = 300_000;
const LARGE_KEY: u64 = 2_000_000;
const DSA_KEY: u64 = 10_000_000;
const SIGNATURE: u64 = 10_000;

/// Returns a certificate of these texts.
fn certificate<'v>(cx: &Cx<'v>, cert: &[u8], key: &[u8]) -> Result<Value<'v>> {
    let content = cx.map(&[("Cert", cx.string(cert)?), ("Key", cx.string(key)?)])?;
    cx.extended(Extended::Typed(CERTIFICATE, content))
}

/// Returns a text that can be a PEM block.
fn pem<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Cow<'v, str>> {
    cx.charge(text.len())?;
    Ok(String::from_utf8_lossy(text))
}

fn private_key<'v>(cx: &Cx<'v>, kind: &'v [u8]) -> Result<Value<'v>> {
    let _held = cx.hold(MEMORY)?;
    cx.spend(SIGNATURE)?;
    let pem = match kind {
        b"" | b"rsa" => {
            cx.spend(LARGE_KEY)?;
            PrivateKey::rsa(4096).map(|key| key.to_pem())
        }
        b"dsa" => {
            cx.spend(DSA_KEY)?;
            dsa_pem()
        }
        b"ecdsa" => PrivateKey::ec().map(|key| key.to_pem()),
        b"ed25519" => PrivateKey::ed25519().map(|key| key.to_pem()),
        _ => return cx.string(&[b"Unknown type ", kind].concat()),
    };
    cx.text(&pem?.ok_or_else(invalid)?)
}

fn authority<'v>(cx: &Cx<'v>, name: &'v [u8], days: i64, key: Option<&'v [u8]>) -> Result<Value<'v>> {
    let request = Request { is_authority: true, ..request(cx, name, [Value::Null; 2], days)? };
    issued(cx, &request, key, None)
}

fn self_signed<'v>(
    cx: &Cx<'v>,
    name: &'v [u8],
    addresses: Value<'v>,
    names: Value<'v>,
    days: i64,
    key: Option<&'v [u8]>,
) -> Result<Value<'v>> {
    issued(cx, &request(cx, name, [addresses, names], days)?, key, None)
}

fn signed<'v>(
    cx: &Cx<'v>,
    name: &'v [u8],
    addresses: Value<'v>,
    names: Value<'v>,
    days: i64,
    authority: Value<'v>,
    key: Option<&'v [u8]>,
) -> Result<Value<'v>> {
    issued(cx, &request(cx, name, [addresses, names], days)?, key, Some(authority))
}

fn custom<'v>(cx: &Cx<'v>, cert: &'v [u8], key: &'v [u8]) -> Result<Value<'v>> {
    let decoded = |text: &[u8], what: &str| {
        cx.charge(text.len().saturating_mul(2))?;
        octets_of_padded_base64(text).map_err(|_| failed(format!("unable to decode base64 {what}")))
    };
    let (cert, key) = (decoded(cert, "certificate")?, decoded(key, "private key")?);
    parsed_certificate(&String::from_utf8_lossy(&cert), "decodedCert.Bytes")?;
    parsed_key(&String::from_utf8_lossy(&key))?;
    certificate(cx, &cert, &key)
}

/// Reads the name, addresses, other names and days of a server's certificate.
fn request<'v>(cx: &Cx<'v>, name: &'v [u8], [addresses, names]: [Value<'v>; 2], days: i64) -> Result<Request<'v>> {
    let items = |value| elements(cx, value).map(|items| items.map(Cow::into_owned).unwrap_or_default());
    let (mut ips, mut dns_names) = (Vec::new(), Vec::new());
    for item in items(addresses)? {
        let text = text_bytes(item).ok_or_else(|| no_text(cx, item, "parsing ip"))?;
        let text = String::from_utf8_lossy(text);
        ips.push(text.parse().map_err(|_| failed(format!("error parsing ip: {text}")))?);
    }
    for item in items(names)? {
        let text = text_bytes(item).ok_or_else(|| no_text(cx, item, "processing alternate dns name"))?;
        dns_names.push(dns_name(&pem(cx, text)?)?);
    }
    cx.charge(ips.len() * size_of::<IpAddr>())?;
    let name = pem(cx, name)?;
    Ok(Request { name, addresses: ips, dns_names, from: now(cx), days, is_authority: false })
}

fn dns_name(text: &str) -> Result<Ia5String> {
    let why = || format!("error creating certificate: x509: {text:?} cannot be encoded as an IA5String");
    Ia5String::new(text).map_err(|_| failed(why()))
}

/// Issues a certificate for a key in PEM, or for a new one, signed by an authority or by the key itself.
fn issued<'v>(
    cx: &Cx<'v>,
    request: &Request<'v>,
    key: Option<&'v [u8]>,
    authority: Option<Value<'v>>,
) -> Result<Value<'v>> {
    let _held = cx.hold(MEMORY)?;
    cx.spend(SIGNATURE)?;
    let key = match key {
        Some(key) => parsed_key(&pem(cx, key)?)?,
        None => {
            cx.spend(KEY)?;
            PrivateKey::rsa(2048)?
        }
    };
    let serial = array()?;
    let cert = match authority {
        None => issue(request, serial, &key, None, &key),
        Some(authority) => {
            let (issuer, signer) = signer(cx, authority)?;
            issue(request, serial, &key, Some(&issuer), &signer)
        }
    };
    certificate(cx, cert.map_err(|_| invalid())?.as_bytes(), key.to_pem().ok_or_else(invalid)?.as_bytes())
}

/// Returns the certificate and the key of an authority.
fn signer<'v>(cx: &Cx<'v>, authority: Value<'v>) -> Result<(Issuer, PrivateKey)> {
    let field = |name| fields(authority).and_then(|(_, fields)| text_bytes(fields.get(name)?)).unwrap_or(b"");
    let issuer = parsed_certificate(&pem(cx, field("Cert"))?, "decodedSignerCert.Bytes")?;
    let key = parsed_key(&pem(cx, field("Key"))?)?;
    if key.public_info().map_err(|_| invalid())? != *issuer.tbs_certificate().subject_public_key_info() {
        return Err(failed("error creating certificate: x509: provided PrivateKey doesn't match parent's PublicKey"));
    }
    Ok((issuer, key))
}

fn parsed_key(text: &str) -> Result<PrivateKey> {
    PrivateKey::from_pem(text).map_err(|why| failed(format!("error parsing private key: {why}")))
}

fn parsed_certificate(text: &str, what: &str) -> Result<Issuer> {
    let found = issue::read(text).ok_or_else(|| failed("unable to decode certificate"))?;
    found.map_err(|_| failed(format!("error parsing certificate: {what}: x509: malformed certificate")))
}

fn invalid() -> Box<Diagnostic> {
    failed("error creating certificate: the key is invalid")
}

/// Returns the seconds since 1970 at this moment. The engine may have fixed it.
fn now(cx: &Cx<'_>) -> i64 {
    let moment = cx.capabilities().moment().unwrap_or_else(timestamps::now);
    moment.duration_since(UNIX_EPOCH).map_or(0, |passed| i64::try_from(passed.as_secs()).unwrap_or(i64::MAX))
}

/// Returns the error of a list of names or addresses that holds something else.
fn no_text<'v>(cx: &Cx<'v>, value: Value<'v>, what: &str) -> Box<Diagnostic> {
    match crate::print::shown(cx, value) {
        Ok(text) => failed(format!("error {what}: {text} is not a string")),
        Err(limit) => limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge_base::limits::Limits;
    use dropforge_base::stdlib::hashes::steps;

    #[test]
    fn a_chart_may_have_dozens_of_keys_and_hundreds_of_certificates_and_hashes() {
        let fuel = Limits::default().fuel;
        for steps in [40 * (LARGE_KEY + SIGNATURE), 300 * (KEY + 2 * SIGNATURE), 350 * steps(10)] {
            assert!(steps < fuel);
        }
    }
}
