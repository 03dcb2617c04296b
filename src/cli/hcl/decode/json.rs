//! JSON as the tool prints it: numbers in full, names in order.

use super::report::Ranges;
use crate::dialect::hcl::body::{Context, Reference, Step};
use crate::dialect::hcl::values::json::{Json, encode, write_string};
use crate::dialect::hcl::values::types::type_of;
use crate::limits::Limits;
use crate::value::Value;

/// A document to be printed.
pub(super) enum Doc {
    /// Text.
    Text(String),
    /// What is printed as it is: a number or a word.
    Word(String),
    /// An array.
    List(Vec<Doc>),
    /// An object.
    Object(Vec<(String, Doc)>),
}

pub(super) fn text(text: &str) -> Doc {
    Doc::Text(text.to_owned())
}

pub(super) fn number(n: u32) -> Doc {
    Doc::Word(n.to_string())
}

pub(super) fn object(fields: impl IntoIterator<Item = (&'static str, Doc)>) -> Doc {
    Doc::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl Doc {
    fn of(json: &Json<'_>) -> Self {
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

    /// The document in lines, indented by two blanks for each level.
    pub(super) fn pretty(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(0));
        out
    }

    /// Appends the document; in lines where an indentation is given. Its depth is bounded by that of values.
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

/// A document without the properties that are null, at every depth.
pub(super) fn without_nulls(text: &str, limits: &Limits) -> Result<String, String> {
    // Each level of a value is at most two of its document: types are nested as values are.
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
            kept.sort_by(|(a, _), (b, _)| a.cmp(b));
            Doc::Object(kept.into_iter().map(|(name, value)| (name, stripped(value))).collect())
        }
        other => other,
    }
}

/// The variables that configurations name, as one document.
pub(super) fn references<'r>(found: &[Reference<'r>], context: &Context<'r>) -> String {
    let mut ranges = Ranges::default();
    Doc::List(found.iter().map(|one| reference(one, context, &mut ranges)).collect()).pretty()
}

fn reference<'r>(reference: &Reference<'r>, context: &Context<'r>, ranges: &mut Ranges) -> Doc {
    let steps = reference.steps(context).into_iter().map(|(step, place)| {
        let mut fields = match step {
            Step::Root(name) => vec![("kind", text("root")), ("name", text(name))],
            Step::Attr(name) => vec![("kind", text("attr")), ("name", text(name))],
            Step::Index(key) => {
                let key = written(key, context).map(|key| ("key", key));
                std::iter::once(("kind", text("index"))).chain(key).collect()
            }
            Step::Splat => vec![("kind", text("splat"))],
        };
        fields.push(("range", ranges.range(place.source, place.span)));
        object(fields)
    });
    let steps = Doc::List(steps.collect());
    let mut fields = vec![("root_name", text(reference.root()))];
    fields.extend(reference.value(context).and_then(|value| written(value, context)).map(|value| ("value", value)));
    let place = reference.place();
    fields.extend([("steps", steps), ("range", ranges.range(place.source, place.span))]);
    object(fields)
}

/// A value as a document, where it can be written.
fn written<'r>(value: Value<'r>, context: &Context<'r>) -> Option<Doc> {
    let text = context.with_cx(|cx| encode(cx, value, &type_of(cx, value)?)).ok()?;
    let json = Json::read(&text, context.limits().value_depth * 2 + 2).ok()?;
    Some(Doc::of(&json))
}
