//! `render`, `check`, `completions`, and exit codes.

use std::io::Read;
use std::process::Stdio;

use dropforge::bytecode::Dialect;
use dropforge::engine::{Engine, Template};
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;

use crate::support::Sandbox;

#[test]
fn one_template_from_a_file_or_standard_input() {
    let sandbox =
        Sandbox::with(&[("a.tera", "hi {{ who }}{% include \"b.txt\" %}\n"), ("b.txt", "!"), ("v.yaml", "who: you\n")]);
    assert_eq!(sandbox.run(&["render", "a.tera", "-f", "v.yaml"]).expect(0).stdout, "hi you!\n");
    assert_eq!(sandbox.feed(&["render", "-", "--lang", "tera", "--set", "x=1"], "x={{ x }}").expect(0).stdout, "x=1");
    assert_eq!(sandbox.feed(&["render", "a.tera", "-f", "-"], "who: me").expect(0).stdout, "hi me!\n");
    sandbox.feed(&["render", "-"], "x").expect(2).says(&["--lang"]);
    sandbox.run(&["render", "a.tera", "-f", "v.yaml", "-o", "x.txt"]).expect(0);
    assert_eq!(sandbox.read("x.txt"), "hi you!\n");
    assert_eq!(sandbox.run(&["-C", "..", "render", "none.tera"]).expect(1).stdout, "");
}

#[test]
fn a_tower_template_is_literal_or_quoted_for_a_shell() {
    let sandbox = Sandbox::with(&[("cd.tower", "cd ${params.dir}"), ("v.yaml", "params: {dir: \"it's here\"}")]);
    let run = |more: &[&str]| sandbox.run(&[&["render", "cd.tower", "-f", "v.yaml"], more].concat()).expect(0).stdout;
    assert_eq!(run(&[]), "cd it's here");
    assert_eq!(run(&["--render-mode", "literal"]), "cd it's here");
    assert_eq!(run(&["--render-mode", "shell"]), r"cd 'it'\''s here'");
}

#[test]
fn an_error_shows_place_and_names() {
    let sandbox = Sandbox::with(&[("a.tera", "first\n{{ nmae }}\n")]);
    let outcome = sandbox.run(&["render", "a.tera", "--set", "name=x"]).expect(1);
    let outcome =
        outcome.says(&["error[E0201]", "a.tera:2:4", "{{ nmae }}", "available: name", "did you mean `name`?"]);
    assert_eq!(outcome.stdout, "");
    let errors = sandbox.run(&["render", "a.tera", "--set", "name=x", "--error-format", "json"]).expect(1).json();
    assert_eq!((errors[0]["line"].as_u64(), errors[0]["file"].as_str()), (Some(2), Some("a.tera")));
    assert_eq!(errors[0]["available"], serde_json::json!(["name"]));
}

#[test]
fn a_missing_template_is_suggested_from_its_directory() {
    let sandbox = Sandbox::with(&[("a.tera", "{% include \"sub/_lables.tera\" %}"), ("sub/_labels.tera", "x")]);
    let outcome = sandbox.run(&["render", "a.tera"]).expect(1);
    outcome.says(&["error[E0501]", "a.tera:1:1", "a.tera, sub/_labels.tera", "did you mean `sub/_labels.tera`?"]);
}

#[test]
fn colour_is_asked_for_or_not() {
    let sandbox = Sandbox::with(&[("a.tera", "{{ x }}")]);
    let colored = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = sandbox.command(&[&["render", "a.tera"], args].concat());
        command.envs(env.iter().copied());
        crate::support::outcome(command).expect(1).stderr.contains('\u{1b}')
    };
    assert!(!colored(&[], &[]));
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(colored(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!colored(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn check_finds_everything_without_data() {
    let sandbox = Sandbox::with(&[
        ("t/a.tera", "{{ 1 | nope }}"),
        ("t/b.tera", "{% if %}"),
        ("t/c.tera", "{% extends \"none.tera\" %}"),
        ("ok/a.tera", "{{ anything.at.all }}"),
    ]);
    sandbox.run(&["check", "t"]).expect(1).says(&["nope", "b.tera:1", "none.tera"]);
    sandbox.run(&["check", "ok"]).expect(0).says(&["checked 1 template: no errors"]);
    assert_eq!(sandbox.run(&["check", "ok", "-q"]).expect(0).stderr, "");
}

#[test]
fn an_argument_that_nothing_reads_is_warned_of() {
    let text = "{{ xs | join(d=\", \") }} {{ xs | sort(atribute=\"a\") | length }} {{ f(any=1) }}\n";
    let sandbox = Sandbox::with(&[("t/a.tera", text), ("v.yaml", "xs: [a, b]\n"), ("fleet.csv", "name\neu\n")]);
    let declared = ["--declare", "function:f"];
    let outcome = sandbox.run(&[&["check", "t"], &declared[..]].concat()).expect(0);
    let warnings = [
        "warning[E0403]: filter `join` has no argument `d`, so it is ignored",
        "t/a.tera:1:14",
        "available: sep",
        "warning[E0403]: filter `sort` has no argument `atribute`, so it is ignored",
        "did you mean `attribute`?",
        "2 warnings",
    ];
    outcome.says(&warnings);
    sandbox.run(&[&["check", "t", "--strict"], &declared[..]].concat()).expect(1);
    sandbox.write("t/a.tera", &text.replace("{{ f(any=1) }}", ""));
    let cached = ["--cache-dir", "cache"];
    for command in [
        &["render", "t/a.tera", "-f", "v.yaml"][..],
        &["render", "t", "-f", "v.yaml"],
        &["stamp", "t", "-f", "v.yaml", "--fleet", "fleet.csv", "-o", "out"],
        &["stamp", "t", "-f", "v.yaml", "--fleet", "fleet.csv", "-o", "out", "--stream"],
    ] {
        // A template with warnings is not cached, as they would be lost.
        for _ in 0..2 {
            sandbox.run(&[command, &cached[..]].concat()).expect(0).says(&warnings[..5]);
        }
        sandbox.run(&[command, &["--strict"]].concat()).expect(1);
    }
    assert_eq!(sandbox.read("out/eu/a"), "ab 2 \n");
}

#[test]
fn usage_is_2_and_help_is_0() {
    let sandbox = Sandbox::new();
    for args in
        [&["stamp"][..], &["nope"], &["render"], &["render", "x", "--nope"], &["check"], &["-j", "0", "check", "x"]]
    {
        sandbox.run(args).expect(2);
    }
    let errors = sandbox.run(&["render", "--nope", "--error-format", "json"]).expect(2).json();
    assert_eq!(errors[0]["name"], "usage");
    for args in [&["--help"][..], &["--version"], &["stamp", "--help"]] {
        assert!(!sandbox.run(args).expect(0).stdout.is_empty());
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(sandbox.run(&["completions", shell]).expect(0).stdout.contains("dropforge"));
    }
}

#[test]
fn a_closed_pipe_is_silent() {
    let sandbox = Sandbox::fleet(2_000);
    for args in [
        &["stamp", "t", "--fleet", "fleet.ndjson", "--layout", "single"][..],
        &["stamp", "t", "--fleet", "fleet.ndjson", "-o", "out", "--diff", "--diff-format", "unified"],
        &["render", "big.tera"],
    ] {
        sandbox.write("big.tera", "{% for i in range(end=100000) %}{{ i }} and more\n{% endfor %}");
        let mut command = sandbox.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut some = [0; 16];
        child.stdout.take().unwrap().read_exact(&mut some).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn a_full_device_is_an_error() {
    let sandbox = Sandbox::with(&[("a.tera", "text\n")]);
    let mut command = sandbox.command(&["render", "a.tera"]);
    command.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
    crate::support::outcome(command).expect(1).says(&["E0902", "No space left"]);
    sandbox.run(&["render", "a.tera", "-o", "/dev/full"]).expect(1).says(&["No space left"]);
    sandbox.run(&["render", "a.tera", "-o", "/dev/null"]).expect(0);
}

#[test]
fn the_checking_machine_renders_the_same() {
    let sandbox = Sandbox::with(&[
        ("t.tera", "{% for x in l %}{{ x | upper }} {% endfor %}{{ n + 1 }}"),
        ("t.tftpl", "%{ for x in l ~}${upper(x)} %{ endfor ~}${n + 1}"),
        ("t.cel.yaml", "l: ${l.map(x, x + '!')}\nn: ${n + 1}\n"),
        ("v.yaml", "l: [a, b]\nn: 1\n"),
    ]);
    let values = serde_json::json!({"l": ["a", "b"], "n": 1});
    for (name, dialect) in [("t.tera", Dialect::Tera), ("t.tftpl", Dialect::Hcl), ("t.cel.yaml", Dialect::CelYaml)] {
        let template = Engine::builder().build().compile(dialect, name, &sandbox.read(name)).unwrap();
        let usual = sandbox.run(&["render", name, "-f", "v.yaml"]).expect(0).stdout;
        assert_eq!(checked(&template, &values).unwrap(), usual);
    }
    let template = Engine::builder().build().compile(Dialect::Tera, "t.tera", &sandbox.read("t.tera")).unwrap();
    let failed = checked(&template, &serde_json::json!({})).unwrap_err();
    sandbox.run(&["render", "t.tera"]).expect(1).says(&[&failed.message, failed.code.id()]);
    sandbox.run(&["render", "t.tera", "--checked"]).expect(2).says(&["--checked"]);
}

/// Renders with the machine that checks every index.
fn checked(template: &Template, values: &serde_json::Value) -> dropforge::diagnostics::Result<String> {
    let (arena, names, mut text) = (Arena::new(), Arena::new(), String::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(values).unwrap());
    template.render_checked(&mut Session::new(), inputs, &mut text).map(|()| text)
}
