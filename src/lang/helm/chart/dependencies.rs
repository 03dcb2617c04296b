//! Dependencies: which are there, which are enabled, and under which names.

use std::collections::HashSet;

use super::coalesce::{Nulls, coalesce};
use super::error::Stage;
use super::merged::{MergedMap, View};
use super::metadata::Dependency;
use super::tree::{Tree, leaf, table};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::semver::LenientVersion;
use dropforge_value::Data;

/// Returns an error if a chart in `Chart.yaml` is not in `charts/`.
pub(super) fn missing(tree: &Tree<'_>) -> Option<Box<Diagnostic>> {
    let is_missing = |dependency: &&Dependency| !tree.has_child(&dependency.name);
    let names: Vec<&str> =
        tree.dependencies.iter().filter(is_missing).map(|dependency| dependency.name.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let message = format!("found in Chart.yaml, but missing in charts/ directory: {}", names.join(", "));
    let error = Stage::Dependencies.error(Code::InputStructure, message);
    Some(error.with_help("run `helm dependency build`").with_available(tree.children.iter().map(|child| &child.name)))
}

/// Returns `true` if a version fulfils a constraint. Malformed ones do not.
pub(super) fn is_compatible(constraint: &str, version: &str) -> bool {
    LenientVersion::parse(version).is_ok_and(|version| version.version.fulfils(constraint) == Ok(true))
}

/// Applies aliases and removes disabled charts, also in the charts that remain. `values` are those of the user, `path`
/// leads to the values of this chart and ends with a dot.
///
/// # Errors
/// See [`coalesce`].
pub(super) fn enable<'v, 'c: 'v>(tree: &mut Tree<'c>, values: &MergedMap<'v>, path: &str) -> Result<()> {
    if tree.dependencies.is_empty() {
        return Ok(());
    }
    resolve(tree);
    let mut merged = values.clone();
    coalesce(tree, &mut merged, Nulls::Delete).map_err(|error| Stage::Dependencies.of(error))?;
    let is_disabled = |dependency: &&Dependency| !is_enabled(dependency, View::Map(&merged), path);
    let disabled: HashSet<String> =
        tree.dependencies.iter().filter(is_disabled).map(|dependency| dependency.name.clone()).collect();
    tree.children.retain(|child| !disabled.contains(&child.name));
    tree.dependencies.retain(|dependency| !disabled.contains(&dependency.name));
    for child in &mut tree.children {
        let path = format!("{path}{}.", child.name);
        enable(child, &merged, &path)?;
    }
    Ok(())
}

/// Applies aliases and enables every chart, also in the charts inside.
pub(super) fn enable_all(tree: &mut Tree<'_>) {
    resolve(tree);
    tree.children.iter_mut().for_each(enable_all);
}

/// Makes a chart of each dependency, under its alias. Charts that are not declared stay.
fn resolve(tree: &mut Tree<'_>) {
    let is_declared = |child: &&Tree<'_>| tree.dependencies.iter().any(|dependency| fits(dependency, child));
    let mut children: Vec<Tree<'_>> = tree.children.iter().filter(|child| !is_declared(child)).cloned().collect();
    for dependency in &mut tree.dependencies {
        let found = tree.children.iter().find(|child| fits(dependency, child));
        if !dependency.alias.is_empty() {
            dependency.name = dependency.alias.clone();
        }
        children.extend(found.map(|child| Tree { name: dependency.name.clone(), ..child.clone() }));
    }
    tree.children = children;
}

fn fits(dependency: &Dependency, child: &Tree<'_>) -> bool {
    child.name == dependency.name && is_compatible(&dependency.version, &child.chart.metadata.version)
}

/// Returns `true` if conditions and tags enable a dependency. The first condition that is a boolean decides; without
/// one, some tag has to be true if any is a boolean.
fn is_enabled(dependency: &Dependency, values: View<'_, '_>, path: &str) -> bool {
    let conditions = dependency.condition.trim().split(',').filter(|condition| !condition.is_empty());
    let flag = |data: &Data| if let Data::Bool(flag) = data { Some(*flag) } else { None };
    let mut decided = conditions.filter_map(|condition| leaf(values, &format!("{path}{condition}")).and_then(flag));
    decided.next().unwrap_or_else(|| {
        let tags = table(values, "tags");
        let mut flags = dependency.tags.iter().filter_map(|tag| tags?.get(tag)?.scalar().and_then(flag)).peekable();
        flags.peek().is_none() || flags.any(|flag| flag)
    })
}
