//! From source to program (parsers, checks, lowering), and configurations as data.

pub mod body;
#[doc(hidden)]
pub mod check;
pub(crate) mod compile;
pub mod decode;
pub mod edit;
pub mod format;
#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod lower;
pub(crate) mod marks;
#[doc(hidden)]
pub mod syntax;
pub mod typeexpr;
#[doc(hidden)]
pub mod value_notes;
pub(crate) mod variables;

use std::collections::HashMap;
use std::sync::Arc;

use super::builtins::registry;
use body::{Context, DiagnosticList, File, NativeFile};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, at_most};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::text::{Source, Span};
use dropforge_machine::compiler::{Compilation, Mark, Unit, compile_all};
use dropforge_machine::language::{Front, MarkRequest};
use dropforge_machine::vm::{Run, Space};
use dropforge_value::{Data, DataMap};
use syntax::{BlockNode, BodyId, BodyNode, ExprId, Tree, static_list, static_map};

pub use compile::{Expression, compile};
pub use marks::{config_marks, marks};
pub use variables::Variables;

/// The front end.
#[derive(Debug)]
pub(crate) struct HclFront;

impl Front for HclFront {
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        compile_all(units, compile)
    }

    fn marks(&self, request: &MarkRequest<'_>) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        Ok(marks(request.source, request.limits))
    }

    fn explain(&self, run: Run<'_>, error: &mut Box<Diagnostic>) {
        let Some(source) = run.program.sources().first() else { return };
        value_notes::explain_template(source, run.inputs, run.limits, std::slice::from_mut(error));
        value_notes::explain_template(source, run.inputs, run.limits, &mut error.also);
    }
}

/// Reads a configuration as a map, which makes HCL a data format.
///
/// | in the file | in the map |
/// |---|---|
/// | `name = value` | the value under `name` |
/// | `name { … }` | a map under `name`, or a list of several |
/// | `name "a" "b" { … }` | a map under `name`, `a`, `b`, or a list of several with the same labels |
///
/// Values may be any expressions and call the functions of the language. There are no variables.
///
/// ```
/// use dropforge::hcl::read_data;
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
/// use dropforge::value::Data;
/// let source = Source::new("app.tfvars", "replicas = 1 + 2\nport \"http\" { number = 80 }\n");
/// let data = Data::Map(read_data(&source, &Limits::default())?);
/// assert_eq!(serde_json::to_string(&data)?, r#"{"replicas":3,"port":{"http":{"number":80}}}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// All syntax errors, all errors of values, and attributes and blocks with the same name.
pub fn read_data(source: &Arc<Source>, limits: &Limits) -> Result<DataMap, Diagnostics> {
    let file = File::native(source, &registry(), limits);
    if !file.diagnostics().is_empty() {
        return Err(file.diagnostics().to_vec().into());
    }
    let Some(native) = file.as_native() else { return Ok(DataMap::default()) };
    let space = Space::new();
    let context = Context::new(&space, limits);
    let mut conversion = Conversion { file: native, context, errors: Vec::new(), conflicts: Vec::new() };
    let map = conversion.body(native.root(), 1);
    let Conversion { mut errors, conflicts, .. } = conversion;
    if let Some(limit) = errors.iter().position(|error| error.code.is_limit()) {
        return Err(errors.swap_remove(limit).into());
    }
    errors.extend(conflicts);
    if errors.is_empty() { Ok(map) } else { Err(at_most(errors, limits.diagnostics, 0).into()) }
}

/// Finds the attribute at the names `path` in a file that [`read_data`] reads, below the types and labels of blocks.
/// A number after them selects one of several blocks. Returns the span of its expression, or of the part of it that the
/// rest of the path leads to, or the type of a block.
pub fn find_data(source: &Arc<Source>, limits: &Limits, path: &[&str]) -> Option<Span> {
    let file = File::native(source, &registry(), limits);
    let native = file.as_native().filter(|_| file.diagnostics().is_empty())?;
    let tree = native.tree();
    let (mut body, mut path) = (tree.body(native.root())?, path);
    loop {
        let (first, rest) = path.split_first()?;
        if let Some(attribute) = body.attributes.iter().find(|attribute| tree.str(attribute.name) == *first) {
            return Some(tree.span(part(tree, attribute.expr, rest)));
        }
        let is_on_path = |block: &&BlockNode| {
            let labels = block.labels.iter().map(|label| tree.str(label.text));
            tree.str(block.name) == *first && labels.eq(rest.iter().copied().take(block.labels.len()))
        };
        let mut blocks = body.blocks.iter().filter(is_on_path).peekable();
        let rest = rest.get(blocks.peek()?.labels.len()..)?;
        let nth = rest.first().and_then(|name| name.parse().ok());
        let block = blocks.nth(nth.unwrap_or(0))?;
        let rest = if nth.is_some() { rest.get(1..)? } else { rest };
        if rest.is_empty() {
            return Some(block.name_span);
        }
        (body, path) = (tree.body(block.body)?, rest);
    }
}

/// Returns the innermost part of an expression on a path of keys and indexes that is written in it.
fn part(tree: &Tree, mut expr: ExprId, path: &[&str]) -> ExprId {
    for name in path {
        let named = |key| {
            let text = tree.source().slice(tree.span(key));
            text == *name || text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) == Some(*name)
        };
        let item = static_list(tree, expr).and_then(|items| items.get(name.parse::<usize>().ok()?).copied());
        let entries = static_map(tree, expr).into_iter().flatten();
        match item.or_else(|| entries.rev().find(|entry| named(entry.key)).map(|entry| entry.value)) {
            Some(inner) => expr = inner,
            None => break,
        }
    }
    expr
}

/// The conversion of a file.
struct Conversion<'f> {
    file: &'f NativeFile,
    context: Context<'f>,
    errors: DiagnosticList,
    /// Errors of blocks, which are reported after those of values.
    conflicts: DiagnosticList,
}

impl Conversion<'_> {
    /// Reads a body as a map at a depth. Each label of a block is a level.
    fn body(&mut self, id: BodyId, depth: usize) -> DataMap {
        let (tree, mut map) = (self.file.tree(), DataMap::default());
        let Some(BodyNode { attributes, blocks, .. }) = tree.body(id) else { return map };
        for attribute in attributes {
            let value = self.file.evaluate(attribute.expr, &self.context, &mut self.errors);
            map.insert(tree.str(attribute.name).to_owned(), value.to_data());
        }
        let (own, mut depths) = (map.len(), HashMap::new());
        for block in blocks {
            let name = tree.str(block.name);
            let labels = block.labels.iter().map(|label| tree.str(label.text));
            let path: Vec<_> = std::iter::once(name).chain(labels).collect();
            let (inner_depth, most) = (depth + path.len(), self.context.limits().value_depth);
            if inner_depth > most {
                let error = Limit::ValueDepth.error(most as u64);
                self.errors.push(error.at(self.file.source(), block.name_span, ""));
                return map;
            }
            let inner = self.body(block.body, inner_depth);
            let same_depth = *depths.entry(name).or_insert(path.len()) == path.len();
            if map.get_index_of(name).is_some_and(|at| at < own) {
                self.conflict(format!("`{name}` is both an attribute and a block"), block.name_span);
            } else if same_depth {
                insert(&mut map, &path, inner);
            } else {
                self.conflict(format!("blocks of type `{name}` have different numbers of labels"), block.name_span);
            }
        }
        map
    }

    fn conflict(&mut self, message: String, span: Span) {
        self.conflicts.push(Diagnostic::new(Code::InputSyntax, message).at(self.file.source(), span, ""));
    }
}

/// Inserts the map of a block at its type and labels. Blocks of one type have the same number of labels.
fn insert(map: &mut DataMap, path: &[&str], inner: DataMap) {
    let Some((last, outer)) = path.split_last() else { return };
    let mut map = map;
    for name in outer {
        let below = map.entry((*name).to_owned()).or_insert_with(|| Data::Map(DataMap::default()));
        let Data::Map(below) = below else { return };
        map = below;
    }
    match map.get_mut(*last) {
        None => {
            map.insert((*last).to_owned(), Data::Map(inner));
        }
        Some(Data::List(all)) => all.push(Data::Map(inner)),
        Some(first) => *first = Data::List(vec![std::mem::take(first), Data::Map(inner)]),
    }
}

/// The number of edits from which on a name is not suggested.
const FAR: usize = 3;

/// The maximum number of differing bytes to compare.
const LONGEST: usize = 128;

/// Suggests a name as the reference does: the first of `names` that is fewer than three edits (insert, delete or replace
/// a character) from `given`.
///
/// ```
/// use dropforge::dialect::hcl::name_suggestion;
/// assert_eq!(name_suggestion("nmae", ["port", "name"]), Some("name"));
/// assert_eq!(name_suggestion("label", ["port", "name"]), None);
/// ```
#[doc(hidden)]
pub fn name_suggestion<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    names.into_iter().find(|name| is_near(given, name))
}

/// Returns `true` if fewer than [`FAR`] edits lead from `given` to `name`. Only the part between a common prefix and a
/// common suffix is compared; if it is long, the names are not near.
fn is_near(given: &str, name: &str) -> bool {
    let prefix = given.chars().zip(name.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let [given, name] = [given, name].map(|text: &str| text.get(prefix..).unwrap_or(""));
    let suffix: usize =
        given.chars().rev().zip(name.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let [given, name] = [given, name].map(|text| text.get(..text.len() - suffix).unwrap_or(""));
    given.len().max(name.len()) <= LONGEST && strsim::levenshtein(given, name) < FAR
}

#[cfg(test)]
mod tests {
    use super::name_suggestion;

    #[test]
    fn two_edits_are_near_and_three_are_not() {
        let cases = [
            ("", "ab", true),
            ("", "abc", false),
            ("ab", "", true),
            ("abc", "", false),
            ("abcdef", "abcdef", true),
            ("abcdef", "bcdef", true),
            ("abcdef", "cdef", true),
            ("abcdef", "def", false),
            ("abcdef", "abXdYf", true),
            ("abcdef", "aXcYeZ", false),
            ("abcdef", "bacdef", true),
            ("abcdef", "fabcde", true),
            ("abcdef", "efabcd", false),
            ("größe", "grösse", true),
            ("größe", "grosse", false),
        ];
        for (given, name, wanted) in cases {
            assert_eq!(name_suggestion(given, [name]).is_some(), wanted, "{given} {name}");
            assert_eq!(name_suggestion(name, [given]).is_some(), wanted, "{name} {given}");
        }
    }

    #[test]
    fn the_first_near_name_is_taken_and_long_names_cost_little() {
        assert_eq!(name_suggestion("ab", ["xyz", "abc", "ab"]), Some("abc"));
        let long = "a".repeat(1 << 20);
        assert_eq!(name_suggestion(&long, [format!("b{long}").as_str()]).map(str::len), Some(long.len() + 1));
    }
}
