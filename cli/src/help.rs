//! `dropforge help`: help for a command, an option, an error or a function.

use clap::{Arg, Args, Command};

use dropforge::diagnostics::{Code, Diagnostic};

use crate::exit::{Exit, Failed};
use crate::output::print;
use crate::{explain, functions};

/// Print help for a command, an option, an error or a function
///
///     dropforge help stamp
///     dropforge help --layout
///     dropforge help E0201
///     dropforge help nindent
///
/// The exit code is 2 for a word that is none of these.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct HelpArgs {
    /// Print the help of this command, option, error code or function
    #[arg(value_name = "WORD", allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Runs the command. `command` is the definition of the whole command line.
pub(crate) fn run(args: &HelpArgs, mut command: Command) -> Result<Exit, Failed> {
    command.build();
    print(match args.words.as_slice() {
        [] => command.render_help().to_string(),
        words => match of_command(&mut command, words) {
            Some(text) => text,
            None => of_word(&command, &words.join(" "))?,
        },
    })?;
    Ok(Exit::Ok)
}

/// Returns the help of a command, whose name may have several words.
fn of_command(command: &mut Command, words: &[String]) -> Option<String> {
    match words {
        [] => Some(command.render_long_help().to_string()),
        [first, rest @ ..] => of_command(command.find_subcommand_mut(first)?, rest),
    }
}

/// Returns the help of an option, an error or a function.
fn of_word(command: &Command, word: &str) -> Result<String, Box<Diagnostic>> {
    if let Some(text) = of_option(command, word) {
        return Ok(text);
    }
    if let Some(code) = explain::named(word) {
        return Ok(explain::text(code));
    }
    functions::pages(word).ok_or_else(|| unknown(command, word))
}

/// Returns the help of an option in each command that has it.
fn of_option(command: &Command, word: &str) -> Option<String> {
    let long = word.strip_prefix("--");
    let short = word.strip_prefix('-').and_then(|rest| rest.chars().next()).filter(|_| word.len() == 2);
    let is_it = |arg: &&Arg| match short {
        Some(short) => arg.get_short() == Some(short),
        None => long.is_some() && arg.get_long() == long,
    };
    let mut texts: Vec<(String, Vec<&str>)> = Vec::new();
    for one in command.get_subcommands() {
        let Some(arg) = one.get_arguments().find(is_it) else { continue };
        let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
        match texts.iter_mut().find(|(known, _)| *known == help) {
            Some((_, names)) => names.push(one.get_name()),
            None => texts.push((help, vec![one.get_name()])),
        }
    }
    let page = |(help, names): &(String, Vec<&str>)| format!("{word} ({}):\n\n{help}\n", names.join(", "));
    (!texts.is_empty()).then(|| texts.iter().map(page).collect::<Vec<_>>().join("\n"))
}

fn unknown(command: &Command, word: &str) -> Box<Diagnostic> {
    let error = Diagnostic::new(Code::Usage, format!("there is no command, option, error or function `{word}`"));
    let names = command.get_subcommands().map(Command::get_name).chain(Code::ALL.iter().map(|code| code.name()));
    error
        .with_help("`dropforge help` lists the commands, `dropforge functions` the functions")
        .with_suggestion(word, names)
}
