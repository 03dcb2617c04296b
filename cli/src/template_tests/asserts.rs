//! Assertions of a test file.

use regex::Regex;
use serde_json::Value;

use dropforge::diagnostics::Code;
use dropforge::text::Span;
use dropforge::value::yaml::{Entry, Node};

use super::parameters::Parameters;
use super::read;
use super::suite::NodeReader;
use super::suite::{Documents, PlacedText};
use super::values::ValuePath;

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
    pub pattern: Option<Regex>,
    pub code: Option<Code>,
    pub line: Option<i64>,
}

/// An expected text.
#[derive(Debug)]
pub(super) enum Expected {
    Text(String),
    File(PlacedText),
}

/// Reads what an assertion checks.
type ReadExpectation = fn(&mut Parameters<'_, '_, '_>) -> Option<Expectation>;

/// The assertions: the name and that of the opposite, which some do not have; the parameters, and how they are read.
const CHECKS: &[(&str, &str, &[&str], ReadExpectation)] = &[
    ("equal", "notEqual", &["path", "value", "decodeBase64"], Parameters::equal),
    ("greaterOrEqual", "notGreaterOrEqual", &["path", "value"], Parameters::at_least),
    ("lessOrEqual", "notLessOrEqual", &["path", "value"], Parameters::at_most),
    ("contains", "notContains", &["path", "content", "count", "any"], Parameters::contains),
    ("isSubset", "isNotSubset", &["path", "content"], Parameters::subset),
    ("matchRegex", "notMatchRegex", &["path", "pattern", "decodeBase64"], Parameters::matches),
    ("exists", "notExists", &["path"], Parameters::exists),
    ("isSome", "isNotSome", &["path"], Parameters::some),
    ("isNotNull", "isNull", &["path"], Parameters::some),
    ("isNullOrEmpty", "isNotNullOrEmpty", &["path"], Parameters::empty),
    ("isEmpty", "isNotEmpty", &["path"], Parameters::empty),
    ("isType", "isNotType", &["path", "type"], Parameters::of_type),
    ("lengthEqual", "notLengthEqual", &["path", "paths", "count"], Parameters::length),
    ("isKind", "", &["of"], Parameters::kind),
    ("isAPIVersion", "", &["of"], Parameters::api_version),
    ("hasDocuments", "", &["count", "filterAware"], Parameters::documents),
    ("containsDocument", "", &["kind", "apiVersion", "name", "namespace", "any"], Parameters::document),
    ("failedTemplate", "notFailedTemplate", &["errorMessage", "errorPattern", "code", "line"], Parameters::fails),
    ("equalRaw", "notEqualRaw", &["value", "file"], Parameters::equal_text),
    ("containsRaw", "notContainsRaw", &["value"], Parameters::contains_text),
    ("matchRegexRaw", "notMatchRegexRaw", &["pattern"], Parameters::matches_text),
    ("matchSnapshot", "", &["path", "matchRegex", "notMatchRegex"], Parameters::snapshot),
    ("matchSnapshotRaw", "", &[], Parameters::snapshot_text),
];

/// Keys beside that of the assertion.
const BESIDE: [&str; 5] = ["not", "template", "templates", "documentIndex", "documentSelector"];

/// Reads an assertion.
pub(super) fn read(reader: &mut NodeReader<'_>, node: &Node) -> Option<Assertion> {
    let names = CHECKS.iter().flat_map(|(name, opposite, ..)| [*name, *opposite]).filter(|name| !name.is_empty());
    let known: Vec<&str> = names.chain(BESIDE).collect();
    let before = reader.errors.len();
    let fields = reader.fields(node, "an assertion", &known);
    let mut checks = fields.iter().filter_map(|entry| {
        let name = &*entry.name;
        let (own, opposite, known, check) =
            CHECKS.iter().find(|(own, opposite, ..)| [*own, *opposite].contains(&name))?;
        let is_opposite = *opposite == name;
        Some((*entry, if is_opposite { *opposite } else { *own }, is_opposite, *known, *check))
    });
    let Some((entry, name, is_opposite, known, check)) = checks.next() else {
        if reader.errors.len() == before {
            reader.refuse(node.span, "an assertion without a check, such as `equal`");
        }
        return None;
    };
    if let Some((second, ..)) = checks.next() {
        reader.refuse(second.key.span, format!("a second check beside `{name}`: write an assertion for each"));
    }
    let mut assertion = Assertion {
        name,
        span: entry.key.span,
        check: Expectation::SnapshotText,
        negative: is_opposite,
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
    assertion.check = check(&mut Parameters::of(reader, name, known, entry))?;
    if assertion.negative && matches!(assertion.check, Expectation::Snapshot { .. } | Expectation::SnapshotText) {
        reader.refuse(entry.key.span, "a snapshot cannot be asserted with `not`");
    }
    Some(assertion)
}
