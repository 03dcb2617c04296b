//! Functions of hashes, passwords and ciphers.

mod aes_text;
mod site_passwords;

use super::arguments::{bytes, only_bytes, two_bytes};
use super::encodings::illegal_base64;
use super::random::{no_source, source as random};
use crate::error::failed;
use crate::values::string;
use aes_text::{Undecrypted, decrypted, encrypted};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::base64::{base64, base64_len, octets_of_padded_base64};
use dropforge_base::stdlib::hashes;
use dropforge_base::stdlib::password_hash::{PASSWORD, password_hash, steps};
use dropforge_base::stdlib::strings::hex;
use dropforge_machine::assigned;
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Sized, Value};
use site_passwords::{has_kind, site_password};

assigned! {
    /// Functions of hashes.
    pub(super) static HASHES:
    "sha1sum" (Str) = |cx, args| hash(cx, args, |bytes| hex(&hashes::sha1(bytes))), "Returns the SHA-1 hash in hexadecimal digits."
        [r#"{{ sha1sum "abc" }}"# => "a9993e364706816aba3e25717850c26c9cd0d89d"];
    "sha256sum" (Str) = |cx, args| hash(cx, args, |bytes| hex(&hashes::sha256(bytes))),
        "Returns the SHA-256 hash in hexadecimal digits."
        [r#"{{ sha256sum "abc" | trunc 16 }}"# => "ba7816bf8f01cfea"];
    "sha512sum" (Str) = |cx, args| hash(cx, args, |bytes| hex(&hashes::sha512(bytes))),
        "Returns the SHA-512 hash in hexadecimal digits."
        [r#"{{ sha512sum "abc" | trunc 16 }}"# => "ddaf35a193617aba"];
    "adler32sum" (Str) = |cx, args| hash(cx, args, |bytes| hashes::adler32(bytes).to_string()),
        "Returns the Adler-32 checksum in decimal digits."
        [r#"{{ adler32sum "Hello world!" }}"# => "487130206"];
}

assigned! {
    /// Functions of passwords and ciphers.
    pub(super) static CIPHERS:
    "bcrypt" (Str) = bcrypt, needs RANDOM, "Returns the bcrypt hash of a password with a random salt."
        [r#"{{ bcrypt "p" | trunc 7 }}"# => "$2a$10$"];
    "htpasswd" (Str, Str) = htpasswd, needs RANDOM, "Returns a line of a file for `htpasswd`: a user and the hash of a password."
        [r#"{{ htpasswd "u" "p" | trunc 9 }}"# => "u:$2a$10$"];
    "derivePassword" (Uint32, Str, Str, Str, Str) = derive_password,
        "Derives the password of a site from a counter, a kind of passwords such as `long`, a secret, a user and the site."
        [r#"{{ derivePassword 1 "long" "password" "user" "example.com" }}"# => "ZedaFaxcZaso9*"];
    "encryptAES" (Str, Str) = encrypt_aes, needs RANDOM, "Encrypts the second text with the first as the password."
        [r#"{{ encryptAES "secret" "text" | decryptAES "secret" }}"# => "text"];
    "decryptAES" (Str, Str) = decrypt_aes, "Decrypts a text that `encryptAES` made with the same password."
        [r#"{{ decryptAES "secret" "bad!" }}"# => "E0404"];
}

fn hash<'v>(cx: &Cx<'v>, args: &[Value<'v>], of: impl Fn(&[u8]) -> String) -> Result<Value<'v>> {
    let bytes = only_bytes(cx, args)?;
    cx.spend(bytes.len() as u64 / 16)?;
    cx.text(&of(bytes))
}

/// The cost of bcrypt.
const COST: u32 = 10;

/// Returns the bcrypt hash of a password, or the message about one that is too long.
fn password(cx: &Cx<'_>, password: &[u8]) -> Result<String> {
    if password.len() > PASSWORD {
        let why = "bcrypt: password length exceeds 72 bytes";
        return Ok(format!("failed to encrypt string with bcrypt: {why}"));
    }
    cx.spend(steps(COST))?;
    Ok(password_hash(password, COST, random::array().map_err(no_source)?))
}

fn bcrypt<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    cx.text(&password(cx, only_bytes(cx, args)?)?)
}

fn htpasswd<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let (user, secret) = two_bytes(cx, args)?;
    cx.charge(user.len().saturating_add(64))?;
    if user.contains(&b':') {
        return string(cx, &[b"invalid username: ", user].concat());
    }
    let hash = password(cx, secret)?;
    string(cx, &[user, b":", hash.as_bytes()].concat())
}

fn derive_password<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [counter, kind, secret, user, site] = args else { return Err(cx.arity()) };
    let Some(Extended::Sized(Sized::Unsigned(_, counter))) = counter.extended() else { return Err(cx.arity()) };
    let kind = bytes(cx, *kind)?;
    if !has_kind(kind) {
        cx.charge(kind.len())?;
        return string(cx, &[b"cannot find password template ", kind].concat());
    }
    cx.charge(site_passwords::MEMORY)?;
    cx.spend(site_passwords::WORK as u64 / 16)?;
    let counter = u32::try_from(*counter).map_err(|_| cx.arity())?;
    let password = site_password(counter, kind, bytes(cx, *secret)?, bytes(cx, *user)?, bytes(cx, *site)?);
    cx.text(&password.ok_or_else(|| failed("failed to derive password"))?)
}

fn encrypt_aes<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let (password, text) = two_bytes(cx, args)?;
    cx.charge(text.len().saturating_mul(2).saturating_add(base64_len(text.len().saturating_add(32))))?;
    let start = random::array().map_err(no_source)?;
    cx.text(&base64(&encrypted(password, text, start)))
}

fn decrypt_aes<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let (password, text) = two_bytes(cx, args)?;
    if text.is_empty() {
        return cx.borrowed("");
    }
    cx.charge(text.len().saturating_mul(2))?;
    let bytes = octets_of_padded_base64(text).map_err(|at| failed(illegal_base64(at)))?;
    let plain = decrypted(password, &bytes).map_err(|why| undecrypted(why, text.len() / 4 * 3))?;
    string(cx, &plain)
}

/// Returns the error of bytes that are no encrypted text. `capacity` is the number of bytes that base64 had space for.
fn undecrypted(why: Undecrypted, capacity: usize) -> Box<Diagnostic> {
    failed(match why {
        Undecrypted::Short if capacity < 16 => {
            format!("runtime error: slice bounds out of range [:16] with capacity {capacity}")
        }
        Undecrypted::Short => "runtime error: makeslice: len out of range".to_owned(),
        Undecrypted::Partial => "crypto/cipher: input not full blocks".to_owned(),
        Undecrypted::Empty => "runtime error: index out of range [-1]".to_owned(),
        Undecrypted::Padding(padding, len) => {
            format!("runtime error: slice bounds out of range [:{}]", len as i64 - padding as i64)
        }
    })
}
