//! Layers of parameters: files for some of the sets, by the paths that a project has.

use std::collections::BTreeMap;

use super::scratch::{error_json, error_line};
use crate::error::{CatalogError, ErrorKind, Result};
use dropforge::bulk::input::{self, Place};
use dropforge::bulk::{Cluster, Fleet, Format, LayerGroups, LayerPath, Merge};
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::text::Source;
use dropforge::value::{Data, DataMap};

/// Shared parameters, layers over them, and the files of the layers.
#[derive(Debug)]
pub struct ParameterLayers {
    shared: (DataMap, Place),
    layers: Vec<LayerPath>,
    files: BTreeMap<String, (DataMap, Place)>,
    merge: Merge,
}

impl ParameterLayers {
    /// Reads the paths of layers, low to high, and the files that they stand for: each is a map of parameters, or a text. The
    /// format of a text follows from the name of its file.
    ///
    /// # Errors
    /// `invalid_layers`.
    pub fn new(shared: DataMap, layers: &[String], files: BTreeMap<String, Data>, merge: Merge) -> Result<Self> {
        let layers = layers.iter().map(|path| LayerPath::parse(path)).collect::<dropforge::diagnostics::Result<_>>();
        let files = files.into_iter().map(|(path, content)| Ok((path.clone(), file(&path, content)?)));
        let nowhere = Place::file(&Source::new("shared", ""), Format::Json);
        Ok(Self {
            shared: (shared, nowhere),
            layers: layers.map_err(invalid)?,
            files: files.collect::<dropforge::diagnostics::Result<_>>().map_err(invalid)?,
            merge,
        })
    }

    /// Returns the parameters of a set, `own`, merged over the layers and the shared ones. `{cluster}` in the path of a layer
    /// is `name`.
    ///
    /// # Errors
    /// `invalid_layers` for a missing file, and for a path that cannot be filled in.
    pub(super) fn merged(&self, name: &str, own: DataMap) -> Result<DataMap> {
        let mut fleet = Fleet::new(vec![Cluster::new(name, own)]).map_err(invalid)?;
        let mut read = |path: &str, may_be_missing: bool| match self.files.get(path) {
            Some(file) => Ok(Some(file.clone())),
            None if may_be_missing => Ok(None),
            None => Err(self.missing(path)),
        };
        let groups = LayerGroups::read(&self.layers, &mut fleet, &mut read);
        let groups = groups.map_err(|failures| {
            let first = failures.into_iter().next().map(|failure| failure.diagnostic);
            invalid(first.unwrap_or_else(|| Diagnostic::new(Code::Internal, "the layers cannot be read")))
        })?;
        let layers = groups.over(vec![self.shared.clone()], Vec::new(), self.merge);
        layers.merged(fleet.reader().cluster(0).map_err(invalid)?).map_err(invalid)
    }

    fn missing(&self, path: &str) -> Box<Diagnostic> {
        let names = || self.files.keys().map(String::as_str);
        let error = Diagnostic::new(Code::ReadFailed, format!("`files` has no `{path}`"));
        error.with_suggestion(path, names()).with_available(names())
    }
}

/// Reads a file of a layer.
fn file(path: &str, content: Data) -> dropforge::diagnostics::Result<(DataMap, Place)> {
    let format = match Format::of_name(path) {
        Some(format @ (Format::Json | Format::Toml | Format::Env)) => format,
        _ => Format::Yaml,
    };
    if let Data::Str(text) = &content {
        let source = Source::new(path, text.as_str());
        return Ok((input::map(&source, format)?, Place::file(&source, format)));
    }
    let map = content.try_into_map().map_err(|other| {
        let message = format!("`{path}` must be a map or the text of a file, found {}", other.kind());
        Diagnostic::new(Code::InputType, message)
    })?;
    Ok((map, Place::file(&Source::new(path, ""), format)))
}

fn invalid(error: Box<Diagnostic>) -> CatalogError {
    CatalogError::new(ErrorKind::Unprocessable, "invalid_layers", error_line(&error))
        .with_details(serde_json::json!({ "diagnostics": [error_json(&error)] }))
}
