//! Writing bundles.

use std::cmp::Reverse;

use hashbrown::HashMap;

use super::super::header::Dialect;
use super::super::program::Program;
use super::super::sections::POOL_SLACK;
use super::super::verify::SHARED;
use super::format::{
    DIGEST, ENGINE, FORMAT, MAGIC, TableLayout, checksum, digest_of, fingerprint, is_name, known_text,
};
use super::messagepack::MessagePack;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_value::{Data, DataMap};

/// A template to write.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'e> {
    /// Its name, a relative path with `/`.
    pub name: &'e str,
    /// Its program.
    pub program: &'e Program,
    /// `true` if its output is escaped.
    pub escape: bool,
    /// `true` if its source is executable by its owner, and so is its output.
    pub executable: bool,
    /// The names of the other templates that it refers to, in any order.
    pub reaches: &'e [String],
    /// The program specialised to the known inputs of the artifact.
    pub residual: Option<&'e Program>,
}

/// Files to write beside templates.
#[derive(Debug, Clone, Copy)]
pub struct FileSet<'e> {
    /// The language that owns them.
    pub dialect: Dialect,
    /// A name for all of them.
    pub name: &'e str,
    /// The files, in any order.
    pub files: &'e [FileEntry<'e>],
}

/// A file to write beside templates.
#[derive(Debug, Clone, Copy)]
pub struct FileEntry<'e> {
    /// The path, relative with `/`.
    pub path: &'e str,
    /// The content.
    pub content: &'e [u8],
    /// The value that the language read from the file, so that it need not read it again.
    pub value: Option<&'e Data>,
}

#[derive(Default)]
struct ArtifactHead<'f> {
    digest: [u8; DIGEST],
    stripped: bool,
    resources: Vec<ListedFiles<'f>>,
    known: &'f str,
    templates: Vec<TemplateHead<'f>>,
}

impl ArtifactHead<'_> {
    /// Writes the file with a body.
    fn write(&self, body: &ArtifactBody) -> Result<Vec<u8>> {
        let words: Vec<u8> = body.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut to = MessagePack::with_capacity(words.len() + body.text.len() + body.bytes.len() + 1024);
        to.map(12)?.str("magic")?.str(MAGIC)?.str("format")?.uint(FORMAT)?.str("engine")?.str(ENGINE)?;
        to.str("isa")?.uint(fingerprint())?.str("digest")?.bin(&self.digest)?.str("stripped")?.bool(self.stripped)?;
        to.str("resources")?.list(self.resources.len())?;
        self.resources.iter().try_for_each(|listed| listed.write(&mut to))?;
        to.str("known")?.str(self.known)?.str("templates")?.list(self.templates.len())?;
        self.templates.iter().try_for_each(|template| template.write(&mut to))?;
        to.str("bytes")?.bin(&body.bytes)?.str("text")?.str(&body.text)?.str("words")?.bin(&words)?;
        Ok(to.into_bytes())
    }
}

struct TemplateHead<'f> {
    name: &'f str,
    dialect: u8,
    escape: bool,
    executable: bool,
    digest: &'f [u8; DIGEST],
    reaches: Vec<&'f str>,
    program: TableLayout,
    residual: Vec<TableLayout>,
}

impl TemplateHead<'_> {
    fn write(&self, to: &mut MessagePack) -> Result<()> {
        to.map(8)?.str("name")?.str(self.name)?.str("dialect")?.uint(self.dialect.into())?;
        to.str("escape")?.bool(self.escape)?.str("executable")?.bool(self.executable)?;
        to.str("digest")?.bin(self.digest)?.str("reaches")?.list(self.reaches.len())?;
        self.reaches.iter().try_for_each(|name| to.str(name).map(drop))?;
        self.program.write(to.str("program")?)?;
        to.str("residual")?.list(self.residual.len())?;
        self.residual.iter().try_for_each(|tables| tables.write(to))
    }
}

/// A set of files, by the places of their contents.
struct ListedFiles<'f> {
    dialect: u8,
    name: &'f str,
    files: Vec<Listing<'f>>,
}

/// A path, `true` for text, the place of the content, and that of the value.
type Listing<'f> = (&'f str, bool, u32, u32, Vec<u32>);

impl ListedFiles<'_> {
    fn write(&self, to: &mut MessagePack) -> Result<()> {
        to.map(3)?.str("dialect")?.uint(self.dialect.into())?.str("name")?.str(self.name)?;
        to.str("files")?.list(self.files.len())?;
        self.files.iter().try_for_each(|(path, is_text, start, end, value)| {
            to.list(5)?.str(path)?.bool(*is_text)?.uint((*start).into())?.uint((*end).into())?.list(value.len())?;
            value.iter().try_for_each(|part| to.uint((*part).into()).map(drop))
        })
    }
}

/// Encodes `templates` as an artifact. `strip` leaves out spans and source texts; errors then have no excerpts and
/// positions.
///
/// # Errors
/// [`Code::ArtifactName`] for a duplicate name or one that is not a relative path, [`Code::LimitCode`] if words or text
/// exceed the format.
pub fn encode(templates: &[Entry<'_>], strip: bool) -> Result<Vec<u8>> {
    encode_all(templates, None, "", strip)
}

/// Works like [`encode`]. The residuals of templates are specialised to `known`, which the artifact holds in clear.
///
/// # Errors
/// Those of [`encode`]; [`Code::InputType`] for a known number that is not finite.
pub fn encode_specialised(templates: &[Entry<'_>], known: &DataMap, strip: bool) -> Result<Vec<u8>> {
    encode_all(templates, None, &known_text(known)?, strip)
}

/// Works like [`encode`], with files that the language of the templates needs beside them. A text that is also the source of
/// a template is written once.
///
/// # Errors
/// Those of [`encode`].
pub fn encode_with_files(templates: &[Entry<'_>], files: &FileSet<'_>, strip: bool) -> Result<Vec<u8>> {
    encode_all(templates, Some(files), "", strip)
}

fn encode_all(templates: &[Entry<'_>], files: Option<&FileSet<'_>>, known: &str, strip: bool) -> Result<Vec<u8>> {
    let mut sorted = templates.to_vec();
    sorted.small_sort_by_key(|entry| entry.name);
    distinct(sorted.iter().map(|entry| entry.name), "two templates have it")?;
    let mut body = ArtifactBody::default();
    let packed: Vec<_> = sorted.iter().map(|entry| Packed::new(*entry, strip, &mut body)).collect::<Result<_>>()?;
    let resources = files.map(|files| body.files(files)).transpose()?;
    body.text.push_str(POOL_SLACK);
    let digests: Vec<_> = sorted.iter().map(|entry| template_digest(*entry, strip)).collect::<Result<_>>()?;
    let templates = packed.iter().zip(&digests).map(|(packed, digest)| packed.template(digest)).collect();
    let resources = resources.into_iter().collect();
    sealed(&body, &ArtifactHead { stripped: strip, resources, known, templates, ..ArtifactHead::default() })
}

/// Checks that no two of the sorted names are equal.
fn distinct<'n>(names: impl Iterator<Item = &'n str> + Clone, why: &str) -> Result<()> {
    let twice = names.clone().zip(names.skip(1)).find(|(one, two)| one == two);
    twice.map_or(Ok(()), |(name, _)| Err(bad_name(name, why)))
}

/// Encodes a file with a body.
fn sealed(body: &ArtifactBody, file: &ArtifactHead<'_>) -> Result<Vec<u8>> {
    let mut bytes = file.write(body)?;
    seal(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file's digest into it.
pub(super) fn seal(bytes: &mut [u8]) -> Result<()> {
    let (place, digest) = digest_of(bytes)?;
    if let Some(place) = bytes.get_mut(place) {
        place.copy_from_slice(&digest);
    }
    Ok(())
}

/// Returns the digest of an artifact that contains only this template, without its residual.
fn template_digest(entry: Entry<'_>, strip: bool) -> Result<[u8; DIGEST]> {
    let mut body = ArtifactBody::default();
    let packed = Packed::new(Entry { residual: None, ..entry }, strip, &mut body)?;
    let templates = vec![packed.template(&[0; DIGEST])];
    let alone = sealed(&body, &ArtifactHead { stripped: strip, templates, ..ArtifactHead::default() })?;
    Ok(checksum(&alone))
}

/// The text, bytes and words of all templates and files.
#[derive(Default)]
struct ArtifactBody {
    text: String,
    known: HashMap<String, [u32; 2]>,
    bytes: Vec<u8>,
    words: Vec<u32>,
}

impl ArtifactBody {
    /// Returns the ranges of a program's strings, preferably within `sources`: most strings are part of one. The longest are
    /// sought first, because the search is bounded.
    fn strings(&mut self, program: &Program, sources: &[[u32; 2]]) -> Result<Vec<[u32; 2]>> {
        // The excerpts of nested expressions contain one another. The verifier bounds how much text strings share.
        let mut distinct = sources.to_vec();
        distinct.small_sort_by(Ord::cmp);
        distinct.dedup();
        let shared = SHARED * distinct.iter().map(|[start, end]| (end - start) as usize).sum::<usize>();
        let mut search = Search { sources, shared, sought: SOUGHT };
        let mut places = vec![[0; 2]; program.tables().strings.len()];
        let mut order: Vec<_> = (0..).zip(&mut places).map(|(id, place)| (program.str(id), place)).collect();
        order.small_sort_by_key(|(text, _)| Reverse(text.len()));
        for (text, place) in order {
            *place = match search.find(&self.text, text) {
                Some(found) => found,
                None => self.add(text)?,
            };
        }
        Ok(places)
    }

    /// Returns the range of `text`, which is added once.
    fn add(&mut self, text: &str) -> Result<[u32; 2]> {
        if let Some(place) = self.known.get(text) {
            return Ok(*place);
        }
        let start = u32::try_from(self.text.len()).map_err(|_| too_large())?;
        self.text.push_str(text);
        let end = u32::try_from(self.text.len()).map_err(|_| too_large())?;
        self.known.insert(text.to_owned(), [start, end]);
        Ok([start, end])
    }

    /// Adds the contents of files.
    fn files<'f>(&mut self, files: &FileSet<'f>) -> Result<ListedFiles<'f>> {
        let mut sorted = files.files.to_vec();
        sorted.small_sort_by_key(|file| file.path);
        let paths = sorted.iter().map(|file| file.path);
        distinct(paths.clone(), "two files have it")?;
        if let Some(name) = std::iter::once(files.name).chain(paths).find(|name| !is_name(name)) {
            return Err(bad_name(name, "it is no relative path"));
        }
        let list = sorted.into_iter().map(|file| self.file(file)).collect::<Result<Vec<_>>>()?;
        Ok(ListedFiles { dialect: files.dialect as u8, name: files.name, files: list })
    }

    fn file<'f>(&mut self, file: FileEntry<'f>) -> Result<Listing<'f>> {
        let (is_text, [start, end]) = match std::str::from_utf8(file.content) {
            Ok(text) => (true, self.add(text)?),
            Err(_) => (false, self.add_bytes(file.content)?),
        };
        let value = file.value.map(|value| self.value(value)).transpose()?;
        Ok((file.path, is_text, start, end, value.into_iter().flatten().collect()))
    }

    /// Returns the range of the encoded `value`, which is added.
    fn value(&mut self, value: &Data) -> Result<[u32; 2]> {
        let mut to = MessagePack::default();
        to.data(value)?;
        self.add_bytes(&to.into_bytes())
    }

    /// Returns the range of `content`, which is added.
    fn add_bytes(&mut self, content: &[u8]) -> Result<[u32; 2]> {
        let start = u32::try_from(self.bytes.len()).map_err(|_| too_large())?;
        self.bytes.extend_from_slice(content);
        let end = u32::try_from(self.bytes.len()).map_err(|_| too_large())?;
        Ok([start, end])
    }

    /// Adds the tables of a program.
    fn tables(&mut self, program: &Program, strip: bool) -> Result<TableLayout> {
        let tables = program.tables();
        let sources = tables.sources.iter().zip(program.sources()).map(|(&[name, ..], source)| {
            let [start, end] = if strip { [0, 0] } else { self.add(source.text())? };
            Ok([name, start, end])
        });
        let sources = sources.collect::<Result<Vec<_>>>()?;
        let texts: Vec<_> = sources.iter().map(|&[_, start, end]| [start, end]).collect();
        let strings = self.strings(program, &texts)?;
        let mut tables = tables;
        (tables.strings, tables.sources) = (&strings, &sources);
        if strip {
            (tables.spans, tables.details, tables.inlined, tables.regions) = (&[], &[], &[], &[]);
        }
        let (block, layout) = tables.block();
        self.words.extend(block);
        Ok(TableLayout { properties: tables.properties, sections: layout.lengths() })
    }
}

/// The maximum number of bytes to search for strings in sources.
const SOUGHT: usize = 1 << 26;

/// The search for strings in sources.
struct Search<'s> {
    /// The places of the sources.
    sources: &'s [[u32; 2]],
    /// The number of bytes that may still be shared.
    shared: usize,
    /// The number of bytes that may still be searched.
    sought: usize,
}

impl Search<'_> {
    /// Returns the range of `string` in a source, which is a part of `text`.
    fn find(&mut self, text: &str, string: &str) -> Option<[u32; 2]> {
        let shared = self.shared.checked_sub(string.len())?;
        for &[start, end] in self.sources {
            let within = text.get(start as usize..end as usize)?;
            self.sought = self.sought.checked_sub(within.len())?;
            if let Some(at) = memchr::memmem::find(within.as_bytes(), string.as_bytes()) {
                self.shared = shared;
                let start = start + u32::try_from(at).ok()?;
                return Some([start, start + u32::try_from(string.len()).ok()?]);
            }
        }
        None
    }
}

/// A template whose tables are part of a body.
struct Packed<'e> {
    entry: Entry<'e>,
    reaches: Vec<&'e str>,
    program: TableLayout,
    residual: Vec<TableLayout>,
}

impl<'e> Packed<'e> {
    fn new(entry: Entry<'e>, strip: bool, body: &mut ArtifactBody) -> Result<Self> {
        let mut reaches: Vec<_> = entry.reaches.iter().map(String::as_str).collect();
        reaches.sort_unstable();
        reaches.dedup();
        if let Some(name) = std::iter::once(entry.name).chain(reaches.iter().copied()).find(|name| !is_name(name)) {
            return Err(bad_name(name, "it is no relative path"));
        }
        let program = body.tables(entry.program, strip)?;
        let residual = entry.residual.map(|residual| body.tables(residual, strip)).transpose()?;
        Ok(Self { entry, reaches, program, residual: residual.into_iter().collect() })
    }

    fn template<'f>(&'f self, digest: &'f [u8; DIGEST]) -> TemplateHead<'f> {
        TemplateHead {
            name: self.entry.name,
            dialect: self.entry.program.tables().dialect as u8,
            escape: self.entry.escape,
            executable: self.entry.executable,
            digest,
            reaches: self.reaches.clone(),
            program: self.program,
            residual: self.residual.clone(),
        }
    }
}

#[cold]
fn bad_name(name: &str, why: &str) -> Box<Diagnostic> {
    Diagnostic::new(
        Code::ArtifactName,
        format!("the name `{}` cannot stand in an artifact: {why}", name.escape_debug()),
    )
}

#[cold]
pub(super) fn too_large() -> Box<Diagnostic> {
    Diagnostic::new(Code::LimitCode, "the templates are too large for one artifact")
}
