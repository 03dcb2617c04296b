//! Compiling many templates to one artifact.

use std::collections::{HashMap, HashSet};

use super::builder::Engine;
use super::discover::TemplateSet;
use super::languages::{dialect_of, unknown_language_in};
use super::template::Template;
use dropforge_base::diagnostics::{Diagnostic, Diagnostics, Result, without_duplicates};
use dropforge_machine::bytecode::{Dialect, Entry, encode, encode_specialised};
use dropforge_machine::specialise::Known;
use dropforge_value::{Arena, DataMap, InputBuilder, Shapes};

/// Compiled templates to write as an artifact.
#[derive(Debug)]
pub struct Bundling {
    templates: Vec<Template>,
    /// The names of templates that are executable.
    executable: HashSet<String>,
    strip: bool,
    specialised: Option<Specialised>,
}

/// Templates specialised to known inputs.
#[derive(Debug)]
struct Specialised {
    known: DataMap,
    /// By the name of the original.
    residuals: HashMap<String, Template>,
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
            Ok(Bundling { templates, executable: HashSet::new(), strip: false, specialised: None })
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
        let language =
            |name: &str| dialect.or_else(|| dialect_of(name)).ok_or_else(|| unknown_language_in(&set.root, name));
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

    /// Specialises the templates that read one of the `known` inputs, where they can be. The artifact holds each original
    /// and its [residual](Template::residual), and the known inputs in clear.
    ///
    /// # Errors
    /// `limit.depth`.
    ///
    /// ```
    /// use dropforge::engine::{Dialect, Engine};
    /// use dropforge::value::{Data, DataMap};
    /// let build = Engine::builder().template("t.tera", "{{ name }}{% if env == 'prod' %}!{% endif %}").build();
    /// let known = DataMap::from_iter([("env".to_owned(), Data::Str("prod".to_owned()))]);
    /// let bytes = build.bundle([(Dialect::Tera, "t.tera")])?.specialise(known)?.encode()?;
    ///
    /// let artifact = Engine::new().open(bytes)?;
    /// let entry = &artifact.bundle().entries()[0];
    /// let words = |program: &dropforge::bytecode::Program| program.words().len();
    /// assert!(entry.residual().map(words) < Some(words(entry.program())));
    /// let template = artifact.template("t.tera")?;
    /// assert_eq!(template.render(&serde_json::json!({"name": "a", "env": "prod"}))?, "a!");
    /// assert_eq!(template.render(&serde_json::json!({"name": "b", "env": "dev"}))?, "b");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn specialise(mut self, known: DataMap) -> Result<Self> {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let values = InputBuilder::new(&arena, &shapes).data_map(&known)?;
        let to = values.as_map().map_or(Known::Open, Known::of_map);
        let all = self.all();
        let read = all.iter().filter(|(_, template)| template.inputs().iter().any(|name| known.contains_key(*name)));
        let residual = |(name, template): &(&str, &Template)| Some(((*name).to_owned(), template.specialise(&to)?));
        let residuals = read.filter_map(residual).collect();
        self.specialised = Some(Specialised { known, residuals });
        Ok(self)
    }

    /// Returns the number of templates with a residual.
    pub fn specialised(&self) -> usize {
        self.specialised.as_ref().map_or(0, |specialised| specialised.residuals.len())
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
    /// `artifact.name` for a name that an artifact cannot hold; `input.type` for a known value that JSON does not have;
    /// `limit.code` if the templates are too large for one.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let residual = |name: &str| self.specialised.as_ref()?.residuals.get(name).map(Template::program);
        let entries = self.all().into_iter().map(|(name, template)| Entry {
            executable: self.executable.contains(name),
            residual: residual(name),
            ..template.entry(name)
        });
        let entries: Vec<_> = entries.collect();
        match &self.specialised {
            Some(specialised) => encode_specialised(&entries, &specialised.known, self.strip),
            None => encode(&entries, self.strip),
        }
    }

    /// Returns the templates and those that they call, by name.
    fn all(&self) -> Vec<(&str, &Template)> {
        let mut all = Vec::new();
        self.templates.iter().for_each(|template| template.all(template.name(), &mut all));
        all
    }
}

#[cfg(test)]
mod tests {
    use crate::Engine;
    use dropforge_machine::bytecode::Dialect;

    #[test]
    fn long_texts_are_not_written_twice_in_large_templates() {
        let long = "a line of text\n".repeat(30_000);
        let values: String = (0..500).map(|at| format!("{{{{ v{at} }}}}")).collect();
        let text = format!("{values}{long}");
        let engine = Engine::builder().template("a.tera", text.clone()).build();
        let bytes = engine.bundle([(Dialect::Tera, "a.tera")]).unwrap().encode().unwrap();
        assert!(bytes.len() < text.len() * 3 / 2, "{}", bytes.len());
    }
}
