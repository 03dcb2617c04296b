//! Base64.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;

/// Standard base64 with optional padding.
const BASE64_LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Encodes octets as padded standard base64.
pub(crate) fn base64(octets: &[u8]) -> String {
    BASE64_STANDARD.encode(octets)
}

/// Returns the length of the result of [`base64`].
pub(crate) const fn base64_len(octets: usize) -> usize {
    octets.div_ceil(3).saturating_mul(4)
}

/// Decodes standard base64, padded or not, ignoring line breaks.
pub(crate) fn octets_of_base64(text: &str) -> Option<Vec<u8>> {
    BASE64_LENIENT.decode(text.replace(['\n', '\r'], "")).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_is_decoded_with_and_without_padding() {
        assert_eq!((super::base64(b"hello"), super::base64_len(5)), ("aGVsbG8=".to_owned(), 8));
        for text in ["aGVsbG8=", "aGVsbG8", "aGVs\r\nbG8="] {
            assert_eq!(super::octets_of_base64(text).as_deref(), Some(b"hello".as_slice()), "{text:?}");
        }
        for bad in ["a", "aGVsbG8==", "aGV sbG8=", "aGVsbG8-"] {
            assert_eq!(super::octets_of_base64(bad), None, "{bad:?}");
        }
    }
}
