//! Places in an artifact that a test changes or computes again.

/// Returns the offset of an artifact's words and their number.
pub fn words(bytes: &[u8]) -> (usize, usize) {
    let key = b"\xA5words";
    let at = bytes.windows(key.len()).rposition(|window| window == key).map_or(bytes.len(), |at| at + key.len());
    let head = match bytes.get(at) {
        Some(0xC4) => 2,
        Some(0xC5) => 3,
        Some(0xC6) => 5,
        _ => 0,
    };
    (at + head, bytes.len().saturating_sub(at + head) / 4)
}

/// Recomputes the digest if the artifact still has room for one.
pub fn reseal(bytes: &mut [u8]) {
    let key = b"\xA6digest\xC4\x10";
    let Some(at) = bytes.windows(key.len()).position(|window| window == key).map(|at| at + key.len()) else { return };
    if let Some((digest, rest)) = bytes.get_mut(at..).and_then(|bytes| bytes.split_at_mut_checked(16)) {
        digest.copy_from_slice(&xxhash_rust::xxh3::xxh3_128(rest).to_be_bytes());
    }
}
