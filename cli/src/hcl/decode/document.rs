//! JSON documents in the style of `hcldec`: exact numbers, keys in order.

use dropforge::dialect::hcl::values::json::{Json, write_string};
use dropforge::limits::Limits;

/// A JSON document to print.
pub(crate) enum Doc {
    /// A string.
    Text(String),
    /// A number or a literal, printed verbatim.
    Word(String),
    /// An array.
    List(Vec<Doc>),
    /// An object.
    Object(Vec<(String, Doc)>),
}

pub(crate) fn text(text: &str) -> Doc {
    Doc::Text(text.to_owned())
}

pub(crate) fn number(n: u32) -> Doc {
    Doc::Word(n.to_string())
}

pub(crate) fn object(fields: impl IntoIterator<Item = (&'static str, Doc)>) -> Doc {
    Doc::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl Doc {
    pub(crate) fn of(json: &Json<'_>) -> Self {
        match json {
            Json::Null => Doc::Word("null".into()),
            Json::Bool(truth) => Doc::Word(truth.to_string()),
            Json::Number(digits) => Doc::Word((*digits).to_owned()),
            Json::Text(text) => Doc::Text(text.clone().into_owned()),
            Json::List(items) => Doc::List(items.iter().map(Doc::of).collect()),
            Json::Object(entries) => {
                Doc::Object(entries.iter().map(|(name, value)| (name.clone().into_owned(), Doc::of(value))).collect())
            }
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Doc::Word(word) if word == "null")
    }

    /// Formats the document with two spaces of indentation per level.
    pub(crate) fn pretty(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(0));
        out
    }

    /// Appends the document, on several lines if an indentation is given. Values bound its depth.
    fn write(&self, out: &mut String, indent: Option<usize>) {
        match self {
            Doc::Text(text) => write_string(text, out),
            Doc::Word(word) => out.push_str(word),
            Doc::List(items) => {
                enclosed(out, ('[', ']'), items, indent, |out, item, indent| item.write(out, indent));
            }
            Doc::Object(entries) => enclosed(out, ('{', '}'), entries, indent, |out, (name, value), indent| {
                write_string(name, out);
                out.push_str(if indent.is_some() { ": " } else { ":" });
                value.write(out, indent);
            }),
        }
    }
}

fn enclosed<T>(
    out: &mut String,
    (open, close): (char, char),
    items: &[T],
    indent: Option<usize>,
    mut write: impl FnMut(&mut String, &T, Option<usize>),
) {
    let inner = indent.map(|indent| indent + 1);
    let line = |out: &mut String, indent: Option<usize>| {
        if let (Some(indent), false) = (indent, items.is_empty()) {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", indent));
        }
    };
    out.push(open);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        line(out, inner);
        write(out, item, inner);
    }
    line(out, indent);
    out.push(close);
}

/// Removes null properties at every depth.
pub(crate) fn without_nulls(text: &str, limits: &Limits) -> Result<String, String> {
    // A level of a value is at most two levels of its document, because types nest like values.
    let json = Json::read(text, limits.value_depth * 2 + 2)?;
    let mut out = String::new();
    stripped(Doc::of(&json)).write(&mut out, None);
    Ok(out)
}

fn stripped(doc: Doc) -> Doc {
    match doc {
        Doc::List(items) => Doc::List(items.into_iter().map(stripped).collect()),
        Doc::Object(entries) => {
            let mut kept: Vec<_> = entries.into_iter().filter(|(_, value)| !value.is_null()).collect();
            kept.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            Doc::Object(kept.into_iter().map(|(name, value)| (name, stripped(value))).collect())
        }
        other => other,
    }
}
