//! Artifacts in place of template files. They are recognised by their first bytes.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dropforge::bulk;
use dropforge::bytecode::{Bundle, BundleEntry, Dialect, HEAD, is_artifact, owner};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::engine::{Artifact, EngineBuilder, Template, TemplateFile};
use dropforge::files;

use crate::input::{InputFiles, is_dash};
use crate::options::LanguageArgs;

/// Returns `true` if the file begins like an artifact. An unreadable file does not; reading it reports the error. Only
/// a regular file is opened, because opening a named pipe would wait.
pub(crate) fn is_artifact_file(path: &Path) -> bool {
    is_artifact(&head(path))
}

/// Returns `true` if the file begins like an artifact of a chart.
pub(crate) fn is_chart_file(path: &Path) -> bool {
    owner(&head(path)) == Some(Dialect::Helm)
}

/// Returns the beginning of a regular file, or nothing.
fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(file) = files::open(path) {
        let _ = file.take(HEAD as u64).read_to_end(&mut head);
    }
    head
}

/// Splits `paths` into artifacts and sources.
pub(crate) fn split(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    paths.iter().cloned().partition(|path| !is_dash(path) && is_artifact_file(path))
}

/// Reads and opens an artifact.
///
/// # Errors
/// `usage` for options of sources in `args`; errors of reading and opening the file, with its path.
pub(crate) fn read(
    path: &Path,
    args: &LanguageArgs,
    engine: EngineBuilder,
    files: &mut InputFiles,
) -> Result<Artifact> {
    open(files.bytes(path, "-")?, path, args, engine)
}

/// Opens an artifact that was read from `path`.
///
/// # Errors
/// Same as [`read`].
pub(crate) fn open(bytes: Arc<[u8]>, path: &Path, args: &LanguageArgs, engine: EngineBuilder) -> Result<Artifact> {
    args.check_artifact(path)?;
    engine.build().open(bytes).map_err(|error| with_path(error, path))
}

/// Opens an artifact without an engine.
///
/// # Errors
/// Errors of reading and opening the file, with its path.
pub(crate) fn bundle(path: &Path, files: &mut InputFiles) -> Result<Bundle> {
    bundle_of(files.bytes(path, "-")?, path)
}

/// Opens an artifact that was read from `path` without an engine.
///
/// # Errors
/// Errors of opening it, with its path.
pub(crate) fn bundle_of(bytes: Arc<[u8]>, path: &Path) -> Result<Bundle> {
    Bundle::open(bytes).map_err(|error| with_path(error, path))
}

/// Adds the path of an artifact to an error of it.
pub(crate) fn with_path(error: Box<Diagnostic>, path: &Path) -> Box<Diagnostic> {
    error.with_note(format!("file: {}", path.display()))
}

/// Returns the template called `name`, or the only one that makes an output.
///
/// # Errors
/// `template.unknown`; `usage` if a name is required; errors of [`Artifact::template`].
pub(crate) fn choose(artifact: &Artifact, name: Option<&str>) -> Result<Template> {
    if let Some(name) = name {
        return artifact.template(name);
    }
    let outputs = outputs(artifact)?;
    match outputs.as_slice() {
        [only] => artifact.template(only),
        _ => Err(Diagnostic::new(Code::Usage, "the artifact has several templates")
            .with_available(outputs)
            .with_help("select one with `--template NAME`")),
    }
}

/// Returns the names of the templates that make an output.
fn outputs(artifact: &Artifact) -> Result<Vec<String>> {
    let templates = artifact.templates()?;
    bulk::outputs(&files(artifact), &mut |name| {
        let found = templates.iter().find(|template| template.name() == name);
        Ok(found.map_or(Vec::new(), |template| template.reaches().to_vec()))
    })
}

/// Returns the templates of an artifact as files. A single template counts as named by the user.
pub(crate) fn files(artifact: &Artifact) -> Vec<TemplateFile> {
    let explicit = artifact.names().count() == 1;
    let file =
        |entry: &BundleEntry| TemplateFile { name: entry.name().to_owned(), explicit, executable: entry.executable() };
    artifact.bundle().entries().iter().map(file).collect()
}
