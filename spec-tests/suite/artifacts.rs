//! Every case renders from an artifact as it does from source, and the same templates give the same bytes.

use std::sync::OnceLock;

use dropforge::bytecode::{Bundle, Bytes, Entry, Program, disassemble, encode};
use dropforge::diagnostics::{Code, Result};
use dropforge::dialect::{cel, hcl, helm, tera, tower};
use dropforge::engine::{Dialect, Engine, Template, UnknownNames};
use dropforge::function::{Capabilities, HostArgs};
use dropforge::limits::Limits;
use dropforge::value::{Arena, Data, DataMap, InputBuilder, Inputs, OutputFormat, Shapes, write_documents};
use dropforge::vm::{NoHooks, Run, Session, answer, run};
use serde_json::Value;

use crate::cases;

/// A template of the case files, and its inputs.
struct Compiled {
    name: String,
    template: Template,
    context: Value,
    rendered: OnceLock<std::result::Result<String, String>>,
}

impl Compiled {
    /// Renders the template as it was compiled, the first time.
    fn rendered(&self) -> &std::result::Result<String, String> {
        self.rendered.get_or_init(|| rendered(self.template.program(), &self.context))
    }
}

/// Compiles every valid template of the case files.
fn all() -> &'static [Compiled] {
    static ALL: OnceLock<Vec<Compiled>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Vec::new();
        for (dialect, folder) in [
            (Dialect::Tera, "tera"),
            (Dialect::Tower, "tower"),
            (Dialect::Hcl, "hcl"),
            (Dialect::Cel, "cel"),
            (Dialect::Helm, "helm"),
            (Dialect::CelYaml, "cel-yaml"),
        ] {
            for case in cases::read_folder(folder).iter().flat_map(|(_, cases)| cases) {
                let Ok(template) = cases::compile(dialect, case) else { continue };
                let name = format!("{folder}/{:03}/{}", all.len(), template.name());
                all.push(Compiled { name, template, context: cases::context(case), rendered: OnceLock::new() });
            }
        }
        all
    })
}

/// Returns the templates that a test renders: all in the long form of the tests, otherwise every third one.
fn sample() -> impl Iterator<Item = &'static Compiled> {
    all().iter().step_by(if crate::is_thorough() { 1 } else { 3 })
}

fn entry(one: &Compiled) -> Entry<'_> {
    Entry {
        name: &one.name,
        program: one.template.program(),
        escape: false,
        executable: false,
        reaches: one.template.reaches(),
        residual: None,
    }
}

fn bundle(strip: bool) -> Vec<u8> {
    encode(&all().iter().map(entry).collect::<Vec<_>>(), strip).expect("an artifact")
}

/// Renders a program to its output or its printed error.
fn rendered(program: &Program, context: &Value) -> std::result::Result<String, String> {
    let engine = Engine::new();
    let registry = engine.registry(program.dialect());
    let linked = registry.link(program.imports()).map_err(|error| error.render(false))?;
    let (arena, limits) = (Arena::new(), Limits::default());
    let shapes = Shapes::new(&arena);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(context).expect("inputs"));
    let what =
        Run { program, linked: &linked, inputs, limits: &limits, capabilities: Capabilities::NONE, budgets: None };
    let (mut out, mut session) = (String::new(), Session::new());
    let result = match program.dialect() {
        Dialect::Tera => run::<tera::Rules, _>(&mut session, what, &mut out, &mut NoHooks),
        Dialect::Tower => run::<tower::Rules, _>(&mut session, what, &mut out, &mut NoHooks),
        Dialect::Hcl => run::<hcl::Rules, _>(&mut session, what, &mut out, &mut NoHooks),
        Dialect::Cel | Dialect::CelYaml => answer(&cel::Rules, &mut session, what, None, &mut NoHooks)
            .and_then(|documents| write_documents([documents], OutputFormat::Ndjson, usize::MAX, &mut out)),
        Dialect::Helm => {
            let result = run::<helm::Rules, _>(&mut session, what, &mut out, &mut NoHooks);
            helm::finish(program, &mut out, 0);
            result
        }
    };
    result.map(|()| out).map_err(|error| error.render(false))
}

#[test]
fn every_case_renders_from_an_artifact_as_from_its_source() {
    let bytes = bundle(false);
    let leaked: &'static [u8] = Vec::leak(bytes.clone());
    for bytes in [Bytes::from(bytes), Bytes::from(leaked)] {
        let loaded = Bundle::open(bytes).expect("it opens");
        assert_eq!(loaded.entries().len(), all().len());
        assert!(!loaded.stripped());
        for one in all() {
            let (name, program) = (&one.name, one.template.program());
            let entry = loaded.entry(name).expect("it is in the artifact");
            assert_eq!(entry.program().words(), program.words(), "{name}");
            assert_eq!(disassemble(entry.program()), disassemble(program), "{name}");
            assert_eq!((entry.dialect(), entry.inputs()), (program.dialect(), one.template.inputs()), "{name}");
            assert_eq!(entry.program().name(), program.name(), "{name}");
            assert!(entry.reaches().iter().map(|name| &**name).eq(one.template.reaches()), "{name}");
        }
        for one in sample() {
            let program = loaded.program(&one.name).expect("it is in the artifact");
            assert_eq!(&rendered(&program, &one.context), one.rendered(), "{}", one.name);
        }
    }
}

#[test]
fn a_stripped_artifact_renders_the_same_and_places_no_error() {
    let (whole, bytes) = (bundle(false), bundle(true));
    assert!(bytes.len() < whole.len() * 9 / 10, "{} of {}", bytes.len(), whole.len());
    let loaded = Bundle::open(bytes).expect("it opens");
    assert!(loaded.stripped());
    for one in sample() {
        let program = loaded.program(&one.name).expect("it is in the artifact");
        match one.rendered() {
            text @ Ok(_) => assert_eq!(&rendered(&program, &one.context), text, "{}", one.name),
            Err(_) => {
                let error = rendered(&program, &one.context).expect_err("it fails, too");
                // The text of a template that is made at render time has places.
                let places = error.lines().filter(|line| line.contains("-->") && !line.contains("--> gotpl:"));
                assert_eq!(places.count(), 0, "{error}");
            }
        }
        assert_eq!(program.name(), one.template.name());
    }
}

#[test]
fn the_same_templates_give_the_same_bytes() {
    let bytes = bundle(false);
    let mut entries: Vec<_> = all().iter().map(entry).collect();
    entries.reverse();
    assert!(bytes == encode(&entries, false).expect("an artifact"), "in another order");
    let again = Bundle::open(bytes.clone()).expect("it opens");
    let reaches: Vec<Vec<String>> =
        again.entries().iter().map(|entry| entry.reaches().iter().map(|name| name.to_string()).collect()).collect();
    let entries: Vec<_> = again
        .entries()
        .iter()
        .zip(&reaches)
        .map(|(entry, reaches)| Entry {
            name: entry.name(),
            program: entry.program(),
            escape: entry.escape(),
            executable: entry.executable(),
            reaches,
            residual: entry.residual(),
        })
        .collect();
    assert!(bytes == encode(&entries, false).expect("an artifact"), "written by who read it");
}

#[test]
fn a_template_has_the_same_digest_alone_and_among_others() {
    let many = Bundle::open(bundle(false)).expect("it opens");
    for one in all().iter().step_by(50) {
        let alone = Bundle::open(encode(&[entry(one)], false).expect("an artifact")).expect("it opens");
        assert_eq!(alone.entries()[0].digest(), many.entry(&one.name).expect("it is there").digest(), "{}", one.name);
    }
}

fn small() -> Vec<u8> {
    let template =
        Engine::new().compile(Dialect::Tera, "t", "{% for x in l %}{{ x }}{% endfor %}").expect("a template");
    encode(
        &[Entry {
            name: "t",
            program: template.program(),
            escape: false,
            executable: false,
            reaches: &[],
            residual: None,
        }],
        false,
    )
    .expect("an artifact")
}

/// Returns the codes of opening `bytes`.
pub fn opened(bytes: Vec<u8>) -> Vec<Code> {
    Bundle::open(bytes).err().into_iter().map(|error| error.code).collect()
}

/// Returns the position just after the key `key` in `bytes`.
fn behind(bytes: &[u8], key: &str) -> usize {
    bytes.windows(key.len()).position(|at| at == key.as_bytes()).expect("the key") + key.len()
}

/// Returns a small artifact with the byte at `offset` after a key changed.
pub fn changed(key: &str, offset: usize) -> Vec<u8> {
    let mut bytes = small();
    let at = behind(&bytes, key) + offset;
    bytes[at] ^= 1;
    bytes
}

/// Returns a truncated small artifact.
pub fn cut() -> Vec<u8> {
    let mut bytes = small();
    bytes.pop();
    bytes
}

/// Returns the codes of encoding a template under a name that is not a path.
pub fn misnamed(name: &str) -> Vec<Code> {
    let template = Engine::new().compile(Dialect::Tera, "t", "").expect("a template");
    let entry =
        Entry { name, program: template.program(), escape: false, executable: false, reaches: &[], residual: None };
    encode(&[entry, entry], false).err().into_iter().map(|error| error.code).collect()
}

#[test]
fn an_artifact_is_refused_at_every_cut_and_every_changed_byte() {
    let whole = small();
    assert!(Bundle::open(whole.clone()).is_ok());
    for at in 0..whole.len() {
        assert!(Bundle::open(whole[..at].to_vec()).is_err(), "cut at {at}");
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            assert!(Bundle::open(bytes).is_err(), "bit {bit} of byte {at}");
        }
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert_eq!(opened(longer), [Code::ArtifactEncoding]);
}

#[test]
fn names_in_an_artifact_are_relative_paths() {
    for name in ["", "/a", "a/", "a//b", ".", "a/../b", "a\\b", "a\nb", "a\0"] {
        assert_eq!(misnamed(name), [Code::ArtifactName], "{name:?}");
    }
    assert_eq!(misnamed("twice"), [Code::ArtifactName]);
}

#[test]
fn a_function_with_other_parameters_is_not_linked() -> Result<()> {
    let template = Engine::new().compile(Dialect::Tera, "t", "{{ x | upper }}").expect("a template");
    let other = Engine::builder().filter(Dialect::Tera, "upper", |_: &HostArgs| "mine").build();
    let registry = other.registry(Dialect::Tera);
    let error = registry.link(template.program().imports()).expect_err("it takes any names");
    assert_eq!(error.code, Code::BadArgument);
    assert!(error.message.contains("has other parameters than when this was compiled"), "{error}");
    Ok(())
}

/// Returns the names of a context that a test takes as known: all but the second, the fifth and so on.
fn known(context: &Value) -> DataMap {
    let data: Data = serde_json::from_value(context.clone()).expect("inputs");
    let names = data.into_map().unwrap_or_default().into_iter().enumerate();
    names.filter(|(at, _)| at % 3 != 1).map(|(_, entry)| entry).collect()
}

/// Renders by the program that the template chooses, and returns `true` if it is the residual.
fn chosen(template: &Template, context: &Value) -> (std::result::Result<String, String>, bool) {
    let arena = Arena::new();
    let shapes = Shapes::new(&arena);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(context).expect("inputs"));
    let (mut out, mut session) = (String::new(), Session::new());
    let result = template.render_inputs(&mut session, inputs, &mut out);
    (result.map(|()| out).map_err(|error| error.render(false)), template.difference(inputs).is_none())
}

#[test]
fn a_specialised_artifact_does_the_same_for_known_values_and_others() {
    let (mut specialised, mut original) = (0, 0);
    let late = || Engine::builder().unknown_names(UnknownNames::Late);
    for (dialect, folder) in [(Dialect::Tera, "tera"), (Dialect::Tower, "tower"), (Dialect::Hcl, "hcl")] {
        for case in cases::read_folder(folder).iter().flat_map(|(_, cases)| cases) {
            let engine = case.templates().fold(late(), |builder, (name, text)| builder.template(name, text)).build();
            let Some((entry, _)) = case.templates().next() else { continue };
            let (Ok(bundling), context) = (engine.bundle([(dialect, entry)]), cases::context(case)) else { continue };
            let Ok(plain) = bundling.encode().and_then(|bytes| Engine::new().open(bytes)?.template(entry)) else {
                continue;
            };
            for strip in [false, true] {
                let Ok(bundling) = engine.bundle([(dialect, entry)]) else { continue };
                let bundling = bundling.specialise(known(&context)).expect("its inputs are not deep").strip(strip);
                let bytes = bundling.encode().expect("an artifact");
                let template = Engine::new().open(bytes).and_then(|it| it.template(entry)).expect("it opens");
                if template.residual().is_none() {
                    continue;
                }
                let general = template.general();
                for (context, agrees) in [(context.clone(), true), (changed_input(&context), false)] {
                    let (found, by_residual) = chosen(&template, &context);
                    assert_eq!(by_residual, agrees, "{folder}: {}", case.name);
                    assert_eq!(found, chosen(&general, &context).0, "{folder}: {}", case.name);
                    if !strip {
                        assert_eq!(found, chosen(&plain, &context).0, "{folder}: {}", case.name);
                    }
                    *(if by_residual { &mut specialised } else { &mut original }) += 1;
                }
            }
        }
    }
    assert!(specialised > 300 && specialised == original, "{specialised} by residuals, {original} by originals");
}

/// Returns a context whose first name, which is known, has another value.
fn changed_input(context: &Value) -> Value {
    let mut context = context.clone();
    if let Some(first) = context.as_object_mut().and_then(|map| map.values_mut().next()) {
        *first = serde_json::json!([first.clone(), "other"]);
    }
    context
}

#[test]
fn a_residual_of_an_artifact_takes_no_more_than_its_original() {
    // Four unrolled rounds have more code than a loop.
    let text = "{% for x in l %}{{ open }}{{ open | upper }}{{ x }}{% endfor %}";
    let engine = Engine::builder().template("t", text).build();
    let context = serde_json::json!({"open": "o", "l": [1, 2, 3, 4]});
    let known = DataMap::from_iter([("l".to_owned(), serde_json::from_value(context["l"].clone()).expect("data"))]);
    let bundling = engine.bundle([(Dialect::Tera, "t")]).expect("it compiles").specialise(known).expect("flat inputs");
    let bytes = bundling.encode().expect("an artifact");
    let rendered = |memory: u64, fuel: u64, general: bool| {
        let limits = Limits { memory, fuel, ..Limits::default() };
        let template = Engine::builder().limits(limits).build().open(bytes.clone()).and_then(|it| it.template("t"));
        let template = template.expect("it opens");
        assert!(template.residual().map(|it| it.words().len()) > Some(template.program().words().len()));
        chosen(&if general { template.general() } else { template }, &context).0.is_ok()
    };
    let least = |renders: &dyn Fn(u64) -> bool| {
        let (mut least, mut most) = (0, 1 << 20);
        while least < most {
            let middle = (least + most) / 2;
            if renders(middle) { most = middle } else { least = middle + 1 }
        }
        least
    };
    let memory = least(&|memory| rendered(memory, u64::MAX, true));
    let fuel = least(&|fuel| rendered(u64::MAX, fuel, true));
    assert!(0 < memory && memory < 1 << 20 && 0 < fuel && fuel < 1 << 20);
    assert!(rendered(memory, u64::MAX, false), "{memory} bytes");
    assert!(rendered(u64::MAX, fuel, false), "{fuel} steps");
}
