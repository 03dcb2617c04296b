//! Checking a template without data: it is evaluated with variables that are not known, and what is wrong whatever
//! they are is reported.
//!
//! A language whose values may be unknown drops what a branch reports as long as it is not known whether it is taken,
//! and never gets into a loop over something unknown. So branches, and the bodies of loops with names whose values are
//! not known, are evaluated once more on their own: an error there is one as soon as they are reached. What stands in
//! the arguments of functions that answer for errors (`try`, `can`) is left alone, and so are operands of `&&` and
//! `||` beside one that is not known.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::explain::explain;
use super::lower::compile_expressions;
use super::semantics::Rules;
use super::syntax::analysis::{children, variables};
use super::syntax::parser::{Parsed, parse_config, parse_template};
use super::syntax::tree::{Attribute, Call, Expr, ExprId, For, Tree};
use super::typeexpr::{self, Mode};
use super::values::types::without_optional;
use crate::bytecode::ImportKind;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Result as Checked};
use crate::function::{Admits, Answer, Capabilities, Cx, Params, Place, Positional, Registry};
use crate::limits::Limits;
use crate::text::{Source, Span};
use crate::value::{Arena, Inputs, Type, Value};
use crate::vm::{Evaluator, Space};

/// Types of variables, as a file declares them: `name = TYPE`, or `variable "name" { type = TYPE }` (what else such a
/// block says, and blocks of other types, mean nothing here). A type is as in `list(object({ port = number }))`.
#[derive(Debug, Clone)]
pub struct VariableTypes {
    tree: Arc<Tree>,
    /// The type of each; nothing for one of any type.
    types: BTreeMap<String, Option<ExprId>>,
}

impl VariableTypes {
    /// Reads the declarations in `source`.
    ///
    /// # Errors
    /// Everything that is wrong with its syntax and with its types; a variable that is declared twice.
    pub fn read(source: &Arc<Source>, limits: &Limits) -> Result<Self, Diagnostics> {
        let Parsed { tree, root, mut diagnostics } = parse_config(source, limits);
        if !diagnostics.is_empty() {
            return Err(diagnostics.into());
        }
        let (mut types, mut declared) = (BTreeMap::new(), Vec::new());
        if let Some(body) = tree.body(root) {
            let attribute = |of: &Attribute| (tree.str(of.name), of.name_span, Some(of.expr));
            declared.extend(body.attributes.iter().map(attribute));
            for block in body.blocks.iter().filter(|block| tree.str(block.name) == "variable") {
                let [label] = block.labels.as_slice() else {
                    let error = Diagnostic::new(Code::InputSyntax, "a variable has one label, its name");
                    diagnostics.push(error.at(source, block.name_span, ""));
                    continue;
                };
                let attributes = tree.body(block.body).map_or(&[][..], |body| &body.attributes);
                let ty = attributes.iter().find(|of| tree.str(of.name) == "type").map(|of| of.expr);
                declared.push((tree.str(label.text), label.span, ty));
            }
        }
        for (name, span, ty) in declared {
            if types.insert(name.to_owned(), ty).is_some() {
                let error = Diagnostic::new(Code::InputSyntax, format!("`{name}` is declared twice"));
                diagnostics.push(error.at(source, span, ""));
            }
            let space = Space::new();
            diagnostics.extend(ty.into_iter().flat_map(|ty| read_type(&space.context(limits), &tree, ty).diagnostics));
        }
        if diagnostics.is_empty() { Ok(Self { tree: Arc::new(tree), types }) } else { Err(diagnostics.into()) }
    }

    /// A variable of each type, whose value is not known.
    fn unknowns<'s>(&'s self, cx: &Cx<'s>) -> Value<'s> {
        let arena = cx.arena();
        let unknown = |(name, ty): (&'s String, &Option<ExprId>)| {
            let ty = ty.map_or(Type::Dynamic, |ty| read_type(cx, &self.tree, ty).ty);
            (name.as_str(), arena.unknown(without_optional(arena, ty)))
        };
        arena.map(&self.types.iter().map(unknown).collect::<Vec<_>>())
    }
}

/// A declared type. What an attribute is that is not given does not matter for its type.
fn read_type<'v>(cx: &Cx<'v>, tree: &Tree, id: ExprId) -> typeexpr::TypeExpr<'v> {
    let mut default = |_| Ok(Value::Null);
    typeexpr::read(cx, tree, id, Mode::Defaults(&mut default))
}

/// What is wrong with a template whatever its variables are: those that `types` declares, and no others; without
/// `types` any, each of any type.
///
/// ```
/// use dropforge::dialect::hcl::check::{VariableTypes, check_template};
/// use dropforge::dialect::hcl::registry;
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
///
/// let limits = Limits::default();
/// let types = Source::new("types.hcl", "ports = list(object({ name = string, number = number }))\n");
/// let types = VariableTypes::read(&types, &limits)?;
/// let template = Source::new("svc.tftpl", "%{ for p in ports }${p.nmae}: ${p.number + 1}\n%{ endfor }");
/// let found = check_template(&template, &registry(), Some(&types), &limits)?;
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].position().unwrap().column, 23);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Everything that is wrong with its syntax; a limit that was reached.
pub fn check_template(
    source: &Arc<Source>,
    registry: &Registry,
    types: Option<&VariableTypes>,
    limits: &Limits,
) -> Result<Vec<Box<Diagnostic>>, Diagnostics> {
    let Parsed { tree, root, diagnostics } = parse_template(source, limits);
    if !diagnostics.is_empty() {
        return Err(diagnostics.into());
    }
    let registry = &without_host(registry);
    let space = Space::new();
    let cx = space.context(limits);
    let inputs = match types {
        Some(types) => types.unknowns(&cx),
        None => anything(space.arena(), &tree, root),
    };
    let mut checker =
        Checker { tree: &tree, space: &space, registry, limits, budgets: cx.budgets(), found: Vec::new() };
    let mut left = vec![Region { root, inputs }];
    while let Some(region) = left.pop() {
        checker.region(region, &mut left)?;
    }
    Ok(checker.findings())
}

/// The functions, where those of a host's that take anything answer with what is not known.
fn without_host(registry: &Registry) -> Registry {
    let mut all = registry.clone();
    for open in registry.iter().filter(|function| matches!(function.params, Params::Open)) {
        let admits = Admits::NULL.and(Admits::UNKNOWN).and(Admits::DYNAMIC).and(Admits::MARKED);
        let rest = Some(Place { name: "argument".into(), ty: Type::Dynamic, admits });
        let takes = Positional { params: [].as_slice().into(), rest, answer: Answer::OfBody, not_null: false };
        all.insert_closure(open.name.as_ref(), takes, |cx, _| Ok(cx.arena().unknown(Type::Dynamic)));
    }
    all
}

/// Every variable that a template names, each of any type.
fn anything<'s>(arena: &'s Arena, tree: &'s Tree, root: ExprId) -> Value<'s> {
    let name = |id| match tree.expr(id) {
        Expr::Traversal { root, .. } => Some(tree.str(root)),
        _ => None,
    };
    let names: BTreeSet<&str> = variables(tree, root).into_iter().filter_map(name).collect();
    arena.map(&names.into_iter().map(|name| (name, arena.unknown(Type::Dynamic))).collect::<Vec<_>>())
}

/// A part of the template that is evaluated on its own, and the variables it sees.
struct Region<'s> {
    root: ExprId,
    inputs: Value<'s>,
}

/// What is known of a value without data.
enum Known<'s> {
    /// Its type.
    Type(Type<'s>),
    /// That it is this truth.
    Truth(bool),
    /// That it has no elements.
    Empty,
}

struct Checker<'c, 's> {
    tree: &'s Tree,
    space: &'s Space,
    registry: &'c Registry,
    limits: &'c Limits,
    budgets: (u64, u64),
    found: Vec<Box<Diagnostic>>,
}

impl<'s> Checker<'_, 's> {
    /// Evaluates a region, and finds in it what its evaluation does not get into.
    fn region(&mut self, region: Region<'s>, left: &mut Vec<Region<'s>>) -> Checked<()> {
        let (_, mut errors) = self.evaluate(region.root, region.inputs)?;
        let cx = Cx::new(
            self.space.arena(),
            Inputs::new(region.inputs),
            self.limits,
            Capabilities::NONE,
            &self.space.regexes,
        );
        explain(&cx, self.tree, &mut errors);
        self.found.extend(errors);
        let mut walk = vec![region.root];
        while let Some(id) = walk.pop() {
            match self.tree.expr(id) {
                Expr::Conditional { condition, then, otherwise } => {
                    walk.push(condition);
                    let known = self.known(condition, region.inputs)?;
                    for (truth, branch) in [(true, then), (false, otherwise)] {
                        if !matches!(known, Known::Truth(other) if other != truth) {
                            left.push(Region { root: branch, inputs: region.inputs });
                        }
                    }
                }
                Expr::For(of) => {
                    if let Some(of) = self.tree.for_expr(of) {
                        walk.push(of.collection);
                        self.body(of, region.inputs, left)?;
                    }
                }
                Expr::Call(call) if self.takes_errors(&call) => {}
                expr => children(self.tree, expr, |child| walk.push(child)),
            }
        }
        Ok(())
    }

    /// What a loop does with each element, where its names are not known.
    fn body(&mut self, of: &'s For, inputs: Value<'s>, left: &mut Vec<Region<'s>>) -> Checked<()> {
        let (key, value) = match self.known(of.collection, inputs)? {
            Known::Type(ty) => elements(ty),
            Known::Truth(_) => (Type::Dynamic, Type::Dynamic),
            Known::Empty => return Ok(()),
        };
        let arena = self.space.arena();
        let mut inner: BTreeMap<&str, Value<'s>> = inputs.as_map().into_iter().flat_map(|map| map.iter()).collect();
        inner.extend(of.key_var.map(|name| (self.tree.str(name), arena.unknown(key))));
        inner.insert(self.tree.str(of.value_var), arena.unknown(value));
        let inner = arena.map(&inner.into_iter().collect::<Vec<_>>());
        let parts = [of.condition, Some(of.value), of.key].into_iter().flatten();
        left.extend(parts.map(|root| Region { root, inputs: inner }));
        Ok(())
    }

    /// What is known of an expression.
    fn known(&mut self, id: ExprId, inputs: Value<'s>) -> Checked<Known<'s>> {
        Ok(self.evaluate(id, inputs)?.0)
    }

    /// What is known of an expression, and the errors of its evaluation.
    fn evaluate(&mut self, id: ExprId, inputs: Value<'s>) -> Checked<(Known<'s>, Vec<Box<Diagnostic>>)> {
        let program = compile_expressions(self.tree, &[id], self.registry, self.limits)?;
        let linked = self.registry.link(program.imports())?;
        let mut evaluator = Evaluator::new(self.space, &program, &linked, self.limits, Capabilities::NONE);
        evaluator.set_budgets(self.budgets);
        let answer = evaluator.run::<Rules>(0, Inputs::new(inputs));
        self.budgets = evaluator.budgets();
        let answer = answer?;
        let arena = self.space.arena();
        let value = answer.value.unmarked().0;
        let empty = value.elements().is_some_and(<[_]>::is_empty)
            || value.entries().is_some_and(|entries| entries.iter().len() == 0);
        let known = match value {
            Value::Bool(truth) => Known::Truth(truth),
            _ if empty => Known::Empty,
            _ => Known::Type(value.type_in(arena).in_arena(arena)),
        };
        Ok((known, answer.errors))
    }

    /// Whether a call is there for what its arguments fail with.
    fn takes_errors(&self, call: &Call) -> bool {
        let function = self.registry.get(ImportKind::Function, self.tree.str(call.name));
        let Some(Params::Positional(params)) = function.map(|function| &function.params) else { return false };
        params.params.iter().chain(&params.rest).any(|param| param.admits.include(Admits::ERRORS))
    }

    /// What was found, one of each place, in the order of the source.
    fn findings(self) -> Vec<Box<Diagnostic>> {
        let place = |error: &Diagnostic| error.primary().map_or(Span::default(), |label| label.span);
        let mut seen = HashSet::new();
        let mut found: Vec<_> = self.found.into_iter().filter(|error| seen.insert(place(error))).collect();
        found.sort_by_key(|error| place(error).start);
        found
    }
}

/// The types of the keys and the elements of a collection of this type.
fn elements(ty: Type<'_>) -> (Type<'_>, Type<'_>) {
    match ty {
        Type::List(element) => (Type::Number, *element),
        Type::Set(element) => (*element, *element),
        Type::Map(element) => (Type::String, *element),
        Type::Tuple(_) => (Type::Number, Type::Dynamic),
        Type::Object(_) => (Type::String, Type::Dynamic),
        _ => (Type::Dynamic, Type::Dynamic),
    }
}

#[cfg(test)]
mod tests {
    use super::super::builtins;
    use super::*;

    const TYPES: &str = "
        name = string
        port = number
        on = bool
        any = any
        tags = map(string)
        hosts = list(object({ name = string, size = optional(number, 3) }))
        variable \"vpc\" {
          type = object({ id = string })
          default = nope
        }
        variable \"free\" {}
        output \"x\" {}
    ";

    /// The places and messages of what is wrong with a template.
    fn found(template: &str, types: Option<&str>) -> Vec<String> {
        let limits = Limits::default();
        let types = types.map(|text| VariableTypes::read(&Source::new("types.hcl", text), &limits).unwrap());
        let source = Source::new("t", template);
        let found = check_template(&source, &builtins::registry(), types.as_ref(), &limits).unwrap();
        found.iter().map(|error| source.slice(error.primary().unwrap().span).to_owned()).collect()
    }

    #[test]
    fn what_is_wrong_whatever_the_values_are() {
        let cases = [
            ("${name} ${port + 1} ${on ? 1 : 2} ${any.x[3].y} ${tags.x} ${free + 1}", &[] as &[&str]),
            ("${hosts[0].size} ${hosts.*.name[0]} ${vpc.id}", &[]),
            ("${nmae} ${vpc.ip}", &["nmae", ".ip"]),
            ("${upper(hosts)} ${uper(name)} ${abs(name)}", &["hosts", "uper"]),
            ("${hosts + 1} ${!vpc}", &["hosts", "vpc"]),
            // Branches that may be taken, and bodies of loops.
            ("%{ if on }${vpc.a}%{ else }${vpc.b}%{ endif }", &[".a", ".b"]),
            ("%{ if false }${vpc.a}%{ endif }", &[]),
            ("%{ for h in hosts }${h.name}${h.nmae}%{ if on }${h.no}%{ endif }%{ endfor }", &[".nmae", ".no"]),
            ("%{ for k, v in tags }${k}${v.x}${k.x}%{ endfor }", &[".x", ".x"]),
            ("%{ for x in [] }${nope}%{ endfor }%{ for x in [1, 2] }${x}${x.a}%{ endfor }", &[".a"]),
            ("${[for a in any : [for h in hosts : h.x + a.y]][0][0]}", &[".x"]),
            // What is asked for errors.
            ("${try(vpc.no, 1)} ${can(vpc.no) ? vpc.no : 2} ${try(on ? vpc.no : 1, 1)}", &[]),
        ];
        for (template, wanted) in cases {
            assert_eq!(found(template, Some(TYPES)), wanted, "{template}");
        }
    }

    #[test]
    fn without_types_every_variable_is_of_any_type() {
        assert_eq!(found("${a.b} ${c + 1} ${[1][\"x\"]} %{ for x in d }${x.y}%{ endfor }", None), ["[\"x\"]"]);
    }

    #[test]
    fn wrong_declarations_are_refused() {
        let cases = [
            ("a = lisst(string)", 1),
            ("a = string\nb = list(strin)\nc = 1", 2),
            ("a = string\nvariable \"a\" {}", 1),
            ("variable {}\nvariable \"a\" \"b\" {}", 2),
            ("a = ", 1),
        ];
        for (text, count) in cases {
            let read = VariableTypes::read(&Source::new("types.hcl", text), &Limits::default());
            assert_eq!(read.unwrap_err().into_vec().len(), count, "{text}");
        }
    }

    #[test]
    fn many_branches_and_deep_ones_cost_little() {
        let deep = format!("{}${{vpc.x}}{}", "%{ if on }".repeat(50), "%{ endif }".repeat(50));
        assert_eq!(found(&deep, Some(TYPES)), [".x"]);
        let many = "%{ if on }${name}%{ endif }".repeat(5_000);
        assert!(found(&many, Some(TYPES)).is_empty());
        let chain = format!("${{1{}}}", " + port".repeat(5_000));
        assert!(found(&chain, Some(TYPES)).is_empty());
    }
}
