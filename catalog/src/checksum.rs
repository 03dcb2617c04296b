//! SHA-256 checksums.

use sha2::{Digest as _, Sha256};

/// The SHA-256 digest in lower-case hexadecimal.
///
/// ```
/// let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// assert_eq!(dropforge_catalog::checksum(""), empty);
/// ```
pub fn checksum(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
