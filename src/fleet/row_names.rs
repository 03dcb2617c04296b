//! The names of the clusters in the rows of Arrow record batches.

use std::borrow::Cow;

use arrow_array::RecordBatch;

use super::view::scalar_text;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};
use dropforge_value::{Arena, ArrowRows, InputBuilder, ReadPaths, Shapes, Value};

/// Returns the names of the clusters in the rows of `batch`, by the same rules as for other fleets: `name`, else
/// `cluster.name`, else the value at `name_key`.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None]));
/// let names = dropforge::bulk::row_names(&RecordBatch::try_from_iter([("id", ids)])?, Some("id"))?;
/// assert_eq!(names[0].as_deref().ok(), Some("7"));
/// assert_eq!(names[1].as_ref().unwrap_err().message, "row 2 has no name");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of [`ArrowRows::new`]. A row without a name is an error of its own: `plan.unnamed_cluster`.
pub fn row_names(batch: &RecordBatch, name_key: Option<&str>) -> Result<Vec<Result<String>>> {
    let (rows, paths) = (ArrowRows::new(batch)?, name_paths(name_key));
    let mut reads = ReadPaths::default();
    paths.iter().for_each(|path| reads.add(path.split('.')));
    let (names, mut arena) = (Arena::new(), Arena::new());
    let shapes = Shapes::reading(&names, &reads);
    let mut name = |at| {
        arena.reset();
        let row = InputBuilder::new(&arena, &shapes).arrow_row(&rows, at)?;
        name_of(&paths, row, at).map(Cow::into_owned)
    };
    Ok((0..rows.len()).map(&mut name).collect())
}

/// Returns the dotted paths of a cluster's name, in order of precedence.
pub(super) fn name_paths(name_key: Option<&str>) -> Vec<String> {
    ["name", "cluster.name"].into_iter().chain(name_key).map(str::to_owned).collect()
}

/// Returns the name of the cluster in the row at `at`.
pub(super) fn name_of<'v>(paths: &[String], own: Value<'v>, at: usize) -> Result<Cow<'v, str>> {
    let find = |path: &String| path.split('.').try_fold(own, |value, key| value.as_map()?.get(key));
    let name = paths.iter().filter_map(find).find_map(|value| match value {
        Value::Str(text) if !text.as_str().is_empty() => Some(text.as_str().into()),
        Value::Int(_) | Value::Uint(_) => Some(scalar_text(&value.to_data()).into()),
        _ => None,
    });
    name.ok_or_else(|| {
        let paths: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
        Diagnostic::new(Code::UnnamedCluster, format!("row {} has no name", thousands(at + 1)))
            .with_note(format!("expected a string or an integer at {}", paths.join(" or ")))
    })
}
