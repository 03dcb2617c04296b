//! Messages on standard error: errors, warnings and notes, for people or other programs. Help about limits names
//! options, and errors do not show the text of files outside a project: anyone may have written the project file that names them.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::input::repository;
use crate::options::{ErrorFormat, Global};
use clap::ColorChoice;
use dropforge::bulk::{Failure, join_places};
use dropforge::diagnostics::{Code, Diagnostic, Label, Severity, parts};
use dropforge::text::Source;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

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

/// The bytes of a path that a URI encodes.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// Prints errors to standard error, in one format.
#[derive(Debug)]
pub(crate) struct Printer {
    pub(crate) format: ErrorFormat,
    pub(crate) color: bool,
    /// The results of a SARIF log, which is printed at the end.
    results: RefCell<Vec<Value>>,
}

impl Printer {
    pub(crate) fn new(format: ErrorFormat, color: bool) -> Self {
        Self { format, color, results: RefCell::default() }
    }

    /// Prints a diagnostic.
    pub(crate) fn diagnostic(&self, diagnostic: &Diagnostic) {
        match self.format {
            ErrorFormat::Human => text(&diagnostic.render(self.color)),
            ErrorFormat::Json => line(&diagnostic.to_json().to_string()),
            ErrorFormat::Short => each(diagnostic, &mut |one| line(&short(one))),
            ErrorFormat::Github => each(diagnostic, &mut |one| line(&annotation(one))),
            ErrorFormat::Sarif => each(diagnostic, &mut |one| self.results.borrow_mut().push(result(one))),
        }
    }

    /// Prints the error of several clusters.
    pub(crate) fn failure(&self, failure: &Failure) {
        match self.format {
            ErrorFormat::Json => line(&failure.to_json().to_string()),
            _ => self.diagnostic(&failure.folded()),
        }
    }

    /// Prints a warning without a code.
    pub(crate) fn warning(&self, message: &str) {
        match self.format {
            ErrorFormat::Human | ErrorFormat::Short => line(&format!("warning: {message}")),
            ErrorFormat::Json => {
                line(&json!({"severity": "warning", "message": message}).to_string());
            }
            ErrorFormat::Github => line(&format!("::warning::{}", escaped(message))),
            ErrorFormat::Sarif => {
                self.results.borrow_mut().push(json!({"level": "warning", "message": {"text": message}}));
            }
        }
    }
}

impl Drop for Printer {
    /// Prints a SARIF log.
    fn drop(&mut self) {
        if self.format == ErrorFormat::Sarif {
            line(&log(std::mem::take(&mut self.results.borrow_mut())).to_string());
        }
    }
}

/// Calls `print` with a diagnostic and the further ones in it.
fn each(diagnostic: &Diagnostic, print: &mut dyn FnMut(&Diagnostic)) {
    print(diagnostic);
    diagnostic.also.iter().for_each(|other| each(other, print));
}

/// Returns one line: `file:line:column: error[E0201]: message; help`.
fn short(diagnostic: &Diagnostic) -> String {
    diagnostic.written(parts::SHORT, "").chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The first and the last place of a label, as lines and columns in characters, both counted from 1. The last is after the
/// label.
fn region(label: &Label) -> [(usize, usize); 2] {
    let text = label.source.text();
    let place = |at: u32| {
        let before = text.get(..at as usize).unwrap_or(text);
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        (before.matches('\n').count() + 1, before.get(line..).unwrap_or("").chars().count() + 1)
    };
    [place(label.span.start), place(label.span.end.max(label.span.start))]
}

/// Returns a workflow command that annotates a line of a file.
fn annotation(diagnostic: &Diagnostic) -> String {
    let property = |text: &str| escaped(text).replace(':', "%3A").replace(',', "%2C");
    let mut properties = Vec::new();
    if let Some(label) = diagnostic.primary() {
        let [(line, column), (end, end_column)] = region(label);
        properties.push(format!("file={},line={line},endLine={end}", property(label.source.path())));
        // Columns count only within a line.
        properties.extend((line == end).then(|| format!("col={column},endColumn={}", end_column.max(column))));
    }
    properties.push(format!("title={}", property(&format!("{} {}", diagnostic.code.id(), diagnostic.code.title()))));
    format!(
        "::{} {}::{}",
        diagnostic.severity.name(),
        properties.join(","),
        escaped(&diagnostic.written(parts::SARIF, "\n"))
    )
}

/// Escapes the text of a workflow command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Returns a result of a SARIF log.
fn result(diagnostic: &Diagnostic) -> Value {
    let location = |label: &Label| {
        let [(line, column), (end, end_column)] = region(label);
        let path = label.source.path().replace('\\', "/");
        json!({
            "artifactLocation": {"uri": utf8_percent_encode(&path, ENCODED).to_string()},
            "region": {"startLine": line, "startColumn": column, "endLine": end, "endColumn": end_column},
        })
    };
    let related = |label: &Label| json!({"physicalLocation": location(label), "message": {"text": label.text}});
    let mut result = json!({
        "ruleId": diagnostic.code.id(),
        "level": diagnostic.severity.name(),
        "message": {"text": diagnostic.written(parts::SARIF, "\n")},
    });
    if let Some((first, others)) = diagnostic.labels.split_first() {
        result["locations"] = json!([{"physicalLocation": location(first)}]);
        result["relatedLocations"] = others.iter().map(related).collect();
    }
    result
}

/// Returns a SARIF 2.1.0 log of results, with the rules that they name.
fn log(results: Vec<Value>) -> Value {
    let named = |code: &Code| results.iter().any(|result| result["ruleId"] == code.id());
    let rule = |code: Code| json!({"id": code.id(), "name": code.name(), "shortDescription": {"text": code.title()}});
    let rules: Vec<Value> = Code::ALL.iter().copied().filter(named).map(rule).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "dropforge", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A field of `Limits` and the option that sets it.
pub(crate) type LimitOption = (&'static str, &'static str);

/// The beginnings of advice about fields of the library.
const FIELDS: [&str; 2] = ["raise `Limits::", "raise `Bounds::"];

/// Names the options in the help of an error and its further errors.
fn name_options(options: &[LimitOption], diagnostic: &mut Diagnostic) {
    diagnostic.help = diagnostic.help.take().and_then(|help| for_command(options, help));
    diagnostic.also.iter_mut().for_each(|other| name_options(options, other));
}

/// Returns the help for a command with these options. A field that none of them sets is left out.
fn for_command(options: &[LimitOption], mut help: String) -> Option<String> {
    for (field, option) in options {
        help = help.replace(&format!("`Limits::{field}`"), &format!("the limit with `{option}`"));
    }
    let Some(at) = FIELDS.iter().find_map(|field| help.find(field)) else { return Some(help) };
    let before = help.get(..at).unwrap_or("");
    let before = before.trim_end_matches(", or ");
    (!before.is_empty()).then(|| before.to_owned())
}

/// The files whose text is shown.
#[derive(Debug)]
pub(crate) struct SeenFiles {
    /// The repository of the project, or its folder.
    root: PathBuf,
    /// The words of the user's command line, up to the first wildcard.
    words: Vec<String>,
}

impl SeenFiles {
    /// Returns the files around a project file, and those that the user has named.
    pub(crate) fn of(project: &Path, args: &[OsString]) -> Option<Self> {
        let file = project.canonicalize().ok()?;
        let root = repository(&file).or_else(|| file.parent().map(Path::to_owned))?;
        let words = args.iter().skip(1).filter_map(|arg| arg.to_str()).map(named).filter(|word| !word.is_empty());
        Some(Self { root, words: words.map(str::to_owned).collect() })
    }

    /// Takes the excerpts of other files out of a diagnostic.
    pub(crate) fn hide_others(&self, diagnostic: &mut Diagnostic) {
        let mut names = Vec::new();
        for label in diagnostic.labels.iter_mut().filter(|label| !self.has(label.source.path())) {
            names.push(label.source.path().to_owned());
            label.source = Source::unseen(&label.source);
        }
        names.dedup();
        let note = |name: String| format!("`{name}` is outside the project, so its text is not shown");
        diagnostic.notes.extend(names.into_iter().map(note));
        diagnostic.also.iter_mut().for_each(|other| self.hide_others(other));
    }

    /// Returns `true` for a file of the project or of the user, and for texts that are in no file.
    fn has(&self, path: &str) -> bool {
        self.words.iter().any(|word| path.starts_with(word))
            || Path::new(path).canonicalize().map_or(true, |file| file.starts_with(&self.root))
    }
}

/// Returns the part of a word of the command line that is the start of a path.
fn named(word: &str) -> &str {
    let value = word.strip_prefix('-').map_or(word, |option| option.split_once('=').map_or("", |(_, value)| value));
    let end = value.find(['*', '?', '[', '{']).unwrap_or(value.len());
    value.get(..end).unwrap_or("").trim_start_matches("./").trim_end_matches('.')
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

#[cfg(test)]
mod error_formats_tests {
    use dropforge::text::{Source, Span};

    use super::*;

    fn error() -> Box<Diagnostic> {
        let source = Source::new("t/a b.tera", "é\nname: ü{{ nmae }}\n");
        let base = Source::new("t/base.tera", "{% include 'a' %}");
        Diagnostic::new(Code::UndefinedVariable, "variable `nmae`\nis 100% unknown")
            .at(&source, Span::new(14, 18), "here")
            .at(&base, Span::new(0, 17), "included from here")
            .with_available(["name", "port"])
            .with_help("did you mean `name`?")
            .for_cluster("eu-1")
    }

    #[test]
    fn one_line_has_everything_to_act_on() {
        assert_eq!(
            short(&error()),
            "t/a b.tera:2:11: error[E0201]: variable `nmae` is 100% unknown; did you mean `name`? [cluster eu-1]"
        );
        assert_eq!(short(&Diagnostic::warning(Code::Usage, "odd")), "warning[E0921]: odd");
    }

    #[test]
    fn annotations_are_escaped() {
        assert_eq!(
            annotation(&error()),
            "::error file=t/a b.tera,line=2,endLine=2,col=11,endColumn=15,title=E0201 a variable is not defined\
             ::variable `nmae`%0Ais 100%25 unknown%0Aavailable: name, port%0Acluster: eu-1%0Ahelp: did you mean `name`?"
        );
    }

    #[test]
    fn a_log_has_rules_and_places() {
        let log = log(vec![result(&error()), json!({"level": "warning", "message": {"text": "odd"}})]);
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"].as_array().map(Vec::len), Some(1));
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "E0201");
        let place = &run["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "t/a%20b.tera");
        assert_eq!(place["region"], json!({"startLine": 2, "startColumn": 11, "endLine": 2, "endColumn": 15}));
        assert_eq!(run["results"][0]["relatedLocations"][0]["message"]["text"], "included from here");
    }
}

#[cfg(test)]
mod limits_tests {
    use super::*;

    #[test]
    fn only_options_are_named() {
        let options = [("source_bytes", "--max-source SIZE")];
        for (help, named) in [
            (
                "raise `Limits::source_bytes` if the template is trusted",
                Some("raise the limit with `--max-source SIZE` if the template is trusted"),
            ),
            ("raise `Limits::fuel` if the template is trusted", None),
            ("divide it, or raise `Limits::program_bytes`", Some("divide it")),
            ("declare fewer, or raise `Bounds::charts`", Some("declare fewer")),
            ("did you mean `fuel`?", Some("did you mean `fuel`?")),
        ] {
            assert_eq!(for_command(&options, help.to_owned()).as_deref(), named);
        }
    }
}
