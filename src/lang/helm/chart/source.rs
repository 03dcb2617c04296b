//! The files of a chart, before they are parsed, and their contents.

pub use dropforge_base::stdlib::encodings::base64 as to_base64;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::load::FETCHED;
use super::schema_read::Fetched;
use super::{Stage, archive};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};
use dropforge_base::files::unreadable;
use dropforge_base::stdlib::encodings::{base64_len, octets_of_padded_base64};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Text;
use dropforge_machine::bytecode::StoredValue;

/// Limits on the files of a chart, including those of packed dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum number of bytes of all files, unpacked. Templates and values count once for each alias of their chart.
    pub total_bytes: u64,
    /// Maximum number of bytes of one file, unpacked.
    pub file_bytes: u64,
    /// Maximum number of files. Templates count once for each alias of their chart.
    pub files: usize,
    /// Maximum nesting of charts in charts.
    pub depth: usize,
    /// Maximum number of charts, with one for each alias.
    pub charts: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { total_bytes: 100 << 20, file_bytes: 5 << 20, files: 20_000, depth: 32, charts: 10_000 }
    }
}

/// The rest of the bounds while files are collected.
#[derive(Debug)]
pub(super) struct Budget {
    pub(super) bounds: Bounds,
    bytes: u64,
    files: usize,
}

impl Budget {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, bytes: bounds.total_bytes, files: bounds.files }
    }

    /// Returns the maximum size of the next file.
    pub(super) fn next_file(&self) -> u64 {
        self.bounds.file_bytes.min(self.bytes)
    }

    /// Counts a file of `bytes` bytes.
    ///
    /// # Errors
    /// `limit.source_bytes` or `limit.templates` if a bound is exceeded.
    pub(super) fn take(&mut self, path: &str, bytes: u64) -> Result<()> {
        let Some(files) = self.files.checked_sub(1) else {
            let most = thousands(self.bounds.files);
            return Err(Stage::Load.error(Code::LimitTemplates, format!("the chart has more than {most} files")));
        };
        if bytes > self.bounds.file_bytes {
            let most = thousands(self.bounds.file_bytes as usize);
            let message = format!("chart file `{path}` is larger than {most} bytes");
            return Err(Stage::Load.error(Code::LimitSourceBytes, message));
        }
        let Some(rest) = self.bytes.checked_sub(bytes) else {
            let most = thousands(self.bounds.total_bytes as usize);
            let message = format!("the files of the chart are larger than {most} bytes together");
            return Err(Stage::Load.error(Code::LimitSourceBytes, message));
        };
        (self.files, self.bytes) = (files, rest);
        Ok(())
    }
}

/// A file of a chart.
#[derive(Debug, Clone)]
pub struct ChartFile {
    /// The path from the chart's directory, with `/` between components.
    pub(super) path: String,
    pub(super) content: Content,
    /// The value that an artifact has of the file.
    pub(super) value: Option<StoredValue>,
}

impl PartialEq for ChartFile {
    fn eq(&self, other: &Self) -> bool {
        (&self.path, &self.content) == (&other.path, &other.content)
    }
}

impl Eq for ChartFile {}

impl ChartFile {
    /// Returns the path from the chart's directory.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the content.
    pub fn bytes(&self) -> &[u8] {
        self.content.bytes()
    }

    /// Returns `true` for the documents of schemas, which are not in the chart's directory.
    pub fn is_fetched(&self) -> bool {
        self.path == FETCHED
    }

    /// Returns the same file, without `prefix` in its path.
    pub(super) fn below(&self, prefix: &str) -> Option<ChartFile> {
        let path = self.path.strip_prefix(prefix)?;
        Some(ChartFile { path: path.to_owned(), ..self.clone() })
    }

    /// Returns the same file in a directory.
    pub(super) fn within(self, directory: &str) -> ChartFile {
        ChartFile { path: format!("{directory}/{}", self.path), ..self }
    }
}

/// The files of a chart: of a directory, of an archive, or in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartSource {
    pub(super) files: Vec<ChartFile>,
    pub(super) bounds: Bounds,
    /// `true` if packed dependencies are directories with the names of their archives.
    pub(super) is_unpacked: bool,
    /// The path of the chart's directory in diagnostics.
    pub(super) folder: Option<Arc<str>>,
}

impl ChartSource {
    /// Reads a chart from a directory, or from an archive if `path` is a file.
    ///
    /// # Errors
    /// `file.read_failed` and the errors of [`ChartSource::directory`] and [`ChartSource::archive`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_following(path, &[])
    }

    /// Works like [`ChartSource::open`]. Links of a directory may lead out of it, to files below the folders `follow`.
    ///
    /// # Errors
    /// Same as [`ChartSource::open`].
    #[doc(hidden)]
    pub fn open_following(path: impl AsRef<Path>, follow: &[PathBuf]) -> Result<Self> {
        let path = path.as_ref();
        if path.is_dir() {
            return Self::of_directory(path, Bounds::default(), follow);
        }
        let bytes = archive::read_file(path, Bounds::default().total_bytes)
            .map_err(|error| Stage::Load.of(unreadable(path, error)))?;
        Self::archive(&bytes, Bounds::default())
    }

    /// Reads the files below a directory, without those that `.helmignore` excludes.
    ///
    /// # Errors
    /// `file.read_failed`; `template.outside_root` for links that lead out of the directory; `limit.*`.
    #[doc(hidden)]
    pub fn directory(root: impl AsRef<Path>, bounds: Bounds) -> Result<Self> {
        Self::of_directory(root.as_ref(), bounds, &[])
    }

    fn of_directory(root: &Path, bounds: Bounds, follow: &[PathBuf]) -> Result<Self> {
        let mut files = archive::files(root, follow, &mut Budget::new(bounds))?;
        files.small_sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files, bounds, is_unpacked: false, folder: None })
    }

    /// Reads the files of a compressed archive, below its only top-level directory.
    ///
    /// # Errors
    /// `input.syntax`; `template.outside_root` for paths that lead out of the archive; `limit.*`.
    #[doc(hidden)]
    pub fn archive(bytes: &[u8], bounds: Bounds) -> Result<Self> {
        Ok(Self {
            files: archive::unpacked_files(bytes, &mut Budget::new(bounds))?,
            bounds,
            is_unpacked: false,
            folder: None,
        })
    }

    /// Returns a chart of files in memory.
    ///
    /// # Errors
    /// `template.outside_root` for a path that leads out of the chart; `limit.*`.
    pub fn from_files<P: Into<String>, B: Into<Vec<u8>>>(files: impl IntoIterator<Item = (P, B)>) -> Result<Self> {
        let mut budget = Budget::new(Bounds::default());
        let file = |(path, bytes): (P, B)| {
            let (path, bytes) = (path.into(), bytes.into());
            budget.take(&path, bytes.len() as u64)?;
            file(path, &bytes)
        };
        let files = files.into_iter().map(file).collect::<Result<_>>()?;
        Ok(Self { files, bounds: Bounds::default(), is_unpacked: false, folder: None })
    }

    /// Sets the path of the chart's directory. Diagnostics name its files by their paths below it, and not by the name of
    /// the chart.
    #[must_use]
    #[doc(hidden)]
    pub fn in_folder(self, path: &str) -> Self {
        Self { folder: Some(path.into()), ..self }
    }

    /// Returns the chart with other content of the file at `path`.
    #[must_use]
    #[doc(hidden)]
    pub fn with_content(&self, path: &str, content: &str) -> Self {
        let changed = |one: &ChartFile| match one.path == path {
            true => ChartFile { path: one.path.clone(), content: Content::of(content.as_bytes()), value: None },
            false => one.clone(),
        };
        Self { files: self.files.iter().map(changed).collect(), ..self.like() }
    }

    /// Returns the chart with documents that its schemas, and those of the charts in it, refer to by their URLs.
    ///
    /// # Errors
    /// `limit.source_bytes` if they are longer than a file of a chart may be.
    #[doc(hidden)]
    pub fn with_schemas(mut self, documents: &BTreeMap<String, String>) -> Result<Self> {
        self.files.retain(|file| !file.is_fetched());
        if !documents.is_empty() {
            let text = serde_json::to_vec(documents).unwrap_or_default();
            Budget::new(self.bounds).take(FETCHED, text.len() as u64)?;
            self.files.push(file(FETCHED.to_owned(), &text)?);
        }
        Ok(self)
    }

    /// Returns the documents that schemas refer to.
    pub(super) fn fetched(&self) -> Result<Fetched> {
        let Some(file) = self.files.iter().find(|file| file.is_fetched()) else { return Ok(Fetched::default()) };
        let documents = serde_json::from_slice(file.bytes()).map_err(|error| {
            Stage::Load.error(Code::InputStructure, format!("the documents of schemas cannot be read: {error}"))
        })?;
        Ok(Arc::new(documents))
    }

    /// Returns a chart without files, which is else like this one.
    pub(super) fn like(&self) -> Self {
        Self { files: Vec::new(), folder: self.folder.clone(), ..*self }
    }

    /// Returns the files.
    pub fn files(&self) -> &[ChartFile] {
        &self.files
    }
}

/// Returns a file with a checked path. A byte order mark is removed from its content.
pub(super) fn file(path: String, bytes: &[u8]) -> Result<ChartFile> {
    if !is_plain(&path) {
        return Err(outside(&path));
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    Ok(ChartFile { path, content: Content::of(bytes), value: None })
}

/// Returns `true` for a relative path without `..` or empty components.
pub(super) fn is_plain(path: &str) -> bool {
    let mut parts = path.as_bytes().split(|byte| *byte == b'/');
    !path.bytes().any(|byte| matches!(byte, 0 | b'\\')) && parts.all(|part| !matches!(part, b"" | b"." | b".."))
}

/// Returns the error of a path that leads out of the chart.
pub(super) fn outside(path: &str) -> Box<Diagnostic> {
    let shown = dropforge_base::stdlib::strings::prefix(path, 200);
    Stage::Load
        .error(Code::OutsideRoot, format!("chart file `{shown}` leads out of the chart"))
        .with_help("use relative paths without `..` and links to files of the chart")
}

/// The content of a file. Cheap to clone.
#[derive(Clone)]
pub(super) enum Content {
    /// UTF-8, static or shared.
    Text(Text),
    /// Bytes that are not UTF-8.
    Bytes(Arc<[u8]>),
}

impl Content {
    pub(super) fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Content::Text(Text::Shared(text.to_owned().into(), 0..text.len())),
            Err(_) => Content::Bytes(bytes.into()),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Content::Text(text) => text.as_str().as_bytes(),
            Content::Bytes(bytes) => bytes,
        }
    }

    /// Returns the text of the file `path` in the directory `at`, which ends with `/` if it is not empty.
    ///
    /// # Errors
    /// `syntax.not_utf8`.
    pub(super) fn text(&self, at: &str, path: &str) -> Result<Text> {
        let bytes = match self {
            Content::Text(text) => return Ok(text.clone()),
            Content::Bytes(bytes) => bytes,
        };
        let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        let message = format!("`{at}{path}` is not valid UTF-8 at byte {valid}");
        Err(Stage::Load.of(Diagnostic::new(Code::NotUtf8, message)))
    }
}

impl Default for Content {
    fn default() -> Self {
        Content::Text(Text::Static(""))
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Content {}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes().len())
    }
}

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
