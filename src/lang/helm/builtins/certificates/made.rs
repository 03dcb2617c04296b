//! Keys and certificates, made.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::UNIX_EPOCH;

use super::super::arguments::{elements, int};
use super::super::random::no_source;
use super::{MEMORY, certificate, pem};
use crate::error::failed;
use crate::objects::fields;
use crate::values::text_bytes;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::certificates::{Issuer, NotIssued, Request, issue};
use dropforge_base::stdlib::clock;
use dropforge_base::stdlib::private_keys::{PrivateKey, Unmade, dsa_pem};
use dropforge_base::stdlib::random::NoSource;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

/// Steps charged for primes of 1024 and 2048 bits, and for a signature.
const KEY: u64 = 2_000_000;
const LARGE_KEY: u64 = 16_000_000;
const SIGNATURE: u64 = 100_000;

/// The content of a certificate of a server.
pub(super) struct Server<'v> {
    pub name: Cow<'v, str>,
    pub addresses: Vec<IpAddr>,
    pub dns_names: Vec<Cow<'v, str>>,
    pub days: i64,
}

impl<'v> Server<'v> {
    /// Reads the name, addresses, other names and days of a certificate.
    pub fn new(cx: &Cx<'v>, [name, addresses, names, days]: [Value<'v>; 4]) -> Result<Self> {
        let items = |value| elements(cx, value).map(|items| items.map(Cow::into_owned).unwrap_or_default());
        let (mut ips, mut dns_names) = (Vec::new(), Vec::new());
        for item in items(addresses)? {
            let text = text_bytes(item).ok_or_else(|| no_text(cx, item, "parsing ip"))?;
            let text = String::from_utf8_lossy(text);
            ips.push(text.parse().map_err(|_| failed(format!("error parsing ip: {text}")))?);
        }
        for item in items(names)? {
            text_bytes(item).ok_or_else(|| no_text(cx, item, "processing alternate dns name"))?;
            dns_names.push(pem(cx, item)?);
        }
        cx.charge(ips.len() * size_of::<IpAddr>())?;
        Ok(Self { name: pem(cx, name)?, addresses: ips, dns_names, days: int(cx, days)? })
    }
}

fn unmade(why: Unmade) -> Box<Diagnostic> {
    match why {
        Unmade::NoSource => no_source(NoSource),
        Unmade::Refused => failed("error creating certificate: the key is invalid"),
    }
}

/// Makes a private key of a kind, in PEM. `None` for an unknown kind.
pub(super) fn pem_of(cx: &Cx<'_>, kind: &[u8]) -> Result<Option<String>> {
    let key = match kind {
        b"" | b"rsa" => {
            cx.spend(LARGE_KEY)?;
            PrivateKey::rsa(4096)
        }
        b"dsa" => {
            cx.spend(LARGE_KEY)?;
            return dsa_pem().map(Some).map_err(unmade);
        }
        b"ecdsa" => PrivateKey::ec(),
        b"ed25519" => PrivateKey::ed25519(),
        _ => return Ok(None),
    };
    cx.spend(SIGNATURE)?;
    key.map(|key| Some(key.to_pem())).map_err(unmade)
}

fn parsed<'v>(cx: &Cx<'v>, key: Value<'v>) -> Result<PrivateKey> {
    PrivateKey::from_pem(&pem(cx, key)?).map_err(|why| failed(format!("error parsing private key: {why}")))
}

/// Issues a certificate for a key in PEM, or for a new one, signed by an authority or by the key itself.
pub(super) fn issued<'v>(
    cx: &Cx<'v>,
    server: &Server<'v>,
    is_authority: bool,
    key: Option<Value<'v>>,
    authority: Option<Value<'v>>,
) -> Result<Value<'v>> {
    cx.charge(MEMORY)?;
    cx.spend(SIGNATURE)?;
    let key = match key {
        Some(key) => parsed(cx, key)?,
        None => {
            cx.spend(KEY)?;
            PrivateKey::rsa(2048).map_err(unmade)?
        }
    };
    let dns_names: Vec<&str> = server.dns_names.iter().map(Cow::as_ref).collect();
    let request = Request {
        name: &server.name,
        addresses: &server.addresses,
        dns_names: &dns_names,
        from: now(cx),
        days: server.days,
        is_authority,
    };
    let cert = match authority {
        None => issue(&request, &key, None, &key),
        Some(authority) => {
            let (issuer, signer) = signer(cx, authority)?;
            issue(&request, &key, Some(&issuer), &signer)
        }
    };
    let cert = cert.map_err(|why| match why {
        NotIssued::OtherKey => {
            failed("error creating certificate: x509: provided PrivateKey doesn't match parent's PublicKey")
        }
        NotIssued::Unmade(why) => unmade(why),
    })?;
    certificate(cx, cert.as_bytes(), key.to_pem().as_bytes())
}

/// Returns the issuer and the key of an authority.
fn signer<'v>(cx: &Cx<'v>, authority: Value<'v>) -> Result<(Issuer, PrivateKey)> {
    let (_, fields) = fields(authority).ok_or_else(|| cx.arity())?;
    let field = |name| fields.get(name).ok_or_else(|| cx.arity());
    let issuer = issuer(&pem(cx, field("Cert")?)?, "decodedSignerCert.Bytes")?;
    Ok((issuer, parsed(cx, field("Key")?)?))
}

fn issuer(text: &str, what: &str) -> Result<Issuer> {
    let found = Issuer::from_pem(text).ok_or_else(|| failed("unable to decode certificate"))?;
    found.ok_or_else(|| failed(format!("error parsing certificate: {what}: x509: malformed certificate")))
}

/// Checks a certificate and a private key.
pub(super) fn check(cert: &str, key: &str) -> Result<()> {
    issuer(cert, "decodedCert.Bytes")?;
    PrivateKey::from_pem(key).map(drop).map_err(|why| failed(format!("error parsing private key: {why}")))
}

/// Returns the seconds since 1970 at this moment. The engine may have fixed it.
fn now(cx: &Cx<'_>) -> i64 {
    let moment = cx.capabilities().moment().unwrap_or_else(clock::now);
    moment.duration_since(UNIX_EPOCH).map_or(0, |passed| i64::try_from(passed.as_secs()).unwrap_or(i64::MAX))
}

/// Returns the error of a list of names or addresses that holds something else.
fn no_text<'v>(cx: &Cx<'v>, value: Value<'v>, what: &str) -> Box<Diagnostic> {
    let mut shown = Vec::new();
    match crate::print::print(cx, value, &mut shown) {
        Ok(()) => failed(format!("error {what}: {} is not a string", String::from_utf8_lossy(&shown))),
        Err(limit) => limit,
    }
}
