//! The errors of clusters without a name.

use std::sync::Arc;

use crate::bulk::values::Step;
use crate::diagnostics::{Code, Diagnostic, listed, thousands};
use crate::text::{Source, Span};
use crate::value::{Data, DataMap};

/// Returns the error of the cluster `nth`, counted from 1, whose name is at none of `paths`.
pub(super) fn cluster(nth: usize, paths: &[String], own: &DataMap) -> Box<Diagnostic> {
    let error = Diagnostic::new(Code::UnnamedCluster, format!("cluster {} has no name", thousands(nth)))
        .with_note(expected(paths));
    let is_scalar = |value: &Data| !matches!(value, Data::Null | Data::Map(_) | Data::List(_));
    let scalars = own.iter().filter(|(_, value)| is_scalar(value)).map(|(key, _)| key.as_str());
    let error = match likely(scalars) {
        Some(key) => error.with_help(format!("is it `{key}`? Then use `--name-key {key}`")),
        None => error.with_help("name another path with `--name-key PATH`"),
    };
    let error = match own.is_empty() {
        true => error,
        false => error.with_available(own.keys()),
    };
    let holds_clusters = |key: &&str| match own.get(*key) {
        Some(Data::Map(named)) => named.values().all(|value| matches!(value, Data::Map(_) | Data::List(_))),
        value => matches!(value, Some(Data::List(_))),
    };
    match ["cluster", "clusters"].into_iter().find(|key| own.len() > 1 && holds_clusters(key)) {
        Some(key) => error.with_note(format!("a file is one cluster if it has other keys beside `{key}`")),
        None => error,
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
    Some(match (columns.as_slice(), likely(columns.iter().map(String::as_str))) {
        ([one], _) if one.contains('\t') => error.with_help("read cells between tabs with `--fleet-format tsv`"),
        ([one], _) if one.contains([';', '|']) => {
            let separator = if one.contains(';') { ';' } else { '|' };
            error.with_help(format!("is `{separator}` the separator? Separate the cells by commas"))
        }
        (_, Some(key)) => error.with_help(format!("is it `{key}`? Then use `--name-key {key}`")),
        (_, None) => error.with_help("name the column with `--name-key PATH`"),
    })
}

/// Maximum number of columns to name.
const COLUMNS: usize = 20;

fn expected(paths: &[String]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    format!("expected a string or an integer at {}", paths.join(" or "))
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
