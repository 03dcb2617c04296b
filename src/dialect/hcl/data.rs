//! HCL as a data language: a configuration without variables as a map.
//!
//! | in the file | in the map |
//! |---|---|
//! | `name = value` | the value under `name` |
//! | `name { … }` | a map under `name`; of several a list |
//! | `name "a" "b" { … }` | a map under `name`, `a`, `b`; of several with the same labels a list |
//!
//! Values may be any expressions and call the language's functions; there are no variables.

use std::sync::Arc;

use super::Rules;
use super::builtins::registry;
use super::lower::compile_expressions;
use super::syntax::parser::parse_config;
use super::syntax::tree::{Attribute, Body, BodyId, Tree};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::function::Capabilities;
use crate::limits::Limits;
use crate::text::{Source, Span};
use crate::value::{Data, DataMap, Inputs};
use crate::vm::{Evaluator, Space};

/// The map that a configuration is.
///
/// ```
/// use dropforge::dialect::hcl::read_data;
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
/// Everything that is wrong with its syntax, or with its values; an attribute and a block of the same name.
pub fn read_data(source: &Arc<Source>, limits: &Limits) -> Result<DataMap, Diagnostics> {
    let parsed = parse_config(source, limits);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics.into());
    }
    let mut reader = Reader { tree: &parsed.tree, limits, errors: Vec::new(), values: Vec::new().into_iter() };
    reader.evaluate(parsed.root)?;
    let map = reader.body(parsed.root);
    if reader.errors.is_empty() { Ok(map) } else { Err(reader.errors.into()) }
}

/// The attributes of a body and of all bodies in it, in the order in which they are read.
fn attributes<'t>(tree: &'t Tree, id: BodyId, all: &mut Vec<&'t Attribute>) {
    let Some(body) = tree.body(id) else { return };
    all.extend(&body.attributes);
    body.blocks.iter().for_each(|block| attributes(tree, block.body, all));
}

struct Reader<'t> {
    tree: &'t Tree,
    limits: &'t Limits,
    errors: Vec<Box<Diagnostic>>,
    /// The values of the attributes that were not read yet, in the order in which they are.
    values: std::vec::IntoIter<Data>,
}

impl Reader<'_> {
    fn evaluate(&mut self, root: BodyId) -> Result<(), Box<Diagnostic>> {
        let mut all = Vec::new();
        attributes(self.tree, root, &mut all);
        let expressions: Vec<_> = all.iter().map(|attribute| attribute.expr).collect();
        let registry = registry();
        let program = compile_expressions(self.tree, &expressions, &registry, self.limits)?;
        let linked = registry.link(program.imports())?;
        let space = Space::new();
        let mut evaluator = Evaluator::new(&space, &program, &linked, self.limits, Capabilities::NONE);
        let mut values = Vec::with_capacity(all.len());
        for chunk in (0..).take(all.len()) {
            let answer = evaluator.run::<Rules>(chunk, Inputs::default())?;
            self.errors.extend(answer.errors);
            values.push(answer.value.to_data());
        }
        self.values = values.into_iter();
        Ok(())
    }

    fn body(&mut self, id: BodyId) -> DataMap {
        let mut map = DataMap::new();
        let Some(Body { attributes, blocks, .. }) = self.tree.body(id) else { return map };
        for attribute in attributes {
            let name = self.tree.str(attribute.name).to_owned();
            map.insert(name, self.values.next().unwrap_or_default());
        }
        let (own, mut depths) = (map.len(), std::collections::HashMap::new());
        for block in blocks {
            let name = self.tree.str(block.name);
            let labels = block.labels.iter().map(|label| self.tree.str(label.text));
            let path: Vec<_> = std::iter::once(name).chain(labels).collect();
            let inner = self.body(block.body);
            let like = *depths.entry(name).or_insert(path.len()) == path.len();
            if map.get_index_of(name).is_some_and(|at| at < own) {
                self.wrong(format!("`{name}` is both an attribute and a block"), block.name_span);
            } else if like {
                put(&mut map, &path, inner);
            } else {
                self.wrong(format!("blocks of type `{name}` have different numbers of labels"), block.name_span);
            }
        }
        map
    }

    fn wrong(&mut self, message: String, span: Span) {
        self.errors.push(Diagnostic::new(Code::InputSyntax, message).at(self.tree.source(), span, ""));
    }
}

/// Puts a block's map under its type and labels. Blocks of one type have the same number of labels.
fn put(map: &mut DataMap, path: &[&str], inner: DataMap) {
    let Some((last, above)) = path.split_last() else { return };
    let mut here = map;
    for name in above {
        let below = here.entry((*name).to_owned()).or_insert_with(|| Data::Map(DataMap::new()));
        let Data::Map(below) = below else { return };
        here = below;
    }
    match here.get_mut(*last) {
        None => {
            here.insert((*last).to_owned(), Data::Map(inner));
        }
        Some(Data::List(all)) => all.push(Data::Map(inner)),
        Some(first) => *first = Data::List(vec![std::mem::take(first), Data::Map(inner)]),
    }
}
