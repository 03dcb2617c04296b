//! Private keys: RSA, ECDSA on P-256 and P-384, Ed25519, DSA. Made, read and written.

use std::ops::RangeInclusive;

use dsa::{Components, KeySize, SigningKey};
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, KeypairBytes, PrivateKeyInfoRef};
use getrandom::SysRng;
use p256::elliptic_curve::Generate as _;
use rsa::pkcs1::{EncodeRsaPrivateKey as _, RsaPrivateKeyRef};
use rsa::sha2::Sha256;
use rsa::{BoxedUint, pkcs1v15};
use x509_cert::SubjectPublicKeyInfo;
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{self, Builder as _, CertificateBuilder};
use x509_cert::certificate::Certificate;
use x509_cert::der::asn1::UintRef;
use x509_cert::der::pem::LineEnding;
use x509_cert::der::zeroize::Zeroizing;
use x509_cert::der::{Decode as _, SecretDocument};

use super::super::random::{array, no_source};
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::stdlib::encodings::{pem_block, pem_content};

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
    pub fn rsa(size: usize) -> Result<Self, Box<Diagnostic>> {
        rsa::PrivateKey::new(&mut SysRng, size).map(Self::Rsa).map_err(|_| no_source())
    }

    /// Makes a key of ECDSA on P-256.
    ///
    /// # Errors
    /// The source of random bytes failed.
    pub fn ec() -> Result<Self, Box<Diagnostic>> {
        p256::SecretKey::try_generate_from_rng(&mut SysRng).map(Self::P256).map_err(|_| no_source())
    }

    /// Makes a key of Ed25519.
    ///
    /// # Errors
    /// The source of random bytes failed.
    pub fn ed25519() -> Result<Self, Box<Diagnostic>> {
        Ok(Self::Ed25519((&array()?).into()))
    }

    /// Reads a key in PEM.
    ///
    /// # Errors
    /// A message about the text.
    pub fn from_pem(text: &str) -> Result<Self, String> {
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
pub fn dsa_pem() -> Result<Option<Zeroizing<String>>, Box<Diagnostic>> {
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
