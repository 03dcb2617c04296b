//! Texts encrypted with AES-256 in CBC mode, with the initial block in front and padding by PKCS #7.

use aes::Aes256;
use aes::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

/// Bytes of a block.
const BLOCK: usize = 16;

/// Returns the cipher of a password: its first 32 bytes, filled up with zeros.
fn cipher(password: &[u8]) -> Aes256 {
    let mut key = [0; 32];
    key.iter_mut().zip(password).for_each(|(to, from)| *to = *from);
    Aes256::new(&key.into())
}

/// Encrypts a text. `start` is a random block.
pub fn encrypted(password: &[u8], text: &[u8], start: [u8; BLOCK]) -> Vec<u8> {
    let cipher = cipher(password);
    let padding = BLOCK - text.len() % BLOCK;
    let padded = [text, &vec![u8::try_from(padding).unwrap_or(0); padding]].concat();
    let (mut out, mut last) = (start.to_vec(), start);
    for chunk in padded.chunks_exact(BLOCK) {
        let mut block = Block::<Aes256>::default();
        block.iter_mut().zip(chunk.iter().zip(last)).for_each(|(to, (text, last))| *to = text ^ last);
        cipher.encrypt_block(&mut block);
        last = block.into();
        out.extend(last);
    }
    out
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

/// Decrypts a text.
///
/// # Errors
/// The bytes are not an encrypted text, or the password is wrong.
pub fn decrypted(password: &[u8], bytes: &[u8]) -> Result<Vec<u8>, Undecrypted> {
    let (start, blocks) = bytes.split_at_checked(BLOCK).ok_or(Undecrypted::Short)?;
    if blocks.len() % BLOCK != 0 {
        return Err(Undecrypted::Partial);
    }
    let cipher = cipher(password);
    let (mut out, mut last) = (Vec::with_capacity(blocks.len()), start);
    for chunk in blocks.chunks_exact(BLOCK) {
        let mut block = Block::<Aes256>::default();
        block.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        cipher.decrypt_block(&mut block);
        out.extend(block.iter().zip(last).map(|(text, last)| text ^ last));
        last = chunk;
    }
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
