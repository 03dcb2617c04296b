//! The names in a template file, for editors.

use std::collections::HashMap;
use std::sync::Arc;

use super::load::{read, resolve};
use super::syntax::{BuildOptions, ExpressionId, File, LetValue, NodeKind, TemplateExpression, VariableId};
use crate::marks::ExpressionMarks;
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::compiler::{Given, Key, Mark, MarkList, Named, NoLoader};
use dropforge_machine::function::Registry;

/// Maximum number of variables that lead to one another.
const STEPS: usize = 16;

/// Returns the names in a template file.
///
/// # Errors
/// All errors of the file.
pub fn marks(
    source: &Arc<Source>,
    strict_let: bool,
    registry: &Registry,
    limits: &Limits,
) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
    let templates = read(source, &NoLoader, limits, &BuildOptions { strict_let, ..BuildOptions::default() })?;
    let file = templates.entry();
    let mut marking = Marking { file, registry, values: values(file), found: Vec::new() };
    marking.definitions();
    marking.files();
    for expression in file.expressions() {
        marking.expression(expression);
    }
    marking.found.sort_by_key(|mark| (mark.span.start, mark.span.end));
    marking.found.dedup();
    Ok(marking.found)
}

/// The expressions that give variables their values, with `true` for one whose items are the values.
type Values = HashMap<VariableId, (ExpressionId, bool)>;

fn values(file: &File) -> Values {
    let mut values = Values::new();
    for map in &file.maps {
        for one in &map.directives().lets {
            let value = match one.value {
                LetValue::Expression(value) | LetValue::Unless { expression: value, .. } => Some(value),
                LetValue::Template(node) => match file.node(node).map(|node| &node.kind) {
                    Some(NodeKind::Expression(value)) => Some(*value),
                    _ => None,
                },
            };
            values.extend(value.map(|value| (one.variable, (value, false))));
        }
        values.extend(map.directives().each.as_ref().map(|each| (each.value, (each.over, true))));
    }
    values
}

struct Marking<'f> {
    file: &'f File,
    registry: &'f Registry,
    values: Values,
    found: Vec<Mark>,
}

impl Marking<'_> {
    fn definitions(&mut self) {
        for (at, variable) in self.file.variables.iter().enumerate() {
            let id = VariableId::of(at);
            let mark = Mark::definition(Named::Variable, &*variable.name, variable.span, variable.span);
            let (given, input) = (self.given(id), self.input_of(id, STEPS));
            self.found.push(Mark { variable: Some(at as u32), given, input, ..mark });
        }
        for declared in self.file.declared.iter().filter(|declared| declared.of.is_none()) {
            let mark = Mark::definition(Named::Input, &*declared.name, declared.span, declared.span);
            self.found.push(Mark { input: Some(vec![Key::Name(declared.name.to_string())]), ..mark });
        }
    }

    fn files(&mut self) {
        let name = self.file.source.name();
        let folder = name.rfind('/').map_or("", |at| name.get(..=at).unwrap_or(""));
        for include in self.file.maps.iter().filter_map(|map| map.directives().include.as_ref()) {
            let Some(path) = self.file.string(include.path) else { continue };
            let span = self.file.node(include.path).map_or(include.span, |node| node.span);
            let quotes = (span.end - span.start).saturating_sub(path.len() as u32) / 2;
            let inner = Span::new(span.start + quotes, span.end - quotes);
            if let Some(name) = resolve(folder, path) {
                self.found.push(Mark { whole: span, ..Mark::new(Named::File, name, inner) });
            }
        }
    }

    fn expression(&mut self, expression: &TemplateExpression) {
        let mut list = MarkList::default();
        let place = |span| expression.places.span(span);
        let (tree, registry) = (&*expression.tree, self.registry);
        ExpressionMarks { tree, registry, place: &place, list: &mut list }.value(tree.root);
        // Variables of comprehensions come after those of the file, and each expression has numbers of its own.
        let base = (self.file.variables.len() + expression.span.start as usize) as u32;
        for mut mark in list.finish() {
            if let Some(number) = &mut mark.variable {
                *number += base;
            } else if let Some(id) = self.variable(expression, &mark) {
                mark.kind = Named::Variable;
                mark.variable = Some(id.index() as u32);
                mark.input = self.input_of(id, STEPS);
            }
            self.found.push(mark);
        }
    }

    /// Returns the variable of the file that a name means.
    fn variable(&self, expression: &TemplateExpression, mark: &Mark) -> Option<VariableId> {
        expression.free(&mark.name).filter(|_| mark.kind == Named::Input)?.variable
    }

    /// Returns the expression that gives a variable its value.
    fn given(&self, id: VariableId) -> Option<Given> {
        let (value, is_item) = *self.values.get(&id)?;
        let expression = self.file.expression(value)?;
        let span = expression.span_of(expression.tree.root);
        Some(if is_item { Given::Items(span) } else { Given::Value(span) })
    }

    /// Returns the input that a variable is, following at most `left` other variables.
    fn input_of(&self, id: VariableId, left: usize) -> Option<Vec<Key>> {
        let (value, is_item) = *self.values.get(&id)?;
        let expression = self.file.expression(value)?;
        let mut list = MarkList::default();
        let place = |span| span;
        let (tree, registry) = (&*expression.tree, self.registry);
        let input = ExpressionMarks { tree, registry, place: &place, list: &mut list }.input(tree.root)?;
        let root = input.first().and_then(|key| if let Key::Name(name) = key { Some(name) } else { None })?;
        let mut whole = match expression.free(root).and_then(|free| free.variable) {
            Some(other) => self.input_of(other, left.checked_sub(1)?)?,
            None => vec![Key::Name(root.clone())],
        };
        whole.extend(input.into_iter().skip(1));
        whole.extend(is_item.then_some(Key::Any));
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn names_of_a_file() {
        let text = "$let: {app: cfg.app}\nname: \"x ${app.name + size(zone)}\"\nports:\n  $for: p in app.ports\n  \
                    $do: ${p.number}\nmore: {$include: ../a.yaml}\n";
        let source = Source::new("d/t.cel.yaml", text);
        let found = marks(&source, false, &registry(), &Limits::default()).unwrap();
        let shown = |mark: &Mark| {
            let sort = if mark.is_definition { "def " } else { "" };
            format!("{sort}{:?} {} {:?}", mark.kind, source.slice(mark.span), mark.variable)
        };
        let all: Vec<_> = found.iter().map(shown).collect();
        assert_eq!(
            all,
            [
                "def Variable app Some(0)",
                "Input cfg None",
                "Variable app Some(0)",
                "Import(Function) size None",
                "Input zone None",
                "def Variable p Some(1)",
                "Variable app Some(0)",
                "Variable p Some(1)",
                "File ../a.yaml None",
            ]
        );
        let name = |name: &str| Key::Name(name.to_owned());
        let (input, _) = found[7].input_at(u32::MAX).unwrap();
        assert_eq!(input, [name("cfg"), name("app"), name("ports"), Key::Any, name("number")]);
        assert_eq!(found[8].name, "a.yaml");
        let given: Vec<_> = found.iter().filter_map(|mark| mark.given).collect();
        let [Given::Value(app), Given::Items(ports)] = *given else { panic!("{given:?}") };
        assert_eq!([app, ports].map(|span| source.slice(span)), ["cfg.app", "app.ports"]);
    }
}
