//! Commands of other tools, and what does their work here.

use clap::error::{ContextKind, ContextValue, ErrorKind};

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
    (&["diff", "plan"], "`dropforge stamp --diff` shows what would change"),
    (&["unittest"], "`dropforge test` runs the tests of templates and charts"),
    (&["package"], "`dropforge compile` makes an artifact of templates or a chart"),
    (&["dependency", "dep"], "dependencies are read from `charts/`: `helm dependency build` puts them there"),
    (&["show"], "`dropforge values` prints merged values, `dropforge inspect` the contents of an artifact"),
    (&["fmt", "format"], "`dropforge hcl fmt` formats HCL files"),
    (&["create", "new"], "`dropforge init` writes a small working project"),
    (&["version"], "`dropforge --version` prints the version"),
];

/// Returns what does the work of a command of another tool.
pub(crate) fn instead_of(command: &str) -> Option<&'static str> {
    let known = COMMANDS.iter().find(|(names, _)| names.contains(&command));
    known.map(|(_, instead)| *instead)
}

/// Says in an error about an unknown command what does its work.
pub(crate) fn hint(error: &mut clap::Error) {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    let Some(ContextValue::String(command)) = error.get(ContextKind::InvalidSubcommand) else { return };
    if let Some(instead) = instead_of(command) {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![instead.into()]));
    }
}
