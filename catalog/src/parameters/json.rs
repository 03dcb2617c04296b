//! Parsing of parameters.

use serde_json::Value as Json;

use super::violation::invalid_parameters;
use crate::error::{CatalogError, Result};
use dropforge::value::Data;

/// Maximum length of parameters in bytes.
pub const PARAMETERS_BYTES: usize = 4 << 20;

/// Parses parameters as JSON.
///
/// # Errors
/// `invalid_parameters` if the text is not JSON, too long, or nested deeper than 128 levels.
pub fn read(text: &str) -> Result<Json> {
    parse(text)
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    if text.len() > PARAMETERS_BYTES {
        return Err(unreadable(&format!("the parameters are longer than {PARAMETERS_BYTES} bytes")));
    }
    serde_json::from_str(text).map_err(|error| unreadable(&format!("cannot parse the parameters as JSON: {error}")))
}

/// Parses parameters as data that keeps the order of the text.
pub(super) fn ordered(text: &str) -> Result<Data> {
    parse(text)
}

/// An error for parameters that cannot be read.
pub(super) fn unreadable(message: &str) -> CatalogError {
    invalid_parameters(&[message.to_owned()], &[])
}
