//! Functions of hashes, passwords and ciphers; random texts and numbers, from the random source of the system, which is good
//! enough for secrets.

use aes::Aes256;
use cbc::cipher::block_padding::{NoPadding, Pkcs7};
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use hmac::{KeyInit, Mac};

use super::encodings::illegal_base64;
use crate::error::failed;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::encodings::{base64, base64_len, octets_of_padded_base64};
use dropforge_base::stdlib::hashes;
use dropforge_base::stdlib::hashes::{PASSWORD, password_hash, random_uuid, steps};
use dropforge_base::stdlib::strings::hex;
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::{Extended, Sized, Value};

functions! {
    /// Functions of hashes.
    pub(super) static HASHES:
    "sha1sum" [Str] = hash(|bytes| hex(&hashes::sha1(bytes))), "Returns the SHA-1 hash in hexadecimal digits."
        [r#"{{ sha1sum "abc" }}"# => "a9993e364706816aba3e25717850c26c9cd0d89d"];
    "sha256sum" [Str] = hash(|bytes| hex(&hashes::sha256(bytes))),
        "Returns the SHA-256 hash in hexadecimal digits."
        [r#"{{ sha256sum "abc" | trunc 16 }}"# => "ba7816bf8f01cfea"];
    "sha512sum" [Str] = hash(|bytes| hex(&hashes::sha512(bytes))),
        "Returns the SHA-512 hash in hexadecimal digits."
        [r#"{{ sha512sum "abc" | trunc 16 }}"# => "ddaf35a193617aba"];
    "adler32sum" [Str] = hash(|bytes| hashes::adler32(bytes).to_string()),
        "Returns the Adler-32 checksum in decimal digits."
        [r#"{{ adler32sum "Hello world!" }}"# => "487130206"];
}

functions! {
    /// Functions of passwords and ciphers.
    pub(super) static CIPHERS:
    "bcrypt" [Str] = password, needs RANDOM, "Returns the bcrypt hash of a password with a random salt."
        [r#"{{ bcrypt "p" | trunc 7 }}"# => "$2a$10$"];
    "htpasswd" [Str, Str] = htpasswd, needs RANDOM, "Returns a line of a file for `htpasswd`: a user and the hash of a password."
        [r#"{{ htpasswd "u" "p" | trunc 9 }}"# => "u:$2a$10$"];
    "derivePassword" [Uint32, Str, Str, Str, Str] = derive_password,
        "Derives the password of a site from a counter, a kind of passwords such as `long`, a secret, a user and the site."
        [r#"{{ derivePassword 1 "long" "password" "user" "example.com" }}"# => "ZedaFaxcZaso9*"];
    "encryptAES" [Str, Str] = encrypt_aes, needs RANDOM, "Encrypts the second text with the first as the password."
        [r#"{{ encryptAES "secret" "text" | decryptAES "secret" }}"# => "text"];
    "decryptAES" [Str, Str] = decrypt_aes, "Decrypts a text that `encryptAES` made with the same password."
        [r#"{{ decryptAES "secret" "bad!" }}"# => "E0404"];
}

/// Returns a body that prints a hash.
fn hash<'v>(of: fn(&[u8]) -> String) -> impl Fn(&Cx<'v>, &'v [u8]) -> Result<String> {
    move |cx, bytes| {
        cx.spend(bytes.len() as u64 / 16)?;
        Ok(of(bytes))
    }
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
    Ok(password_hash(password, COST, array()?))
}

fn htpasswd<'v>(cx: &Cx<'v>, user: &'v [u8], secret: &'v [u8]) -> Result<Value<'v>> {
    cx.charge(user.len().saturating_add(64))?;
    if user.contains(&b':') {
        return cx.string(&[b"invalid username: ", user].concat());
    }
    let hash = password(cx, secret)?;
    cx.string(&[user, b":", hash.as_bytes()].concat())
}

fn derive_password<'v>(
    cx: &Cx<'v>,
    counter: Value<'v>,
    kind: &'v [u8],
    secret: &'v [u8],
    user: &'v [u8],
    site: &'v [u8],
) -> Result<Value<'v>> {
    if !has_kind(kind) {
        cx.charge(kind.len())?;
        return cx.string(&[b"cannot find password template ", kind].concat());
    }
    let _table = cx.hold(MEMORY)?;
    cx.spend(DERIVATION)?;
    let counter = match counter.extended() {
        Some(Extended::Sized(Sized::Unsigned(_, counter))) => u32::try_from(*counter).ok(),
        _ => None,
    };
    let password = counter.and_then(|counter| site_password(counter, kind, secret, user, site));
    cx.text(&password.ok_or_else(|| failed("failed to derive password"))?)
}

fn encrypt_aes<'v>(cx: &Cx<'v>, password: &'v [u8], text: &'v [u8]) -> Result<String> {
    cx.charge(text.len().saturating_mul(2).saturating_add(base64_len(text.len().saturating_add(32))))?;
    let start = array()?;
    Ok(base64(&encrypted(password, text, start)))
}

fn decrypt_aes<'v>(cx: &Cx<'v>, password: &'v [u8], text: &'v [u8]) -> Result<Value<'v>> {
    if text.is_empty() {
        return cx.borrowed("");
    }
    cx.charge(text.len().saturating_mul(2))?;
    let bytes = octets_of_padded_base64(text).map_err(|at| failed(illegal_base64(at)))?;
    let plain = decrypted(password, &bytes, text.len() / 4 * 3)?;
    cx.string(&plain)
}

/// Bytes of a block.
const BLOCK: usize = 16;

/// Returns the key of a password: its first 32 bytes, filled up with zeros.
fn key(password: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    key.iter_mut().zip(password).for_each(|(to, from)| *to = *from);
    key
}

/// Encrypts a text. `start` is a random block.
fn encrypted(password: &[u8], text: &[u8], start: [u8; BLOCK]) -> Vec<u8> {
    let cipher = cbc::Encryptor::<Aes256>::new(&key(password).into(), &start.into());
    [&start[..], &cipher.encrypt_padded_vec::<Pkcs7>(text)].concat()
}

/// Decrypts a text. Only the last byte of the padding counts. `capacity` is the number of bytes that base64 had space for.
///
/// # Errors
/// The bytes are not an encrypted text, or the password is wrong.
fn decrypted(password: &[u8], bytes: &[u8], capacity: usize) -> Result<Vec<u8>> {
    let out_of_range = |range: String| failed(format!("runtime error: slice bounds out of range {range}"));
    let (start, blocks) = bytes.split_first_chunk::<BLOCK>().ok_or_else(|| match capacity {
        ..BLOCK => out_of_range(format!("[:16] with capacity {capacity}")),
        _ => failed("runtime error: makeslice: len out of range"),
    })?;
    let cipher = cbc::Decryptor::<Aes256>::new(&key(password).into(), start.into());
    let plain = cipher.decrypt_padded_vec::<NoPadding>(blocks);
    let mut out = plain.map_err(|_| failed("crypto/cipher: input not full blocks"))?;
    let last = out.last().ok_or_else(|| failed("runtime error: index out of range [-1]"))?;
    let len = out.len() as i64 - i64::from(*last);
    out.truncate(usize::try_from(len).map_err(|_| out_of_range(format!("[:{len}]")))?);
    Ok(out)
}

/// The scope of the algorithm.
const SCOPE: &str = "com.lyndir.masterpassword";

/// Parameters of scrypt: the binary logarithm of its cost, the block size, the parallelism.
const SCRYPT: (u8, u32, u32) = (15, 8, 2);

/// Bytes of memory that a derivation takes.
const MEMORY: usize = (128 * SCRYPT.1 as usize) << SCRYPT.0;

/// Steps charged for a derivation, besides its memory. It mixes the memory twice for each of the parallel parts.
const DERIVATION: u64 = 2 * SCRYPT.2 as u64 * MEMORY as u64 / 1024;

/// Templates of passwords by kind. Each letter stands for a class of characters.
const TEMPLATES: [(&str, &[&str]); 6] = [
    ("maximum", &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"]),
    (
        "long",
        &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
    ),
    ("medium", &["CvcnoCvc", "CvcCvcno"]),
    ("short", &["Cvcn"]),
    ("basic", &["aaanaaan", "aannaaan", "aaannaaa"]),
    ("pin", &["nnnn"]),
];

/// The classes of characters by their letters.
const CLASSES: [(u8, &[u8]); 9] = [
    (b'V', b"AEIOU"),
    (b'C', b"BCDFGHJKLMNPQRSTVWXYZ"),
    (b'v', b"aeiou"),
    (b'c', b"bcdfghjklmnpqrstvwxyz"),
    (b'A', b"AEIOUBCDFGHJKLMNPQRSTVWXYZ"),
    (b'a', b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz"),
    (b'n', b"0123456789"),
    (b'o', b"@&%?,=[]_:-+*$#!'^~;()/."),
    (b'x', b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()"),
];

/// Returns `true` if passwords of this kind exist.
pub fn has_kind(kind: &[u8]) -> bool {
    templates(kind).is_some()
}

fn templates(kind: &[u8]) -> Option<&'static [&'static str]> {
    TEMPLATES.iter().find(|(name, _)| name.as_bytes() == kind).map(|(_, templates)| *templates)
}

/// Returns the password of a site. `None` if there is no such kind of passwords.
pub fn site_password(counter: u32, kind: &[u8], secret: &[u8], user: &[u8], site: &[u8]) -> Option<String> {
    let templates = templates(kind)?;
    let mut key = [0; 64];
    let params = scrypt::Params::new(SCRYPT.0, SCRYPT.1, SCRYPT.2).ok()?;
    scrypt::scrypt(secret, &scoped(user), &params, &mut key).ok()?;
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(&key).ok()?;
    mac.update(&scoped(site));
    mac.update(&counter.to_be_bytes());
    let seed = mac.finalize().into_bytes();
    let (first, seed) = seed.split_first()?;
    let template = templates.get(usize::from(*first) % templates.len())?;
    let character = |(class, seed): (u8, &u8)| {
        let (_, characters) = CLASSES.iter().find(|(letter, _)| *letter == class)?;
        characters.get(usize::from(*seed) % characters.len()).copied().map(char::from)
    };
    template.bytes().zip(seed).map(character).collect()
}

/// Returns a name with its length, after the scope.
fn scoped(name: &[u8]) -> Vec<u8> {
    let len = u32::try_from(name.len()).unwrap_or(u32::MAX);
    [SCOPE.as_bytes(), &len.to_be_bytes(), name].concat()
}

functions! {
    /// Functions of random texts and numbers.
    pub(super) static RANDOM:
    "randAlphaNum" [Int] = text(LETTERS_AND_DIGITS), needs RANDOM,
        "Returns a random text of a number of letters and digits."
        [r#"{{ randAlphaNum 10 | len }}"# => "10", r#"[{{ randAlphaNum -1 }}]"# => "[]"];
    "randAlpha" [Int] = text(LETTERS), needs RANDOM, "Returns a random text of a number of letters."
        [r#"{{ randAlpha 10 | len }}"# => "10"];
    "randNumeric" [Int] = text(DIGITS), needs RANDOM, "Returns a random text of a number of digits."
        [r#"{{ randNumeric 6 | regexMatch "^[0-9]{6}$" }}"# => "true"];
    "randAscii" [Int] = text(&ASCII), needs RANDOM,
        "Returns a random text of a number of printable ASCII characters." [r#"{{ randAscii 20 | len }}"# => "20"];
    "randBytes" [Int] = rand_bytes, needs RANDOM, "Returns a number of random bytes in base64."
        [r#"{{ randBytes 9 | b64dec | len }}"# => "9"];
    "randInt" [Int, Int] = rand_int, needs RANDOM, "Returns a random integer, from the first number to below the second."
        [r#"{{ randInt 5 6 }}"# => "5", r#"{{ randInt 6 5 }}"# => "E0404"];
    "uuidv4" [] = uuid, needs RANDOM, "Returns a random UUID." [r#"{{ uuidv4 | len }}"# => "36"];
}

/// The printable characters of ASCII.
static ASCII: [u8; 95] = {
    let mut all = [b' '; 95];
    let mut at = 0;
    while at < 95 {
        all[at] += at as u8;
        at += 1;
    }
    all
};

/// Returns a body that makes a text of characters of an alphabet.
fn text<'v>(alphabet: &'static [u8]) -> impl Fn(&Cx<'v>, i64) -> Result<String> {
    move |cx, len| {
        // A negative length is an error that the original ignores.
        let len = usize::try_from(len).unwrap_or(0);
        cx.charge(len)?;
        random_text(alphabet, len)
    }
}

fn rand_bytes<'v>(cx: &Cx<'v>, len: i64) -> Result<String> {
    let len = usize::try_from(len).map_err(|_| failed("runtime error: makeslice: len out of range"))?;
    cx.charge(len.saturating_add(base64_len(len)))?;
    let mut bytes = vec![0; len];
    fill(&mut bytes)?;
    Ok(base64(&bytes))
}

fn rand_int(least: i64, end: i64) -> Result<i64> {
    let count = u64::try_from(end.wrapping_sub(least)).ok().filter(|count| *count > 0);
    let count = count.ok_or_else(|| failed("invalid argument to Intn"))?;
    Ok(least.wrapping_add_unsigned(below(count)?))
}

fn uuid() -> Result<String> {
    Ok(random_uuid(u128::from_be_bytes(array()?)))
}

/// Lower-case and upper-case letters and digits.
pub const LETTERS_AND_DIGITS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Letters.
pub const LETTERS: &[u8] = LETTERS_AND_DIGITS.split_at(52).0;

/// Digits.
pub const DIGITS: &[u8] = LETTERS_AND_DIGITS.split_at(52).1;

/// Returns the error of the source of random bytes.
pub(super) fn no_source() -> Box<Diagnostic> {
    failed("the system has no random numbers")
}

/// Fills a buffer with random bytes.
///
/// # Errors
/// The source failed.
pub fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|_| no_source())
}

/// Returns an array of random bytes.
///
/// # Errors
/// The source failed.
pub fn array<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    fill(&mut bytes).map(|()| bytes)
}

/// Returns a number below `bound`, all equally likely.
///
/// # Errors
/// The source failed.
pub fn below(bound: u64) -> Result<u64> {
    let excess = (u64::MAX % bound.max(1) + 1) % bound.max(1);
    loop {
        let number = u64::from_le_bytes(array()?);
        if number <= u64::MAX - excess {
            return Ok(number % bound.max(1));
        }
    }
}

/// Returns a text of `len` characters of an alphabet of ASCII characters, all equally likely.
///
/// # Errors
/// The source failed.
pub fn random_text(alphabet: &[u8], len: usize) -> Result<String> {
    let mut out = String::with_capacity(len);
    // Bytes beyond the last multiple of the alphabet's size would make its first characters more likely.
    let most = 256 - 256 % alphabet.len().clamp(1, 256);
    let mut bytes = [0; 64];
    while out.len() < len {
        fill(&mut bytes)?;
        let fair = bytes.iter().map(|byte| usize::from(*byte)).filter(|byte| *byte < most);
        let chosen = fair.filter_map(|byte| alphabet.get(byte % alphabet.len())).take(len - out.len());
        out.extend(chosen.map(|byte| char::from(*byte)));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for len in [0, 1, 15, 16, 17, 100] {
            let text = vec![b'a'; len];
            let secret = encrypted(b"secretkey", &text, [7; BLOCK]);
            assert_eq!(secret.len(), BLOCK + (len / BLOCK + 1) * BLOCK);
            assert_eq!(decrypted(b"secretkey", &secret, secret.len()).unwrap(), text);
        }
        let error = |bytes: &[u8]| decrypted(b"k", bytes, 18).unwrap_err().message.clone();
        assert_eq!(error(&[0; 15]), "runtime error: makeslice: len out of range");
        assert_eq!(error(&[0; 16]), "runtime error: index out of range [-1]");
        assert_eq!(error(&[0; 17]), "crypto/cipher: input not full blocks");
    }

    #[test]
    fn blocks_are_those_of_the_standard() {
        // The example of FIPS-197: in CBC mode with an initial block of zeros, the first block is that of AES.
        let key: Vec<u8> = (0..32).collect();
        let text: Vec<u8> = (0..16).map(|n| n * 0x11).collect();
        let secret = encrypted(&key, &text, [0; BLOCK]);
        let wanted = [0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf, 0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89];
        assert_eq!(secret.get(16..32), Some(wanted.as_slice()));
    }

    #[test]
    fn passwords_are_those_of_other_implementations() {
        let password = |kind: &str| site_password(1, kind.as_bytes(), b"password", b"user", b"example.com");
        assert_eq!(password("long").as_deref(), Some("ZedaFaxcZaso9*"));
        assert_eq!(password("pin").as_deref(), Some("6685"));
        assert!(password("bogus").is_none() && !has_kind(b"bogus") && has_kind(b"basic"));
    }
}

#[cfg(test)]
mod random_tests {
    use super::*;

    #[test]
    fn texts_have_the_length_and_all_characters_of_the_alphabet() {
        for alphabet in [LETTERS_AND_DIGITS, LETTERS, DIGITS, b"a"] {
            let text = random_text(alphabet, 5_000).unwrap();
            assert_eq!(text.len(), 5_000);
            assert!(text.bytes().all(|byte| alphabet.contains(&byte)));
            assert!(alphabet.iter().all(|byte| text.as_bytes().contains(byte)));
        }
        assert_eq!(random_text(DIGITS, 0).unwrap(), "");
    }

    #[test]
    fn numbers_are_below_the_bound() {
        let numbers: Vec<u64> = (0..200).map(|_| below(3).unwrap()).collect();
        assert!((0..3).all(|n| numbers.contains(&n)) && numbers.iter().all(|n| *n < 3));
        assert_eq!((below(0).unwrap(), below(1).unwrap()), (0, 0));
        assert_ne!(below(u64::MAX).unwrap(), below(u64::MAX).unwrap());
    }
}
