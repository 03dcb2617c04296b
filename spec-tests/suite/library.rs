//! Artifacts through the library: built by one engine, opened by another.

use std::error::Error;
use std::path::PathBuf;

use dropforge::Precompile;
use dropforge::bytecode::ImportKind;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::engine::{Artifact, Capabilities, Dialect, Engine, EngineBuilder, Origin, TeraDialect};
use dropforge::function::{HostArgs, HostError};
use dropforge::limits::Limits;
use serde_json::json;

const T: Dialect = Dialect::Tera;

fn bytes(builder: EngineBuilder, templates: &[(&str, &str)]) -> Vec<u8> {
    let builder = templates.iter().fold(builder, |builder, (name, text)| builder.template(*name, *text));
    builder.build().bundle(templates.iter().map(|(name, _)| (T, *name))).unwrap().encode().unwrap()
}

fn open(templates: &[(&str, &str)]) -> Artifact {
    Engine::new().open(bytes(Engine::builder(), templates)).unwrap()
}

fn refused(engine: &Engine, bytes: Vec<u8>, name: &str) -> Box<Diagnostic> {
    engine.open(bytes).unwrap().template(name).unwrap_err()
}

#[test]
fn a_template_of_an_artifact_is_the_template() {
    let templates = [
        ("base.tera", "<{% block b %}{% endblock %}>"),
        ("page.html", "{% extends 'base.tera' %}{% block b %}{{ x }}{% endblock %}"),
    ];
    let template = open(&templates).template("page.html").unwrap();
    assert_eq!(template.render(&json!({"x": "<&>"})).unwrap(), "<&lt;&amp;&gt;>");
    assert_eq!((template.name(), template.dialect(), template.origin()), ("page.html", T, Origin::Artifact));
    assert_eq!(
        (template.inputs(), template.reaches(), template.escapes()),
        (vec!["x"], &["base.tera".into()][..], true)
    );
}

#[test]
fn the_order_of_the_templates_makes_no_difference() {
    let templates = [("a", "{{ x }}"), ("b/c", "{{ y | upper }}"), ("b.tera", "{% include 'a' %}")];
    let mut other = templates;
    other.reverse();
    assert_eq!(bytes(Engine::builder(), &templates), bytes(Engine::builder(), &other));
}

#[test]
fn an_error_shows_the_source_unless_it_was_stripped() {
    let templates = [("a.tera", "one\n{{ user.nmae }}")];
    let error = open(&templates).template("a.tera").unwrap().render(&json!({"user": {"name": 1}})).unwrap_err();
    let text = error.render(false);
    assert!(
        text.contains("a.tera:2:") && text.contains("{{ user.nmae }}") && text.contains("did you mean `name`?"),
        "{text}"
    );

    let builder = Engine::builder().template("a.tera", templates[0].1).build();
    let stripped = builder.bundle([(T, "a.tera")]).unwrap().strip(true).encode().unwrap();
    assert!(stripped.len() < bytes(Engine::builder(), &templates).len());
    let template = Engine::new().open(stripped).unwrap().template("a.tera").unwrap();
    let bare = template.render(&json!({"user": {"name": 1}})).unwrap_err();
    assert_eq!((bare.code, &bare.message), (error.code, &error.message));
    assert!(!bare.render(false).contains("{{"), "{}", bare.render(false));
}

#[test]
fn the_engine_that_opens_decides_on_limits_and_capabilities() {
    let loops = bytes(Engine::builder(), &[("a", "{% for i in range(end=100) %}{{ i }}{% endfor %}")]);
    let tight = Engine::builder().limits(Limits { output_bytes: 50, ..Limits::default() }).build();
    let error = tight.open(loops).unwrap().template("a").unwrap().render(&()).unwrap_err();
    assert_eq!(error.code, Code::LimitOutputBytes);

    let clock = bytes(Engine::builder(), &[("a", "{{ now() | date(format='%Y') | int > 2000 }}")]);
    let render = |engine: Engine| engine.open(clock.clone()).unwrap().template("a").unwrap().render(&());
    assert_eq!(render(Engine::new()).unwrap_err().code, Code::CapabilityOff);
    assert_eq!(render(Engine::builder().allow(Capabilities::CLOCK).build()).unwrap(), "true");
}

#[test]
fn functions_are_linked_by_name_and_an_unknown_one_is_named_with_the_nearest() {
    let build = || Engine::builder().declare(T, ImportKind::Filter, "shout");
    let artifact = bytes(build(), &[("a.tera", "{{ 'a' | shout }}"), ("b.tera", "b")]);
    let shouts = Engine::builder().filter(T, "shout", |text: String| text + "!").build();
    let opened = shouts.open(artifact.clone()).unwrap();
    assert_eq!(opened.template("a.tera").unwrap().render(&()).unwrap(), "a!");

    let near = Engine::builder().filter(T, "shoot", |text: String| text).build();
    let error = refused(&near, artifact.clone(), "a.tera");
    assert_eq!(error.code, Code::UnknownFunction);
    let text = error.render(false);
    assert!(
        text.contains("filter `shout`") && text.contains("did you mean `shoot`?") && text.contains("a.tera"),
        "{text}"
    );
    // Templates that do not call the function are unaffected.
    assert_eq!(near.open(artifact).unwrap().template("b.tera").unwrap().render(&()).unwrap(), "b");

    let declared = build().build().compile(T, "t", "{{ 1 | shout }}").unwrap().render(&()).unwrap_err();
    assert!(declared.message.contains("declared"), "{}", declared.message);
}

#[test]
fn a_function_with_other_parameters_than_before_is_refused() {
    let artifact = bytes(Engine::builder(), &[("a", "{{ 'a' | replace(from='a', to='b') }}")]);
    let other = Engine::builder().filter(T, "replace", |text: String| text).build();
    assert_eq!(refused(&other, artifact, "a").code, Code::BadArgument);
}

#[test]
fn an_artifact_keeps_the_filters_of_the_engine_that_compiled_it() {
    let artifact = bytes(Engine::builder(), &[("a", "{{ x | coalesce(with=1) | quote }}")]);
    let plain = Engine::builder().tera(TeraDialect::Plain).build();
    let rendered = plain.open(artifact).unwrap().template("a").unwrap().render(&json!({})).unwrap();
    assert_eq!(rendered, "\"1\"");
    let own = |builder: EngineBuilder| builder.filter(T, "quote", |text: String| text + "!");
    for dialect in [TeraDialect::Plus, TeraDialect::Plain] {
        let engine = own(Engine::builder()).tera(dialect).build();
        let template = engine.compile(T, "a", "{{ 'x' | quote }}").unwrap();
        assert_eq!(template.render(&json!({})).unwrap(), "x!", "{dialect:?}");
    }
}

#[test]
fn foreign_and_truncated_files_are_refused() {
    let sound = bytes(Engine::builder(), &[("a", "{{ x }}")]);
    let code = |bytes: Vec<u8>| Engine::new().open(bytes).unwrap_err().code;
    for text in ["", "{{ x }}", "\u{89}PNG", "name: a\n"] {
        assert_eq!(code(text.into()), Code::NotAnArtifact, "{text}");
    }
    assert!(matches!(code(sound[..sound.len() - 1].to_vec()), Code::ArtifactEncoding | Code::ArtifactDigest));
    let version = sound.windows(5).position(|window| window == b"0.1.0").unwrap();
    let mut other = sound.clone();
    other[version] = b'9';
    let error = Engine::new().open(other).unwrap_err();
    assert_eq!(error.code, Code::ArtifactVersion);
    assert!(error.message.contains("9.1.0") && error.help.is_some(), "{error}");
}

#[test]
fn a_directory_is_precompiled_with_its_lints_or_not_at_all() {
    let temp = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(temp.path().join(name), text).unwrap();
    write("_part.tera", "part of {{ name }}");
    write("page.yaml.tera", "{% include '_part.tera' %}");
    write("cd.tower", "cd ${params.dir}");
    write("notes.md", "{% if %}");
    let (bytes, lints) = Precompile::default().compile(temp.path()).unwrap();
    assert!(lints.is_empty());
    let artifact = Engine::new().open(bytes.clone()).unwrap();
    assert_eq!(artifact.names().collect::<Vec<_>>(), ["_part.tera", "cd.tower", "page.yaml.tera"]);
    let page = artifact.template("page.yaml.tera").unwrap();
    assert_eq!(page.render(&json!({"name": "x"})).unwrap(), "part of x");
    assert_eq!(Precompile::default().compile(temp.path()).unwrap().0, bytes);

    write("odd.tera", "{{ 1 | nope }}");
    assert_eq!(Precompile::default().compile(temp.path()).unwrap_err().iter().count(), 1);
    assert_eq!(Precompile::default().deny(None).compile(temp.path()).unwrap().1.len(), 1);
    write("bad.tera", "{{ ]");
    write("worse.tera", "{{ }}");
    let errors = Precompile::default().compile(temp.path()).unwrap_err();
    let places = ["bad.tera:1:", "worse.tera:1:"];
    assert!(places.iter().all(|place| errors.to_string().contains(place)), "{errors}");
}

#[test]
fn an_error_has_the_error_that_caused_it_as_its_source() {
    let port = |args: &HostArgs| -> Result<u16, HostError> { Ok(args.get::<String>("of")?.parse()?) };
    let template =
        Engine::builder().function(T, "port", port).build().compile(T, "a.tera", "{{ port(of=x) }}").unwrap();
    let error = template.render(&json!({"x": "80a"})).unwrap_err();
    assert_eq!(error.code, Code::FunctionFailed);
    assert!(error.source().unwrap().is::<std::num::ParseIntError>());
    let error = dropforge::engine::discover(&[PathBuf::from("no/such/dir")], None, &|_| true).unwrap_err();
    let cause = error.source().unwrap().downcast_ref::<std::io::Error>().unwrap();
    assert_eq!(cause.kind(), std::io::ErrorKind::NotFound);
    assert!(template.render(&json!({})).unwrap_err().source().is_none());
}
