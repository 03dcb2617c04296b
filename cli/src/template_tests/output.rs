//! The output of a template in a test.

use std::cell::OnceCell;

use serde_json::Value;

use dropforge::diagnostics::Diagnostic;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::yaml;

use super::read::json;

/// The documents of a text, or its errors.
type Documents = Result<Vec<Value>, Vec<Box<Diagnostic>>>;

/// The output of a template.
#[derive(Debug)]
pub(super) struct Output {
    /// The template, as the test names it.
    pub template: String,
    /// The text, or the errors of the render.
    pub text: Result<String, Vec<Box<Diagnostic>>>,
    /// `true` for the errors of a chart, which are those of all its templates.
    pub is_all: bool,
    documents: OnceCell<Documents>,
}

impl Output {
    pub fn new(template: String, text: Result<String, Vec<Box<Diagnostic>>>) -> Self {
        Self { template, text, is_all: false, documents: OnceCell::new() }
    }

    /// Returns the errors of a chart.
    pub fn failed(errors: Vec<Box<Diagnostic>>) -> Self {
        Self { is_all: true, ..Self::new(String::new(), Err(errors)) }
    }

    /// Returns the documents in the text. Empty ones do not count.
    pub fn documents(&self) -> &Documents {
        self.documents.get_or_init(|| {
            let Ok(text) = &self.text else { return Ok(Vec::new()) };
            let source = Source::new(format!("{} (rendered)", self.template), text.as_str());
            let nodes = yaml::read_with(&source, &Limits::default(), yaml::Tags::Kept)?;
            let documents = nodes.iter().map(|node| json(&node.to_data()));
            let is_empty =
                |document: &Value| document.is_null() || document.as_object().is_some_and(serde_json::Map::is_empty);
            Ok(documents.filter(|document| !is_empty(document)).collect())
        })
    }
}
