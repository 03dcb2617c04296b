//! The files of a chart that its templates can read.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::content::Content;
use super::source::ChartFile;
use dropforge_base::stdlib::globs::PathGlob;
use dropforge_base::stdlib::small_sort::tree_map;

/// Files by path, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSet(Arc<BTreeMap<String, Content>>);

/// The error of the lines of an empty file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmptyFile;

impl FileSet {
    pub(super) fn of(files: impl IntoIterator<Item = ChartFile>) -> Self {
        Self(Arc::new(tree_map(files.into_iter().map(|file| (file.path, file.content)))))
    }

    /// Returns the content of a file.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.0.get(path).map(Content::bytes)
    }

    /// Returns the files with their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(path, content)| (path.as_str(), content.bytes()))
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there are no files.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the files whose paths match a pattern; all of them if the pattern is malformed.
    pub fn glob(&self, pattern: &str) -> FileSet {
        let Some(glob) = PathGlob::parse(pattern) else { return self.clone() };
        let matching = self.0.iter().filter(|(path, _)| glob.matches(path));
        Self(Arc::new(tree_map(matching.map(|(path, content)| (path.clone(), content.clone())))))
    }

    /// Returns the lines of a file without a final line end. A file that does not exist has none.
    ///
    /// # Errors
    /// The file is empty.
    pub fn lines(&self, path: &str) -> Result<Vec<&[u8]>, EmptyFile> {
        match self.get(path) {
            None => Ok(Vec::new()),
            Some([]) => Err(EmptyFile),
            Some(bytes) => Ok(bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n').collect()),
        }
    }
}
