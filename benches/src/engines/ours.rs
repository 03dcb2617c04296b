//! dropforge.

use std::hint::black_box;

use dropforge::engine::{Dialect, Engine as Forge, Template};
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes, Value as Input};
use dropforge::vm::Session;
use serde_json::Value;

use super::{Engine, Templates};

/// dropforge.
pub type Ours = Dropforge<false>;

/// dropforge on the machine that checks every index, to measure what trusting the verifier saves.
pub type Checked = Dropforge<true>;

/// dropforge with HCL templates.
pub type OursHcl = Dropforge<false, true>;

/// dropforge with one reused session and reused arenas.
pub struct Dropforge<const CHECKED: bool, const HCL: bool = false> {
    forge: Forge,
    dialect: Dialect,
    entries: Vec<String>,
    templates: Vec<Template>,
    session: Session,
    shapes: &'static Shapes<'static>,
    own: Arena,
    shared: Option<Input<'static>>,
}

impl<const CHECKED: bool, const HCL: bool> Dropforge<CHECKED, HCL> {
    /// Leaks inputs, so that they live as long as the process.
    fn keep(&self, inputs: &Value) -> Input<'static> {
        let inputs = Box::leak(Box::new(inputs.clone()));
        // An HCL template cannot ask whether a variable exists.
        if let (true, Value::Object(entries)) = (HCL, &mut *inputs) {
            entries.entry("owner").or_insert(Value::Null);
        }
        let builder = InputBuilder::new(Box::leak(Box::default()), self.shapes);
        builder.deserialize(&*inputs).expect("inputs")
    }

    /// Encodes the templates as an artifact.
    pub fn artifact(&self) -> Vec<u8> {
        let names = self.entries.iter().map(|entry| (self.dialect, entry));
        let bundling = self.forge.bundle(names).unwrap_or_else(|errors| panic!("{errors}"));
        bundling.encode().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Opens the templates from an artifact. All of it is verified, and every template is linked.
    pub fn open(&mut self, artifact: &'static [u8]) {
        let artifact = self.forge.open(artifact).unwrap_or_else(|error| panic!("{error}"));
        let load = |entry: &String| artifact.template(entry).unwrap_or_else(|error| panic!("{error}"));
        self.templates = self.entries.iter().map(load).collect();
    }
}

impl<const CHECKED: bool, const HCL: bool> Engine for Dropforge<CHECKED, HCL> {
    const NAME: &'static str = if CHECKED { "dropforge, indexes checked" } else { "dropforge" };
    const W1: (&'static str, &'static str) = if HCL { ("hcl", "hcltpl") } else { ("tera1", "tera") };
    type Ready = Inputs<'static>;

    fn new(templates: Templates) -> Self {
        let Templates { files, entries, shell } = templates;
        let builder = Forge::builder().shell(shell);
        let forge = files.into_iter().fold(builder, |builder, (name, text)| builder.template(name, text)).build();
        let dialect = match (HCL, shell) {
            (true, _) => Dialect::Hcl,
            (false, true) => Dialect::Tower,
            (false, false) => Dialect::Tera,
        };
        let shapes = Box::leak(Box::new(Shapes::new(Box::leak(Box::default()))));
        let mut ours = Self {
            forge,
            dialect,
            entries,
            templates: Vec::new(),
            session: Session::new(),
            shapes,
            own: Arena::new(),
            shared: None,
        };
        ours.compile();
        ours
    }

    fn compile(&mut self) {
        let entries: Vec<&str> = self.entries.iter().map(String::as_str).collect();
        let loaded = self.forge.load_all(self.dialect, &entries).into_iter();
        self.templates = loaded.map(|template| template.unwrap_or_else(|errors| panic!("{errors}"))).collect();
    }

    fn ready(&self, inputs: &Value) -> Inputs<'static> {
        Inputs::new(self.keep(inputs))
    }

    fn render(&mut self, entry: usize, inputs: &Inputs<'static>, out: &mut String) {
        let (template, session) = (&self.templates[entry], &mut self.session);
        let rendered = if CHECKED {
            template.render_checked(session, *inputs, out)
        } else {
            template.render_inputs(session, *inputs, out)
        };
        rendered.unwrap_or_else(|error| panic!("{error}"));
    }

    fn share(&mut self, shared: &Value) {
        self.shared = Some(self.keep(shared));
    }

    fn stamp(&mut self, own: &Value, entries: usize, out: &mut String, see: &mut dyn FnMut(usize, &str)) {
        self.own.reset();
        let own = InputBuilder::new(&self.own, self.shapes).deserialize(own).expect("inputs");
        let inputs = self.shared.map_or(Inputs::new(own), |shared| Inputs::layered(shared, own));
        for (nth, template) in self.templates.iter().take(entries).enumerate() {
            out.clear();
            template.render_inputs(&mut self.session, inputs, out).unwrap_or_else(|error| panic!("{error}"));
            see(nth, out);
        }
    }

    fn read(&mut self, json: &str) {
        self.own.reset();
        black_box(InputBuilder::new(&self.own, self.shapes).json(json).expect("JSON"));
    }

    fn read_and_render(&mut self, json: &str, entry: usize, out: &mut String) {
        self.own.reset();
        let inputs = Inputs::new(InputBuilder::new(&self.own, self.shapes).json(json).expect("JSON"));
        let rendered = self.templates[entry].render_inputs(&mut self.session, inputs, out);
        rendered.unwrap_or_else(|error| panic!("{error}"));
    }
}
