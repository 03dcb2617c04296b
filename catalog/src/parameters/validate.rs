//! Validation of parameters.

use serde_json::Value as Json;

use super::json::unreadable;
use super::messages;
use super::schema::Schema;
use super::secrets::{Secrets, redact};
use super::violation::{Violation, Violations, invalid_parameters};
use crate::error::{CatalogError, Result};
use dropforge::schema::{self, Detail};
use dropforge::value::{Arena, InputBuilder, Shapes};

/// Maximum number of steps of a validation.
const STEPS: u64 = 8_000_000;

/// Maximum number of reported violations. The others are only counted.
const MAX_REPORTED: usize = 100;
/// Maximum bytes of a value in a report.
const MAX_VALUE_BYTES: usize = 256;

impl Schema {
    /// Validates `parameters`.
    ///
    /// # Errors
    /// `invalid_parameters` if validation takes too many steps.
    ///
    /// ```
    /// use dropforge_catalog::parameters::Schema;
    /// use serde_json::json;
    /// let schema = Schema::parse(r#"{"properties": {"n": {"maximum": 20}}}"#)?;
    /// let found = schema.violations(&json!({"n": 100}))?;
    /// assert_eq!((&*found.reported[0].pointer, &found.reported[0].limit), ("/n", &json!(20)));
    /// # Ok::<(), dropforge_catalog::CatalogError>(())
    /// ```
    pub fn violations(&self, parameters: &Json) -> Result<Violations> {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let value =
            InputBuilder::new(&arena, &shapes).serialize(parameters).map_err(|error| unreadable(&error.message))?;
        let mut left = STEPS;
        let mut spend = |steps: u64| -> Result<()> {
            left = left.checked_sub(steps).ok_or_else(too_many_steps)?;
            Ok(())
        };
        let found = self.compiled.violations(value, MAX_REPORTED, &mut spend)?;
        let secrets = self.find_secrets(parameters);
        let reported =
            found.violations.iter().map(|violation| self.violation(violation, parameters, &secrets)).collect();
        Ok(Violations { reported, omitted: found.more })
    }

    fn violation(&self, found: &schema::Violation, all: &Json, secrets: &Secrets<'_>) -> Violation {
        let value_at = all.pointer(&found.pointer).unwrap_or(&Json::Null);
        let redacted = redact(value_at, secrets);
        let text = redacted.to_string();
        let long = text.len() > MAX_VALUE_BYTES;
        let (shown, value) = if long { (cut(&text), cut(&text).into()) } else { (text, redacted) };
        // A violation by a property name shows the name.
        let (inner, shown) = match &found.detail {
            Detail::Name(inner) => (inner.as_ref(), inner.value.clone().unwrap_or_default()),
            _ => (found, shown),
        };
        let message = messages::message(inner, self.keyword(inner), &shown, self.compiled.node(inner.node));
        let limit = match (found.keyword, &found.detail) {
            ("required", Detail::Names(names)) => names.first().cloned().unwrap_or_default().into(),
            ("anyOf" | "oneOf" | "not" | "falseSchema" | "propertyNames" | "contains", _) => Json::Null,
            _ => Some(self.keyword(found)).filter(|limit| !limit.is_object()).cloned().unwrap_or_default(),
        };
        let (pointer, keyword) = (found.pointer.clone(), found.keyword.to_owned());
        Violation { pointer, keyword, limit, value, message: cut_long(message) }
    }

    /// The value of the violated keyword in the schema.
    fn keyword(&self, found: &schema::Violation) -> &Json {
        self.document.pointer(&format!("{}/{}", found.schema, found.keyword)).unwrap_or(&Json::Null)
    }
}

fn too_many_steps() -> CatalogError {
    invalid_parameters(&["validating the parameters takes too many steps".to_owned()], &[])
}

/// Shortens a text.
fn cut(text: &str) -> String {
    format!("{}…", text.get(..text.floor_char_boundary(MAX_VALUE_BYTES)).unwrap_or_default())
}

/// Shortens a message. Names and bounds may be long.
fn cut_long(message: String) -> String {
    if message.len() > 8 * MAX_VALUE_BYTES { cut(&message) } else { message }
}
