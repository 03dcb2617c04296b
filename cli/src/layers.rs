//! Input layers from `-f`, `--env-prefix` and `--set`.

use std::path::Path;

use dropforge::bulk::input::{self, Place};
use dropforge::bulk::values::{Assignment, from_environment, parse_set};
use dropforge::bulk::{LayerGroups, Layers, Merge};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::value::DataMap;

use crate::input::{InputFiles, refuse_other_url, values_format};
use crate::options::{SetArgs, ValueArgs};
use crate::stderr::Stderr;

/// Reads values files, environment variables and `--set` options, for rendering without a fleet.
///
/// # Errors
/// Errors of [`read`].
pub(crate) fn layers(args: &ValueArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Layers> {
    Ok(read(args, files, stderr)?.layers(&LayerGroups::default(), Merge::default()))
}

/// The values that options give.
pub(crate) struct Given {
    /// The values files with their places, in order.
    pub(crate) maps: Vec<(DataMap, Place)>,
    /// The assignments: environment variables, then `--set` options in order.
    pub(crate) sets: Vec<Assignment>,
}

impl Given {
    /// Merges the values, with the files of `--layer` over those of `-f`. `merge` is the effect of a cluster's inputs on
    /// the shared ones.
    pub(crate) fn layers(&self, groups: &LayerGroups, merge: Merge) -> Layers {
        groups.over(self.maps.clone(), self.sets.clone(), merge)
    }
}

/// Reads values files, environment variables and `--set` options.
///
/// # Errors
/// Errors of reading the files; `input.bad_set`; `syntax.not_utf8` for an environment variable.
pub(crate) fn read(args: &ValueArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Given> {
    read_with(args, &args.sets, files, stderr)
}

/// Works like [`read`], with other `--set` options.
///
/// # Errors
/// Same as [`read`].
pub(crate) fn read_with(args: &ValueArgs, given: &SetArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Given> {
    args.check_dashes()?;
    let mut sets = environment(&args.env_prefix, stderr)?;
    sets.extend(assignments(given, files)?);
    let maps = args.values.iter().map(|path| values_file(path, "-f -", files)).collect::<Result<_>>()?;
    Ok(Given { maps, sets })
}

/// Parses `--set` options.
///
/// # Errors
/// `input.bad_set`; errors of reading the files that they name.
pub(crate) fn assignments(sets: &SetArgs, files: &mut InputFiles) -> Result<Vec<Assignment>> {
    let mut all = Vec::new();
    for (kind, text) in &sets.0 {
        let mut read = |path: &str| {
            refuse_other_url(Path::new(path), "--set-file K=/dev/stdin")?;
            files.read(Path::new(path), "--set-file K=-").map(|source| source.text().to_owned())
        };
        all.extend(parse_set(*kind, text, &mut read)?);
    }
    Ok(all)
}

/// Returns `true` for a layer that may be missing, and is.
pub(crate) fn is_missing_layer(path: &Path, may_be_missing: bool, files: &InputFiles) -> bool {
    may_be_missing && !files.is_url(path) && path.symlink_metadata().is_err()
}

/// Reads a values file that `option` names. Also returns its place.
///
/// # Errors
/// Errors of reading the file.
pub(crate) fn values_file(path: &Path, option: &'static str, files: &mut InputFiles) -> Result<(DataMap, Place)> {
    refuse_other_url(path, option)?;
    let source = files.values(path, option)?;
    let format = values_format(source.name());
    Ok((input::map(&source, format)?, Place::file(&source, format)))
}

/// Returns the assignments of the environment variables that begin with a prefix. Warns about prefixes without any.
///
/// # Errors
/// `syntax.not_utf8`.
pub(crate) fn environment(prefixes: &[String], stderr: &Stderr) -> Result<Vec<Assignment>> {
    let of_each: Vec<_> = prefixes.iter().map(|prefix| with_prefix(prefix, stderr)).collect::<Result<_>>()?;
    Ok(of_each.concat())
}

fn with_prefix(prefix: &str, stderr: &Stderr) -> Result<Vec<Assignment>> {
    let mut found = Vec::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with(prefix)) else { continue };
        let value = value.into_string().map_err(|_| {
            Diagnostic::new(Code::NotUtf8, format!("the environment variable `{name}` is not valid UTF-8"))
        })?;
        found.push((name.to_owned(), value));
    }
    if found.is_empty() {
        stderr.warning(&format!("no environment variable begins with `{prefix}`"));
    }
    from_environment(prefix, found)
}
