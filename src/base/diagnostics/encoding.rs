//! The error of a text that is not UTF-8.

use super::{Code, Diagnostic, thousands};
use crate::text::{Source, Span};

/// Returns the error of the file `name`, which is not UTF-8. `bytes` are a part of it from the start of a line on, and
/// `before` are the numbers of bytes and lines before the part.
///
/// ```
/// let error = dropforge::diagnostics::not_utf8("f.csv", b"name\nM\xfcnchen\n", (0, 0));
/// assert_eq!(error.to_string(), "E0107: `f.csv` is not valid UTF-8 at byte 6 (f.csv:2:2)");
/// assert_eq!(error.help.as_deref(), Some("save it as UTF-8: `iconv -f WINDOWS-1252 -t UTF-8 f.csv`"));
/// ```
pub fn not_utf8(name: &str, bytes: &[u8], before: (u64, u32)) -> Box<Diagnostic> {
    let at = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let is_start = before.0 == 0;
    let encoding = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] if is_start => "UTF-16",
        _ => "WINDOWS-1252",
    };
    let nth = thousands(usize::try_from(before.0).unwrap_or(usize::MAX).saturating_add(at));
    let end = bytes.iter().skip(at).position(|byte| *byte == b'\n').map_or(bytes.len(), |end| at + end);
    let text = String::from_utf8_lossy(bytes.get(..end).unwrap_or(bytes));
    let source = Source::part(name.to_owned(), before.1, text.into_owned());
    Diagnostic::new(Code::NotUtf8, format!("`{name}` is not valid UTF-8 at byte {nth}"))
        .at(&source, Span::of(at..at), "")
        .with_help(format!("save it as UTF-8: `iconv -f {encoding} -t UTF-8 {name}`"))
}
