//! Generated programs that move a secret: no door shows it, nor what was made from it.

use dropforge::bulk::Origin;
use dropforge::bulk::why::{Around, Given, Question, RecordedOutput};
use dropforge::engine::recording::{Flow, Recorder};
use dropforge::engine::{Dialect, Engine};
use dropforge::mask::Mask;
use dropforge::schema::is_secret;
use dropforge::value::{Arena, Data, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};
use serde_json::json;

const SCHEMA: &str = r#"{"properties": {
    "db": {"properties": {"password": {"writeOnly": true}}},
    "keys": {"items": {"format": "password"}},
    "certs": {"additionalProperties": {"x-secret": true}}
}}"#;

/// How a language reads a secret, moves it, and writes it. `E` stands for an expression.
struct Ways {
    dialect: Dialect,
    reads: &'static [&'static str],
    moves: &'static [&'static str],
    writes: &'static [&'static str],
}

const WAYS: &[Ways] = &[
    Ways {
        dialect: Dialect::Tera,
        reads: &["db.password", "db[k]", "keys[0]", "keys[i]", "keys | first", "certs.a", "certs | get(key='a')"],
        moves: &[
            "E | upper",
            "E | lower",
            "E | b64encode",
            "E | split(pat='-') | last",
            "E | replace(from='-', to='+')",
            "E | json_encode",
            "E | reverse",
            "E | truncate(length=9)",
            "E | urlencode",
            "E | trim",
        ],
        writes: &[
            "v: {{ E }}\n",
            "{% set x = E %}v: {{ x }}\n",
            "{% set x = [E] %}v: {{ x[i] }}\n",
            "{% for y in [E] %}v: {{ y }}\n{% endfor %}",
            "{% set x = E | split(pat='-') %}v: {{ x[1] }}{{ x[i] }}\n",
            "{% if E == 'x' %}a{% else %}v: b{% endif %}\n",
            "{% macro m(a) %}v: {{ a }}{% endmacro m %}{{ self::m(a=E) }}\n",
            "{% filter trim %}v: {{ E }}{% endfilter %}\n",
        ],
    },
    Ways {
        dialect: Dialect::Helm,
        reads: &[
            ".db.password",
            "(index .db .k)",
            "(get .db \"password\")",
            "(index .keys 0)",
            "(first .keys)",
            "(index .certs \"a\")",
            "(deepCopy .).db.password",
            "(merge (dict) .db).password",
            "(mergeOverwrite (dict \"z\" 1) .).db.password",
            "(tpl (print \"{{ .db.\" .k \" }}\") .)",
            "(tpl \"{{ .db.password }}\" .)",
            "(.db | toYaml | fromYaml).password",
            "(values .certs | first)",
            "(index $ \"db\").password",
        ],
        moves: &[
            "(E | upper)",
            "(E | b64enc)",
            "(E | sha256sum)",
            "(E | quote)",
            "(E | trunc 9)",
            "(splitList \"-\" E | last)",
            "(printf \"%s!\" E)",
            "(list E | toJson)",
            "(dict \"a\" E).a",
            "(list \"x\" E | last)",
            "(ternary E \"n\" true)",
            "(E | replace \"-\" \"+\")",
            "(merge (dict) (dict \"m\" E)).m",
            "(set (dict \"z\" 1) \"s\" E).s",
        ],
        writes: &[
            "v: {{ E }}\n",
            "{{ $x := E }}v: {{ $x }}\n",
            "{{ with E }}v: {{ . }}\n{{ end }}",
            "{{ range list E }}v: {{ . }}\n{{ end }}",
            "{{ $d := dict \"a\" 1 }}{{ $_ := set $d \"b\" E }}v: {{ $d.b }}\n",
            "{{ $c := deepCopy . }}{{ $_ := set $c \"n\" E }}v: {{ with $c }}{{ .n }}{{ end }}\n",
            "{{ define \"t\" }}v: {{ . }}{{ end }}{{ include \"t\" E }}\n",
            "{{ if eq (E | toString) \"x\" }}a{{ else }}v: b{{ end }}\n",
            "{{ $l := append (list) E }}v: {{ index $l 0 }}\n",
            "{{ $_ := set .db \"moved\" E }}v: {{ .db.moved }}\n",
            "{{ $_ := set .db \"moved\" E }}v: {{ .db.moved | trunc 7 }}\n",
            "{{ $_ := set .db \"moved\" E }}v: {{ index .db \"moved\" | quote }}\n",
            "{{ $_ := set .db \"moved\" E }}v: {{ pluck \"moved\" .db | first }}\n",
            "{{ $_ := set .db \"moved\" E }}v: {{ tpl \"{{ .db.moved }}\" . }}\n",
            "{{ $_ := set .db \"moved\" E }}v: {{ (toYaml .db | fromYaml).moved }}\n",
            "{{ $_ := set .db \"moved\" E }}v: {{ (deepCopy .).db.moved }}\n",
            "{{ $_ := set .db \"moved\" E }}{{ with .db }}v: {{ .moved }}{{ end }}\n",
            "{{ $_ := set .db \"moved\" E }}{{ range $k, $x := .db }}{{ $k }}: {{ $x }}\n{{ end }}",
            "{{ $_ := set .db \"moved\" E }}{{ if .db.moved }}v: {{ .db.moved }}{{ end }}\n",
            "{{ $_ := set .db \"moved\" E }}{{ $_ := set $ \"again\" .db.moved }}v: {{ .again }}\n",
            "{{ $_ := set . \"moved\" (dict \"m\" E) }}v: {{ .moved.m }}\n",
            "{{ $_ := set .db \"deep\" dict }}{{ $_ := set .db.deep \"m\" (list E) }}v: {{ first .db.deep.m }}\n",
            "{{ $_ := merge .db (dict \"moved\" E) }}v: {{ .db.moved }}\n",
            "{{ $_ := mergeOverwrite . (dict \"db\" (dict \"host\" E)) }}v: {{ .db.host }}\n",
            "{{ $x := E }}{{ range $i, $_ := until 80 }}{{ $_ := set $.db \"moved\" (ternary $x \"n\" (eq $i 0)) }}\
             {{ $_ := set (dict) \"host\" $i }}{{ if eq $i 0 }}v: {{ $.db.moved }}\n{{ end }}{{ end }}",
            "{{ $_ := set .db \"host\" E }}{{ range until 80 }}\
             {{ $_ := set dict \"host\" \"n\" }}{{ end }}v: {{ .db.host }}\n",
            "{{ $_ := set .db E \"x\" }}{{ range $k, $_ := omit .db \"password\" \"host\" }}v: {{ $k }}\n{{ end }}",
            "{{ $l := printf \"[%s{}]\" (repeat 69 \"{},\") | fromJsonArray }}{{ $d := dict \"l\" $l }}\
             {{ $_ := set (last $l) \"m\" E }}v: {{ toJson $d | sha256sum }}\n",
            "{{ $x := \"a\" }}{{ $x = E }}v: {{ $x }}\n",
        ],
    },
    Ways {
        dialect: Dialect::Hcl,
        reads: &[
            "db.password",
            "db[k]",
            "keys[0]",
            "keys[i]",
            "keys[*][0]",
            "merge({}, db).password",
            "values(certs)[0]",
        ],
        moves: &[
            "upper(E)",
            "base64encode(E)",
            "sha256(E)",
            "split(\"-\", E)[1]",
            "jsonencode(E)",
            "format(\"%s!\", E)",
            "substr(E, 0, 9)",
            "[for x in [E] : x][0]",
            "{a = E}.a",
            "strrev(E)",
            "\"${E}!\"",
        ],
        writes: &[
            "v: ${E}\n",
            "%{ for x in [E] }v: ${x}\n%{ endfor }",
            "%{ for x in split(\"-\", E) }v: ${x}\n%{ endfor }",
            "%{ if E == \"x\" }a%{ else }v: b%{ endif }\n",
        ],
    },
    Ways {
        dialect: Dialect::CelYaml,
        reads: &["db.password", "db[k]", "keys[0]", "keys[i]", "keys.map(x, x)[0]", "certs.a", "[db][0].password"],
        moves: &[
            "(E).upperAscii()",
            "base64.encode(bytes(E))",
            "(E).split(\"-\")[1]",
            "(E).split(\"-\")[i + 1]",
            "(E).substring(0, 9)",
            "[E].map(x, x + \"!\")[0]",
            "{\"a\": E}.a",
            "{k: E}[k]",
            "[E].filter(x, true)[0]",
            "(E).replace(\"-\", \"+\")",
            "[E].join(\",\")",
        ],
        writes: &[
            "v: ${E}\n",
            "$let: {x: '${E}'}\nv: ${x}\n",
            "v:\n  $for: x in [E]\n  $value: ${x}\n",
            "v:\n  $if: E == \"x\"\n  $then: a\n  $else: b\n",
            "v: 'a${E}b'\n",
        ],
    },
];

/// A program: a language, and what is done with the secret.
fn program() -> impl Strategy<Value = (Dialect, String)> {
    select((0..WAYS.len()).collect::<Vec<_>>()).prop_flat_map(|nth| {
        let Ways { dialect, reads, moves, writes } = &WAYS[nth];
        (select(*reads), vec(select(*moves), 0..4), select(*writes)).prop_map(move |(read, moves, write)| {
            let moved = moves.iter().fold(read.to_owned(), |inner, way| way.replace('E', &inner));
            (*dialect, write.replace('E', &moved))
        })
    })
}

/// Returns what every door shows of a run, and the text that it wrote.
fn doors(dialect: Dialect, program: &str, secret: &str) -> Option<(String, String)> {
    let schema: Data = serde_json::from_str(SCHEMA).unwrap();
    let values = json!({"db": {"password": secret, "host": "h"}, "keys": [secret, "other-key-1"], "certs": {"a": secret},
        "k": "password", "i": 0});
    let values = serde_json::from_value::<Data>(values).unwrap().into_map().unwrap();
    let mask = Mask::of_each(|each| dropforge::schema::each_secret(&schema, &values, &mut |text| each(&text)));
    let template = Engine::new().compile(dialect, "t", program).ok()?;
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).data_map(&values).unwrap());
    let recorder = Recorder::default().hiding(mask.clone());
    let (recording, text) = template.record_with(recorder, &mut Session::new(), inputs);
    let is_hidden = |flow: &Flow| flow.is_secret || is_secret(&schema, &flow.path);
    let mut shown = String::new();
    recording.steps(&is_hidden, &mut |_, code, value| shown.extend([code, " ", value.unwrap_or(""), "\n"]));
    for value in recording.values().into_iter().chain(recording.assigned()) {
        if !mask.is_in(&value.text) && !value.inputs.iter().any(is_hidden) {
            shown.extend([value.text.as_str(), "\n"]);
        }
    }
    let given = |flow: &Flow| Given {
        path: dropforge::value::Step::joined(&flow.path),
        origins: vec![Origin::named("values")],
        default: None,
        is_secret: is_hidden(flow),
    };
    for row in recording.trace(false, 1_000).0 {
        let mut row = Around::of(&row.what, &given);
        row.hide(&mask);
        shown.extend([row.summary().as_str(), "\n"]);
    }
    match text {
        Ok(text) => {
            shown.push_str(&answers(&RecordedOutput::of_template(text.clone(), recording), &text, &given));
            Some((shown, text))
        }
        Err(mut error) => {
            mask.hide_in(&mut error);
            Some((shown + &error.render(false), String::new()))
        }
    }
}

/// Returns the answers to why each line is there.
fn answers(recorded: &RecordedOutput, text: &str, given: &dyn Fn(&Flow) -> Given) -> String {
    let (mut shown, mut at) = (String::new(), 0);
    for (nth, line) in text.lines().enumerate() {
        let question = Question { line: nth + 1, ..Question::default() };
        let answer = (line.len() > 1).then(|| recorded.answer(&question, (text, at + line.len() - 1), given));
        if let Some(answer) = answer.flatten() {
            shown.push_str(&answer.text(false));
            shown.push_str(&answer.json());
        }
        at += line.len() + 1;
    }
    shown
}

/// Returns the settings: the short form always tries the same programs, the long one others each time.
fn settings() -> Config {
    let (rng_seed, cases) = match super::has_all_cases() {
        true => (RngSeed::Random, 6_000),
        false => (RngSeed::Fixed(46), 400),
    };
    Config { rng_seed, cases, failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn no_door_shows_a_secret_or_what_was_made_from_it(
        (dialect, program) in program(),
        secret in "[A-Z][a-z0-9]{4}-[a-z][A-Za-z0-9]{5}-[A-Z0-9a-z]{3}q",
    ) {
        let Some((shown, text)) = doors(dialect, &program, &secret) else {
            return Err(TestCaseError::reject("it does not compile"));
        };
        prop_assert!(!shown.is_empty());
        let base64 = dropforge::stdlib::encodings::base64(secret.as_bytes());
        let json = serde_json::to_string(&secret).unwrap();
        let written = text.lines().filter_map(|line| line.split_once(": ")).map(|(_, value)| value.trim_matches('"'));
        let made = written.filter(|value| value.len() > 5 && !program.contains(value)).map(str::to_owned);
        let forms = [secret.clone(), secret.to_uppercase(), secret.to_lowercase(), base64, json];
        for form in forms.into_iter().chain(made) {
            prop_assert!(!shown.contains(&form), "{dialect:?}: {program}shows {form}:\n{shown}");
        }
    }
}
