//! Packs: many outputs in one file, with an index.
//!
//! A pack is a tar file in zstd frames, which `tar --zstd -xf` unpacks. A frame begins at most every 4 MiB, so that one
//! output can be read without those before it. The index names the frames and, for each output, its place, cluster,
//! template and BLAKE3 hash.

mod index;

use std::collections::HashSet;
use std::io::{self, Read, Write};

pub use self::index::{Frame, PackEntry, PackIndex};
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
}

/// Writes a pack. The same outputs in the same order give the same bytes.
///
/// ```
/// use dropforge::remote::pack::{Pack, Packed};
/// let mut pack = Pack::new(Vec::new())?;
/// let output = Packed { path: "a/svc.yaml", bytes: b"x: 1\n", executable: false, cluster: "a", template: "svc.yaml.tera" };
/// pack.add(&output)?;
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
        let [path, cluster, template] = [output.path, output.cluster, output.template].map(str::to_owned);
        self.index.files.push(PackEntry { path, offset, size, cluster, template, hash });
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

#[cfg(test)]
mod tests;
