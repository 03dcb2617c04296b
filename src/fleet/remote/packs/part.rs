//! One pack while it is written.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_remote::pack::{Pack, Packed};

/// The format of packs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackFormat {
    /// Tar files in frames of zstd, with an index: see [`dropforge_remote::pack`].
    TarZst,
    /// Parquet files with the columns `cluster`, `path`, `template`, `content`, `hash` and `release`.
    #[cfg(feature = "arrow")]
    Parquet,
}

impl PackFormat {
    /// Returns the name: `tar.zst` or `parquet`. It is also the extension of packs.
    pub fn name(self) -> &'static str {
        match self {
            Self::TarZst => "tar.zst",
            #[cfg(feature = "arrow")]
            Self::Parquet => "parquet",
        }
    }
}

impl std::str::FromStr for PackFormat {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "tar.zst" => Ok(Self::TarZst),
            #[cfg(feature = "arrow")]
            "parquet" => Ok(Self::Parquet),
            #[cfg(not(feature = "arrow"))]
            "parquet" => {
                Err("this build of dropforge writes no Parquet; install one with `--features remote,arrow`".to_owned())
            }
            _ => Err("expected `tar.zst` or `parquet`".to_owned()),
        }
    }
}

/// A pack in temporary files.
pub(super) struct Finished {
    pub(super) pack: Spooled,
    pub(super) index: Option<Spooled>,
    pub(super) outputs: u64,
    /// The names of the first and the last cluster.
    pub(super) clusters: [String; 2],
}

/// A file of a pack in a temporary file without a name.
pub(super) struct Spooled {
    /// The name in the place.
    pub(super) path: String,
    pub(super) file: File,
    pub(super) hash: blake3::Hash,
}

/// Writes to a temporary file and hashes the content.
pub(super) struct Spool {
    file: BufWriter<File>,
    hasher: blake3::Hasher,
}

impl Spool {
    pub(super) fn new() -> Result<Self> {
        let file = tempfile::tempfile().map_err(failed)?;
        Ok(Self { file: BufWriter::with_capacity(1 << 17, file), hasher: blake3::Hasher::new() })
    }

    pub(super) fn finish(self, path: String) -> Result<Spooled> {
        let file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok(Spooled { path, file, hash: self.hasher.finalize() })
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A pack that is being written.
pub(super) struct PackPart {
    content: PackContent,
    /// The number of bytes of outputs and their headers, before compression.
    bytes: u64,
    outputs: u64,
    clusters: Option<[String; 2]>,
}

enum PackContent {
    Tar(Box<Pack<Spool>>),
    #[cfg(feature = "arrow")]
    Parquet(Box<super::parquet::ParquetPack>),
}

/// The size of a block of a tar file, and of a header.
const BLOCK: u64 = 512;

impl PackPart {
    pub(super) fn new(format: PackFormat) -> Result<Self> {
        let spool = Spool::new()?;
        let content = match format {
            PackFormat::TarZst => PackContent::Tar(Box::new(Pack::new(spool)?)),
            #[cfg(feature = "arrow")]
            PackFormat::Parquet => PackContent::Parquet(Box::new(super::parquet::ParquetPack::new(spool)?)),
        };
        Ok(Self { content, bytes: 0, outputs: 0, clusters: None })
    }

    /// Returns the number of bytes of outputs and their headers, before compression.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds an output.
    pub(super) fn add(&mut self, output: &Packed<'_>) -> Result<()> {
        let last = output.cluster;
        match &mut self.clusters {
            Some([_, end]) if end != last => last.clone_into(end),
            Some(_) => {}
            None => self.clusters = Some([last.to_owned(), last.to_owned()]),
        }
        self.outputs += 1;
        let length = output.bytes.len() as u64;
        self.bytes = self.bytes.saturating_add(length.next_multiple_of(BLOCK)).saturating_add(BLOCK);
        match &mut self.content {
            PackContent::Tar(pack) => pack.add(output),
            #[cfg(feature = "arrow")]
            PackContent::Parquet(pack) => pack.add(output),
        }
    }

    /// Ends pack number `number`.
    pub(super) fn finish(self, number: usize) -> Result<Finished> {
        let (outputs, clusters) = (self.outputs, self.clusters.unwrap_or_default());
        let (pack, index) = match self.content {
            PackContent::Tar(pack) => {
                let (spool, index) = pack.finish()?;
                let mut to = Spool::new()?;
                to.write_all(&index.to_json()).map_err(failed)?;
                let index = to.finish(format!("pack-{number:05}.index.json"))?;
                (spool.finish(format!("pack-{number:05}.tar.zst"))?, Some(index))
            }
            #[cfg(feature = "arrow")]
            PackContent::Parquet(pack) => (pack.finish()?.finish(format!("pack-{number:05}.parquet"))?, None),
        };
        Ok(Finished { pack, index, outputs, clusters })
    }
}

/// Returns the error of writing a temporary file.
pub(super) fn failed(error: io::Error) -> Box<Diagnostic> {
    let message = format!("cannot write a pack to `{}`: {error}", std::env::temp_dir().display());
    Diagnostic::new(Code::WriteFailed, message)
        .with_help("name a directory with free space in `TMPDIR`")
        .caused_by(error)
}
