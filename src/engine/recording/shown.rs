//! The values that a run wrote, at the places in the templates that wrote them.

use std::sync::Arc;

use super::Recording;
use super::event::{Event, Part};
use super::flow::Flow;
use dropforge_base::text::{Source, Span};

/// Maximum number of values.
const VALUES: usize = 20_000;

/// A value that was written, or that became a part of a document.
#[derive(Debug, Clone)]
pub struct ShownValue {
    /// The source of the expression.
    pub source: Arc<Source>,
    /// The span of the expression.
    pub span: Span,
    /// The text that it wrote, or an excerpt of a value in a document.
    pub text: String,
    /// The inputs that flowed into it.
    pub inputs: Vec<Flow>,
}

impl Recording {
    /// Returns the values of the expressions that wrote output, in the order of the run. For documents, returns the values of
    /// all expressions that ran.
    ///
    /// ```
    /// use dropforge::engine::{Dialect, Engine};
    /// use dropforge::value::{Arena, Inputs, Value};
    /// use dropforge::vm::Session;
    /// let template = Engine::new().compile(Dialect::Tera, "t", "a: {{ x }}, {{ x + 1 }}")?;
    /// let arena = Arena::new();
    /// let inputs = Inputs::new(arena.map(&[("x", Value::Int(1))]));
    /// let (recording, _) = template.record(&mut Session::new(), inputs);
    /// let values: Vec<_> = recording.values().into_iter().map(|one| (one.source.slice(one.span).to_owned(), one.text)).collect();
    /// assert_eq!(values, [("x".to_owned(), "1".to_owned()), ("x + 1".to_owned(), "2".to_owned())]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn values(&self) -> Vec<ShownValue> {
        if self.parts.is_empty() {
            return self
                .events
                .iter()
                .enumerate()
                .filter_map(|(at, event)| self.computed(at, event))
                .take(VALUES)
                .collect();
        }
        let ends = self.parts.iter().skip(1).map(|part| part.start).chain([self.text.len()]);
        self.parts.iter().zip(ends).filter_map(|(part, end)| self.written(*part, end)).take(VALUES).collect()
    }

    /// Returns the values that variables were set to, in the order of the run.
    pub fn assigned(&self) -> Vec<ShownValue> {
        let found = self.assigned.iter().filter_map(|number| self.computed(*number as usize, self.event(*number)?));
        found.take(VALUES).collect()
    }

    fn written(&self, part: Part, end: usize) -> Option<ShownValue> {
        let event = self.event(part.event)?;
        // Some instructions write text before a value.
        let text = self.program(event.unit)?.text_written(event.at).map_or(0, |(text, _)| text.len());
        let value = self.text.get(part.start + text..end)?;
        if value.is_empty() && text > 0 {
            return None;
        }
        let (source, span) = self.place(event, text)?;
        let inputs = self.flows(&self.inputs_of(part.event), &[], true);
        Some(ShownValue { source, span, text: value.to_owned(), inputs })
    }

    fn computed(&self, number: usize, event: &Event) -> Option<ShownValue> {
        let text = event.shown.as_deref()?.to_owned();
        let (source, span) = self.place(event, 0)?;
        let inputs = self.flows(&self.inputs_of(number as u32), &[], true);
        Some(ShownValue { source, span, text, inputs })
    }
}

#[cfg(all(test, feature = "tera"))]
mod tests {
    use crate::{Dialect, Engine};
    use dropforge_machine::vm::Session;
    use dropforge_value::{Arena, Inputs, Value};

    #[test]
    fn variables_have_values_that_are_written_nowhere() {
        let source = "{% set y = x ~ 'b' %}{% set z = x %}{% for i in [1] %}{% set y = i + 1 %}{% endfor %}a";
        let template = Engine::new().compile(Dialect::Tera, "t", source).unwrap();
        let arena = Arena::new();
        let inputs = Inputs::new(arena.map(&[("x", arena.text("a"))]));
        let (recording, _) = template.record(&mut Session::new(), inputs);
        let values: Vec<_> =
            recording.assigned().into_iter().map(|one| (one.source.slice(one.span).to_owned(), one.text)).collect();
        let wanted = [("x ~ 'b'", "`\"ab\"`"), ("x", "`\"a\"`"), ("i + 1", "`2`")];
        assert_eq!(values, wanted.map(|(place, text)| (place.to_owned(), text.to_owned())));
    }

    #[test]
    fn the_text_before_an_error_is_no_value() {
        let template = Engine::new().compile(Dialect::Tera, "t", "name: {{ x }}\nimage: {{ y.tag }}").unwrap();
        let arena = Arena::new();
        let inputs = Inputs::new(arena.map(&[("x", Value::Int(1))]));
        let (recording, result) = template.record(&mut Session::new(), inputs);
        assert!(result.is_err());
        let values: Vec<_> = recording.values().into_iter().map(|one| one.text).collect();
        assert_eq!(values, ["1"]);
    }
}
