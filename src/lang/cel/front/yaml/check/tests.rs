//! Templates whose types do not fit, and those that are right.

use std::sync::Arc;

use super::check;
use crate::registry;
use crate::yaml::{Options, read};
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::compiler::Loader;

struct Files<'f>(&'f [(&'f str, &'f str)]);

impl Loader for Files<'_> {
    fn load(&self, name: &str) -> dropforge_base::diagnostics::Result<Option<Arc<Source>>> {
        Ok(self.0.iter().find(|(known, _)| *known == name).map(|(name, text)| Source::new(*name, *text)))
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| (*name).to_owned()).collect()
    }
}

fn errors(text: &str, files: &[(&str, &str)]) -> Vec<Box<Diagnostic>> {
    let limits = Limits::default();
    let templates = read(&Source::new("t.yaml", text), &Files(files), &limits, &Options::default());
    let templates = templates.unwrap_or_else(|errors| panic!("{text}: {}", told(&errors)));
    check(&templates, &registry(), &limits)
}

/// Each with its file, place, path and help.
fn told(errors: &[Box<Diagnostic>]) -> String {
    let one = |error: &Diagnostic| {
        let place = error.primary().map_or("?".to_owned(), |at| format!("{}:{}", at.source.name(), at.position()));
        let path = error.fields.get("path").map_or("", String::as_str);
        let help = error.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{place} {path} {}{help}", error.message)
    };
    errors.iter().map(|error| one(error)).collect::<Vec<_>>().join(" | ")
}

/// Each of `rows` must give what stands beside it; all that do not are told at once.
fn each(rows: &[(&str, &str)]) {
    let wrong = |(text, wanted): &(&str, &str)| {
        let found = told(&errors(text, &[("x.yaml", "")]));
        (found != *wanted).then(|| format!("{text}\n  wanted {wanted}\n  found  {found}\n"))
    };
    let wrong: Vec<_> = rows.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_right_is_right() {
    each(&[
        ("a: ${x.y[0] + 1}\nb: ${int}-${x}\n", ""),
        ("$schema: {port: integer}\na: ${port + 1}\nb: p-${port}\n", ""),
        (
            "$schema: {xs: {type: array, items: {type: object, properties: {name: string}}}}\na:\n- $for: i, x in xs\n  $do: ${x.name + string(i + 1)}\n",
            "",
        ),
        ("$schema: {n: number}\na: ${n + 1}\nb: ${n + 1.5}\n", ""),
        ("$let: {a: 1, b: a + 1, c: '${b}', d: 'x-${b}'}\nx: ${c + 1}\ny: ${d + 'z'}\n", ""),
        (
            "$let: {tags: {owner: platform, team: sre}}\nlabels:\n  $for: k, v in tags\n  $do: {'${k}': '${v + k}'}\n",
            "",
        ),
        ("$let: {tags: {owner: platform, ports: [1]}}\na: ${tags.other}\n", ""),
        ("$schema: {on: {type: [boolean, 'null']}}\n$if: on\na: 1\n", ""),
        ("$if: x\n$then: {a: 1}\n$for: y in ys\n$do: ${y}\n", ""),
        ("$schema: {port: {type: integer}}\n$let: {port: \"'str'\"}\na: ${port + 'x'}\n", ""),
        ("$let: {o: '${optional.of(1)}', p: optional.of(1)}\na: ${o}\nb: ${p.value() + 1}\nc: '${p}'\n", ""),
        ("$let: {h: acme.com, d: 1.2-3-foo}\na: ${h}-${d}\n", ""),
        ("a: ${math.greatest(1, 2) + 1}\nb: ${type(1) == int}\nc: ${google}\n", ""),
        ("a:\n  $for: \"k, v in {'a': 1}\"\n  $do: {'${k}': '${v + 1}'}\n", ""),
        ("a: {'${1}': a, '${true}': b, '${\"x\"}': c}\n", ""),
        ("- $for: i in range(3)\n  $do: ${i + 1}\n", ""),
        ("$schema: {a: {type: object, properties: {b: integer}, additionalProperties: true}}\nx: ${a.c}\n", ""),
    ]);
}

#[test]
fn expressions_are_of_the_types_that_are_declared() {
    each(&[
        (
            "$schema: {port: integer}\na: ${port + 'x'}\n",
            "t.yaml:2:11 a found no matching overload for '_+_' applied to '(int, string)' in `port + 'x'`",
        ),
        (
            "$schema: {s: {type: object, properties: {name: string}}}\na: '${s.nam}'\n",
            "t.yaml:2:8 a undefined field 'nam' in `s.nam` (did you mean `name`?)",
        ),
        (
            "$schema: {port: {type: integer}, x: {type: boolean}}\na:\n  $if: 'x'\n  $then: \"${port.foo}\"\n  $else: 1\n",
            "t.yaml:4:17 a.$then type 'int' does not support field selection in `port.foo`",
        ),
        (
            "$let: {a: \"'x'\"}\nb: [1, '${a + 1}']\n",
            "t.yaml:2:13 b[1] found no matching overload for '_+_' applied to '(string, int)' in `a + 1`",
        ),
        (
            "$let: {a: 'x-${y}'}\nb: ${a + 1}\n",
            "t.yaml:2:8 b found no matching overload for '_+_' applied to '(string, int)' in `a + 1`",
        ),
        (
            "a: ${nosuch(1)}\nb: ${sizee('x')}\n",
            "t.yaml:1:12 a undeclared reference to 'nosuch' in `nosuch(1)` | t.yaml:2:11 b undeclared reference to 'sizee' in `sizee('x')` (did you mean `size`?)",
        ),
        (
            "a: ${'x'.matches('(')}\n",
            "t.yaml:1:18 a invalid matches argument: `(` is not a regular expression in `'x'.matches('(')`",
        ),
        (
            "$schema: {xs: {type: array, items: integer}}\na:\n- $for: x in xs\n  $do: ${x + 'a'}\n",
            "t.yaml:4:12 a[0].$do found no matching overload for '_+_' applied to '(int, string)' in `x + 'a'`",
        ),
        (
            "$schema: {xs: {type: array, items: integer}}\na:\n- $for: i, x in xs\n  $do: ${i + 'a'}\n",
            "t.yaml:4:12 a[0].$do found no matching overload for '_+_' applied to '(int, string)' in `i + 'a'`",
        ),
        (
            "$schema: {m: {type: object, additionalProperties: integer}}\na:\n  $for: k, v in m\n  $do: {'${k}': '${v + k}'}\n",
            "t.yaml:4:22 a.$do[\"${k}\"] found no matching overload for '_+_' applied to '(int, string)' in `v + k`",
        ),
        (
            "server:\n  $schema: {env: string}\n  a: ${env + 1}\nb: ${env + 1}\n",
            "t.yaml:3:12 server.a found no matching overload for '_+_' applied to '(string, int)' in `env + 1`",
        ),
        (
            "$schema: {port: {type: integer, default: 80}}\na: ${port + 'x'}\n",
            "t.yaml:2:11 a found no matching overload for '_+_' applied to '(int, string)' in `port + 'x'`",
        ),
    ]);
}

#[test]
fn a_folded_expression_has_its_place() {
    let text = "$schema: {port: integer}\na: >-\n  ${port\n  + 'x'}\nb: \"\\u0024{'é' + \\\"x\\\" + 2}\"\n";
    assert_eq!(
        told(&errors(text, &[])),
        "t.yaml:4:3 a found no matching overload for '_+_' applied to '(int, string)' in `port + 'x'` | t.yaml:5:24 b found no matching overload for '_+_' applied to '(string, int)' in `'é' + \"x\" + 2`"
    );
}

#[test]
fn places_ask_for_types() {
    each(&[
        (
            "$if: \"'x'\"\na: 1\n",
            "t.yaml:1:7  `$if` asks whether something is true, and this is of type 'string' (nothing is true but `true`: compare it, as in `x != ''`)",
        ),
        (
            "$assert: ['size(x)', x]\na: 1\n",
            "t.yaml:1:12  `$assert` asks whether something is true, and this is of type 'int' (nothing is true but `true`: compare it, as in `x != 0`)",
        ),
        (
            "a:\n- $for: x in \"abc\"\n  $do: ${x}\n",
            "t.yaml:2:14 a[0] `$for` goes over a list or a map, and this is of type 'string' (to go over the parts of a text, split it: `x.split(',')`)",
        ),
        (
            "a:\n- $for: x in 3\n  $do: ${x}\n",
            "t.yaml:2:14 a[0] `$for` goes over a list or a map, and this is of type 'int' (to count, write `range(n)`)",
        ),
        (
            "a:\n- $for: x in y.?z\n  $do: ${x}\n",
            "t.yaml:2:14 a[0] `$for` goes over a list or a map, and this is of type 'optional_type(dyn)' (where there may be none: `x.orValue([])` of an optional, `x == null ? [] : x` of null)",
        ),
        (
            "a:\n- $for: x in null\n  $do: ${x}\n",
            "t.yaml:2:14 a[0] `$for` goes over a list or a map, and this is of type 'null' (where there may be none: `x.orValue([])` of an optional, `x == null ? [] : x` of null)",
        ),
        (
            "a:\n- $for: \"x in {'a': 1}\"\n  $do: ${x}\n",
            "t.yaml:2:15 a[0] a map has keys and values, `$for: key, value in map`; this is of type 'map(string, int)'",
        ),
        (
            "$let: {m: {a: 1}}\na:\n- $for: x in m\n  $do: ${x}\n",
            "t.yaml:3:14 a[0] a map has keys and values, `$for: key, value in map`; this is of type 'map(string, int)'",
        ),
        (
            "a: x-${[1]}\nb: x-${null}\nc: \"x-${{'a': 1}}\"\nd: x-${y.?z}\ne: x-${int}-${type(1)}\n",
            "t.yaml:1:8 a text cannot contain a value of type 'list(int)' (make text of it, as in `x.join(',')`, or let it stand alone) | t.yaml:2:8 b text cannot contain a value of type 'null' (let it stand alone) | t.yaml:3:9 c text cannot contain a value of type 'map(string, int)' (make text of it, as in `json.marshal(x)`, or let it stand alone) | t.yaml:4:8 d text cannot contain a value of type 'optional_type(dyn)' (say what stands there without a value, as in `x.orValue('')`) | t.yaml:5:15 e text cannot contain a value of type 'type(int)' (let it stand alone)",
        ),
        (
            "a: {'${[1]}': 1, '${1.5}': 2}\n",
            "t.yaml:1:8 a[\"${[1]}\"] a key is a string, an integer or a boolean, and this is of type 'list(int)' | t.yaml:1:21 a[\"${1.5}\"] a key is a string, an integer or a boolean, and this is of type 'double'",
        ),
        (
            "a:\n  $for: x in [1]\n  $do: ${x}\n",
            "t.yaml:3:10 a.$do `$do` has to be a map here, because its keys are merged, and this is of type 'int'",
        ),
        (
            "a:\n  b: 1\n  $if: x\n  $then: ${[1]}\n  $else: ${y}\n",
            "t.yaml:4:12 a.$then `$then` has to be a map here, because its keys are merged, and this is of type 'list(int)'",
        ),
        (
            "a:\n  $include: '${1 + 1}'\n",
            "t.yaml:2:16 a.$include the path of a file is a string, and this is of type 'int'",
        ),
    ]);
}

const SVC: &str = "$schema:\n  name: {type: string, required: true, pattern: '^[a-z]+$'}\n  port: {type: integer, maximum: 65535}\n  tags: {type: object, properties: {team: string}, additionalProperties: false}\n  level: {enum: [debug, info], default: info}\na: ${name}:${port}\n";

fn including(with: &str) -> String {
    let text = format!("$let: {{s: \"'x'\", n: '1'}}\nr:\n  $include: svc.yaml\n  $with: {with}\n");
    told(&errors(&text, &[("svc.yaml", SVC)]))
}

#[test]
fn what_is_given_fits_what_is_asked_for() {
    for (with, wanted) in [
        ("{name: web, port: 80, tags: {team: x}, level: debug}", ""),
        ("{name: '${s}', port: '${n}', tags: {team: '${s}'}}", ""),
        ("{name: 'a-${n}', port: '${other}', tags: '${other}'}", ""),
        ("{name: web, port: 80.0}", ""),
        (
            "{port: 80}",
            "t.yaml:3:13 r.$include `name` does not fit the `$schema` of `svc.yaml`: expected a value (required)",
        ),
        (
            "{name: Web, port: 70000}",
            "t.yaml:4:17 r.$with.name `name` does not fit the `$schema` of `svc.yaml`: expected a match of `^[a-z]+$`, found the string \"Web\" (pattern) | t.yaml:4:28 r.$with.port `port` does not fit the `$schema` of `svc.yaml`: expected at most 65535, found the integer 70000 (maximum)",
        ),
        (
            "{name: '${n}', port: '${s}'}",
            "t.yaml:4:20 r.$with.name `name` does not fit the `$schema` of `svc.yaml`: expected a string, found a value of type 'int' (type) | t.yaml:4:34 r.$with.port `port` does not fit the `$schema` of `svc.yaml`: expected an integer, found a value of type 'string' (type)",
        ),
        (
            "{name: web, port: 'p-${n}'}",
            "t.yaml:4:28 r.$with.port `port` does not fit the `$schema` of `svc.yaml`: expected an integer, found text (type)",
        ),
        (
            "{name: web, tags: {team: 1, taem: x}}",
            "t.yaml:4:35 r.$with.tags `tags.team` does not fit the `$schema` of `svc.yaml`: expected a string, found the integer 1 (type) | t.yaml:4:44 r.$with.tags `tags.taem` does not fit the `$schema` of `svc.yaml`: unexpected property (additionalProperties) (did you mean `team`?)",
        ),
        (
            "{name: web, tags: {team: '${n}', taem: x}}",
            "t.yaml:4:38 r.$with.tags `tags.team` does not fit the `$schema` of `svc.yaml`: expected a string, found a value of type 'int' (type) | t.yaml:4:49 r.$with.tags `tags.taem` does not fit the `$schema` of `svc.yaml`: unexpected property (additionalProperties) (did you mean `team`?)",
        ),
        (
            "{name: web, level: inof}",
            "t.yaml:4:29 r.$with.level `level` does not fit the `$schema` of `svc.yaml`: expected one of \"debug\", \"info\", found the string \"inof\" (enum) (did you mean `info`?)",
        ),
        (
            "{name: web, tags: [1, '${s}']}",
            "t.yaml:4:28 r.$with.tags `tags` does not fit the `$schema` of `svc.yaml`: expected an object, found a list (type)",
        ),
    ] {
        assert_eq!(including(with), wanted, "{with}");
    }
}

#[test]
fn included_files_see_what_they_are_given() {
    let files = [
        ("scope.yaml", "o: ${outer}\n"),
        (
            "two.yaml",
            "$let: {own: '1'}\na: ${own + x}\nb: ${later}\nc:\n  $let: {f: later, later: '2', t: some.text}\n  d: ${f}-${t + 1}\n",
        ),
        ("chain.yaml", "r:\n  $include: scope.yaml\n  $with: {outr: '${v}'}\n"),
        ("typed.yaml", "a: ${v + 1}\n"),
    ];
    for (text, wanted) in [
        (
            "$let: {outer: '1'}\nr: {$include: scope.yaml}\n",
            "scope.yaml:1:6 o undeclared reference to 'outer' (an included file sees only what `$with` gives it: `outer: ${outer}`)",
        ),
        ("r: {$include: scope.yaml, $with: {outer: 1}}\n", ""),
        (
            "$include: chain.yaml\n$with: {v: 1}\n",
            "scope.yaml:1:6 o undeclared reference to 'outer' (did you mean `outr`?)",
        ),
        (
            "$include: two.yaml\n$with: {x: a}\n",
            "two.yaml:2:10 a found no matching overload for '_+_' applied to '(int, string)' in `own + x` | two.yaml:3:6 b undeclared reference to 'later' (an included file sees only what `$with` gives it: `later: ${later}`) | two.yaml:5:13 c.$let.f undeclared reference to 'later' (a variable is seen by what comes after it) | two.yaml:6:15 c.d found no matching overload for '_+_' applied to '(string, int)' in `t + 1`",
        ),
        (
            "- {$include: typed.yaml, $with: {v: 1}}\n- {$include: typed.yaml, $with: {v: x}}\n- {$include: typed.yaml, $with: {v: '${x}'}}\n",
            "typed.yaml:1:8 a found no matching overload for '_+_' applied to '(string, int)' in `v + 1`",
        ),
    ] {
        assert_eq!(told(&errors(text, &files)), wanted, "{text}");
    }
    let chain = &errors("$include: chain.yaml\n$with: {v: 1}\n", &files)[0].labels;
    let chain: Vec<_> = chain.iter().map(|at| format!("{}:{} {}", at.source.name(), at.position(), at.text)).collect();
    assert_eq!(chain, ["scope.yaml:1:6 in `o`", "chain.yaml:2:13 included here", "t.yaml:1:11 included here"]);
}

#[test]
fn variables_fit_schemas_of_maps_within() {
    each(&[
        ("$let: {port: '80'}\na:\n  $schema: {port: integer}\n  b: ${port + 1}\n", ""),
        (
            "$let: {port: \"'80'\", xs: [a, 1]}\na:\n  $schema: {port: integer, xs: {type: array, items: string}}\n  b: ${port}\n",
            "t.yaml:1:8  `port` does not fit a `$schema`: expected an integer, found a value of type 'string' (type) | t.yaml:1:30 $let.xs `xs[1]` does not fit a `$schema`: expected a string, found the integer 1 (type)",
        ),
        (
            "$schema: {p: {type: integer}, x: string}\nxs:\n- $for: x in [1, 2]\n  $do:\n    $schema: {x: string}\n    a: ${x}\n",
            "t.yaml:3:9 xs[0] `x` does not fit a `$schema`: expected a string, found a value of type 'int' (type)",
        ),
    ]);
}

#[test]
fn files_that_may_be_included_are_checked_whatever_they_are_given() {
    let files = [
        ("svc/a.yaml", "$schema: {port: integer}\na: ${port + 'x'}\nb: ${other + 1}\n"),
        ("svc/b.yaml", "a: ${anything.at.all}\n"),
        ("unmeant.yaml", "a: ${1 + 'x'}\n"),
    ];
    let errors = errors("a:\n  $include: svc/${kind}.yaml\n  $with: {port: x}\n", &files);
    assert_eq!(
        told(&errors),
        "svc/a.yaml:2:11 a found no matching overload for '_+_' applied to '(int, string)' in `port + 'x'`"
    );
}

/// Each include doubles the types of what it gives on: there are as many ways to a file as there are types.
#[test]
fn many_ways_to_a_file_are_not_all_gone() {
    let names: Vec<String> = (0..20).map(|at| format!("f{at}.yaml")).collect();
    let text = |next: &str| {
        let one = |with: &str| format!("- {{$include: {next}, $with: {{x: '${{{with}}}'}}}}\n");
        one("x") + &one("[x]") + "- ${x + 'a'}\n"
    };
    let texts: Vec<String> = names.iter().skip(1).map(|name| text(name)).chain(["- ${x}\n".to_owned()]).collect();
    let files: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    let errors = errors("$let: {x: '1'}\na: {$include: f0.yaml, $with: {x: '${x}'}}\n", &files);
    // One for each way, as far as errors are told at all.
    assert_eq!(errors.len(), Limits::default().diagnostics);
}

#[test]
fn types_that_grow_without_end_are_refused() {
    let double = |n: usize| format!("  v{}: '[v{n}, v{n}, {{\"a\": v{n}}}]'\n", n + 1);
    let text = format!("$let:\n  v0: '[1]'\n{}a: ${{v99}}\n", (0..100).map(double).collect::<String>());
    assert_eq!(told(&errors(&text, &[])), "");
    let wide = format!("a:\n{}", "- ${[1, [2, [3]]].map(x, x)}\n".repeat(20_000));
    assert_eq!(told(&errors(&wide, &[])), "");
}
