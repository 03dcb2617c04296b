use std::sync::Arc;

use chrono::Utc;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use super::*;
use crate::error::{CatalogError, Result};
use crate::model::TemplateVersion;
use crate::objects::ParameterSet;
use crate::store::{Metadata, new_id};
use dropforge::bulk::{Layers, Merge};
use dropforge::engine::Dialect;
use dropforge::function::HostArgs;
use dropforge::value::DataMap;

pub(super) fn request(content: &str, schema: &str, parameters: &str) -> RenderRequest {
    let now = Utc::now();
    let template = TemplateVersion {
        id: new_id(),
        created_at: now,
        updated_at: now,
        deleted_at: None,
        generator_id: None,
        name: "t".into(),
        description: None,
        version: 1,
        template_content: content.into(),
        parameters_schema: schema.into(),
        checksum: String::new(),
        language: crate::Language::Tera,
        encoding: None,
    };
    let parameters = RawValue::from_string(parameters.into()).unwrap();
    RenderRequest {
        template,
        template_metadata: Metadata::default(),
        stack_metadata: None,
        parameters,
        defaults: false,
        shared: None,
        layers: None,
        variants: None,
        release: None,
        check_output: false,
    }
}

pub(super) fn small() -> Options {
    Options { threads: 1, queue: 8, fuel: 100_000, memory: 1 << 20, output_bytes: 1 << 16, ..Options::default() }
}

fn run(request: RenderRequest) -> Result<RenderOutcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(Renderer::new(&small()).render(request))
}

fn text(content: &str, parameters: &str) -> String {
    let outcome = run(request(content, "{}", parameters)).unwrap();
    assert_eq!(outcome.failures, [], "{content}");
    outcome.text.unwrap()
}

fn failure(content: &str, parameters: &str) -> CatalogError {
    let mut outcome = run(request(content, "{}", parameters)).unwrap();
    assert_eq!((outcome.failures.len(), &outcome.text), (1, &None), "{content}: {:?}", outcome.failures);
    outcome.failures.remove(0)
}

#[test]
fn filters_beyond_tera_are_for_templates_that_say_so() {
    let parameters = r#"{"a": {"b": 1}}"#;
    assert_eq!(text("{# dialect: tera+ #}{{ a | to_yaml }}", parameters), "b: 1");
    assert_eq!(text("\n{#- dialect:tera+ -#}\n{{ x | coalesce(with=2) }}", parameters).trim(), "2");
    for plain in [
        "{{ a | to_yaml }}",
        "{# dialect: tera #}{{ a | to_yaml }}",
        "{# dialect: tera++ #}{{ a | to_yaml }}",
        "x{# dialect: tera+ #}{{ a | to_yaml }}",
        "{# tera+ #}{{ a | to_yaml }}",
        "{# dialect: tera+{{ a | to_yaml }}#}{{ a | to_yaml }}",
    ] {
        assert_eq!(failure(plain, parameters).code, "template_render_failed", "{plain}");
    }
}

#[test]
fn numbers_are_exact_and_maps_sorted() {
    assert_eq!(
        text("{{ n }} {{ m }}", r#"{"n": 9007199254740993, "m": 18446744073709551615}"#),
        "9007199254740993 18446744073709551615"
    );
    assert_eq!(text("{% for k, v in e %}{{ k }}={{ v }};{% endfor %}", r#"{"e": {"b": 1, "a": 1.0}}"#), "a=1;b=1;");
    assert_eq!(text("{{ a }}", r#"{"a": "<&>\"'"}"#), "<&>\"'");
}

#[test]
fn parameters_that_are_no_object_are_an_empty_context() {
    for parameters in ["[]", "null", "1", "\"x\"", "[{\"a\": 1}]"] {
        assert_eq!(text("{{ a | default(value='none') }}", parameters), "none", "{parameters}");
    }
}

#[test]
fn failures_say_what_and_where() {
    let error = failure("a: 1\nb: {{ nmae }}", r#"{"name": 1}"#);
    assert_eq!((error.kind.status(), error.code.as_str()), (400, "template_render_failed"));
    assert!(error.message.starts_with("Template rendering failed: ") && error.message.contains("nmae"));
    let diagnostic = &error.details.unwrap()["diagnostics"][0];
    assert_eq!((&diagnostic["line"], &diagnostic["file"]), (&json!(2), &json!("template")));
    for call in ["now()", "get_random(end=3)", "get_env(name='HOME', default='x')"] {
        let error = failure(&format!("{{{{ {call} }}}}"), "{}");
        let name = call.split('(').next().unwrap();
        assert_eq!(error.code, "template_render_failed");
        assert!(error.message.contains(name), "{}", error.message);
    }
}

#[test]
fn blank_text_and_nul_bytes_are_refused() {
    let error = failure("{% if x %}a{% endif %} \n", r#"{"x": false}"#);
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("invalid_deployment_object", "YAML content cannot be empty")
    );
    assert_eq!(failure("a: {{ v }}", r#"{"v": "a\u0000b"}"#).code, "invalid_deployment_object");
}

#[test]
fn text_that_is_no_yaml_is_a_warning() {
    let outcome = run(request("a: [{{ b }}", "{}", r#"{"b": 1}"#)).unwrap();
    assert_eq!((outcome.failures.len(), outcome.text.as_deref()), (0, Some("a: [1")));
    let warning = &outcome.warnings[0];
    assert_eq!((warning.code.as_str(), warning.line), ("output.not_yaml", Some(1)));
    assert_eq!(run(request("a: !Sub {{ b }}", "{}", r#"{"b": 1}"#)).unwrap().warnings, []);
}

#[test]
fn text_that_has_to_be_yaml_names_the_line_of_the_template() {
    let checked = |content: &str, parameters: &str| {
        run(RenderRequest { check_output: true, ..request(content, "{}", parameters) }).unwrap()
    };
    let outcome = checked("a: 1\nb:\n  c: {{ v }}\n", r#"{"v": "x: y"}"#);
    let error = &outcome.failures[0];
    assert_eq!((error.code.as_str(), outcome.text.as_deref()), ("template_output_invalid", None));
    assert!(error.message.contains("not valid YAML") && error.message.contains("line 3, column 9"), "{error}");
    let spans = &error.details.as_ref().unwrap()["diagnostics"][0]["spans"];
    assert_eq!((&spans[0]["file"], &spans[0]["start"]), (&json!("template"), &json!(16)));
    assert_eq!((&spans[1]["file"], &spans[1]["line"]), (&json!("output"), &json!(3)));
    assert!(outcome.warnings.is_empty());
    assert!(checked("a: {{ v }}", r#"{"v": "x"}"#).failures.is_empty());
}

#[test]
fn everything_is_evaluated_whatever_failed() {
    let mut request = request("{{ a }}{{ b }}", r#"{"required": ["a"]}"#, r#"{"b": 1}"#);
    request.template_metadata.labels.push("env=prod".into());
    request.stack_metadata = Some(Metadata::default());
    let codes: Vec<String> = run(request).unwrap().failures.into_iter().map(|error| error.code).collect();
    assert_eq!(codes, ["invalid_parameters", "template_stack_mismatch", "template_render_failed"]);
}

#[test]
fn defaults_are_filled_in_on_request_only() {
    let (content, schema) = ("{{ r }}", r#"{"properties": {"r": {"default": 2}}, "required": ["r"]}"#);
    assert_eq!(run(request(content, schema, "{}")).unwrap().failures.len(), 2);
    let outcome = run(RenderRequest { defaults: true, ..request(content, schema, "{}") }).unwrap();
    assert_eq!(
        (outcome.failures.len(), outcome.text.as_deref(), outcome.parameters.as_str()),
        (0, Some("2"), r#"{"r":2}"#)
    );
}

#[test]
fn what_takes_too_much_is_refused() {
    let codes = [
        ("{% for i in range(end=1000000000) %}x{% endfor %}", "limit.fuel"),
        ("{% for i in range(end=20000) %}{% for j in range(end=20000) %}{% endfor %}{% endfor %}", "limit.fuel"),
        ("{% for i in range(end=20000) %}xxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}", "limit.output_bytes"),
        ("{% macro m() %}{{ self::m() }}{% endmacro %}{{ self::m() }}", "limit.recursion"),
    ];
    for (content, name) in codes {
        let error = failure(content, "{}");
        assert_eq!(error.code, "template_render_failed");
        assert_eq!(error.details.unwrap()["diagnostics"][0]["name"], Json::from(name), "{content}");
    }
}

#[test]
fn what_was_compiled_is_kept() {
    let renderer = Renderer::new(&Options { cached: 2, ..small() });
    let first = renderer.compiled("{{ a }}", "{}").unwrap();
    assert!(Arc::ptr_eq(&first, &renderer.compiled("{{ a }}", "{}").unwrap()));
    assert!(!Arc::ptr_eq(&first, &renderer.compiled("{{ a }}", "true").unwrap()));
    renderer.compiled("{{ b }}", "{}").unwrap();
    assert!(!Arc::ptr_eq(&first, &renderer.compiled("{{ a }}", "{}").unwrap()), "two are kept");
}

#[test]
fn the_cache_counts_the_memory_of_what_it_holds() {
    let long = |part: &str, count: usize| (0..count).map(|n| part.replace('#', &n.to_string())).collect::<String>();
    let properties = |of: &str, count| {
        let list = long(&format!("\"p#\": {of},"), count);
        format!("{{\"properties\": {{{}}}}}", list.trim_end_matches(','))
    };
    let texts = [
        ("n: {{ n }}".to_owned(), "{}".to_owned()),
        ("x".repeat(500_000), "{}".to_owned()),
        (long("{% if a# %}{{ b.c# | upper }}: {{ d }}\n{% endif %}", 5_000), "{}".to_owned()),
        (long("{{ a.b.c }}", 20_000), "{}".to_owned()),
        (long("{{ a | nope# }}", 500), "{}".to_owned()),
        ("n".to_owned(), properties(r#"{"type": "string", "minLength": 1}"#, 2_000)),
        ("n".to_owned(), properties(r#"{"enum": [1, 2, "three", [4], {"five": 5}]}"#, 1_000)),
        ("n".to_owned(), properties(r#"{"pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"}"#, 20)),
        ("n".to_owned(), properties(r#"{"allOf": [{"format": "email"}], "default": {"a": [1, 2, 3]}}"#, 500)),
    ];
    let mut wrong = Vec::new();
    for (content, schema) in &texts {
        // What all templates share is made once: functions, the patterns of formats.
        drop(Renderer::new(&small()).compiled(content, schema).unwrap());
        let renderer = Renderer::new(&small());
        renderer.compiled("", "{}").unwrap();
        let before = renderer.stats().cached_bytes;
        let held = allocation_counter::measure(|| drop(renderer.compiled(content, schema).unwrap())).bytes_current;
        let (held, counted) = (held as usize, renderer.stats().cached_bytes - before);
        let place = format!("{:.30} {:.60}: {held} bytes held, {counted} counted", content, schema);
        if counted < held * 3 / 4 || counted > held * 4 + 4096 {
            wrong.push(place);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_cache_holds_no_more_than_it_may() {
    let renderer = Renderer::new(&Options { cached_bytes: 2 << 20, ..small() });
    for n in 0..40 {
        renderer.compiled(&format!("{n}{}", "x".repeat(100_000)), "{}").unwrap();
        assert!(renderer.stats().cached_bytes <= 2 << 20);
    }
    assert!(renderer.stats().cached_bytes > 1 << 20);
    let last = renderer.compiled(&format!("39{}", "x".repeat(100_000)), "{}").unwrap();
    renderer.compiled(&"{{ x }}".repeat(100_000), "{}").unwrap();
    assert!(
        Arc::ptr_eq(&last, &renderer.compiled(&format!("39{}", "x".repeat(100_000)), "{}").unwrap()),
        "one too large"
    );
}

#[test]
fn many_render_at_once() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let renderer = Renderer::new(&Options { threads: 3, queue: 200, own_queue: 200, ..Options::default() });
    runtime.block_on(async {
        let one = |at: usize| {
            let renderer = renderer.clone();
            tokio::spawn(async move { renderer.render(request("n: {{ n }}", "{}", &format!("{{\"n\": {at}}}"))).await })
        };
        let all: Vec<_> = (0..200).map(one).collect();
        for (at, one) in all.into_iter().enumerate() {
            assert_eq!(one.await.unwrap().unwrap().text, Some(format!("n: {at}")));
        }
    });
}

#[test]
fn errors_of_a_render_tell_no_secrets() {
    let schema = r#"{"properties": {"token": {"writeOnly": true}}}"#;
    let error =
        run(request("{{ throw(message=token) }}", schema, r#"{"token": "hunter2"}"#)).unwrap().failures.remove(0);
    assert_eq!(error.code, "template_render_failed");
    assert!(!serde_json::to_string(&error).unwrap().contains("hunter2") && error.message.contains("***"));
}

#[test]
fn hostile_templates_are_refused_and_never_panic() {
    let contents = [
        "{{".repeat(100_000),
        "{% if a %}".repeat(10_000),
        format!("{{{{ {}1{} }}}}", "(".repeat(50_000), ")".repeat(50_000)),
        "x".repeat(10 << 20),
        "{% extends 'x' %}".to_owned(),
        format!("{{{{ a{} }}}}", "| upper".repeat(100_000)),
    ];
    let renderer = Renderer::new(&small());
    for content in contents {
        if let Err(error) = renderer.compiled(&content, "{}") {
            assert_eq!((error.kind.status(), error.code.as_str()), (400, "invalid_template_syntax"));
            assert!(error.message.len() < 1000, "{}", error.message);
        }
    }
    let bomb =
        "{% set a = 'xxxxxxxxxxxxxxxx' %}{% for i in range(end=60) %}{% set_global a = a ~ a %}{% endfor %}{{ a }}";
    let error = failure(bomb, "{}");
    assert!(error.details.unwrap()["diagnostics"][0]["name"].as_str().unwrap().starts_with("limit."));
}

#[test]
fn a_render_that_panics_fails_alone() {
    let boom = |_: &HostArgs| -> String { std::panic::resume_unwind(Box::new("hunter2")) };
    let compiler = Compiler::new(&small(), |builder| builder.function(Dialect::Tera, "boom", boom));
    let renderer = Renderer::of(compiler, &small());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let render = |content: &str| runtime.block_on(renderer.render(request(content, "{}", r#"{"a": 1}"#))).unwrap();
    // There is one thread for this caller.
    for _ in 0..3 {
        let outcome = render("{{ a }}{{ boom() }}");
        let error = outcome.failures.first().unwrap();
        assert_eq!((error.kind.status(), error.code.as_str()), (400, "template_render_failed"), "{error:?}");
        let diagnostic = &error.details.as_ref().unwrap()["diagnostics"][0];
        assert_eq!(diagnostic["name"], json!("function.failed"));
        assert!(!error.message.contains("hunter2") && outcome.text.is_none());
        assert_eq!(render("a: {{ a }}").text.as_deref(), Some("a: 1"));
    }
}

/// Specialises a template for so many sets. Returns the text for inputs that leave what is shared, and for others.
fn specialised(options: &Options, count: usize) -> Option<[String; 2]> {
    let renderer = Renderer::new(options);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let shared: DataMap = serde_json::from_value(json!({"env": "prod", "more": [1, 2]})).unwrap();
    let shared = Arc::new(Layers::new([shared], Vec::new(), Merge::Deep));
    let parameters = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let set = |at| ParameterSet { name: None, stack_id: None, parameters: parameters(&format!("{{\"name\": {at}}}")) };
    let sets: Arc<[ParameterSet]> = (0..count).map(set).collect();
    let content = "{{ name }}-{{ env }}{% for n in more %}{{ n }}{% endfor %}";
    let given = request(content, "{}", "{}");
    let variants = runtime.block_on(renderer.variants(given.template.clone(), shared.clone(), sets)).unwrap();
    let variants = Arc::new(variants?);
    assert!(variants.memory() > 0);
    let render = |text: &str| {
        let given = given.clone();
        let (variants, shared) = (Some(variants.clone()), Some(shared.clone()));
        let request = RenderRequest { parameters: parameters(text), variants, shared, ..given };
        runtime.block_on(renderer.render(request)).unwrap().text.unwrap()
    };
    let own = serde_json::from_str(r#"{"name": 7}"#).unwrap();
    let words = |own: &DataMap| variants.template(own).program().words().len();
    assert!(words(&own) < words(&serde_json::from_str(r#"{"env": "dev"}"#).unwrap()));
    Some([render(r#"{"name": 7}"#), render(r#"{"name": 8, "env": "dev"}"#)])
}

#[test]
fn templates_are_specialised_for_many_sets_within_the_limits() {
    let options = Options { threads: 1, ..Options::default() };
    assert_eq!(specialised(&options, 1_000), Some(["7-prod12".to_owned(), "8-dev12".to_owned()]));
    assert_eq!(specialised(&options, 10_000), specialised(&options, 1_000));
    for (options, count) in [
        (options.clone(), 100),
        (Options { memory: 1 << 20, ..options.clone() }, 1_000),
        (Options { deadline: std::time::Duration::from_secs(1), ..options }, 1_000),
    ] {
        assert_eq!(specialised(&options, count), None, "{options:?} {count}");
    }
}
