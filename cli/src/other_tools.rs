//! Commands, options and variables of other tools, such as Terraform, and what does their work here.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use dropforge::diagnostics::{Code, Diagnostic, nearest};

const COMMANDS: [(&[&str], &str); 11] = [
    (&["lint", "validate", "verify", "vet"], "`dropforge check` finds errors in templates and charts"),
    (
        &["template", "build", "generate"],
        "`dropforge render` renders a template or a chart, `dropforge stamp` renders them for a fleet",
    ),
    (
        &["install", "upgrade", "apply", "deploy", "sync", "uninstall", "rollback", "delete"],
        "`dropforge stamp` writes files: apply them with `kubectl apply` or a GitOps tool",
    ),
    (&["plan"], "`dropforge diff` shows what would change"),
    (&["unittest"], "`dropforge test` runs the tests of templates and charts"),
    (&["package"], "`dropforge compile` makes an artifact of templates or a chart"),
    (&["dependency", "dep"], "`dropforge deps build` fetches the charts that a chart depends on"),
    (&["show"], "`dropforge values` prints merged values, `dropforge inspect` the contents of an artifact"),
    (&["fmt", "format"], "`dropforge hcl fmt` formats HCL files"),
    (&["create", "new"], "`dropforge init` writes a small working project"),
    (&["version"], "`dropforge --version` prints the version"),
];

const OPTIONS: [(&[&str], &str); 8] = [
    (&["--generate-name", "--name-template", "-g"], "`--name NAME` is the name of the release"),
    (&["--output-dir", "--release-name"], "`dropforge stamp -o DIR` writes files"),
    (&["--skip-crds"], "custom resource definitions are only written with `--include-crds`"),
    (&["--debug"], "`-v` prints more details"),
    (&["--post-renderer", "--post-renderer-args"], "pipe the output of `dropforge render` to the program"),
    (&["--validate", "--disable-openapi-validation"], "`--kube-schemas` checks objects by schemas"),
    (
        &["--repo", "--devel", "--verify", "--keyring", "--dependency-update", "--username", "--password"],
        "`dropforge deps` fetches charts, with the repositories and logins of Helm",
    ),
    (
        &[
            "--wait",
            "--atomic",
            "--timeout",
            "--create-namespace",
            "--kubeconfig",
            "--kube-context",
            "--install",
            "--reuse-values",
            "--reset-values",
            "--history-max",
        ],
        "dropforge talks to no cluster: `dropforge stamp` writes files",
    ),
];

/// Returns what does the work of a command of another tool.
pub(crate) fn instead_of(command: &str) -> Option<&'static str> {
    let known = COMMANDS.iter().find(|(names, _)| names.contains(&command));
    known.map(|(_, instead)| *instead)
}

/// Says in an error about an unknown command or option what does its work.
pub(crate) fn hint(error: &mut clap::Error) {
    let (kind, suggested) = match error.kind() {
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        _ => return,
    };
    let Some(ContextValue::String(found)) = error.get(kind).cloned() else { return };
    let instead = match kind {
        ContextKind::InvalidSubcommand => instead_of(&found),
        _ => instead_of_argument(&found),
    };
    let is_useless = instead.is_some() || error.get(suggested).is_some_and(|near| is_far(&found, near));
    if is_useless && error.remove(suggested).is_some() && kind == ContextKind::InvalidArg {
        // It shows the suggestion.
        error.remove(ContextKind::Usage);
    }
    if let Some(instead) = instead {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![instead.into()]));
    }
}

/// Returns what does the work of an option of another tool. A chart after another argument follows the name of a release.
fn instead_of_argument(found: &str) -> Option<&'static str> {
    if Path::new(found).join("Chart.yaml").is_file() {
        return Some("name the chart alone: `--name NAME` is the name of the release");
    }
    let known = OPTIONS.iter().find(|(names, _)| names.contains(&found));
    known.map(|(_, instead)| *instead)
}

/// Returns `true` if an option does not resemble the one that was found.
fn is_far(found: &str, near: &ContextValue) -> bool {
    let ContextValue::String(near) = near else { return false };
    !near.starts_with(found) && nearest(found, [near.as_str()]).is_none()
}

/// Returns the error for `-var` or `-var-file`, with one dash, among the arguments.
pub(crate) fn one_dash(args: &[OsString]) -> Option<Box<Diagnostic>> {
    let parts = |arg: &OsString| {
        let arg = arg.to_str()?;
        let (option, value) = arg.split_once('=').map_or((arg, None), |(option, value)| (option, Some(value)));
        matches!(option, "-var" | "-var-file").then(|| (option.to_owned(), value.map(str::to_owned)))
    };
    let (at, (option, value)) = args.iter().enumerate().find_map(|(at, arg)| Some((at, parts(arg)?)))?;
    let next = || args.get(at + 1).and_then(|next| next.to_str()).filter(|next| !next.starts_with('-'));
    let is_file = option == "-var-file";
    let value = value.or_else(|| next().map(str::to_owned));
    let value = value.unwrap_or_else(|| if is_file { "FILE" } else { "K=V" }.to_owned());
    let same = if is_file { "-f" } else { "--set" };
    let error =
        Diagnostic::new(Code::Usage, format!("`{option}` is not an option: long options begin with two dashes"));
    Some(error.with_help(format!("use `-{option} '{value}'`, which is the same as `{same} '{value}'`")))
}

/// Names Terraform's environment variables in the errors of an HCL template that lacks their values.
pub(crate) fn name_variables(error: &mut Diagnostic) {
    let label = error.primary().filter(|_| error.code == Code::UndefinedVariable);
    let name = label.map(|label| {
        let text = label.source.slice(label.span);
        text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'))).next().unwrap_or("")
    });
    let variable = name.filter(|name| !name.is_empty()).map(|name| format!("TF_VAR_{name}"));
    if let Some(variable) = variable.filter(|variable| std::env::var_os(variable).is_some()) {
        let help = "environment variables are read only with a prefix: `--env-prefix TF_VAR_`";
        error.help = Some(format!("`{variable}` is set, but {help}"));
    }
    error.also.iter_mut().for_each(|error| name_variables(error));
}
