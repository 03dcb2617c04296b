//! What a release rendered for a cluster, with its patches.

use super::Release;
use crate::cluster::Cluster;
use crate::documents::first_content;
use crate::layers::Layers;
use crate::patches::ClusterPatches;
use crate::pieces::{Piece, fields_of_text, in_document};
use dropforge_base::diagnostics::{Diagnostic, Result};

/// What a release rendered.
pub(super) struct Rendered<'r> {
    /// The text of the cluster, of which the release has the end.
    pub text: &'r mut String,
    /// The start of the text of the release.
    pub begin: usize,
    /// The ends of the outputs.
    pub results: &'r mut Vec<Result<usize>>,
    /// The documents, for a layout with fields of documents.
    pub pieces: &'r mut Vec<Piece>,
}

/// A part of a text that is patched as a whole: an output or a document.
struct Part {
    output: usize,
    end: usize,
    /// The end after patches.
    new_end: usize,
}

impl Rendered<'_> {
    /// Applies the patches of the release. Adds all errors to the results.
    pub fn patch(&mut self, release: &Release, (layers, cluster): (&Layers, &Cluster), fields: &[String]) {
        let mut patches = match release.patches_of(layers, cluster) {
            Ok(patches) => patches,
            Err(errors) => return self.results.extend(errors.into_iter().map(Err)),
        };
        let errors = self.apply(release, &mut patches, fields);
        if errors.is_empty() {
            patches.done();
        }
        self.results.extend(errors.into_iter().map(Err));
    }

    fn apply(
        &mut self,
        release: &Release,
        patches: &mut ClusterPatches<'_>,
        fields: &[String],
    ) -> Vec<Box<Diagnostic>> {
        let (mut parts, mut texts, mut errors) = (self.parts(fields), Vec::new(), Vec::new());
        let (mut start, mut is_changed) = (self.begin, false);
        for part in &parts {
            let text = self.text.get(std::mem::replace(&mut start, part.end)..part.end).unwrap_or("");
            let Some(output) = release.outputs.all.get(part.output) else { continue };
            let patched = patches.apply(&output.name, text);
            let patched = patched.unwrap_or_else(|more| {
                errors.extend(more.into_iter().map(|mut error| {
                    error.template = Some(output.template.clone());
                    error
                }));
                None
            });
            is_changed |= patched.is_some();
            texts.push(patched.map(|patched| patched.text));
        }
        if errors.is_empty() && is_changed {
            self.replace(&mut parts, &texts);
            errors = self.set_ends(&parts, &texts, fields);
        }
        errors
    }

    fn parts(&self, fields: &[String]) -> Vec<Part> {
        let part = |output: usize, end: usize| Part { output, end, new_end: end };
        match fields.is_empty() {
            true => {
                let ends = self.results.iter().filter_map(|end| end.as_ref().ok());
                ends.enumerate().map(|(output, end)| part(output, *end)).collect()
            }
            false => self.pieces.iter().map(|piece| part(piece.output, piece.end)).collect(),
        }
    }

    /// Replaces the texts of parts that have another one.
    fn replace(&mut self, parts: &mut [Part], texts: &[Option<String>]) {
        let old = self.text.split_off(self.begin);
        let mut start = 0;
        for (part, text) in parts.iter_mut().zip(texts) {
            let end = part.end - self.begin;
            let unchanged = old.get(std::mem::replace(&mut start, end)..end).unwrap_or("");
            self.text.push_str(text.as_deref().unwrap_or(unchanged));
            part.new_end = self.text.len();
        }
        self.text.push_str(old.get(start..).unwrap_or(""));
    }

    /// Sets the ends of outputs and documents, and the fields of documents.
    fn set_ends(&mut self, parts: &[Part], texts: &[Option<String>], fields: &[String]) -> Vec<Box<Diagnostic>> {
        let begin = self.begin;
        let moved = |end: usize| {
            let nth = parts.partition_point(|part| part.end <= end);
            nth.checked_sub(1).and_then(|nth| parts.get(nth)).map_or(begin, |part| part.new_end)
        };
        for end in self.results.iter_mut().flatten() {
            *end = moved(*end);
        }
        let mut errors = Vec::new();
        for ((piece, part), text) in self.pieces.iter_mut().zip(parts).zip(texts) {
            piece.end = part.new_end;
            let Some(text) = text else { continue };
            piece.blank = first_content(text.trim_start_matches("---")).is_none();
            if piece.blank {
                continue;
            }
            match fields_of_text(text, fields.iter().map(String::as_str)) {
                Ok(fields) => piece.fields = fields,
                Err(error) => errors.push(in_document(error, piece.document)),
            }
        }
        errors
    }
}
