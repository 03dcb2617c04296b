use std::convert::Infallible;

use super::*;

/// A value for tests.
#[derive(Clone, Copy)]
enum Node {
    Nil,
    Bool(bool),
    Int(i64),
    Byte(u8),
    Float(f64),
    Text(&'static str),
    Octets(&'static [u8]),
    List(&'static [Node]),
    Map(&'static [(&'static str, Node)]),
}

impl Operand<'static> for Node {
    fn content(self) -> Content<'static, Self> {
        match self {
            Node::Nil => Content::Nil,
            Node::Bool(truth) => Content::Bool(truth),
            Node::Int(n) => Content::Signed(n),
            Node::Byte(n) => Content::Unsigned(n.into()),
            Node::Float(n) => Content::Float(n),
            Node::Text(text) => Content::Text(Cow::Borrowed(text.as_bytes())),
            Node::Octets(octets) => Content::Octets(Cow::Borrowed(octets)),
            Node::List(items) => Content::List(items.to_vec()),
            Node::Map(entries) => {
                Content::Map(entries.iter().map(|(key, node)| (Cow::Borrowed(*key), *node)).collect())
            }
        }
    }

    fn type_name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Node::Nil => "<nil>",
            Node::Bool(_) => "bool",
            Node::Int(_) => "int",
            Node::Byte(_) => "uint8",
            Node::Float(_) => "float64",
            Node::Text(_) => "string",
            Node::Octets(_) => "[]uint8",
            Node::List(_) => "[]any",
            Node::Map(_) => "map[string]any",
        })
    }
}

fn formatted(format: &str, operands: &[Node]) -> String {
    let mut out = Vec::new();
    printf(format.as_bytes(), operands, &mut out, &mut |_| Ok::<_, Infallible>(())).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn numbers() {
    for (format, operand, wanted) in [
        ("%-5d|", Node::Int(42), "42   |"),
        ("%05d", Node::Int(-42), "-0042"),
        ("%+d", Node::Int(42), "+42"),
        ("%x", Node::Int(-255), "-ff"),
        ("%#X", Node::Int(255), "0XFF"),
        ("%#o", Node::Int(8), "010"),
        ("%O", Node::Int(8), "0o10"),
        ("%08b", Node::Int(5), "00000101"),
        ("%c", Node::Int(0x1F600), "😀"),
        ("%q", Node::Int(39), "'\\''"),
        ("%U", Node::Int(0x2713), "U+2713"),
        ("%#U", Node::Int(0x2713), "U+2713 '✓'"),
        ("%.3d", Node::Int(7), "007"),
        ("%8.3f|", Node::Float(2.14159), "   2.142|"),
        ("%-8.1f|", Node::Float(2.25), "2.2     |"),
        ("%+.2e", Node::Float(3.5), "+3.50e+00"),
        ("%08.3f", Node::Float(-3.5), "-003.500"),
        ("%.3g", Node::Float(1234.5), "1.23e+03"),
        ("%.10g", Node::Float(1234.5), "1234.5"),
        ("%g", Node::Float(1e6), "1e+06"),
        ("%#g", Node::Float(1.0), "1.00000"),
        ("%x", Node::Float(3.5), "0x1.cp+01"),
        ("%.1x", Node::Float(1.97), "0x1.0p+01"),
        ("%b", Node::Float(1.0), "4503599627370496p-52"),
        ("%v", Node::Float(f64::INFINITY), "+Inf"),
        ("%5v", Node::Float(f64::NAN), "  NaN"),
        ("%v", Node::Byte(7), "7"),
        ("%#v", Node::Byte(7), "0x7"),
    ] {
        assert_eq!(formatted(format, &[operand]), wanted, "{format}");
    }
}

#[test]
fn texts_and_containers() {
    const LIST: Node = Node::List(&[Node::Text("a"), Node::Float(1.0), Node::Nil]);
    const MAP: Node = Node::Map(&[("k", LIST), ("z", Node::Bool(true))]);
    for (format, operand, wanted) in [
        ("%s", LIST, "[a %!s(float64=1) <nil>]"),
        ("%v", MAP, "map[k:[a 1 <nil>] z:true]"),
        ("%#v", MAP, "map[string]any{\"k\":[]any{\"a\", 1, interface {}(nil)}, \"z\":true}"),
        ("%3s|", MAP, "map[  k:[  a %!s(float64=  1) <nil>]   z:%!s(bool=true)]|"),
        ("%q", Node::Text("a\"é\n"), "\"a\\\"é\\n\""),
        ("%+q", Node::Text("é"), "\"\\u00e9\""),
        ("%#q", Node::Text("a\"b"), "`a\"b`"),
        ("%.2s|", Node::Text("héllo"), "hé|"),
        ("% x", Node::Text("hi"), "68 69"),
        ("%s", Node::Octets(b"hi"), "hi"),
        ("%v", Node::Octets(b"hi"), "[104 105]"),
        ("%T", LIST, "[]any"),
        ("%t", Node::Bool(false), "false"),
    ] {
        assert_eq!(formatted(format, &[operand]), wanted, "{format}");
    }
}

#[test]
fn what_does_not_fit_is_told() {
    for (format, operands, wanted) in [
        ("%d", &[Node::Text("a")][..], "%!d(string=a)"),
        ("%d", &[], "%!d(MISSING)"),
        ("%d", &[Node::Nil], "%!d(<nil>)"),
        ("%z%", &[Node::Int(1)], "%!z(int=1)%!(NOVERB)"),
        ("x", &[Node::Int(1), Node::Text("b")], "x%!(EXTRA int=1, string=b)"),
        ("%[2]d %[1]d", &[Node::Int(1), Node::Int(2)], "2 1"),
        ("%[3]d", &[Node::Int(1)], "%!d(BADINDEX)"),
        ("%*d|%-*d|", &[Node::Int(3), Node::Int(1), Node::Int(3), Node::Int(2)], "  1|2  |"),
        ("%.*f", &[Node::Int(1), Node::Float(2.0)], "2.0"),
        ("%*d", &[Node::Text("a"), Node::Int(1)], "%!(BADWIDTH)1"),
        ("%!", &[], "%!!(MISSING)"),
    ] {
        assert_eq!(formatted(format, operands), wanted, "{format}");
    }
}
