//! Inputs that can be read only once: pipes of the shell, standard input and named pipes. Commands do with them what they do
//! with files.

use std::fs;

use crate::support::{Outcome, Sandbox, outcome};

const VALUES: &str = "name: shop\nimage: web:2\nregion: eu\n";
const FLEET: &str = "{\"name\":\"a\",\"region\":\"eu\"}\n{\"name\":\"b\",\"region\":\"us\"}\n";
const SCHEMA: &str = r#"{"properties": {"name": {"type": "string"}, "size": {"default": 3}}, "required": ["name"]}"#;
const TYPES: &str = "name = string\nregion = string\nimage = string\n";
const CRD: &str = "kind: CustomResourceDefinition\nspec: {group: x.io, names: {kind: Shop}, versions: [{name: v1, \
                   schema: {openAPIV3Schema: {properties: {name: {type: integer}}}}}]}\n";
const INTENT: &str = "spec:\n  parameters:\n    - {name: app, type: string, default: x}\n  runbook:\n    - name: build\n      exec: {command: 'make ${params.app}'}\n";

/// The name of the file in a command line. It has no extension, as pipes have none.
const FILE: &str = "inputfile";

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("t/a.yaml.tera", "name: {{ name }}\nimage: {{ image | default(value='none') }}\n"),
        ("t/b.txt.tera", "{{ region }} {{ size | default(value=1) }}\n"),
        ("one.tera", "{{ name }}: {{ image | default(value='none') }} {{ region }}\n"),
        ("file.tera", "{{ text | length }}\n"),
        ("shop.yaml.tera", "apiVersion: x.io/v1\nkind: Shop\nname: {{ name }}\n"),
        ("one.tftpl", "${name} ${region} ${image}\n"),
        ("v.yaml", VALUES),
        ("few.yaml", "region: eu\nimage: i\n"),
        ("fleet.ndjson", FLEET),
        ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("c/values.yaml", "name: none\nimage: none\ntext: ''\n"),
        (
            "c/templates/a.yaml",
            "name: {{ .Values.name }}\nimage: {{ .Values.image }}\nsize: {{ .Values.size }}\ntext: {{ len .Values.text }}\n",
        ),
        ("d/Chart.yaml", "apiVersion: v2\nname: d\nversion: 1.0.0\n"),
        ("d/templates/a.yaml", "name: {{ .Values.name }}\nregion: {{ .Values.region }}\n"),
        ("u/one.tera", "{{ name }} {{ size }}\n"),
        (
            "u/one.test.yaml",
            "template: one.tera\ntests:\n- name: a\n  values: {name: x}\n  expect: {text: \"x 3\\n\"}\n- name: b\n  values: \
             {name: y}\n  expect: {text: \"y 3\\n\"}\n",
        ),
        ("i.yaml", INTENT),
        ("s.hcldec", "attr {\n  name = \"name\"\n  type = string\n}\n"),
        ("c.hcl", "name = \"x-${region}\"\n"),
    ])
}

/// A way to give the input, with its name.
#[derive(Debug, Clone, Copy)]
enum Form {
    File,
    /// `<(…)` of a shell.
    Substitution,
    Dash,
    NamedPipe,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::File => FILE,
            Form::Substitution => "/dev/fd/3",
            Form::Dash => "-",
            Form::NamedPipe => "namedpipe",
        }
    }

    /// Runs a command line, where `@` is the input. The second text has the files in `out`.
    fn run(self, line: &str, input: &str) -> (Outcome, String) {
        let sandbox = sandbox();
        sandbox.write(FILE, input);
        let run = "timeout 30 sh -ec \"$LINE\"";
        let script = match self {
            Form::File => format!("{run} </dev/null"),
            Form::Substitution => format!("cat {FILE} | {run} 3<&0 </dev/null"),
            Form::Dash => format!("cat {FILE} | {run}"),
            Form::NamedPipe => {
                format!("mkfifo namedpipe; (timeout 40 cat {FILE} >namedpipe 2>&1 &) >&- 2>&-; {run} </dev/null")
            }
        };
        let mut shell = sandbox.shell("-ec", &script);
        let line = line.split("dropforge ").collect::<Vec<_>>().join("dropforge --color never ");
        shell.env("LINE", line.replace('@', self.name())).env("DROPFORGE_CACHE", "");
        let found = outcome(shell);
        (found, format!("{:?}", sandbox.tree("out")))
    }
}

/// Returns what a run printed and wrote, without times. The names of read files in a manifest are left out, as they are
/// sorted.
fn found(form: Form, line: &str, input: &str) -> (i32, String) {
    let (Outcome { code, stdout, stderr }, files) = form.run(line, input);
    let time = regex::Regex::new(r"in [0-9.]+ (ms|s|µs)").unwrap();
    let text = format!("{stdout}\n{stderr}\n{files}");
    let read = regex::Regex::new(r#"\\"read\\":\{[^}]*\}"#).unwrap();
    (code, read.replace_all(&time.replace_all(&text, "in 1 ms"), "").into_owned())
}

/// Checks that command lines do the same with every form of the input.
#[track_caller]
fn same(rows: &[(&str, &str)], forms: &[Form]) {
    let mut wrong = Vec::new();
    for (line, input) in rows {
        let (code, expected) = found(Form::File, line, input);
        assert!(code <= 1 && !expected.contains("E0701"), "{line}: {code} {expected}");
        for form in forms {
            let expected = (code, expected.replace(FILE, form.name()));
            let actual = found(*form, line, input);
            if actual != expected {
                wrong.push(format!("{line} {form:?}\n  expected {expected:?}\n  found    {actual:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

const ALL: &[Form] = &[Form::Substitution, Form::Dash, Form::NamedPipe];
const NAMED: &[Form] = &[Form::Substitution, Form::NamedPipe];

#[test]
fn a_template_has_the_values_and_schemas_of_pipes() {
    let rows = [
        ("dropforge render one.tera -f @", VALUES),
        ("dropforge render one.tera -f v.yaml -f @", "name: other\n"),
        ("dropforge render file.tera --set-file text=@", VALUES),
        ("dropforge render one.tera -f v.yaml --schema @", SCHEMA),
        ("dropforge render one.tera -f few.yaml --schema @", SCHEMA),
        ("dropforge render one.tftpl -f v.yaml --var-types @", TYPES),
        ("dropforge render t -f @", VALUES),
        ("dropforge render t -f @ -o out", VALUES),
        ("dropforge render t -f v.yaml --schema-defaults --schema @ -o out", SCHEMA),
        ("dropforge values -f @", VALUES),
        ("dropforge values -f @ --origins", VALUES),
        ("dropforge values t -f v.yaml --schema-defaults --schema @", SCHEMA),
        ("dropforge eval name -f @", VALUES),
        ("dropforge eval --lang cel name -f @", VALUES),
        ("dropforge trace one.tera -f @", VALUES),
        ("dropforge trace one.tera --step -f @", VALUES),
        ("dropforge why :1 -- render one.tera -f @", VALUES),
        ("dropforge compile t --specialise @ -o a.mpk && dropforge inspect a.mpk", VALUES),
        ("dropforge test u --schema-defaults --schema @", SCHEMA),
    ];
    same(&rows, ALL);
    same(&[("dropforge render shop.yaml.tera -f v.yaml --kube-schemas @", CRD)], NAMED);
}

#[test]
fn a_chart_has_the_values_of_pipes() {
    same(
        &[
            ("dropforge render c -f @", VALUES),
            ("dropforge render c -f v.yaml -f @", "name: other\nunread: 1\n"),
            ("dropforge render c --set-file text=@", VALUES),
            ("dropforge render c -f @ -o out", VALUES),
            ("dropforge render c -f @ -o out --layout '{region}/{template}'", VALUES),
            ("dropforge render c -f @ --strict", VALUES),
            ("dropforge trace c -f @", VALUES),
            ("dropforge why :3 -- render c -f @", VALUES),
            ("dropforge compile c -f @ -o c.mpk && dropforge inspect c.mpk", VALUES),
            ("dropforge check c -f @", VALUES),
            ("dropforge check c d -f @", VALUES),
            ("dropforge check c --set-file text=@", VALUES),
            ("dropforge check c --fleet @", FLEET),
            ("dropforge check c --fleet fleet.ndjson -f @", VALUES),
            ("dropforge check c -f few.yaml --schema @", SCHEMA),
        ],
        ALL,
    );
}

#[test]
fn a_fleet_has_the_clusters_and_values_of_pipes() {
    same(
        &[
            ("dropforge stamp t --fleet @ -f few.yaml -o out", FLEET),
            ("dropforge stamp t --fleet @ --layout single", FLEET),
            ("dropforge stamp t --fleet @ --stream -o out", FLEET),
            ("dropforge stamp t --fleet fleet.ndjson -f @ -o out", VALUES),
            ("dropforge stamp t --fleet fleet.ndjson -f @ --stream -o out", VALUES),
            ("dropforge stamp t --fleet fleet.ndjson -f @ -o out --dry-run", VALUES),
            ("dropforge stamp t --fleet fleet.ndjson -f @ -o out --shard 0/1", VALUES),
            ("dropforge stamp t --fleet fleet.ndjson --schema-defaults --schema @ -o out", SCHEMA),
            ("dropforge stamp file.tera --fleet fleet.ndjson --set-file text=@ -o out", VALUES),
            ("dropforge stamp one.tftpl --fleet fleet.ndjson -f v.yaml --var-types @ -o out", TYPES),
            ("dropforge stamp c --fleet @ -o out", FLEET),
            ("dropforge stamp c --fleet @ --stream -o out", FLEET),
            ("dropforge stamp c --fleet fleet.ndjson -f @ -o out", VALUES),
            ("dropforge stamp c --fleet fleet.ndjson -f @ --layout single", VALUES),
            ("dropforge stamp c --fleet fleet.ndjson -f @ --stream -o out", VALUES),
            ("dropforge stamp c --fleet fleet.ndjson --set-file text=@ -o out", VALUES),
            ("dropforge stamp c --fleet fleet.ndjson --schema @ -o out", SCHEMA),
            ("dropforge why :3 -- stamp c --fleet fleet.ndjson -f @ --layout single", VALUES),
            ("dropforge values --fleet @ --cluster b", FLEET),
            ("dropforge values --fleet fleet.ndjson --cluster b -f @ --origins", VALUES),
        ],
        ALL,
    );
}

#[test]
fn checks_and_other_commands_have_the_inputs_of_pipes() {
    same(
        &[
            ("dropforge check one.tera -f @", VALUES),
            ("dropforge check t --fleet @ -f few.yaml", FLEET),
            ("dropforge check one.tera --set name=a --schema @", SCHEMA),
            ("dropforge check one.tftpl --var-types @", TYPES),
            ("dropforge check one.tftpl -f @", VALUES),
            ("dropforge check one.tftpl -f v.yaml --var-types @", TYPES),
            ("dropforge intent validate @", INTENT),
            ("dropforge intent resolve i.yaml --inputs @", "params: {}\n"),
            ("dropforge intent resolve i.yaml --outputs @", "{}\n"),
            (
                "dropforge hcl decode -s @ c.hcl -V '{\"region\": \"eu\"}'",
                "attr {\n  name = \"name\"\n  type = string\n}\n",
            ),
            ("dropforge hcl decode -s s.hcldec c.hcl -V @", "region = \"us\"\n"),
            ("dropforge hcl decode -s s.hcldec @", "name = \"y\"\n"),
        ],
        ALL,
    );
}

#[test]
fn options_that_name_the_same_pipe_have_the_same_content() {
    same(
        &[
            ("dropforge render file.tera -f @ --set-file text=@", VALUES),
            ("dropforge stamp c --fleet fleet.ndjson -f @ --set-file text=@ -o out", VALUES),
            ("dropforge values -f @ -f @", VALUES),
        ],
        NAMED,
    );
    // Another name of standard input.
    let sandbox = sandbox();
    let line = "printf abc | dropforge render file.tera -f /dev/null --set-file a=- --set-file text=/dev/stdin";
    assert_eq!(outcome(sandbox.shell("-ec", line)).expect(0).stdout, "3\n");
}

#[test]
fn standard_input_is_read_for_one_option() {
    let sandbox = sandbox();
    let rows = [
        ("render one.tera -f - --schema -", "`-f -` and `--schema -`"),
        ("render one.tera -f - --set-file text=-", "`--set-file K=-` and `-f -`"),
        ("render - --lang tera -f -", "`-` and `-f -`"),
        ("stamp t --fleet - -f - -o out", "`--fleet -` and `-f -`"),
        ("stamp c --fleet - -f - -o out", "`--fleet -` and `-f -`"),
        ("stamp t --fleet - -f - --stream -o out", "`-f -` and `--fleet -`"),
        ("check c --fleet - -f -", "`--fleet -` and `-f -`"),
        ("values --project - -f -", "`--project -` and `-f -`"),
        ("intent resolve - --inputs -", "`-` and `--inputs -`"),
        ("hcl decode -s -", "`--spec -` and `-`"),
    ];
    for (line, both) in rows {
        let input = match line.split(' ').next() {
            Some("intent") => INTENT,
            Some("hcl") => "attr {\n  name = \"name\"\n  type = string\n}\n",
            _ => "",
        };
        let found = sandbox.feed(&line.split(' ').collect::<Vec<_>>(), input);
        assert!(found.code != 0 && found.stderr.contains(both), "{line}: {} {}", found.code, found.stderr);
    }
    let twice = [
        "render one.tera -f - -f -",
        "render c -f - -f -",
        "render file.tera --set-file a=- --set-file text=-",
        "stamp t --fleet - --fleet - -o out",
        "compile t --specialise - --specialise - -o a.mpk",
        "compile c -f - -f - -o a.mpk",
        "hcl decode -s s.hcldec - -",
        "hcl decode -s s.hcldec c.hcl -V - -V -",
    ];
    for line in twice {
        let input = if line.starts_with("stamp") { FLEET } else { "" };
        sandbox.feed(&line.split(' ').collect::<Vec<_>>(), input).expect(2).says(&["`-` is used twice"]);
    }
}

#[test]
fn a_fleet_in_a_pipe_is_read_for_one_option() {
    for form in NAMED {
        let (found, _) = form.run("dropforge stamp t --fleet @ -f @ -o out", FLEET);
        found.expect(2).says(&[&format!("`{}` is used twice", form.name()), "write the input to a file"]);
    }
}

#[test]
fn pipes_are_not_watched() {
    for line in [
        "dropforge stamp t --fleet @ -o out --watch",
        "dropforge stamp t --fleet fleet.ndjson -f @ -o out --watch",
        "dropforge stamp t --fleet fleet.ndjson --set-file a=@ -o out --watch",
        "dropforge stamp t --fleet fleet.ndjson --var-types @ -o out --watch",
    ] {
        for form in [Form::Substitution, Form::Dash] {
            form.run(line, VALUES).0.expect(2).says(&["`--watch` does not apply to"]);
        }
    }
    let (found, _) = Form::Substitution.run("dropforge stamp t --fleet fleet.ndjson -f @ -o out --watch", VALUES);
    found.says(&["the pipe `/dev/fd/3`", "write the input to a file"]);
}

#[test]
fn every_line_of_a_console_has_the_values_of_a_pipe() {
    for form in [Form::File, Form::Substitution] {
        let line = "printf 'name\\nimage\\n' | dropforge console -f @";
        let (found, _) = form.run(line, VALUES);
        assert_eq!(found.expect(0).stdout, "\"shop\"\n\"web:2\"\n", "{form:?}");
        let (found, _) = form.run("printf '.Values.name\\n.Values.image\\n' | dropforge console c -f @", VALUES);
        assert_eq!(found.expect(0).stdout, "\"shop\"\n\"web:2\"\n", "{form:?}");
    }
}

#[test]
fn devices_without_an_end_are_refused_and_pipes_are_bounded() {
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "a: {{ name }}\n"), ("v.yaml", "b: 1\n")]);
    let stamp = ["stamp", "t", "--fleet-format", "ndjson", "-o", "out"];
    let is_device = "it is a device, not a file";
    sandbox.run(&[&stamp[..], &["--fleet", "/dev/zero"]].concat()).expect(1).says(&[is_device]);
    sandbox.run(&["render", "t/a.yaml.tera", "-f", "/dev/zero"]).expect(1).says(&[is_device]);
    sandbox.run(&["render", "t/a.yaml.tera", "--set-file", "name=/dev/zero"]).expect(1).says(&[is_device]);
    sandbox.run(&["render", "t/a.yaml.tera", "-f", "/dev/null", "--set", "name=x"]).expect(0);
    // A line without an end is not copied for ever.
    let mut endless = sandbox.command(&[&stamp[..], &["--fleet", "-"]].concat());
    endless.stdin(fs::File::open("/dev/zero").unwrap());
    outcome(endless).expect(1).says(&[is_device]);
    let run = sandbox.shell("-c", "cat /dev/zero | dropforge stamp t --fleet - --fleet-format ndjson -o out");
    outcome(run).expect(1).says(&["a cluster of `-` is too long"]);
    // Files that stand beside others are regular ones.
    sandbox.pipe("t/values.schema.json");
    sandbox.run(&["render", "t", "--set", "name=x", "-o", "out"]).expect(0);
    sandbox.pipe("dropforge.toml");
    sandbox.run(&["stamp"]).expect(2).says(&["cannot read `dropforge.toml`: it is a pipe, not a file"]);
}
