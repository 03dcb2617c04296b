//! What the help texts of all commands have: at most 80 columns, and the exit codes at the end.

use std::ffi::OsString;

use clap::Command;

use crate::exit;

/// The width of help texts, in columns.
const WIDTH: usize = 80;

/// Returns `true` if arguments ask for a long help text.
pub(crate) fn is_asked(args: &[OsString]) -> bool {
    args.iter().any(|arg| arg == "--help" || arg == "help")
}

/// Limits the width of help texts.
pub(crate) fn with_width(command: Command) -> Command {
    // Lists of commands have the first line of a text, so only the whole command line can have more.
    let about = command.get_long_about().or(command.get_about()).cloned().unwrap_or_default();
    command.about(about).max_term_width(WIDTH)
}

/// Adds exit codes to the long help texts of a command line.
pub(crate) fn with_exit_codes(command: Command) -> Command {
    with_codes_of(command, "")
}

fn with_codes_of(command: Command, path: &str) -> Command {
    let within = |sub: Command| {
        let path = joined(path, sub.get_name());
        with_codes_of(sub, &path)
    };
    command.mut_subcommands(within).after_long_help(exit::help(path))
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path} {name}") }
}

/// Returns all commands below a command, with their names: `stamp`, `hcl fmt`.
pub(super) fn tree(command: &Command) -> Vec<(String, &Command)> {
    let mut found = Vec::new();
    for sub in command.get_subcommands() {
        found.push((sub.get_name().to_owned(), sub));
        found.extend(tree(sub).into_iter().map(|(path, below)| (joined(sub.get_name(), &path), below)));
    }
    found
}
