//! `dropforge console`: expressions and templates, evaluated as they are typed.

mod commands;
mod evaluate;
mod lines;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use clap::Args;
use dropforge::bulk::values::Assignment;
use dropforge::bulk::{Fleet, dialect_of, discover};
use dropforge::diagnostics::{Code, Diagnostic, Result as Checked};
use dropforge::engine::Dialect;

use crate::chart::ChartArgs;
use crate::exit::{Exit, Failed};
use crate::fleet::ReadingArgs;
use crate::input::{InputFiles, is_dash};
use crate::options::{LanguageArgs, ValueArgs};
use crate::output::print;
use crate::project::key;
use crate::schema::SchemaArgs;
use crate::stderr::Stderr;
use crate::{chart, layers, usage};
use commands::paths;
use lines::Lines;

/// Evaluate expressions and templates as they are typed
///
///     dropforge console -f values.yaml
///     dropforge console chart/ --set image.tag=v2
///     dropforge console --lang hcl --fleet clusters.csv --cluster eu-1
///
/// A line is an expression, whose value is printed as JSON, or a template, which is
/// rendered. A template that writes nothing, such as `{% set x = 1 %}`, stays in
/// force for later lines. A backslash at the end of a line continues it. Lines that
/// begin with `:` are commands: `:help` lists them.
///
/// Templates include those of the folder TEMPLATES, and expressions of a chart see
/// its values and named templates. Files are read again for each line.
///
/// If standard input is not a terminal, there is no prompt, and the exit code is 1
/// if a line failed.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ConsoleArgs {
    /// Templates, folders of templates, or a Helm chart
    #[arg(value_name = "TEMPLATES")]
    pub(crate) templates: Vec<PathBuf>,
    /// Read clusters from a file, a directory, or a glob
    #[arg(long, value_name = "FLEET", add = key("").path())]
    fleet: Vec<String>,
    /// Use the values of this cluster of the fleet
    #[arg(long, value_name = "NAME", requires = "fleet")]
    cluster: Option<String>,
    /// Do not read or write the history
    #[arg(long)]
    no_history: bool,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    language: LanguageArgs,
    #[command(flatten)]
    chart: ChartArgs,
    #[command(flatten)]
    values: ValueArgs,
    #[command(flatten)]
    schema: SchemaArgs,
}

/// Runs the command.
pub(crate) fn run(args: ConsoleArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    let history = !args.no_history;
    let session = RefCell::new(Session::new(args, files, stderr)?);
    let words = || session.borrow_mut().words();
    let mut lines = Lines::open(history, &words)?;
    if lines.are_typed() {
        stderr.note(&greeting());
    }
    let mut failed = false;
    loop {
        let prompt = session.borrow().prompt();
        let Some(line) = lines.next(&prompt)? else { break };
        match session.borrow_mut().answer(&line) {
            Ok(Some(text)) => print(text)?,
            Ok(None) => break,
            Err(error) => {
                failed = true;
                error.print(stderr);
            }
        }
    }
    Ok(if failed && !lines.are_typed() { Exit::Error } else { Exit::Ok })
}

/// A console.
struct Session<'a> {
    args: ConsoleArgs,
    files: &'a mut InputFiles,
    stderr: &'a Stderr,
    fleet: Fleet,
    /// The values of environment variables. They stay the same, unlike those of files.
    environment: Vec<Assignment>,
    is_chart: bool,
    /// The folder that includes are relative to.
    root: PathBuf,
    language: Dialect,
    /// The templates whose effects stay in force.
    kept: String,
}

impl<'a> Session<'a> {
    /// Reads the fleet and finds the language.
    ///
    /// # Errors
    /// Errors of reading; `usage` for options that do not fit.
    fn new(mut args: ConsoleArgs, files: &'a mut InputFiles, stderr: &'a Stderr) -> Result<Self, Failed> {
        if let Some(option) = reads_stdin(&args) {
            let message = format!("`{option}` and the lines of the console both read standard input");
            return Err(Diagnostic::new(Code::Usage, message).with_help("name a file").into());
        }
        let is_chart = matches!(args.templates.as_slice(), [path] if chart::is_source(path));
        let path = args.templates.first().map_or(Path::new("."), PathBuf::as_path);
        if !is_chart {
            chart::refuse(&args.templates)?;
            args.chart.check_unused(path)?;
        } else if !args.fleet.is_empty() {
            return Err(usage::unfit("--fleet", path, usage::CHART).into());
        } else if args.language.lang.is_some_and(|lang| lang != Dialect::Helm) {
            return Err(usage::unfit("--lang", path, usage::CHART).into());
        }
        let fleet = args.reading.read(&args.fleet, files)?;
        let (root, language) = if is_chart { (PathBuf::new(), Dialect::Helm) } else { place(&args)? };
        let prefixes = if is_chart { Vec::new() } else { std::mem::take(&mut args.values.env_prefix) };
        let environment = layers::environment(&prefixes, stderr)?;
        let kept = String::new();
        let session = Self { args, files, stderr, fleet, environment, is_chart, root, language, kept };
        session.cluster()?;
        Ok(session)
    }

    /// Returns the chart whose values and named templates are in scope.
    fn chart(&self) -> Option<&Path> {
        self.args.templates.first().map(PathBuf::as_path).filter(|_| self.is_chart)
    }

    /// Returns the prompt.
    fn prompt(&self) -> String {
        match &self.args.cluster {
            Some(cluster) => format!("{} ({cluster})> ", title(self.language)),
            None => format!("{}> ", title(self.language)),
        }
    }

    /// Returns the words that complete what is typed. Values that cannot be read have none.
    fn words(&mut self) -> Vec<String> {
        let (prefix, values) = match self.chart_values() {
            Some(values) => (".Values.", values.ok()),
            None if self.language == Dialect::Helm => (".", self.inputs().ok().map(|inputs| inputs.merged)),
            None => ("", self.inputs().ok().map(|inputs| inputs.merged)),
        };
        let paths = values.map(|values| paths(&values)).unwrap_or_default();
        lines::words(self.language, paths.iter().map(|path| format!("{prefix}{path}")).collect())
    }
}

/// Returns the first line that a user sees.
fn greeting() -> String {
    format!("dropforge {}: `:help` lists commands, Ctrl-D ends", env!("CARGO_PKG_VERSION"))
}

/// Returns the option that reads standard input.
fn reads_stdin(args: &ConsoleArgs) -> Option<&'static str> {
    let values = args.values.values.iter().any(|path| is_dash(path)).then_some("-f -");
    let fleet = args.fleet.iter().any(|fleet| fleet == "-").then_some("--fleet -");
    values.or(fleet).or_else(|| args.templates.iter().any(|path| is_dash(path)).then_some("-"))
}

/// Returns the folder of the templates, and the language: that of `--lang`, or that of all templates, or Tera.
fn place(args: &ConsoleArgs) -> Checked<(PathBuf, Dialect)> {
    let (root, given) = (args.language.include_root.as_deref(), args.language.lang);
    if args.templates.is_empty() {
        return Ok((root.unwrap_or(Path::new(".")).to_owned(), given.unwrap_or(Dialect::Tera)));
    }
    let set = discover(&args.templates, root, &|name| dialect_of(name).is_some())?;
    let mut languages: Vec<_> = set.files.iter().filter_map(|file| dialect_of(&file.name)).collect();
    languages.dedup();
    match (given, languages.as_slice()) {
        (Some(language), _) => Ok((set.root, language)),
        (None, [language]) => Ok((set.root, *language)),
        (None, []) => Ok((set.root, Dialect::Tera)),
        (None, _) => {
            let error = Diagnostic::new(Code::Usage, "the templates are in several languages");
            Err(error.with_help("select one, for example with `--lang tera`"))
        }
    }
}

/// The name of the function that takes the value of an expression.
const TAKE: &str = "dropforge_console";

/// Returns the language's name in prompts and messages.
fn title(language: Dialect) -> &'static str {
    match language {
        Dialect::Tera => "Tera",
        Dialect::Helm => "Helm",
        Dialect::Hcl => "HCL",
        Dialect::Cel => "CEL",
        Dialect::CelYaml => "CEL in YAML",
        other => other.id(),
    }
}

/// Returns the text around an expression in a template that gives its value to [`TAKE`].
///
/// `None` for a language whose expressions are evaluated without a template.
fn taking(language: Dialect) -> Option<[String; 2]> {
    let [before, after] = match language {
        Dialect::Tera => [format!("{{% set {TAKE}_value = "), format!(" %}}{{{{ {TAKE}(value={TAKE}_value) }}}}")],
        Dialect::Helm => [format!("{{{{ ${TAKE} := "), format!(" }}}}{{{{ {TAKE} ${TAKE} }}}}")],
        _ => return None,
    };
    Some([before, after])
}

/// Returns the text around an expression in a template that writes its value.
fn writing(language: Dialect) -> [&'static str; 2] {
    match language {
        Dialect::Tera | Dialect::Helm => ["{{ ", " }}"],
        Dialect::Cel => ["", ""],
        Dialect::CelYaml => ["value: ${", "}"],
        _ => ["${", "}"],
    }
}

/// Returns the text around an expression in a template that has a syntax error if there is anything else.
fn alone(language: Dialect) -> [&'static str; 2] {
    match language {
        Dialect::Tera => ["{% set x = ", " %}"],
        Dialect::Helm => ["{{ (", ") }}"],
        _ => writing(language),
    }
}

/// Returns `true` for a line that contains tags of the language. It is a template, unless it is an expression with a string
/// that has them.
fn has_tags(language: Dialect, line: &str) -> bool {
    match language {
        Dialect::Tera => ["{{", "{%", "{#"].iter().any(|tag| line.contains(tag)),
        Dialect::Helm => line.contains("{{"),
        Dialect::Tower => line.contains("${"),
        _ => false,
    }
}

/// Returns `true` for a line that declares or assigns a variable without tags: `$x := 1`.
fn is_declaration(language: Dialect, line: &str) -> bool {
    let Some(name) = line.strip_prefix('$').filter(|_| language == Dialect::Helm) else { return false };
    let rest = name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    rest.len() < name.len() && [":=", "="].iter().any(|sign| rest.trim_start().starts_with(sign))
}

/// Returns the text between lines that stay in force: a comment keeps them apart without writing a line break.
fn between(language: Dialect) -> &'static str {
    if language == Dialect::Helm { "{{/*\n*/}}" } else { "{#\n#}" }
}

/// Adds a line that stays in force for later ones.
fn keep(language: Dialect, kept: &mut String, line: &str) {
    let end = between(language);
    // Tera takes imports only at the beginning.
    let is_import = line.trim_start_matches(['{', '%', '-', ' ']).starts_with("import ");
    kept.insert_str(if is_import { 0 } else { kept.len() }, &format!("{line}{end}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_of_go_templates_need_no_tags() {
        let of = |line| is_declaration(Dialect::Helm, line);
        assert!(of("$x := 1") && of("$x = 1"));
        assert!(!of("$x.y") && !of("$") && !of("$ := 1") && !is_declaration(Dialect::Tera, "$x := 1"));
    }

    #[test]
    fn imports_come_first() {
        let mut kept = String::new();
        keep(Dialect::Tera, &mut kept, "{% set a = 1 %}");
        keep(Dialect::Tera, &mut kept, "{%- import \"m.tera\" as m %}");
        assert!(kept.starts_with("{%- import") && kept.contains("%}{#\n#}{% set"), "{kept}");
    }
}
