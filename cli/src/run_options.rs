//! The options of a command as a manifest keeps them, to render a file again.
//!
//! They are those of the command line in the order given, each as one argument. Options that do not change what is
//! written are left out, and so are values on the command line: a manifest is committed, and they may be secret.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Command};

use dropforge::bulk::values::{SetKind, Step, parse_set};
use dropforge::bulk::{PlanDigest, RunOptions, Withheld};

use crate::project::is_given;

/// Options that do not change what a run writes.
const WITHOUT_EFFECT: [&str; 28] = [
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
    "no_specialise",
    "prune",
    "prune_force",
    "quiet",
    "shard",
    "shards",
    "stream",
    "strict",
    "summary",
    "verbose",
    "watch",
    "max_input",
];

/// Options whose values are withheld.
const SETS: [(&str, &str, SetKind); 4] = [
    ("set", "set", SetKind::Typed),
    ("set_string", "set-string", SetKind::Text),
    ("set_json", "set-json", SetKind::Json),
    ("set_literal", "set-literal", SetKind::Literal),
];

/// Returns the options of a command line. The first argument is the name of the program.
pub(crate) fn of(command: &Command, args: &[OsString]) -> Option<RunOptions> {
    let mut lenient = command.clone().ignore_errors(true);
    let matches = lenient.try_get_matches_from_mut(args.iter()).ok()?;
    let (name, given) = matches.subcommand()?;
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
    arguments.sort();
    withheld.sort_by_key(|(at, _)| *at);
    let first = [name.to_owned()].into_iter();
    Some(RunOptions {
        arguments: first.chain(arguments.into_iter().map(|(_, argument)| argument)).collect(),
        withheld: withheld.into_iter().map(|(_, value)| value).collect(),
    })
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

/// Returns what a manifest keeps of an assignment.
pub(crate) fn withhold(option: &str, kind: SetKind, text: &str) -> Withheld {
    let assignments = parse_set(kind, text, &mut |_| Ok(String::new())).unwrap_or_default();
    let paths: Vec<String> = assignments.iter().map(|one| Step::joined(one.path())).collect();
    let mut digest = PlanDigest::default();
    digest.text(text);
    // Sixteen bits: many values have the same.
    let digest = digest.finish().chars().take(4).collect();
    Withheld { option: option.to_owned(), key: paths.join(","), digest }
}

/// Returns the values that `--set` options of a command give again.
pub(crate) fn given_again(sets: &[(SetKind, String)]) -> Vec<(Withheld, String)> {
    let option = |kind: SetKind| SETS.iter().find(|(_, _, one)| *one == kind).map(|(_, option, _)| *option);
    let again = sets.iter().filter_map(|(kind, text)| Some((withhold(option(*kind)?, *kind, text), text.clone())));
    again.collect()
}
