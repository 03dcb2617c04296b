//! What the help texts of all commands have: at most 80 columns, and the exit codes at the end.

use std::ffi::OsString;

use crate::exit;
use crate::output::wrapped;
use clap::{Arg, Command};

/// The width of help texts, in columns.
const WIDTH: usize = 80;

/// Returns `true` if arguments ask for a help text, or have no command.
pub(crate) fn is_asked(args: &[OsString]) -> bool {
    args.len() < 2 || args.iter().any(|arg| ["-h", "--help", "help"].iter().any(|asked| arg == asked))
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

/// Returns the help of an option: `--layout`, `-l`, an alias, or its environment variable.
pub(super) fn page(command: &Command, word: &str) -> Option<String> {
    let commands = tree(command);
    let mut texts: Vec<(String, Vec<String>)> = Vec::new();
    for (path, one) in &commands {
        let Some(arg) = one.get_arguments().find(|arg| is_named(arg, word)) else { continue };
        let help = text(arg);
        match texts.iter_mut().find(|(known, _)| *known == help) {
            Some((_, names)) => names.push(path.clone()),
            None => texts.push((help, vec![path.clone()])),
        }
    }
    let most = texts.iter().map(|(_, names)| names.len()).max().unwrap_or(0);
    if texts.iter().map(|(_, names)| names.len()).sum::<usize>() == commands.len() {
        let (used_most, mut sorted): (Vec<_>, Vec<_>) = texts.into_iter().partition(|(_, names)| names.len() == most);
        sorted.extend(used_most);
        texts = sorted;
        let last = if texts.len() == 1 { "every command" } else { "every other command" };
        texts.iter_mut().rev().take(1).for_each(|(_, names)| *names = vec![last.to_owned()]);
    }
    let users = |names: &[String]| names.join(", ");
    let section = |(help, names): &(String, Vec<String>)| format!("{word} ({}):\n\n{help}\n", users(names));
    (!texts.is_empty()).then(|| texts.iter().map(section).collect::<Vec<_>>().join("\n"))
}

fn is_named(arg: &Arg, word: &str) -> bool {
    let short = word.strip_prefix('-').filter(|rest| rest.chars().count() == 1).and_then(|rest| rest.chars().next());
    match (short, word.strip_prefix("--")) {
        (Some(short), _) => arg.get_short() == Some(short),
        (None, Some(long)) => {
            arg.get_long() == Some(long) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&long))
        }
        (None, None) => arg.get_env().is_some_and(|variable| variable == word),
    }
}

/// Returns the form of an option, its help, and its values.
fn text(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let values = arg.get_possible_values();
    let values = values.iter().filter(|value| !value.is_hide_set());
    let values: Vec<String> = values
        .map(|value| match value.get_help() {
            Some(help) => format!("  {}: {help}\n", value.get_name()),
            None => format!("  {}\n", value.get_name()),
        })
        .collect();
    // A flag has the values of a boolean, which nobody writes.
    let values = if arg.get_action().takes_values() { values.concat() } else { String::new() };
    wrapped(&format!("  {arg}\n\n{help}{}{}", if values.is_empty() { "" } else { "\n\n" }, values.trim_end()))
}

/// Returns the names of all options, with their dashes.
pub(super) fn names(command: &Command) -> Vec<String> {
    let of = |one: &Command| -> Vec<String> {
        one.get_arguments().filter_map(Arg::get_long).map(|long| format!("--{long}")).collect()
    };
    let mut names: Vec<String> = tree(command).into_iter().flat_map(|(_, one)| of(one)).collect();
    names.sort_unstable();
    names.dedup();
    names
}
