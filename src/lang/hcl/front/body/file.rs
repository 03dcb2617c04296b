//! Parsed sources, which live as long as the values read from them, their compiled expressions, and the evaluation of values of the JSON syntax.

use std::cell::{Cell, OnceCell};
use std::sync::{Arc, OnceLock};

use super::sources::{JsonBody, NativeBody, NativeFile};
use super::{Body, BodyExpression, Context, DiagnosticList};
use crate::compile::{Compiler, Executable};
use crate::json;
use crate::json::{JsonContent, JsonDocument, JsonId, Templates, parse_expression, parse_file};
use crate::syntax::parser::parse_expression_at;
use crate::syntax::{ExprId, Tree, parse_config};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::function::Registry;
use dropforge_value::Value;

/// A parsed configuration. Its expressions are compiled when the first of them is evaluated.
#[derive(Debug)]
pub struct File {
    syntax: Syntax,
    diagnostics: Vec<Box<Diagnostic>>,
}

#[derive(Debug)]
enum Syntax {
    Native(NativeFile),
    JsonContent(JsonFile),
}

impl File {
    /// Parses a configuration, in the JSON syntax if the name of the source ends in `.json`. Its expressions call the
    /// functions of `registry`.
    ///
    /// The syntax errors are in [`File::diagnostics`]. The body has everything that could be parsed.
    pub fn parse(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Self {
        let parse = if source.name().ends_with(".json") { Self::json } else { Self::native };
        parse(source, registry, limits)
    }

    /// Parses a configuration in the native syntax.
    pub fn native(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Self {
        let parsed = parse_config(source, limits);
        let file = NativeFile::new(parsed.tree, parsed.root, Compiler::new(registry, limits));
        Self { syntax: Syntax::Native(file), diagnostics: parsed.diagnostics }
    }

    /// Parses a configuration in the JSON syntax.
    pub fn json(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Self {
        Self::of_json(parse_file(source, limits), registry, limits)
    }

    /// Parses a JSON value, which is [`File::expression`].
    pub fn json_expression(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Self {
        Self::of_json(parse_expression(source, limits), registry, limits)
    }

    fn of_json(parsed: json::ParsedJson, registry: &Registry, limits: &Limits) -> Self {
        let file = JsonFile::new(parsed.document, Compiler::new(registry, limits));
        Self { syntax: Syntax::JsonContent(file), diagnostics: parsed.diagnostics }
    }

    /// The value of a JSON file. A file of the native syntax has none.
    pub fn expression(&self) -> Option<BodyExpression<'_>> {
        match &self.syntax {
            Syntax::Native(_) => None,
            Syntax::JsonContent(file) => Some(BodyExpression::json(file, file.document().root())),
        }
    }

    /// The syntax errors.
    pub fn diagnostics(&self) -> &[Box<Diagnostic>] {
        &self.diagnostics
    }

    /// The source.
    pub fn source(&self) -> &Arc<Source> {
        match &self.syntax {
            Syntax::Native(file) => file.source(),
            Syntax::JsonContent(file) => file.document().source(),
        }
    }

    /// The root body.
    pub fn body(&self) -> Body<'_> {
        match &self.syntax {
            Syntax::Native(file) => Body::of(NativeBody::new(file, file.root())),
            Syntax::JsonContent(file) => Body::of(JsonBody::new(file, file.document().root())),
        }
    }

    /// The parsed file of the native syntax.
    pub(crate) fn as_native(&self) -> Option<&NativeFile> {
        match &self.syntax {
            Syntax::Native(file) => Some(file),
            Syntax::JsonContent(_) => None,
        }
    }
}

/// Expressions compiled to one program, with a chunk each.
#[derive(Debug)]
pub(super) struct CompiledSet<Id> {
    pub executable: Executable,
    /// The expressions in the order of their chunks, ascending.
    ids: Vec<Id>,
}

impl<Id: Copy + Ord> CompiledSet<Id> {
    /// Compiles expressions with `compile`, which gets them sorted and without duplicates.
    pub fn new(mut ids: Vec<Id>, compile: impl FnOnce(&[Id]) -> Result<Executable>) -> Result<Self> {
        ids.sort_unstable();
        ids.dedup();
        Ok(Self { executable: compile(&ids)?, ids })
    }

    /// Returns the program and the chunk of an expression.
    pub fn chunk(&self, id: Id) -> Option<(&Executable, u32)> {
        let at = self.ids.binary_search(&id).ok()?;
        Some((&self.executable, u32::try_from(at).ok()?))
    }
}

// A schema decides which values are attributes, so values are compiled late, and each at most once. Values of
// properties with the same height (the number of objects nested in them) share a program, for the small heights of
// nearly all attributes. Any other value has its own program. A value never contains another of its height, so all
// shared programs together are a few times as long as the document, however deep it is, and the others are no longer
// than the evaluated values.

/// A document whose values are bodies and expressions. Templates are parsed and values are compiled when the first of
/// them is evaluated.
#[derive(Debug)]
pub(crate) struct JsonFile {
    document: JsonDocument,
    compiler: Compiler,
    heights: OnceLock<Box<[u8]>>,
    templates: OnceLock<Templates>,
    /// Programs with strings as templates.
    evaluated: Programs,
    /// Programs with literal strings.
    literal: Programs,
}

impl JsonFile {
    pub fn new(document: JsonDocument, compiler: Compiler) -> Self {
        Self {
            document,
            compiler,
            heights: OnceLock::new(),
            templates: OnceLock::new(),
            evaluated: Programs::default(),
            literal: Programs::default(),
        }
    }

    pub fn document(&self) -> &JsonDocument {
        &self.document
    }

    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    fn templates(&self) -> &Templates {
        self.templates.get_or_init(|| Templates::new(&self.document, self.compiler.limits()))
    }

    /// Evaluates a value. The context decides whether strings are templates.
    pub fn evaluate<'r>(&'r self, id: JsonId, context: &Context<'r>, diagnostics: &mut DiagnosticList) -> Value<'r> {
        let before = diagnostics.len();
        let value = context.run(self.chunk(id, context.is_literal()), diagnostics);
        if !context.is_literal() && diagnostics.len() > before {
            self.add_syntax_errors(diagnostics, before);
        }
        value
    }

    /// Returns the program and the chunk of a value.
    fn chunk(&self, id: JsonId, literal: bool) -> Result<Option<(&Executable, u32)>> {
        let heights = self.heights.get_or_init(|| heights(&self.document));
        let programs = if literal { &self.literal } else { &self.evaluated };
        programs.chunk(&self.document, heights, id, |ids| self.compile(ids, literal))
    }

    fn compile(&self, ids: &[JsonId], literal: bool) -> Result<Executable> {
        let templates = if literal { None } else { Some(self.templates()) };
        self.compiler.json(&self.document, templates, ids)
    }

    /// Compiles one value.
    ///
    /// # Errors
    /// The first syntax error of its templates, or a limit of the code.
    pub fn compile_alone(&self, id: JsonId) -> Result<Executable> {
        match self.templates().first_error(self.document.node(id).span) {
            Some(error) => Err(Box::new(error.clone())),
            None => self.compile(&[id], false),
        }
    }

    /// Replaces the first syntax error of a template, which the program reports, by all of its syntax errors.
    fn add_syntax_errors(&self, diagnostics: &mut DiagnosticList, before: usize) {
        for error in diagnostics.split_off(before) {
            let label = error.primary().filter(|label| Arc::ptr_eq(&label.source, self.document.source()));
            match label.and_then(|label| self.templates().errors_at(label.span)) {
                Some(errors) => diagnostics.extend_from_slice(errors),
                None => diagnostics.push(error),
            }
        }
    }

    /// Returns the items of an array.
    pub fn items(&self, id: JsonId) -> Option<&[JsonId]> {
        let JsonContent::Array(items) = self.document.node(id).json else { return None };
        Some(self.document.items(items))
    }

    /// Returns the keys and values of an object. A key may occur twice.
    pub fn entries(&self, id: JsonId) -> Option<impl DoubleEndedIterator<Item = (JsonId, JsonId)>> {
        let JsonContent::Object(properties) = self.document.node(id).json else { return None };
        Some(self.document.properties(properties).iter().map(|property| (property.key, property.value)))
    }

    /// Parses a string as an expression of the native syntax, which is how JSON writes traversals, keywords and calls.
    pub fn native(&self, id: JsonId) -> Option<(Tree, ExprId)> {
        let (text, span) = self.document.string(id)?;
        let mut tree = Tree::new(self.document.source());
        // The reference counts from the quote here.
        let (id, errors) = parse_expression_at(&mut tree, text, span.start, self.compiler.limits());
        errors.is_empty().then_some((tree, id))
    }

    /// Calls `visit` with the valid templates in a value, in source order.
    pub fn each_template<'f>(&'f self, id: JsonId, mut visit: impl FnMut(&'f Tree, ExprId)) {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if let Some((_, span)) = self.document.string(id) {
                if let Some(Ok(id)) = self.templates().at(span) {
                    visit(self.templates().tree(), *id);
                }
            } else if let Some(items) = self.items(id) {
                pending.extend(items.iter().rev());
            } else if let Some(entries) = self.entries(id) {
                pending.extend(entries.rev().flat_map(|(key, value)| [value, key]));
            }
        }
    }
}

/// The number of heights whose values share a program.
const SHARED: usize = 3;

/// A program that is compiled on first use.
type LazyProgram = OnceLock<Box<Result<CompiledSet<JsonId>>>>;

/// The programs of a document.
#[derive(Debug, Default)]
struct Programs {
    shared: [LazyProgram; SHARED],
    /// The own program of each value.
    own: OnceLock<Box<[LazyProgram]>>,
}

impl Programs {
    /// Returns the program and the chunk of a value. `compile` compiles values.
    ///
    /// # Errors
    /// Those of `compile`.
    pub fn chunk(
        &self,
        document: &JsonDocument,
        heights: &[u8],
        id: JsonId,
        compile: impl Fn(&[JsonId]) -> Result<Executable>,
    ) -> Result<Option<(&Executable, u32)>> {
        let height = height_of(heights, id);
        if let Some(shared) = self.shared.get(usize::from(height)) {
            let values = document.all_properties().iter().map(|property| property.value);
            let ids = || values.filter(|&value| height_of(heights, value) == height).collect();
            if let Some(chunk) = compiled(shared, ids, &compile)?.chunk(id) {
                return Ok(Some(chunk));
            }
        }
        let own = self.own.get_or_init(|| heights.iter().map(|_| OnceLock::new()).collect());
        let Some(own) = own.get(id.0 as usize) else { return Ok(None) };
        Ok(compiled(own, || vec![id], &compile)?.chunk(id))
    }
}

fn compiled(
    program: &LazyProgram,
    ids: impl FnOnce() -> Vec<JsonId>,
    compile: impl FnOnce(&[JsonId]) -> Result<Executable>,
) -> Result<&CompiledSet<JsonId>> {
    program.get_or_init(|| Box::new(CompiledSet::new(ids(), compile))).as_ref().as_ref().map_err(Clone::clone)
}

fn height_of(heights: &[u8], id: JsonId) -> u8 {
    heights.get(id.0 as usize).copied().unwrap_or(0)
}

/// Computes the height of each value: the number of objects nested in it, at most 255.
fn heights(document: &JsonDocument) -> Box<[u8]> {
    let mut heights = Vec::new();
    for (_, node) in document.nodes() {
        let height = |id| height_of(&heights, id);
        let height = match node.json {
            JsonContent::Array(items) => document.items(items).iter().map(|item| height(*item)).max().unwrap_or(0),
            JsonContent::Object(run) => {
                let values = document.properties(run).iter().map(|property| height(property.value));
                values.max().unwrap_or(0).saturating_add(1)
            }
            _ => 0,
        };
        heights.push(height);
    }
    heights.into()
}

/// Room for this many doublings, which is more files than memory holds.
const DOUBLINGS: usize = 32;

/// Parsed files, to which more can be added while a [`Context`](super::Context) exists. The values of a file may refer to
/// it, so it has to live longer than the context: here it does, whenever it is added.
///
/// ```
/// use dropforge::hcl::body::{BodySchema, Context, File, FileSet};
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
/// use dropforge::Space;
///
/// let (limits, space, files, mut diagnostics) = (Limits::default(), Space::new(), FileSet::new(), Vec::new());
/// let (context, schema) = (Context::new(&space, &limits), BodySchema::new().required("port"));
/// let mut ports = Vec::new();
/// for text in ["port = 80 + 1", "port = 80 + 2"] {
///     let file = files.add(File::parse(&Source::new("a.hcl", text), &Default::default(), &limits));
///     let content = file.body().content(&schema, &mut diagnostics);
///     ports.push(content.attributes["port"].expr.evaluate(&context, &mut diagnostics).to_data());
/// }
/// assert_eq!(ports, [81, 82].map(dropforge::value::Data::Int));
/// ```
#[derive(Debug, Default)]
pub struct FileSet {
    count: Cell<usize>,
    /// The files in groups, each with room for as many as all before it and one more.
    groups: [OnceCell<Box<[OnceCell<File>]>>; DOUBLINGS],
}

impl FileSet {
    /// Returns an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file. Returns it with the lifetime of the set.
    pub fn add(&self, file: File) -> &File {
        let number = self.count.get() + 1;
        self.count.set(number);
        let group = number.ilog2() as usize;
        let files = self.groups[group].get_or_init(|| (0..1_usize << group).map(|_| OnceCell::new()).collect());
        files[number - (1 << group)].get_or_init(|| file)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::JsonFile;
    use crate::body::{Context, File};
    use crate::compile::Compiler;
    use crate::json::{JsonId, parse_expression};
    use crate::registry;
    use dropforge_base::limits::Limits;
    use dropforge_base::text::Source;
    use dropforge_machine::vm::Space;

    fn file(text: String, limits: &Limits) -> JsonFile {
        let parsed = parse_expression(&Source::new("t.json", text), limits);
        assert!(parsed.diagnostics.is_empty());
        JsonFile::new(parsed.document, Compiler::new(&registry(), limits))
    }

    /// The lengths in words of the programs of values, by program id.
    fn programs(file: &JsonFile, ids: impl Iterator<Item = JsonId>) -> HashMap<u64, usize> {
        ids.map(|id| {
            let (executable, _) = file.chunk(id, false).unwrap().unwrap();
            (executable.program().id(), executable.program().words().len())
        })
        .collect()
    }

    #[test]
    fn most_values_share_a_few_programs() {
        let many = |value: &str| {
            let properties: Vec<_> = (0..1000).map(|at| format!("\"k{at}\": {value}")).collect();
            let limits = Limits { source_bytes: 64 << 20, code_words: 64 << 20, ..Limits::default() };
            let file = file(format!("{{{}}}", properties.join(",")), &limits);
            programs(&file, file.document().all_properties().iter().map(|property| property.value)).len()
        };
        let cases = [
            ("1", 1),
            ("[[\"${x}\", null]]", 1),
            ("{\"a\": {\"b\": 1}}", 3),
            ("[{\"a\": {\"b\": {\"c\": 1}}}]", 3 + 1000),
        ];
        for (value, wanted) in cases {
            assert_eq!(many(value), wanted, "{value}");
        }
    }

    #[test]
    fn code_grows_with_the_document_and_not_with_its_depth() {
        // Each block holds a long list and the next block; only the lists are attributes.
        let list = format!("[{}1]", "1,".repeat(1000));
        let comb = |depth: usize| {
            let text = format!("{{\"list\": {list}, \"block\": ").repeat(depth) + "{}" + &"}".repeat(depth);
            let file = file(text, &Limits::default());
            let lists = file.document().all_properties().iter().filter(|of| file.document().str(of.name) == "list");
            programs(&file, lists.map(|list| list.value)).values().sum::<usize>()
        };
        assert!(comb(100) < comb(10) * 11, "{} {}", comb(100), comb(10));
    }

    #[test]
    fn room_for_frames_is_made_a_few_times_and_not_for_each_value() {
        // Each list is longer than the one before, and what one evaluation keeps is kept for all.
        let list = |at: usize| (0..at).map(|item| format!("{at}{item}.5")).collect::<Vec<_>>().join(",");
        let lists: Vec<_> = (1..200).map(|at| format!("\"k{at}\": [{}]", list(at))).collect();
        let text = format!("{{{}}}", lists.join(","));
        let (limits, space, mut diagnostics) = (Limits::default(), Space::new(), Vec::new());
        let file = File::json(&Source::new("t.json", text.as_str()), &registry(), &limits);
        let context = Context::new(&space, &limits);
        for attribute in file.body().just_attributes(&mut diagnostics).values() {
            attribute.expr.evaluate(&context, &mut diagnostics);
        }
        assert!(diagnostics.is_empty());
        let made = space.arena().bump().allocated_bytes();
        assert!(made < 50 * text.len(), "{made} bytes for a text of {}", text.len());
    }

    #[test]
    fn depth_costs_no_calls() {
        let limits = Limits { nesting: 1 << 20, ..Limits::default() };
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
            let limits = limits.clone();
            let work = move || {
                let file = file(text, &limits);
                assert!(file.chunk(file.document().root(), false).unwrap().is_some());
            };
            let small = std::thread::Builder::new().stack_size(256 << 10);
            small.spawn(work).unwrap().join().unwrap();
        }
    }
}

#[cfg(test)]
mod file_set_tests {
    use super::*;
    use dropforge_base::limits::Limits;
    use dropforge_base::text::Source;

    #[test]
    fn files_stay_where_they_are() {
        let (files, limits) = (FileSet::new(), Limits::default());
        let name = |at: usize| format!("{at}.hcl");
        let add = |at| files.add(File::parse(&Source::new(name(at), "a = 1"), &Default::default(), &limits));
        let added: Vec<&File> = (0..100).map(add).collect();
        assert!(added.iter().enumerate().all(|(at, file)| file.source().name() == name(at)));
    }
}
