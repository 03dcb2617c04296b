//! RSA private keys in PEM, and decryption with PKCS #1 v1.5 padding.
//!
//! Not for servers: the time and the error depend on the padding.

use getrandom::SysRng;
use rsa::BoxedUint;
use rsa::hazmat::rsa_decrypt_and_check;
use rsa::pkcs1::{ALGORITHM_OID, RsaPrivateKeyRef, der::Decode as _};
use rsa::pkcs8::PrivateKeyInfoRef;
use rsa::traits::PublicKeyParts as _;

use dropforge_base::stdlib::pem::{pem_block, pem_content};

/// The reason that decryption fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// The key is not PEM.
    NotPem,
    /// The PEM holds another kind of key, or an encrypted one.
    OtherKey,
    /// The data are not an RSA key.
    BadKey,
    /// The text was not encrypted for this key.
    NotForKey,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NotPem => "it holds no key in PEM",
            Self::OtherKey => "it holds no unencrypted RSA key by PKCS #1 or PKCS #8",
            Self::BadKey => "the key's data are not those of an RSA key",
            Self::NotForKey => "the text was not encrypted for this key",
        })
    }
}

/// Maximum size of a key in bytes.
const LARGEST: usize = 2 << 10;

/// A private key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateKey(rsa::PrivateKey);

impl PrivateKey {
    /// Parses a key: `RSA PRIVATE KEY` (PKCS #1) or `PRIVATE KEY` (PKCS #8).
    ///
    /// # Errors
    /// All except [`Unreadable::NotForKey`].
    pub fn from_pem(pem: &str) -> Result<Self, Unreadable> {
        let (label, der) = block(pem)?;
        match label {
            "RSA PRIVATE KEY" => Self::from_pkcs1(&der).ok_or(Unreadable::BadKey),
            "PRIVATE KEY" => Self::from_pkcs1(unwrapped(&der)?).ok_or(Unreadable::BadKey),
            _ => Err(Unreadable::OtherKey),
        }
    }

    /// Parses and checks the numbers of a key: the modulus must be the product of the two primes.
    fn from_pkcs1(der: &[u8]) -> Option<Self> {
        let fields = RsaPrivateKeyRef::from_der(der).ok()?;
        if fields.modulus.as_bytes().len() > LARGEST {
            return None;
        }
        rsa::PrivateKey::try_from(fields).ok().map(Self)
    }

    /// Returns the size of the key in bits.
    pub fn bits(&self) -> u64 {
        self.0.n().bit_width_vartime().into()
    }

    /// Decrypts a message. The crate has functions that also strip the padding, but they return random bytes if it is wrong.
    ///
    /// # Errors
    /// [`Unreadable::NotForKey`].
    pub fn decrypt(&self, encrypted: &[u8]) -> Result<Vec<u8>, Unreadable> {
        let number = BoxedUint::from_be_slice(encrypted, self.0.n_bits_precision()).ok();
        let padded = number.and_then(|number| rsa_decrypt_and_check(&self.0, Some(&mut SysRng), &number).ok());
        let bytes = padded.ok_or(Unreadable::NotForKey)?.to_be_bytes();
        let bytes = bytes.get(bytes.len() - self.0.size()..);
        bytes.and_then(without_padding).map(<[u8]>::to_vec).ok_or(Unreadable::NotForKey)
    }
}

/// Strips the padding: a zero, a 2, at least eight nonzero bytes, and a zero.
fn without_padding(bytes: &[u8]) -> Option<&[u8]> {
    let padded = bytes.strip_prefix(&[0, 2])?;
    let end = padded.iter().position(|byte| *byte == 0)?;
    if end >= 8 { padded.get(end + 1..) } else { None }
}

/// Returns the label and the content of the first PEM block.
fn block(pem: &str) -> Result<(&str, Vec<u8>), Unreadable> {
    let (label, body) = pem_block(pem).ok_or(Unreadable::NotPem)?;
    if body.contains(':') {
        return Err(Unreadable::OtherKey);
    }
    pem_content(body).map(|bytes| (label, bytes)).ok_or(Unreadable::NotPem)
}

/// Returns the PKCS #1 key inside a PKCS #8 key.
fn unwrapped(der: &[u8]) -> Result<&[u8], Unreadable> {
    let info = PrivateKeyInfoRef::try_from(der).map_err(|_| Unreadable::BadKey)?;
    if info.algorithm.oid == ALGORITHM_OID { Ok(info.private_key.as_bytes()) } else { Err(Unreadable::OtherKey) }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    /// Generated for these tests.
    const PKCS1: &str = "-----BEGIN RSA PRIVATE KEY-----\n\
MIICXAIBAAKBgQCsQj8QQ2xWvmzOZAFdxNAzqh04HejzO5YtQ1VJR/n2PCbtJpLg\n\
YqtxZSFl920qjyJUY4cdLa1uiri6OcrwpUSDcmb52l9F+TeWMoTmYxfeIAizK1+D\n\
Cwex2N1PnmuMthR6XqedoWt+OMTxdCLQreB8as9CJ5BJ3pcyzS2cuMB31wIDAQAB\n\
AoGAevyFWBA7Xqdwud7O1ur5F5oCaJl6Q4csjr5/OuXnwnVp+XHL9eacr0ZcFRgV\n\
2gf9o7C3vA5rv/vNLjCrAyuMAPx5o7O3N/zdH8O9uIJv74+INU3HEH7z4lG6jrCU\n\
U4Ee1YlYADrjOTLPEl32DuRSZueZ9X17KUw4Z8sQ5RVd8CECQQDlYpGeEx6j/7+m\n\
51isNSaf4yhlLN7XsIe+SfiRYF9N6O7eYrqF4NP+VKn45VxqxAmXgojYZrasDFXG\n\
vH8GqRAnAkEAwD7at5cJ6gQa4tbRj6TozGYvOco9WqBr6ETkgEE57Ysr3VXum8hb\n\
ZmMCwLc4eLMGIVoI3jwL+IAx0HRSPph40QJAcU7oaXI+X3p0vEhpF9/FbZNzH88z\n\
YM4Vr5ywiXdWfJDEddvFEV7GuUovEACUTzT5G/tiB6ttLr2FHX99K9gVXwJBAKaW\n\
UMUCFs84W2vxpoqI5kooygeT3nKnzJnrCO6yltXm4U3c5vULO1iPt5Tzr/W3fDpu\n\
YHzjH6RowcHW6mXfjeECQHl/QnT48ZX3ggkP3SE8QF5HRTqf16gcCP3IR02Lxngf\n\
qG7lEIHOMJmrC9GK8FGSqFjxS95PQd7j6dsXYVjHXWo=\n\
-----END RSA PRIVATE KEY-----\n";

    /// The same key.
    const PKCS8: &str = "-----BEGIN PRIVATE KEY-----\n\
MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAKxCPxBDbFa+bM5k\n\
AV3E0DOqHTgd6PM7li1DVUlH+fY8Ju0mkuBiq3FlIWX3bSqPIlRjhx0trW6KuLo5\n\
yvClRINyZvnaX0X5N5YyhOZjF94gCLMrX4MLB7HY3U+ea4y2FHpep52ha344xPF0\n\
ItCt4Hxqz0InkEnelzLNLZy4wHfXAgMBAAECgYB6/IVYEDtep3C53s7W6vkXmgJo\n\
mXpDhyyOvn865efCdWn5ccv15pyvRlwVGBXaB/2jsLe8Dmu/+80uMKsDK4wA/Hmj\n\
s7c3/N0fw724gm/vj4g1TccQfvPiUbqOsJRTgR7ViVgAOuM5Ms8SXfYO5FJm55n1\n\
fXspTDhnyxDlFV3wIQJBAOVikZ4THqP/v6bnWKw1Jp/jKGUs3tewh75J+JFgX03o\n\
7t5iuoXg0/5UqfjlXGrECZeCiNhmtqwMVca8fwapECcCQQDAPtq3lwnqBBri1tGP\n\
pOjMZi85yj1aoGvoROSAQTntiyvdVe6byFtmYwLAtzh4swYhWgjePAv4gDHQdFI+\n\
mHjRAkBxTuhpcj5fenS8SGkX38Vtk3MfzzNgzhWvnLCJd1Z8kMR128URXsa5Si8Q\n\
AJRPNPkb+2IHq20uvYUdf30r2BVfAkEAppZQxQIWzzhba/GmiojmSijKB5PecqfM\n\
mesI7rKW1ebhTdzm9Qs7WI+3lPOv9bd8Om5gfOMfpGjBwdbqZd+N4QJAeX9CdPjx\n\
lfeCCQ/dITxAXkdFOp/XqBwI/chHTYvGeB+obuUQgc4wmasL0YrwUZKoWPFL3k9B\n\
3uPp2xdhWMddag==\n\
-----END PRIVATE KEY-----\n";

    /// `hello`, encrypted for this key.
    const ENCRYPTED: &str = "LC2w+NYf5bg0fc0kPWKejemq+A+fExuf1KKW8sO9r/XihAsJU7bSOBhcmWIMjUXjCI6vPWBtSsX2\n\
nCczc4+zVe6bS4KZ9+8f2jOH+G+QLlvv1AbpExTcpe7TZJ9TLnfI069v0RBVgdWDzH3jbHLP7kyx\n\
zxPUfY52xcKUJjwcCNY=\n";

    fn decrypted(encrypted: &str, key: &str) -> Result<String, Unreadable> {
        let bytes = STANDARD.decode(encrypted.replace('\n', "")).unwrap();
        PrivateKey::from_pem(key)?.decrypt(&bytes).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn keys_of_both_kinds_decrypt() {
        assert_eq!(decrypted(ENCRYPTED, PKCS1).as_deref(), Ok("hello"));
        assert_eq!(decrypted(ENCRYPTED, &format!("# key\r\n{}", PKCS8.replace('\n', "\r\n"))).as_deref(), Ok("hello"));
        assert_eq!(PrivateKey::from_pem(PKCS1).unwrap().bits(), 1024);
    }

    #[test]
    fn other_texts_and_keys_are_refused() {
        for encrypted in
            ["", "AA==", "AQ==", &STANDARD.encode([255; 128]), &STANDARD.encode([1; 128]), &STANDARD.encode([1; 500])]
        {
            assert_eq!(decrypted(encrypted, PKCS1), Err(Unreadable::NotForKey), "{encrypted}");
        }
        for (key, why) in [
            ("", Unreadable::NotPem),
            ("-----BEGIN RSA PRIVATE KEY-----\n", Unreadable::NotPem),
            ("-----BEGIN RSA PRIVATE KEY-----\n!\n-----END RSA PRIVATE KEY-----", Unreadable::NotPem),
            ("-----BEGIN RSA PRIVATE KEY-----\n-----END RSA PRIVATE KEY-----", Unreadable::BadKey),
            ("-----BEGIN RSA PRIVATE KEY-----\nMAMCAQA=\n-----END RSA PRIVATE KEY-----", Unreadable::BadKey),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n-----END RSA PRIVATE KEY-----",
                Unreadable::OtherKey,
            ),
            ("-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----", Unreadable::OtherKey),
        ] {
            assert_eq!(decrypted(ENCRYPTED, key), Err(why), "{key}");
        }
    }

    #[test]
    fn no_change_of_a_key_is_taken_and_none_panics() {
        let (label, der) = block(PKCS1).unwrap();
        for at in 0..der.len() {
            let mut other = der.clone();
            other[at] ^= 0x55;
            let pem = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----", STANDARD.encode(&other));
            if let Ok(key) = PrivateKey::from_pem(&pem) {
                // The numbers after the primes are not used.
                assert_eq!(key, PrivateKey::from_pem(PKCS1).unwrap(), "{at}");
            }
            assert!(PrivateKey::from_pkcs1(der.get(..at).unwrap()).is_none());
        }
    }
}
