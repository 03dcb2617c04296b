//! Edge cases: sequences cut off, unbalanced braces, line ends, hostile input.

use super::{check, is_identifier, lex_config, lex_template, scan_string_literal};
use crate::syntax::token::PositionIndex;
use crate::syntax::{Token, TokenKind};
use dropforge_base::text::Source;

/// Kinds and texts: `Identifier a`.
fn show(text: &str, tokens: &[Token]) -> Vec<String> {
    let one = |token: &Token| match token.kind {
        TokenKind::End => "End".to_owned(),
        kind => format!("{kind:?} {}", &text[token.span.range()]),
    };
    let mut shown: Vec<_> = tokens.iter().map(one).collect();
    assert_eq!(shown.pop().as_deref(), Some("End"));
    shown
}

#[track_caller]
fn config(text: &str, want: &[&str]) {
    assert_eq!(show(text, &lex_config(text.as_bytes())), want, "{text:?}");
}

#[track_caller]
fn template(text: &str, want: &[&str]) {
    assert_eq!(show(text, &lex_template(text.as_bytes())), want, "{text:?}");
}

#[test]
fn numbers_take_dots_as_long_as_a_digit_follows() {
    config("1.2.3", &["Number 1.2.3"]);
    config("1..2", &["Number 1..2"]);
    config("1...", &["Number 1", "Ellipsis ..."]);
    config("1e5e-6.7", &["Number 1e5e-6.7"]);
    config("1e", &["Number 1", "Identifier e"]);
    config("1.e+", &["Number 1", "Dot .", "Identifier e", "Plus +"]);
    config(".5", &["Dot .", "Number 5"]);
}

#[test]
fn comments_and_what_only_begins_like_one() {
    config("#a\r\nb", &["Comment #a\r\n", "Identifier b"]);
    config("/*/ a */b", &["Comment /*/ a */", "Identifier b"]);
    config("/*/", &["Slash /", "Star *", "Slash /"]);
    config("a /* b", &["Identifier a", "Slash /", "Star *", "Identifier b"]);
}

#[test]
fn braces_close_the_sequence_that_they_balance() {
    config(
        "\"${{a={}}}\"",
        &[
            "OpenQuote \"",
            "OpenInterpolation ${",
            "OpenBrace {",
            "Identifier a",
            "Equal =",
            "OpenBrace {",
            "CloseBrace }",
            "CloseBrace }",
            "CloseSequence }",
            "CloseQuote \"",
        ],
    );
    config(
        "}\"${a~}\"",
        &["CloseBrace }", "OpenQuote \"", "OpenInterpolation ${", "Identifier a", "CloseSequence ~}", "CloseQuote \""],
    );
    config("~}", &["CloseSequence ~}"]);
    config("\"%{~ if a", &["OpenQuote \"", "OpenDirective %{~", "Identifier if", "Identifier a"]);
}

#[test]
fn text_in_quotes() {
    config("\"$$${a}\"", &["OpenQuote \"", "QuotedText $", "QuotedText $${", "QuotedText a}", "CloseQuote \""]);
    config("\"\\${a}\\\"", &["OpenQuote \"", "QuotedText \\${a}\\\""]);
    config("\"$%{a}", &["OpenQuote \"", "QuotedText $", "OpenDirective %{", "Identifier a", "CloseSequence }"]);
    config("\"a$", &["OpenQuote \"", "QuotedText a", "Invalid $"]);
    config("\"a\\", &["OpenQuote \"", "QuotedText a", "Invalid \\"]);
    config("\"a\r\n\n\"", &["OpenQuote \"", "QuotedText a", "QuotedNewline \r\n\n", "CloseQuote \""]);
}

#[test]
fn heredocs() {
    config(
        "<<-A-b\n a\n\tA-b\t\nc",
        &["OpenHeredoc <<-A-b\n", "Text  a\n", "CloseHeredoc \tA-b\t", "Newline \n", "Identifier c"],
    );
    config(
        "<<A\n${a}A\nA",
        &["OpenHeredoc <<A\n", "OpenInterpolation ${", "Identifier a", "CloseSequence }", "Text A\n", "Text A"],
    );
    config("<<A\n$A\n%%{A\n$", &["OpenHeredoc <<A\n", "Text $A", "Text \n", "Text %%{", "Text A\n", "Invalid $"]);
    config("<<A\na\rb\nA\n", &["OpenHeredoc <<A\n", "Text a", "Invalid \rb\nA\n"]);
    config("<<A \n", &["Less <", "Less <", "Identifier A", "Newline \n"]);
    config("<<<é\r\n", &["Less <", "OpenHeredoc <<é\r\n"]);
    config("<<\u{301}\n", &["Less <", "Less <", "Invalid \u{301}", "Newline \n"]);
}

#[test]
fn a_dollar_before_the_last_character_of_a_line_takes_it_along() {
    config(
        "<<A\n$ \n$\n$\r\n\n",
        &["OpenHeredoc <<A\n", "Text $ ", "Text \n", "Text $", "Text \n", "Text $\r", "Text \n", "Text \n"],
    );
    config("<<A\n$x\r\n$${\r\n", &["OpenHeredoc <<A\n", "Text $x", "Text \r\n", "Text $${\r\n"]);
}

#[test]
fn templates_that_are_files() {
    template(
        "a\n$b%{ a }\r\n",
        &["Text a\n", "Text $", "Text b", "OpenDirective %{", "Identifier a", "CloseSequence }", "Text \r\n"],
    );
    template("\"$", &["Text \"", "Text $"]);
    template("\u{feff}a\rb", &["Text a", "Text \rb"]);
}

#[test]
fn identifiers() {
    assert!(["a", "_", "a-", "℮", "क्ष", "a\u{301}"].iter().all(|name| is_identifier(name)));
    assert!(["", " a", "a ", "-a", "1", "\u{301}", "a.b", "é\n"].iter().all(|name| !is_identifier(name)));
}

#[test]
fn bytes_that_are_not_utf8() {
    let kinds = |text: &[u8]| lex_config(text).iter().map(|token| token.kind).collect::<Vec<_>>();
    use TokenKind::{BadUtf8, End, Identifier, Invalid, OpenQuote, QuotedText};
    assert_eq!(kinds(b"a\xC3"), [Identifier, BadUtf8, End]);
    // Bytes that only look like UTF-8 pass here. Decoding of the text refuses them.
    assert_eq!(kinds(b"\xC0\x80"), [Invalid, End]);
    assert_eq!(kinds(b"\"a\xFFb\xED\xA0\x80"), [OpenQuote, QuotedText, BadUtf8, QuotedText, End]);
}

#[test]
fn literal_text_has_no_gaps() {
    for text in ["\\", "a\\u12345\\U00010FFFFa\\\u{e9}\\\n", "$$$${%%%{", "\r\r\n\n", "\\$${", ""] {
        for quoted in [false, true] {
            let pieces: String = scan_string_literal(text, quoted).map(|span| &text[span.range()]).collect();
            assert_eq!(pieces, text);
        }
    }
}

#[test]
fn columns_are_clusters_of_a_token() {
    let text = "a = \"\u{301}👩🏿 e\u{301}\" # é\r\nb";
    let tokens = lex_config(text.as_bytes());
    let places = PositionIndex::new(text.as_bytes(), &tokens);
    let columns: Vec<_> =
        tokens.iter().map(|token| (places.at(token.span.start).line, places.at(token.span.start).column)).collect();
    assert_eq!(columns, [(1, 1), (1, 3), (1, 5), (1, 6), (1, 10), (1, 12), (2, 1), (2, 2)]);
}

#[test]
fn tokens_that_no_source_may_have_are_reported_once() {
    let reported = |text: &str| {
        let source = Source::new("t", text);
        let found = check(&source, lex_config(text.as_bytes()), 100);
        found.iter().map(|diagnostic| diagnostic.primary().map_or(0, |label| label.span.start)).collect::<Vec<_>>()
    };
    assert_eq!(reported("&|^~&"), [0, 1, 2, 3]);
    assert_eq!(reported("'''''''"), [0, 2]);
    assert_eq!(reported("````"), [0, 2]);
    assert_eq!(reported(";;"), [0]);
    assert_eq!(reported("“ ” \u{0} ;"), [0, 4, 8, 10]);
    assert_eq!(reported("\"\n\" \"\n"), [1, 5]);
    assert_eq!(reported("a = b"), [0; 0]);
}

/// Tokens follow each other, and what is between them is blank.
fn covers(text: &[u8], tokens: &[Token]) -> bool {
    let mut at = if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    for token in tokens {
        let gap = text.get(at..token.span.start as usize);
        if !gap.is_some_and(|gap| gap.iter().all(|byte| matches!(byte, b' ' | b'\t')))
            || token.span.end < token.span.start
        {
            return false;
        }
        at = token.span.end as usize;
    }
    at == text.len() && tokens.last().is_some_and(|token| token.kind == TokenKind::End)
}

#[test]
fn every_truncation_is_covered() {
    let text = "\u{feff}a = [1.5e3, \"é ${x[\"y\"]} $${ %{if ~}\\n\"] # c\r\nb {\n c = <<-EOT\n  $ $x ${~ <<E\nE\n~}\r\n EOT\n}\n/* d */ '\r";
    for end in 0..=text.len() {
        let part = &text.as_bytes()[..end];
        assert!(covers(part, &lex_config(part)), "config {end}");
        assert!(covers(part, &lex_template(part)), "template {end}");
    }
}

#[test]
fn nesting_and_length_cost_what_they_are_long() {
    const MANY: usize = 100_000;
    for piece in ["\"${", "<<A\n${", "{", "[", "/*", "<<", "<<A", "1.", "$", "%%", "\\", "é-", "\"a\n", "~}", "\r"] {
        let text = piece.repeat(MANY);
        assert!(covers(text.as_bytes(), &lex_config(text.as_bytes())), "{piece}");
        assert!(covers(text.as_bytes(), &lex_template(text.as_bytes())), "{piece}");
    }
}
