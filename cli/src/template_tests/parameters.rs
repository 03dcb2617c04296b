//! Reads the parameters of assertions.

use regex::Regex;
use serde_json::Value;

use super::path::ValuePath;
use super::suite::{
    Assertion, DocumentHead, Documents, ErrorPattern, Expectation, Expected, Failing, NodeReader, Selector,
};
use super::values::{json, value_of};
use dropforge::diagnostics::{Code, Diagnostic, Severity};
use dropforge::stdlib::re2;
use dropforge::value::yaml::{self, Entry, Node};

/// Reads what an assertion checks.
type ReadExpectation = fn(&mut Parameters<'_, '_, '_>) -> Option<Expectation>;

/// The assertions: the name and that of the opposite, which some do not have; the parameters, and how they are read.
const CHECKS: &[(&str, &str, &[&str], ReadExpectation)] = &[
    ("equal", "notEqual", &["path", "value", "decodeBase64"], |p| p.equal()),
    ("greaterOrEqual", "notGreaterOrEqual", &["path", "value"], |p| p.at_least()),
    ("lessOrEqual", "notLessOrEqual", &["path", "value"], |p| p.at_most()),
    ("contains", "notContains", &["path", "content", "count", "any"], |p| p.contains()),
    ("isSubset", "isNotSubset", &["path", "content"], |p| p.subset()),
    ("matchRegex", "notMatchRegex", &["path", "pattern", "decodeBase64"], |p| p.matches()),
    ("exists", "notExists", &["path"], |p| p.exists()),
    ("isSome", "isNotSome", &["path"], |p| p.some()),
    ("isNotNull", "isNull", &["path"], |p| p.some()),
    ("isNullOrEmpty", "isNotNullOrEmpty", &["path"], |p| p.empty()),
    ("isEmpty", "isNotEmpty", &["path"], |p| p.empty()),
    ("isType", "isNotType", &["path", "type"], |p| p.of_type()),
    ("lengthEqual", "notLengthEqual", &["path", "paths", "count"], |p| p.length()),
    ("isKind", "", &["of"], |p| p.kind()),
    ("isAPIVersion", "", &["of"], |p| p.api_version()),
    ("hasDocuments", "", &["count", "filterAware"], |p| p.documents()),
    ("containsDocument", "", &["kind", "apiVersion", "name", "namespace", "any"], |p| p.document()),
    ("failedTemplate", "notFailedTemplate", &["errorMessage", "errorPattern", "code", "line"], |p| p.fails()),
    ("equalRaw", "notEqualRaw", &["value", "file"], |p| p.equal_text()),
    ("containsRaw", "notContainsRaw", &["value"], |p| p.contains_text()),
    ("matchRegexRaw", "notMatchRegexRaw", &["pattern"], |p| p.matches_text()),
    ("matchSnapshot", "", &["path", "matchRegex", "notMatchRegex"], |p| p.snapshot()),
    ("matchSnapshotRaw", "", &[], |p| p.snapshot_text()),
];

/// Keys beside that of the assertion.
const BESIDE: [&str; 5] = ["not", "template", "templates", "documentIndex", "documentSelector"];

/// Reads an assertion.
pub(super) fn assertion(reader: &mut NodeReader<'_>, node: &Node) -> Option<Assertion> {
    let names = CHECKS.iter().flat_map(|(name, opposite, ..)| [*name, *opposite]).filter(|name| !name.is_empty());
    let known: Vec<&str> = names.chain(BESIDE).collect();
    let (errors, warnings) = (reader.errors.len(), reader.warnings.len());
    let fields = reader.fields(node, "an assertion", &known);
    let mut checks = fields.iter().filter_map(|entry| {
        let name = &*entry.name;
        let (own, opposite, known, check) =
            CHECKS.iter().find(|(own, opposite, ..)| [*own, *opposite].contains(&name))?;
        let is_opposite = *opposite == name;
        Some((*entry, if is_opposite { *opposite } else { *own }, is_opposite, *known, *check))
    });
    let Some((entry, name, is_opposite, known, check)) = checks.next() else {
        let unknown = reader.warnings.split_off(warnings).into_iter().next();
        match unknown {
            Some(warning) => reader.errors.push(refused(warning)),
            None if reader.errors.len() == errors => {
                reader.refuse(node.span, "an assertion without a check, such as `equal`");
            }
            None => {}
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
        documents: documents(reader, node),
    };
    for entry in &fields {
        match &*entry.name {
            "not" => assertion.negative ^= reader.boolean(&entry.value, "`not`").unwrap_or(false),
            "template" | "templates" => assertion.templates = reader.texts(&entry.value, "`template`"),
            _ => {}
        }
    }
    assertion.check = check(&mut Parameters::of(reader, name, known, entry))?;
    Some(assertion)
}

/// Makes an error of the warning about a key in place of an assertion.
fn refused(mut warning: Box<Diagnostic>) -> Box<Diagnostic> {
    warning.severity = Severity::Error;
    if let Some((message, _)) = warning.message.split_once(", which") {
        warning.message = message.to_owned();
    }
    warning
}

/// The parameters of an assertion.
pub(super) struct Parameters<'r, 's, 'n> {
    reader: &'r mut NodeReader<'s>,
    name: &'static str,
    entry: &'n Entry,
    fields: Vec<&'n Entry>,
}

impl<'r, 's, 'n> Parameters<'r, 's, 'n> {
    /// Reads the parameters of the assertion `name`, whose keys are known.
    pub fn of(reader: &'r mut NodeReader<'s>, name: &'static str, known: &[&str], entry: &'n Entry) -> Self {
        let fields = reader.parameters(&entry.value, &format!("`{name}`"), known);
        Self { reader, name, entry, fields }
    }

    /// Returns the value of a parameter. Capital letters do not matter in its name.
    fn get(&self, key: &str) -> Option<&'n Node> {
        self.fields.iter().find(|entry| entry.name.eq_ignore_ascii_case(key)).map(|entry| &entry.value)
    }

    fn missing<T>(&mut self, key: &str) -> Option<T> {
        let known_wrong = self.get(key).is_some() || self.entry.value.as_map().is_none() && !self.is_empty();
        if !known_wrong {
            self.reader.refuse(self.entry.key.span, format!("`{}` needs `{key}`", self.name));
        }
        None
    }

    fn is_empty(&self) -> bool {
        matches!(self.entry.value.kind, yaml::Kind::Null)
    }

    /// Returns a value. One that is left out is null.
    fn value(&mut self, key: &str) -> Value {
        match self.get(key) {
            Some(node) => json(&value_of(node)),
            None => {
                self.warn(format!("`{}` without `{key}` compares with null", self.name));
                Value::Null
            }
        }
    }

    fn warn(&mut self, message: String) {
        let warning = Diagnostic::warning(Code::TestStructure, message);
        self.reader.warnings.push(warning.at(self.reader.source, self.entry.key.span, ""));
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
            Some(node) => value_path(self.reader, node),
            None => self.missing("path"),
        }
    }

    fn path_or_whole(&mut self) -> Option<ValuePath> {
        self.get("path").map_or_else(|| Some(ValuePath::whole()), |node| value_path(self.reader, node))
    }

    fn needed_pattern(&mut self, key: &str) -> Option<Regex> {
        match self.get(key) {
            Some(node) => pattern(self.reader, node, key),
            None => self.missing(key),
        }
    }

    pub fn equal(&mut self) -> Option<Expectation> {
        let (path, value) = (self.path(), self.value("value"));
        Some(Expectation::Equal { path: path?, value, base64: self.flag("decodeBase64") })
    }

    pub fn at_least(&mut self) -> Option<Expectation> {
        self.ordered().map(|(path, value)| Expectation::AtLeast { path, value })
    }

    pub fn at_most(&mut self) -> Option<Expectation> {
        self.ordered().map(|(path, value)| Expectation::AtMost { path, value })
    }

    fn ordered(&mut self) -> Option<(ValuePath, Value)> {
        if self.get("value").is_none() {
            return self.missing("value");
        }
        let (path, value) = (self.path()?, self.value("value"));
        if !value.is_number() && !value.is_string() {
            let span = self.get("value").map_or(self.entry.key.span, |node| node.span);
            self.reader.refuse(span, "`value` must be a number or text");
            return None;
        }
        Some((path, value))
    }

    pub fn contains(&mut self) -> Option<Expectation> {
        let (path, content) = (self.path(), self.value("content"));
        let (count, any) = (self.count("count"), self.flag("any"));
        Some(Expectation::Contains { path: path?, content, count, any })
    }

    pub fn subset(&mut self) -> Option<Expectation> {
        let (path, content) = (self.path_or_whole(), self.value("content"));
        Some(Expectation::Subset { path: path?, content })
    }

    pub fn matches(&mut self) -> Option<Expectation> {
        let (path, pattern) = (self.path(), self.needed_pattern("pattern"));
        Some(Expectation::Matches { path: path?, pattern: pattern?, base64: self.flag("decodeBase64") })
    }

    pub fn exists(&mut self) -> Option<Expectation> {
        self.path().map(|path| Expectation::Exists { path })
    }

    pub fn some(&mut self) -> Option<Expectation> {
        self.path().map(|path| Expectation::Some { path })
    }

    pub fn empty(&mut self) -> Option<Expectation> {
        self.path().map(|path| Expectation::Empty { path })
    }

    pub fn of_type(&mut self) -> Option<Expectation> {
        let (path, name) = (self.path(), self.needed_text("type"));
        Some(Expectation::Type { path: path?, name: name? })
    }

    pub fn length(&mut self) -> Option<Expectation> {
        let count = self.count("count");
        let mut paths = Vec::new();
        if let Some(node) = self.get("paths") {
            let nodes = self.reader.list(node, "`paths`")?;
            paths.extend(nodes.iter().filter_map(|node| value_path(self.reader, node)));
        }
        if self.get("path").is_some() || paths.is_empty() {
            paths.push(self.path()?);
        }
        if count.is_none() && paths.len() < 2 {
            return self.missing("count");
        }
        Some(Expectation::Length { paths, count })
    }

    pub fn kind(&mut self) -> Option<Expectation> {
        self.head("kind")
    }

    pub fn api_version(&mut self) -> Option<Expectation> {
        self.head("apiVersion")
    }

    fn head(&mut self, key: &str) -> Option<Expectation> {
        let value = Value::from(self.needed_text("of")?);
        Some(Expectation::Equal { path: ValuePath::parse(key).ok()?, value, base64: false })
    }

    pub fn documents(&mut self) -> Option<Expectation> {
        if self.get("count").is_none() {
            self.warn(format!("`{}` without `count` expects no document", self.name));
        }
        let count = if self.get("count").is_some() { self.count("count")? } else { 0 };
        Some(Expectation::Documents { count, filtered: self.flag("filterAware") })
    }

    pub fn document(&mut self) -> Option<Expectation> {
        let (kind, api_version) = (self.head_text("kind"), self.head_text("apiVersion"));
        let (name, namespace, any) = (self.text("name"), self.text("namespace"), self.flag("any"));
        Some(Expectation::Document(DocumentHead { kind, api_version, name, namespace, any }))
    }

    /// Returns the kind or version of a document, without which it is that of none.
    fn head_text(&mut self, key: &str) -> String {
        let text = self.text(key);
        if text.is_none() {
            self.warn(format!("`{}` without `{key}` finds no document", self.name));
        }
        text.unwrap_or_default()
    }

    pub fn fails(&mut self) -> Option<Expectation> {
        let (message, pattern) = (self.text("errorMessage"), self.error_pattern());
        let line = self.get("line").and_then(|node| self.reader.integer(node, "`line`"));
        let code = match self.text("code") {
            None => None,
            Some(text) => match Code::named(&text) {
                Some(code) => Some(code),
                None => return self.unknown_code(&text),
            },
        };
        Some(Expectation::Fails(Failing { message, pattern, code, line }))
    }

    fn error_pattern(&mut self) -> Option<ErrorPattern> {
        let text = self.text("errorPattern")?;
        Some(ErrorPattern { regex: re2::compiled(&text).ok(), text })
    }

    fn unknown_code<T>(&mut self, text: &str) -> Option<T> {
        let span = self.get("code").map_or(self.entry.key.span, |node| node.span);
        let names = Code::ALL.iter().flat_map(|code| [code.id(), code.name()]);
        let error = self.reader.error(span, format!("there is no error `{text}`"));
        let error = error.with_help("`dropforge explain` lists all errors").with_suggestion(text, names);
        self.reader.errors.push(error);
        None
    }

    pub fn equal_text(&mut self) -> Option<Expectation> {
        let expected = match (self.get("value"), self.get("file")) {
            (Some(_), Some(node)) => {
                self.reader.refuse(node.span, "`file` beside `value`: give one of them");
                None
            }
            (None, Some(node)) => self.reader.text(node, "`file`").map(Expected::File),
            _ => self.needed_text("value").map(Expected::Text),
        };
        expected.map(Expectation::EqualText)
    }

    pub fn matches_text(&mut self) -> Option<Expectation> {
        self.needed_pattern("pattern").map(|pattern| Expectation::MatchesText { pattern })
    }

    pub fn snapshot_text(&mut self) -> Option<Expectation> {
        Some(Expectation::SnapshotText)
    }

    pub fn contains_text(&mut self) -> Option<Expectation> {
        let Some(node) = self.get("value") else { return self.missing("value") };
        let texts: Vec<String> = self.reader.texts(node, "`value`").into_iter().map(|placed| placed.text).collect();
        if texts.is_empty() {
            self.reader.refuse(node.span, "`value` must be text or a list of texts");
            return None;
        }
        Some(Expectation::ContainsText { texts })
    }

    pub fn snapshot(&mut self) -> Option<Expectation> {
        let path = self.path_or_whole();
        let (matches, lacks) = (self.inner_pattern("matchRegex"), self.inner_pattern("notMatchRegex"));
        Some(Expectation::Snapshot { path: path?, matches, lacks })
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
fn pattern(reader: &mut NodeReader<'_>, node: &Node, key: &str) -> Option<Regex> {
    let text = reader.text(node, &format!("`{key}`"))?.text;
    let compiled = re2::compiled(&text);
    let refuse = |why: String| reader.refuse(node.span, format!("`{text}` is not a regular expression: {why}"));
    compiled.map_err(refuse).ok()
}

/// Reads the documents that a suite, test or assertion selects.
pub(super) fn documents(reader: &mut NodeReader<'_>, node: &Node) -> Documents {
    // `-1` stands for all documents.
    let index = node.get("documentIndex").filter(|node| node.kind != yaml::Kind::Int(-1));
    let index = index.and_then(|node| reader.count(node, "`documentIndex`"));
    let selector = node.get("documentSelector").and_then(|node| selector(reader, node));
    Documents { index, selector }
}

fn selector(reader: &mut NodeReader<'_>, node: &Node) -> Option<Selector> {
    let known = ["path", "value", "matchMany", "skipEmptyTemplates"];
    let fields = reader.fields(node, "`documentSelector`", &known);
    let (mut found, mut value, mut many, mut skips_empty) = (None, None, false, false);
    for entry in fields {
        match &*entry.name {
            "path" => found = value_path(reader, &entry.value),
            "value" => value = Some(json(&value_of(&entry.value))),
            "matchMany" => many = reader.boolean(&entry.value, "`matchMany`")?,
            _ => skips_empty = reader.boolean(&entry.value, "`skipEmptyTemplates`")?,
        }
    }
    if node.as_map().is_some() && node.get("path").is_none() {
        reader.refuse(node.span, "`documentSelector` needs `path`");
    }
    Some(Selector { path: found?, value, many, skips_empty })
}

/// Reads a path to values.
fn value_path(reader: &mut NodeReader<'_>, node: &Node) -> Option<ValuePath> {
    let text = reader.text(node, "`path`")?.text;
    let refuse = |why: String| reader.refuse(node.span, format!("`{text}` is not a path: {why}"));
    ValuePath::parse(&text).map_err(refuse).ok()
}
