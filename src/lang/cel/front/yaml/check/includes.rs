//! Included files, and the fit of the variables of `$with` to their schemas.

use std::sync::Arc;

use super::misfits::Misfit;
use super::{COMBINATIONS, Definition, TemplateChecker, TypedFile, Visit, With};
use crate::check::Types;
use crate::yaml::syntax::tree::{Declared, File, FileId, Include, LetValue, Map, NodeId, Target};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::Source;

impl<'t> TemplateChecker<'t> {
    /// Checks the includes of a file, and schedules the checks of the included files.
    pub fn includes(&mut self, typed: &mut TypedFile<'t>) {
        let includes: Vec<&Include> =
            typed.file.maps.iter().filter_map(|map| map.directives().include.as_deref()).collect();
        for include in includes {
            let id = match &include.target {
                Target::File(id) => *id,
                other => {
                    other.files().for_each(|id| self.schedule(typed, include, id, None));
                    continue;
                }
            };
            let Some(file) = self.templates.file(id) else { continue };
            let unfit = self.with_fits(typed, include, file);
            let mut with = With::new();
            for given in &include.with {
                // A misfit is reported once.
                let ty = if unfit.contains(&given.name) { Types::DYN } else { self.node_type(typed, given.value) };
                with.insert(given.name.clone(), ty);
            }
            self.schedule(typed, include, id, Some(Arc::new(with)));
        }
    }

    /// Schedules the check of a file with `with`, once.
    fn schedule(&mut self, typed: &TypedFile<'_>, include: &Include, file: FileId, with: Option<Arc<With>>) {
        let combinations = self.combinations.entry(file).or_default();
        if combinations.len() < COMBINATIONS && combinations.insert(with.clone()) {
            self.visits.push(Visit { file, with, from: Some((typed.visit, include.span)) });
        }
    }

    /// Checks the variables of `$with` against the schemas of a file, and returns the names that do not fit.
    fn with_fits(&mut self, typed: &TypedFile<'t>, include: &Include, file: &'t File) -> Vec<Arc<str>> {
        let (schema, mut unfit) = (format!("the `$schema` of `{}`", file.source.name()), Vec::new());
        for declared in schemas_of(file) {
            let (owner, misfits) = match include.with.iter().find(|given| given.name == declared.name) {
                Some(given) => {
                    let misfits = self.misfits(typed, &declared.schema, given.value);
                    unfit.extend(misfits.first().map(|_| declared.name.clone()));
                    (given.value, misfits)
                }
                None if declared.schema.is_required() => {
                    let what = "expected a value (required)".to_owned();
                    (include.path, vec![Misfit { span: include.span, path: String::new(), what, help: None }])
                }
                None => continue,
            };
            self.report_misfits(typed, (Some(owner), &file.source), declared, &schema, misfits);
        }
        unfit
    }

    /// Checks variables of the file against the schemas of an inner map.
    pub fn declared(&mut self, typed: &mut TypedFile<'t>, map: &Map) {
        let file = typed.file;
        for declared in map.directives().schema.iter().filter_map(|id| file.declared(*id)) {
            let Some(of) = declared.of else { continue };
            let template = match typed.definitions.get(&of) {
                Some(Definition::Let(LetValue::Template(node))) => Some(*node),
                _ => None,
            };
            let misfits = match template {
                Some(node) => self.misfits(typed, &declared.schema, node),
                None => {
                    let ty = self.variable(typed, of);
                    let span = file.variable(of).map(|variable| variable.span).unwrap_or_default();
                    self.type_misfits(&declared.schema, ty, span)
                }
            };
            let owner = file.variable(of).map(|variable| variable.owner);
            self.report_misfits(typed, (template.or(owner), &file.source), declared, "a `$schema`", misfits);
        }
    }

    /// Reports misfits to a schema `declared` in the file `there`.
    fn report_misfits(
        &mut self,
        typed: &TypedFile<'_>,
        (owner, there): (Option<NodeId>, &Arc<Source>),
        declared: &Declared,
        schema: &str,
        misfits: Vec<Misfit>,
    ) {
        for Misfit { span, path, what, help } in misfits {
            let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
            let message = format!("`{}{dot}{path}` does not fit {schema}: {what}", declared.name);
            let mut error = Diagnostic::new(Code::InputType, message).at(there, declared.span, "what is said of it");
            error.help = help;
            self.error(typed, owner, span, error);
        }
    }
}

/// Returns the schemas at the root of a file.
fn schemas_of(file: &File) -> impl Iterator<Item = &Declared> {
    let map = file.documents.first().and_then(|root| file.map_of(*root));
    let ids = map.map_or(&[][..], |map| &map.directives().schema);
    ids.iter().filter_map(|id| file.declared(*id))
}
