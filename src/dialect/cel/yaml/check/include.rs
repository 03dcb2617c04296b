//! Included files: what `$with` gives them, and whether it fits what they say of it.

use std::sync::Arc;

use super::fits::Misfit;
use super::{Check, Definition, Typed, Visit, WAYS, With};
use crate::diagnostics::{Code, Diagnostic};
use crate::dialect::cel::check::Types;
use crate::dialect::cel::yaml::tree::{Declared, File, FileId, Include, LetValue, Map, NodeId, NodeKind, Target};
use crate::text::Source;

impl<'t> Check<'t> {
    /// Looks at every include of a file, and plans to check the files it names.
    pub fn includes(&mut self, typed: &mut Typed<'t>) {
        let includes: Vec<&Include> = typed.file.maps().iter().filter_map(|map| map.include.as_ref()).collect();
        for include in includes {
            let id = match &include.target {
                Target::File(id) => *id,
                other => {
                    other.files().for_each(|id| self.plan(typed, include, id, None));
                    continue;
                }
            };
            let Some(file) = self.templates.file(id) else { continue };
            let unfit = self.with_fits(typed, include, file);
            let mut with = With::new();
            for given in &include.with {
                // What does not fit is told once.
                let ty = if unfit.contains(&given.name) { Types::DYN } else { self.node_type(typed, given.value) };
                with.insert(given.name.clone(), ty);
            }
            self.plan(typed, include, id, Some(Arc::new(with)));
        }
    }

    /// Plans to check a file where it sees `with`, unless that has been planned.
    fn plan(&mut self, typed: &Typed<'_>, include: &Include, file: FileId, with: Option<Arc<With>>) {
        let ways = self.ways.entry(file).or_default();
        if ways.len() < WAYS && ways.insert(with.clone()) {
            self.visits.push(Visit { file, with, from: Some((typed.visit, include.span)) });
        }
    }

    /// Holds what `$with` gives a file against what that says of it: the names of what does not fit.
    fn with_fits(&mut self, typed: &Typed<'t>, include: &Include, file: &'t File) -> Vec<Arc<str>> {
        let (name, mut unfit) = (file.source.name(), Vec::new());
        let (owner, there) = (Some(include.path), &file.source);
        for declared in said_of(file) {
            let given = include.with.iter().find(|given| given.name == declared.name);
            match given {
                Some(given) => {
                    let misfits = self.misfits(typed, &declared.schema, given.value);
                    unfit.extend(misfits.first().map(|_| declared.name.clone()));
                    self.tell(
                        typed,
                        (Some(given.value), there),
                        declared,
                        &format!("the `$schema` of `{name}`"),
                        misfits,
                    );
                }
                None if declared.schema.is_required() => {
                    let what = "a value is wanted (required)".to_owned();
                    let misfit = Misfit { span: include.span, path: String::new(), what, help: None };
                    self.tell(typed, (owner, there), declared, &format!("the `$schema` of `{name}`"), vec![misfit]);
                }
                None => {}
            }
        }
        unfit
    }

    /// Holds variables of the file against what `$schema` says of them in a map within.
    pub fn declared(&mut self, typed: &mut Typed<'t>, map: &Map) {
        let file = typed.file;
        for declared in map.schema.iter().filter_map(|id| file.declared(*id)) {
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
            self.tell(typed, (template.or(owner), &file.source), declared, "a `$schema`", misfits);
        }
    }

    /// Reports what does not fit what is `declared` in the file `there`.
    fn tell(
        &mut self,
        typed: &Typed<'_>,
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

/// What a file says of what it sees, at the root of its document.
fn said_of(file: &File) -> impl Iterator<Item = &Declared> {
    let root = file.documents.first().and_then(|root| file.node(*root));
    let map = root.and_then(|root| match root.kind {
        NodeKind::Map(map) => file.map(map),
        _ => None,
    });
    let ids = map.map_or(&[][..], |map| &map.schema);
    ids.iter().filter_map(|id| file.declared(*id))
}
