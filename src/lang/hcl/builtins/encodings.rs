//! Functions that encode, hash, encrypt or decode text.

use std::io::Read;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flate2::Compression;
use flate2::read::GzDecoder;

use super::charsets::{Charset, charset, charset_names};
use super::rsa::PrivateKey;
use super::{Arguments, FromArguments, functions, string, whole};
use crate::values::marked_by;
use dropforge_base::diagnostics::nearest;
use dropforge_base::stdlib::hashes::{md5, sha1, sha256, sha512, uuid_of_name};
use dropforge_base::stdlib::password_hash::{PASSWORD, password_hash, steps};
use dropforge_base::stdlib::percent::{QUERY, percent, percent_len, query_text};
use dropforge_base::stdlib::strings::hex;
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::Value;

functions! {
    /// Encodings and hashes of OpenTofu.
    pub(super) static ENCODINGS:
    "base64encode" (str: String) -> String = base64_of, "Encodes a string in base64."
        ["base64encode(\"Hello\")" => "\"SGVsbG8=\""];
    "base64decode" (str: String [marked]) -> String = decode_base64, "Decodes base64 to a string."
        ["base64decode(\"SGVsbG8=\")" => "\"Hello\""];
    "base64gzip" (str: String) -> String = zip, "Compresses a string with gzip and encodes the result in base64."
        ["base64gunzip(base64gzip(\"test\"))" => "\"test\""];
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
    "md5" (str: String) -> String = hex_hash [md5], "Returns the MD5 hash of a string in hexadecimal."
        ["md5(\"\")" => "\"d41d8cd98f00b204e9800998ecf8427e\""];
    "sha1" (str: String) -> String = hex_hash [sha1], "Returns the SHA-1 hash of a string in hexadecimal."
        ["sha1(\"test\")" => "\"a94a8fe5ccb19ba61c4c0873d391e987982fbbd3\""];
    "sha256" (str: String) -> String = hex_hash [sha256], "Returns the SHA-256 hash of a string in hexadecimal."
        ["sha256(\"test\")" => "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\""];
    "sha512" (str: String) -> String = hex_hash [sha512], "Returns the SHA-512 hash of a string in hexadecimal."
        ["substr(sha512(\"test\"), 0, 8)" => "\"ee26b0dd\""];
    "base64sha256" (str: String) -> String = base64_hash [sha256], "Returns the SHA-256 hash of a string in base64."
        ["base64sha256(\"test\")" => "\"n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=\""];
    "base64sha512" (str: String) -> String = base64_hash [sha512], "Returns the SHA-512 hash of a string in base64."
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
pub(super) fn from_base64(cx: &Cx<'_>, text: &str) -> Outcome<Vec<u8>> {
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

fn zip<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    cx.charge(text.len() + 64)?;
    cx.spend(text.len() as u64)?;
    let mut zipped = Vec::new();
    // The header has no time and no system, so that the same text gives the same bytes.
    let builder = flate2::GzBuilder::new().operating_system(255);
    let written = builder.read(text.as_bytes(), Compression::default()).read_to_end(&mut zipped);
    written.map_err(|error| Fault::wrong(format!("cannot compress the string: {error}")))?;
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

impl FromArguments<'_> for Charset {
    fn take(arguments: &Arguments<'_, '_>) -> Outcome<Self> {
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
pub(super) fn hex_hash<'v, const N: usize>(cx: &Cx<'v>, bytes: &[u8], hash: Hash<N>) -> Outcome<Value<'v>> {
    cx.spend(bytes.len() as u64 / 8)?;
    string(cx, &hex(&hash(bytes)))
}

/// Returns the hash of `bytes` in base64.
pub(super) fn base64_hash<'v, const N: usize>(cx: &Cx<'v>, bytes: &[u8], hash: Hash<N>) -> Outcome<Value<'v>> {
    cx.spend(bytes.len() as u64 / 8)?;
    base64_of(cx, &hash(bytes))
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

fn hash_password<'v>(cx: &Cx<'v>, password: &str, cost: &[Value<'v>]) -> Outcome<Value<'v>> {
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
