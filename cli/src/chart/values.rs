//! The values that the command line gives to a chart, in Helm's order.

use dropforge::bulk::values::SetKind;
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge::dialect::helm::chart::UserValues;

use crate::input::InputFiles;
use crate::options::ValueArgs;

/// Kinds of `--set` options in the order in which they apply, whatever their order on the command line.
const ORDER: [SetKind; 5] = [SetKind::Json, SetKind::Typed, SetKind::Text, SetKind::File, SetKind::Literal];

/// Reads the files of `-f` and the `--set` options.
///
/// # Errors
/// Errors of reading and parsing; `usage` for `--env-prefix`.
pub(crate) fn read(args: &ValueArgs, files: &mut InputFiles) -> Result<UserValues, Diagnostics> {
    if !args.env_prefix.is_empty() {
        let error = Diagnostic::new(Code::Usage, "`--env-prefix` does not apply to Helm charts");
        return Err(error.with_help("use `-f` or `--set`").into());
    }
    args.check_dashes()?;
    let mut values = UserValues::default();
    for path in &args.values {
        let source = files.read(path, "-f -")?;
        values.file(source.name(), source.text())?;
    }
    for kind in ORDER {
        for (_, text) in args.sets.0.iter().filter(|(one, _)| *one == kind) {
            match kind {
                SetKind::Json => values.set_json(text),
                SetKind::Text => values.set_string(text),
                SetKind::File => values
                    .set_file(text, &mut |path| Ok(files.read(path.as_ref(), "--set-file K=-")?.text().to_owned())),
                SetKind::Literal => values.set_literal(text),
                _ => values.set(text),
            }?;
        }
    }
    Ok(values)
}
