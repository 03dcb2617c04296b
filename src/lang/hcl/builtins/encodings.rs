//! Functions that encode, hash, encrypt or decode text, and RSA private keys in PEM, which decrypt with PKCS #1 v1.5
//! padding.

use std::io::Read;

use super::charsets::{Charset, charset, charset_names};
use super::string;
use crate::values::marked_by;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use dropforge_base::diagnostics::nearest;
use dropforge_base::stdlib::deflate::{self, Deflate, deflate_len};
use dropforge_base::stdlib::encodings::{QUERY, percent, percent_len, query_text};
use dropforge_base::stdlib::encodings::{pem_block, pem_content};
use dropforge_base::stdlib::hashes::{PASSWORD, password_hash, steps};
use dropforge_base::stdlib::hashes::{md5, sha1, sha256, sha512, uuid_of_name};
use dropforge_base::stdlib::strings::hex;
use dropforge_machine::function::{Arguments, Cx, Fault, FromArgument, Outcome, Rest, whole};
use dropforge_machine::functions;
use dropforge_value::Value;
use flate2::Crc;
use flate2::read::GzDecoder;
use getrandom::SysRng;
use rsa::BoxedUint;
use rsa::hazmat::rsa_decrypt_and_check;
use rsa::pkcs1::der::Decode as _;
use rsa::pkcs1::{ALGORITHM_OID, RsaPrivateKeyRef};
use rsa::pkcs8::PrivateKeyInfoRef;
use rsa::traits::PublicKeyParts as _;

functions! {
    /// Encodings and hashes of OpenTofu.
    pub(super) static ENCODINGS:
    "base64encode" (str: String) -> String = base64_of, "Encodes a string in base64."
        ["base64encode(\"Hello\")" => "\"SGVsbG8=\""];
    "base64decode" (str: String [marked]) -> String = decode_base64, "Decodes base64 to a string."
        ["base64decode(\"SGVsbG8=\")" => "\"Hello\""];
    "base64gzip" (str: String) -> String = zip, "Compresses a string with gzip and encodes the result in base64."
        ["base64gunzip(base64gzip(\"test\"))" => "\"test\"",
         "base64gzip(\"test\")" => "\"H4sIAAAAAAAA/ypJLS4BAAAA//8BAAD//wx+f9gEAAAA\"",
         "base64gzip(\"\")" => "\"H4sIAAAAAAAA/wAAAP//AQAA//8AAAAAAAAAAA==\""];
    "base64gunzip" (str: String) -> String = unzip, "Decodes base64 and decompresses the result with gzip."
        ["base64gunzip(\"H4sIAAAAAAAA/wAEAPv/dGVzdAAAAP//AwAMfn/YBAAAAA==\")" => "\"test\""];
    "urlencode" (str: String) -> String = encode_url, "Encodes a string for the query of a URL."
        ["urlencode(\"a b/c\")" => "\"a+b%2Fc\""];
    "urldecode" (str: String) -> String = decode_url, "Decodes a part of a URL's query."
        ["urldecode(\"a+b%2Fc\")" => "\"a b/c\""];
    "textencodebase64" (string: String, encoding: String) -> String = encode_text,
        "Encodes a string in a character encoding and the result in base64."
        ["textencodebase64(\"ab\", \"UTF-16LE\")" => "\"YQBiAA==\""];
    "textdecodebase64" (source: String, encoding: String) -> String = decode_text,
        "Decodes base64 and the result in a character encoding."
        ["textdecodebase64(\"YQBiAA==\", \"UTF-16LE\")" => "\"ab\""];
    "md5" (str: String) -> String = hex_hash(md5), "Returns the MD5 hash of a string in hexadecimal."
        ["md5(\"\")" => "\"d41d8cd98f00b204e9800998ecf8427e\""];
    "sha1" (str: String) -> String = hex_hash(sha1), "Returns the SHA-1 hash of a string in hexadecimal."
        ["sha1(\"test\")" => "\"a94a8fe5ccb19ba61c4c0873d391e987982fbbd3\""];
    "sha256" (str: String) -> String = hex_hash(sha256), "Returns the SHA-256 hash of a string in hexadecimal."
        ["sha256(\"test\")" => "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\""];
    "sha512" (str: String) -> String = hex_hash(sha512), "Returns the SHA-512 hash of a string in hexadecimal."
        ["substr(sha512(\"test\"), 0, 8)" => "\"ee26b0dd\""];
    "base64sha256" (str: String) -> String = base64_hash(sha256), "Returns the SHA-256 hash of a string in base64."
        ["base64sha256(\"test\")" => "\"n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=\""];
    "base64sha512" (str: String) -> String = base64_hash(sha512), "Returns the SHA-512 hash of a string in base64."
        ["substr(base64sha512(\"test\"), 0, 8)" => "\"7iaw3Ur3\""];
    "uuidv5" (namespace: String, name: String) -> String = uuid_v5,
        "Returns the version 5 UUID of a name in a namespace: `dns`, `url`, `oid`, `x500` or a UUID."
        ["uuidv5(\"dns\", \"tada\")" => "\"faa898db-9b9d-5b75-86a9-149e7bb8e3b8\""];
    "uuid" () -> String = uuid, needs RANDOM, "Returns a new random UUID." [];
}

/// Standard base64. Bits beyond the last byte are ignored.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

pub(super) fn base64_of<'v>(cx: &Cx<'v>, bytes: &[u8]) -> Outcome<Value<'v>> {
    cx.charge(bytes.len() / 3 * 4 + 4)?;
    string(cx, &BASE64.encode(bytes))
}

/// Decodes base64. Line breaks are ignored.
fn from_base64(cx: &Cx<'_>, text: &str) -> Outcome<Vec<u8>> {
    cx.charge(text.len() * 2)?;
    let digits: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    BASE64.decode(digits).map_err(|_| Fault::wrong("the string is not valid base64"))
}

/// Makes a string of UTF-8.
fn of_utf8<'v>(cx: &Cx<'v>, bytes: &[u8]) -> Outcome<Value<'v>> {
    string(cx, std::str::from_utf8(bytes).map_err(|_| Fault::wrong("the decoded bytes are not valid UTF-8"))?)
}

fn decode_base64<'v>(cx: &Cx<'v>, encoded: Value<'v>) -> Outcome<Value<'v>> {
    let (encoded, marks) = encoded.unmarked();
    let encoded = encoded.as_str().ok_or_else(|| Fault::argument(0, "a string is required"))?;
    marked_by(cx, of_utf8(cx, &from_base64(cx, encoded)?)?, marks)
}

/// Compresses a text. The reference flushes its compressor before it closes it.
fn zip<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    let _held = cx.hold(deflate_len(text.len()) + deflate::MEMORY)?;
    // The header has no time and no system, so that the same text gives the same bytes.
    let mut zipped = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    for steps in Deflate::new(text.as_bytes(), &mut zipped) {
        cx.spend(steps)?;
    }
    zipped.extend([1, 0, 0, 255, 255]);
    let mut sum = Crc::new();
    sum.update(text.as_bytes());
    zipped.extend(sum.sum().to_le_bytes());
    zipped.extend((text.len() as u32).to_le_bytes());
    base64_of(cx, &zipped)
}

/// Number of decompressed bytes that are charged at a time.
const PIECE: usize = 16 << 10;

fn unzip<'v>(cx: &Cx<'v>, encoded: &str) -> Outcome<Value<'v>> {
    let zipped = from_base64(cx, encoded)?;
    let (mut decoder, mut bytes) = (GzDecoder::new(zipped.as_slice()), Vec::new());
    loop {
        cx.charge(PIECE)?;
        let read = decoder.by_ref().take(PIECE as u64).read_to_end(&mut bytes);
        match read.map_err(|error| Fault::wrong(format!("the bytes are not valid gzip: {error}")))? {
            0 => return of_utf8(cx, &bytes),
            read => cx.spend(read as u64 / 8)?,
        }
    }
}

fn encode_url<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    cx.charge(percent_len(text, QUERY))?;
    let mut encoded = String::new();
    percent(text, QUERY, &mut encoded);
    string(cx, &encoded.replace(' ', "+"))
}

/// Decodes a part of a query. The reference keeps bytes that are not UTF-8; each becomes U+FFFD, as when it writes JSON.
fn decode_url<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    cx.charge(text.len().saturating_mul(2))?;
    let bytes = query_text(text).map_err(|at| Fault::wrong(format!("`{at}` is not a valid URL escape")))?;
    string(cx, &String::from_utf8_lossy(&bytes))
}

impl FromArgument<'_, '_> for Charset {
    fn take(arguments: &mut Arguments<'_, '_>) -> Outcome<Self> {
        let name = <&str>::take(arguments)?;
        charset(name).ok_or_else(|| {
            let near = nearest(name, charset_names()).map(|near| format!("; did you mean `{near}`?"));
            let near = near.unwrap_or_default();
            Fault::argument(1, format!("`{name}` is not the IANA name of a supported character encoding{near}"))
        })
    }
}

fn encode_text<'v>(cx: &Cx<'v>, text: &str, charset: Charset) -> Outcome<Value<'v>> {
    cx.charge(text.len() * 4 + 4)?;
    let bytes = charset.encode(text);
    base64_of(cx, &bytes.ok_or_else(|| Fault::argument(0, "the encoding does not have some of the characters"))?)
}

fn decode_text<'v>(cx: &Cx<'v>, encoded: &str, charset: Charset) -> Outcome<Value<'v>> {
    let bytes = from_base64(cx, encoded).map_err(|fault| fault.of_argument(0))?;
    cx.charge(bytes.len() * 3)?;
    let decoded = charset.decode(&bytes);
    string(cx, &decoded.ok_or_else(|| Fault::argument(0, "the encoding does not define some of the bytes"))?)
}

/// A hash function.
pub(super) type Hash<const N: usize> = fn(&[u8]) -> [u8; N];

/// Returns the hash of `bytes` in hexadecimal.
pub(super) fn hex_hash<'v, const N: usize>(hash: Hash<N>) -> impl Fn(&Cx<'v>, &[u8]) -> Outcome<Value<'v>> {
    move |cx, bytes| {
        cx.spend(bytes.len() as u64 / 8)?;
        string(cx, &hex(&hash(bytes)))
    }
}

/// Returns the hash of `bytes` in base64.
pub(super) fn base64_hash<'v, const N: usize>(hash: Hash<N>) -> impl Fn(&Cx<'v>, &[u8]) -> Outcome<Value<'v>> {
    move |cx, bytes| {
        cx.spend(bytes.len() as u64 / 8)?;
        base64_of(cx, &hash(bytes))
    }
}

fn uuid_v5<'v>(cx: &Cx<'v>, namespace: &str, name: &str) -> Outcome<Value<'v>> {
    cx.charge(name.len())?;
    let uuid = uuid_of_name(namespace, name);
    string(cx, &uuid.ok_or_else(|| Fault::wrong(format!("`{namespace}` is neither a namespace nor a UUID")))?)
}

fn uuid<'v>(cx: &Cx<'v>) -> Outcome<Value<'v>> {
    string(cx, &dropforge_base::stdlib::hashes::uuid(fastrand::u128(..)))
}

functions! {
    /// Cryptographic functions of OpenTofu.
    pub(super) static CIPHERS:
    "bcrypt" (str: String, ... cost: Number) -> String = hash_password, needs RANDOM,
        "Hashes a password with bcrypt and a random salt. The cost is 10 by default; each further step doubles the work."
        ["length(bcrypt(\"secret\", 4))" => "60", "substr(bcrypt(\"secret\", 5), 0, 7)" => "\"$2a$05$\""];
    "rsadecrypt" (ciphertext: String, privatekey: String) -> String = decrypt,
        "Decrypts base64-encoded ciphertext with a private key in PEM format (RSA, PKCS #1 v1.5 padding)."
        ["can(rsadecrypt(\"aGVsbG8=\", \"no key\"))" => "false"];
}

/// Cost used by default and in place of a cost that is too small.
const COST: u32 = 10;

fn hash_password<'v>(cx: &Cx<'v>, password: &str, Rest(cost): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    let cost = match cost {
        [] => i64::from(COST),
        [cost] => whole(*cost, 1)?,
        _ => return Err(Fault::wrong("expected at most two arguments")),
    };
    if cost > 31 {
        return Err(Fault::wrong(format!("the cost is {cost}, more than 31")));
    }
    let cost = u32::try_from(cost).ok().filter(|cost| *cost >= 4).unwrap_or(COST);
    if password.len() > PASSWORD {
        return Err(Fault::wrong(format!("the password is longer than {PASSWORD} bytes")));
    }
    cx.spend(steps(cost))?;
    let salt = fastrand::u128(..).to_be_bytes();
    string(cx, &password_hash(password.as_bytes(), cost, salt))
}

fn decrypt<'v>(cx: &Cx<'v>, encrypted: &str, key: &str) -> Outcome<Value<'v>> {
    let encrypted = from_base64(cx, encrypted).map_err(|fault| fault.of_argument(0))?;
    cx.charge(key.len() * 2)?;
    let key = PrivateKey::from_pem(key).map_err(|why| Fault::argument(1, why.to_string()))?;
    let limbs = key.bits() / 64;
    cx.spend(key.bits() * limbs * limbs / 4)?;
    let decrypted = key.decrypt(&encrypted).map_err(|why| Fault::wrong(why.to_string()))?;
    string(cx, std::str::from_utf8(&decrypted).map_err(|_| Fault::wrong("the decrypted bytes are not valid UTF-8"))?)
}

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
    /// Not for servers: the time and the error depend on the padding.
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
