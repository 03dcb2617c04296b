//! Syntax errors of YAML in plain words: where the mistake is, and the likely fix. The parser names what it did not expect,
//! which often stands lines after the mistake.

use granit_parser::ErrorKind;

use crate::mistake::{Mistake, closing};

/// The maximum length of a line that a help shows.
const SHOWN: usize = 100;

/// Returns the mistake that is likely the cause of an error at byte `at`.
pub(super) fn mistake(text: &str, at: usize, error: &ErrorKind) -> Option<Mistake> {
    let here = Line::at(text, at)?;
    match error {
        ErrorKind::MappingValueNotAllowed => unquoted_colon(&here, at),
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator
            if here.is_colon(at) && here.opens_before(at) =>
        {
            colon("a value with `: ` in it needs quotes", at, "put a value with `: ` in it in quotes".to_owned())
        }
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::InvalidColonPlacement
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator => unclosed_bracket(text, at),
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::DocumentIndicatorInQuotedScalar => unclosed_quote(text, at),
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::InvalidIndentation
        | ErrorKind::SimpleKeyExpected
        | ErrorKind::InvalidSimpleKey => misplaced(&here),
        _ => in_place(&here, at, error),
    }
}

/// Returns a mistake that is where the error is.
fn in_place(here: &Line<'_>, at: usize, error: &ErrorKind) -> Option<Mistake> {
    let next = here.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let (what, help) = match error {
        ErrorKind::UnexpectedCharacter { character } => {
            let word = here.text.get(at..)?.lines().next()?.trim_end();
            let quoted = quoted(word).unwrap_or_else(|| format!("\"{character}…\""));
            (format!("an unquoted value cannot begin with `{character}`"), format!("put it in quotes: `{quoted}`"))
        }
        ErrorKind::UnknownAnchor => {
            let word: String =
                here.text.get(at..)?.chars().take_while(|c| !c.is_whitespace() && !",]}".contains(*c)).collect();
            let name = word.trim_start_matches('*');
            let what = format!("`*{name}` stands for an anchor `&{name}`, which no value before it has");
            (what, format!("if it is a text, put it in quotes: `\"*{name}\"`"))
        }
        ErrorKind::BlockSequenceEntryNotAllowed => (
            "a list cannot begin after a key on the same line".to_owned(),
            "put each `- ` on a line of its own below the key".to_owned(),
        ),
        ErrorKind::UnknownQuotedScalarEscape => (
            "text in double quotes has an unknown escape".to_owned(),
            "write `\\\\` for a backslash, or use single quotes".to_owned(),
        ),
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => (
            "the value continues after its closing quote".to_owned(),
            "put the whole value in quotes of the other kind".to_owned(),
        ),
        ErrorKind::MisplacedFlowCollectionEnd => {
            ("this bracket closes nothing".to_owned(), "remove it, or put a text with brackets in quotes".to_owned())
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            (format!("`{open}` is closed by `{close}`"), format!("close it with `{}`", closing(*open)))
        }
        ErrorKind::CommentNotSeparated => (
            "there is no space before this `#`".to_owned(),
            "put a space before a comment, and a text with `#` in quotes".to_owned(),
        ),
        _ => return None,
    };
    Some(Mistake::new(what, at..at + next, help))
}

/// A `:` that makes a key of the text before it, where no key can be.
fn unquoted_colon(here: &Line<'_>, at: usize) -> Option<Mistake> {
    let before = here.text.get(here.start..at)?;
    if before.contains(": ") {
        let example = quoted_entry(here.content())
            .map_or_else(|| ", or in a block that `|-` begins".to_owned(), |entry| format!(": `{entry}`"));
        let help = format!("put a value with `: ` in it in quotes{example}");
        return colon("a value with `: ` in it needs quotes", at, help);
    }
    let above = here.above()?;
    let entry = above.content().trim_start_matches("- ");
    if let Some((key, value)) = entry.split_once(':').filter(|(_, value)| !value.is_empty() && !value.starts_with(' '))
    {
        let start = above.start + above.indent() + (above.content().len() - entry.len());
        let what = format!("`{}` is one text: a key needs a space after its `:`", shown(entry));
        let help = format!("write `{}`", shown(&format!("{key}: {value}")));
        return Some(Mistake::new(what, start..start + entry.len(), help));
    }
    let key = entry.split_once(": ").map(|(key, _)| key).filter(|_| here.indent() > above.indent());
    match key {
        Some(key) => colon(
            "a value with `: ` in it needs quotes",
            at,
            format!(
                "to make a key of it, indent the line like `{}`; put a text of several lines with `: ` in it in quotes, or in a block that `|-` begins",
                shown(key)
            ),
        ),
        None => colon(
            "a value with `: ` in it needs quotes",
            at,
            "put a value with `: ` in it in quotes, or in a block that `|-` begins".to_owned(),
        ),
    }
}

fn colon(what: &str, at: usize, help: String) -> Option<Mistake> {
    let label = "this `:` makes a key of the text before it";
    Some(Mistake { label, ..Mistake::new(what, at..at + 1, help) })
}

/// The bracket that is still open at `at`.
fn unclosed_bracket(text: &str, at: usize) -> Option<Mistake> {
    let mut closed = 0_usize;
    let (open, place) = text.get(..at)?.char_indices().rev().find_map(|(place, c)| match c {
        ']' | '}' => {
            closed += 1;
            None
        }
        '[' | '{' if closed > 0 => {
            closed -= 1;
            None
        }
        '[' | '{' => Some((c, place)),
        _ => None,
    })?;
    // A value that begins with the tag of a template has a help of its own.
    let line = Line::at(text, place)?;
    if line.whole().contains("{{") || line.whole().contains("${") {
        return None;
    }
    let help = format!("add the closing `{}`, or put a text that begins with `{open}` in quotes", closing(open));
    Some(Mistake::new(format!("`{open}` is not closed"), place..place + 1, help))
}

/// The quote that begins the text at `at`: the last one before it that begins a value and is not closed in its line.
fn unclosed_quote(text: &str, at: usize) -> Option<Mistake> {
    let mut line = Line::at(text, at);
    while let Some(here) = line {
        let whole = here.whole();
        for quote in ['"', '\''] {
            let begins = |place: &usize| {
                let before = whole.get(..*place).unwrap_or("").trim_end();
                before.is_empty() || before.ends_with([':', '-', '[', ',', '{'])
            };
            let first = whole.match_indices(quote).map(|(place, _)| place).find(begins);
            let inside = first.and_then(|place| whole.get(place + 1..));
            if let (Some(place), Some(inside)) = (first, inside)
                && !is_closed(inside, quote)
            {
                let start = here.start + place;
                let help = format!("add the closing {quote}");
                return Some(Mistake::new("the quote is not closed", start..start + 1, help));
            }
        }
        line = here.above();
    }
    None
}

/// Returns `true` if a text after a quote has the closing one.
fn is_closed(inside: &str, quote: char) -> bool {
    let plain = if quote == '"' { inside.replace("\\\\", "").replace("\\\"", "") } else { inside.replace("''", "") };
    plain.contains(quote)
}

/// A line that is neither a key nor an item at the indentation of one.
fn misplaced(here: &Line<'_>) -> Option<Mistake> {
    let (content, indent) = (here.content(), here.indent());
    let span = here.start + indent..here.start + indent + content.len();
    let mut fitting = Vec::new();
    let mut line = here.above();
    while let Some(above) = line {
        let least = fitting.last().copied().unwrap_or(usize::MAX);
        if above.indent() < least {
            fitting.push(above.indent());
        }
        if above.indent() == 0 {
            break;
        }
        line = above.above();
    }
    fitting.reverse();
    if !fitting.contains(&indent) && !fitting.is_empty() {
        let columns: Vec<_> = fitting.iter().map(ToString::to_string).collect();
        let what = format!("the indentation of this line, {}, is that of no line before it", spaces(indent));
        return Some(Mistake::new(what, span, format!("indent it by {}", spaces_of(&columns))));
    }
    let is_item = content.starts_with("- ") || content == "-";
    if is_item {
        let help = "indent the list deeper than the keys before it, below a key of its own";
        return Some(Mistake::new("a list item stands between keys", span, help));
    }
    if !content.contains(':') {
        let help = "write `key: value`; indent the line deeper if it continues the value before it";
        return Some(Mistake::new(format!("`{}` is neither a key nor an item", shown(content)), span, help));
    }
    Some(Mistake::new("a key stands between list items", span, "indent it below an item, or begin the line with `- `"))
}

fn spaces(count: usize) -> String {
    if count == 1 { "1 space".to_owned() } else { format!("{count} spaces") }
}

fn spaces_of(counts: &[String]) -> String {
    if counts == ["1"] { "1 space".to_owned() } else { format!("{} spaces", counts.join(" or ")) }
}

/// Returns an entry `key: value` with the value in quotes. `None` if that is not simple.
fn quoted_entry(line: &str) -> Option<String> {
    let (key, value) = line.split_once(": ")?;
    Some(format!("{}: {}", key.trim_start(), quoted(value.trim())?))
}

/// Returns a text in quotes. `None` if that is not simple.
fn quoted(text: &str) -> Option<String> {
    let simple = !text.contains(" #") && !text.is_empty() && !text.ends_with(':') && text.len() <= SHOWN;
    match (text.contains('\''), text.contains(['"', '\\'])) {
        _ if !simple => None,
        (_, false) => Some(format!("\"{text}\"")),
        (false, true) => Some(format!("'{text}'")),
        (true, true) => None,
    }
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
        None => text.to_owned(),
    }
}

/// A line of a text.
struct Line<'t> {
    text: &'t str,
    start: usize,
}

impl<'t> Line<'t> {
    fn at(text: &'t str, at: usize) -> Option<Self> {
        let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
        Some(Self { text, start })
    }

    fn whole(&self) -> &'t str {
        self.text.get(self.start..).and_then(|rest| rest.lines().next()).unwrap_or("")
    }

    fn content(&self) -> &'t str {
        self.whole().trim()
    }

    fn indent(&self) -> usize {
        self.whole().len() - self.whole().trim_start_matches(' ').len()
    }

    /// Returns the last line before that is neither blank nor a comment.
    fn above(&self) -> Option<Line<'t>> {
        let mut line = Line::at(self.text, self.start.checked_sub(1)?)?;
        while line.content().is_empty() || line.content().starts_with('#') {
            line = Line::at(line.text, line.start.checked_sub(1)?)?;
        }
        Some(line)
    }

    /// Returns `true` for a `:` that ends a key.
    fn is_colon(&self, at: usize) -> bool {
        let rest = self.text.get(at..).and_then(|rest| rest.strip_prefix(':'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
    }

    /// Returns `true` if a bracket of this line is open at `at`.
    fn opens_before(&self, at: usize) -> bool {
        self.text.get(self.start..at).is_some_and(|before| before.contains(['[', '{']))
    }
}
