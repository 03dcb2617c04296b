//! Hints for users of Terraform's options and variables.

use std::ffi::OsString;

use dropforge::diagnostics::{Code, Diagnostic};

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
