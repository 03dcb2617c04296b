//! Trees as function calls.

use crate::syntax::tree::{Element, Entry, Expr, ExprId, Field, Literal, Selection, Tree};

pub fn show(tree: &Tree) -> String {
    expr(tree, tree.root)
}

fn joined(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(", ")
}

fn mark(optional: bool) -> &'static str {
    if optional { "?" } else { "" }
}

fn dot(rooted: bool) -> &'static str {
    if rooted { "." } else { "" }
}

fn literal(tree: &Tree, literal: Literal) -> String {
    match literal {
        Literal::Null => "null".into(),
        Literal::Bool(bool) => bool.to_string(),
        Literal::Int(int) => int.to_string(),
        Literal::Uint(uint) => format!("{uint}u"),
        Literal::Double(double) => format!("{double:?}"),
        Literal::String(text) => format!("{:?}", tree.name(text)),
        Literal::Bytes(run) => format!("b{:?}", tree.bytes(run)),
    }
}

fn expr(tree: &Tree, id: ExprId) -> String {
    let all = |ids: &[ExprId]| joined(ids.iter().map(|&id| expr(tree, id)));
    match tree.expr(id) {
        Expr::Invalid => "<invalid>".into(),
        Expr::Literal(of) => literal(tree, of),
        Expr::Ident { name, rooted } => format!("{}{}", dot(rooted), tree.name(name)),
        Expr::Select { operand, field, selection } => {
            let (operand, field) = (expr(tree, operand), tree.name(field));
            match selection {
                Selection::Plain => format!("{operand}.{field}"),
                Selection::Optional => format!("{operand}.?{field}"),
                Selection::Test => format!("has({operand}.{field})"),
            }
        }
        Expr::Call(call) => {
            let receiver = call.receiver.map_or(String::new(), |of| expr(tree, of) + ".");
            let name = tree.function(call.function);
            format!("{receiver}{}{name}({})", dot(call.rooted), all(tree.ids(call.args)))
        }
        Expr::List(run) => {
            let element = |of: &Element| format!("{}{}", mark(of.optional), expr(tree, of.value));
            format!("[{}]", joined(tree.elements(run).iter().map(element)))
        }
        Expr::Map(run) => {
            let entry = |of: &Entry| format!("{}{}: {}", mark(of.optional), expr(tree, of.key), expr(tree, of.value));
            format!("{{{}}}", joined(tree.entries(run).iter().map(entry)))
        }
        Expr::Message { name, fields } => {
            let field = |of: &Field| format!("{}{}: {}", mark(of.optional), tree.name(of.name), expr(tree, of.value));
            format!("{}{{{}}}", tree.name(name), joined(tree.fields(fields).iter().map(field)))
        }
        Expr::Comprehension(id) => {
            let of = tree.comprehension(id).expect("a loop");
            let second = of.iter_var2.map_or(String::new(), |name| format!(", {}", tree.name(name)));
            format!(
                "fold({}{second} in {}, {} = {}; {}; {}; {})",
                tree.name(of.iter_var),
                expr(tree, of.iter_range),
                tree.name(of.accu_var),
                expr(tree, of.accu_init),
                expr(tree, of.loop_condition),
                expr(tree, of.loop_step),
                expr(tree, of.result)
            )
        }
    }
}
