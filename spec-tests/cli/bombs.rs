//! The limits of the command, as a table: sources and inputs that try to exhaust the machine, and the commands that read
//! them. Within 1 GiB of address space and [`SECONDS`] of CPU time, each ends with the code of its limit, and is never
//! killed by a signal.

use crate::support::{Sandbox, outcome};

/// The CPU time each command has. The limits count instructions and bytes, and an unoptimised build takes some twenty
/// times as long for an instruction.
const SECONDS: u32 = if cfg!(debug_assertions) { 60 } else { 10 };

/// What a bomb is, its file name, its text, and the expected error code.
type Bomb = (&'static str, &'static str, String, &'static str);

/// Commands that compile a template, in place of `{}`.
const COMPILE: &[&str] = &[
    "render {}",
    "stamp {} --fleet f.ndjson -o out",
    "check {}",
    "compile {} -o a.mpk",
    "disasm {}",
    "render - --lang {lang} < {}",
];

/// Commands that render a template.
const RENDER: &[&str] = &[
    "render {} -f v.yaml",
    "stamp {} --fleet f.ndjson -o out -f v.yaml",
    "compile {} -o a.mpk && dropforge stamp a.mpk --fleet f.ndjson -o out -f v.yaml",
];

/// Commands that read a configuration.
const CONFIGURATION: &[&str] =
    &["check {}", "hcl fmt {}", "hcl fmt < {}", "hcl decode -s s.hcldec {}", "hcl decode -s {} t.hcl"];

/// Commands that read a file of values.
const VALUES: &[&str] = &[
    "render t.tera -f {}",
    "stamp t.tera --fleet f.ndjson -o out -f {}",
    "stamp t.tera --fleet {} -o out",
    "eval 1 -f {}",
    "eval 1 --lang cel -f {}",
    "render t.tera -f - < {}",
];

/// Commands that read an intent or its inputs.
const INTENT: &[&str] = &["intent validate {}", "intent resolve {}", "intent resolve i.yaml --inputs {}"];

/// Commands that evaluate the expression in a file.
const EVAL_HCL: &[&str] = &["eval \"$(cat {})\"", "eval --typed \"$(cat {})\""];
const EVAL_CEL: &[&str] = &["eval --lang cel \"$(cat {})\"", "eval --lang cel --cost \"$(cat {})\""];

fn tera_sources() -> Vec<Bomb> {
    let n = 100_000;
    vec![
        ("parentheses", "x.tera", format!("{{{{ {} }}}}", "(".repeat(n)), "E0602"),
        ("brackets of paths", "x.tera", format!("{{{{ {}a }}}}", "a[".repeat(n)), "E0602"),
        ("tags", "x.tera", "{% if a %}".repeat(n), "E0602"),
        ("filter sections", "x.tera", "{% filter upper %}".repeat(n), "E0602"),
        ("a parent of itself", "x.tera", "{% extends 'x.tera' %}".into(), "E0503"),
        ("bytes that are no text", "x.tera", "\u{0}{{ \u{0} }}".into(), "E0102"),
        ("a hundred thousand errors", "x.tera", "{{ 1 + }}\n".repeat(n), "E0101"),
        ("a long source", "x.tera", "x".repeat(17 << 20), "E0601"),
    ]
}

fn other_sources() -> Vec<Bomb> {
    let n = 100_000;
    vec![
        ("parentheses", "x.tftpl", format!("${{{}", "(".repeat(n)), "E0602"),
        ("directives", "x.tftpl", "%{if true}".repeat(n), "E0602"),
        ("arguments", "x.tftpl", format!("${{max({}1)}}", "1,".repeat(n)), "E0608"),
        ("a long source", "x.tftpl", "x".repeat(17 << 20), "E0601"),
        ("parentheses", "x.cel", "(".repeat(n), "E0602"),
        ("lists", "x.cel", "[".repeat(n), "E0602"),
        ("a long expression", "x.cel", format!("{}1", "1+".repeat(60_000)), "E0601"),
        ("a long source", "x.cel", " ".repeat(17 << 20), "E0601"),
        ("lists", "x.cel.yaml", format!("a: {}", "[".repeat(n)), "E0602"),
        ("parentheses", "x.cel.yaml", format!("a: ${{{}}}", "(".repeat(n)), "E0602"),
        ("a long source", "x.cel.yaml", " ".repeat(17 << 20), "E0601"),
        ("a long source", "x.tower", " ".repeat(17 << 20), "E0601"),
    ]
}

fn tera_renders() -> Vec<Bomb> {
    let double = |first: &str, step: &str| format!("{first}{}{{{{ x }}}}", step.repeat(60));
    vec![
        (
            "a macro that calls itself",
            "x.tera",
            "{% macro m() %}{{ self::m() }}{% endmacro %}{{ self::m() }}".into(),
            "E0606",
        ),
        ("an include of itself", "x.tera", "{% include 'x.tera' %}".into(), "E0606"),
        ("a list of a billion", "x.tera", "{{ range(end=1000000000) }}".into(), "E0603"),
        ("a range without steps", "x.tera", "{{ range(end=9, step_by=0) }}".into(), "E0403"),
        ("text that doubles", "x.tera", double("{% set x = 'xxxxxxxx' %}", "{% set x = x ~ x %}"), "E0604"),
        (
            "lists that nest",
            "x.tera",
            double("{% set x = [1] %}", "{% set x = [x] %}{% set x = [x] %}{% set x = [x] %}"),
            "E0602",
        ),
        ("lists that double", "x.tera", double("{% set x = [1] %}", "{% set x = [x, x] %}"), "E060"),
        ("a list that doubles", "x.tera", double("{% set x = [1] %}", "{% set x = x | concat(with=x) %}"), "E060"),
        (
            "replacing by itself",
            "x.tera",
            double("{% set x = 'aaaa' %}", "{% set x = x | replace(from='a', to=x) %}"),
            "E0604",
        ),
        ("a pattern that explodes", "x.tera", "{{ name is matching('((a{100}){100}){100}') }}".into(), "E0609"),
    ]
}

/// Templates that take long to reach their limit.
fn long_renders() -> Vec<Bomb> {
    let loops = format!("{}a{}", "%{for a in range(1000)}".repeat(4), "%{endfor}".repeat(4));
    let nested = "[1,1,1,1,1,1,1,1,1,1].map(a, ".repeat(12) + "1" + &")".repeat(12);
    vec![
        ("loops in loops", "x.tftpl", loops, "E060"),
        ("loops in loops", "x.cel", nested.clone(), "E060"),
        ("loops in loops", "x.cel.yaml", format!("a: ${{{nested}}}"), "E060"),
        ("a loop of a trillion", "x.tera", "{% for i in range(end=1000000000000) %}{% endfor %}".into(), "E0603"),
        (
            "output without end",
            "x.tera",
            "{% for i in range(end=9000000) %}aaaaaaaaaaaaaaaaaaaaaaa{% endfor %}".into(),
            "E060",
        ),
        (
            "long output",
            "x.tera",
            format!("{{% for i in range(end=100) %}}{}{{% endfor %}}", "x".repeat(1 << 20)),
            "E0605",
        ),
    ]
}

fn other_renders() -> Vec<Bomb> {
    let doubled = (0..60).fold("\"ab\"".to_owned(), |text, _| format!("[for x in [{text}]: \"${{x}}${{x}}\"][0]"));
    let shared = (0..60).fold("[1]".to_owned(), |text, _| format!("[for x in [{text}]: [x, x]][0]"));
    vec![
        ("text that doubles", "x.tftpl", format!("${{{doubled}}}"), "E0604"),
        ("types that double", "x.tftpl", format!("${{true ? {shared} : []}}"), "E060"),
        ("a pattern that explodes", "x.tftpl", format!("${{regex(\"{}\", name)}}", "a?".repeat(5_000)), "E0609"),
    ]
}

fn configurations() -> Vec<Bomb> {
    let n = 100_000;
    vec![
        ("blocks", "x.hcl", "a {\n".repeat(n), "E0602"),
        ("lists", "x.hcl", format!("a = {}", "[".repeat(n)), "E0602"),
        ("a long source", "x.hcl", "\n".repeat(17 << 20), "E0601"),
    ]
}

fn values() -> Vec<Bomb> {
    let n = 100_000;
    let laughs: String = (1..40).map(|n| format!("a{n}: &a{n} [*a{0},*a{0},*a{0}]\n", n - 1)).collect();
    vec![
        ("deep JSON", "x.json", format!("{{\"a\": {}", "[".repeat(n)), "E0602"),
        ("deep YAML", "x.yaml", format!("a: {}", "[".repeat(n)), "E0602"),
        ("deep blocks", "x.yaml", (0..2_000).map(|n| format!("{}a:\n", " ".repeat(n))).collect(), "E0602"),
        ("aliases of aliases", "x.yaml", format!("a0: &a0 [x]\n{laughs}"), "E0604"),
        ("a control character", "x.yaml", "a: [\u{1}".into(), "E0801"),
    ]
}

fn hcl_values() -> Vec<Bomb> {
    let n = 100_000;
    vec![
        ("lists", "x.hcl", format!("a = {}", "[".repeat(n)), "E0602"),
        ("labels", "x.hcl", format!("b {} {{}}", "\"x\" ".repeat(n)), "E0602"),
    ]
}

fn expressions() -> Vec<Bomb> {
    let doubled = (0..60).fold("\"ab\"".to_owned(), |text, _| format!("[for x in [{text}]: \"${{x}}${{x}}\"][0]"));
    vec![
        ("parentheses", "x.hcl", "(".repeat(50_000), "E0602"),
        ("text that doubles", "x.hcl", doubled, "E0604"),
        ("a pattern that explodes", "x.hcl", format!("regex(\"{}\", \"a\")", "a?".repeat(5_000)), "E0609"),
    ]
}

fn cel_expressions() -> Vec<Bomb> {
    let nested = "[1,1,1,1,1,1,1,1,1,1].map(a, ".repeat(12) + "1" + &")".repeat(12);
    vec![("parentheses", "x.cel", "(".repeat(50_000), "E0602"), ("loops in loops", "x.cel", nested, "E060")]
}

/// Runs each bomb through each command under `DROPFORGE_CASES=all`, otherwise through every eighteenth one, so
/// that each command gets some.
#[track_caller]
fn holds(bombs: Vec<Bomb>, doors: &[&str]) {
    let step = if std::env::var("DROPFORGE_CASES").is_ok_and(|cases| cases == "all") { 1 } else { 18 };
    let mut wrong = Vec::new();
    for (at, (what, file, text, code)) in bombs.into_iter().enumerate() {
        let sandbox = Sandbox::with(&[
            (file, &text),
            ("t.tera", "{{ a }}"),
            ("v.yaml", "name: a\na: 1\n"),
            ("f.ndjson", "{\"name\":\"c\"}\n"),
            ("t.hcl", ""),
            ("s.hcldec", "object {}\n"),
            ("i.yaml", "spec:\n  controls:\n    lock: ${params.a}\n"),
        ]);
        let lang = match file {
            "x.tftpl" => "hcl",
            "x.cel.yaml" => "cel-yaml",
            other => other.split('.').next_back().unwrap(),
        };
        for door in doors.iter().cycle().skip(at).step_by(step).take(doors.len().div_ceil(step)) {
            let door = door.replace("{}", file).replace("{lang}", lang);
            let (exit, stderr) = bounded(&sandbox, &door);
            if !(1..=4).contains(&exit) || !stderr.contains(&format!("error[{code}")) {
                let lines: Vec<_> =
                    stderr.lines().take(5).map(|line| line.chars().take(160).collect::<String>()).collect();
                wrong.push(format!("{what}, `{door}`, wants {code}: exit {exit}, {}", lines.join("\n")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_command_that_compiles_tera() {
    holds(tera_sources(), COMPILE);
}

#[test]
fn every_command_that_compiles_another_language() {
    holds(other_sources(), COMPILE);
    holds(vec![("four million errors", "x.tftpl", format!("${{{}", "@".repeat(4_000_000)), "E0102")], &["check {}"]);
}

#[test]
fn every_command_that_renders_tera() {
    holds(tera_renders(), RENDER);
    holds(long_renders(), &["render {} -f v.yaml"]);
}

#[test]
fn every_command_that_renders_another_language() {
    holds(other_renders(), RENDER);
}

#[test]
fn every_command_that_reads_a_configuration() {
    holds(configurations(), CONFIGURATION);
    holds(vec![("four million errors", "x.hcl", "@".repeat(4_000_000), "E0102")], &["hcl fmt {}"]);
}

#[test]
fn every_command_that_reads_values() {
    holds(values(), VALUES);
    // Standard input is never HCL.
    holds(hcl_values(), VALUES.split_last().unwrap().1);
}

#[test]
fn every_command_that_reads_an_intent() {
    holds(values(), INTENT);
}

#[test]
fn every_command_that_evaluates() {
    holds(expressions(), EVAL_HCL);
    holds(cel_expressions(), EVAL_CEL);
}

/// Runs the binary under system limits. The exit code is minus the signal if there was one.
fn bounded(sandbox: &Sandbox, args: &str) -> (i32, String) {
    let script = format!("export DROPFORGE_CACHE=; ulimit -v 1048576; ulimit -t {SECONDS}; dropforge {args}");
    let outcome = outcome(sandbox.shell("-c", &script));
    (outcome.code, outcome.stderr)
}
