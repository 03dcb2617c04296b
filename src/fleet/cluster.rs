//! One cluster: its name and its own inputs.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::input::{self, Format, Place};
use super::state::short_digest;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::text::{Source, Span};
use dropforge_value::{Data, DataMap, json_maps};
use serde::Serializer as _;

/// A cluster: its name and its own inputs.
///
/// A cluster of an NDJSON file or a JSON list stays text until a worker needs its inputs.
#[derive(Debug, Clone)]
pub struct Cluster(ClusterInputs);

#[derive(Debug, Clone)]
enum ClusterInputs {
    Parsed(Box<ParsedCluster>),
    /// The position of a JSON object in its source, and of the name in it.
    Text {
        source: Arc<Source>,
        start: usize,
        length: u32,
        name_start: u32,
        name_length: u32,
        group: u32,
    },
}

#[derive(Debug, Clone)]
struct ParsedCluster {
    name: String,
    inputs: DataMap,
    /// The place that the inputs were read from.
    place: Option<Place>,
    group: u32,
}

impl Cluster {
    /// Creates a cluster called `name` with the inputs `own`.
    pub fn new(name: impl Into<String>, own: DataMap) -> Self {
        Self(ClusterInputs::Parsed(Box::new(ParsedCluster { name: name.into(), inputs: own, place: None, group: 0 })))
    }

    /// Puts the cluster into a group of clusters with the same layers.
    pub(super) fn put_into(&mut self, number: u32) {
        match &mut self.0 {
            ClusterInputs::Parsed(parsed) => parsed.group = number,
            ClusterInputs::Text { group, .. } => *group = number,
        }
    }

    /// Returns what the group of the cluster has, or `first` for a cluster without one. `groups` are counted from group 1.
    pub(super) fn of_group<'g, T>(&self, first: &'g T, groups: &'g [T]) -> &'g T {
        self.group().checked_sub(1).and_then(|group| groups.get(group)).unwrap_or(first)
    }

    /// Returns the number of the cluster's group. Groups are counted from 1; 0 is for clusters without one.
    #[doc(hidden)]
    pub fn group(&self) -> usize {
        match &self.0 {
            ClusterInputs::Parsed(parsed) => parsed.group as usize,
            ClusterInputs::Text { group, .. } => *group as usize,
        }
    }

    /// Sets the place that the inputs were read from. Has no effect on a cluster that is still text.
    pub(super) fn read_from(mut self, from: Place) -> Self {
        if let ClusterInputs::Parsed(parsed) = &mut self.0 {
            parsed.place = Some(from);
        }
        self
    }

    /// Returns the place that the inputs were read from.
    #[doc(hidden)]
    pub fn place(&self) -> Option<Place> {
        match &self.0 {
            ClusterInputs::Parsed(parsed) => parsed.place.clone(),
            ClusterInputs::Text { source, start, length, .. } => {
                Some(Place::text(source, Format::of_lines(source), *start..*start + *length as usize))
            }
        }
    }

    /// Returns `true` if all inputs are secret, because their file was decrypted.
    pub(super) fn is_secret(&self) -> bool {
        match &self.0 {
            ClusterInputs::Parsed(parsed) => parsed.place.as_ref().is_some_and(|place| place.source().is_secret()),
            ClusterInputs::Text { source, .. } => source.is_secret(),
        }
    }

    /// Adds a label to an error: the place of the name, or else that of the cluster, if it is known.
    pub(super) fn label(&self, error: Box<Diagnostic>, text: &str) -> Box<Diagnostic> {
        match self.place().and_then(|place| Some((place.name()?, place))) {
            Some((at, place)) => error.at(place.source(), at, text),
            None => error,
        }
    }

    /// Returns the position of the name after a colon, or else that of the cluster: `: f.csv:3:1`.
    pub(super) fn position(&self) -> Option<String> {
        let place = self.place()?;
        let position = place.source().position(place.name()?.start);
        Some(format!(": {}:{position}", place.source().path()))
    }

    /// Creates a cluster from the JSON object in `range` of `source`, a line or an item of a list. The text has its `name`.
    ///
    /// Returns `None` if the object is too long for the compact form.
    pub(super) fn of_text(source: &Arc<Source>, range: &Range<usize>, name: &str) -> Option<Self> {
        let object = source.text().get(range.clone())?;
        let name_start = (name.as_ptr() as usize).checked_sub(object.as_ptr() as usize)?;
        Some(Self(ClusterInputs::Text {
            source: source.clone(),
            start: range.start,
            length: range.len().try_into().ok()?,
            name_start: name_start.try_into().ok()?,
            name_length: name.len().try_into().ok()?,
            group: 0,
        }))
    }

    /// Creates a cluster from the row that [`Cluster::line`] returns.
    pub(super) fn at_line(source: &Arc<Source>, [start, length, name_start, name_length]: [u32; 4]) -> Self {
        Self(ClusterInputs::Text {
            source: source.clone(),
            start: start as usize,
            length,
            name_start,
            name_length,
            group: 0,
        })
    }

    /// Returns the start and length of a line in its source, and of the name in the line, in bytes.
    pub(super) fn line(&self) -> Option<[u32; 4]> {
        match &self.0 {
            ClusterInputs::Parsed(_) => None,
            ClusterInputs::Text { start, length, name_start, name_length, .. } => {
                Some([u32::try_from(*start).ok()?, *length, *name_start, *name_length])
            }
        }
    }

    /// Returns the name, unique in its fleet.
    pub fn name(&self) -> &str {
        match &self.0 {
            ClusterInputs::Parsed(parsed) => &parsed.name,
            ClusterInputs::Text { source, start, name_start, name_length, .. } => {
                let start = start + *name_start as usize;
                source.text().get(start..start + *name_length as usize).unwrap_or("")
            }
        }
    }

    /// Returns the cluster's own inputs as the JSON object they were read from, if they are still text.
    #[doc(hidden)]
    pub fn json(&self) -> Option<&str> {
        match &self.0 {
            ClusterInputs::Parsed(_) => None,
            ClusterInputs::Text { source, start, length, .. } => source.text().get(*start..*start + *length as usize),
        }
    }

    /// Returns the cluster's own inputs.
    ///
    /// # Errors
    /// `input.syntax` or `limit.depth` if they are text that is not a valid map.
    pub fn inputs(&self) -> Result<Cow<'_, DataMap>> {
        let (source, line) = match &self.0 {
            ClusterInputs::Parsed(parsed) => return Ok(Cow::Borrowed(&parsed.inputs)),
            ClusterInputs::Text { source, start, length, .. } => (source, *start..*start + *length as usize),
        };
        let data = input::json(source, line.clone())?;
        data.try_into_map().map(Cow::Owned).map_err(|other| not_a_map(&other).at(source, Span::of(line), ""))
    }

    /// Returns a short digest of the cluster's own inputs, as they were written.
    #[doc(hidden)]
    pub fn digest(&self) -> String {
        let ClusterInputs::Parsed(parsed) = &self.0 else { return short_digest(self.json().unwrap_or("").as_bytes()) };
        let mut text = Vec::new();
        // Values that JSON does not have are left out.
        let _ = serde_json::Serializer::new(&mut text).collect_map(&parsed.inputs);
        short_digest(&text)
    }

    /// Returns the cluster's own inputs, perhaps with empty lists: items are not read if the inputs are still text.
    ///
    /// # Errors
    /// Same as [`Cluster::inputs`].
    pub(super) fn maps(&self) -> Result<Cow<'_, DataMap>> {
        self.json().and_then(json_maps).map_or_else(|| self.inputs(), |maps| Ok(Cow::Owned(maps)))
    }
}

/// Returns the error for a cluster that is not a map.
pub(super) fn not_a_map(found: &Data) -> Box<Diagnostic> {
    let error = Diagnostic::new(Code::BadFleet, format!("expected a cluster as a map, found {}", found.kind()))
        .with_note("a fleet is a list of maps, a map per document, a JSON object per line, or a table with a header");
    match found {
        Data::Str(name) if !name.contains(['\n', '\t', ',', '=', ';']) => {
            error.with_help(format!("write `- name: {name}`"))
        }
        // A table or TOML without the extension of a file is a text of YAML.
        Data::Str(_) => {
            error.with_help("name the format of CSV, TSV, TOML or HCL on standard input with `--fleet-format`")
        }
        _ => error,
    }
}
