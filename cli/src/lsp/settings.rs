//! Settings of the client.

use serde::Deserialize;
use serde_json::Value;

/// The settings, from `initializationOptions` and `workspace/didChangeConfiguration`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Settings {
    /// Files of values, above those of the project.
    pub(super) values: Vec<String>,
    /// Fleets, in place of those of the project.
    pub(super) fleet: Vec<String>,
    /// The cluster whose values are shown. Without it, the first one is.
    pub(super) cluster: Option<String>,
}

impl Settings {
    /// Reads settings, which may be below the key `dropforge`.
    ///
    /// # Errors
    /// The reason if they are not of this form.
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let own = value.get("dropforge").unwrap_or(value);
        if own.is_null() {
            return Ok(Self::default());
        }
        Self::deserialize(own).map_err(|error| format!("invalid settings of dropforge: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_may_be_below_a_key() {
        let read = |value| Settings::read(&value);
        let own = read(json!({"values": ["v.yaml"], "cluster": "eu"})).unwrap();
        assert_eq!((own.values.as_slice(), own.cluster.as_deref()), (&["v.yaml".to_owned()][..], Some("eu")));
        assert_eq!(read(json!({"dropforge": {"cluster": "eu"}})).unwrap().cluster.as_deref(), Some("eu"));
        assert_eq!(read(json!(null)), Ok(Settings::default()));
        assert!(read(json!({"values": 5})).is_err());
    }
}
