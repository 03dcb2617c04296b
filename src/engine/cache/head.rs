//! The sources that a cache entry was compiled from, by digest.
//!
//! Layout, numbers little-endian: the digest of the rest of the head; the length of that rest (`u32`); then for each
//! name its length (`u32`), its text and the digest of its source, all zero if it was missing. The artifact follows the
//! head and has digests of its own.

use sha2::{Digest as _, Sha256};

use super::Digest;
use dropforge_machine::compiler::Loader;

/// The digest of a missing source.
const NOTHING: Digest = [0; size_of::<Digest>()];

/// The names that the compiler asked for, with the digests of their sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    names: Vec<(String, Digest)>,
}

/// Returns the digest of a loader's answer.
pub(super) fn digest_of(text: Option<&str>) -> Digest {
    text.map_or(NOTHING, |text| Sha256::digest(text).into())
}

impl Head {
    pub(super) fn new(names: Vec<(String, Digest)>) -> Self {
        Self { names }
    }

    /// Returns `true` if `loader` still finds the same sources.
    pub(super) fn holds(&self, loader: &dyn Loader) -> bool {
        self.names.iter().all(|(name, digest)| {
            loader
                .load(name)
                .is_ok_and(|found| digest_of(found.as_deref().map(dropforge_base::text::Source::text)) == *digest)
        })
    }

    /// Encodes the head of an entry.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut rest = Vec::new();
        for (name, digest) in &self.names {
            rest.extend(u32::try_from(name.len()).unwrap_or(u32::MAX).to_le_bytes());
            rest.extend(name.bytes());
            rest.extend(digest);
        }
        let mut bytes = Sha256::digest(&rest).to_vec();
        bytes.extend(u32::try_from(rest.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(rest);
        bytes
    }

    /// Splits an entry into its head and the artifact after it.
    pub(super) fn read(bytes: &[u8]) -> Option<(Head, &[u8])> {
        let (digest, bytes) = bytes.split_first_chunk::<{ size_of::<Digest>() }>()?;
        let (len, bytes) = bytes.split_first_chunk::<4>()?;
        let (mut rest, artifact) = bytes.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?)?;
        if Sha256::digest(rest)[..] != *digest {
            return None;
        }
        let mut names = Vec::new();
        while !rest.is_empty() {
            let (len, behind) = rest.split_first_chunk::<4>()?;
            let (name, behind) = behind.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?)?;
            let (digest, behind) = behind.split_first_chunk()?;
            names.push((String::from_utf8(name.to_vec()).ok()?, *digest));
            rest = behind;
        }
        Some((Head { names }, artifact))
    }
}
