//! A printed expression parses to the same expression, and no sequence of tokens causes a panic.

use dropforge::dialect::cel::syntax::{Options, ScannedPart as Part, parse, scan, unparse};
use dropforge::text::Source;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::same_tree::same_tree;

/// Parses `text`, prints it and compares. Returns `false` if it does not parse.
fn written(text: &str, macros: bool) -> Result<bool, TestCaseError> {
    let options = Options { macros, ..Options::default() };
    let tree = match parse(&Source::new("e", text), &options) {
        Ok(tree) => tree,
        Err(errors) => {
            for error in errors.iter() {
                prop_assert!(error.position().is_some(), "{error} has no place in {text:?}");
            }
            prop_assert!(errors.first().is_some(), "{text:?} is not read, and nothing is wrong with it");
            return Ok(false);
        }
    };
    let once = unparse(&tree);
    let again = parse(&Source::new("e", once.as_str()), &options);
    let again = again.map_err(|errors| TestCaseError::fail(format!("{text:?} is written as {once:?}: {errors}")))?;
    prop_assert!(same_tree(&tree, &again), "{text:?} is written as {once:?}");
    prop_assert_eq!(unparse(&again), once, "{:?}", text);
    Ok(true)
}

const LEAVES: &[&str] = &[
    "a", "b", ".c", "x1", "1", "-1", "0x1F", "2u", "1.5", "-.5", "1e3", "'s'", "\"t\\n\"", "r'\\'", "b'\\xff'",
    "'''q'''", "true", "false", "null", "[]", "{}", "f()", "A.b{}",
];

const OPERATORS: &[&str] = &["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "in", "&&", "||", "||", "&&"];

/// Valid expressions, each with or without parentheses.
fn expression() -> impl Strategy<Value = String> {
    select(LEAVES).prop_map(str::to_owned).prop_recursive(6, 60, 3, |inner| {
        let part = (inner, any::<bool>()).prop_map(|(text, parens)| if parens { format!("({text})") } else { text });
        let part = part.boxed();
        let lists = vec((part.clone(), any::<bool>()), 0..4);
        prop_oneof![
            (part.clone(), select(OPERATORS), part.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            (part.clone(), part.clone(), part.clone()).prop_map(|(a, b, c)| format!("({a}) ? ({b}) : {c}")),
            (select(&["-", "!", "--", "!!!", "- "][..]), part.clone()).prop_map(|(op, a)| format!("{op}({a})")),
            (select(&["-", "!", "---", "!!"][..]), select(LEAVES)).prop_map(|(op, a)| format!("{op}{a}")),
            (part.clone(), select(&[".b", ".?b", ".`b-c`", ".if", "[0]", "[?'k']", ".f(1)"][..]))
                .prop_map(|(a, suffix)| format!("({a}){suffix}")),
            (select(&["a", "1", "-1", "'s'"][..]), select(&[".b", "[0]", ".f()", ".?b.c"][..]))
                .prop_map(|(a, suffix)| format!("{a}{suffix}")),
            lists.clone().prop_map(|all| {
                let all: Vec<_> = all.iter().map(|(a, mark)| format!("{}{a}", if *mark { "?" } else { "" })).collect();
                format!("[{}]", all.join(","))
            }),
            lists.prop_map(|all| {
                let all: Vec<_> =
                    all.iter().map(|(a, mark)| format!("{}{a}:a", if *mark { "?" } else { "" })).collect();
                format!("{{{}}}", all.join(","))
            }),
            (part.clone(), part.clone(), select(MACROS))
                .prop_map(|(a, b, shape)| { shape.replace("$a", &format!("({a})")).replace("$b", &b) }),
        ]
    })
}

const MACROS: &[&str] = &[
    "$a.all(x, $b)",
    "$a.exists(i, x, $b)",
    "$a.exists_one(x, $b)",
    "$a.map(x, $b)",
    "$a.map(x, $b, x)",
    "$a.filter(x, $b)",
    "$a.transformMap(k, v, $b)",
    "$a.transformMapEntry(k, v, {k: $b})",
    "$a.transformList(k, v, true, $b)",
    "cel.bind(x, $a, $b)",
    "cel.block([$a, cel.index(0)], $b)",
    "$a.optMap(x, $b)",
    "$a.optFlatMap(x, $b)",
    "math.least(a, $b.c)",
    "a.b.sortBy(x, $b)",
    "has($a.b) && $b",
];

const WORDS: &[&str] = &[
    "a", "b", "1", "2u", "1.5", "'s'", "b's'", "true", "null", "in", "as", "+", "-", "!", "*", "==", "<", "&&", "||",
    "?", ":", ".", ",", "(", ")", "[", "]", "{", "}", "`b`", "// c\n", "#", "$", "'", "=", "has(", ".all(", ".?", "[?",
    "é",
];

proptest! {
    #![proptest_config(crate::cases(512))]

    #[test]
    fn expressions_are_read_as_they_were_written(text in expression()) {
        // Some have a literal where a macro does not accept one.
        written(&text, true)?;
        prop_assert!(written(&text, false)?, "{text:?} is not read");
    }

    #[test]
    fn random_sequences_of_tokens(words in vec(select(WORDS), 0..24), space in select(&["", " "][..])) {
        written(&words.join(space), true)?;
    }

    #[test]
    fn any_text(text in ".{0,60}") {
        written(&text, true)?;
    }

    #[test]
    fn parts_cover_their_text(words in vec(select(&["${", "$${", "}", "a", "'", "$", "{", " ", "é", "//", "\n"][..]), 0..16)) {
        let text = words.concat();
        if let Ok(parts) = scan(&text) {
            let mut at = 0;
            for part in parts {
                let span = match part {
                    Part::Text(span) => span,
                    Part::Expression { whole, inner } => {
                        prop_assert_eq!(format!("${{{}}}", &text[inner.range()]), &text[whole.range()]);
                        whole
                    }
                };
                let skipped = &text[at..span.range().start];
                let escape = skipped == "$" && text[span.range()].starts_with("${");
                prop_assert!(skipped.is_empty() || escape, "{}", text);
                at = span.range().end;
            }
            prop_assert_eq!(at, text.len());
        }
    }
}
