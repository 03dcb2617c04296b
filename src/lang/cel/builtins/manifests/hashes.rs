//! Hashes of strings.

use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::hashes;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::Value;

overloads! {
    /// The library `hash`.
    pub static TABLE:
    "hash.fnv64a": "Returns the 64-bit FNV-1a hash of a string: fast, but not cryptographic." ["base64.encode(hash.fnv64a('hello'))" => "'pDDYRoCqvQs='"]
        fn "hash.fnv64a_string" (String) -> Bytes = hash(hashes::fnv64a);
    "hash.sha256": "Returns the SHA-256 hash of a string." ["size(hash.sha256('hello'))" => "32"]
        fn "hash.sha256_string" (String) -> Bytes = hash(hashes::sha256);
    "hash.md5": "Returns the MD5 hash of a string." ["base64.encode(hash.md5('hello'))" => "'XUFAKrxLKna5cZ2REBfFkg=='"]
        fn "hash.md5_string" (String) -> Bytes = hash(hashes::md5);
}

fn hash<'v, const N: usize>(of: fn(&[u8]) -> [u8; N]) -> impl Fn(&Cx<'v>, &'v str) -> Result<Value<'v>> {
    move |cx, text| {
        cx.spend(text.len() as u64 / 16)?;
        cx.bytes(&of(text.as_bytes()))
    }
}
