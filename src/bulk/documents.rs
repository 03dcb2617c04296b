//! Outputs that are cut into a file for each document, where the layout takes fields of documents.

use std::collections::HashMap;

use super::job::Job;
use super::layout::{check_path, check_value};
use super::select::scalar_text;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::value::{Data, Extended, Value};

/// What one file of a cluster holds: a whole output, or one document of it.
#[derive(Debug, Clone, Default)]
pub struct Piece {
    /// The number of the output in the plan.
    pub output: usize,
    /// Where it ends in the cluster's text.
    pub end: usize,
    /// Which document of the output it is, counted from 1; 0 for the whole of it.
    pub document: usize,
    /// The fields that the layout takes of the document, in the layout's order.
    pub fields: Vec<String>,
}

/// The fields at dotted `paths` of a document, as texts that can be parts of a path. `name` and `namespace` are those of
/// `metadata`.
///
/// # Errors
/// `plan.bad_layout` where one is missing or no scalar, with what there is; `plan.bad_output_name` where it cannot be in
/// a path.
pub(super) fn fields_of<'p>(document: Value<'_>, paths: impl Iterator<Item = &'p str>) -> Result<Vec<String>> {
    paths.map(|path| field(document, path)).collect()
}

fn field(document: Value<'_>, path: &str) -> Result<String> {
    let mut here = document;
    for name in full(path).split('.') {
        here = step(here, name).ok_or_else(|| missing(here, name, path))?;
    }
    let text = match here.to_data() {
        Data::Null => return Err(bad(format!("its `{path}` is null"))),
        other @ (Data::List(_) | Data::Map(_)) => return Err(bad(format!("its `{path}` is a {}", other.kind()))),
        scalar => scalar_text(&scalar),
    };
    check_value(&text, path)?;
    Ok(text)
}

/// The path that a short one stands for.
fn full(path: &str) -> &str {
    match path {
        "name" => "metadata.name",
        "namespace" => "metadata.namespace",
        path => path,
    }
}

fn step<'v>(value: Value<'v>, name: &str) -> Option<Value<'v>> {
    match value {
        Value::Map(map) => map.get(name),
        Value::List(list) => list.items().get(name.parse::<usize>().ok()?).copied(),
        Value::Extended(_) => match value.extended()? {
            Extended::Written(value, _) => step(*value, name),
            Extended::Entries(entries) => {
                entries.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value)
            }
            _ => None,
        },
        _ => None,
    }
}

fn names(value: Value<'_>) -> Vec<String> {
    match value.to_data() {
        Data::Map(map) => map.keys().cloned().collect(),
        _ => Vec::new(),
    }
}

#[cold]
fn missing(within: Value<'_>, name: &str, path: &str) -> Box<Diagnostic> {
    let there = names(within);
    bad(format!("it has no `{}`", full(path)))
        .with_suggestion(name, there.iter().map(String::as_str))
        .with_available(there)
}

fn bad(why: String) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadLayout, format!("the layout cannot be filled in: {why}"))
}

/// Says which document of its template an error is about.
pub(super) fn of_document(mut error: Box<Diagnostic>, document: usize) -> Box<Diagnostic> {
    error.message = format!("document {document}: {}", error.message);
    error
}

/// What is wrong with the paths of one cluster's documents.
pub(super) fn faults(job: &Job<'_>, at: usize, pieces: &[Piece]) -> Vec<Box<Diagnostic>> {
    let (mut seen, mut faults): (HashMap<String, &Piece>, _) = (HashMap::new(), Vec::new());
    let template = |piece: &Piece| job.plan.outputs().get(piece.output).map(|output| output.template.clone());
    let who = |piece: &Piece| format!("document {} of `{}`", piece.document, template(piece).unwrap_or_default());
    let mut path = String::new();
    for piece in pieces {
        job.plan.path_of(job.fleet, at, piece, &mut path);
        let fault = match check_path(&path) {
            Err(fault) => Some(of_document(fault, piece.document)),
            Ok(()) => seen.insert(path.to_ascii_lowercase(), piece).map(|first| {
                let message = format!("two documents have the path `{path}`");
                Diagnostic::new(Code::DuplicateOutput, message)
                    .with_note(format!("{} and {}", who(first), who(piece)))
                    .with_help("choose a `--layout` that tells them apart: add `{kind}`, `{namespace}` or `{template}`")
            }),
        };
        faults.extend(fault.map(|mut fault| {
            fault.template = template(piece);
            fault
        }));
    }
    faults
}
