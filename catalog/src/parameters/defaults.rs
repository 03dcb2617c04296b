//! Schema defaults for missing parameters.

use super::json::ordered;
use super::schema::Schema;
use super::violation::invalid_parameters;
use crate::error::Result;

impl Schema {
    /// Returns the parameters as JSON in the order of `text`, with schema defaults appended for missing properties.
    /// Defaults also apply in nested objects, from `allOf`, and through `$ref`. Existing values never change, and no
    /// object is created only to hold the default of a property.
    ///
    /// # Errors
    /// `invalid_parameters` if the text is not JSON or filling in takes too many steps.
    ///
    /// ```
    /// use dropforge_catalog::parameters::Schema;
    /// let schema = Schema::parse(r#"{"properties": {"n": {"default": 2}, "o": {"properties": {"m": {"default": 1}}}}}"#)?;
    /// assert_eq!(schema.with_defaults(r#"{"o": {}}"#)?, r#"{"o":{"m":1},"n":2}"#);
    /// assert_eq!(schema.with_defaults(r#"{"n": null}"#)?, r#"{"n":null}"#);
    /// # Ok::<(), dropforge_catalog::CatalogError>(())
    /// ```
    pub fn with_defaults(&self, text: &str) -> Result<String> {
        let mut parameters = ordered(text)?;
        self.compiled.fill(&mut parameters).map_err(|error| invalid_parameters(&[error.message], &[]))?;
        serde_json::to_string(&parameters)
            .map_err(|error| invalid_parameters(&[format!("cannot write the parameters as JSON: {error}")], &[]))
    }
}
