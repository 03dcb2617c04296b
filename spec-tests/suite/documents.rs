//! Templates that produce documents, and their includes of other languages, from source, artifacts and cache.

use dropforge::bytecode::Entry;
use dropforge::diagnostics::{Code, Diagnostics};
use dropforge::engine::{Cache, Dialect, Engine, EngineBuilder, Origin, Template, UnknownNames};
use dropforge::limits::Limits;
use dropforge::value::{Arena, Inputs, OutputFormat, Value};
use dropforge::vm::Session;
use serde_json::json;

const FILES: [(&str, &str); 4] = [
    ("app.cel.yaml", "name: ${name}\nlabels:\n  $include: parts/labels.yaml.tera\n  $with: {app: '${name}-x'}\n"),
    ("parts/labels.yaml.tera", "{% include 'parts/more.tera' %}app: {{ app | upper }}\n"),
    ("parts/more.tera", "more: [{{ app }}]\n"),
    ("parts/page.html", "{{ app }}"),
];

const WANTED: &str = "name: web\nlabels:\n  more:\n    - web-x\n  app: WEB-X\n";

fn builder(files: &[(&str, &str)]) -> EngineBuilder {
    files.iter().fold(Engine::builder().unknown_names(UnknownNames::Late), |builder, (name, text)| {
        builder.template(*name, *text)
    })
}

/// Compiles the first template.
fn load(files: &[(&str, &str)]) -> Result<Template, Diagnostics> {
    builder(files).build().load(Dialect::CelYaml, files[0].0)
}

fn render(template: &Template) -> String {
    template.render(&json!({"name": "web"})).unwrap()
}

#[test]
fn output_is_appended_and_errors_leave_the_buffer_unchanged() {
    let template = Engine::new().compile(Dialect::Cel, "t", "{'a': 1 / n}").unwrap();
    let (arena, mut session, mut out) = (Arena::new(), Session::new(), String::from("before\n"));
    let inputs = |n| Inputs::new(arena.map(&[("n", Value::Int(n))]));
    for _ in 0..2 {
        template.render_inputs(&mut session, inputs(1), &mut out).unwrap();
        assert!(template.render_inputs(&mut session, inputs(0), &mut out).is_err());
        template.with_format(OutputFormat::Yaml).render_checked(&mut session, inputs(-1), &mut out).unwrap();
        assert!(template.render_checked(&mut session, inputs(0), &mut out).is_err());
    }
    assert_eq!(out, "before\n{\"a\":1}\na: -1\n{\"a\":1}\na: -1\n");
    let documents = template.documents(&mut session, inputs(1)).unwrap();
    assert!(matches!(documents, [Value::Map(map)] if matches!(map.get("a"), Some(Value::Int(1)))));

    let small = Engine::builder().limits(Limits { output_bytes: 8, ..Limits::default() }).build();
    let template = small.compile(Dialect::Cel, "t", "{'a': n}").unwrap();
    let mut out = String::from("before");
    assert!(template.render_inputs(&mut session, inputs(1), &mut out).is_ok());
    let error = template.render_inputs(&mut session, inputs(10), &mut out).unwrap_err();
    assert_eq!((error.code, &*out), (Code::LimitOutputBytes, "before{\"a\":1}\n"));
    let text = Engine::new().compile(Dialect::Tera, "t.tera", "").unwrap();
    assert!(!text.gives_documents());
    assert_eq!(text.documents(&mut session, inputs(1)).unwrap_err().code, Code::Usage);
}

#[test]
fn a_template_of_another_language_is_included_from_source_and_from_an_artifact() {
    let template = load(&FILES).unwrap();
    assert_eq!(render(&template), WANTED);
    assert_eq!(template.reaches(), ["parts/labels.yaml.tera", "parts/more.tera"]);

    let engine = builder(&FILES).build();
    let all = [(Dialect::CelYaml, FILES[0].0), (Dialect::Tera, FILES[1].0)];
    for names in [&all[..1], &all[..]] {
        for strip in [false, true] {
            let bytes = engine.bundle(names.iter().copied()).unwrap().strip(strip).encode().unwrap();
            let artifact = Engine::new().open(bytes).unwrap();
            assert_eq!(artifact.names().collect::<Vec<_>>(), ["app.cel.yaml", "parts/labels.yaml.tera"]);
            let template = artifact.template("app.cel.yaml").unwrap();
            assert_eq!((render(&template), template.origin()), (WANTED.to_owned(), Origin::Artifact));
            assert_eq!(template.reaches(), ["parts/labels.yaml.tera", "parts/more.tera"]);
        }
    }
    // A program does not link without the entry that it calls.
    let entry = Entry {
        name: "a",
        program: template.program(),
        escape: false,
        executable: false,
        reaches: &[],
        residual: None,
    };
    let alone = dropforge::bytecode::encode(&[entry], false).unwrap();
    let error = Engine::new().open(alone).unwrap().template("a").unwrap_err();
    assert_eq!((error.code, &*error.notes[0]), (Code::UnknownTemplate, "`a` includes it"));
}

#[test]
fn the_cache_covers_included_templates() {
    let temp = tempfile::tempdir().unwrap();
    let load = |files: &[(&str, &str)], more: fn(EngineBuilder) -> EngineBuilder| {
        let engine = more(builder(files).cache(Cache::new(temp.path()))).build();
        let template = engine.load(Dialect::CelYaml, files[0].0).unwrap();
        (template.origin(), render(&template))
    };
    let same = |builder| builder;
    assert_eq!(load(&FILES, same), (Origin::Source, WANTED.to_owned()));
    assert_eq!(load(&FILES, same), (Origin::Cache, WANTED.to_owned()));
    let mut changed = FILES;
    changed[2].1 = "more: [new]\n";
    let wanted = WANTED.replace("- web-x", "- new");
    assert_eq!(load(&changed, same), (Origin::Source, wanted.clone()));
    assert_eq!(load(&changed, same), (Origin::Cache, wanted));
    // The included template is escaped by its own name, as the engine decides.
    let mut page = FILES;
    page[0].1 = "page: ${name}\n$include: p.html.tera\n$with: {app: '<'}\n";
    page[3] = ("p.html.tera", "v: '{{ app }}'\n");
    assert_eq!(load(&page, same), (Origin::Source, "page: web\nv: <\n".to_owned()));
    let escaping = |builder: EngineBuilder| builder.escape_suffixes([".tera"]);
    assert_eq!(load(&page, escaping), (Origin::Source, "page: web\nv: \"&lt;\"\n".to_owned()));
    assert_eq!(load(&page, escaping).0, Origin::Cache);
    assert_eq!(load(&page, same), (Origin::Source, "page: web\nv: <\n".to_owned()));
}

#[test]
fn errors_in_includes_have_their_positions() {
    let with = |tera: &'static str| {
        let mut files = FILES;
        files[1].1 = tera;
        files
    };
    let errors = load(&with("a: {{ }}\nb: {% if %}\n")).unwrap_err();
    let lines: Vec<_> = errors.iter().map(|error| error.primary().unwrap().position().line).collect();
    assert!(lines.contains(&1) && lines.contains(&2), "{errors}");
    for error in errors.iter() {
        let place = error.primary().unwrap().source.name();
        assert_eq!((place, &*error.notes[0]), ("parts/labels.yaml.tera", "`app.cel.yaml` includes it"));
    }

    let lints = load(&with("a: {{ app | nope }}")).unwrap();
    assert_eq!(lints.lints().len(), 1, "{:?}", lints.lints());
    let bundle = builder(&with("a: {{ app | nope }}")).build().bundle([(Dialect::CelYaml, FILES[0].0)]).unwrap();
    assert_eq!(bundle.lints().len(), 1);

    let run = |tera| load(&with(tera)).unwrap().render(&json!({"name": "web"})).unwrap_err();
    let places = |tera| {
        let error = run(tera);
        let place = |label: &dropforge::diagnostics::Label| format!("{}:{}", label.source.name(), label.position());
        (error.code, error.labels.iter().map(place).collect::<Vec<_>>())
    };
    let here = "app.cel.yaml:3:13".to_owned();
    assert_eq!(
        places("a: 1\nb: {{ nope }}"),
        (Code::UndefinedVariable, vec!["parts/labels.yaml.tera:2:7".to_owned(), here.clone()])
    );
    let (code, yaml) = places("a: 1\nb: [{{ app }}\n");
    assert_eq!((code, &yaml[1]), (Code::InputSyntax, &here));
    assert!(yaml[0].starts_with("parts/labels.yaml.tera (rendered):"), "{yaml:?}");
    // An included template sees only the values that it is given.
    assert_eq!(places("a: {{ name }}").0, Code::UndefinedVariable);

    let mut files = FILES;
    files[0].1 = "$include: parts/absent.tera\n";
    let absent = load(&files).unwrap();
    assert_eq!(absent.lints()[0].code, Code::UnknownTemplate);
    assert_eq!(absent.render(&()).unwrap_err().code, Code::UnknownTemplate);
}

#[test]
fn tags_of_collections_are_errors_in_json() {
    let text = "a: 1\nb:\n  - !Sub {x: 1}\nc: !Ref x\n";
    let template = load(&[("t.cel.yaml", text)]).unwrap();
    assert_eq!(render(&template), "a: 1\nb:\n  - !Sub\n    x: 1\nc: !Ref x\n");
    let kyaml = template.with_format(OutputFormat::Kyaml).render(&()).unwrap();
    assert_eq!(kyaml, "---\n{\n  a: 1,\n  b: [!Sub {\n    x: 1,\n  }],\n  c: !Ref \"x\",\n}\n");
    for format in [OutputFormat::Json, OutputFormat::Ndjson] {
        let error = template.with_format(format).render(&()).unwrap_err();
        assert_eq!(error.to_string(), "E0301: the tag `!Sub` cannot be written as JSON (t.cel.yaml:3:5)");
    }
    let template = load(&[("t.cel.yaml", "a: !!x\n  - 1\n"), ("x.yaml", "")]).unwrap();
    let error = template.with_format(OutputFormat::Json).render(&()).unwrap_err();
    assert_eq!(error.position().unwrap().to_string(), "1:4");
    let template = load(&[("t.cel.yaml", "c: !Ref x\n")]).unwrap();
    assert_eq!(template.with_format(OutputFormat::Ndjson).render(&()).unwrap(), "{\"c\":\"x\"}\n");
}
