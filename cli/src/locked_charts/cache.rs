//! Packed charts and schemas on this machine, by their digests.

use std::path::PathBuf;

use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::files;
use dropforge::stdlib::hashes::sha256;
use dropforge::stdlib::strings::hex;

use crate::compile::user_dir;

/// Maximum length of a packed chart.
const MAX: u64 = 64 << 20;

/// A folder of packed charts or schemas.
#[derive(Debug)]
pub(crate) struct ChartCache {
    dir: PathBuf,
    ending: &'static str,
}

impl ChartCache {
    /// Returns the cache of packed charts of this user: below `$DROPFORGE_CACHE`, or the user's cache directory.
    ///
    /// # Errors
    /// `usage` if there is no such directory.
    pub(crate) fn of_user() -> Result<Self> {
        Self::named("charts", "tgz")
    }

    /// Returns the cache of schemas of this user.
    ///
    /// # Errors
    /// Same as [`ChartCache::of_user`].
    pub(crate) fn of_schemas() -> Result<Self> {
        Self::named("schemas", "json")
    }

    fn named(name: &str, ending: &'static str) -> Result<Self> {
        let set = std::env::var_os("DROPFORGE_CACHE").filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let dir = set.or_else(|| Some(user_dir()?.join("dropforge")));
        let dir = dir.ok_or_else(|| {
            Diagnostic::new(Code::Usage, "there is no directory for fetched charts").with_help("set `DROPFORGE_CACHE`")
        })?;
        Ok(Self { dir: dir.join(name), ending })
    }

    /// Returns the path of a chart.
    pub(crate) fn path(&self, digest: &str) -> PathBuf {
        let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
        self.dir.join(hex.get(..2).unwrap_or(hex)).join(format!("{hex}.{}", self.ending))
    }

    /// Returns the path of a chart if it is there.
    ///
    /// # Errors
    /// `store.wrong_digest` if it was changed; `file.read_failed`.
    pub(crate) fn find(&self, digest: &str) -> Result<Option<PathBuf>> {
        let path = self.path(digest);
        if !path.is_file() {
            return Ok(None);
        }
        let bytes = files::read(&path, MAX).map_err(|error| files::unreadable(&path, error))?;
        let found = hex(&sha256(&bytes));
        if Some(found.as_str()) == digest.strip_prefix("sha256:") {
            return Ok(Some(path));
        }
        let message = format!("the fetched file `{}` was changed", path.display());
        Err(Diagnostic::new(Code::WrongDigest, message).with_help("delete it, then run `dropforge deps build`"))
    }

    /// Keeps a chart. Returns its path.
    ///
    /// # Errors
    /// `file.write_failed`.
    #[cfg(feature = "remote")]
    pub(crate) fn put(&self, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.path(&hex(&sha256(bytes)));
        let parent = path.parent().unwrap_or(std::path::Path::new(""));
        std::fs::create_dir_all(parent).map_err(|error| {
            let message = format!("cannot write to `{}`: {error}", parent.display());
            Diagnostic::new(Code::WriteFailed, message).caused_by(error)
        })?;
        dropforge::bulk::write_file(&path, bytes, false)?;
        Ok(path)
    }
}

#[cfg(all(test, feature = "remote"))]
mod tests {
    use super::*;

    #[test]
    fn charts_are_found_by_their_digest_unless_they_were_changed() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ChartCache { dir: dir.path().join("charts"), ending: "tgz" };
        let digest = format!("sha256:{}", hex(&sha256(b"x")));
        assert_eq!(cache.find(&digest).unwrap(), None);
        let path = cache.put(b"x").unwrap();
        assert_eq!(cache.find(&digest).unwrap(), Some(path.clone()));
        std::fs::write(path, "y").unwrap();
        assert_eq!(cache.find(&digest).unwrap_err().code, Code::WrongDigest);
    }
}
