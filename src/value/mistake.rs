//! Mistakes in the text of an input: what is wrong in plain words, where, and the likely fix.

use std::ops::Range;
use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};

/// A mistake in a text.
#[derive(Debug, Default)]
pub struct Mistake {
    /// The mistake in plain words.
    pub what: String,
    /// The bytes that it is about.
    pub span: Range<usize>,
    /// The text of the excerpt's label; may be empty.
    pub label: &'static str,
    /// The likely fix.
    pub help: Option<String>,
}

impl Mistake {
    /// Creates a mistake with its fix.
    pub fn new(what: impl Into<String>, span: Range<usize>, help: impl Into<String>) -> Self {
        Self { what: what.into(), span, label: "", help: Some(help.into()) }
    }

    /// Returns the error of a text that stands at byte `base` of `source`. `refused` begins the message: `invalid JSON`.
    pub fn report(self, source: &Arc<Source>, base: usize, refused: &str) -> Box<Diagnostic> {
        let span = Span::of(base + self.span.start..base + self.span.end);
        let error = Diagnostic::new(Code::InputSyntax, format!("{refused}: {}", self.what)).caused_by(self.what);
        Diagnostic { help: self.help, ..*error.at(source, span, self.label) }.into()
    }

    /// The mistake of a word that is no value of `language`.
    pub fn word(language: &str, word: &str, span: Range<usize>) -> Self {
        let text = format!("a text: `{}`", quoted(word));
        let written = match word.to_lowercase().trim_start_matches(['-', '+']) {
            "true" | "yes" | "on" => "true",
            "false" | "no" | "off" => "false",
            "null" | "none" | "nil" | "undefined" | "nan" | "infinity" | "inf" => "null",
            _ => return Self::unquoted(language, word, span),
        };
        let help = match (language, written) {
            ("TOML", "null") => format!("leave the key out, or write {text}"),
            _ => format!("write `{written}`, or {text}"),
        };
        Self::new(format!("{language} has no `{word}`"), span, help)
    }

    fn unquoted(language: &str, word: &str, span: Range<usize>) -> Self {
        let text = quoted(word);
        match decimal(word) {
            Some(number) => {
                let help = format!("write `{number}`, or a text: `{text}`");
                Self::new(format!("`{word}` is not a number of {language}"), span, help)
            }
            None => Self::new(format!("`{word}` is not in quotes"), span, format!("write `{text}`")),
        }
    }
}

/// Returns a decimal number as most languages write it.
fn decimal(word: &str) -> Option<String> {
    let (sign, digits) = word.strip_prefix('-').map_or(("", word.trim_start_matches('+')), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{sign}{whole}{point}{fraction}"))
}

/// Returns a text in double quotes.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the bracket that closes `open`.
pub(crate) const fn closing(open: char) -> char {
    if open == '[' { ']' } else { '}' }
}
