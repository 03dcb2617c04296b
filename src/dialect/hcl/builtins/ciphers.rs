//! Functions of ciphers: hashes of passwords, and texts that were encrypted.

use base64::Engine as _;
use bcrypt::{BASE_64, bcrypt};

use super::arguments::{answer, text, whole};
use super::encodings::from_base64;
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::Cx;
use crate::positional;
use crate::stdlib::rsa::PrivateKey;
use crate::value::Value;

positional! {
    /// Functions of ciphers, all of them OpenTofu's.
    pub(super) static CIPHERS:
    "bcrypt" (str: String, ... cost: Number) -> String = hash_password, needs RANDOM,
        "A hash of a password, made with Blowfish and a random salt. Each one more of cost, which is 10 else, doubles the work."
        ["length(bcrypt(\"secret\", 4))" => "60", "substr(bcrypt(\"secret\", 5), 0, 7)" => "\"$2a$05$\""];
    "rsadecrypt" (ciphertext: String, privatekey: String) -> String = decrypt,
        "The text that was encrypted for a private key in PEM (RSA, padded by PKCS #1 v1.5) and written in base64."
        ["can(rsadecrypt(\"aGVsbG8=\", \"no key\"))" => "false"];
}

/// What the cost is where none is given, or one that is too small.
const COST: u32 = 10;

/// Bytes of a password that count; a longer one is refused.
const PASSWORD: usize = 72;

fn hash_password<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let password = text(args, 0)?;
    let cost = match args.len() {
        1 => i64::from(COST),
        2 => whole(args, 1)?,
        _ => return Err(Fault::wrong("no more than two arguments are taken")),
    };
    if cost > 31 {
        return Err(Fault::wrong(format!("the cost is {cost}, more than 31")));
    }
    let cost = u32::try_from(cost).ok().filter(|cost| *cost >= 4).unwrap_or(COST);
    if password.len() > PASSWORD {
        return Err(Fault::wrong(format!("the password is longer than {PASSWORD} bytes")));
    }
    // Two keys are set up for each unit of work, each with 521 blocks to encrypt.
    cx.spend(1 << (cost + 10))?;
    let salt = fastrand::u128(..).to_be_bytes();
    answer(cx, &password_hash(password, cost, salt))
}

/// The hash in its usual form: its kind, the cost, the salt and what came out.
fn password_hash(password: &str, cost: u32, salt: [u8; 16]) -> String {
    // The password ends with a zero where there is room for it.
    let key: Vec<u8> = password.bytes().chain([0]).take(PASSWORD).collect();
    let hash = bcrypt(cost, salt, &key);
    format!("$2a${cost:02}${}{}", BASE_64.encode(salt), BASE_64.encode(hash.get(..23).unwrap_or(&hash)))
}

fn decrypt<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (encrypted, key) = (text(args, 0)?, text(args, 1)?);
    let encrypted = from_base64(cx, encrypted)?.ok_or_else(|| Fault::argument(0, "the text is not base64"))?;
    cx.charge(key.len() * 2)?;
    let key = PrivateKey::from_pem(key).map_err(|why| Fault::argument(1, why.to_string()))?;
    let limbs = key.bits() / 64;
    cx.spend(key.bits() * limbs * limbs / 4)?;
    let decrypted = key.decrypt(&encrypted).map_err(|why| Fault::wrong(why.to_string()))?;
    let text = std::str::from_utf8(&decrypted).map_err(|_| Fault::wrong("what was encrypted is no text in UTF-8"))?;
    answer(cx, text)
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
