//! Values of the JSON syntax: the same tuples, objects and templates in another notation.

use std::borrow::Cow;

use super::Lowering;
use super::expressions::are_distinct;
use crate::json::{Document, Json, JsonId, Property, Templates};
use crate::syntax::{Run, Tree};
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::strings::nfc;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{Failure, Op, Program};
use dropforge_machine::compiler::{Constant, Emitter};
use dropforge_machine::function::Registry;

/// Lowers values of a document to a program with a chunk for each, in their order. Without `templates`, strings are
/// literal.
///
/// # Errors
/// A limit of the code.
pub(crate) fn lower_json(
    document: &Document,
    templates: Option<&Templates>,
    roots: &[JsonId],
    registry: &Registry,
    limits: &Limits,
) -> Result<Program> {
    let none = Tree::new(document.source());
    let lowering = Lowering::new(templates.map_or(&none, Templates::tree), registry, limits);
    lowering.values(roots, |lowering, &root| JsonLowering { lowering, document, templates }.value(root))
}

/// A step of lowering a value.
enum Work<'t> {
    /// Lower the value.
    Begin(JsonId),
    /// Make a tuple or an object of the lowered parts.
    End(JsonId),
    /// Make an object with these keys of the lowered values.
    Keyed(JsonId, Vec<Cow<'t, str>>),
}

/// The lowering of a value of a document.
struct JsonLowering<'l, 't> {
    lowering: &'l mut Lowering<'t>,
    document: &'t Document,
    templates: Option<&'t Templates>,
}

impl<'t> JsonLowering<'_, 't> {
    /// Pushes the value. JSON may nest deeper than the host's stack, so pending work has a stack of its own.
    fn value(&mut self, root: JsonId) -> Result<()> {
        let mut pending = vec![Work::Begin(root)];
        while let Some(work) = pending.pop() {
            match work {
                Work::Begin(id) => self.begin(id, &mut pending)?,
                Work::End(id) => self.end(id),
                Work::Keyed(id, keys) => {
                    self.lowering.at(self.document.node(id).span);
                    self.lowering.emitter.map(&keys.iter().map(|key| &**key).collect::<Vec<_>>());
                }
            }
            self.lowering.emitter.check_size()?;
        }
        Ok(())
    }

    fn begin(&mut self, id: JsonId, pending: &mut Vec<Work<'t>>) -> Result<()> {
        let node = self.document.node(id);
        match node.json {
            Json::Invalid => {
                self.lowering.at(node.span);
                self.lowering.intrinsic("dynamic", 0, &[]);
            }
            Json::Null => self.lowering.emitter.constant(Constant::Null),
            Json::Bool(truth) => self.lowering.emitter.constant(Constant::Bool(truth)),
            Json::Number(digits) => self.lowering.number(self.document.str(digits)),
            Json::String(text) => self.string(self.document.str(text), node.span)?,
            Json::Array(items) => {
                pending.push(Work::End(id));
                pending.extend(self.document.items(items).iter().rev().map(|&item| Work::Begin(item)));
            }
            Json::Object(run) => {
                let properties = self.document.properties(run);
                if let Some(keys) = self.constant_keys(properties) {
                    pending.push(Work::Keyed(id, keys));
                    pending.extend(properties.iter().rev().map(|property| Work::Begin(property.value)));
                } else {
                    pending.push(Work::End(id));
                    let parts = properties.iter().rev().flat_map(|property| [property.value, property.key]);
                    pending.extend(parts.map(Work::Begin));
                }
            }
        }
        Ok(())
    }

    /// Returns the names of properties if all are constant and distinct and one instruction can hold them.
    fn constant_keys(&self, properties: &'t [Property]) -> Option<Vec<Cow<'t, str>>> {
        let is_constant = |of: &Property| self.templates.is_none_or(|templates| templates.at(of.name_span).is_none());
        if properties.len() > Emitter::KEYS || !properties.iter().all(is_constant) {
            return None;
        }
        let keys: Vec<_> = properties.iter().map(|property| nfc(self.document.str(property.name))).collect();
        are_distinct(keys.iter().map(|key| &**key)).then_some(keys)
    }

    fn string(&mut self, text: &'t str, span: Span) -> Result<()> {
        match self.templates.and_then(|templates| templates.at(span)) {
            Some(Ok(id)) => self.lowering.value(*id)?,
            Some(Err(errors)) => {
                // Evaluation reports the syntax error of a template.
                if let Some(first) = errors.first() {
                    let (message, help) = (first.message.clone(), first.help.clone());
                    self.lowering.at(span);
                    self.lowering.emitter.fault(&Failure { code: first.code, message, available: None, help });
                }
            }
            None => self.lowering.emitter.constant(Constant::Str(nfc(text))),
        }
        Ok(())
    }

    fn end(&mut self, id: JsonId) {
        let node = self.document.node(id);
        self.lowering.at(node.span);
        match node.json {
            Json::Array(items) => self.list(items, 1),
            Json::Object(run) => {
                self.list(run, 2);
                let names = self.document.properties(run).iter().map(|property| property.name_span);
                self.lowering.intrinsic("json object", 1, &names.collect::<Vec<_>>());
            }
            _ => {}
        }
    }

    /// Makes a list of the top values, `each` for each entry of `run`.
    fn list(&mut self, run: Run, each: usize) {
        let count = u32::try_from(run.range().len() * each).unwrap_or(u32::MAX);
        self.lowering.emitter.op(Op::List, &[count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse_expression;
    use crate::lower::lower_expressions;
    use crate::registry;
    use crate::syntax::parser::parse_expression_at;
    use dropforge_base::text::Source;

    /// The code of a value in JSON, and that of one in the native syntax.
    fn codes(json: &str, native: &str) -> [Vec<u32>; 2] {
        let (registry, limits) = (registry(), Limits::default());
        let document = parse_expression(&Source::new("t", json), &limits).document;
        let templates = Templates::new(&document, &limits);
        let json = lower_json(&document, Some(&templates), &[document.root()], &registry, &limits);
        let mut tree = Tree::new(&Source::new("t", native));
        let (root, wrong) = parse_expression_at(&mut tree, native, 0, &limits);
        assert!(wrong.is_empty(), "{native}");
        let native = lower_expressions(&tree, &[root], &registry, &limits);
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
