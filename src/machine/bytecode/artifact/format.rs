//! The parts of an artifact's form: head and versions, names of templates, known inputs, layout of tables.

use std::ops::Range;

use super::super::isa::{ISA, Pops};
use super::super::sections::{Properties, SECTIONS, Section};
use super::super::verify::{Rule, Rules};
use super::messagepack::{Decoder, MessagePack};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::{Data, DataMap};

/// The value of `magic`.
pub(super) const MAGIC: &str = "dropforge artifact";

/// The version of the format. It counts changes that the fingerprint does not cover: the meaning of tables and numbers.
pub const FORMAT: u64 = 12;

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

/// Returns the fingerprint of this engine's instruction set: the columns of the instruction table that fix the form of
/// code and what the verifier accepts, and the widths of the other tables. Artifacts with another fingerprint are refused.
///
/// The other columns are facts about instructions that analyses read. An artifact stores none of them, so that a fact that
/// is put right refuses no artifact. If an instruction does something else than before, `FORMAT` increases.
pub const fn fingerprint() -> u64 {
    FINGERPRINT
}

/// The fingerprint, computed by the compiler.
const FINGERPRINT: u64 = {
    let mut hash = 0xCBF2_9CE4_8422_2325;
    let mut at = 0;
    while at < ISA.len() {
        let info = &ISA[at];
        hash = text(hash, info.name);
        let mut nth = 0;
        while nth < info.operands.len() {
            hash = byte(hash, info.operands[nth] as u8);
            nth += 1;
        }
        let pops = match info.pops {
            Pops::Fixed(pops) => pops,
            Pops::Operand => u8::MAX,
        };
        hash = byte(byte(byte(byte(hash, pops), info.pushes), info.control as u8), info.dialects.bits());
        at += 1;
    }
    let mut section = 0;
    while section < Section::ROW_WORDS.len() {
        hash = byte(hash, Section::ROW_WORDS[section] as u8);
        section += 1;
    }
    hash
};

/// One step of FNV-1a.
const fn byte(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0100_0000_01B3)
}

const fn text(mut hash: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        hash = byte(hash, bytes[at]);
        at += 1;
    }
    byte(hash, 0xFF)
}

/// Reads known inputs. There are none in an empty text.
pub(super) fn read_known(decoder: &mut Decoder<'_>) -> Result<Option<DataMap>> {
    match decoder.str()? {
        "" => Ok(None),
        text => parse_known(text).map(Some).ok_or_else(|| decoder.damaged("the known inputs are not a JSON object")),
    }
}

fn parse_known(text: &str) -> Option<DataMap> {
    serde_json::from_str::<Data>(text).ok()?.into_map()
}

/// Writes known inputs.
///
/// # Errors
/// [`Code::InputType`] for a value that JSON does not have: an infinite number, or NaN.
pub(super) fn known_text(known: &DataMap) -> Result<String> {
    let text = serde_json::to_string(&Data::Map(known.clone())).unwrap_or_default();
    if parse_known(&text).as_ref() == Some(known) {
        return Ok(text);
    }
    let exact =
        |value: &Data| parse_known(&format!("{{\"v\":{}}}", serde_json::to_string(value).ok()?))?.swap_remove("v");
    let bad = known.iter().find(|(_, value)| exact(value).as_ref() != Some(value));
    let name = bad.map_or("", |(name, _)| name);
    let message = format!("cannot specialise to `{name}`: an artifact holds only values that JSON has");
    Err(Diagnostic::new(Code::InputType, message))
}

/// The properties of a program and the number of words of each of its tables.
#[derive(Clone, Copy)]
pub(super) struct TableLayout {
    pub properties: Properties,
    pub sections: [usize; SECTIONS],
}

impl TableLayout {
    pub fn read(decoder: &mut Decoder<'_>) -> Result<Self> {
        decoder.map(5)?;
        decoder.key("caches")?;
        let caches = decoder.narrow()?;
        decoder.key("memos")?;
        let memos = decoder.narrow()?;
        decoder.key("lenient")?;
        let lenient = decoder.bool()?;
        decoder.key("mutable")?;
        let mutable = decoder.bool()?;
        decoder.key("sections")?;
        decoder.array_of(SECTIONS)?;
        let mut sections = [0; SECTIONS];
        for place in &mut sections {
            *place = decoder.narrow()?;
        }
        Ok(Self { properties: Properties { caches, memos, lenient, mutable }, sections })
    }

    pub fn write(&self, to: &mut MessagePack) -> Result<()> {
        let Properties { caches, memos, lenient, mutable } = self.properties;
        to.map(5)?.str("caches")?.uint(caches.into())?.str("memos")?.uint(memos.into())?;
        to.str("lenient")?.bool(lenient)?.str("mutable")?.bool(mutable)?;
        to.str("sections")?.list(SECTIONS)?;
        self.sections.iter().try_for_each(|words| to.uint(*words as u64).map(drop))
    }
}
