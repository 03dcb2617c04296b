//! Trees as text, broken sources, and hostile ones.

use super::*;
use crate::syntax::{AccessStep, Expr, ExprId, Run, StepKind, Tree, lexer};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};

/// An expression as text that shows its structure.
fn dump(tree: &Tree, id: ExprId) -> String {
    let all = |run: Run| tree.ids(run).iter().map(|id| dump(tree, *id)).collect::<Vec<_>>().join(" ");
    let steps = |run: Run| tree.steps(run).iter().map(|step| show_step(tree, step)).collect::<String>();
    let sub = |id: ExprId| dump(tree, id);
    match tree.expr(id) {
        Expr::Invalid => "INVALID".into(),
        Expr::Null => "null".into(),
        Expr::Bool(b) => b.to_string(),
        Expr::Number(digits) => tree.str(digits).into(),
        Expr::Text(text) => format!("{:?}", tree.str(text)),
        Expr::Template(parts) => format!("(template {})", all(parts)),
        Expr::Wrapped(inner) => format!("(wrapped {})", sub(inner)),
        Expr::Joined(inner) => format!("(joined {})", sub(inner)),
        Expr::Paren(inner) => format!("(paren {})", sub(inner)),
        Expr::Traversal { root, steps: run, .. } => format!("{}{}", tree.str(root), steps(run)),
        Expr::Relative { source, steps: run } => format!("(of {} {})", sub(source), steps(run)),
        Expr::Index { collection, key, .. } => format!("(index {} {})", sub(collection), sub(key)),
        Expr::Splat { source, each, .. } => format!("(splat {} {})", sub(source), sub(each)),
        Expr::Item => "@".into(),
        Expr::Call(call) => {
            format!("({}{} {})", tree.str(call.name), if call.expand { "..." } else { "" }, all(call.args))
        }
        Expr::Conditional { condition, then, otherwise } => {
            format!("(if {} {} {})", sub(condition), sub(then), sub(otherwise))
        }
        Expr::Binary { op, left, right } => format!("({op:?} {} {})", sub(left), sub(right)),
        Expr::Unary { op, operand, .. } => format!("({op:?} {})", sub(operand)),
        Expr::Tuple(run) => format!("[{}]", all(run)),
        Expr::Object(run) => {
            let entry = |entry: &crate::syntax::tree::Entry| format!("{}={}", sub(entry.key), sub(entry.value));
            format!("{{{}}}", tree.entries(run).iter().map(entry).collect::<Vec<_>>().join(" "))
        }
        Expr::Key { inner, forced } => format!("{}{}", if forced { "!" } else { "" }, sub(inner)),
        Expr::For(of) => {
            let of = tree.for_expr(of).unwrap();
            let key = of.key.map_or(String::new(), |key| format!("{} => ", sub(key)));
            let names = of.key_var.map_or(String::new(), |name| format!("{} ", tree.str(name)));
            let rest = of.condition.map_or(String::new(), |condition| format!(" if {}", sub(condition)));
            let group = if of.group { "..." } else { "" };
            format!(
                "(for {names}{} {} {key}{}{group}{rest})",
                tree.str(of.value_var),
                sub(of.collection),
                sub(of.value)
            )
        }
    }
}

fn show_step(tree: &Tree, step: &AccessStep) -> String {
    match step.kind {
        StepKind::Attr(name) => format!(".{}", tree.str(name)),
        StepKind::Key(key) => format!("[{:?}]", tree.str(key)),
        StepKind::Number(digits) => format!("[{}]", tree.str(digits)),
    }
}

fn expression(text: &str) -> Parsed<ExprId> {
    parse_expression(&Source::new("e", text), &Limits::default())
}

fn messages(diagnostics: &[Box<Diagnostic>]) -> Vec<String> {
    diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect()
}

const SOUND: &[(&str, &str)] = &[
    ("1 + 2 * 3 - 4", "(Sub (Add 1 (Mul 2 3)) 4)"),
    ("a || b && c == d < e + f * -g", "(Or a (And b (Equal c (Less d (Add e (Mul f (Negate g)))))))"),
    ("a * b + c < d == e && f || g", "(Or (And (Equal (Less (Add (Mul a b) c) d) e) f) g)"),
    ("a - b - c % d / e", "(Sub (Sub a b) (Div (Rem c d) e))"),
    ("!-a.b", "(Not (Negate a.b))"),
    ("a ? b : c ? d : e", "(if a b (if c d e))"),
    ("(a\n+ b) != null", "(NotEqual (paren (Add a b)) null)"),
    ("a.b[0][\"c\"].0.d", "a.b[0][\"c\"][0].d"),
    ("a[b].c[true]", "(index (of (index a b) .c) true)"),
    ("a.*.b.0[1]", "(of (splat a (of @ .b[0])) [1])"),
    ("a[*].b[c].*.d", "(splat a (splat (index (of @ .b) c) (of @ .d)))"),
    ("a[*][*]", "(splat a (splat @ @))"),
    ("a.*.*", "INVALID"),
    ("f()", "(f )"),
    ("a::b :: c(1, [2,], x...)", "(a::b::c... 1 [2] x)"),
    ("{a = 1, b : 2\n c = 3\n\n}", "{a=1 b=2 c=3}"),
    ("{(a) = 1, (b).c = 2, \"d${e}\" = 3, f.g = 4}", "{!(paren a)=1 !(of (paren b) .c)=2 (template \"d\" e)=3 f.g=4}"),
    ("[for a in b : a]", "(for a b a)"),
    ("{\n for a, b in c :\n a => b... if d }", "(for a b c a => b... if d)"),
    ("[for if in in : if.in if if]", "(for if in if.in if if)"),
    ("{if = 1, in = for}", "{if=1 in=for}"),
    ("\"a$${b}\\n\\u00e9\"", "(template \"a${b}\\né\")"),
    ("\"${a}\"", "(wrapped a)"),
    ("\"${a}${b}\"", "(template a b)"),
    ("\"\"", "(template \"\")"),
    ("\"e\u{301}\"", "(template \"é\")"),
    ("\"a ${~ b ~} c\"", "(template \"a\" b \"c\")"),
    ("\"%{ if a }b%{ else }c%{ endif }d\"", "(template (if a (template \"b\") (template \"c\")) \"d\")"),
    ("\"%{ if a }%{ endif }\"", "(template (if a (template \"\") (template \"\")))"),
    ("\"%{ for a, b in c ~} ${a} %{ endfor }\"", "(template (joined (for a b c (template \"\" a \" \"))))"),
    ("<<A\n  x ${y}\n A\n", "(template \"  x \" y \"\\n\")"),
    ("<<-A\n    x\n\n  y\n  A\n", "(template \"  x\\n\\ny\\n\")"),
];

#[test]
fn trees() {
    for (text, wanted) in SOUND {
        let parsed = expression(text);
        if *wanted == "INVALID" {
            assert!(!parsed.diagnostics.is_empty(), "{text}");
            continue;
        }
        assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
        assert_eq!(dump(&parsed.tree, parsed.root), *wanted, "{text}");
    }
}

/// A text with a token missing, doubled or exchanged is read to its end, with the errors explained.
#[test]
fn what_is_refused_is_explained() {
    let mut refused = 0;
    for (text, _) in SOUND {
        let tokens = lexer::lex_config(text.as_bytes());
        let piece = |at: usize| tokens.get(at).map_or("", |token| text.get(token.span.range()).unwrap());
        for at in 0..tokens.len() {
            let rest = |from: usize| (from..tokens.len()).map(&piece).collect::<Vec<_>>().join(" ");
            let front = (0..at).map(&piece).collect::<Vec<_>>().join(" ");
            let (this, next) = (piece(at), piece(at + 1));
            for broken in [
                format!("{front} {}", rest(at + 1)),
                format!("{front} {this} {}", rest(at)),
                format!("{front} {next} {this} {}", rest(at + 2)),
                format!("{front} ] {}", rest(at)),
                format!("{front} . {}", rest(at)),
                format!("{front} ? {}", rest(at)),
            ] {
                let said = messages(&expression(&broken).diagnostics);
                refused += usize::from(!said.is_empty());
                assert!(!said.iter().any(|message| message == "Invalid syntax"), "{broken:?}");
            }
        }
    }
    assert!(refused > 500, "{refused}");
}

const FILE: &str = "# é\na = [1, {b = \"x${y}\"}]\nb \"l\" m {\n  c { d = 1 }\n  e {}\n  f = <<-E\n    g\n   E\n}\n\
    h = a.b[*].c ? d(1, e...) : -f\n/* i */ j = \"%{ if k }l%{ endif }\" // m\n";

#[test]
fn a_file_cut_anywhere_is_read() {
    let limits = Limits::default();
    assert!(parse_config(&Source::new("f", FILE), &limits).diagnostics.is_empty());
    for end in (0..FILE.len()).filter(|&end| FILE.is_char_boundary(end)) {
        let text = FILE.get(..end).unwrap();
        for text in [text.to_owned(), format!("{text}\nz = 1"), FILE.get(end..).unwrap().to_owned()] {
            let parsed = parse_config(&Source::new("f", text.as_str()), &limits);
            assert!(!messages(&parsed.diagnostics).iter().any(|message| message == "Invalid syntax"), "{text:?}");
            let _ = parse_expression(&Source::new("f", text.as_str()), &limits);
            let parsed = parse_template(&Source::new("f", text), &limits);
            assert!(!messages(&parsed.diagnostics).iter().any(|message| message == "Invalid syntax"));
        }
    }
}

#[test]
fn a_broken_item_does_not_hide_the_next_ones() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("a = )\nb = 1\nc = (2\n", &["Invalid expression", "Unbalanced parentheses"], "a b c"),
        ("a = 1 b = 2\nc = 3\n", &["Missing newline after argument"], "a c"),
        ("a = 1\na = 2\nb = 3\n", &["Attribute redefined"], "a b"),
        ("a = \"\\q\"\nb = [\"\\z\"]\n", &["Invalid escape sequence", "Invalid escape sequence"], "a b"),
        ("a = 1e5000000000\nb = 2\n", &["Invalid number literal"], "a b"),
        ("a {\n  b = [\n}\nc = 1\n", &["Invalid expression"], ""),
        ("a\nb = 1\n", &["Argument or block definition required"], "b"),
        ("\"a\" = 1\nb = 1\n", &["Invalid argument name"], ""),
        ("}\nb = 1\n", &["Argument or block definition required"], ""),
        ("a {\n", &["Unclosed configuration block"], ""),
        ("a = {b = 1, c\n}\nd = 1\n", &["Missing attribute value"], "a d"),
        ("a = b.0.1\n", &["Invalid legacy index syntax"], "a"),
        ("a = \"${b\"", &["Unclosed template interpolation sequence"], "a"),
        ("a = \"%{ if b }c\"\nd = 1\n", &["Unexpected end of template"], "a d"),
        ("a = \"%{ fi b }\"\n", &["Invalid template control keyword"], "a"),
        ("a = [for b in c : d => e...]\n", &["Invalid 'for' expression", "Invalid 'for' expression"], "a"),
        ("a = f(1, 2\n", &["Unterminated function call"], "a"),
        ("a = b ? c\nd = 1\n", &["Missing false expression in conditional"], "a d"),
    ];
    for (text, wanted, names) in cases {
        let parsed = parse_config(&Source::new("f", *text), &Limits::default());
        assert_eq!(messages(&parsed.diagnostics), *wanted, "{text}");
        let body = parsed.tree.body(parsed.root).unwrap();
        let set: Vec<_> = body.attributes.iter().map(|set| parsed.tree.str(set.name)).collect();
        assert_eq!(set.join(" "), *names, "{text}");
    }
}

#[test]
fn places_after_an_error() {
    for (text, file, open, close) in [
        ("b \"x\" y", 0, (0, 1), (0, 1)),
        ("b x = {\n}\n", 0, (0, 1), (0, 1)),
        ("b x {\n  ?\n", 0, (4, 5), (10, 10)),
        ("b x { a = }\n", 0, (4, 5), (12, 12)),
        ("/* */ b \"x\" {}", 6, (12, 13), (13, 14)),
        ("# c\nb x {}", 0, (8, 9), (9, 10)),
    ] {
        let parsed = parse_config(&Source::new("f", text), &Limits::default());
        let body = parsed.tree.body(parsed.root).expect("a file has a body");
        let place = |span: Span| (span.start, span.end);
        let places: Vec<_> = body.blocks.iter().map(|block| (place(block.open), place(block.close))).collect();
        assert_eq!((body.span.start, &*places), (file, &[(open, close)][..]), "{text}");
    }
}

#[test]
fn what_is_left_of_a_broken_value() {
    let cases = [
        ("(1", "(paren 1)"),
        ("{a = 1, b", "{a=1}"),
        ("[1, 2 3]", "[1 2]"),
        ("f(1, [)", "(f 1 [INVALID])"),
        ("1 + 2 * )", "1"),
        ("1 * 2 + )", "(Mul 1 2)"),
        ("a ? b", "a"),
        ("\"x${a\"", "(template \"x\" a)"),
        ("a.b.", "INVALID"),
        ("\"\\u12\"", "(template \"\\\\u12\")"),
    ];
    for (text, wanted) in cases {
        let parsed = expression(text);
        assert!(!parsed.diagnostics.is_empty(), "{text}");
        assert_eq!(dump(&parsed.tree, parsed.root), wanted, "{text}");
    }
}

#[test]
fn a_template_in_another_source() {
    let limits = Limits::default();
    let source = Source::new("j", r#"{"a": "x${b}", "c": "\u0078${d}"}"#);
    let mut tree = Tree::new(&source);
    let (plain, errors) = parse_template_at(&mut tree, "x${b}", 7, &limits);
    assert_eq!((dump(&tree, plain).as_str(), errors.len()), ("(template \"x\" b)", 0));
    let (escaped, _) = parse_template_at(&mut tree, "x${d}", 21, &limits);
    assert_eq!(dump(&tree, escaped), "(template \"x\" d)");
    let Expr::Template(parts) = tree.expr(plain) else { panic!() };
    assert_eq!(source.slice(tree.span(tree.ids(parts)[1])), "b");
    let (_, errors) = parse_template_at(&mut tree, "${)}", 7, &limits);
    assert_eq!(errors[0].primary().map(|label| label.span), Some(Span::new(9, 10)));
    let (_, errors) = parse_expression_at(&mut tree, "1 $", 3, &limits);
    assert_eq!(errors[0].primary().map(|label| label.span), Some(Span::new(5, 6)));
}

/// Runs on a small stack.
fn small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
}

const DEEP: usize = 100_000;

#[test]
fn deep_sources_are_refused() {
    small_stack(|| {
        let shapes = [
            ("(", "1", ")"),
            ("[", "1", "]"),
            ("{a=", "1", "}"),
            ("f(", "1", ")"),
            ("a[", "1", "]"),
            ("\"${", "1", "}\""),
            ("-", "1", ""),
            ("!", "a", ""),
            ("a ? b : ", "c", ""),
            ("a ? ", "b", " : c"),
            ("[for a in ", "b", ": a]"),
            ("\"%{ if a }${", "b", "}%{ endif }\""),
            ("<<A\n${", "b", "}\nA\n"),
        ];
        for (open, middle, close) in shapes {
            for close in [close, ""] {
                let text = [&open.repeat(DEEP), middle, &close.repeat(DEEP)].concat();
                let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
                let parsed = parse_expression(&Source::new("e", text.as_str()), &limits);
                let codes: Vec<_> = parsed.diagnostics.iter().map(|error| error.code).collect();
                assert_eq!(codes, [Code::LimitDepth], "{open}");
                let parsed = parse_config(&Source::new("e", format!("x = ) \ny = \"${{)}}${{{text}")), &limits);
                assert!(!parsed.diagnostics.is_empty(), "{open}");
            }
        }
    });
}

#[test]
fn deep_blocks_and_directives_are_refused() {
    small_stack(|| {
        let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
        for text in ["a {\n".repeat(DEEP), "a {\n".repeat(DEEP) + &"}\n".repeat(DEEP), "a \"b\" { ".repeat(DEEP)] {
            let parsed = parse_config(&Source::new("f", text), &limits);
            assert!(parsed.diagnostics.len() <= 2);
        }
        let parsed = parse_config(&Source::new("f", "a {\n".repeat(DEEP)), &limits);
        assert_eq!(parsed.diagnostics[0].code, Code::LimitDepth);
        for text in ["%{ if a }".repeat(DEEP), "%{ for a in b }".repeat(DEEP) + &"%{ endfor }".repeat(DEEP)] {
            let parsed = parse_template(&Source::new("t", text), &limits);
            assert_eq!(messages(&parsed.diagnostics).len(), 1);
            assert_eq!(parsed.diagnostics[0].code, Code::LimitDepth);
        }
    });
}

#[test]
fn long_chains_are_refused_and_long_lists_are_not() {
    small_stack(|| {
        let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
        for (part, end) in [("1 + ", "1"), ("a || ", "a"), ("a == ", "b")] {
            let parsed = parse_expression(&Source::new("e", part.repeat(DEEP) + end), &limits);
            assert_eq!(parsed.diagnostics[0].code, Code::LimitDepth);
            let parsed = parse_expression(&Source::new("e", part.repeat(9_000) + end), &limits);
            assert!(parsed.diagnostics.is_empty());
        }
        for step in [".b", "[0]", "[c]", ".*", "[*]"] {
            let parsed = parse_expression(&Source::new("e", format!("a{}", step.repeat(DEEP))), &limits);
            assert!(!parsed.diagnostics.is_empty(), "{step}");
        }
        for list in
            ["[".to_owned() + &"-1 + a.b[0], ".repeat(DEEP) + "]", "{\n".to_owned() + &"a = !b\n".repeat(DEEP) + "}"]
        {
            let parsed = parse_expression(&Source::new("e", list), &limits);
            assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics[0]);
        }
        for many in ["a = )\n", "a\n", "a = 1\n", "a = \"\\q\"\n"] {
            let parsed = parse_config(&Source::new("f", many.repeat(DEEP)), &limits);
            assert!(parsed.diagnostics.len() <= limits.diagnostics, "{many:?}");
        }
        for many in ["${)}", "%{ if ) }", "%{ x }"] {
            let parsed = parse_expression(&Source::new("e", format!("\"{}\"", many.repeat(DEEP))), &limits);
            assert!((1..=limits.diagnostics).contains(&parsed.diagnostics.len()), "{many:?}");
        }
        let parsed = parse_expression(&Source::new("e", "\"".to_owned() + &"\\q".repeat(DEEP) + "\""), &limits);
        assert_eq!(parsed.diagnostics.len(), limits.diagnostics);
    });
}
