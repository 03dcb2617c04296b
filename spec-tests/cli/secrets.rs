//! Values that a schema marks secret are in outputs only: a table of doors and secrets.

use base64::Engine as _;

use crate::support::{Outcome, Sandbox};

/// A secret: its schema, and its text as YAML has it in `values.yaml`. `NEW` stands for one that nobody else has.
const SECRETS: &[(&str, &str, &str)] = &[
    ("a text", r#""token": {"type": "string", "writeOnly": true}"#, "token: NEW"),
    ("a password", r#""token": {"format": "password"}"#, "token: 'NEW'"),
    ("a mark of the catalog", r#""token": {"x-secret": true}"#, "token: \"NEW\""),
    ("quotes", r#""token": {"writeOnly": true}"#, "token: NEW\"'\\&/<é"),
    ("in a list", r#""token": {"writeOnly": true}, "more": {"items": {"writeOnly": true}}"#, "token: NEW\nmore: [NEW]"),
    ("by a reference", r##""token": {"$ref": "#/definitions/t"}"##, "token: NEW"),
    ("by a pattern", r#""other": {}}, "patternProperties": {"^tok": {"writeOnly": true}"#, "token: NEW"),
    ("any member", r#""other": {}}, "additionalProperties": {"writeOnly": true"#, "token: NEW"),
    ("lines", r#""token": {"writeOnly": true}"#, "token: \"-----BEGIN KEY-----\\nNEW\\n-----END KEY-----\\n\""),
];

/// The templates of each language: what they write, and an error with the secret.
const LANGUAGES: &[(&str, &str, &str)] = &[
    (
        "tera",
        "a: {{ token }}\nb: {{ token | upper }}\nc: {{ token | b64encode }}\n{% if token == \"x\" %}x{% endif %}\
         {% for t in [token] %}d: {{ t | trim }}\n{% endfor %}",
        "{{ token + 1 }}",
    ),
    (
        "gotmpl",
        "a: {{ .token }}\nb: {{ .token | upper | quote }}\nc: {{ .token | b64enc }}\n{{ if eq .token \"x\" }}x{{ end }}\
         {{ range list .token }}d: {{ . | toJson }}\n{{ end }}",
        "{{ fail (printf \"no %s\" .token) }}",
    ),
    (
        "tftpl",
        "a: ${token}\nb: ${upper(token)}\nc: ${base64encode(token)}\n%{ if token == \"x\" }x%{ endif }\
         %{ for t in [token] }d: ${jsonencode(t)}\n%{ endfor }",
        "${token + 1}",
    ),
    (
        "cel.yaml",
        "a: ${token}\nb: ${token.upperAscii()}\nc: ${base64.encode(bytes(token))}\n\
         d:\n  $if: token == \"x\"\n  $then: x\n  $else: y\ne: ${[token].map(t, t + \"!\")}\n",
        "a: ${int(token)}\n",
    ),
];

const OLD: &str = "0ld-Qx7kZw2p";
const NEW: &str = "n3w-Vb8mTr4q";

/// Fails if one of the secrets or an encoding of it is in a text.
#[track_caller]
fn has_none(door: &str, text: &str) {
    for secret in [OLD, NEW] {
        let base64 = base64::prelude::BASE64_STANDARD.encode(secret);
        for form in [secret, &secret.to_uppercase(), &secret.to_lowercase(), base64.trim_end_matches('=')] {
            assert!(!text.contains(form), "{door} shows {form}:\n{text}");
        }
    }
}

#[track_caller]
fn shows_none(door: &str, outcome: &Outcome) {
    has_none(door, &format!("{}{}", outcome.stdout, outcome.stderr));
}

/// A folder with a template of a language, a schema, and values with the secret.
fn sandbox((_, schema, values): (&str, &str, &str), (extension, text, _): (&str, &str, &str)) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(&format!("t/app.yaml.{extension}").replace(".yaml.cel", ".cel"), text);
    let definitions = r#""definitions": {"t": {"writeOnly": true}}"#;
    sandbox.write("t/values.schema.json", &format!("{{{definitions}, \"properties\": {{{schema}}}}}"));
    sandbox.write("values.yaml", &(values.replace("NEW", NEW) + "\n"));
    sandbox
}

/// Calls `each` with every secret in one language, and with one secret in every language.
fn table(each: impl Fn(&str, &Sandbox, (&str, &str, &str))) {
    for (nth, secret) in SECRETS.iter().enumerate() {
        // A text of several lines is a value of YAML only in the last language, which quotes it.
        let languages = if nth == 0 { LANGUAGES } else { &LANGUAGES[(nth + 3) % LANGUAGES.len()..][..1] };
        for language in languages {
            each(&format!("{} in {}", secret.0, language.0), &sandbox(*secret, *language), *language);
        }
    }
}

#[test]
fn observed_runs_do_not_show_them() {
    table(|what, sandbox, _| {
        let written = sandbox.run(&["render", "t", "-f", "values.yaml", "-o", "out"]).expect(0);
        shows_none(&format!("render, {what}"), &written);
        let file = sandbox.tree("out").keys().find(|path| path.contains("app")).unwrap().clone();
        let text = sandbox.read(&format!("out/{file}"));
        assert!(text.contains(NEW), "{what}: {text}");
        for line in 1..=text.lines().count() {
            let place = format!("out/{file}:{line}");
            shows_none(&format!("why {line}, {what}"), &sandbox.run(&["why", &place]));
            shows_none(&format!("why {line} as JSON, {what}"), &sandbox.run(&["why", &place, "--json"]));
        }
        for option in ["--all", "--json", "--step"] {
            let trace = sandbox.run(&["trace", "t", "-f", "values.yaml", option]).expect(0);
            assert!(!trace.stdout.is_empty());
            shows_none(&format!("trace {option}, {what}"), &trace);
        }
    });
}

#[test]
fn errors_do_not_show_them() {
    table(|what, sandbox, (extension, _, bad)| {
        sandbox.write(&format!("t/app.yaml.{extension}").replace(".yaml.cel", ".cel"), bad);
        let line = format!("{{\"name\": \"eu\", \"token\": {}, \"list\": 1}}\n", serde_json::to_string(OLD).unwrap());
        sandbox.write("fleet.ndjson", &line);
        for format in ["human", "short", "json", "sarif", "github"] {
            let format = format!("--error-format={format}");
            for args in [
                &["render", "t", "-f", "values.yaml", "-o", "out"][..],
                &["stamp", "t", "--fleet", "fleet.ndjson", "-f", "values.yaml", "-o", "out"],
                &["check", "t", "--fleet", "fleet.ndjson", "-f", "values.yaml"],
                &["trace", "t", "-f", "values.yaml", "--step"],
            ] {
                shows_none(&format!("{args:?} {format}, {what}"), &sandbox.run(&[args, &[&format]].concat()));
            }
        }
    });
}

#[test]
fn violations_of_the_schema_do_not_show_them() {
    let files = |keyword: &str| {
        let schema = format!(r#"{{"properties": {{"token": {{"type": "string", "writeOnly": true, {keyword}}}}}}}"#);
        Sandbox::with(&[
            ("t/a.yaml.tera", "a: {{ token }}\n"),
            ("t/values.schema.json", &schema),
            ("v.yaml", &format!("token: {NEW}\n")),
            ("fleet.ndjson", &format!("{{\"name\": \"eu\", \"token\": \"{OLD}\"}}\n")),
        ])
    };
    for keyword in [r#""maxLength": 3"#, r#""pattern": "^x""#, r#""enum": ["x"]"#, r#""const": "x""#, r#""not": {}"#] {
        let sandbox = files(keyword);
        for format in ["human", "json", "sarif", "github"] {
            let format = format!("--error-format={format}");
            for args in [
                &["render", "t/a.yaml.tera", "--schema", "t/values.schema.json", "-f", "v.yaml"][..],
                &["stamp", "t", "--fleet", "fleet.ndjson", "-o", "out"],
                &["check", "t", "-f", "v.yaml"],
                &["check", "t", "--fleet", "fleet.ndjson"],
            ] {
                let outcome = sandbox.run(&[args, &[&format]].concat());
                assert_ne!(outcome.code, 0, "{args:?} {keyword}");
                assert!(outcome.stderr.contains("E0808"), "{args:?} {keyword}: {}", outcome.stderr);
                shows_none(&format!("{args:?} {format} {keyword}"), &outcome);
            }
        }
    }
}

#[test]
fn changes_show_neither_the_new_nor_the_old_one() {
    table(|what, sandbox, (language, ..)| {
        if what.starts_with("lines") && language != "cel.yaml" {
            // The others do not indent the lines, which is no YAML.
            return;
        }
        let new = sandbox.read("values.yaml");
        sandbox.write("values.yaml", &new.replace(NEW, OLD));
        let stamp = ["stamp", "t", "-f", "values.yaml", "--fleet", "fleet.csv", "-o", "out"];
        sandbox.write("fleet.csv", "name\neu\nus\n");
        sandbox.run(&stamp).expect(0);
        sandbox.write("values.yaml", &new);
        for more in [&["--check"][..], &["--dry-run"], &["--diff"], &["--diff", "-v"]] {
            shows_none(&format!("{more:?}, {what}"), &sandbox.run(&[&stamp, more].concat()));
        }
        for format in ["text", "unified", "markdown", "json"] {
            let diff = sandbox.run(&[&stamp[..], &["--diff", "--diff-format", format]].concat()).expect(3);
            shows_none(&format!("--diff-format {format}, {what}"), &diff);
            assert!(diff.stdout.contains('…'), "{what}: {}", diff.stdout);
        }
        sandbox.write("fleet.csv", "name\neu\n");
        let diff = sandbox.run(&[&stamp[..], &["--diff", "--diff-format", "unified"]].concat()).expect(3);
        shows_none(&format!("a deletion, {what}"), &diff);
    });
}

#[test]
fn failed_tests_do_not_show_them() {
    let sandbox = sandbox(SECRETS[0], LANGUAGES[0]);
    let suite = format!(
        "suite: s\nvalues: [../values.yaml]\ntests:\n- it: is other\n  asserts:\n  - equal: {{path: a, value: b}}\n\
         - it: has another secret\n  set: {{token: {OLD}}}\n  asserts:\n  - matchRegex: {{path: c, pattern: ^x}}\n"
    );
    sandbox.write("t/app.test.yaml", &suite);
    for format in ["human", "json"] {
        let outcome = sandbox.run(&["test", "t", &format!("--error-format={format}")]).expect(1);
        assert!(outcome.stderr.contains("expected"), "{}", outcome.stderr);
        has_none("test", &outcome.stderr.replace(&format!("set: {{token: {OLD}}}"), ""));
    }
}

#[test]
fn charts_do_not_show_them() {
    let schema = r#"{"properties": {"token": {"type": "string", "writeOnly": true, "maxLength": 20}}}"#;
    let sandbox = Sandbox::with(&[
        ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("c/values.yaml", &format!("token: {NEW}\nfails: false\n")),
        ("c/values.schema.json", schema),
        (
            "c/templates/a.yaml",
            "a: {{ .Values.token }}\nb: {{ (index $ \"Values\").token | b64enc }}\nc: {{ tpl \"{{ .Values.token }}\" . }}\n\
             {{ with merge (dict) .Values }}d: {{ .token | upper }}\n{{ end }}\
             {{- if .Values.fails }}{{ fail (cat \"no\" .Values.token) }}{{ end }}\n",
        ),
        ("fleet.ndjson", &format!("{{\"name\": \"eu\", \"token\": \"{OLD}\"}}\n")),
    ]);
    sandbox.run(&["render", "c", "-o", "out"]).expect(0);
    let file = sandbox.tree("out").into_keys().find(|path| path.ends_with("a.yaml")).unwrap();
    for line in 1..=sandbox.read(&format!("out/{file}")).lines().count() {
        shows_none("why", &sandbox.run(&["why", &format!("out/{file}:{line}")]));
    }
    for option in ["--all", "--json", "--step"] {
        shows_none("trace", &sandbox.run(&["trace", "c", option]).expect(0));
    }
    for more in [&["--set", "fails=true"][..], &["--set", "token=averyvery-long-n3w-Vb8mTr4q-averyvery"]] {
        for args in [&["render", "c"][..], &["check", "c"], &["stamp", "c", "--fleet", "fleet.ndjson", "-o", "x"]] {
            shows_none("errors", &sandbox.run(&[args, more].concat()));
        }
    }
    sandbox.run(&["stamp", "c", "--fleet", "fleet.ndjson", "-o", "s"]).expect(0);
    sandbox.write("fleet.ndjson", &format!("{{\"name\": \"eu\", \"token\": \"{NEW}\"}}\n"));
    let diff = sandbox.run(&["stamp", "c", "--fleet", "fleet.ndjson", "-o", "s", "--diff"]).expect(3);
    shows_none("diff", &diff);
}

#[test]
fn short_and_common_secrets_leave_the_rest_readable() {
    let sandbox = Sandbox::with(&[
        ("t.yaml.tera", "a: {{ pin }}\nb: {{ on }}\nc: {{ port }} true 12\n"),
        ("s.json", r#"{"properties": {"pin": {"writeOnly": true}, "on": {"writeOnly": true}}}"#),
        ("v.yaml", "pin: '12'\non: true\nport: 8012\n"),
    ]);
    let args = ["--", "render", "t.yaml.tera", "-f", "v.yaml", "--schema", "s.json"];
    let why = |line: &str| sandbox.run(&[&["why", line], &args[..]].concat()).expect(0).stdout;
    assert!(why(":1").contains("a: …\n") && why(":2").contains("b: …\n"));
    assert!(why(":3").contains("c: 8012 true 12\n") && why(":3").contains("port = `8012`"));
}

/// Values that the schema marks, with texts that nothing else has. Short ones are no texts to look for.
const MARKED: [&str; 3] = ["db.password", "pin", "keys[0]"];

/// Ways to use a value in Tera and in a chart.
const USES: [(&str, &str); 8] = [
    ("{{ V }}", "{{ V }}"),
    ("{{ V | b64encode }}", "{{ V | toString | b64enc }}"),
    ("x-{{ V }}-y", "x-{{ V }}-y"),
    ("{{ V | upper }}", "{{ V | toString | upper }}"),
    ("{{ V | json_encode }}", "{{ V | toJson }}"),
    ("{{ V | reverse }}", "{{ printf \"%v\" V | sha256sum }}"),
    (
        "{% if other == 1 %}{{ V }}{% else %}none{% endif %}",
        "{{ if eq (int .Values.other) 1 }}{{ V }}{{ else }}none{{ end }}",
    ),
    ("{{ V | replace(from=\"a\", to=\"b\") }}", "{{ V | toString | replace \"a\" \"b\" }}"),
];

/// Returns a template of lines at random places that use values, and one of another version.
fn templates(random: &mut fastrand::Rng, is_chart: bool) -> [String; 2] {
    let mut text = || {
        let mut text = String::from("o: OTHER\nlist:\n");
        for nth in 0..random.usize(2..6) {
            let (name, (tera, chart)) = (random.choice(MARKED).unwrap(), random.choice(USES).unwrap());
            let value =
                if is_chart && name.ends_with(']') { "(index .Values.keys 0)".to_owned() } else { name.to_owned() };
            let value = if is_chart && !value.starts_with('(') { format!(".Values.{value}") } else { value };
            let line = if is_chart { chart } else { tera }
                .replace('V', "\u{0}")
                .replace("\u{0}alues", "Values")
                .replace('\u{0}', &value);
            let quoted = format!("'{}'", line.replace('\'', "\""));
            let line = if random.bool() { line } else { quoted };
            text += &match random.u8(0..3) {
                0 => format!("k{nth}: {line}\n"),
                1 => format!("list{nth}:\n- name: n{nth}\n  value: {line}\n"),
                _ => format!("text{nth}: |\n  A=1\n  P={line}\n"),
            };
        }
        let other = if is_chart { "{{ .Values.other }}" } else { "{{ other }}" };
        text.replace("list:\n", "").replace("OTHER", other)
    };
    [text(), text()]
}

#[test]
fn no_format_shows_a_secret_after_any_change() {
    let schema = r#"{"properties": {"pin": {"writeOnly": true}, "keys": {"items": {"format": "password"}},
        "db": {"properties": {"password": {"x-secret": true}}}}}"#;
    for seed in 0..12 {
        let (mut random, is_chart) = (fastrand::Rng::with_seed(seed), seed % 2 == 0);
        let [old, new] = templates(&mut random, is_chart);
        let new = if random.bool() { old.clone() } else { new };
        let (root, file) = if is_chart { ("c", "c/templates/a.yaml") } else { ("t", "t/a.yaml.tera") };
        let sandbox = Sandbox::with(&[("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"), (file, &old)]);
        sandbox.write(&format!("{root}/values.schema.json"), schema);
        sandbox.write("fleet.csv", "name\neu\nus\n");
        let values = |secret: &str, pin: u32, other: u32| {
            format!("db: {{password: {secret}}}\npin: '{pin}'\nkeys: [{secret}-k]\nother: {other}\n")
        };
        sandbox.write("values.yaml", &values(OLD, 7_391, 1));
        let stamp = ["stamp", root, "-f", "values.yaml", "--fleet", "fleet.csv", "-o", "out"];
        sandbox.run(&stamp).expect(0);
        sandbox.write(file, &new);
        sandbox.write("values.yaml", &values(random.choice([OLD, NEW, "x1"]).unwrap(), 8_264, random.u32(2..4)));
        for format in ["text", "unified", "markdown", "json"] {
            let diff = sandbox.run(&[&stamp[..], &["--diff", "--diff-format", format]].concat()).expect(3);
            let reversed = [OLD, NEW].map(|secret| secret.chars().rev().collect::<String>());
            shows_none(&format!("{format}, {seed}: {old} {new}"), &diff);
            for other in reversed.iter().map(String::as_str).chain(["7391", "8264"]) {
                assert!(!diff.stdout.contains(other), "{format}, {seed} shows {other}: {old}\n{new}\n{}", diff.stdout);
            }
        }
    }
}

#[test]
fn old_secrets_are_hidden_where_the_new_run_has_none() {
    let sandbox = Sandbox::with(&[
        (
            "t/a.yaml.tera",
            "n: {{ n }}\na: {{ token }}\nb: {{ token | default(value='none') }}\nc: {{ token | length }}\n",
        ),
        ("t/values.schema.json", r#"{"properties": {"token": {"writeOnly": true}}}"#),
        ("fleet.csv", "name\neu\n"),
    ]);
    let stamp = |more: &[&str]| sandbox.run(&[&["stamp", "t", "--fleet", "fleet.csv", "-o", "out"][..], more].concat());
    stamp(&["--set", &format!("n=1,token={OLD}")]).expect(0);
    // The secret is gone, or too short to look for.
    sandbox.write(
        "t/a.yaml.tera",
        "n: {{ n }}\nb: {{ token | default(value='none') }}\n{% if token %}d: {{ token }}{% else %}d: none{% endif %}\n",
    );
    for set in ["n=2", "n=2,token=ab"] {
        for format in ["text", "unified", "markdown", "json"] {
            let diff = stamp(&["--set", set, "--diff", "--diff-format", format]).expect(3);
            shows_none(&format!("{format} {set}"), &diff);
            assert!(!diff.stdout.contains("c: 12"), "{}", diff.stdout);
            assert!(diff.stdout.contains("… (before)"), "{}", diff.stdout);
        }
    }
}

#[test]
fn errors_show_no_text_of_files_outside_a_project_that_only_the_project_names() {
    let text = "token: hunter2-a\ntoken: [hunter2-b\n";
    let files = [("p/t/a.tera", "{{ token }}"), ("p/fleet.yaml", "- name: a\n"), ("outside.yaml", text)];
    let sandbox = Sandbox::with(&files);
    let output = "[output]\ndir = \"out\"\n";
    let base = ["templates = [\"t\"]\n", output].concat();
    let release = |line: &str| {
        let release = "[[release]]\nname = \"r\"\ntemplates = [\"t\"]\n";
        ["fleet = [\"fleet.yaml\"]\n", output, release, line].concat()
    };
    for project in [
        format!("fleet = [\"../outside.yaml\"]\n{base}"),
        format!("fleet = [\"fleet.yaml\"]\nvalues = [\"../outside.yaml\"]\n{base}"),
        format!("fleet = [\"fleet.yaml\"]\nlayers = [\"../outside.yaml\"]\n{base}"),
        format!("fleet = [\"fleet.yaml\"]\n{base}[checks]\nschema = \"../outside.yaml\"\n"),
        release("values = [\"../outside.yaml\"]"),
        release("patches = [{ target = { kind = \"X\" }, merge = \"../outside.yaml\" }]"),
    ] {
        sandbox.write("p/dropforge.toml", &project);
        let outcome = sandbox.run(&["-C", "p", "stamp"]);
        assert!(outcome.code != 0 && !outcome.stderr.contains("hunter2"), "{project}{}", outcome.stderr);
        let parts = ["outside.yaml:", "`../outside.yaml` is outside the project, so its text is not shown"];
        outcome.says(&parts);
    }
    // What the user names is shown, and what is in the repository.
    sandbox.write("p/dropforge.toml", &format!("fleet = [\"fleet.yaml\"]\n{base}"));
    sandbox.run(&["-C", "p", "stamp", "-f", "../outside.yaml"]).says(&["hunter2"]);
    sandbox.write("p/dropforge.toml", &format!("fleet = [\"fleet.yaml\"]\nvalues = [\"../outside.yaml\"]\n{base}"));
    std::fs::create_dir_all(sandbox.path(".git")).unwrap();
    sandbox.run(&["-C", "p", "stamp"]).says(&["hunter2"]);
}
