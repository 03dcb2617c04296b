//! Templates that are values, or in files.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use super::files::{Named, files};
use super::secrets::SENSITIVE;
use crate::diagnostics::{Code, Diagnostic};
use crate::dialect::hcl::Expression;
use crate::dialect::hcl::apart::evaluate_apart;
use crate::dialect::hcl::syntax::analysis::variables;
use crate::dialect::hcl::syntax::lexer::is_identifier;
use crate::dialect::hcl::syntax::parser::parse_template;
use crate::dialect::hcl::syntax::tree::Expr;
use crate::dialect::hcl::values::Outcome;
use crate::dialect::hcl::values::marks::marked_by;
use crate::function::{Capabilities, Cx, Fault, Registry};
use crate::limits::{Limit, Limits};
use crate::positional;
use crate::text::Source;
use crate::value::{Map, Type, Value};

positional! {
    /// Templates that are values, or in files.
    pub(super) static TEMPLATES:
    "templatestring" (template: String, vars: Any [dynamic marked]) -> {any} or null = rendered_text,
        "The value of a template with the entries of a map as its variables."
        ["templatestring(\"Hello, $${name}!\", { name = \"Jodie\" })" => "\"Hello, Jodie!\""];
    "templatefile" (path: String [marked], vars: Any [dynamic marked]) -> {any} or null = rendered_file, needs FILES,
        "The value of the template in a file with the entries of a map as its variables."
        ["templatefile(\"docs/hello.tftpl\", { name = \"Jodie\" })" => "\"Hello, Jodie!\""];
}

/// How deep templates of files may be within each other.
const NESTED: usize = 32;

fn any<'v>(_: &Cx<'v>, _: &[Value<'v>]) -> Outcome<Type<'v>> {
    Ok(Type::Dynamic)
}

/// The functions that a template in a file may call.
static IN_FILES: LazyLock<Registry> = LazyLock::new(super::registry);

/// The functions that a template which is a value may call: all but those that render templates.
static IN_TEXTS: LazyLock<Registry> = LazyLock::new(super::without_templates);

fn rendered_text<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let &[Value::Str(template), vars] = args else { return Err(cx.arity().into()) };
    let template = Template { name: "<templatestring>", text: template.as_str(), in_file: false };
    template.rendered(cx, vars, cx.capabilities(), |errors| Fault::argument(0, errors))
}

fn rendered_file<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let &[_, vars] = args else { return Err(cx.arity().into()) };
    let (named, files) = (Named::argument(cx, args, 0)?, files(cx)?);
    let name = if named.marks.contains(&SENSITIVE) { "<templatefile>" } else { named.path };
    if files.within().len() >= NESTED {
        return Err(Fault::Limit(too_deep(files.within(), name)));
    }
    let text = named.text(cx)?;
    if text.len() > cx.limits().source_bytes {
        return Err(Fault::Limit(Limit::SourceBytes.error(cx.limits().source_bytes as u64)));
    }
    let within = files.entered(name);
    let template = Template { name, text: &text, in_file: true };
    let value = template.rendered(cx, vars, cx.capabilities().with_files(&within), Fault::wrong)?;
    marked_by(cx, value, named.marks, &[])
}

/// The error of templates in files that are too deep within each other; it names them, up to the first that is there for
/// the second time.
fn too_deep(within: &[String], last: &str) -> Box<Diagnostic> {
    let all = || within.iter().map(String::as_str).chain([last]);
    let again = all().enumerate().position(|(at, name)| all().take(at).any(|before| before == name));
    let shown = again.map_or(within.len() + 1, |at| at + 1);
    let more = if shown <= within.len() { " → …" } else { "" };
    let chain = all().take(shown).collect::<Vec<_>>().join(" → ");
    let message = format!("templates nest too deep in each other: the limit is {NESTED} files");
    Diagnostic::new(Code::LimitRecursion, message).with_note(format!("one within the other: {chain}{more}"))
}

/// A template to render.
#[derive(Clone, Copy)]
struct Template<'t> {
    name: &'t str,
    text: &'t str,
    in_file: bool,
}

impl Template<'_> {
    /// The value with these variables; `unsound` makes a fault of what is wrong with its syntax.
    fn rendered<'v>(
        self,
        cx: &Cx<'v>,
        vars: Value<'v>,
        capabilities: Capabilities<'_>,
        unsound: impl FnOnce(String) -> Fault,
    ) -> Outcome<Value<'v>> {
        let (plain, marks) = vars.unmarked();
        if !plain.is_known() {
            return Ok(cx.arena().marked(cx.arena().unknown(Type::Dynamic), marks));
        }
        let entries = plain.entries().ok_or_else(|| Fault::argument(1, "an object or a map is required"))?;
        if let Some((name, _)) = entries.iter().find(|(name, _)| !is_identifier(name)) {
            let message = format!("no variable can be named {name:?}: names are letters, digits, `_` and `-`");
            return Err(Fault::argument(1, message));
        }
        cx.charge(self.text.len())?;
        cx.spend(self.text.len() as u64)?;
        let expression = self.compiled(cx.limits()).map_err(unsound)?;
        has_all(&expression, entries)?;
        let variables: Vec<_> = entries.iter().collect();
        let value = evaluate_apart(cx, expression.linked(), cx.limits(), &variables, capabilities)?;
        marked_by(cx, value, marks, &[])
    }

    /// The compiled template: from those that this thread has, where it is there. It costs a run the same.
    fn compiled(self, limits: &Limits) -> Result<Rc<Expression>, String> {
        if let Some(known) = COMPILED.with_borrow(|kept| kept.get(self, limits)) {
            return Ok(known);
        }
        let source = Source::new(self.name, self.text);
        let functions = if self.in_file { &IN_FILES } else { &IN_TEXTS };
        let compiled = Expression::with(parse_template(&source, limits), functions, limits);
        let compiled = Rc::new(compiled.map_err(|errors| errors.to_string())?);
        COMPILED.with_borrow_mut(|kept| kept.add(self, limits, &compiled));
        Ok(compiled)
    }
}

/// Refuses variables that lack one which the template names.
fn has_all(expression: &Expression, entries: &Map<'_>) -> Outcome<()> {
    let (tree, root) = expression.tree();
    for id in variables(tree, root) {
        let Expr::Traversal { root, root_span, .. } = tree.expr(id) else { continue };
        let name = tree.str(root);
        if entries.get(name).is_none() {
            let (source, place) = (tree.source(), tree.source().position(root_span.start));
            let message = format!("`{name}` is not among them; the template names it at {}:{place}", source.name());
            return Err(Fault::argument(1, message));
        }
    }
    Ok(())
}

thread_local! {
    static COMPILED: RefCell<Kept> = RefCell::default();
}

/// Compiled templates by their text.
#[derive(Default)]
struct Kept {
    all: Vec<(Limits, bool, Rc<Expression>)>,
    bytes: usize,
}

/// How many compiled templates are kept.
const MOST: usize = 64;

/// Bytes of their texts together.
const MOST_BYTES: usize = 4 << 20;

impl Kept {
    fn get(&self, template: Template<'_>, limits: &Limits) -> Option<Rc<Expression>> {
        let same = |(own, in_file, known): &&(Limits, bool, Rc<Expression>)| {
            let source = known.tree().0.source();
            own == limits
                && *in_file == template.in_file
                && source.text() == template.text
                && source.name() == template.name
        };
        self.all.iter().find(same).map(|(_, _, known)| known.clone())
    }

    fn add(&mut self, template: Template<'_>, limits: &Limits, compiled: &Rc<Expression>) {
        if self.all.len() >= MOST || self.bytes + template.text.len() > MOST_BYTES {
            *self = Self::default();
        }
        if template.text.len() <= MOST_BYTES {
            self.bytes += template.text.len();
            self.all.push((limits.clone(), template.in_file, compiled.clone()));
        }
    }
}
