#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
enum Outside {
    #[token("${")]
    Open,
    #[token("$")]
    #[regex(r"[^$]+")]
    Text,
}

#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    #[regex("[a-z_][a-z0-9_]*", priority = 9)]
    Identifier,
    /// A run of characters that segments may not contain, or may not start with.
    #[regex(r"[A-Za-z0-9_\-\u{80}-\u{10FFFF}]+", priority = 3)]
    Word,
    #[token(".")]
    Dot,
}
