//! Rows for tokens, literal text, identifiers and positions.

use dropforge::dialect::hcl::syntax::lexer::{self, check, lex_config, lex_template, scan_string_literal};
use dropforge::dialect::hcl::syntax::token::{Position, PositionIndex};
use dropforge::dialect::hcl::syntax::token::{Token, TokenKind};
use dropforge::dialect::hcl::values::json::Json;
use dropforge::text::{Source, Span};

use super::encoding::{Check, Row, bytes, numbers};

pub fn tokens(row: &Row<'_>) -> Check {
    let text = row.input()?;
    same_tokens(row, &text, &lex_config(&text))
}

pub fn template_tokens(row: &Row<'_>) -> Check {
    let text = row.input()?;
    same_tokens(row, &text, &lex_template(&text))
}

fn same_tokens(row: &Row<'_>, text: &[u8], tokens: &[Token]) -> Check {
    let places = PositionIndex::new(text, tokens);
    let got = tokens.iter().map(|token| {
        (
            name(token.kind).to_owned(),
            text[token.span.range()].to_vec(),
            six(places.at(token.span.start), places.at(token.span.end)),
        )
    });
    let want = row.list("want").iter().map(|token| {
        let parts = token.as_list().unwrap_or(&[]);
        let name = parts[0].as_text().unwrap_or_default().trim_start_matches("hclsyntax.Token");
        Ok((name.to_owned(), bytes(&parts[1])?, numbers(parts.get(2))))
    });
    same(want.collect::<Check<Vec<_>>>()?, got.collect())
}

fn same<T: PartialEq + std::fmt::Debug>(want: T, got: T) -> Check {
    if want == got { Ok(()) } else { Err(format!("want {want:?}, got {got:?}")) }
}

fn six(start: Position, end: Position) -> Vec<i64> {
    [start, end].iter().flat_map(|place| [place.line, place.column, place.byte]).map(i64::from).collect()
}

/// Returns the reference's name of a token kind.
fn name(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::OpenBrace => "OBrace",
        TokenKind::CloseBrace => "CBrace",
        TokenKind::OpenBracket => "OBrack",
        TokenKind::CloseBracket => "CBrack",
        TokenKind::OpenParen => "OParen",
        TokenKind::CloseParen => "CParen",
        TokenKind::OpenQuote => "OQuote",
        TokenKind::CloseQuote => "CQuote",
        TokenKind::OpenHeredoc => "OHeredoc",
        TokenKind::CloseHeredoc => "CHeredoc",
        TokenKind::Star => "Star",
        TokenKind::Slash => "Slash",
        TokenKind::Plus => "Plus",
        TokenKind::Minus => "Minus",
        TokenKind::Percent => "Percent",
        TokenKind::Equal => "Equal",
        TokenKind::EqualEqual => "EqualOp",
        TokenKind::NotEqual => "NotEqual",
        TokenKind::Less => "LessThan",
        TokenKind::LessEqual => "LessThanEq",
        TokenKind::Greater => "GreaterThan",
        TokenKind::GreaterEqual => "GreaterThanEq",
        TokenKind::And => "And",
        TokenKind::Or => "Or",
        TokenKind::Bang => "Bang",
        TokenKind::Dot => "Dot",
        TokenKind::Comma => "Comma",
        TokenKind::DoubleColon => "DoubleColon",
        TokenKind::Ellipsis => "Ellipsis",
        TokenKind::FatArrow => "FatArrow",
        TokenKind::Question => "Question",
        TokenKind::Colon => "Colon",
        TokenKind::OpenInterpolation => "TemplateInterp",
        TokenKind::OpenDirective => "TemplateControl",
        TokenKind::CloseSequence => "TemplateSeqEnd",
        TokenKind::QuotedText => "QuotedLit",
        TokenKind::Text => "StringLit",
        TokenKind::Number => "NumberLit",
        TokenKind::Identifier => "Ident",
        TokenKind::Comment => "Comment",
        TokenKind::Newline => "Newline",
        TokenKind::End => "EOF",
        TokenKind::BitAnd => "BitwiseAnd",
        TokenKind::BitOr => "BitwiseOr",
        TokenKind::BitNot => "BitwiseNot",
        TokenKind::BitXor => "BitwiseXor",
        TokenKind::Apostrophe => "Apostrophe",
        TokenKind::Backtick => "Backtick",
        TokenKind::Semicolon => "Semicolon",
        TokenKind::Invalid => "Invalid",
        TokenKind::BadUtf8 => "BadUTF8",
        TokenKind::QuotedNewline => "QuotedNewline",
    }
}

pub fn literal_pieces(row: &Row<'_>) -> Check {
    let text = row.text("input")?;
    for (field, quoted) in [("want_quoted", true), ("want_unquoted", false)] {
        let got: Vec<&str> = scan_string_literal(text, quoted).map(|span| &text[span.range()]).collect();
        same(row.list(field).iter().filter_map(Json::as_text).collect::<Vec<_>>(), got)?;
    }
    Ok(())
}

pub fn identifier(row: &Row<'_>) -> Check {
    same(row.flag("want"), lexer::is_identifier(row.text("input")?))
}

/// Checks that there is a diagnostic. The row has the text of the first one, but wording may differ.
pub fn invalid_tokens(row: &Row<'_>) -> Check {
    let source = Source::new("test.hcl", row.text("input")?);
    let tokens = lex_config(source.text().as_bytes());
    let found = check(&source, tokens.iter().copied(), usize::MAX);
    let Some(first) = found.first() else { return Err("nothing is reported".to_owned()) };
    same(row.text("wantsummary")?.to_owned(), first.message.clone())
}

/// Compares the ranges of lines, the only scanner results in these rows.
pub fn lines(row: &Row<'_>) -> Check {
    let text = row.text("input")?;
    let places = PositionIndex::of_text(text);
    let span = |line: &str| {
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        Span::of(start..start + line.len())
    };
    let got = text.lines().map(|line| places.of(span(line))).map(|place| six(place.start, place.end));
    same(row.list("want").iter().map(|range| numbers(Some(range))).collect::<Vec<_>>(), got.collect())
}

/// Converts a single-line range to a byte span.
fn span(row: &Row<'_>, field: &str) -> Span {
    let range = numbers(row.get(field));
    Span::of(range[2] as usize..range[5] as usize)
}

pub fn range_over(row: &Row<'_>) -> Check {
    same(span(row, "want"), span(row, "a").over(span(row, "b")))
}

pub fn range_overlap(row: &Row<'_>) -> Check {
    same(span(row, "want"), span(row, "a").overlap(span(row, "b")))
}

pub fn range_partition(row: &Row<'_>) -> Check {
    let want = ["wantbefore", "wantoverlap", "wantafter"].map(|field| span(row, field));
    same(want, span(row, "outer").partition_around(span(row, "inner")))
}
