//! Hashes of bytes, UUIDs made of them, and hashes of passwords by bcrypt.

use base64::Engine as _;
use bcrypt::{BASE_64, bcrypt};
use md5::Digest as _;

/// Returns the MD5 hash.
pub fn md5(bytes: &[u8]) -> [u8; 16] {
    md5::Md5::digest(bytes).into()
}

/// Returns the SHA-1 hash.
pub fn sha1(bytes: &[u8]) -> [u8; 20] {
    sha1::Sha1::digest(bytes).into()
}

/// Returns the SHA-256 hash.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    sha2::Sha256::digest(bytes).into()
}

/// Returns the SHA-512 hash.
pub fn sha512(bytes: &[u8]) -> [u8; 64] {
    sha2::Sha512::digest(bytes).into()
}

/// Returns the FNV-1a hash of 64 bits.
pub fn fnv64a(bytes: &[u8]) -> [u8; 8] {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix).to_be_bytes()
}

/// Returns the Adler-32 checksum.
pub fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    // So many bytes cannot overflow the sums.
    let (a, b) = bytes.chunks(5_000).fold((1, 0), |sums, chunk| {
        let (a, b) = chunk.iter().fold(sums, |(a, b), byte| (a + u32::from(*byte), b + a + u32::from(*byte)));
        (a % MODULUS, b % MODULUS)
    });
    b << 16 | a
}

/// Returns the UUID (version 4) of random bits.
pub fn random_uuid(bits: u128) -> String {
    uuid(bits & !(0xF << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62)
}

/// The namespaces of RFC 4122 by their short names.
const NAMESPACES: [(&str, u128); 4] = [
    ("dns", 0x6ba7b810_9dad_11d1_80b4_00c04fd430c8),
    ("url", 0x6ba7b811_9dad_11d1_80b4_00c04fd430c8),
    ("oid", 0x6ba7b812_9dad_11d1_80b4_00c04fd430c8),
    ("x500", 0x6ba7b814_9dad_11d1_80b4_00c04fd430c8),
];

/// Returns the UUID (version 5) of `name` in a namespace, which is a short name or a UUID.
pub fn uuid_of_name(namespace: &str, name: &str) -> Option<String> {
    let short = NAMESPACES.iter().find(|(short, _)| *short == namespace).map(|(_, bits)| *bits);
    let namespace = short.or_else(|| uuid_bits(namespace))?;
    let hash = sha1(&[&namespace.to_be_bytes()[..], name.as_bytes()].concat());
    let bits = u128::from_be_bytes(*hash.first_chunk()?);
    let versioned = bits & !(0xF << 76) & !(0b11 << 62) | 5 << 76 | 0b10 << 62;
    Some(uuid(versioned))
}

/// Returns the text of a UUID.
pub fn uuid(bits: u128) -> String {
    let [a, b, c, d] = [bits >> 96, bits >> 80, bits >> 64, bits >> 48].map(|bits| bits as u64);
    let [b, c, d] = [b, c, d].map(|group| group & 0xFFFF);
    format!("{:08x}-{b:04x}-{c:04x}-{d:04x}-{:012x}", a as u32, bits & 0xFFFF_FFFF_FFFF)
}

/// Parses a UUID: 32 hexadecimal digits with or without hyphens, in braces or after `urn:uuid:`.
fn uuid_bits(text: &str) -> Option<u128> {
    let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    let hyphens: Vec<usize> = text.match_indices('-').map(|(at, _)| at).collect();
    if !hyphens.is_empty() && hyphens != [8, 13, 18, 23] {
        return None;
    }
    let digits = text.replace('-', "");
    let is_hex = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex { u128::from_str_radix(&digits, 16).ok() } else { None }
}

/// Maximum length of a password in bytes.
pub const PASSWORD: usize = 72;

/// Returns the steps of a hash: in proportion to its time, which doubles with each unit of the cost, and few, so that a
/// template may make some hundred hashes of the usual cost.
pub const fn steps(cost: u32) -> u64 {
    1 << (cost + 8)
}

/// Returns the hash in modular crypt format: algorithm, cost, salt and digest.
pub fn password_hash(password: &[u8], cost: u32, salt: [u8; 16]) -> String {
    // The key is the password with a final zero byte, if that fits.
    let key: Vec<u8> = password.iter().copied().chain([0]).take(PASSWORD).collect();
    let hash = bcrypt(cost, salt, &key);
    format!("$2a${cost:02}${}{}", BASE_64.encode(salt), BASE_64.encode(hash.get(..23).unwrap_or(&hash)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stdlib::strings::hex;

    #[test]
    fn hashes_of_known_texts() {
        assert_eq!(hex(&md5(b"")), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex(&sha1(b"abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(hex(&sha256(b"abc")[..4]), "ba7816bf");
        assert_eq!(hex(&sha512(b"abc")[..4]), "ddaf35a1");
        assert_eq!((hex(&fnv64a(b"")), hex(&fnv64a(b"a"))), ("cbf29ce484222325".into(), "af63dc4c8601ec8c".into()));
    }

    #[test]
    fn checksums_and_random_uuids() {
        assert_eq!((adler32(b""), adler32(b"abc"), adler32(b"Hello world!")), (1, 38_600_999, 487_130_206));
        assert_eq!(adler32(&[0xFF; 20_000]), 2_672_940_644);
        assert_eq!(random_uuid(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }

    #[test]
    fn names_have_one_uuid_each() {
        let wanted = Some("faa898db-9b9d-5b75-86a9-149e7bb8e3b8".to_owned());
        for namespace in ["dns", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "{6BA7B8109DAD11D180B400C04FD430C8}"] {
            assert_eq!(uuid_of_name(namespace, "tada"), wanted, "{namespace}");
        }
        for wrong in ["", "DNS", "6ba7b810", "6ba7b8109-dad-11d1-80b4-00c04fd430c8", "+ba7b8109dad11d180b400c04fd430c8"]
        {
            assert_eq!(uuid_of_name(wrong, "tada"), None, "{wrong}");
        }
        assert_eq!(uuid(0), "00000000-0000-0000-0000-000000000000");
    }

    #[test]
    fn hashes_are_those_of_other_implementations() {
        let salt = |text: &str| BASE_64.decode(text).unwrap().try_into().unwrap();
        for (password, hash) in [
            ("", "$2a$04$9r5ff3UlYRh0hWi4.ThXsusYRYmAqRKZaTv6Z7yGvUsqwtmRnrGt."),
            ("secret", "$2a$04$xwTA9pQtugaErmiNs2sKa.RNzqJBxHJAgfxJNP7q1cbERjA0c4S/m"),
            ("é😀", "$2a$04$Zh.3oV6c5P9K0d3D8Lb9muhDDXKqfer9/s49VjF9GccxsPkcgPeB2"),
            (
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "$2a$04$0c0uSVNAA02u3Vn.IJzC9OSkkEEWlsBs2N9cGb3kftqO8Zq8OlDFW",
            ),
            (
                "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
                "$2a$04$NCGWir5Mnu4b3h2/SlddseGkfEeLUtnskONKW4vOgZvhtjIjDFnwy",
            ),
        ] {
            let cost = hash[4..6].parse().unwrap();
            assert_eq!(password_hash(password.as_bytes(), cost, salt(&hash[7..29])), hash, "{password}");
        }
    }
}
