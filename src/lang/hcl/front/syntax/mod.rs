//! The native syntax: lexer, parser, tree, and static analysis of trees.

mod build;
pub mod lexer;
pub mod parser;
pub mod token;
pub mod tree;

pub use lexer::{is_identifier, lex_config, scan_string_literal};
pub use parser::{Parsed, parse_config, parse_expression, parse_template};
pub use token::{Token, TokenKind};
pub use tree::{
    AccessStep, AttributeNode, BlockNode, BodyId, BodyNode, Call, Entry, Expr, ExprId, ExprNode, For, ForId, LabelNode,
    Operator, Run, StepKind, Str, Traversal, TraversalStep, Tree, UnaryOp,
};

/// A step of a walk.
enum Visit {
    ExprNode(ExprId),
    /// The names of a `for` are known from here on, …
    Enter(ForId),
    /// … up to here.
    Leave,
}

/// The variables an expression refers to, in the order in which they stand in it (of a `for`: the collection first),
/// each as an [`Expr::Traversal`]. Names that a `for` in it gives are none of them.
///
/// ```
/// use dropforge::dialect::hcl::syntax::{parser::parse_expression, variables};
/// use dropforge::{limits::Limits, text::Source};
/// let source = Source::new("e", "[for x in a.b : x + c[d]]");
/// let parsed = parse_expression(&source, &Limits::default());
/// let found = variables(&parsed.tree, parsed.root);
/// let texts: Vec<_> = found.into_iter().map(|id| source.slice(parsed.tree.span(id))).collect();
/// assert_eq!(texts, ["a.b", "c", "d"]);
/// ```
pub fn variables(tree: &Tree, root: ExprId) -> Vec<ExprId> {
    let (mut found, mut scopes, mut left) = (Vec::new(), Vec::new(), vec![Visit::ExprNode(root)]);
    while let Some(visit) = left.pop() {
        match visit {
            Visit::Leave => {
                scopes.pop();
            }
            Visit::Enter(of) => scopes.push(of),
            Visit::ExprNode(id) => match tree.expr(id) {
                Expr::Traversal { root, .. } => {
                    if !scopes.iter().any(|of| names(tree, *of, tree.str(root))) {
                        found.push(id);
                    }
                }
                Expr::For(of) => visit_for(tree, of, &mut left),
                expr => {
                    let begin = left.len();
                    children(tree, expr, |child| left.push(Visit::ExprNode(child)));
                    left.get_mut(begin..).unwrap_or(&mut []).reverse();
                }
            },
        }
    }
    found
}

/// Returns `true` if a `for` defines this name.
fn names(tree: &Tree, of: ForId, name: &str) -> bool {
    let given =
        |of: &tree::For| tree.str(of.value_var) == name || of.key_var.is_some_and(|key: Str| tree.str(key) == name);
    tree.for_expr(of).is_some_and(given)
}

fn visit_for(tree: &Tree, of: ForId, left: &mut Vec<Visit>) {
    let Some(node) = tree.for_expr(of) else { return };
    left.push(Visit::Leave);
    left.extend([node.condition, Some(node.value), node.key].into_iter().flatten().map(Visit::ExprNode));
    left.push(Visit::Enter(of));
    left.push(Visit::ExprNode(node.collection));
}

/// Visits the expressions in an expression, in order, except those of a `for`.
pub fn children(tree: &Tree, expr: Expr, mut visit: impl FnMut(ExprId)) {
    match expr {
        Expr::Invalid | Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::Text(_) => {}
        Expr::Item | Expr::Traversal { .. } | Expr::For(_) => {}
        Expr::Template(run) | Expr::Tuple(run) => tree.ids(run).iter().copied().for_each(visit),
        Expr::Call(call) => tree.ids(call.args).iter().copied().for_each(visit),
        Expr::Wrapped(inner) | Expr::Joined(inner) | Expr::Paren(inner) => visit(inner),
        Expr::Relative { source, .. } => visit(source),
        Expr::Index { collection, key, .. } => [collection, key].into_iter().for_each(visit),
        Expr::Splat { source, each, .. } => [source, each].into_iter().for_each(visit),
        Expr::Conditional { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(visit);
        }
        Expr::Binary { left, right, .. } => [left, right].into_iter().for_each(visit),
        Expr::Unary { operand, .. } => visit(operand),
        Expr::Object(run) => {
            for entry in tree.entries(run) {
                visit(entry.key);
                visit(entry.value);
            }
        }
        // A name that is taken as text refers to nothing.
        Expr::Key { inner, forced } => {
            if forced || keyword(tree, inner).is_none() {
                visit(inner);
            }
        }
    }
}

/// The expression of an object key, otherwise the expression itself.
fn unwrapped(tree: &Tree, id: ExprId) -> ExprNode {
    match tree.node(id) {
        ExprNode { expr: Expr::Key { inner, .. }, .. } => tree.node(inner),
        node => node,
    }
}

/// The expression as a name with constant steps. Keywords are names, too, and an object key is its expression.
pub(crate) fn absolute_traversal(tree: &Tree, id: ExprId) -> Option<Traversal> {
    let ExprNode { expr, span } = unwrapped(tree, id);
    match expr {
        Expr::Traversal { root, root_span, steps } => {
            let step = |step: &AccessStep| TraversalStep { kind: Some(step.kind), span: step.span };
            Some(Traversal { root, root_span, steps: tree.steps(steps).iter().map(step).collect() })
        }
        Expr::Null | Expr::Bool(_) => Some(Traversal { root: Str::of(span), root_span: span, steps: Vec::new() }),
        _ => None,
    }
}

/// The name that an expression consists of.
pub fn keyword(tree: &Tree, id: ExprId) -> Option<&str> {
    match unwrapped(tree, id).expr {
        Expr::Traversal { root, steps, .. } if steps.is_empty() => Some(tree.str(root)),
        Expr::Null => Some("null"),
        Expr::Bool(true) => Some("true"),
        Expr::Bool(false) => Some("false"),
        _ => None,
    }
}

/// The name of the function that a call names: `upper` for `core::upper`, as the reference calls its own functions.
pub fn function_name<'t>(tree: &'t Tree, call: &Call) -> &'t str {
    let name = tree.str(call.name);
    name.strip_prefix("core::").unwrap_or(name)
}

/// The elements of `[ … ]`.
pub fn static_list(tree: &Tree, id: ExprId) -> Option<&[ExprId]> {
    let Expr::Tuple(elements) = unwrapped(tree, id).expr else { return None };
    Some(tree.ids(elements))
}

/// The entries of `{ … }`.
pub(crate) fn static_map(tree: &Tree, id: ExprId) -> Option<&[Entry]> {
    let Expr::Object(entries) = unwrapped(tree, id).expr else { return None };
    Some(tree.entries(entries))
}

/// The call that an expression consists of.
pub(crate) fn static_call(tree: &Tree, id: ExprId) -> Option<Call> {
    let Expr::Call(call) = unwrapped(tree, id).expr else { return None };
    Some(call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parser::parse_expression;
    use dropforge_base::limits::Limits;
    use dropforge_base::text::Source;

    fn found(text: &str) -> Vec<String> {
        let source = Source::new("e", text);
        let parsed = parse_expression(&source, &Limits::default());
        assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
        let found = variables(&parsed.tree, parsed.root);
        found.into_iter().map(|id| source.slice(parsed.tree.span(id)).to_owned()).collect()
    }

    #[test]
    fn variables_are_those_of_the_outermost_scope() {
        let cases = [
            ("1", &[] as &[&str]),
            ("a ? b.c : d[\"e\"]", &["a", "b.c", "d[\"e\"]"]),
            ("a[b].c", &["a", "b"]),
            ("a.*.b[*].c", &["a"]),
            ("f(a, b...)", &["a", "b"]),
            ("{a = b, (c) = d, \"${e}\" = f, g.h = i}", &["b", "c", "d", "e", "f", "g.h", "i"]),
            ("[for a, b in a : [for c in b : a + c + d] if b]", &["a", "d"]),
            ("{for a in [for b in a : b] : a => b if c}", &["a", "b", "c"]),
            (
                "\"${a}%{ if b }${c}%{ else }${d}%{ endif }%{ for e in f }${e}${g}%{ endfor }\"",
                &["a", "b", "c", "d", "f", "g"],
            ),
            ("true", &[]),
            ("-a + (b)", &["a", "b"]),
        ];
        for (text, wanted) in cases {
            assert_eq!(found(text), wanted, "{text}");
        }
    }

    #[test]
    fn expressions_as_they_stand() {
        let parse = |text: &str| parse_expression(&Source::new("e", text), &Limits::default());
        let a = parse("a.b[0]");
        assert_eq!(absolute_traversal(&a.tree, a.root).map(|found| found.steps.len()), Some(2));
        for (text, word) in [("a", Some("a")), ("null", Some("null")), ("a.b", None), ("(a)", None), ("\"a\"", None)] {
            let parsed = parse(text);
            assert_eq!(keyword(&parsed.tree, parsed.root), word, "{text}");
        }
        let list = parse("[1, a]");
        assert_eq!(static_list(&list.tree, list.root).map(<[_]>::len), Some(2));
        let map = parse("{a = 1}");
        assert_eq!(static_map(&map.tree, map.root).map(<[_]>::len), Some(1));
        assert!(static_list(&map.tree, map.root).is_none());
        let call = parse("a::b(1, c)");
        let found = static_call(&call.tree, call.root);
        assert_eq!(found.map(|found| (call.tree.str(found.name), found.args.len())), Some(("a::b", 2)));
    }
}
