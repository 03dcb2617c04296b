//! What is given in the place of templates: sources, or an artifact of them, told apart by their first bytes.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::args::{Allowed, LanguageArgs, allowing};
use super::values::Stdin;
use crate::bulk;
use crate::bytecode::{Bundle, is_artifact};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::engine::{Artifact, Template, TemplateFile};

/// The longest artifact that is read.
const LONGEST: u64 = 1 << 30;

/// Whether the file begins as an artifact does. What cannot be read is no artifact: whoever reads it says why.
pub(super) fn holds_artifact(path: &Path) -> bool {
    let mut head = [0; 32];
    let read = File::open(path).and_then(|mut file| file.read(&mut head)).unwrap_or(0);
    head.get(..read).is_some_and(is_artifact)
}

/// Opens the artifact in a file, with an engine as `args` ask for it, where functions may reach what `allow` says.
///
/// # Errors
/// `usage` where options of sources are given; errors of reading and opening it, which name the file.
pub(super) fn artifact(path: &Path, args: &LanguageArgs, allow: &[Allowed], stdin: &mut Stdin) -> Result<Artifact> {
    open(bytes(path, stdin)?, path, args, allow)
}

/// Opens the artifact in a file, with no engine.
///
/// # Errors
/// Errors of reading and opening it, which name the file.
pub(super) fn bundle(path: &Path, stdin: &mut Stdin) -> Result<Bundle> {
    Bundle::open(bytes(path, stdin)?).map_err(|error| naming(error, path))
}

/// Opens an artifact that was read from `path`.
///
/// # Errors
/// As [`artifact`].
pub(super) fn open(bytes: Vec<u8>, path: &Path, args: &LanguageArgs, allow: &[Allowed]) -> Result<Artifact> {
    let given = [
        ("--lang", args.lang.is_some()),
        ("--render-mode", args.render_mode.is_some()),
        ("--strict-let", args.strict_let),
        ("--include-root", args.include_root.is_some()),
        ("--declare", !args.declare.is_empty()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        let message = format!("`{option}` is for sources, and `{}` is an artifact", path.display());
        return Err(Diagnostic::new(Code::Usage, message).with_help("give it when the templates are compiled"));
    }
    allowing(args.engine(), allow)?.build().open(bytes).map_err(|error| naming(error, path))
}

fn bytes(path: &Path, stdin: &mut Stdin) -> Result<Vec<u8>> {
    let length = std::fs::metadata(path).map_or(0, |meta| meta.len());
    if length > LONGEST {
        let message = format!("`{}` is too long for an artifact: {length} bytes", path.display());
        return Err(Diagnostic::new(Code::ReadFailed, message));
    }
    stdin.bytes(path)
}

fn naming(error: Box<Diagnostic>, path: &Path) -> Box<Diagnostic> {
    error.with_note(format!("the file is `{}`", path.display()))
}

/// The template called `name`, else the only one that makes an output.
///
/// # Errors
/// `template.unknown`; `usage` where the name is needed; what [`Artifact::template`] returns.
pub(super) fn choose(artifact: &Artifact, name: Option<&str>) -> Result<Template> {
    if let Some(name) = name {
        return artifact.template(name);
    }
    let outputs = outputs(artifact)?;
    match outputs.as_slice() {
        [only] => artifact.template(only),
        _ => Err(Diagnostic::new(Code::Usage, "the artifact has several templates")
            .with_available(outputs)
            .with_help("name one: `--template NAME`")),
    }
}

/// The names of the templates that make an output, or the only one there is.
fn outputs(artifact: &Artifact) -> Result<Vec<String>> {
    let templates = artifact.templates()?;
    bulk::outputs(&files(artifact), &mut |name| {
        let found = templates.iter().find(|template| template.name() == name);
        Ok(found.map_or(Vec::new(), |template| template.reaches().to_vec()))
    })
}

/// The error of a format that is asked for where templates give text.
pub(super) fn gives_text(name: &str) -> Box<Diagnostic> {
    let message = format!("`--output-format` is for templates that give documents, and `{name}` gives text");
    Diagnostic::new(Code::Usage, message).with_help("documents are what templates of `cel` and `cel-yaml` give")
}

/// The templates of an artifact as files; of several none was named by the user.
pub(super) fn files(artifact: &Artifact) -> Vec<TemplateFile> {
    let explicit = artifact.names().count() == 1;
    artifact.names().map(|name| TemplateFile { name: name.to_owned(), explicit }).collect()
}

/// The artifacts among `paths`, and the others.
pub(super) fn sort(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    paths.iter().cloned().partition(|path| path.as_os_str() != "-" && path.is_file() && holds_artifact(path))
}
