//! Edited and unedited text, literals, and the positions of new items.

use super::{Document, EditExpression};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_value::{Arena, Extended, Value};

fn open(text: &str) -> Document {
    let document = Document::parse(&Source::new("t", text), &Limits::default()).unwrap();
    assert_eq!(document.to_string(), text);
    document
}

fn raw(text: &str) -> EditExpression {
    EditExpression::raw(text).unwrap()
}

#[track_caller]
fn changes(text: &str, change: impl FnOnce(&mut Document), want: &str) {
    let mut document = open(text);
    change(&mut document);
    assert_eq!(document.to_string(), want, "{text:?}");
    open(want);
}

const FILE: &str =
    "# top\n\n# of a\n\ta  =  <<E\n x\nE\n# of b\n/* in */ b \"c\" d /* e */ { # f\n\n    g=1 /* h */ # i\n}\n# end";

#[test]
fn only_what_is_changed_changes() {
    changes(FILE, |file| file.body_mut().set("a", raw("[\n1 ]")).unwrap(), &FILE.replace("<<E\n x\nE", "[\n1 ]"));
    changes(FILE, |file| assert!(file.body_mut().rename("a", "z").unwrap()), &FILE.replace("a  =", "z  ="));
    let remove = |file: &mut Document| {
        let removed = file.body_mut().remove("a").unwrap();
        assert_eq!(removed.to_string(), "# of a\n\ta  =  <<E\n x\nE\n");
    };
    let file = open(FILE);
    assert_eq!(file.body().attribute("a").map(|a| a.value().to_string()).as_deref(), Some("<<E\n x\nE"));
    changes(FILE, remove, &FILE.replace("# of a\n\ta  =  <<E\n x\nE\n", ""));
    let block = |file: &mut Document| file.body_mut().block_mut("b", &["c", "d"]).unwrap().set_labels(&["x\"y"]);
    changes(FILE, block, &FILE.replace("\"c\" d /* e */ {", "\"x\\\"y\" {"));
    let inner = |file: &mut Document| {
        file.body_mut().block_mut("b", &["c", "d"]).unwrap().body_mut().set("g", raw("2")).unwrap()
    };
    changes(FILE, inner, &FILE.replace("g=1", "g=2"));
    let clear = |file: &mut Document| file.body_mut().block_mut("b", &["c", "d"]).unwrap().body_mut().clear();
    changes(FILE, clear, &FILE.replace("\n    g=1 /* h */ # i\n", ""));
    let remove = |file: &mut Document| assert!(file.body_mut().remove_block("b", &["c", "d"]).is_some());
    changes(FILE, remove, "# top\n\n# of a\n\ta  =  <<E\n x\nE\n# end");
}

#[test]
fn new_items_go_to_the_end_of_their_body() {
    let append = |file: &mut Document| {
        let block = file.body_mut().append_block("b", &["c d"]).unwrap();
        block.body_mut().set("e", raw("1")).unwrap();
        block.body_mut().append_empty_line();
        block.body_mut().append_block::<&str>("f", &[]).unwrap().body_mut().set("g", raw("2")).unwrap();
    };
    let new = "b \"c d\" {\n  e = 1\n\n  f {\n    g = 2\n  }\n}\n";
    changes("", append, new);
    changes("a = 1", append, &format!("a = 1\n{new}"));
    changes("# a  ", append, &format!("# a  \n{new}"));
    changes("\u{feff}a = 1\r\n", append, &format!("\u{feff}a = 1\r\n{}", new.replace('\n', "\r\n")));
}

#[test]
fn a_block_of_one_line_gets_lines() {
    let set = |file: &mut Document| file.body_mut().blocks_mut().next().unwrap().body_mut().set("z", raw("1")).unwrap();
    changes("a {}", set, "a {\n  z = 1\n}");
    changes(" a { b = 1 } # c\n", set, " a {\n   b = 1\n   z = 1\n } # c\n");
    changes("a { /* b */ }\n", set, "a {\n  /* b */\n  z = 1\n}\n");
    changes("a { # b\n}\n", set, "a { # b\n  z = 1\n}\n");
    changes("a {\n\tb = 1\n\t}\n", set, "a {\n\tb = 1\n\tz = 1\n\t}\n");
    let lines = |file: &mut Document| {
        let arena = Arena::new();
        let value = arena.map(&[("k", Value::Int(1))]);
        file.body_mut()
            .blocks_mut()
            .next()
            .unwrap()
            .body_mut()
            .set("b", EditExpression::value(value).unwrap())
            .unwrap();
    };
    changes("a { b = 1 }\n", lines, "a {\n  b = {\n    k = 1\n  }\n}\n");
}

#[test]
fn names_and_expressions_must_be_sound() {
    let mut file = open("a = 1\n");
    let body = file.body_mut();
    assert!(
        body.set("a b", raw("1")).is_err()
            && body.rename("a", "-").is_err()
            && body.append_block::<&str>("", &[]).is_err()
    );
    assert!(!body.rename("a", "a").unwrap() && !body.rename("b", "c").unwrap());
    for text in ["", "1\n2", "1\nb = 2", "1 # c", "1 }", "b {", "1 +", "'a'", "<<E\nE\nE2", "1,"] {
        assert!(EditExpression::raw(text).is_err(), "{text:?}");
    }
    for text in [" a.b[0] ", "<<E\n a\nE\n", "\"${a}\"", "(\n1\n)", "f(a...)", "a ? b : c", "!a", "[for a in b : c]"] {
        assert_eq!(raw(text).to_string(), text.trim());
    }
    assert!(Document::parse(&Source::new("t", "a ="), &Limits::default()).is_err());
}

#[test]
fn literals() {
    let arena = Arena::new();
    let literal = |value| EditExpression::value(value).map(|literal| literal.to_string());
    let text = |text: &str| literal(arena.text(text)).unwrap();
    assert_eq!(
        text("a\"\\\n\t$${%{%$é\u{301}\u{a0}\u{7}\u{e0001}"),
        "\"a\\\"\\\\\\n\\t$$${%%{%$é\u{301}\\u00a0\\u0007\\U000e0001\""
    );
    assert_eq!(literal(Value::Float(1e21)).unwrap(), "1000000000000000000000");
    let map = arena.map(&[("b c", Value::Null), ("a", arena.list(&[Value::Bool(true), Value::Uint(u64::MAX)]))]);
    assert_eq!(literal(map).unwrap(), "{\n  a     = [true, 18446744073709551615]\n  \"b c\" = null\n}");
    for wrong in [
        Value::Float(f64::INFINITY),
        arena.unknown(dropforge_value::Type::Dynamic),
        arena.marked(Value::Int(1), &["m"]),
    ] {
        assert!(literal(arena.list(&[wrong])).is_err());
    }
    assert!(matches!(arena.unknown(dropforge_value::Type::Dynamic).extended(), Some(Extended::Unknown(_))));
}

#[test]
fn expressions_of_expressions() {
    let heredoc = raw("<<E\n  x\nE");
    let tuple = EditExpression::tuple(&[heredoc.clone(), raw("1")]);
    let object = EditExpression::object(&[(raw("a"), heredoc), (raw("bc"), tuple)]);
    let call = EditExpression::call("x::f", &[object]).unwrap();
    changes(
        "",
        |file| file.body_mut().set("a", call).unwrap(),
        "a = x::f({\n  a = <<E\n  x\nE\n  bc = [<<E\n  x\nE\n  , 1]\n})\n",
    );
    assert!(EditExpression::call("a b", &[]).is_err() && EditExpression::variable("").is_err());
}
