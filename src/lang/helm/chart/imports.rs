//! `import-values`: values of dependencies that a chart takes over.

use std::borrow::Cow;

use super::coalesce::{Nulls, coalesce, tables};
use super::error::Stage;
use super::merged::{Merged, MergedMap, View};
use super::metadata::Dependency;
use super::tree::{Tree, table};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_value::Data;

/// Maximum number of names in the path to imported values.
const NAMES: usize = 64;

/// Adds imported values to the defaults of a chart, below its own. The charts in it come first.
///
/// # Errors
/// See [`coalesce`]; `limit.depth` for a path with too many names.
pub(super) fn import(tree: &mut Tree<'_>) -> Result<()> {
    tree.children.iter_mut().try_for_each(import)?;
    if tree.dependencies.is_empty() {
        return Ok(());
    }
    let mut values = MergedMap::default();
    coalesce(tree, &mut values, Nulls::Keep).map_err(|error| Stage::Dependencies.of(error))?;
    let mut imported = MergedMap::default();
    for dependency in &tree.dependencies {
        for item in &dependency.import_values {
            if let Some((child, parent)) = source_and_target(item)
                && let Some(found) = table(View::Map(&values), &format!("{}.{child}", dependency.name))
            {
                tables(&mut imported, nested(&parent, found, dependency)?.view(), Nulls::Keep);
            }
        }
    }
    tables(&mut values, View::Map(&imported), Nulls::Keep);
    tree.values = values;
    Ok(())
}

/// Returns the paths from which and to which an item imports.
pub(super) fn source_and_target(item: &Data) -> Option<(String, String)> {
    match item {
        Data::Str(name) => Some((format!("exports.{name}"), ".".to_owned())),
        Data::Map(map) => {
            let path = |key: &str| map.get(key).and_then(Data::as_str).map(str::to_owned);
            path("child").zip(path("parent"))
        }
        _ => None,
    }
}

/// Returns values as the value at a path.
fn nested<'v>(path: &str, values: View<'_, 'v>, dependency: &Dependency) -> Result<Merged<'v>> {
    if path == "." {
        return Ok(values.to_merged());
    }
    if path.split('.').count() > NAMES {
        let message = format!("`import-values` of `{}`: a path has more than {NAMES} names", dependency.name);
        return Err(Stage::Dependencies.error(Code::LimitDepth, message));
    }
    let wrap = |inner, key: &str| Merged::Map(MergedMap::from_iter([(Cow::Owned(key.to_owned()), inner)]));
    Ok(path.rsplit('.').fold(values.to_merged(), wrap))
}
