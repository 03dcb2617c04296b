//! Assertions of a test file.

use regex::Regex;
use serde_json::Value;

use dropforge::diagnostics::Code;
use dropforge::text::Span;
use dropforge::value::yaml::{Entry, Node};

use super::parameters::Parameters;
use super::path::ValuePath;
use super::read;
use super::reader::Reader;
use super::suite::{Documents, Placed};

/// An assertion.
#[derive(Debug)]
pub(super) struct Assertion {
    /// The key of the file: `equal`.
    pub name: &'static str,
    /// The place of the key.
    pub span: Span,
    pub check: Check,
    /// `true` if the check must not hold.
    pub negative: bool,
    /// The templates, if they are others than those of the test.
    pub templates: Vec<Placed>,
    pub documents: Documents,
}

/// What an assertion checks.
#[derive(Debug)]
pub(super) enum Check {
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
    pub pattern: Option<Regex>,
    pub code: Option<Code>,
    pub line: Option<i64>,
}

/// An expected text.
#[derive(Debug)]
pub(super) enum Expected {
    Text(String),
    File(Placed),
}

/// The kind of an assertion, which has parameters of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Equal,
    AtLeast,
    AtMost,
    Contains,
    Subset,
    Matches,
    Exists,
    Some,
    Empty,
    Type,
    Length,
    Resource,
    ApiVersion,
    Documents,
    Document,
    Fails,
    EqualText,
    ContainsText,
    MatchesText,
    Snapshot,
    SnapshotText,
}

/// The assertions: name, kind, and `true` for the opposite.
const KINDS: &[(&str, Kind, bool)] = &[
    ("equal", Kind::Equal, false),
    ("notEqual", Kind::Equal, true),
    ("greaterOrEqual", Kind::AtLeast, false),
    ("notGreaterOrEqual", Kind::AtLeast, true),
    ("lessOrEqual", Kind::AtMost, false),
    ("notLessOrEqual", Kind::AtMost, true),
    ("contains", Kind::Contains, false),
    ("notContains", Kind::Contains, true),
    ("isSubset", Kind::Subset, false),
    ("isNotSubset", Kind::Subset, true),
    ("matchRegex", Kind::Matches, false),
    ("notMatchRegex", Kind::Matches, true),
    ("exists", Kind::Exists, false),
    ("notExists", Kind::Exists, true),
    ("isSome", Kind::Some, false),
    ("isNotSome", Kind::Some, true),
    ("isNotNull", Kind::Some, false),
    ("isNull", Kind::Some, true),
    ("isNullOrEmpty", Kind::Empty, false),
    ("isNotNullOrEmpty", Kind::Empty, true),
    ("isEmpty", Kind::Empty, false),
    ("isNotEmpty", Kind::Empty, true),
    ("isType", Kind::Type, false),
    ("isNotType", Kind::Type, true),
    ("lengthEqual", Kind::Length, false),
    ("notLengthEqual", Kind::Length, true),
    ("isKind", Kind::Resource, false),
    ("isAPIVersion", Kind::ApiVersion, false),
    ("hasDocuments", Kind::Documents, false),
    ("containsDocument", Kind::Document, false),
    ("failedTemplate", Kind::Fails, false),
    ("notFailedTemplate", Kind::Fails, true),
    ("equalRaw", Kind::EqualText, false),
    ("notEqualRaw", Kind::EqualText, true),
    ("containsRaw", Kind::ContainsText, false),
    ("notContainsRaw", Kind::ContainsText, true),
    ("matchRegexRaw", Kind::MatchesText, false),
    ("notMatchRegexRaw", Kind::MatchesText, true),
    ("matchSnapshot", Kind::Snapshot, false),
    ("matchSnapshotRaw", Kind::SnapshotText, false),
];

/// Keys beside that of the assertion.
const BESIDE: [&str; 5] = ["not", "template", "templates", "documentIndex", "documentSelector"];

/// Reads an assertion.
pub(super) fn read(reader: &mut Reader<'_>, node: &Node) -> Option<Assertion> {
    let names = || KINDS.iter().map(|(name, ..)| *name).chain(BESIDE);
    let known: Vec<&str> = names().collect();
    let before = reader.errors.len();
    let fields = reader.fields(node, "an assertion", &known);
    let kind_of = |entry: &Entry| KINDS.iter().find(|(name, ..)| *name == &*entry.name);
    let mut kinds = fields.iter().filter_map(|entry| kind_of(entry).map(|kind| (*entry, kind)));
    let Some((entry, (name, kind, opposite))) = kinds.next() else {
        if reader.errors.len() == before {
            reader.refuse(node.span, "an assertion without a check, such as `equal`");
        }
        return None;
    };
    if let Some((second, _)) = kinds.next() {
        reader.refuse(second.key.span, format!("a second check beside `{name}`: write an assertion for each"));
    }
    let mut assertion = Assertion {
        name,
        span: entry.key.span,
        check: Check::SnapshotText,
        negative: *opposite,
        templates: Vec::new(),
        documents: read::documents(reader, node),
    };
    for entry in &fields {
        match &*entry.name {
            "not" => assertion.negative ^= reader.boolean(&entry.value, "`not`").unwrap_or(false),
            "template" | "templates" => assertion.templates = reader.texts(&entry.value, "`template`"),
            _ => {}
        }
    }
    assertion.check = Parameters::of(reader, name, *kind, entry).check(*kind)?;
    if assertion.negative && matches!(assertion.check, Check::Snapshot { .. } | Check::SnapshotText) {
        reader.refuse(entry.key.span, "a snapshot cannot be asserted with `not`");
    }
    Some(assertion)
}
