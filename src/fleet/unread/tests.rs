//! Tests of warnings about values that no template reads.

use super::*;
use crate::input::Place;
use crate::values::{SetKind, parse_set};
use crate::{Fleet, FleetOptions, Format, Merge, input};
use dropforge_base::text::Source;
use dropforge_engine::{Dialect, Engine};

fn read(templates: &[(Dialect, &str)]) -> ReadValues {
    let engine = Engine::new();
    let compile = |(dialect, text): &(Dialect, &str)| engine.compile(*dialect, "t", text).unwrap();
    let templates: Vec<Template> = templates.iter().map(compile).collect();
    ReadValues::by(&templates).and_plan(&Selector::default(), &Layout::parse("{cluster}").unwrap(), None)
}

/// Returns the message and the help of each warning about shared values.
fn unread(templates: &[(Dialect, &str)], values: &str, set: &str) -> Vec<String> {
    let source = Source::new("v.yaml", values);
    let map = input::map(&source, Format::Yaml).unwrap();
    let sets = parse_set(SetKind::Typed, set, &mut |_| unreachable!()).unwrap();
    let places = vec![Place::file(&source, Format::Yaml)];
    let layers = Layers::new([map], sets, Merge::Deep).with_places(places);
    let warnings = read(templates).unread(&layers);
    let more = |warning: &Diagnostic| -> String {
        warning.help.iter().chain(&warning.notes).map(|more| format!(" {more}")).collect()
    };
    warnings.iter().map(|warning| format!("{warning}{}", more(warning))).collect()
}

/// Returns the names that are reported for a template and values.
fn names(dialect: Dialect, template: &str, values: &str) -> Vec<String> {
    let warnings = unread(&[(dialect, template)], values, "");
    warnings.iter().map(|text| text.split('`').nth(1).unwrap().to_owned()).collect()
}

#[test]
fn a_name_has_one_warning_with_its_place_and_the_likely_name() {
    let tera = [(Dialect::Tera, "{{ image.tag }}{{ image.repository }}{{ replicas }}")];
    assert_eq!(
        unread(&tera, "imge:\n  tag: v1\nreplicas: 1\nother: [1, 2]\n", "repilcas=2,image.repositry=x"),
        [
            "E0809: no template reads `imge.tag` (v.yaml:2:8) one of `imge.tag` and `image.tag` is likely misspelled \
             a template reads `image.tag` (t:1:4)",
            "E0809: no template reads `other` (v.yaml:4:9)",
            "E0809: `--set repilcas=2,image.repositry=x`: no template reads `repilcas` did you mean `replicas`?",
            "E0809: `--set repilcas=2,image.repositry=x`: no template reads `image.repositry` \
             one of `image.repositry` and `image.repository` is likely misspelled \
             a template reads `image.repository` (t:1:19)",
        ]
    );
    let two = unread(&tera, "imge: {tag: v1, repository: x}\nreplicas: 1\n", "");
    assert_eq!(
        two,
        ["E0809: no template reads `imge` (2 values) (v.yaml:1:13) one of `imge` and `image` is likely misspelled \
                       a template reads `image.tag` (t:1:4)"]
    );
}

#[test]
fn a_misspelled_name_of_the_template_is_told_with_its_place() {
    let tera = [(Dialect::Tera, "{{ image.tag }}"), (Dialect::Tera, "a\n{{ imgae.tag }}{{ replicas }}")];
    let places = "one of `image.tag` and `imgae.tag` is likely misspelled a template reads `imgae.tag` (t:2:4)";
    let found = unread(&tera[1..], "image: {tag: 1}\nreplica: 1\nreplicas: 2\n", "");
    assert_eq!(
        found,
        [
            format!("E0809: no template reads `image.tag` (v.yaml:1:14) {places}"),
            // Of a name that is given, too, the other is the wrong one.
            "E0809: no template reads `replica` (v.yaml:2:10) did you mean `replicas`?".to_owned(),
        ]
    );
    // A template that handles a missing value means its name.
    let optional = [(Dialect::Tera, "{{ imgae.tag }}{% if x %}{{ imgae.tag | default(value=1) }}{% endif %}")];
    let found = unread(&optional, "image: {tag: 1}\n", "");
    assert!(found[0].contains("did you mean `imgae.tag`?"), "{found:?}");
    let helm = [(Dialect::Helm, "{{ .Values.imgae.tag }}")];
    let found = unread(&helm, "Values: {image: {tag: 1}}\n", "");
    assert!(found[0].ends_with("a template reads `Values.imgae.tag` (t:1:4)"), "{found:?}");
}

#[test]
fn each_language_reads_what_it_uses() {
    use Dialect::{CelYaml, Hcl, Tera, Tower};
    let none: [&str; 0] = [];
    let cases: &[(Dialect, &str, &str, &[&str])] = &[
        (
            Tera,
            "{% for p in ports %}{{ p.name }}{% endfor %}",
            "ports: [{name: a, nmae: b}, {nmae: c}]",
            &["ports[].nmae"],
        ),
        (Tera, "{% for k, v in m %}{{ v.a }}{% endfor %}", "m: {x: {a: 1, b: 2}}", &["m.x.b"]),
        (Tera, "{{ sizes[tier].cpu }}", "tier: a\nsizes: {a: {cpu: 1, mem: 2}}", &none),
        (Tera, "{{ m | json_encode }}", "m: {a: 1}", &none),
        (Tera, "{{ __tera_context }}", "m: {a: 1}", &none),
        (Tera, "{% if m %}{% endif %}", "m: {a: 1}", &none),
        (Tera, "{% if m %}{{ m.b }}{% endif %}", "m: {a: 1}", &["m.a"]),
        (Tera, "{% set x = m.n %}{{ x.a }}", "m: {n: {a: 1, b: 2}}", &["m.n.b"]),
        (Tera, "{% macro f(x) %}{{ x.a }}{% endmacro %}{{ self::f(x=m) }}", "m: {a: 1, b: 2}", &["m.b"]),
        (Tera, "{% for x in l | default(value=[]) %}{{ x.a }}{% endfor %}", "l: [{a: 1, b: 2}]", &["l[].b"]),
        (Tera, "{% for x in l %}{% set_global y = x %}{{ y.a }}{% endfor %}{{ y.b }}", "l: [{a: 1, b: 2}]", &none),
        (Tera, "{% for x in l %}{{ y.b | default(value=0) }}{% set_global y = x %}{% endfor %}", "l: [{b: 2}]", &none),
        (Tera, "{{ hosts.0 }}", "hosts: [a, b]", &none),
        (Tera, "{{ a }}", "x-b: 1", &none),
        (Hcl, "%{ for p in ports ~}\n${p.name}\n%{ endfor ~}\n", "ports: [{name: a, nmae: b}]", &["ports[].nmae"]),
        (Hcl, "${[for k, v in m : v.a][0]}${n[\"x-y\"]}", "m: {x: {a: 1, b: 2}}\nn: {x-y: 1, z: 1}", &["m.x.b", "n.z"]),
        (Hcl, "${jsonencode(m)}${l[*].id}", "m: {a: 1}\nl: [{id: 1}]", &none),
        (CelYaml, "a: ${m.a}\nb: \"${has(m.c) ? 1 : 2}\"", "m: {a: 1, b: 2, c: 3}", &["m.b"]),
        (CelYaml, "a:\n  $for: p in ports\n  $do: ${p.name}", "ports: [{name: a, nmae: b}]", &["ports[].nmae"]),
        (CelYaml, "a: \"${l.map(i, i.a)}\"", "l: [{a: 1, b: 2}]", &["l[].b"]),
        (CelYaml, "$schema: {m: object}\na: 1", "m: {a: 1}", &none),
        (Tower, "${params.a}", "params: {a: 1, b: 2}", &["params.b"]),
    ];
    for (dialect, template, values, expected) in cases {
        assert_eq!(names(*dialect, template, values), *expected, "{template}");
    }
}

#[test]
fn clusters_may_have_what_nobody_reads_unless_it_looks_like_a_mistake() {
    let template = "{{ region }}{{ image.tag }}{{ cluster.env }}{{ zone | default(value=1) }}";
    let read = read(&[(Dialect::Tera, template)]);
    let text = r#"{"name":"a","region":1,"owner":"x","image":{"tag":1,"pull":2},"cluster":{"env":1,"rack":2}}
            {"name":"b","regoin":1,"image":{"tag":1},"cluster":{"env":1}}
            {"name":"c","regoin":"\"{","image":{"tag":1},"cluster":{"env":1}}
            {"name":"d","region":1,"regoin":1,"image":{"tag":1},"zones":1}"#;
    let fleet = Fleet::read(&Source::new("f.ndjson", text), Format::Ndjson, &FleetOptions::default()).unwrap();
    let clusters = Selection::of(&fleet, &Layers::default(), &Selector::default()).unwrap();
    let found = read.unread_by_clusters(&Layers::default(), &clusters).unwrap();
    let text = |one: &Failure| format!("{}: {} {:?}", one.clusters.join(","), one.diagnostic, one.diagnostic.help);
    assert_eq!(
        found.iter().map(text).collect::<Vec<_>>(),
        [
            "a: E0809: no template reads `image.pull` (f.ndjson:1:60) [cluster a] None",
            "b,c: E0809: no template reads `regoin` (f.ndjson:2:34) [cluster b] Some(\"did you mean `region`?\")",
            "d: E0809: no template reads `zones` (f.ndjson:4:73) [cluster d] Some(\"did you mean `zone`?\")",
        ]
    );
}

#[test]
fn many_names_take_little_time() {
    let template: String = (0..1_000).map(|at| format!("{{{{ name_{at}.x }}}}")).collect();
    let values: String = (0..30_000).map(|at| format!("nmae_{at}: {{y: 1}}\n")).collect();
    let warnings = unread(&[(Dialect::Tera, &template)], &values, "");
    assert_eq!(warnings.len(), REPORTED);
}
