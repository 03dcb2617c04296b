//! Notes with the values of the variables in a failed expression.
//!
//! A value with a mark on it or anywhere in it is withheld, and so are its parts.

use std::sync::Arc;

use super::syntax;
use crate::syntax::{AccessStep, Expr, ExprId, StepKind, Tree, parse_template};
use crate::values::types::name as type_name;
use crate::values::{contains_marked, number_of, traverse};
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::bignum::BigNum;
use dropforge_base::text::{Source, Span};
use dropforge_machine::function::{Capabilities, Cx};
use dropforge_machine::vm::Space;
use dropforge_value::{Extended, Inputs, Type, Value};

/// The maximum number of errors with notes. Each visits the whole tree, and nobody reads more.
const EXPLAINED: usize = 1000;
/// The maximum number of variables for one error.
const VARIABLES: usize = 8;
/// The maximum number of characters of a string or number.
const CHARACTERS: usize = 60;

/// Adds notes to errors of expressions of `tree`, which were evaluated with the inputs of `cx`: the values of the
/// variables in the expression at the location of the error, such as `name` is "abc".
///
/// If a variable has no such attribute or element, the note is about its longest existing prefix. Unknown inputs and
/// the variables of a `for` have no notes.
pub fn explain(cx: &Cx<'_>, tree: &Tree, errors: &mut [Box<Diagnostic>]) {
    for error in errors.iter_mut().take(EXPLAINED) {
        let Some(span) = subject(tree.source(), error) else { continue };
        let Some(at) = innermost(tree, span) else { continue };
        let mut notes: Vec<String> = Vec::new();
        for variable in syntax::variables(tree, at) {
            let note = variable_note(cx, tree, variable);
            notes.extend(note.filter(|note| !notes.contains(note) && !error.notes.contains(note)));
        }
        if let Some(more) = notes.len().checked_sub(VARIABLES + 1) {
            notes.truncate(VARIABLES);
            notes.push(format!("and {} more variables", more + 1));
        }
        error.notes.extend(notes);
    }
}

/// Adds notes to errors of a template that was rendered with these inputs. A stripped artifact has no source, so its
/// errors get none.
pub(crate) fn explain_template(
    source: &Arc<Source>,
    inputs: Inputs<'_>,
    limits: &Limits,
    errors: &mut [Box<Diagnostic>],
) {
    let parsed = parse_template(source, limits);
    if parsed.diagnostics.is_empty() {
        let space = Space::new();
        let cx = Cx::new(space.arena(), inputs, limits, Capabilities::NONE, &space.caches);
        explain(&cx, &parsed.tree, errors);
    }
}

/// Returns the primary span of an error in `source`.
fn subject(source: &Source, error: &Diagnostic) -> Option<Span> {
    error.primary().filter(|label| std::ptr::eq(&*label.source, source)).map(|label| label.span)
}

/// Returns the smallest expression around a span.
fn innermost(tree: &Tree, span: Span) -> Option<ExprId> {
    let around = |id: &ExprId| {
        let of = tree.span(*id);
        of.start <= span.start && span.end <= of.end
    };
    // The last node of a span contains the others.
    let ids = (0..tree.node_count()).map(ExprId).filter(around);
    ids.min_by_key(|id| {
        let of = tree.span(*id);
        (of.end - of.start, std::cmp::Reverse(*id))
    })
}

/// Describes a variable in a sentence, if an input has its name.
fn variable_note(cx: &Cx<'_>, tree: &Tree, variable: ExprId) -> Option<String> {
    let Expr::Traversal { root, root_span, steps } = tree.expr(variable) else { return None };
    if is_local(tree, tree.str(root), root_span) {
        return None;
    }
    let mut value = cx.inputs().get(tree.str(root))?;
    let mut end = root_span.end;
    for step in tree.steps(steps) {
        if !value.unmarked().1.is_empty() {
            break;
        }
        let Some(next) = followed(cx, tree, value, step) else { break };
        (value, end) = (next, step.span.end);
    }
    let name = match tree.source().slice(Span::new(root_span.start, end)) {
        "" => tree.str(root),
        name => name,
    };
    Some(format!("`{name}` {}", predicate(cx, value)))
}

/// Returns `true` if `name` is a variable of a `for` around a span.
fn is_local(tree: &Tree, name: &str, span: Span) -> bool {
    (0..tree.node_count()).map(ExprId).any(|id| {
        let (Expr::For(of), around) = (tree.expr(id), tree.span(id)) else { return false };
        let Some(of) = tree.for_expr(of).filter(|_| around.start <= span.start && span.end <= around.end) else {
            return false;
        };
        tree.str(of.value_var) == name || of.key_var.is_some_and(|key| tree.str(key) == name)
    })
}

/// Returns the value at a step.
fn followed<'v>(cx: &Cx<'v>, tree: &Tree, value: Value<'v>, step: &AccessStep) -> Option<Value<'v>> {
    let found = match step.kind {
        StepKind::Attr(name) => traverse::attribute(cx, value, tree.str(name)),
        StepKind::Key(key) => traverse::index(cx, value, cx.arena().text(tree.str(key))),
        StepKind::Number(digits) => {
            let number = BigNum::parse(tree.str(digits))?;
            traverse::index(cx, value, cx.arena().number(number))
        }
    };
    found.ok()?.ok()
}

/// Describes a value: `is "abc"`.
fn predicate(cx: &Cx<'_>, value: Value<'_>) -> String {
    match contains_marked(cx, value) {
        Ok(false) if value.is_null() => "is null".into(),
        Ok(false) if value.as_unknown().is_some_and(|unknown| unknown.ty == Type::Dynamic) => "is not known yet".into(),
        Ok(false) if value.as_unknown().is_some() => format!("is {} that is not known yet", kind(value)),
        Ok(false) => format!("is {}", shown(value)),
        // A value that was not searched completely may have marks.
        Ok(true) | Err(_) => "has a marked value".into(),
    }
}

/// Describes a known value without marks.
fn shown(value: Value<'_>) -> String {
    if let Some(text) = value.as_str() {
        return format!("{:?}", cut(text));
    }
    if let Some(number) = number_of(value) {
        return cut(&number.to_text());
    }
    if let Value::Bool(truth) = value {
        return truth.to_string();
    }
    match (value, value.elements(), value.entries()) {
        (Value::Map(_), _, Some(entries)) => match (entries.len(), entries.iter().next()) {
            (1, Some((name, _))) => format!("an object with the attribute `{}`", cut(name)),
            (0, _) => "an object without attributes".into(),
            (count, _) => format!("an object with {count} attributes"),
        },
        (_, Some(elements), _) => counted(value, elements.len()),
        (_, _, Some(entries)) => counted(value, entries.len()),
        _ => kind(value),
    }
}

/// Describes the type of a value: `a list of string`.
fn kind(value: Value<'_>) -> String {
    let name = match (value.as_unknown(), value.extended()) {
        (Some(unknown), _) => type_name(&unknown.ty),
        (_, Some(Extended::Typed(ty, _))) => type_name(ty),
        (_, Some(Extended::Capsule(capsule))) => capsule.name.to_owned(),
        _ if value.elements().is_some() => "tuple".to_owned(),
        _ => "value".to_owned(),
    };
    let article = if name.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {name}")
}

fn counted(value: Value<'_>, count: usize) -> String {
    match count {
        0 => format!("{} without elements", kind(value)),
        1 => format!("{} with 1 element", kind(value)),
        _ => format!("{} with {count} elements", kind(value)),
    }
}

/// Returns a text of at most [`CHARACTERS`].
fn cut(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expression, builtins};
    use dropforge_value::Refinement;

    /// The notes of the errors of an expression, with `a` to `z` given.
    fn notes(text: &str) -> Vec<String> {
        let (space, limits) = (Space::new(), Limits::default());
        let arena = space.arena();
        let long = "x".repeat(100);
        let variables = arena.map(&[
            ("n", Value::Int(2)),
            ("s", arena.text("a\"b")),
            ("long", arena.text(&long)),
            ("no", Value::Null),
            ("list", arena.list(&[Value::Int(1), Value::Bool(true)])),
            ("object", arena.map(&[("k", Value::Int(1)), ("list", arena.list(&[]))])),
            ("secret", arena.marked(arena.text("hidden"), &["sensitive"])),
            ("deep", arena.list(&[arena.marked(arena.text("hidden"), &["sensitive"])])),
            ("later", arena.refined(Type::String, Refinement::NONE)),
            ("any", arena.unknown(Type::Dynamic)),
        ]);
        let expression = Expression::new(&Source::new("e", text), &builtins::registry(), &limits).unwrap();
        let mut answer = expression.evaluate(&space, Inputs::new(variables), &limits).unwrap();
        assert!(!answer.errors.is_empty(), "{text}");
        expression.explain(&space, Inputs::new(variables), &limits, &mut answer.errors);
        answer.errors.into_iter().flat_map(|error| error.notes).collect()
    }

    #[test]
    fn variables_are_shown_in_a_few_words() {
        let cases = [
            ("n + s", &["`s` is \"a\\\"b\""] as &[&str]),
            ("-list", &["`list` is a tuple with 2 elements"]),
            ("-object", &["`object` is an object with 2 attributes"]),
            ("-object.list", &["`object.list` is a tuple without elements"]),
            ("no + 1", &["`no` is null"]),
            ("nope + 1", &[]),
            ("object.nope", &["`object` is an object with 2 attributes"]),
            ("list[n]", &["`list` is a tuple with 2 elements", "`n` is 2"]),
        ];
        for (text, wanted) in cases {
            assert_eq!(notes(text), wanted, "{text}");
        }
        let note = notes("-long").concat();
        assert_eq!(note.chars().filter(|c| *c == 'x').count(), CHARACTERS);
    }

    #[test]
    fn marked_values_are_withheld_however_deep_the_mark_is() {
        for text in ["-secret", "-deep", "-deep[0]", "secret.a"] {
            let notes = notes(text).join("; ");
            assert!(notes.contains("has a marked value") && !notes.contains("hidden"), "{text}: {notes}");
        }
    }

    #[test]
    fn names_of_loops_are_no_inputs() {
        assert_eq!(notes("[for n in list : -object]"), ["`object` is an object with 2 attributes"; 2]);
        assert!(notes("[for n in [[]] : -n]").is_empty());
    }

    #[test]
    fn what_is_not_known_is_said_to_be_so() {
        assert!(notes("later[[]] + any").iter().any(|note| note == "`later` is a string that is not known yet"));
    }

    #[test]
    fn a_rendered_diagnostic_shows_place_and_values() {
        let (space, limits) = (Space::new(), Limits::default());
        let inputs = Inputs::new(space.arena().map(&[("port", space.arena().text("http"))]));
        let source = Source::new("a.hcl", "1 + port");
        let expression = Expression::new(&source, &builtins::registry(), &limits).unwrap();
        let mut answer = expression.evaluate(&space, inputs, &limits).unwrap();
        expression.explain(&space, inputs, &limits, &mut answer.errors);
        let text = answer.errors[0].render(false);
        assert!(
            text.contains("a.hcl:1:5") && text.contains("1 + port") && text.contains("`port` is \"http\""),
            "{text}"
        );
    }
}
