//! The command line.
//!
//! What a command makes goes to standard output, everything else to standard error. `-` is standard input or
//! output. Exit codes are in [`exit`]; errors are printed for a person or, a line each, as JSON.

mod args;
mod cached;
#[cfg(feature = "server")]
mod catalog;
mod check;
mod compile;
mod completions;
mod console;
mod disasm;
mod eval;
pub mod exit;
mod glob;
mod hcl;
mod inspect;
mod intent;
mod opened;
mod progress;
mod render;
#[cfg(feature = "server")]
mod serve;
mod signals;
mod stamp;
mod summary;
mod values;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use args::{Cli, Command};
use console::Console;
use exit::{Exit, Failed};

use crate::diagnostics::{Code, Diagnostic};

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    signals::survive_file_size_limit();
    let args: Vec<OsString> = std::env::args_os().collect();
    let json = wants_json(&args);
    let matches = match Cli::command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => return usage(&error, json).into(),
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, json).into(),
    };
    run(&cli, &matches).into()
}

fn run(cli: &Cli, matches: &ArgMatches) -> Exit {
    let console = Console::new(&cli.global);
    let of_command = matches.subcommand().map_or(matches, |(_, matches)| matches);
    let result = enter(cli).and_then(|()| match &cli.command {
        Command::Stamp(args) => stamp::run(args, of_command, &cli.global, &console),
        Command::Render(args) => render::run(args, of_command, &console),
        Command::Check(args) => check::run(args, &console),
        Command::Compile(args) => compile::run(args, &console),
        Command::Inspect(args) => inspect::run(args),
        Command::Disasm(args) => disasm::run(args),
        Command::Eval(args) => eval::run(args, of_command),
        Command::Intent(args) => intent::run(args, &console),
        Command::Hcl(args) => hcl::run(args, &console),
        #[cfg(feature = "server")]
        Command::Catalog(args) => catalog::run(args, of_command, &console),
        #[cfg(feature = "server")]
        Command::Serve(args) => serve::run(args, &console),
        Command::Completions { shell } => completions::run(*shell),
    });
    match result {
        Ok(exit) => exit,
        Err(failed) => {
            failed.diagnostics.iter().for_each(|diagnostic| console.diagnostic(diagnostic));
            failed.exit
        }
    }
}

fn enter(cli: &Cli) -> Result<(), Failed> {
    let Some(dir) = &cli.global.chdir else { return Ok(()) };
    std::env::set_current_dir(dir).map_err(|error| {
        let message = format!("cannot go to `{}`: {error}", dir.display());
        Failed::from(Diagnostic::new(Code::Usage, message))
    })
}

/// Prints what clap has to say: help and version to standard output, the rest to standard error.
fn usage(error: &clap::Error, json: bool) -> Exit {
    if !error.use_stderr() {
        // A closed pipe is no concern of someone who asked for help.
        let _ = error.print();
        return Exit::Ok;
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

/// Whether JSON errors are asked for, as far as a command line tells that may not be understood as a whole.
fn wants_json(args: &[OsString]) -> bool {
    let next_is_json = |pair: &[OsString]| matches!(pair, [flag, value] if flag == "--error-format" && value == "json");
    args.iter().any(|arg| arg == "--error-format=json") || args.windows(2).any(next_is_json)
}
