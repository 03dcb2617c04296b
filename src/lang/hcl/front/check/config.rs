//! Checks of configurations: every argument of every block.
//!
//! The program that reads a configuration decides its meaning, so there is no schema, and everything that can be
//! evaluated is checked. Some blocks are special, whatever the program:
//!
//! | block | meaning |
//! |---|---|
//! | `function "name" { … }` of the file | expressions of the file may call it, and `result` sees its parameters, each of any type |
//! | `variable "name" { type = … }` of the file | `type` is a type expression |
//! | `dynamic "x" { for_each = …, content { … } }` at any depth | `content` and `labels` see `x.key` and `x.value` of the types of the elements, and nothing else is allowed in it. Outside modules, a block that has none of these is not one |
//!
//! The variables of a module of Terraform or OpenTofu are the attributes of `var`, its other names are not declared, and the
//! content of its blocks `variable`, `output` and `locals` is known. The name of the file tells that it is one.
//!
//! An object with keys like `aws.west` has no value. The program reads its keys statically, so only its values are
//! checked. In the JSON syntax, every string is checked as a template, whether it is an argument or the name of a
//! block.

use std::sync::Arc;

use super::checker::{AbstractValue, Checker, Region};
use super::{Definition, VariableTypes, definitions, untyped_variables, with_own_functions, without_capabilities};
use crate::body::{
    Body, BodyExpression, BodySchema, Context, DYNAMIC, DiagnosticList, File, Location, NativeFile, check_dynamic,
    not_a_label, not_iterable, structure,
};
use crate::compile::Compiler;
use crate::syntax::{AttributeNode, BlockNode, BodyId, Expr, ExprId, Tree, keyword, static_list, static_map};
use crate::typeexpr::Mode;
use crate::values::types::name as type_name;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result as Checked, at_most, nearest, with_article};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::function::Registry;
use dropforge_machine::vm::Space;
use dropforge_value::{Type, Value};

/// Returns the errors of a configuration that do not depend on the values of its variables, including its syntax
/// errors. The variables are those in `types`, or any of any type. In a [file of a module](is_module), those in `types` are
/// attributes of `var`. The configuration is in the JSON syntax if the name of the source ends in `.json`.
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
/// A limit was reached.
pub fn check_config(
    source: &Arc<Source>,
    registry: &Registry,
    types: Option<&VariableTypes>,
    limits: &Limits,
) -> Result<Vec<Box<Diagnostic>>, Diagnostics> {
    let (registry, file, own_errors) = with_own_functions(source, without_capabilities(registry, None), limits);
    let space = Space::new();
    if let Some(limit) = file.diagnostics().iter().find(|error| error.code == Code::LimitSourceBytes) {
        return Err(limit.clone().into());
    }
    let variables = match (types, tree_of(&file)) {
        (Some(types), Some(tree)) if is_module(source.name()) => {
            let declared = types.unknowns(&space.context(limits))?;
            untyped_variables(space.arena(), tree, &[("var", declared)])
        }
        (Some(types), _) => types.unknowns(&space.context(limits))?,
        (None, Some(tree)) => untyped_variables(space.arena(), tree, &[]),
        (None, None) => Value::Undefined,
    };
    let compiler = Compiler::new(&registry, limits);
    let mut checker = Checker::new(&space, &compiler, variables);
    checker.found.extend(file.diagnostics().iter().cloned().chain(own_errors));
    let context = Context::new(&space, limits);
    let mut walk = ConfigWalk { file: &file, space: &space, checker, context, bodies: Vec::new(), values: Vec::new() };
    if is_module(source.name()) {
        report_module(&file, &mut walk.checker.found);
    }
    walk.variable_types(&file.body());
    walk.function_results(&file.body())?;
    walk.file()?;
    Ok(at_most(walk.checker.run()?, limits.diagnostics, 0))
}

/// Returns `true` for the name of a file of a module of Terraform or OpenTofu: `main.tf`, `main.tofu.json`.
///
/// ```
/// use dropforge::dialect::hcl::check::is_module;
/// assert!(is_module("net/main.tf") && is_module("main.tofu.json"));
/// assert!(!is_module("prod.tfvars") && !is_module("app.hcl"));
/// ```
pub fn is_module(name: &str) -> bool {
    let name = name.strip_suffix(".json").unwrap_or(name);
    [".tf", ".tofu"].iter().any(|extension| name.ends_with(extension))
}

/// Returns the tree of the expressions of a file.
fn tree_of(file: &File) -> Option<&Tree> {
    let mut found = file.as_native().map(NativeFile::tree);
    if let Some(value) = file.expression() {
        value.each_native(|tree, _| found = Some(tree));
    }
    found
}

/// A walk through a file, which adds regions to the checker.
struct ConfigWalk<'c, 's> {
    file: &'s File,
    space: &'s Space,
    checker: Checker<'c, 's>,
    /// A context without variables.
    context: Context<'s>,
    /// Bodies of the native syntax to visit, with the iterators around them.
    bodies: Vec<(BodyId, Value<'s>)>,
    /// Values of the JSON syntax to visit, with the iterators around them, and whether they are the root.
    values: Vec<(BodyExpression<'s>, Value<'s>, bool)>,
}

impl<'s> ConfigWalk<'_, 's> {
    /// Checks the types of `variable` blocks.
    fn variable_types(&mut self, body: &Body<'s>) {
        let schema = BodySchema::new().block("variable", &["name"]);
        // The program reports other content and the wrong number of labels.
        for block in body.partial_content(&schema, &mut Vec::new()).0.blocks {
            let (content, _) = block.body.partial_content(&BodySchema::new().optional("type"), &mut Vec::new());
            let Some(attribute) = content.attributes.get("type") else { continue };
            // The types of old versions.
            if matches!(attribute.expr.keyword().as_deref(), Some("list" | "map")) {
                continue;
            }
            let mut default = |_| Ok(Value::Null);
            let cx = self.space.context(self.context.limits());
            let read = attribute.expr.type_expr(&cx, Mode::Defaults(&mut default));
            self.checker.found.extend(read.into_iter().flat_map(|read| read.diagnostics));
        }
    }

    /// Checks the results of `function` blocks.
    fn function_results(&mut self, body: &Body<'s>) -> Checked<()> {
        let arena = self.space.arena();
        for Definition { params, result, .. } in definitions(body) {
            let params = params.iter().map(|name| (arena.copy_str(name), arena.unknown(Type::Dynamic)));
            let locals = self.checker.with(Value::Undefined, params);
            match result {
                Some(result) if self.file.as_native().is_none() => self.json(result, locals, false)?,
                Some(result) => self.add_templates(&result, locals),
                None => {}
            }
        }
        Ok(())
    }

    /// Checks everything but functions.
    fn file(&mut self) -> Checked<()> {
        match (self.file.as_native(), self.file.expression()) {
            (Some(file), _) => self.native(file.tree(), file.root()),
            (None, Some(value)) => self.json(value, Value::Undefined, true),
            (None, None) => Ok(()),
        }
    }

    fn native(&mut self, tree: &'s Tree, root: BodyId) -> Checked<()> {
        self.bodies.push((root, Value::Undefined));
        while let Some((id, locals)) = self.bodies.pop() {
            let Some(body) = tree.body(id) else { continue };
            self.add_arguments(tree, &body.attributes, locals);
            for block in &body.blocks {
                match tree.str(block.name) {
                    "function" if id == root => {}
                    "variable" if id == root => self.native_variable(tree, block, locals),
                    DYNAMIC if self.native_dynamic(tree, block, locals)? => {}
                    _ => self.bodies.push((block.body, locals)),
                }
            }
        }
        Ok(())
    }

    fn add_arguments<'a>(
        &mut self,
        tree: &'s Tree,
        all: impl IntoIterator<Item = &'a AttributeNode>,
        locals: Value<'s>,
    ) {
        for AttributeNode { expr, .. } in all {
            let entries = static_map(tree, *expr).filter(|entries| entries.iter().any(|of| is_traversal(tree, of.key)));
            match entries {
                Some(entries) => {
                    self.checker.pending.extend(entries.iter().map(|entry| Region::new(tree, entry.value, locals)));
                }
                None => self.checker.pending.push(Region::new(tree, *expr, locals)),
            }
        }
    }

    fn native_variable(&mut self, tree: &'s Tree, block: &BlockNode, locals: Value<'s>) {
        let Some(body) = tree.body(block.body) else { return };
        self.add_arguments(tree, body.attributes.iter().filter(|of| tree.str(of.name) != "type"), locals);
        self.bodies.extend(body.blocks.iter().map(|block| (block.body, locals)));
    }

    /// Checks a `dynamic` block. Returns `false` if it is not one.
    fn native_dynamic(&mut self, tree: &'s Tree, block: &'s BlockNode, locals: Value<'s>) -> Checked<bool> {
        let Some((label, body)) = block.labels.first().zip(tree.body(block.body)) else { return Ok(false) };
        let argument = |name: &str| body.attributes.iter().find(|of| tree.str(of.name) == name).map(|of| of.expr);
        let has_block = |name: &str| body.blocks.iter().any(|block| tree.str(block.name) == name);
        let is_one = DYNAMIC_PARTS.iter().any(|name| argument(name).is_some() || has_block(name));
        if !is_one && !is_module(tree.source().name()) {
            return Ok(false);
        }
        if let Some(file) = self.file.as_native() {
            check_dynamic(&file.body(block.body), &mut self.checker.found);
        }
        let text = |id| tree.source().slice(tree.span(id)).trim_matches('"');
        let name = argument("iterator").map(|id| keyword(tree, id).unwrap_or_else(|| text(id)));
        let name = name.unwrap_or_else(|| tree.str(label.text));
        let inner = match argument("for_each") {
            Some(for_each) => {
                let location = Location { source: tree.source(), span: tree.span(for_each) };
                let collection = self.checker.evaluate(Region::new(tree, for_each, locals))?;
                self.with_iterator(collection, location, name, locals)
            }
            None => self.with_unknown_iterator(name, locals),
        };
        for attribute in &body.attributes {
            match tree.str(attribute.name) {
                "iterator" => {}
                "labels" => self.native_labels(tree, attribute, inner)?,
                _ => self.add_arguments(tree, [attribute], locals),
            }
        }
        let within = |block: &BlockNode| if tree.str(block.name) == "content" { inner } else { locals };
        self.bodies.extend(body.blocks.iter().map(|block| (block.body, within(block))));
        Ok(true)
    }

    /// Checks the labels of a `dynamic` block.
    fn native_labels(&mut self, tree: &'s Tree, labels: &AttributeNode, locals: Value<'s>) -> Checked<()> {
        self.add_arguments(tree, [labels], locals);
        for &label in static_list(tree, labels.expr).unwrap_or_default() {
            let value = self.checker.evaluate(Region::new(tree, label, locals))?;
            self.label(value, Location { source: tree.source(), span: tree.span(label) });
        }
        Ok(())
    }

    /// Reports a label that is not a string, whatever the values are.
    fn label(&mut self, value: AbstractValue<'s>, location: Location<'_>) {
        let reason = match value {
            AbstractValue::Null => "it is null".to_owned(),
            AbstractValue::Empty => "it is a collection".to_owned(),
            AbstractValue::OfType(ty) if !ty.is_primitive() && !matches!(ty, Type::Dynamic) => {
                format!("it is {}", with_article(&type_name(&ty)))
            }
            _ => return,
        };
        self.checker.found.push(not_a_label(location, &reason));
    }

    /// Adds an iterator over an unknown value to `locals`.
    fn with_unknown_iterator(&mut self, name: &'s str, locals: Value<'s>) -> Value<'s> {
        let unknown = self.space.arena().unknown(Type::Dynamic);
        let iterator = self.space.arena().map(&[("key", unknown), ("value", unknown)]);
        self.checker.with(locals, [(name, iterator)])
    }

    /// Adds an iterator over a `for_each` value to `locals`.
    fn with_iterator(
        &mut self,
        collection: AbstractValue<'s>,
        location: Location<'s>,
        name: &'s str,
        locals: Value<'s>,
    ) -> Value<'s> {
        let arena = self.space.arena();
        let value = match collection {
            AbstractValue::OfType(ty) => arena.unknown(ty),
            AbstractValue::Bool(truth) => Value::Bool(truth),
            AbstractValue::Null => Value::Null,
            AbstractValue::Empty => arena.list(&[]),
        };
        self.checker.found.extend(not_iterable(arena, value).map(|error| location.label(error)));
        let (key, value) = collection.element_types();
        let iterator = arena.map(&[("key", arena.unknown(key)), ("value", arena.unknown(value))]);
        self.checker.with(locals, [(name, iterator)])
    }

    /// Checks all strings of a value of the JSON syntax.
    fn json(&mut self, value: BodyExpression<'s>, locals: Value<'s>, is_root: bool) -> Checked<()> {
        self.values.push((value, locals, is_root));
        while let Some((value, locals, is_root)) = self.values.pop() {
            if let Some(items) = value.static_list() {
                self.values.extend(items.into_iter().map(|item| (item, locals, is_root)));
                continue;
            }
            let Some(entries) = value.static_map() else {
                self.add_templates(&value, locals);
                continue;
            };
            for (key, value) in entries {
                match name(&key) {
                    "//" => continue,
                    "function" if is_root => continue,
                    "dynamic" => self.json_dynamic(&value, locals)?,
                    _ => self.values.push((value, locals, false)),
                }
                self.add_templates(&key, locals);
            }
        }
        Ok(())
    }

    /// Checks the value of a property `dynamic`: one or more blocks for each label.
    fn json_dynamic(&mut self, value: &BodyExpression<'s>, locals: Value<'s>) -> Checked<()> {
        let labelled = objects(value);
        if labelled.is_empty() {
            self.values.push((value.clone(), locals, false));
        }
        for (label, value) in labelled.into_iter().flat_map(|(_, labels)| labels) {
            let blocks = objects(&value);
            if blocks.is_empty() {
                self.values.push((value, locals, false));
            }
            for (body, block) in blocks {
                let has = |wanted: &&str| block.iter().any(|(key, _)| name(key) == *wanted);
                let is_one = is_module(body.location().source.name()) || DYNAMIC_PARTS.iter().any(has);
                if let Some(body) = body.object_body().filter(|_| is_one) {
                    check_dynamic(&body, &mut self.checker.found);
                }
                self.json_dynamic_block(name(&label), block, locals)?;
            }
        }
        Ok(())
    }

    fn json_dynamic_block(&mut self, label: &'s str, block: Entries<'s>, locals: Value<'s>) -> Checked<()> {
        let property = |wanted| block.iter().find(|(key, _)| name(key) == wanted).map(|(_, value)| value);
        let iterator = property("iterator").and_then(BodyExpression::keyword);
        let iterator = iterator.map_or(label, |name| self.space.arena().copy_str(&name));
        let inner = match property("for_each") {
            Some(for_each) => {
                let collection = self.evaluate_json(for_each, locals)?;
                self.with_iterator(collection, for_each.location(), iterator, locals)
            }
            None => self.with_unknown_iterator(iterator, locals),
        };
        for label in property("labels").and_then(BodyExpression::static_list).unwrap_or_default() {
            let value = self.evaluate_json(&label, inner)?;
            self.label(value, label.location());
        }
        self.values.extend(block.into_iter().map(|(key, value)| {
            let within = if matches!(name(&key), "content" | "labels") { inner } else { locals };
            (value, within, false)
        }));
        Ok(())
    }

    fn evaluate_json(&mut self, value: &BodyExpression<'s>, locals: Value<'s>) -> Checked<AbstractValue<'s>> {
        let mut template: Option<(&'s Tree, ExprId)> = None;
        if value.static_list().is_none() && value.static_map().is_none() {
            value.each_native(|tree, root| template = Some((tree, root)));
        }
        if let Some((tree, root)) = template {
            return self.checker.evaluate(Region::new(tree, root, locals));
        }
        let value = value.evaluate(&self.context, &mut Vec::new());
        Ok(AbstractValue::of(self.space.arena(), value))
    }

    /// Adds the templates of an expression, or its syntax errors.
    fn add_templates(&mut self, expr: &BodyExpression<'s>, locals: Value<'s>) {
        let before = self.checker.pending.len();
        expr.each_native(|tree, root| self.checker.pending.push(Region::new(tree, root, locals)));
        if self.checker.pending.len() == before {
            expr.evaluate(&self.context.evaluating(), &mut self.checker.found);
        }
    }
}

/// The arguments and the block of `dynamic` blocks. Another program's block of that type has none of them.
const DYNAMIC_PARTS: &[&str] = &["for_each", "iterator", "labels", "content"];

/// Returns `true` if the key of an entry is a name with steps, which is not the key of a value.
fn is_traversal(tree: &Tree, key: ExprId) -> bool {
    let Expr::Key { inner, forced: false } = tree.expr(key) else { return false };
    matches!(tree.expr(inner), Expr::Traversal { steps, .. } if !steps.is_empty())
}

/// The names and values of an object.
type Entries<'s> = Vec<(BodyExpression<'s>, BodyExpression<'s>)>;

/// Returns a name of the JSON syntax as written. The names of interest have no escapes.
fn name<'s>(key: &BodyExpression<'s>) -> &'s str {
    key.location().source.slice(key.range()).trim_matches('"')
}

/// Returns an object with its entries, or each object of a list.
fn objects<'s>(value: &BodyExpression<'s>) -> Vec<(BodyExpression<'s>, Entries<'s>)> {
    let items = value.static_list().unwrap_or_else(|| vec![value.clone()]);
    items.into_iter().filter_map(|item| item.static_map().map(|entries| (item, entries))).collect()
}

/// The types of blocks at the top of a module, and `function`, whose blocks declare functions.
const TOP: &[&str] = &[
    "action",
    "check",
    "data",
    "ephemeral",
    "function",
    "import",
    "language",
    "list",
    "locals",
    "module",
    "moved",
    "output",
    "provider",
    "removed",
    "resource",
    "terraform",
    "variable",
];

/// The content of a `variable` block.
pub fn variable() -> BodySchema {
    ["type", "default", "description", "nullable", "sensitive", "ephemeral", "deprecated", "const"]
        .into_iter()
        .fold(BodySchema::new().block("validation", &[]), BodySchema::optional)
}

/// The content of a `validation` block.
pub fn validation() -> BodySchema {
    BodySchema::new().required("condition").optional("error_message")
}

/// The content of an `output` block.
fn output() -> BodySchema {
    ["description", "sensitive", "ephemeral", "depends_on", "deprecated", "type"]
        .into_iter()
        .fold(BodySchema::new().required("value").block("precondition", &[]), BodySchema::optional)
}

/// Reports what a `variable` block cannot have.
pub fn report_variable(body: &Body<'_>, diagnostics: &mut DiagnosticList) {
    report(body, &variable(), diagnostics);
}

/// Reports what a body with conditions in its blocks cannot have.
fn report(body: &Body<'_>, schema: &BodySchema, diagnostics: &mut DiagnosticList) {
    for block in body.content(schema, diagnostics).blocks {
        block.body.content(&validation(), diagnostics);
    }
}

/// Reports what the blocks of a module cannot have.
pub fn report_module(file: &File, diagnostics: &mut DiagnosticList) {
    report_misspelled(file, TOP, diagnostics);
    let schema = BodySchema::new().block("variable", &["name"]).block("output", &["name"]).block("locals", &[]);
    for block in file.body().partial_content(&schema, diagnostics).0.blocks {
        match &*block.name {
            "variable" => report_variable(&block.body, diagnostics),
            "output" => report(&block.body, &output(), diagnostics),
            _ => drop(block.body.just_attributes(diagnostics)),
        }
    }
}

/// Reports the blocks at the top of a file whose types resemble one of `known`. Programs read blocks of other types.
pub fn report_misspelled(file: &File, known: &[&str], diagnostics: &mut DiagnosticList) {
    for (name, span) in top_blocks(file) {
        if known.contains(&&*name) {
            continue;
        }
        if let Some(near) = nearest(&name, known.iter().copied()) {
            let error = structure("Unsupported block type", format!("Blocks of type `{name}` are not expected here."));
            let location = Location { source: file.source(), span };
            diagnostics.push(location.label(error.with_suggestion(&name, [near])));
        }
    }
}

/// Returns the types of the blocks at the top of a file. In JSON, an object is a block.
fn top_blocks(file: &File) -> Vec<(String, Span)> {
    if let Some(native) = file.as_native() {
        let tree = native.tree();
        let blocks = tree.body(native.root()).map_or(&[][..], |body| &body.blocks);
        return blocks.iter().map(|block| (tree.str(block.name).to_owned(), block.name_span)).collect();
    }
    let attributes = file.body().just_attributes(&mut Vec::new()).into_values();
    let blocks = attributes.filter(|of| of.expr.static_map().is_some());
    blocks.map(|of| (of.name.to_owned(), of.name_range)).collect()
}
