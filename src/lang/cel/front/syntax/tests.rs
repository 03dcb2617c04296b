//! Tables of expressions: what they are read as, and what is wrong with them.

mod hostile;
mod show;
mod same_tree {
    use crate::syntax::tree::{Expr, ExprId, Literal, Selection, Tree};

    include!("tests/same_tree.rs");
}

use super::{Options, parse};
use dropforge_base::text::Source;
use show::show;

/// An expression as the functions it calls.
fn read(text: &str) -> String {
    let source = Source::new("e", text);
    match parse(&source, &Options::default()) {
        Ok(tree) => show(&tree),
        Err(errors) => panic!("{text}: {errors}"),
    }
}

/// Every error with its place.
fn errors(text: &str) -> Vec<String> {
    let source = Source::new("e", text);
    let Err(errors) = parse(&source, &Options::default()) else { panic!("{text} is read") };
    errors.iter().map(|error| format!("{} {}", error.position().expect("a place"), error.message)).collect()
}

#[test]
fn operators_bind_as_they_should() {
    for (text, wanted) in [
        ("a + b * c - d", "_-_(_+_(a, _*_(b, c)), d)"),
        ("a < b == c", "_==_(_<_(a, b), c)"),
        ("a in b in c", "@in(@in(a, b), c)"),
        ("a ? b : c ? d : e", "_?_:_(a, b, _?_:_(c, d, e))"),
        ("a || b && c", "_||_(a, _&&_(b, c))"),
        ("!a.b[c]", "!_(_[_](a.b, c))"),
        ("--a", "a"),
        ("---a", "-_(a)"),
        ("!!a", "a"),
        ("(a + b) * c", "_*_(_+_(a, b), c)"),
        ("a - -1", "_-_(a, -1)"),
        ("a -1", "_-_(a, 1)"),
        ("a--1", "_-_(a, -1)"),
        ("--1", "1"),
        ("---1", "-_(1)"),
        ("!-1", "!_(-1)"),
        ("-1.f()", "-1.f()"),
        ("-(1)", "-_(1)"),
        ("- // sign\n 1", "-1"),
        ("-1u", "-_(1u)"),
        ("a || b || c || d || e", "_||_(_||_(_||_(a, b), c), _||_(d, e))"),
    ] {
        assert_eq!(read(text), wanted, "{text}");
    }
}

#[test]
fn literals_have_their_values() {
    for (text, wanted) in [
        ("-9223372036854775808", "-9223372036854775808"),
        ("0x7FFFFFFFFFFFFFFF", "9223372036854775807"),
        ("-0x8000000000000000", "-9223372036854775808"),
        ("0xFFFFFFFFFFFFFFFFu", "18446744073709551615u"),
        ("7U", "7u"),
        (".5", "0.5"),
        ("1e3", "1000.0"),
        ("-1.5E-2", "-0.015"),
        (r#"'\a\b\f\n\r\t\v\\\?\"\'\`'"#, r#""\u{7}\u{8}\u{c}\n\r\t\u{b}\\?\"'`""#),
        (r"'\x41\u00e9\U0001F600\101'", "\"Aé😀A\""),
        (r"'\xff'", "\"ÿ\""),
        (r"b'\xff\377é'", "b[255, 255, 195, 169]"),
        (r"r'\n'", r#""\\n""#),
        (r"bR'\n'", "b[92, 110]"),
        ("'''a\r\nb\rc\"'''", "\"a\\nb\\nc\\\"\""),
        ("R\"\"\"\\\r\n\"\"\"", r#""\\\n""#),
        ("''", "\"\""),
        ("\"\"\"\"\"\"", "\"\""),
        ("b''", "b[]"),
        ("true", "true"),
        ("null", "null"),
    ] {
        assert_eq!(read(text), wanted, "{text}");
    }
}

#[test]
fn constructors_and_selects() {
    for (text, wanted) in [
        ("[1, ?a, 2,]", "[1, ?a, 2]"),
        ("[,]", "[]"),
        ("{?'a': b, c: d,}", "{?\"a\": b, c: d}"),
        ("A.b{c: 1, ?d: e,}", "A.b{c: 1, ?d: e}"),
        (".A{}", ".A{}"),
        ("A{`x-y`: 1}", "A{x-y: 1}"),
        (".a.b", ".a.b"),
        (".f(a)", ".f(a)"),
        ("a.?b", "a.?b"),
        ("a[?b]", "_[?_](a, b)"),
        ("a.`b-c/d`.if", "a.b-c/d.if"),
        ("a.while()", "a.while()"),
        ("a // b\n + c", "_+_(a, c)"),
        ("has(a.b)", "has(a.b)"),
        ("has(a.`b c`)", "has(a.b c)"),
        ("{}.a", "{}.a"),
    ] {
        assert_eq!(read(text), wanted, "{text}");
    }
}

#[test]
fn macros_become_loops() {
    for (text, wanted) in [
        ("l.all(x, p)", "fold(x in l, @result = true; @not_strictly_false(@result); _&&_(@result, p); @result)"),
        (
            "l.exists(k, v, p)",
            "fold(k, v in l, @result = false; @not_strictly_false(!_(@result)); _||_(@result, p); @result)",
        ),
        ("l.existsOne(x, p)", "fold(x in l, @result = 0; true; _?_:_(p, _+_(@result, 1), @result); _==_(@result, 1))"),
        ("l.map(x, t)", "fold(x in l, @result = []; true; _+_(@result, [t]); @result)"),
        ("l.map(x, p, t)", "fold(x in l, @result = []; true; _?_:_(p, _+_(@result, [t]), @result); @result)"),
        ("l.filter(x, p)", "fold(x in l, @result = []; true; _?_:_(p, _+_(@result, [x]), @result); @result)"),
        ("l.transformList(k, v, t)", "fold(k, v in l, @result = []; true; _+_(@result, [t]); @result)"),
        ("l.transformMap(k, v, t)", "fold(k, v in l, @result = {}; true; cel.@mapInsert(@result, k, t); @result)"),
        (
            "l.transformMapEntry(k, v, p, {a: b})",
            "fold(k, v in l, @result = {}; true; _?_:_(p, cel.@mapInsert(@result, {a: b}), @result); @result)",
        ),
        ("cel.bind(x, a, b)", "fold(#unused in [], x = a; false; x; b)"),
        (
            "o.optMap(x, t)",
            "_?_:_(o.hasValue(), optional.of(fold(#unused in [], x = o.value(); false; x; t)), optional.none())",
        ),
        ("o.optFlatMap(x, t)", "_?_:_(o.hasValue(), fold(#unused in [], x = o.value(); false; x; t), optional.none())"),
        (
            "l.sortBy(x, k)",
            "fold(#unused in [], @__sortBy_input__ = l; false; @__sortBy_input__; \
             @__sortBy_input__.@sortByAssociatedKeys(fold(x in @__sortBy_input__, @result = []; true; \
             _+_(@result, [k]); @result)))",
        ),
        ("math.least(a, b)", "math.@min(a, b)"),
        ("math.greatest([1, a])", "math.@max([1, a])"),
        ("math.greatest(1, 2, a)", "math.@max([1, 2, a])"),
        ("cel.block([1], cel.index(0))", "cel.@block([1], @index0)"),
        ("cel.iterVar(0, 1) + cel.accuVar(2, 3)", "_+_(@it:0:1, @ac:2:3)"),
        // What only looks like a macro.
        ("l.all(x)", "l.all(x)"),
        ("a.least(b)", "a.least(b)"),
        (".math.least(b)", ".math.least(b)"),
        ("a.bind(x, b, c)", "a.bind(x, b, c)"),
        (".has(a.b)", ".has(a.b)"),
        ("proto2.getExt(a, b)", "proto2.getExt(a, b)"),
    ] {
        assert_eq!(read(text), wanted, "{text}");
    }
}

#[test]
fn macros_can_be_off() {
    let source = Source::new("e", "l.all(1, has(2)) && cel.bind(3, 4, 5)");
    let tree = parse(&source, &Options { macros: false, ..Options::default() }).expect("ordinary calls");
    assert_eq!(show(&tree), "_&&_(l.all(1, has(2)), cel.bind(3, 4, 5))");
}

#[test]
fn macros_say_what_is_wrong() {
    for (text, wanted) in [
        ("has(a)", "1:5 invalid argument to has() macro"),
        ("has(a.?b)", "1:6 invalid argument to has() macro"),
        ("l.all(1, p)", "1:7 argument must be a simple name"),
        ("l.all(.x, p)", "1:8 argument must be a simple name"),
        ("l.map(a.b, p)", "1:8 argument is not an identifier"),
        ("l.filter(__result__, p)", "1:10 iteration variable overwrites accumulator variable"),
        ("[].all(i, i, i < i)", "1:11 duplicate variable name: i"),
        ("[].all(j, __result__, true)", "1:11 iteration variable overwrites accumulator variable"),
        ("math.least()", "1:1 math.least() requires at least one argument"),
        ("math.least('a')", "1:12 math.least() invalid single argument value"),
        ("math.greatest(1, true)", "1:18 math.greatest() simple literal arguments must be numeric"),
        ("cel.bind(a.b, 1, 2)", "1:11 cel.bind() variable names must be simple identifiers"),
        ("cel.block(1, 2)", "1:11 cel.block requires the first arg to be a list literal"),
        ("cel.index(-1)", "1:11 cel.index requires a single non-negative int constant arg"),
        ("cel.iterVar(1, a)", "1:16 cel.iterVar requires two non-negative int constant args"),
        ("a.optMap(1, b)", "1:10 optMap() variable name must be a simple identifier"),
        (
            "{}.sortBy(x, y)",
            "1:1 sortBy can only be applied to a list, identifier, comprehension, call or select expression",
        ),
        ("proto.hasExt(a, b)", "1:1 proto.hasExt() is unsupported: there are no protobuf messages"),
    ] {
        assert_eq!(errors(text), [wanted], "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let mut wrong = Vec::new();
    for (text, wanted) in [
        ("", &["1:1 the expression ends here, expected a value"][..]),
        ("a &&", &["1:5 the expression ends here, expected a value"]),
        ("1.", &["1:3 the expression ends here, expected `?` or a name"]),
        ("-!x", &["1:2 unexpected `!`, expected a value"]),
        ("9223372036854775808", &["1:1 invalid int literal: it does not fit"]),
        ("-9223372036854775809", &["1:1 invalid int literal: it does not fit"]),
        ("--9223372036854775808", &["1:3 invalid int literal: it does not fit"]),
        ("18446744073709551616u", &["1:1 invalid uint literal: it does not fit"]),
        ("1e999", &["1:1 invalid double literal: it does not fit"]),
        ("as + while(1)", &["1:1 reserved identifier: as", "1:6 reserved identifier: while"]),
        ("a.in", &["1:3 unexpected `in`, expected `?` or a name"]),
        ("rb'a'", &["1:3 unexpected `'a'`, expected an operator"]),
        ("'a", &["1:1 a string does not end"]),
        ("'a\nb'", &["1:1 a string does not end", "2:2 a string does not end"]),
        ("'''a''", &["1:3 unexpected `'a'`, expected an operator", "1:6 a string does not end"]),
        ("b'a", &["1:2 a string does not end"]),
        (r"'\q'", &["1:1 this escape does not exist"]),
        (r"'\ud800'", &["1:1 there is no character of this number"]),
        (r"'\U00110000'", &["1:1 there is no character of this number"]),
        (r"'\x4'", &["1:1 this escape has too few hexadecimal digits"]),
        (r"'\400'", &["1:1 this escape does not exist"]),
        (r"'\08'", &["1:1 this escape has three octal digits, the first of them 0 to 3"]),
        (r"b'\x4'", &["1:2 this escape has too few hexadecimal digits"]),
        (r"b'\u0041'", &["1:1 bytes have no `\\u`; write the bytes as `\\xHH`"]),
        (r"'''\q'''", &["1:3 this escape does not exist"]),
        ("a = b", &["1:3 no token begins with `=`"]),
        ("a # b", &["1:3 no token begins with `#`"]),
        ("`a`", &["1:1 unexpected ``a``, expected a value"]),
        ("a.``", &["1:3 no token begins with ````"]),
        ("f(1 +, [2 3]) && a $ b", &["1:6", "1:11", "1:20"]),
        ("f(a,)", &["1:5 unexpected `)`, expected a value"]),
        ("(a, b)", &["1:3 unexpected `,`, expected `)`"]),
        ("{a, b}", &["1:3 unexpected `,`, expected `:`"]),
        ("a)", &["1:2 unexpected `)`, expected the end"]),
        ("[a)", &["1:3 unexpected `)`, expected `,` or `]`"]),
        ("(a){b: 1}", &["1:4 unexpected `{`: a message begins with a qualified name"]),
        ("f(){b: 1}", &["1:4 unexpected `{`: a message begins with a qualified name"]),
        ("a.`b`{}", &["1:6 unexpected `{`: a message begins with a qualified name"]),
        ("A{1: 2} + b c", &["1:3", "1:13"]),
        ("as{} + f(1 +)", &["1:1 reserved identifier: as", "1:13 unexpected `)`"]),
        ("a or b", &["1:3 unexpected `or`"]),
        ("has(1 +) || x.all(*, 1)", &["1:8", "1:19"]),
    ] {
        let found = errors(text);
        let same =
            found.len() == wanted.len() && found.iter().zip(wanted).all(|(found, wanted)| found.starts_with(wanted));
        if !same {
            wrong.push(format!("{text}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn words_of_other_languages_have_a_hint() {
    for (text, hint) in [("a and b", "&&"), ("a or b", "||"), ("a = b", "=="), ("a & b", "&&"), ("a | b", "||")] {
        let Err(errors) = parse(&Source::new("e", text), &Options::default()) else { panic!("{text} is read") };
        let help = errors.first().and_then(|error| error.help.as_deref());
        assert_eq!(help, Some(format!("did you mean `{hint}`?").as_str()), "{text}");
    }
}

#[test]
fn at_most_thirty_errors() {
    let text = "f(1 +),".repeat(100);
    assert_eq!(errors(&format!("[{text}]")).len(), 30);
    assert_eq!(errors(&"#,".repeat(40_000)).len(), 30);
}

#[test]
fn what_is_written_is_read_as_the_same() {
    for (text, wanted) in [
        ("a||b||c||d", "a || b || c || d"),
        ("a||(b||c)", "a || (b || c)"),
        ("(a||b)||c", "a || b || c"),
        ("a||b||(c||d)||e", "(a || b) || (c || d || e)"),
        ("(a&&b)||!(c||d)", "a && b || !(c || d)"),
        ("a&&(b||c)", "a && (b || c)"),
        ("a-(b-c)-d", "a - (b - c) - d"),
        ("(a<b)<c", "a < b < c"),
        ("a<(b<c)", "a < (b < c)"),
        ("(a?b:c)?(d?e:f):g?h:i", "(a ? b : c) ? (d ? e : f) : g ? h : i"),
        ("!(!a)", "!(!a)"),
        ("-(-1)", "-(-1)"),
        ("---1.5", "-(1.5)"),
        ("-(1.f()[0].?b)", "-(1.f()[0].?b)"),
        ("-(1u)", "-1u"),
        ("-(a+b)", "-(a + b)"),
        ("-a.b", "-a.b"),
        ("(-a).b", "(-a).b"),
        ("1 - -1", "1 - -1"),
        ("-1.f()", "-1.f()"),
        ("1.0", "1.0"),
        ("1e300", "1e300"),
        ("-0.0", "-0.0"),
        (r#"'a"\\\n\u0001é'"#, r#""a\"\\\n\u0001é""#),
        (r#"b'a"\xff\n'"#, r#"b"a\"\xff\x0a""#),
        ("a.`in`.`b-c`.`d`", "a.`in`.`b-c`.d"),
        ("{?a:b}[?c]", "{?a: b}[?c]"),
        (".a.B{?c:1,`d-e`:[?f]}.?g", ".a.B{?c: 1, `d-e`: [?f]}.?g"),
        ("has(a.`b c`)&&l.all(x,l.map(y,z,y+x)==[])", "has(a.`b c`) && l.all(x, l.map(y, z, y + x) == [])"),
        ("cel.block([1],cel.index(0)+cel.iterVar(1,2))", "cel.block([1], cel.index(0) + cel.iterVar(1, 2))"),
        ("o.optMap(x,has(x.y)).optMap(x,1)", "o.optMap(x, has(x.y)).optMap(x, 1)"),
        ("math.least(1,2,a).sortBy(x,-x)", "math.least(1, 2, a).sortBy(x, -x)"),
    ] {
        let options = Options::default();
        let tree = parse(&Source::new("e", text), &options).expect("an expression");
        let written = super::unparse(&tree);
        assert_eq!(written, wanted, "{text}");
        let again = parse(&Source::new("e", written.as_str()), &options).expect("what was written");
        assert!(same_tree::same_tree(&tree, &again), "{text}: {} and {}", show(&tree), show(&again));
    }
}

#[test]
fn places_are_those_of_operators_and_brackets() {
    for (text, place) in [
        ("a + b", "+"),
        (" a", "a"),
        ("f(a)", "("),
        ("a.f(b)", "("),
        ("a.b", "."),
        ("a.?b", "."),
        ("a[b]", "["),
        ("[a]", "["),
        ("A{}", "{"),
        ("!a", "!"),
        ("a ? b : c", "?"),
        ("a || b || c", "||"),
        ("l.all(x, x)", "("),
        ("-1", "-"),
        (".a", "a"),
    ] {
        let source = Source::new("e", text);
        let tree = parse(&source, &Options::default()).expect("an expression");
        let at = tree.place(tree.root).range().start;
        let found = source.text().get(at..).unwrap_or("");
        assert!(found.starts_with(place), "{text}: {found}");
        assert_eq!(source.slice(tree.span(tree.root)), text.trim(), "{text}");
    }
    let tree = parse(&Source::new("e", "(a + b) * (c)"), &Options::default()).expect("an expression");
    assert_eq!(tree.source().slice(tree.span(tree.root)), "(a + b) * (c)");
}
