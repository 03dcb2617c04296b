//! The project file `dropforge.toml`: options that the command line need not repeat.
//!
//! A key stands for an option. The options of the project are put into the command line, before those of the user,
//! where the user and the environment give none. So an option needs nothing but the mark [`key`] to be a key, and is
//! read, checked and described in one place.

mod read;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};

use dropforge::bulk::{PROJECT_FILE, short_digest};
use dropforge::diagnostics::{Code, Diagnostic, LAYER, LOOKED_UP};
use dropforge::text::{Source, Span};

use crate::exit::Failed;
use crate::input::InputFiles;
pub(crate) use read::key;
use read::{COMMANDS, Kind, ProjectKey, Setting};

/// The file that is looked for in the current directory.
pub(crate) const FILE: &str = PROJECT_FILE;

/// The option of commands that show one cluster, and the options that they have only with it.
const CLUSTER: &str = "cluster";
const OF_FLEETS: [&str; 8] =
    ["fleet", "fleet-format", "name-key", "name-from", "csv-types", "layer", "merge", "releases"];

/// The command that takes the options of `render`.
const TRACE: &str = "trace";

// Options of commands that read a project file. They are read before the command line is parsed. No documentation, which
// would replace that of each command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Project")]
struct ProjectArgs {
    /// Read options from this file [default: dropforge.toml]
    #[arg(long, value_name = "FILE", conflicts_with = "no_project")]
    project: Option<PathBuf>,
    /// Do not read `dropforge.toml`
    #[arg(long, hide_short_help = true)]
    no_project: bool,
}

/// Adds the options of project files to the commands that read them.
pub(crate) fn augment(command: Command) -> Command {
    COMMANDS
        .iter()
        .chain([&TRACE])
        .fold(command, |command, name| command.mut_subcommand(name, ProjectArgs::augment_args))
}

/// A project file and the command that uses it.
#[derive(Debug)]
pub(crate) struct Project {
    source: Arc<Source>,
    command: String,
    settings: Vec<Setting>,
}

impl Project {
    /// Checks that there is one template for `render`.
    fn check_one(&self, command: &Command, given: &ArgMatches) -> Result<(), Failed> {
        let templates = self.settings.iter().find(|setting| setting.key.option.is_empty());
        let is_of_one = self.command == "render" && !given.contains_id(CLUSTER);
        let several = templates.filter(|setting| is_of_one && setting.values.len() > 1);
        let Some(setting) = several.filter(|_| !command.get_positionals().any(|arg| is_given(arg, given))) else {
            return Ok(());
        };
        let message = format!("`render` takes one template or folder, and the project has {}", setting.values.len());
        let error = Diagnostic::new(Code::Usage, message).at(&self.source, setting.span, "");
        Err(Failed::usage(vec![error.with_help("name one: `dropforge render DIR`")]))
    }

    /// Returns the path of the file.
    pub(crate) fn name(&self) -> &str {
        self.source.name()
    }

    /// Returns the templates that the project names.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Path> {
        let settings = self.settings.iter().filter(|setting| setting.key.option.is_empty());
        settings.flat_map(|setting| &setting.values).map(Path::new)
    }

    /// Returns `true` if the project has a fleet.
    fn has_fleet(&self) -> bool {
        self.settings.iter().any(|setting| setting.key.option == "fleet")
    }

    /// Returns `true` if the run has the templates of the project.
    pub(crate) fn gives_templates(&self) -> bool {
        self.used().any(|setting| setting.key.option.is_empty() || matches!(setting.key.kind(), Kind::Tables))
    }

    /// Returns `true` if the project has templates besides these files and folders.
    pub(crate) fn has_others(&self, given: &[PathBuf]) -> bool {
        let given: Vec<PathBuf> = given.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let mut own = self.templates().filter_map(|path| path.canonicalize().ok());
        own.any(|own| !given.iter().any(|given| own.starts_with(given)))
    }

    /// Returns the path of the file with its digest, for a state.
    pub(crate) fn digest(&self) -> (String, String) {
        (self.name().to_owned(), short_digest(self.source.text().as_bytes()))
    }
}

/// Adds the options of the project to the arguments, if the command reads one and there is one. `has_moved` says that the
/// process is in the directory of `--chdir`.
///
/// # Errors
/// Errors of reading the file, all with the exit of a usage error.
pub(crate) fn expand(
    command: &Command,
    args: &mut Vec<OsString>,
    has_moved: bool,
    files: &mut InputFiles,
) -> Result<Option<Project>, Failed> {
    if !may_have_project(args) {
        return Ok(None);
    }
    let mut lenient = command.clone().ignore_errors(true);
    let Ok(matches) = lenient.try_get_matches_from_mut(args.iter()) else { return Ok(None) };
    let Some((name, given)) = matches.subcommand().filter(|(name, _)| *name == TRACE || COMMANDS.contains(name)) else {
        return Ok(None);
    };
    let Some(definition) = lenient.find_subcommand(name) else { return Ok(None) };
    let name = if name == TRACE { "render" } else { name };
    let Some(project) =
        find(name, (definition, given), has_moved, files).map_err(|error| Failed::usage(vec![error]))?
    else {
        return Ok(None);
    };
    let (source, file) = project;
    let settings = read::settings(&source, &file, &ProjectKey::all(command)).map_err(Failed::usage)?;
    let mut project = Project { source, command: name.to_owned(), settings };
    project.check_one(definition, given)?;
    for setting in &mut project.settings {
        setting.is_used = applies(setting, name, definition, given);
    }
    let options: Vec<OsString> = project.used().flat_map(Setting::arguments).collect();
    let at = position(command, args);
    args.splice(at..at, options);
    Ok(Some(project))
}

/// Returns the directory that `--chdir` names, even if the arguments cannot be parsed.
pub(crate) fn chdir(command: &Command, args: &[OsString]) -> Option<PathBuf> {
    let matches = command.clone().ignore_errors(true).try_get_matches_from(args).ok()?;
    let given = matches.subcommand().map_or(&matches, |(_, given)| given);
    given.try_get_one::<PathBuf>("chdir").ok().flatten().cloned()
}

/// Returns `false` if no command with these arguments reads a project file: none is in the current directory, and no
/// argument can be `--project` or `--chdir`. Then the arguments need not be read twice.
fn may_have_project(args: &[OsString]) -> bool {
    let leads_elsewhere = |arg: &OsString| match arg.as_encoded_bytes() {
        [b'-', b'-', long @ ..] => long.starts_with(b"project") || long.starts_with(b"chdir"),
        [b'-', short @ ..] => short.contains(&b'C'),
        _ => false,
    };
    Path::new(FILE).exists() || args.iter().any(leads_elsewhere)
}

/// Reads the project file of a command. Also returns its path.
fn find(
    name: &str,
    (command, given): (&Command, &ArgMatches),
    has_moved: bool,
    files: &mut InputFiles,
) -> Result<Option<(Arc<Source>, PathBuf)>, Box<Diagnostic>> {
    let named = given.get_one::<PathBuf>("project");
    let is_one_template =
        name == "render" && !given.contains_id(CLUSTER) && command.get_positionals().any(|arg| is_given(arg, given));
    if given.get_one("no_project").copied().unwrap_or(false) || (named.is_none() && is_one_template) {
        return Ok(None);
    }
    let path = named.map_or(Path::new(FILE), PathBuf::as_path);
    let chdir = given.get_one::<PathBuf>("chdir").filter(|_| !has_moved).cloned().unwrap_or_default();
    if named.is_none() && !chdir.join(path).exists() {
        return Ok(None);
    }
    let max = given.get_one::<u64>("max_input").copied().unwrap_or(u64::MAX);
    files.set_max_bytes(max);
    let read = match named {
        Some(_) => files.read(&chdir.join(path), "--project -")?,
        None => files.read_regular(&chdir.join(path))?,
    };
    let source = Source::new(path.display().to_string(), read.text());
    Ok(Some((source, path.to_owned())))
}

/// Returns `true` if the command has the option and nothing else gives it or excludes it.
fn applies(setting: &Setting, name: &str, command: &Command, given: &ArgMatches) -> bool {
    let Some(arg) = setting.key.argument(command) else { return false };
    let conflicts = |one: &Arg, other: &Arg| command.get_arg_conflicts_with(one).contains(&other);
    let mut others = command.get_arguments().filter(|other| is_given(other, given));
    if others.any(|other| conflicts(arg, other) || conflicts(other, arg)) {
        return false;
    }
    // One template has none of the options of folders.
    let is_template_given = command.get_positionals().any(|arg| is_given(arg, given));
    if name == "render" && is_template_given && setting.key.section == "output" {
        return false;
    }
    match setting.key.option.as_str() {
        option if name == "render" && OF_FLEETS.contains(&option) && !given.contains_id(CLUSTER) => false,
        // Both count. The files of the project lie below those of the command line.
        "values" | "layer" | "volatile" => true,
        // Templates of the command line take the place of those of the project. Tests name releases.
        "releases" => name == "test" || !is_template_given,
        _ if is_given(arg, given) => false,
        // A cluster is needed to choose from the fleet.
        "fleet" if name == "values" => given.contains_id(CLUSTER),
        "diff-format" => name == "stamp" && given.get_one("diff").copied().unwrap_or(false),
        // One stream has no other files, and is not the directory of the project.
        "output" | "prune" => given.get_one::<String>("layout").is_none_or(|layout| layout != "single"),
        _ => true,
    }
}

/// Returns `true` if the command line or the environment gives the argument.
pub(crate) fn is_given(arg: &Arg, matches: &ArgMatches) -> bool {
    let source = matches.value_source(arg.get_id().as_str());
    let has_variable = arg.get_long() == Some("cache-dir") && std::env::var_os("DROPFORGE_CACHE").is_some();
    has_variable || matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable))
}

/// Returns the position after the name of the command, which the values of global options precede.
pub(crate) fn position(command: &Command, args: &[OsString]) -> usize {
    let names = |end: &usize| {
        let parsed = command.clone().ignore_errors(true).try_get_matches_from(args.iter().take(*end));
        parsed.is_ok_and(|matches| matches.subcommand_name().is_some())
    };
    (2..=args.len()).find(names).unwrap_or(args.len())
}

impl Setting {
    /// Returns the setting as arguments.
    fn arguments(&self) -> impl Iterator<Item = OsString> {
        self.values.iter().map(|value| self.argument(value))
    }

    fn argument(&self, value: &OsStr) -> OsString {
        let mut argument = OsString::new();
        match (self.key.option.as_str(), self.key.kind()) {
            // A template is no option, even if its name begins like one.
            ("", _) if value.as_encoded_bytes().starts_with(b"-") => argument.push("./"),
            ("", _) => {}
            (option, Kind::Flag) => argument.push(format!("--{option}")),
            (option, _) => argument.push(format!("--{option}=")),
        }
        argument.push(value);
        argument
    }
}

impl Project {
    /// Adds the place of the setting that an error is about to one that has none: of the path that cannot be read, or
    /// of the layout.
    pub(crate) fn locate(&self, error: Box<Diagnostic>) -> Box<Diagnostic> {
        let of = |key: &str| self.used().find(|setting| setting.key.name == key).map(|setting| setting.span);
        let layer = error.fields.get(LAYER).and_then(|path| self.place_of_layer(path));
        let span = match (error.code, error.fields.get(LOOKED_UP)) {
            _ if layer.is_some() => layer,
            (Code::ReadFailed, Some(path)) => self.place_of_path(Path::new(path)),
            (Code::BadLayout, _) => of("layout"),
            _ => None,
        };
        match span {
            Some(span) if error.labels.is_empty() => error.at(&self.source, span, ""),
            Some(span) => error.first_at(&self.source, span, ""),
            None => error,
        }
    }

    /// Returns the settings that are options of the command.
    fn used(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter().filter(|setting| setting.is_used)
    }

    /// Returns the place of a layer. In the file it may end in `?`.
    fn place_of_layer(&self, path: &str) -> Option<Span> {
        self.place_of_path(Path::new(path)).or_else(|| self.place_of_path(Path::new(&format!("{path}?"))))
    }

    fn place_of_path(&self, path: &Path) -> Option<Span> {
        let mut values = self.used().flat_map(|setting| setting.values.iter().zip(&setting.spans));
        values.find(|(value, _)| Path::new(value) == path).map(|(_, span)| *span)
    }

    /// Finds the values of the project that options refuse, as errors at their places.
    pub(crate) fn refused(&self, command: &Command) -> Vec<Box<Diagnostic>> {
        self.settings.iter().flat_map(|setting| self.refused_in(setting, command)).collect()
    }

    fn refused_in(&self, setting: &Setting, command: &Command) -> Option<Box<Diagnostic>> {
        setting.arguments().find_map(|argument| {
            let args = [OsStr::new("dropforge"), OsStr::new(&self.command), &argument];
            let error = command.clone().try_get_matches_from(args).err()?;
            if !matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation) {
                return None;
            }
            let value = setting.values.iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(", ");
            let mut message = format!("invalid value `{value}` for `{}`", setting.key.name);
            if let Some(reason) = std::error::Error::source(&error) {
                message.push_str(&format!(": {reason}"));
            }
            let found = Diagnostic::new(Code::Usage, message).at(&self.source, setting.span, "");
            Some(match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(known)) => found.with_available(known.iter().cloned()),
                _ => found,
            })
        })
    }
}

/// Returns `true` if a project file has keys for all arguments that an error is about.
fn are_keys(error: &clap::Error, command: &Command) -> bool {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return false };
    let keys = ProjectKey::all(command);
    missing.iter().all(|arg| match arg.strip_prefix("--").and_then(|arg| arg.split([' ', '=']).next()) {
        Some(option) => keys.iter().any(|key| key.option == option),
        None => true,
    })
}

/// Says in an error about missing arguments that a project file can give them.
pub(crate) fn hint(error: &mut clap::Error, command: &Command, project: Option<&Project>, args: &[OsString]) {
    let reads = args.iter().any(|arg| COMMANDS.iter().any(|name| arg == *name));
    if error.kind() != ErrorKind::MissingRequiredArgument || !reads || !are_keys(error, command) {
        return;
    }
    let tip = match project {
        Some(project) if project.has_fleet() && args.iter().any(|arg| arg == "render") => {
            format!("or name a cluster of `{}`: `--cluster NAME`", project.name())
        }
        Some(project) => format!("or set them in `{}`", project.name()),
        None => format!("or write a `{FILE}` that sets them: see `dropforge init --help`"),
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}
