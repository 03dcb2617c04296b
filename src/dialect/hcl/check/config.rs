//! Configurations without data: every argument of every block.
//!
//! What a configuration means is its program's business, so there is no schema: what is checked is what can be
//! evaluated. Some blocks say things that are no values, whatever the program:
//!
//! | block | what is known of it |
//! |---|---|
//! | `function "name" { … }` of the file | the file's expressions may call it; `result` sees its parameters, each of any type |
//! | `variable "name" { type = … }` of the file | `type` is a type expression |
//! | `dynamic "x" { for_each = …, content { … } }` at any depth | `content` and `labels` see `x.key` and `x.value` of the elements' types |
//!
//! An object with keys like `aws.west` has no value: its program reads it as it stands, and the values in it are checked.
//! In the JSON syntax every string is checked as a template, for an argument or the name of a block alike.

use std::sync::Arc;

use super::functions::{Definition, definitions, with_own_functions};
use super::regions::{Checker, Known, Region};
use super::{VariableTypes, anything, is_json, parse, without_outside};
use crate::diagnostics::{Diagnostic, Diagnostics, Result as Checked};
use crate::dialect::hcl::body::{Body, Context, Expression, Faults, File, Place, Schema, mistyped, not_iterable};
use crate::dialect::hcl::syntax::analysis::{keyword, static_map};
use crate::dialect::hcl::syntax::tree::{Attribute, Block, BodyId, Expr, ExprId, Tree};
use crate::dialect::hcl::typeexpr::Mode;
use crate::function::Registry;
use crate::limits::{Limit, Limits};
use crate::text::{Source, Span};
use crate::value::{Type, Value};
use crate::vm::Space;

/// What is wrong with a configuration whatever its variables are: those that `types` declares, and no others; without
/// `types` any, each of any type. It is in the JSON syntax where the source's name ends in `.json`.
///
/// ```
/// use dropforge::dialect::hcl::check::{VariableTypes, check_config};
/// use dropforge::dialect::hcl::registry;
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
///
/// let limits = Limits::default();
/// let types = VariableTypes::read(&Source::new("types.hcl", "port = number\n"), &limits)?;
/// let config = Source::new("app.hcl", "service \"a\" {\n  listen = prot + 1\n  name   = uper(port)\n}\n");
/// let found = check_config(&config, &registry(), Some(&types), &limits)?;
/// let helps: Vec<_> = found.iter().filter_map(|error| error.help.as_deref()).collect();
/// assert_eq!(helps, ["did you mean `port`?", "did you mean `upper`?"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A limit that was reached. What is wrong with the syntax is among what is found, beside what is wrong with the rest.
pub fn check_config(
    source: &Arc<Source>,
    registry: &Registry,
    types: Option<&VariableTypes>,
    limits: &Limits,
) -> Result<Vec<Box<Diagnostic>>, Diagnostics> {
    if source.text().len() > limits.source_bytes {
        let error = Limit::SourceBytes.error(limits.source_bytes as u64);
        return Err(error.at_if_nowhere(source, Span::default()).into());
    }
    let (registry, mut found) = with_own_functions(source, without_outside(registry), limits);
    let (file, space) = (parse(source, &registry, limits), Space::new());
    found.splice(0..0, file.diagnostics().iter().cloned());
    let base = match (types, tree_of(&file)) {
        (Some(types), _) => types.unknowns(&space.context(limits))?,
        (None, Some(tree)) => anything(space.arena(), tree),
        (None, None) => Value::Undefined,
    };
    let mut checker = Checker::new(&space, &registry, limits, base);
    checker.found(found);
    let context = Context::new(&space, limits);
    let mut walk = Walk { file: &file, space: &space, checker, context, regions: Vec::new(), faults: Vec::new() };
    walk.types(&file.body());
    walk.results(&file.body())?;
    walk.body()?;
    let Walk { mut checker, regions, faults, .. } = walk;
    checker.found(faults);
    checker.all(regions)?;
    Ok(checker.findings())
}

/// The tree that a file's expressions are in, where it has any.
fn tree_of(file: &File) -> Option<&Tree> {
    let mut found = file.root().map(|_| file.tree());
    if let Some(value) = file.expression() {
        value.each_native(|tree, _| found = Some(tree));
    }
    found
}

/// A walk through the file that collects what is to be evaluated.
struct Walk<'c, 's> {
    file: &'s File,
    space: &'s Space,
    checker: Checker<'c, 's>,
    /// A context without variables.
    context: Context<'s>,
    regions: Vec<Region<'s>>,
    faults: Faults,
}

impl<'s> Walk<'_, 's> {
    /// The types of `variable` blocks.
    fn types(&mut self, body: &Body<'s>) {
        let schema = Schema::new().block("variable", &["name"]);
        // What else such blocks are, and how they are written, is not known here.
        for block in body.partial_content(&schema, &mut Vec::new()).0.blocks {
            let (said, _) = block.body.partial_content(&Schema::new().optional("type"), &mut Vec::new());
            let Some(attribute) = said.attributes.get("type") else { continue };
            // These were types of their own before types had arguments.
            if matches!(attribute.expr.keyword().as_deref(), Some("list" | "map")) {
                continue;
            }
            let mut default = |_| Ok(Value::Null);
            let read =
                attribute.expr.type_expr(&self.space.context(self.context.limits()), Mode::Defaults(&mut default));
            self.faults.extend(read.into_iter().flat_map(|read| read.diagnostics));
        }
    }

    /// The results of `function` blocks.
    fn results(&mut self, body: &Body<'s>) -> Checked<()> {
        let arena = self.space.arena();
        for Definition { params, result, .. } in definitions(body) {
            let params = params.iter().map(|name| (arena.copy_str(name), arena.unknown(Type::Dynamic)));
            let over = self.checker.with(Value::Undefined, params);
            match result {
                Some(result) if is_json(self.file.source()) => self.json(result, over, false)?,
                Some(result) => self.templates(&result, over),
                None => {}
            }
        }
        Ok(())
    }

    /// All that the file holds beside functions.
    fn body(&mut self) -> Checked<()> {
        match (self.file.root(), self.file.expression()) {
            (Some(root), _) => self.native(self.file.tree(), root),
            (None, Some(value)) => self.json(value, Value::Undefined, true),
            (None, None) => Ok(()),
        }
    }

    fn native(&mut self, tree: &'s Tree, top: BodyId) -> Checked<()> {
        let mut left = vec![(top, Value::Undefined)];
        while let Some((id, over)) = left.pop() {
            let Some(body) = tree.body(id) else { continue };
            self.arguments(tree, &body.attributes, over);
            for block in &body.blocks {
                match tree.str(block.name) {
                    "function" if id == top => {}
                    "variable" if id == top => self.variable(tree, block, over, &mut left),
                    "dynamic" if self.dynamic(tree, block, over, &mut left)? => {}
                    _ => left.push((block.body, over)),
                }
            }
        }
        Ok(())
    }

    fn arguments<'a>(&mut self, tree: &'s Tree, all: impl IntoIterator<Item = &'a Attribute>, over: Value<'s>) {
        for Attribute { expr, .. } in all {
            let entries = static_map(tree, *expr).filter(|entries| entries.iter().any(|of| is_traversal(tree, of.key)));
            match entries {
                Some(entries) => {
                    self.regions.extend(entries.iter().map(|entry| Region { tree, root: entry.value, over }));
                }
                None => self.regions.push(Region { tree, root: *expr, over }),
            }
        }
    }

    fn variable(&mut self, tree: &'s Tree, block: &Block, over: Value<'s>, left: &mut Vec<(BodyId, Value<'s>)>) {
        let Some(body) = tree.body(block.body) else { return };
        self.arguments(tree, body.attributes.iter().filter(|of| tree.str(of.name) != "type"), over);
        left.extend(body.blocks.iter().map(|block| (block.body, over)));
    }

    /// A `dynamic` block; false where it has not what makes it one.
    fn dynamic(
        &mut self,
        tree: &'s Tree,
        block: &'s Block,
        over: Value<'s>,
        left: &mut Vec<(BodyId, Value<'s>)>,
    ) -> Checked<bool> {
        let Some((label, body)) = block.labels.first().zip(tree.body(block.body)) else { return Ok(false) };
        let argument = |name| body.attributes.iter().find(|of| tree.str(of.name) == name).map(|of| of.expr);
        let Some(for_each) = argument("for_each") else { return Ok(false) };
        let name = argument("iterator").and_then(|id| keyword(tree, id)).unwrap_or_else(|| tree.str(label.text));
        let place = Place { source: tree.source(), span: tree.span(for_each) };
        let known = self.checker.known(Region { tree, root: for_each, over })?;
        let inner = self.iterated(known, place, name, over);
        for attribute in &body.attributes {
            match tree.str(attribute.name) {
                "iterator" => {}
                "labels" => self.arguments(tree, [attribute], inner),
                _ => self.arguments(tree, [attribute], over),
            }
        }
        let within = |block: &Block| if tree.str(block.name) == "content" { inner } else { over };
        left.extend(body.blocks.iter().map(|block| (block.body, within(block))));
        Ok(true)
    }

    /// `over` with an iterator over what is known of `for_each`, at `place`.
    fn iterated(&mut self, known: Known<'s>, place: Place<'s>, name: &'s str, over: Value<'s>) -> Value<'s> {
        let arena = self.space.arena();
        let value = match known {
            Known::Type(ty) => arena.unknown(ty),
            Known::Truth(truth) => Value::Bool(truth),
            Known::Null => Value::Null,
            Known::Empty => arena.list(&[]),
        };
        let why = not_iterable(arena, value);
        self.faults.extend(why.map(|why| place.put(mistyped("Invalid dynamic for_each value", why))));
        let (key, value) = known.elements();
        let iterator = arena.map(&[("key", arena.unknown(key)), ("value", arena.unknown(value))]);
        self.checker.with(over, [(name, iterator)])
    }

    /// All strings of a value of the JSON syntax.
    fn json(&mut self, value: Expression<'s>, over: Value<'s>, top: bool) -> Checked<()> {
        let mut left = vec![(value, over, top)];
        while let Some((value, over, top)) = left.pop() {
            if let Some(items) = value.static_list() {
                left.extend(items.into_iter().map(|item| (item, over, top)));
                continue;
            }
            let Some(entries) = value.static_map() else {
                self.templates(&value, over);
                continue;
            };
            for (key, value) in entries {
                match name(&key) {
                    "//" => continue,
                    "function" if top => continue,
                    "dynamic" => self.json_dynamic(&value, over, &mut left)?,
                    _ => left.push((value, over, false)),
                }
                self.templates(&key, over);
            }
        }
        Ok(())
    }

    /// What is behind the name `dynamic`: by label a block or several.
    fn json_dynamic(
        &mut self,
        value: &Expression<'s>,
        over: Value<'s>,
        left: &mut Vec<(Expression<'s>, Value<'s>, bool)>,
    ) -> Checked<()> {
        let labelled = objects(value);
        if labelled.is_empty() {
            left.push((value.clone(), over, false));
        }
        for (label, value) in labelled.into_iter().flatten() {
            let blocks = objects(&value);
            if blocks.is_empty() {
                left.push((value, over, false));
            }
            for block in blocks {
                self.json_block(name(&label), block, over, left)?;
            }
        }
        Ok(())
    }

    /// A `dynamic` block of the JSON syntax.
    fn json_block(
        &mut self,
        label: &'s str,
        block: Entries<'s>,
        over: Value<'s>,
        left: &mut Vec<(Expression<'s>, Value<'s>, bool)>,
    ) -> Checked<()> {
        let property = |wanted| block.iter().find(|(key, _)| name(key) == wanted).map(|(_, value)| value);
        let iterator = property("iterator").and_then(Expression::keyword);
        let iterator = iterator.map_or(label, |name| self.space.arena().copy_str(&name));
        let inner = match property("for_each") {
            Some(for_each) => {
                let known = self.json_known(for_each, over)?;
                self.iterated(known, for_each.place(), iterator, over)
            }
            None => over,
        };
        left.extend(block.into_iter().map(|(key, value)| {
            let within = if matches!(name(&key), "content" | "labels") { inner } else { over };
            (value, within, false)
        }));
        Ok(())
    }

    /// What is known of a value of the JSON syntax.
    fn json_known(&mut self, value: &Expression<'s>, over: Value<'s>) -> Checked<Known<'s>> {
        let mut written: Option<(&'s Tree, ExprId)> = None;
        if value.static_list().is_none() && value.static_map().is_none() {
            value.each_native(|tree, root| written = Some((tree, root)));
        }
        if let Some((tree, root)) = written {
            return self.checker.known(Region { tree, root, over });
        }
        let value = value.evaluate(&self.context, &mut Vec::new());
        let arena = self.space.arena();
        Ok(if value.is_null() { Known::Null } else { Known::Type(value.type_in(arena).in_arena(arena)) })
    }

    /// What is evaluated in an expression: of the JSON syntax a string.
    fn templates(&mut self, expr: &Expression<'s>, over: Value<'s>) {
        let before = self.regions.len();
        expr.each_native(|tree, root| self.regions.push(Region { tree, root, over }));
        if self.regions.len() == before {
            // A template that could not be read says why.
            expr.evaluate(&self.context.evaluating(), &mut self.faults);
        }
    }
}

/// Whether the key of an entry is a name with steps, which is no key of a value.
fn is_traversal(tree: &Tree, key: ExprId) -> bool {
    let Expr::Key { inner, forced: false } = tree.expr(key) else { return false };
    matches!(tree.expr(inner), Expr::Traversal { steps, .. } if !steps.is_empty())
}

/// The names and values of an object.
type Entries<'s> = Vec<(Expression<'s>, Expression<'s>)>;

/// A name of the JSON syntax as it is written: what is looked for is written without escapes.
fn name<'s>(key: &Expression<'s>) -> &'s str {
    key.place().source.slice(key.range()).trim_matches('"')
}

/// The entries of an object, or of each object of a list.
fn objects<'s>(value: &Expression<'s>) -> Vec<Entries<'s>> {
    match value.static_list() {
        Some(items) => items.iter().filter_map(Expression::static_map).collect(),
        None => value.static_map().into_iter().collect(),
    }
}
