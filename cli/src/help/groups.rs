//! The list of commands, in groups, and the command `diff`.

use std::ffi::OsString;

use clap::Command;

use super::pages::is_asked;
use crate::output::wrapped;
use crate::project;

/// The groups of commands. A command of no group is not listed.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Start", &["init", "stamp", "diff", "render", "values", "why", "check", "test"]),
    ("Write templates", &["eval", "console", "trace", "help", "functions", "explain", "lsp", "completions"]),
    ("Charts and artifacts", &["deps", "compile", "inspect", "disasm", "push", "pull"]),
    ("Languages", &["hcl", "intent"]),
    ("Services", &["catalog", "serve", "krm"]),
];

/// Lists the commands of the whole command line in groups.
pub(crate) fn with_groups(command: Command) -> Command {
    let mut groups: String = GROUPS.iter().map(|(name, commands)| group(&command, name, commands)).collect();
    let absent: Vec<&str> = command.get_subcommands().filter(|sub| is_absent(sub)).map(Command::get_name).collect();
    if !absent.is_empty() {
        let help = "`dropforge help NAME` says how to get one";
        groups.push_str(&wrapped(&format!("Not in this build ({help}): {}\n\n", absent.join(", "))));
    }
    let template = "{about-with-newline}\n{usage-heading} {usage}\n\n";
    command.help_template(format!("{template}{groups}Options:\n{{options}}{{after-help}}"))
}

/// Returns the lines of a group, without commands that the build lacks.
fn group(command: &Command, name: &str, commands: &[&str]) -> String {
    let subs = commands.iter().filter_map(|name| command.find_subcommand(name)).filter(|sub| !is_absent(sub));
    let line = |sub: &Command| {
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {:<12} {}\n", sub.get_name(), about.lines().next().unwrap_or(""))
    };
    format!("{name}:\n{}\n", subs.map(line).collect::<String>())
}

/// Returns `true` for a command that the build lacks.
fn is_absent(command: &Command) -> bool {
    command.is_disable_help_flag_set()
}

/// The command that stands for `stamp --diff`.
const DIFF: &str = "diff";

const ABOUT: &str = "Show what `stamp` would change, and write nothing";

const LONG_ABOUT: &str = "

    dropforge diff templates/ --fleet clusters.ndjson -f values.yaml -o out/

It is `stamp --diff`: clusters with the same change are one group, and lines
that only follow from others, such as checksums, come last.";

/// Options of `stamp` that its preview does not have.
const WRITING: [&str; 12] = [
    "diff",
    "check",
    "dry_run",
    "watch",
    "force",
    "prune_force",
    "fsync",
    "shard",
    "shards",
    "finish",
    "stream",
    "pack",
];

/// Adds the command `diff` to the help. Arguments never reach it: see [`with_stamp`].
pub(crate) fn with_diff(command: Command) -> Command {
    let Some(stamp) = command.find_subcommand("stamp") else { return command };
    let diff = stamp.clone().name(DIFF).about(ABOUT).long_about(format!("{ABOUT}{LONG_ABOUT}"));
    let diff = diff.mut_args(|arg| if WRITING.contains(&arg.get_id().as_str()) { arg.hide(true) } else { arg });
    command.subcommand(diff)
}

/// Writes the command `diff` as `stamp --diff`, unless its help is asked for.
pub(crate) fn with_stamp(mut args: Vec<OsString>, command: impl FnOnce() -> Command) -> Vec<OsString> {
    if args.iter().any(|arg| arg == DIFF) && !is_asked(&args) {
        let at = project::position(&with_diff(command()), &args);
        if args.get(at - 1).is_some_and(|name| name == DIFF) {
            args.splice(at - 1..at, ["stamp", "--diff"].map(Into::into));
        }
    }
    args
}
