//! Specification files.

use std::sync::Arc;

use super::{Collection, Keyed, Spec, Transform};
use crate::body::user_functions;
use crate::body::{
    Attribute, Block, Body, BodyExpression, BodySchema, Content, Context, DiagnosticList, File, Location, locate,
    mistyped, structure,
};
use crate::syntax::Expr;
use crate::typeexpr::Mode;
use crate::values::convert;
use crate::{builtins, typeexpr};
use dropforge_base::diagnostics::{Diagnostic, Severity};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Builtin, Registry, Wrong};
use dropforge_value::{Type, Value};
use indexmap::IndexMap;

/// The functions that expressions of a specification may call.
const FUNCTIONS: &str =
    "abs coalesce concat hasindex int jsondecode jsonencode length lower max min reverse strlen substr upper";

/// The types of blocks that are specifications.
const BLOCKS: &str = "object array literal attr block block_list block_map block_set block_attrs default transform";

/// A specification from a file, with the variables and functions of the file.
///
/// ```
/// use dropforge::hcl::body::Context;
/// use dropforge::hcl::decode::SpecFile;
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
/// use dropforge::Space;
///
/// let source = Source::new("s.hcldec", "block_list {\n  block_type = \"port\"\n  attr { \n name = \"n\"\n type = number\n }\n}");
/// let (limits, space, mut diagnostics) = (Limits::default(), Space::new(), Vec::new());
/// let file = SpecFile::parse(&source, &limits);
/// let spec = SpecFile::read(&file, &Context::new(&space, &limits), &mut diagnostics).unwrap();
/// assert_eq!(spec.spec.implied_schema().blocks[0].name, "port");
/// ```
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct SpecFile<'r> {
    /// The specification.
    pub spec: Spec<'r>,
    /// The variables of `variables` blocks.
    pub variables: Vec<(&'r str, Value<'r>)>,
    /// The functions of `function` blocks.
    pub functions: Vec<Builtin>,
}

impl<'r> SpecFile<'r> {
    /// Parses the source of a specification.
    pub fn parse(source: &Arc<Source>, limits: &Limits) -> File {
        let (all, mut registry) = (builtins::stdlib(), builtins::bare());
        for function in FUNCTIONS.split(' ').filter_map(|name| all.get(ImportKind::Function, name)) {
            registry.insert((**function).clone());
        }
        File::native(source, &registry, limits)
    }

    /// Reads a specification. Its values live in the space of `context`. Returns `None` after an error.
    pub fn read(file: &'r File, context: &Context<'r>, diagnostics: &mut DiagnosticList) -> Option<Self> {
        let (functions, rest) = user_functions(&file.body(), "function", diagnostics);
        let (declared, rest) = rest.partial_content(&BodySchema::new().block("variables", &[]), diagnostics);
        let mut variables = Vec::new();
        for block in &declared.blocks {
            for (name, attribute) in block.body.just_attributes(diagnostics) {
                variables.push((name, attribute.expr.evaluate(context, diagnostics)));
            }
        }
        let detail = "A specification file must have exactly one block that specifies the configuration.";
        let spec = SpecParser { context, diagnostics }.only(&rest, detail)?;
        Some(Self { spec, variables, functions })
    }

    /// Returns the functions that decoded configurations may call.
    pub fn registry(&self) -> Registry {
        let mut registry = builtins::bare();
        self.functions.iter().cloned().for_each(|function| registry.insert(function));
        registry
    }

    /// Returns the context for decoding: `context` with the variables of the specification and with `more`. Without any
    /// variables and functions, the use of one is an error that says so.
    pub fn context(&self, context: &Context<'r>, more: &[(&'r str, Value<'r>)]) -> Context<'r> {
        let all = [&self.variables, more].concat();
        match all.as_slice() {
            [] if self.functions.is_empty() => context.clone(),
            [] => context.evaluating(),
            all => context.with_variables(context.arena().map(all)),
        }
    }
}

/// Returns a schema with the blocks that are specifications.
fn schema(labels: &[&str]) -> BodySchema {
    BLOCKS.split(' ').fold(BodySchema::new(), |schema, name| schema.block(name, labels))
}

/// A reader of specifications.
struct SpecParser<'c, 'r> {
    context: &'c Context<'r>,
    diagnostics: &'c mut DiagnosticList,
}

impl<'r> SpecParser<'_, 'r> {
    fn spec(&mut self, block: &Block<'r>) -> Option<Spec<'r>> {
        let (body, label) = (&block.body, block.labels.first().map_or("", |label| label.text.as_str()));
        match block.name.as_str() {
            "object" => self.object(body),
            "array" => {
                let blocks = body.content(&schema(&[]), self.diagnostics).blocks;
                self.all(&blocks).map(Spec::Tuple)
            }
            "attr" => self.attr(body, label),
            "block" => self.block(body, label),
            "block_list" => self.blocks(body, label, Collection::List),
            "block_set" => self.blocks(body, label, Collection::Set),
            "block_map" => self.block_map(body, label),
            "block_attrs" => self.block_attrs(body, label),
            "literal" => self.literal(body),
            "default" => self.default(body),
            _ => self.transform(body),
        }
    }

    /// Reports an error at a location. Returns `None`.
    fn fail<T>(&mut self, location: Option<Location<'_>>, summary: impl Into<String>, detail: &str) -> Option<T> {
        self.diagnostics.push(locate(location, structure(summary, detail)));
        None
    }

    /// Returns `None` if there are more than `before` diagnostics.
    fn no_more_than(&self, before: usize) -> Option<()> {
        (self.diagnostics.len() == before).then_some(())
    }

    /// Reads the specifications of all blocks. Returns `None` if one of them fails.
    fn all(&mut self, blocks: &[Block<'r>]) -> Option<Vec<Spec<'r>>> {
        let specs: Vec<_> = blocks.iter().map(|block| self.spec(block)).collect();
        specs.into_iter().collect()
    }

    /// Reads the only specification of a body.
    fn only(&mut self, body: &Body<'r>, detail: &str) -> Option<Spec<'r>> {
        let before = self.diagnostics.len();
        let content = body.content(&schema(&[]), self.diagnostics);
        match content.blocks.as_slice() {
            [only] => self.spec(only),
            [_, extra, ..] => self.fail(Some(extra.location()), "Extraneous spec block", detail),
            [] => {
                self.no_more_than(before)?;
                self.fail(body.missing_item(), "Missing spec block", detail)
            }
        }
    }

    fn object(&mut self, body: &Body<'r>) -> Option<Spec<'r>> {
        let blocks = body.content(&schema(&["key"]), self.diagnostics).blocks;
        let specs = self.all(&blocks)?;
        let keys = blocks.iter().map(|block| block.labels.first().map_or("", |label| label.text.as_str()).to_owned());
        // The last one of a key counts, in the place of the first.
        let entries: IndexMap<String, Spec<'r>> = keys.zip(specs).collect();
        Some(Spec::Object(entries.into_iter().collect()))
    }

    fn attr(&mut self, body: &Body<'r>, label: &str) -> Option<Spec<'r>> {
        let schema = BodySchema::new().optional("name").optional("type").optional("required");
        let before = self.diagnostics.len();
        let content = body.content(&schema, self.diagnostics);
        let name = self.text(&content, "name").unwrap_or_else(|| label.to_owned());
        let required = self.flag(&content, "required");
        self.no_more_than(before)?;
        let ty = self.ty(&content, "type");
        if name.is_empty() {
            let detail = "`name` must name an argument of the configuration.";
            return self.fail(body.missing_item(), "Missing name in attribute spec", detail);
        }
        self.no_more_than(before)?;
        Some(Spec::Attr { name, ty, required })
    }

    /// Reads the arguments of a specification of blocks and the type of the blocks. The rest of its body has the
    /// specification of each block.
    fn header(&mut self, body: &Body<'r>, own: BodySchema, label: &str) -> Option<(Content<'r>, String, Body<'r>)> {
        let before = self.diagnostics.len();
        let (content, rest) = body.partial_content(&own.optional("block_type"), self.diagnostics);
        let name = self.text(&content, "block_type").unwrap_or_else(|| label.to_owned());
        self.no_more_than(before)?;
        Some((content, name, rest))
    }

    fn nested(&mut self, body: &Body<'r>) -> Option<Box<Spec<'r>>> {
        self.only(body, "There must be exactly one block that specifies each block of the type.").map(Box::new)
    }

    /// Reports a specification without a block type.
    fn check_name(&mut self, name: &str, of: &str, body: &Body<'r>) -> Option<()> {
        if name.is_empty() {
            let detail = "`block_type` must name a block type of the configuration.";
            return self.fail(body.missing_item(), format!("Missing block_type in {of} spec"), detail);
        }
        Some(())
    }

    fn block(&mut self, body: &Body<'r>, label: &str) -> Option<Spec<'r>> {
        let (content, name, rest) = self.header(body, BodySchema::new().optional("required"), label)?;
        let before = self.diagnostics.len();
        let required = self.flag(&content, "required");
        self.no_more_than(before)?;
        Some(Spec::Block { name, nested: self.nested(&rest)?, required })
    }

    fn blocks(&mut self, body: &Body<'r>, label: &str, into: Collection) -> Option<Spec<'r>> {
        let own = BodySchema::new().optional("min_items").optional("max_items");
        let (content, name, rest) = self.header(body, own, label)?;
        let before = self.diagnostics.len();
        let least = self.number(&content, "min_items").unwrap_or(0);
        let most = self.number(&content, "max_items").filter(|most| *most > 0);
        self.no_more_than(before)?;
        let nested = self.nested(&rest);
        self.check_name(&name, if into == Collection::List { "block_list" } else { "block_set" }, body)?;
        Some(Spec::Blocks { name, nested: nested?, into, least, most })
    }

    fn block_map(&mut self, body: &Body<'r>, label: &str) -> Option<Spec<'r>> {
        let (content, name, rest) = self.header(body, BodySchema::new().required("labels"), label)?;
        let labels = self.texts(content.attributes.get("labels")?)?;
        let nested = self.nested(&rest);
        self.check_name(&name, "block_map", body)?;
        if labels.is_empty() {
            let detail = "The blocks of a map must have at least one label.";
            return self.fail(body.missing_item(), "Invalid block label name list", detail);
        }
        let nested = nested?;
        if nested.implied_type(self.context, self.diagnostics).has_dynamic() {
            let detail = "The type of an argument in a map must not be `any`.";
            return self.fail(body.missing_item(), "Invalid block_map spec", detail);
        }
        Some(Spec::KeyedBlocks { name, labels, nested, into: Keyed::Map })
    }

    fn block_attrs(&mut self, body: &Body<'r>, label: &str) -> Option<Spec<'r>> {
        let schema = BodySchema::new().optional("block_type").optional("element_type").optional("required");
        let before = self.diagnostics.len();
        let content = body.content(&schema, self.diagnostics);
        let name = self.text(&content, "block_type").unwrap_or_else(|| label.to_owned());
        let required = self.flag(&content, "required");
        self.no_more_than(before)?;
        let element = self.ty(&content, "element_type");
        self.check_name(&name, "block_attrs", body)?;
        self.no_more_than(before)?;
        Some(Spec::BlockAttrs { name, element, required })
    }

    fn literal(&mut self, body: &Body<'r>) -> Option<Spec<'r>> {
        let before = self.diagnostics.len();
        let content = body.content(&BodySchema::new().required("value"), self.diagnostics);
        let value = content.attributes.get("value")?.expr.evaluate(self.context, self.diagnostics);
        self.no_more_than(before)?;
        Some(Spec::Literal(value))
    }

    fn default(&mut self, body: &Body<'r>) -> Option<Spec<'r>> {
        let before = self.diagnostics.len();
        let blocks = body.content(&schema(&[]), self.diagnostics).blocks;
        if self.no_more_than(before).is_some() {
            match blocks.as_slice() {
                [] => {
                    let detail = "There must be blocks, of which the first that is not null is the value.";
                    return self.fail(body.missing_item(), "Missing spec block", detail);
                }
                [only] => {
                    let detail = "A `default` block with a single block is equivalent to that block.";
                    let mut warning = structure("Useless default block", detail);
                    warning.severity = Severity::Warning;
                    self.diagnostics.push(only.location().label(warning));
                }
                _ => {}
            }
        }
        let specs = self.all(&blocks)?.into_iter();
        specs.reduce(|first, second| Spec::Default(Box::new(first), Box::new(second)))
    }

    fn transform(&mut self, body: &Body<'r>) -> Option<Spec<'r>> {
        let before = self.diagnostics.len();
        let (content, rest) = body.partial_content(&BodySchema::new().optional("result"), self.diagnostics);
        self.no_more_than(before)?;
        let nested = rest.content(&schema(&[]), self.diagnostics);
        let [wrapped] = nested.blocks.as_slice() else {
            self.no_more_than(before)?;
            let detail = "There must be exactly one block that specifies the value to transform.";
            return self.fail(body.missing_item(), "Invalid transform spec", detail);
        };
        let wrapped = Box::new(self.spec(wrapped)?);
        let transform = match content.attributes.get("result") {
            Some(result) => {
                Transform::Expr { expr: result.expr.clone(), context: self.context.evaluating(), variable: "nested" }
            }
            // The reference documents `result` as required, but defaults to null.
            None => Transform::Value(Value::Null),
        };
        Some(Spec::Transform(wrapped, transform))
    }

    /// Evaluates an argument, if it is set and not null, and converts it to a type.
    fn argument(&mut self, content: &Content<'r>, name: &str, ty: &Type<'r>) -> Option<Value<'r>> {
        self.value(content.attributes.get(name)?, ty).filter(|value| !value.is_null())
    }

    fn value(&mut self, attribute: &Attribute<'r>, ty: &Type<'r>) -> Option<Value<'r>> {
        let value = attribute.expr.evaluate(self.context, self.diagnostics);
        let error = |wrong: &Wrong| unsuitable(&attribute.expr, &wrong.message);
        self.context.attempt(self.diagnostics, |cx| convert(cx, value, ty), error)
    }

    fn text(&mut self, content: &Content<'r>, name: &str) -> Option<String> {
        self.argument(content, name, &Type::String)?.as_str().map(str::to_owned)
    }

    fn flag(&mut self, content: &Content<'r>, name: &str) -> bool {
        matches!(self.argument(content, name, &Type::Bool), Some(Value::Bool(true)))
    }

    fn number(&mut self, content: &Content<'r>, name: &str) -> Option<usize> {
        let value = self.argument(content, name, &Type::Number)?;
        let number = if let Value::Int(n) = value { usize::try_from(n).ok() } else { None };
        if number.is_none() && value.is_known() {
            let expr = &content.attributes.get(name)?.expr;
            self.diagnostics.push(unsuitable(expr, "expected a non-negative integer"));
        }
        number
    }

    fn texts(&mut self, attribute: &Attribute<'r>) -> Option<Vec<String>> {
        let list = self.value(attribute, &Type::List(&Type::String))?;
        let items = list.elements().unwrap_or(&[]).iter();
        let texts: Option<Vec<_>> = items.map(|text| text.as_str().map(str::to_owned)).collect();
        if texts.is_none() {
            self.diagnostics.push(unsuitable(&attribute.expr, "all elements must be strings"));
        }
        texts
    }

    /// Reads a type. An argument that is not set is any type.
    fn ty(&mut self, content: &Content<'r>, name: &str) -> Type<'r> {
        let Some(attribute) = content.attributes.get(name) else { return Type::Dynamic };
        let read = attribute.expr.as_native(|tree, id| {
            let read = || self.context.with_cx(|cx| typeexpr::read(cx, tree, id, Mode::Constraint));
            (tree.expr(id) != Expr::Null).then(read)
        });
        match read {
            Some(Some(read)) => {
                self.diagnostics.extend(read.diagnostics);
                return read.ty;
            }
            Some(None) => {}
            None => self.diagnostics.push(unsuitable(&attribute.expr, "expected a type")),
        }
        Type::Dynamic
    }
}

fn unsuitable(expr: &BodyExpression<'_>, why: &str) -> Box<Diagnostic> {
    let location = Location { span: expr.start(), ..expr.location() };
    let detail = format!("The value does not fit: {why}.");
    location.label(mistyped("Unsuitable value type", detail)).with_context(expr.range())
}
