//! Reading a schema.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Value as Json, json};

use super::metered::Metered;
use super::{Schema, measure, secrets};
use crate::catalog::refusal::{Refusal, Result};

/// Bytes of a schema.
const BYTES: usize = 256 << 10;
/// Bytes of the stack that a schema is built on: what refers to other schemas is built one within the other.
const STACK: usize = 64 << 20;
/// Bytes that one compiled pattern may take, and its cache.
const PATTERN_BYTES: usize = 512 << 10;

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// `invalid_parameters_schema`: "Invalid JSON: …", or "Invalid JSON Schema: …" where it is no schema, refers to what
    /// is not in it, has a pattern that cannot be matched in linear time, or is too large.
    ///
    /// ```
    /// use dropforge::catalog::parameters::Schema;
    /// assert!(Schema::read(r#"{"type": "object"}"#).is_ok());
    /// let refusal = Schema::read(r#"{"pattern": "("}"#).unwrap_err();
    /// assert!(refusal.message.starts_with("Invalid JSON Schema: "));
    /// ```
    pub fn read(text: &str) -> Result<Self> {
        if text.len() > BYTES {
            return Err(unfit(&format!("it is longer than {BYTES} bytes")));
        }
        let document: Json = serde_json::from_str(text).map_err(|error| refusal(format!("Invalid JSON: {error}")))?;
        let weight = measure::measured(&document).map_err(|what| unfit(&what))?;
        let validator = build(&document)?;
        let secrets = secrets::Marks::of(&document);
        Ok(Self { validator, document, weight, secrets })
    }
}

fn build(document: &Json) -> Result<Validator<Metered>> {
    let build = || options(document).build(document).map_err(|error| of_crate(&error));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, build);
        let built = thread.map_err(|error| unfit(&format!("there is no thread to build it on: {error}")))?;
        built.join().unwrap_or_else(|_| Err(unfit("it cannot be built")))
    })
}

/// The draft that a schema names, or draft 7.
fn options(
    document: &Json,
) -> jsonschema::ValidationOptions<'static, std::sync::Arc<dyn jsonschema::Retrieve>, Metered> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
    let options =
        jsonschema::options_for::<Metered>().offline().should_validate_formats(true).with_pattern_options(patterns);
    let named = document.get("$schema").is_some();
    if named { options } else { options.with_draft(Draft::Draft7) }
}

/// What the crate says of a schema, with the place in it.
fn of_crate(error: &jsonschema::ValidationError<'_>) -> Refusal {
    let pointer = error.instance_path().as_str();
    let mut message = error.to_string();
    if message.len() > 500 {
        message = error.masked_with("this").to_string();
    }
    unfit(&message).with(json!({ "pointer": pointer }))
}

fn unfit(what: &str) -> Refusal {
    refusal(format!("Invalid JSON Schema: {what}"))
}

fn refusal(message: String) -> Refusal {
    Refusal::invalid("invalid_parameters_schema", message)
}
