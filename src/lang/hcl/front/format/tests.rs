//! The rules of the layout, and that only blanks change.

use super::format;
use crate::syntax::lex_config;

#[track_caller]
fn lays_out(source: &str, want: &str) {
    assert_eq!(format(source), want, "{source:?}");
    assert_eq!(format(want), want, "formatted again: {source:?}");
}

#[test]
fn blanks_between_tokens() {
    lays_out("a=f ( x , [ 1,2 ] ... )", "a = f(x, [1, 2]...)");
    lays_out("a=b . c [ 0 ] [ * ] . d", "a = b.c[0][*].d");
    lays_out("a=x :: y ( 1 )", "a = x::y(1)");
    lays_out("a = - 1-- b*-c?! d:-e", "a = -1 - -b * -c ? !d : -e");
    lays_out("a={ }\nb={c:1}", "a = {}\nb = { c : 1 }");
    lays_out("a=[for x in[b]:x if x!=in[0]]", "a = [for x in [b] : x if x != in[0]]");
    lays_out("in[0]\nx(in[0])", "in[0]\nx(in[0])");
    lays_out("\ta\t=\t1\t\n", "a = 1\n");
}

#[test]
fn templates() {
    lays_out("a=\"x ${ b+1 }${c}%{ if d ~} y %{endif}\"", "a = \"x ${b + 1}${c}%{if d~} y %{endif}\"");
    lays_out("a=\"${{b=1}}${ [ 1 ] }\"", "a = \"${ { b = 1 } }${[1]}\"");
    lays_out("a=<<-E\n  b=1\n ${ c }  \n\tE\nb  =  1\n", "a = <<-E\n  b=1\n ${c}  \n\tE\nb = 1\n");
    lays_out("x{\na=f(<<E\n\n}\nE\n)\n}\n", "x {\n  a = f(<<E\n\n}\nE\n  )\n}\n");
}

#[test]
fn indentation_follows_brackets_by_line() {
    lays_out("a{b{\nc=1\n}}\nd=1\n", "a { b {\n  c = 1\n} }\nd = 1\n");
    lays_out("a([\n1,\n])\n", "a([\n  1,\n])\n");
    lays_out("a([\n1\n]\n)\n", "a([\n  1\n  ]\n)\n");
    lays_out("}}\n  a {\n\n   \n# b\n}", "} }\na {\n\n\n  # b\n}");
}

#[test]
fn values_and_comments_of_lines_in_a_row_stand_below_each_other() {
    lays_out("a=1#x\nbcd=2//y\n\ne=3 # z\n", "a   = 1 #x\nbcd = 2 //y\n\ne = 3 # z\n");
    lays_out("a=[\n1]\nbcd=2\n", "a = [\n1]\nbcd = 2\n");
    lays_out("é=1\ne\u{301}b=2\n", "é  = 1\ne\u{301}b = 2\n");
    lays_out("a = 1 /* b\n c */\nlong=2\n", "a    = 1 /* b\n c */\nlong = 2\n");
    lays_out("a { # b\n}\nc # d\n# e\n", "a { # b\n}\nc # d\n# e\n");
}

#[test]
fn ends_of_files() {
    lays_out("", "");
    lays_out("a=1  ", "a = 1  ");
    lays_out("a=1\r\nbcd=2 # c\r\n", "a   = 1\r\nbcd = 2 # c\r\n");
    assert_eq!(format("\u{feff}a=1\n"), "a = 1\n");
}

#[test]
fn only_blanks_change() {
    let text =
        "a{\nb = [1.5 , \"é ${x [ \"y\" ]} $${ %{ if ~}\\n\"] # c\r\nc=<<-E\n $ ${~ d  ~}\r\n E\n}\n/* d */ 'ö ; \"";
    let texts = |text: &str| {
        let tokens = lex_config(text.as_bytes());
        tokens.iter().map(|token| text[token.span.range()].to_owned()).collect::<Vec<_>>()
    };
    // If a template ends within an escape or a line end, the reference puts a blank before the rest.
    let cut_off = |end: &usize| !text.is_char_boundary(*end) || text[..*end].ends_with(['\\', '\r']);
    for end in (0..=text.len()).filter(|end| !cut_off(end)) {
        let part = &text[..end];
        let laid_out = format(part);
        assert_eq!(texts(&laid_out), texts(part), "{part:?}");
        assert_eq!(format(&laid_out), laid_out, "{part:?}");
    }
}

#[test]
fn depth_and_width_do_not_multiply() {
    let deep = format!("{}{}", "a {\n".repeat(100_000), "}\n".repeat(100_000));
    assert!(format(&deep).len() < 100 << 20);
    let wide = format!("{}=1\n{}", "a".repeat(100_000), "b=1\n".repeat(100_000));
    assert!(format(&wide).ends_with("b = 1\n"));
    for piece in ["a=", "= ", "\"${", "{", "- ", "in ", "[#\n", "/**/"] {
        assert!(!format(&piece.repeat(100_000)).is_empty());
    }
}
