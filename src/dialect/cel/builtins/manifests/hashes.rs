//! Hashes of strings.

use crate::diagnostics::Result;
use crate::function::Cx;
use crate::overloads;
use crate::stdlib::hashes;
use crate::value::Value;

overloads! {
    /// The library `hash`.
    pub static TABLE:
    "hash.fnv64a": "Returns the 64-bit FNV-1a hash of a string: fast, but not cryptographic." ["base64.encode(hash.fnv64a('hello'))" => "'pDDYRoCqvQs='"]
        fn "hash.fnv64a_string" (String) -> Bytes = fnv64a;
    "hash.sha256": "Returns the SHA-256 hash of a string." ["size(hash.sha256('hello'))" => "32"]
        fn "hash.sha256_string" (String) -> Bytes = sha256;
    "hash.md5": "Returns the MD5 hash of a string." ["base64.encode(hash.md5('hello'))" => "'XUFAKrxLKna5cZ2REBfFkg=='"]
        fn "hash.md5_string" (String) -> Bytes = md5;
}

fn hash<'v, const N: usize>(cx: &Cx<'v>, text: &str, of: fn(&[u8]) -> [u8; N]) -> Result<Value<'v>> {
    cx.spend(text.len() as u64 / 16)?;
    cx.bytes(&of(text.as_bytes()))
}

fn fnv64a<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Value<'v>> {
    hash(cx, text, hashes::fnv64a)
}

fn sha256<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Value<'v>> {
    hash(cx, text, hashes::sha256)
}

fn md5<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Value<'v>> {
    hash(cx, text, hashes::md5)
}
