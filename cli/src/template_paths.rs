//! The paths of templates from the current directory, by which a manifest names them.
//!
//! They are the same on every machine where the command runs in the same place of a checkout.

use std::path::{Path, PathBuf};

use dropforge::bulk::{TemplatePaths, TemplateSet};
use dropforge::engine::Artifact;

use crate::input::InputFiles;

/// Adds the templates of `set`, which were found in the files and directories `given`, and the files beside them that are
/// copied.
pub(crate) fn add_sources<'c>(
    paths: &mut TemplatePaths,
    files: &InputFiles,
    given: &[PathBuf],
    set: &'c TemplateSet,
    copied: impl Iterator<Item = &'c str>,
) {
    given.iter().for_each(|path| paths.give(files.path_from_here(path)));
    let names = set.files.iter().map(|file| file.name.as_str()).chain(copied);
    names.for_each(|name| paths.add(name, files.path_from_here(&set.root.join(name))));
}

/// Adds the templates of the artifact at `path`, as if it were a directory.
pub(crate) fn add_artifact(paths: &mut TemplatePaths, files: &InputFiles, path: &Path, artifact: &Artifact) {
    let path = files.path_from_here(path);
    artifact.names().for_each(|name| paths.add(name, format!("{path}/{name}")));
    paths.give(path);
}
