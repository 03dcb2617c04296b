//! Texts encrypted with AES-256 in CBC mode, with the initial block in front and padding by PKCS #7.

use aes::Aes256;
use cbc::cipher::block_padding::{NoPadding, Pkcs7};
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};

/// Bytes of a block.
const BLOCK: usize = 16;

/// Returns the key of a password: its first 32 bytes, filled up with zeros.
fn key(password: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    key.iter_mut().zip(password).for_each(|(to, from)| *to = *from);
    key
}

/// Encrypts a text. `start` is a random block.
pub fn encrypted(password: &[u8], text: &[u8], start: [u8; BLOCK]) -> Vec<u8> {
    let cipher = cbc::Encryptor::<Aes256>::new(&key(password).into(), &start.into());
    [&start[..], &cipher.encrypt_padded_vec::<Pkcs7>(text)].concat()
}

/// The reason that bytes cannot be decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecrypted {
    /// They are shorter than a block.
    Short,
    /// They are not whole blocks.
    Partial,
    /// They are only the initial block, so there is no padding.
    Empty,
    /// The padding is longer than the text: the length of both.
    Padding(usize, usize),
}

/// Decrypts a text. Only the last byte of the padding counts.
///
/// # Errors
/// The bytes are not an encrypted text, or the password is wrong.
pub fn decrypted(password: &[u8], bytes: &[u8]) -> Result<Vec<u8>, Undecrypted> {
    let (start, blocks) = bytes.split_first_chunk::<BLOCK>().ok_or(Undecrypted::Short)?;
    let cipher = cbc::Decryptor::<Aes256>::new(&key(password).into(), start.into());
    let mut out = cipher.decrypt_padded_vec::<NoPadding>(blocks).map_err(|_| Undecrypted::Partial)?;
    let padding = usize::from(*out.last().ok_or(Undecrypted::Empty)?);
    let len = out.len().checked_sub(padding).ok_or(Undecrypted::Padding(padding, out.len()))?;
    out.truncate(len);
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
            assert_eq!(decrypted(b"secretkey", &secret), Ok(text));
        }
        assert_eq!(decrypted(b"k", &[0; 15]), Err(Undecrypted::Short));
        assert_eq!(decrypted(b"k", &[0; 16]), Err(Undecrypted::Empty));
        assert_eq!(decrypted(b"k", &[0; 17]), Err(Undecrypted::Partial));
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
}
