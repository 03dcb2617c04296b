//! Filling in what a schema has defaults for.

use serde_json::Value as Json;

use super::violations::refusal;
use super::{Schema, local, ordered};
use crate::refusal::{Refusal, Result};
use dropforge::value::Data;

/// How many pairs of schema and value are looked at.
const LOOKS: usize = 100_000;

impl Schema {
    /// Parameters as JSON text, in the order of `text`, with the schema's defaults for what is absent behind it: also in
    /// objects that are there, and from `allOf` and `$ref`. What is there is never changed, and no object is made to
    /// hold a default of one of its properties.
    ///
    /// # Errors
    /// `invalid_parameters` where the text is no JSON, or filling in takes too many steps.
    ///
    /// ```
    /// use dropforge_catalog::parameters::Schema;
    /// let schema = Schema::read(r#"{"properties": {"n": {"default": 2}, "o": {"properties": {"m": {"default": 1}}}}}"#)?;
    /// assert_eq!(schema.filled(r#"{"o": {}}"#)?, r#"{"o":{"m":1},"n":2}"#);
    /// assert_eq!(schema.filled(r#"{"n": null}"#)?, r#"{"n":null}"#);
    /// # Ok::<(), dropforge_catalog::Refusal>(())
    /// ```
    pub fn filled(&self, text: &str) -> Result<String> {
        let mut parameters = ordered(text)?;
        let mut filling = Filling { root: &self.document, left: LOOKS, within: Vec::new() };
        filling.fill(&self.document, &mut parameters)?;
        serde_json::to_string(&parameters)
            .map_err(|error| refusal(&[format!("the parameters cannot be written: {error}")], &[]))
    }
}

struct Filling<'s> {
    root: &'s Json,
    left: usize,
    /// The schemas that are being followed for the same value.
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
        for other in local::always(self.root, schema) {
            self.fill(other, value)?;
        }
        self.within.pop();
        Ok(())
    }

    fn spend(&mut self, looks: usize) -> Result<()> {
        self.left = self.left.checked_sub(looks).ok_or_else(endless)?;
        Ok(())
    }

    /// What the keywords of `schema` itself say of what is in `value`.
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
                let (first, rest) = local::elements(schema);
                let reached = if rest.is_some() { items.len() } else { first.len() };
                let mut items = items.iter_mut().take(reached).enumerate();
                items.try_for_each(|(at, item)| first.get(at).or(rest).map_or(Ok(()), |below| self.below(below, item)))
            }
            _ => Ok(()),
        }
    }

    /// A value within the one that is being filled.
    fn below(&mut self, schema: &'s Json, value: &mut Data) -> Result<()> {
        let within = std::mem::take(&mut self.within);
        let filled = self.fill(schema, value);
        self.within = within;
        filled
    }

    /// The default that a schema, or one that holds wherever it does, has.
    fn default(&mut self, schema: &'s Json, depth: usize) -> Option<&'s Json> {
        self.left = self.left.checked_sub(1)?;
        if let Some(default) = schema.get("default") {
            return Some(default);
        }
        // A chain of references that is longer than this leads back to itself.
        let further = if depth < 16 { local::always(self.root, schema) } else { Vec::new() };
        further.into_iter().find_map(|other| self.default(other, depth + 1))
    }
}

fn endless() -> Refusal {
    refusal(&["filling in the schema's defaults takes too many steps".to_owned()], &[])
}

fn data(value: &Json) -> Data {
    serde_json::from_value(value.clone()).unwrap_or(Data::Null)
}
