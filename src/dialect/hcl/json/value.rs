//! JSON values as expressions.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::document::{Document, Json, JsonId, Property};
use super::file::JsonFile;
use crate::diagnostics::{Code, Diagnostic};
use crate::dialect::hcl::body::{Context, Faults};
use crate::dialect::hcl::syntax::tree::{Run, Str};
use crate::dialect::hcl::values::convert::convert;
use crate::function::{Cx, Outcome};
use crate::limits::Limit;
use crate::stdlib::bignum::BigNum;
use crate::stdlib::strings::nfc;
use crate::text::Span;
use crate::value::{Type, Value};

/// An expression of the JSON syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dialect::hcl) enum JsonExpr {
    /// A value.
    Value(JsonId),
    /// The name of a property, where it is the key of an object.
    Key(Str, Span),
}

impl JsonExpr {
    /// Its string and where that stands, where it is one.
    pub fn string(self, document: &Document) -> Option<(Str, Span)> {
        match self {
            JsonExpr::Key(name, span) => Some((name, span)),
            JsonExpr::Value(id) => match document.node(id) {
                super::document::Node { json: Json::String(text), span } => Some((text, span)),
                _ => None,
            },
        }
    }

    /// Its opening bracket, or the whole of it where it has none.
    pub fn start(self, document: &Document) -> Span {
        match self {
            JsonExpr::Key(_, span) => span,
            JsonExpr::Value(id) => document.node(id).start(),
        }
    }

    /// Where it stands.
    pub fn span(self, document: &Document) -> Span {
        match self {
            JsonExpr::Key(_, span) => span,
            JsonExpr::Value(id) => document.node(id).span,
        }
    }
}

impl<'r> JsonFile {
    /// The value of an expression. Strings are templates, unless the context takes them as they are written.
    pub(in crate::dialect::hcl) fn evaluate(
        &'r self,
        expr: JsonExpr,
        context: &Context<'r>,
        faults: &mut Faults,
    ) -> Value<'r> {
        let mut evaluation = Evaluation { file: self, context, faults };
        match expr {
            JsonExpr::Value(id) => evaluation.value(id, 0),
            JsonExpr::Key(name, span) => evaluation.string(name, span),
        }
    }
}

struct Evaluation<'e, 'r> {
    file: &'r JsonFile,
    context: &'e Context<'r>,
    faults: &'e mut Faults,
}

impl<'r> Evaluation<'_, 'r> {
    fn document(&self) -> &'r Document {
        self.file.document()
    }

    /// What could not be computed.
    fn faulty(&self) -> Value<'r> {
        self.context.arena().faulty(Type::Dynamic)
    }

    /// Makes a value; where a limit is reached, nothing more is evaluated.
    fn made(&mut self, make: impl FnOnce(&Cx<'r>) -> crate::diagnostics::Result<Value<'r>>) -> Value<'r> {
        match self.context.with_cx(|cx| cx.spend(1).and_then(|()| make(cx))) {
            Ok(value) => value,
            Err(limit) => {
                self.context.stop(limit, self.faults);
                self.faulty()
            }
        }
    }

    fn value(&mut self, id: JsonId, depth: usize) -> Value<'r> {
        let node = self.document().node(id);
        match node.json {
            Json::Invalid => self.faulty(),
            Json::Null => Value::Null,
            Json::Bool(truth) => Value::Bool(truth),
            Json::Number(digits) => self.number(digits),
            Json::String(text) => self.string(text, node.span),
            Json::Array(_) | Json::Object(_) if depth >= self.context.limits().value_depth => {
                let allowed = self.context.limits().value_depth as u64;
                let limit = Limit::ValueDepth.error(allowed).at_if_nowhere(self.document().source(), node.open());
                self.context.stop(limit, self.faults);
                self.faulty()
            }
            Json::Array(items) => {
                let ids = self.document().items(items);
                let items: Vec<_> = ids.iter().map(|&id| self.value(id, depth + 1)).collect();
                self.made(|cx| cx.list(&items))
            }
            Json::Object(properties) => self.object(properties, depth),
        }
    }

    fn number(&mut self, digits: Str) -> Value<'r> {
        let text = self.document().str(digits);
        match text.parse() {
            Ok(n) => Value::Int(n),
            Err(_) => self.made(|cx| {
                cx.charge(text.len() + size_of::<BigNum>())?;
                Ok(BigNum::parse(text).map_or(Value::Null, |number| cx.arena().number(number)))
            }),
        }
    }

    fn string(&mut self, text: Str, span: Span) -> Value<'r> {
        if !self.context.is_literal() {
            match self.file.templates().at(span) {
                Some(Ok(id)) => return self.template(*id),
                Some(Err(wrong)) => {
                    self.faults.extend(wrong.iter().cloned());
                    return self.faulty();
                }
                None => {}
            }
        }
        let text = self.document().str(text);
        self.made(|cx| cx.text(&nfc(text)))
    }

    fn template(&mut self, id: crate::dialect::hcl::syntax::tree::ExprId) -> Value<'r> {
        match self.file.compiled() {
            Ok(compiled) => self.context.run_compiled(compiled, id, self.faults),
            Err(limit) => {
                self.context.stop(limit, self.faults);
                self.faulty()
            }
        }
    }

    fn object(&mut self, properties: Run, depth: usize) -> Value<'r> {
        let properties = self.document().properties(properties);
        let (mut entries, mut places) = (Vec::with_capacity(properties.len()), HashMap::new());
        let (mut known, mut all_marks) = (true, Vec::new());
        for property in properties {
            let key = self.string(property.name, property.name_span);
            let value = self.value(property.value, depth + 1);
            let Some(key) = self.key(key, property) else { continue };
            let (key, marks) = key.unmarked();
            all_marks.extend_from_slice(marks);
            let Some(key) = key.as_str() else {
                known = false;
                continue;
            };
            match places.entry(key) {
                Entry::Occupied(before) => self.duplicate(key, *before.get(), property),
                Entry::Vacant(free) => {
                    free.insert(property.name_span);
                    entries.push((key, value));
                }
            }
        }
        if !known {
            return self.context.arena().unknown(Type::Dynamic);
        }
        self.made(|cx| Ok(cx.arena().marked(cx.map(&entries)?, &all_marks)))
    }

    /// The key as text, known or not; none where it is none, which is reported.
    fn key(&mut self, key: Value<'r>, property: &Property) -> Option<Value<'r>> {
        let document = self.document();
        let fault = |why: &str| {
            Diagnostic::new(Code::TypeMismatch, "Invalid object key expression")
                .at(document.source(), property.name_span, "")
                .with_detail(format!("This cannot be the key of an object: {why}."))
        };
        let as_text = |cx: &Cx<'r>| -> Outcome<Value<'r>> { convert(cx, key, &Type::String) };
        let key = self.context.attempt(self.faults, as_text, |wrong| fault(&wrong.message))?;
        if key.unmarked().0.is_null() {
            self.faults.push(fault("it is null"));
            return None;
        }
        Some(key)
    }

    fn duplicate(&mut self, key: &str, before: Span, property: &Property) {
        let source = self.document().source();
        let detail = format!("The attribute `{key}` was already set at {}.", source.position(before.start));
        let fault = Diagnostic::new(Code::DuplicateDefinition, "Duplicate object attribute")
            .at(source, property.name_span, "")
            .with_detail(detail);
        self.faults.push(fault);
    }
}
