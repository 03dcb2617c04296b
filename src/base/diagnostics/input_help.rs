//! Errors of input files with their likely reason.

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

/// The beginning of a line that Git writes where a merge has a conflict.
const CONFLICT: &str = "<<<<<<< ";

/// Adds help to a syntax error if its file has an unresolved merge conflict, or if its line has a placeholder of a template.
pub fn with_reason(error: Box<Diagnostic>) -> Box<Diagnostic> {
    let is_syntax = matches!(error.code, Code::InputSyntax | Code::UnexpectedToken);
    let Some(label) = error.primary().filter(|_| is_syntax) else { return error };
    let (text, start) = (label.source.text(), label.span.range().start);
    if let Some(at) = text.split_inclusive('\n').position(|line| line.starts_with(CONFLICT)) {
        let line = label.source.position(0).line as usize + at;
        return error.with_help(format!("resolve the merge conflict in line {line}"));
    }
    let (before, behind) = text.split_at_checked(start).unwrap_or((text, ""));
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = [before.get(line_start..).unwrap_or(""), behind.lines().next().unwrap_or("")].concat();
    match error.help.is_none() && line.contains("{{") {
        true => error.with_help("a value that begins with `{{` needs quotes: `\"{{ … }}\"`"),
        false => error,
    }
}

#[cfg(test)]
mod tests {
    use dropforge::limits::Limits;
    use dropforge::text::Source;
    use dropforge::value::yaml;

    fn help(text: &str) -> Option<String> {
        let errors = yaml::read(&Source::new("a.yaml", text), &Limits::default()).unwrap_err();
        errors.first().unwrap().help.clone()
    }

    #[test]
    fn conflicts_and_placeholders_are_named() {
        let conflict = "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> x\n";
        assert_eq!(help(conflict).as_deref(), Some("resolve the merge conflict in line 2"));
        assert!(help("a:\n  b: {{ x }}\n").is_some_and(|help| help.contains("needs quotes")));
        assert_eq!(help("a: \"{{ x }}\"\nb: |9x\n"), None);
    }
}
