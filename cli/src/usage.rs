//! Usage errors of clap as diagnostics.

use dropforge::diagnostics::{Code, Diagnostic};

/// Converts an error of clap. Its arguments and values belong to the message, and its tips are the help. How the command
/// is used, which only people read, is left out.
pub(crate) fn diagnostic(error: &clap::Error) -> Box<Diagnostic> {
    let text = error.to_string();
    let mut blocks = text.trim_start_matches("error: ").split("\n\n").map(|block| block.lines().map(str::trim));
    let mut first = blocks.next().into_iter().flatten();
    let message = first.next().unwrap_or("").to_owned();
    let rest: Vec<&str> = first.collect();
    let message = match rest.is_empty() {
        true => message,
        false => format!("{message} {}", rest.join(", ")),
    };
    let tips: Vec<&str> = blocks.flatten().filter_map(|line| line.strip_prefix("tip: ")).collect();
    let diagnostic = Diagnostic::new(Code::Usage, message);
    if tips.is_empty() { diagnostic } else { diagnostic.with_help(tips.join("; ")) }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    fn refused(args: &[&str]) -> (String, Option<String>) {
        let fleet = Arg::new("fleet").long("fleet").required(true).value_parser(["file", "none"]);
        let command = Command::new("c").args([fleet, Arg::new("templates").required(true)]);
        let error = diagnostic(&command.try_get_matches_from([&["c"], args].concat()).unwrap_err());
        (error.message.clone(), error.help.clone())
    }

    #[test]
    fn arguments_values_and_tips_are_kept() {
        let message = "the following required arguments were not provided: --fleet <fleet>, <templates>";
        assert_eq!(refused(&[]), (message.to_owned(), None));
        let message = "invalid value 'fil' for '--fleet <fleet>' [possible values: file, none]";
        assert_eq!(
            refused(&["--fleet", "fil"]),
            (message.to_owned(), Some("a similar value exists: 'file'".to_owned()))
        );
        let help = "a similar argument exists: '--fleet'";
        assert_eq!(refused(&["--flet"]), ("unexpected argument '--flet' found".to_owned(), Some(help.to_owned())));
    }
}
