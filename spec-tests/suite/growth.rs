//! The cost of reading grows with the length of the input: no parser, checker, formatter, decoder, reader or diff takes
//! the square of it. The cost is the number of bytes allocated, in total and at once, because clocks differ.

use allocation_counter::measure;
use dropforge::bulk::values::{SetKind, parse_set};
use dropforge::bulk::{Fleet, FleetOptions, Format, Layout, MissingNames, input, unified_diff};
use dropforge::diagnostics::Code;
use dropforge::dialect::hcl::body::{Context, File};
use dropforge::dialect::hcl::builtins;
use dropforge::dialect::hcl::check::{VariableTypes, check_config, check_template};
use dropforge::dialect::hcl::decode::SpecFile;
use dropforge::dialect::hcl::format::format;
use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Release, UserValues};
use dropforge::dialect::tower::intent::Intent;
use dropforge::engine::{Dialect, Engine, OutputCheck};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, Data, DataMap, InputBuilder, Inputs, Shapes};
use dropforge::vm::{Session, Space};

/// The largest exponent of the growth from `n` to `2n` and to `4n`.
const EXPONENT: f64 = 1.2;

/// Returns the smallest `n`. Tables that double make small inputs uneven.
fn least() -> usize {
    if crate::is_thorough() { 2_000 } else { 1_000 }
}

/// A reader: its name, its work, and inputs by their number of parts.
type Case = (&'static str, fn(&str), Vec<(&'static str, fn(usize) -> String)>);

fn compile(dialect: Dialect, name: &str, text: &str) {
    let limits = Limits { source_bytes: 64 << 20, ..Limits::default() };
    drop(Engine::builder().limits(limits).build().compile(dialect, name, text));
}

fn numbered(n: usize, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect()
}

fn compilers() -> Vec<Case> {
    vec![
        (
            "tera",
            |text| compile(Dialect::Tera, "t", text),
            vec![
                ("expressions", |n| numbered(n, |i| format!("{{{{ a{i}.b | upper }}}}\n"))),
                ("one line", |n| numbered(n, |i| format!("{{{{ a{i} }}}}"))),
                ("errors", |n| "{{ 1 + }}\n".repeat(n)),
                ("errors in one line", |n| "{{ 1 + }}".repeat(n)),
                ("unknown filters", |n| numbered(n, |i| format!("{{{{ a | f{i} }}}}"))),
                ("macros", |n| {
                    let calls = numbered(n, |i| format!("{{{{ self::m{i}() }}}}"));
                    numbered(n, |i| format!("{{% macro m{i}() %}}x{{% endmacro %}}")) + &calls
                }),
                ("arguments of a macro", |n| {
                    let (params, args) = (numbered(n, |i| format!("a{i}=1,")), numbered(n, |i| format!("b{i}=1,")));
                    format!("{{% macro m({params}c=1) %}}x{{% endmacro %}}{{{{ self::m({args}c=1) }}}}")
                }),
                ("blocks", |n| numbered(n, |i| format!("{{% block b{i} %}}x{{% endblock %}}"))),
                ("elif", |n| format!("{{% if a %}}{}{{% endif %}}", "{% elif b %}x".repeat(n))),
                ("a chain", |n| format!("{{{{ a{} }}}}", " + a".repeat(n))),
                ("a list", |n| format!("{{% set x = [{}] %}}", "a, ".repeat(n) + "b")),
                ("short names", |n| "{{a}}".repeat(n)),
                ("short numbers", |n| format!("{{% set x = [{}1] %}}", "1,".repeat(n))),
                ("loops", |n| "{%for a in b%}{%endfor%}".repeat(n)),
                ("filters", |n| format!("{{{{ a{} }}}}", "|trim".repeat(n))),
            ],
        ),
        (
            "hcl",
            |text| compile(Dialect::Hcl, "t", text),
            vec![
                ("expressions", |n| numbered(n, |i| format!("${{a{i}.b}}\n"))),
                ("escapes", |n| "$${a} %%{b}\n".repeat(n)),
                ("one line", |n| "${a}$${".repeat(n)),
                ("errors", |n| "${1 + }\n".repeat(n)),
                ("a heredoc", |n| format!("${{[<<-EOT\n{}  EOT\n]}}", "    line ${a} $${b}\n".repeat(n))),
                ("a plain heredoc", |n| format!("${{[<<EOT\n{}EOT\n]}}", "line\n".repeat(n))),
                ("a string", |n| format!("${{\"{}\"}}", "$${a}\\n%%{b}".repeat(n))),
                ("a list", |n| format!("${{[{}]}}", "a, ".repeat(n))),
                ("an object", |n| format!("${{{{{}}}}}", numbered(n, |i| format!("k{i} = a, ")))),
                ("directives", |n| "%{ if a }x%{ else }y%{ endif }".repeat(n)),
                ("short names", |n| "${a}".repeat(n)),
                ("short numbers", |n| format!("${{[{}1]}}", "1,".repeat(n))),
                ("loops", |n| "%{for a in b}%{endfor}".repeat(n)),
                ("indexes", |n| format!("${{a{}}}", "[0]".repeat(n))),
            ],
        ),
        (
            "cel",
            |text| compile(Dialect::Cel, "t", text),
            vec![
                ("a list", |n| format!("[{}1]", "a.b, ".repeat(n))),
                ("a map", |n| format!("{{{}'z': 1}}", numbered(n, |i| format!("'k{i}': 1, ")))),
                ("a sum", |n| format!("1{}", " + 1".repeat(n))),
                ("short numbers", |n| format!("[{}1]", "1,".repeat(n))),
                ("macros", |n| format!("[{}1]", "a.map(x,x),".repeat(n))),
                ("indexes", |n| format!("a{}", "[0]".repeat(n))),
                ("errors", |n| format!("[{}1]", "1 + , ".repeat(n))),
            ],
        ),
        (
            "cel-yaml",
            |text| compile(Dialect::CelYaml, "t", text),
            vec![
                ("keys", |n| numbered(n, |i| format!("k{i}: ${{a.b{i}}}\n"))),
                ("items", |n| "- ${a.b}\n".repeat(n)),
                ("documents", |n| "---\na: ${b}\n".repeat(n)),
                ("errors", |n| numbered(n, |i| format!("k{i}: ${{1 +}}\n"))),
                ("repeated keys", |n| "a: 1\n".repeat(n)),
                ("short items", |n| format!("[{}a]", "a,".repeat(n))),
                ("short expressions", |n| format!("[{}a]", "\"${a}\",".repeat(n))),
            ],
        ),
        (
            "files of helm",
            // Each line is a file.
            |text| {
                let names: Vec<String> = (0..text.lines().count()).map(|n| format!("t{n}.gotmpl")).collect();
                let files = names.iter().zip(text.lines());
                let engine =
                    files.fold(Engine::builder(), |builder, (name, text)| builder.template(name, text)).build();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                assert!(engine.load_all(Dialect::Helm, &names).iter().all(Result::is_ok));
            },
            vec![
                ("values", |n| numbered(n, |i| format!("a: {{{{ .a{i}.b }}}}\n"))),
                ("templates", |n| {
                    numbered(n, |i| format!("{{{{ define \"d{i}\" }}}}x{{{{ end }}}}{{{{ template \"d{i}\" }}}}\n"))
                }),
            ],
        ),
        (
            "helm",
            |text| compile(Dialect::Helm, "t", text),
            vec![
                ("expressions", |n| numbered(n, |i| format!("{{{{ .a{i}.b | upper }}}}\n"))),
                ("errors", |n| "{{ 1 + }}\n".repeat(n)),
                ("defined templates", |n| numbered(n, |i| format!("{{{{ define \"d{i}\" }}}}x{{{{ end }}}}\n"))),
                ("called templates", |n| {
                    let calls = numbered(n, |i| format!("{{{{ template \"d{i}\" . }}}}\n"));
                    numbered(n, |i| format!("{{{{ define \"d{i}\" }}}}x{{{{ end }}}}\n")) + &calls
                }),
                ("variables", |n| numbered(n, |i| format!("{{{{ $v{i} := .a }}}}{{{{ $v{i} }}}}\n"))),
                ("numbers", |n| numbered(n, |i| format!("{{{{ {i}.5 }}}}\n"))),
                ("else if", |n| format!("{{{{ if .a }}}}{}{{{{ end }}}}", "{{ else if .b }}x".repeat(n))),
                ("loops", |n| "{{ range .a }}{{ . }}{{ end }}".repeat(n)),
            ],
        ),
        (
            "tower",
            |text| compile(Dialect::Tower, "t", text),
            vec![
                ("expressions", |n| numbered(n, |i| format!("${{params.a{i}}}"))),
                ("errors", |n| "${params.}".repeat(n)),
                ("short names", |n| "${params.a}".repeat(n)),
            ],
        ),
    ]
}

fn hcl_tools() -> Vec<Case> {
    vec![
        (
            "hcl check",
            |text| {
                let engine = Engine::new();
                let (source, registry) = (Source::new("t.hcl", text), engine.registry(Dialect::Hcl));
                drop(check_config(&source, registry, None, engine.limits()));
                drop(check_template(&source, registry, None, engine.limits()));
            },
            vec![
                ("attributes", |n| numbered(n, |i| format!("a{i} = b.c{i}\n"))),
                ("blocks", |n| numbered(n, |i| format!("b \"l{i}\" {{\n  a = 1\n}}\n"))),
                ("errors", |n| "a = = 1\n".repeat(n)),
                ("repeated names", |n| "a = 1\n".repeat(n)),
            ],
        ),
        (
            "hcl check --var-types",
            |text| {
                let limits = Limits::default();
                drop(VariableTypes::read(&Source::new("v.tf", text), &limits));
            },
            vec![
                ("names", |n| numbered(n, |i| format!("a{i} = string\n"))),
                ("variables", |n| numbered(n, |i| format!("variable \"a{i}\" {{\n  type = list(string)\n}}\n"))),
                ("errors", |n| numbered(n, |i| format!("a{i} = strin\n"))),
            ],
        ),
        (
            "hcl fmt",
            |text| drop(format(text)),
            vec![
                ("attributes", |n| numbered(n, |i| format!("a{i}=1 # c\n"))),
                ("blocks", |n| "b {\na=1\n}\n".repeat(n)),
                ("one line", |n| format!("a=[{}]", "1,".repeat(n))),
                ("a heredoc", |n| format!("a=<<-EOT\n{}EOT\n", "  line\n".repeat(n))),
            ],
        ),
        (
            "hcl decode",
            |text| {
                let (limits, space, mut errors) = (Limits::default(), Space::new(), Vec::new());
                let file = SpecFile::parse(&Source::new("spec.hcldec", text), &limits);
                let body = File::native(&Source::new("t.hcl", ""), &builtins::bare(), &limits);
                let context = Context::new(&space, &limits);
                let Some(spec) = SpecFile::read(&file, &context, &mut errors) else { return };
                spec.spec.decode(&body.body(), &context, &mut errors);
            },
            vec![("attributes", |n| {
                let attrs = numbered(n, |i| format!("attr \"a{i}\" {{\n  type = string\n}}\n"));
                format!("object {{\n{attrs}}}\n")
            })],
        ),
    ]
}

fn readers() -> Vec<Case> {
    vec![
        (
            "yaml",
            |text| drop(input::documents(&Source::new("v.yaml", text), Format::Yaml)),
            vec![
                ("keys", |n| numbered(n, |i| format!("k{i}: v\n"))),
                ("documents", |n| "---\na: 1\n".repeat(n)),
                ("a long line", |n| format!("[{}1]", "1, ".repeat(n))),
                ("repeated keys", |n| "a: 1\n".repeat(n)),
            ],
        ),
        (
            "json",
            |text| drop(input::documents(&Source::new("v.json", text), Format::Json)),
            vec![("keys", |n| format!("{{{}\"z\": 1}}", numbered(n, |i| format!("\"k{i}\": 1, "))))],
        ),
        (
            "hcl data",
            |text| drop(input::documents(&Source::new("v.hcl", text), Format::Hcl)),
            vec![
                ("attributes", |n| numbered(n, |i| format!("a{i} = \"b\"\n"))),
                ("errors", |n| numbered(n, |i| format!("a{i} = b\n"))),
            ],
        ),
        (
            "fleets",
            |text| drop(Fleet::read(&Source::new("f", text), Format::of("f", text), &FleetOptions::default())),
            vec![
                ("lines", |n| numbered(n, |i| format!("{{\"name\":\"c{i}\"}}\n"))),
                ("the same name", |n| "{\"name\":\"c\"}\n".repeat(n)),
            ],
        ),
        (
            "csv",
            |text| drop(input::documents(&Source::new("v.csv", text), Format::Csv)),
            vec![
                ("rows", |n| "name,a.b\n".to_owned() + &numbered(n, |i| format!("c{i},1\n"))),
                ("columns", |n| numbered(n, |i| format!("c{i},")) + "z\n"),
                ("nested columns", |n| numbered(n, |i| format!("a.b.c{i}[0],")) + "z\n"),
                ("bad rows", |n| "a,b\n".to_owned() + &"1\n".repeat(n)),
            ],
        ),
        (
            "toml",
            |text| drop(input::documents(&Source::new("v.toml", text), Format::Toml)),
            vec![
                ("keys", |n| numbered(n, |i| format!("a.k{i} = 1\n"))),
                ("tables", |n| numbered(n, |i| format!("[t{i}]\na = \"b\"\n"))),
                ("lists of tables", |n| "[[cluster]]\nname = 1\n".repeat(n)),
                ("repeated keys", |n| "a = 1\n".repeat(n)),
            ],
        ),
        (
            "environment files",
            |text| drop(input::documents(&Source::new(".env", text), Format::Env)),
            vec![
                ("keys", |n| numbered(n, |i| format!("K{i}=v # c\n"))),
                ("errors", |n| "?\n".repeat(n)),
                ("open quotes", |n| "A=\"x\n".repeat(n)),
            ],
        ),
        (
            "checks of outputs",
            |text| {
                drop(
                    OutputCheck::default()
                        .errors_of_file(if text.starts_with('{') { "x.json" } else { "x.yaml" }, text),
                )
            },
            vec![
                ("keys", |n| numbered(n, |i| format!("k{i}: v\n"))),
                ("a flow map", |n| format!("a: {{{}}}\n", numbered(n, |i| format!("k{i}: v, ")))),
                ("JSON", |n| format!("{{{}\"z\": 1}}", numbered(n, |i| format!("\"k{i}\": 1, ")))),
                ("aliases", |n| format!("a: &a x\nb:\n{}", "- *a\n".repeat(n))),
                ("repeated keys", |n| "a: 1\n".repeat(n)),
                ("repeated keys of JSON", |n| format!("{{{}\"a\": 1}}", "\"a\": 1, ".repeat(n))),
            ],
        ),
        (
            "--set",
            |text| drop(parse_set(SetKind::Typed, text, &mut |_| unreachable!())),
            vec![
                ("assignments", |n| numbered(n, |i| format!("a{i}=1,"))),
                ("a list", |n| format!("a={{{}}}", "1,".repeat(n))),
            ],
        ),
        (
            "intent",
            |text| drop(Intent::parse(&Source::new("i.yaml", text))),
            vec![("outputs", |n| {
                let outputs = numbered(n, |i| format!("    o{i}: ${{params.a}}\n"));
                format!("apiVersion: tower/v1\nkind: Intent\nmetadata:\n  name: a\nspec:\n  outputs:\n{outputs}")
            })],
        ),
        (
            "layouts",
            |text| drop(Layout::parse(text)),
            vec![("fields", |n| "{a.b}-".repeat(n) + "{cluster}/{template}")],
        ),
        (
            "diff",
            |text| drop(unified_diff("a", "b", text, &text.replace("x1", "y"))),
            vec![("lines", |n| numbered(n, |i| format!("x{i}\n"))), ("equal lines", |n| "x1\n".repeat(n))],
        ),
    ]
}

/// Renders a template and returns what happened in the render.
fn trace(text: &str) -> usize {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).json(r#"{"a": -1}"#).expect("inputs"));
    let template = Engine::new().compile(Dialect::Tera, "t", text).expect("a template");
    template.record(&mut Session::new(), inputs).0.trace(false, usize::MAX).0.len()
}

/// Finds the names that a template looks up in a map of as many other names.
fn missing_names(text: &str) -> usize {
    let template = Engine::new().compile(Dialect::Tera, "t", text).expect("a template");
    let known: DataMap = (0..text.lines().count()).map(|at| (format!("known{at}"), Data::Int(1))).collect();
    let mut found = MissingNames::of([&template]);
    found.look_at(0, &[("m".to_owned(), Data::Map(known))].into_iter().collect());
    found.into_failures(None).len()
}

/// Plans the release of a chart with these dependencies, each an alias of one chart.
fn plan(dependencies: &str) -> usize {
    let chart = format!("apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies:\n{dependencies}");
    let files = [
        ("Chart.yaml", chart.as_str()),
        ("values.yaml", "global: {a: 1}\n"),
        ("charts/s/Chart.yaml", "apiVersion: v2\nname: s\nversion: 1.0.0\n"),
        ("charts/s/values.yaml", "a: 1\nb: {c: null}\n"),
        ("charts/s/templates/a.yaml", "a: {{ .Values.a }}\n"),
    ];
    let chart = Engine::new().chart(&ChartSource::from_files(files).expect("files")).expect("a chart");
    let plan = chart.plan(&Session::new(), &UserValues::default(), &Release::default(), &Capabilities::default());
    let plan = plan.expect("a plan");
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    plan.inputs(&InputBuilder::new(&arena, &shapes), true).expect("inputs");
    plan.charts().len()
}

fn runs() -> Vec<Case> {
    vec![
        (
            "trace",
            |text| assert_eq!(trace(text), text.matches("if a").count()),
            vec![("elif", |n| {
                let branches = numbered(n, |i| format!("{{% elif a == {i} %}}x"));
                format!("{{% if a == -2 %}}{branches}{{% endif %}}")
            })],
        ),
        (
            "missing names",
            |text| assert!(missing_names(text) <= 100),
            vec![("paths", |n| numbered(n, |i| format!("{{{{ m.absent{i} }}}}\n")))],
        ),
        (
            "charts",
            |text| assert_eq!(plan(text), text.lines().count().max(1) + 1),
            vec![("aliases", |n| numbered(n, |i| format!("- {{name: s, version: 1.0.0, alias: a{i}}}\n")))],
        ),
    ]
}

/// Returns the exponent of the growth between two costs of inputs whose lengths are also known.
fn exponent((shorter, less): (usize, u64), (longer, more): (usize, u64)) -> f64 {
    (more.max(1) as f64 / less.max(1) as f64).ln() / (longer as f64 / shorter as f64).ln()
}

#[test]
fn costs_grow_with_the_length_of_the_input() {
    let mut wrong = Vec::new();
    for (reader, run, inputs) in compilers().into_iter().chain(hcl_tools()).chain(readers()).chain(runs()) {
        run("");
        for (what, input) in inputs {
            let costs = [1, 2, 4].map(|times| times * least()).map(|n| {
                let text = input(n);
                let cost = measure(|| run(&text));
                [(text.len(), cost.bytes_total), (text.len(), cost.bytes_max)]
            });
            for (unit, name) in ["in total", "at once"].into_iter().enumerate() {
                let found = exponent(costs[1][unit], costs[2][unit]);
                // Tables that double their size step between inputs: a step in one pair is not growth in both.
                let both = found.min(exponent(costs[0][unit], costs[1][unit]));
                if found > EXPONENT && both > EXPONENT {
                    wrong.push(format!("{reader}, {what}: bytes {name} grow with exponent {found:.2}: {costs:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The largest number of bytes that a compiler requests at once for each byte of a source, by language: for its copy, its
/// tokens, its tree, its program and its errors. `docs/cli.md` states the largest.
const FACTORS: &[(&str, u64)] = &[
    ("tera", 400),
    ("hcl", 500),
    ("cel", 150),
    ("cel-yaml", 250),
    ("helm", 400),
    ("files of helm", 200),
    ("tower", 50),
];

#[test]
fn compiling_takes_memory_in_proportion_to_the_source() {
    let mut wrong = Vec::new();
    for (language, run, inputs) in compilers() {
        let most = FACTORS.iter().find(|(name, _)| *name == language).expect(language).1;
        for (what, input) in inputs {
            // The difference leaves out what takes the same memory for every source.
            let [less, more] = [2_000, 16_000].map(|n| {
                let text = input(n);
                (text.len() as u64, measure(|| run(&text)).bytes_max)
            });
            let factor = more.1.saturating_sub(less.1) / (more.0 - less.0);
            if factor > most {
                wrong.push(format!("{language}, {what}: {factor} bytes for each byte of the source"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the size of an artifact of `n` templates.
fn artifact(n: usize, text: impl Fn(usize) -> String) -> usize {
    let engine = (0..n).fold(Engine::builder(), |engine, at| engine.template(format!("t{at}"), text(at))).build();
    let names = (0..n).map(|at| (Dialect::Tera, format!("t{at}")));
    engine.bundle(names).and_then(|bundle| Ok(bundle.encode()?)).expect("an artifact").len()
}

#[test]
fn artifacts_grow_with_their_templates_and_what_these_include() {
    let part = "{{ a }} of {{ b }}\n".repeat(20);
    let shared = |at: usize| if at == 0 { part.clone() } else { format!("{{{{ c{at} }}}}{{% include 't0' %}}") };
    let apart = |at: usize| format!("{{{{ c{at} }}}}{part}");
    for text in [&shared as &dyn Fn(usize) -> String, &apart] {
        let [one, two, four] = [50, 100, 200].map(|n| artifact(n, text));
        assert!(two <= 2 * one && four <= 4 * one, "{one}, {two}, {four} bytes");
    }
}

#[test]
fn chains_of_includes_are_bounded_in_all() {
    let chain = |most: usize| {
        let limits = Limits { program_bytes: most, ..Limits::default() };
        let text = |at: usize| format!("{{{{ c{at} }}}}{{% include 't{}' ignore missing %}}", at + 1);
        let engine = Engine::builder().limits(limits);
        let engine = (0..40).fold(engine, |engine, at| engine.template(format!("t{at}"), text(at))).build();
        let bundle = engine.bundle((0..40).map(|at| (Dialect::Tera, format!("t{at}"))));
        bundle.and_then(|bundle| Ok(bundle.encode()?.len())).map_err(|errors| errors.into_vec())
    };
    let size = chain(1 << 20).expect("an artifact");
    let errors = chain(size / 2).expect_err("too large");
    let [error] = errors.as_slice() else { panic!("{errors:?}") };
    assert_eq!(error.code, Code::LimitCode);
    assert!(error.help.as_deref().is_some_and(|help| help.contains("only the templates to render")), "{error}");
}
