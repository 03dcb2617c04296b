//! `dropforge help`: help for every word: a command, an option, an error, a function, a tag, a language, a file.

mod groups;
mod pages;

pub(crate) use groups::{with_diff, with_groups, with_stamp};
pub(crate) use pages::{is_asked, with_exit_codes, with_width};

use std::ffi::OsString;

use crate::exit::{self, Exit, Failed};
use crate::output::print;
use crate::{explain, functions, keywords, other_tools};
use clap::{Args, Command};
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
    pages::page(command, &word)
        .or_else(|| explain::named(&word).map(explain::text))
        .or_else(|| EXIT_CODES.contains(&&*word).then(|| exit::help("")))
        .or_else(|| page(&word))
        .or_else(|| of_language(&word).map(|text| text + &instead(&word)))
        .or_else(|| of_subcommand(command, &word))
        .or_else(|| pages::page(command, &format!("--{word}")).map(|text| text + &see_also(&word)))
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
    let found: Vec<(String, String)> = pages::tree(command)
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
    let names: Vec<String> = pages::tree(command)
        .into_iter()
        .map(|(path, _)| path)
        .chain(pages::names(command))
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
