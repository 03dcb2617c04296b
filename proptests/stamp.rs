//! A fleet is stamped to the same bytes, with the same errors, whether its templates are specialised or not.

use std::sync::LazyLock;

use dropforge::bulk::schema::{Schemas, ValuesSchema};
use dropforge::bulk::values::{Assignment, SetKind, parse_set};
use dropforge::bulk::{self, *};
use dropforge::dialect::hcl::Variables;
use dropforge::engine::{Engine, EngineBuilder, UnknownNames};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Data, DataMap, yaml};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use serde_json::{Value as Json, json};

use crate::specialise::{STATEMENTS, inputs};
use crate::{cel_templates, tera_render};

/// An empty folder of templates.
static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

fn engine(templates: &[(String, String)]) -> EngineBuilder {
    let limits = Limits { fuel: 200_000, memory: 8 << 20, output_bytes: 1 << 20, ..Limits::default() };
    let builder = Engine::builder().limits(limits).unknown_names(UnknownNames::Late);
    templates.iter().fold(builder, |builder, (name, text)| builder.template(name.as_str(), text.as_str()))
}

/// Compiles templates, of which those called `main` make outputs. `None` if they have errors.
pub fn compiled(templates: &[(String, String)], main: &[&str]) -> Option<Templates> {
    let file = |name: &&str| TemplateFile { name: (*name).to_owned(), explicit: true, executable: false };
    let files = main.iter().map(file).collect();
    let set = TemplateSet { root: FOLDER.path().to_owned(), files, skipped: Skipped::default() };
    Templates::compile(&set, None, engine(templates)).ok()
}

fn map(json: &Json) -> DataMap {
    serde_json::from_str::<Data>(&json.to_string()).expect("data").into_map().expect("a map")
}

/// Inputs of clusters: parts of generated ones, changed by `changes`. Only names at the bits of `open` are set. Those at
/// the bits of `whole` are as generated.
fn own(json: &Json, changes: &[u8], [open, whole]: [u8; 2]) -> Json {
    let mut changes = changes.iter().copied().cycle();
    let entries = json.as_object().into_iter().flatten().enumerate().filter_map(|(nth, (name, value))| {
        if open >> (nth % 8) & 1 == 0 {
            return None;
        }
        let change = if whole >> (nth % 8) & 1 == 1 { 0 } else { changes.next().unwrap_or(0) % 8 };
        let value = match (change, value) {
            (0, value) => value.clone(),
            (1, _) => Json::Null,
            (2, Json::Object(map)) => map.iter().take(1).map(|(name, _)| (name.clone(), json!("own"))).collect(),
            (3, Json::Object(_)) => json!({"more": {"x": 1}}),
            (4, _) => json!({"own": [1]}),
            _ => return None,
        };
        Some((name.clone(), value))
    });
    Json::Object(entries.collect())
}

/// How a fleet was stamped: the stream, the errors as printed, and `true` if one is a limit.
pub type Stamped = (String, Vec<String>, bool);

/// Stamps a fleet. Returns also the number of clusters rendered with specialised templates.
pub fn stamped(
    compiled: &Templates,
    layers: &Layers,
    fleet: &Fleet,
    layout: &str,
    specialise: Specialise,
) -> (Stamped, usize) {
    let names = compiled.iter().map(|template| template.name().to_owned());
    let outputs = names.map(|name| Output::new(name, &language_extensions())).collect();
    let is_of_documents = layout.ends_with("{kind}");
    let layout = Layout::parse(layout).expect("a layout");
    let layout = if is_of_documents { layout.of_documents().expect("fields") } else { layout };
    let plan = Plan::new(fleet, layers, &Selector::default(), outputs, layout).expect("a plan");
    let stamper = compiled.stamper(plan.outputs().iter().map(|output| output.template.as_str()), layers);
    let stamper = stamper.expect("templates").for_plan(&plan, plan.outputs());
    let options = Options { threads: 1, check_outputs: true, specialise, ..Options::default() };
    let job = Job { fleet, layers, plan: &plan, options: &options, watch: Watch::none() };
    let mut out = Vec::new();
    let report = bulk::stream(&stamper, &job, &mut out).expect("a report");
    let is_limit = report.failures.iter().any(|failure| failure.diagnostic.code.is_limit());
    let errors = report.failures.iter().map(|failure| failure.render(false)).collect();
    let text = String::from_utf8(out).expect("text");
    ((text, errors, is_limit), stamper.admitted())
}

/// Compares a fleet stamped with specialised templates, as text and as data, with one stamped without. Returns the
/// number of renders with specialised templates.
fn agree(compiled: &Templates, layers: &Layers, clusters: &[Json], layout: &str) -> Result<usize, TestCaseError> {
    let named = |(nth, json): (usize, &Json)| {
        let mut json = json.clone();
        json["name"] = json!(format!("c{nth}"));
        json
    };
    let clusters: Vec<Json> = clusters.iter().enumerate().map(named).collect();
    let lines: String = clusters.iter().map(|json| format!("{json}\n")).collect();
    let source = dropforge::text::Source::new("fleet.ndjson", lines);
    let as_text = Fleet::read(&source, Format::Ndjson, &FleetOptions::default()).expect("a fleet");
    let as_data = clusters.iter().map(|json| Cluster::new(json["name"].as_str().unwrap_or(""), map(json))).collect();
    let as_data = Fleet::new(as_data).expect("a fleet");
    let mut admitted = 0;
    for fleet in [&as_text, &as_data] {
        let (original, _) = stamped(compiled, layers, fleet, layout, Specialise::Never);
        let (other, count) = stamped(compiled, layers, fleet, layout, Specialise::Always);
        if !original.2 {
            prop_assert_eq!(&original, &other, "{} of {:?}", layout, layers.shared());
        }
        admitted += count;
    }
    Ok(admitted)
}

fn sets(texts: &[&str]) -> Vec<Assignment> {
    let parse = |text: &&str| parse_set(SetKind::Typed, text, &mut |_| unreachable!()).expect("an assignment");
    texts.iter().flat_map(parse).collect()
}

fn merge() -> impl Strategy<Value = Merge> {
    select(vec![Merge::Deep, Merge::Replace])
}

/// Options `--set` about the generated names.
fn assignments() -> impl Strategy<Value = Vec<&'static str>> {
    let texts =
        vec!["env=prod", "labels.tier=x", "labels.more.y=1", "l[0]=5", "base=null", "services[0].name=z", "open.x=1"];
    vec(select(texts), 0..3)
}

/// A generated fleet for a template of [`STATEMENTS`].
#[derive(Debug, Clone)]
struct Statements {
    parts: Vec<&'static str>,
    shared: Json,
    clusters: Vec<Json>,
    merge: Merge,
    sets: Vec<&'static str>,
    layout: &'static str,
}

impl Statements {
    fn generated() -> impl Strategy<Value = Self> {
        let clusters = vec((inputs(), vec(any::<u8>(), 1..9)), 1..12);
        let layouts = select(vec!["{cluster}/{template}", "{cluster}/{kind}"]);
        let parts =
            (vec(select(STATEMENTS), 1..4), inputs(), clusters, any::<[u8; 2]>(), merge(), assignments(), layouts);
        parts.prop_map(|(mut parts, shared, clusters, open, merge, sets, layout)| {
            // A macro may be declared once.
            parts.sort_unstable();
            parts.dedup();
            // Most clusters leave the same names alone. A few may set any.
            let open = |nth: usize| if nth % 9 == 8 { [u8::MAX, 0] } else { open };
            let own = |(nth, (json, changes)): (usize, &(Json, Vec<u8>))| own(json, changes, open(nth));
            let clusters = clusters.iter().enumerate().map(own).collect();
            Self { parts, shared, clusters, merge, sets, layout }
        })
    }

    /// Compares the fleet stamped with specialised templates with one stamped without. Returns the number of renders
    /// with specialised templates.
    fn agree(&self) -> Result<usize, TestCaseError> {
        self.agree_with(|layers| layers)
    }

    /// Works like [`Statements::agree`], with defaults in place of some shared values.
    fn agree_with_defaults(mut self, (schemas, variables, left_out): Filled) -> Result<usize, TestCaseError> {
        let mut nth = 0;
        self.shared.as_object_mut().expect("a map").retain(|_, _| {
            nth += 1;
            left_out >> (nth % 8) & 1 == 0
        });
        let schemas = Schemas { schemas, defaults: true, variables };
        self.agree_with(|layers| layers.with_schemas(schemas).expect("finite defaults"))
    }

    /// Works like [`Statements::agree`], with changes to the layers.
    fn agree_with(&self, change: impl FnOnce(Layers) -> Layers) -> Result<usize, TestCaseError> {
        let text = self.parts.concat();
        let templates =
            [("main.yaml.tera".to_owned(), format!("kind: a\ntext: '{text}'\n")), ("plain.txt.tera".to_owned(), text)];
        let main: &[&str] =
            if self.layout.ends_with("{kind}") { &["main.yaml.tera"] } else { &["main.yaml.tera", "plain.txt.tera"] };
        let compiled = compiled(&templates, main).expect("it compiles");
        let layers = change(Layers::new([map(&self.shared)], sets(&self.sets), self.merge));
        agree(&compiled, &layers, &self.clusters, self.layout)
    }
}

/// Schemas, variables, and the names that the shared layer leaves to them, as bits.
type Filled = (Vec<ValuesSchema>, Option<Variables>, u8);

fn filled() -> impl Strategy<Value = Filled> {
    (schemas(), variables(), any::<u8>())
}

/// Schemas of properties, some of which have defaults.
fn schemas() -> impl Strategy<Value = Vec<ValuesSchema>> {
    let more = json!({"default": {"x": 1}, "properties": {"y": {"default": 2}}});
    let properties = vec![
        ("env", json!({"default": "prod"})),
        ("env", json!({"type": "string"})),
        ("open", json!({"default": 1})),
        ("base", json!({"default": 2})),
        ("l", json!({"default": [1, 2]})),
        ("l", json!({"items": {"type": "integer"}})),
        ("open_list", json!({"default": [3]})),
        ("last", json!({"default": "z"})),
        ("labels", json!({"properties": {"prod": {"default": "p"}, "more": more}})),
        ("labels", json!({"default": {"tier": "t"}, "properties": {"cell": {"default": "c"}, "own": {"default": 1}}})),
        ("labels", json!({"type": "object", "default": {}})),
        ("services", json!({"items": {"properties": {"name": {"default": "n"}, "ports": {"default": [1]}}}})),
        ("services", json!({"default": [{"name": "d"}]})),
    ];
    let schema = (vec(select(properties.clone()), 0..5), vec(select(properties), 0..3)).prop_map(|(own, more)| {
        let of = |all: Vec<(&str, Json)>| {
            Json::Object(all.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect())
        };
        let text = json!({"properties": of(own), "allOf": [{"properties": of(more)}]}).to_string();
        ValuesSchema::read(&Source::new("a.schema.json", text)).expect("a schema")
    });
    vec(schema, 0..3)
}

/// Declarations of variables, some of which have defaults and convert values.
fn variables() -> impl Strategy<Value = Option<Variables>> {
    let all = vec![
        "variable \"env\" {\n  type = string\n  default = \"dev\"\n}\n",
        "variable \"labels\" {\n  type = map(string)\n  default = { tier = 1 }\n}\n",
        "base = string\n",
        "variable \"l\" {\n  default = [1]\n}\n",
        "variable \"services\" {\n  type = list(object({ name = optional(string, \"o\"), ports = optional(list(number), []) }))\n  default = []\n}\n",
    ];
    prop::option::of(prop::sample::subsequence(all, 0..4)).prop_map(|some| {
        some.map(|some| {
            Variables::read(&Source::new("variables.tf", some.concat()), &Limits::default()).expect("declarations")
        })
    })
}

proptest! {
    #![proptest_config(crate::cases(256))]

    #[test]
    fn statements(fleet in Statements::generated()) {
        fleet.agree()?;
    }

    #[test]
    fn defaults(fleet in Statements::generated(), filled in filled()) {
        fleet.agree_with_defaults(filled)?;
    }

    #[test]
    fn cel_yaml(
        tree in cel_templates::node(),
        clusters in vec(vec(any::<u8>(), 1..9), 1..12),
        open in any::<[u8; 2]>(),
        merge in merge(),
    ) {
        let text = yaml::to_string(&tree);
        let Some(compiled) = compiled(&[("main.cel.yaml".to_owned(), text)], &["main.cel.yaml"]) else { return Ok(()) };
        let shared = cel_templates::inputs();
        let layers = Layers::new([map(&shared)], Vec::new(), merge);
        let clusters: Vec<Json> = clusters.iter().map(|changes| own(&shared, changes, open)).collect();
        agree(&compiled, &layers, &clusters, "{cluster}/{template}")?;
    }

    #[test]
    fn tera(
        templates in tera_render::templates(),
        shared in tera_render::input(),
        clusters in vec((tera_render::input(), vec(any::<u8>(), 1..9)), 1..12),
        merge in merge(),
    ) {
        let named: Vec<_> = templates.into_iter().map(|(name, text)| {
            if name == "main" { ("main.tera".to_owned(), text) } else { (name, text) }
        }).collect();
        let Some(compiled) = compiled(&named, &["main.tera"]) else { return Ok(()) };
        let layers = Layers::new([map(&shared)], Vec::new(), merge);
        let clusters: Vec<Json> = clusters.iter().map(|(json, changes)| own(json, changes, [u8::MAX, 0])).collect();
        agree(&compiled, &layers, &clusters, "{cluster}/{template}")?;
    }
}

/// Text of templates of YAML, with values between it.
const YAML: [&str; 39] = [
    "a: ",
    "\nb: ",
    "\n  c: ",
    "\n- ",
    "- d: ",
    "kind: ",
    "\nkind: Job\n",
    "\n---\n",
    "{a: ",
    ", b: ",
    "}\n",
    "[",
    "]\n",
    "\"",
    "'",
    "\n",
    "\n  ",
    ": ",
    ": |\n  ",
    " # c\n",
    "-",
    "x",
    "{{ v }}",
    "{{ v }}",
    "{{ w }}",
    "{{ w }}",
    "{{ v | upper }}",
    "{{ l.0 }}",
    "{% for x in l %}\n- {{ x }}{% endfor %}",
    "{% for x in l %}\n  {{ x }}: 1{% endfor %}",
    "{% if v == 'x' %}\ne: {{ w }}{% endif %}",
    "{{ self::m(x=w) }}",
    "{% set s = v ~ '-' ~ w %}{{ s }}",
    "{% filter indent(prefix='  ') %}g:\n  {{ v }}\n{% endfilter %}",
    "{% include 'part' %}",
    "{% raw %}h: 1{% endraw %}\n",
    "{{- v -}}",
    "\n\n",
    "\\",
];

const VALUES: [&str; 24] = [
    "",
    "x",
    "x",
    "y-1",
    "a b",
    "a: b",
    "a:b",
    "#",
    "x #y",
    " ",
    "\n",
    "x\n  y",
    "- z",
    "'",
    "\"",
    "\\",
    ".inf",
    "-1",
    "kind: Pod",
    "|",
    "[z]",
    "{",
    "null",
    "é",
];

/// What the check of a fleet accepts is what it accepts of each cluster alone.
fn checked_alone(parts: &[&str], clusters: &[Picks]) -> Result<(usize, usize), TestCaseError> {
    let text = format!("{{% macro m(x) %}}k: {{{{ x }}}}\n{{% endmacro %}}{}", parts.concat());
    let templates = [("main.yaml.tera".to_owned(), text), ("part".to_owned(), "\ni: {{ v }}\nj: ".to_owned())];
    let Some(compiled) = compiled(&templates, &["main.yaml.tera"]) else { return Ok((0, 0)) };
    let value = |at: &usize| VALUES[at % VALUES.len()];
    let cluster = |(nth, (v, w, l)): (usize, &Picks)| {
        let l: Vec<&str> = l.iter().map(value).collect();
        json!({"name": format!("c{nth:02}"), "v": value(v), "w": value(w), "l": l})
    };
    let clusters: Vec<Json> = clusters.iter().enumerate().map(cluster).collect();
    let stamp = |clusters: &[Json], specialise| {
        let lines: String = clusters.iter().map(|json| format!("{json}\n")).collect();
        let fleet = Fleet::read(&Source::new("f.ndjson", lines), Format::Ndjson, &FleetOptions::default());
        let layers = Layers::new([map(&json!({"v": "x"}))], Vec::new(), Merge::Deep);
        stamped(&compiled, &layers, &fleet.expect("a fleet"), "{cluster}/{template}", specialise).0.0
    };
    let alone: Vec<String> = clusters.chunks(1).map(|one| stamp(one, Specialise::Never)).collect();
    prop_assert_eq!(stamp(&clusters, Specialise::Never), alone.concat());
    prop_assert_eq!(stamp(&clusters, Specialise::Always), alone.concat());
    Ok((alone.len(), alone.iter().filter(|text| !text.is_empty()).count()))
}

/// The numbers of the values `v` and `w` and of those in `l`.
type Picks = (usize, usize, Vec<usize>);

fn checked() -> impl Strategy<Value = (Vec<&'static str>, Vec<Picks>)> {
    (vec(select(&YAML[..]), 1..9), vec((any::<usize>(), any::<usize>(), vec(any::<usize>(), 0..3)), 1..12))
}

proptest! {
    #![proptest_config(crate::cases(512))]

    #[test]
    fn checks((parts, clusters) in checked()) {
        checked_alone(&parts, &clusters)?;
    }
}

#[test]
fn some_generated_outputs_are_valid() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut all, mut valid) = (0, 0);
    for _ in 0..64 {
        let (parts, clusters) = checked().new_tree(&mut runner).expect("a fleet").current();
        let (clusters, taken) = checked_alone(&parts, &clusters).unwrap_or_else(|error| panic!("{error}"));
        (all, valid) = (all + clusters, valid + taken);
    }
    assert!(valid > all / 10 && valid < all, "{valid} of {all}");
}

/// The property compares two different programs in many of its cases, and runs both the specialised and the original one.
#[test]
fn generated_fleets_are_specialised() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut renders, mut admitted) = (0, 0);
    for _ in 0..64 {
        let fleet = Statements::generated().new_tree(&mut runner).expect("a fleet").current();
        // Each fleet is read as text and as data.
        renders += 2 * fleet.clusters.len();
        admitted += fleet.agree().unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(admitted > renders / 3 && admitted < renders, "{admitted} of {renders}");
}

#[test]
fn generated_fleets_with_defaults_are_specialised() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut renders, mut admitted) = (0, 0);
    for _ in 0..64 {
        let (fleet, filled) =
            (Statements::generated(), filled()).new_tree(&mut runner).expect("a fleet with defaults").current();
        renders += 2 * fleet.clusters.len();
        admitted += fleet.agree_with_defaults(filled).unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(admitted > renders / 5 && admitted < renders, "{admitted} of {renders}");
}

/// Defaults are known as far as no cluster has a say: one in an object that clusters give in part is known, an object that
/// clusters give instead of a default is not.
#[test]
fn defaults_are_known() {
    let text = "{{ size }}{{ image.tag }}{{ image.pull }}{{ own.a }}{{ own.b | default(value='') }}";
    let compiled = compiled(&[("a.tera".to_owned(), text.to_owned())], &["a.tera"]).expect("it compiles");
    let schema = json!({"properties": {
        "size": {"default": 1},
        "image": {"properties": {"tag": {"default": "v1"}, "pull": {"default": "Always"}}},
        "own": {"default": {"a": 1, "b": 2}, "properties": {"a": {"default": 3}}},
    }});
    let schema = ValuesSchema::read(&Source::new("a.schema.json", schema.to_string())).expect("a schema");
    let schemas = Schemas { schemas: vec![schema], defaults: true, variables: None };
    let layers = Layers::new([map(&json!({"image": {"name": "web"}}))], Vec::new(), Merge::Deep);
    let layers = layers.with_schemas(schemas).expect("finite defaults");
    let clusters: Vec<Json> = (0..40).map(|n| json!({"image": {"tag": n}, "own": {"c": n}})).collect();
    assert_eq!(agree(&compiled, &layers, &clusters, "{cluster}/{template}").expect("the same"), 80);
    let plan = explained(&compiled, &layers, &clusters);
    assert_eq!(plan.known, ["image.name", "image.pull", "size"]);
    assert_eq!(plan.open.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["image.tag", "own"]);
}

/// Returns the plan for the template `a.tera`.
fn explained(compiled: &Templates, layers: &Layers, clusters: &[Json]) -> Specialisation {
    let fleet = clusters.iter().enumerate().map(|(nth, json)| Cluster::new(format!("c{nth}"), map(json)));
    let fleet = Fleet::new(fleet.collect()).expect("a fleet");
    let outputs = vec![Output::new("a.tera".to_owned(), &language_extensions())];
    let layout = Layout::parse("{cluster}/{template}").expect("a layout");
    let plan = Plan::new(&fleet, layers, &Selector::default(), outputs, layout).expect("a plan");
    let stamper = compiled.stamper(["a.tera"], layers).expect("a template");
    let options = Options { specialise: Specialise::Always, ..Options::default() };
    let job = Job { fleet: &fleet, layers, plan: &plan, options: &options, watch: Watch::none() };
    stamper.specialisation(&job).clone()
}

#[test]
fn classes_of_clusters() {
    let text = "{{ org }}{% if cluster.env == 'prod' %}{{ cluster.name }}{% endif %}{% for k, v in labels %}{{ k }}={{ v }}\n\
        {% endfor %}{{ cluster.env | upper }}{{ cluster.env }}{{ size }}";
    let compiled = compiled(&[("a.tera".to_owned(), text.to_owned())], &["a.tera"]).expect("it compiles");
    let cluster = |n: usize| {
        let (env, tier) = (["dev", "prod", "test"][n % 3], ["small", "large"][n % 2]);
        let mut json = json!({
            "cluster": {"env": env, "name": format!("c{n}")},
            "labels": {"tier": tier, "cell": format!("cell-{n}")},
            "size": 8,
        });
        match n {
            17 => json["labels"]["cell"] = json!(null),
            30 => json["labels"]["more"] = json!("x"),
            43 => json["cluster"]["env"] = json!("other"),
            50 => json["org"] = json!("own"),
            _ => {}
        }
        json
    };
    let clusters: Vec<Json> = (0..90).map(cluster).collect();
    for merge in [Merge::Deep, Merge::Replace] {
        let layers = Layers::new([map(&json!({"org": "acme", "cluster": {"tier": 1}}))], Vec::new(), merge);
        let admitted = agree(&compiled, &layers, &clusters, "{cluster}/{template}");
        assert_eq!(admitted.unwrap_or_else(|error| panic!("{error}")), 2 * 89);
        let plan = explained(&compiled, &layers, &clusters);
        let classes = [("cluster.env".to_owned(), 3), ("labels.tier".to_owned(), 2), ("size".to_owned(), 1)];
        assert_eq!(plan.classes, classes);
        assert_eq!(plan.maps, ["labels"]);
        assert_eq!(plan.templates[0].classes, 6);
    }
}

#[test]
fn all_languages() {
    let templates = [
        ("a.tera", "{{ org.name }}{% for x in l %}{{ x }}{{ name }}{% endfor %}{{ nowhere }}"),
        ("b.hcl.tftpl", "${org.name}%{ for x in l }${x}${name}%{ endfor }${1 / n}"),
        ("c.yaml.cel", "{'a': org.name, 'b': l.map(x, x + n)}"),
        ("d.cel.yaml", "a: ${org.name}\nb: ${10 / n}\n$if: ${n > 0}\n"),
        ("e.tower", "${params.name} ${params.size}"),
    ];
    let templates = templates.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let names: Vec<&str> = templates.iter().map(|(name, _)| name.as_str()).collect();
    let layers = Layers::new(
        [map(&json!({"org": {"name": "acme"}, "l": [1, 2], "params": {"name": "p"}}))],
        Vec::new(),
        Merge::Deep,
    );
    let clusters: Vec<Json> =
        (0..20).map(|n| if n == 7 { json!({"n": n, "l": null}) } else { json!({"n": n}) }).collect();
    for name in names {
        let compiled = compiled(&templates, &[name]).unwrap_or_else(|| panic!("{name} compiles"));
        agree(&compiled, &layers, &clusters, "{cluster}/{template}").unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
