//! Likely reasons of syntax errors in data files.

use super::{Code, Diagnostic};

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
        assert_eq!(help("a: \"{{ x }}\"\nb: [1\n"), None);
    }
}
