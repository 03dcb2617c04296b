//! X.509 certificates of servers and of authorities.

use std::net::IpAddr;

use super::der::{BITS, BOOLEAN, INTEGER, OBJECT, OCTETS, SEQUENCE, SET, UTF8, bits, pem, pem_block, pem_content};
use super::der::{read, read_whole, unsigned, value};
use super::hashes::sha256;
use super::private_keys::{PrivateKey, Unmade};
use super::random::array;
use super::timestamps::civil;

/// Object identifiers of extensions and names.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const KEY_ID: &[u8] = &[0x55, 0x1d, 0x0e];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const OTHER_NAMES: &[u8] = &[0x55, 0x1d, 0x11];
const CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const AUTHORITY_KEY_ID: &[u8] = &[0x55, 0x1d, 0x23];
const PURPOSES: &[u8] = &[0x55, 0x1d, 0x25];
const SERVER: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
const CLIENT: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];

const UTC_TIME: u8 = 0x17;
const GENERAL_TIME: u8 = 0x18;

/// The content of a certificate.
#[derive(Debug)]
pub struct Request<'r> {
    pub name: &'r str,
    pub addresses: &'r [IpAddr],
    pub dns_names: &'r [&'r str],
    /// The seconds since 1970 at which it begins to be valid.
    pub from: i64,
    pub days: i64,
    pub is_authority: bool,
}

/// The issuer of certificates: the parts of its own certificate that theirs repeat.
#[derive(Debug, PartialEq, Eq)]
pub struct Issuer {
    name: Vec<u8>,
    key_id: Vec<u8>,
    public: Vec<u8>,
}

/// The reason that there is no certificate.
#[derive(Debug, PartialEq, Eq)]
pub enum NotIssued {
    /// The key of the issuer is not that of its certificate.
    OtherKey,
    /// A key cannot sign.
    Unmade(Unmade),
}

impl From<Unmade> for NotIssued {
    fn from(why: Unmade) -> Self {
        Self::Unmade(why)
    }
}

impl Issuer {
    /// Reads the certificate of an issuer, in PEM. `None` if there is none.
    pub fn from_pem(text: &str) -> Option<Option<Self>> {
        let (_, body) = pem_block(text)?;
        Some(Self::from_der(&pem_content(body)?))
    }

    fn from_der(mut der: &[u8]) -> Option<Self> {
        let mut whole = read(&mut der, SEQUENCE)?;
        let mut fields = read(&mut whole, SEQUENCE)?;
        read(&mut whole, SEQUENCE)?;
        read(&mut whole, BITS)?;
        read(&mut fields, 0xa0);
        read(&mut fields, INTEGER)?;
        for _ in 0..3 {
            read(&mut fields, SEQUENCE)?;
        }
        let name = read_whole(&mut fields, SEQUENCE)?.to_vec();
        let public = read_whole(&mut fields, SEQUENCE)?.to_vec();
        let key_id = key_id_of(fields).unwrap_or_default();
        Some(Self { name, key_id, public })
    }
}

/// Returns the key id among the extensions behind the public key.
fn key_id_of(mut fields: &[u8]) -> Option<Vec<u8>> {
    let mut extensions = read(&mut fields, 0xa3)?;
    let mut extensions = read(&mut extensions, SEQUENCE)?;
    while let Some(mut extension) = read(&mut extensions, SEQUENCE) {
        if read(&mut extension, OBJECT)? == KEY_ID {
            return read(&mut read(&mut extension, OCTETS)?, OCTETS).map(<[u8]>::to_vec);
        }
    }
    None
}

/// Issues a certificate for the key `of`, in PEM. Without an issuer, `signer` is that key too.
///
/// # Errors
/// A key cannot sign, or is not the issuer's.
pub fn issue(
    request: &Request<'_>,
    of: &PrivateKey,
    issuer: Option<&Issuer>,
    signer: &PrivateKey,
) -> Result<String, NotIssued> {
    if issuer.map(|issuer| &issuer.public) != issuer.map(|_| signer.public_info()).transpose()?.as_ref() {
        return Err(NotIssued::OtherKey);
    }
    let (algorithm, public, subject) = (signer.signature_algorithm(), of.public_info()?, name(request.name));
    let serial: [u8; 16] = array().map_err(Unmade::from)?;
    let until = request.from.saturating_add(request.days.saturating_mul(86_400));
    let valid = value(SEQUENCE, &[&time(request.from), &time(until)]);
    let issuer_key = issuer.filter(|issuer| issuer.name != subject).map(|issuer| issuer.key_id.as_slice());
    let extensions = value(0xa3, &[&value(SEQUENCE, &[&extensions(request, &public, issuer_key)])]);
    let issuer_name = issuer.map_or(&subject, |issuer| &issuer.name);
    let version = value(0xa0, &[&unsigned(&[2])]);
    let parts: [&[u8]; 8] =
        [&version, &unsigned(&serial), &algorithm, issuer_name, &valid, &subject, &public, &extensions];
    let content = value(SEQUENCE, &parts);
    let signature = signer.sign(&content)?;
    Ok(pem("CERTIFICATE", &value(SEQUENCE, &[&content, &algorithm, &bits(&signature)])))
}

/// Returns a name that consists of a common name.
fn name(text: &str) -> Vec<u8> {
    let part = value(SEQUENCE, &[&value(OBJECT, &[COMMON_NAME]), &value(UTF8, &[text.as_bytes()])]);
    let parts = if text.is_empty() { Vec::new() } else { value(SET, &[&part]) };
    value(SEQUENCE, &[&parts])
}

/// Returns a time, with two digits of the year until 2049.
fn time(seconds: i64) -> Vec<u8> {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let of_day = format!("{month:02}{day:02}{:02}{:02}{:02}Z", rest / 3600, rest / 60 % 60, rest % 60);
    match year {
        1950..=2049 => value(UTC_TIME, &[format!("{:02}{of_day}", year % 100).as_bytes()]),
        year => value(GENERAL_TIME, &[format!("{:04}{of_day}", year.clamp(0, 9999)).as_bytes()]),
    }
}

fn extension(id: &[u8], is_critical: bool, content: &[u8]) -> Vec<u8> {
    let critical = if is_critical { value(BOOLEAN, &[&[0xff]]) } else { Vec::new() };
    value(SEQUENCE, &[&value(OBJECT, &[id]), &critical, &value(OCTETS, &[content])])
}

fn extensions(request: &Request<'_>, public: &[u8], issuer_key: Option<&[u8]>) -> Vec<u8> {
    // Signatures and encrypted keys, for an authority also certificates. The first byte counts the unused bits.
    let usage: &[u8] = if request.is_authority { &[2, 0xa4] } else { &[5, 0xa0] };
    let purposes = value(SEQUENCE, &[&value(OBJECT, &[SERVER]), &value(OBJECT, &[CLIENT])]);
    let authority = if request.is_authority { value(BOOLEAN, &[&[0xff]]) } else { Vec::new() };
    let mut out = extension(KEY_USAGE, true, &value(BITS, &[usage]));
    out.extend(extension(PURPOSES, false, &purposes));
    out.extend(extension(CONSTRAINTS, true, &value(SEQUENCE, &[&authority])));
    if request.is_authority {
        out.extend(extension(KEY_ID, false, &value(OCTETS, &[sha256(public).get(..20).unwrap_or(&[])])));
    }
    if let Some(key) = issuer_key.filter(|key| !key.is_empty()) {
        out.extend(extension(AUTHORITY_KEY_ID, false, &value(SEQUENCE, &[&value(0x80, &[key])])));
    }
    let names = request.dns_names.iter().map(|name| value(0x82, &[name.as_bytes()]));
    let names: Vec<u8> = names.chain(request.addresses.iter().map(address)).flatten().collect();
    if !names.is_empty() {
        out.extend(extension(OTHER_NAMES, false, &value(SEQUENCE, &[&names])));
    }
    out
}

fn address(address: &IpAddr) -> Vec<u8> {
    match address.to_canonical() {
        IpAddr::V4(address) => value(0x87, &[&address.octets()]),
        IpAddr::V6(address) => value(0x87, &[&address.octets()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: Request<'_> =
        Request { name: "ca", addresses: &[], dns_names: &[], from: 1_700_000_000, days: 365, is_authority: true };

    #[test]
    fn certificates_of_every_kind_of_key_are_issued_and_read() {
        for key in [PrivateKey::rsa(2048).unwrap(), PrivateKey::ec().unwrap(), PrivateKey::ed25519().unwrap()] {
            let text = issue(&REQUEST, &key, None, &key).unwrap();
            let issuer = Issuer::from_pem(&text).unwrap().unwrap();
            assert_eq!((issuer.name.clone(), issuer.public.clone()), (name("ca"), key.public_info().unwrap()));
            assert_eq!(issuer.key_id, sha256(&issuer.public)[..20]);
            let again = PrivateKey::from_pem(&key.to_pem()).unwrap();
            assert_eq!(again.to_pem(), key.to_pem());
            let other = PrivateKey::ec().unwrap();
            let addresses = ["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
            let server =
                Request { name: "srv", dns_names: &["a.b"], addresses: &addresses, is_authority: false, ..REQUEST };
            let signed = issue(&server, &other, Some(&issuer), &again).unwrap();
            assert!(signed.starts_with("-----BEGIN CERTIFICATE-----\n"));
            assert_eq!(issue(&server, &other, Some(&issuer), &other), Err(NotIssued::OtherKey));
        }
    }

    #[test]
    fn times_change_their_form_in_2050() {
        assert_eq!(time(1_700_000_000), [&[UTC_TIME, 13][..], b"231114221320Z"].concat());
        assert_eq!(time(2_524_608_000), [&[GENERAL_TIME, 15][..], b"20500101000000Z"].concat());
        assert!(Issuer::from_pem("x").is_none());
        assert_eq!(Issuer::from_pem("-----BEGIN X-----\nAAAA\n-----END X-----"), Some(None));
    }
}
