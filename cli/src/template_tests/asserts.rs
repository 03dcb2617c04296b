//! Assertions of a test file.

use regex::Regex;
use serde_json::Value;

use dropforge::diagnostics::Code;
use dropforge::stdlib::re2;
use dropforge::text::Span;
use dropforge::value::yaml::{Entry, Node};

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
enum Kind {
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
    IsKind,
    IsApiVersion,
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
    ("isKind", Kind::IsKind, false),
    ("isAPIVersion", Kind::IsApiVersion, false),
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

impl Kind {
    fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Equal => &["path", "value", "decodeBase64"],
            Self::AtLeast | Self::AtMost => &["path", "value"],
            Self::Contains => &["path", "content", "count", "any"],
            Self::Subset => &["path", "content"],
            Self::Matches => &["path", "pattern", "decodeBase64"],
            Self::Exists | Self::Some | Self::Empty => &["path"],
            Self::Type => &["path", "type"],
            Self::Length => &["path", "paths", "count"],
            Self::IsKind | Self::IsApiVersion => &["of"],
            Self::Documents => &["count", "filterAware"],
            Self::Document => &["kind", "apiVersion", "name", "namespace", "any"],
            Self::Fails => &["errorMessage", "errorPattern", "code", "line"],
            Self::EqualText => &["value", "file"],
            Self::ContainsText => &["value"],
            Self::MatchesText => &["pattern"],
            Self::Snapshot => &["path", "matchRegex", "notMatchRegex"],
            Self::SnapshotText => &[],
        }
    }
}

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

/// The parameters of an assertion.
struct Parameters<'r, 's, 'n> {
    reader: &'r mut Reader<'s>,
    name: &'static str,
    entry: &'n Entry,
    fields: Vec<&'n Entry>,
}

impl<'r, 's, 'n> Parameters<'r, 's, 'n> {
    fn of(reader: &'r mut Reader<'s>, name: &'static str, kind: Kind, entry: &'n Entry) -> Self {
        let fields = reader.fields(&entry.value, &format!("`{name}`"), kind.parameters());
        Self { reader, name, entry, fields }
    }

    fn check(&mut self, kind: Kind) -> Option<Check> {
        Some(match kind {
            Kind::Equal => {
                let (path, value) = (self.path(), self.value("value"));
                Check::Equal { path: path?, value: value?, base64: self.flag("decodeBase64") }
            }
            Kind::AtLeast | Kind::AtMost => self.ordered(kind)?,
            Kind::Contains => {
                let (path, content) = (self.path(), self.value("content"));
                let (count, any) = (self.count("count"), self.flag("any"));
                Check::Contains { path: path?, content: content?, count, any }
            }
            Kind::Subset => {
                let (path, content) = (self.path_or_whole(), self.value("content"));
                Check::Subset { path: path?, content: content? }
            }
            Kind::Matches => {
                let (path, pattern) = (self.path(), self.needed_pattern("pattern"));
                Check::Matches { path: path?, pattern: pattern?, base64: self.flag("decodeBase64") }
            }
            Kind::Exists => Check::Exists { path: self.path()? },
            Kind::Some => Check::Some { path: self.path()? },
            Kind::Empty => Check::Empty { path: self.path()? },
            Kind::Type => {
                let (path, name) = (self.path(), self.needed_text("type"));
                Check::Type { path: path?, name: name? }
            }
            Kind::Length => self.length()?,
            Kind::IsKind => self.head("kind")?,
            Kind::IsApiVersion => self.head("apiVersion")?,
            Kind::Documents => {
                let count = self.count("count").or_else(|| self.missing("count"));
                Check::Documents { count: count?, filtered: self.flag("filterAware") }
            }
            Kind::Document => self.document()?,
            Kind::Fails => self.fails()?,
            Kind::EqualText => Check::EqualText(self.expected()?),
            Kind::ContainsText => self.contains_text()?,
            Kind::MatchesText => Check::MatchesText { pattern: self.needed_pattern("pattern")? },
            Kind::Snapshot => self.snapshot()?,
            Kind::SnapshotText => Check::SnapshotText,
        })
    }

    fn get(&self, key: &str) -> Option<&'n Node> {
        self.fields.iter().find(|entry| &*entry.name == key).map(|entry| &entry.value)
    }

    fn missing<T>(&mut self, key: &str) -> Option<T> {
        let known_wrong = self.get(key).is_some() || self.entry.value.as_map().is_none() && !self.is_empty();
        if !known_wrong {
            self.reader.refuse(self.entry.key.span, format!("`{}` needs `{key}`", self.name));
        }
        None
    }

    fn is_empty(&self) -> bool {
        matches!(self.entry.value.kind, dropforge::value::yaml::Kind::Null)
    }

    fn value(&mut self, key: &str) -> Option<Value> {
        match self.get(key) {
            Some(node) => Some(read::json(&node.to_data())),
            None => self.missing(key),
        }
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let node = self.get(key)?;
        self.reader.text(node, &format!("`{key}`")).map(|placed| placed.text)
    }

    fn needed_text(&mut self, key: &str) -> Option<String> {
        self.text(key).or_else(|| self.missing(key))
    }

    fn flag(&mut self, key: &str) -> bool {
        self.get(key).and_then(|node| self.reader.boolean(node, &format!("`{key}`"))).unwrap_or(false)
    }

    fn count(&mut self, key: &str) -> Option<usize> {
        self.get(key).and_then(|node| self.reader.count(node, &format!("`{key}`")))
    }

    fn path(&mut self) -> Option<ValuePath> {
        match self.get("path") {
            Some(node) => read::path(self.reader, node),
            None => self.missing("path"),
        }
    }

    fn path_or_whole(&mut self) -> Option<ValuePath> {
        self.get("path").map_or_else(|| Some(ValuePath::whole()), |node| read::path(self.reader, node))
    }

    fn pattern(&mut self, key: &str) -> Option<Regex> {
        let node = self.get(key)?;
        pattern(self.reader, node, key)
    }

    fn needed_pattern(&mut self, key: &str) -> Option<Regex> {
        if self.get(key).is_none() { self.missing(key) } else { self.pattern(key) }
    }

    fn ordered(&mut self, kind: Kind) -> Option<Check> {
        let (path, value) = (self.path(), self.value("value"));
        let (path, value) = (path?, value?);
        if !value.is_number() && !value.is_string() {
            let span = self.get("value").map_or(self.entry.key.span, |node| node.span);
            self.reader.refuse(span, "`value` is a number or a text");
            return None;
        }
        Some(if kind == Kind::AtLeast { Check::AtLeast { path, value } } else { Check::AtMost { path, value } })
    }

    fn length(&mut self) -> Option<Check> {
        let count = self.count("count");
        let mut paths = Vec::new();
        if let Some(node) = self.get("paths") {
            let nodes = self.reader.list(node, "`paths`")?;
            paths.extend(nodes.iter().filter_map(|node| read::path(self.reader, node)));
        }
        if self.get("path").is_some() || paths.is_empty() {
            paths.push(self.path()?);
        }
        if count.is_none() && paths.len() < 2 {
            return self.missing("count");
        }
        Some(Check::Length { paths, count })
    }

    fn head(&mut self, key: &str) -> Option<Check> {
        let value = Value::from(self.needed_text("of")?);
        Some(Check::Equal { path: ValuePath::parse(key).ok()?, value, base64: false })
    }

    fn document(&mut self) -> Option<Check> {
        let (kind, api_version) = (self.needed_text("kind"), self.needed_text("apiVersion"));
        let (name, namespace, any) = (self.text("name"), self.text("namespace"), self.flag("any"));
        Some(Check::Document(DocumentHead { kind: kind?, api_version: api_version?, name, namespace, any }))
    }

    fn fails(&mut self) -> Option<Check> {
        let (message, pattern) = (self.text("errorMessage"), self.pattern("errorPattern"));
        let line = self.get("line").and_then(|node| self.reader.integer(node, "`line`"));
        let code = match self.text("code") {
            None => None,
            Some(text) => match Code::named(&text) {
                Some(code) => Some(code),
                None => return self.unknown_code(&text),
            },
        };
        Some(Check::Fails(Failing { message, pattern, code, line }))
    }

    fn unknown_code<T>(&mut self, text: &str) -> Option<T> {
        let span = self.get("code").map_or(self.entry.key.span, |node| node.span);
        let names = Code::ALL.iter().flat_map(|code| [code.id(), code.name()]);
        let error = self.reader.error(span, format!("there is no error `{text}`"));
        let error = error.with_help("`dropforge explain` lists all errors").with_suggestion(text, names);
        self.reader.errors.push(error);
        None
    }

    fn expected(&mut self) -> Option<Expected> {
        match (self.get("value"), self.get("file")) {
            (Some(_), Some(node)) => {
                self.reader.refuse(node.span, "`file` beside `value`: give one of them");
                None
            }
            (None, Some(node)) => self.reader.text(node, "`file`").map(Expected::File),
            _ => self.needed_text("value").map(Expected::Text),
        }
    }

    fn contains_text(&mut self) -> Option<Check> {
        let Some(node) = self.get("value") else { return self.missing("value") };
        let texts: Vec<String> = self.reader.texts(node, "`value`").into_iter().map(|placed| placed.text).collect();
        if texts.is_empty() {
            self.reader.refuse(node.span, "`value` is one text or more");
            return None;
        }
        Some(Check::ContainsText { texts })
    }

    fn snapshot(&mut self) -> Option<Check> {
        let path = self.path_or_whole();
        let (matches, lacks) = (self.inner_pattern("matchRegex"), self.inner_pattern("notMatchRegex"));
        Some(Check::Snapshot { path: path?, matches, lacks })
    }

    /// Returns the pattern in a map under `key`.
    fn inner_pattern(&mut self, key: &str) -> Option<Regex> {
        let node = self.get(key)?;
        let fields = self.reader.fields(node, &format!("`{key}`"), &["pattern"]);
        let inner = fields.first().map(|entry| &entry.value)?;
        pattern(self.reader, inner, "pattern")
    }
}

/// Reads a regular expression.
fn pattern(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Regex> {
    let text = reader.text(node, &format!("`{key}`"))?.text;
    let compiled = re2::compiled(&text);
    let refuse = |why: String| reader.refuse(node.span, format!("`{text}` is not a regular expression: {why}"));
    compiled.map_err(refuse).ok()
}
