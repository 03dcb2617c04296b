//! `dropforge help`: help for every word: a command, an option, an error, a function, a tag, a language, a file.
//!
//! The help texts of all commands have at most 80 columns, the commands in groups, and the exit codes at the end.

use std::ffi::OsString;

use crate::exit::{self, Exit, Failed};
use crate::output::{print, wrapped};
use crate::{explain, functions, keywords, other_tools, project};
use clap::{Arg, Args, Command};
use dropforge::diagnostics::{Code, Diagnostic};

/// Words for the exit codes.
const EXIT_CODES: [&str; 3] = ["exit", "exit-codes", "exit codes"];

/// Print help for a command, option, error, function, tag or file
///
///     dropforge help stamp
///     dropforge help --layout
///     dropforge help E0201
///     dropforge help nindent
///     dropforge help '$for'
///     dropforge help hcl
///     dropforge help dropforge.toml
///     dropforge help exit-codes
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct HelpArgs {
    /// Print the help of this command, option, error code, function, tag, language or file
    #[arg(value_name = "WORD", allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Writes `help --jobs` as `help -- --jobs`: the word is not an option of this run.
pub(crate) fn with_option(mut args: Vec<OsString>) -> Vec<OsString> {
    let is_option = |word: &OsString| {
        let word = word.to_string_lossy();
        word.starts_with('-') && !["-h", "--help", "--"].contains(&&*word)
    };
    if let [_, command, word] = args.as_slice()
        && command == "help"
        && is_option(word)
    {
        args.insert(2, "--".into());
    }
    args
}

/// Runs the command. `command` is the definition of the whole command line.
pub(crate) fn run(args: &HelpArgs, mut command: Command) -> Result<Exit, Failed> {
    command.build();
    print(match args.words.as_slice() {
        [] => command.render_help().to_string(),
        words => of_words(&mut command, words)?,
    })?;
    Ok(Exit::Ok)
}

/// Returns the help of a word, or of a command whose name has several words.
fn of_words(command: &mut Command, words: &[String]) -> Result<String, Box<Diagnostic>> {
    let word = words.join(" ");
    // The words of a name may be one argument.
    let words: Vec<&str> = word.split_whitespace().collect();
    if let Some(text) = of_command(command, &words) {
        return Ok(text + &see_also(&word));
    }
    option_page(command, &word)
        .or_else(|| explain::named(&word).map(explain::text))
        .or_else(|| EXIT_CODES.contains(&&*word).then(|| exit::help("")))
        .or_else(|| page(&word))
        .or_else(|| of_language(&word).map(|text| text + &instead(&word)))
        .or_else(|| of_subcommand(command, &word))
        .or_else(|| option_page(command, &format!("--{word}")).map(|text| text + &see_also(&word)))
        .or_else(|| Some(format!("{}\n", other_tools::instead_of(&word)?)))
        .ok_or_else(|| unknown(command, &word))
}

/// Returns the documentation of a function or of another word of a language.
fn of_language(word: &str) -> Option<String> {
    let pages: Vec<String> = [keywords::pages(word), functions::pages(word)].into_iter().flatten().collect();
    (!pages.is_empty()).then(|| pages.join("\n"))
}

/// Returns the help of a command, whose name may have several words.
fn of_command(command: &mut Command, words: &[&str]) -> Option<String> {
    match words {
        [] => Some(command.render_long_help().to_string()),
        [first, rest @ ..] => of_command(command.find_subcommand_mut(first)?, rest),
    }
}

/// Returns the other meanings of a command's name: a language, a function, a command of another tool.
fn see_also(word: &str) -> String {
    let topic = page(word).map(|text| format!("\n{text}"));
    let function = functions::pages(word)
        .map(|_| format!("\nThere is a function of this name, too: `dropforge functions {word}`\n"));
    [topic, function].into_iter().flatten().collect::<String>() + &instead(word)
}

/// Returns what does the work of a command of another tool.
fn instead(word: &str) -> String {
    other_tools::instead_of(word).map(|instead| format!("\nSee also: {instead}\n")).unwrap_or_default()
}

/// Returns the help of the subcommand of a name, such as `fmt`, or the subcommands of that name.
fn of_subcommand(command: &mut Command, name: &str) -> Option<String> {
    let found: Vec<(String, String)> = tree(command)
        .into_iter()
        .filter(|(path, _)| path.ends_with(&format!(" {name}")))
        .map(|(path, found)| (path, found.get_about().map(ToString::to_string).unwrap_or_default()))
        .collect();
    match found.as_slice() {
        [] => None,
        [(path, _)] => of_command(command, &path.split(' ').collect::<Vec<_>>()),
        several => Some(several.iter().map(|(path, about)| format!("dropforge help {path}\n    {about}\n")).collect()),
    }
}

fn unknown(command: &Command, word: &str) -> Box<Diagnostic> {
    let error = Diagnostic::new(Code::Usage, format!("there is no help for `{word}`"));
    let codes = Code::ALL.iter().flat_map(|code| [code.id(), code.name()]).map(str::to_owned);
    let names: Vec<String> = tree(command)
        .into_iter()
        .map(|(path, _)| path)
        .chain(option_names(command))
        .chain(codes)
        .chain(names().map(str::to_owned))
        .chain(functions::names())
        .chain(keywords::names().map(str::to_owned))
        .collect();
    error
        .with_help(
            "`dropforge help` lists the commands, `dropforge functions` the functions, `dropforge explain` the errors",
        )
        .with_suggestion(word, names.iter().map(String::as_str))
}

/// Sections: `## WORD, WORD` and a text.
const TEXT: &str = include_str!("topics.md");

/// Returns the text about a word: one of a heading, or the name of a file with an extension of a heading.
pub(super) fn page(word: &str) -> Option<String> {
    let named = sections().find(|(names, _)| names.clone().any(|name| name == word));
    let by_extension = || {
        let longest = |names: std::str::Split<'static, &str>| {
            names.filter(|name| name.starts_with('.') && word.ends_with(name)).map(str::len).max()
        };
        let found = sections().filter_map(|(names, text)| Some((longest(names)?, text)));
        found.max_by_key(|(length, _)| *length).map(|(_, text)| text)
    };
    let text = named.map(|(_, text)| text).or_else(by_extension)?;
    Some(format!("{}\n", text.trim()))
}

/// Returns the words of all headings.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    sections().flat_map(|(names, _)| names)
}

/// Returns the words of each heading and the text below it.
fn sections() -> impl Iterator<Item = (std::str::Split<'static, &'static str>, &'static str)> {
    TEXT.split("\n## ").filter_map(|section| {
        let (heading, text) = section.trim_start_matches("## ").split_once('\n')?;
        Some((heading.trim().split(", "), text))
    })
}

/// The groups of commands. A command of no group is not listed.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Start", &["init", "stamp", "diff", "render", "values", "why", "check", "test"]),
    ("Write templates", &["eval", "console", "trace", "help", "functions", "explain", "lsp", "completions"]),
    ("Charts and artifacts", &["deps", "compile", "inspect", "disasm", "push", "pull"]),
    ("Languages", &["hcl", "intent"]),
    ("Services", &["catalog", "serve", "krm"]),
];

/// Lists the commands of the whole command line in groups.
pub(crate) fn with_groups(command: Command) -> Command {
    let mut groups: String = GROUPS.iter().map(|(name, commands)| group(&command, name, commands)).collect();
    let absent: Vec<&str> = command.get_subcommands().filter(|sub| is_absent(sub)).map(Command::get_name).collect();
    if !absent.is_empty() {
        let help = "`dropforge help NAME` says how to get one";
        groups.push_str(&wrapped(&format!("Not in this build ({help}): {}\n\n", absent.join(", "))));
    }
    let template = "{about-with-newline}\n{usage-heading} {usage}\n\n";
    command.help_template(format!("{template}{groups}Options:\n{{options}}{{after-help}}"))
}

/// Returns the lines of a group, without commands that the build lacks.
fn group(command: &Command, name: &str, commands: &[&str]) -> String {
    let subs = commands.iter().filter_map(|name| command.find_subcommand(name)).filter(|sub| !is_absent(sub));
    let line = |sub: &Command| {
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {:<12} {}\n", sub.get_name(), about.lines().next().unwrap_or(""))
    };
    format!("{name}:\n{}\n", subs.map(line).collect::<String>())
}

/// Returns `true` for a command that the build lacks.
fn is_absent(command: &Command) -> bool {
    command.is_disable_help_flag_set()
}

/// The command that stands for `stamp --diff`.
const DIFF: &str = "diff";

const ABOUT: &str = "Show what `stamp` would change, and write nothing";

const LONG_ABOUT: &str = "

    dropforge diff templates/ --fleet clusters.ndjson -f values.yaml -o out/

It is `stamp --diff`: clusters with the same change are one group, and lines
that only follow from others, such as checksums, come last.";

/// Options of `stamp` that its preview does not have.
const WRITING: [&str; 12] = [
    "diff",
    "check",
    "dry_run",
    "watch",
    "force",
    "prune_force",
    "fsync",
    "shard",
    "shards",
    "finish",
    "stream",
    "pack",
];

/// Adds the command `diff` to the help. Arguments never reach it: see [`with_stamp`].
pub(crate) fn with_diff(command: Command) -> Command {
    let Some(stamp) = command.find_subcommand("stamp") else { return command };
    let diff = stamp.clone().name(DIFF).about(ABOUT).long_about(format!("{ABOUT}{LONG_ABOUT}"));
    let diff = diff.mut_args(|arg| if WRITING.contains(&arg.get_id().as_str()) { arg.hide(true) } else { arg });
    command.subcommand(diff)
}

/// Writes the command `diff` as `stamp --diff`, unless its help is asked for.
pub(crate) fn with_stamp(mut args: Vec<OsString>, command: impl FnOnce() -> Command) -> Vec<OsString> {
    if args.iter().any(|arg| arg == DIFF) && !is_asked(&args) {
        let at = project::position(&with_diff(command()), &args);
        if args.get(at - 1).is_some_and(|name| name == DIFF) {
            args.splice(at - 1..at, ["stamp", "--diff"].map(Into::into));
        }
    }
    args
}

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
fn tree(command: &Command) -> Vec<(String, &Command)> {
    let mut found = Vec::new();
    for sub in command.get_subcommands() {
        found.push((sub.get_name().to_owned(), sub));
        found.extend(tree(sub).into_iter().map(|(path, below)| (joined(sub.get_name(), &path), below)));
    }
    found
}

/// Returns the help of an option: `--layout`, `-l`, an alias, or its environment variable.
fn option_page(command: &Command, word: &str) -> Option<String> {
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
fn option_names(command: &Command) -> Vec<String> {
    let of = |one: &Command| -> Vec<String> {
        one.get_arguments().filter_map(Arg::get_long).map(|long| format!("--{long}")).collect()
    };
    let mut names: Vec<String> = tree(command).into_iter().flat_map(|(_, one)| of(one)).collect();
    names.sort_unstable();
    names.dedup();
    names
}
