//! Private keys: RSA, ECDSA on P-256 and P-384, Ed25519, DSA. Made, read, written, and used for signatures.

use num_bigint::BigUint;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};

use super::der::{BITS, INTEGER, OBJECT, OCTETS, SEQUENCE, bits, pem, pem_block, pem_content, read, unsigned, value};
use super::primes;
use super::random::{NoSource, array};

/// Object identifiers.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const RSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

/// NULL, the parameters of RSA.
const NULL: &[u8] = &[0x05, 0x00];

/// The tag of a value with this number of its own.
const OWN: u8 = 0xa0;

/// A curve of ECDSA.
#[derive(Debug, PartialEq, Eq)]
pub struct Curve {
    id: &'static [u8],
    /// The id of its signatures.
    signature: &'static [u8],
    algorithm: &'static EcdsaSigningAlgorithm,
}

static P256: Curve = Curve {
    id: &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
    signature: &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
    algorithm: &ECDSA_P256_SHA256_ASN1_SIGNING,
};

static P384: Curve = Curve {
    id: &[0x2b, 0x81, 0x04, 0x00, 0x22],
    signature: &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03],
    algorithm: &ECDSA_P384_SHA384_ASN1_SIGNING,
};

/// A private key that can sign.
#[derive(Debug)]
pub enum PrivateKey {
    /// RSA, as PKCS #1 encodes it.
    Rsa(Vec<u8>),
    /// A point of a curve, and the number that it is made of.
    Ec { curve: &'static Curve, private: Vec<u8>, public: Vec<u8> },
    /// Ed25519: the seed.
    Ed25519([u8; 32]),
}

/// The reason that a key cannot be made.
#[derive(Debug, PartialEq, Eq)]
pub enum Unmade {
    /// The source of random bytes failed.
    NoSource,
    /// The library refused a step.
    Refused,
}

impl From<NoSource> for Unmade {
    fn from(_: NoSource) -> Self {
        Self::NoSource
    }
}

impl From<ring::error::Unspecified> for Unmade {
    fn from(_: ring::error::Unspecified) -> Self {
        Self::Refused
    }
}

impl From<ring::error::KeyRejected> for Unmade {
    fn from(_: ring::error::KeyRejected) -> Self {
        Self::Refused
    }
}

impl PrivateKey {
    /// Makes an RSA key of this many bits.
    ///
    /// # Errors
    /// The source of random bytes failed.
    pub fn rsa(size: u64) -> Result<Self, Unmade> {
        let (one, public) = (BigUint::from(1u8), BigUint::from(65_537u32));
        loop {
            let (p, q) = (primes::prime(size / 2)?, primes::prime(size / 2)?);
            let (p, q) = if p > q { (p, q) } else { (q, p) };
            let (p1, q1) = (&p - &one, &q - &one);
            let Some(private) = public.modinv(&(&p1 * &q1)) else { continue };
            let Some(inverse) = q.modinv(&p) else { continue };
            let fields = [BigUint::ZERO, &p * &q, public.clone(), private.clone()];
            let more = [p, q, &private % p1, private % q1, inverse];
            let fields: Vec<_> = fields.iter().chain(&more).map(|field| unsigned(&field.to_bytes_be())).collect();
            let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
            return Ok(Self::Rsa(value(SEQUENCE, &fields)));
        }
    }

    /// Makes a key of ECDSA on P-256.
    ///
    /// # Errors
    /// The source of random bytes failed.
    pub fn ec() -> Result<Self, Unmade> {
        let made = EcdsaKeyPair::generate_pkcs8(P256.algorithm, &SystemRandom::new())?;
        Self::from_pkcs8(made.as_ref()).ok_or(Unmade::Refused)
    }

    /// Makes a key of Ed25519.
    ///
    /// # Errors
    /// The source of random bytes failed.
    pub fn ed25519() -> Result<Self, Unmade> {
        Ok(Self::Ed25519(array()?))
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
            "EC PRIVATE KEY" => read("EC private key", Self::from_sec1(&der, None)),
            label => Err(match label.strip_suffix(" PRIVATE KEY") {
                Some(kind) => format!("invalid private key type {kind}"),
                None => format!("no private key data in PEM block of type {label}"),
            }),
        }
    }

    fn from_pkcs1(der: &[u8]) -> Option<Self> {
        RsaKeyPair::from_der(der).ok()?;
        Some(Self::Rsa(der.to_vec()))
    }

    fn from_pkcs8(mut der: &[u8]) -> Option<Self> {
        let mut fields = read(&mut der, SEQUENCE)?;
        read(&mut fields, INTEGER)?;
        let mut algorithm = read(&mut fields, SEQUENCE)?;
        let (id, mut key) = (read(&mut algorithm, OBJECT)?, read(&mut fields, OCTETS)?);
        match id {
            RSA => Self::from_pkcs1(key),
            EC => Self::from_sec1(key, Some(read(&mut algorithm, OBJECT)?)),
            ED25519 => read(&mut key, OCTETS)?.try_into().ok().map(Self::Ed25519),
            _ => None,
        }
    }

    fn from_sec1(mut der: &[u8], curve: Option<&[u8]>) -> Option<Self> {
        let mut fields = read(&mut der, SEQUENCE)?;
        read(&mut fields, INTEGER)?;
        let private = read(&mut fields, OCTETS)?;
        let named = read(&mut fields, OWN).and_then(|mut named| read(&mut named, OBJECT));
        let public = read(&mut fields, OWN + 1).and_then(|mut public| read(&mut public, BITS))?;
        let id = curve.or(named)?;
        let curve = [&P256, &P384].into_iter().find(|curve| curve.id == id)?;
        let key = Self::Ec { curve, private: private.to_vec(), public: public.get(1..)?.to_vec() };
        key.sign(&[]).ok()?;
        Some(key)
    }

    /// Returns the key in PEM.
    pub fn to_pem(&self) -> String {
        match self {
            Self::Rsa(der) => pem("RSA PRIVATE KEY", der),
            Self::Ec { curve, private, public } => {
                let named = value(OWN, &[&value(OBJECT, &[curve.id])]);
                let public = value(OWN + 1, &[&bits(public)]);
                pem("EC PRIVATE KEY", &value(SEQUENCE, &[&unsigned(&[1]), &value(OCTETS, &[private]), &named, &public]))
            }
            Self::Ed25519(seed) => {
                let algorithm = value(SEQUENCE, &[&value(OBJECT, &[ED25519])]);
                let key = value(OCTETS, &[&value(OCTETS, &[seed])]);
                pem("PRIVATE KEY", &value(SEQUENCE, &[&unsigned(&[0]), &algorithm, &key]))
            }
        }
    }

    /// Returns the public key as certificates hold it.
    ///
    /// # Errors
    /// The key is invalid.
    pub(crate) fn public_info(&self) -> Result<Vec<u8>, Unmade> {
        let (algorithm, key) = match self {
            Self::Rsa(der) => {
                (vec![value(OBJECT, &[RSA]), NULL.to_vec()], RsaKeyPair::from_der(der)?.public_key().as_ref().to_vec())
            }
            Self::Ec { curve, public, .. } => (vec![value(OBJECT, &[EC]), value(OBJECT, &[curve.id])], public.clone()),
            Self::Ed25519(seed) => {
                let pair = Ed25519KeyPair::from_seed_unchecked(seed)?;
                (vec![value(OBJECT, &[ED25519])], pair.public_key().as_ref().to_vec())
            }
        };
        let algorithm: Vec<&[u8]> = algorithm.iter().map(Vec::as_slice).collect();
        Ok(value(SEQUENCE, &[&value(SEQUENCE, &algorithm), &bits(&key)]))
    }

    /// Returns the algorithm of the key's signatures.
    pub(crate) fn signature_algorithm(&self) -> Vec<u8> {
        match self {
            Self::Rsa(_) => value(SEQUENCE, &[&value(OBJECT, &[RSA_SHA256]), NULL]),
            Self::Ec { curve, .. } => value(SEQUENCE, &[&value(OBJECT, &[curve.signature])]),
            Self::Ed25519(_) => value(SEQUENCE, &[&value(OBJECT, &[ED25519])]),
        }
    }

    /// Signs a message.
    ///
    /// # Errors
    /// The key is invalid, or the source of random bytes failed.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Unmade> {
        let random = SystemRandom::new();
        Ok(match self {
            Self::Rsa(der) => {
                let pair = RsaKeyPair::from_der(der)?;
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)?;
                signature
            }
            Self::Ec { curve, private, public } => {
                let pair = EcdsaKeyPair::from_private_key_and_public_key(curve.algorithm, private, public, &random)?;
                pair.sign(&random, message)?.as_ref().to_vec()
            }
            Self::Ed25519(seed) => Ed25519KeyPair::from_seed_unchecked(seed)?.sign(message).as_ref().to_vec(),
        })
    }
}

/// Makes a key of DSA, in PEM.
///
/// # Errors
/// The source of random bytes failed.
pub fn dsa_pem() -> Result<String, Unmade> {
    let [order, modulus, generator] = primes::group()?;
    let private = primes::below(&order)?;
    let public = generator.modpow(&private, &modulus);
    let fields = [BigUint::ZERO, modulus, order, generator, public, private];
    let fields = fields.map(|field| unsigned(&field.to_bytes_be()));
    let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
    Ok(pem("DSA PRIVATE KEY", &value(SEQUENCE, &fields)))
}
