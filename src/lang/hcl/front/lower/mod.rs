//! From trees to bytecode.
//!
//! An expression becomes a chunk that returns its value, a template file a chunk that writes. Operators are
//! instructions. Conditionals, splats, object constructors and the ends of loops are intrinsics
//! (`builtins::intrinsics`). Values of the JSON syntax are the same tuples, objects and templates in another notation.

mod expressions;
mod loops;

use std::borrow::Cow;

use crate::Rules;
use crate::json::{JsonContent, JsonDocument, JsonId, Property, Templates};
use crate::syntax::{Expr, ExprId, Operator, Run, Tree};
use dropforge_base::diagnostics::{Diagnostic, Result, at_most};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::strings::nfc;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{Dialect, Failure, ImportKind, Op, Program};
use dropforge_machine::compiler::{Compiled, Constant, Emitter, Fold};
use dropforge_machine::function::Registry;
use expressions::are_distinct;

impl Fold for Rules {}

/// The lowering of one program.
pub(super) struct Lowering<'t> {
    pub tree: &'t Tree,
    pub registry: &'t Registry,
    pub limits: &'t Limits,
    pub emitter: Emitter<'t>,
    /// The names and slots of open loops, innermost last.
    pub locals: Vec<(&'t str, u32)>,
    /// The slots of the elements of open splats, innermost last.
    pub items: Vec<u32>,
    /// `true` if results of pure functions are memoised. Every chunk reserves the memos of the whole program, so a
    /// program of many chunks has none.
    pub memoises: bool,
    /// Calls that can only fail. Evaluation reports them if it reaches them.
    pub lints: Vec<Box<Diagnostic>>,
}

/// Lowers a template to a program that writes its text.
///
/// # Errors
/// A limit of the code.
pub(crate) fn lower_template(tree: &Tree, root: ExprId, registry: &Registry, limits: &Limits) -> Result<Compiled> {
    let mut lowering = Lowering::new(tree, registry, limits);
    lowering.chunk(|lowering| lowering.write(root))?;
    let lints = at_most(lowering.lints, limits.diagnostics, 0);
    Ok(Compiled { program: lowering.emitter.finish()?, lints, reaches: Vec::new(), tree: None })
}

/// An expression that is lowered to a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Root {
    pub id: ExprId,
    /// `true` for the text that the expression has as a part of a template.
    pub is_part: bool,
}

impl From<ExprId> for Root {
    fn from(id: ExprId) -> Self {
        Self { id, is_part: false }
    }
}

/// Lowers expressions to a program with a chunk for each, in their order.
///
/// # Errors
/// A limit of the code.
pub fn lower_expressions<R: Copy + Into<Root>>(
    tree: &Tree,
    roots: &[R],
    registry: &Registry,
    limits: &Limits,
) -> Result<Program> {
    Lowering::new(tree, registry, limits).values(roots, |lowering, &root| match root.into() {
        Root { id, is_part: false } => lowering.value(id),
        Root { id, .. } => lowering.joined(lowering.span(id), &[id]),
    })
}

impl<'t> Lowering<'t> {
    pub fn new(tree: &'t Tree, registry: &'t Registry, limits: &'t Limits) -> Self {
        Self {
            tree,
            registry,
            limits,
            emitter: Emitter::new(Dialect::Hcl, &Rules, limits.code_words),
            locals: Vec::new(),
            items: Vec::new(),
            memoises: true,
            lints: Vec::new(),
        }
    }

    /// Finishes a program with a chunk for each of `roots`, which returns the value that `push` pushes.
    pub fn values<R>(mut self, roots: &[R], mut push: impl FnMut(&mut Self, &R) -> Result<()>) -> Result<Program> {
        self.memoises = roots.len() == 1;
        for root in roots {
            self.chunk(|lowering| {
                push(lowering, root)?;
                lowering.emitter.op(Op::Answer, &[]);
                Ok(())
            })?;
        }
        if roots.is_empty() {
            self.chunk(|_| Ok(()))?;
        }
        self.emitter.finish()
    }

    /// Adds a chunk without parameters.
    fn chunk(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let id = self.emitter.declare_chunk(self.tree.source().name(), 0);
        self.emitter.begin_chunk(id);
        self.at(Span::default());
        body(self)?;
        self.emitter.end_chunk();
        self.emitter.check_size()
    }

    /// Sets the span of the instructions that follow.
    pub fn at(&mut self, span: Span) {
        self.emitter.at(self.tree.source(), span);
    }

    pub fn span(&self, id: ExprId) -> Span {
        self.tree.span(id)
    }

    /// Calls an intrinsic with the top `arguments` values. `parts` are the spans of the subjects of its errors.
    pub fn intrinsic(&mut self, name: &str, arguments: u32, parts: &[Span]) {
        let Some(function) = self.registry.get(ImportKind::Intrinsic, name) else { return };
        let signature = function.signature();
        if matches!(name, "number" | "type") {
            // The argument is constant, and these note nothing.
            self.emitter.call(ImportKind::Intrinsic, name, signature, &[0], true);
        } else {
            self.emitter.apply(ImportKind::Intrinsic, name, signature, arguments);
        }
        self.emitter.details(parts.iter().copied());
    }
}

// Failed parts of expressions whose values do not show it:
// A failed computation has a value that says so. A template is not unknown because one of its parts failed, though,
// nor is the element of a tuple because another one did. What depends on such a value reads the errors of its
// evaluation.

impl Lowering<'_> {
    /// Returns `true` if the evaluation of an expression can note errors and have a value that stands for no failure.
    fn hides_errors(&self, mut id: ExprId) -> bool {
        loop {
            id = match self.tree.expr(id) {
                Expr::Paren(inner) | Expr::Wrapped(inner) | Expr::Key { inner, .. } => inner,
                Expr::Template(parts) => {
                    return self.tree.ids(parts).iter().any(|&part| !matches!(self.tree.expr(part), Expr::Text(_)));
                }
                Expr::Joined(_) | Expr::For(_) | Expr::Splat { .. } => return true,
                Expr::Tuple(items) => return self.tree.ids(items).iter().any(|&item| self.hides_errors(item)),
                Expr::Object(entries) => {
                    return self.tree.entries(entries).iter().any(|entry| self.hides_errors(entry.value));
                }
                Expr::Index { collection, key, .. } if self.is_constructor(collection) || self.hides_errors(key) => {
                    return true;
                }
                Expr::Relative { source, .. } if self.is_constructor(source) => return true,
                Expr::Index { collection: source, .. } | Expr::Relative { source, .. } => source,
                Expr::Conditional { condition, then, otherwise } => {
                    if self.hides_errors(condition) || self.hides_errors(then) {
                        return true;
                    }
                    otherwise
                }
                Expr::Binary { op: Operator::And | Operator::Or, left, right } => {
                    if self.hides_errors(right) {
                        return true;
                    }
                    left
                }
                _ => return false,
            }
        }
    }

    /// Returns `true` for tuples and objects, whose elements may have failed while others have not.
    fn is_constructor(&self, mut id: ExprId) -> bool {
        while let Expr::Paren(inner) | Expr::Wrapped(inner) = self.tree.expr(id) {
            id = inner;
        }
        matches!(self.tree.expr(id), Expr::Tuple(_) | Expr::Object(_))
    }

    /// Pushes the value of an operand. One that hides errors becomes unknown if there are any.
    fn operand(&mut self, id: ExprId) -> Result<()> {
        if !self.hides_errors(id) {
            return self.value(id);
        }
        self.emitter.op(Op::Mark, &[]);
        self.value(id)?;
        self.intrinsic("operand", 2, &[]);
        Ok(())
    }

    /// Pushes the value of a part of a template. One that hides errors becomes undefined if there are any.
    fn part(&mut self, id: ExprId) -> Result<()> {
        if !self.hides_errors(id) {
            return self.value(id);
        }
        self.emitter.op(Op::Mark, &[]);
        self.value(id)?;
        self.intrinsic("part", 2, &[self.span(id)]);
        Ok(())
    }
}

/// Lowers values of a document to a program with a chunk for each, in their order. Without `templates`, strings are
/// literal.
///
/// # Errors
/// A limit of the code.
pub(crate) fn lower_json(
    document: &JsonDocument,
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
    document: &'t JsonDocument,
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
            JsonContent::Invalid => {
                self.lowering.at(node.span);
                self.lowering.intrinsic("dynamic", 0, &[]);
            }
            JsonContent::Null => self.lowering.emitter.constant(Constant::Null),
            JsonContent::Bool(truth) => self.lowering.emitter.constant(Constant::Bool(truth)),
            JsonContent::Number(digits) => self.lowering.number(self.document.str(digits)),
            JsonContent::String(text) => self.string(self.document.str(text), node.span)?,
            JsonContent::Array(items) => {
                pending.push(Work::End(id));
                pending.extend(self.document.items(items).iter().rev().map(|&item| Work::Begin(item)));
            }
            JsonContent::Object(run) => {
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
            JsonContent::Array(items) => self.list(items, 1),
            JsonContent::Object(run) => {
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
