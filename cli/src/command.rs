//! The command line: its commands, and how they run.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::options::{self, ErrorFormat, Global};
use crate::output::{print, stdout_error};
use crate::project::Project;
use crate::stderr::{LimitOption, Printer, SeenFiles, Stderr};
use crate::{
    catalog, check, compile, deps, eval, exit, explain, functions, hcl, help, init, inspect, intent, interactive, krm,
    lsp, other_tools, project, push, render, run_options, serve, stamp, template_tests, usage, values, version, watch,
    why,
};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum as _};
use clap_complete::Shell;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::files;

/// Compile templates once and stamp them for thousands of clusters
///
///     dropforge init shop && cd shop && dropforge stamp
///     dropforge render app.yaml.tera --set name=api
///     dropforge help stamp
#[derive(Debug, Parser)]
#[command(name = "dropforge", version, propagate_version = true, disable_help_subcommand = true, verbatim_doc_comment)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// The commands. Most have their help texts as the doc comments of their arguments.
#[derive(Debug, Subcommand)]
enum Command {
    Stamp(stamp::StampArgs),
    Render(render::RenderArgs),
    Values(values::ValuesArgs),
    Why(why::WhyArgs),
    Trace(why::TraceArgs),
    Check(check::CheckArgs),
    Test(template_tests::TestArgs),
    Compile(compile::CompileArgs),
    Inspect(inspect::InspectArgs),
    Disasm(inspect::DisasmArgs),
    Eval(eval::EvalArgs),
    Console(interactive::ConsoleArgs),
    Functions(functions::FunctionsArgs),
    Explain(explain::ExplainArgs),
    Help(help::HelpArgs),
    /// Validate and resolve intent files
    ///
    ///     dropforge intent validate deploy.yaml
    ///     dropforge intent resolve deploy.yaml --inputs inputs.yaml
    ///
    /// An intent of tower-fleet is a YAML file whose fields contain `${…}`: references
    /// to parameters, facts, and outputs of earlier steps.
    #[command(subcommand, verbatim_doc_comment)]
    Intent(intent::IntentCommand),
    /// Decode and format HCL files
    ///
    ///     dropforge hcl decode --spec app.hcldec app.hcl
    ///     dropforge hcl fmt -r -w modules/
    #[command(subcommand, verbatim_doc_comment)]
    Hcl(hcl::HclCommand),
    Catalog(catalog::CatalogArgs),
    Serve(serve::ServeArgs),
    Lsp(lsp::LspArgs),
    Deps(deps::DepsArgs),
    Push(push::PushArgs),
    Pull(push::PullArgs),
    Krm(krm::KrmArgs),
    Init(init::InitArgs),
    /// Print completions for a shell
    ///
    ///     dropforge completions bash > ~/.local/share/bash-completion/completions/dropforge
    #[command(verbatim_doc_comment)]
    Completions {
        /// Shell to complete for
        #[arg(value_enum)]
        shell: Shell,
    },
}

impl Command {
    /// Replaces URLs of templates by local copies.
    ///
    /// # Errors
    /// Errors of fetching them; `usage` for `--watch`.
    fn fetch(&mut self, files: &mut InputFiles) -> Result<(), Failed> {
        let paths = match self {
            Self::Stamp(args) => args.fetched_templates(files)?,
            Self::Values(args) => args.templates.as_mut_slice(),
            Self::Render(args) => args.files.as_mut_slice(),
            Self::Trace(args) => args.render.files.as_mut_slice(),
            Self::Check(args) => args.templates.as_mut_slice(),
            Self::Compile(args) => args.templates.as_mut_slice(),
            Self::Disasm(args) => args.templates.as_mut_slice(),
            Self::Inspect(args) => std::slice::from_mut(&mut args.file),
            _ => &mut [],
        };
        for path in paths {
            *path = files.local(path)?;
        }
        Ok(())
    }

    /// Notes that a project has other templates than those given, if it has.
    fn note_project(&mut self, project: &Project) {
        match self {
            Self::Stamp(args) => {
                args.warnings.is_part = args.renders_a_part() || project.has_others(&args.templates);
            }
            Self::Render(args) if args.cluster.cluster.is_some() => {
                let is_part = !args.cluster.releases.only.is_empty() || project.has_others(&args.files);
                args.warnings.is_part = is_part;
            }
            Self::Check(args) => args.is_part = project.has_others(&args.templates),
            _ => {}
        }
    }

    /// Returns the options that raise limits.
    fn limits(&self) -> &'static [LimitOption] {
        match self {
            Self::Stamp(_)
            | Self::Render(_)
            | Self::Trace(_)
            | Self::Check(_)
            | Self::Test(_)
            | Self::Compile(_)
            | Self::Disasm(_)
            | Self::Krm(_) => &[("source_bytes", "--max-source SIZE")],
            Self::Eval(_) => &[("cost", "--cost-limit N")],
            _ => &[],
        }
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    run_with(std::env::args_os()).into()
}

/// Runs a command line in this process and returns its exit code. The first argument is the name of the program. Installs
/// handlers of signals, and a second interrupt ends the process.
///
/// ```no_run
/// let args = ["dropforge", "stamp", "templates", "--fleet", "fleet.ndjson", "-o", "out"];
/// let code: u8 = dropforge_cli::run_with(args.map(Into::into));
/// ```
pub fn run_with(args: impl IntoIterator<Item = OsString>) -> u8 {
    exit::survive_file_size_limit();
    let args = help::with_option(options::with_check_modes(eval::with_expressions(args)));
    let args = help::with_stamp(args, options_of_commands);
    let format = wanted_format(&args);
    if version::is_asked(&args) {
        let printed = print(version::details());
        return printed.map_or_else(|error| refuse(vec![error], format), |()| Exit::Ok).code();
    }
    let hint = other_tools::one_dash(&args);
    let files = &mut InputFiles::new(u64::MAX);
    let exit = match (parse(args.clone(), false, files), hint) {
        (Ok(parsed), None) => run(parsed, &args, files),
        // Short options in one word.
        (Ok(_), Some(hint)) => refuse(vec![hint], format),
        (Err(Refused::Diagnostics(errors)), _) => refuse(errors, format),
        (Err(Refused::Usage(error)), Some(hint)) if error.use_stderr() => refuse(vec![hint], format),
        (Err(Refused::Usage(error)), _) => refuse_usage(&error, format),
    };
    exit.code()
}

/// A command line, the project whose options it has, and its arguments with those of the project.
type Parsed = (Cli, Option<Project>, Vec<OsString>);

/// The reason why arguments cannot be parsed.
enum Refused {
    /// Errors in the project file.
    Diagnostics(Vec<Box<Diagnostic>>),
    /// A message of clap, which may be the help.
    Usage(Box<clap::Error>),
}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Self {
        let diagnostics = match refused {
            Refused::Diagnostics(diagnostics) => diagnostics,
            Refused::Usage(error) => vec![usage::diagnostic(&error)],
        };
        Self::usage(diagnostics)
    }
}

/// Parses the arguments, with those of the project file. `has_moved` says that the process is in the directory of `--chdir`.
fn parse(mut args: Vec<OsString>, has_moved: bool, files: &mut InputFiles) -> Result<Parsed, Refused> {
    let command = if help::is_asked(&args) { definition() } else { options_of_commands() };
    #[cfg(feature = "catalog")]
    serve::config::expand(&command, &mut args, files).map_err(|failed| Refused::Diagnostics(failed.diagnostics))?;
    let project = project::expand(&command, &mut args, has_moved, files);
    let project = project.map_err(|failed| Refused::Diagnostics(failed.diagnostics))?;
    let matches = command.clone().try_get_matches_from(&args);
    files.allow_sops(matches.as_ref().is_ok_and(options::allows_sops));
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => Ok((cli, project, args)),
        Err(mut error) => {
            let dir = project::chdir(&command, &args).filter(|_| !has_moved && error.use_stderr());
            if let Some(Err(error)) = dir.map(|dir| change_directory(&dir)) {
                return Err(Refused::Diagnostics(vec![error]));
            }
            let refused = project.as_ref().map(|project| project.refused(&options_of_commands())).unwrap_or_default();
            project::hint(&mut error, &command, project.as_ref(), &args);
            other_tools::hint(&mut error);
            Err(if refused.is_empty() { Refused::Usage(Box::new(error)) } else { Refused::Diagnostics(refused) })
        }
    }
}

/// Parses a command line of `check`, with the options of the project that it names.
///
/// # Errors
/// Errors of the project file; `usage`.
#[cfg(feature = "lsp")]
pub(crate) fn check_args(args: Vec<OsString>) -> Result<(check::CheckArgs, Stderr), Failed> {
    match parse(args, true, &mut InputFiles::new(u64::MAX).only_regular())?.0 {
        Cli { global, command: Command::Check(args) } => Ok((args, Stderr::new(&global, &[]))),
        _ => Err(Diagnostic::new(Code::Usage, "the command is no longer `check`").into()),
    }
}

/// Returns the definition of the command line with all of its help texts, for pages of the manual and completions.
pub fn definition() -> clap::Command {
    help::with_exit_codes(help::with_groups(help::with_diff(options_of_commands())))
}

/// Returns the definition of the command line. Its long help texts have no exit codes, which most runs do not print.
pub(crate) fn options_of_commands() -> clap::Command {
    help::with_width(project::augment(Cli::command()))
}

fn run((mut cli, project, expanded): Parsed, args: &[OsString], files: &mut InputFiles) -> Exit {
    let mut stderr = Stderr::new(&cli.global, cli.command.limits());
    #[cfg(feature = "remote")]
    if stderr.has_notes() {
        dropforge::remote::on_wait(crate::stderr::line);
    }
    if let Some(project) = &project {
        stderr.detail(&format!("project: {}", project.name()));
    }
    files.set_max_bytes(cli.global.max_input);
    files.follow_links(&cli.global.follow_links);
    let again = || {
        let (mut cli, project, args) = parse(args.to_vec(), true, &mut InputFiles::new(u64::MAX))?;
        project.iter().for_each(|project| cli.command.note_project(project));
        let run = run_options::of(&options_of_commands(), &args, project.as_ref());
        match cli.command {
            Command::Stamp(args) => Ok((args, run)),
            _ => Err(Diagnostic::new(Code::Usage, "the command is no longer `stamp`").into()),
        }
    };
    let subject = |args: Vec<OsString>, files: &mut InputFiles| {
        let mut command = parse(args, true, files)?.0.command;
        command.fetch(files)?;
        match command {
            Command::Stamp(args) => Ok(why::Subject::Stamp(Box::new(args))),
            Command::Render(args) => Ok(why::Subject::Render(Box::new(args))),
            _ => Err(Diagnostic::new(Code::Usage, "only `stamp` and `render` write outputs").into()),
        }
    };
    if matches!(&cli.command, Command::Stamp(args) if args.has_shards()) {
        cli.global.deciding = run_options::deciding(&options_of_commands(), &expanded);
    }
    let moved = cli.global.chdir.as_deref().map_or(Ok(()), change_directory).map_err(Failed::from);
    stderr.show_only(project.as_ref().and_then(|project| SeenFiles::of(Path::new(project.name()), args)));
    cli.global.run = run_options::of(&options_of_commands(), &expanded, project.as_ref());
    let fetched = moved.and_then(|()| cli.command.fetch(files));
    project.iter().for_each(|project| cli.command.note_project(project));
    let result = fetched.and_then(|()| match cli.command {
        Command::Stamp(args) if args.watch.watch => {
            let project = project.as_ref().map(|project| Path::new(project.name()));
            watch::run(args, &mut cli.global, &stderr, project, &again)
        }
        Command::Stamp(args) => stamp::run(&args, &cli.global, files, &stderr)
            .map_err(|failed| check::hinted(failed, &args.language, &args.templates)),
        Command::Render(args) => render::run(&args, &cli.global, files, &stderr)
            .map_err(|failed| check::hinted(failed, &args.language, &args.files)),
        Command::Values(args) => values::run(&args, files, &stderr),
        Command::Trace(args) => why::trace(args, files, &stderr),
        Command::Why(args) => why::run(&args, files, &stderr, &subject),
        Command::Check(mut args) => {
            check::in_project(&mut args, project.as_ref());
            check::run(&args, &cli.global, files, &stderr)
        }
        Command::Test(args) => template_tests::run(&args, files, &stderr),
        Command::Compile(args) => compile::run(&args, files, &stderr),
        Command::Inspect(args) => inspect::run(&args, files),
        Command::Disasm(args) => inspect::disasm(&args, files),
        Command::Eval(args) => eval::run(&args, files, &stderr),
        Command::Console(args) => interactive::run(args, files, &stderr),
        Command::Functions(args) => functions::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Help(args) => help::run(&args, definition()),
        Command::Intent(args) => intent::run(&args, files, &stderr),
        Command::Hcl(args) => hcl::run(&args, files, &stderr),
        Command::Catalog(args) => catalog::run(&args, files, &stderr),
        Command::Serve(args) => serve::run(&args, files, &stderr),
        Command::Lsp(args) => lsp::run(&args, files, &stderr),
        Command::Deps(args) => deps::run(&args, files, &stderr),
        Command::Push(args) => push::run(&args, files, &stderr),
        Command::Pull(args) => push::pull(&args, files, &stderr),
        Command::Krm(args) => krm::run(&args, files, &stderr),
        Command::Init(args) => init::run(&args, &stderr),
        Command::Completions { shell } => print_completions(shell, &mut definition()),
    });
    match result {
        Ok(exit) => exit,
        Err(failed) => match &project {
            Some(project) => failed.located(&|error| project.locate(error)),
            None => failed,
        }
        .print(&stderr),
    }
}

/// Changes to the directory of `--chdir`.
///
/// # Errors
/// `usage`.
fn change_directory(dir: &Path) -> Result<(), Box<Diagnostic>> {
    std::env::set_current_dir(dir).map_err(|error| {
        let error = files::unusable("change to directory", dir, error);
        Diagnostic { code: Code::Usage, ..*error }.into()
    })
}

/// Prints a message of clap: help and version to standard output, errors to standard error.
fn refuse_usage(error: &clap::Error, format: ErrorFormat) -> Exit {
    if !error.use_stderr() {
        return match error.print() {
            Err(failed) if failed.kind() != io::ErrorKind::BrokenPipe => {
                Printer::new(format, false).diagnostic(&stdout_error(&failed));
                Exit::Error
            }
            // A closed pipe is not an error for help.
            _ => Exit::Ok,
        };
    }
    if format == ErrorFormat::Human {
        let _ = error.print();
    } else {
        Printer::new(format, false).diagnostic(&usage::diagnostic(error));
    }
    Exit::Usage
}

/// Prints usage errors before the options for them are known.
fn refuse(errors: Vec<Box<Diagnostic>>, format: ErrorFormat) -> Exit {
    let printer = Printer::new(format, false);
    errors.iter().for_each(|error| printer.diagnostic(error));
    Exit::Usage
}

/// Returns the format of errors that arguments ask for, even if they cannot be parsed.
fn wanted_format(args: &[OsString]) -> ErrorFormat {
    const OPTION: &str = "--error-format";
    let of_pair = |pair: &[OsString]| match pair {
        [flag, value] if flag == OPTION => value.to_str().map(str::to_owned),
        [flag, ..] => flag.to_str()?.strip_prefix(OPTION)?.strip_prefix('=').map(str::to_owned),
        [] => None,
    };
    let named = (0..args.len()).find_map(|at| of_pair(args.get(at..args.len().min(at + 2))?));
    named.and_then(|name| ErrorFormat::from_str(&name, false).ok()).unwrap_or_default()
}

/// Prints the completions of `command`.
fn print_completions(shell: Shell, command: &mut clap::Command) -> Result<Exit, Failed> {
    let mut script = Vec::new();
    clap_complete::generate(shell, command, "dropforge", &mut script);
    print(script)?;
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        definition().debug_assert();
    }

    #[test]
    fn options_that_are_added_keep_the_description_of_a_command() {
        let abouts = |command: &clap::Command| {
            let about = |one: &clap::Command| (one.get_name().to_owned(), one.get_about().map(ToString::to_string));
            command.get_subcommands().map(about).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(abouts(&options_of_commands()), abouts(&Cli::command()));
    }
}
