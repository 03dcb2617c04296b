//! Packed charts as text: in base64.

use super::error::Stage;
use dropforge_base::diagnostics::{Code, Result, thousands};
use dropforge_base::stdlib::base64::{base64_len, octets_of_padded_base64};

pub use dropforge_base::stdlib::base64::base64 as to_base64;

/// Decodes a packed chart of at most `most` bytes from padded base64, which may have line breaks.
///
/// # Errors
/// `input.syntax` for text that is not base64; `limit.source_bytes`.
///
/// ```
/// use dropforge::dialect::helm::chart::{from_base64, to_base64};
/// assert_eq!(from_base64(&to_base64(b"chart"), 5)?, b"chart");
/// assert!(from_base64("Y2hhcnQ=", 4).is_err() && from_base64("Y2h", 5).is_err());
/// # Ok::<(), dropforge::Error>(())
/// ```
pub fn from_base64(text: &str, most: usize) -> Result<Vec<u8>> {
    let too_large = || {
        let message = format!("the packed chart is larger than {} bytes", thousands(most));
        Stage::Load.error(Code::LimitSourceBytes, message)
    };
    let digits = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).count();
    if digits > base64_len(most) {
        return Err(too_large());
    }
    let bytes = octets_of_padded_base64(text.as_bytes());
    let bytes = bytes.map_err(|at| {
        Stage::Load.error(Code::InputSyntax, format!("the packed chart is not base64 at byte {}", thousands(at)))
    })?;
    if bytes.len() > most { Err(too_large()) } else { Ok(bytes) }
}
