//! X.509 certificates of servers and of authorities. Private keys, made, read and written: RSA, ECDSA on P-256 and P-384,
//! Ed25519, DSA.

use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{Builder as _, CertificateBuilder, Result};
use x509_cert::certificate::{Certificate, CertificateInner, Raw, TbsCertificate};
use x509_cert::der::asn1::{Any, Ia5String, OctetString, UintRef};
use x509_cert::der::flagset::FlagSet;
use x509_cert::der::oid::db::rfc4519::COMMON_NAME;
use x509_cert::der::oid::db::rfc5280::{ID_KP_CLIENT_AUTH, ID_KP_SERVER_AUTH};
use x509_cert::der::pem::LineEnding;
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
use x509_cert::{
    SubjectPublicKeyInfo, builder,
    der::{self, DateTime, Decode as _, Encode as _, EncodePem as _, SecretDocument, Tag},
};

use crate::builtins::crypto::{array, no_source};
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::stdlib::encodings::{pem_block, pem_content};
use dropforge_base::stdlib::hashes::sha256;
use dsa::{Components, KeySize, SigningKey};
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, KeypairBytes, PrivateKeyInfoRef};
use getrandom::SysRng;
use p256::elliptic_curve::Generate as _;
use rsa::pkcs1::{EncodeRsaPrivateKey as _, RsaPrivateKeyRef};
use rsa::sha2::Sha256;
use rsa::{BoxedUint, pkcs1v15};
use x509_cert::der::zeroize::Zeroizing;

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

/// Sizes of RSA keys in bits. Checking a longer key takes too long.
const RSA_SIZES: RangeInclusive<usize> = 2048..=4096;

/// A private key that can sign.
#[derive(Debug)]
pub enum PrivateKey {
    Rsa(rsa::PrivateKey),
    P256(p256::SecretKey),
    P384(p384::SecretKey),
    Ed25519(ed25519_dalek::SigningKey),
}

impl PrivateKey {
    /// Makes an RSA key of this many bits.
    ///
    /// # Errors
    /// The source of random bytes failed.
    pub fn rsa(size: usize) -> std::result::Result<Self, Box<Diagnostic>> {
        rsa::PrivateKey::new(&mut SysRng, size).map(Self::Rsa).map_err(|_| no_source())
    }

    /// Makes a key of ECDSA on P-256.
    ///
    /// # Errors
    /// The source of random bytes failed.
    pub fn ec() -> std::result::Result<Self, Box<Diagnostic>> {
        p256::SecretKey::try_generate_from_rng(&mut SysRng).map(Self::P256).map_err(|_| no_source())
    }

    /// Makes a key of Ed25519.
    ///
    /// # Errors
    /// The source of random bytes failed.
    pub fn ed25519() -> std::result::Result<Self, Box<Diagnostic>> {
        Ok(Self::Ed25519((&array()?).into()))
    }

    /// Reads a key in PEM.
    ///
    /// # Errors
    /// A message about the text.
    pub fn from_pem(text: &str) -> std::result::Result<Self, String> {
        let (label, body) = pem_block(text).ok_or("no PEM data in input")?;
        let der = pem_content(body).ok_or("no PEM data in input")?;
        let read =
            |name: &str, key: Option<Self>| key.ok_or_else(|| format!("decoding PEM as {name}: the key is invalid"));
        match label {
            "PRIVATE KEY" => read("PKCS#8", Self::from_pkcs8(&der)),
            "RSA PRIVATE KEY" => read("RSA private key", Self::from_pkcs1(&der)),
            "EC PRIVATE KEY" => read("EC private key", Self::from_sec1(&der)),
            label => Err(match label.strip_suffix(" PRIVATE KEY") {
                Some(kind) => format!("invalid private key type {kind}"),
                None => format!("no private key data in PEM block of type {label}"),
            }),
        }
    }

    fn from_pkcs1(der: &[u8]) -> Option<Self> {
        let fields = RsaPrivateKeyRef::from_der(der).ok()?;
        if !RSA_SIZES.contains(&(8 * fields.modulus.as_bytes().len())) {
            return None;
        }
        rsa::PrivateKey::try_from(fields).ok().map(Self::Rsa)
    }

    fn from_pkcs8(der: &[u8]) -> Option<Self> {
        let info = PrivateKeyInfoRef::try_from(der).ok()?;
        if info.algorithm.oid == rsa::pkcs1::ALGORITHM_OID {
            return Self::from_pkcs1(info.private_key.as_bytes());
        }
        let p256 = p256::SecretKey::from_pkcs8_der(der).map(Self::P256);
        let p384 = || p384::SecretKey::from_pkcs8_der(der).map(Self::P384);
        let ed25519 = || ed25519_dalek::SigningKey::from_pkcs8_der(der).map(Self::Ed25519);
        p256.ok().or_else(|| p384().ok()).or_else(|| ed25519().ok())
    }

    fn from_sec1(der: &[u8]) -> Option<Self> {
        let p256 = p256::SecretKey::from_sec1_der(der).map(Self::P256);
        p256.ok().or_else(|| p384::SecretKey::from_sec1_der(der).map(Self::P384).ok())
    }

    /// Returns the key in PEM. `None` if it is invalid.
    pub fn to_pem(&self) -> Option<Zeroizing<String>> {
        match self {
            Self::Rsa(key) => key.to_pkcs1_pem(LineEnding::LF).ok(),
            Self::P256(key) => key.to_sec1_pem(LineEnding::LF).ok(),
            Self::P384(key) => key.to_sec1_pem(LineEnding::LF).ok(),
            // Without the public key, as Go and OpenSSL write it.
            Self::Ed25519(key) => {
                KeypairBytes { secret_key: key.to_bytes(), public_key: None }.to_pkcs8_pem(LineEnding::LF).ok()
            }
        }
    }

    /// Returns the public key as certificates hold it.
    ///
    /// # Errors
    /// The key is invalid.
    pub fn public_info(&self) -> builder::Result<SubjectPublicKeyInfo> {
        Ok(match self {
            Self::Rsa(key) => SubjectPublicKeyInfo::from_key(key.as_public_key()),
            Self::P256(key) => SubjectPublicKeyInfo::from_key(&key.public_key()),
            Self::P384(key) => SubjectPublicKeyInfo::from_key(&key.public_key()),
            Self::Ed25519(key) => SubjectPublicKeyInfo::from_key(&key.verifying_key()),
        }?)
    }

    /// Signs a certificate.
    ///
    /// # Errors
    /// The key is invalid.
    pub fn sign(&self, certificate: CertificateBuilder<impl BuilderProfile>) -> builder::Result<Certificate> {
        match self {
            Self::Rsa(key) => {
                certificate.build::<_, pkcs1v15::Signature>(&pkcs1v15::SigningKey::<Sha256>::new(key.clone()))
            }
            Self::P256(key) => certificate.build::<_, p256::ecdsa::DerSignature>(&p256::ecdsa::SigningKey::from(key)),
            Self::P384(key) => certificate.build::<_, p384::ecdsa::DerSignature>(&p384::ecdsa::SigningKey::from(key)),
            Self::Ed25519(key) => certificate.build::<_, ed25519_dalek::Signature>(key),
        }
    }
}

/// Makes a key of DSA, in the PEM form of OpenSSL.
///
/// # Errors
/// The source of random bytes failed.
pub fn dsa_pem() -> std::result::Result<Option<Zeroizing<String>>, Box<Diagnostic>> {
    let components = Components::try_generate_from_rng_with_key_size(&mut SysRng, KeySize::DSA_2048_256);
    let key =
        components.and_then(|components| SigningKey::try_generate_from_rng_with_components(&mut SysRng, components));
    key.map(|key| openssl_pem(&key)).map_err(|_| no_source())
}

fn openssl_pem(key: &SigningKey) -> Option<Zeroizing<String>> {
    let (public, private) = (key.verifying_key().y(), key.x());
    let components = key.verifying_key().components();
    let [p, q, g] = [&**components.p(), &**components.q(), &**components.g()];
    let fields = [p, q, g, public, private].map(BoxedUint::to_be_bytes);
    let [p, q, g, public, private] = fields.each_ref().map(|field| UintRef::new(field).ok());
    let der = SecretDocument::encode_msg(&[UintRef::new(&[0]).ok()?, p?, q?, g?, public?, private?]).ok()?;
    der.to_pem("DSA PRIVATE KEY", LineEnding::LF).ok()
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

#[cfg(test)]
mod keys_tests {
    use rsa::signature::{Signer as _, Verifier as _};
    use x509_cert::der::asn1::Uint;

    use super::*;

    #[test]
    fn keys_are_read_as_they_were_written() {
        for key in [PrivateKey::rsa(2048).unwrap(), PrivateKey::ec().unwrap(), PrivateKey::ed25519().unwrap()] {
            let pem = key.to_pem().unwrap();
            let again = PrivateKey::from_pem(&pem).unwrap();
            assert_eq!(again.to_pem().unwrap(), pem);
            assert_eq!(again.public_info().unwrap(), key.public_info().unwrap());
        }
        let p384 = p384::SecretKey::try_generate_from_rng(&mut SysRng).unwrap();
        let pem = PrivateKey::P384(p384.clone()).to_pem().unwrap();
        for written in [pem.clone(), p384.to_pkcs8_pem(LineEnding::LF).unwrap()] {
            assert_eq!(PrivateKey::from_pem(&written).unwrap().to_pem().unwrap(), pem);
        }
    }

    /// Returns a PEM block without a key.
    fn pem(label: &str) -> String {
        format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----")
    }

    #[test]
    fn keys_of_other_kinds_and_sizes_are_refused() {
        let small = rsa::PrivateKey::new(&mut SysRng, 1024).unwrap();
        for (pem, why) in [
            (
                small.to_pkcs1_pem(LineEnding::LF).unwrap().as_str(),
                "decoding PEM as RSA private key: the key is invalid",
            ),
            (small.to_pkcs8_pem(LineEnding::LF).unwrap().as_str(), "decoding PEM as PKCS#8: the key is invalid"),
            (pem("EC PRIVATE KEY").as_str(), "decoding PEM as EC private key: the key is invalid"),
            (pem("DSA PRIVATE KEY").as_str(), "invalid private key type DSA"),
            (pem("X").as_str(), "no private key data in PEM block of type X"),
            ("x", "no PEM data in input"),
        ] {
            assert_eq!(PrivateKey::from_pem(pem).unwrap_err(), why, "{pem}");
        }
    }

    #[test]
    fn keys_of_dsa_fit_together() {
        let pem = dsa_pem().unwrap().unwrap();
        let (label, body) = pem_block(&pem).unwrap();
        assert_eq!(label, "DSA PRIVATE KEY");
        let fields = Vec::<Uint>::from_der(&pem_content(body).unwrap()).unwrap();
        let [version, p, q, g, y, x] = fields.try_into().unwrap();
        assert_eq!(version.as_bytes(), [0]);
        let number = |field: Uint| BoxedUint::from_be_slice_vartime(field.as_bytes());
        let components = Components::from_components(number(p), number(q), number(g)).unwrap();
        let public = dsa::VerifyingKey::from_components(components, number(y)).unwrap();
        let private = SigningKey::from_components(public.clone(), number(x)).unwrap();
        let signature: dsa::Signature = private.sign(b"text");
        assert!(public.verify(b"text", &signature).is_ok() && public.verify(b"other", &signature).is_err());
    }
}
