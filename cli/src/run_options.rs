//! The options of a command as a state keeps them, to render a file again.
//!
//! They are those of the project file and of the command line in the order given, each as one argument. Options that do
//! not change what is written are left out, and so are values on the command line: a state is committed, and they may
//! be secret.

use std::any::TypeId;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use dropforge::bulk::values::{SetKind, Step, parse_set};
use dropforge::bulk::{Owner, ReadFiles, RunOptions, Withheld, short_digest};

use crate::input::{is_url, repository};
use crate::project::{FILE, Project, is_given};

/// Options that do not change what a run writes.
const WITHOUT_EFFECT: [&str; 34] = [
    "allow_foreign",
    "cache_dir",
    "chdir",
    "check",
    "color",
    "diff",
    "diff_format",
    "dry_run",
    "error_format",
    "explain_plan",
    "fail_fast",
    "finish",
    "force",
    "fsync",
    "jobs",
    "no_cache",
    "no_project",
    "no_specialise",
    "project",
    "project_id",
    "prune",
    "prune_force",
    "quiet",
    "shard",
    "shards",
    "stream",
    "strict",
    "summary",
    "verbose",
    "volatile",
    "watch",
    "max_input",
    "output",
    "specialise",
];

/// Options that grant something. The answers of `why` depend on them, but only its user may give them.
const GRANTS: [&str; 2] = ["allow", "env_prefix"];

/// Arguments that name files. For the digest of a plan their contents count, which are added where they are read.
const FILES: [&str; 7] = ["fleet", "include_root", "kube_schemas", "schema", "templates", "values", "var_types"];

/// Options of object stores, which do not change what a plan is.
const STORES: [&str; 3] = ["break_lock", "no_lock", "pack"];

/// Options whose values are withheld.
const SETS: [(&str, &str, SetKind); 4] = [
    ("set", "set", SetKind::Typed),
    ("set_string", "set-string", SetKind::Text),
    ("set_json", "set-json", SetKind::Json),
    ("set_literal", "set-literal", SetKind::Literal),
];

/// Returns the options of a command line that writes outputs. It has those of the project. The first argument is the name of
/// the program. The process is in the directory of `--chdir`.
pub(crate) fn of(command: &Command, args: &[OsString], project: Option<&Project>) -> Option<RunOptions> {
    let mut lenient = command.clone().ignore_errors(true);
    let matches = lenient.try_get_matches_from_mut(args.iter()).ok()?;
    let (name, given) = matches.subcommand().filter(|(name, _)| ["stamp", "render"].contains(name))?;
    let definition = lenient.find_subcommand(name)?;
    let (mut arguments, mut withheld) = (Vec::new(), Vec::new());
    for arg in definition.get_arguments().filter(|arg| is_given(arg, given)) {
        let id = arg.get_id().as_str();
        match SETS.iter().find(|(set, ..)| *set == id) {
            Some((_, option, kind)) => {
                withheld.extend(values(id, given).map(|(at, text)| (at, withhold(option, *kind, &text))));
            }
            None if WITHOUT_EFFECT.contains(&id) => {}
            None => arguments.extend(written(arg, given)),
        }
    }
    let mut read = ReadFiles::new();
    read.extend(project.map(Project::digest));
    arguments.sort();
    withheld.sort_by_key(|(at, _)| *at);
    let first = [name.to_owned()].into_iter();
    let id = given.try_get_one::<String>("project_id").ok().flatten().cloned();
    let output = given.get_raw("output").and_then(|mut raw| raw.next()).map(Path::new);
    Some(RunOptions {
        project: output.and_then(|output| owner(id, project, output)),
        has_project_templates: project.is_some_and(Project::gives_templates),
        folder: output.and_then(folder),
        arguments: first.chain(arguments.into_iter().map(|(_, argument)| argument)).collect(),
        withheld: withheld.into_iter().map(|(_, value)| value).collect(),
        read: Some(read),
    })
}

/// Returns the options of `stamp` that decide what its shards write, in the order given. Files count by their content, so
/// their names are left out.
pub(crate) fn deciding(command: &Command, args: &[OsString]) -> Vec<String> {
    let mut lenient = command.clone().ignore_errors(true);
    let Ok(matches) = lenient.try_get_matches_from_mut(args.iter()) else { return Vec::new() };
    let Some((name, given)) = matches.subcommand() else { return Vec::new() };
    let definition = lenient.find_subcommand(name).map(Command::get_arguments).into_iter().flatten();
    let decides = |arg: &&Arg| ![&WITHOUT_EFFECT[..], &FILES, &STORES].concat().contains(&arg.get_id().as_str());
    let mut found: Vec<_> = definition
        .filter(decides)
        .filter(|arg| is_given(arg, given))
        .flat_map(|arg| {
            let texts = written(arg, given).into_iter();
            texts.map(|(at, text)| (at, without_path(arg.get_id().as_str(), text)))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, text)| text).collect()
}

/// An argument of a run that a state keeps, which anyone may have written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StoredArgument {
    /// The argument as written.
    pub(crate) text: String,
    /// The files that it names.
    pub(crate) paths: Vec<PathBuf>,
    /// The option grants nothing and writes nothing.
    pub(crate) is_harmless: bool,
}

/// Returns the arguments of a run by a state. Without the name of a command that writes outputs there are none.
pub(crate) fn stored(command: &Command, arguments: &[String]) -> Option<Vec<StoredArgument>> {
    let mut lenient = command.clone().ignore_errors(true);
    let args = std::iter::once("dropforge").chain(arguments.iter().map(String::as_str));
    let matches = lenient.try_get_matches_from_mut(args).ok()?;
    let first = arguments.first().filter(|first| ["stamp", "render"].contains(&first.as_str()))?;
    let (_, given) = matches.subcommand().filter(|(name, _)| name == first)?;
    let is_given = |arg: &&Arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let stored = |arg: &Arg| {
        let id = arg.get_id().as_str();
        let is_harmless = !WITHOUT_EFFECT.contains(&id) && !GRANTS.contains(&id);
        let names_files = FILES.contains(&id) || arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
        let paths = |value: &str| match id {
            "set_file" => files_of(value),
            _ if names_files => vec![value.into()],
            _ => Vec::new(),
        };
        let values: Vec<String> = values(id, given).map(|(_, value)| value).collect();
        let one = |(at, (_, text)): (usize, (usize, String))| {
            let paths = values.get(at).map(|value| paths(value)).unwrap_or_default();
            StoredArgument { text, paths, is_harmless }
        };
        written(arg, given).into_iter().enumerate().map(one).collect::<Vec<_>>()
    };
    Some(lenient.find_subcommand(first)?.get_arguments().filter(is_given).flat_map(stored).collect())
}

/// Returns the files that an assignment of `--set-file` names.
fn files_of(text: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    // The command reports an assignment that cannot be parsed.
    let _refused = parse_set(SetKind::File, text, &mut |path| {
        files.push(path.into());
        Ok(String::new())
    });
    files
}

/// Leaves out the paths in an option: `--set-file=K=PATH`, `--allow=files=PATH`.
fn without_path(id: &str, text: String) -> String {
    let value = text.split_once('=').map_or("", |(_, value)| value);
    match id {
        "set_file" => withhold("set-file", SetKind::File, value).key,
        "allow" => value.split('=').next().unwrap_or(value).to_owned(),
        _ => text,
    }
}

/// Returns the path from an output directory to the current one, if it is given as a relative one.
fn folder(output: &Path) -> Option<String> {
    if is_url(output) || !output.is_relative() {
        return None;
    }
    let parts = output.components().filter(|part| *part != Component::CurDir);
    let up = parts.map(|part| matches!(part, Component::Normal(_)).then_some(".."));
    let way = match up.collect::<Option<Vec<_>>>() {
        Some(up) => up.join("/"),
        None => {
            let output = real(output).filter(|path| path.components().all(|part| part != Component::ParentDir))?;
            way(&output, &Path::new(".").canonicalize().ok()?).to_str()?.to_owned()
        }
    };
    Some(way).filter(|way| !way.is_empty())
}

/// Returns the relative path from a directory to another.
fn way(from: &Path, to: &Path) -> PathBuf {
    let common = to.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

/// Returns the project of a run with its place, which is the same on all machines: its path in the repository, or that from
/// the output directory where the repository has only one of them.
fn owner(id: Option<String>, project: Option<&Project>, output: &Path) -> Option<Owner> {
    let file = Path::new(project.map_or(FILE, Project::name));
    let is_named = !file.ends_with(FILE);
    let home = Path::new(".").join(if is_named { file } else { file.parent()? }).canonicalize().ok()?;
    let repository = repository(&home);
    let root = repository.as_deref();
    let output = if is_url(output) { None } else { Some(real(output)?) };
    let from = match (root, &output) {
        (Some(root), None) => root,
        (Some(root), Some(output)) if output.starts_with(root) => root,
        (_, output) => output.as_deref()?,
    };
    let path = way(from, &home);
    let place = if path.as_os_str().is_empty() { ".".to_owned() } else { path.to_string_lossy().into_owned() };
    Some(Owner { id, place, root: from.to_owned() })
}

/// Resolves a path as far as it exists.
fn real(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let (found, existing) = path.ancestors().find_map(|one| Some((one.canonicalize().ok()?, one)))?;
    Some(found.join(path.strip_prefix(existing).ok()?))
}

/// Returns the values of an argument with their positions.
fn values<'m>(id: &str, given: &'m ArgMatches) -> impl Iterator<Item = (usize, String)> + use<'m> {
    let texts = given.get_raw(id).into_iter().flatten().map(|value| value.to_string_lossy().into_owned());
    given.indices_of(id).into_iter().flatten().zip(texts)
}

/// Returns an argument as written on the command line, with its position.
fn written(arg: &Arg, given: &ArgMatches) -> Vec<(usize, String)> {
    let id = arg.get_id().as_str();
    let takes_values = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    match arg.get_long() {
        Some(long) if takes_values => values(id, given).map(|(at, value)| (at, format!("--{long}={value}"))).collect(),
        Some(long) => given.indices_of(id).into_iter().flatten().map(|at| (at, format!("--{long}"))).collect(),
        None => values(id, given).collect(),
    }
}

/// Returns what a state keeps of an assignment.
pub(crate) fn withhold(option: &str, kind: SetKind, text: &str) -> Withheld {
    let assignments = parse_set(kind, text, &mut |_| Ok(String::new())).unwrap_or_default();
    let paths: Vec<String> = assignments.iter().map(|one| Step::joined(one.path())).collect();
    Withheld { option: option.to_owned(), key: paths.join(","), digest: short_digest(text.as_bytes()) }
}

/// Returns the values that `--set` options of a command give again.
pub(crate) fn given_again(sets: &[(SetKind, String)]) -> Vec<(Withheld, String)> {
    let option = |kind: SetKind| SETS.iter().find(|(_, _, one)| *one == kind).map(|(_, option, _)| *option);
    let again = sets.iter().filter_map(|(kind, text)| Some((withhold(option(*kind)?, *kind, text), text.clone())));
    again.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(args: &[&str]) -> RunOptions {
        let args: Vec<OsString> = std::iter::once("dropforge").chain(args.iter().copied()).map(Into::into).collect();
        of(&crate::command::definition(), &args, None).unwrap()
    }

    #[test]
    fn options_are_kept_in_order_without_values_and_what_has_no_effect() {
        let args = ["stamp", "t", "-f", "a.yaml", "--fleet", "f.csv", "-fb.yaml", "u", "-o", "./x/out", "-j4", "-q"];
        let more = ["--set", "a=1,b.c=2", "--keep-empty", "--prune", "--set-file=d=e.txt", "--set-json", "f={\"g\":1}"];
        let found = options(&[&args[..], &more].concat());
        let expected = [
            "stamp",
            "t",
            "--values=a.yaml",
            "--fleet=f.csv",
            "--values=b.yaml",
            "u",
            "--keep-empty",
            "--set-file=d=e.txt",
        ];
        assert_eq!(found.arguments, expected);
        assert_eq!(found.folder.as_deref(), Some("../.."));
        let withheld: Vec<_> = found.withheld.iter().map(|one| (one.option.as_str(), one.key.as_str())).collect();
        assert_eq!(withheld, [("set", "a,b.c"), ("set-json", "f")]);
        assert_eq!(found.withheld[0], withhold("set", SetKind::Typed, "a=1,b.c=2"));
        assert_ne!(found.withheld[0].digest, withhold("set", SetKind::Typed, "a=1,b.c=3").digest);
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        let name = here.file_name().unwrap().to_str().unwrap();
        assert_eq!(options(&["render", "t", "-o", "../out"]).folder, Some(format!("../{name}")));
        assert_eq!(options(&["render", "t", "-o", "not-there/../out"]).folder, None);
        assert_eq!(options(&["render", "t", "-o", "/out"]).folder, None);
        assert_eq!(options(&["stamp", "t", "--fleet", "f", "-o", "s3://b/out"]).folder, None);
    }

    #[test]
    fn options_that_decide_have_no_names_of_files() {
        let args = ["dropforge", "stamp", "./t", "--fleet=f", "-f", "v.yaml", "--set-file", "a.b=x,c=y", "-o", "out"];
        let more =
            ["--shard", "0/2", "--allow", "files=./d", "--layout", "{name}", "--schema", "s", "--keep-empty", "-j2"];
        let args: Vec<OsString> = args.into_iter().chain(more).map(Into::into).collect();
        assert_eq!(
            deciding(&crate::command::definition(), &args),
            ["a.b,c", "files", "--layout={name}", "--keep-empty"]
        );
    }
}
