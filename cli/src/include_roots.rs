//! The include root of templates that are named one by one, as hooks name the files of a commit.

use std::path::{Path, PathBuf};

use dropforge::diagnostics::{Code, Diagnostic, LOOKED_UP};
use dropforge::engine::{common_folder, path_from_here};

use crate::artifacts;
use crate::check::CheckArgs;
use crate::exit::Failed;
use crate::options::LanguageArgs;
use crate::project::Project;

/// Resolves the includes of files below the templates of the project where `check` without arguments resolves them. An
/// option that names another root wins.
pub(crate) fn in_project(args: &mut CheckArgs, project: Option<&Project>) {
    let (artifacts, sources) = artifacts::split(&args.templates);
    let are_files = artifacts.is_empty() && sources.iter().all(|path| path.is_file());
    if args.language.include_root.is_some() || !are_files {
        return;
    }
    let root = project.and_then(|project| root_of(project.templates()));
    let holds =
        |root: &PathBuf| sources.iter().all(|path| path.canonicalize().is_ok_and(|path| path.starts_with(root)));
    args.language.include_root = root.filter(holds);
}

/// Returns the folder that holds all these files and folders, without links.
fn root_of<'p>(paths: impl Iterator<Item = &'p Path>) -> Option<PathBuf> {
    let folder = |path: &Path| {
        let path = path.canonicalize().ok()?;
        if path.is_dir() { Some(path) } else { path.parent().map(Path::to_owned) }
    };
    let folders = paths.map(folder).collect::<Option<Vec<_>>>()?;
    (!folders.is_empty()).then(|| common_folder(folders.iter().map(PathBuf::as_path)))
}

/// Adds the hint of [`hint`] to the errors of a command that loads the templates at `paths`.
pub(crate) fn hinted(mut failed: Failed, language: &LanguageArgs, paths: &[PathBuf]) -> Failed {
    if language.include_root.is_none() {
        hint(&mut failed.diagnostics, root_of(paths.iter().map(PathBuf::as_path)).as_deref());
    }
    failed
}

/// Names the option for a missing template that is in a folder above `root`, within the current directory.
pub(crate) fn hint(found: &mut [Box<Diagnostic>], root: Option<&Path>) {
    let Some((root, here)) = root.zip(std::env::current_dir().and_then(|here| here.canonicalize()).ok()) else {
        return;
    };
    for error in found.iter_mut().filter(|error| error.code == Code::UnknownTemplate) {
        let above = || root.ancestors().skip(1).take_while(|folder| folder.starts_with(&here));
        let name = error.fields.get(LOOKED_UP);
        if let Some(folder) = name.and_then(|name| above().find(|folder| folder.join(name).is_file())) {
            error.help = Some(format!("a folder above has it: use `-I {}`", path_from_here(folder)));
        }
    }
}
