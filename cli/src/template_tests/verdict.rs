//! Verdicts about values in documents, and about expected errors.

use std::borrow::Cow;
use std::cmp::Ordering;

use base64::Engine as _;
use serde_json::Value;

use super::output::TestOutput;
use super::path::ValuePath;
use super::suite::{DocumentHead, Expectation, Failing};
use super::values::{
    bounded, compare, difference, includes, is_empty, is_long, is_type, plain, same, short, shown, type_name,
};
use dropforge::diagnostics::Diagnostic;

/// The result of a check.
#[derive(Debug)]
pub(super) struct Verdict {
    pub holds: bool,
    /// `true` for a value that the check is not made for. Then its opposite does not hold, either.
    pub is_unfit: bool,
    path: Option<String>,
    /// What was expected, within a sentence.
    wanted: String,
    found: Option<String>,
    pub notes: Vec<String>,
}

impl Verdict {
    pub fn new(holds: bool, wanted: String) -> Self {
        Self { holds, is_unfit: false, path: None, wanted, found: None, notes: Vec::new() }
    }

    /// Returns the verdict about a value that the check is not made for.
    fn unfit(wanted: String, found: String) -> Self {
        Self { is_unfit: true, ..Self::new(false, wanted).found(found) }
    }

    pub fn at(self, path: &ValuePath) -> Self {
        Self { path: Some(path.text().to_owned()).filter(|path| !path.is_empty()), ..self }
    }

    pub fn found(self, found: String) -> Self {
        Self { found: Some(found), ..self }
    }

    /// Adds a text that does not fit in a sentence.
    pub fn with_note(mut self, name: &str, text: &str) -> Self {
        self.notes.push(format!("{name}:\n{}", bounded(text)));
        self
    }

    /// Adds the difference of two texts.
    pub fn with_difference(mut self, expected: &str, actual: &str) -> Self {
        self.notes.push(difference(expected, actual));
        self
    }

    /// Returns the expectation and what was found instead.
    pub fn sentence(&self, assertion: &str, negative: bool) -> String {
        let path = self.path.as_ref().map(|path| format!(" at `{path}`")).unwrap_or_default();
        let expected = if negative && !self.is_unfit { "did not expect" } else { "expected" };
        let found = self.found.as_ref().map(|found| format!(", found {found}")).unwrap_or_default();
        format!("`{assertion}`{path}: {expected} {}{found}", self.wanted)
    }

    /// Returns what programs read.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        let path = self.path.clone().map(|path| ("path", path));
        let found = self.found.clone().map(|found| ("found", found));
        path.into_iter().chain(Some(("expected", self.wanted.clone()))).chain(found)
    }
}

/// Returns the verdicts about the values of a document: one for each value at the path, or for nothing there.
pub(super) fn of_value(check: &Expectation, document: &Value) -> Vec<Verdict> {
    match check {
        Expectation::Exists { path } => {
            let found = path.find(document);
            let verdict = Verdict::new(!found.is_empty(), "a value".to_owned()).at(path);
            vec![verdict.found(first_of(&found))]
        }
        Expectation::Some { path } => {
            let found = path.find(document);
            let is_some = found.iter().any(|value| !value.is_null());
            vec![Verdict::new(is_some, "a value other than null".to_owned()).at(path).found(first_of(&found))]
        }
        Expectation::Length { paths, count } => length(paths, *count, document),
        Expectation::Document(head) => vec![head.verdict(document)],
        Expectation::Equal { path, .. }
        | Expectation::AtLeast { path, .. }
        | Expectation::AtMost { path, .. }
        | Expectation::Contains { path, .. }
        | Expectation::Subset { path, .. }
        | Expectation::Matches { path, .. }
        | Expectation::Empty { path }
        | Expectation::Type { path, .. } => {
            let found = path.find(document);
            match found.is_empty() {
                true => vec![of_one(check, &Value::Null).at(path).missing()],
                false => found.iter().map(|value| of_one(check, value).at(path)).collect(),
            }
        }
        _ => Vec::new(),
    }
}

fn first_of(found: &[Cow<'_, Value>]) -> String {
    found.first().map_or("nothing".to_owned(), |value| short(value))
}

impl Verdict {
    /// Makes it one about a path without a value.
    fn missing(self) -> Self {
        Self { holds: false, is_unfit: false, found: Some("nothing".to_owned()), notes: Vec::new(), ..self }
    }
}

/// Returns the verdict about one value.
fn of_one(check: &Expectation, value: &Value) -> Verdict {
    match check {
        Expectation::Equal { value: wanted, base64, .. } => match decoded(value, *base64) {
            Ok(value) => equal(wanted, &value),
            Err(why) => Verdict::unfit(short(wanted), why),
        },
        Expectation::AtLeast { value: wanted, .. } => ordered(wanted, value, "at least", Ordering::is_ge),
        Expectation::AtMost { value: wanted, .. } => ordered(wanted, value, "at most", Ordering::is_le),
        Expectation::Contains { content, count, any, .. } => contains(content, *count, *any, value),
        Expectation::Subset { content, .. } => {
            let wanted = format!("a map with {}", short(content));
            if !value.is_object() {
                return Verdict::unfit(wanted, short(value));
            }
            let holds = includes(value, content);
            let verdict = Verdict::new(holds, wanted).found(short(value));
            if holds || !(is_long(content) || is_long(value)) {
                return verdict;
            }
            verdict.with_difference(&shown(content), &shown(value))
        }
        Expectation::Matches { pattern, base64, .. } => {
            let wanted = format!("a text that matches `{pattern}`");
            match decoded(value, *base64) {
                Ok(Value::String(text)) => {
                    let verdict =
                        Verdict::new(pattern.is_match(&text), wanted).found(short(&Value::from(text.as_str())));
                    if text.contains('\n') { verdict.with_note("found", &text) } else { verdict }
                }
                Ok(other) => Verdict::unfit(wanted, short(&other)),
                Err(why) => Verdict::unfit(wanted, why),
            }
        }
        Expectation::Empty { .. } => {
            Verdict::new(is_empty(value), "null or an empty value".to_owned()).found(short(value))
        }
        Expectation::Type { name, .. } => {
            Verdict::new(is_type(value, name), format!("a value of type `{name}`")).found(type_name(value).to_owned())
        }
        _ => Verdict::new(false, String::new()),
    }
}

/// Compares values. Of a text, blanks before the ends of lines and empty lines at the beginning do not count.
fn equal(wanted: &Value, value: &Value) -> Verdict {
    let is_plain = |wanted: &str| value.as_str().is_some_and(|text| plain(text) == wanted);
    let holds = same(wanted, value) || wanted.as_str().is_some_and(is_plain);
    let verdict = Verdict::new(holds, short(wanted)).found(short(value));
    match !holds && (is_long(wanted) || is_long(value)) {
        true => verdict.with_difference(&shown(wanted), &shown(value)),
        false => verdict,
    }
}

fn ordered(wanted: &Value, value: &Value, words: &str, is_right: fn(Ordering) -> bool) -> Verdict {
    let holds = compare(value, wanted).is_some_and(is_right);
    Verdict::new(holds, format!("{words} {}", short(wanted))).found(short(value))
}

fn contains(content: &Value, count: Option<usize>, any: bool, value: &Value) -> Verdict {
    let Some(items) = value.as_array() else {
        return Verdict::unfit(format!("a list with {}", short(content)), short(value));
    };
    let is_it = |item: &&Value| if any { includes(item, content) } else { same(item, content) };
    let found = items.iter().filter(is_it).count();
    let times = count.map(|count| format!(" {count} times")).unwrap_or_default();
    let holds = count.map_or(found > 0, |count| found == count);
    let verdict = Verdict::new(holds, format!("a list with {}{times}", short(content)));
    match is_long(value) || is_long(content) {
        true => verdict.found(format!("it {found} times")).with_note("list", &shown(value)),
        false => verdict.found(short(value)),
    }
}

fn length(paths: &[ValuePath], count: Option<usize>, document: &Value) -> Vec<Verdict> {
    let mut common = count;
    let mut verdicts = Vec::new();
    for path in paths {
        let found = path.find(document);
        let lengths: Vec<Option<usize>> = found.iter().map(|value| length_of(value)).collect();
        let wanted = common.map_or("a list".to_owned(), |count| format!("a list of length {count}"));
        for (value, length) in found.iter().zip(&lengths) {
            let holds = length.is_some_and(|length| common.is_none_or(|count| count == length));
            let found = length.map_or_else(|| type_name(value).to_owned(), |length| format!("length {length}"));
            verdicts.push(Verdict::new(holds, wanted.clone()).at(path).found(found));
        }
        if found.is_empty() {
            verdicts.push(Verdict::new(false, wanted).at(path).missing());
        }
        common = common.or_else(|| lengths.first().copied().flatten());
    }
    verdicts
}

/// Returns the length of a list. Null is an empty one.
fn length_of(value: &Value) -> Option<usize> {
    if value.is_null() { Some(0) } else { value.as_array().map(Vec::len) }
}

/// Returns a value, or the text that it encodes.
fn decoded(value: &Value, base64: bool) -> Result<Value, String> {
    if !base64 {
        return Ok(value.clone());
    }
    let text = value.as_str().unwrap_or("").replace(['\n', '\r'], "");
    let bytes =
        base64::prelude::BASE64_STANDARD.decode(text).map_err(|_| format!("{}, which is not base64", short(value)))?;
    String::from_utf8(bytes).map(Value::from).map_err(|_| "bytes that are not text".to_owned())
}

impl DocumentHead {
    /// Returns the head in words.
    pub fn describe(&self) -> String {
        let name = self.name.as_ref().map(|name| format!(", name `{name}`")).unwrap_or_default();
        let namespace = self.namespace.as_ref().map(|space| format!(", namespace `{space}`")).unwrap_or_default();
        format!("of kind `{}`, version `{}`{name}{namespace}", self.kind, self.api_version)
    }

    fn verdict(&self, document: &Value) -> Verdict {
        let at = |pointer: &str| document.pointer(pointer).and_then(Value::as_str);
        let is =
            |pointer: &str, wanted: &Option<String>| wanted.as_deref().is_none_or(|text| at(pointer) == Some(text));
        let holds = at("/kind") == Some(&self.kind)
            && at("/apiVersion") == Some(&self.api_version)
            && is("/metadata/name", &self.name)
            && is("/metadata/namespace", &self.namespace);
        let found = [at("/kind"), at("/apiVersion"), at("/metadata/name"), at("/metadata/namespace")];
        let found: Vec<String> = found.into_iter().flatten().map(|text| format!("`{text}`")).collect();
        Verdict::new(holds, format!("a document {}", self.describe())).found(found.join(", "))
    }
}

/// The field of an error with the message of Helm, which tests of charts compare with.
const HELM_MESSAGE: &str = "go_message";

/// Returns a verdict for each output: whether its render fails as expected.
pub(super) fn of_errors<'o>(
    wanted: &Failing,
    negative: bool,
    outputs: &[&'o TestOutput],
) -> Vec<(Option<&'o str>, Verdict)> {
    // A chart fails as a whole, and so does a test without templates.
    outputs.iter().map(|output| (Some(output.template.as_str()), of_error(wanted, negative, output))).collect()
}

fn of_error(wanted: &Failing, negative: bool, output: &TestOutput) -> Verdict {
    let described = describe(wanted);
    let Err(errors) = &output.text else {
        return Verdict::new(false, described).found("a render without an error".to_owned());
    };
    let holds = errors
        .iter()
        .flat_map(|error| [error.as_ref()].into_iter().chain(also(error)))
        .any(|error| fits(wanted, error));
    let shown: Vec<String> = errors.iter().map(|error| error.to_string()).collect();
    let verdict = Verdict::new(holds, described);
    match holds == negative {
        true => verdict.with_note("error", &shown.join("\n")),
        false => verdict,
    }
}

fn also(error: &Diagnostic) -> impl Iterator<Item = &Diagnostic> {
    error.also.iter().map(AsRef::as_ref)
}

fn describe(wanted: &Failing) -> String {
    let parts = [
        wanted.code.map(|code| format!("code {}", code.id())),
        wanted.line.map(|line| format!("line {line}")),
        wanted.message.as_ref().map(|message| format!("message `{message}`")),
        wanted.pattern.as_ref().map(|pattern| format!("a message that matches `{}`", pattern.text)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "an error".to_owned() } else { format!("an error with {}", parts.join(", ")) }
}

fn fits(wanted: &Failing, error: &Diagnostic) -> bool {
    let texts = messages(error);
    let is_message = |wanted: &String| texts.iter().any(|text| text.trim() == wanted.trim());
    let line = error.position().map(|at| i64::from(at.line));
    wanted.code.is_none_or(|code| code == error.code)
        && wanted.line.is_none_or(|wanted| line == Some(wanted))
        && wanted.message.as_ref().is_none_or(is_message)
        && wanted.pattern.as_ref().is_none_or(|pattern| texts.iter().any(|text| pattern.is_in(text)))
}

/// Returns the message with and without its explanation, that of Helm in several lines and in one, and the parts of that
/// after a colon, of which helm-unittest compares one.
fn messages(error: &Diagnostic) -> Vec<Cow<'_, str>> {
    let mut texts = vec![error.text(), error.message.as_str().into()];
    texts.extend(error.detail.as_deref().map(Cow::from));
    let Some(helm) = error.fields.get(HELM_MESSAGE) else { return texts };
    let line = one_line(helm);
    let parts = line.match_indices(": ").filter_map(|(at, colon)| line.get(at + colon.len()..));
    texts.extend(parts.map(|part| Cow::Owned(part.to_owned())));
    texts.push(Cow::Owned(line));
    let below = helm.split_once('\n').map(|(_, below)| below);
    let last = helm.trim_end().rsplit_once('\n').map(|(_, last)| last.trim());
    texts.extend([Some(helm.as_str()), below, last].into_iter().flatten().map(Cow::from));
    texts
}

/// Returns a message of Helm 4, which has lines for each place, as Helm 3 has it, in one line.
fn one_line(message: &str) -> String {
    let is_place = |line: &str| line.rsplitn(3, ':').take(2).all(|part| part.parse::<u32>().is_ok());
    if !message.lines().next().is_some_and(is_place) {
        return message.to_owned();
    }
    let place = |line: &str| if is_place(line) { format!("template: {line}:") } else { line.trim().to_owned() };
    message.lines().map(place).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_helm_are_read_in_one_line() {
        let lines = "c/templates/a.yaml:1:6\n  executing \"a\" at <include \"y\" .>:\n    error calling include:\nc/templates/_h.tpl:2:26\n  executing \"y\" at <.Values.a.b>:\n    nil pointer evaluating interface {}.b";
        let line = "template: c/templates/a.yaml:1:6: executing \"a\" at <include \"y\" .>: error calling include: template: c/templates/_h.tpl:2:26: executing \"y\" at <.Values.a.b>: nil pointer evaluating interface {}.b";
        assert_eq!(one_line(lines), line);
        let plain = "execution error at (c/templates/a.yaml:1:6): one\ntwo";
        assert_eq!(one_line(plain), plain);
    }
}
