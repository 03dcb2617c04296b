//! The blocks of modules of Terraform and OpenTofu whose content is known, and the errors of what else is in them.

use crate::body::{Body, BodySchema, DiagnosticList, File, Location, structure};
use dropforge_base::diagnostics::nearest;
use dropforge_base::text::Span;

/// The types of blocks at the top of a module, and `function`, whose blocks declare functions.
const TOP: &[&str] = &[
    "action",
    "check",
    "data",
    "ephemeral",
    "function",
    "import",
    "language",
    "list",
    "locals",
    "module",
    "moved",
    "output",
    "provider",
    "removed",
    "resource",
    "terraform",
    "variable",
];

/// The content of a `variable` block.
pub fn variable() -> BodySchema {
    ["type", "default", "description", "nullable", "sensitive", "ephemeral", "deprecated", "const"]
        .into_iter()
        .fold(BodySchema::new().block("validation", &[]), BodySchema::optional)
}

/// The content of a `validation` block.
pub fn validation() -> BodySchema {
    BodySchema::new().required("condition").optional("error_message")
}

/// The content of an `output` block.
fn output() -> BodySchema {
    ["description", "sensitive", "ephemeral", "depends_on", "deprecated", "type"]
        .into_iter()
        .fold(BodySchema::new().required("value").block("precondition", &[]), BodySchema::optional)
}

/// Reports what a `variable` block cannot have.
pub fn report_variable(body: &Body<'_>, diagnostics: &mut DiagnosticList) {
    report(body, &variable(), diagnostics);
}

/// Reports what a body with conditions in its blocks cannot have.
fn report(body: &Body<'_>, schema: &BodySchema, diagnostics: &mut DiagnosticList) {
    for block in body.content(schema, diagnostics).blocks {
        block.body.content(&validation(), diagnostics);
    }
}

/// Reports what the blocks of a module cannot have.
pub fn report_module(file: &File, diagnostics: &mut DiagnosticList) {
    report_misspelled(file, TOP, diagnostics);
    let schema = BodySchema::new().block("variable", &["name"]).block("output", &["name"]).block("locals", &[]);
    for block in file.body().partial_content(&schema, diagnostics).0.blocks {
        match &*block.name {
            "variable" => report_variable(&block.body, diagnostics),
            "output" => report(&block.body, &output(), diagnostics),
            _ => drop(block.body.just_attributes(diagnostics)),
        }
    }
}

/// Reports the blocks at the top of a file whose types resemble one of `known`. Programs read blocks of other types.
pub fn report_misspelled(file: &File, known: &[&str], diagnostics: &mut DiagnosticList) {
    for (name, span) in top_blocks(file) {
        if known.contains(&&*name) {
            continue;
        }
        if let Some(near) = nearest(&name, known.iter().copied()) {
            let error = structure("Unsupported block type", format!("Blocks of type `{name}` are not expected here."));
            let location = Location { source: file.source(), span };
            diagnostics.push(location.label(error.with_suggestion(&name, [near])));
        }
    }
}

/// Returns the types of the blocks at the top of a file. In JSON, an object is a block.
fn top_blocks(file: &File) -> Vec<(String, Span)> {
    if let Some(native) = file.as_native() {
        let tree = native.tree();
        let blocks = tree.body(native.root()).map_or(&[][..], |body| &body.blocks);
        return blocks.iter().map(|block| (tree.str(block.name).to_owned(), block.name_span)).collect();
    }
    let attributes = file.body().just_attributes(&mut Vec::new()).into_values();
    let blocks = attributes.filter(|of| of.expr.static_map().is_some());
    blocks.map(|of| (of.name.to_owned(), of.name_range)).collect()
}
