//! Usage errors: those of clap as diagnostics, and options that do not apply to a template set or a destination.

use std::path::Path;

use dropforge::diagnostics::{Code, Diagnostic, Result};

/// A kind of template set that some options do not apply to: the reason, and the help.
pub(crate) type Kind = (&'static str, Option<&'static str>);

pub(crate) const CHART: Kind = ("it is a Helm chart", Some("options of charts are under \"Helm charts\" in `--help`"));
pub(crate) const NO_CHART: Kind = ("it is not a Helm chart", Some("name a directory with a `Chart.yaml`, or a `.tgz`"));
pub(crate) const NO_ARTIFACT: Kind = ("it is not an artifact", None);
pub(crate) const ONE_TEMPLATE: Kind = ("it is one template", Some("name a folder"));

/// Options, with `true` for those that are given.
pub(crate) type Given<'o> = &'o [(&'static str, bool)];

/// Returns the first option that is given.
pub(crate) fn first(options: Given<'_>) -> Option<&'static str> {
    options.iter().find(|(_, given)| *given).map(|(option, _)| *option)
}

/// Checks that none of these options is given for the template set at `path`.
///
/// # Errors
/// `usage` with the first that is.
pub(crate) fn refuse(options: Given<'_>, path: &Path, kind: Kind) -> Result<()> {
    first(options).map_or(Ok(()), |option| Err(unfit(option, path, kind)))
}

/// Returns the error of an option that does not apply to the template set at `path`.
pub(crate) fn unfit(option: &str, path: &Path, (reason, help): Kind) -> Box<Diagnostic> {
    let error = unfit_to(option, &format!("`{}`: {reason}", path.display()));
    match help {
        Some(help) => error.with_help(help),
        None => error,
    }
}

/// Returns the error of an option that does not apply to something else.
pub(crate) fn unfit_to(option: &str, what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, format!("`{option}` does not apply to {what}"))
}

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
