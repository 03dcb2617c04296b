//! Folders of plain manifests as templates.

use std::path::Path;

use dropforge::diagnostics::Diagnostic;
use dropforge::stdlib::globs::{Glob, Syntax};

use crate::init::import::project::{Project, place};
use crate::init::import::sources::Sources;
use crate::init::import::yaml;

/// The files of a folder that are meant.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// Folders below count, too.
    pub(super) recurse: bool,
    /// Patterns of files; none stands for all.
    pub(super) include: Option<String>,
    pub(super) exclude: Option<String>,
}

impl Choice {
    fn allows(&self, path: &str) -> bool {
        let matches = |pattern: &Option<String>| {
            let inner = pattern.as_deref()?;
            let inner = inner.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(inner);
            let globs = inner.split(',').filter_map(|one| Glob::parse(one.trim(), Syntax::Full));
            Some(globs.into_iter().any(|glob| glob.matches(path)))
        };
        let is_manifest = [".yaml", ".yml", ".json"].iter().any(|ending| path.ends_with(ending));
        is_manifest
            && (self.recurse || !path.contains('/'))
            && matches(&self.include).unwrap_or(true)
            && !matches(&self.exclude).unwrap_or(false)
    }
}

/// Adds the manifests of a folder as templates. Returns the path of their folder, or `None` if there are none.
///
/// # Errors
/// Errors of reading the files.
pub(super) fn add(
    folder: &Path,
    choice: &Choice,
    sources: &mut Sources,
    project: &mut Project,
) -> Result<Option<String>, Vec<Box<Diagnostic>>> {
    let into = format!("templates/{}", place(sources, folder));
    let (mut errors, mut is_any) = (Vec::new(), false);
    for file in sources.below(folder).map_err(|error| vec![error])? {
        let Some(name) = file.to_str().filter(|name| choice.allows(name)) else { continue };
        let text =
            sources.text(&folder.join(&file)).map_err(|error| vec![error]).and_then(|source| yaml::of_file(&source));
        match text {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => {
                let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
                project.add(&format!("{into}/{stem}.cel.yaml"), text);
                is_any = true;
            }
            Err(found) => errors.extend(found),
        }
    }
    if errors.is_empty() { Ok(is_any.then_some(into)) } else { Err(errors) }
}
