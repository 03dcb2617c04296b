//! The names in a template, for editors.

use std::sync::Arc;

use bumpalo::Bump;

use crate::syntax::parse;
use crate::syntax::tree::{Call, Expr, ExprKind, For, Import, Macro, Name, Node, Path, Segment, Step, Template};
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::compiler::{Given, Key, Mark, MarkList, Named};

/// Returns the names in a template.
///
/// # Errors
/// All syntax errors.
pub fn marks(source: &Arc<Source>, limits: &Limits) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
    let arena = Bump::new();
    let (tree, errors) = parse(&arena, source, limits);
    let Some(tree) = tree else { return Err(errors) };
    let mut marking = Marking { source, tree, list: MarkList::default() };
    marking.file();
    Ok(marking.list.finish())
}

struct Marking<'a, 's> {
    source: &'s Arc<Source>,
    tree: Template<'a>,
    list: MarkList,
}

/// Returns the place of a name without the quotes of a string.
fn unquoted(name: Name<'_>) -> Span {
    let quotes = (name.span.end - name.span.start).saturating_sub(name.text.len() as u32) / 2;
    Span::new(name.span.start + quotes, name.span.end - quotes)
}

impl Marking<'_, '_> {
    fn file(&mut self) {
        let tree = self.tree;
        tree.extends.into_iter().for_each(|file| self.file_name(file));
        for Import { file, namespace } in tree.imports {
            self.file_name(*file);
            self.list.add(Mark::definition(Named::Namespace, namespace.text, namespace.span, namespace.span));
        }
        tree.macros.iter().for_each(|one| self.macro_of(one));
        self.body(tree.body);
    }

    fn file_name(&mut self, name: Name<'_>) {
        self.list.add(Mark { whole: name.span, ..Mark::new(Named::File, name.text, unquoted(name)) });
    }

    fn macro_of(&mut self, one: &Macro<'_>) {
        let texts = one.params.iter().map(|param| match &param.default {
            Some(default) => format!("{}={}", param.name.text, self.source.slice(default.span)),
            None => param.name.text.to_owned(),
        });
        let signature = format!("{}({})", one.name.text, texts.collect::<Vec<_>>().join(", "));
        let mark = Mark::definition(Named::Macro, one.name.text, one.name.span, one.name.span);
        let open = self.list.begin(Mark { signature, ..mark });
        for param in one.params {
            self.list.define(param.name.text, param.name.span, None, None);
        }
        self.body(one.body);
        self.closing("endmacro", Named::Macro, one.name);
        self.list.end(open);
    }

    /// Marks the name in the tag that closes a body, which may have it again.
    fn closing(&mut self, word: &str, kind: Named, name: Name<'_>) {
        let text = self.source.text();
        let from = self.list.reached() as usize;
        let Some(at) = text.get(from..).and_then(|rest| rest.find(word)) else { return };
        let behind = from + at + word.len();
        self.list.reach(Span::of(from..behind));
        let rest = text.get(behind..).unwrap_or("");
        let start = behind + rest.len() - rest.trim_start().len();
        let span = Span::of(start..start + name.text.len());
        let is_whole = !text
            .get(span.range().end..)
            .is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_alphanumeric()));
        if self.source.slice(span) == name.text && is_whole {
            self.list.add(Mark::new(kind, name.text, span));
        }
    }

    fn body(&mut self, body: &[Node<'_>]) {
        body.iter().for_each(|node| self.node(node));
    }

    fn node(&mut self, node: &Node<'_>) {
        match node {
            Node::Text(text) => self.list.reach(text.span),
            Node::Super(span) => self.list.reach(*span),
            Node::Break | Node::Continue => {}
            Node::Emit(value) => self.value(value),
            Node::Set { name, value, .. } => {
                self.value(value);
                let input = self.input(value);
                self.list.assign(name.text, name.span, Some(Given::Value(value.span)), input);
            }
            Node::If { branches, otherwise } => {
                for branch in *branches {
                    self.value(&branch.condition);
                    self.body(branch.body);
                }
                self.body(otherwise);
            }
            Node::For(one) => self.each(one),
            Node::Block(block) => {
                let mark = Mark::definition(Named::Block, block.name.text, block.name.span, block.name.span);
                let open = self.list.begin(mark);
                self.body(block.body);
                self.closing("endblock", Named::Block, block.name);
                self.list.end(open);
            }
            Node::Filter { filter, body } => {
                self.call(ImportKind::Filter, filter);
                self.body(body);
            }
            Node::Include { names, span, .. } => {
                names.iter().for_each(|name| self.file_name(*name));
                self.list.reach(*span);
            }
        }
    }

    fn each(&mut self, one: &For<'_>) {
        self.value(&one.container);
        let item = self.input(&one.container).map(|mut input| {
            input.push(Key::Any);
            input
        });
        let scope = self.list.enter();
        if let Some(key) = one.key {
            self.list.define(key.text, key.span, None, None);
        }
        self.list.define(one.value.text, one.value.span, Some(Given::Items(one.container.span)), item);
        self.body(one.body);
        self.list.leave(scope);
        one.otherwise.into_iter().for_each(|body| self.body(body));
    }

    /// Returns the input that an expression is, if it is one.
    fn input(&self, value: &Expr<'_>) -> Option<Vec<Key>> {
        match value {
            Expr { kind: ExprKind::Path(path), filters: [], negated: false, .. } => {
                let steps = self.steps(path);
                self.list.input(path.root.text, &steps).filter(|_| steps.len() == path.segments.len())
            }
            _ => None,
        }
    }

    fn value(&mut self, value: &Expr<'_>) {
        self.list.reach(value.span);
        match value.kind {
            ExprKind::Str(_) | ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) => {}
            ExprKind::Path(path) => self.path(path),
            ExprKind::Concat(all) | ExprKind::And(all) | ExprKind::Or(all) | ExprKind::List(all) => self.values(all),
            ExprKind::Math(steps) => {
                for step in steps {
                    if let Step::Operand(operand) = step {
                        self.value(operand);
                    }
                }
            }
            ExprKind::Compare(_, sides) | ExprKind::In { sides, .. } => self.values(sides),
            ExprKind::Test { path, name, args, .. } => {
                self.path(path);
                self.list.add(Mark::new(Named::Import(ImportKind::Test), name.text, name.span));
                self.values(args);
            }
            ExprKind::Call(call) => self.call(ImportKind::Function, call),
            ExprKind::MacroCall(namespace, call) => self.macro_call(namespace, call),
        }
        value.filters.iter().for_each(|filter| self.call(ImportKind::Filter, filter));
    }

    fn values(&mut self, values: &[Expr<'_>]) {
        values.iter().for_each(|value| self.value(value));
    }

    fn call(&mut self, kind: ImportKind, call: &Call<'_>) {
        let mark = Mark::new(Named::Import(kind), call.name.text, call.name.span);
        self.list.add(Mark { whole: call.span, ..mark });
        call.args.iter().for_each(|arg| self.value(&arg.value));
    }

    fn macro_call(&mut self, namespace: Name<'_>, call: &Call<'_>) {
        let imported = self.tree.imports.iter().rfind(|import| import.namespace.text == namespace.text);
        if namespace.text != "self" {
            self.list.add(Mark::new(Named::Namespace, namespace.text, namespace.span));
        }
        let mark = Mark::new(Named::Macro, call.name.text, call.name.span);
        let file = match (namespace.text, imported) {
            ("self", _) => None,
            (_, Some(import)) => Some(import.file.text.to_owned()),
            // A namespace of a parent or of an import.
            (other, None) => Some(format!("{other}::")),
        };
        self.list.add(Mark { whole: namespace.span.to(call.span), file, ..mark });
        call.args.iter().for_each(|arg| self.value(&arg.value));
    }

    fn path(&mut self, path: &Path<'_>) {
        for segment in path.segments {
            if let Segment::Lookup(other) = segment {
                self.path(other);
            }
        }
        if path.root.text != "loop" {
            let steps = self.steps(path);
            self.list.path(path.root.text, path.root.span, path.span, steps);
        }
    }

    /// Returns the steps of a path up to one that is computed.
    fn steps(&self, path: &Path<'_>) -> Vec<(Key, Span)> {
        let step = |segment: &Segment<'_>| match segment {
            Segment::Key(name) => Some((Key::Name(name.text.to_owned()), name.span)),
            Segment::Lookup(_) | Segment::Negative(_) => None,
        };
        path.segments.iter().map_while(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_marked_with_what_they_name() {
        let text = "{% import 'm.tera' as m %}{% macro b(l, k='x') %}{{ l }}{% endmacro %}{%- set s = p | first -%}\
                    {% for p in app.ports %}{{ p.number | int }}{% endfor %}{{ m::f(a=1) }}{% include \"i.tera\" %}";
        let source = Source::new("t.tera", text);
        let marks = marks(&source, &Limits::default()).unwrap();
        let told = |mark: &Mark| {
            let sort = if mark.is_definition { "def " } else { "" };
            assert_eq!(source.slice(mark.span), mark.name);
            format!("{sort}{:?} {}", mark.kind, source.slice(mark.whole))
        };
        let all: Vec<_> = marks.iter().map(told).collect();
        assert_eq!(
            all,
            [
                "File 'm.tera'",
                "def Namespace m",
                "def Macro b(l, k='x') %}{{ l }}{% endmacro",
                "def Variable l",
                "def Variable k",
                "Variable l",
                "def Variable s",
                "Input p",
                "Import(Filter) first",
                "def Variable p",
                "Input app.ports",
                "Variable p.number",
                "Import(Filter) int",
                "Namespace m",
                "Macro m::f(a=1)",
                "File \"i.tera\"",
            ]
        );
        assert_eq!(marks[2].signature, "b(l, k='x')");
        assert_eq!(marks[14].file.as_deref(), Some("m.tera"));
        let name = |name: &str| Key::Name(name.to_owned());
        let given: Vec<_> = marks.iter().filter_map(|mark| mark.given).collect();
        let [Given::Value(set), Given::Items(container)] = *given else { panic!("{given:?}") };
        assert_eq!([set, container].map(|span| source.slice(span)), ["p | first", "app.ports"]);
        assert_eq!(marks[9].input, Some(vec![name("app"), name("ports"), Key::Any]));
    }
}
