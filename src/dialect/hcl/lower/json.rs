//! Values of the JSON syntax: the same tuples, objects and templates, written otherwise.

use std::borrow::Cow;

use super::Lower;
use super::values::distinct;
use crate::bytecode::{Failure, Op, Program};
use crate::compiler::{Constant, Emitter};
use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::hcl::json::{Document, Json, JsonId, Property, Templates};
use crate::dialect::hcl::syntax::tree::{Run, Tree};
use crate::function::Registry;
use crate::limits::Limits;
use crate::stdlib::strings::nfc;
use crate::text::Span;

/// The program of values of a document: for each a chunk, in their order, that answers with it. Without `templates`
/// strings are taken as they are written.
///
/// # Errors
/// Limits of the code's size.
pub fn compile_json(
    document: &Document,
    templates: Option<&Templates>,
    roots: &[u32],
    registry: &Registry,
    limits: &Limits,
) -> Result<Program> {
    let none = Tree::new(document.source());
    let lower = Lower::new(templates.map_or(&none, Templates::tree), registry, limits);
    lower.answers(roots, |lower, &root| JsonValue { lower, document, templates }.value(JsonId(root)))
}

/// What is left to be done for a value.
enum Left<'t> {
    /// All of it.
    Begin(JsonId),
    /// What makes a tuple or an object of what it holds.
    End(JsonId),
    /// What makes an object with these keys of its values.
    Keyed(JsonId, Vec<Cow<'t, str>>),
}

/// A value of a document that is being lowered.
struct JsonValue<'l, 't> {
    lower: &'l mut Lower<'t>,
    document: &'t Document,
    templates: Option<&'t Templates>,
}

impl<'t> JsonValue<'_, 't> {
    /// Pushes the value. What is open is on a stack of its own: JSON may nest deeper than calls may.
    fn value(&mut self, root: JsonId) -> Result<()> {
        let mut left = vec![Left::Begin(root)];
        while let Some(next) = left.pop() {
            match next {
                Left::Begin(id) => self.begin(id, &mut left)?,
                Left::End(id) => self.end(id),
                Left::Keyed(id, keys) => {
                    self.lower.at(self.document.node(id).span);
                    self.lower.emitter.map(&keys.iter().map(|key| &**key).collect::<Vec<_>>());
                }
            }
            self.lower.emitter.check_size()?;
        }
        Ok(())
    }

    fn begin(&mut self, id: JsonId, left: &mut Vec<Left<'t>>) -> Result<()> {
        let node = self.document.node(id);
        match node.json {
            Json::Invalid => {
                self.lower.at(node.span);
                self.lower.core("dynamic", 0, &[]);
            }
            Json::Null => self.lower.emitter.constant(Constant::Null),
            Json::Bool(truth) => self.lower.emitter.constant(Constant::Bool(truth)),
            Json::Number(digits) => {
                let digits: &'t str = self.document.str(digits);
                self.lower.number_of(digits);
            }
            Json::String(text) => {
                let text: &'t str = self.document.str(text);
                self.string(text, node.span)?;
            }
            Json::Array(items) => {
                left.push(Left::End(id));
                left.extend(self.document.items(items).iter().rev().map(|&item| Left::Begin(item)));
            }
            Json::Object(run) => {
                let properties = self.document.properties(run);
                if let Some(keys) = self.constant_keys(properties) {
                    left.push(Left::Keyed(id, keys));
                    left.extend(properties.iter().rev().map(|property| Left::Begin(property.value)));
                } else {
                    left.push(Left::End(id));
                    let parts = properties.iter().rev().flat_map(|property| [property.value, property.key]);
                    left.extend(parts.map(Left::Begin));
                }
            }
        }
        Ok(())
    }

    /// The names of properties, where each is a constant text that no other is and they fit one instruction.
    fn constant_keys(&self, properties: &'t [Property]) -> Option<Vec<Cow<'t, str>>> {
        let constant = |of: &Property| self.templates.is_none_or(|templates| templates.at(of.name_span).is_none());
        if properties.len() > Emitter::KEYS || !properties.iter().all(constant) {
            return None;
        }
        let keys: Vec<_> = properties.iter().map(|property| nfc(self.document.str(property.name))).collect();
        distinct(keys.iter().map(|key| &**key)).then_some(keys)
    }

    fn string(&mut self, text: &'t str, span: Span) -> Result<()> {
        match self.templates.and_then(|templates| templates.at(span)) {
            Some(Ok(id)) => self.lower.value(*id),
            Some(Err(wrong)) => {
                self.wrong(wrong, span);
                Ok(())
            }
            None => {
                self.lower.emitter.constant(Constant::Str(nfc(text)));
                Ok(())
            }
        }
    }

    /// A template that is none: what is wrong with it is reported where it is evaluated.
    fn wrong(&mut self, wrong: &[Box<Diagnostic>], span: Span) {
        let Some(first) = wrong.first() else { return };
        let (message, help) = (first.message.clone(), first.help.clone());
        self.lower.at(span);
        self.lower.emitter.fault(&Failure { code: first.code, message, available: None, help });
    }

    fn end(&mut self, id: JsonId) {
        let node = self.document.node(id);
        self.lower.at(node.span);
        match node.json {
            Json::Array(items) => self.list(items, 1),
            Json::Object(run) => {
                self.list(run, 2);
                let names = self.document.properties(run).iter().map(|property| property.name_span);
                self.lower.core("json object", 1, &names.collect::<Vec<_>>());
            }
            _ => {}
        }
    }

    /// Makes a list of the topmost values: so many for each entry of `run`.
    fn list(&mut self, run: Run, each: usize) {
        let count = u32::try_from(run.range().len() * each).unwrap_or(u32::MAX);
        self.lower.emitter.op(Op::List, &[count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::hcl::json::parse_expression;
    use crate::dialect::hcl::lower::compile_expressions;
    use crate::dialect::hcl::registry;
    use crate::dialect::hcl::syntax::parser::parse_expression_at;
    use crate::text::Source;

    /// The code of a value in JSON, and that of one in the native syntax.
    fn codes(json: &str, native: &str) -> [Vec<u32>; 2] {
        let (registry, limits) = (registry(), Limits::default());
        let document = parse_expression(&Source::new("t", json), &limits).document;
        let templates = Templates::new(&document, &limits);
        let json = compile_json(&document, Some(&templates), &[document.root().0], &registry, &limits);
        let mut tree = Tree::new(&Source::new("t", native));
        let (root, wrong) = parse_expression_at(&mut tree, native, 0, &limits);
        assert!(wrong.is_empty(), "{native}");
        let native = compile_expressions(&tree, &[root], &registry, &limits);
        [json, native].map(|program| program.unwrap().words().to_vec())
    }

    #[test]
    fn the_code_is_that_of_the_same_value_in_the_native_syntax() {
        let cases = [
            ("null", "null"),
            ("[true, 1, 2.5, \"e\\u0301\"]", "[true, 1, 2.5, \"é\"]"),
            ("{}", "{}"),
            ("{\"a\": [{\"b\": []}], \"c d\": \"x\"}", "{a = [{b = []}], \"c d\" = \"x\"}"),
            ("[\"x ${v.a + 1}%{ if v } y%{ endif }\", \"${v}\"]", "[\"x ${v.a + 1}%{ if v } y%{ endif }\", v]"),
        ];
        for (json, native) in cases {
            let [json_code, native_code] = codes(json, native);
            assert_eq!(json_code, native_code, "{json}");
        }
    }
}
