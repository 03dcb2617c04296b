//! Errors as a product: a stable code, the place with its excerpt, what was looked up, what there is, and
//! the likely fix. A [`Diagnostic`] carries all of it and is rendered for a person or as JSON.

mod codes;
mod many;
mod report;
mod suggest;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use codes::Code;
pub use many::Diagnostics;
pub(crate) use many::once_each;
pub(crate) use report::listed;
pub use suggest::nearest;

use crate::text::{Position, Source, Span};

/// The result of everything that can fail with one diagnostic.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Stands in a message for the source text of the instruction that failed; the machine fills it in where it
/// places the error.
pub const CULPRIT: &str = "{culprit}";

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something to look at; the work goes on.
    Warning,
    /// The work could not be done.
    Error,
}

/// A place in a source and what to say there.
#[derive(Debug, Clone)]
pub struct Label {
    /// The source the span lies in.
    pub source: Arc<Source>,
    /// The place, in bytes.
    pub span: Span,
    /// What to say there; may be empty.
    pub text: String,
}

impl Label {
    /// Where the label begins.
    pub fn position(&self) -> Position {
        self.source.position(self.span.start)
    }
}

/// One error or warning, complete enough to be printed without anything else at hand.
///
/// ```
/// use dropforge::diagnostics::{Code, Diagnostic};
/// use dropforge::text::{Source, Span};
/// let source = Source::new("svc.tera", "name: {{ nmae }}");
/// let error = Diagnostic::new(Code::UndefinedVariable, "variable `nmae` is not defined")
///     .at(&source, Span::new(9, 13), "looked up here")
///     .with_available(["name", "port"])
///     .with_help("did you mean `name`?");
/// assert_eq!(error.to_string(), "E0201: variable `nmae` is not defined (svc.tera:1:10)");
/// ```
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence without a final stop.
    pub message: String,
    /// What is wrong in full sentences, in languages whose messages are summaries; said at the primary place where
    /// that says nothing else.
    pub detail: Option<String>,
    /// The part of the primary place's source that shows what the place stands in.
    pub context: Option<Span>,
    /// The primary place first, then others (the include or call that led there).
    pub labels: Vec<Label>,
    /// Which part of what the running instruction comes from it is about, until the machine has placed it.
    pub(crate) part: Option<u32>,
    /// What else went wrong in the same run.
    pub also: Vec<Box<Diagnostic>>,
    /// The names that could have been meant, sorted; `None` where nothing was looked up.
    pub available: Option<Vec<String>>,
    /// Further facts, one sentence each.
    pub notes: Vec<String>,
    /// The likely fix.
    pub help: Option<String>,
    /// The cluster (or other set of inputs) it happened for.
    pub cluster: Option<String>,
    /// The template that was being rendered, where it is not the file of the first label.
    pub template: Option<String>,
    /// Fields a language's specification asks for, by their names there.
    pub fields: BTreeMap<&'static str, String>,
}

impl Diagnostic {
    /// An error.
    pub fn new(code: Code, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            detail: None,
            context: None,
            part: None,
            also: Vec::new(),
            labels: Vec::new(),
            available: None,
            notes: Vec::new(),
            help: None,
            cluster: None,
            template: None,
            fields: BTreeMap::new(),
        })
    }

    /// A warning.
    pub fn warning(code: Code, message: impl Into<String>) -> Box<Self> {
        let mut diagnostic = Self::new(code, message);
        diagnostic.severity = Severity::Warning;
        diagnostic
    }

    /// Says in full what is wrong.
    pub fn with_detail(mut self: Box<Self>, detail: impl Into<String>) -> Box<Self> {
        self.detail = Some(detail.into());
        self
    }

    /// Sets the part of the primary place's source that shows what the place stands in.
    pub fn with_context(mut self: Box<Self>, context: Span) -> Box<Self> {
        self.context = Some(context);
        self
    }

    /// Adds a place; the first one added is the primary one.
    pub fn at(mut self: Box<Self>, source: &Arc<Source>, span: Span, text: impl Into<String>) -> Box<Self> {
        self.labels.push(Label { source: source.clone(), span, text: text.into() });
        self
    }

    /// Adds the place only where none is known yet: the innermost place wins.
    pub fn at_if_nowhere(self: Box<Self>, source: &Arc<Source>, span: Span) -> Box<Self> {
        if self.labels.is_empty() { self.at(source, span, "") } else { self }
    }

    /// Says which names there are; they are sorted and made unique.
    pub fn with_available<S: Into<String>>(mut self: Box<Self>, names: impl IntoIterator<Item = S>) -> Box<Self> {
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        names.sort_unstable();
        names.dedup();
        self.available = Some(names);
        self
    }

    /// Adds a fact.
    pub fn with_note(mut self: Box<Self>, note: impl Into<String>) -> Box<Self> {
        self.notes.push(note.into());
        self
    }

    /// Sets the likely fix.
    pub fn with_help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }

    /// Sets the help to `did you mean …?` where one of `candidates` is near `wanted`.
    pub fn with_suggestion<'c>(
        self: Box<Self>,
        wanted: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Box<Self> {
        match nearest(wanted, candidates) {
            Some(near) => self.with_help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// Sets a field that a language's specification asks for.
    pub fn with_field(mut self: Box<Self>, key: &'static str, value: impl Into<String>) -> Box<Self> {
        self.fields.insert(key, value.into());
        self
    }

    /// Says which cluster it happened for.
    pub fn for_cluster(mut self: Box<Self>, cluster: impl Into<String>) -> Box<Self> {
        self.cluster = Some(cluster.into());
        self
    }

    /// The primary place.
    pub fn primary(&self) -> Option<&Label> {
        self.labels.first()
    }

    /// The primary place's line and column.
    pub fn position(&self) -> Option<Position> {
        self.primary().map(Label::position)
    }
}

impl fmt::Display for Diagnostic {
    /// One line: code, message, place and cluster.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.id(), self.message)?;
        if let Some(label) = self.primary() {
            write!(f, " ({}:{})", label.source.name(), label.position())?;
        }
        match &self.cluster {
            Some(cluster) => write!(f, " [cluster {cluster}]"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}
