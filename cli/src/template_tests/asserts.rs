//! Assertions of a test file.

use regex::Regex;
use serde_json::Value;

use dropforge::diagnostics::Code;
use dropforge::text::Span;

use super::path::ValuePath;

/// An assertion.
#[derive(Debug)]
pub(super) struct Assertion {
    /// The key of the file: `equal`.
    pub name: &'static str,
    /// The place of the key.
    pub span: Span,
    pub check: Expectation,
    /// `true` if the check must not hold.
    pub negative: bool,
    /// The templates, if they are others than those of the test.
    pub templates: Vec<PlacedText>,
    pub documents: Documents,
}

/// What an assertion checks.
#[derive(Debug)]
pub(super) enum Expectation {
    Equal {
        path: ValuePath,
        value: Value,
        base64: bool,
    },
    AtLeast {
        path: ValuePath,
        value: Value,
    },
    AtMost {
        path: ValuePath,
        value: Value,
    },
    Contains {
        path: ValuePath,
        content: Value,
        count: Option<usize>,
        any: bool,
    },
    Subset {
        path: ValuePath,
        content: Value,
    },
    Matches {
        path: ValuePath,
        pattern: Regex,
        base64: bool,
    },
    Exists {
        path: ValuePath,
    },
    /// The value exists and is not null.
    Some {
        path: ValuePath,
    },
    /// The value is null, false, zero, or has no content.
    Empty {
        path: ValuePath,
    },
    Type {
        path: ValuePath,
        name: String,
    },
    /// Lists have this length, or else the same.
    Length {
        paths: Vec<ValuePath>,
        count: Option<usize>,
    },
    Documents {
        count: usize,
        filtered: bool,
    },
    Document(DocumentHead),
    Fails(Failing),
    EqualText(Expected),
    ContainsText {
        texts: Vec<String>,
    },
    MatchesText {
        pattern: Regex,
    },
    Snapshot {
        path: ValuePath,
        matches: Option<Regex>,
        lacks: Option<Regex>,
    },
    SnapshotText,
}

/// The head of a document of Kubernetes.
#[derive(Debug)]
pub(super) struct DocumentHead {
    pub kind: String,
    pub api_version: String,
    pub name: Option<String>,
    pub namespace: Option<String>,
    /// `true` if one document is enough.
    pub any: bool,
}

/// An expected error.
#[derive(Debug, Default)]
pub(super) struct Failing {
    pub message: Option<String>,
    pub pattern: Option<ErrorPattern>,
    pub code: Option<Code>,
    pub line: Option<i64>,
}

/// A pattern of messages: a regular expression, or the text itself.
#[derive(Debug)]
pub(super) struct ErrorPattern {
    pub text: String,
    /// `None` if the text is no regular expression.
    pub regex: Option<Regex>,
}

impl ErrorPattern {
    /// Returns `true` if the pattern is in a text.
    pub fn is_in(&self, text: &str) -> bool {
        self.regex.as_ref().is_some_and(|regex| regex.is_match(text)) || text.contains(&self.text)
    }
}

/// An expected text.
#[derive(Debug)]
pub(super) enum Expected {
    Text(String),
    File(PlacedText),
}

/// A text and its place in the test file.
#[derive(Debug, Clone)]
pub(super) struct PlacedText {
    pub text: String,
    pub span: Span,
}

/// The documents that an assertion is about. All, if nothing is given.
#[derive(Debug, Clone, Default)]
pub(super) struct Documents {
    pub index: Option<usize>,
    pub selector: Option<Selector>,
}

/// Selects documents by a value in them.
#[derive(Debug, Clone)]
pub(super) struct Selector {
    pub path: ValuePath,
    /// The value. Without one, the path has to exist.
    pub value: Option<Value>,
    /// `true` if several documents may match.
    pub many: bool,
    /// `true` if templates without such a document are left out.
    pub skips_empty: bool,
}

impl Documents {
    /// Returns these documents with what `inner` selects over them. An index does not replace a selector.
    pub fn or(self, inner: Documents) -> Documents {
        Documents { index: inner.index.or(self.index), selector: inner.selector.or(self.selector) }
    }
}
