//! The output of a template in a test, and the documents in it that an assertion is about.

use std::cell::OnceCell;

use serde_json::Value;

use super::suite::{Documents, Selector};
use super::values::{json, same, short, value_of};
use dropforge::diagnostics::Diagnostic;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::yaml::{self, Kind, Node, Style, libyaml};
use dropforge::value::{Arena, Data, Numbers};

/// The documents of a text, or its errors.
type ParsedDocuments = Result<Vec<Value>, Vec<Box<Diagnostic>>>;

/// The output of a template.
#[derive(Debug)]
pub(super) struct TestOutput {
    /// The template, as the test names it.
    pub template: String,
    /// The text, or the errors of the render.
    pub text: Result<String, Vec<Box<Diagnostic>>>,
    /// `true` for the errors of a chart, which are those of all its templates.
    pub is_all: bool,
    content: Content,
    documents: OnceCell<ParsedDocuments>,
}

/// What a text is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Yaml,
    /// Documents of a chart. A separator can stand before the first line of one, as for Helm.
    Manifests,
    /// A text such as `NOTES.txt`: one document with the key `raw`.
    Text,
}

impl TestOutput {
    pub fn new(template: String, text: Result<String, Vec<Box<Diagnostic>>>) -> Self {
        Self { template, text, is_all: false, content: Content::Yaml, documents: OnceCell::new() }
    }

    /// Returns the output of a template of a chart.
    pub fn of_chart(template: String, text: String) -> Self {
        let content = if template.ends_with(".txt") { Content::Text } else { Content::Manifests };
        Self { content, ..Self::new(template, Ok(text)) }
    }

    /// Returns the errors of a chart.
    pub fn failed(errors: Vec<Box<Diagnostic>>) -> Self {
        Self { is_all: true, ..Self::new(String::new(), Err(errors)) }
    }

    /// Returns the documents in the text. Empty ones do not count.
    pub fn documents(&self) -> &ParsedDocuments {
        self.documents.get_or_init(|| {
            let Ok(text) = &self.text else { return Ok(Vec::new()) };
            let text = match self.content {
                Content::Text => return Ok(vec![serde_json::json!({ "raw": text })]),
                Content::Manifests => separated(text),
                Content::Yaml => text.clone(),
            };
            let source = Source::new(format!("{} (rendered)", self.template), text);
            let read = match yaml::read_with(&source, &Limits::default(), yaml::Tags::Kept) {
                Ok(nodes) => documents_of(&nodes, source.text()),
                // Helm's reader takes more than the standard has: `"text"# comment`.
                Err(errors) if self.content == Content::Manifests => as_helm(source.text()).ok_or(errors)?,
                Err(errors) => return Err(errors),
            };
            let documents = read.into_iter();
            let is_empty =
                |document: &Value| document.is_null() || document.as_object().is_some_and(serde_json::Map::is_empty);
            Ok(documents.filter(|document| !is_empty(document)).collect())
        })
    }
}

/// Returns the values of documents. A block of text that ends the whole text has no more line ends than that.
fn documents_of(nodes: &[Node], text: &str) -> Vec<Value> {
    let mut documents: Vec<Data> = nodes.iter().map(value_of).collect();
    if let (Some(node), Some(document), false) = (nodes.last(), documents.last_mut(), text.ends_with('\n')) {
        end_block(node, document);
    }
    documents.iter().map(json).collect()
}

/// Removes the line end that the reader has given to the last block of text in a node.
fn end_block(node: &Node, data: &mut Data) {
    match (&node.kind, data) {
        (Kind::List(nodes), Data::List(items)) => {
            nodes.last().zip(items.last_mut()).into_iter().for_each(|(node, item)| end_block(node, item));
        }
        (Kind::Map(entries), Data::Map(map)) => {
            let last = entries.last().and_then(|entry| Some((entry, map.get_mut(&*entry.name)?)));
            last.into_iter().for_each(|(entry, value)| end_block(&entry.value, value));
        }
        (_, Data::Str(text)) if matches!(node.style, Style::Literal | Style::Folded) && text.ends_with('\n') => {
            text.pop();
        }
        _ => {}
    }
}

/// Maximum nesting of a document.
const DEPTH: usize = 200;

/// Reads documents with the reader of Helm. `None` if it refuses them, too.
fn as_helm(text: &str) -> Option<Vec<Value>> {
    let arena = Arena::new();
    let values = libyaml::read_all(&arena, text, Numbers::AsWritten, DEPTH).ok()?;
    Some(values.iter().map(|value| json(&value.to_data())).collect())
}

/// Returns a text with nothing beside the separators of its documents.
fn separated(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_prefix("---").filter(|rest| !rest.trim().is_empty()) {
            Some(rest) => out.extend(["---\n", rest.trim_start()]),
            None => out.push_str(line),
        }
    }
    out
}

/// A document that an assertion is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Selected<'o> {
    pub output: &'o TestOutput,
    /// The number of the document in its output.
    pub at: usize,
    pub document: &'o Value,
}

/// Selects documents of outputs.
///
/// # Errors
/// What is wrong with the selection.
pub(super) fn select<'o>(wanted: &Documents, outputs: &[&'o TestOutput]) -> Result<Vec<Selected<'o>>, String> {
    match wanted {
        Documents { selector: Some(selector), .. } => by_value(selector, outputs),
        Documents { index: Some(index), .. } => {
            let one = |output: &&'o TestOutput| {
                let documents = all(output);
                let count = documents.len();
                let missing = || format!("`{}` has {count} documents, so none has index {index}", output.template);
                documents.into_iter().nth(*index).ok_or_else(missing)
            };
            outputs.iter().map(one).collect()
        }
        _ => Ok(outputs.iter().flat_map(all).collect()),
    }
}

fn all<'o>(output: &&'o TestOutput) -> Vec<Selected<'o>> {
    let output: &'o TestOutput = output;
    let documents = output.documents().as_ref().map(Vec::as_slice).unwrap_or_default();
    documents.iter().enumerate().map(|(at, document)| Selected { output, at, document }).collect()
}

fn by_value<'o>(selector: &Selector, outputs: &[&'o TestOutput]) -> Result<Vec<Selected<'o>>, String> {
    let mut selected = Vec::new();
    let path = selector.path.text();
    let value = selector.value.as_ref().map(|value| format!(" is {}", short(value))).unwrap_or_default();
    for output in outputs {
        let is_it = |one: &Selected<'_>| {
            let found = selector.path.find(one.document);
            match &selector.value {
                Some(value) => found.iter().any(|other| same(value, other)),
                None => !found.is_empty(),
            }
        };
        let before = selected.len();
        selected.extend(all(output).into_iter().filter(is_it));
        if selected.len() == before && !selector.skips_empty && (selector.many || outputs.len() == 1) {
            return Err(format!("`{}` has no document whose `{path}`{value}", output.template));
        }
    }
    match selected.len() {
        0 if selector.skips_empty => Ok(selected),
        0 => Err(format!("there is no document whose `{path}`{value}")),
        1 => Ok(selected),
        _ if selector.many => Ok(selected),
        count => Err(format!("the `{path}` of {count} documents{value}: set `matchMany`, or select one")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_split_as_by_helm() {
        let count = |name: &str, text: &str| {
            TestOutput::of_chart(name.to_owned(), text.to_owned()).documents().as_ref().map(Vec::len).unwrap()
        };
        for (text, wanted) in [
            ("", 0),
            ("# none\n---\n \n", 0),
            ("a: 1\n---\nb: 2\n", 2),
            ("a: 1\n---b: 2\n", 2),
            ("--- # Source: x\na: 1\n---   \n\nb: 2", 2),
            ("a: |\n  x\n  ---\n  y\n", 1),
            ("a: {}\n---\n{}\n", 1),
        ] {
            assert_eq!(count("templates/a.yaml", text), wanted, "{text:?}");
        }
        let text = |text: &str| {
            let output = TestOutput::of_chart("a.yaml".to_owned(), text.to_owned());
            output.documents().as_ref().map(|all| all[0].pointer("/a").cloned()).unwrap().unwrap()
        };
        for (yaml, wanted) in [
            ("a: |\n  x\n  y", "x\ny"),
            ("a: |\n  x\n", "x\n"),
            ("a: >\n  x\n  y", "x y"),
            ("a: |-\n  x", "x"),
            ("a: x", "x"),
            ("a: \"x\"# comment\n", "x"),
        ] {
            assert_eq!(text(yaml), wanted, "{yaml:?}");
        }
        assert_eq!((count("templates/NOTES.txt", ""), count("templates/NOTES.txt", "a: b: c\n---\n")), (1, 1));
    }
}
