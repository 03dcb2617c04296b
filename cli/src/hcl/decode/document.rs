//! JSON documents in the style of `hcldec`: exact numbers, keys in order; positions and diagnostics.

use std::sync::Arc;

use dropforge::diagnostics::{Diagnostic, Label, parts};
use dropforge::dialect::hcl::body::{Context, Reference, ReferenceStep};
use dropforge::dialect::hcl::syntax::lexer::lex_config;
use dropforge::dialect::hcl::syntax::token::{Position, PositionIndex};
use dropforge::dialect::hcl::values::json::{Json, encode, write_string};
use dropforge::dialect::hcl::values::types::type_of;
use dropforge::limits::Limits;
use dropforge::text::{Source, Span};
use dropforge::value::Value;

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

/// Formats diagnostics as one document.
pub(crate) fn diagnostics_json(diagnostics: &[Box<Diagnostic>]) -> String {
    let mut ranges = Ranges::new();
    let mut one = |diagnostic: &Diagnostic| {
        let mut fields = vec![("severity", text(diagnostic.severity.name())), ("summary", text(&diagnostic.message))];
        let detail = diagnostic.written(parts::HCLDEC, " ");
        if !detail.is_empty() {
            fields.push(("detail", text(&detail)));
        }
        if let Some(Label { source, span, .. }) = diagnostic.primary() {
            fields.push(("subject", range(&mut ranges, source, *span)));
        }
        object(fields)
    };
    object([("diagnostics", Doc::List(diagnostics.iter().map(|diagnostic| one(diagnostic)).collect()))]).pretty()
}

/// The source name of a JSON argument of `--vars`.
pub(crate) fn argument_name(at: usize) -> String {
    format!("<vars argument {at}>")
}

/// Returns `true` for the source name of a JSON argument.
pub(crate) fn is_argument(name: &str) -> bool {
    name.starts_with("<vars argument ")
}

/// The positions in sources that were needed before.
type Ranges = Vec<(Arc<Source>, PositionIndex)>;

/// Returns a range as `{"filename", "start", "end"}`.
pub(crate) fn range(known: &mut Ranges, source: &Arc<Source>, span: Span) -> Doc {
    let at = known.iter().position(|(known, _)| Arc::ptr_eq(known, source)).unwrap_or_else(|| {
        known.push((source.clone(), places(source)));
        known.len() - 1
    });
    let ends = known.get(at).map(|(_, places)| places.of(span));
    let end = |place: Option<Position>| {
        let place = place.unwrap_or(Position { line: 1, column: 1, byte: 0 });
        object([("line", number(place.line)), ("column", number(place.column)), ("byte", number(place.byte))])
    };
    let (start, stop) = (ends.as_ref().map(|ends| ends.start), ends.as_ref().map(|ends| ends.end));
    object([("filename", text(source.name())), ("start", end(start)), ("end", end(stop))])
}

fn places(source: &Source) -> PositionIndex {
    let name = source.name();
    match name.ends_with(".json") || is_argument(name) {
        true => PositionIndex::of_text(source.text()),
        false => PositionIndex::new(source.text().as_bytes(), &lex_config(source.text().as_bytes())),
    }
}

/// Formats references to variables as one document.
pub(crate) fn references_json<'r>(found: &[Reference<'r>], context: &Context<'r>) -> String {
    let mut ranges = Ranges::new();
    Doc::List(found.iter().map(|one| reference(one, context, &mut ranges)).collect()).pretty()
}

fn reference<'r>(reference: &Reference<'r>, context: &Context<'r>, ranges: &mut Ranges) -> Doc {
    let steps = reference.steps(context).into_iter().map(|(step, place)| {
        let mut fields = match step {
            ReferenceStep::Root(name) => vec![("kind", text("root")), ("name", text(name))],
            ReferenceStep::Attr(name) => vec![("kind", text("attr")), ("name", text(name))],
            ReferenceStep::Index(key) => {
                let key = to_doc(key, context).map(|key| ("key", key));
                std::iter::once(("kind", text("index"))).chain(key).collect()
            }
            ReferenceStep::Splat => vec![("kind", text("splat"))],
        };
        fields.push(("range", range(ranges, place.source, place.span)));
        object(fields)
    });
    let steps = Doc::List(steps.collect());
    let mut fields = vec![("root_name", text(reference.root()))];
    fields.extend(reference.value(context).and_then(|value| to_doc(value, context)).map(|value| ("value", value)));
    let place = reference.location();
    fields.extend([("steps", steps), ("range", range(ranges, place.source, place.span))]);
    object(fields)
}

/// Converts a value to a document, unless it cannot be encoded.
fn to_doc<'r>(value: Value<'r>, context: &Context<'r>) -> Option<Doc> {
    let text = context.with_cx(|cx| encode(cx, value, &type_of(cx, value)?)).ok()?;
    let json = Json::read(&text, context.limits().value_depth * 2 + 2).ok()?;
    Some(Doc::of(&json))
}
