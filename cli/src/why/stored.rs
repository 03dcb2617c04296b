//! The command of a state. Anyone may have written a state, as it is committed: only files of its project are read,
//! and no option is followed that writes or grants something.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::place::Wanted;
use super::shown;
use crate::command;
use crate::input::{is_below, is_dash, outside, repository};
use crate::run_options::{self, StoredArgument};
use dropforge::bulk::RunOptions;
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::files::Files;

/// Changes to the directory where a run was started, and returns its arguments with the directory of the files that it may
/// read.
///
/// # Errors
/// `file.read_failed` for a directory that cannot be read; `template.outside_root` for a directory or a file outside of the
/// project; `usage` for options that are not followed.
pub(super) fn arguments(wanted: &Wanted, run: &RunOptions) -> Result<(Vec<OsString>, Files)> {
    let root = Files::below(project(wanted.directory.as_deref())?)?;
    let place = wanted.given();
    if let Some((output, way)) = wanted.directory.as_ref().zip(run.folder.as_ref()) {
        let folder = output.join(way);
        if !is_below(&root, &folder) {
            let error = outside(&folder, &root).with_note(entry(wanted, "folder", way));
            return Err(error.with_help(by_hand(&place, run)));
        }
        change_to(&folder)?;
    }
    let arguments = run_options::stored(&command::options_of_commands(), &run.arguments);
    for StoredArgument { text, paths, is_harmless } in arguments.ok_or_else(|| no_command(wanted))? {
        let refused = match paths.iter().find(|path| !is_dash(path) && !is_below(&root, path)) {
            _ if !is_harmless => Diagnostic::new(
                Code::Usage,
                format!("`{}` is not followed: it grants or writes something", shown(&text)),
            ),
            Some(path) => outside(Path::new(&shown(&path.to_string_lossy())), &root),
            None => continue,
        };
        return Err(refused.with_note(entry(wanted, "arguments", &text)).with_help(by_hand(&place, run)));
    }
    Ok((run.arguments.iter().map(OsString::from).collect(), root))
}

fn change_to(folder: &Path) -> Result<()> {
    std::env::set_current_dir(folder).map_err(|error| {
        Diagnostic::new(Code::ReadFailed, format!("cannot change to directory `{}`: {error}", folder.display()))
    })
}

/// Returns the directory whose files the run of a state may read: the repository of the output directory. Without one it
/// is the current directory if the outputs are below it, and otherwise the one that has the output directory. Outputs in an
/// object store have the current directory in place of their own.
fn project(output: Option<&Path>) -> Result<PathBuf> {
    let unreadable =
        |error: std::io::Error| Diagnostic::new(Code::ReadFailed, format!("cannot find the project: {error}"));
    let here = std::env::current_dir().map_err(unreadable)?;
    let place = output.map_or(Ok(here.clone()), Path::canonicalize).map_err(unreadable)?;
    let parent = || if output.is_some() { place.parent().map(Path::to_owned) } else { None };
    let around = || if place != here && place.starts_with(&here) { Some(here.clone()) } else { parent() };
    Ok(repository(&place).or_else(around).unwrap_or(here.clone()))
}

/// Returns the note that names an entry of a state.
fn entry(wanted: &Wanted, key: &str, value: &str) -> String {
    format!("`{key}` in {} has `{}`", wanted.listed_in(), shown(value))
}

fn no_command(wanted: &Wanted) -> Box<Diagnostic> {
    let message = format!("{} has no command that writes outputs", wanted.listed_in());
    Diagnostic::new(Code::Usage, message).with_help("name the command: `dropforge why … -- stamp …`")
}

/// Returns the help that shows how to give the command of a state by hand.
fn by_hand(place: &str, run: &RunOptions) -> String {
    let words: Vec<String> = run.arguments.iter().map(|argument| word(&shown(argument))).collect();
    let command = format!("dropforge why {} -- {}", word(&shown(place)), words.join(" "));
    format!("if you trust it, name the command yourself, where it ran: `{command}`")
}

/// Returns a word for a shell.
fn word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
