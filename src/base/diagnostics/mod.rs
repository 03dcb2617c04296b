//! Diagnostics: a stable code, labeled source excerpts, the names that were available, and the likely fix. A
//! [`Diagnostic`] carries all of it and is rendered as text or JSON.

mod codes;
mod expansion;
mod input_help;
mod list;
mod panics;
#[doc(hidden)]
pub mod parts;
mod report;
mod wording;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use self::wording::short_names;
use crate::text::{Position, Source, Span};

pub use codes::Code;
#[doc(hidden)]
pub use expansion::{Expansion, Operation};
pub use input_help::not_utf8;
#[doc(hidden)]
pub use input_help::with_reason;
pub use list::{Diagnostics, Identity, firsts};
#[doc(hidden)]
pub use list::{at_most, joined, without_duplicates};
#[doc(hidden)]
pub use panics::{caught, panicked};
pub use report::{listed, listed_of};
pub use wording::{counted, thousands};
#[doc(hidden)]
pub use wording::{is_close, is_slip, kind_change, nearest, nearest_path, or_nearest, with_article};

/// The result of an operation that can fail with one diagnostic.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// The field with the name that was looked up.
pub const LOOKED_UP: &str = "looked_up";

/// The field with the path of the layer that an unreadable file belongs to.
pub const LAYER: &str = "layer";
/// The field with the message without the value that differs between clusters, or the option that gave it.
pub const PROBLEM: &str = "problem";
/// A placeholder in messages for the source text of the failing instruction. The machine fills it in when it attaches a
/// span to the error.
pub const CULPRIT: &str = "{culprit}";

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A warning; the operation continues.
    Warning,
    /// An error; the operation failed.
    Error,
}

impl Severity {
    /// Returns `warning` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A span in a source with a message.
#[derive(Debug, Clone)]
pub struct Label {
    /// The source of the span.
    pub source: Arc<Source>,
    /// The span in bytes.
    pub span: Span,
    /// The message; may be empty.
    pub text: String,
}

impl Label {
    /// Returns the start of the label as line and column.
    pub fn position(&self) -> Position {
        self.source.position(self.span.start)
    }
}

/// An error or warning with everything needed to print it.
///
/// ```
/// use dropforge::{Diagnostic, diagnostics::Code};
/// use dropforge::text::{Source, Span};
/// let source = Source::new("svc.tera", "name: {{ nmae }}");
/// let error = Diagnostic::new(Code::UndefinedVariable, "variable `nmae` is not defined")
///     .at(&source, Span::new(9, 13), "looked up here")
///     .with_available(["name", "port"])
///     .with_help("did you mean `name`?");
/// assert_eq!(error.to_string(), "E0201: variable `nmae` is not defined (svc.tera:1:10)");
/// assert!(format!("{error:#}").contains("1 | name: {{ nmae }}"));
/// assert_eq!((error.kind(), error.code()), (Code::UndefinedVariable, "E0201"));
/// ```
///
/// `{}` prints one line, `{:#}` and `{:?}` the whole report with excerpts, so that a `main` that returns the error prints
/// what a person can read.
#[derive(Clone)]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// One sentence without a final period.
    pub message: String,
    /// The explanation in full sentences, for languages whose messages are summaries. Printed at the primary label if
    /// that has no text.
    pub detail: Option<String>,
    /// The enclosing construct in the source of the primary label.
    #[doc(hidden)]
    pub context: Option<Span>,
    /// The primary label first, then others, such as the include or call that led there.
    pub labels: Vec<Label>,
    /// The part of the running instruction's source that the error is about, until the machine attaches its span.
    #[doc(hidden)]
    pub part: Option<u32>,
    /// Further errors of the same run.
    #[doc(hidden)]
    pub also: Vec<Box<Diagnostic>>,
    /// The available names, sorted; `None` if no name was looked up.
    pub available: Option<Vec<String>>,
    /// Further facts, one sentence each.
    pub notes: Vec<String>,
    /// The likely fix.
    pub help: Option<String>,
    /// The name that is wrong, and the one that is meant.
    #[doc(hidden)]
    pub replacement: Option<(String, String)>,
    /// The cluster, or other set of inputs, that was rendered.
    pub cluster: Option<String>,
    /// The template that was rendered, if it is not the file of the first label.
    #[doc(hidden)]
    pub template: Option<String>,
    /// Additional fields that a language's specification requires.
    #[doc(hidden)]
    pub fields: BTreeMap<&'static str, String>,
    /// The underlying error, returned by [`source`](std::error::Error::source).
    #[doc(hidden)]
    pub cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl Diagnostic {
    /// Creates an error.
    pub fn new(code: Code, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            code,
            severity: Severity::Error,
            message: short_names(message.into()),
            detail: None,
            context: None,
            part: None,
            also: Vec::new(),
            labels: Vec::new(),
            available: None,
            notes: Vec::new(),
            help: None,
            replacement: None,
            cluster: None,
            template: None,
            fields: BTreeMap::new(),
            cause: None,
        })
    }

    /// Creates a warning.
    pub fn warning(code: Code, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { severity: Severity::Warning, ..*Self::new(code, message) })
    }

    /// Sets the explanation.
    pub fn with_detail(mut self: Box<Self>, detail: impl Into<String>) -> Box<Self> {
        self.detail = Some(short_names(detail.into()));
        self
    }

    /// Returns the message with the explanation, in one line.
    ///
    /// ```
    /// use dropforge::{Diagnostic, diagnostics::Code};
    /// let error = Diagnostic::new(Code::UndefinedVariable, "Unknown variable");
    /// assert_eq!(error.text(), "Unknown variable");
    /// let error = error.with_detail("There is no variable named `nmae`.");
    /// assert_eq!(error.text(), "Unknown variable: There is no variable named `nmae`");
    /// ```
    pub fn text(&self) -> Cow<'_, str> {
        match &self.detail {
            Some(detail) => format!("{}: {}", self.message, detail.trim_end_matches('.')).into(),
            None => (&*self.message).into(),
        }
    }

    /// Sets the enclosing construct in the source of the primary label.
    #[doc(hidden)]
    pub fn with_context(mut self: Box<Self>, context: Span) -> Box<Self> {
        self.context = Some(context);
        self
    }

    /// Adds a label. The first one is the primary label.
    pub fn at(mut self: Box<Self>, source: &Arc<Source>, span: Span, text: impl Into<String>) -> Box<Self> {
        self.labels.push(Label { source: source.clone(), span, text: short_names(text.into()) });
        self
    }

    /// Adds a place before all others.
    #[doc(hidden)]
    pub fn first_at(self: Box<Self>, source: &Arc<Source>, span: Span, text: &str) -> Box<Self> {
        let mut error = self.at(source, span, text);
        error.labels.rotate_right(1);
        error
    }

    /// Adds a label only if there is none yet: the innermost location wins.
    #[doc(hidden)]
    pub fn at_if_nowhere(self: Box<Self>, source: &Arc<Source>, span: Span) -> Box<Self> {
        if self.labels.is_empty() { self.at(source, span, "") } else { self }
    }

    /// Sets the available names, sorted and without duplicates.
    pub fn with_available<S: Into<String>>(mut self: Box<Self>, names: impl IntoIterator<Item = S>) -> Box<Self> {
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        names.sort_unstable();
        names.dedup();
        self.available = Some(names);
        self
    }

    /// Sets the names of the inputs of a run as those that are available.
    #[doc(hidden)]
    pub fn with_inputs<S: Into<String>>(self: Box<Self>, names: impl IntoIterator<Item = S>) -> Box<Self> {
        let mut error = self.with_available(names);
        if error.available.as_ref().is_some_and(Vec::is_empty) {
            error.available = None;
            return error.with_note("no inputs were given");
        }
        error
    }

    /// Adds a note.
    pub fn with_note(mut self: Box<Self>, note: impl Into<String>) -> Box<Self> {
        self.notes.push(short_names(note.into()));
        self
    }

    /// Sets the likely fix.
    pub fn with_help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(short_names(help.into()));
        self
    }

    /// Sets the help to `did you mean …?` if one of `candidates` resembles `wanted`.
    pub fn with_suggestion<'c>(
        self: Box<Self>,
        wanted: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Box<Self> {
        match nearest(wanted, candidates) {
            Some(near) => self.with_help(format!("did you mean `{near}`?")).with_replacement(wanted, near),
            None => self,
        }
    }

    /// Sets the name that is wrong and the one that is meant.
    pub fn with_replacement(mut self: Box<Self>, wrong: impl Into<String>, meant: impl Into<String>) -> Box<Self> {
        self.replacement = Some((wrong.into(), meant.into()));
        self
    }

    /// Returns the edit that the help suggests, as a span and the text to replace it with, if it is the replacement of one
    /// name: of the wrong name at the primary label, or of a name there that resembles an available one.
    ///
    /// ```
    /// use dropforge::{Diagnostic, diagnostics::Code};
    /// use dropforge::text::{Source, Span};
    /// let source = Source::new("t", "{{ a.imge.tag }}");
    /// let error = Diagnostic::new(Code::UndefinedVariable, "no `imge`").at(&source, Span::new(3, 13), "");
    /// let fix = error.with_suggestion("imge", ["image"]).fix().unwrap();
    /// assert_eq!((source.slice(fix.span), fix.text.as_str()), ("imge", "image"));
    /// ```
    pub fn fix(&self) -> Option<Label> {
        let label = self.primary()?;
        let written = label.source.slice(label.span);
        let (wrong, meant) = match &self.replacement {
            Some((wrong, meant)) => (wrong.as_str(), meant.as_str()),
            None => (written, nearest(written, self.available.iter().flatten().map(String::as_str))?),
        };
        // Some errors point at one character next to the name.
        let text = label.source.text();
        let [start, end] = [label.span.start, label.span.end].map(|at| at as usize);
        let around = start.saturating_sub(wrong.len())..end.saturating_add(wrong.len());
        let places = whole_names(text, wrong, around);
        let inside: Vec<usize> = places.iter().copied().filter(|at| start <= *at && at + wrong.len() <= end).collect();
        let beside = || places.iter().copied().find(|at| at + wrong.len() == start || *at == end);
        let at = match inside.as_slice() {
            [] => beside()?,
            [at] => *at,
            _ => return None,
        };
        Some(Label { source: label.source.clone(), span: Span::of(at..at + wrong.len()), text: meant.to_owned() })
    }

    /// Sets an additional field that a language's specification requires.
    #[doc(hidden)]
    pub fn with_field(mut self: Box<Self>, key: &'static str, value: impl Into<String>) -> Box<Self> {
        self.fields.insert(key, value.into());
        self
    }

    /// Returns the message without the value that differs between clusters, or the option that gave it.
    #[doc(hidden)]
    pub fn problem(&self) -> &str {
        self.fields.get(PROBLEM).unwrap_or(&self.message)
    }

    /// Sets the underlying error, which the message repeats.
    pub fn caused_by(mut self: Box<Self>, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Box<Self> {
        self.cause = Some(cause.into().into());
        self
    }

    /// Returns the message of the underlying error, or else that of this one.
    pub fn reason(&self) -> String {
        self.cause.as_ref().map_or_else(|| self.message.clone(), ToString::to_string)
    }

    /// Sets the cluster that was rendered. An empty name is no cluster.
    #[doc(hidden)]
    pub fn for_cluster(mut self: Box<Self>, cluster: impl Into<String>) -> Box<Self> {
        self.cluster = Some(cluster.into()).filter(|name| !name.is_empty());
        self
    }

    /// Calls `each` with every text that may repeat values.
    pub(crate) fn each_text(&mut self, each: &mut dyn FnMut(&mut String)) {
        let Self { message, detail, labels, available, notes, help, replacement, fields, .. } = self;
        each(message);
        detail.iter_mut().chain(help).chain(notes).for_each(&mut *each);
        labels.iter_mut().for_each(|label| each(&mut label.text));
        available.iter_mut().flatten().chain(fields.values_mut()).for_each(&mut *each);
        replacement.iter_mut().for_each(|(wrong, meant)| [wrong, meant].into_iter().for_each(&mut *each));
    }

    /// Returns the kind of error.
    pub fn kind(&self) -> Code {
        self.code
    }

    /// Returns the stable code, such as `E0201`.
    pub fn code(&self) -> &'static str {
        self.code.id()
    }

    /// Returns the bytes of the source that the error is about.
    pub fn span(&self) -> Option<Range<usize>> {
        self.primary().map(|label| label.span.start as usize..label.span.end as usize)
    }

    /// Returns the primary label.
    pub fn primary(&self) -> Option<&Label> {
        self.labels.first()
    }

    /// Returns the line and column of the primary label.
    pub fn position(&self) -> Option<Position> {
        self.primary().map(Label::position)
    }
}

/// Returns the places of a name in a part of a text, without those within longer names.
fn whole_names(text: &str, name: &str, part: Range<usize>) -> Vec<usize> {
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    let is_whole = |at: &usize| {
        let (before, behind) = (text.get(..*at).unwrap_or(""), text.get(at + name.len()..).unwrap_or(""));
        !before.ends_with(is_part) && !behind.starts_with(is_part)
    };
    let start = (0..=part.start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let end = (part.end..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let part = text.get(start..end).filter(|_| !name.is_empty()).unwrap_or("");
    let places = part.match_indices(name).map(|(at, _)| start + at);
    places.filter(is_whole).collect()
}

impl fmt::Display for Diagnostic {
    /// Formats one line with code, message, position and cluster. The alternate form is the whole report.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() { fmt::Debug::fmt(self, f) } else { f.write_str(&self.written(parts::LINE, "")) }
    }
}

impl fmt::Debug for Diagnostic {
    /// Formats the whole report.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl Error for Diagnostic {
    /// The underlying error: of the operating system, of a reader of data, or of a function of yours.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_replaces_one_whole_name() {
        let fix = |text: &str, wrong: &str| {
            let source = Source::new("t", text);
            let error = Diagnostic::new(Code::UndefinedVariable, "x").at(&source, Span::of(0..text.len()), "");
            let fix = error.with_replacement(wrong, "image").fix()?;
            Some(format!("{}|{}|{}", &text[..fix.span.start as usize], fix.text, &text[fix.span.end as usize..]))
        };
        assert_eq!(fix("a.imge.tag", "imge").as_deref(), Some("a.|image|.tag"));
        assert_eq!(fix("imges.imge", "imge").as_deref(), Some("imges.|image|"));
        assert_eq!([fix("imge.imge", "imge"), fix("imges", "imge"), fix("x", "")], [None, None, None]);
        let source = Source::new("t", "a + sizee(b)");
        let beside = |at| Diagnostic::new(Code::UnknownFunction, "x").at(&source, Span::new(at, at + 1), "");
        let fix = beside(9).with_replacement("sizee", "size").fix().unwrap();
        assert_eq!(source.slice(fix.span), "sizee");
        let source = Source::new("t", "uper");
        let error = Diagnostic::new(Code::UnknownFunction, "x").at(&source, Span::new(0, 4), "");
        assert_eq!(
            error.clone().with_available(["upper", "lower"]).fix().map(|fix| fix.text).as_deref(),
            Some("upper")
        );
        assert!(error.fix().is_none());
    }
}
