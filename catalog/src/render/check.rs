//! Checks of YAML text, under the limits of the render or request that it belongs to.

use dropforge::diagnostics::Diagnostic;
use dropforge::engine::OutputSyntax;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::yaml;
use serde_json::json;

use super::scratch::Scratch;
use crate::error::{CatalogError, Result};
use crate::review::Finding;
use crate::validation;

/// Name of checked texts in diagnostics.
const NAME: &str = "output";
/// Code of warnings about text that is not YAML.
const NOT_YAML: &str = "output.not_yaml";

impl Scratch {
    /// The errors of the text of the last render, which has as much memory left as the check may use.
    pub(super) fn output_errors(&mut self, text: &str) -> Vec<Box<Diagnostic>> {
        let limits = self.limits(self.session.memory_left());
        self.check.errors_within(&limits, OutputSyntax::Yaml, NAME, text)
    }

    /// Warnings about the text of the last render.
    pub(super) fn output_warnings(&mut self, text: &str) -> Vec<Finding> {
        self.output_errors(text).iter().map(|error| Finding::from_diagnostic(error, NOT_YAML)).collect()
    }

    /// Requires YAML with at least one document.
    ///
    /// # Errors
    /// `invalid_deployment_object`.
    pub(crate) fn require_yaml(&mut self, text: &str) -> Result<()> {
        validation::yaml(text)?;
        if has_content(text) && self.scanner.is_yaml(text) {
            return Ok(());
        }
        let invalid = |message: &str| CatalogError::invalid("invalid_deployment_object", message);
        match count_documents(text, &self.limits(self.memory)) {
            Ok(0) => Err(invalid("YAML content has no documents")),
            Ok(_) => Ok(()),
            Err(findings) => {
                let first = findings.first().map_or("", |first| first.message.as_str());
                Err(invalid(&format!("invalid YAML: {first}")).with_details(json!({ "findings": findings })))
            }
        }
    }
}

/// Returns `true` if a line has more than a comment.
fn has_content(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Counts the non-empty documents of a text, or returns its errors.
fn count_documents(text: &str, limits: &Limits) -> Result<usize, Vec<Finding>> {
    match yaml::read_with(&Source::new(NAME, text), limits, yaml::Tags::Kept) {
        Ok(documents) => Ok(documents.len()),
        Err(errors) => Err(errors.iter().map(|error| Finding::from_diagnostic(error, NOT_YAML)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<String> {
        Scratch::new(64 << 20).require_yaml(text).err().map(|error| format!("{}: {}", error.code, error.message))
    }

    #[test]
    fn the_quick_check_and_the_full_one_agree() {
        for good in ["a: 1", "---", "# c\na: 1", "? complex\n: key", "a: !Sub x", "--- # c\n...\n", "%YAML 1.2\n---\na"]
        {
            assert_eq!(code(good), None, "{good}");
            assert!(count_documents(good, &Limits::default()).is_ok_and(|count| count > 0), "{good}");
        }
        for none in ["# only a comment", "\n# a\n  # b\n"] {
            assert_eq!(code(none).as_deref(), Some("invalid_deployment_object: YAML content has no documents"));
        }
        assert!(code("a: [").is_some_and(|error| error.contains("invalid YAML: ")));
    }

    #[test]
    fn a_text_full_of_errors_has_few_and_short_ones() {
        let text = format!("? {}\n: 1\n", "k".repeat(50_000)).repeat(40);
        let error = Scratch::new(64 << 20).require_yaml(&text).unwrap_err();
        let body = serde_json::to_string(&error).unwrap();
        assert!(body.len() < 20_000, "{} bytes", body.len());
        assert_eq!(
            error.details.unwrap()["findings"].as_array().unwrap().len(),
            super::super::scratch::MAX_DIAGNOSTICS
        );
    }

    #[test]
    fn a_text_that_needs_too_much_memory_is_refused() {
        // Outside of what the scanner takes. A node takes much more memory than its two bytes of text.
        let text = format!("? x\n: [{}]\n", "1,".repeat(2 << 20));
        let error = code(&text).unwrap();
        assert!(error.contains("needs too much memory"), "{error}");
    }
}
