//! The head of an artifact, and the names of templates in it.

use std::ops::Range;

use super::super::verify::{Rule, Rules};
use super::decoder::Decoder;
use super::fingerprint::fingerprint;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The value of `magic`.
pub(super) const MAGIC: &str = "dropforge artifact";

/// The version of the format. It counts changes that the fingerprint does not cover: the meaning of tables and numbers.
pub const FORMAT: u64 = 11;

/// The version of the engine. Functions and their behaviour change with it.
pub(super) const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// The number of bytes of a digest.
pub(super) const DIGEST: usize = 16;

/// Returns the XXH3 digest of a file's content. It detects damage; programs are verified in any case.
pub(super) fn checksum(bytes: &[u8]) -> [u8; DIGEST] {
    xxhash_rust::xxh3::xxh3_128(bytes).to_be_bytes()
}

/// The number of entries of a file's map.
const ENTRIES: u8 = 12;

/// Returns `true` if a file that begins with `head` is an artifact of any version, even a damaged one. No text file
/// begins like this.
///
/// ```
/// use dropforge::bytecode::{encode, is_artifact};
/// assert!(is_artifact(&encode(&[], false).unwrap()));
/// assert!(!is_artifact(b"{{ magic }}") && !is_artifact(b""));
/// ```
pub fn is_artifact(head: &[u8]) -> bool {
    let [map, rest @ ..] = head else { return false };
    let (key, rest) = rest.split_at(rest.len().min(6));
    let magic = rest.get(1..).unwrap_or(&[]);
    map & 0xF0 == 0x80 && key == b"\xA5magic" && magic.iter().zip(MAGIC.as_bytes()).all(|(a, b)| a == b)
}

/// Reads the head of a file and rejects other versions. Returns the range of the digest.
pub(super) fn head(decoder: &mut Decoder<'_>) -> Result<Range<usize>> {
    let is_ours =
        decoder.map(ENTRIES).is_ok() && decoder.key("magic").is_ok() && decoder.str().is_ok_and(|it| it == MAGIC);
    if !is_ours {
        let error = Diagnostic::new(Code::NotAnArtifact, "this is not an artifact of dropforge");
        return Err(error.with_help("`dropforge compile` makes one"));
    }
    decoder.key("format")?;
    let format = decoder.uint()?;
    if format != FORMAT {
        return Err(other_version(format_args!("format {format}, not {FORMAT}")));
    }
    decoder.key("engine")?;
    let engine = decoder.str()?;
    if engine != ENGINE {
        return Err(other_version(format_args!("version {}, not {ENGINE}", engine.escape_debug())));
    }
    decoder.key("isa")?;
    let isa = decoder.uint()?;
    if isa != fingerprint() {
        return Err(other_version(format_args!("instruction set {isa:016x}, not {:016x}", fingerprint())));
    }
    decoder.key("digest")?;
    decoder.bytes::<DIGEST>()?;
    Ok(decoder.at - DIGEST..decoder.at)
}

#[cold]
fn other_version(what: std::fmt::Arguments<'_>) -> Box<Diagnostic> {
    Diagnostic::new(Code::ArtifactVersion, format!("the artifact was compiled by another version ({what})"))
        .with_help("compile it again")
}

/// Returns the range of a file's digest, and the digest of the bytes after it.
pub(super) fn digest_of(bytes: &[u8]) -> Result<(Range<usize>, [u8; DIGEST])> {
    let digest = head(&mut Decoder::new(bytes))?;
    let hash = checksum(bytes.get(digest.end..).unwrap_or(&[]));
    Ok((digest, hash))
}

/// Maximum number of bytes of a template name and of one of its parts.
const NAME: usize = 1024;
const PART: usize = 255;

/// Returns `true` if `name` can name a template, and the output named after it: a relative path with `/` between its
/// parts, no part empty, `.` or `..`, and no control characters or backslashes.
pub(super) fn is_name(name: &str) -> bool {
    let odd = |byte: u8| byte < 0x20 || byte == 0x7F || byte == b'\\';
    let part = |part: &[u8]| !matches!(part, b"" | b"." | b"..") && part.len() <= PART;
    name.len() <= NAME && !name.bytes().any(odd) && name.as_bytes().split(|byte| *byte == b'/').all(part)
}

/// Returns a name that is read after `last`. Names are sorted, and each is there once.
pub(super) fn sorted_name<'b>(name: &'b str, last: Option<&str>, rules: Rules) -> Result<&'b str> {
    if rules.has(Rule::V14) && (!is_name(name) || last.is_some_and(|last| last >= name)) {
        return Err(Rule::V14.broken(format_args!("the name `{}` is none, or not in order", name.escape_debug())));
    }
    Ok(name)
}
