/// A JSON number.
#[derive(Logos)]
enum Number {
    #[regex(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")]
    Plain,
    #[regex(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?[eE][-+]?[0-9]+")]
    Scientific,
}
