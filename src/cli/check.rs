//! `dropforge check`: every syntax and link error of a set of templates, without data, and where the language knows
//! types what is wrong with them; the same for configurations.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::CheckArgs;
use super::console::Console;
use super::exit::{Exit, Failed};
use super::hcl::is_configuration;
use super::opened;
use super::values::{Stdin, text};
use crate::bulk::{Forge, TemplateSet, dialect_of, discover};
use crate::bytecode::Dialect;
use crate::diagnostics::{Diagnostic, Result as Checked, Severity, once_each};
use crate::dialect::hcl::check::{VariableTypes, check_config, check_template};
use crate::engine::{Engine, Template};
use crate::text::Source;

/// Runs the command.
pub(super) fn run(args: &CheckArgs, console: &Console) -> Result<Exit, Failed> {
    let mut stdin = Stdin::default();
    let engine = args.language.engine().build();
    let types = match &args.var_types {
        Some(path) => Some(VariableTypes::read(&stdin.read(path)?, engine.limits())?),
        None => None,
    };
    let mut check = Check { args, engine, types, templates: 0, configurations: 0, found: Vec::new() };
    let (artifacts, sources) = opened::sort(&args.templates);
    for path in &artifacts {
        check.artifact(path, &mut stdin)?;
    }
    if artifacts.is_empty() || !sources.is_empty() {
        check.sources(&sources)?;
    }
    Ok(check.end(console))
}

struct Check<'a> {
    args: &'a CheckArgs,
    engine: Engine,
    types: Option<VariableTypes>,
    templates: usize,
    configurations: usize,
    found: Vec<Box<Diagnostic>>,
}

impl Check<'_> {
    fn artifact(&mut self, path: &Path, stdin: &mut Stdin) -> Checked<()> {
        let artifact = opened::artifact(path, &self.args.language, &[], stdin)?;
        self.templates += artifact.names().count();
        for template in artifact.names().map(|name| artifact.template(name)) {
            match template {
                Ok(template) => self.found.extend(self.wrong_types(&template)),
                Err(error) => self.found.push(error),
            }
        }
        Ok(())
    }

    fn sources(&mut self, sources: &[PathBuf]) -> Checked<()> {
        let language = &self.args.language;
        let is_one = |name: &str| language.lang.is_some() || dialect_of(name).is_some() || is_configuration(name);
        let set = discover(sources, language.include_root.as_deref(), &is_one)?;
        let (set, configurations) = self.apart(set);
        let (forge, errors) = Forge::compile_sound(&set, language.lang, language.engine())?;
        self.templates += set.files.len();
        self.found.extend(errors);
        self.found.extend(forge.lints());
        for template in forge.templates() {
            self.found.extend(self.wrong_types(template));
        }
        for source in &configurations {
            let registry = self.engine.registry(Dialect::Hcl);
            let checked = check_config(source, registry, self.types.as_ref(), self.engine.limits());
            self.found.extend(checked.unwrap_or_else(|errors| errors.into_vec()));
        }
        Ok(())
    }

    /// The templates of a set, and the configurations among its files. The declarations of types are none of them,
    /// unless they are named.
    fn apart(&mut self, set: TemplateSet) -> (TemplateSet, Vec<Arc<Source>>) {
        let canonical = |path: &Path| path.canonicalize().ok();
        let types = self.args.var_types.as_deref().and_then(canonical);
        let (mut templates, mut configurations) = (Vec::new(), Vec::new());
        for file in set.files {
            let path = set.root.join(&file.name);
            if self.args.language.lang.is_some() || !is_configuration(&file.name) {
                templates.push(file);
            } else if file.explicit || types.is_none() || canonical(&path) != types {
                match Stdin::default().bytes(&path).and_then(|bytes| text(Path::new(&file.name), bytes)) {
                    Ok(source) if is_template(&source) => templates.push(file),
                    Ok(source) => configurations.push(source),
                    Err(error) => self.found.push(error),
                }
            }
        }
        self.configurations += configurations.len();
        (TemplateSet { root: set.root, files: templates }, configurations)
    }

    /// What is wrong with a template whatever its variables are, in a language that knows that. Of an artifact
    /// without sources nothing is.
    fn wrong_types(&self, template: &Template) -> Vec<Box<Diagnostic>> {
        let source: Option<&Arc<Source>> = template.program().sources().first();
        let Some(source) = source.filter(|_| template.dialect() == Dialect::Hcl) else { return Vec::new() };
        let registry = self.engine.registry(Dialect::Hcl);
        let checked = check_template(source, registry, self.types.as_ref(), self.engine.limits());
        checked.unwrap_or_else(|errors| errors.into_vec())
    }

    /// Tells what was found.
    fn end(self, console: &Console) -> Exit {
        let found = once_each(self.found);
        found.iter().for_each(|diagnostic| console.diagnostic(diagnostic));
        let errors = found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
        let warnings = found.len() - errors;
        let checked = match (self.templates, self.configurations) {
            (templates, 0) => format!("{templates} templates"),
            (0, configurations) => format!("{configurations} configurations"),
            (templates, configurations) => format!("{templates} templates, {configurations} configurations"),
        };
        console.note(&format!("{checked} checked, {errors} errors, {warnings} warnings"));
        if errors > 0 || (self.args.strict && warnings > 0) { Exit::Error } else { Exit::Ok }
    }
}

/// Whether a file that can be a template or a configuration by its name (`app.hcl.json`) is a template: no JSON, and
/// with something in it that only templates have.
fn is_template(source: &Source) -> bool {
    let text = source.text();
    dialect_of(source.name()).is_some()
        && (text.contains("${") || text.contains("%{"))
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_err()
}
