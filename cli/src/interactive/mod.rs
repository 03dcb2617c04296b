//! `dropforge console`: expressions and templates, evaluated as they are typed.

mod commands;
mod evaluate;
mod language;
mod lines;
mod session;
mod values;

use std::cell::RefCell;
use std::path::PathBuf;

use clap::Args;

use crate::chart::ChartArgs;
use crate::exit::{Exit, Failed};
use crate::fleet::ReadingArgs;
use crate::input::InputFiles;
use crate::options::{LanguageArgs, ValueArgs};
use crate::output::print;
use crate::project::key;
use crate::schema::SchemaArgs;
use crate::stderr::Stderr;
use lines::Lines;
use session::{Session, greeting};

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
