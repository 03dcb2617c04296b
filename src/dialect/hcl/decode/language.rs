//! Specifications as files: blocks that say what is made of a body.

use std::sync::Arc;

use super::{Collection, Keyed, Spec, Transform};
use crate::bytecode::ImportKind;
use crate::diagnostics::Diagnostic;
use crate::dialect::hcl::body::{
    Attribute, Block, Body, Content, Context, Expression, Faults, File, Schema, mistyped, put, structure,
    user_functions,
};
use crate::dialect::hcl::builtins;
use crate::dialect::hcl::syntax::tree::Expr;
use crate::dialect::hcl::typeexpr::{self, Mode};
use crate::dialect::hcl::values::convert::convert;
use crate::function::{Builtin, Registry, Wrong};
use crate::limits::Limits;
use crate::text::Source;
use crate::value::{Type, Value};

/// The functions that expressions of a specification may call.
const FUNCTIONS: &[&str] = &[
    "abs",
    "coalesce",
    "concat",
    "hasindex",
    "int",
    "jsondecode",
    "jsonencode",
    "length",
    "lower",
    "max",
    "min",
    "reverse",
    "strlen",
    "substr",
    "upper",
];

/// The blocks that are specifications.
const BLOCKS: &[&str] = &[
    "object",
    "array",
    "literal",
    "attr",
    "block",
    "block_list",
    "block_map",
    "block_set",
    "block_attrs",
    "default",
    "transform",
];

/// A specification read from a file, with the variables and functions that the file brings along.
///
/// ```
/// use dropforge::dialect::hcl::body::Context;
/// use dropforge::dialect::hcl::decode::SpecFile;
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
/// use dropforge::vm::Space;
///
/// let source = Source::new("s.hcldec", "block_list {\n  block_type = \"port\"\n  attr { \n name = \"n\"\n type = number\n }\n}");
/// let (limits, space, mut faults) = (Limits::default(), Space::new(), Vec::new());
/// let file = SpecFile::parse(&source, &limits);
/// let spec = SpecFile::read(&file, &Context::new(&space, &limits), &mut faults).unwrap();
/// assert_eq!(spec.spec.implied_schema().blocks[0].name, "port");
/// ```
#[derive(Debug, Clone)]
pub struct SpecFile<'r> {
    /// The specification.
    pub spec: Spec<'r>,
    /// The variables of its `variables` blocks.
    pub variables: Vec<(&'r str, Value<'r>)>,
    /// The functions of its `function` blocks.
    pub functions: Vec<Builtin>,
}

impl<'r> SpecFile<'r> {
    /// Parses the source of a specification.
    pub fn parse(source: &Arc<Source>, limits: &Limits) -> File {
        let (all, mut registry) = (builtins::stdlib(), builtins::bare());
        for name in FUNCTIONS {
            if let Some(function) = all.get(ImportKind::Function, name) {
                registry.insert((**function).clone());
            }
        }
        File::native(source, &Arc::new(registry), limits)
    }

    /// Reads a specification; nothing where it is wrong. Its values live where those of `context` do.
    pub fn read(file: &'r File, context: &Context<'r>, faults: &mut Faults) -> Option<Self> {
        let (functions, rest) = user_functions(&file.body(), "function", faults);
        let (declared, rest) = rest.partial_content(&Schema::new().block("variables", &[]), faults);
        let mut variables = Vec::new();
        for block in &declared.blocks {
            for (name, attribute) in block.body.just_attributes(faults) {
                variables.push((name, attribute.expr.evaluate(context, faults)));
            }
        }
        let why = "A specification is one block that says what is made of a configuration.";
        let spec = Reader { context }.only(&rest, why, faults)?;
        Some(Self { spec, variables, functions })
    }

    /// The functions that configurations may call that are decoded by it.
    pub fn registry(&self) -> Registry {
        let mut registry = builtins::bare();
        self.functions.iter().cloned().for_each(|function| registry.insert(function));
        registry
    }

    /// Where such configurations are evaluated: `context` with the variables of the specification, and with `more`.
    /// Where there are neither variables nor functions at all, using one is an error that says so.
    pub fn context(&self, context: &Context<'r>, more: &[(&'r str, Value<'r>)]) -> Context<'r> {
        let all = [&self.variables, more].concat();
        match all.as_slice() {
            [] if self.functions.is_empty() => context.clone(),
            [] => context.evaluating(),
            all => context.with_variables(context.arena().map(all)),
        }
    }
}

/// Reads specifications whose values live in one place.
struct Reader<'c, 'r> {
    context: &'c Context<'r>,
}

/// Blocks that are specifications, with this many labels.
fn schema(labels: &[&str]) -> Schema {
    BLOCKS.iter().fold(Schema::new(), |schema, name| schema.block(*name, labels))
}

impl<'r> Reader<'_, 'r> {
    fn spec(&self, block: &Block<'r>, faults: &mut Faults) -> Option<Spec<'r>> {
        let (body, label) = (&block.body, block.labels.first().map_or("", |label| label.text.as_str()));
        match block.name.as_str() {
            "object" => self.object(body, faults),
            "array" => self.all(&body.content(&schema(&[]), faults).blocks, faults).map(Spec::Tuple),
            "attr" => self.attr(body, label, faults),
            "block" => self.block(body, label, faults),
            "block_list" => self.blocks(body, label, Collection::List, faults),
            "block_set" => self.blocks(body, label, Collection::Set, faults),
            "block_map" => self.block_map(body, label, faults),
            "block_attrs" => self.block_attrs(body, label, faults),
            "literal" => self.literal(body, faults),
            "default" => self.default(body, faults),
            _ => self.transform(body, faults),
        }
    }

    /// The specifications of all blocks; nothing where one is wrong.
    fn all(&self, blocks: &[Block<'r>], faults: &mut Faults) -> Option<Vec<Spec<'r>>> {
        let specs: Vec<_> = blocks.iter().map(|block| self.spec(block, faults)).collect();
        specs.into_iter().collect()
    }

    /// The specification that is alone in a body.
    fn only(&self, body: &Body<'r>, why: &str, faults: &mut Faults) -> Option<Spec<'r>> {
        let before = faults.len();
        let content = body.content(&schema(&[]), faults);
        match content.blocks.as_slice() {
            [only] => self.spec(only, faults),
            [_, extra, ..] => {
                faults.push(extra.place().put(structure("Extraneous spec block", why)));
                None
            }
            [] if faults.len() > before => None,
            [] => {
                faults.push(put(body.missing_item(), structure("Missing spec block", why)));
                None
            }
        }
    }

    fn object(&self, body: &Body<'r>, faults: &mut Faults) -> Option<Spec<'r>> {
        let blocks = body.content(&schema(&["key"]), faults).blocks;
        let specs = self.all(&blocks, faults)?;
        let mut entries: Vec<(String, Spec<'r>)> = Vec::with_capacity(specs.len());
        for (block, spec) in blocks.iter().zip(specs) {
            let key = block.labels.first().map_or("", |label| label.text.as_str());
            match entries.iter_mut().find(|(name, _)| name == key) {
                Some((_, before)) => *before = spec,
                None => entries.push((key.to_owned(), spec)),
            }
        }
        Some(Spec::Object(entries))
    }

    fn attr(&self, body: &Body<'r>, label: &str, faults: &mut Faults) -> Option<Spec<'r>> {
        let schema = Schema::new().optional("name").optional("type").optional("required");
        let before = faults.len();
        let content = body.content(&schema, faults);
        let name = self.text(&content, "name", faults).unwrap_or_else(|| label.to_owned());
        let required = self.flag(&content, "required", faults);
        if faults.len() > before {
            return None;
        }
        let ty = self.ty(&content, "type", faults);
        if name.is_empty() {
            let detail = "`name` says which argument of the configuration is meant.";
            faults.push(put(body.missing_item(), structure("Missing name in attribute spec", detail)));
        }
        (faults.len() == before).then(|| Spec::Attr { name, ty, required })
    }

    /// What a specification of blocks says beside the specification of each; that is in the rest of its body.
    fn header(
        &self,
        body: &Body<'r>,
        own: Schema,
        label: &str,
        faults: &mut Faults,
    ) -> Option<(Content<'r>, String, Body<'r>)> {
        let before = faults.len();
        let (content, rest) = body.partial_content(&own.optional("block_type"), faults);
        let name = self.text(&content, "block_type", faults).unwrap_or_else(|| label.to_owned());
        (faults.len() == before).then_some((content, name, rest))
    }

    fn nested(&self, body: &Body<'r>, faults: &mut Faults) -> Option<Box<Spec<'r>>> {
        self.only(body, "One block says what is made of each block of the type.", faults).map(Box::new)
    }

    /// Reports a specification that does not say which blocks it is of.
    fn named(&self, name: &str, of: &str, body: &Body<'r>, faults: &mut Faults) -> Option<()> {
        if name.is_empty() {
            let detail = "`block_type` says which blocks of the configuration are meant.";
            faults.push(put(body.missing_item(), structure(format!("Missing block_type in {of} spec"), detail)));
        }
        (!name.is_empty()).then_some(())
    }

    fn block(&self, body: &Body<'r>, label: &str, faults: &mut Faults) -> Option<Spec<'r>> {
        let (content, name, rest) = self.header(body, Schema::new().optional("required"), label, faults)?;
        let before = faults.len();
        let required = self.flag(&content, "required", faults);
        if faults.len() > before {
            return None;
        }
        Some(Spec::Block { name, nested: self.nested(&rest, faults)?, required })
    }

    fn blocks(&self, body: &Body<'r>, label: &str, into: Collection, faults: &mut Faults) -> Option<Spec<'r>> {
        let own = Schema::new().optional("min_items").optional("max_items");
        let (content, name, rest) = self.header(body, own, label, faults)?;
        let before = faults.len();
        let least = self.number(&content, "min_items", faults).unwrap_or(0);
        let most = self.number(&content, "max_items", faults).filter(|most| *most > 0);
        if faults.len() > before {
            return None;
        }
        let nested = self.nested(&rest, faults);
        self.named(&name, if into == Collection::List { "block_list" } else { "block_set" }, body, faults)?;
        Some(Spec::Blocks { name, nested: nested?, into, least, most })
    }

    fn block_map(&self, body: &Body<'r>, label: &str, faults: &mut Faults) -> Option<Spec<'r>> {
        let (content, name, rest) = self.header(body, Schema::new().required("labels"), label, faults)?;
        let labels = self.texts(content.attributes.get("labels")?, faults)?;
        let nested = self.nested(&rest, faults);
        self.named(&name, "block_map", body, faults)?;
        let wrong = |summary: &str, detail: &str| put(body.missing_item(), structure(summary, detail));
        if labels.is_empty() {
            faults.push(wrong("Invalid block label name list", "The blocks of a map have at least one label."));
            return None;
        }
        let nested = nested?;
        if nested.implied_type(self.context, faults).has_dynamic() {
            faults.push(wrong("Invalid block_map spec", "No argument in it may be of the type `any`."));
            return None;
        }
        Some(Spec::KeyedBlocks { name, labels, nested, into: Keyed::Map })
    }

    fn block_attrs(&self, body: &Body<'r>, label: &str, faults: &mut Faults) -> Option<Spec<'r>> {
        let schema = Schema::new().optional("block_type").optional("element_type").optional("required");
        let before = faults.len();
        let content = body.content(&schema, faults);
        let name = self.text(&content, "block_type", faults).unwrap_or_else(|| label.to_owned());
        let required = self.flag(&content, "required", faults);
        if faults.len() > before {
            return None;
        }
        let element = self.ty(&content, "element_type", faults);
        self.named(&name, "block_attrs", body, faults)?;
        (faults.len() == before).then(|| Spec::BlockAttrs { name, element, required })
    }

    fn literal(&self, body: &Body<'r>, faults: &mut Faults) -> Option<Spec<'r>> {
        let before = faults.len();
        let content = body.content(&Schema::new().required("value"), faults);
        let value = content.attributes.get("value")?.expr.evaluate(self.context, faults);
        (faults.len() == before).then_some(Spec::Literal(value))
    }

    fn default(&self, body: &Body<'r>, faults: &mut Faults) -> Option<Spec<'r>> {
        let before = faults.len();
        let blocks = body.content(&schema(&[]), faults).blocks;
        if blocks.is_empty() && faults.len() == before {
            let detail = "The blocks in it say what is taken, the first of them that is not null.";
            faults.push(put(body.missing_item(), structure("Missing spec block", detail)));
        }
        if let ([only], true) = (blocks.as_slice(), faults.len() == before) {
            let mut warning =
                structure("Useless default block", "With one block in it, that block alone says the same.");
            warning.severity = crate::diagnostics::Severity::Warning;
            faults.push(only.place().put(warning));
        }
        let specs = self.all(&blocks, faults)?.into_iter();
        specs.reduce(|first, second| Spec::Default(Box::new(first), Box::new(second)))
    }

    fn transform(&self, body: &Body<'r>, faults: &mut Faults) -> Option<Spec<'r>> {
        let before = faults.len();
        let (content, rest) = body.partial_content(&Schema::new().optional("result"), faults);
        if faults.len() > before {
            return None;
        }
        let nested = rest.content(&schema(&[]), faults);
        let [wrapped] = nested.blocks.as_slice() else {
            if faults.len() == before {
                let detail = "It has one block, which says what is transformed.";
                faults.push(put(body.missing_item(), structure("Invalid transform spec", detail)));
            }
            return None;
        };
        let wrapped = Box::new(self.spec(wrapped, faults)?);
        let transform = match content.attributes.get("result") {
            Some(result) => {
                Transform::Expr { expr: result.expr.clone(), context: self.context.evaluating(), variable: "nested" }
            }
            // Documented as required; the reference takes the result for null where there is none.
            None => Transform::Value(Value::Null),
        };
        Some(Spec::Transform(wrapped, transform))
    }

    /// The value of an argument that is set and not null, converted to a type.
    fn argument(&self, content: &Content<'r>, name: &str, ty: &Type<'r>, faults: &mut Faults) -> Option<Value<'r>> {
        self.value(content.attributes.get(name)?, ty, faults).filter(|value| !value.is_null())
    }

    fn value(&self, attribute: &Attribute<'r>, ty: &Type<'r>, faults: &mut Faults) -> Option<Value<'r>> {
        let value = attribute.expr.evaluate(self.context, faults);
        let wrong = |what: &Wrong| unsuitable(&attribute.expr, &what.message);
        self.context.attempt(faults, |cx| convert(cx, value, ty), wrong)
    }

    fn text(&self, content: &Content<'r>, name: &str, faults: &mut Faults) -> Option<String> {
        self.argument(content, name, &Type::String, faults)?.as_str().map(str::to_owned)
    }

    fn flag(&self, content: &Content<'r>, name: &str, faults: &mut Faults) -> bool {
        matches!(self.argument(content, name, &Type::Bool, faults), Some(Value::Bool(true)))
    }

    fn number(&self, content: &Content<'r>, name: &str, faults: &mut Faults) -> Option<usize> {
        let value = self.argument(content, name, &Type::Number, faults)?;
        let number = if let Value::Int(n) = value { usize::try_from(n).ok() } else { None };
        if number.is_none() && value.is_known() {
            let expr = &content.attributes.get(name)?.expr;
            faults.push(unsuitable(expr, "a whole number that is not negative is required"));
        }
        number
    }

    fn texts(&self, attribute: &Attribute<'r>, faults: &mut Faults) -> Option<Vec<String>> {
        let list = self.value(attribute, &Type::List(&Type::String), faults)?;
        let texts: Option<Vec<_>> =
            list.elements().unwrap_or(&[]).iter().map(|text| text.as_str().map(str::to_owned)).collect();
        if texts.is_none() {
            faults.push(unsuitable(&attribute.expr, "each of them must be text"));
        }
        texts
    }

    /// The type that an argument names: any where it is not set.
    fn ty(&self, content: &Content<'r>, name: &str, faults: &mut Faults) -> Type<'r> {
        let Some(attribute) = content.attributes.get(name) else { return Type::Dynamic };
        let read = attribute.expr.as_native(|tree, id| {
            let read = || self.context.with_cx(|cx| typeexpr::read(cx, tree, id, Mode::Constraint));
            (tree.expr(id) != Expr::Null).then(read)
        });
        match read {
            Some(Some(read)) => {
                faults.extend(read.diagnostics);
                read.ty
            }
            Some(None) => Type::Dynamic,
            None => {
                faults.push(unsuitable(&attribute.expr, "it must be a type"));
                Type::Dynamic
            }
        }
    }
}

fn unsuitable(expr: &Expression<'_>, why: &str) -> Box<Diagnostic> {
    let place = crate::dialect::hcl::body::Place { span: expr.start(), ..expr.place() };
    place.put(mistyped("Unsuitable value type", format!("The value does not fit: {why}."))).with_context(expr.range())
}
