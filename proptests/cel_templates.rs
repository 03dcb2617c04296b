//! CEL expressions and CEL-YAML templates. Both machines and artifacts agree on every template, and the output reads
//! back as the values that were written.

use std::slice::from_ref;

use dropforge::bytecode::{Entry, encode};
use dropforge::diagnostics::Code;
use dropforge::engine::{Dialect, Engine, Memo, Template};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::yaml::Tags;
use dropforge::value::{Arena, Data, DataMap, InputBuilder, Inputs, OutputFormat, Shapes, write_documents, yaml};
use dropforge::vm::Session;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value as Json, json};

pub(super) fn inputs() -> Json {
    json!({
        "n": 3, "name": "web", "on": true, "list": [1, 2, 3], "map": {"a": 1, "b": [true]}, "none": null,
        "items": [{"id": 1, "ok": true, "name": "a"}, {"id": 2, "ok": false, "name": "b: c"}],
    })
}

fn engine() -> Engine {
    let limits = Limits { fuel: 200_000, memory: 8 << 20, output_bytes: 1 << 20, ..Limits::default() };
    Engine::builder().limits(limits).build()
}

/// The result of a template: its text, or its error as printed.
type Outcome = Result<String, String>;

fn with_inputs<R>(work: impl FnOnce(Inputs<'_>) -> R) -> R {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    work(Inputs::new(InputBuilder::new(&arena, &shapes).serialize(&inputs()).expect("inputs")))
}

fn rendered(template: &Template, checked: bool) -> Outcome {
    let (mut session, mut out) = (Session::new(), String::new());
    let outcome = with_inputs(|inputs| match checked {
        true => template.render_checked(&mut session, inputs, &mut out),
        false => template.render_inputs(&mut session, inputs, &mut out),
    });
    outcome.map(|()| out).map_err(|error| error.render(false))
}

/// Returns the template after a round trip through an artifact.
fn through_artifact(template: &Template, engine: &Engine) -> Template {
    let entry = Entry {
        name: template.name(),
        program: template.program(),
        escape: template.escapes(),
        executable: false,
        reaches: template.reaches(),
        residual: None,
    };
    let artifact = engine.open(encode(&[entry], false).expect("an artifact")).expect("it opens");
    artifact.template(template.name()).expect("it is there").with_format(template.format())
}

/// Checks every property of a template.
fn holds(dialect: Dialect, text: &str) -> Result<(), TestCaseError> {
    let engine = engine();
    let template = match engine.compile(dialect, "t", text) {
        Ok(template) => template,
        Err(errors) => {
            for error in errors.iter() {
                prop_assert!(error.position().is_some() || error.code.is_limit(), "{error} has no place in {text}");
            }
            return Ok(());
        }
    };
    let documents: Result<Vec<Data>, _> = with_inputs(|inputs| {
        let mut session = Session::new();
        let documents = template.documents(&mut session, inputs);
        documents.map(|documents| documents.iter().map(|document| document.to_data()).collect())
    });
    for format in [OutputFormat::Yaml, OutputFormat::Kyaml] {
        let template = template.with_format(format);
        let text_of = rendered(&template, false);
        prop_assert_eq!(&text_of, &rendered(&template, true), "the checking machine on {}", text);
        prop_assert_eq!(&text_of, &rendered(&through_artifact(&template, &engine), false), "an artifact of {}", text);
        let (Ok(documents), Ok(written)) = (&documents, text_of) else { continue };
        let read = yaml::read_with(&Source::new("out", written.as_str()), &Limits::default(), Tags::Kept);
        // YAML writes `1` and `"1"` as two keys. Readers with text keys refuse them, and so does the JSON writer.
        if matches!(json_error(documents), Some(Code::DuplicateKey)) {
            let errors = read.err().map(|errors| errors.iter().map(|error| error.code).collect::<Vec<_>>());
            prop_assert!(errors.is_some_and(|codes| codes.iter().all(|code| *code == Code::DuplicateKey)), "{}", text);
            continue;
        }
        let read = read.map_err(|errors| TestCaseError::fail(format!("{errors:?} in {written} from {text}")))?;
        let read: Vec<Data> = read.iter().map(|node| node.to_data()).collect();
        prop_assert!(same(&read, documents), "{read:?} is read, and not {documents:?}, of {written} from {text}");
    }
    Ok(())
}

/// The error of writing documents as JSON, if any.
fn json_error(documents: &[Data]) -> Option<Code> {
    write_documents(documents, OutputFormat::Json, usize::MAX, &mut String::new()).err().map(|error| error.code)
}

/// Compares documents. NaN equals itself, and zero has one sign.
fn same(a: &[Data], b: &[Data]) -> bool {
    let pair = |(a, b): (&Data, &Data)| match (a, b) {
        (Data::Float(a), Data::Float(b)) => a == b || a.is_nan() && b.is_nan(),
        (Data::List(a), Data::List(b)) => same(a, b),
        (Data::Map(a), Data::Map(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(from_ref(a), from_ref(b))))
        }
        (a, b) => a == b,
    };
    a.len() == b.len() && a.iter().zip(b).all(pair)
}

const VALUES: &[&str] = &[
    "n",
    "name",
    "on",
    "list",
    "map",
    "none",
    "list[0]",
    "map.a",
    "items[1].name",
    "string(n) + name",
    "n + 1",
    "-n * 2",
    "1.5",
    "1.0 / 0.0",
    "'a'",
    "b'a'",
    "x",
    "i",
    "x.name",
    "k",
    "v",
    "[1, 'a', null]",
    "{'a': n, 'b': [on]}",
    "{1: 'a', true: 'b'}",
    "optional.none()",
    "optional.of(n)",
    "omit()",
    "map.?a",
    "map.?z",
    "list[5]",
    "map.z",
    "nope",
    "n / 0",
    "timestamp('2024-01-01T00:00:00Z')",
    "duration('90m')",
    "type(n)",
    "18446744073709551615u",
    "list.map(y, y * 2)",
    "items.filter(y, y.ok)",
    "name == 'web' ? 1 : 'a'",
    "size(list) > 2 && on",
    "sets.contains(list, [n])",
    "name +",
];

const CONDITIONS: &[&str] = &[
    "true",
    "false",
    "n > 2",
    "on",
    "${on}",
    "!on",
    "size(list) == 0",
    "n",
    "x == 2",
    "nope",
    "has(map.z)",
    "n / 0 > 1",
];

const LOOPS: &[&str] = &[
    "x in list",
    "i, x in items",
    "k, v in map",
    "x in []",
    "x in range(3)",
    "x in n",
    "x in none",
    "k in map",
    "x y",
];

const KEYS: &[&str] =
    &["a", "b", "name", "c d", "${name}", "${name}-${n}", "k${x}", "${on}", "${n}", "$$x", "1", "yes"];

fn text() -> impl Strategy<Value = Data> {
    prop_oneof![
        4 => select(VALUES).prop_map(|value| format!("${{{value}}}")),
        2 => (select(VALUES), select(VALUES)).prop_map(|(a, b)| format!("{a}: ${{{a}}}-${{{b}}}!")),
        1 => select(&["plain", "", "$${n}", "a $5", "yes", "1.10", "${", "${}", "line\ntwo ${n}\n", "# no", "- a"][..])
            .prop_map(str::to_owned),
        1 => "[ -~]{0,8}",
    ]
    .prop_map(Data::Str)
}

pub(super) fn node() -> impl Strategy<Value = Data> {
    let scalar = prop_oneof![
        4 => text(),
        1 => any::<i64>().prop_map(Data::Int),
        1 => any::<bool>().prop_map(Data::Bool),
        1 => Just(Data::Null),
        1 => (-9..9_i8).prop_map(|n| Data::Float(f64::from(n) / 4.0)),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        let entries = vec((select(KEYS), inner.clone()), 0..3);
        let with = |directives: Vec<(&'static str, Data)>, entries: Vec<(&'static str, Data)>| {
            let all = directives.into_iter().chain(entries);
            Data::Map(all.map(|(key, value)| (key.to_owned(), value)).collect::<DataMap>())
        };
        let word = |text: &str| Data::Str(text.to_owned());
        prop_oneof![
            2 => entries.clone().prop_map(move |entries| with(vec![], entries)),
            2 => vec(inner.clone(), 0..4).prop_map(Data::List),
            2 => (select(CONDITIONS), inner.clone(), prop::option::of(inner.clone()), entries.clone()).prop_map(
                move |(is, then, other, entries)| {
                    let mut all = vec![("$if", word(is)), ("$then", then)];
                    all.extend(other.map(|other| ("$else", other)));
                    with(all, entries)
                }
            ),
            1 => (select(CONDITIONS), entries.clone()).prop_map(move |(is, entries)| with(vec![("$if", word(is))], entries)),
            3 => (select(LOOPS), inner.clone(), entries.clone())
                .prop_map(move |(each, made, entries)| with(vec![("$for", word(each)), ("$do", made)], entries)),
            2 => (select(&["x", "i", "n", "y"][..]), prop_oneof![inner, text()], entries.clone()).prop_map(
                move |(name, value, entries)| {
                    let bound = Data::Map([(name.to_owned(), value)].into_iter().collect());
                    with(vec![("$let", bound)], entries)
                }
            ),
            1 => (select(CONDITIONS), text(), entries)
                .prop_map(move |(is, why, entries)| with(vec![("$assert", word(is)), ("$msg", why)], entries)),
        ]
    })
}

/// Fragments of templates, in any order.
const WORDS: &[&str] = &[
    "$if:",
    "$then:",
    "$else:",
    "$for:",
    "$do:",
    "$let:",
    "$assert:",
    "$msg:",
    "$schema:",
    "$include:",
    "$with:",
    "a:",
    " ",
    "\n",
    "\n  ",
    "- ",
    "${n}",
    "${",
    "}",
    "'",
    "\"",
    "x in list",
    "n > 1",
    "true",
    "|\n",
    ">-\n",
    "&a",
    "*a",
    "<<:",
    "[",
    "]",
    "{",
    "}",
    ",",
    "---\n",
    "# c\n",
    "!t ",
    "integer",
    "1",
    "? ",
];

/// Schemas of the inputs.
const SCHEMAS: &[&str] = &[
    "",
    "$schema: {n: integer, list: {type: array, items: {type: integer}}}\n",
    "$schema: {n: string, map: {properties: {a: {type: integer}}, additionalProperties: false}}\n",
    "$schema: {x: {type: integer, default: 2}, n: number}\n",
];

/// Returns what a compilation returns: the program and the warnings, or the errors.
fn compiled(memo: Option<&Memo>, text: &str) -> Result<(Vec<u8>, String), String> {
    let builder = Engine::builder();
    let engine = memo.map_or(builder, |memo| Engine::builder().memo(memo.clone())).build();
    let template = engine.compile(Dialect::CelYaml, "t", text).map_err(|errors| format!("{errors:#?}"))?;
    let entry = Entry {
        name: "t",
        program: template.program(),
        escape: false,
        executable: false,
        reaches: template.reaches(),
        residual: None,
    };
    Ok((encode(&[entry], false).expect("an artifact"), format!("{:#?}", template.lints())))
}

/// A block scalar that ends with the file, without the final line end that its value has.
#[test]
fn block_scalars_at_the_end_of_the_file() -> Result<(), TestCaseError> {
    for text in ["$let:\n  x: |\n    l", "$let:\n  x: |\n    name", "a: |\n  ${n}", "$if: |\n  n", "a: >\n  ${n"] {
        holds(Dialect::CelYaml, text)?;
    }
    Ok(())
}

/// Keys that differ in YAML and are equal as text.
#[test]
fn keys_of_the_same_text() -> Result<(), TestCaseError> {
    holds(Dialect::CelYaml, "$if: \"!on\"\n$then: 1\n$else: \"${{1: 'a', true: 'b'}}\"\n\"1\": ${n}\n")?;
    holds(Dialect::CelYaml, "- \"${{1: 'a'}}\"\n- {\"${1}\": 2, b: 3}\n")
}

proptest! {
    #![proptest_config(crate::cases(600))]

    #[test]
    fn templates(tree in node(), second in prop::option::of(node())) {
        let mut text = yaml::to_string(&tree);
        if let Some(second) = second {
            text = format!("{text}---\n{}", yaml::to_string(&second));
        }
        holds(Dialect::CelYaml, &text)?;
    }

    #[test]
    fn truncated_templates(tree in node(), end in any::<Index>()) {
        let text = yaml::to_string(&tree);
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        holds(Dialect::CelYaml, &text[..ends.get(end.index(ends.len().max(1))).copied().unwrap_or(0)])?;
    }

    /// Each text is compiled with what the ones before it have left.
    #[test]
    fn a_memo_changes_nothing(trees in vec((node(), select(SCHEMAS)), 1..4), edits in vec((any::<Index>(), any::<Index>(), select(WORDS)), 0..6)) {
        let texts: Vec<String> =
            trees.iter().map(|(tree, schema)| format!("{schema}v:\n- {}", yaml::to_string(tree).replace('\n', "\n  "))).collect();
        let edited = |(of, at, word): (Index, Index, &str)| {
            let text = of.get(&texts);
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let (before, behind) = text.split_at(*at.get(&places));
            format!("{before}{word}{behind}")
        };
        let memo = Memo::default();
        for text in texts.iter().cloned().chain(edits.into_iter().map(edited)).chain(texts.iter().cloned()) {
            prop_assert_eq!(compiled(Some(&memo), &text), compiled(None, &text), "{}", text);
        }
    }

    #[test]
    fn random_sequences_of_words(words in vec(select(WORDS), 0..24)) {
        holds(Dialect::CelYaml, &words.concat())?;
    }

    #[test]
    fn expressions(parts in vec((select(VALUES), select(&[" + ", " == ", " && ", " ? ", " : ", " in ", ", ", " || "][..])), 1..4),
                   around in select(&["@", "[@]", "{'k': @}", "(@)", "list.map(x, @)", "items.all(x, @)", "cel.bind(x, n, @)"][..])) {
        let mut text: String = parts.iter().map(|(value, operator)| format!("{value}{operator}")).collect();
        text.push_str(parts[0].0);
        holds(Dialect::Cel, &around.replace('@', &text))?;
    }
}
