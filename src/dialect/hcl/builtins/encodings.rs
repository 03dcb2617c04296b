//! Functions that write texts otherwise, and read what is written so: base64, URLs, character encodings, hashes.

use std::io::Read;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flate2::Compression;
use flate2::read::GzDecoder;

use super::arguments::{answer, text};
use crate::dialect::hcl::values::marks::marked_by;
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::Cx;
use crate::positional;
use crate::stdlib::charsets::{Charset, charset};
use crate::stdlib::encoding::{QUERY, percent, percent_len, query_text};
use crate::stdlib::hashes::{hex, md5, sha1, sha256, sha512, uuid_of_name};
use crate::value::Value;

positional! {
    /// Encodings and hashes that OpenTofu has.
    pub(super) static ENCODINGS:
    "base64encode" (str: String) -> String = encode_base64, "The text's bytes in base64."
        ["base64encode(\"Hello\")" => "\"SGVsbG8=\""];
    "base64decode" (str: String [marked]) -> String = decode_base64, "The text whose bytes base64 says."
        ["base64decode(\"SGVsbG8=\")" => "\"Hello\""];
    "base64gzip" (str: String) -> String = zip, "The text compressed with gzip, in base64."
        ["base64gunzip(base64gzip(\"test\"))" => "\"test\""];
    "base64gunzip" (str: String) -> String = unzip, "The text that gzip in base64 holds."
        ["base64gunzip(\"H4sIAAAAAAAA/wAEAPv/dGVzdAAAAP//AwAMfn/YBAAAAA==\")" => "\"test\""];
    "urlencode" (str: String) -> String = encode_url, "The text as a part of a URL's query."
        ["urlencode(\"a b/c\")" => "\"a+b%2Fc\""];
    "urldecode" (str: String) -> String = decode_url, "The text that a part of a URL's query says."
        ["urldecode(\"a+b%2Fc\")" => "\"a b/c\""];
    "textencodebase64" (string: String, encoding: String) -> String = encode_text,
        "The text's bytes in a character encoding, in base64."
        ["textencodebase64(\"ab\", \"UTF-16LE\")" => "\"YQBiAA==\""];
    "textdecodebase64" (source: String, encoding: String) -> String = decode_text,
        "The text that bytes in base64 say in a character encoding."
        ["textdecodebase64(\"YQBiAA==\", \"UTF-16LE\")" => "\"ab\""];
    "md5" (str: String) -> String = hash_md5, "The MD5 hash of the text's bytes, in hexadecimal digits."
        ["md5(\"\")" => "\"d41d8cd98f00b204e9800998ecf8427e\""];
    "sha1" (str: String) -> String = hash_sha1, "The SHA-1 hash of the text's bytes, in hexadecimal digits."
        ["sha1(\"test\")" => "\"a94a8fe5ccb19ba61c4c0873d391e987982fbbd3\""];
    "sha256" (str: String) -> String = hash_sha256, "The SHA-256 hash of the text's bytes, in hexadecimal digits."
        ["sha256(\"test\")" => "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\""];
    "sha512" (str: String) -> String = hash_sha512, "The SHA-512 hash of the text's bytes, in hexadecimal digits."
        ["substr(sha512(\"test\"), 0, 8)" => "\"ee26b0dd\""];
    "base64sha256" (str: String) -> String = base64_sha256, "The SHA-256 hash of the text's bytes, in base64."
        ["base64sha256(\"test\")" => "\"n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=\""];
    "base64sha512" (str: String) -> String = base64_sha512, "The SHA-512 hash of the text's bytes, in base64."
        ["substr(base64sha512(\"test\"), 0, 8)" => "\"7iaw3Ur3\""];
    "uuidv5" (namespace: String, name: String) -> String = uuid_v5,
        "The UUID of a name in a namespace: `dns`, `url`, `oid`, `x500` or a UUID."
        ["uuidv5(\"dns\", \"tada\")" => "\"faa898db-9b9d-5b75-86a9-149e7bb8e3b8\""];
    "uuid" () -> String = uuid, needs RANDOM, "A new random UUID." [];
}

/// Standard base64; bits beyond the last byte do not matter.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

pub(super) fn base64_of<'v>(cx: &Cx<'v>, bytes: &[u8]) -> Outcome<Value<'v>> {
    cx.charge(bytes.len() / 3 * 4 + 4)?;
    answer(cx, &BASE64.encode(bytes))
}

/// The bytes that base64 says; line ends between them do not matter.
pub(super) fn from_base64(cx: &Cx<'_>, text: &str) -> Outcome<Option<Vec<u8>>> {
    cx.charge(text.len() * 2)?;
    let digits: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    Ok(BASE64.decode(digits).ok())
}

fn not_base64() -> Fault {
    Fault::wrong("the text is not base64")
}

/// A text of `bytes`.
fn of_bytes<'v>(cx: &Cx<'v>, bytes: &[u8]) -> Outcome<Value<'v>> {
    let text = std::str::from_utf8(bytes).map_err(|_| Fault::wrong("the decoded bytes are no text in UTF-8"))?;
    answer(cx, text)
}

fn encode_base64<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    base64_of(cx, text(args, 0)?.as_bytes())
}

fn decode_base64<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (coded, marks) = args.first().map_or((Value::Null, &[][..]), Value::unmarked);
    let bytes = from_base64(cx, text(&[coded], 0)?)?.ok_or_else(not_base64)?;
    marked_by(cx, of_bytes(cx, &bytes)?, marks, &[])
}

fn zip<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let text = text(args, 0)?;
    cx.charge(text.len() + 64)?;
    cx.spend(text.len() as u64)?;
    let mut zipped = Vec::new();
    // The head says neither a time nor a system: the same text gives the same bytes.
    let builder = flate2::GzBuilder::new().operating_system(255);
    let written = builder.read(text.as_bytes(), Compression::default()).read_to_end(&mut zipped);
    written.map_err(|error| Fault::wrong(format!("the text cannot be compressed: {error}")))?;
    base64_of(cx, &zipped)
}

/// How much is decompressed before it is paid for.
const PIECE: usize = 16 << 10;

fn unzip<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let zipped = from_base64(cx, text(args, 0)?)?.ok_or_else(not_base64)?;
    let (mut decoder, mut bytes) = (GzDecoder::new(zipped.as_slice()), Vec::new());
    loop {
        cx.charge(PIECE)?;
        let read = decoder.by_ref().take(PIECE as u64).read_to_end(&mut bytes);
        match read.map_err(|error| Fault::wrong(format!("the bytes are not gzip: {error}")))? {
            0 => return of_bytes(cx, &bytes),
            read => cx.spend(read as u64 / 8)?,
        }
    }
}

fn encode_url<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let text = text(args, 0)?;
    cx.charge(percent_len(text, QUERY))?;
    answer(cx, &percent(text, QUERY).replace(' ', "+"))
}

fn decode_url<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let text = text(args, 0)?;
    cx.charge(text.len())?;
    of_bytes(cx, &query_text(text).map_err(|at| Fault::wrong(format!("`{at}` is no escape of a URL")))?)
}

fn named_charset(args: &[Value<'_>]) -> Outcome<Charset> {
    let name = text(args, 1)?;
    charset(name).ok_or_else(|| Fault::argument(1, format!("no character encoding is named `{name}`")))
}

fn encode_text<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (text, charset) = (text(args, 0)?, named_charset(args)?);
    cx.charge(text.len() * 4 + 4)?;
    let bytes = charset.encode(text).ok_or_else(|| Fault::argument(0, "the encoding lacks some of the characters"))?;
    base64_of(cx, &bytes)
}

fn decode_text<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (source, charset) = (text(args, 0)?, named_charset(args)?);
    let bytes = from_base64(cx, source)?.ok_or_else(|| Fault::argument(0, "the text is not base64"))?;
    cx.charge(bytes.len() * 3)?;
    let decoded = charset.decode(&bytes);
    answer(cx, &decoded.ok_or_else(|| Fault::argument(0, "the encoding does not define some of the bytes"))?)
}

/// Hashes the first argument's bytes, paid for by their number.
fn hashed<'v, const N: usize>(cx: &Cx<'v>, args: &[Value<'v>], hash: fn(&[u8]) -> [u8; N]) -> Outcome<[u8; N]> {
    let text = text(args, 0)?;
    cx.spend(text.len() as u64 / 8)?;
    Ok(hash(text.as_bytes()))
}

fn hash_md5<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    answer(cx, &hex(&hashed(cx, args, md5)?))
}

fn hash_sha1<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    answer(cx, &hex(&hashed(cx, args, sha1)?))
}

fn hash_sha256<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    answer(cx, &hex(&hashed(cx, args, sha256)?))
}

fn hash_sha512<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    answer(cx, &hex(&hashed(cx, args, sha512)?))
}

fn base64_sha256<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    base64_of(cx, &hashed(cx, args, sha256)?)
}

fn base64_sha512<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    base64_of(cx, &hashed(cx, args, sha512)?)
}

fn uuid_v5<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (namespace, name) = (text(args, 0)?, text(args, 1)?);
    cx.charge(name.len())?;
    let uuid = uuid_of_name(namespace, name);
    answer(cx, &uuid.ok_or_else(|| Fault::wrong(format!("`{namespace}` is no namespace and no UUID")))?)
}

fn uuid<'v>(cx: &Cx<'v>, _: &[Value<'v>]) -> Outcome<Value<'v>> {
    answer(cx, &crate::stdlib::hashes::uuid(fastrand::u128(..)))
}
