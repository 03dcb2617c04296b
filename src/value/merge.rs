//! Deep merge of the inputs of one cluster over the shared ones. What the cluster does not change is shared, not copied.

use super::{InputBuilder, Inputs, Map, Value};

impl<'v, 'w: 'v> InputBuilder<'v, 'w> {
    /// Returns the inputs `over`, merged deeply over `base`: maps key by key; a null removes the value in `base`; any
    /// other value replaces it.
    ///
    /// ```
    /// use dropforge::value::{Arena, InputBuilder, Shapes};
    /// let (arena, names) = (Arena::new(), Arena::new());
    /// let shapes = Shapes::new(&names);
    /// let builder = InputBuilder::new(&arena, &shapes);
    /// let base = builder.json(r#"{"a": {"x": 1, "y": 2}, "b": 3}"#).unwrap();
    /// let over = builder.json(r#"{"a": {"y": 4}, "b": null}"#).unwrap();
    /// let inputs = builder.merged(base, over);
    /// assert_eq!(inputs.get("a").unwrap().as_map().unwrap().len(), 2);
    /// assert!(inputs.get("b").is_none());
    /// ```
    pub fn merged(&self, base: Value<'v>, over: Value<'v>) -> Inputs<'v> {
        let (Some(below), Some(above)) = (base.as_map(), over.as_map()) else { return Inputs::layered(base, over) };
        let removes = |(key, value): (&str, Value<'_>)| matches!(value, Value::Null) && below.get(key).is_some();
        if above.iter().any(removes) {
            return Inputs::new(self.merge(below, above));
        }
        let both = |key: &str| below.get(key).is_some_and(|value| value.as_map().is_some());
        if !above.iter().any(|(key, value)| value.as_map().is_some() && both(key)) {
            return Inputs::layered(base, over);
        }
        let mark = self.open();
        above.iter().for_each(|(key, value)| self.push_entry(key, self.merged_value(below.get(key), value)));
        Inputs::layered(base, self.close_map(mark))
    }

    fn merge(&self, below: &Map<'v>, above: &Map<'v>) -> Value<'v> {
        let mark = self.open();
        for (key, value) in below.iter() {
            match above.get(key) {
                Some(Value::Null) => {}
                Some(over) => self.push_entry(key, self.merged_value(Some(value), over)),
                None => self.push_entry(key, value),
            }
        }
        let added = above.iter().filter(|(key, _)| below.get(key).is_none());
        added.for_each(|(key, value)| self.push_entry(key, value));
        self.close_map(mark)
    }

    /// Returns `above` over `below`, for a value that is not removed.
    fn merged_value(&self, below: Option<Value<'v>>, above: Value<'v>) -> Value<'v> {
        match (below.as_ref().and_then(Value::as_map), above.as_map()) {
            (Some(below), Some(above)) => self.merge(below, above),
            _ => above,
        }
    }
}
