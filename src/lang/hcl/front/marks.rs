//! The names in a template or a configuration, for editors.

use std::sync::Arc;

use super::syntax;
use crate::syntax::parser::{Parsed, parse_config, parse_template};
use crate::syntax::tree::{BlockNode, BodyId, Expr, ExprId, For, StepKind, Str, Tree};
use crate::syntax::{function_name, tree};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::compiler::{Given, Key, Mark, MarkList, Named};

/// Returns the names in a template. After a syntax error, they are those of what could be read.
pub fn marks(source: &Arc<Source>, limits: &Limits) -> Vec<Mark> {
    if limits.check_size(source).is_err() {
        return Vec::new();
    }
    let Parsed { tree, root, .. } = parse_template(source, limits);
    let mut marking = Marking { tree: &tree, list: MarkList::default(), declares: false };
    marking.value(root);
    marking.list.finish()
}

/// Returns the names in a configuration. After a syntax error, they are those of what could be read.
pub fn config_marks(source: &Arc<Source>, limits: &Limits) -> Vec<Mark> {
    if limits.check_size(source).is_err() {
        return Vec::new();
    }
    let Parsed { tree, root, .. } = parse_config(source, limits);
    let mut marking = Marking { tree: &tree, list: MarkList::default(), declares: true };
    marking.body(root, "");
    marking.list.finish()
}

/// Objects whose attributes are addresses of declarations, and the number of names in an address.
const ADDRESSES: [(&str, usize); 4] = [("var", 2), ("local", 2), ("module", 2), ("data", 3)];

struct Marking<'t> {
    tree: &'t Tree,
    list: MarkList,
    /// `true` for a configuration, whose names may be those of declarations.
    declares: bool,
}

/// Returns the address that a block declares.
fn address(name: &str, labels: &[&str]) -> Option<String> {
    match (name, labels) {
        ("variable", [name]) => Some(format!("var.{name}")),
        ("resource", [kind, name]) => Some(format!("{kind}.{name}")),
        ("data" | "module" | "output" | "function", [..]) if !labels.is_empty() => {
            Some(format!("{name}.{}", labels.join(".")))
        }
        _ => None,
    }
}

impl Marking<'_> {
    fn body(&mut self, id: BodyId, of: &str) {
        let tree = self.tree;
        let Some(body) = tree.body(id) else { return };
        for attribute in &body.attributes {
            let name = tree.str(attribute.name);
            if of == "locals" {
                let address = format!("local.{name}");
                let mark = Mark::definition(Named::Declared, address, attribute.name_span, attribute.span);
                self.list.add(Mark { given: Some(Given::Value(tree.span(attribute.expr))), ..mark });
            }
            self.value(attribute.expr);
        }
        body.blocks.iter().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &BlockNode) {
        let tree = self.tree;
        let name = tree.str(block.name);
        let labels: Vec<&str> = block.labels.iter().map(|label| tree.str(label.text)).collect();
        if let (Some(address), Some(label)) = (address(name, &labels), block.labels.last()) {
            let text = labels.last().map_or(0, |text| text.len() as u32);
            let quoted = label.span.end - label.span.start == text + 2;
            let span = if quoted { Span::new(label.span.start + 1, label.span.end - 1) } else { label.span };
            // The braces may be missing.
            let whole = block.name_span.to(label.span).to(block.close);
            self.list.add(Mark::definition(Named::Declared, address, span, whole));
        }
        self.body(block.body, name);
    }

    fn value(&mut self, id: ExprId) {
        // The left sides of operators nest as deep as they are long.
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let (tree, expr) = (self.tree, self.tree.expr(id));
            match expr {
                Expr::Traversal { root, root_span, .. } => self.traversal(id, root, root_span),
                Expr::For(of) => {
                    if let Some(of) = tree.for_expr(of) {
                        self.each(of);
                    }
                }
                Expr::Call(call) => {
                    let name = function_name(tree, &call);
                    let mark = Mark::new(Named::Import(ImportKind::Function), name, call.name_span);
                    self.list.add(Mark { whole: tree.span(id), ..mark });
                    syntax::children(tree, expr, |child| open.push(child));
                }
                _ => syntax::children(tree, expr, |child| open.push(child)),
            }
        }
    }

    fn each(&mut self, of: &For) {
        self.value(of.collection);
        let item = self.input(of.collection).map(|mut input| {
            input.push(Key::Any);
            input
        });
        let scope = self.list.enter();
        let mut behind = of.open.end;
        let given = Some(Given::Items(self.tree.span(of.collection)));
        let value = (of.value_var, given, item);
        for (name, given, input) in of.key_var.map(|key| (key, None, None)).into_iter().chain([value]) {
            if let Some(span) = self.place(name, behind) {
                behind = span.end;
                self.list.define(self.tree.str(name), span, given, input);
            }
        }
        [of.key, Some(of.value), of.condition].into_iter().flatten().for_each(|id| self.value(id));
        self.list.leave(scope);
    }

    /// Returns the place of a name of a `for`, after `from`. A name that was normalised may have none.
    fn place(&self, name: Str, from: u32) -> Option<Span> {
        if !name.pooled {
            return Some(Span::new(name.start, name.end));
        }
        let text = self.tree.str(name);
        let at = self.tree.source().text().get(from as usize..)?.find(text)? + from as usize;
        Some(Span::of(at..at + text.len()))
    }

    /// Returns the input that an expression is, if it is one.
    fn input(&self, id: ExprId) -> Option<Vec<Key>> {
        match self.tree.expr(id) {
            Expr::Traversal { root, .. } => self.list.input(self.tree.str(root), &self.steps(id)),
            Expr::Paren(inner) | Expr::Wrapped(inner) => self.input(inner),
            _ => None,
        }
    }

    fn traversal(&mut self, id: ExprId, root: Str, root_span: Span) {
        let (name, whole, steps) = (self.tree.str(root), self.tree.span(id), self.steps(id));
        if self.declares {
            self.declared(name, whole, &steps);
        }
        self.list.path(name, root_span, whole, steps);
    }

    /// Marks the address that a traversal begins with.
    fn declared(&mut self, root: &str, whole: Span, steps: &[(Key, Span)]) {
        let count = ADDRESSES.iter().find(|(known, _)| *known == root).map_or(2, |(_, count)| *count);
        let (Some(own), Some((_, span))) = (steps.get(..count - 1), steps.get(count.saturating_sub(2))) else { return };
        let name = |(key, _): &(Key, Span)| match key {
            Key::Name(name) => name.clone(),
            Key::Any => String::new(),
        };
        let names: Vec<String> = std::iter::once(root.to_owned()).chain(own.iter().map(name)).collect();
        self.list.add(Mark { whole, ..Mark::new(Named::Declared, names.join("."), *span) });
    }

    /// Returns the steps of a traversal, each at the place of its name.
    fn steps(&self, id: ExprId) -> Vec<(Key, Span)> {
        let Expr::Traversal { steps, .. } = self.tree.expr(id) else { return Vec::new() };
        let step = |step: &tree::AccessStep| {
            let (StepKind::Attr(text) | StepKind::Key(text) | StepKind::Number(text)) = step.kind;
            let (name, span) = (self.tree.str(text).to_owned(), step.span);
            // Without the dot, or the brackets and quotes.
            let around = (span.end - span.start).saturating_sub(name.len() as u32);
            let span = Span::new(span.start + around.div_ceil(2), span.end - around / 2);
            (Key::Name(name), span)
        };
        self.tree.steps(steps).iter().map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(marks: &[Mark], source: &Source) -> Vec<String> {
        let one = |mark: &Mark| {
            let sort = if mark.is_definition { "def " } else { "" };
            format!("{sort}{:?} {} at {}", mark.kind, mark.name, source.slice(mark.span))
        };
        marks.iter().map(one).collect()
    }

    #[test]
    fn names_of_templates() {
        let source = Source::new("t", "%{ for p in app[\"ports\"] }${upper(p.name)}%{ endfor }${x + y[0]}");
        let found = marks(&source, &Limits::default());
        let variable = found.iter().find(|mark| mark.is_definition).unwrap();
        let name = |name: &str| Key::Name(name.to_owned());
        assert_eq!(variable.input, Some(vec![name("app"), name("ports"), Key::Any]));
        let Some(Given::Items(collection)) = variable.given else { panic!("{variable:?}") };
        assert_eq!(source.slice(collection), "app[\"ports\"]");
        let steps: Vec<_> = found.iter().flat_map(|mark| &mark.steps).map(|(_, span)| source.slice(*span)).collect();
        assert_eq!(steps, ["ports", "name", "0"]);
        let all = told(&found, &source);
        for one in ["def Variable p at p", "Import(Function) upper at upper", "Variable p at p", "Input x at x"] {
            assert!(all.iter().any(|found| found == one), "{one}: {all:?}");
        }
    }

    #[test]
    fn names_of_configurations() {
        let text = "variable \"a\" {}\nlocals {\n  b = var.a\n}\nresource \"r\" \"c\" {\n  d = local.b + r.c.id\n";
        let source = Source::new("main.tf", text);
        let found = config_marks(&source, &Limits::default());
        let Some(Given::Value(local)) = found.iter().find_map(|mark| mark.given) else { panic!("{found:?}") };
        assert_eq!(source.slice(local), "var.a");
        let all = told(&found, &source);
        for one in [
            "def Declared var.a at a",
            "def Declared local.b at b",
            "Declared var.a at a",
            "def Declared r.c at c",
            "Declared local.b at b",
            "Declared r.c at c",
        ] {
            assert!(all.iter().any(|found| found == one), "{one}: {all:?}");
        }
    }

    #[test]
    fn a_header_without_braces_is_whole() {
        let source = Source::new("main.tf", "resource \"r\" \"c\"\n");
        let wholes: Vec<_> =
            config_marks(&source, &Limits::default()).iter().map(|mark| source.slice(mark.whole)).collect();
        assert_eq!(wholes, ["resource \"r\" \"c\""]);
    }
}
