//! `dropforge init --from TOOL PATH`: a project that renders what another tool renders.

mod applicationset;
mod assemble;
mod fold;
mod gotmpl;
mod helmfile;
mod kustomize;
mod project;
mod sources;
mod yaml;

use std::collections::BTreeMap;
use std::path::Path;

use dropforge::diagnostics::{Code, Diagnostic, Result, counted};
use dropforge::files;

use super::{exists, id, write};
use crate::exit::{Exit, Failed};
use crate::output::print;
use crate::project::FILE;
use crate::stderr::Stderr;
use project::{Content, Project};
use sources::Sources;

/// The tool that a project is imported from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Helmfile,
    Kustomize,
    ApplicationSet,
}

/// Writes a project to `dir` that renders what the tool renders from `path`, and prints what it leaves out.
///
/// # Errors
/// All errors of the imported files; `usage` for files that exist.
pub(super) fn run(tool: Tool, path: &Path, dir: &Path, stderr: &Stderr) -> std::result::Result<Exit, Failed> {
    let mut sources = Sources::around(path)?;
    let mut project = Project::new(dir);
    let imported = match tool {
        Tool::Helmfile => helmfile::import(path, &mut sources, &mut project),
        Tool::Kustomize => kustomize::import(path, &mut sources, &mut project),
        Tool::ApplicationSet => applicationset::import(path, &mut sources, &mut project),
    };
    imported.map_err(Failed::from)?;
    if project.releases.is_empty() && project.notes.len() == 0 {
        let message = format!("there is nothing to import in `{}`", path.display());
        return Err(Diagnostic::new(Code::Usage, message).with_help("name a file with releases").into());
    }
    let (files, notes) = project.finish(&id(dir));
    let written = write_all(&files, dir, stderr)?;
    let left_out = notes.len();
    stderr.diagnostics(notes.warnings());
    let at = if dir.as_os_str().is_empty() { String::new() } else { format!(" -C {}", dir.display()) };
    let place = dir.join(FILE);
    let todo = match left_out {
        0 => String::new(),
        _ => format!("; {} not translated: see `TODO` in {}", counted(left_out, "part"), place.display()),
    };
    print(format!(
        "wrote {} and {} others{todo}; next: dropforge{at} stamp\n",
        place.display(),
        written.saturating_sub(1)
    ))?;
    Ok(Exit::Ok)
}

/// Writes new files, or none if one of them exists. A file that would be a copy of itself stays. Returns their number.
fn write_all(files: &BTreeMap<String, Content>, dir: &Path, stderr: &Stderr) -> std::result::Result<usize, Failed> {
    let is_itself = |name: &str, content: &Content| match content {
        Content::Copy(from) => files::is_same(&dir.join(name), from),
        Content::Text(_) => false,
    };
    let new: Vec<_> = files.iter().filter(|(name, content)| !is_itself(name, content)).collect();
    let existing = new.iter().map(|(name, _)| dir.join(name)).filter(|path| path.symlink_metadata().is_ok());
    let existing: Vec<_> = existing.map(|path| exists(&path)).collect();
    if !existing.is_empty() {
        return Err(Failed::usage(existing));
    }
    for (name, content) in &new {
        let path = dir.join(name);
        match content {
            Content::Text(text) => write(&path, text.as_bytes())?,
            Content::Copy(from) => write(&path, &copied(from)?)?,
        }
        stderr.detail(&format!("{}: created", path.display()));
    }
    Ok(new.len())
}

fn copied(from: &Path) -> Result<Vec<u8>> {
    files::read(from, 1 << 30).map_err(|error| files::unreadable(from, error))
}
