//! The formats of errors, besides those of the library: one line, annotations of GitHub, SARIF.

use std::cell::RefCell;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::options::ErrorFormat;
use dropforge::bulk::Failure;
use dropforge::diagnostics::{Code, Diagnostic, Label, parts};

/// The bytes of a path that a URI encodes.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// Prints errors to standard error, in one format.
#[derive(Debug)]
pub(crate) struct Printer {
    pub(crate) format: ErrorFormat,
    pub(crate) color: bool,
    /// The results of a SARIF log, which is printed at the end.
    results: RefCell<Vec<Value>>,
}

impl Printer {
    pub(crate) fn new(format: ErrorFormat, color: bool) -> Self {
        Self { format, color, results: RefCell::default() }
    }

    /// Prints a diagnostic.
    pub(crate) fn diagnostic(&self, diagnostic: &Diagnostic) {
        match self.format {
            ErrorFormat::Human => crate::stderr::text(&diagnostic.render(self.color)),
            ErrorFormat::Json => crate::stderr::line(&diagnostic.to_json().to_string()),
            ErrorFormat::Short => each(diagnostic, &mut |one| crate::stderr::line(&short(one))),
            ErrorFormat::Github => each(diagnostic, &mut |one| crate::stderr::line(&annotation(one))),
            ErrorFormat::Sarif => each(diagnostic, &mut |one| self.results.borrow_mut().push(result(one))),
        }
    }

    /// Prints the error of several clusters.
    pub(crate) fn failure(&self, failure: &Failure) {
        match self.format {
            ErrorFormat::Json => crate::stderr::line(&failure.to_json().to_string()),
            _ => self.diagnostic(&failure.folded()),
        }
    }

    /// Prints a warning without a code.
    pub(crate) fn warning(&self, message: &str) {
        match self.format {
            ErrorFormat::Human | ErrorFormat::Short => crate::stderr::line(&format!("warning: {message}")),
            ErrorFormat::Json => {
                crate::stderr::line(&json!({"severity": "warning", "message": message}).to_string());
            }
            ErrorFormat::Github => crate::stderr::line(&format!("::warning::{}", escaped(message))),
            ErrorFormat::Sarif => {
                self.results.borrow_mut().push(json!({"level": "warning", "message": {"text": message}}));
            }
        }
    }
}

impl Drop for Printer {
    /// Prints a SARIF log.
    fn drop(&mut self) {
        if self.format == ErrorFormat::Sarif {
            crate::stderr::line(&log(std::mem::take(&mut self.results.borrow_mut())).to_string());
        }
    }
}

/// Calls `print` with a diagnostic and the further ones in it.
fn each(diagnostic: &Diagnostic, print: &mut dyn FnMut(&Diagnostic)) {
    print(diagnostic);
    diagnostic.also.iter().for_each(|other| each(other, print));
}

/// Returns one line: `file:line:column: error[E0201]: message; help`.
fn short(diagnostic: &Diagnostic) -> String {
    diagnostic.written(parts::SHORT, "").chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The first and the last place of a label, as lines and columns in characters, both counted from 1. The last is after the
/// label.
fn region(label: &Label) -> [(usize, usize); 2] {
    let text = label.source.text();
    let place = |at: u32| {
        let before = text.get(..at as usize).unwrap_or(text);
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        (before.matches('\n').count() + 1, before.get(line..).unwrap_or("").chars().count() + 1)
    };
    [place(label.span.start), place(label.span.end.max(label.span.start))]
}

/// Returns a workflow command that annotates a line of a file.
fn annotation(diagnostic: &Diagnostic) -> String {
    let property = |text: &str| escaped(text).replace(':', "%3A").replace(',', "%2C");
    let mut properties = Vec::new();
    if let Some(label) = diagnostic.primary() {
        let [(line, column), (end, end_column)] = region(label);
        properties.push(format!("file={},line={line},endLine={end}", property(label.source.path())));
        // Columns count only within a line.
        properties.extend((line == end).then(|| format!("col={column},endColumn={}", end_column.max(column))));
    }
    properties.push(format!("title={}", property(&format!("{} {}", diagnostic.code.id(), diagnostic.code.title()))));
    format!(
        "::{} {}::{}",
        diagnostic.severity.name(),
        properties.join(","),
        escaped(&diagnostic.written(parts::SARIF, "\n"))
    )
}

/// Escapes the text of a workflow command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Returns a result of a SARIF log.
fn result(diagnostic: &Diagnostic) -> Value {
    let location = |label: &Label| {
        let [(line, column), (end, end_column)] = region(label);
        let path = label.source.path().replace('\\', "/");
        json!({
            "artifactLocation": {"uri": utf8_percent_encode(&path, ENCODED).to_string()},
            "region": {"startLine": line, "startColumn": column, "endLine": end, "endColumn": end_column},
        })
    };
    let related = |label: &Label| json!({"physicalLocation": location(label), "message": {"text": label.text}});
    let mut result = json!({
        "ruleId": diagnostic.code.id(),
        "level": diagnostic.severity.name(),
        "message": {"text": diagnostic.written(parts::SARIF, "\n")},
    });
    if let Some((first, others)) = diagnostic.labels.split_first() {
        result["locations"] = json!([{"physicalLocation": location(first)}]);
        result["relatedLocations"] = others.iter().map(related).collect();
    }
    result
}

/// Returns a SARIF 2.1.0 log of results, with the rules that they name.
fn log(results: Vec<Value>) -> Value {
    let named = |code: &Code| results.iter().any(|result| result["ruleId"] == code.id());
    let rule = |code: Code| json!({"id": code.id(), "name": code.name(), "shortDescription": {"text": code.title()}});
    let rules: Vec<Value> = Code::ALL.iter().copied().filter(named).map(rule).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "dropforge", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

#[cfg(test)]
mod tests {
    use dropforge::text::{Source, Span};

    use super::*;

    fn error() -> Box<Diagnostic> {
        let source = Source::new("t/a b.tera", "é\nname: ü{{ nmae }}\n");
        let base = Source::new("t/base.tera", "{% include 'a' %}");
        Diagnostic::new(Code::UndefinedVariable, "variable `nmae`\nis 100% unknown")
            .at(&source, Span::new(14, 18), "here")
            .at(&base, Span::new(0, 17), "included from here")
            .with_available(["name", "port"])
            .with_help("did you mean `name`?")
            .for_cluster("eu-1")
    }

    #[test]
    fn one_line_has_everything_to_act_on() {
        assert_eq!(
            short(&error()),
            "t/a b.tera:2:11: error[E0201]: variable `nmae` is 100% unknown; did you mean `name`? [cluster eu-1]"
        );
        assert_eq!(short(&Diagnostic::warning(Code::Usage, "odd")), "warning[E0921]: odd");
    }

    #[test]
    fn annotations_are_escaped() {
        assert_eq!(
            annotation(&error()),
            "::error file=t/a b.tera,line=2,endLine=2,col=11,endColumn=15,title=E0201 a variable is not defined\
             ::variable `nmae`%0Ais 100%25 unknown%0Aavailable: name, port%0Acluster: eu-1%0Ahelp: did you mean `name`?"
        );
    }

    #[test]
    fn a_log_has_rules_and_places() {
        let log = log(vec![result(&error()), json!({"level": "warning", "message": {"text": "odd"}})]);
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"].as_array().map(Vec::len), Some(1));
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "E0201");
        let place = &run["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "t/a%20b.tera");
        assert_eq!(place["region"], json!({"startLine": 2, "startColumn": 11, "endLine": 2, "endColumn": 15}));
        assert_eq!(run["results"][0]["relatedLocations"][0]["message"]["text"], "included from here");
    }
}
