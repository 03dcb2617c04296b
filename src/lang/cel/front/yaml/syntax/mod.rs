//! The syntax of YAML templates: from YAML nodes to a tree of values, directives and expressions; and help for errors of
//! YAML whose cause the parser does not know. The nodes of a tree are in one arena, by index. Keys and
//! directives of a map may conflict, whatever the inputs are.

mod bare_expressions;
mod build;
mod directives;
mod expressions;
mod nodes;

use std::sync::Arc;

pub use build::BuildOptions;
pub(super) use build::{Built, IncludePath, build};
pub(super) use expressions::ParsedExpressions;
pub use nodes::{
    Assert, Binding, Candidate, Condition, DeclaredId, DeclaredName, Directives, ExpressionId, FileId, For, Free, If,
    Include, Item, Let, LetValue, Map, MapId, NodeId, NodeKind, PathStep, Run, Target, TemplateEntry,
    TemplateExpression, TemplateNode, TextPart, Variable, VariableId, VariableKind, With,
};

use build::FileBuilder;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};
use dropforge_value::yaml::Kind;
use hashbrown::HashMap;

/// Adds the cause to an error of YAML.
pub(super) fn syntax_help(error: Box<Diagnostic>) -> Box<Diagnostic> {
    quotes_help(template_help(error))
}

/// Adds the cause to the error of a line with the tags of another language, in place of the help for values.
fn template_help(mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    let is_free = error.help.as_ref().is_none_or(|help| help.contains("quotes"));
    let Some(label) = error.primary().filter(|_| is_free && error.code == Code::InputSyntax) else { return error };
    let line = label.source.line(label.position().line);
    let tag = |tag: &&str| line.find(*tag).is_some_and(|at| !is_quoted(line.get(..at).unwrap_or("")));
    let Some(tag) = ["{{", "{%"].into_iter().find(tag) else { return error };
    let is_helm = [" .", "{{.", "include ", "nindent", "toYaml"].iter().any(|mark| line.contains(mark));
    let (title, id, extension) = if is_helm { ("a Go template", "helm", "gotmpl") } else { ("Tera", "tera", "tera") };
    let name = label.source.name();
    let stem = [".cel.yaml", ".cel.yml"].iter().find_map(|end| name.strip_suffix(end));
    let renamed = stem.map_or_else(String::new, |stem| format!(", or name it `{stem}.yaml.{extension}`"));
    error.help = Some(format!("`{tag}` looks like {title}: use `--lang {id}`{renamed}"));
    error
}

/// Returns `true` if a line with this beginning continues in quotes.
fn is_quoted(before: &str) -> bool {
    ['"', '\''].iter().any(|quote| before.matches(*quote).count() % 2 == 1)
}

/// Adds the cause to the error of an expression between brackets or braces.
fn quotes_help(mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    let is_free = error.help.is_none() && error.code == Code::InputSyntax && error.reason().contains("parsing a flow");
    let label = error.primary().filter(|_| is_free);
    if label.is_some_and(|label| label.source.line(label.position().line).contains("${")) {
        error.help = Some("between brackets or braces, `${ }` has to stand in quotes".to_owned());
    }
    error
}

/// Typical numbers of nodes, which decide the initial space for maps and expressions.
const NODES_PER_MAP: usize = 4;
const NODES_PER_EXPRESSION: usize = 4;

/// A file of a template.
#[derive(Debug, Clone)]
pub struct File {
    /// The source.
    pub source: Arc<Source>,
    /// The roots of its documents, without empty ones.
    pub documents: Vec<NodeId>,
    pub(in crate::front::yaml) nodes: Vec<TemplateNode>,
    pub(in crate::front::yaml) maps: Vec<Map>,
    pub(in crate::front::yaml) parts: Vec<TextPart>,
    pub(in crate::front::yaml) ids: Vec<NodeId>,
    pub(in crate::front::yaml) expressions: Vec<TemplateExpression>,
    pub(in crate::front::yaml) variables: Vec<Variable>,
    pub(in crate::front::yaml) declared: Vec<DeclaredName>,
    /// The keys that are expressions.
    pub(in crate::front::yaml) computed_keys: Vec<NodeId>,
}

impl File {
    /// Creates a file with space for `nodes` nodes.
    fn new(source: &Arc<Source>, nodes: usize) -> Self {
        Self {
            source: source.clone(),
            documents: Vec::new(),
            nodes: Vec::with_capacity(nodes),
            maps: Vec::with_capacity(nodes / NODES_PER_MAP),
            parts: Vec::new(),
            ids: Vec::new(),
            expressions: Vec::with_capacity(nodes / NODES_PER_EXPRESSION),
            variables: Vec::new(),
            declared: Vec::new(),
            computed_keys: Vec::new(),
        }
    }

    /// Returns a node.
    pub fn node(&self, id: NodeId) -> Option<&TemplateNode> {
        self.nodes.get(id.index())
    }

    /// Returns a map with its directives.
    pub fn map(&self, id: MapId) -> Option<&Map> {
        self.maps.get(id.index())
    }

    /// Returns an expression.
    pub fn expression(&self, id: ExpressionId) -> Option<&TemplateExpression> {
        self.expressions.get(id.index())
    }

    /// Returns all expressions.
    pub fn expressions(&self) -> &[TemplateExpression] {
        &self.expressions
    }

    /// Returns a variable.
    pub fn variable(&self, id: VariableId) -> Option<&Variable> {
        self.variables.get(id.index())
    }

    /// Returns a name with a schema.
    pub fn declared(&self, id: DeclaredId) -> Option<&DeclaredName> {
        self.declared.get(id.index())
    }

    /// Returns the literal texts at the start and end of a path computed at render time; `None` for a constant path.
    pub(in crate::front::yaml) fn constant_ends(&self, path: NodeId) -> Option<(&str, &str)> {
        match &self.node(path)?.kind {
            NodeKind::Scalar(_) => None,
            NodeKind::Text(run) => {
                let parts = self.parts(*run);
                Some((text_of(parts.first()), text_of(parts.last())))
            }
            _ => Some(("", "")),
        }
    }

    /// Returns `true` if there is a schema of an input with this name.
    pub(in crate::front::yaml) fn declares(&self, name: &str) -> bool {
        self.declared.iter().any(|declared| &*declared.name == name && declared.of.is_none())
    }

    /// Returns the map of a node that is one.
    pub fn map_of(&self, id: NodeId) -> Option<&Map> {
        match self.node(id)?.kind {
            NodeKind::Map(map) => self.map(map),
            _ => None,
        }
    }

    /// Returns the text of a scalar that is a string.
    pub fn string(&self, id: NodeId) -> Option<&Arc<str>> {
        match &self.node(id)?.kind {
            NodeKind::Scalar(scalar) if matches!(scalar.kind, Kind::Str) => Some(&scalar.text),
            _ => None,
        }
    }

    /// Returns the elements of a list.
    pub fn elements(&self, run: Run) -> &[NodeId] {
        self.ids.get(run.range()).unwrap_or(&[])
    }

    /// Returns the parts of a text.
    pub fn parts(&self, run: Run) -> &[TextPart] {
        self.parts.get(run.range()).unwrap_or(&[])
    }

    /// Returns the path of a node in its document, such as `items[0].metadata.name`; empty for the root.
    pub fn path(&self, id: NodeId) -> String {
        let up = |node: &&TemplateNode| node.parent.and_then(|parent| self.node(parent));
        let mut steps: Vec<&PathStep> = std::iter::successors(self.node(id), up).map(|node| &node.step).collect();
        steps.reverse();
        let mut path = String::new();
        steps.into_iter().for_each(|step| step.write(&mut path));
        path
    }

    fn add_parts(&mut self, parts: Vec<TextPart>) -> Run {
        Run::append(&mut self.parts, parts)
    }

    fn add_ids(&mut self, ids: impl IntoIterator<Item = NodeId>) -> Run {
        Run::append(&mut self.ids, ids)
    }

    fn add_node(&mut self, node: TemplateNode) -> NodeId {
        self.nodes.push(node);
        NodeId::of(self.nodes.len() - 1)
    }

    pub(in crate::front::yaml) fn map_mut(&mut self, id: MapId) -> Option<&mut Map> {
        self.maps.get_mut(id.index())
    }
}

/// Returns the text of a part that is one.
fn text_of(part: Option<&TextPart>) -> &str {
    if let Some(TextPart::Text(text)) = part { text } else { "" }
}

/// The constant keys of a map, with their spans.
type Keys<'f> = HashMap<&'f str, Span>;

/// Capacity up to which the keys of the next map are put in place of those of the last.
const KEPT: usize = 64;

/// Errors, and the nodes that they are about.
type Conflicts = Vec<(Box<Diagnostic>, NodeId)>;

impl FileBuilder<'_> {
    /// Reports duplicate keys, and values other than maps in places where maps are merged. The reader of YAML has found keys
    /// that are written twice.
    pub fn conflicts(&mut self) {
        let mut found = Conflicts::new();
        let mut keys = Keys::new();
        let mut maps = std::mem::take(&mut self.merging);
        maps.sort_unstable();
        maps.dedup();
        for map in maps.into_iter().filter_map(|id| self.file.map(id)) {
            if keys.capacity() > KEPT {
                keys = Keys::new();
            }
            keys.clear();
            self.own_keys(map, &mut keys, &mut found);
            self.branches_of(map, &keys, &mut found);
            if let Some(each) = map.directives().each.as_ref().filter(|each| !each.in_list) {
                self.must_be_map("$do", each.body, &mut found);
            }
        }
        drop(keys);
        for (error, node) in found {
            self.report(error, node);
        }
    }

    /// Makes the error of a duplicate key.
    fn duplicate(&self, name: &str, here: Span, there: Span) -> Box<Diagnostic> {
        Diagnostic::new(Code::DuplicateKey, format!("duplicate key: `{name}` is given twice"))
            .at(&self.file.source, here, "")
            .at(&self.file.source, there, "also here")
            .with_help("keep one of them; parts that `$if` chooses belong only in `$then` and `$else`")
    }

    /// Returns the name of a constant key.
    fn key_name(&self, key: NodeId) -> Option<(&str, Span)> {
        let node = self.file.node(key)?;
        match (&node.kind, &node.step) {
            (NodeKind::Scalar(scalar), _) if matches!(scalar.kind, Kind::Str) => Some((&scalar.text, node.span)),
            (NodeKind::Scalar(_), PathStep::Key(name)) => Some((name, node.span)),
            _ => None,
        }
    }

    fn keys_of<'m>(&'m self, map: &'m Map) -> impl Iterator<Item = (&'m str, Span, NodeId)> + 'm {
        let named = |key: NodeId| self.key_name(key).map(|(name, span)| (name, span, key));
        map.entries().filter_map(move |entry| named(entry.key))
    }

    fn own_keys<'m>(&'m self, map: &'m Map, keys: &mut Keys<'m>, found: &mut Conflicts) {
        for (name, span, node) in self.keys_of(map) {
            if let Some(there) = keys.insert(name, span) {
                found.push((self.duplicate(name, span, there), node));
            }
        }
    }

    /// Finds conflicts of `$then` and `$else` with the keys that they are merged with.
    fn branches_of(&self, map: &Map, keys: &Keys<'_>, found: &mut Conflicts) {
        let merged = !keys.is_empty()
            || map.entries().next().is_some()
            || map.directives().each.is_some()
            || map.directives().include.is_some();
        if !merged {
            return;
        }
        let branches = |map: &Map| {
            let condition = map.directives().condition.as_ref();
            condition.map_or([None, None], |of| [of.then.map(|id| ("$then", id)), of.otherwise.map(|id| ("$else", id))])
        };
        let mut open: Vec<_> = branches(map).into_iter().flatten().collect();
        while let Some((name, id)) = open.pop() {
            let Some(inner) = self.file.map_of(id) else {
                self.must_be_map(name, id, found);
                continue;
            };
            for (name, span, node) in self.keys_of(inner) {
                if let Some(there) = keys.get(name) {
                    found.push((self.duplicate(name, span, *there), node));
                }
            }
            // A map with only a condition is its branch.
            open.extend(branches(inner).into_iter().flatten());
        }
    }

    fn must_be_map(&self, name: &str, id: NodeId, found: &mut Conflicts) {
        let Some(node) = self.file.node(id) else { return };
        if matches!(node.kind, NodeKind::Scalar(_) | NodeKind::Text(_) | NodeKind::List(_)) {
            let message = format!("`{name}` has to be a map here, because its keys are merged");
            let error = Diagnostic::new(Code::BadDirective, message).at(&self.file.source, node.span, "");
            found.push((error, id));
        }
    }
}
