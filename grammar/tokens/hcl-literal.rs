/// The pieces of text inside quotes. An escape need not be valid.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(utf8 = false)]
enum QuotedPiece {
    #[regex(b"\\\\u[0-9A-Fa-f]{0,4}")]
    #[regex(b"\\\\U[0-9A-Fa-f]{0,8}")]
    #[regex(b"\\\\[\x00-\x7F--[uU]]?")]
    #[regex(b"\\\\([\xC0-\xDF][\x80-\xBF]|[\xE0-\xEF][\x80-\xBF]{2}|[\xF0-\xF7][\x80-\xBF]{3})")]
    #[regex(b"\\$\\$?|%%?|\\$\\$\\{|%%\\{")]
    #[regex(b"\r\n?|\n")]
    #[regex(b"[^\\\\$%\r\n]+")]
    Piece,
}

/// The pieces of any other text: a backslash means nothing.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(utf8 = false)]
enum PlainPiece {
    #[regex(b"\\$\\$?|%%?|\\$\\$\\{|%%\\{")]
    #[regex(b"\r\n?|\n")]
    #[regex(b"[^$%\r\n]+")]
    Piece,
}
