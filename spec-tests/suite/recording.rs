//! Recordings: every byte of every output has an origin, and text of a template leads back to it.

use dropforge::bulk::values::Step;
use dropforge::engine::recording::{Recording, Why, Within};
use dropforge::engine::{Dialect, Engine, Template};
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;

use crate::cases;

/// Returns the output of a render and its recording. `None` if the render fails.
fn recorded(template: &Template, context: &serde_json::Value) -> Option<(String, Recording)> {
    let (arena, mut text) = (Arena::new(), String::new());
    let shapes = Shapes::new(&arena);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(context).expect("inputs"));
    template.render_inputs(&mut Session::new(), inputs, &mut text).ok()?;
    let (recording, rendered) = template.record(&mut Session::new(), inputs);
    assert!(rendered.is_ok(), "{text}");
    Some((text, recording))
}

/// Returns the part of a template that wrote something: a line of text, or an expression.
fn written(why: &Why) -> &str {
    let writer = why.written.first().expect("a writer");
    writer.source.slice(writer.span)
}

#[test]
fn every_byte_has_an_origin() {
    let mut count = 0;
    for (dialect, folder) in [
        (Dialect::Tera, "tera"),
        (Dialect::Tower, "tower"),
        (Dialect::Hcl, "hcl"),
        (Dialect::Helm, "helm"),
        (Dialect::Cel, "cel"),
        (Dialect::CelYaml, "cel-yaml"),
    ] {
        let is_text = !matches!(dialect, Dialect::Cel | Dialect::CelYaml);
        for case in cases::read_folder(folder).iter().flat_map(|(_, cases)| cases) {
            let Ok(template) = cases::compile(dialect, case) else { continue };
            let Some((text, recording)) = recorded(&template, &cases::context(case)) else { continue };
            for (at, c) in text.char_indices() {
                let why = recording.why(&text, at);
                let why = why.unwrap_or_else(|| panic!("{folder}: {}: no origin of byte {at} of {text:?}", case.name));
                let part = written(&why);
                // A literal of a template may be escaped when it is compiled.
                let is_here = c.is_whitespace() || part.contains(c) || text.contains("&lt;");
                // The text of another file is written where the template names it.
                let is_here = is_here || part.starts_with("raw_file(");
                assert!(
                    !is_text || !why.is_text || is_here,
                    "{folder}: {}: {c:?} at {at} of {text:?} is not in {part:?}",
                    case.name
                );
                count += 1;
            }
        }
    }
    assert!(count > 10_000, "{count}");
}

/// Returns what a recording says of a part of the output: the writers, what they ran within, and the inputs.
fn explained(dialect: Dialect, templates: &[(&str, &str)], context: &serde_json::Value, part: &str) -> String {
    let engine = templates.iter().fold(Engine::builder(), |engine, (name, text)| engine.template(*name, *text)).build();
    let (name, text) = templates[0];
    let template = engine.compile(dialect, name, text).expect("a template");
    let (text, recording) = recorded(&template, context).expect("an output");
    let why = recording.why(&text, text.find(part).expect("the part")).expect("an answer");
    let mut lines: Vec<String> =
        why.written.iter().map(|at| format!("{} {}", at.place(), at.source.slice(at.span))).collect();
    lines.extend(why.within.iter().map(|within| match within {
        Within::Call(at) => format!("call {}", at.source.slice(at.span)),
        Within::Turn { at, inputs, .. } => {
            let inputs: Vec<_> = inputs.iter().map(|flow| (Step::joined(&flow.path), flow.value.as_deref())).collect();
            format!("turn {} {inputs:?}", at.source.slice(at.span))
        }
        Within::Branch { at, holds, inputs } => {
            let inputs: Vec<_> = inputs.iter().map(|flow| Step::joined(&flow.path)).collect();
            format!("{holds} {} {inputs:?}", at.source.slice(at.span))
        }
    }));
    lines.extend(why.inputs.iter().map(|flow| {
        let value = flow.value.as_deref().unwrap_or("?");
        format!("{}{} = {value}", if flow.is_direct { "" } else { "from " }, Step::joined(&flow.path))
    }));
    lines.join("\n")
}

const CONTEXT: &str = r#"{"app": {"name": "web", "ports": [80, 443]}, "prod": true, "tag": "v1"}"#;

fn assert_explained(dialect: Dialect, name: &str, template: &str, cases: &[(&str, &str)]) {
    let context = serde_json::from_str(CONTEXT).expect("JSON");
    for (part, expected) in cases {
        assert_eq!(explained(dialect, &[(name, template)], &context, part), *expected, "{part}");
    }
}

#[test]
fn loops_conditions_and_macros_are_told() {
    let template = "{% macro line(text) %}- {{ text | upper }}
{% endmacro line %}{% if prod and app.name == \"web\" %}{% for port in app.ports %}port: {{ port }}
{% endfor %}{{ self::line(text=tag) }}{% endif %}{% if not prod %}x{% elif tag == 'v2' %}y{% else %}none{% endif %}
{%- for n in app.none | default(value=[]) %}n{% else %}empty{% endfor %}";
    let around = "true prod [\"prod\"]\ntrue app.name == \"web\" [\"app.name\"]\n";
    let cases = [
        (
            "443",
            format!("t:2:91 port\n{around}turn app.ports [(\"app.ports[1]\", Some(\"`443`\"))]\napp.ports[1] = `443`"),
        ),
        ("port", format!("t:2:82 port:\n{around}turn app.ports [(\"app.ports[0]\", Some(\"`80`\"))]")),
        ("V1", format!("t:1:28 text | upper\n{around}call self::line(text=tag)\nfrom tag = `\"v1\"`")),
        ("none", "t:3:101 none\ntrue prod [\"prod\"]\nfalse tag == 'v2' [\"tag\"]".to_owned()),
        ("empty", "t:4:56 empty\nfalse app.none | default(value=[]) []".to_owned()),
    ];
    assert_explained(Dialect::Tera, "t", template, &cases.each_ref().map(|(part, text)| (*part, text.as_str())));
}

#[test]
fn text_is_followed_through_captures_and_calls() {
    let template = "{{- define \"labels\" -}}
app: {{ .app.name }}
tag: {{ .tag | quote }}
{{- end -}}
meta:
  {{- include \"labels\" . | nindent 2 }}
{{- if .prod }}
ports:
{{ toYaml .app.ports | indent 2 }}
{{- range $i, $p := .app.ports }}
port{{ $i }}: {{ $p }}
{{- end }}
{{- end }}
{{ include \"sub\" (dict \"n\" .app \"x\" .tag) }}{{ define \"sub\" }}{{ .n.name }}!{{ .x }}{{ end }}
{{ tpl \"a: {{ .tag }}-tpl\" . }}";
    let labels = "t.gotmpl:6:7 include \"labels\" . | nindent 2\ncall include \"labels\" .";
    let turn = "true .prod [\"prod\"]\nturn $i, $p := .app.ports [(\"app.ports[1]\", Some(\"`443`\"))]";
    let sub =
        "t.gotmpl:14:4 include \"sub\" (dict \"n\" .app \"x\" .tag)\ncall include \"sub\" (dict \"n\" .app \"x\" .tag)";
    let cases = [
        ("app:", format!("t.gotmpl:2:1 app:\n{labels}")),
        ("web", format!("t.gotmpl:2:9 .app.name\n{labels}\napp.name = `\"web\"`")),
        ("v1\"", format!("t.gotmpl:3:9 .tag | quote\n{labels}\nfrom tag = `\"v1\"`")),
        ("- 443", "t.gotmpl:9:4 toYaml .app.ports | indent 2\ntrue .prod [\"prod\"]\napp.ports[1] = ?".to_owned()),
        ("1: 443", format!("t.gotmpl:11:8 $i\n{turn}\nfrom app.ports = `[80,443]`")),
        (": 443", format!("t.gotmpl:11:13 :\n{turn}")),
        ("web!", format!("t.gotmpl:14:66 .n.name\n{sub}\napp.name = `\"web\"`")),
        ("!v1", format!("t.gotmpl:14:76 !\n{sub}")),
        (
            "v1-tpl",
            "gotpl:1:7 .tag\nt.gotmpl:15:4 tpl \"a: {{ .tag }}-tpl\" .\ncall tpl \"a: {{ .tag }}-tpl\" .\ntag = `\"v1\"`"
                .to_owned(),
        ),
    ];
    assert_explained(Dialect::Helm, "t.gotmpl", template, &cases.each_ref().map(|(part, text)| (*part, text.as_str())));
}

#[test]
fn documents_are_followed_by_their_paths() {
    let template = "$let:
  n: ${app.name}
kind: X
name: ${n}
items:
  - $for: p in app.ports
    $do:
      port: ${p}
      fixed: 1
extra:
  $if: prod
  $then:
    tag: ${tag + \"-x\"}
whole: ${app}
";
    let cases = [
        ("kind", "t.yaml:3:7 X"),
        ("web", "t.yaml:4:9 n\napp.name = `\"web\"`"),
        ("port: 443", "t.yaml:8:15 p\nturn  app.ports [(\"app.ports[1]\", Some(\"`443`\"))]\napp.ports[1] = `443`"),
        ("fixed", "t.yaml:9:14 1\nturn  app.ports [(\"app.ports[0]\", Some(\"`80`\"))]"),
        ("v1-x", "t.yaml:13:12 tag + \"-x\"\ntrue prod [\"prod\"]\nfrom tag = `\"v1\"`"),
        ("    - 443", "t.yaml:14:10 app\napp.ports[1] = ?"),
    ];
    assert_explained(Dialect::CelYaml, "t.yaml", template, &cases);
}

/// Long runs are recorded up to a bound, deep calls and long chains of values to their end.
#[test]
fn hostile_templates_are_recorded() {
    let context = serde_json::from_str(CONTEXT).expect("JSON");
    let recorded = |text: &str| {
        let template = Engine::new().compile(Dialect::Tera, "t", text).expect("a template");
        recorded(&template, &context).expect("an output")
    };
    let chain = "{% set_global s = '' %}{% for i in range(end=2000) %}{% set_global s = s ~ tag %}{% endfor %}{{ s }}";
    let (text, recording) = recorded(chain);
    assert!(recording.why(&text, text.len() - 1).expect("an answer").written.len() == 1);
    let deep =
        "{% macro f(n) %}{% if n > 0 %}{{ n }} {{ self::f(n=n-1) }}{% endif %}{% endmacro f %}{{ self::f(n=150) }}";
    let (text, recording) = recorded(deep);
    let why = recording.why(&text, text.find(" 1 ").expect("the end") + 1).expect("an answer");
    assert!(why.within.len() > 200, "{}", why.within.len());
    let wide: String = (0..3_000).map(|n| format!("{{% if prod and {n} >= 0 %}}{n}\n{{% endif %}}")).collect();
    let (text, recording) = recorded(&wide);
    assert_eq!(recording.why(&text, text.len() - 2).expect("an answer").within.len(), 1);
    if crate::is_thorough() {
        let (text, recording) = recorded("{% for i in range(end=400000) %}{{ i }}\n{% endfor %}");
        assert!(recording.is_cut() && recording.why(&text, 0).is_some());
        assert!(recording.why(&text, text.len() - 2).is_none());
    }
}
