//! Limits, inputs and checks that the fuzz targets share.

mod charts;
mod seal;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use dropforge::compiler::Loader;
use dropforge::diagnostics::{Diagnostic, Result};
use dropforge::dialect::hcl;
use dropforge::dialect::hcl::body::{Attributes, Body, BodySchema, Context, DiagnosticList, File, expand};
use dropforge::dialect::hcl::decode::SpecFile;
use dropforge::engine::{Bundling, UnknownNames};
use dropforge::function::Registry;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes, Type, Value};
use dropforge::vm::{Session, Space};
use dropforge::{Dialect, Engine, Template};
use serde_json::{Value as Json, json};

pub use charts::chart;
pub use seal::mutate;

/// The name of the compiled template. Tera escapes its output.
const MAIN: &str = "main.html";

/// Limits that end hostile programs in milliseconds.
pub fn limits() -> Limits {
    Limits {
        source_bytes: 64 << 10,
        fuel: 20_000,
        memory: 4 << 20,
        output_bytes: 1 << 20,
        call_depth: 40,
        templates: 50,
        code_words: 64 << 10,
        ..Limits::default()
    }
}

/// Inputs for templates without their own.
pub fn inputs() -> Json {
    json!({
        "x": "v", "y": "<é&>", "n": 2, "i": -7, "d": 1.5, "b": true, "z": null, "s": "ab ab", "t": "2024-02-29T12:30:00Z",
        "l": [1, 2, 3], "w": ["a", "b"], "m": {"v": 1, "w": {"z": 2}}, "a": {"b": true, "c": [{"d": "e"}]},
        "name": "api", "env": "prod", "cluster": {"name": "eu-1", "env": "prod"},
        "params": {"dir": "a b", "x": 1}, "context": {"name": "n"}, "facts": {"f": "it's"},
    })
}

/// Calls `work` with the values of `json` in an arena.
pub fn with_inputs<T>(json: &Json, work: impl FnOnce(Inputs<'_>) -> T) -> Option<T> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = InputBuilder::new(&arena, &shapes).serialize(json).ok()?;
    Some(work(Inputs::new(inputs)))
}

/// Returns [`inputs`] with an unknown value `u` and a marked one `secret`.
pub fn variables<'v, 'w: 'v>(arena: &'v Arena, shapes: &'v Shapes<'w>) -> Value<'v> {
    let inputs = InputBuilder::new(arena, shapes).serialize(&inputs()).expect("the inputs are a map");
    let known = inputs.as_map().expect("the inputs are a map");
    let more = [("u", arena.unknown(Type::String)), ("secret", arena.marked(arena.text("s"), &["sensitive"]))];
    arena.map(&known.iter().chain(more).collect::<Vec<_>>())
}

/// Checks that the spans of errors are on characters of their sources, and prints the first two. Spans in HCL's JSON
/// syntax are those of the reference, which counts bytes.
pub fn report<'d>(errors: impl IntoIterator<Item = &'d Diagnostic>) {
    for (at, error) in errors.into_iter().enumerate() {
        placed(error);
        if at < 2 {
            print(error);
        }
    }
}

fn placed(error: &Diagnostic) {
    for label in error.labels.iter().filter(|label| !label.source.name().ends_with(".hcl.json")) {
        let text = label.source.text();
        assert!(text.get(label.span.range()).is_some(), "{error}: {:?} is not in {text:?}", label.span);
    }
    error.also.iter().for_each(|more| placed(more));
}

/// Prints an error for people and for machines.
fn print(error: &Diagnostic) -> String {
    error.to_json();
    error.render(false)
}

/// The sections of a case file: the templates and the inputs. A text without sections is one template.
struct Case {
    files: Vec<Arc<Source>>,
    inputs: Json,
}

impl Case {
    fn of(text: &str) -> Self {
        let (mut files, mut inputs) = (Vec::new(), inputs());
        for (at, section) in text.split("\n--- ").enumerate() {
            let (heading, body) =
                if at == 0 { ("template", section) } else { section.split_once('\n').unwrap_or((section, "")) };
            match heading.split_once(' ') {
                None if heading == "context" => inputs = serde_json::from_str(body).unwrap_or(inputs),
                Some((_, name)) => files.push(Source::new(name, body)),
                None => files.push(Source::new(MAIN, body)),
            }
        }
        Self { files, inputs }
    }
}

thread_local! {
    /// The functions of HCL.
    pub static REGISTRY: Registry = hcl::registry();
    /// The files of the current case.
    static FILES: RefCell<Vec<Arc<Source>>> = RefCell::default();
    /// One engine for all cases: its tables of functions are expensive.
    static ENGINES: [Engine; 2] = [false, true].map(|shell| {
        Engine::builder().limits(limits()).unknown_names(UnknownNames::Late).shell(shell).loader(Files).build()
    });
    static SHELL: Cell<bool> = const { Cell::new(false) };
}

/// Loads the files of the current case.
struct Files;

impl Loader for Files {
    fn load(&self, name: &str) -> Result<Option<Arc<Source>>> {
        Ok(FILES.with_borrow(|files| files.iter().find(|file| file.name() == name).cloned()))
    }

    fn names(&self) -> Vec<String> {
        FILES.with_borrow(|files| files.iter().map(|file| file.name().to_owned()).collect())
    }
}

/// Compiles and renders a template, or reports its errors.
pub fn render(dialect: Dialect, text: &str) {
    let Case { files, inputs } = Case::of(text);
    FILES.set(files);
    ENGINES.with(|engines| {
        let engine = &engines[usize::from(SHELL.get())];
        match engine.bundle([(dialect, MAIN)]) {
            Err(errors) => report(errors.iter()),
            Ok(bundling) => {
                report(bundling.lints().iter().map(|lint| &**lint));
                with_inputs(&inputs, |inputs| both_ways(engine, &bundling, inputs));
            }
        }
    });
}

/// Renders like [`render`], with each value as one shell word.
pub fn render_shell(dialect: Dialect, text: &str) {
    SHELL.set(true);
    render(dialect, text);
    SHELL.set(false);
}

/// A template renders the same from its artifact.
fn both_ways(engine: &Engine, bundling: &Bundling, inputs: Inputs<'_>) {
    let [template] = bundling.templates() else { panic!("one template was compiled") };
    let result = agree(template, inputs);
    match bundling.encode() {
        Err(error) => report([&*error]),
        Ok(bytes) => {
            let artifact = engine.open(bytes).expect("a new artifact opens");
            let template = artifact.template(MAIN).expect("the artifact has the template");
            assert_eq!(agree(&template, inputs), result, "from an artifact");
        }
    }
}

/// Renders on both machines. Returns the text, or the printed error.
fn agree(template: &Template, inputs: Inputs<'_>) -> std::result::Result<String, String> {
    let (mut session, mut text, mut checked) = (Session::new(), String::new(), String::new());
    let result = template.render_inputs(&mut session, inputs, &mut text);
    let result = result.map(|()| text).map_err(|error| explained(template, inputs, error));
    let twin = template.render_checked(&mut session, inputs, &mut checked);
    let twin = twin.map(|()| checked).map_err(|error| explained(template, inputs, error));
    assert_eq!(result, twin, "on the checking machine");
    assert!(result.as_ref().map_or(0, String::len) <= limits().output_bytes, "the output is limited");
    result
}

fn explained(template: &Template, inputs: Inputs<'_>, mut error: Box<Diagnostic>) -> String {
    template.explain(inputs, &mut error);
    print(&error)
}

/// Opens bytes as an artifact. If it is valid, lists and renders its templates.
pub fn open(bytes: &[u8]) {
    ENGINES.with(|[engine, _]| match engine.open(bytes.to_vec()) {
        Err(error) => drop(print(&error)),
        Ok(artifact) => artifact.names().for_each(|name| match artifact.template(name) {
            Err(error) => drop(print(&error)),
            Ok(template) => {
                let _ = (template.inputs(), template.disassemble(), template.disassemble_with_lines());
                let _ = with_inputs(&inputs(), |inputs| agree(&template, inputs));
            }
        }),
    });
}

/// Reads a configuration: as data, by a schema with its `dynamic` blocks expanded, by the specification in itself, and
/// as the checker does.
pub fn configuration(name: &str, text: &str) {
    let (source, limits, registry) = (Source::new(name, text), limits(), REGISTRY.with(Registry::clone));
    match hcl::check::check_config(&source, &registry, None, &limits) {
        Ok(errors) => report(errors.iter().map(|error| &**error)),
        Err(errors) => report(errors.iter()),
    }
    if let Err(errors) = hcl::read_data(&source, &limits) {
        report(errors.iter());
    }
    let (names, space, file) = (Arena::new(), Space::new(), File::parse(&source, &registry, &limits));
    let shapes = Shapes::new(&names);
    let specification = SpecFile::parse(&source, &limits);
    let context = Context::new(&space, &limits).with_variables(variables(space.arena(), &shapes));
    let mut errors = file.diagnostics().to_vec();
    content(&expand(file.body(), &context), &context, &mut errors, 4);
    if let Some(read) = SpecFile::read(&specification, &context, &mut errors) {
        read.spec.decode(&file.body(), &read.context(&context, &[]), &mut errors).to_data();
    }
    report(errors.iter().map(|error| &**error));
}

/// Evaluates the attributes of a body and of its blocks, down to `depth` levels.
fn content<'r>(body: &Body<'r>, context: &Context<'r>, errors: &mut DiagnosticList, depth: usize) {
    let evaluate = |attributes: &Attributes<'r>, errors: &mut DiagnosticList| {
        for attribute in attributes.values() {
            attribute.expr.evaluate(context, errors).to_data();
            attribute.expr.explain(context, errors);
        }
    };
    let schema = BodySchema::new().required("a").optional("b").optional("name");
    let schema = ["block", "b", "object"].into_iter().fold(schema, |schema, name| schema.block(name, &[]));
    let schema = schema.block("service", &["name"]).block("resource", &["type", "name"]);
    let (content, rest) = body.partial_content(&schema, errors);
    evaluate(&content.attributes, errors);
    evaluate(&rest.just_attributes(errors), errors);
    for block in content.blocks.iter().filter(|_| depth > 0) {
        self::content(&block.body, context, errors, depth - 1);
    }
}
