//! Merging values: what users give over what charts give, from the outside in.
//!
//! There are two ways. [`Nulls::Delete`] is for the final values: a null removes the default. [`Nulls::Keep`] merges
//! values that others will be merged over, so that nulls still have their effect there.
//!
//! The recursion is bounded by the nesting of values and charts.

use std::borrow::Cow;

use super::error::Stage;
use super::merged::{Merged, MergedMap, View, without_nulls};
use super::tree::Tree;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::Data;

/// The effect of a null over a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// The key is removed. Nulls in defaults are absent.
    Delete,
    /// The null stays.
    Keep,
}

/// The key of the values that all charts share.
const GLOBAL: &str = "global";

/// Merges the defaults of a chart and of the charts in it into `values`.
///
/// # Errors
/// `input.set_conflict` if the values of a dependency are not a map.
pub(super) fn coalesce<'v>(tree: &Tree<'v>, values: &mut MergedMap<'v>, nulls: Nulls) -> Result<()> {
    defaults(tree, values, nulls);
    for child in &tree.children {
        let mut own = match values.get_mut(&*child.name) {
            None => MergedMap::default(),
            Some(own) => match own.map_mut() {
                Some(own) => std::mem::take(own),
                None => return Err(mismatch(&child.name, &own.to_data())),
            },
        };
        globals(&mut own, values.get(GLOBAL), nulls);
        coalesce(child, &mut own, nulls)?;
        values.insert(Cow::Owned(child.name.clone()), Merged::Map(own));
    }
    Ok(())
}

fn mismatch(name: &str, found: &Data) -> Box<Diagnostic> {
    let shown = match found {
        Data::List(items) if items.is_empty() => "[]".to_owned(),
        Data::Null => "%!t(<nil>)".to_owned(),
        other => other.kind().to_owned(),
    };
    Stage::Schema
        .error(Code::SetConflict, format!("type mismatch on {name}: {shown}"))
        .with_help(format!("`{name}` holds the values of the chart `{name}`: give a map"))
}

/// Merges the defaults of one chart into `values`.
fn defaults<'v>(tree: &Tree<'v>, values: &mut MergedMap<'v>, nulls: Nulls) {
    // A null for a dependency still has to remove that chart's own default.
    merge(values, View::Map(&tree.values), nulls, &|key| if tree.has_child(key) { Nulls::Keep } else { nulls });
}

/// Merges `defaults`, a map, into `given`.
pub(super) fn tables<'v>(given: &mut MergedMap<'v>, defaults: View<'_, 'v>, nulls: Nulls) {
    merge(given, defaults, nulls, &|_| nulls);
}

/// Merges maps. `inside` returns the effect of nulls in the value under a key.
fn merge<'v>(given: &mut MergedMap<'v>, defaults: View<'_, 'v>, nulls: Nulls, inside: &dyn Fn(&str) -> Nulls) {
    for (key, default) in defaults.entries() {
        let Some(found) = given.get_mut(&key) else {
            copy(given, key, default, nulls);
            continue;
        };
        if found.view().is_null() && nulls == Nulls::Delete {
            given.swap_remove(&key);
        } else if found.view().is_map()
            && default.is_map()
            && let Some(found) = found.map_mut()
        {
            tables(found, default, inside(&key));
        }
    }
}

/// Adds a default under a key that has no value.
fn copy<'v>(values: &mut MergedMap<'v>, key: Cow<'v, str>, default: View<'_, 'v>, nulls: Nulls) {
    let default = match nulls {
        Nulls::Keep => Some(default.to_merged()),
        Nulls::Delete => without_nulls(default),
    };
    if let Some(default) = default {
        values.insert(key, default);
    }
}

/// Merges the shared values of a chart over those of a chart in it. Values that are no maps stay as they are.
fn globals<'v>(own: &mut MergedMap<'v>, outer: Option<&Merged<'v>>, nulls: Nulls) {
    let nothing = MergedMap::default();
    let outer = match outer.map(Merged::view) {
        None => View::Map(&nothing),
        Some(outer) if outer.is_map() => outer,
        Some(_) => return,
    };
    let inner = own.entry(Cow::Borrowed(GLOBAL)).or_insert_with(|| Merged::Map(MergedMap::default()));
    let Some(inner) = inner.map_mut() else { return };
    for (key, value) in outer.entries() {
        let below = inner.get(&key).map(Merged::view);
        let merged = match below {
            Some(below) if below.is_map() && value.is_map() => {
                let mut merged = value.to_merged();
                merged.map_mut().into_iter().for_each(|above| tables(above, below, nulls));
                merged
            }
            // A map and another value: the chart's own stays.
            Some(below) if below.is_map() || value.is_map() => continue,
            _ => value.to_merged(),
        };
        inner.insert(key, merged);
    }
}
