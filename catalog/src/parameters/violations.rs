//! Validation of parameters.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::secrets::{Secrets, redact};
use super::{Schema, unreadable, wording};
use crate::refusal::{Refusal, Result};
use dropforge::schema::{self, Detail};
use dropforge::value::{Arena, InputBuilder, Shapes};

/// Maximum number of steps of a validation.
const STEPS: u64 = 8_000_000;

/// Maximum number of reported violations. The others are only counted.
const TOLD: usize = 100;
/// Maximum bytes of a value in a report.
const SHOWN: usize = 256;

/// A schema rule that parameters violate.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Violation {
    /// JSON pointer to the value. Empty for the root.
    pub pointer: String,
    /// The violated keyword.
    pub keyword: String,
    /// The value of the keyword: bound, names, pattern.
    pub limit: Json,
    /// The violating value, shortened if long and redacted if secret.
    pub value: Json,
    /// Human-readable message.
    pub message: String,
}

/// The violations of parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Violations {
    /// Reported violations, in the order of property names.
    pub told: Vec<Violation>,
    /// Number of violations beyond those reported.
    pub untold: usize,
}

impl Violation {
    /// The line of Brokkr's error: the pointer, if any, and the message.
    fn line(&self) -> String {
        match &*self.pointer {
            "" => self.message.clone(),
            pointer => format!("{pointer}: {}", self.message),
        }
    }
}

impl Violations {
    /// Returns `true` if there are no violations.
    pub fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// The error for these violations.
    pub fn refusal(&self) -> Refusal {
        let mut lines: Vec<String> = self.told.iter().map(Violation::line).collect();
        if self.untold > 0 {
            lines.push(format!("and {} more", self.untold));
        }
        refusal(&lines, &self.told)
    }
}

/// The error `invalid_parameters`.
pub(super) fn refusal(lines: &[String], violations: &[Violation]) -> Refusal {
    Refusal::invalid("invalid_parameters", "invalid parameters")
        .with(json!({ "validation_errors": lines, "violations": violations }))
}

impl Schema {
    /// Validates `parameters`.
    ///
    /// # Errors
    /// `invalid_parameters` if validation takes too many steps.
    ///
    /// ```
    /// use dropforge_catalog::parameters::Schema;
    /// use serde_json::json;
    /// let schema = Schema::read(r#"{"properties": {"n": {"maximum": 20}}}"#)?;
    /// let found = schema.violations(&json!({"n": 100}))?;
    /// assert_eq!((&*found.told[0].pointer, &found.told[0].limit), ("/n", &json!(20)));
    /// # Ok::<(), dropforge_catalog::Refusal>(())
    /// ```
    pub fn violations(&self, parameters: &Json) -> Result<Violations> {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let value =
            InputBuilder::new(&arena, &shapes).serialize(parameters).map_err(|error| unreadable(&error.message))?;
        let mut left = STEPS;
        let mut spend = |steps: u64| {
            left = left.checked_sub(steps).ok_or_else(endless)?;
            Ok(())
        };
        let found = self.compiled.violations(value, TOLD, &mut spend)?;
        let secrets = self.secrets_of(parameters);
        let told = found.violations.iter().map(|violation| self.violation(violation, parameters, &secrets)).collect();
        Ok(Violations { told, untold: found.more })
    }

    fn violation(&self, found: &schema::Violation, all: &Json, secrets: &Secrets<'_>) -> Violation {
        let given = all.pointer(&found.pointer).unwrap_or(&Json::Null);
        let seen = redact(given, secrets);
        let text = seen.to_string();
        let long = text.len() > SHOWN;
        let (shown, value) = if long { (cut(&text), cut(&text).into()) } else { (text, seen) };
        // A violation by a property name shows the name.
        let (inner, shown) = match &found.detail {
            Detail::Name(inner) => (inner.as_ref(), inner.value.clone().unwrap_or_default()),
            _ => (found, shown),
        };
        let message = wording::message(inner, self.keyword(inner), &shown, self.compiled.node(inner.node));
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

fn endless() -> Refusal {
    refusal(&["validating the parameters takes too many steps".to_owned()], &[])
}

/// Shortens a text.
fn cut(text: &str) -> String {
    format!("{}…", text.get(..text.floor_char_boundary(SHOWN)).unwrap_or_default())
}

/// Shortens a message. Names and bounds may be long.
fn cut_long(message: String) -> String {
    if message.len() > 8 * SHOWN { cut(&message) } else { message }
}
