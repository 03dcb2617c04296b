//! Help for syntax errors: where a construct that is not closed begins, and what to write in place of what other programs
//! write in templates, such as parameter expansions of shells and `%{WORD}`.

use dropforge_base::diagnostics::{Diagnostic, Expansion, Operation};
use dropforge_base::text::{Source, Span};

use crate::syntax::is_identifier;

/// Adds the likely fix to a syntax error.
pub(super) fn add(source: &Source, error: &mut Box<Diagnostic>) {
    let Some(label) = error.labels.first_mut().filter(|_| error.help.is_none()) else { return };
    if let Some(found) = Expansion::before(source, label.span.start) {
        // A `#` begins a comment, so that the error is where the comment ends.
        if found.span.end <= label.span.start {
            label.span = Span::new(found.span.start + 2, found.span.end - 1);
            error.context = None;
        }
        error.help = Some(format!("`{}` is an expansion of a shell; {}", source.slice(found.span), instead(&found)));
    } else if let Some(word) = directive(source, label.span) {
        error.help = Some(format!("to write `%{{{word}` itself, use `%%{{{word}`"));
    } else {
        let at = label.span.start;
        error.help = fix(source, &error.message, at);
    }
}

/// Returns the fix of an error with this summary at a place.
fn fix(source: &Source, summary: &str, at: u32) -> Option<String> {
    let (before, behind) = source.text().split_at_checked(at as usize)?;
    let opened = |what: &str, start: usize, close: &str| {
        let position = source.position(u32::try_from(start).unwrap_or(at));
        format!("close the {what} of line {}, column {} with `{close}`", position.line, position.column)
    };
    match summary {
        "Extra characters after interpolation expression" => {
            let start =
                before.rfind("${").filter(|start| before.get(*start..).is_some_and(|rest| rest.contains('\n')))?;
            Some(opened("interpolation", start, "}"))
        }
        "Unclosed template interpolation sequence" => Some(opened("interpolation", before.len(), "}")),
        "Invalid multi-line string" | "Unterminated template string" => {
            Some(opened("string", before.trim_end_matches('\n').rfind('"')?, "\""))
        }
        "Unclosed configuration block" => Some(opened("block", before.len(), "}")),
        "Unexpected end of template" => {
            let (start, name) = open_directive(before)?;
            Some(opened(&format!("`{name}`"), start, &format!("%{{ end{name} }}")))
        }
        "Unexpected endif directive" | "Unexpected else directive" => {
            Some("`%{ if … }` has to stand before it".to_owned())
        }
        "Unexpected endfor directive" => Some("`%{ for … in … }` has to stand before it".to_owned()),
        "Argument or block definition required" => {
            let name = behind.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-')).next()?;
            let is_colon = behind.get(name.len()..)?.trim_start_matches(' ').starts_with(':');
            (is_colon && !name.is_empty()).then(|| format!("write `{name} = …`"))
        }
        _ => None,
    }
}

/// Returns the last directive `if` or `for` that is not closed.
fn open_directive(text: &str) -> Option<(usize, &str)> {
    let mut open = Vec::new();
    for (at, _) in text.match_indices("%{").filter(|(at, _)| !text.get(..*at).is_some_and(|text| text.ends_with('%'))) {
        let rest = text.get(at + 2..)?.trim_start_matches(['~', ' ']);
        let word = rest.split(|c: char| !c.is_alphanumeric()).next()?;
        match word {
            "if" | "for" => open.push((at, word)),
            "endif" | "endfor" => drop(open.pop()),
            _ => {}
        }
    }
    open.pop()
}

/// Says what to write instead of an expansion.
fn instead(Expansion { name, operation, .. }: &Expansion<'_>) -> String {
    match *operation {
        Operation::Default(value) => format!("write `${{try({name}, {value:?})}}`"),
        Operation::Alternative(value) => format!("write `${{can({name}) ? {value:?} : \"\"}}`"),
        Operation::Required => format!("write `${{{name}}}`: a value that is missing is an error"),
        Operation::Length => format!("write `${{length({name})}}`"),
        Operation::WithoutSuffix(pattern) if is_literal(pattern) => {
            format!("write `${{trimsuffix({name}, {pattern:?})}}`")
        }
        Operation::WithoutPrefix(pattern) if is_literal(pattern) => {
            format!("write `${{trimprefix({name}, {pattern:?})}}`")
        }
        Operation::WithoutSuffix(pattern) => {
            format!("write `${{replace({name}, \"/{}$/\", \"\")}}`", expression(pattern))
        }
        Operation::WithoutPrefix(pattern) => {
            format!("write `${{replace({name}, \"/^{}/\", \"\")}}`", expression(pattern))
        }
        Operation::Slice(from, count) => format!("write `${{substr({name}, {from}, {})}}`", count.unwrap_or("-1")),
        Operation::Upper => format!("write `${{upper({name})}}`"),
        Operation::Lower => format!("write `${{lower({name})}}`"),
    }
}

fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['*', '?', '['])
}

/// Returns the regular expression of a pattern of a shell, as it is written in a string.
fn expression(pattern: &str) -> String {
    let mut out = String::new();
    for c in pattern.chars() {
        match c {
            '*' => out.push_str("[^.]*"),
            '?' => out.push('.'),
            c if c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '[' | ']') => out.push(c),
            '/' => out.push_str("\\/"),
            c => out.extend(['\\', '\\', c]),
        }
    }
    out
}

/// Returns the word of `%{WORD` before or at a place, if it is not one of a directive.
fn directive(source: &Source, at: Span) -> Option<&str> {
    let text = source.text();
    let end = text.get(..at.start as usize)?;
    let start = end.rfind("%{").filter(|start| !end.get(*start..).is_some_and(|rest| rest.contains('}')))?;
    let rest = text.get(start + 2..)?;
    let word = rest.get(..rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '@' | '.'))?)?;
    let is_keyword = matches!(word, "if" | "else" | "endif" | "for" | "endfor");
    (!word.is_empty() && !is_keyword && (is_identifier(word) || word.contains(['@', '.']))).then_some(word)
}

#[cfg(test)]
mod tests {
    use crate::syntax::{parse_config, parse_template};
    use dropforge_base::limits::Limits;
    use dropforge_base::text::Source;

    #[test]
    fn syntax_errors_have_their_likely_fix() {
        for (name, text, wanted) in [
            ("t", "a: ${PORT:-8080}", "write `${try(PORT, \"8080\")}`"),
            ("t", "a: ${N:+x}", "write `${can(N) ? \"x\" : \"\"}`"),
            ("t", "n: ${#NAME}\n", "write `${length(NAME)}`"),
            ("t", "n: ${N%.*}", "write `${replace(N, \"/\\\\.[^.]*$/\", \"\")}`"),
            ("t", "n: ${N:0:3}", "write `${substr(N, 0, 3)}`"),
            ("t", "n: ${N^^}", "write `${upper(N)}`"),
            ("t", "%{HOST} %{USER}", "use `%%{HOST`"),
            ("t", "a: ${b\nc: 1\n", "close the interpolation of line 1, column 4 with `}`"),
            ("t", "a\n%{ if b }%{ for c in d }%{ endfor }\n", "close the `if` of line 2, column 1 with `%{ endif }`"),
            ("t", "%{~ for c in d }", "close the `for` of line 1, column 1 with `%{ endfor }`"),
            ("t", "a %{ endif }", "`%{ if … }` has to stand before it"),
            ("t", "${upper(\"x)}\nb", "close the string of line 1, column 9 with `\"`"),
            ("a.hcl", "a {\n  b = 1\n", "close the block of line 1, column 3 with `}`"),
            ("a.hcl", "a: 1\n", "write `a = …`"),
            ("a.hcl", "a = \"b\nc = 1\n", "close the string of line 1, column 5 with `\"`"),
        ] {
            let (source, limits) = (Source::new(name, text), Limits::default());
            let diagnostics = match name {
                "t" => parse_template(&source, &limits).diagnostics,
                _ => parse_config(&source, &limits).diagnostics,
            };
            let help = diagnostics.first().and_then(|error| error.help.as_deref()).unwrap_or_default();
            assert!(help.ends_with(wanted), "{text}: {help}");
        }
        let source = Source::new("t", "n: ${#NAME}\n");
        let error = parse_template(&source, &Limits::default()).diagnostics.remove(0);
        assert_eq!(error.position().unwrap().column, 6);
    }
}
