//! Rows for type expressions.

use dropforge::diagnostics::Diagnostic;
use dropforge::dialect::hcl::body::File;
use dropforge::dialect::hcl::syntax::parser::parse_expression;
use dropforge::dialect::hcl::syntax::tree::{Expr, ExprId, Tree};
use dropforge::dialect::hcl::typeexpr::{self, Evaluated, Mode, TypeExpr};
use dropforge::dialect::hcl::values::json::Json;
use dropforge::dialect::hcl::values::types::{Children, Defaults};
use dropforge::function::Cx;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{BigNum, Value};

use super::encoding::{self, Check, Row, with_cx};
use super::typing::equal;

/// Runs a `type_string` row.
pub fn texts(row: &Row<'_>) -> Check {
    with_cx(|cx| equal(row.text("want")?, &typeexpr::text(&row.ty(cx.arena(), "type")?)))
}

/// Runs a `typeexpr` row: a type or a constraint.
pub fn types(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let mode = if row.flag("constraint") { Mode::Constraint } else { Mode::Type };
        let (tree, root, mut diagnostics) = parsed(row)?;
        let read = typeexpr::read(cx, &tree, root, mode);
        check(cx, row, &read, &mut diagnostics)
    })
}

/// Runs a `typeexpr_json` row: the type that the value under `expr` denotes.
pub fn json_types(row: &Row<'_>) -> Check {
    let registry = dropforge::dialect::hcl::builtins::bare();
    let file = File::json(&Source::new("row", row.text("input")?), &registry, &Limits::default());
    let mut faults = file.diagnostics().to_vec();
    let attributes = file.body().just_attributes(&mut faults);
    let expr = &attributes.get("expr").ok_or("no `expr`")?.expr;
    with_cx(|cx| {
        let mode = if row.flag("constraint") { Mode::Constraint } else { Mode::Type };
        let read = expr.type_expr(cx, mode).ok_or("no type expression")?;
        check(cx, row, &read, &mut faults)
    })
}

/// Runs a `typeexpr_defaults` row.
pub fn defaults(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let (tree, root, mut diagnostics) = parsed(row)?;
        let mut evaluate = |id| literal(cx, &tree, id);
        let read = typeexpr::read(cx, &tree, root, Mode::Defaults(&mut evaluate));
        check(cx, row, &read, &mut diagnostics)?;
        same_defaults(cx, row.get("want_defaults"), read.defaults.as_ref())
    })
}

fn parsed(row: &Row<'_>) -> Check<(Tree, ExprId, Vec<Box<Diagnostic>>)> {
    let parsed = parse_expression(&Source::new("row", row.text("input")?), &Limits::default());
    Ok((parsed.tree, parsed.root, parsed.diagnostics))
}

fn check<'v>(cx: &Cx<'v>, row: &Row<'_>, read: &TypeExpr<'v>, diagnostics: &mut Vec<Box<Diagnostic>>) -> Check {
    diagnostics.extend(read.diagnostics.iter().cloned());
    encoding::diagnostics(row, diagnostics.iter().map(AsRef::as_ref))?;
    equal(row.ty(cx.arena(), "want")?, read.ty)
}

/// Evaluates the expressions that rows use as defaults: literals, and tuples and objects of them.
fn literal<'v>(cx: &Cx<'v>, tree: &Tree, id: ExprId) -> Evaluated<'v> {
    let arena = cx.arena();
    Ok(match tree.expr(id) {
        Expr::Bool(b) => Value::Bool(b),
        Expr::Number(digits) => arena.number(BigNum::parse(tree.str(digits)).expect("a literal is a number")),
        Expr::Text(text) => arena.text(tree.str(text)),
        Expr::Template(parts) if parts.len() == 1 => literal(cx, tree, tree.ids(parts)[0])?,
        Expr::Tuple(items) => {
            let items: Result<Vec<_>, _> = tree.ids(items).iter().map(|item| literal(cx, tree, *item)).collect();
            arena.list(&items?)
        }
        Expr::Object(entries) => {
            let key = |id| match tree.expr(id) {
                Expr::Key { inner, .. } => tree.source().slice(tree.span(inner)).to_owned(),
                _ => String::new(),
            };
            let entry = |entry: &dropforge::dialect::hcl::syntax::tree::Entry| {
                Ok((arena.copy_str(&key(entry.key)), literal(cx, tree, entry.value)?))
            };
            arena.map(&tree.entries(entries).iter().map(entry).collect::<Result<Vec<_>, Vec<Box<Diagnostic>>>>()?)
        }
        other => panic!("no literal: {other:?}"),
    })
}

fn same_defaults<'v>(cx: &Cx<'v>, wanted: Option<&Json<'_>>, got: Option<&Defaults<'v>>) -> Check {
    let (wanted, got) = match (wanted, got) {
        (None, None) => return Ok(()),
        (Some(wanted), Some(got)) => (wanted, got),
        _ => return Err(format!("want the defaults {wanted:?}, got {got:?}")),
    };
    equal(encoding::ty(cx.arena(), wanted.get("type").ok_or("no type")?)?, got.ty)?;
    let values = entries(wanted.get("default_values"));
    equal(values.len(), got.values.len())?;
    for ((name, wanted), (other, got)) in values.iter().zip(&got.values) {
        equal(name.as_ref(), *other)?;
        encoding::same(cx.arena(), encoding::value(cx.arena(), wanted)?, *got)?;
    }
    let children: Vec<(String, &Defaults<'v>)> = match &got.children {
        Children::None => Vec::new(),
        Children::Element(child) => vec![(String::new(), child.as_ref())],
        Children::Elements(children) => children.iter().map(|(at, child)| (at.to_string(), child)).collect(),
        Children::Attributes(children) => children.iter().map(|(name, child)| ((*name).to_owned(), child)).collect(),
    };
    let wanted = entries(wanted.get("children"));
    equal(wanted.len(), children.len())?;
    for ((name, wanted), (other, got)) in wanted.iter().zip(children) {
        equal(name.as_ref(), other.as_str())?;
        same_defaults(cx, Some(wanted), Some(got))?;
    }
    Ok(())
}

type Entries<'r, 't> = &'r [(std::borrow::Cow<'t, str>, Json<'t>)];

fn entries<'r, 't>(json: Option<&'r Json<'t>>) -> Entries<'r, 't> {
    if let Some(Json::Object(entries)) = json { entries } else { &[] }
}
