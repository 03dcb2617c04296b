//! Input layers from `-f` and `--set`.

use std::path::Path;

use dropforge::bulk::values::parse_set;
use dropforge::bulk::{Format, Layers, Merge, input};
use dropforge::diagnostics::Result;

use crate::input::InputFiles;
use crate::options::ValueArgs;

/// Reads values files and `--set` options. `merge` is the effect of a cluster's inputs on them.
///
/// # Errors
/// Errors of reading the files; `input.bad_set`.
pub(crate) fn layers(args: &ValueArgs, merge: Merge, files: &mut InputFiles) -> Result<Layers> {
    let mut sets = Vec::new();
    for (kind, text) in &args.sets.0 {
        let mut read = |path: &str| files.read(Path::new(path)).map(|source| source.text().to_owned());
        sets.extend(parse_set(*kind, text, &mut read)?);
    }
    let mut maps = Vec::new();
    for path in &args.values {
        let source = files.read(path)?;
        // YAML unless the file name says otherwise, and JSON is YAML.
        let format = match Format::of(source.name(), "") {
            format @ (Format::Json | Format::Hcl) => format,
            _ => Format::Yaml,
        };
        maps.push(input::map(&source, format)?);
    }
    Ok(Layers::new(maps, sets, merge))
}
