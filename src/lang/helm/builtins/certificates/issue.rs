//! X.509 certificates of servers and of authorities.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Duration;

use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{CertificateBuilder, Result};
use x509_cert::certificate::{CertificateInner, Raw, TbsCertificate};
use x509_cert::der::asn1::{Any, Ia5String, OctetString};
use x509_cert::der::flagset::FlagSet;
use x509_cert::der::oid::db::rfc4519::COMMON_NAME;
use x509_cert::der::oid::db::rfc5280::{ID_KP_CLIENT_AUTH, ID_KP_SERVER_AUTH};
use x509_cert::der::pem::LineEnding;
use x509_cert::der::{self, DateTime, Decode as _, Encode as _, EncodePem as _, Tag};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages, SubjectAltName,
    SubjectKeyIdentifier,
};
use x509_cert::ext::{Extension, ToExtension as _};
use x509_cert::name::{Name, RdnSequence, RelativeDistinguishedName};
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::SubjectPublicKeyInfoRef;
use x509_cert::time::{Time, Validity};

use super::keys::PrivateKey;
use dropforge_base::stdlib::encodings::{pem_block, pem_content};
use dropforge_base::stdlib::hashes::sha256;

/// The content of a certificate.
#[derive(Debug)]
pub struct Request<'r> {
    pub name: Cow<'r, str>,
    pub addresses: Vec<IpAddr>,
    pub dns_names: Vec<Ia5String>,
    /// The seconds since 1970 at which it begins to be valid.
    pub from: i64,
    pub days: i64,
    pub is_authority: bool,
}

/// A certificate that was read. Its serial number may be longer than the standard allows.
pub type Issuer = CertificateInner<Raw>;

/// Reads a certificate in PEM. `None` if the text is not PEM.
pub fn read(text: &str) -> Option<der::Result<Issuer>> {
    let (_, body) = pem_block(text)?;
    Some(Issuer::from_der(&pem_content(body)?))
}

/// Issues a certificate for the key `of`, in PEM. Without an issuer, `signer` is that key too.
///
/// # Errors
/// A key cannot sign.
pub fn issue(
    request: &Request<'_>,
    serial: [u8; 16],
    of: &PrivateKey,
    issuer: Option<&Issuer>,
    signer: &PrivateKey,
) -> Result<String> {
    let until = request.from.saturating_add(request.days.saturating_mul(86_400));
    let profile = Issued { request, subject: name(&request.name)?, issuer };
    let validity = Validity::new(time(request.from)?, time(until)?);
    let builder = CertificateBuilder::new(profile, SerialNumber::new(&serial)?, validity, of.public_info()?)?;
    Ok(signer.sign(builder)?.to_pem(LineEnding::LF)?)
}

/// Returns a name that consists of a common name.
fn name(text: &str) -> der::Result<Name> {
    let mut parts = RdnSequence::default();
    if !text.is_empty() {
        let value = Any::new(Tag::Utf8String, text.as_bytes())?;
        parts.push(RelativeDistinguishedName::try_from(vec![AttributeTypeAndValue { oid: COMMON_NAME, value }])?);
    }
    Ok(Name::hazmat_from_rdn_sequence(parts))
}

/// Returns a time, clamped to the years 1970 to 9999.
fn time(seconds: i64) -> der::Result<Time> {
    let seconds = u64::try_from(seconds).unwrap_or(0).min(DateTime::INFINITY.unix_duration().as_secs());
    DateTime::from_unix_duration(Duration::from_secs(seconds)).map(Time::from)
}

/// The parts of a certificate that depend on its issuer.
struct Issued<'r> {
    request: &'r Request<'r>,
    subject: Name,
    issuer: Option<&'r Issuer>,
}

impl BuilderProfile for Issued<'_> {
    fn get_issuer(&self, subject: &Name) -> Name {
        self.issuer.map_or(subject, |issuer| issuer.tbs_certificate().subject()).clone()
    }

    fn get_subject(&self) -> Name {
        self.subject.clone()
    }

    fn build_extensions(
        &self,
        public: SubjectPublicKeyInfoRef<'_>,
        _: SubjectPublicKeyInfoRef<'_>,
        _: &TbsCertificate,
    ) -> Result<Vec<Extension>> {
        let is_authority = self.request.is_authority;
        let mut out = usages(is_authority)?;
        if is_authority {
            let id = OctetString::new(sha256(&public.to_der()?).get(..20).unwrap_or(&[]))?;
            out.push(extension(false, &SubjectKeyIdentifier(id))?);
        }
        if let Some(id) = self.issuer_key() {
            out.push(extension(false, &AuthorityKeyIdentifier { key_identifier: Some(id.0), ..Default::default() })?);
        }
        let names = other_names(self.request);
        if !names.is_empty() {
            out.push(extension(false, &SubjectAltName(names))?);
        }
        Ok(out)
    }
}

impl Issued<'_> {
    /// Returns the key id of an issuer of another name.
    fn issuer_key(&self) -> Option<SubjectKeyIdentifier> {
        let issuer = self.issuer?.tbs_certificate();
        let (_, id) = issuer.get_extension::<SubjectKeyIdentifier>().ok()??;
        (*issuer.subject() != self.subject && !id.0.as_bytes().is_empty()).then_some(id)
    }
}

/// Returns the extensions about the uses of the key: signatures and encrypted keys, for an authority also certificates.
fn usages(is_authority: bool) -> der::Result<Vec<Extension>> {
    let mut usage: FlagSet<KeyUsages> = KeyUsages::DigitalSignature | KeyUsages::KeyEncipherment;
    if is_authority {
        usage |= KeyUsages::KeyCertSign;
    }
    Ok(vec![
        extension(true, &KeyUsage(usage))?,
        extension(false, &ExtendedKeyUsage(vec![ID_KP_SERVER_AUTH, ID_KP_CLIENT_AUTH]))?,
        extension(true, &BasicConstraints { ca: is_authority, path_len_constraint: None })?,
    ])
}

fn extension<T: der::oid::AssociatedOid + der::Encode>(is_critical: bool, content: &T) -> der::Result<Extension> {
    (is_critical, content).to_extension(&Name::default(), &[])
}

fn other_names(request: &Request<'_>) -> Vec<GeneralName> {
    let names = request.dns_names.iter().cloned().map(GeneralName::DnsName);
    names.chain(request.addresses.iter().map(|address| address.to_canonical().into())).collect()
}

#[cfg(test)]
mod tests {
    use rsa::pkcs1v15;
    use rsa::sha2::Sha256;
    use rsa::signature::Verifier;
    use x509_cert::spki::DecodePublicKey as _;

    use super::*;

    fn request(name: &str) -> Request<'_> {
        let (addresses, dns_names) = (Vec::new(), Vec::new());
        Request { name: name.into(), addresses, dns_names, from: 1_700_000_000, days: 365, is_authority: true }
    }

    fn dns_names(names: &[&str]) -> Vec<Ia5String> {
        names.iter().map(|name| Ia5String::new(name).unwrap()).collect()
    }

    fn server(name: &str) -> Request<'_> {
        let addresses = vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
        Request { addresses, dns_names: dns_names(&["a.b"]), is_authority: false, ..request(name) }
    }

    /// Returns `true` if the issuer's key signed a certificate.
    fn is_signed(cert: &Issuer, issuer: &Issuer) -> bool {
        assert_eq!(cert.signature_algorithm(), cert.tbs_certificate().signature());
        let key = issuer.tbs_certificate().subject_public_key_info().to_der().unwrap();
        if let Ok(key) = pkcs1v15::VerifyingKey::<Sha256>::from_public_key_der(&key) {
            return verifies::<pkcs1v15::Signature>(&key, cert);
        }
        if let Ok(key) = p256::ecdsa::VerifyingKey::from_public_key_der(&key) {
            return verifies::<p256::ecdsa::DerSignature>(&key, cert);
        }
        if let Ok(key) = p384::ecdsa::VerifyingKey::from_public_key_der(&key) {
            return verifies::<p384::ecdsa::DerSignature>(&key, cert);
        }
        verifies::<ed25519_dalek::Signature>(&ed25519_dalek::VerifyingKey::from_public_key_der(&key).unwrap(), cert)
    }

    fn verifies<S: for<'s> TryFrom<&'s [u8]>>(key: &impl Verifier<S>, cert: &Issuer) -> bool {
        let content = cert.tbs_certificate().to_der().unwrap();
        S::try_from(cert.signature().raw_bytes()).is_ok_and(|signature| key.verify(&content, &signature).is_ok())
    }

    fn keys() -> [PrivateKey; 4] {
        let p384 = PrivateKey::P384(p384::SecretKey::from_slice(&[7; 48]).unwrap());
        [PrivateKey::rsa(2048).unwrap(), PrivateKey::ec().unwrap(), PrivateKey::ed25519().unwrap(), p384]
    }

    #[test]
    fn certificates_of_every_kind_of_key_are_issued_and_read() {
        for key in keys() {
            let text = issue(&request("ca"), [9; 16], &key, None, &key).unwrap();
            assert!(text.starts_with("-----BEGIN CERTIFICATE-----\n") && text.ends_with("-----END CERTIFICATE-----\n"));
            let issuer = read(&text).unwrap().unwrap();
            let content = issuer.tbs_certificate();
            assert_eq!((content.subject(), content.issuer()), (&name("ca").unwrap(), &name("ca").unwrap()));
            assert_eq!(content.subject_public_key_info(), &key.public_info().unwrap());
            assert_eq!(content.serial_number().as_bytes(), [9; 16]);
            let (_, id) = content.get_extension::<SubjectKeyIdentifier>().unwrap().unwrap();
            assert_eq!(id.0.as_bytes(), &sha256(&key.public_info().unwrap().to_der().unwrap())[..20]);
            assert!(content.get_extension::<AuthorityKeyIdentifier>().unwrap().is_none());
            let other = PrivateKey::ec().unwrap();
            let signed =
                read(&issue(&server("srv"), [200; 16], &other, Some(&issuer), &key).unwrap()).unwrap().unwrap();
            assert!(
                is_signed(&issuer, &issuer) && is_signed(&signed, &issuer) && !is_signed(&issuer, &signed_by(&other))
            );
            let content = signed.tbs_certificate();
            assert_eq!((content.subject(), content.issuer()), (&name("srv").unwrap(), &name("ca").unwrap()));
            let (_, authority) = content.get_extension::<AuthorityKeyIdentifier>().unwrap().unwrap();
            assert_eq!(authority.key_identifier, Some(id.0));
        }
    }

    /// Returns a certificate that a key signed for itself.
    fn signed_by(key: &PrivateKey) -> Issuer {
        read(&issue(&request("x"), [1; 16], key, None, key).unwrap()).unwrap().unwrap()
    }

    /// Certificates of the implementation before the crates: an authority, and a server's signed by it.
    const AUTHORITY: &str = "-----BEGIN CERTIFICATE-----\n\
MIIBPjCB8aADAgECAhAJCQkJCQkJCQkJCQkJCQkJMAUGAytlcDAQMQ4wDAYDVQQD\n\
DAVjYSDDqTAeFw0yMzExMTQyMjEzMjBaFw0yNDExMTMyMjEzMjBaMBAxDjAMBgNV\n\
BAMMBWNhIMOpMCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7q\n\
aRRG0iyjYTBfMA4GA1UdDwEB/wQEAwICpDAdBgNVHSUEFjAUBggrBgEFBQcDAQYI\n\
KwYBBQUHAwIwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUMkvi3qi8REYbAjPl\n\
H6SJAu1rHMYwBQYDK2VwA0EAdIXaqlvUm/8HXnDLKCkifYLBqJ8OKESmxxoP6gJz\n\
uRrSSD6Ge4xPcFgeiEFdBNJwtxaUTxLOI+ZUZ+wCdhWWDg==\n\
-----END CERTIFICATE-----\n";
    const SERVER: &str = "-----BEGIN CERTIFICATE-----\n\
MIIBbTCCAR+gAwIBAgIQCQkJCQkJCQkJCQkJCQkJCTAFBgMrZXAwEDEOMAwGA1UE\n\
AwwFY2Egw6kwIBcNMjMxMTE0MjIxMzIwWhgPMjEyMzEwMjEyMjEzMjBaMA4xDDAK\n\
BgNVBAMMA3NydjAqMAUGAytlcAMhABOY9ixtGkV8UbpqS189vS9p/KkyFiGNyJl+\n\
QWvRfZPKo4GOMIGLMA4GA1UdDwEB/wQEAwIFoDAdBgNVHSUEFjAUBggrBgEFBQcD\n\
AQYIKwYBBQUHAwIwDAYDVR0TAQH/BAIwADAfBgNVHSMEGDAWgBQyS+LeqLxERhsC\n\
M+UfpIkC7WscxjArBgNVHREEJDAiggNhLmKCAyouY4cEfwAAAYcQAAAAAAAAAAAA\n\
AAAAAAAAATAFBgMrZXADQQDLcSZ6xumOF3nqUAmMz7OaNm3O6vo1XamTTpdCggt3\n\
X5ONaSRBeOZm2AmkdZ7wBYUkL+nQjSBPJexs6WJgPQQC\n\
-----END CERTIFICATE-----\n";
    const NAMELESS: &str = "-----BEGIN CERTIFICATE-----\n\
MIIBCjCBvaADAgECAhAJCQkJCQkJCQkJCQkJCQkJMAUGAytlcDAAMB4XDTIzMTEx\n\
NDIyMTMyMFoXDTIzMTExMzIyMTMyMFowADAqMAUGAytlcAMhABOY9ixtGkV8Ubpq\n\
S189vS9p/KkyFiGNyJl+QWvRfZPKo00wSzAOBgNVHQ8BAf8EBAMCBaAwHQYDVR0l\n\
BBYwFAYIKwYBBQUHAwEGCCsGAQUFBwMCMAwGA1UdEwEB/wQCMAAwDAYDVR0RBAUw\n\
A4IBeDAFBgMrZXADQQAIfBYxSQuSuf9aYhL7yKZaSyRHqLQa2mhvaB1z07LuuUjA\n\
nfWr7paczlhXzpXt4x2Yvhu3FlyHoHz+Yt/PTZAG\n\
-----END CERTIFICATE-----\n";

    #[test]
    fn certificates_are_byte_for_byte_those_of_before() {
        let [key, other] = [7, 8].map(|seed| PrivateKey::Ed25519((&[seed; 32]).into()));
        assert_eq!(issue(&request("ca é"), [9; 16], &key, None, &key).unwrap(), AUTHORITY);
        let issuer = read(AUTHORITY).unwrap().unwrap();
        let server = Request { days: 36_500, dns_names: dns_names(&["a.b", "*.c"]), ..server("srv") };
        assert_eq!(issue(&server, [9; 16], &other, Some(&issuer), &key).unwrap(), SERVER);
        let nameless = Request { days: -1, dns_names: dns_names(&["x"]), is_authority: false, ..request("") };
        assert_eq!(issue(&nameless, [9; 16], &other, None, &other).unwrap(), NAMELESS);
    }

    #[test]
    fn times_change_their_form_in_2050() {
        assert_eq!(time(1_700_000_000).unwrap().to_der().unwrap(), [&[0x17, 13][..], b"231114221320Z"].concat());
        assert_eq!(time(2_524_608_000).unwrap().to_der().unwrap(), [&[0x18, 15][..], b"20500101000000Z"].concat());
        assert_eq!(time(i64::MAX).unwrap().to_der().unwrap(), [&[0x18, 15][..], b"99991231235959Z"].concat());
        assert_eq!(time(-1).unwrap().to_der().unwrap(), [&[0x17, 13][..], b"700101000000Z"].concat());
        assert!(read("x").is_none());
        assert!(read("-----BEGIN X-----\nAAAA\n-----END X-----").unwrap().is_err());
    }
}
