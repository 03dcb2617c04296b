//! Merging values: what users give over what charts give, from the outside in.
//!
//! There are two ways. [`Nulls::Delete`] is for the final values: a null removes the default. [`Nulls::Keep`] merges
//! values that others will be merged over, so that nulls still have their effect there.
//!
//! The recursion is bounded by the nesting of values and charts.

use super::error::Stage;
use super::tree::Tree;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::value::{Data, DataMap};

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
pub(super) fn coalesce(tree: &Tree<'_>, values: &mut DataMap, nulls: Nulls) -> Result<()> {
    defaults(tree, values, nulls);
    for child in &tree.children {
        let mut own = match values.get_mut(&child.name) {
            None => DataMap::new(),
            Some(Data::Map(own)) => std::mem::take(own),
            Some(other) => return Err(mismatch(&child.name, other)),
        };
        globals(&mut own, values.get(GLOBAL), nulls);
        coalesce(child, &mut own, nulls)?;
        values.insert(child.name.clone(), Data::Map(own));
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
fn defaults(tree: &Tree<'_>, values: &mut DataMap, nulls: Nulls) {
    for (key, default) in tree.values.iter() {
        match (values.get_mut(key), default) {
            (None, default) => copy(values, key, default, nulls),
            (Some(Data::Null), _) if nulls == Nulls::Delete => {
                values.swap_remove(key);
            }
            (Some(Data::Map(given)), Data::Map(default)) => {
                // A null for a dependency still has to remove that chart's own default.
                let nulls = if tree.has_child(key) { Nulls::Keep } else { nulls };
                tables(given, default, nulls);
            }
            _ => {}
        }
    }
}

/// Merges `defaults` into `given`.
pub(super) fn tables(given: &mut DataMap, defaults: &DataMap, nulls: Nulls) {
    for (key, default) in defaults {
        match (given.get_mut(key), default) {
            (None, default) => copy(given, key, default, nulls),
            (Some(Data::Null), _) if nulls == Nulls::Delete => {
                given.swap_remove(key);
            }
            (Some(Data::Map(given)), Data::Map(default)) => tables(given, default, nulls),
            _ => {}
        }
    }
}

/// Copies a default under a key that has no value.
fn copy(values: &mut DataMap, key: &str, default: &Data, nulls: Nulls) {
    match nulls {
        Nulls::Keep => {
            values.insert(key.to_owned(), default.clone());
        }
        Nulls::Delete => {
            if let Some(default) = without_nulls(default) {
                values.insert(key.to_owned(), default);
            }
        }
    }
}

/// Returns a value without the nulls in its maps. `None` for null.
pub(super) fn without_nulls(data: &Data) -> Option<Data> {
    match data {
        Data::Null => None,
        Data::Map(map) => {
            let entries = map.iter().filter_map(|(key, value)| Some((key.clone(), without_nulls(value)?)));
            Some(Data::Map(entries.collect()))
        }
        other => Some(other.clone()),
    }
}

/// Merges the shared values of a chart over those of a chart in it. Values that are no maps stay as they are.
fn globals(own: &mut DataMap, outer: Option<&Data>, nulls: Nulls) {
    if own.get(GLOBAL).is_some_and(|own| own.as_map().is_none()) {
        return;
    }
    let nothing = DataMap::new();
    let outer = match outer {
        None => &nothing,
        Some(Data::Map(outer)) => outer,
        Some(_) => return,
    };
    let inner = own.entry(GLOBAL.to_owned()).or_insert_with(|| Data::Map(DataMap::new()));
    let Data::Map(inner) = inner else { return };
    for (key, value) in outer {
        match (inner.get(key), value) {
            (None, _) => {
                inner.insert(key.clone(), value.clone());
            }
            (Some(Data::Map(below)), Data::Map(above)) => {
                let mut merged = above.clone();
                tables(&mut merged, below, nulls);
                inner.insert(key.clone(), Data::Map(merged));
            }
            // A map and another value: the chart's own stays.
            (Some(Data::Map(_)), _) | (Some(_), Data::Map(_)) => {}
            (Some(_), _) => {
                inner.insert(key.clone(), value.clone());
            }
        }
    }
}
