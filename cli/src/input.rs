//! Reading input files, and objects by their URLs. `-` is standard input.

mod contents;
mod sops;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dropforge::bulk::{FleetFile, Format, PlanDigest, ReadLog, TemplateSet};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result, not_utf8};
use dropforge::dialect::helm::chart::ChartSource;
use dropforge::engine::chart::ChartTemplate;
use dropforge::engine::path_from_here;
use dropforge::files::{self, Files, unreadable};
use dropforge::text::Source;
use humansize::{BINARY, format_size};

use contents::{Content, Contents, Key, Pipe, Reach, beyond_dash, local};
pub(crate) use contents::{check_one_dash, is_below, is_pipe, outside, repository};
use sops::Decrypted;
pub(crate) use sops::values_format;

use crate::remote;

/// The number of bytes that the format of a stream is guessed from.
const HEAD: usize = 1 << 16;

/// Reads the input files of a command, each once. Options that name the same file or pipe get the same content.
#[derive(Debug)]
pub(crate) struct InputFiles {
    contents: Contents,
    max_bytes: u64,
    fetched: remote::Fetched,
    /// Local copies of what URLs name, and the URLs.
    copies: Vec<(PathBuf, String)>,
    /// The folders that links of charts may lead to.
    follow_links: Vec<PathBuf>,
    /// The documents that schemas of charts refer to, by their URLs.
    schemas: BTreeMap<String, String>,
    /// The digest of all that was read, if it is wanted.
    digest: Option<PlanDigest>,
    /// The files that were read, for a state.
    log: ReadLog,
    /// Files with another text than on disk.
    open: OpenFiles,
    reach: Reach,
    /// The paths of the files that were read, and of templates.
    given: Vec<PathBuf>,
    /// The charts that were parsed, by their paths.
    charts: HashMap<PathBuf, (ChartSource, ChartTemplate)>,
    decrypted: Decrypted,
}

/// Texts in place of those of files on disk, as of files that are open in an editor.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenFiles(
    /// By the canonical paths of the files.
    pub(crate) Arc<HashMap<PathBuf, Arc<String>>>,
);

impl OpenFiles {
    /// Returns the text of a file that is open.
    fn text(&self, path: &Path) -> Option<Arc<String>> {
        if self.0.is_empty() { None } else { self.0.get(&path.canonicalize().ok()?).cloned() }
    }

    /// Returns the files below a folder, by their paths from there with `/`.
    pub(crate) fn below(&self, root: &Path) -> Vec<(String, Arc<String>)> {
        let Ok(root) = root.canonicalize() else { return Vec::new() };
        let name = |path: &Path| {
            let parts = path.strip_prefix(&root).ok()?.components();
            parts.map(|part| part.as_os_str().to_str()).collect::<Option<Vec<_>>>().map(|parts| parts.join("/"))
        };
        let mut found: Vec<_> = self.0.iter().filter_map(|(path, text)| Some((name(path)?, text.clone()))).collect();
        found.sort();
        found
    }
}

#[cfg(feature = "lsp")]
impl InputFiles {
    /// Reads only regular files, and no standard input.
    pub(crate) fn only_regular(self) -> Self {
        Self { reach: Reach::RegularFiles, ..self }
    }

    /// Reads `open` in place of the files on disk.
    pub(crate) fn with_open(self, open: OpenFiles) -> Self {
        Self { open, ..self }.only_regular()
    }
}

impl InputFiles {
    /// Refuses files of more than `max_bytes`.
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self {
            contents: Contents::default(),
            max_bytes,
            fetched: Default::default(),
            copies: Vec::new(),
            follow_links: Vec::new(),
            schemas: BTreeMap::new(),
            digest: None,
            log: ReadLog::default(),
            open: OpenFiles::default(),
            reach: Reach::All,
            given: Vec::new(),
            charts: HashMap::new(),
            decrypted: Decrypted::default(),
        }
    }

    /// Reads only regular files below `root` from now on, and standard input: the names come from a file that anyone may
    /// have written.
    pub(crate) fn confine(&mut self, root: Files) {
        self.reach = Reach::Below(root);
    }

    /// Refuses files of more than `max` bytes from now on.
    pub(crate) fn set_max_bytes(&mut self, max: u64) {
        self.max_bytes = max;
    }

    /// Returns the files that are open.
    pub(crate) fn open_files(&self) -> &OpenFiles {
        &self.open
    }

    /// Adds everything that is asked for from now on to `digest`.
    pub(crate) fn digest(&mut self, digest: PlanDigest) {
        self.digest = Some(digest);
    }

    /// Returns the digest of what was read.
    pub(crate) fn take_digest(&mut self) -> Option<PlanDigest> {
        self.digest.take()
    }

    /// Notes the files that are read from now on.
    pub(crate) fn start_log(&mut self) {
        self.log = ReadLog::started();
        self.fetched.each(&mut |copy, url| self.log.copied(path_from_here(copy), url));
        self.copies.iter().for_each(|(copy, url)| self.log.copied(path_from_here(copy), url));
    }

    /// Notes the files of templates.
    pub(crate) fn note_templates(&mut self, set: &TemplateSet) {
        self.given.extend(set.files.iter().map(|file| set.root.join(&file.name)));
    }

    /// Checks that an output is none of the files that were read, under whatever name.
    ///
    /// # Errors
    /// `usage`.
    pub(crate) fn check_output(&self, output: &Path) -> Result<()> {
        let is_it = |input: &&PathBuf| output.is_file() && files::is_same(&local(input), output);
        let Some(input) = self.given.iter().find(is_it) else { return Ok(()) };
        let message = format!("the output `{}` is the input `{}`", output.display(), path_from_here(input));
        Err(Diagnostic::new(Code::Usage, message).with_help("name another file: a run never replaces what it reads"))
    }

    /// Notes the files of a chart. A packed one is like a directory.
    pub(crate) fn note_chart(&mut self, path: &Path, chart: &ChartSource) {
        self.given.push(path.to_owned());
        let here = self.path_from_here(path);
        for file in chart.files() {
            if let Some(digest) = &mut self.digest {
                digest.text(file.path());
                digest.bytes(file.bytes());
            }
            if !file.is_fetched() {
                self.given.push(path.join(file.path()));
                self.log.note(&format!("{here}/{}", file.path()), file.bytes());
            }
        }
    }

    /// Returns the chart at `path`, which `parse` makes unless it was made of the same files before.
    ///
    /// # Errors
    /// Errors of `parse`.
    pub(crate) fn parsed_chart(
        &mut self,
        path: &Path,
        source: ChartSource,
        parse: impl FnOnce(&ChartSource) -> std::result::Result<ChartTemplate, Diagnostics>,
    ) -> std::result::Result<ChartTemplate, Diagnostics> {
        if let Some((_, chart)) = self.charts.get(path).filter(|(known, _)| *known == source) {
            return Ok(chart.clone());
        }
        let chart = parse(&source)?;
        self.charts.insert(path.to_owned(), (source, chart.clone()));
        Ok(chart)
    }

    /// Forgets parsed charts, to parse them with other options.
    pub(crate) fn forget_charts(&mut self) {
        self.charts.clear();
    }

    /// Notes that a run reads what is at `path`, even if it fails before.
    pub(crate) fn give(&mut self, path: &Path) {
        self.given.push(path.to_owned());
    }

    /// Returns the paths of what was read. A folder is before the files in it.
    pub(crate) fn given(&self) -> &[PathBuf] {
        &self.given
    }

    /// Returns the notes of the files that were read.
    pub(crate) fn log(&self) -> &ReadLog {
        &self.log
    }

    /// Returns the maximum size of a file in bytes.
    #[cfg(feature = "remote")]
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Returns a local path for templates: `path` itself, or a copy of the object, prefix or artifact that its URL
    /// names. The copy is deleted with this value.
    ///
    /// # Errors
    /// Errors of the store and of the registry; `limit.source_bytes`; `usage` for a URL in a build without them.
    pub(crate) fn local(&mut self, path: &Path) -> Result<PathBuf> {
        let local = self.fetched.local(path, self.max_bytes)?;
        if local != path {
            self.log.copied(path_from_here(&local), &path.display().to_string());
        }
        Ok(local)
    }

    /// Returns the path from the current directory, or the URL of which `path` is a copy, or is in the copy.
    pub(crate) fn path_from_here(&self, path: &Path) -> String {
        let copy = self.copies.iter().find(|(copy, _)| copy == path).map(|(_, url)| url.clone());
        copy.or_else(|| self.fetched.url_of(path)).unwrap_or_else(|| path_from_here(path))
    }

    /// Names a local copy by the URL that it was fetched from.
    pub(crate) fn name_copy(&mut self, copy: &Path, url: &str) {
        self.log.copied(path_from_here(copy), url);
        self.copies.push((copy.to_owned(), url.to_owned()));
    }

    /// Adds documents that schemas of charts refer to.
    pub(crate) fn add_schemas(&mut self, schemas: BTreeMap<String, String>) {
        self.schemas.extend(schemas);
    }

    /// Returns the documents that schemas of charts refer to.
    pub(crate) fn schemas(&self) -> &BTreeMap<String, String> {
        &self.schemas
    }

    /// Lets links of charts lead to these folders.
    pub(crate) fn follow_links(&mut self, folders: &[PathBuf]) {
        self.follow_links = folders.to_vec();
    }

    /// Returns the folders that links of charts may lead to.
    pub(crate) fn followed(&self) -> &[PathBuf] {
        &self.follow_links
    }

    /// Returns `true` for a URL of an object store, a registry or a file.
    pub(crate) fn is_url(&self, path: &Path) -> bool {
        is_url(path)
    }

    /// Forgets the content of files, to read them again.
    pub(crate) fn forget_files(&mut self) {
        self.contents.forget_files();
        self.given.clear();
    }

    /// Returns `true` if a file was read once, and not in two ways.
    pub(crate) fn is_given_once(&self, path: &Path) -> bool {
        self.given.iter().filter(|given| path_from_here(given) == path_from_here(path)).count() == 1
    }

    /// Reads a text file that `option` names, such as `-f -`.
    ///
    /// # Errors
    /// Errors of [`InputFiles::bytes`]; `syntax.not_utf8`.
    pub(crate) fn read(&mut self, path: &Path, option: &'static str) -> Result<Arc<Source>> {
        self.content(path, option)?.text(path)
    }

    /// Reads the bytes of a file that `option` names.
    ///
    /// # Errors
    /// `file.read_failed`; `limit.source_bytes` for a file that is too long; `usage` for a `-` that another option has.
    pub(crate) fn bytes(&mut self, path: &Path, option: &'static str) -> Result<Arc<[u8]>> {
        Ok(match self.content(path, option)? {
            Content::Bytes(bytes) => bytes,
            text => text.as_bytes().into(),
        })
    }

    fn content(&mut self, path: &Path, option: &'static str) -> Result<Content> {
        let key = Key::of(path);
        self.claim(path, option)?;
        let content = match self.contents.get(&key, path)? {
            Some(content) => content,
            None => {
                self.contents.take(&key, path)?;
                let content = Content::new(path, self.fresh(path)?);
                self.contents.keep(key, content.clone());
                content
            }
        };
        self.note(&self.fetched.url_of(path).unwrap_or_else(|| path.display().to_string()), content.as_bytes());
        Ok(content)
    }

    /// Notes that an option reads `path`.
    fn claim(&mut self, path: &Path, option: &'static str) -> Result<()> {
        self.given.push(path.to_owned());
        if is_dash(path) { self.contents.claim_stdin(option) } else { Ok(()) }
    }

    /// Adds a content to the digest and to the log.
    fn note(&mut self, name: &str, content: &[u8]) {
        if let Some(digest) = &mut self.digest {
            digest.bytes(content);
        }
        self.log.note(name, content);
    }

    /// Reads a file with a name below a folder, which is the current one if it is not given.
    ///
    /// # Errors
    /// Errors of [`InputFiles::bytes`]; `syntax.not_utf8`.
    pub(crate) fn read_below(&mut self, folder: Option<Arc<str>>, name: &str) -> Result<Arc<Source>> {
        let path = folder.as_deref().map_or_else(|| name.into(), |folder| Path::new(folder).join(name));
        let bytes = self.fresh(&path)?;
        self.note(&self.fetched.url_of(&path).unwrap_or_else(|| path.display().to_string()), &bytes);
        let text = source(&path, bytes)?.text().to_owned();
        Ok(Source::below(folder, name.to_owned(), text))
    }

    /// Reads a text file that another file names or stands beside: a regular one, which may have any name.
    ///
    /// # Errors
    /// Same as [`InputFiles::read`].
    pub(crate) fn read_regular(&mut self, path: &Path) -> Result<Arc<Source>> {
        files::open(path).map_err(|error| unreadable(path, error))?;
        self.read(&beyond_dash(path), "-")
    }

    /// Reads the bytes of a file beside templates. Like those, it is noted by its path from the current directory.
    ///
    /// # Errors
    /// Same as [`InputFiles::bytes`].
    pub(crate) fn beside_templates(&mut self, path: &Path) -> Result<Vec<u8>> {
        files::open(path).map_err(|error| unreadable(path, error))?;
        let bytes = self.fresh(path)?;
        self.note(&self.path_from_here(path), &bytes);
        Ok(bytes)
    }

    /// Reads the bytes of a file from its place.
    fn fresh(&mut self, path: &Path) -> Result<Vec<u8>> {
        let max = self.max_bytes;
        if let Some(text) = self.open.text(path) {
            return Ok(text.as_bytes().to_vec());
        }
        let mut bytes = Vec::new();
        let input = self.open(path, max)?;
        input.take(max.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unreadable(path, error))?;
        if bytes.len() as u64 > max {
            return Err(too_long(path, max).with_help("raise the limit with `--max-input SIZE`"));
        }
        Ok(bytes)
    }

    /// Opens a file of clusters in `format`, or that of its name or content.
    ///
    /// # Errors
    /// `usage` for a second `-`; errors of [`FleetFile::open`].
    pub(crate) fn fleet(&mut self, path: &Path, format: Option<Format>) -> Result<FleetFile> {
        if let Some(text) = self.open.text(path) {
            let text = io::Cursor::new(text.as_bytes().to_vec());
            return FleetFile::spool(path.display().to_string(), text, format);
        }
        self.admit(path)?;
        let is_file = !is_dash(path) && !is_pipe(path) && !remote::is_url(path);
        self.given.extend(is_file.then(|| path.to_owned()));
        let file = match is_file {
            true => FleetFile::open(path, format)?,
            false => FleetFile::spool(path.display().to_string(), self.open_once(path)?, format)?,
        };
        if let Some((encrypted, format)) = file.text().map(|(source, format)| (source.clone(), format))
            && let Some(decrypted) = self.decrypted(path, &encrypted, format)?
        {
            return Ok((decrypted, format).into());
        }
        Ok(file)
    }

    /// Opens a file of clusters to read it once, in `format`, or that of its name or its first lines.
    ///
    /// # Errors
    /// `usage` for a second `-`; `file.read_failed`; errors of the store.
    pub(crate) fn stream(&mut self, path: &Path, format: Option<Format>) -> Result<(Box<dyn Read>, Format)> {
        let mut input = self.open_once(path)?;
        if is_dash(path) {
            input = Box::new(Pipe::start(io::stdin()).map_err(|error| unreadable(path, error))?);
        }
        if let Some(format) = format.or_else(|| Format::of_name(&path.to_string_lossy())) {
            return Ok((input, format));
        }
        let head = first_lines(&mut input).map_err(|error| unreadable(path, error))?;
        let lines = head.iter().rposition(|byte| *byte == b'\n').and_then(|end| head.get(..end)).unwrap_or(&head);
        let format = match Format::of("", &String::from_utf8_lossy(lines)) {
            // One line of NDJSON is JSON.
            Format::Json => Format::Ndjson,
            format => format,
        };
        Ok((Box::new(io::Cursor::new(head).chain(input)), format))
    }

    /// Opens a file of clusters, whose content is not kept.
    fn open_once(&mut self, path: &Path) -> Result<Box<dyn Read>> {
        self.claim(path, "--fleet -")?;
        self.contents.take(&Key::of(path), path)?;
        self.open(path, u64::MAX)
    }

    /// Opens a file, or an object of at most `max` bytes.
    fn open(&self, path: &Path, max: u64) -> Result<Box<dyn Read>> {
        self.admit(path)?;
        if let Some(input) = remote::Fetched::open(path, max)? {
            return Ok(input);
        }
        let input: io::Result<Box<dyn Read>> = match is_dash(path) {
            true => files::stdin().map(|stdin| Box::new(stdin.lock()) as _),
            false => files::open_input(&local(path)).map(|file| Box::new(file) as _),
        };
        input.map_err(|error| unreadable(&local(path), error))
    }
}

/// Reads until there is a whole line, or enough bytes to guess a format from.
fn first_lines(input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let (mut head, mut chunk) = (Vec::new(), [0; 4096]);
    while head.len() < HEAD && !head.contains(&b'\n') {
        match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => head.extend_from_slice(chunk.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(head)
}

fn too_long(path: &Path, max: u64) -> Box<Diagnostic> {
    let message = format!("`{}` is too long: the limit is {}", path.display(), format_size(max, BINARY));
    Diagnostic::new(Code::LimitSourceBytes, message)
}

/// Parses a size: a number of bytes, or of a unit such as `KiB`, `M` or `G`. Units are powers of 1,024.
pub(crate) fn size(text: &str) -> std::result::Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim_end_matches("iB").trim_end_matches('B') {
        "" => 0,
        "K" | "k" => 10,
        "M" => 20,
        "G" => 30,
        _ => return Err("expected a size such as 64MiB".to_owned()),
    };
    let number: Option<u64> = number.parse().ok();
    number.and_then(|number| number.checked_mul(1 << shift)).ok_or_else(|| "expected a size such as 64MiB".to_owned())
}

/// Refuses a URL in place of a file. `option` reads standard input.
///
/// # Errors
/// `usage`.
pub(crate) fn refuse_url(path: &Path, option: &str) -> Result<()> {
    let text = path.to_string_lossy();
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    match text.split_once("://") {
        Some((scheme, _)) if !scheme.is_empty() && scheme.chars().all(is_scheme) => {
            let message =
                format!("cannot read `{text}`: URLs are not read, so that the same files give the same output");
            let help = format!("fetch it yourself: `curl -fsSL '{text}' | dropforge … {option}`");
            Err(Diagnostic::new(Code::Usage, message).with_help(help))
        }
        _ => Ok(()),
    }
}

/// Refuses a URL that cannot be read: see [`refuse_url`]. Those of object stores, registries and files can.
///
/// # Errors
/// `usage`.
pub(crate) fn refuse_other_url(path: &Path, option: &str) -> Result<()> {
    if remote::is_url(path) { Ok(()) } else { refuse_url(path, option) }
}

/// Returns `true` for a URL of an object store, a registry or a file.
pub(crate) fn is_url(path: &Path) -> bool {
    remote::is_url(path)
}

/// Returns `true` for `-`, which is standard input or output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Decodes the content of `path` as text.
///
/// # Errors
/// `syntax.not_utf8`.
pub(crate) fn source(path: &Path, bytes: Vec<u8>) -> Result<Arc<Source>> {
    let name = path.display().to_string();
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(error) => Err(not_utf8(&name, error.as_bytes(), (0, 0))),
    }
}
