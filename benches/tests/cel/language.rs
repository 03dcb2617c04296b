//! The language itself: syntax and evaluation.

use cel::parser::Parser;
use dropforge::dialect::cel::syntax::{Options, parse};
use dropforge::text::Source;
use proptest::prelude::*;
use proptest::sample::select;

use super::values::{new, ours};
use super::{Case, Known, Outcome, guarded};

/// Fragments of expressions, valid or not.
const WORDS: &[&str] = &[
    "a",
    "b",
    "c.d",
    "1",
    "-1",
    "2u",
    "1.5",
    ".5",
    "1.",
    "0x1f",
    "'s'",
    "b's'",
    "r's'",
    "\"\"\"q\"\"\"",
    "'\\n'",
    "'\\x41'",
    "'\\101'",
    "'\\8'",
    "b'\\xff'",
    "b'\\u0041'",
    "true",
    "null",
    "in",
    "as",
    "+",
    "-",
    "!",
    "*",
    "/",
    "%",
    "==",
    "<",
    "<=",
    "&&",
    "||",
    "?",
    ":",
    ".",
    ",",
    "(",
    ")",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ".`b-c`",
    "// c\n",
    "#",
    "=",
    "has(a.b)",
    "has(",
    ".all(x, ",
    ".map(x, ",
    ".exists_one(x, ",
    ".?b",
    "[?",
    "A{",
    "A.b{c: ",
    ".f(",
    "f(",
    "while",
    ".if",
    "18446744073709551615u",
    "9223372036854775808",
    "-9223372036854775808",
    "1e3",
];

fn accepted_here(text: &str) -> Outcome {
    match parse(&Source::new("e", text), &Options::default()) {
        Ok(_) => Ok("read".to_owned()),
        Err(errors) => Err(errors.to_string()),
    }
}

fn accepted_there(text: &str) -> Outcome {
    guarded(|| {
        let parser = Parser::new().enable_optional_syntax(true).enable_ident_escape_syntax(true);
        match parser.max_recursion_depth(250).parse(text) {
            Ok(_) => Ok("read".to_owned()),
            Err(errors) => Err(errors.to_string()),
        }
    })
}

fn agree(known: &[Known], text: &str, ours: Outcome, theirs: Outcome) -> Result<(), TestCaseError> {
    let same = match (&ours, &theirs) {
        (Ok(a), Ok(b)) => a == b,
        (a, b) => a.is_err() && b.is_err(),
    };
    let case = Case { text, ours: &ours, theirs: &theirs };
    prop_assert!(same || known.iter().any(|known| (known.is)(&case)), "{text}: {ours:?} here, {theirs:?} there");
    Ok(())
}

/// Source text of expressions of one type.
type Texts = BoxedStrategy<String>;

fn one(texts: &'static [&'static str]) -> Texts {
    select(texts).prop_map(str::to_owned).boxed()
}

/// Nesting depth of generated expressions.
const DEPTH: u32 = 3;

fn int(depth: u32) -> Texts {
    let leaf = prop_oneof![
        (-9..20i64).prop_map(|n| n.to_string()),
        one(&[
            "9223372036854775807",
            "-9223372036854775808",
            "0x1F",
            "0",
            "size('aé')",
            "size([1, 2])",
            "size({'a': 1})"
        ]),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = || int(depth - 1);
    prop_oneof![
        2 => leaf,
        3 => (inner(), select(vec!["+", "-", "*", "/", "%"]), inner()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
        1 => inner().prop_map(|a| format!("-({a})")),
        1 => conditional(depth, int),
        1 => double(depth - 1).prop_map(|a| format!("int({a})")),
        1 => uint(depth - 1).prop_map(|a| format!("int({a})")),
        1 => (inner(), inner(), 0..3).prop_map(|(a, b, at)| format!("[{a}, {b}][{at}]")),
        1 => list(depth - 1).prop_map(|list| format!("size({list})")),
        1 => text(depth - 1).prop_map(|text| format!("size({text})")),
    ]
    .boxed()
}

fn uint(depth: u32) -> Texts {
    let leaf = prop_oneof![(0..20u64).prop_map(|n| format!("{n}u")), one(&["18446744073709551615u", "0x1Fu"])];
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = || uint(depth - 1);
    prop_oneof![
        2 => leaf,
        3 => (inner(), select(vec!["+", "-", "*", "/", "%"]), inner()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
        1 => int(depth - 1).prop_map(|a| format!("uint({a})")),
        1 => conditional(depth, uint),
    ]
    .boxed()
}

fn double(depth: u32) -> Texts {
    let leaf = one(&["0.0", "1.5", "-2.5", "1e3", ".5", "1e308", "-0.0", "3.0"]);
    if depth == 0 {
        return leaf;
    }
    let inner = || double(depth - 1);
    prop_oneof![
        2 => leaf,
        3 => (inner(), select(vec!["+", "-", "*", "/"]), inner()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
        1 => int(depth - 1).prop_map(|a| format!("double({a})")),
        1 => inner().prop_map(|a| format!("-({a})")),
    ]
    .boxed()
}

fn text(depth: u32) -> Texts {
    let leaf =
        prop_oneof!["[a-c0-9 é]{0,4}".prop_map(|words| format!("'{words}'")), one(&["r'\\'", "'\\n\\u00e9'", "\"'\""])];
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = || text(depth - 1);
    prop_oneof![
        2 => leaf,
        2 => (inner(), inner()).prop_map(|(a, b)| format!("({a} + {b})")),
        1 => int(depth - 1).prop_map(|a| format!("string({a})")),
        1 => truth(depth - 1).prop_map(|a| format!("string({a})")),
        1 => conditional(depth, text),
        1 => inner().prop_map(|a| format!("{{'k': {a}}}.k")),
    ]
    .boxed()
}

fn conditional(depth: u32, of: fn(u32) -> Texts) -> Texts {
    (truth(depth - 1), of(depth - 1), of(depth - 1)).prop_map(|(is, a, b)| format!("({is} ? {a} : {b})")).boxed()
}

fn truth(depth: u32) -> Texts {
    let leaf = one(&["true", "false", "1 in [1, 2]", "'a' in {'a': 1}", "has({'a': 1}.a)", "has({'a': 1}.b)"]);
    if depth == 0 {
        return leaf;
    }
    let compared = |texts: Texts, operators: &'static [&'static str]| {
        (texts.clone(), select(operators), texts).prop_map(|(a, op, b)| format!("({a}) {op} ({b})"))
    };
    const ORDER: &[&str] = &["<", "<=", ">", ">=", "==", "!="];
    prop_oneof![
        2 => leaf,
        2 => compared(int(depth - 1), ORDER),
        1 => compared(uint(depth - 1), ORDER),
        1 => compared(double(depth - 1), ORDER),
        1 => compared(text(depth - 1), ORDER),
        1 => compared(list(depth - 1), &["==", "!="]),
        3 => compared(truth(depth - 1), &["&&", "||", "&&", "||", "=="]),
        1 => truth(depth - 1).prop_map(|a| format!("!({a})")),
        1 => (text(depth - 1), select(vec!["contains", "startsWith", "endsWith"]), text(depth - 1))
            .prop_map(|(a, function, b)| format!("({a}).{function}({b})")),
        2 => (list(depth - 1), select(vec!["all", "exists", "exists_one"]), select(vec![
            "x > 1", "x == 1", "1 / x > 0", "x + 1 < 3", "true",
        ])).prop_map(|(list, function, what)| format!("({list}).{function}(x, {what})")),
        1 => conditional(depth, truth),
    ]
    .boxed()
}

/// A list of numbers.
fn list(depth: u32) -> Texts {
    let leaf = one(&["[]", "[1]", "[1, 2, 3]", "[0, 1]", "[2, 2]"]);
    if depth == 0 {
        return leaf;
    }
    prop_oneof![
        1 => leaf,
        2 => prop::collection::vec(int(depth - 1), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
        1 => (list(depth - 1), select(vec!["x + 1", "x * x", "2 / x", "x"]))
            .prop_map(|(list, each)| format!("({list}).map(x, {each})")),
        1 => (list(depth - 1), select(vec!["x > 1", "1 / x == 1"]))
            .prop_map(|(list, each)| format!("({list}).filter(x, {each})")),
        1 => (list(depth - 1), list(depth - 1)).prop_map(|(a, b)| format!("({a} + {b})")),
        1 => conditional(depth, list),
    ]
    .boxed()
}

/// An expression of any type, with or without a value.
fn any(depth: u32) -> Texts {
    prop_oneof![
        int(depth),
        uint(depth),
        double(depth),
        text(depth),
        truth(depth),
        list(depth),
        (text(0), int(depth)).prop_map(|(key, value)| format!("{{{key}: {value}, 'z': 1}}")),
        (int(1), text(depth)).prop_map(|(key, value)| format!("{{{key}: {value}}}")),
        one(&["null", "b'a\\xff'", "duration('90m')", "timestamp('2024-02-29T12:00:00.5Z')", "[1, 'a', null]"]),
        one(&["1 + 1.0", "'a' + 1", "!1", "-'a'", "nope", "[1][1]", "{'a': 1}.b", "1 && 2", "{1: 2}[3]", "'a' < 1"]),
        one(&["1 == 1.0", "1 < 1.5", "1u == 1", "2 > 1u", "dyn(1) == 'a'", "[1] == [1.0]", "{1: 2}[1u]", "1.0 in [1]"]),
    ]
    .boxed()
}

/// Differences between the crate and the language. We follow the language.
const KNOWN_VALUES: &[Known] = &[Known {
    why: "what is not a number has no order, where IEEE 754 says that it is not less",
    is: |case| {
        let error = case.theirs.as_ref().err().map_or("", String::as_str);
        error.contains("no matching overload") && error.contains("(double, double)") && case.ours.is_ok()
    },
}];

fn there(text: &str) -> Outcome {
    thread_local! {
        static CONTEXT: cel::Context<'static, 'static> = cel::Context::default();
    }
    CONTEXT.with(|context| guarded(|| new::evaluated(text, context)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_texts_are_read(words in prop::collection::vec(select(WORDS), 1..14), space in select(vec!["", " "])) {
        let text = words.join(space);
        agree(&[], &text, accepted_here(&text), accepted_there(&text))?;
    }

    #[test]
    fn expressions_have_the_same_values(text in any(DEPTH)) {
        agree(KNOWN_VALUES, &text, ours(&text), there(&text))?;
    }
}
