//! Messages on standard error: errors, warnings and notes, for people or programs.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{IsTerminal, Write};

use crate::error_formats::Printer;
use crate::limits::{LimitOption, name_options};
use crate::options::{ErrorFormat, Global};
use crate::unseen::SeenFiles;
use clap::ColorChoice;
use dropforge::bulk::{Failure, join_places};
use dropforge::diagnostics::{Code, Diagnostic, Severity};

/// Prints to standard error. Ignores write errors.
#[derive(Debug)]
pub(crate) struct Stderr {
    printer: Printer,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    /// The number of warnings printed.
    warnings: Cell<usize>,
    choice: ColorChoice,
    /// The options that raise limits.
    limits: &'static [LimitOption],
    /// The files whose text is shown, if not all are.
    seen: Option<SeenFiles>,
}

impl Stderr {
    /// Creates the printer for a command with these options that raise limits.
    pub(crate) fn new(global: &Global, limits: &'static [LimitOption]) -> Self {
        Self {
            printer: Printer::new(global.error_format, use_color(global.color, std::io::stderr().is_terminal())),
            quiet: global.quiet,
            verbose: global.verbose > 0,
            warnings: Cell::new(0),
            choice: global.color,
            limits,
            seen: None,
        }
    }

    /// Shows the text of these files only.
    pub(crate) fn show_only(&mut self, seen: Option<SeenFiles>) {
        self.seen = seen;
    }

    /// Returns the format of errors.
    pub(crate) fn format(&self) -> ErrorFormat {
        self.printer.format
    }

    /// Returns `true` if standard output gets colors.
    pub(crate) fn colors_stdout(&self) -> bool {
        use_color(self.choice, std::io::stdout().is_terminal())
    }

    pub(crate) fn diagnostic(&self, diagnostic: &Diagnostic) {
        self.count(diagnostic.severity);
        let mut diagnostic = diagnostic.clone();
        self.complete(&mut diagnostic);
        self.printer.diagnostic(&diagnostic);
    }

    pub(crate) fn failure(&self, failure: &Failure) {
        self.count(failure.diagnostic.severity);
        let mut failure = failure.clone();
        self.complete(&mut failure.diagnostic);
        self.printer.failure(&failure);
    }

    /// Names options that raise limits, and hides the text of files that is not shown.
    fn complete(&self, diagnostic: &mut Diagnostic) {
        name_options(self.limits, diagnostic);
        self.seen.iter().for_each(|seen| seen.hide_others(diagnostic));
    }

    /// Returns the failures to print. People see errors that differ only in their places as one.
    pub(crate) fn join_places<'f>(&self, failures: &'f [Failure]) -> Cow<'f, [Failure]> {
        if self.printer.format == ErrorFormat::Human { join_places(failures).into() } else { failures.into() }
    }

    /// Prints diagnostics.
    pub(crate) fn diagnostics(&self, diagnostics: impl IntoIterator<Item = Box<Diagnostic>>) {
        diagnostics.into_iter().for_each(|diagnostic| self.diagnostic(&diagnostic));
    }

    /// Prints the warnings of compiling about arguments that are ignored. The other ones are those of a check.
    pub(crate) fn ignored_arguments(&self, lints: impl IntoIterator<Item = Box<Diagnostic>>) {
        self.diagnostics(
            lints.into_iter().filter(|lint| matches!(lint.code, Code::BadArgument | Code::BadInheritance)),
        );
    }

    /// Prints a warning.
    pub(crate) fn warning(&self, message: &str) {
        self.count(Severity::Warning);
        self.printer.warning(message);
    }

    /// Counts warnings from the beginning.
    pub(crate) fn forget_warnings(&self) {
        self.warnings.set(0);
    }

    /// Returns the number of warnings printed.
    pub(crate) fn warnings(&self) -> usize {
        self.warnings.get()
    }

    fn count(&self, severity: Severity) {
        self.warnings.update(|count| count + usize::from(severity == Severity::Warning));
    }

    /// Prints a note, unless `--quiet` is given or programs read the errors.
    pub(crate) fn note(&self, message: &str) {
        if self.has_notes() {
            line(message);
        }
    }

    /// Returns `true` if notes are printed.
    pub(crate) fn has_notes(&self) -> bool {
        !self.quiet && self.format().has_notes()
    }

    /// Prints a note if `--verbose` is given.
    pub(crate) fn detail(&self, message: &str) {
        if self.verbose {
            self.note(message);
        }
    }
}

/// Decides on colors by the option, `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR`, and the terminal.
fn use_color(choice: ColorChoice, is_terminal: bool) -> bool {
    decide_color(choice, is_terminal, |name| std::env::var(name).ok())
}

fn decide_color(choice: ColorChoice, is_terminal: bool, var: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| var(name).is_some_and(|value| !value.is_empty());
    let is_zero = |name: &str| var(name).as_deref() == Some("0");
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR") => false,
        ColorChoice::Auto if set("CLICOLOR_FORCE") && !is_zero("CLICOLOR_FORCE") => true,
        ColorChoice::Auto => is_terminal && !is_zero("CLICOLOR") && var("TERM").as_deref() != Some("dumb"),
    }
}

/// Prints a line to standard error.
pub(crate) fn line(message: &str) {
    text(&format!("{message}\n"));
}

/// Prints text to standard error.
pub(crate) fn text(message: &str) {
    // There is nowhere to report a failure to.
    let _ = std::io::stderr().lock().write_all(message.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_follows_the_usual_variables() {
        let auto = |terminal, vars: &[(&str, &str)]| {
            decide_color(ColorChoice::Auto, terminal, |name| {
                vars.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
            })
        };
        assert!(auto(true, &[]) && !auto(false, &[]));
        assert!(!auto(true, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
        assert!(auto(true, &[("NO_COLOR", "")]));
        assert!(auto(false, &[("CLICOLOR_FORCE", "1")]) && !auto(false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!auto(true, &[("CLICOLOR", "0")]) && !auto(true, &[("TERM", "dumb")]));
        assert!(decide_color(ColorChoice::Always, false, |_| Some("1".into())));
        assert!(!decide_color(ColorChoice::Never, true, |_| None));
    }
}
