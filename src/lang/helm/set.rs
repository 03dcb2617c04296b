//! The templates of a set of files, which share one name space.

use std::sync::Arc;

use bumpalo::Bump;
use hashbrown::HashMap;

use super::syntax::tree::Template;
use super::syntax::{Delimiters, KnownActions, parse_next};
use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP, at_most};
use dropforge_base::text::Source;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::compiler::Unit;

/// A template and its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Defined<'a> {
    /// The tree.
    pub template: Template<'a>,
    /// Index of the file.
    pub file: usize,
}

/// The templates of a unit.
#[derive(Debug)]
pub(super) struct Set<'a> {
    /// The files in the order in which they were parsed; the entry is the last.
    pub files: &'a [Arc<Source>],
    /// The templates by name.
    pub templates: HashMap<&'a str, Defined<'a>>,
}

impl<'a> Set<'a> {
    /// Returns the files of a unit, with the entry as the last.
    pub fn files(unit: &Unit<'_>) -> Vec<Arc<Source>> {
        let others = unit.together.iter().filter(|file| file.name() != unit.entry.name());
        others.chain([unit.entry]).cloned().collect()
    }

    /// Parses files in their order. The last definition of a name wins, but a blank one replaces no other.
    pub fn parse(arena: &'a Bump, files: &'a [Arc<Source>], unit: &Unit<'_>) -> Result<Self, Vec<Box<Diagnostic>>> {
        let mut set = Self { files, templates: HashMap::new() };
        let bytes = files.iter().map(|file| file.text().len()).sum();
        let (mut errors, mut actions) = (Vec::new(), KnownActions::for_bytes(bytes));
        let known = |name: &str| unit.registry.get(ImportKind::Function, name).is_some();
        let delimiters = unit.delimiters.map_or_else(Delimiters::default, |[left, right]| Delimiters::new(left, right));
        for (file, source) in files.iter().enumerate() {
            match parse_next(arena, source, delimiters, &known, unit.limits, &mut actions) {
                Ok(templates) => {
                    for template in templates {
                        add(&mut set.templates, Defined { template, file });
                    }
                }
                Err(found) => errors.extend(found.into_iter().map(|error| likely(error, unit))),
            }
        }
        if errors.is_empty() { Ok(set) } else { Err(at_most(errors, unit.limits.diagnostics, 0)) }
    }

    /// Returns the template `name`.
    pub fn get(&self, name: &str) -> Option<Defined<'a>> {
        self.templates.get(name).copied()
    }
}

/// Adds the name and the likely one to the error of an unknown function.
fn likely(error: Box<Diagnostic>, unit: &Unit<'_>) -> Box<Diagnostic> {
    if error.code != Code::UnknownFunction {
        return error;
    }
    let name = error.primary().map_or("", |at| at.source.slice(at.span)).to_owned();
    error.with_suggestion(&name, unit.registry.names(ImportKind::Function)).with_field(LOOKED_UP, name)
}

fn add<'a>(templates: &mut HashMap<&'a str, Defined<'a>>, defined: Defined<'a>) {
    if !defined.template.is_blank() || !templates.contains_key(defined.template.name) {
        templates.insert(defined.template.name, defined);
    }
}
