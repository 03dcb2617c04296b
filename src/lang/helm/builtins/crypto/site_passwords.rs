//! Passwords of sites, derived from one secret (the algorithm of Master Password, version 3).

use hmac::{KeyInit, Mac};

/// The scope of the algorithm.
const SCOPE: &str = "com.lyndir.masterpassword";

/// Parameters of scrypt: the binary logarithm of its cost, the block size, the parallelism.
const SCRYPT: (u8, u32, u32) = (15, 8, 2);

/// Bytes of memory that a derivation takes.
pub const MEMORY: usize = (128 * SCRYPT.1 as usize) << SCRYPT.0;

/// Rough cost of a derivation, in bytes mixed.
pub const WORK: usize = 2 * SCRYPT.2 as usize * MEMORY;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_those_of_other_implementations() {
        let password = |kind: &str| site_password(1, kind.as_bytes(), b"password", b"user", b"example.com");
        assert_eq!(password("long").as_deref(), Some("ZedaFaxcZaso9*"));
        assert_eq!(password("pin").as_deref(), Some("6685"));
        assert!(password("bogus").is_none() && !has_kind(b"bogus") && has_kind(b"basic"));
    }
}
