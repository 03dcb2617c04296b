//! The errors of clusters without a name, and of those with the same.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Fleet, MAX_REPORTED};
use crate::input::Format;
use crate::key_set::SortedKeys;
use crate::values::Step;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted, listed, nearest, thousands};
use dropforge_base::text::{Source, Span};
use dropforge_value::{Data, DataMap};

/// Returns the error of the cluster `nth`, counted from 1, which has nothing at any of `paths`.
pub(super) fn cluster(nth: usize, paths: &[String], own: &Data, format: Format) -> Box<Diagnostic> {
    let error = Diagnostic::new(Code::UnnamedCluster, format!("cluster {} has no name", thousands(nth)))
        .with_note(expected(paths));
    let Some(own) = own.as_map().filter(|own| !own.is_empty()) else { return error.with_help(NAME_IT) };
    let error = error.with_available(own.keys());
    let wrapped = ["cluster", "clusters"].into_iter().find(|key| own.get(*key).is_some_and(holds_clusters));
    match wrapped {
        Some(key) if own.len() > 1 => {
            error.with_help(help(own)).with_note(format!("a file is one cluster if it has other keys beside `{key}`"))
        }
        Some(_) if !matches!(format, Format::Hcl | Format::Toml) => error.with_help(LIST),
        _ => error.with_help(help(own)),
    }
}

/// Returns the error of the cluster `nth` with a value at `path` that is no name. `text` is the value in the file.
pub(super) fn invalid(nth: usize, path: &str, found: &Data, text: &str) -> Box<Diagnostic> {
    let is = match found {
        Data::Null => "null".to_owned(),
        Data::Str(_) => "empty".to_owned(),
        found => format!("a {}", found.kind()),
    };
    let error = Diagnostic::new(Code::UnnamedCluster, format!("the name of cluster {} is {is}", thousands(nth)))
        .with_note(format!("expected a string or an integer at `{path}`"));
    let is_word = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"');
    match found {
        Data::Bool(_) | Data::Float(_) | Data::Number(_) if is_word => {
            error.with_help(format!("quote it: `\"{text}\"`"))
        }
        _ => error.with_help(NAME_IT),
    }
}

const NAME_IT: &str = "give each cluster a `name`";
const LIST: &str = "write the clusters as a list: each is a map with a `name`";

/// Returns the help for a cluster with values, but without a name.
fn help(own: &DataMap) -> String {
    let is_scalar = |value: &Data| matches!(value, Data::Str(_) | Data::Int(_) | Data::Uint(_));
    let scalars = own.iter().filter(|(_, value)| is_scalar(value)).map(|(key, _)| key.as_str());
    match by_key(scalars) {
        Some(help) => help,
        None if own.values().all(|value| value.as_map().is_some()) => {
            format!("{LIST}; or name the path of its name with `--name-key PATH`")
        }
        None if own.values().any(has_scalar) => {
            "name another path with `--name-key PATH`, or take the name of its file with `--name-from file`".to_owned()
        }
        None => NAME_IT.to_owned(),
    }
}

/// Returns `true` for a value that may be a name, or a map with one.
fn has_scalar(value: &Data) -> bool {
    match value {
        Data::Map(map) => map.values().any(has_scalar),
        value => matches!(value, Data::Str(_) | Data::Int(_) | Data::Uint(_)),
    }
}

/// Returns `true` for a list of clusters, or a map of them by name.
pub(super) fn holds_clusters(value: &Data) -> bool {
    match value {
        Data::Map(named) => {
            !named.is_empty() && named.values().all(|value| matches!(value, Data::Map(_) | Data::List(_)))
        }
        value => matches!(value, Data::List(_)),
    }
}

/// Returns the error of a table without a column for names, unless a column is at one of `paths`.
pub(super) fn table(source: &Arc<Source>, paths: &[String], columns: &[Vec<Step>]) -> Option<Box<Diagnostic>> {
    let columns: Vec<String> = columns.iter().map(|column| Step::joined(column)).collect();
    if columns.is_empty() || columns.iter().any(|column| paths.contains(column)) {
        return None;
    }
    let text = source.text();
    let start = text.len() - text.trim_start_matches(['\u{feff}', '\r', '\n']).len();
    let error = Diagnostic::new(Code::UnnamedCluster, "no column has the names of the clusters")
        .at(source, Span::of(start..start), "")
        .with_note(expected(paths))
        .with_note(format!("the columns are {}", listed(&columns, COLUMNS)));
    Some(match columns.as_slice() {
        [one] if one.contains('\t') => error.with_help("read cells between tabs with `--fleet-format tsv`"),
        [one] if one.contains([';', '|']) => {
            let separator = if one.contains(';') { ';' } else { '|' };
            error.with_help(format!("is `{separator}` the separator? Separate the cells by commas"))
        }
        columns => {
            let help = by_key(columns.iter().map(String::as_str));
            error.with_help(help.unwrap_or_else(|| "name the column with `--name-key PATH`".to_owned()))
        }
    })
}

/// Maximum number of columns to name.
const COLUMNS: usize = 20;

fn expected(paths: &[String]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    format!("expected a string or an integer at {}", paths.join(" or "))
}

/// Returns the help that names the key which most likely has the name, or a misspelt one.
fn by_key<'k>(keys: impl Iterator<Item = &'k str> + Clone) -> Option<String> {
    match likely(keys.clone()) {
        Some(key) => Some(format!("is it `{key}`? Then use `--name-key {key}`")),
        None => misspelt(keys).map(|key| format!("did you mean `name`? Or use `--name-key {key}`")),
    }
}

/// Returns the key that is most likely to have the name.
fn likely<'k>(keys: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    const NAMES: [&str; 5] = ["name", "clustername", "cluster", "clusterid", "id"];
    let rank = |key: &str| {
        let plain: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        NAMES.iter().position(|name| *name == plain)
    };
    keys.filter_map(|key| Some((rank(key)?, key))).min().map(|(_, key)| key)
}

/// Returns the key that is most likely a misspelling of `name`.
fn misspelt<'k>(mut keys: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    keys.find(|key| *key != "name" && !key.contains('.') && nearest(key, ["name"]).is_some())
}

/// Returns the error of the clusters whose names are repeated among `names`, if there are any.
///
/// # Errors
/// Errors of reading clusters.
pub(super) fn repeated(fleet: &Fleet, names: &SortedKeys) -> Result<Option<Box<Diagnostic>>> {
    let (mut seen, mut pairs, mut more) = (HashMap::new(), Vec::new(), 0);
    fleet.each(&mut |second, cluster| {
        let name = cluster.name();
        let first = names.is_repeated(name).then(|| seen.insert(name.to_owned(), second)).flatten();
        match first {
            Some(first) if pairs.len() <= MAX_REPORTED => pairs.push((name.to_owned(), first, second)),
            Some(_) => more += 1,
            None => {}
        }
        Ok(())
    })?;
    let Some(((name, first, second), others)) = pairs.split_first() else { return Ok(None) };
    let shown = |name: &str, first, second| format!("`{name}` ({} and {})", fleet.place(first), fleet.place(second));
    let mut reader = fleet.reader();
    let mut error =
        Diagnostic::new(Code::DuplicateCluster, format!("duplicate cluster name {}", shown(name, *first, *second)))
            .with_help("give each cluster a unique name");
    for (at, text) in [(*second, ""), (*first, "the other cluster")] {
        error = reader.cluster(at)?.label(error, text);
    }
    for (name, first, second) in others {
        let place = reader.cluster(*second)?.position().unwrap_or_default();
        error = error.with_note(format!("also {}{place}", shown(name, *first, *second)));
    }
    Ok(Some(if more > 0 { error.with_note(format!("and {}", counted(more, "more pair"))) } else { error }))
}
