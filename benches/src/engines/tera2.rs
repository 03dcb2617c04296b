//! tera 2.

use std::hint::black_box;

use serde_json::Value;
use tera2::{Context, Kwargs, State, Tera};

use super::{Engine, Templates, append, quote};

/// tera 2 with its templates.
pub struct Tera2 {
    tera: Tera,
    templates: Templates,
    shared: Context,
}

fn filter(value: &tera2::Value, _: Kwargs, _: &State) -> String {
    value.as_str().map_or_else(|| quote(&value.to_string()), quote)
}

/// JSON text, which tera 2 leaves to other crates.
fn json(value: &tera2::Value, _: Kwargs, _: &State) -> String {
    serde_json::to_string(value).expect("a value of JSON")
}

fn context(inputs: &Value) -> Context {
    Context::from_serialize(inputs).expect("a map")
}

/// Goes through `serde_json`, because tera 2's values do not implement `Deserialize`.
fn parsed(json: &str) -> Context {
    context(&serde_json::from_str(json).expect("JSON"))
}

impl Engine for Tera2 {
    const NAME: &'static str = "tera 2";
    const W1: (&'static str, &'static str) = ("tera2", "tera");
    type Ready = Context;

    fn new(templates: Templates) -> Self {
        let mut tera = Tera::default();
        tera.register_filter("shq", filter);
        tera.register_filter("json_encode", json);
        let mut this = Self { tera, templates, shared: Context::new() };
        this.compile();
        this
    }

    fn compile(&mut self) {
        let files = self.templates.files.iter().map(|(name, text)| (name, text));
        self.tera.add_raw_templates(files).expect("templates");
    }

    fn ready(&self, inputs: &Value) -> Context {
        context(inputs)
    }

    fn render(&mut self, entry: usize, inputs: &Context, out: &mut String) {
        append(out, self.tera.render(&self.templates.entries[entry], inputs).expect("it renders"));
    }

    fn share(&mut self, shared: &Value) {
        self.shared = context(shared);
    }

    fn stamp(&mut self, own: &Value, entries: usize, out: &mut String, see: &mut dyn FnMut(usize, &str)) {
        let mut inputs = self.shared.clone();
        inputs.extend(context(own));
        for (nth, entry) in self.templates.entries.iter().take(entries).enumerate() {
            *out = self.tera.render(entry, &inputs).expect("it renders");
            see(nth, out);
        }
    }

    fn read(&mut self, json: &str) {
        black_box(parsed(json));
    }

    fn read_and_render(&mut self, json: &str, entry: usize, out: &mut String) {
        append(out, self.tera.render(&self.templates.entries[entry], &parsed(json)).expect("it renders"));
    }
}
