//! Password hashes and decryption.

use base64::Engine as _;
use bcrypt::{BASE_64, bcrypt};

use super::encodings::from_base64;
use super::{functions, string, whole};
use crate::function::{Cx, Fault, Outcome};
use crate::stdlib::rsa::PrivateKey;
use crate::value::Value;

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

/// Maximum length of a password in bytes.
const PASSWORD: usize = 72;

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
    // Each unit of work sets up two keys, and each key encrypts 521 blocks.
    cx.spend(1 << (cost + 10))?;
    let salt = fastrand::u128(..).to_be_bytes();
    string(cx, &password_hash(password, cost, salt))
}

/// Returns the hash in modular crypt format: algorithm, cost, salt and digest.
fn password_hash(password: &str, cost: u32, salt: [u8; 16]) -> String {
    // The key is the password with a final zero byte, if that fits.
    let key: Vec<u8> = password.bytes().chain([0]).take(PASSWORD).collect();
    let hash = bcrypt(cost, salt, &key);
    format!("$2a${cost:02}${}{}", BASE_64.encode(salt), BASE_64.encode(hash.get(..23).unwrap_or(&hash)))
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
            assert_eq!(password_hash(password, cost, salt(&hash[7..29])), hash, "{password}");
        }
    }
}
