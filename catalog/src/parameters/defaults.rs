//! Schema defaults for missing parameters.

use serde_json::Value as Json;

use super::json::ordered;
use super::schema::Schema;
use super::subschemas;
use super::violation::invalid_parameters;
use crate::error::{CatalogError, Result};
use dropforge::value::Data;

/// Maximum number of visited pairs of schema and value.
const MAX_VISITS: usize = 100_000;

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
        let mut filling = Filling { root: &self.document, left: MAX_VISITS, within: Vec::new() };
        filling.fill(&self.document, &mut parameters)?;
        serde_json::to_string(&parameters)
            .map_err(|error| invalid_parameters(&[format!("cannot write the parameters as JSON: {error}")], &[]))
    }
}

struct Filling<'s> {
    root: &'s Json,
    left: usize,
    /// Schemas being applied to the current value.
    within: Vec<*const Json>,
}

impl<'s> Filling<'s> {
    fn fill(&mut self, schema: &'s Json, value: &mut Data) -> Result<()> {
        self.spend(1)?;
        let here = std::ptr::from_ref(schema);
        if self.within.contains(&here) {
            return Ok(());
        }
        self.within.push(here);
        self.own(schema, value)?;
        for other in subschemas::applied(self.root, schema) {
            self.fill(other, value)?;
        }
        self.within.pop();
        Ok(())
    }

    fn spend(&mut self, visits: usize) -> Result<()> {
        self.left = self.left.checked_sub(visits).ok_or_else(too_many_steps)?;
        Ok(())
    }

    /// Applies the keywords of `schema` to the members of `value`.
    fn own(&mut self, schema: &'s Json, value: &mut Data) -> Result<()> {
        match value {
            Data::Map(map) => {
                for (name, below) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
                    self.spend(1)?;
                    if !map.contains_key(name)
                        && let Some(default) = self.default(below, 0)
                    {
                        map.insert(name.clone(), data(default));
                    }
                    if let Some(member) = map.get_mut(name) {
                        self.below(below, member)?;
                    }
                }
                Ok(())
            }
            Data::List(items) => {
                let (first, rest) = subschemas::elements(schema);
                let reached = if rest.is_some() { items.len() } else { first.len() };
                let mut items = items.iter_mut().take(reached).enumerate();
                items.try_for_each(|(at, item)| first.get(at).or(rest).map_or(Ok(()), |below| self.below(below, item)))
            }
            _ => Ok(()),
        }
    }

    /// Fills in a nested value.
    fn below(&mut self, schema: &'s Json, value: &mut Data) -> Result<()> {
        let within = std::mem::take(&mut self.within);
        let filled = self.fill(schema, value);
        self.within = within;
        filled
    }

    /// The default of a schema, or of a schema that always applies with it.
    fn default(&mut self, schema: &'s Json, depth: usize) -> Option<&'s Json> {
        self.left = self.left.checked_sub(1)?;
        if let Some(default) = schema.get("default") {
            return Some(default);
        }
        // A longer chain of references is a cycle.
        let further = if depth < 16 { subschemas::applied(self.root, schema) } else { Vec::new() };
        further.into_iter().find_map(|other| self.default(other, depth + 1))
    }
}

fn too_many_steps() -> CatalogError {
    invalid_parameters(&["applying schema defaults takes too many steps".to_owned()], &[])
}

fn data(value: &Json) -> Data {
    serde_json::from_value(value.clone()).unwrap_or(Data::Null)
}
