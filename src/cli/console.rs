//! What goes to standard error: errors, warnings, notes; for a person or as JSON lines.

use std::io::{IsTerminal, Write};

use serde_json::json;

use super::args::{ColorChoice, ErrorFormat, Global};
use crate::bulk::Failure;
use crate::diagnostics::Diagnostic;

/// Prints to standard error. That it cannot be written to changes nothing about the work.
#[derive(Debug)]
pub(super) struct Console {
    pub(super) format: ErrorFormat,
    pub(super) quiet: bool,
    pub(super) verbose: bool,
    color: bool,
}

impl Console {
    pub(super) fn new(global: &Global) -> Self {
        Self {
            format: global.error_format,
            quiet: global.quiet,
            verbose: global.verbose > 0,
            color: use_color(global.color, std::io::stderr().is_terminal()),
        }
    }

    pub(super) fn diagnostic(&self, diagnostic: &Diagnostic) {
        match self.format {
            ErrorFormat::Human => text(&diagnostic.render(self.color)),
            ErrorFormat::Json => line(&diagnostic.to_json().to_string()),
        }
    }

    pub(super) fn failure(&self, failure: &Failure) {
        match self.format {
            ErrorFormat::Human => text(&failure.render(self.color)),
            ErrorFormat::Json => line(&failure.to_json().to_string()),
        }
    }

    /// Something worth a look.
    pub(super) fn warning(&self, message: &str) {
        match self.format {
            ErrorFormat::Human => line(&format!("warning: {message}")),
            ErrorFormat::Json => line(&json!({"severity": "warning", "message": message}).to_string()),
        }
    }

    /// What happened, for people who have not asked for quiet.
    pub(super) fn note(&self, message: &str) {
        if !self.quiet && self.format == ErrorFormat::Human {
            line(message);
        }
    }

    /// What happens inside, for people who have asked.
    pub(super) fn detail(&self, message: &str) {
        if self.verbose {
            self.note(message);
        }
    }
}

/// Whether to colour: what the option says, else `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR`, else on a terminal.
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

/// One line to standard error.
pub(super) fn line(message: &str) {
    text(&format!("{message}\n"));
}

fn text(message: &str) {
    // Nobody can be told that telling does not work.
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
