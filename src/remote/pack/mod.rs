//! Packs: many outputs in one file, with an index.
//!
//! A pack is a tar file in zstd frames, which `tar --zstd -xf` unpacks. A frame begins at most every 4 MiB, so that one
//! output can be read without those before it. The index names the frames and, for each output, its place, cluster,
//! template and BLAKE3 hash.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// Tar bytes in a frame, at least.
const FRAME: u64 = 4 << 20;
/// The time of all files: 1980-01-01. GNU tar warns of 1970.
const TIME: u64 = 315_532_800;
/// Size of a block of a tar file.
const BLOCK: u64 = 512;
/// The level of compression, from 1 to 22.
const LEVEL: i32 = 3;

/// An output to be packed.
#[derive(Debug, Clone, Copy)]
pub struct Packed<'p> {
    /// The path in the pack: relative, with `/`.
    pub path: &'p str,
    /// The content.
    pub bytes: &'p [u8],
    /// `true` for a file that can be executed.
    pub executable: bool,
    /// The name of the cluster.
    pub cluster: &'p str,
    /// The template.
    pub template: &'p str,
    /// The release that the template is of, or an empty string.
    pub release: &'p str,
}

/// Writes a pack. The same outputs in the same order give the same bytes.
///
/// ```
/// use dropforge::remote::pack::{Pack, Packed};
/// let mut pack = Pack::new(Vec::new())?;
/// let (path, bytes) = ("a/svc.yaml", b"x: 1\n");
/// pack.add(&Packed { path, bytes, executable: false, cluster: "a", template: "svc.yaml.tera", release: "" })?;
/// let (bytes, index) = pack.finish()?;
/// let entry = index.find("a/svc.yaml").expect("an entry");
/// assert_eq!((&*entry.cluster, entry.size), ("a", 5));
/// assert_eq!(index.read(entry, &bytes)?, b"x: 1\n");
/// # Ok::<(), Box<dropforge::Diagnostic>>(())
/// ```
pub struct Pack<W: Write> {
    tar: tar::Builder<Frames<W>>,
    index: PackIndex,
    paths: HashSet<Box<str>>,
}

impl<W: Write> std::fmt::Debug for Pack<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pack").field("files", &self.paths.len()).finish_non_exhaustive()
    }
}

impl<W: Write> Pack<W> {
    /// Starts a pack.
    ///
    /// # Errors
    /// `file.write_failed`.
    pub fn new(to: W) -> Result<Self> {
        let frames = Frames::new(to).map_err(failed)?;
        Ok(Self { tar: tar::Builder::new(frames), index: PackIndex::default(), paths: HashSet::new() })
    }

    /// Adds an output.
    ///
    /// # Errors
    /// `plan.bad_output_name` for a path that is not relative and plain; `plan.duplicate_output` for one that is there;
    /// `file.write_failed`, after which the pack is incomplete.
    pub fn add(&mut self, output: &Packed<'_>) -> Result<()> {
        check_path(output.path)?;
        if !self.paths.insert(output.path.into()) {
            let message = format!("`{}` is twice in a pack", output.path);
            return Err(Diagnostic::new(Code::DuplicateOutput, message));
        }
        let mut header = tar::Header::new_gnu();
        header.set_size(output.bytes.len() as u64);
        header.set_mode(if output.executable { 0o755 } else { 0o644 });
        header.set_mtime(TIME);
        header.set_uid(0);
        header.set_gid(0);
        header.set_entry_type(tar::EntryType::Regular);
        self.tar.get_mut().begin_entry().map_err(failed)?;
        self.tar.append_data(&mut header, output.path, output.bytes).map_err(failed)?;
        let size = output.bytes.len() as u64;
        let offset = self.tar.get_mut().position.saturating_sub(size.next_multiple_of(BLOCK));
        let hash = blake3::hash(output.bytes).to_hex().to_string();
        let texts = [output.path, output.cluster, output.template, output.release];
        let [path, cluster, template, release] = texts.map(str::to_owned);
        self.index.files.push(PackEntry { path, offset, size, cluster, template, release, hash });
        Ok(())
    }

    /// Ends the pack. Returns the writer and the index.
    ///
    /// # Errors
    /// `file.write_failed`.
    pub fn finish(self) -> Result<(W, PackIndex)> {
        let Self { tar, mut index, .. } = self;
        let (to, frames, bytes) = tar.into_inner().and_then(Frames::finish).map_err(failed)?;
        (index.frames, index.bytes) = (frames, bytes);
        Ok((to, index))
    }
}

fn check_path(path: &str) -> Result<()> {
    let is_bad = |part: &str| matches!(part, "" | "." | "..") || part.contains(['\0', '\\']);
    match path.split('/').find(|part| is_bad(part)) {
        None => Ok(()),
        Some(_) => Err(Diagnostic::new(Code::BadOutputName, format!("`{path}` cannot be a path in a pack"))),
    }
}

fn failed(error: io::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code::WriteFailed, format!("cannot write a pack: {error}")).caused_by(error)
}

/// Compresses a tar file in frames.
struct Frames<W: Write> {
    /// Empty only while a frame is changed.
    encoder: Option<zstd::stream::write::Encoder<'static, Counted<W>>>,
    /// The length of the tar file so far.
    position: u64,
    frames: Vec<Frame>,
}

impl<W: Write> Frames<W> {
    fn new(to: W) -> io::Result<Self> {
        let counted = Counted { to, bytes: 0 };
        Ok(Self { encoder: Some(encoder(counted)?), position: 0, frames: vec![Frame { offset: 0, start: 0 }] })
    }

    /// Begins a new frame before an entry if the last one is long enough.
    fn begin_entry(&mut self) -> io::Result<()> {
        let began = self.frames.last().map_or(0, |frame| frame.start);
        if self.position - began < FRAME {
            return Ok(());
        }
        if let Some(last) = self.encoder.take() {
            let counted = last.finish()?;
            self.frames.push(Frame { offset: counted.bytes, start: self.position });
            self.encoder = Some(encoder(counted)?);
        }
        Ok(())
    }

    /// Returns the writer, the frames and the length of the file.
    fn finish(self) -> io::Result<(W, Vec<Frame>, u64)> {
        let encoder = self.encoder.ok_or_else(|| io::Error::other("an earlier write has failed"))?;
        let counted = encoder.finish()?;
        Ok((counted.to, self.frames, counted.bytes))
    }
}

fn encoder<W: Write>(to: Counted<W>) -> io::Result<zstd::stream::write::Encoder<'static, Counted<W>>> {
    let mut encoder = zstd::stream::write::Encoder::new(to, LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

impl<W: Write> Write for Frames<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let encoder = self.encoder.as_mut().ok_or_else(|| io::Error::other("an earlier write has failed"))?;
        let written = encoder.write(bytes)?;
        self.position += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        // The end of a frame flushes. More would only make the file longer.
        Ok(())
    }
}

/// Counts the bytes that are written.
struct Counted<W> {
    to: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Decompresses at most `skip + take` bytes and returns the last `take` of them.
fn decompress(frames: &[u8], skip: u64, take: u64) -> io::Result<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(frames)?;
    io::copy(&mut decoder.by_ref().take(skip), &mut io::sink())?;
    let mut bytes = Vec::new();
    decoder.take(take).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The version of the format.
const VERSION: u32 = 1;

/// The content of a pack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackIndex {
    /// The outputs, in their order in the pack.
    pub files: Vec<PackEntry>,
    /// The frames, in their order.
    pub frames: Vec<Frame>,
    /// The length of the pack in bytes.
    pub bytes: u64,
}

/// An output in a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackEntry {
    /// The path.
    pub path: String,
    /// The place of the content in the tar file.
    pub offset: u64,
    /// The length of the content.
    pub size: u64,
    /// The name of the cluster.
    pub cluster: String,
    /// The template.
    pub template: String,
    /// The release that the template is of, or an empty string.
    pub release: String,
    /// The BLAKE3 hash of the content, in hexadecimal digits.
    pub hash: String,
}

/// A frame of compressed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The place in the pack.
    pub offset: u64,
    /// The place of its content in the tar file.
    pub start: u64,
}

/// The index as JSON. Clusters and templates are numbered.
#[derive(Debug, Serialize, Deserialize)]
struct IndexJson {
    version: u32,
    bytes: u64,
    frames: Vec<Frame>,
    clusters: Vec<String>,
    templates: Vec<String>,
    /// The release of each template, if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    releases: Vec<String>,
    files: Vec<(String, u64, u64, usize, usize, String)>,
}

impl PackIndex {
    /// Returns the entry of a path.
    pub fn find(&self, path: &str) -> Option<&PackEntry> {
        self.files.iter().find(|entry| entry.path == path)
    }

    /// Returns the bytes of the pack that hold an entry: whole frames.
    pub fn span(&self, entry: &PackEntry) -> Range<u64> {
        let end = entry.offset.saturating_add(entry.size);
        let offset_of = |frame: Option<&Frame>, other| frame.map_or(other, |frame| frame.offset);
        let start = offset_of(self.frames.iter().rev().find(|frame| frame.start <= entry.offset), 0);
        start..offset_of(self.frames.iter().find(|frame| frame.start >= end && frame.offset > start), self.bytes)
    }

    /// Reads an entry from the pack, or from the part of it that [`PackIndex::span`] names, and checks its hash.
    ///
    /// # Errors
    /// `store.wrong_digest` if the pack is not the one of this index, or is damaged.
    pub fn read(&self, entry: &PackEntry, pack: &[u8]) -> Result<Vec<u8>> {
        let span = self.span(entry);
        let narrow = |place: u64| usize::try_from(place).unwrap_or(usize::MAX);
        let whole = pack.len() as u64 == self.bytes;
        let frames = if whole { pack.get(narrow(span.start)..narrow(span.end)) } else { Some(pack) };
        let start = self.frames.iter().find(|frame| frame.offset == span.start).map_or(0, |frame| frame.start);
        let bytes = decompress(frames.unwrap_or_default(), entry.offset.saturating_sub(start), entry.size);
        let found = bytes.ok().filter(|bytes| blake3::hash(bytes).to_hex().as_str() == entry.hash);
        found.ok_or_else(|| {
            let message = format!("`{}` in the pack does not have the content of the index", entry.path);
            Diagnostic::new(Code::WrongDigest, message).with_help("write the pack again")
        })
    }

    /// Returns the index as JSON, with a final line end. The same index gives the same bytes.
    pub fn to_json(&self) -> Vec<u8> {
        let (mut clusters, mut templates) = (Numbers::default(), Numbers::default());
        let files = self.files.iter().map(|entry| {
            let cluster = clusters.of(entry.cluster.as_str());
            let template = templates.of((entry.template.as_str(), entry.release.as_str()));
            (entry.path.clone(), entry.offset, entry.size, cluster, template, entry.hash.clone())
        });
        let files = files.collect();
        let all = || templates.names.iter();
        let has_releases = all().any(|(_, release)| !release.is_empty());
        let json = IndexJson {
            version: VERSION,
            bytes: self.bytes,
            frames: self.frames.clone(),
            clusters: clusters.names.iter().map(|name| (*name).to_owned()).collect(),
            templates: all().map(|(template, _)| (*template).to_owned()).collect(),
            releases: all().filter(|_| has_releases).map(|(_, release)| (*release).to_owned()).collect(),
            files,
        };
        let mut bytes = serde_json::to_vec(&json).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Parses an index. Returns `None` for anything else.
    pub fn parse(json: &[u8]) -> Option<Self> {
        let json: IndexJson = serde_json::from_slice(json).ok().filter(|json: &IndexJson| json.version == VERSION)?;
        let in_order = json.frames.windows(2).all(|pair| match pair {
            [one, next] => one.offset < next.offset && one.start < next.start,
            _ => true,
        });
        if !in_order {
            return None;
        }
        let entry = |(path, offset, size, cluster, template, hash): (String, u64, u64, usize, usize, String)| {
            let cluster = json.clusters.get(cluster)?.clone();
            let release = json.releases.get(template).cloned().unwrap_or_default();
            let template = json.templates.get(template)?.clone();
            Some(PackEntry { path, offset, size, cluster, template, release, hash })
        };
        let files = json.files.into_iter().map(entry).collect::<Option<Vec<_>>>()?;
        Some(Self { files, frames: json.frames, bytes: json.bytes })
    }
}

/// Distinct names, which are numbered in the order of their first use.
struct Numbers<N> {
    names: Vec<N>,
    known: HashMap<N, usize>,
}

impl<N> Default for Numbers<N> {
    fn default() -> Self {
        Self { names: Vec::new(), known: HashMap::new() }
    }
}

impl<N: Copy + Eq + std::hash::Hash> Numbers<N> {
    /// Returns the number of a name, which is added if it is new.
    fn of(&mut self, name: N) -> usize {
        *self.known.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }
}

#[cfg(test)]
mod tests;
