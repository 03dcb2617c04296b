//! A specialised program does what its original does: the same text, or the same error at the same place, for every
//! division of its inputs into known and open ones. An original that exceeds a limit may succeed once specialised.

use dropforge::engine::{Dialect, Engine, Template, UnknownNames};
use dropforge::limits::Limits;
use dropforge::specialise::Known;
use dropforge::value::{Arena, Data, InputBuilder, Inputs, Shapes, Value, yaml};
use dropforge::vm::Session;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value as Json, json};

use super::{cel_templates, hcl_syntax, tera_render};

/// The text of a render, or its error as printed and `true` for a limit.
fn rendered(template: &Template, inputs: Inputs<'_>) -> Result<String, (String, bool)> {
    let mut out = String::new();
    let outcome = template.render_checked(&mut Session::new(), inputs, &mut out);
    outcome.map(|()| out).map_err(|error| (error.render(false), error.code.is_limit()))
}

/// Divides inputs: each bit decides about a name, or about an entry of a map at the top.
fn divided<'v>(value: Value<'v>, bits: &mut impl Iterator<Item = u8>, depth: usize) -> Known<'v> {
    match (bits.next().unwrap_or(0), value) {
        (0..96, _) => Known::Value(value),
        (96..192, Value::Map(map)) if depth < 3 => {
            Known::Fields(map.iter().map(|(name, value)| (name, divided(value, bits, depth + 1))).collect())
        }
        (96..192, Value::Str(_)) => Known::Text,
        (192..240, Value::Map(map)) if depth < 3 => {
            Known::Entries(map.iter().map(|(name, value)| (name, divided(value, bits, depth + 1))).collect())
        }
        _ => Known::Open,
    }
}

/// Compares the renders of a template with those of its residual for a division of the inputs.
pub(super) fn agree(template: &Template, inputs: &Json, bits: &[u8]) -> Result<(), TestCaseError> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let value = InputBuilder::new(&arena, &shapes).serialize(inputs).expect("inputs");
    let mut bits = bits.iter().copied().chain(std::iter::repeat(7));
    let mut known = match value {
        Value::Map(map) => map.iter().map(|(name, value)| (name, divided(value, &mut bits, 0))).collect(),
        _ => Vec::new(),
    };
    let absent = template.inputs().into_iter().filter(|name| inputs.get(name).is_none());
    known.extend(absent.filter(|_| bits.next().unwrap_or(0) < 128).map(|name| (name, Known::Absent)));
    let known = Known::Fields(known);
    let Some(residual) = template.specialise(&known) else { return Ok(()) };
    let inputs = Inputs::new(value);
    let (original, specialised) = (rendered(template, inputs), rendered(&residual, inputs));
    if !matches!(original, Err((_, true))) {
        let listing = residual.disassemble();
        prop_assert_eq!(original, specialised, "{:?}\n{}\n{}", known, template.disassemble(), listing);
    }
    Ok(())
}

/// A change to inputs: the steps to a value, and what it becomes. Nothing removes it.
type Damage = (Vec<prop::sample::Index>, Option<Json>);

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let other =
        [json!(null), json!([]), json!({}), json!(""), json!("prod"), json!(0), json!(-1.5), json!([[1]]), json!(true)];
    let other = prop_oneof![1 => Just(None), 4 => select(other.to_vec()).prop_map(Some)];
    vec((vec(any::<prop::sample::Index>(), 1..4), other), 1..4)
}

/// Applies a change at the end of its steps, or as far as there are values.
fn damage(value: &mut Json, (steps, other): &Damage) {
    let Some((step, rest)) = steps.split_first() else { return };
    let is_last = |value: &Json| rest.is_empty() || !(value.is_object() || value.is_array());
    match value {
        Json::Object(map) if !map.is_empty() => {
            let name = map.keys().nth(step.index(map.len())).cloned().unwrap_or_default();
            match (map.get_mut(&name), other) {
                (Some(below), _) if !is_last(below) => damage(below, &(rest.to_vec(), other.clone())),
                (_, Some(other)) => drop(map.insert(name, other.clone())),
                (_, None) => drop(map.remove(&name)),
            }
        }
        Json::Array(items) if !items.is_empty() => {
            let at = step.index(items.len());
            match (items.get_mut(at), other) {
                (Some(below), _) if !is_last(below) => damage(below, &(rest.to_vec(), other.clone())),
                (Some(item), Some(other)) => *item = other.clone(),
                _ => drop(items.remove(at)),
            }
        }
        _ => {}
    }
}

/// Compares what a template of an artifact that knows the first of some inputs does for others with its original.
fn chooses(engine: &Engine, dialect: Dialect, known: &Json, inputs: &Json) -> Result<(), TestCaseError> {
    let known: Data = serde_json::from_value(known.clone()).expect("plain data");
    let known = known.into_map().unwrap_or_default().into_iter().take(3).collect();
    let bundling = engine.bundle([(dialect, "main")]).expect("it compiles").specialise(known).expect("no deep inputs");
    let artifact = engine.open(bundling.encode().expect("an artifact")).expect("it opens");
    let template = artifact.template("main").expect("it links");
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let value = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(inputs).expect("inputs"));
    let (original, chosen) = (rendered(&template.general(), value), rendered(&template, value));
    if !matches!(original, Err((_, true))) {
        prop_assert_eq!(original, chosen, "{:?}", template.difference(value));
    }
    Ok(())
}

fn limits() -> Limits {
    Limits { fuel: 200_000, memory: 8 << 20, output_bytes: 1 << 20, ..Limits::default() }
}

fn engine(templates: &[(String, String)], limits: Limits) -> Engine {
    let builder = Engine::builder().limits(limits).unknown_names(UnknownNames::Late);
    templates.iter().fold(builder, |builder, (name, text)| builder.template(name.as_str(), text.as_str())).build()
}

/// Statements that a generated body may begin or end with.
pub(super) const STATEMENTS: &[&str] = &[
    "{% for x in l %}{{ x }}{{ loop.index }}{% if x == open %}{% break %}{% endif %}{% endfor %}",
    "{% for s in services %}{{ s.name }}:{% for p in s.ports %}{{ p + base }}{% if not loop.last %},{% endif %}{% endfor %}{% endfor %}",
    "{% set a = 'k' %}{% if open == 1 %}{% set a = env %}{% endif %}{{ a }}",
    "{% set_global g = env %}{% for x in l %}{% if x == open %}{% set_global g = x %}{% endif %}{% endfor %}{{ g }}",
    "{% macro m(v, w='d') %}<{{ v }}|{{ w }}{% if v == 1 %}one{% endif %}>{% endmacro %}{{ self::m(v=open) }}{{ self::m(v=1, w=env) }}",
    "{% filter upper %}a{{ env }}{% if open %}b{% endif %}{% endfilter %}",
    "{{ env | upper | replace(from='P', to='q') }}{{ missing | default(value=env) }}",
    "{% if env | trim %}x{% endif %}{% if missing.deep | upper %}y{% else %}z{% endif %}",
    "{{ env ~ open ~ base }}{{ base + 1 }}{{ open / base }}",
    "{{ services[0].ports | first }}{{ services[open].name }}{{ env | truncate(length=open) }}",
    "{% for k, v in labels %}{{ k }}={{ v }}{% if k == env %}{% continue %}{% endif %};{% endfor %}",
    "{% set parts = 'a,b,c' | split(pat=',') %}{% for x in parts %}{{ x }}{{ open }}{% endfor %}",
    "{% for x in open_list %}{% for y in l %}{{ x }}{{ y }}{{ env }}{% endfor %}{% endfor %}",
    "{% macro n(v) %}[{{ v }}{% for y in l %}{{ y }}{% endfor %}]{% endmacro %}{% for x in open_list %}{{ self::n(v=x) }}{% if x == open %}{% break %}{% endif %}{% for y in l %}{{ self::n(v=y) }}{% endfor %}{% endfor %}",
    "{% for x in open_list %}{% if x == 1 %}{% for y in l %}{{ x }}{{ y }}{% endfor %}{% endif %}{% for y in l %}{% if y == env %}{% break %}{% endif %}{{ x }}{% endfor %}{% endfor %}",
    "{% for k, v in labels %}{{ loop.index }}{{ k }}: {{ v }}{% if v == env %}{{ v | upper }}{% break %}{% endif %}{{ v.x | default(value=k) }}{% endfor %}",
    "{% for x in open_list %}{% for k, v in labels %}{{ k }}={{ v }}{% set_global last = v %}{% endfor %}{% endfor %}{{ last | default(value='') }}",
    "{% if env == 'prod' and open == 1 or base > 2 %}p{% elif env is starting_with('p') %}s{% else %}n{% endif %}",
];

/// Values for the names in [`STATEMENTS`], with open ones that take every branch.
pub(super) fn inputs() -> impl Strategy<Value = Json> {
    let open = prop_oneof![(0..3_i64).prop_map(Json::from), Just(json!("a")), Just(json!(null)), Just(json!([]))];
    let env = select(&["prod", "", "dev", "p"][..]);
    (open, env, vec(0..4_i64, 0..4), any::<bool>()).prop_map(|(open, env, list, given)| {
        let mut inputs = json!({
            "open": open, "env": env, "l": list, "open_list": list, "base": list.len(),
            "services": [{"name": "a", "ports": [80, 443]}, {"name": "b", "ports": list}],
            "labels": {"prod": open, "tier": env, "cell": "c"},
        });
        if given && let Some(map) = inputs.as_object_mut() {
            map.remove("labels");
        }
        inputs
    })
}

fn variables() -> Json {
    json!({
        "a": {"b": [{"c": 1}, {"c": 2}], "k": "v"}, "b": true, "c": false, "x": 2, "y": "s", "z": [1, 2, 3],
        "v": {"k": 1}, "k": "k",
    })
}

proptest! {
    #![proptest_config(crate::cases(512))]

    #[test]
    fn statements(
        parts in vec(select(STATEMENTS), 1..4),
        inputs in inputs(),
        bits in vec(any::<u8>(), 0..12),
        fuel in prop_oneof![Just(200_000), 20..400_u64],
    ) {
        // A macro may be declared once.
        let mut parts = parts;
        parts.sort_unstable();
        parts.dedup();
        let engine = engine(&[("main".to_owned(), parts.concat())], Limits { fuel, ..limits() });
        let template = engine.load(Dialect::Tera, "main").expect("it compiles");
        agree(&template, &inputs, &bits)?;
    }

    #[test]
    fn damaged_inputs(
        parts in vec(select(STATEMENTS), 1..4), inputs in inputs(), damages in damages(), bits in vec(any::<u8>(), 0..12),
    ) {
        let mut parts = parts;
        parts.sort_unstable();
        parts.dedup();
        let engine = engine(&[("main".to_owned(), parts.concat())], Limits::default());
        let template = engine.load(Dialect::Tera, "main").expect("it compiles");
        let mut damaged = inputs.clone();
        damages.iter().for_each(|one| damage(&mut damaged, one));
        agree(&template, &damaged, &bits)?;
        chooses(&engine, Dialect::Tera, &inputs, &damaged)?;
    }

    #[test]
    fn damaged_inputs_of_hcl(
        texts in vec(hcl_syntax::expression(), 1..3), damages in damages(), bits in vec(any::<u8>(), 0..16),
    ) {
        let text: String = texts.iter().map(|text| format!("-${{{text}}}")).collect();
        let engine = engine(&[("main".to_owned(), text)], Limits::default());
        let Ok(template) = engine.load(Dialect::Hcl, "main") else { return Ok(()) };
        let mut damaged = variables();
        damages.iter().for_each(|one| damage(&mut damaged, one));
        agree(&template, &damaged, &bits)?;
        chooses(&engine, Dialect::Hcl, &variables(), &damaged)?;
    }

    #[test]
    fn damaged_inputs_of_tower(
        paths in vec(select(&["params.a", "params.b", "params.m.x", "context.name", "facts.l", "steps.a.outputs.x"][..]), 1..5),
        shell in any::<bool>(), damages in damages(), bits in vec(any::<u8>(), 0..16),
    ) {
        let text: String = paths.iter().map(|path| format!("a ${{{path}}} b ")).collect();
        let builder = Engine::builder().limits(limits()).shell(shell).template("main", text);
        let engine = builder.build();
        let template = engine.load(Dialect::Tower, "main").expect("it compiles");
        let inputs = json!({
            "params": {"a": "x y", "b": 1, "m": {"x": true}}, "context": {"name": "n"}, "facts": {"l": "'"},
        });
        let mut damaged = inputs.clone();
        damages.iter().for_each(|one| damage(&mut damaged, one));
        agree(&template, &damaged, &bits)?;
        chooses(&engine, Dialect::Tower, &inputs, &damaged)?;
    }

    #[test]
    fn tera(templates in tera_render::templates(), input in tera_render::input(), bits in vec(any::<u8>(), 0..16)) {
        let Ok(template) = engine(&templates, limits()).load(Dialect::Tera, "main") else { return Ok(()) };
        agree(&template, &input, &bits)?;
    }

    #[test]
    fn cel_yaml(tree in cel_templates::node(), damages in damages(), bits in vec(any::<u8>(), 0..16)) {
        let engine = engine(&[("main".to_owned(), yaml::to_string(&tree))], limits());
        let Ok(template) = engine.load(Dialect::CelYaml, "main") else { return Ok(()) };
        let mut damaged = cel_templates::inputs();
        agree(&template, &damaged, &bits)?;
        damages.iter().for_each(|one| damage(&mut damaged, one));
        agree(&template, &damaged, &bits)?;
        chooses(&engine, Dialect::CelYaml, &cel_templates::inputs(), &damaged)?;
    }

    #[test]
    fn hcl(texts in vec(hcl_syntax::expression(), 1..3), bits in vec(any::<u8>(), 0..16)) {
        let text: String = texts.iter().map(|text| format!("-${{{text}}}")).collect();
        let Ok(template) = engine(&[("main".to_owned(), text)], limits()).load(Dialect::Hcl, "main") else { return Ok(()) };
        agree(&template, &variables(), &bits)?;
    }
}

#[test]
fn what_is_known_leaves_the_program() {
    let text = "a {{ env }}{% if env == 'prod' %} b{% endif %}{% for x in l %}{{ x }}{{ open }}{% endfor %}.";
    let template =
        engine(&[("main".to_owned(), text.to_owned())], limits()).load(Dialect::Tera, "main").expect("it compiles");
    let arena = Arena::new();
    let list = arena.list(&[Value::Int(1), Value::Int(2)]);
    let known = Known::Fields(vec![("env", Known::Value(arena.text("prod"))), ("l", Known::Value(list))]);
    let residual = template.specialise(&known).expect("it is specialised");
    let listing = residual.disassemble();
    let code: Vec<_> =
        listing.lines().skip(1).map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        code,
        ["text_path open plain \"a prod b1\"", "text_path open plain \"2\"", "text \".\"", "return"],
        "{listing}"
    );
}
