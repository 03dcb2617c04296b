//! Rendering of templates in strings and files.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use super::assumptions::SENSITIVE;
use super::files::{FilePath, files};
use super::{registry, without_templates};
use crate::Expression;
use crate::syntax::{Expr, is_identifier, parse_template, variables};
use crate::values::marked_by;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::text::Source;
use dropforge_machine::function::{Capabilities, Cx, Fault, Outcome, Registry};
use dropforge_machine::functions;
use dropforge_value::{Map, Type, Value};

functions! {
    /// Template functions of OpenTofu.
    pub(super) static TEMPLATES:
    "templatestring" (template: String, vars: Any [dynamic marked]) -> Any or null = rendered_text,
        "Renders a template with the entries of a map as its variables."
        ["templatestring(\"Hello, $${name}!\", { name = \"Jodie\" })" => "\"Hello, Jodie!\""];
    "templatefile" (path: String [marked], vars: Any [dynamic marked]) -> Any or null = rendered_file, needs FILES,
        "Renders the template in a file with the entries of a map as its variables."
        ["templatefile(\"docs/hello.tftpl\", { name = \"Jodie\" })" => "\"Hello, Jodie!\""];
}

/// Maximum nesting of templates in files.
const NESTED: usize = 32;

/// Functions that a template in a file may call.
static IN_FILES: LazyLock<Registry> = LazyLock::new(registry);

/// Functions that a template in a string may call: all except those that render templates.
static IN_STRINGS: LazyLock<Registry> = LazyLock::new(without_templates);

fn rendered_text<'v>(cx: &Cx<'v>, text: &str, vars: Value<'v>) -> Outcome<Value<'v>> {
    let template = Template { name: "<templatestring>", text, in_file: false };
    template.rendered(cx, vars, cx.capabilities(), |errors| Fault::argument(0, errors))
}

fn rendered_file<'v>(cx: &Cx<'v>, path: FilePath<'v>, vars: Value<'v>) -> Outcome<Value<'v>> {
    let files = files(cx)?;
    let name = if path.marks.contains(&SENSITIVE) { "<templatefile>" } else { path.path };
    if files.within().len() >= NESTED {
        return Err(Fault::Limit(too_deep(files.within(), name)));
    }
    let text = path.text(cx)?;
    if text.len() > cx.limits().source_bytes {
        return Err(Fault::Limit(Limit::SourceBytes.error(cx.limits().source_bytes as u64)));
    }
    let within = files.entered(name);
    let template = Template { name, text: &text, in_file: true };
    let value = template.rendered(cx, vars, cx.capabilities().with_files(&within), Fault::wrong)?;
    marked_by(cx, value, path.marks)
}

/// Makes the error of templates that are nested too deep. It names them up to the first that occurs twice.
fn too_deep(within: &[String], last: &str) -> Box<Diagnostic> {
    let all = || within.iter().map(String::as_str).chain([last]);
    let again = all().enumerate().position(|(at, name)| all().take(at).any(|before| before == name));
    let shown = again.map_or(within.len() + 1, |at| at + 1);
    let more = if shown <= within.len() { " → …" } else { "" };
    let chain = all().take(shown).collect::<Vec<_>>().join(" → ");
    let message = format!("template files are nested too deep: the limit is {NESTED} files");
    Diagnostic::new(Code::LimitRecursion, message).with_note(format!("each file renders the next: {chain}{more}"))
}

/// A template to render.
#[derive(Clone, Copy)]
struct Template<'t> {
    name: &'t str,
    text: &'t str,
    in_file: bool,
}

impl Template<'_> {
    /// Renders the template. `invalid` makes the fault of syntax errors.
    fn rendered<'v>(
        self,
        cx: &Cx<'v>,
        vars: Value<'v>,
        capabilities: Capabilities<'_>,
        invalid: impl FnOnce(String) -> Fault,
    ) -> Outcome<Value<'v>> {
        let (plain, marks) = vars.unmarked();
        if !plain.is_known() {
            return Ok(cx.arena().marked(cx.arena().unknown(Type::Dynamic), marks));
        }
        let entries = plain.entries().ok_or_else(|| Fault::argument(1, "an object or a map is required"))?;
        if let Some((name, _)) = entries.iter().find(|(name, _)| !is_identifier(name)) {
            let message = format!("{name:?} is not a valid variable name: expected letters, digits, `_` and `-`");
            return Err(Fault::argument(1, message));
        }
        cx.charge(self.text.len())?;
        cx.spend(self.text.len() as u64)?;
        let expression = self.compiled(cx.limits()).map_err(invalid)?;
        check_variables(&expression, entries)?;
        let variables: Vec<_> = entries.iter().collect();
        let value = expression.executable().evaluate_nested(cx, &variables, cx.limits(), capabilities)?;
        marked_by(cx, value, marks)
    }

    /// Compiles the template or takes it from the cache of this thread. The run is charged the same for both.
    fn compiled(self, limits: &Limits) -> Result<Rc<Expression>, String> {
        if let Some(cached) = COMPILED.with_borrow(|cache| cache.get(self, limits)) {
            return Ok(cached);
        }
        let source = Source::new(self.name, self.text);
        let functions = if self.in_file { &IN_FILES } else { &IN_STRINGS };
        let compiled = Expression::compile(parse_template(&source, limits), functions, limits);
        let compiled = Rc::new(compiled.map_err(|errors| errors.to_string())?);
        COMPILED.with_borrow_mut(|cache| cache.insert(self, limits, &compiled));
        Ok(compiled)
    }
}

/// Refuses variables that lack one that the template refers to.
fn check_variables(expression: &Expression, entries: &Map<'_>) -> Outcome<()> {
    let (tree, root) = expression.tree();
    for id in variables(tree, root) {
        let Expr::Traversal { root, root_span, .. } = tree.expr(id) else { continue };
        let name = tree.str(root);
        if entries.get(name).is_none() {
            let (source, position) = (tree.source(), tree.source().position(root_span.start));
            let message = format!("`{name}` is missing; the template refers to it at {}:{position}", source.name());
            return Err(Fault::argument(1, message));
        }
    }
    Ok(())
}

thread_local! {
    static COMPILED: RefCell<TemplateCache> = RefCell::default();
}

/// Compiled templates.
#[derive(Default)]
struct TemplateCache {
    templates: Vec<(Limits, bool, Rc<Expression>)>,
    bytes: usize,
}

/// Maximum number of templates in a cache.
const CACHED: usize = 64;

/// Maximum total source length of the templates in a cache, in bytes.
const CACHED_BYTES: usize = 4 << 20;

impl TemplateCache {
    fn get(&self, template: Template<'_>, limits: &Limits) -> Option<Rc<Expression>> {
        let same = |(own, in_file, cached): &&(Limits, bool, Rc<Expression>)| {
            let source = cached.tree().0.source();
            own == limits
                && *in_file == template.in_file
                && source.text() == template.text
                && source.name() == template.name
        };
        self.templates.iter().find(same).map(|(_, _, cached)| cached.clone())
    }

    /// Adds a template. A full cache is emptied first.
    fn insert(&mut self, template: Template<'_>, limits: &Limits, compiled: &Rc<Expression>) {
        if self.templates.len() >= CACHED || self.bytes + template.text.len() > CACHED_BYTES {
            *self = Self::default();
        }
        if template.text.len() <= CACHED_BYTES {
            self.bytes += template.text.len();
            self.templates.push((limits.clone(), template.in_file, compiled.clone()));
        }
    }
}
