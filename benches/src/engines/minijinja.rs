//! minijinja 3.

use std::hint::black_box;

use minijinja::Environment;
use minijinja::value::{Kwargs, Serde, Value as Input};
use serde_json::Value;

use super::{Engine, Templates, append, quote};

/// minijinja with its templates.
pub struct Minijinja {
    environment: Environment<'static>,
    templates: &'static Templates,
    /// The shared inputs. Each value is cheap to clone.
    shared: Vec<(Input, Input)>,
}

fn filter(value: &Input) -> String {
    value.as_str().map_or_else(|| quote(&value.to_string()), quote)
}

/// JSON text as serde_json writes it. `tojson` writes spaces.
fn json(value: &Input) -> String {
    serde_json::to_string(value).expect("a value of JSON")
}

/// The first characters of a text, which minijinja leaves to other crates.
fn truncate(text: &str, given: Kwargs) -> Result<String, minijinja::Error> {
    let (length, end): (usize, &str) = (given.get("length")?, given.get("end")?);
    let at = text.char_indices().nth(length).map(|(at, _)| at);
    Ok(at.map_or_else(|| text.to_owned(), |at| format!("{}{end}", &text[..at])))
}

fn pairs(map: &Input) -> impl Iterator<Item = (Input, Input)> {
    map.try_iter().expect("a map").map(|key| (key.clone(), map.get_item(&key).expect("a key of the map")))
}

impl Minijinja {
    fn with(&self, inputs: &Input, entry: usize) -> String {
        let template = self.environment.get_template(&self.templates.entries[entry]).expect("a template");
        template.render(inputs).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Engine for Minijinja {
    const NAME: &'static str = "minijinja 3";
    const W1: (&'static str, &'static str) = ("minijinja", "j2");
    type Ready = Input;

    fn new(templates: Templates) -> Self {
        let mut environment = Environment::new();
        environment.add_filter("shq", filter);
        environment.add_filter("json_encode", json);
        environment.add_filter("truncate", truncate);
        let templates = Box::leak(Box::new(templates));
        let mut this = Self { environment, templates, shared: Vec::new() };
        this.compile();
        this
    }

    fn compile(&mut self) {
        for (name, text) in &self.templates.files {
            self.environment.add_template(name, text).expect("a template");
        }
    }

    fn ready(&self, inputs: &Value) -> Input {
        Input::from(Serde(inputs))
    }

    fn render(&mut self, entry: usize, inputs: &Input, out: &mut String) {
        append(out, self.with(inputs, entry));
    }

    fn share(&mut self, shared: &Value) {
        self.shared = pairs(&Input::from(Serde(shared))).collect();
    }

    fn stamp(&mut self, own: &Value, entries: usize, out: &mut String, see: &mut dyn FnMut(usize, &str)) {
        let mut inputs = Input::from(Serde(own));
        if !self.shared.is_empty() {
            inputs = Input::from_pairs(self.shared.iter().cloned().chain(pairs(&inputs)));
        }
        for nth in 0..entries {
            *out = self.with(&inputs, nth);
            see(nth, out);
        }
    }

    fn read(&mut self, json: &str) {
        black_box(serde_json::from_str::<Input>(json).expect("JSON"));
    }

    fn read_and_render(&mut self, json: &str, entry: usize, out: &mut String) {
        append(out, self.with(&serde_json::from_str(json).expect("JSON"), entry));
    }
}
