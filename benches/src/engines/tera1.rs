//! tera 1.

use std::collections::HashMap;
use std::hint::black_box;

use serde_json::Value;
use tera::{Context, Tera};

use super::{Engine, Templates, append, overlaid, quote};

/// tera 1 with its templates.
pub struct Tera1 {
    tera: Tera,
    templates: Templates,
    shared: Value,
}

fn filter(value: &Value, _: &HashMap<String, Value>) -> tera::Result<Value> {
    let quoted = value.as_str().map_or_else(|| quote(&value.to_string()), quote);
    Ok(Value::String(quoted))
}

impl Engine for Tera1 {
    const NAME: &'static str = "tera 1";
    const W1: (&'static str, &'static str) = ("tera1", "tera");
    type Ready = Context;

    fn new(templates: Templates) -> Self {
        let mut tera = Tera::default();
        tera.register_filter("shq", filter);
        let mut this = Self { tera, templates, shared: Value::Null };
        this.compile();
        this
    }

    fn compile(&mut self) {
        let files = self.templates.files.iter().map(|(name, text)| (name, text));
        self.tera.add_raw_templates(files).expect("templates");
    }

    fn ready(&self, inputs: &Value) -> Context {
        Context::from_value(inputs.clone()).expect("a map")
    }

    fn render(&mut self, entry: usize, inputs: &Context, out: &mut String) {
        append(out, self.tera.render(&self.templates.entries[entry], inputs).expect("it renders"));
    }

    fn share(&mut self, shared: &Value) {
        self.shared = shared.clone();
    }

    fn stamp(&mut self, own: &Value, entries: usize, out: &mut String, see: &mut dyn FnMut(usize, &str)) {
        let inputs = if self.shared.is_null() { own.clone() } else { overlaid(&self.shared, own) };
        let context = Context::from_value(inputs).expect("a map");
        for (nth, entry) in self.templates.entries.iter().take(entries).enumerate() {
            *out = self.tera.render(entry, &context).expect("it renders");
            see(nth, out);
        }
    }

    fn read(&mut self, json: &str) {
        black_box(Context::from_value(serde_json::from_str(json).expect("JSON")).expect("a map"));
    }

    fn read_and_render(&mut self, json: &str, entry: usize, out: &mut String) {
        let context = Context::from_value(serde_json::from_str(json).expect("JSON")).expect("a map");
        append(out, self.tera.render(&self.templates.entries[entry], &context).expect("it renders"));
    }
}
