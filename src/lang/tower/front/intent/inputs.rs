//! The inputs of an intent.

use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_value::{Data, DataMap, yaml};

/// The four scopes as supplied by a host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inputs {
    /// Parameters as supplied, before defaults and type checks.
    pub params: DataMap,
    /// The captured context.
    pub context: DataMap,
    /// Facts.
    pub facts: DataMap,
    /// Steps by id, each `{status?, outputs}`. `None` treats every step as completed with its declared outputs,
    /// resolved.
    pub steps: Option<DataMap>,
}

impl Inputs {
    /// Reads `{params, context, facts, steps}` from JSON.
    ///
    /// # Errors
    /// The text is not JSON, a key is unknown, or a scope is not a map.
    pub fn from_json(text: &str) -> Result<Inputs> {
        let data = serde_json::from_str(text)
            .map_err(|error| Diagnostic::new(Code::InputSyntax, format!("the inputs are not JSON: {error}")))?;
        Self::from_data(data)
    }

    /// Reads `{params, context, facts, steps}` from a YAML or JSON file.
    ///
    /// # Errors
    /// The errors of [`Inputs::from_json`].
    pub fn from_yaml(source: &Arc<Source>, limits: &Limits) -> std::result::Result<Inputs, Vec<Box<Diagnostic>>> {
        let data = yaml::read_data(source, limits)?;
        Self::from_data(data).map_err(|error| vec![error.at_if_nowhere(source, <_>::default())])
    }

    /// Takes the scopes from a map with the optional keys `params`, `context`, `facts` and `steps`.
    ///
    /// # Errors
    /// A key is unknown, or a scope is not a map.
    pub fn from_data(data: Data) -> Result<Inputs> {
        const KEYS: [&str; 4] = ["params", "context", "facts", "steps"];
        let mut inputs = Inputs::default();
        for (key, value) in scope(data, "the inputs are")? {
            match key.as_str() {
                "params" => inputs.params = scope(value, "`params` is")?,
                "context" => inputs.context = scope(value, "`context` is")?,
                "facts" => inputs.facts = scope(value, "`facts` is")?,
                "steps" => inputs.steps = Some(scope(value, "`steps` is")?),
                other => {
                    return Err(Diagnostic::new(Code::InputSyntax, format!("the inputs have no scope '{other}'"))
                        .with_available(KEYS)
                        .with_help("put parameters below `params`")
                        .with_suggestion(other, KEYS));
                }
            }
        }
        Ok(inputs)
    }

    /// Returns the fact `name` as text if it is a scalar.
    pub(super) fn fact(&self, name: &str) -> Option<String> {
        match self.facts.get(name)? {
            Data::Str(text) => Some(text.clone()),
            Data::Null | Data::List(_) | Data::Map(_) => None,
            other => serde_json::to_string(other).ok(),
        }
    }
}

/// Returns a map. Null is an empty map.
fn scope(data: Data, what: &str) -> Result<DataMap> {
    match data.try_into_map() {
        Ok(map) => Ok(map),
        Err(Data::Null) => Ok(DataMap::default()),
        Err(other) => Err(Diagnostic::new(Code::InputSyntax, format!("{what} a {}, not a map", other.kind()))),
    }
}
