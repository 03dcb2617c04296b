//! Findings of `check` and of runs that depend on options and on other files.

use crate::support::Sandbox;

#[test]
fn check_finds_functions_that_no_option_allows() {
    let sandbox = Sandbox::with(&[
        ("a.yaml.tera", "a: {{ get_env(name=\"X\", default=\"\") }}\nb: {% if x %}{{ now() }}{% endif %}\n"),
        ("b.tftpl", "${timestamp()}\n"),
    ]);
    let says =
        ["E0405", "function `get_env` is not allowed by default", "a.yaml.tera:1:", "function `now`", "2 errors"];
    sandbox.run(&["check", "a.yaml.tera"]).expect(1).says(&says);
    sandbox.run(&["check", "a.yaml.tera", "--allow", "clock"]).expect(1).says(&["`get_env`", "1 error"]);
    let all = ["check", "a.yaml.tera", "b.tftpl", "--allow", "clock", "--allow", "environment"];
    sandbox.run(&all).expect(0).says(&["no errors"]);
    sandbox.run(&["check", "b.tftpl"]).expect(1).says(&["function `timestamp` is not allowed", "1 error"]);
}

#[test]
fn blocks_that_no_parent_has_are_warnings() {
    let sandbox = Sandbox::with(&[
        ("t/base.tera", "{% block title %}{% block inner %}{% endblock %}{% endblock %}\n"),
        ("t/mid.tera", "{% extends \"base.tera\" %}{% block inner %}m{% endblock %}\n"),
        (
            "t/app.txt.tera",
            "{% extends \"mid.tera\" %}{% block title %}t{% block new %}{% endblock %}{% endblock %}{% block titel %}x{% endblock %}\n",
        ),
        ("fleet.ndjson", "{\"name\": \"a\"}\n"),
    ]);
    let says = [
        "warning[E0504]: no template that this one extends has a block `titel`, so it is not rendered",
        "t/app.txt.tera:1:",
        "did you mean `title`?",
    ];
    for args in [
        &["check", "t"][..],
        &["render", "t/app.txt.tera"],
        &["stamp", "t/app.txt.tera", "--include-root", "t", "--fleet", "fleet.ndjson", "-o", "out"],
    ] {
        let outcome = sandbox.run(args).expect(0).says(&says[..1]).says(&says[2..]);
        assert_eq!(outcome.stderr.matches("E0504").count(), 1, "{}", outcome.stderr);
    }
}

#[test]
fn a_run_without_inputs_says_so() {
    let sandbox = Sandbox::with(&[("a.txt.tera", "{{ x }}\n"), ("b.cel.yaml", "a: ${x}\n")]);
    for file in ["a.txt.tera", "b.cel.yaml"] {
        let outcome = sandbox.run(&["render", file]).expect(1).says(&["no inputs were given"]);
        assert!(!outcome.stderr.contains("available"), "{}", outcome.stderr);
        sandbox.run(&["render", file, "--set", "y=1"]).expect(1).says(&["available: y"]);
    }
}

#[test]
fn an_undeclared_input_of_an_intent_has_its_place() {
    let intent = "spec:\n  parameters:\n    - {name: app, type: string}\n  controls:\n    lock: ${params.app}-lock\n";
    let sandbox = Sandbox::with(&[("i.yaml", intent), ("in.yaml", "context: {}\nparams:\n  app: a\n  ap: 1\n")]);
    let outcome = sandbox.run(&["intent", "resolve", "i.yaml", "--inputs", "in.yaml"]).expect(1);
    outcome.says(&["E0725", "in.yaml:4:3", "`app`"]);
}

#[test]
fn why_finds_the_run_of_a_folder_beside_it() {
    let sandbox = Sandbox::with(&[
        ("p/t/a.yaml.tera", "a: {{ x }}\n"),
        ("p/v.yaml", "x: 1\n"),
        ("p/f.ndjson", "{\"name\": \"c\"}\n"),
    ]);
    sandbox.run(&["-C", "p", "stamp", "t", "--fleet", "f.ndjson", "-f", "v.yaml", "-o", "../out"]).expect(0);
    let says = ["written by  x", "t/a.yaml.tera:1:7", "v.yaml"];
    for (folder, place) in [(".", "out/c/a.yaml:1"), ("p", "../out/c/a.yaml:1"), ("out/c", "a.yaml:1")] {
        let outcome = sandbox.run(&["-C", folder, "why", place]).expect(0);
        assert!(says.iter().all(|part| outcome.stdout.contains(part)), "{folder}: {}", outcome.stdout);
    }
}
