//! Damaged artifacts. All of them are refused. With the digest recomputed, each is refused by the verifier or renders
//! within its limits, with the same result on the trusting machine and on its twin that checks every index.

use std::sync::OnceLock;

use dropforge::bytecode::{Bundle, BundleEntry, Entry, ISA, Program, encode, encode_specialised};
use dropforge::diagnostics::Code;
use dropforge::dialect::{cel, hcl, helm, tera, tower};
use dropforge::engine::{Dialect, Engine, Template, UnknownNames};
use dropforge::function::Capabilities;
use dropforge::limits::Limits;
use dropforge::specialise::Known;
use dropforge::text::Source;
use dropforge::value::{Arena, DataMap, InputBuilder, Inputs, OutputFormat, Shapes, write_documents};
use dropforge::vm::{Evaluator, NoHooks, Run, Session, Space, answer, answer_checked, run, run_checked};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::sealing::{reseal, words};

/// Templates that cover every construct. The first of each set is the entry.
const TERA: &[&[(&str, &str)]] = &[
    &[("text", "a {{ x }} b {{ a.b }} c {{ l[0] }} {{ m[x] }}")],
    &[(
        "conditions",
        "{% if x == 'v' and not n > 2 %}1{% elif x is defined %}2{% else %}3{% endif %}{{ x == 'v' or n }}",
    )],
    &[(
        "loops",
        "{% for k, v in m %}{% for y in l %}{{ loop.index }}{{ k }}{{ v }}{{ y }}{% if y == 2 %}{% break %}{% endif %}{% else %}-{% endfor %}{% endfor %}",
    )],
    &[(
        "sections",
        "{% filter upper %}{% for y in l %}{% if loop.first %}{% continue %}{% endif %}{{ y }}{% set z = y %}{% endfor %}{{ z | default(value='none') }}{% endfilter %}",
    )],
    &[(
        "absorbed",
        "{% if q | upper %}1{% endif %}{% if x | trim %}2{% endif %}{% if l[9] %}3{% endif %}{{ 'x' ~ n ~ 1.5 }}",
    )],
    &[("sums", "{{ n + 1 * 2 - 3.5 }}{{ n % 2 }}{{ 'a' in l }}{{ [n, 'b'] }}{{ __tera_context }}{{ 5000000000 }}")],
    &[("failing", "{{ nowhere }}"), ("other", "")],
    &[("unknown", "{{ x }}{{ x | nofilter }}")],
    &[
        ("macros", "{% import 'm' as m %}{{ m::f(a=n) }}{{ m::f(a=3, b='c') }}"),
        ("m", "{% macro f(a, b='d') %}{% if a > 0 %}{{ a }}{{ self::f(a=a - 1) }}{% endif %}{{ b }}{% endmacro %}"),
    ],
    &[
        ("includes", "{% for y in l %}{% include 'i' %}{% endfor %}"),
        ("i", "{{ y }}{{ loop.index }}{% if y == 1 %}{% include 'r' %}{% endif %}"),
        ("r", "{{ y }}{% if y == 2 %}{% include 'r' %}{% endif %}"),
    ],
    &[
        ("child.html", "{% extends 'p' %}{% block b %}{{ super() }}{{ h }}{% endblock %}"),
        ("p", "<{% block b %}{{ h | safe }}{% endblock %}>"),
    ],
];

const TOWER: &[&str] = &["cd ${params.dir} && echo ${context.name}", "plain", "${params.x}${params.x}"];

const HCL: &[&str] = &[
    "a ${x}-${l[0]} %{ if n > 1 && x != \"\" ~} b %{ else } c %{ endif }${a.b ? \"1\" : 2}",
    "%{ for k, v in m ~} ${k}: %{ for y in l }${y + n}%{ endfor }%{ endfor }${upper(x)}${join(\"-\", l...)}",
    "${try(m.z, \"no\")}${l.*.k[0]}",
];

/// Document templates. The first file of each set is the entry.
const CEL: &[&str] = &[
    "{'a': l.map(y, y + n).filter(y, y > 3), 'b': x == 'v' && (1 / n > 0 || a.b), x: [1.5, 2u, b'x', null]}",
    "m.transformMap(k, v, type(v) == map, v.z).size() > n && l.exists(y, y / (n - y) > 1 || y == 3) ? m.w.?z.orValue(1) : 0",
];
const CEL_YAML: &[&[(&str, &str)]] = &[
    &[("plain", "a: 1.10\nb: [x, ~, !t 'y', {c: 0x10}]\n? 5\n: on\n---\nsecond: no\n")],
    &[
        (
            "all",
            "$schema: {n: integer, q: {type: string, default: d}}\n$let: {y: '${n + 1}', z: text}\n$assert: n > 0\n$msg: 'n is ${n}'\na-${x}: ${y}\nb: ['${l}', '${q}-${z}', {$if: n > 1, $then: [1], $else: 2}]\nc: {$for: 'k, v in m', $do: {'${k}': '${optional.none()}', f: '${k}'}}\nd:\n- {$for: i in l, $do: {i: '${i}'}}\n- $include: part\n  $with: {e: '${l}'}\n",
        ),
        ("part", "$if: size(e) > 2\nk: ${e[0]}\n"),
    ],
];

/// Expressions that cover every construct, compiled to one program with a chunk for each.
const EXPRESSIONS: &str = "[
    n + 1 * 2 - 3.5, -n % 2, !(x == \"v\") || a.b, n > 1 ? l : [], {x = n, (x) = [1, \"a${n}b\"], \"q\" = null},
    [for i, y in l : y * i if y > 1], {for k, v in m : upper(k) => v...}, m[\"w\"].z, l[*], l.*, try(nope, l[9], 3),
    can(tolist([1, \"a\"])), toset([\"a\", \"b\"]), max(l...), 1e400 / 3, nope, l + 1, convert(l, list(string)),
]";

/// Compiles [`EXPRESSIONS`] to a program.
fn expressions() -> Program {
    let (limits, registry) = (Limits::default(), hcl::registry());
    let parsed = hcl::Expression::new(&Source::new("e", EXPRESSIONS), &registry, &limits).expect("it parses");
    let (tree, root) = parsed.tree();
    let ids = hcl::syntax::static_list(tree, root).expect("a list");
    hcl::lower::lower_expressions(tree, ids, &registry, &limits).expect("it compiles")
}

fn inputs() -> Value {
    json!({
        "x": "v", "n": 2, "l": [1, 2, 3], "m": {"v": 1, "w": {"z": 2}}, "a": {"b": true}, "h": "<&>",
        "params": {"dir": "a b", "x": 1}, "context": {"name": "n"},
    })
}

fn templates() -> Vec<Template> {
    let mut templates = Vec::new();
    for files in TERA {
        let builder = Engine::builder().unknown_names(UnknownNames::Late);
        let builder = files.iter().fold(builder, |builder, (name, text)| builder.template(*name, *text));
        templates.push(builder.build().load(Dialect::Tera, files[0].0).expect("it compiles"));
    }
    for (at, text) in TOWER.iter().enumerate() {
        let engine = Engine::builder().shell(at % 2 == 0).build();
        templates.push(engine.compile(Dialect::Tower, &format!("tower{at}"), text).expect("it compiles"));
    }
    for (at, text) in HCL.iter().enumerate() {
        templates.push(Engine::new().compile(Dialect::Hcl, &format!("hcl{at}"), text).expect("it compiles"));
    }
    for (at, text) in CEL.iter().enumerate() {
        templates.push(Engine::new().compile(Dialect::Cel, &format!("cel{at}"), text).expect("it compiles"));
    }
    for files in CEL_YAML {
        let builder = files.iter().fold(Engine::builder(), |builder, (name, text)| builder.template(*name, *text));
        templates.push(builder.build().load(Dialect::CelYaml, files[0].0).expect("it compiles"));
    }
    templates
}

/// Artifacts of each template alone and of all together, whole and stripped.
fn artifacts() -> &'static [Vec<u8>] {
    static ARTIFACTS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    ARTIFACTS.get_or_init(|| {
        let templates = templates();
        let expressions = expressions();
        let mut entries: Vec<Entry<'_>> = templates
            .iter()
            .map(|one| Entry {
                name: one.name(),
                program: one.program(),
                escape: false,
                executable: false,
                reaches: one.reaches(),
                residual: None,
            })
            .collect();
        entries.push(Entry {
            name: "expressions",
            program: &expressions,
            escape: false,
            executable: false,
            reaches: &[],
            residual: None,
        });
        let mut artifacts: Vec<_> =
            entries.iter().map(|entry| encode(&[*entry], false).expect("an artifact")).collect();
        artifacts.extend([false, true].map(|strip| encode(&entries, strip).expect("an artifact")));
        artifacts.extend([false, true].map(|strip| specialised(&templates, strip)));
        artifacts
    })
}

/// The names of [`inputs`] that residuals know.
const KNOWN: [&str; 4] = ["x", "l", "m", "params"];

/// Returns an artifact of the templates with their residuals.
fn specialised(templates: &[Template], strip: bool) -> Vec<u8> {
    let (arena, all) = (Arena::new(), inputs());
    let shapes = Shapes::new(&arena);
    let values: DataMap = KNOWN
        .iter()
        .map(|name| ((*name).to_owned(), serde_json::from_value(all[*name].clone()).expect("plain data")))
        .collect();
    let known = InputBuilder::new(&arena, &shapes).data_map(&values).expect("flat inputs");
    let known = Known::of_map(known.as_map().expect("a map"));
    let residuals: Vec<_> = templates.iter().map(|template| template.specialise(&known)).collect();
    assert!(residuals.iter().flatten().count() >= TERA.len() + HCL.len());
    let entries = templates.iter().zip(&residuals).map(|(one, residual)| Entry {
        name: one.name(),
        program: one.program(),
        escape: false,
        executable: false,
        reaches: one.reaches(),
        residual: residual.as_ref().map(Template::program),
    });
    encode_specialised(&entries.collect::<Vec<_>>(), &values, strip).expect("an artifact")
}

/// Returns the programs of an artifact with their names.
fn programs(bundle: &Bundle) -> impl Iterator<Item = (&str, &Program)> {
    fn both(entry: &BundleEntry) -> impl Iterator<Item = (&str, &Program)> {
        std::iter::once(entry.program()).chain(entry.residual()).map(|program| (entry.name(), program))
    }
    bundle.entries().iter().flat_map(both)
}

/// A change to an artifact.
#[derive(Debug, Clone)]
pub enum Damage {
    /// Flips a bit.
    Bit(prop::sample::Index, u8),
    /// Replaces a byte.
    Byte(prop::sample::Index, u8),
    /// Replaces a word of the tables, by a boundary value or a value near the old one.
    Word(prop::sample::Index, u32),
    /// Adds a small number to a word of the tables.
    Near(prop::sample::Index, i8),
    /// Replaces the operand of a word. Its opcode stays.
    Operand(prop::sample::Index, u32),
    /// Replaces the opcode of a word. Its operand stays.
    Opcode(prop::sample::Index, prop::sample::Index),
    /// Swaps two words.
    Swap(prop::sample::Index, prop::sample::Index),
    /// Truncates the artifact.
    Cut(prop::sample::Index),
    /// Inserts bytes.
    Insert(prop::sample::Index, Vec<u8>),
    /// Removes bytes.
    Remove(prop::sample::Index, u8),
    /// Writes a four-byte length where an item begins.
    Length(prop::sample::Index, u8, u32),
}

pub fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    let boundary = prop_oneof![
        Just(0_u32),
        Just(1),
        Just(2),
        Just(0xFF),
        Just(0xFF_FFFF),
        Just(0x7FFF_FFFF),
        Just(u32::MAX),
        0_u32..64,
        any::<u32>(),
    ];
    let marker = prop::sample::select(vec![0xC6_u8, 0xDB, 0xDD, 0xDF, 0xCE, 0xCF, 0xC1, 0xD9, 0xC5, 0xDC]);
    let anywhere = prop_oneof![
        (at(), 0_u8..8).prop_map(|(at, bit)| Damage::Bit(at, bit)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        at().prop_map(Damage::Cut),
        (at(), prop::collection::vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (at(), 1_u8..9).prop_map(|(at, len)| Damage::Remove(at, len)),
        (at(), marker, boundary.clone()).prop_map(|(at, marker, len)| Damage::Length(at, marker, len)),
    ];
    let in_words = prop_oneof![
        (at(), boundary.clone()).prop_map(|(at, word)| Damage::Word(at, word)),
        (at(), -8_i8..=8).prop_map(|(at, by)| Damage::Near(at, by)),
        (at(), boundary).prop_map(|(at, operand)| Damage::Operand(at, operand)),
        (at(), at()).prop_map(|(at, op)| Damage::Opcode(at, op)),
        (at(), at()).prop_map(|(a, b)| Damage::Swap(a, b)),
    ];
    prop_oneof![1 => anywhere, 3 => in_words]
}

fn change_word(bytes: &mut [u8], at: &prop::sample::Index, change: impl FnOnce(u32) -> u32) {
    let (start, count) = words(bytes);
    if count == 0 {
        return;
    }
    let at = start + at.index(count) * 4;
    let word: [u8; 4] = bytes[at..at + 4].try_into().expect("four bytes");
    bytes[at..at + 4].copy_from_slice(&change(u32::from_le_bytes(word)).to_le_bytes());
}

fn word_at(bytes: &[u8], at: &prop::sample::Index) -> u32 {
    let mut word = 0;
    change_word(&mut bytes.to_vec(), at, |found| {
        word = found;
        found
    });
    word
}

/// Applies a change.
pub fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    let len = bytes.len();
    match damage {
        Damage::Bit(at, bit) => bytes[at.index(len)] ^= 1 << bit,
        Damage::Byte(at, byte) => bytes[at.index(len)] = *byte,
        Damage::Word(at, word) => change_word(bytes, at, |_| *word),
        Damage::Near(at, by) => change_word(bytes, at, |word| word.wrapping_add_signed((*by).into())),
        Damage::Operand(at, operand) => change_word(bytes, at, |word| operand << 8 | word & 0xFF),
        Damage::Opcode(at, op) => {
            change_word(bytes, at, |word| word & !0xFF | u32::try_from(op.index(ISA.len() + 1)).expect("a byte"));
        }
        Damage::Swap(a, b) => {
            let (one, two) = (word_at(bytes, a), word_at(bytes, b));
            change_word(bytes, a, |_| two);
            change_word(bytes, b, |_| one);
        }
        Damage::Cut(at) => bytes.truncate(at.index(len)),
        Damage::Insert(at, new) => drop(bytes.splice(at.index(len)..at.index(len), new.iter().copied())),
        Damage::Remove(at, count) => {
            let from = at.index(len);
            bytes.drain(from..(from + usize::from(*count)).min(len));
        }
        Damage::Length(at, marker, length) => {
            let new = std::iter::once(*marker).chain(length.to_be_bytes());
            let from = at.index(len);
            drop(bytes.splice(from..(from + 1).min(len), new));
        }
    }
}

/// Limits low enough to end hostile code at once.
pub fn limits() -> Limits {
    Limits { fuel: 20_000, memory: 4 << 20, output_bytes: 1 << 20, call_depth: 40, ..Limits::default() }
}

/// Renders on both machines. Errors are returned as printed.
fn renders(program: &Program) -> [Result<String, String>; 2] {
    let engine = Engine::new();
    let registry = engine.registry(program.dialect());
    let linked = match registry.link(program.imports()) {
        Ok(linked) => linked,
        Err(error) => return [Err(error.render(false)), Err(error.render(false))],
    };
    let (arena, limits) = (Arena::new(), limits());
    let shapes = Shapes::new(&arena);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(&inputs()).expect("inputs"));
    let what =
        Run { program, linked: &linked, inputs, limits: &limits, capabilities: Capabilities::NONE, budgets: None };
    let mut session = Session::new();
    [false, true].map(|checked| {
        let mut out = String::new();
        let result = match (program.dialect(), checked) {
            (Dialect::Tera, false) => run::<tera::Rules, _>(&mut session, what, &mut out, &mut NoHooks),
            (Dialect::Tera, true) => run_checked::<tera::Rules>(&mut session, what, &mut out),
            (Dialect::Tower, false) => run::<tower::Rules, _>(&mut session, what, &mut out, &mut NoHooks),
            (Dialect::Tower, true) => run_checked::<tower::Rules>(&mut session, what, &mut out),
            (Dialect::Hcl, false) => run::<hcl::Rules, _>(&mut session, what, &mut out, &mut NoHooks),
            (Dialect::Hcl, true) => run_checked::<hcl::Rules>(&mut session, what, &mut out),
            (Dialect::Cel | Dialect::CelYaml, false) => {
                answer(&cel::Rules, &mut session, what, None, &mut NoHooks).and_then(|answer| written(answer, &mut out))
            }
            (Dialect::Cel | Dialect::CelYaml, true) => {
                answer_checked::<cel::Rules>(&mut session, what).and_then(|answer| written(answer, &mut out))
            }
            (Dialect::Helm, false) => run::<helm::Rules, _>(&mut session, what, &mut out, &mut NoHooks),
            (Dialect::Helm, true) => run_checked::<helm::Rules>(&mut session, what, &mut out),
        };
        result.map(|()| out).map_err(|error| error.render(false))
    })
}

/// Writes any answer as text.
fn written(answer: dropforge::value::Value<'_>, out: &mut String) -> dropforge::diagnostics::Result<()> {
    write_documents([answer], OutputFormat::Ndjson, 1 << 20, out)
}

/// Returns the answers of the program's first chunks, or the printed error.
fn answers(program: &Program) -> Vec<String> {
    let registry = hcl::registry();
    let Ok(linked) = registry.link(program.imports()) else { return Vec::new() };
    let (space, names, limits) = (Space::new(), Arena::new(), limits());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(space.arena(), &shapes).serialize(&inputs()).expect("inputs"));
    let mut evaluator = Evaluator::new(&space, program, &linked, &limits, Capabilities::NONE);
    let chunks = u32::try_from(program.chunks().len()).expect("few chunks");
    let answer = |chunk| match evaluator.run::<hcl::Rules>(chunk, inputs) {
        Ok(answer) => {
            let errors = answer.errors.iter().map(ToString::to_string).collect::<Vec<_>>();
            format!("{:?} {}", answer.value.to_data(), errors.join("; "))
        }
        Err(error) => error.render(false),
    };
    (0..chunks.min(30)).map(answer).collect()
}

#[test]
fn intact_artifacts_render_the_same_on_both_machines() {
    for bytes in artifacts() {
        let mut resealed = bytes.clone();
        reseal(&mut resealed);
        assert!(*bytes == resealed, "the digest is found where it is");
        for (name, program) in programs(&Bundle::open(bytes.clone()).expect("it opens")) {
            let [one, two] = renders(program);
            assert_eq!(one, two, "{name}");
        }
    }
}

proptest! {
    #![proptest_config(crate::cases(10_000))]

    #[test]
    fn a_damaged_artifact_is_refused(
        which in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let whole = which.get(artifacts());
        let mut bytes = whole.clone();
        damages.iter().for_each(|damage| apply(&mut bytes, damage));
        if bytes == *whole {
            return Ok(()); // the two changes undid each other
        }
        let error = Bundle::open(bytes).expect_err("it is refused");
        let known = [
            Code::NotAnArtifact, Code::ArtifactVersion, Code::ArtifactDigest, Code::ArtifactEncoding,
            Code::CorruptProgram,
        ];
        prop_assert!(known.contains(&error.code), "{}", error);
        prop_assert!(error.code == Code::CorruptProgram || !error.fields.contains_key("rule"));
    }

    #[test]
    fn a_damaged_and_resealed_artifact_is_refused_or_does_no_harm(
        which in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let mut bytes = which.get(artifacts()).clone();
        damages.iter().for_each(|damage| apply(&mut bytes, damage));
        reseal(&mut bytes);
        let len = bytes.len();
        match Bundle::open(bytes) {
            Ok(bundle) => for (_, program) in programs(&bundle) {
                let [one, two] = renders(program);
                prop_assert_eq!(one, two);
                if program.dialect() == Dialect::Hcl {
                    prop_assert_eq!(answers(program), answers(program));
                }
                let listing = dropforge::bytecode::disassemble(program);
                prop_assert!(listing.len() < 4096 * len, "a listing of {} bytes", listing.len());
            },
            Err(error) if error.code == Code::CorruptProgram => {
                prop_assert!(error.fields.get("rule").is_some_and(|rule| rule.starts_with('V')), "{}", error);
            }
            Err(error) => prop_assert!(error.code != Code::ArtifactDigest, "{}", error),
        }
    }

    #[test]
    fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Bundle::open(bytes).is_err());
    }
}
