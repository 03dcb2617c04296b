//! Hashes of passwords by bcrypt.

use base64::Engine as _;
use bcrypt::{BASE_64, bcrypt};

/// Maximum length of a password in bytes.
pub const PASSWORD: usize = 72;

/// Returns the steps of a hash. Each unit of work sets up two keys, and each key encrypts 521 blocks.
pub const fn steps(cost: u32) -> u64 {
    1 << (cost + 10)
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
