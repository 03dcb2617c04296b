//! `dropforge init`: a small working project, or one that is imported from another tool.

mod import;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{OpenOptions, create_dir_all};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Args, Command, ValueEnum};

use dropforge::diagnostics::{Code, Diagnostic, Result};

use crate::exit::{Exit, Failed};
use crate::output::print;
use crate::project::FILE;
use crate::stderr::Stderr;

/// Write a small working project, or import one
///
///     dropforge init
///     dropforge init shop --from helm
///     dropforge init platform --from helmfile helmfile.yaml
///
/// Writes `dropforge.toml`, templates, `values.yaml` and `clusters.yaml`. Existing
/// files are not overwritten.
///
/// An imported project renders the same objects as the other tool. What is left out
/// is a warning, and a `TODO` in `dropforge.toml`.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InitArgs {
    /// Write to this directory [default: the current one]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Select the language of the templates, or import a path of another tool: `--from helmfile FILE`, `--from kustomize
    /// DIR`, `--from applicationset FILE`; `helm` is `tera` with notes for users of Helm
    #[arg(long, value_names = ["WHAT", "PATH"], num_args = 1..=2, value_parser = FromParser)]
    from: Vec<OsString>,
}

/// The kind of project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum From {
    #[default]
    Tera,
    Helm,
    Hcl,
    CelYaml,
    Helmfile,
    Kustomize,
    #[value(name = "applicationset")]
    ApplicationSet,
}

/// Takes the kind of project, and after it a path.
#[derive(Debug, Clone)]
struct FromParser;

impl TypedValueParser for FromParser {
    type Value = OsString;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> std::result::Result<OsString, clap::Error> {
        Ok(value.to_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(From::value_variants().iter().filter_map(From::to_possible_value)))
    }
}

impl InitArgs {
    /// Returns the kind of project, the path to import, and the directory to write to.
    ///
    /// # Errors
    /// `usage`.
    fn parts(&self) -> Result<(From, Option<&Path>, &Path)> {
        let usage = |message: String| Diagnostic::new(Code::Usage, message);
        let from = match self.from.first() {
            None => From::default(),
            Some(what) => {
                let what = what.to_string_lossy();
                From::from_str(&what, false).map_err(|_| {
                    let names = From::value_variants().iter().filter_map(From::to_possible_value);
                    let names: Vec<String> = names.map(|value| value.get_name().to_owned()).collect();
                    let error = usage(format!("`--from {what}` is not known"));
                    error.with_suggestion(&what, names.iter().map(String::as_str)).with_available(names)
                })?
            }
        };
        let (path, dir) = (self.from.get(1).map(Path::new), self.dir.as_deref());
        match (from.tool(), path, dir) {
            (Some(_), None, _) => {
                let name = from.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
                let error = usage(format!("`--from {name}` needs the path to import"));
                Err(error.with_help(format!("write `dropforge init --from {name} PATH`")))
            }
            (Some(_), path, dir) => Ok((from, path, dir.unwrap_or(Path::new("")))),
            (None, Some(_), Some(_)) => Err(usage("a language is no tool to import from".to_owned())
                .with_help("write `dropforge init DIR --from WHAT`")),
            (None, path, dir) => Ok((from, None, dir.or(path).unwrap_or(Path::new("")))),
        }
    }
}

macro_rules! files {
    ($($folder:literal $name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("init/", $folder, "/", $name)))),*]
    };
}

/// The files of all kinds.
const SHARED: &[(&str, &str)] = files!["shared" "clusters.yaml"];

impl From {
    /// Returns the tool to import from.
    fn tool(self) -> Option<import::Tool> {
        match self {
            From::Helmfile => Some(import::Tool::Helmfile),
            From::Kustomize => Some(import::Tool::Kustomize),
            From::ApplicationSet => Some(import::Tool::ApplicationSet),
            From::Tera | From::Helm | From::Hcl | From::CelYaml => None,
        }
    }

    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            From::Tera => files![
                "tera" "dropforge.toml",
                "tera" "values.yaml",
                "tera" "templates/_labels.tera",
                "tera" "templates/deployment.yaml.tera",
                "tera" "templates/service.yaml.tera",
            ],
            From::Helm => files![
                "helm" "dropforge.toml",
                "helm" "values.yaml",
                "helm" "templates/_macros.tera",
                "helm" "templates/deployment.yaml.tera",
                "helm" "templates/service.yaml.tera",
                "helm" "templates/ingress.yaml.tera",
            ],
            From::Hcl => files![
                "hcl" "dropforge.toml",
                "hcl" "values.yaml",
                "hcl" "templates/deployment.yaml.tftpl",
                "hcl" "templates/service.yaml.tftpl",
            ],
            From::CelYaml => files![
                "cel-yaml" "dropforge.toml",
                "cel-yaml" "values.yaml",
                "cel-yaml" "templates/app.cel.yaml",
            ],
            From::Helmfile | From::Kustomize | From::ApplicationSet => &[],
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &InitArgs, stderr: &Stderr) -> std::result::Result<Exit, Failed> {
    let (from, path, dir) = args.parts().map_err(|error| Failed::usage(vec![error]))?;
    if let (Some(tool), Some(path)) = (from.tool(), path) {
        return import::run(tool, path, dir, stderr);
    }
    let files: Vec<(PathBuf, &str)> =
        from.files().iter().chain(SHARED).map(|(name, text)| (dir.join(name), *text)).collect();
    let existing = files.iter().filter(|(path, _)| path.symlink_metadata().is_ok());
    let existing: Vec<_> = existing.map(|(path, _)| exists(path)).collect();
    if !existing.is_empty() {
        return Err(Failed::usage(existing));
    }
    let id = id(dir);
    for (path, text) in &files {
        let is_project = path.ends_with(FILE);
        let text = if is_project { text.replace("\"ID\"", &id).into() } else { Cow::Borrowed(*text) };
        write(path, text.as_bytes())?;
        stderr.detail(&format!("{}: created", path.display()));
    }
    let at = if dir.as_os_str().is_empty() { String::new() } else { format!(" -C {}", dir.display()) };
    print(format!("wrote {} and what it names; next: dropforge{at} stamp\n", dir.join(FILE).display()))?;
    Ok(Exit::Ok)
}

/// Returns an id for the project in a folder as TOML: the folder's name, and a number that tells it from others.
fn id(dir: &Path) -> String {
    let folder = Path::new(".").join(dir);
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().filter(|c| c.is_alphanumeric() || "-_.".contains(*c)).collect();
    format!("\"{name}-{:05x}\"", RandomState::new().hash_one(&folder) % 0x10_0000)
}

/// Writes a new file. A file that appears meanwhile stays as it is.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |error| Diagnostic::new(Code::WriteFailed, format!("cannot write `{}`: {error}", path.display()));
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), create_dir_all).map_err(failed)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => failed(error),
    })?;
    file.write_all(bytes).map_err(failed)
}

fn exists(path: &Path) -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, format!("`{}` exists and is not overwritten", path.display()))
        .with_help("name another directory: `dropforge init DIR`")
}
