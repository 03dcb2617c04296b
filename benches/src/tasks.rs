//! Timed tasks: one type each, generic over engines.

use std::hint::black_box;

use serde_json::Value;

use crate::engines::{Engine, Ours, Templates};
use crate::subject::Subject;
use crate::typed::{Compiled, Inputs};

/// Renders entries in sequence with converted inputs, once or for each of several clusters.
pub struct Render<E: Engine> {
    engine: E,
    inputs: Vec<E::Ready>,
    entries: usize,
    between: &'static str,
    out: String,
}

impl<E: Engine> Render<E> {
    /// Renders the first `entries` of `templates`, separated by `between`.
    pub fn new(templates: Templates, inputs: &Value, entries: usize, between: &'static str) -> Self {
        let engine = E::new(templates);
        Self { inputs: vec![engine.ready(inputs)], engine, entries, between, out: String::new() }
    }

    /// Renders the first entry for each cluster.
    pub fn each(templates: Templates, clusters: &[Value]) -> Self {
        let engine = E::new(templates);
        let inputs = clusters.iter().map(|cluster| engine.ready(cluster)).collect();
        Self { engine, inputs, entries: 1, between: "", out: String::new() }
    }

    /// Renders a single entry.
    pub fn one(mut templates: Templates, inputs: &Value, entry: usize) -> Self {
        templates.entries = vec![templates.entries.swap_remove(entry)];
        Self::new(templates, inputs, 1, "")
    }
}

impl<E: Engine> Subject for Render<E> {
    fn engine(&self) -> &'static str {
        E::NAME
    }

    fn run(&mut self) {
        self.out.clear();
        for inputs in &self.inputs {
            for entry in 0..self.entries {
                if entry > 0 {
                    self.out.push_str(self.between);
                }
                self.engine.render(entry, inputs, &mut self.out);
            }
        }
        black_box(&self.out);
    }

    fn output(&mut self) -> String {
        self.run();
        self.out.clone()
    }
}

/// Renders compiled templates of W1.
pub struct RenderTyped<E> {
    inputs: Inputs<'static>,
    entries: &'static [usize],
    out: String,
    engine: std::marker::PhantomData<E>,
}

impl<E: Compiled> RenderTyped<E> {
    /// Renders `entries` in sequence.
    pub fn new(inputs: Inputs<'static>, entries: &'static [usize]) -> Self {
        Self { inputs, entries, out: String::new(), engine: std::marker::PhantomData }
    }
}

impl<E: Compiled> Subject for RenderTyped<E> {
    fn engine(&self) -> &'static str {
        E::NAME
    }

    fn run(&mut self) {
        self.out.clear();
        for &entry in self.entries {
            E::render(black_box(self.inputs), entry, &mut self.out);
        }
        black_box(&self.out);
    }

    fn output(&mut self) -> String {
        self.run();
        self.out.clone()
    }
}

/// Converts inputs from `serde_json` values and renders the first entry, for one cluster after the other.
pub struct Convert<E> {
    engine: E,
    clusters: Vec<Value>,
    out: String,
}

impl<E: Engine> Convert<E> {
    /// Renders with the inputs of `clusters`.
    pub fn new(templates: Templates, clusters: Vec<Value>) -> Self {
        Self { engine: E::new(templates), clusters, out: String::new() }
    }

    fn stamp(&mut self, see: &mut dyn FnMut(&str)) {
        for cluster in &self.clusters {
            self.engine.stamp(cluster, 1, &mut self.out, &mut |_, text| see(text));
        }
    }
}

impl<E: Engine> Subject for Convert<E> {
    fn engine(&self) -> &'static str {
        E::NAME
    }

    fn run(&mut self) {
        self.stamp(&mut |text| {
            black_box(text);
        });
    }

    fn output(&mut self) -> String {
        let mut all = String::new();
        self.stamp(&mut |text| all.push_str(text));
        all
    }
}

/// Parses inputs from JSON text.
pub struct Read<E> {
    engine: E,
    json: String,
}

impl<E: Engine> Read<E> {
    /// Parses `json`. Rendering the first entry shows that it was parsed.
    pub fn new(templates: Templates, json: String) -> Self {
        Self { engine: E::new(templates), json }
    }
}

impl<E: Engine> Subject for Read<E> {
    fn engine(&self) -> &'static str {
        E::NAME
    }

    fn run(&mut self) {
        self.engine.read(black_box(&self.json));
    }

    fn output(&mut self) -> String {
        let mut out = String::new();
        self.engine.read_and_render(&self.json, 0, &mut out);
        out
    }
}

/// Scans JSON text without keeping anything: the lower bound of parsing it.
pub struct Skip {
    /// The JSON text.
    pub json: String,
    /// The output expected of the others.
    pub expected: String,
}

impl Subject for Skip {
    fn engine(&self) -> &'static str {
        "skip-parse"
    }

    fn run(&mut self) {
        black_box(serde_json::from_str::<serde::de::IgnoredAny>(black_box(&self.json)).expect("JSON"));
    }

    fn output(&mut self) -> String {
        self.run();
        self.expected.clone()
    }
}

/// Parses and compiles all templates.
pub struct Compile<E: Engine> {
    render: Render<E>,
    name: &'static str,
}

impl<E: Engine> Compile<E> {
    /// Compiles `templates`. Rendering all entries shows that they were compiled.
    pub fn new(templates: Templates, inputs: &Value) -> Self {
        let entries = templates.entries.len();
        Self { render: Render::new(templates, inputs, entries, ""), name: E::NAME }
    }

    /// Renames the task, so that it can be compared with itself.
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }
}

impl<E: Engine> Subject for Compile<E> {
    fn engine(&self) -> &'static str {
        self.name
    }

    fn run(&mut self) {
        self.render.engine.compile();
    }

    fn output(&mut self) -> String {
        self.run();
        self.render.output()
    }
}

/// Loads all templates from an artifact.
pub struct Load {
    render: Render<Ours>,
    artifact: &'static [u8],
}

impl Load {
    /// Loads the compiled `templates`.
    pub fn new(templates: Templates, inputs: &Value) -> Self {
        let entries = templates.entries.len();
        let render = Render::<Ours>::new(templates, inputs, entries, "");
        let artifact = render.engine.artifact().leak();
        Self { render, artifact }
    }
}

impl Subject for Load {
    fn engine(&self) -> &'static str {
        Ours::NAME
    }

    fn run(&mut self) {
        self.render.engine.open(black_box(self.artifact));
    }

    fn output(&mut self) -> String {
        self.run();
        self.render.output()
    }
}
