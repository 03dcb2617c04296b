//! W3: the objects of W1's `app` as a CEL-YAML template, as values and as text.

mod tree;

use std::hint::black_box;

use cel::Context;
use dropforge::engine::{Dialect, Engine as Forge, Template};
use dropforge::value::{Arena, InputBuilder, Inputs, OutputFormat, Shapes, Value, write_documents};
use dropforge::vm::Session;
use serde::Deserialize;
use serde_json::Value as Json;
use tree::{Compiler, Node};

use crate::engines::{Engine, Ours, Tera1, cel as peer};
use crate::files::workload;
use crate::subject::{Bar::Faster, Subject, Workload};
use crate::{w1, w6};

/// The crate `cel` on a tree of the YAML.
const TREE: &str = "cel over a YAML tree";

/// W1's tera 1 template, and a YAML reader for its output.
const TEXT: &str = "tera 1 and a YAML reader";

/// The template.
fn template() -> String {
    workload("w3/app.cel.yaml")
}

/// The inputs of W1, with a variable that tells if there is an owner.
fn inputs() -> Json {
    let mut inputs = w1::inputs();
    let has_owner = inputs.get("owner").is_some();
    inputs["has_owner"] = has_owner.into();
    inputs
}

/// Returns the objects in order.
fn expected() -> String {
    objects(serde_json::from_str(&workload("w3/expected.json")).expect("JSON"))
}

/// Formats objects so that equal ones have equal text.
fn objects(objects: Vec<Json>) -> String {
    w6::lines(objects)
}

/// Returns the objects in the template's one document.
fn documents(document: &Json) -> Vec<Json> {
    document["docs"].as_array().expect("a list of objects").clone()
}

/// The template evaluated to values.
pub fn evaluate() -> Workload {
    Workload {
        id: "w3-evaluate",
        title: "W3: `app` in CEL-YAML evaluated",
        expected: expected(),
        subjects: vec![
            Box::new(Dropforge::<EVALUATE>::new()),
            Box::new(Tree::<EVALUATE>::new()),
            Box::new(Text::<EVALUATE>::new()),
        ],
        bars: vec![(TREE, Faster(15.0))],
    }
}

/// The template evaluated and written as YAML.
pub fn write() -> Workload {
    Workload {
        id: "w3-write",
        title: "W3: `app` in CEL-YAML evaluated and written as YAML",
        expected: expected(),
        subjects: vec![
            Box::new(Dropforge::<WRITE>::new()),
            Box::new(Tree::<WRITE>::new()),
            Box::new(Text::<WRITE>::new()),
        ],
        bars: vec![(TREE, Faster(20.0))],
    }
}

/// The template parsed and compiled.
pub fn compile() -> Workload {
    Workload {
        id: "w3-compile",
        title: "W3: `app` in CEL-YAML parsed and compiled",
        expected: expected(),
        subjects: vec![Box::new(Dropforge::<COMPILE>::new()), Box::new(Tree::<COMPILE>::new())],
        bars: Vec::new(),
    }
}

/// The objects written as YAML.
pub fn text() -> Workload {
    Workload {
        id: "w3-text",
        title: "W3: the objects of `app` written as YAML",
        expected: expected(),
        subjects: vec![Box::new(Written::new()), Box::new(WrittenByPeer::new())],
        bars: Vec::new(),
    }
}

/// The tasks for a template.
const EVALUATE: u8 = 0;
const WRITE: u8 = 1;
const COMPILE: u8 = 2;

/// dropforge.
struct Dropforge<const TASK: u8> {
    forge: Forge,
    template: Template,
    session: Session,
    inputs: Inputs<'static>,
    text: String,
}

/// The template's name.
const NAME: &str = "app.cel.yaml";

fn load(forge: &Forge) -> Template {
    forge.load(Dialect::CelYaml, NAME).unwrap_or_else(|errors| panic!("{errors}"))
}

impl<const TASK: u8> Dropforge<TASK> {
    fn new() -> Self {
        let forge = Forge::builder().template(NAME, template()).build();
        let shapes = Box::leak(Box::new(Shapes::new(Box::leak(Box::<Arena>::default()))));
        let json: &'static Json = Box::leak(Box::new(inputs()));
        let inputs = InputBuilder::new(Box::leak(Box::default()), shapes).deserialize(json).expect("inputs");
        let (template, inputs) = (load(&forge), Inputs::new(inputs));
        Self { forge, template, session: Session::new(), inputs, text: String::new() }
    }

    fn evaluate(&mut self) -> &[Value<'_>] {
        let documents = self.template.documents(&mut self.session, black_box(self.inputs));
        documents.unwrap_or_else(|error| panic!("{error}"))
    }

    fn write(&mut self) -> &str {
        self.text.clear();
        let rendered = self.template.render_inputs(&mut self.session, black_box(self.inputs), &mut self.text);
        rendered.unwrap_or_else(|error| panic!("{error}"));
        &self.text
    }
}

impl<const TASK: u8> Subject for Dropforge<TASK> {
    fn engine(&self) -> &'static str {
        Ours::NAME
    }

    fn run(&mut self) {
        match TASK {
            EVALUATE => _ = black_box(self.evaluate()),
            WRITE => _ = black_box(self.write()),
            _ => self.template = load(black_box(&self.forge)),
        }
    }

    fn output(&mut self) -> String {
        if TASK == COMPILE {
            self.run();
        }
        let document = match TASK {
            WRITE => read(self.write()).swap_remove(0),
            _ => serde_json::to_value(self.evaluate()[0].to_data()).expect("a value of JSON"),
        };
        objects(documents(&document))
    }
}

/// The crate `cel`.
struct Tree<const TASK: u8> {
    compiler: Compiler,
    yaml: String,
    tree: Node,
    context: Context<'static, 'static>,
}

impl<const TASK: u8> Tree<TASK> {
    fn new() -> Self {
        let (compiler, yaml) = (Compiler::default(), template());
        let (tree, context) = (compiler.read(&yaml), peer::context(compiler.context(), inputs()));
        Self { compiler, yaml, tree, context }
    }

    fn evaluate(&self) -> Json {
        self.tree.evaluate(black_box(&self.context)).expect("a document")
    }

    fn write(&self) -> String {
        serde_yaml_ng::to_string(&self.evaluate()).expect("YAML")
    }
}

impl<const TASK: u8> Subject for Tree<TASK> {
    fn engine(&self) -> &'static str {
        TREE
    }

    fn run(&mut self) {
        match TASK {
            EVALUATE => drop(black_box(self.evaluate())),
            WRITE => drop(black_box(self.write())),
            _ => drop(black_box(self.compiler.read(black_box(&self.yaml)))),
        }
    }

    fn output(&mut self) -> String {
        objects(documents(&match TASK {
            EVALUATE => self.evaluate(),
            WRITE => serde_yaml_ng::from_str(&self.write()).expect("YAML"),
            _ => self.compiler.read(&self.yaml).evaluate(&self.context).expect("a document"),
        }))
    }
}

/// tera 1. Its output is YAML text, which is parsed for values.
struct Text<const TASK: u8> {
    engine: Tera1,
    inputs: <Tera1 as Engine>::Ready,
    text: String,
}

impl<const TASK: u8> Text<TASK> {
    fn new() -> Self {
        let engine = Tera1::new(w1::templates::<Tera1>());
        Self { inputs: engine.ready(&w1::inputs()), engine, text: String::new() }
    }
}

impl<const TASK: u8> Subject for Text<TASK> {
    fn engine(&self) -> &'static str {
        if TASK == EVALUATE { TEXT } else { Tera1::NAME }
    }

    fn run(&mut self) {
        self.text.clear();
        self.engine.render(0, &self.inputs, &mut self.text);
        if TASK == EVALUATE {
            black_box(read(&self.text));
        }
        black_box(&self.text);
    }

    fn output(&mut self) -> String {
        self.run();
        objects(read(&self.text))
    }
}

/// Parses YAML text into documents.
fn read(text: &str) -> Vec<Json> {
    let documents = serde_yaml_ng::Deserializer::from_str(text);
    documents.map(|document| Json::deserialize(document).expect("YAML")).collect()
}

/// dropforge's writer.
struct Written {
    documents: &'static [Value<'static>],
    text: String,
}

impl Written {
    fn new() -> Self {
        let objects: Json = serde_json::from_str(&workload("w3/expected.json")).expect("JSON");
        let shapes = Box::leak(Box::new(Shapes::new(Box::leak(Box::<Arena>::default()))));
        let builder = InputBuilder::new(Box::leak(Box::default()), shapes);
        let list = builder.deserialize(&*Box::leak(Box::new(objects))).expect("values");
        Self { documents: list.as_list().expect("a list"), text: String::new() }
    }
}

impl Subject for Written {
    fn engine(&self) -> &'static str {
        Ours::NAME
    }

    fn run(&mut self) {
        self.text.clear();
        let documents = black_box(self.documents).iter().copied();
        write_documents(documents, OutputFormat::Yaml, usize::MAX, &mut self.text).expect("no limit");
        black_box(&self.text);
    }

    fn output(&mut self) -> String {
        self.run();
        objects(read(&self.text))
    }
}

/// serde_yaml_ng.
struct WrittenByPeer(Vec<Json>);

impl WrittenByPeer {
    fn new() -> Self {
        Self(serde_json::from_str(&workload("w3/expected.json")).expect("JSON"))
    }

    fn write(&self) -> String {
        let document = |object| serde_yaml_ng::to_string(black_box(object)).expect("YAML");
        self.0.iter().map(document).collect::<Vec<_>>().join("---\n")
    }
}

impl Subject for WrittenByPeer {
    fn engine(&self) -> &'static str {
        "serde_yaml_ng"
    }

    fn run(&mut self) {
        black_box(self.write());
    }

    fn output(&mut self) -> String {
        objects(read(&self.write()))
    }
}
