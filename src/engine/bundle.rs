//! Compiling many templates to one artifact.

use std::collections::HashSet;

use super::builder::Engine;
use super::discover::{TemplateSet, dialect_of, unknown_language};
use super::template::Template;
use crate::bytecode::{Dialect, encode};
use crate::diagnostics::{Diagnostic, Diagnostics, Result, without_duplicates};

/// Compiled templates to write as an artifact.
#[derive(Debug)]
pub struct Bundling {
    templates: Vec<Template>,
    /// The names of templates that are executable.
    executable: HashSet<String>,
    strip: bool,
}

impl Engine {
    /// Compiles the templates that the engine's loader has under these names into one artifact, together with the
    /// templates of other languages that they call. The bytes do not depend on the order or the machine.
    ///
    /// # Errors
    /// All errors of all templates, without duplicates.
    pub fn bundle<N: AsRef<str>>(
        &self,
        names: impl IntoIterator<Item = (Dialect, N)>,
    ) -> std::result::Result<Bundling, Diagnostics> {
        let all: Vec<(Dialect, N)> = names.into_iter().collect();
        let of = |dialect: Dialect| {
            let names = all.iter().filter(|(one, _)| *one == dialect).map(|(_, name)| name.as_ref());
            // Bypass the cache: cached templates have no lints.
            self.load_by(None, dialect, &names.collect::<Vec<&str>>())
        };
        let (mut templates, mut errors) = (Vec::new(), Vec::new());
        for answer in Dialect::ALL.into_iter().flat_map(of) {
            match answer {
                Ok(template) => templates.push(template),
                Err(more) => errors.extend(more.into_vec()),
            }
        }
        if errors.is_empty() {
            Ok(Bundling { templates, executable: HashSet::new(), strip: false })
        } else {
            Err(without_duplicates(errors).into())
        }
    }

    /// Bundles the files of a set with [`Engine::bundle`]. The language is `dialect`, or else the one that each name
    /// implies.
    ///
    /// # Errors
    /// The errors of [`Engine::bundle`]; `plan.no_templates` if a name implies no language.
    pub fn bundle_set(
        &self,
        set: &TemplateSet,
        dialect: Option<Dialect>,
    ) -> std::result::Result<Bundling, Diagnostics> {
        let language = |name: &str| dialect.or_else(|| dialect_of(name)).ok_or_else(|| unknown_language(name));
        let names = set.files.iter().map(|file| Ok((language(&file.name)?, file.name.as_str())));
        let executable = set.files.iter().filter(|file| file.executable).map(|file| file.name.clone()).collect();
        Ok(Bundling { executable, ..self.bundle(names.collect::<Result<Vec<_>>>()?)? })
    }
}

impl Bundling {
    /// Leaves out sources and positions. Errors then name the template, but no line.
    pub fn strip(mut self, strip: bool) -> Self {
        self.strip = strip;
        self
    }

    /// Returns the templates.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// Returns lints about templates that may still render, without duplicates: unknown functions, missing includes.
    pub fn lints(&self) -> Vec<Box<Diagnostic>> {
        without_duplicates(self.templates.iter().flat_map(|template| template.lints().iter().cloned()).collect())
    }

    /// Encodes the artifact.
    ///
    /// # Errors
    /// `artifact.name` for a name that an artifact cannot hold; `limit.code` if the templates are too large for one.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut entries = Vec::new();
        self.templates.iter().for_each(|template| template.entries(template.name(), &mut entries));
        entries.iter_mut().for_each(|entry| entry.executable = self.executable.contains(entry.name));
        encode(&entries, self.strip)
    }
}
