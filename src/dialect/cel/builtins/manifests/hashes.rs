//! Hashes of texts.

use crate::diagnostics::Result;
use crate::dialect::cel::builtins::{arguments, text};
use crate::function::Cx;
use crate::overloads;
use crate::stdlib::hashes;
use crate::value::Value;

overloads! {
    /// The library of hashes.
    pub static TABLE:
    "hash.fnv64a": "The FNV-1a hash of 64 bits of a text: fast, and not for secrets." ["base64.encode(hash.fnv64a('hello'))" => "'pDDYRoCqvQs='"] {
        "hash.fnv64a_string" (String) -> Bytes = fnv64a;
    }
    "hash.sha256": "The SHA-256 hash of a text." ["size(hash.sha256('hello'))" => "32"] {
        "hash.sha256_string" (String) -> Bytes = sha256;
    }
    "hash.md5": "The MD5 hash of a text." ["base64.encode(hash.md5('hello'))" => "'XUFAKrxLKna5cZ2REBfFkg=='"] {
        "hash.md5_string" (String) -> Bytes = md5;
    }
}

fn hash<'v, const N: usize>(cx: &Cx<'v>, given: &[Value<'v>], of: fn(&[u8]) -> [u8; N]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?.map(text);
    cx.spend(value.len() as u64 / 16)?;
    cx.bytes(&of(value.as_bytes()))
}

fn fnv64a<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    hash(cx, given, hashes::fnv64a)
}

fn sha256<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    hash(cx, given, hashes::sha256)
}

fn md5<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    hash(cx, given, hashes::md5)
}
