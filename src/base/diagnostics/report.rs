//! Renders diagnostics as text and JSON.
//!
//! Excerpts are bounded to a few lines around each label, and long lines to the part around the span, so that an error
//! in a line of 4 MiB is cheap to print.

use annotate_snippets::{
    AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str, renderer::DecorStyle,
};
use serde_json::{Map, Value, json};

use super::parts::{Part, TERMINAL};
use super::wording::short_names;
use super::{Diagnostic, Label, Severity, counted, thousands};
use crate::stdlib::strings::prefix;
use crate::text::Span;

/// Maximum number of bytes of a line before and after the span.
const AROUND: usize = 160;
/// Maximum number of lines of one label.
const LINES: usize = 8;
/// Maximum number of further errors of a diagnostic.
const ALSO: usize = 100;
/// Maximum number of available names in JSON.
const NAMES_JSON: usize = 1_000;
/// Maximum number of labels in text: the first ones, and the last one. JSON has all of them.
pub(super) const LABELS: usize = 8;

impl Diagnostic {
    /// Renders the diagnostic as text: code, message, source excerpts, notes and the likely fix, ending with a newline.
    /// `color` adds ANSI escapes.
    ///
    /// ```
    /// use dropforge::{Diagnostic, diagnostics::Code};
    /// use dropforge::text::{Source, Span};
    /// let source = Source::new("svc.tera", "name: {{ nmae }}");
    /// let error = Diagnostic::new(Code::UndefinedVariable, "variable `nmae` is not defined")
    ///     .at(&source, Span::new(9, 13), "looked up here")
    ///     .with_help("did you mean `name`?");
    /// let text = error.render(false);
    /// assert!(text.starts_with("error[E0201]: variable `nmae` is not defined\n"));
    /// assert!(text.contains("svc.tera:1:10"));
    /// assert!(text.contains("^^^^ looked up here"));
    /// ```
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let mut text = renderer.decor_style(DecorStyle::Ascii).render(&[self.group()]);
        text.push('\n');
        text.extend(self.also.iter().take(ALSO).map(|other| other.render(color)));
        if let Some(more) = self.also.len().checked_sub(ALSO).filter(|more| *more > 0) {
            text.push_str(&format!("error: {} not shown\n", counted(more, "more error")));
        }
        text
    }

    fn group(&self) -> Group<'_> {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(self.message.as_str()).id(self.code.id()));
        let last = self.labels.len().saturating_sub(1);
        let shown = self.labels.iter().enumerate().filter(|(at, _)| *at < LABELS - 1 || *at == last);
        for (at, label) in shown {
            let kind = if at == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let detail = self.detail.as_deref().filter(|_| at == 0);
            group = group.elements(snippet(label, detail, kind));
        }
        group.elements(self.parts(TERMINAL, self.primary()).map(|(part, text)| {
            let level = if part == Part::Help { Level::HELP } else { Level::NOTE };
            level.message(normalize_untrusted_str(&text))
        }))
    }

    /// Renders the diagnostic as a JSON object: `code`, `name`, `severity`, `message`; `file`, `line`, `column` of the
    /// primary label; `spans` (bytes, line, column, label) of all labels; `available`, `notes`, `help`, `cluster`,
    /// `template` (null if absent); and the additional fields that a language's specification requires.
    ///
    /// ```
    /// use dropforge::{Diagnostic, diagnostics::Code};
    /// let json = Diagnostic::new(Code::LimitFuel, "the render took too many steps").to_json();
    /// assert_eq!(json["name"], "limit.fuel");
    /// assert!(json["file"].is_null());
    /// ```
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.extend(self.fields.iter().map(|(key, text)| (String::from(*key), json!(text))));
        let position = self.position();
        let own = [
            ("code", json!(self.code.id())),
            ("name", json!(self.code.name())),
            ("severity", json!(self.severity.name())),
            ("message", json!(self.message)),
            ("file", json!(self.primary().map(|label| label.source.path()))),
            ("line", json!(position.map(|at| at.line))),
            ("column", json!(position.map(|at| at.column))),
            ("spans", self.labels.iter().map(span_json).collect()),
            ("available", json!(self.available.as_ref().map(|names| names.get(..NAMES_JSON).unwrap_or(names)))),
            ("notes", json!(self.notes)),
            ("help", json!(self.help)),
            ("cluster", json!(self.cluster)),
            ("template", json!(self.template)),
        ];
        if !self.also.is_empty() {
            object.insert("also".to_owned(), self.also.iter().take(ALSO).map(|other| other.to_json()).collect());
        }
        for (key, value) in own.into_iter().chain(self.detail.iter().map(|detail| ("detail", json!(detail)))) {
            object.entry(key).or_insert(value);
        }
        Value::Object(object)
    }
}

/// Formats a list as `a, b, c and 12 more`.
pub fn listed<S: AsRef<str>>(names: &[S], most: usize) -> String {
    listed_of(names, names.len(), most)
}

/// Works like [`listed`], for the first of `all` names.
pub fn listed_of<S: AsRef<str>>(names: &[S], all: usize, most: usize) -> String {
    if names.is_empty() {
        return "nothing".into();
    }
    let shown: Vec<String> = names.iter().take(most).map(|name| short_names(name.as_ref().to_owned())).collect();
    match all - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), thousands(more)),
    }
}

fn span_json(label: &Label) -> Value {
    let at = label.position();
    json!({
        "file": label.source.path(),
        "start": label.span.start,
        "end": label.span.end,
        "line": at.line,
        "column": at.column,
        "label": label.text,
    })
}

/// Returns the `--> file:line:column` line and the excerpt of a label.
fn snippet<'l>(label: &'l Label, detail: Option<&'l str>, kind: AnnotationKind) -> Vec<Element<'l>> {
    let at = label.position();
    let path = label.source.path();
    let name = normalize_untrusted_str(path);
    let origin = Origin::path(name.clone()).line(at.line as usize).char_column(at.column as usize);
    if label.source.is_unseen() {
        return vec![origin.into()];
    }
    let (excerpt, inner, whole) = excerpt(label.source.shown(), label.span);
    let said = Some(label.text.as_str()).filter(|text| !text.is_empty()).or(detail);
    let text = said.map(normalize_untrusted_str);
    let snippet = Snippet::source(excerpt).line_start(at.line as usize).annotation(kind.span(inner).label(text));
    if whole {
        return vec![snippet.path(name).into()];
    }
    // The snippet would count columns from the start of the excerpt.
    vec![origin.into(), snippet.into()]
}

/// Returns the excerpt of `text` to show for `span`, the span within it, and `true` if it starts at the start of a
/// line.
fn excerpt(text: &str, span: Span) -> (&str, std::ops::Range<usize>, bool) {
    let boundary = |at: usize| prefix(text, at).len();
    let newline =
        |from: usize| memchr::memchr_iter(b'\n', text.as_bytes().get(from..).unwrap_or(&[])).map(move |at| from + at);
    let start = boundary(span.start as usize);
    let line_start = prefix(text, start).rfind('\n').map_or(0, |at| at + 1);
    let from = boundary(line_start.max(start.saturating_sub(AROUND)));
    let end = boundary((span.end as usize).max(start)).min(boundary(start + AROUND * LINES));
    let end = newline(start).nth(LINES - 1).map_or(end, |at| end.min(at));
    // The first line that is too long ends the excerpt.
    let starts = std::iter::once(start).chain(newline(start).map(|at| at + 1)).take(LINES);
    let long = starts.zip(newline(start).chain([text.len()])).find(|(start, end)| end - start > AROUND);
    let end = long.map_or(end, |(start, _)| end.min(boundary(start + AROUND)));
    let line_end = newline(end).next().unwrap_or(text.len());
    let to = boundary(line_end.min(end + AROUND));
    (text.get(from..to).unwrap_or(""), start - from..end - from, from == line_start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Code;
    use crate::text::Source;

    #[test]
    fn a_person_sees_every_part() {
        let source = Source::new("a.tera", "first\nname: {{ nmae }}\nlast\n");
        let parent = Source::new("base.tera", "{% include \"a.tera\" %}");
        let error = Diagnostic::new(Code::UndefinedVariable, "variable `nmae` is not defined")
            .at(&source, Span::new(15, 19), "looked up here")
            .at(&parent, Span::new(0, 22), "included from here")
            .with_available(["port", "name"])
            .with_note("a fact")
            .with_help("did you mean `name`?")
            .for_cluster("eu-1");
        let text = error.render(false);
        let expected = "\
error[E0201]: variable `nmae` is not defined
 --> a.tera:2:10
  |
2 | name: {{ nmae }}
  |          ^^^^ looked up here
  |
 ::: base.tera:1:1
  |
1 | {% include \"a.tera\" %}
  | ---------------------- included from here
  |
  = note: available: name, port
  = note: cluster: eu-1
  = note: a fact
  = help: did you mean `name`?
";
        assert_eq!(text, expected);
        assert!(error.render(true).contains("\u{1b}["));
    }

    #[test]
    fn a_huge_line_is_cut_and_keeps_its_column() {
        let text = format!("{}{{{{ x }}}}{}", "é".repeat(100_000), "b".repeat(1_000_000));
        let source = Source::new("huge", text);
        let error = Diagnostic::new(Code::UndefinedVariable, "no").at(&source, Span::new(200_003, 200_004), "");
        let text = error.render(false);
        assert!(text.len() < 2_000, "{}", text.len());
        assert!(text.contains("huge:1:100004"), "{text}");
    }

    #[test]
    fn spans_off_the_text_and_control_characters_do_no_harm() {
        let source = Source::new("e\u{1b}[31m", "é\u{7}\n");
        for (start, end) in [(0, 0), (1, 1), (1, 2), (3, 9), (9, 3), (u32::MAX, u32::MAX), (0, u32::MAX)] {
            let error = Diagnostic::new(Code::NotUtf8, "m\u{1b}[0m")
                .at(&source, Span::new(start, end), "l\u{1b}")
                .with_note("n\u{1b}[1m");
            let text = error.render(false);
            assert!(text.contains("E0107") && !text.contains('\u{1b}'), "{start}..{end} {text:?}");
        }
    }

    #[test]
    fn long_texts_and_many_names_are_bounded() {
        let long = "é".repeat(100_000);
        let source = Source::new("t", "x");
        let names = (0..10_000).map(|n| format!("{n}{long}")).take(2).chain((0..10_000).map(|n| n.to_string()));
        let error = Diagnostic::new(Code::UndefinedVariable, format!("variable `{long}` is not defined"))
            .at(&source, Span::new(0, 1), long.clone())
            .with_available(names)
            .with_detail(long.clone())
            .with_note(long.clone())
            .with_help(long.clone());
        let text = error.render(false);
        assert!(text.len() < 5_000 && text.contains("` is not defined"), "{}", text.len());
        let json = error.to_json();
        assert!(json["available"].as_array().is_some_and(|names| names.len() == NAMES_JSON));
        assert!(
            ["message", "detail", "help"].iter().all(|key| json[*key].as_str().is_some_and(|text| text.len() < 1_000))
        );
    }

    #[test]
    fn a_span_over_many_lines_is_bounded() {
        let source = Source::new("many", "line\n".repeat(10_000));
        let text =
            Diagnostic::new(Code::Unterminated, "no").at(&source, Span::new(7, 49_000), "all this").render(false);
        assert!(text.lines().count() < 30, "{text}");
    }

    #[test]
    fn json_has_every_key_and_the_fields() {
        let source = Source::new("a.tera", "{{ x }}");
        let error = Diagnostic::new(Code::TemplateMissingVariable, "missing")
            .at(&source, Span::new(3, 4), "here")
            .with_available(["y"])
            .with_field("scope", "params");
        assert_eq!(
            error.to_json(),
            json!({
                "code": "E0701", "name": "template_missing_variable", "severity": "error", "message": "missing",
                "file": "a.tera", "line": 1, "column": 4,
                "spans": [{"file": "a.tera", "start": 3, "end": 4, "line": 1, "column": 4, "label": "here"}],
                "available": ["y"], "notes": [], "help": null, "cluster": null, "template": null, "scope": "params",
            })
        );
    }
}
