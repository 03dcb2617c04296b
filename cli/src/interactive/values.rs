//! The values that expressions see.

use dropforge::bulk::{Cluster, Layers, leaves};
use dropforge::diagnostics::{Result as Checked, counted};
use dropforge::value::{Data, DataMap};

use super::session::Session;
use crate::exit::Failed;
use crate::layers;
use crate::values;

/// Maximum number of paths that are completed.
const PATHS: usize = 10_000;

/// The merged values and where they come from.
pub(super) struct SessionInputs {
    pub(super) layers: Layers,
    pub(super) cluster: Option<Cluster>,
    pub(super) merged: DataMap,
}

impl SessionInputs {
    /// Returns a line for each value below `prefix`, with its origins.
    ///
    /// # Errors
    /// Errors of reading the values of the cluster.
    pub(super) fn listing(&self, prefix: &str) -> Checked<String> {
        let text = values::with_origins(&self.merged, self.cluster.as_ref(), &self.layers);
        Ok(below(&text, prefix))
    }
}

/// Returns the paths of all values and of the maps that hold them: `image`, `image.tag`.
pub(super) fn paths(merged: &DataMap) -> Vec<String> {
    let mut paths = Vec::new();
    leaves(merged, &mut |path, _| {
        paths.extend((1..=path.len()).filter_map(|end| path.get(..end)).map(values::dotted));
    });
    paths.sort();
    paths.dedup();
    paths.truncate(PATHS);
    paths
}

impl Session<'_> {
    /// Returns the values of the chart, if there is one.
    pub(super) fn chart_values(&mut self) -> Option<Result<DataMap, Failed>> {
        self.chart()?;
        Some(self.data(".Values").map(|mut values| match &mut values {
            Data::Map(map) => std::mem::take(map),
            _ => DataMap::default(),
        }))
    }

    /// Returns the chosen cluster.
    ///
    /// # Errors
    /// `usage` with the nearest name.
    pub(super) fn cluster(&self) -> Checked<Option<Cluster>> {
        self.args.cluster.as_deref().map(|name| values::find(&self.fleet, name)).transpose()
    }

    /// Reads and merges the values.
    ///
    /// # Errors
    /// Errors of reading and merging them.
    pub(super) fn inputs(&mut self) -> Result<SessionInputs, Failed> {
        self.files.forget_files();
        let mut given = layers::read(&self.args.values, self.files, self.stderr)?;
        given.sets.splice(..0, self.environment.iter().cloned());
        let (groups, cluster) = self.args.reading.groups_of(self.cluster()?, self.files)?;
        let layers = given.layers(&groups, self.args.reading.merge());
        let layers = self.args.schema.add_to(layers, &self.args.templates, self.files)?;
        let merged = values::merged(&layers, cluster.as_ref())?;
        Ok(SessionInputs { layers, cluster, merged })
    }
}

/// Returns the lines `path: value` of `text` that are about `prefix` or a value in it.
pub(super) fn below(text: &str, prefix: &str) -> String {
    let is_below = |line: &&str| {
        let rest = line.strip_prefix(prefix);
        rest.is_some_and(|rest| prefix.is_empty() || rest.starts_with([':', '.', '[']))
    };
    text.split_inclusive('\n').filter(is_below).collect()
}

/// Returns a line for each value of a map, without origins.
pub(super) fn plain_listing(map: &DataMap) -> String {
    let mut text = String::new();
    leaves(map, &mut |path, value| {
        text.push_str(&format!("{}: {}\n", values::dotted(path), values::json(value, false)));
    });
    text
}

/// Returns the type of a value of a template language.
pub(super) fn type_of(value: &Data) -> String {
    match value {
        Data::Null => "null".to_owned(),
        Data::Bool(_) => "bool".to_owned(),
        Data::Int(_) | Data::Uint(_) => "integer".to_owned(),
        Data::Float(_) => "float".to_owned(),
        Data::Number(_) => "number".to_owned(),
        Data::Str(text) => format!("string of {}", counted(text.chars().count(), "character")),
        Data::List(elements) => format!("list of {}", counted(elements.len(), "element")),
        Data::Map(map) => format!("map of {}", counted(map.len(), "key")),
    }
}
