//! The entry points: load, parse, lower.
//!
//! Every template reachable from an entry is loaded and parsed, with its inheritance chain and macro namespaces.
//!
//! A missing template that the reference needs to accept the entry (a parent, an imported file) is an error here, and
//! so is invalid inheritance. A missing include matters only if a render reaches it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bumpalo::Bump;
use hashbrown::{HashMap, HashSet};

use crate::lower;
use crate::syntax::parse;
use crate::syntax::tree::{Block, Macro, Name, Node, Template};
use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP, Result, at_most, nearest_path, without_duplicates};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::text::Source;
use dropforge_machine::bytecode::Dialect;
use dropforge_machine::compiler::{self, Compilation, Compiled, Emitter, Unit, with_names};

/// Index of a template in [`Templates::list`].
pub(super) type Id = usize;

/// One template.
#[derive(Debug)]
pub(super) struct Loaded<'a> {
    pub source: Arc<Source>,
    pub tree: Template<'a>,
    /// Its ancestors, nearest first.
    pub parents: Vec<Id>,
    blocks: HashMap<&'a str, &'a Block<'a>>,
    macros: HashMap<&'a str, &'a Macro<'a>>,
    /// The macro files it can name.
    pub namespaces: BTreeMap<&'a str, Id>,
}

impl<'a> Loaded<'a> {
    fn new(source: Arc<Source>, tree: Template<'a>) -> Self {
        let blocks = tree.blocks.iter().map(|block| (block.name.text, *block)).collect();
        let macros = tree.macros.iter().map(|one| (one.name.text, one)).collect();
        Self { source, tree, parents: Vec::new(), blocks, macros, namespaces: BTreeMap::new() }
    }

    /// Returns the block that inheritance finds under `name`.
    pub fn block(&self, name: &str) -> Option<&'a Block<'a>> {
        self.blocks.get(name).copied()
    }

    /// Returns the macro `name`.
    pub(crate) fn macro_named(&self, name: &str) -> Option<&'a Macro<'a>> {
        self.macros.get(name).copied()
    }
}

/// Sources parsed for all units that are compiled together, each once.
pub(super) struct ParseCache<'a> {
    arena: &'a Bump,
    parsed: HashMap<(*const Source, *const Limits), Parsed<'a>>,
}

/// The source, kept so that its address stays valid, and the result of [`parse`].
type Parsed<'a> = (Arc<Source>, Option<Template<'a>>, Vec<Box<Diagnostic>>);

impl<'a> ParseCache<'a> {
    /// Returns an empty cache of trees in `arena`.
    pub fn new(arena: &'a Bump) -> Self {
        Self { arena, parsed: HashMap::new() }
    }

    fn parse(&mut self, source: &Arc<Source>, limits: &Limits) -> (Option<Template<'a>>, Vec<Box<Diagnostic>>) {
        let parsed = || {
            let (template, errors) = parse(self.arena, source, limits);
            (source.clone(), template, errors)
        };
        let key = (Arc::as_ptr(source), std::ptr::from_ref(limits));
        let (_, template, errors) = self.parsed.entry(key).or_insert_with(parsed);
        (*template, errors.clone())
    }
}

/// All templates of a unit, the entry first.
#[derive(Default)]
pub(super) struct Templates<'a> {
    pub list: Vec<Loaded<'a>>,
    /// `true` if any template sets a variable.
    pub sets: bool,
    /// Every name that was looked up. `None` if there is no such template.
    ids: HashMap<String, Option<Id>>,
}

impl<'a> Templates<'a> {
    /// Loads every template that `unit` reaches.
    ///
    /// # Errors
    /// All errors in these templates.
    pub fn load(cache: &mut ParseCache<'a>, unit: &Unit<'_>) -> std::result::Result<Self, Vec<Box<Diagnostic>>> {
        let mut loading = Loading { cache, unit, templates: Self::default(), errors: Vec::new() };
        loading.all();
        let Loading { mut templates, mut errors, .. } = loading;
        if errors.is_empty() {
            errors.extend(templates.link(unit.limits.call_depth).err());
        }
        if errors.is_empty() { Ok(templates) } else { Err(at_most(errors, unit.limits.diagnostics, 0)) }
    }

    /// Returns a warning for each block of the entry that no template has which the entry extends: nothing renders it.
    fn unused_blocks(&self) -> Vec<Box<Diagnostic>> {
        let Some(entry) = self.list.first().filter(|entry| !entry.parents.is_empty()) else { return Vec::new() };
        let parents: Vec<&Loaded<'a>> = entry.parents.iter().filter_map(|id| self.list.get(*id)).collect();
        let blocks =
            entry.tree.body.iter().filter_map(|node| if let Node::Block(block) = node { Some(block) } else { None });
        let is_unused = |block: &&&Block<'a>| parents.iter().all(|parent| parent.block(block.name.text).is_none());
        let warning = |block: &&Block<'a>| {
            let names = || parents.iter().flat_map(|parent| parent.blocks.keys().copied());
            let message =
                format!("no template that this one extends has a block `{}`, so it is not rendered", block.name.text);
            Diagnostic::warning(Code::BadInheritance, message)
                .at(&entry.source, block.name.span, "")
                .with_suggestion(block.name.text, names())
                .with_available(names())
        };
        blocks.filter(is_unused).map(warning).collect()
    }

    /// Returns the template `name` if it was looked up and found.
    pub fn id(&self, name: &str) -> Option<Id> {
        self.ids.get(name).copied().flatten()
    }

    /// Returns the root of the entry's inheritance chain, if the entry inherits.
    pub fn root(&self) -> Option<Id> {
        self.list.first()?.parents.last().copied()
    }

    /// Returns the names of all templates except the entry, and of these files, sorted.
    pub fn reaches(&self, raw_files: BTreeSet<String>) -> Vec<String> {
        let templates = self.list.iter().skip(1).map(|one| one.source.name().to_owned());
        let mut names: Vec<_> = templates.chain(raw_files).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Finds inheritance chains, then macro namespaces.
    fn link(&mut self, call_depth: usize) -> Result<()> {
        for id in 0..self.list.len() {
            self.list[id].parents = self.chain(id)?;
        }
        let mut done = vec![Progress::Not; self.list.len()];
        (0..self.list.len()).try_for_each(|id| self.namespaces(id, &mut done, call_depth, 0))
    }

    fn chain(&self, start: Id) -> Result<Vec<Id>> {
        let (mut parents, mut seen, mut at) = (Vec::new(), HashSet::<Id>::from_iter([start]), start);
        while let Some((loaded, file)) = self.list.get(at).and_then(|one| Some((one, one.tree.extends?))) {
            let Some(parent) = self.id(file.text) else { break };
            if !seen.insert(parent) {
                let names = parents.iter().map(|&id: &Id| self.list[id].source.name());
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

    /// Finds the macro files that template `id` can name: its own macros as `self`, its imports, and those that its
    /// imports and parents can name. The first that has a name wins, except that the last of its own imports wins.
    fn namespaces(&mut self, id: Id, done: &mut [Progress], call_depth: usize, depth: usize) -> Result<()> {
        if done.get(id).is_none_or(|progress| *progress == Progress::Done) {
            return Ok(());
        }
        let loaded = &self.list[id];
        let span = loaded.tree.imports.first().map(|import| import.file.span).unwrap_or_default();
        if depth > call_depth {
            return Err(Limit::CallDepth.error(call_depth as u64).at(&loaded.source, span, ""));
        }
        if done[id] == Progress::Begun {
            let message = format!("`{}` imports itself, by way of other templates", loaded.source.name());
            return Err(Diagnostic::new(Code::LimitRecursion, message).at(&loaded.source, span, ""));
        }
        done[id] = Progress::Begun;
        let (imports, parents) = (loaded.tree.imports, loaded.parents.clone());
        let mut map: BTreeMap<&'a str, Id> = BTreeMap::new();
        if !loaded.tree.macros.is_empty() {
            map.insert("self", id);
        }
        let imported =
            imports.iter().filter_map(|import| Some((Some(import.namespace.text), self.id(import.file.text)?)));
        for (namespace, file) in
            imported.collect::<Vec<_>>().into_iter().chain(parents.into_iter().map(|id| (None, id)))
        {
            if let Some(namespace) = namespace {
                map.insert(namespace, file);
            }
            self.namespaces(file, done, call_depth, depth + 1)?;
            for (name, id) in &self.list[file].namespaces {
                map.entry(name).or_insert(*id);
            }
        }
        self.list[id].namespaces = map;
        done[id] = Progress::Done;
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Not,
    Begun,
    Done,
}

/// The state of loading one unit.
struct Loading<'a, 'u> {
    cache: &'u mut ParseCache<'a>,
    unit: &'u Unit<'u>,
    templates: Templates<'a>,
    errors: Vec<Box<Diagnostic>>,
}

impl<'a> Loading<'a, '_> {
    fn all(&mut self) {
        self.add(self.unit.entry.name(), self.unit.entry.clone());
        let mut at = 0;
        while let Some(loaded) = self.templates.list.get(at) {
            let (source, tree) = (loaded.source.clone(), loaded.tree);
            self.references(&source, &tree);
            at += 1;
            if self.templates.list.len() > self.unit.limits.templates {
                self.errors.push(Limit::Templates.error(self.unit.limits.templates as u64));
                return;
            }
        }
    }

    fn add(&mut self, name: &str, source: Arc<Source>) {
        let (tree, errors) = self.cache.parse(&source, self.unit.limits);
        self.errors.extend(errors);
        let id = tree.map(|tree| {
            self.templates.sets |= tree.sets;
            self.templates.list.push(Loaded::new(source, tree));
            self.templates.list.len() - 1
        });
        self.templates.ids.insert(name.to_owned(), id);
    }

    /// Loads the template `name`. Returns `false` if it does not exist.
    fn find(&mut self, from: &Arc<Source>, name: Name<'a>) -> bool {
        if let Some(id) = self.templates.ids.get(name.text) {
            return id.is_some();
        }
        let loaded = self.unit.loader.load(name.text);
        let found = !matches!(loaded, Ok(None));
        match loaded {
            Ok(Some(source)) => self.add(name.text, source),
            Ok(None) => drop(self.templates.ids.insert(name.text.to_owned(), None)),
            Err(error) => {
                self.templates.ids.insert(name.text.to_owned(), None);
                self.errors.push(error.at_if_nowhere(from, name.span));
            }
        }
        found
    }

    fn references(&mut self, source: &Arc<Source>, tree: &Template<'a>) {
        let imports = tree.imports.iter().map(|import| (import.file, "imports macros from"));
        let extends = tree.extends.iter().map(|file| (*file, "inherits from"));
        for (file, what) in extends.chain(imports) {
            if !self.find(source, file) {
                let error = unknown_template(self.unit, file.text, &format!("`{}` {what}", source.name()));
                self.errors.push(error.at(source, file.span, ""));
            }
        }
        let mut bodies: Vec<&'a [Node<'a>]> = vec![tree.body];
        bodies.extend(tree.macros.iter().map(|one| one.body));
        while let Some(body) = bodies.pop() {
            for node in body {
                match node {
                    Node::Include { names, .. } => drop(names.iter().find(|name| self.find(source, **name))),
                    node => node.visit_bodies(|body| bodies.push(body)),
                }
            }
        }
    }
}

/// Returns the error of a missing template `name`. `who` is the subject of the message.
pub(super) fn unknown_template(unit: &Unit<'_>, name: &str, who: &str) -> Box<Diagnostic> {
    let names = unit.loader.names();
    let others = names.iter().map(String::as_str).filter(|other| *other != unit.entry.name());
    let error = Diagnostic::new(Code::UnknownTemplate, format!("{who} the template `{name}`, which does not exist"))
        .with_field(LOOKED_UP, name);
    let error = with_names(error, unit.loader, &names);
    match nearest_path(name, others) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")).with_replacement(name, near),
        None => error,
    }
}

/// Compiles a unit of the language `tera`.
///
/// # Errors
/// Every syntax error of every file, or the reason that the set of templates is invalid, or a limit.
pub fn compile(unit: &Unit<'_>) -> Compilation {
    let arena = Bump::new();
    compile_one(&mut ParseCache::new(&arena), &mut emitter(), unit)
}

/// Compiles units of the language `tera`, in order. Shared sources are parsed once.
pub fn compile_all(units: &[Unit<'_>]) -> Vec<Compilation> {
    let arena = Bump::new();
    let (mut cache, mut emitter) = (ParseCache::new(&arena), emitter());
    compiler::compile_all(units, |unit| compile_one(&mut cache, &mut emitter, unit))
}

fn emitter<'a>() -> Emitter<'a> {
    Emitter::new(Dialect::Tera, &crate::Rules, 0)
}

fn compile_one<'a>(cache: &mut ParseCache<'a>, emitter: &mut Emitter<'a>, unit: &Unit<'_>) -> Compilation {
    let templates = Templates::load(cache, unit)?;
    emitter.restart(unit.limits.code_words);
    emitter.reserve(templates.list.iter().map(|one| one.source.text().len()).sum());
    let (lints, raw_files) = lower::lower(unit, &templates, emitter).map_err(|error| vec![error])?;
    let lints = lints.into_iter().chain(templates.unused_blocks()).collect();
    let lints = at_most(without_duplicates(lints), unit.limits.diagnostics, 0);
    let program = emitter.finish().map_err(|error| vec![error])?;
    Ok(Compiled { program, lints, reaches: templates.reaches(raw_files), tree: None })
}
