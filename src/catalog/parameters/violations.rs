//! Holding parameters against a schema.

use jsonschema::error::ValidationErrorKind as Kind;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::metered::{TO_DECIDE, TO_EXPLAIN, bounded};
use super::secrets::{Secrets, redact};
use super::{Schema, local};
use crate::catalog::refusal::{Refusal, Result};

/// How many violations are told; of the others only how many there are.
const TOLD: usize = 100;
/// Bytes of a value that is shown whole.
const SHOWN: usize = 256;

/// One rule of a schema that parameters break.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
pub struct Violation {
    /// JSON pointer to the value; empty at the root.
    pub pointer: String,
    /// The keyword that it breaks.
    pub keyword: String,
    /// What the keyword asks for: the bound, the names, the pattern.
    pub limit: Json,
    /// The value as it was given; what is long is cut, what is secret is redacted.
    pub value: Json,
    /// For people.
    pub message: String,
}

/// What is wrong with parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Violations {
    /// In the order of the properties' names.
    pub told: Vec<Violation>,
    /// How many there are beside those.
    pub untold: usize,
}

impl Violation {
    /// As Brokkr writes it: the pointer, if there is one, and the message.
    fn line(&self) -> String {
        match &*self.pointer {
            "" => self.message.clone(),
            pointer => format!("{pointer}: {}", self.message),
        }
    }
}

impl Violations {
    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// The refusal of parameters that break rules.
    pub fn refusal(&self) -> Refusal {
        let mut lines: Vec<String> = self.told.iter().map(Violation::line).collect();
        if self.untold > 0 {
            lines.push(format!("and {} more", self.untold));
        }
        refusal(&lines, &self.told)
    }
}

/// `invalid_parameters`.
pub(super) fn refusal(lines: &[String], violations: &[Violation]) -> Refusal {
    Refusal::invalid("invalid_parameters", "invalid parameters")
        .with(json!({ "validation_errors": lines, "violations": violations }))
}

impl Schema {
    /// Everything that is wrong with `parameters`.
    ///
    /// # Errors
    /// `invalid_parameters` where finding out takes too many steps.
    ///
    /// ```
    /// use dropforge::catalog::parameters::Schema;
    /// use serde_json::json;
    /// let schema = Schema::read(r#"{"properties": {"n": {"maximum": 20}}}"#)?;
    /// let found = schema.violations(&json!({"n": 100}))?;
    /// assert_eq!((&*found.told[0].pointer, &found.told[0].limit), ("/n", &json!(20)));
    /// # Ok::<(), dropforge::catalog::Refusal>(())
    /// ```
    pub fn violations(&self, parameters: &Json) -> Result<Violations> {
        let decided = bounded(TO_DECIDE, self.weight, || self.validator.is_valid(parameters));
        if decided.ok_or_else(endless)? {
            return Ok(Violations::default());
        }
        let errors = bounded(TO_EXPLAIN, self.weight, || self.validator.iter_errors(parameters).collect::<Vec<_>>());
        let errors = match errors {
            Some(errors) => errors,
            // There are too many to tell: the first one.
            None => bounded(TO_DECIDE, self.weight, || self.validator.validate(parameters).err().into_iter().collect())
                .ok_or_else(endless)?,
        };
        let secrets = self.secrets_of(parameters);
        let told = errors.iter().take(TOLD).map(|error| self.violation(error, parameters, &secrets)).collect();
        Ok(Violations { told, untold: errors.len().saturating_sub(TOLD) })
    }

    fn violation(&self, error: &jsonschema::ValidationError<'_>, all: &Json, secrets: &Secrets<'_>) -> Violation {
        let pointer = error.instance_path().as_str().to_owned();
        let given = error.instance();
        let seen = all.pointer(&pointer).map_or_else(|| given.as_ref().clone(), |value| redact(value, secrets));
        let shown = seen.to_string();
        let long = shown.len() > SHOWN;
        let secret = all.pointer(&pointer).is_some_and(|value| *value != seen);
        let message = match error.kind() {
            // It tells of a property's name, which is no place of its own.
            Kind::PropertyNames { .. } => error.to_string(),
            _ if long => error.masked_with(cut(&shown)).to_string(),
            _ if secret => error.masked_with(shown.as_str()).to_string(),
            _ => error.to_string(),
        };
        let value = if long { cut(&shown).into() } else { seen };
        Violation { pointer, keyword: keyword(error), limit: self.limit(error), value, message: cut_long(message) }
    }

    /// What the keyword that `error` is about asks for.
    fn limit(&self, error: &jsonschema::ValidationError<'_>) -> Json {
        match error.kind() {
            Kind::Required { property } => property.clone(),
            Kind::AnyOf { .. }
            | Kind::OneOfNotValid { .. }
            | Kind::OneOfMultipleValid { .. }
            | Kind::Not { .. }
            | Kind::FalseSchema
            | Kind::PropertyNames { .. }
            | Kind::Contains => Json::Null,
            _ => {
                let limit = self.document.pointer(error.schema_path().as_str());
                limit.filter(|limit| local::keywords(limit).is_none()).cloned().unwrap_or_default()
            }
        }
    }
}

fn keyword(error: &jsonschema::ValidationError<'_>) -> String {
    error.kind().keyword().to_owned()
}

fn endless() -> Refusal {
    refusal(&["holding the parameters against the schema takes too many steps".to_owned()], &[])
}

/// The beginning of a long text.
fn cut(text: &str) -> String {
    format!("{}…", text.get(..text.floor_char_boundary(SHOWN)).unwrap_or_default())
}

/// Messages list names and bounds, which may be long too.
fn cut_long(message: String) -> String {
    if message.len() > 8 * SHOWN { cut(&message) } else { message }
}
