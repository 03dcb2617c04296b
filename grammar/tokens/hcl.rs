/// Code outside of templates. The longest match wins, and of equal ones an identifier over a character.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(utf8 = false, extras = Comments)]
#[logos(skip b"[ \t]+")]
pub(super) enum Code {
    #[regex(b"[A-Za-z_][A-Za-z0-9_\\-]*", identifier, priority = 10)]
    #[regex(b"[0-9]+", number)]
    #[token(b"\n", |_| TokenKind::Newline)]
    #[token(b"\r\n", |_| TokenKind::Newline)]
    #[token(b"[", |_| TokenKind::OpenBracket)]
    #[token(b"]", |_| TokenKind::CloseBracket)]
    #[token(b"(", |_| TokenKind::OpenParen)]
    #[token(b")", |_| TokenKind::CloseParen)]
    #[token(b"*", |_| TokenKind::Star)]
    #[token(b"/", slash)]
    #[token(b"#", line_comment)]
    #[token(b"+", |_| TokenKind::Plus)]
    #[token(b"-", |_| TokenKind::Minus)]
    #[token(b"%", |_| TokenKind::Percent)]
    #[token(b"=", |_| TokenKind::Equal)]
    #[token(b"==", |_| TokenKind::EqualEqual)]
    #[token(b"!=", |_| TokenKind::NotEqual)]
    #[token(b"<", less)]
    #[token(b"<=", |_| TokenKind::LessEqual)]
    #[token(b">", |_| TokenKind::Greater)]
    #[token(b">=", |_| TokenKind::GreaterEqual)]
    #[token(b"&&", |_| TokenKind::And)]
    #[token(b"||", |_| TokenKind::Or)]
    #[token(b"!", |_| TokenKind::Bang)]
    #[token(b".", |_| TokenKind::Dot)]
    #[token(b",", |_| TokenKind::Comma)]
    #[token(b"::", |_| TokenKind::DoubleColon)]
    #[token(b"...", |_| TokenKind::Ellipsis)]
    #[token(b"=>", |_| TokenKind::FatArrow)]
    #[token(b"?", |_| TokenKind::Question)]
    #[token(b":", |_| TokenKind::Colon)]
    #[token(b"&", |_| TokenKind::BitAnd)]
    #[token(b"|", |_| TokenKind::BitOr)]
    #[token(b"~", |_| TokenKind::BitNot)]
    #[token(b"^", |_| TokenKind::BitXor)]
    #[token(b"'", |_| TokenKind::Apostrophe)]
    #[token(b"`", |_| TokenKind::Backtick)]
    #[token(b";", |_| TokenKind::Semicolon)]
    #[regex(b"[\x00-\x7F]", |_| TokenKind::Invalid, priority = 1)]
    #[regex(b"[\xC0-\xDF][\x80-\xBF]|[\xE0-\xEF][\x80-\xBF]{2}|[\xF0-\xF7][\x80-\xBF]{3}", wide_start, priority = 1)]
    #[regex(b"[\x80-\xFF]", |_| TokenKind::BadUtf8, priority = 0)]
    Plain(TokenKind),
    #[token(b"{")]
    OpenBrace,
    #[token(b"}")]
    CloseBrace,
    #[token(b"~}")]
    TrimBrace,
    #[token(b"\"")]
    Quote,
}

/// Text inside quotes.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(utf8 = false)]
pub(super) enum Quoted {
    #[token(b"\"")]
    Quote,
    #[token(b"$", |lex| sequence(lex.remainder(), b'$'))]
    #[token(b"%", |lex| sequence(lex.remainder(), b'%'))]
    Sequence(Sequence),
    #[regex(b"[\r\n]+")]
    Newlines,
    #[regex(b"[\x00-\xFF]", quoted_text, priority = 0)]
    Text(TokenKind),
}

/// Text of a heredoc or of a template that is a file. It cannot contain a lone `\r`.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(utf8 = false)]
pub(super) enum Literal {
    #[token(b"$", |lex| literal_sequence(lex, b'$'))]
    #[token(b"%", |lex| literal_sequence(lex, b'%'))]
    #[regex(b"[\x00-\xFF]", literal, priority = 0)]
    Piece(Piece),
}
