//! Bundles: opened artifacts, checked once when they are opened.

use std::fmt;
use std::sync::Arc;

use super::super::analysis::inputs;
use super::super::header::Dialect;
use super::super::pool::Pool;
use super::super::program::Program;
use super::super::sections::Layout;
use super::super::verify::{Rule, Rules};
use super::format::{DIGEST, ENGINE, FORMAT, TableLayout, digest_of, fingerprint, head, read_known, sorted_name};
use super::messagepack::Decoder;
use super::resources::{Listed, Resources};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::DataMap;

/// The bytes of an artifact. Text is borrowed from static bytes.
#[derive(Clone)]
pub enum Bytes {
    /// Included in the binary.
    Static(&'static [u8]),
    /// Owned.
    Owned(Vec<u8>),
    /// Shared.
    Shared(Arc<[u8]>),
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Static(bytes) => bytes,
            Bytes::Owned(bytes) => bytes,
            Bytes::Shared(bytes) => bytes,
        }
    }
}

impl From<&'static [u8]> for Bytes {
    fn from(bytes: &'static [u8]) -> Self {
        Bytes::Static(bytes)
    }
}

impl<const N: usize> From<&'static [u8; N]> for Bytes {
    fn from(bytes: &'static [u8; N]) -> Self {
        Bytes::Static(bytes)
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::Owned(bytes)
    }
}

impl From<Arc<[u8]>> for Bytes {
    fn from(bytes: Arc<[u8]>) -> Self {
        Bytes::Shared(bytes)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bytes").field(&self.as_slice().len()).finish()
    }
}

/// Verified templates. Cheap to clone.
#[derive(Clone)]
pub struct Bundle {
    inner: Arc<BundleContents>,
}

struct BundleContents {
    digest: [u8; DIGEST],
    stripped: bool,
    known: Option<Arc<DataMap>>,
    resources: Option<Resources>,
    len: usize,
    entries: Vec<BundleEntry>,
}

/// A template of a bundle.
#[derive(Debug, Clone)]
pub struct BundleEntry {
    name: Box<str>,
    escape: bool,
    executable: bool,
    digest: [u8; DIGEST],
    reaches: Box<[Box<str>]>,
    program: Program,
    residual: Option<Program>,
}

impl BundleEntry {
    /// Returns the name it was compiled under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the language.
    pub fn dialect(&self) -> Dialect {
        self.program.dialect()
    }

    /// Returns `true` if its output is escaped.
    pub fn escape(&self) -> bool {
        self.escape
    }

    /// Returns `true` if its source was executable by its owner, and so is its output.
    pub fn executable(&self) -> bool {
        self.executable
    }

    /// Returns the digest of the template alone, the same in every bundle.
    pub fn digest(&self) -> &[u8; DIGEST] {
        &self.digest
    }

    /// Returns the names of the other templates that it refers to, sorted.
    pub fn reaches(&self) -> &[Box<str>] {
        &self.reaches
    }

    /// Returns the top-level inputs it reads, sorted.
    pub fn inputs(&self) -> Vec<&str> {
        inputs(&self.program)
    }

    /// Its program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the program specialised to the [known inputs](Bundle::known) of the bundle.
    pub fn residual(&self) -> Option<&Program> {
        self.residual.as_ref()
    }
}

impl Bundle {
    /// Opens an artifact, checking its version, digest, encoding and every program in it.
    ///
    /// # Errors
    /// [`Code::NotAnArtifact`], [`Code::ArtifactVersion`], [`Code::ArtifactEncoding`] for truncated or badly encoded
    /// bytes, [`Code::ArtifactDigest`], [`Code::CorruptProgram`] with the verifier's rule in the field `rule`.
    pub fn open(bytes: impl Into<Bytes>) -> Result<Bundle> {
        Self::open_with(bytes.into(), Rules::ALL)
    }

    pub(super) fn open_with(bytes: Bytes, rules: Rules) -> Result<Bundle> {
        let slice = bytes.as_slice();
        let file = UnverifiedFile::read(slice, rules)?;
        let (place, digest) = digest_of(slice)?;
        if slice.get(place) != Some(&digest) {
            let error = Diagnostic::new(Code::ArtifactDigest, "the artifact is not as it was written");
            return Err(error.with_help("compile it again"));
        }
        let pool = match &bytes {
            Bytes::Static(all) => Pool::Static(text_of(all, file.text)),
            _ => Pool::Shared(file.text.to_owned().into()),
        };
        let resources = file.resources.map(|listed| listed.with(pool.clone(), file.bytes.into()));
        let block: Arc<[u32]> = file.words.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let (stripped, known, len) = (file.stripped, file.known.map(Arc::new), slice.len());
        let mut words = Words { block, pool, start: 0, rules };
        let entries = file.templates.into_iter().map(|template| template.entry(&mut words));
        let entries = entries.collect::<Result<Vec<_>>>()?;
        words.end()?;
        Ok(Bundle { inner: Arc::new(BundleContents { digest, stripped, known, resources, len, entries }) })
    }

    /// Returns the templates, sorted by name.
    pub fn entries(&self) -> &[BundleEntry] {
        &self.inner.entries
    }

    /// Returns the template called `name`.
    pub fn entry(&self, name: &str) -> Option<&BundleEntry> {
        let entries = self.entries();
        let at = entries.binary_search_by(|entry| entry.name().cmp(name)).ok()?;
        entries.get(at)
    }

    /// Returns the program of the template called `name`.
    pub fn program(&self, name: &str) -> Option<Program> {
        self.entry(name).map(|entry| entry.program.clone())
    }

    /// Returns the digest of the file's bytes.
    pub fn digest(&self) -> &[u8; DIGEST] {
        &self.inner.digest
    }

    /// Returns `true` if the bundle has no spans and source texts.
    pub fn stripped(&self) -> bool {
        self.inner.stripped
    }

    /// Returns the inputs that the residuals of its templates know.
    pub fn known(&self) -> Option<&Arc<DataMap>> {
        self.inner.known.as_ref()
    }

    /// Returns the files that a language keeps beside its programs.
    pub fn resources(&self) -> Option<&Resources> {
        self.inner.resources.as_ref()
    }

    /// Returns the size in bytes.
    pub fn len(&self) -> usize {
        self.inner.len
    }

    /// Returns `true` if the bundle has no templates.
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// Returns the version of the format, the same as this engine's.
    pub fn format(&self) -> u64 {
        FORMAT
    }

    /// Returns the version of the engine that wrote it, the same as this one's.
    pub fn engine(&self) -> &'static str {
        ENGINE
    }

    /// Returns the fingerprint of the instruction set, the same as this engine's.
    pub fn fingerprint(&self) -> u64 {
        fingerprint()
    }
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.entries().iter().map(BundleEntry::name).collect();
        f.debug_struct("Bundle").field("templates", &names).finish_non_exhaustive()
    }
}

/// Extends the lifetime of `text`, a part of `all`.
fn text_of(all: &'static [u8], text: &str) -> &'static str {
    let start = text.as_ptr().addr().wrapping_sub(all.as_ptr().addr());
    let bytes = all.get(start..start.wrapping_add(text.len())).unwrap_or(&[]);
    std::str::from_utf8(bytes).unwrap_or("")
}

/// A decoded file whose programs have not been verified.
struct UnverifiedFile<'b> {
    stripped: bool,
    resources: Option<Listed<'b>>,
    known: Option<DataMap>,
    templates: Vec<UnverifiedTemplate<'b>>,
    bytes: &'b [u8],
    text: &'b str,
    words: &'b [u8],
}

struct UnverifiedTemplate<'b> {
    name: &'b str,
    dialect: Dialect,
    escape: bool,
    executable: bool,
    digest: [u8; DIGEST],
    reaches: Box<[Box<str>]>,
    program: TableLayout,
    residual: Option<TableLayout>,
}

impl<'b> UnverifiedFile<'b> {
    fn read(bytes: &'b [u8], rules: Rules) -> Result<Self> {
        let mut decoder = Decoder::new(bytes);
        head(&mut decoder)?;
        decoder.key("stripped")?;
        let stripped = decoder.bool()?;
        decoder.key("resources")?;
        let resources = Listed::read(&mut decoder, rules)?;
        decoder.key("known")?;
        let known = read_known(&mut decoder)?;
        decoder.key("templates")?;
        let mut templates: Vec<UnverifiedTemplate<'b>> = Vec::new();
        for _ in 0..decoder.array()? {
            let last = templates.last().map(|template| template.name);
            templates.push(UnverifiedTemplate::read(&mut decoder, last, (rules, known.is_some()))?);
        }
        decoder.key("bytes")?;
        let bytes = decoder.bin()?;
        decoder.key("text")?;
        let text = decoder.str()?;
        decoder.key("words")?;
        let words = decoder.bin()?;
        decoder.end()?;
        resources.iter().try_for_each(|listed| listed.check(text, bytes))?;
        Ok(Self { stripped, resources, known, templates, bytes, text, words })
    }
}

impl<'b> UnverifiedTemplate<'b> {
    fn read(decoder: &mut Decoder<'b>, last: Option<&str>, (rules, is_known): (Rules, bool)) -> Result<Self> {
        decoder.map(8)?;
        decoder.key("name")?;
        let name = sorted_name(decoder.str()?, last, rules)?;
        decoder.key("dialect")?;
        let dialect = Dialect::from_number(decoder.narrow()?).ok_or_else(|| Rule::V1.broken("no such language"))?;
        decoder.key("escape")?;
        let escape = decoder.bool()?;
        decoder.key("executable")?;
        let executable = decoder.bool()?;
        decoder.key("digest")?;
        let digest = decoder.bytes()?;
        decoder.key("reaches")?;
        let reaches = reaches(decoder, rules)?;
        decoder.key("program")?;
        let program = TableLayout::read(decoder)?;
        decoder.key("residual")?;
        let residual = match decoder.array()? {
            0 => None,
            1 if is_known => Some(TableLayout::read(decoder)?),
            _ => return Err(decoder.damaged("a program is specialised to nothing, or twice")),
        };
        Ok(Self { name, dialect, escape, executable, digest, reaches, program, residual })
    }

    fn entry(self, words: &mut Words) -> Result<BundleEntry> {
        let Self { name, dialect, escape, executable, digest, reaches, program, residual } = self;
        let mut verified = |tables| {
            words.program(dialect, tables).map_err(|error| {
                let name = name.escape_debug();
                error.with_note(format!("in the template `{name}` of the artifact")).with_help("compile it again")
            })
        };
        let program = verified(program)?;
        let residual = residual.map(verified).transpose()?.map(|residual| residual.into_residual(&program));
        Ok(BundleEntry { name: name.into(), escape, executable, digest, reaches, program, residual })
    }
}

/// The tables of all programs, read in order.
struct Words {
    block: Arc<[u32]>,
    pool: Pool,
    /// The first word of the next program.
    start: usize,
    rules: Rules,
}

impl Words {
    /// Verifies the next program.
    fn program(&mut self, dialect: Dialect, TableLayout { properties, sections }: TableLayout) -> Result<Program> {
        let layout = Layout::of_lengths(self.start, sections)
            .filter(|layout| layout.range().end <= self.block.len())
            .ok_or_else(|| Rule::V15.broken("tables do not consist of whole rows, or leave the words"))?;
        self.start = layout.range().end;
        Program::of_block(dialect, properties, (self.block.clone(), layout), self.pool.clone(), self.rules)
    }

    /// Checks that all words belong to a program.
    fn end(&self) -> Result<()> {
        match self.start != self.block.len() && self.rules.has(Rule::V15) {
            true => Err(Rule::V15.broken("there are words that belong to no table")),
            false => Ok(()),
        }
    }
}

fn reaches(decoder: &mut Decoder<'_>, rules: Rules) -> Result<Box<[Box<str>]>> {
    let mut names: Vec<Box<str>> = Vec::new();
    for _ in 0..decoder.array()? {
        let name = sorted_name(decoder.str()?, names.last().map(|last| &**last), rules)?;
        names.push(name.into());
    }
    Ok(names.into())
}
