//! Templates that are read, and everything that can be wrong with them.

mod show;

use std::sync::Arc;

use super::{Options, Recent, Templates, read};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::compiler::Loader;
use show::show;

/// Files by their names.
struct Files(&'static [(&'static str, &'static str)]);

impl Loader for Files {
    fn load(&self, name: &str) -> dropforge_base::diagnostics::Result<Option<Arc<Source>>> {
        Ok(self.0.iter().find(|(known, _)| *known == name).map(|(name, text)| Source::new(*name, *text)))
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| (*name).to_owned()).collect()
    }
}

const NONE: Files = Files(&[]);

type Errors = Vec<Box<Diagnostic>>;

fn read_with(text: &str, files: &Files, options: Options) -> Result<Templates, Errors> {
    read(&Source::new("t.yaml", text), files, &Limits::default(), &options)
}

fn templates(text: &str) -> Result<Templates, Errors> {
    read_with(text, &NONE, Options::default())
}

fn shown(text: &str) -> String {
    match templates(text) {
        Ok(templates) => show(templates.entry()),
        Err(errors) => format!("errors: {}", told(&errors)),
    }
}

/// Each with its place and path.
fn told(errors: &[Box<Diagnostic>]) -> String {
    let one = |error: &Diagnostic| {
        let place = error.position().map_or("?".to_owned(), |at| at.to_string());
        let path = error.fields.get("path").map_or("", String::as_str);
        format!("{place} {path} {}", error.message)
    };
    errors.iter().map(|error| one(error)).collect::<Vec<_>>().join(" | ")
}

fn errors(text: &str) -> String {
    match templates(text) {
        Ok(templates) => format!("read as {}", show(templates.entry())),
        Err(errors) => told(&errors),
    }
}

/// Each of `rows` must give what stands beside it; all that do not are told at once.
fn each(rows: &[(&str, &str)], found: impl Fn(&str) -> String) {
    let wrong = |(text, wanted): &(&str, &str)| {
        let found = found(text);
        (found != *wanted).then(|| format!("{text}\n  wanted {wanted}\n  found  {found}\n"))
    };
    let wrong: Vec<_> = rows.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn scalars_are_themselves_or_expressions_or_text() {
    let rows = [
        ("", ""),
        ("# nothing\n---\n---\na\n---\n~\n", "\"a\" --- ~"),
        ("a: 1\n", "{\"a\": 1}"),
        ("[1.10, 012, 0x1F, no, ~, .inf, 2001-01-01]", "[1.10, 012, 0x1F, \"no\", ~, .inf, \"2001-01-01\"]"),
        ("${x}", "<x>"),
        ("'${ x }'", "<x>"),
        ("\"${'a}' + \\\"b\\\"}\"", "<\"a}\" + \"b\">"),
        ("a-${x}-${y}", "\"a-<x>-<y>\""),
        ("' ${x}'", "\" <x>\""),
        ("|\n  ${x}\n", "\"<x>\\n\""),
        ("|-\n  ${x}\n", "<x>"),
        (">-\n  ${x +\n  y}\n", "<x + y>"),
        ("[$5, $x, $(c), '$', '$$', '$${x}']", "[\"$5\", \"$x\", \"$(c)\", \"$\", \"$$\", \"${x}\"]"),
        ("$${x} ${y}", "\"${x} <y>\""),
        (
            "'${x}': {'a-${y}': 1, $$if: 2, '$$a-${z}': 3, 1: 4, '$${w}': 5}",
            "{<x>: {\"a-<y>\": 1, \"$if\": 2, \"$a-<z>\": 3, 1: 4, \"${w}\": 5}}",
        ),
        ("!x ${y}", "!x <y>"),
        ("a: !x {b: !y [1]}", "{\"a\": !x {\"b\": !y [1]}}"),
        (
            "a: &a {x: '${v}'}\nb: *a\nc: {<<: *a, y: 1}\n",
            "{\"a\": {\"x\": <v>}, \"b\": {\"x\": <v>}, \"c\": {\"x\": <v>, \"y\": 1}}",
        ),
    ];
    each(&rows, shown);
}

#[test]
fn directives_say_what_a_map_is() {
    let rows = [
        ("$if: x\n$then: {a: 1}\n$else: null\n", "{$if <x> then {\"a\": 1} else null, *branch}"),
        ("b: 1\n$if: ${x}\n$then: {a: 1}\nc: 2\n", "{$if <x> then {\"a\": 1}, \"b\": 1, *branch, \"c\": 2}"),
        ("$if: true\nc: 2\n", "{$if true, \"c\": 2}"),
        ("$if: \"x == '${y}'\"\n$then: 1", "{$if <x == \"${y}\"> then 1, *branch}"),
        ("$for: k, v in m\n$do: {'${k}': '${v}'}\n", "{$for k, v in <m> merged {<k; k:key>: <v; v:value>}, *loop}"),
        (
            "- $for: x in [1].filter(i, i in x)\n  $do: ${x}\n",
            "[{$for x in <[1].filter(i, i in x)> items <x; x:value>, *loop}]",
        ),
        (
            "- $for: x in xs\n  $do:\n    $for: y in x\n    $do: ${y}\n",
            "[{$for x in <xs> items {$for y in <x; x:value> items <y; y:value>, *loop}, *loop}]",
        ),
        (
            "- $for: x in xs\n  $do:\n    a:\n      $for: y in x\n      $do: {}\n",
            "[{$for x in <xs> items {\"a\": {$for y in <x; x:value> merged {}, *loop}}, *loop}]",
        ),
        ("$assert: x > 1\n$msg: got ${x}\n", "{$assert <x > 1> msg \"got <x>\"}"),
        (
            "$assert: [a, true, {$assert: b, $msg: m}]\n$msg: n\n",
            "{$assert <a> msg \"n\", $assert true msg \"n\", $assert <b> msg \"m\"}",
        ),
        (
            "$include: a/${x}.yaml\n$with: {y: a b, z: '${q}'}\n",
            "{$include dynamic \"\" \"a/<x>.yaml\" y=\"a b\" z=<q>, *include}",
        ),
        ("$include: no.yaml\nk: 1\n", "{$include missing \"no.yaml\", *include, \"k\": 1}"),
        (
            "$schema: {a: integer, b: {default: 1}}\nc: ${a + b + d}\n",
            "{$schema a, $schema b, \"c\": <a + b + d; a:checkedtyped b:checkedtyped>}",
        ),
    ];
    each(&rows, shown);
}

#[test]
fn a_text_of_let_is_an_expression_where_it_can_be_meant_as_one() {
    let value = |text: &str| {
        let source = format!("x:\n  $let: {{known: 1, v: {text}}}\n");
        shown(&source).trim_start_matches("{\"x\": {$let known 1, $let v ").trim_end_matches("}}").to_owned()
    };
    let rows = [
        ("1", "1"),
        ("'30'", "=<30>"),
        ("'1.10'", "=<1.1>"),
        ("250m", "\"250m\""),
        ("'true'", "=<true>"),
        ("\"'a' + 'b'\"", "=<\"a\" + \"b\">"),
        ("acme.com", "?<acme.com> or \"acme.com\""),
        ("us-east-1", "?<us - east - 1> or \"us-east-1\""),
        ("a/b*c+d", "?<a / b * c + d> or \"a/b*c+d\""),
        ("hello", "?<hello> or \"hello\""),
        ("hello world", "\"hello world\""),
        ("known", "=<known; known:let>"),
        ("known-1", "=<known - 1; known:let>"),
        ("a.known", "?<a.known> or \"a.known\""),
        ("\"env == 'p'\"", "=<env == \"p\">"),
        ("foo(1)", "=<foo(1)>"),
        ("'a ? b : c'", "=<a ? b : c>"),
        ("'a[0]'", "=<a[0]>"),
        ("'[a]'", "=<[a]>"),
        ("a in b", "=<a in b>"),
        ("'!a'", "=<!a>"),
        ("''", "\"\""),
        ("'${known}-${region}'", "\"<known; known:let>-<region>\""),
        ("\"'${known}-x'\"", "\"<known; known:let>-x\""),
        ("\"'${known}' + '${known}'\"", "\"'<known; known:let>' + '<known; known:let>'\""),
        ("{a: known, b: ['${known}']}", "{\"a\": \"known\", \"b\": [<known; known:let>]}"),
        ("v", "=<v; v:later>"),
    ];
    each(&rows, value);
    let strict = |text: &str| read_with(text, &NONE, Options { strict_let: true, ..Options::default() });
    assert_eq!(show(strict("$let: {a: hello}").unwrap().entry()), "{$let a =<hello>}");
    assert!(strict("$let: {a: 250m}").is_err());
}

#[test]
fn names_are_seen_from_their_definition_on_and_below() {
    let rows = [
        (
            "$let: {a: '1', b: a + 1}\nx: ${a + b}\n",
            "{$let a =<1>, $let b =<a + 1; a:let>, \"x\": <a + b; a:let b:let>}",
        ),
        ("$let: {a: b + 1, b: '1'}\n", "{$let a =<b + 1; b:later>, $let b =<1>}"),
        ("$let: {a: {k: '${b}'}, b: '1'}\n", "{$let a {\"k\": <b; b:later>}, $let b =<1>}"),
        (
            "$let: {a: '1'}\nx:\n  $let: {a: a + 1}\n  o: ${a}\n",
            "{$let a =<1>, \"x\": {$let a =<a + 1; a:let>, \"o\": <a; a:let>}}",
        ),
        ("x:\n  $let: {a: '1'}\ny: ${a}\n", "{\"x\": {$let a =<1>}, \"y\": <a>}"),
        ("o: ${a}\n$let: {a: '1'}\n", "{$let a =<1>, \"o\": <a; a:let>}"),
        ("- $for: i in [1]\n  $do: ${i}\n- ${i}\n", "[{$for i in <[1]> items <i; i:value>, *loop}, <i>]"),
        ("$let: {a: '1'}\nb: ${[1].map(a, a)[0] + a}\n", "{$let a =<1>, \"b\": <[1].map(a, a)[0] + a; a:let>}"),
        ("$let: {a: '1'}\n---\nb: ${a}\n", "{$let a =<1>} --- {\"b\": <a>}"),
        ("$let: {p: \"'s'\"}\n$schema: {p: integer}\na: ${p}\n", "{$schema p, $let p =<\"s\">, \"a\": <p; p:let>}"),
        (
            "$let: {p: \"'s'\"}\nx:\n  $schema: {p: string}\n  a: ${p}\n",
            "{$let p =<\"s\">, \"x\": {$schema p, \"a\": <p; p:lettyped>}}",
        ),
        (
            "t: &t {x: '${v}'}\nu:\n  $let: {v: '2'}\n  t: *t\n",
            "{\"t\": {\"x\": <v>}, \"u\": {$let v =<2>, \"t\": {\"x\": <v; v:let>}}}",
        ),
    ];
    each(&rows, shown);
}

#[test]
fn everything_that_is_wrong_is_told_where_it_is() {
    let rows = [
        (
            "a: ['${y', '${}', '${ x']",
            "1:6 a[0] `${` is not closed | 1:13 a[1] `${}` has no expression | 1:20 a[2] `${` is not closed",
        ),
        (
            "a:\n  b:\n    - ok\n    - c: x ${1 +} ${2 *}\n",
            "4:17 a.b[1].c the expression ends here, expected a value | 4:24 a.b[1].c the expression ends here, expected a value",
        ),
        (
            "a: >\n  one\n  ${1 +\n  ) }\n",
            "4:3 a unexpected `)`, expected a value | 4:5 a the expression ends here, expected a value",
        ),
        ("a: \"\\t${1 # 2}\"\n", "1:11 a no token begins with `#`"),
        (
            "$fi: 1\n$$x: 2\nm: {$thn: 1, $wat: 2}\n",
            "1:1  there is no directive `$fi` | 3:5 m there is no directive `$thn` | 3:14 m there is no directive `$wat`",
        ),
        (
            "$then: 1\na: {$do: 1, $msg: x, $with: {}}\n",
            "1:1  `$then` belongs to `$if`, which this map does not have | 2:5 a `$do` belongs to `$for`, which this map does not have | 2:13 a `$msg` belongs to `$assert`, which this map does not have | 2:22 a `$with` belongs to `$include`, which this map does not have",
        ),
        ("$if: x\n$else: 1\n", "2:1  `$else` has no `$then`"),
        ("$for: x in xs\n", "1:1  `$for` has no `$do`"),
        ("$if: 1\n$then: 2\n", "1:6  `$if` is an expression that is true or false, not an integer"),
        ("$if: ''\n$then: 2\n", "1:6  `$if` has no expression"),
        ("$assert: []\n", "1:10  `$assert` has no condition"),
        (
            "$assert: [{$msg: a}, {$assert: x, y: 1}]\n",
            "1:11  an assertion in a map has a `$assert` | 1:35  `y` is not part of an assertion: `$assert` and `$msg` are",
        ),
        ("$assert: x\n$msg: [1]\n", "2:7  `$msg` is text, not a list"),
        ("$let: a\n", "1:7  `$let` must be a map of names and their values, found a string"),
        (
            "$let: {a-b: 1, for: 2, 1: 3, '${x}': 4}\n",
            "1:8  `a-b` is not a name: letters, digits and `_`, not a digit first | 1:16  `for` is a reserved word, which no expression can refer to | 1:24  `1` is not a name: letters, digits and `_`, not a digit first | 1:30  `${x}` is not a name: letters, digits and `_`, not a digit first",
        ),
        ("$include: 1\n", "1:11  `$include` is the path of a file, not an integer"),
        ("$include: ../../etc/passwd\n", "1:11 $include `../../etc/passwd` leads out of the include root"),
        ("$include: /etc/passwd\n", "1:11 $include `/etc/passwd` leads out of the include root"),
        (
            "$schema: 'http://json-schema.org/draft-07/schema#'\n",
            "1:10  `$schema` must map names to schemas, found a string",
        ),
        (
            "$schema:\n  a: strng\n  b: {type: object, properties: {c: {tpye: 1}}}\n  d: {enum: 1}\n",
            "2:3  `$schema` of `a`: there is no type `strng` | 3:38  `$schema` of `b`: `tpye` is not a keyword of JSON Schema | 4:7  `$schema` of `d`: `enum` must be a list of at least one value",
        ),
        (
            "- $for: invalid for syntax\n  $do: 1\n",
            "1:17 [0] `$for` is `name in list` or `name, name in map`, and `for` does not belong there",
        ),
        (
            "- $for: 1x in [1]\n  $do: 1\n",
            "1:9 [0] `$for` is `name in list` or `name, name in map`, and `1` does not belong there",
        ),
        ("- $for: a, b, c in m\n  $do: 1\n", "1:15 [0] `$for` has at most two variables"),
        ("- $for: a, a in m\n  $do: 1\n", "1:12 [0] `$for` has the variable `a` twice"),
        ("- $for: let in m\n  $do: 1\n", "1:9 [0] `$for`: `let` is a reserved word, which no expression can refer to"),
        ("- $for: x in\n  $do: 1\n", "1:9 [0] `$for` has no expression"),
        (
            "- $for: x\n  $do: ${1+}\n",
            "1:10 [0] `$for` is `name in list` or `name, name in map`, and the end does not belong there | 2:12 [0].$do the expression ends here, expected a value",
        ),
        ("- $for: [1]\n  $do: 1\n", "1:9 [0] `$for` is `name in list`, not a list"),
        (
            "- $for: x in [1]\n  $do: 1\n  extra: 1\n",
            "3:3 [0] `extra` stands beside a `$for` that makes items of a list",
        ),
        (
            "- $if: i > 1\n  $for: i in [1]\n  $do: 1\n",
            "1:8 [0] `$if` is asked once before `$for` begins, and does not see its variable `i`",
        ),
        (
            "a:\n  $if: x\n  $then: {b: 1}\n  $else: {$if: y, $then: {c: 1}}\n  b: 2\n  c: 3\n",
            "3:11 a.$then.b duplicate key: `b` is given twice | 4:27 a.$else.$then.c duplicate key: `c` is given twice",
        ),
        ("$if: x\n$then: 5\nc: 2\n", "2:8 $then `$then` has to be a map here, because its keys are merged"),
        ("$for: x in xs\n$do: [1]\n", "2:6 $do `$do` has to be a map here, because its keys are merged"),
        ("a: 1\nb: 2\na: 3\n", "3:1  the key `a` is given twice"),
    ];
    each(&rows, errors);
}

#[test]
fn helps_say_what_was_meant() {
    let rows = [
        ("$inculde: a", "did you mean `$include`? A key of data is written `$$inculde`"),
        ("$ref: a", "write `$$ref` for a key of data that begins with `$`"),
        ("$if: a ${b}\n$then: 1", "the expression of `$if` is written without `${ }`, or is wholly within one"),
        ("- $for: ${x}\n  $do: 1", "write it without `${ }`"),
        ("a: x ${y", "close it with `}`, or write `$${` for the text `${`"),
        ("a: [${x}]", "between brackets or braces, `${ }` has to stand in quotes"),
        ("$schema: x", "write `$$schema` for a key of data"),
    ];
    each(&rows, |text| {
        let errors = templates(text).map(|templates| show(templates.entry())).expect_err(text);
        errors[0].help.clone().unwrap_or_default()
    });
}

#[test]
fn what_may_be_meant_otherwise_is_a_lint() {
    let rows = [
        ("$let: {a: 250m, b: 100gi, c: 'http://x', d: '30'}", ""),
        ("$let: {a: acme.com}", "1:11 $let.a `acme.com` is text here, unless an input is called `acme`"),
        ("$let: {v: '1.10'}", "1:11 $let.v `1.10` is a number here, so its spelling is lost"),
        ("$let: {e: 1, a: e = 1}", "1:17 $let.a `e = 1` is text here: it cannot be read as an expression"),
        ("a: |\n  ${x}\n", "2:3 a the line break after the expression turns its value into text"),
        ("a: |-\n  ${x}\n", ""),
        ("- $include: nope.yaml\n", "1:13 [0].$include template `nope.yaml` not found"),
    ];
    each(&rows, |text| templates(text).map_or_else(|errors| told(&errors), |templates| told(&templates.lints)));
}

#[test]
fn files_include_files_relative_to_themselves() {
    let files = Files(&[
        ("a/b.yaml", "x: ${v}\nc:\n  $include: ./c.yaml\n  $with: {v: '${v}'}\n"),
        ("a/c.yaml", "y: ${v}\nz:\n  $include: ../d.yaml\n"),
        ("d.yaml", "5"),
        ("two.yaml", "a: 1\n---\nb: 2\n"),
        ("loop.yaml", "$include: loop.yaml\n"),
        ("loop1.yaml", "$include: loop2.yaml\n"),
        ("loop2.yaml", "k:\n  $include: loop1.yaml\n"),
        ("bad.yaml", "- ${1 +}\n- $include: worse.yaml\n"),
        ("worse.yaml", "$x: 1\n"),
        ("back.yaml", "$include: t.yaml\n"),
        ("dyn/a.yaml", "$include: ${x}.yaml\n"),
    ]);
    let shown = |text: &str| match read_with(text, &files, Options::default()) {
        Ok(templates) => templates.files().iter().map(show).collect::<Vec<_>>().join(" ;; "),
        Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | "),
    };
    let rows = [
        (
            "$include: a/b.yaml\n$with: {v: 1}\n",
            "{$include file 1 \"a/b.yaml\" v=1, *include} ;; {\"x\": <v>, \"c\": {$include file 2 \"./c.yaml\" v=<v>, *include}} ;; {\"y\": <v>, \"z\": {$include file 3 \"../d.yaml\", *include}} ;; 5",
        ),
        (
            "[{$include: d.yaml}, {$include: ./d.yaml}]",
            "[{$include file 1 \"d.yaml\", *include}, {$include file 1 \"./d.yaml\", *include}] ;; 5",
        ),
        ("$include: two.yaml", "E0109: an included file has one document, and `two.yaml` has 2 (t.yaml:1:11)"),
        ("$include: loop.yaml", "E0506: include cycle: `loop.yaml` includes `loop.yaml` (loop.yaml:1:11)"),
        (
            "$include: loop1.yaml",
            "E0506: include cycle: `loop1.yaml` includes `loop2.yaml` includes `loop1.yaml` (loop2.yaml:2:13)",
        ),
        (
            "$include: back.yaml",
            "E0506: include cycle: `t.yaml` includes `back.yaml` includes `t.yaml` (back.yaml:1:11)",
        ),
        (
            "$include: bad.yaml",
            "E0103: the expression ends here, expected a value (bad.yaml:1:8) | E0108: there is no directive `$x` (worse.yaml:1:1)",
        ),
        (
            "$include: dyn/a.yaml",
            "{$include file 1 \"dyn/a.yaml\", *include} ;; {$include dynamic \"dyn/\" dyn/a.yaml \"<x>.yaml\", *include}",
        ),
    ];
    each(&rows, shown);
    let errors = read_with("a:\n  $include: bad.yaml", &files, Options::default()).expect_err("errors");
    let places: Vec<_> = errors[1].labels.iter().map(|at| format!("{}:{}", at.source.name(), at.position())).collect();
    assert_eq!(places, ["worse.yaml:1:1", "bad.yaml:2:13", "t.yaml:2:13"]);
}

#[test]
fn expressions_know_where_each_of_their_bytes_is() {
    for text in [
        "a: ${one + TWO}\n",
        "a: 'x '' ${one + TWO}'\n",
        "a: \"x \\t\\u00e9 ${one + \\\"q\\\" + TWO}\"\n",
        "a: |\n  é\n   ${one +\n     TWO}\n",
        "a: >-\n  x\n  ${one\n  +\n  TWO} y\n",
        "$if: one && TWO\n$then: 1\n",
        "$if: |\n  one &&\n  TWO\n$then: 1\n",
        "$if: \"${ one && TWO }\"\n$then: 1\n",
        "- $for: x in one.filter(e, e > TWO)\n  $do: 1\n",
        "$let: {a: one == TWO}\n",
        "'k${one + TWO}': 1\n",
        "$assert: one < TWO\n",
    ] {
        let templates = templates(text).unwrap_or_else(|errors| panic!("{text}: {}", told(&errors)));
        let file = templates.entry();
        let spans: Vec<_> = file.expressions.iter().flat_map(|of| &of.free).map(|free| free.span).collect();
        let names: Vec<_> = spans.iter().map(|span| file.source.slice(*span)).collect();
        assert_eq!(names, ["one", "TWO"], "{text}");
        let of = &file.expressions()[0];
        assert!(file.source.slice(of.span_of(of.tree.root)).starts_with("one"), "{text}");
        assert!(file.source.slice(of.span).trim_end().ends_with(['O', ')']), "{text}");
    }
}

#[test]
fn an_error_in_an_alias_is_told_once() {
    assert_eq!(errors("a: &a {x: '${1 +}'}\nb: *a\nc: *a\n"), "1:17 a.x the expression ends here, expected a value");
    assert_eq!(
        errors("a: &a '${1 +}'\nb: *a\n"),
        "1:13 a the expression ends here, expected a value | 2:4 b the expression ends here, expected a value"
    );
}

/// Something of everything.
const RICH: &str = r#"$schema: {env: string, n: {type: integer, default: 1}}
$let:
  d: acme.com
  t: {o: '${env}', p: [1]}
  e: "env == 'p'"
$assert: [n > 0, {$assert: true, $msg: 'é ${n}'}]
items:
  - &x
    $for: k, v in t
    $do:
      $let: {m: '${k}-${v}'}
      a: |
        x ${m +
          ''} y
      '${k}': "\t${v}"
  - $if: e
    $then:
      a: >-
        ${n
        + 1}
    $else: {}
    $$b: !t 1
  - *x
  - $include: a/${d}.yaml
    $with: {q: '$${}'}
---
<<: {a: 1}
"#;

#[test]
fn every_truncation_and_substitution_gives_an_answer() {
    assert_eq!(errors(RICH).split(' ').next(), Some("read"));
    for (at, _) in RICH.char_indices() {
        let (before, rest) = RICH.split_at(at);
        let behind = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
        let mut texts = vec![before.to_owned()];
        texts.extend(
            ["", "$", "{", "}", "'", "\n", ":", "é", "\r", "&x ", "*x"].map(|new| format!("{before}{new}{behind}")),
        );
        for text in texts {
            let all = match templates(&text) {
                Ok(templates) => templates.lints,
                Err(errors) => errors,
            };
            for error in all {
                let label = error.primary().expect("a place");
                assert!(label.source.text().get(label.span.range()).is_some(), "{text} {error}");
                assert!(!error.render(false).is_empty());
            }
        }
    }
}

/// Sources that must end in an answer on a small stack.
fn hostile() -> Vec<String> {
    let mut all = vec![
        "[".repeat(100_000),
        "a: ".repeat(100),
        "{a: ".repeat(120) + &"}".repeat(120),
        "$then: {".repeat(120) + &"}".repeat(120),
        "${".repeat(50_000),
        format!("a: {}", "${x}".repeat(50_000)),
        format!("a: '{}'", "${x + 1} ".repeat(20_000)),
        format!("a: ${{{}}}", "(".repeat(100_000)),
        format!("a: ${{{}1}}", "1 + ".repeat(20_000)),
        format!("a: \"{}\"", "\\x41${y}\\n".repeat(10_000)),
        format!("$let: {{{}}}", (0..20_000).map(|n| format!("a{n}: a{}", n + 1)).collect::<Vec<_>>().join(", ")),
        format!("[{}]", (0..20_000).map(|n| format!("'${{a{n} +}}'")).collect::<Vec<_>>().join(", ")),
        format!("$schema: {{a: {}integer{}}}", "{items: ".repeat(100), "}".repeat(100)),
        format!("a: &a {{$for: x in xs, $do: 1}}\nb: [{}]", "*a, ".repeat(3000)),
    ];
    let mut deep = String::new();
    for n in 0..120 {
        deep.push_str(&format!("{}$if: x\n{}k: 1\n{}$then:\n", " ".repeat(n), " ".repeat(n), " ".repeat(n)));
    }
    all.push(deep);
    let mut loops = String::new();
    for n in 0..120 {
        loops.push_str(&format!("{}$for: x in xs\n{}$do:\n", " ".repeat(n), " ".repeat(n)));
    }
    all.push(loops);
    all
}

#[test]
fn hostile_templates_end_in_an_answer_on_a_small_stack() {
    let all = || {
        for text in hostile() {
            if let Err(errors) = templates(&text) {
                assert!(!errors.is_empty() && errors.len() <= Limits::default().diagnostics + 1);
                assert!(errors.iter().all(|error| error.position().is_some()), "{}", told(&errors));
            }
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(all).expect("a thread").join().expect("no overflow");
}

#[test]
fn limits_are_told_as_limits() {
    let code = |text: &str| templates(text).map(|_| ()).expect_err("an error")[0].code;
    assert_eq!(code(&"[".repeat(1000)), Code::LimitDepth);
    assert_eq!(code(&format!("a: ${{{}1{}}}", "(".repeat(1000), ")".repeat(1000))), Code::LimitDepth);
    assert_eq!(code(&format!("a: {}", "${x}".repeat(100_001))), Code::LimitCode);
    let bomb = "a: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c]\ne: [*d, *d, *d, *d, *d, *d, *d, *d]\n";
    assert_eq!(code(bomb), Code::LimitMemory);
}

#[test]
fn names_of_another_document_are_lints() {
    let text = "$schema: {port: integer}\n$let: {region: \"'eu'\"}\na: ${region}\n---\nb: ${region}-${port}\n\
                ---\n$let: {region: \"'us'\"}\nc: ${region}\n";
    let templates = templates(text).unwrap();
    let wanted = "5:6 b `region` is not defined in this document | 5:16 b `port` has no schema in this document";
    assert_eq!(told(&templates.lints), wanted);
}

#[test]
fn errors_beyond_the_limit_are_counted() {
    let text = "- ${1 +}\n".repeat(150);
    let Err(errors) = templates(&text) else { panic!("errors") };
    assert_eq!(errors.len(), Limits::default().diagnostics);
    assert_eq!(errors.last().unwrap().notes, ["and 50 more diagnostics: the limit is 100"]);
}

#[test]
fn a_round_forgets_what_it_does_not_use() {
    let mut recent = Recent::default();
    recent.insert("a", 1);
    recent.insert("b", 2);
    assert_eq!(recent.get("a"), Some((&1, false)));
    recent.next_round();
    assert_eq!(recent.get("a"), Some((&1, true)));
    assert_eq!(recent.get("a"), Some((&1, false)));
    recent.next_round();
    assert_eq!(recent.get("a"), Some((&1, true)));
    assert_eq!(recent.get("b"), None);
}
