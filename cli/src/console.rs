//! Messages on standard error: errors, warnings and notes, for people or as JSON lines.

use std::cell::Cell;
use std::io::{IsTerminal, Write};

use serde_json::json;

use crate::limits::{LimitOption, name_options};
use crate::options::{ColorChoice, ErrorFormat, Global};
use dropforge::bulk::Failure;
use dropforge::diagnostics::{Diagnostic, Severity};

/// Prints to standard error. Ignores write errors.
#[derive(Debug)]
pub(crate) struct Console {
    pub(crate) format: ErrorFormat,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    color: bool,
    /// The number of warnings printed.
    warnings: Cell<usize>,
    choice: ColorChoice,
    /// The options that raise limits.
    limits: &'static [LimitOption],
}

impl Console {
    /// Creates a console for a command with these options that raise limits.
    pub(crate) fn new(global: &Global, limits: &'static [LimitOption]) -> Self {
        Self {
            format: global.error_format,
            quiet: global.quiet,
            verbose: global.verbose > 0,
            color: use_color(global.color, std::io::stderr().is_terminal()),
            warnings: Cell::new(0),
            choice: global.color,
            limits,
        }
    }

    /// Returns `true` if standard output gets colors.
    pub(crate) fn colors_stdout(&self) -> bool {
        use_color(self.choice, std::io::stdout().is_terminal())
    }

    pub(crate) fn diagnostic(&self, diagnostic: &Diagnostic) {
        self.count(diagnostic.severity);
        let mut diagnostic = diagnostic.clone();
        name_options(self.limits, &mut diagnostic);
        match self.format {
            ErrorFormat::Human => text(&diagnostic.render(self.color)),
            ErrorFormat::Json => line(&diagnostic.to_json().to_string()),
        }
    }

    pub(crate) fn failure(&self, failure: &Failure) {
        self.count(failure.diagnostic.severity);
        let mut failure = failure.clone();
        name_options(self.limits, &mut failure.diagnostic);
        match self.format {
            ErrorFormat::Human => text(&failure.render(self.color)),
            ErrorFormat::Json => line(&failure.to_json().to_string()),
        }
    }

    /// Prints diagnostics.
    pub(crate) fn diagnostics(&self, diagnostics: impl IntoIterator<Item = Box<Diagnostic>>) {
        diagnostics.into_iter().for_each(|diagnostic| self.diagnostic(&diagnostic));
    }

    /// Prints a warning.
    pub(crate) fn warning(&self, message: &str) {
        self.count(Severity::Warning);
        match self.format {
            ErrorFormat::Human => line(&format!("warning: {message}")),
            ErrorFormat::Json => line(&json!({"severity": "warning", "message": message}).to_string()),
        }
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

    /// Prints a note, unless `--quiet` is given or errors are JSON.
    pub(crate) fn note(&self, message: &str) {
        if !self.quiet && self.format == ErrorFormat::Human {
            line(message);
        }
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

fn text(message: &str) {
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
