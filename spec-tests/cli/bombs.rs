//! Templates and inputs that try to exhaust the machine. Within 1 GiB of address space and a few seconds of CPU time,
//! the binary exits with code 1 and a coded error, and is never killed by a signal.

use std::process::Command;

use crate::support::{Sandbox, outcome};

/// Each case: its name, the template, and the expected error code.
fn bombs() -> Vec<(&'static str, String, &'static str)> {
    let n = 100_000;
    let double = |first: &str, step: &str| format!("{first}{}{{{{ x }}}}", step.repeat(60));
    vec![
        ("parentheses", format!("{{{{ {} }}}}", "(".repeat(n)), "E0602"),
        ("brackets of paths", format!("{{{{ {}a }}}}", "a[".repeat(n)), "E0602"),
        ("tags", "{% if a %}".repeat(n), "E0602"),
        ("filter sections", "{% filter upper %}".repeat(n), "E0602"),
        ("a macro that calls itself", "{% macro m() %}{{ self::m() }}{% endmacro %}{{ self::m() }}".into(), "E0606"),
        ("an include of itself", "{% include 't.tera' %}".into(), "E0606"),
        ("a parent of itself", "{% extends 't.tera' %}".into(), "E0503"),
        ("a list of a billion", "{{ range(end=1000000000) }}".into(), "E060"),
        ("a loop of a trillion", "{% for i in range(end=1000000000000) %}{% endfor %}".into(), "E0603"),
        ("a range without steps", "{{ range(end=9, step_by=0) }}".into(), "E0403"),
        ("text that doubles", double("{% set x = 'xxxxxxxx' %}", "{% set x = x ~ x %}"), "E0604"),
        ("lists that double", double("{% set x = [1] %}", "{% set x = [x, x] %}"), "E060"),
        ("a list that doubles", double("{% set x = [1] %}", "{% set x = x | concat(with=x) %}"), "E060"),
        ("replacing by itself", double("{% set x = 'aaaa' %}", "{% set x = x | replace(from='a', to=x) %}"), "E0604"),
        ("a pattern that explodes", "{{ name is matching('((a{100}){100}){100}') }}".into(), "E0609"),
        ("output without end", "{% for i in range(end=9000000) %}aaaaaaaaaaaaaaaaaaaaaaa{% endfor %}".into(), "E060"),
        ("bytes that are no text", "\u{0}{{ \u{0} }}".into(), "E0102"),
        ("a hundred thousand errors", "{{ 1 + }}\n".repeat(n), "E0101"),
    ]
}

#[test]
fn templates_that_want_the_whole_machine_end_with_an_error() {
    let mut wrong = Vec::new();
    for (what, template, code) in bombs() {
        let sandbox = Sandbox::with(&[("t.tera", &template), ("v.yaml", "name: a\na: 1\n")]);
        let got = bounded(&sandbox, "render t.tera -f v.yaml");
        if got.0 != 1 || !got.1.contains(&format!("error[{code}")) {
            wrong.push(format!("{what}: {} {}", got.0, got.1.lines().take(5).collect::<Vec<_>>().join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn hostile_hcl_sources_end_with_an_error() {
    let n = 100_000;
    let doubled = (0..60).fold("\"ab\"".to_owned(), |text, _| format!("[for x in [{text}]: \"${{x}}${{x}}\"][0]"));
    let shared = (0..60).fold("[1]".to_owned(), |text, _| format!("[for x in [{text}]: [x, x]][0]"));
    let many = "@".repeat(4_000_000);
    let bombs = [
        ("parentheses", "render t.tftpl", format!("${{{}", "(".repeat(n)), "E0602"),
        ("directives", "render t.tftpl", "%{if true}".repeat(n), "E0602"),
        ("text that doubles", "render t.tftpl", format!("${{{doubled}}}"), "E0604"),
        ("types that double", "render t.tftpl", format!("${{true ? {shared} : []}}"), "E060"),
        (
            "loops in loops",
            "render t.tftpl",
            format!("{}a{}", "%{for a in range(1000)}".repeat(4), "%{endfor}".repeat(4)),
            "E060",
        ),
        ("arguments", "render t.tftpl", format!("${{max({}1)}}", "1,".repeat(n)), "E0608"),
        ("blocks", "hcl fmt t.tftpl", "a {\n".repeat(n), "E0602"),
        ("four million errors", "hcl fmt t.tftpl", many.clone(), "E0102"),
        ("four million errors in a template", "render t.tftpl", format!("${{{many}"), "E0102"),
    ];
    let mut wrong = Vec::new();
    for (what, args, text, code) in bombs {
        let sandbox = Sandbox::with(&[("t.tftpl", &text)]);
        let got = bounded(&sandbox, args);
        if got.0 != 1 || !got.1.contains(&format!("error[{code}")) {
            wrong.push(format!("{what}: {} {}", got.0, got.1.lines().take(5).collect::<Vec<_>>().join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn inputs_that_want_the_whole_machine_end_with_an_error() {
    let n = 100_000;
    let laughs: String = (1..40).map(|n| format!("a{n}: &a{n} [*a{0},*a{0},*a{0}]\n", n - 1)).collect();
    let inputs = [
        ("deep JSON", "v.json", format!("{{\"a\": {}", "[".repeat(n))),
        ("deep YAML", "v.yaml", format!("a: {}", "[".repeat(n))),
        ("deep blocks", "v.yaml", (0..2_000).map(|n| format!("{}a:\n", " ".repeat(n))).collect()),
        ("aliases of aliases", "v.yaml", format!("a0: &a0 [x]\n{laughs}")),
        ("no YAML", "v.yaml", "a: [\u{1}".into()),
    ];
    let mut wrong = Vec::new();
    for (what, name, text) in inputs {
        let sandbox = Sandbox::with(&[("t.tera", "{{ a }}"), (name, &text)]);
        let (code, stderr) = bounded(&sandbox, &format!("render t.tera -f {name}"));
        if code != 1 || !stderr.contains("error[E0") {
            wrong.push(format!("{what}: {code} {}", stderr.lines().take(5).collect::<Vec<_>>().join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs the binary under system limits. The exit code is minus the signal if there was one.
fn bounded(sandbox: &Sandbox, args: &str) -> (i32, String) {
    let line = format!("ulimit -v 1048576; ulimit -t 20; exec '{}' {args}", env!("CARGO_BIN_EXE_dropforge"));
    let mut command = Command::new("sh");
    command.current_dir(sandbox.path("")).args(["-c", &line]);
    let outcome = outcome(command);
    (outcome.code, outcome.stderr)
}
