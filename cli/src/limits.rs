//! Help of errors about limits: the option that raises the limit, or nothing, in place of the field of the library.

use dropforge::diagnostics::Diagnostic;

/// A field of `Limits` and the option that sets it.
pub(crate) type LimitOption = (&'static str, &'static str);

/// The beginnings of advice about fields of the library.
const FIELDS: [&str; 2] = ["raise `Limits::", "raise `Bounds::"];

/// Names the options in the help of an error and its further errors.
pub(crate) fn name_options(options: &[LimitOption], diagnostic: &mut Diagnostic) {
    diagnostic.help = diagnostic.help.take().and_then(|help| for_command(options, help));
    diagnostic.also.iter_mut().for_each(|other| name_options(options, other));
}

/// Returns the help for a command with these options. A field that none of them sets is left out.
fn for_command(options: &[LimitOption], mut help: String) -> Option<String> {
    for (field, option) in options {
        help = help.replace(&format!("`Limits::{field}`"), &format!("the limit with `{option}`"));
    }
    let Some(at) = FIELDS.iter().find_map(|field| help.find(field)) else { return Some(help) };
    let before = help.get(..at).unwrap_or("");
    let before = before.trim_end_matches(", or ");
    (!before.is_empty()).then(|| before.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_options_are_named() {
        let options = [("source_bytes", "--max-source SIZE")];
        for (help, named) in [
            (
                "raise `Limits::source_bytes` if the template is trusted",
                Some("raise the limit with `--max-source SIZE` if the template is trusted"),
            ),
            ("raise `Limits::fuel` if the template is trusted", None),
            ("divide it, or raise `Limits::program_bytes`", Some("divide it")),
            ("declare fewer, or raise `Bounds::charts`", Some("declare fewer")),
            ("did you mean `fuel`?", Some("did you mean `fuel`?")),
        ] {
            assert_eq!(for_command(&options, help.to_owned()).as_deref(), named);
        }
    }
}
