//! The causes of errors across clusters.

use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic, Identity, Label};

/// Returns the identity of an error across clusters.
pub(super) fn cause(diagnostic: &Diagnostic) -> Identity<&str> {
    // Invalid outputs differ between clusters, and the place in the template that wrote them does not.
    let place = match diagnostic.code {
        code if is_output_error(code) => diagnostic.labels.last().filter(|label| !is_output(label, diagnostic)),
        // The place in the schema is the last one; clusters give their values in different places.
        Code::UnfitValues => diagnostic.labels.last(),
        // The place is that of a cluster.
        Code::BadOutputName | Code::BadLayout | Code::DuplicateOutput | Code::CaseCollision => None,
        _ => diagnostic.primary(),
    };
    // A full disk is one cause for all templates.
    let is_io = matches!(diagnostic.code, Code::WriteFailed | Code::ReadFailed);
    // An error in a file that several templates include has one cause, too.
    let is_within = |name: &&str| place.is_none_or(|label| label.source.name().ends_with(*name));
    let template = diagnostic.template.as_deref().filter(|name| !is_io && is_within(name));
    Identity { template, ..diagnostic.identity(place) }
}

/// Returns `true` for errors whose primary label is in an output.
pub(super) fn is_output_error(code: Code) -> bool {
    matches!(code, Code::InvalidOutput | Code::UnfitOutput)
}

/// Returns `true` if a label is in the source of the primary one.
fn is_output(label: &Label, diagnostic: &Diagnostic) -> bool {
    diagnostic.primary().is_some_and(|primary| Arc::ptr_eq(&primary.source, &label.source))
}

/// Replaces the excerpts of an invalid output by its place.
pub(super) fn without_excerpts(mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    let Some(output) = error.primary().filter(|_| is_output_error(error.code)).cloned() else { return error };
    error.labels.retain(|label| !Arc::ptr_eq(&label.source, &output.source));
    error.with_note(format!("output: {}:{}", output.source.name(), output.position()))
}
