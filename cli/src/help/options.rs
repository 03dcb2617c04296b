//! The help of options, with the commands that have them.

use clap::{Arg, Command};

use super::pages::tree;
use crate::output::wrapped;

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
