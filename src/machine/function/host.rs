//! Functions registered by a user of the library: closures with named arguments.

use std::error::Error;

use serde::Serialize;
use serde::de::DeserializeOwned;

use dropforge_value::{Data, DataMap};

/// The arguments of a call to a registered function.
///
/// ```
/// use dropforge::function::HostArgs;
/// use dropforge::value::Data;
/// let args = HostArgs::new(None, [("team".to_owned(), Data::Str("core".into()))].into_iter().collect());
/// assert_eq!(args.get::<String>("team").unwrap(), "core");
/// assert_eq!(args.get::<Option<u32>>("size").unwrap(), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct HostArgs {
    value: Option<Data>,
    named: DataMap,
}

impl HostArgs {
    /// Creates arguments: the value that a filter or test is applied to, and named ones.
    pub fn new(value: Option<Data>, named: DataMap) -> Self {
        Self { value, named }
    }

    /// Returns the value that a filter or test is applied to, as a `T`.
    pub fn value<T: DeserializeOwned>(&self) -> Result<T, String> {
        convert("the value", self.value.as_ref())
    }

    /// Returns the argument `name` as a `T`. An `Option` is `None` if the argument is missing.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T, String> {
        convert(&format!("argument `{name}`"), self.named.get(name))
    }

    /// Returns all named arguments in order.
    pub fn named(&self) -> &DataMap {
        &self.named
    }
}

fn convert<T: DeserializeOwned>(what: &str, data: Option<&Data>) -> Result<T, String> {
    let json = serde_json::to_value(data).map_err(|error| format!("{what}: {error}"))?;
    serde_json::from_value(json).map_err(|error| match data {
        Some(_) => format!("{what}: {error}"),
        None => format!("{what} is not given"),
    })
}

/// The error of a registered function.
pub type HostError = Box<dyn Error + Send + Sync>;

/// The result of a registered function: a `Result` of a serializable value, or of an error or a message.
pub trait IntoHostResult {
    /// Converts to owned data.
    ///
    /// # Errors
    /// The error of the function, or that its value does not serialize.
    fn into_result(self) -> Result<Data, HostError>;
}

impl<T: Serialize, E: Into<HostError>> IntoHostResult for Result<T, E> {
    fn into_result(self) -> Result<Data, HostError> {
        let json = serde_json::to_value(self.map_err(Into::into)?)?;
        Ok(serde_json::from_value(json)?)
    }
}
