//! `dropforge init`: a small working project.

use std::borrow::Cow;
use std::fs::{OpenOptions, create_dir_all};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use dropforge::diagnostics::{Code, Diagnostic, Result};

use crate::exit::{Exit, Failed};
use crate::output::print;
use crate::project::FILE;
use crate::stderr::Stderr;

/// Write a small working project
///
///     dropforge init
///     dropforge init shop --from helm
///
/// Writes `dropforge.toml`, templates, `values.yaml` and `clusters.yaml`. Existing
/// files are not overwritten.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InitArgs {
    /// Write to this directory [default: the current one]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Select the language of the templates; `helm` is `tera` with notes for users of Helm
    #[arg(long, value_name = "WHAT", value_enum, default_value_t, hide_default_value = true)]
    from: From,
}

/// The kind of project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum From {
    #[default]
    Tera,
    Helm,
    Hcl,
    CelYaml,
}

macro_rules! files {
    ($($folder:literal $name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("init/", $folder, "/", $name)))),*]
    };
}

/// The files of all kinds.
const SHARED: &[(&str, &str)] = files!["shared" "clusters.yaml"];

impl From {
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
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &InitArgs, stderr: &Stderr) -> std::result::Result<Exit, Failed> {
    let dir = args.dir.as_deref().unwrap_or(Path::new(""));
    let files: Vec<(PathBuf, &str)> =
        args.from.files().iter().chain(SHARED).map(|(name, text)| (dir.join(name), *text)).collect();
    let existing = files.iter().filter(|(path, _)| path.symlink_metadata().is_ok());
    let existing: Vec<_> = existing.map(|(path, _)| exists(path)).collect();
    if !existing.is_empty() {
        return Err(Failed::usage(existing));
    }
    let id = id(dir);
    for (path, text) in &files {
        let is_project = path.ends_with(FILE);
        write(path, &if is_project { text.replace("\"ID\"", &id).into() } else { Cow::Borrowed(*text) })?;
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
fn write(path: &Path, text: &str) -> Result<()> {
    let failed = |error| Diagnostic::new(Code::WriteFailed, format!("cannot write `{}`: {error}", path.display()));
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), create_dir_all).map_err(failed)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => failed(error),
    })?;
    file.write_all(text.as_bytes()).map_err(failed)
}

fn exists(path: &Path) -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, format!("`{}` exists and is not overwritten", path.display()))
        .with_help("name another directory: `dropforge init DIR`")
}
