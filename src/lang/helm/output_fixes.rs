//! The likely fix in a template for an output that is not YAML.

use dropforge_machine::language::{InvalidOutput, indent_below};

/// Functions whose text often has several lines.
const OF_LINES: [&str; 6] = ["toYaml", "include", "tpl", "toToml", ".Files", "toPrettyJson"];

/// Returns the fix for the code that wrote a part of an output.
pub(crate) fn fix(invalid: &InvalidOutput<'_>) -> Option<String> {
    if invalid.is_joined() {
        return Some("a `-` in braces removes the line break before it: write `}}` in place of `-}}`".to_owned());
    }
    let (lead, code) = (invalid.lead("{{")?, invalid.code);
    let (plain, indented) = indentation(code);
    if let Some(("nindent", by)) = indented {
        let wanted = invalid.wanted_indent()?;
        return (wanted != by).then(|| format!("write `nindent {wanted}`, as the line before is indented"));
    }
    if indented.is_some() || OF_LINES.iter().any(|function| code.contains(function)) {
        let by = indent_below(lead);
        return Some(format!("indent all of its lines: `{{{{- {plain} | nindent {by} }}}}`"));
    }
    (!code.contains("quote")).then(|| format!("put the value in quotes: `{{{{ {code} | quote }}}}`"))
}

/// Returns an expression without the indentation at its end, and that: the function and the number of spaces.
fn indentation(code: &str) -> (&str, Option<(&str, usize)>) {
    let split = code.rsplit_once('|').and_then(|(plain, last)| {
        let (function, by) = last.trim().split_once(' ')?;
        let by = by.trim().parse().ok().filter(|_| matches!(function, "indent" | "nindent"))?;
        Some((plain.trim_end(), Some((function, by))))
    });
    split.unwrap_or((code, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fix_follows_from_the_code_and_its_place() {
        let indented = Some("indent all of its lines: `{{- toYaml .a | nindent 4 }}`");
        let quoted = Some("put the value in quotes: `{{ .a | quote }}`");
        for (code, before, output, at, expected) in [
            (".a", "url: {{ ", "url: a: b", 6, quoted),
            ("toYaml .a", "  a: {{ ", "x:\n  a: b: 1\n  c: 1", 8, indented),
            ("toYaml .a | indent 4", "    {{ ", "a:\n        b: 1\n    c: 1", 18, indented),
            (
                "toYaml . | nindent 1",
                "  {{- ",
                "a:\n  b: 1\n c: 2",
                10,
                Some("write `nindent 2`, as the line before is indented"),
            ),
            ("toYaml . | nindent 2", "  {{- ", "a:\n  b: 1\n  c: d: 2", 10, None),
            (".a | quote", "a: {{ ", "a: \"b\" c", 7, None),
        ] {
            let invalid = InvalidOutput { code, before, is_text: false, output, at };
            assert_eq!(fix(&invalid).as_deref(), expected, "{code}");
        }
        let text = InvalidOutput { code: "b: 1", before: "", is_text: true, output: "a: 1b: 1", at: 5 };
        assert!(fix(&text).is_some_and(|fix| fix.contains("`-}}`")));
        assert_eq!(fix(&InvalidOutput { output: "a: 1\nb: 1", at: 6, ..text }), None);
    }
}
