//! Everything an entry template reaches, loaded and parsed: parents, imports, includes, to the end.
//!
//! What must be there for the reference to accept the template (parents, imported files, sound inheritance)
//! is an error here; an include that is not there only matters if the render gets to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use bumpalo::Bump;
use hashbrown::{HashMap, HashSet};

use super::ast::{Block, Macro, Name, Node, Template};
use super::parser::parse;
use crate::compiler::Unit;
use crate::diagnostics::{Code, Diagnostic};
use crate::limits::{Limit, Limits};
use crate::text::Source;

/// Index of a template in [`Templates::list`].
pub(super) type Id = usize;

/// One template.
#[derive(Debug)]
pub(super) struct Loaded<'a> {
    pub source: Arc<Source>,
    pub ast: Template<'a>,
    /// The templates it inherits from, the nearest first.
    pub parents: Vec<Id>,
    blocks: HashMap<&'a str, &'a Block<'a>>,
    macros: HashMap<&'a str, &'a Macro<'a>>,
    /// The macro files it can name.
    pub namespaces: BTreeMap<&'a str, Id>,
}

impl<'a> Loaded<'a> {
    /// The block that inheritance finds under `name`.
    pub fn block(&self, name: &str) -> Option<&'a Block<'a>> {
        self.blocks.get(name).copied()
    }

    /// The macro `name`.
    pub fn macro_named(&self, name: &str) -> Option<&'a Macro<'a>> {
        self.macros.get(name).copied()
    }
}

/// What has been parsed, for all units that are compiled together: a source that several reach is parsed once.
pub(super) struct Parsed<'a> {
    arena: &'a Bump,
    known: HashMap<(*const Source, *const Limits), Known<'a>>,
}

/// The source, which stays where it is while this is kept, and what [`parse`] gave.
type Known<'a> = (Arc<Source>, Option<Template<'a>>, Vec<Box<Diagnostic>>);

impl<'a> Parsed<'a> {
    /// Nothing yet; trees will lie in `arena`.
    pub fn new(arena: &'a Bump) -> Self {
        Self { arena, known: HashMap::new() }
    }

    fn parse(&mut self, source: &Arc<Source>, limits: &Limits) -> (Option<Template<'a>>, Vec<Box<Diagnostic>>) {
        let parsed = || {
            let (template, errors) = parse(self.arena, source, limits);
            (source.clone(), template, errors)
        };
        let key = (Arc::as_ptr(source), std::ptr::from_ref(limits));
        let (_, template, errors) = self.known.entry(key).or_insert_with(parsed);
        (*template, errors.clone())
    }
}

/// All templates of a unit; the entry is the first.
pub(super) struct Templates<'a> {
    pub list: Vec<Loaded<'a>>,
    /// Whether any of them sets a variable.
    pub sets: bool,
    /// Every name that was asked for; `None` where there is no such template.
    ids: HashMap<String, Option<Id>>,
}

impl<'a> Templates<'a> {
    /// Loads what `unit` reaches, or says everything that is wrong with it.
    pub fn load(parsed: &mut Parsed<'a>, unit: &Unit<'_>) -> Result<Self, Vec<Box<Diagnostic>>> {
        let templates = Self { list: Vec::new(), sets: false, ids: HashMap::new() };
        let mut reach = Reach { parsed, unit, templates, errors: Vec::new() };
        reach.all();
        if reach.errors.is_empty() {
            reach.link();
        }
        if reach.errors.is_empty() { Ok(reach.templates) } else { Err(reach.errors) }
    }

    /// The template `name`, where it was asked for and found.
    pub fn id(&self, name: &str) -> Option<Id> {
        self.ids.get(name).copied().flatten()
    }

    /// The names of all but the entry, sorted.
    pub fn reaches(&self) -> Vec<String> {
        let mut names: Vec<_> = self.list.iter().skip(1).map(|one| one.source.name().to_owned()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

struct Reach<'a, 'u> {
    parsed: &'u mut Parsed<'a>,
    unit: &'u Unit<'u>,
    templates: Templates<'a>,
    errors: Vec<Box<Diagnostic>>,
}

impl<'a> Reach<'a, '_> {
    fn all(&mut self) {
        self.add(self.unit.entry.name(), self.unit.entry.clone());
        let mut at = 0;
        while let Some(loaded) = self.templates.list.get(at) {
            let (source, ast) = (loaded.source.clone(), loaded.ast);
            self.references(&source, &ast);
            at += 1;
            if self.templates.list.len() > self.unit.limits.templates {
                self.errors.push(Limit::Templates.error(self.unit.limits.templates as u64));
                return;
            }
        }
    }

    fn add(&mut self, name: &str, source: Arc<Source>) -> Option<Id> {
        let (ast, errors) = self.parsed.parse(&source, self.unit.limits);
        self.errors.extend(errors);
        let id = ast.map(|ast| {
            let blocks = ast.blocks.iter().map(|block| (block.name.text, *block)).collect();
            let macros = ast.macros.iter().map(|one| (one.name.text, one)).collect();
            let (parents, namespaces) = (Vec::new(), BTreeMap::new());
            self.templates.sets |= ast.sets;
            self.templates.list.push(Loaded { source, ast, parents, blocks, macros, namespaces });
            self.templates.list.len() - 1
        });
        self.templates.ids.insert(name.to_owned(), id);
        id
    }

    fn find(&mut self, from: &Arc<Source>, name: Name<'a>) -> bool {
        if let Some(known) = self.templates.ids.get(name.text) {
            return known.is_some();
        }
        match self.unit.loader.load(name.text) {
            Ok(Some(source)) => {
                self.add(name.text, source);
                true
            }
            Ok(None) => {
                self.templates.ids.insert(name.text.to_owned(), None);
                false
            }
            Err(error) => {
                self.templates.ids.insert(name.text.to_owned(), None);
                self.errors.push(error.at_if_nowhere(from, name.span));
                true
            }
        }
    }

    fn references(&mut self, source: &Arc<Source>, ast: &Template<'a>) {
        let imports = ast.imports.iter().map(|import| (import.file, "imports macros from"));
        let extends = ast.extends.iter().map(|file| (*file, "inherits from"));
        for (file, what) in extends.chain(imports) {
            if !self.find(source, file) {
                let error = unknown_template(self.unit, file.text, &format!("`{}` {what}", source.name()));
                self.errors.push(error.at(source, file.span, ""));
            }
        }
        let mut bodies: Vec<&'a [Node<'a>]> = vec![ast.body];
        bodies.extend(ast.macros.iter().map(|one| one.body));
        while let Some(body) = bodies.pop() {
            for node in body {
                match node {
                    Node::Include { names, .. } => drop(names.iter().find(|name| self.find(source, **name))),
                    node => inner_bodies(node, |body| bodies.push(body)),
                }
            }
        }
    }

    /// Inheritance chains, then macro namespaces.
    fn link(&mut self) {
        for id in 0..self.templates.list.len() {
            match self.chain(id) {
                Ok(parents) => self.templates.list[id].parents = parents,
                Err(error) => return self.errors.push(error),
            }
        }
        let mut done = vec![Progress::Not; self.templates.list.len()];
        for id in 0..self.templates.list.len() {
            if let Err(error) = self.namespaces(id, &mut done, 0) {
                return self.errors.push(error);
            }
        }
    }

    fn chain(&self, start: Id) -> Result<Vec<Id>, Box<Diagnostic>> {
        let (mut parents, mut seen, mut at) = (Vec::new(), HashSet::<Id>::from_iter([start]), start);
        while let Some((loaded, file)) = self.templates.list.get(at).and_then(|one| Some((one, one.ast.extends?))) {
            let Some(parent) = self.templates.id(file.text) else { break };
            if !seen.insert(parent) {
                let names = parents.iter().map(|&id: &Id| self.templates.list[id].source.name());
                let names: Vec<_> = names.chain([file.text]).collect();
                let message = format!("`{}` inherits from itself, by way of {}", file.text, names.join(", "));
                let error = Diagnostic::new(Code::InheritanceCycle, message);
                return Err(error.at(&loaded.source, file.span, "this closes the circle"));
            }
            parents.push(parent);
            at = parent;
        }
        Ok(parents)
    }

    /// The macro files that template `id` can name: its own macros as `self`, its imports, what those can name,
    /// what its parents can name; the first of these that has a name wins, and of its imports the last.
    fn namespaces(&mut self, id: Id, done: &mut [Progress], depth: usize) -> Result<(), Box<Diagnostic>> {
        if done.get(id).is_none_or(|progress| *progress == Progress::Done) {
            return Ok(());
        }
        let loaded = &self.templates.list[id];
        let span = loaded.ast.imports.first().map(|import| import.file.span).unwrap_or_default();
        if depth > self.unit.limits.call_depth {
            return Err(Limit::CallDepth.error(self.unit.limits.call_depth as u64).at(&loaded.source, span, ""));
        }
        if done[id] == Progress::Begun {
            let message = format!("`{}` imports itself, by way of other templates", loaded.source.name());
            return Err(Diagnostic::new(Code::LimitRecursion, message).at(&loaded.source, span, ""));
        }
        done[id] = Progress::Begun;
        let (imports, parents) = (loaded.ast.imports, loaded.parents.clone());
        let mut map: BTreeMap<&'a str, Id> = BTreeMap::new();
        if !loaded.ast.macros.is_empty() {
            map.insert("self", id);
        }
        for import in imports {
            let Some(file) = self.templates.id(import.file.text) else { continue };
            map.insert(import.namespace.text, file);
            self.namespaces(file, done, depth + 1)?;
            self.merge(&mut map, file);
        }
        for parent in parents {
            self.namespaces(parent, done, depth + 1)?;
            self.merge(&mut map, parent);
        }
        self.templates.list[id].namespaces = map;
        done[id] = Progress::Done;
        Ok(())
    }

    fn merge(&self, map: &mut BTreeMap<&'a str, Id>, from: Id) {
        for (name, id) in &self.templates.list[from].namespaces {
            map.entry(name).or_insert(*id);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Not,
    Begun,
    Done,
}

/// The error of there being no template `name`; `who` says who asked.
pub(super) fn unknown_template(unit: &Unit<'_>, name: &str, who: &str) -> Box<Diagnostic> {
    let names = unit.loader.names();
    Diagnostic::new(Code::UnknownTemplate, format!("{who} the template `{name}`, which does not exist"))
        .with_suggestion(name, names.iter().map(String::as_str))
        .with_available(names.iter().map(String::as_str))
}

/// Shows `visit` the bodies directly inside a node.
pub(super) fn inner_bodies<'a>(node: &Node<'a>, mut visit: impl FnMut(&'a [Node<'a>])) {
    match node {
        Node::If { branches, otherwise } => {
            branches.iter().for_each(|branch| visit(branch.body));
            visit(otherwise);
        }
        Node::For(one) => {
            visit(one.body);
            one.otherwise.into_iter().for_each(visit);
        }
        Node::Block(block) => visit(block.body),
        Node::Filter { body, .. } => visit(body),
        _ => {}
    }
}
