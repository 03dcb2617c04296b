//! The likely fix in a template for an output that is not YAML.

/// Functions whose text often has several lines.
const OF_LINES: [&str; 6] = ["toYaml", "include", "tpl", "toToml", ".Files", "toPrettyJson"];

/// Returns the fix for the action that wrote a part of an output: its expression, the line of the template before that, and
/// the output with the byte of the error. `None` for other code than an action.
///
/// ```
/// use dropforge::dialect::helm::chart::output_fix;
/// let fix = |expression, before, output, at| output_fix(expression, before, output, at).unwrap_or_default();
/// assert_eq!(fix(".Values.url", "url: {{ ", "url: a: b", 6), "put the value in quotes: `{{ .Values.url | quote }}`");
/// let fixed = "indent all of its lines: `{{- toYaml .Values.a | nindent 4 }}`";
/// assert_eq!(fix("toYaml .Values.a", "  a: {{ ", "x:\n  a: b: 1\n  c: 1", 8), fixed);
/// assert_eq!(fix("toYaml .Values.a | indent 4", "    {{ ", "a:\n        b: 1\n    c: 1", 18), fixed);
/// assert_eq!(fix("toYaml . | nindent 1", "  {{- ", "a:\n  b: 1\n c: 2", 10), "write `nindent 2`, as the line before is indented");
/// assert_eq!(output_fix("a: 1", "  ", "b: c: a: 1", 6), None);
/// ```
pub fn output_fix(expression: &str, before: &str, output: &str, at: usize) -> Option<String> {
    let lead = before.trim_end().trim_end_matches('-').strip_suffix("{{")?;
    let (plain, indented) = indentation(expression);
    if let Some(("nindent", by)) = indented {
        let wanted = wanted_indent(output, at)?;
        return (wanted != by).then(|| format!("write `nindent {wanted}`, as the line before is indented"));
    }
    if indented.is_some() || OF_LINES.iter().any(|function| expression.contains(function)) {
        let spaces = lead.len() - lead.trim_start_matches(' ').len();
        let by = if lead.trim().is_empty() { spaces } else { spaces + 2 };
        return Some(format!("indent all of its lines: `{{{{- {plain} | nindent {by} }}}}`"));
    }
    (!expression.contains("quote")).then(|| format!("put the value in quotes: `{{{{ {expression} | quote }}}}`"))
}

/// Returns an expression without the indentation at its end, and that: the function and the number of spaces.
fn indentation(expression: &str) -> (&str, Option<(&str, usize)>) {
    let split = expression.rsplit_once('|').and_then(|(plain, last)| {
        let (function, by) = last.trim().split_once(' ')?;
        let by = by.trim().parse().ok().filter(|_| matches!(function, "indent" | "nindent"))?;
        Some((plain.trim_end(), Some((function, by))))
    });
    split.unwrap_or((expression, None))
}

/// Returns the indentation that the line at a byte should have after the line before it.
fn wanted_indent(output: &str, at: usize) -> Option<usize> {
    let start = output.get(..at)?.rfind('\n')?;
    let line = output.get(..start)?.lines().rfind(|line| !line.trim().is_empty())?;
    let indent = line.len() - line.trim_start_matches(' ').len();
    Some(if line.trim_end().ends_with(':') { indent + 2 } else { indent })
}

/// Returns the fix for text of a template that stands after other text in its line of the output: a dash in the braces before
/// it has removed the line break.
pub fn joined_fix(text: &str, before: &str, output: &str, at: usize) -> Option<String> {
    let start = output.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let line = output.get(start..)?.lines().next()?.trim_start();
    let is_joined = before.trim().is_empty() && line.contains(text.trim()) && !line.starts_with(text.trim());
    is_joined.then(|| "a `-` in braces removes the line break before it: write `}}` in place of `-}}`".to_owned())
}
