//! The command line: its commands, and how they run.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use dropforge::diagnostics::{Code, Diagnostic};

use crate::console::{self, Console};
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::limits::LimitOption;
#[cfg(not(feature = "catalog"))]
use crate::no_catalog::{self as catalog, self as serve};
use crate::options::Global;
use crate::output::stdout_error;
use crate::signals;
#[cfg(feature = "catalog")]
use crate::{catalog, serve};
use crate::{
    check, compile, completions, disasm, eval, functions, hcl, inspect, intent, render, stamp, terraform, values,
};

/// Compile templates once and stamp them for thousands of clusters.
#[derive(Debug, Parser)]
#[command(name = "dropforge", version, propagate_version = true, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// The commands. Their help texts are the doc comments of their arguments.
#[derive(Debug, Subcommand)]
enum Command {
    Stamp(stamp::StampArgs),
    Render(render::RenderArgs),
    Values(values::ValuesArgs),
    Check(check::CheckArgs),
    Compile(compile::CompileArgs),
    Inspect(inspect::InspectArgs),
    Disasm(disasm::DisasmArgs),
    Eval(eval::EvalArgs),
    Functions(functions::FunctionsArgs),
    Intent(intent::IntentArgs),
    Hcl(hcl::HclArgs),
    Catalog(catalog::CatalogArgs),
    Serve(serve::ServeArgs),
    Completions(completions::CompletionArgs),
}

impl Command {
    /// Returns the options that raise limits.
    fn limits(&self) -> &'static [LimitOption] {
        match self {
            Self::Stamp(_) | Self::Render(_) | Self::Check(_) | Self::Compile(_) => {
                &[("source_bytes", "--max-source SIZE")]
            }
            Self::Eval(_) => &[("cost", "--cost-limit N")],
            _ => &[],
        }
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    signals::survive_file_size_limit();
    let args = eval::with_expressions(std::env::args_os());
    let json = wants_json(&args);
    let hint = terraform::one_dash(&args);
    match (Cli::try_parse_from(args), hint) {
        (Ok(cli), _) => run(&cli).into(),
        (Err(error), Some(hint)) if error.use_stderr() => {
            print(&hint, json);
            Exit::Usage.into()
        }
        (Err(error), _) => usage(&error, json).into(),
    }
}

fn run(cli: &Cli) -> Exit {
    let console = Console::new(&cli.global, cli.command.limits());
    let files = &mut InputFiles::new(cli.global.max_input);
    let result = change_directory(cli).and_then(|()| match &cli.command {
        Command::Stamp(args) => stamp::run(args, &cli.global, files, &console),
        Command::Render(args) => render::run(args, files, &console),
        Command::Values(args) => values::run(args, files, &console),
        Command::Check(args) => check::run(args, files, &console),
        Command::Compile(args) => compile::run(args, &console),
        Command::Inspect(args) => inspect::run(args, files),
        Command::Disasm(args) => disasm::run(args, files),
        Command::Eval(args) => eval::run(args, files, &console),
        Command::Functions(args) => functions::run(args),
        Command::Intent(args) => intent::run(args, files, &console),
        Command::Hcl(args) => hcl::run(args, files, &console),
        Command::Catalog(args) => catalog::run(args, files, &console),
        Command::Serve(args) => serve::run(args, files, &console),
        Command::Completions(args) => completions::run(args, &mut Cli::command()),
    });
    match result {
        Ok(exit) => exit,
        Err(failed) => {
            failed.failures.iter().for_each(|failure| console.failure(failure));
            console.diagnostics(failed.diagnostics);
            failed.exit
        }
    }
}

fn change_directory(cli: &Cli) -> Result<(), Failed> {
    let Some(dir) = &cli.global.chdir else { return Ok(()) };
    std::env::set_current_dir(dir).map_err(|error| {
        let message = format!("cannot change to directory `{}`: {error}", dir.display());
        Failed::from(Diagnostic::new(Code::Usage, message))
    })
}

/// Prints a message of clap: help and version to standard output, errors to standard error.
fn usage(error: &clap::Error, json: bool) -> Exit {
    if !error.use_stderr() {
        return match error.print() {
            Err(failed) if failed.kind() != io::ErrorKind::BrokenPipe => {
                print(&stdout_error(&failed), json);
                Exit::Error
            }
            // A closed pipe is not an error for help.
            _ => Exit::Ok,
        };
    }
    if json {
        let text = error.to_string();
        let message = text.trim_start_matches("error: ").lines().next().unwrap_or("").to_owned();
        console::line(&Diagnostic::new(Code::Usage, message).to_json().to_string());
    } else {
        let _ = error.print();
    }
    Exit::Usage
}

/// Prints an error before the options for it are known.
fn print(error: &Diagnostic, json: bool) {
    console::line(&if json { error.to_json().to_string() } else { error.render(false) });
}

/// Returns `true` if the arguments request JSON errors, even if they cannot be parsed.
fn wants_json(args: &[OsString]) -> bool {
    let next_is_json = |pair: &[OsString]| matches!(pair, [flag, value] if flag == "--error-format" && value == "json");
    args.iter().any(|arg| arg == "--error-format=json") || args.windows(2).any(next_is_json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
