//! Warnings for values that no template reads.
//!
//! Shared values are there for the templates, so each of them must be read. Fleets often come from inventories, which have
//! much that no template reads: a cluster's value is only reported if it looks like a mistake.

mod suspects;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::layers::Layers;
use super::layout::Layout;
use super::missing::MissingNames;
use super::origins::{Origins, leaves};
use super::report::Failure;
use super::selector::Selection;
use super::selector::Selector;
use super::shared_values::SharedValues;
use super::values::{Step, value_at};
use dropforge_base::diagnostics::{Code, Diagnostic, PROBLEM, Result, at_most, counted, nearest};
use dropforge_engine::Template;
use dropforge_machine::bytecode::analysis::PlacedRead;
use dropforge_value::{DataMap, ReadPaths, ReadPosition};

/// Maximum number of names to report.
const REPORTED: usize = 20;
/// Maximum number of leaves of a name that suggestions are tried for.
const TRIED: usize = 4;
/// Maximum number of names that one name is compared with.
const COMPARED: usize = 2_000;

/// The values that a run reads.
///
/// ```
/// use dropforge::bulk::{Format, Layers, Merge, ReadValues, input::{self, Place}};
/// use dropforge::{Dialect, Engine};
/// use dropforge::text::Source;
/// let template = Engine::new().compile(Dialect::Tera, "t", "{{ image.tag | default(value='v1') }}")?;
/// let source = Source::new("v.yaml", "imge:\n  tag: v1\n");
/// let map = input::map(&source, Format::Yaml)?;
/// let layers = Layers::new([map], Vec::new(), Merge::Deep).with_places(vec![Place::file(&source, Format::Yaml)]);
/// let warnings = ReadValues::by([&template]).unread(&layers);
/// assert_eq!(warnings[0].to_string(), "E0809: no template reads `imge.tag` (v.yaml:2:8)");
/// assert_eq!(warnings[0].help.as_deref(), Some("did you mean `image.tag`?"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct ReadValues {
    tree: ReadPaths,
    /// Maps that identify a cluster: they may hold anything.
    identities: Vec<String>,
    /// The variables whose types decide which of their parts are kept.
    typed: HashSet<String>,
    /// The templates, to find the places of what they read.
    templates: Vec<Template>,
    /// The templates whose inputs are below a path of the values.
    parts: Vec<Template>,
    /// The values that schemas and defaults declare. Their names are not misspelled.
    declared: ReadPaths,
}

impl ReadValues {
    /// Finds the values that templates read.
    pub fn by<'t>(templates: impl IntoIterator<Item = &'t Template>) -> Self {
        let mut read = Self { templates: templates.into_iter().cloned().collect(), ..Self::default() };
        read.templates.iter().for_each(|template| template.program().add_reads(&mut read.tree));
        read
    }

    /// Returns these values, which `templates` read or which are `declared`.
    pub(super) fn of(tree: ReadPaths, declared: ReadPaths, templates: Vec<Template>) -> Self {
        Self { tree, declared, templates, ..Self::default() }
    }

    /// Returns `true` if all shared values are read.
    pub(super) fn has_all(&self, layers: &Layers) -> bool {
        layers.all().all(|values| self.unread_names(values).order.is_empty())
    }

    /// Adds the value at a dotted path, and all below it.
    pub fn add(&mut self, path: &str) {
        self.tree.add(path.split('.'));
    }

    /// Adds what a template reads below an input, as if it were all inputs.
    pub(super) fn add_below(&mut self, template: &Template, name: &str) {
        let own = template.read_paths();
        if let Some(node) = own.node(ReadPaths::ROOT, name) {
            self.tree.graft(ReadPaths::ROOT, own, node);
        }
    }

    /// Adds what `other` reads and declares below a path, as if that were all inputs.
    pub(super) fn graft(&mut self, path: &[&str], other: &Self) {
        for (to, from) in [(&mut self.tree, &other.tree), (&mut self.declared, &other.declared)] {
            match to.make(path).filter(|_| !from.everything) {
                Some(node) => to.graft(node, from, ReadPaths::ROOT),
                None if path.is_empty() => to.everything = true,
                None => to.add(path.iter().copied()),
            }
        }
        let templates = if path.is_empty() { &mut self.templates } else { &mut self.parts };
        templates.extend(other.templates.iter().chain(&other.parts).cloned());
    }

    /// Adds the values that select, name and place clusters.
    pub fn and_plan(mut self, selector: &Selector, layout: &Layout, name_key: Option<&str>) -> Self {
        let paths = selector.paths().chain(layout.inputs()).chain(layout.fields());
        paths.for_each(|path| self.add(path));
        for path in ["name", "cluster.name"].into_iter().chain(name_key) {
            self.add(path);
            self.identities.extend(path.rsplit_once('.').map(|(parent, _)| parent.to_owned()));
        }
        self
    }

    /// Adds the values that the paths of `layers` have, and those that their schemas and variables declare. Of the value of a variable, only what its type keeps
    /// can be read.
    pub fn and_declared(mut self, layers: &Layers) -> Self {
        let kept = layers.kept();
        for path in kept.iter().filter(|path| path.len() > 1) {
            self.typed.extend(path.first().cloned());
        }
        self.typed.iter().for_each(|name| self.tree.forget(name));
        layers.inputs.iter().for_each(|path| self.add(path));
        let declared = layers.declared();
        for known in [&mut self.tree, &mut self.declared] {
            kept.iter().for_each(|path| known.add(path.iter().map(String::as_str)));
            declared.iter().for_each(|path| known.add(path.iter().copied()));
        }
        self
    }

    /// Says that nothing reads a name: a template could only read it if the type of its variable kept it.
    fn problem(&self, path: &[Step], lost: usize) -> String {
        let typed = path.first().and_then(Step::key).filter(|name| lost > 0 && self.typed.contains(*name));
        match (typed, path.get(..lost), path.get(lost).and_then(Step::key)) {
            (Some(_), Some(parent), Some(key)) => {
                format!("the type of `{}` has no attribute `{key}`: the value is dropped", display(parent))
            }
            _ => format!("no template reads `{}`", display(path)),
        }
    }

    /// Returns a warning for each name in shared values that nothing reads.
    pub fn unread(&self, layers: &Layers) -> Vec<Box<Diagnostic>> {
        self.unread_unless(layers, &|_| false)
    }

    /// Returns the warnings of a run: for each name in shared values that nothing reads, and for each in the values of clusters
    /// that looks like a mistake. Left out are those that only resemble a name without which rendering fails: its error says
    /// that no value has the name.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub fn unread_in_run(&self, layers: &Layers, clusters: &Selection<'_>) -> Result<Vec<Failure>> {
        let needed = OnceCell::new();
        let is_needed = |path: &str| {
            let find = || MissingNames::of(&self.templates).needed(layers, &clusters.first()).unwrap_or_default();
            needed.get_or_init(find).contains(path)
        };
        let shared = self.unread_unless(layers, &is_needed).into_iter().map(Failure::new);
        Ok(shared.chain(suspects::failures(self, (layers, clusters), &is_needed)?).collect())
    }

    fn unread_unless(&self, layers: &Layers, is_needed: IsNeeded<'_>) -> Vec<Box<Diagnostic>> {
        let (mut warnings, mut more, mut seen) = (Vec::new(), 0, HashSet::new());
        for values in layers.all() {
            let mut names = self.unread_names(values);
            names.order.retain(|name| seen.insert(name.clone()));
            let room = REPORTED.saturating_sub(warnings.len());
            more += names.order.len().saturating_sub(room);
            names.order.truncate(room);
            if !names.order.is_empty() {
                values.origins(None, &mut |origins| self.warn(&names, (values, origins), is_needed, &mut warnings));
            }
        }
        layers.mask(None).hide_in_all(&mut warnings);
        if more > 0 { at_most(warnings, REPORTED, more) } else { warnings }
    }

    /// Adds a warning for each of these names in the values that clusters share.
    fn warn(
        &self,
        names: &Names,
        (values, origins): (&SharedValues, &Origins<'_>),
        is_needed: IsNeeded<'_>,
        to: &mut Vec<Box<Diagnostic>>,
    ) {
        for unread in names.order.iter().filter_map(|name| names.found.get(name)) {
            // The misspelled name of a value that is given elsewhere does not override it.
            let warning = warning(self.problem(unread.path(), unread.depth), unread, origins);
            to.extend(match unread.near(&self.tree, &[values.shared()]) {
                Some(near) => self.suggest(warning, unread.path(), (&near, false), is_needed),
                None => Some(match unread.near(&self.tree, &[]) {
                    Some(given) => meant(warning, &given),
                    None => warning,
                }),
            });
        }
    }

    /// Returns the names in shared values that nothing reads.
    fn unread_names(&self, values: &SharedValues) -> Names {
        let mut names = Names::default();
        leaves(values.shared(), &mut |path, _| self.note(path, &mut names));
        names
    }

    /// Returns a warning for each name in the values of clusters that nothing reads and that looks like a mistake.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub fn unread_by_clusters(&self, layers: &Layers, clusters: &Selection<'_>) -> Result<Vec<Failure>> {
        suspects::failures(self, (layers, clusters), &|_| false)
    }

    /// Adds the similar path `near` to a warning about `path`, and where it is read. It is what was meant if something
    /// declares it, a template handles that it is missing, or other clusters give it (`is_given`). Otherwise the name in the
    /// template may be the wrong one. `None` if rendering fails without that.
    fn suggest(
        &self,
        warning: Box<Diagnostic>,
        path: &[Step],
        (near, is_given): (&str, bool),
        is_needed: IsNeeded<'_>,
    ) -> Option<Box<Diagnostic>> {
        let is_below = |path: &str| {
            let rest = path.strip_prefix(near);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        // Values of charts are below a name of their own.
        let is_it =
            |read: &&PlacedRead| is_below(&read.path) || read.path.strip_prefix("Values.").is_some_and(is_below);
        let all = || self.templates.iter().chain(&self.parts);
        let mut reads = all().flat_map(Template::places_of_reads).filter(is_it).peekable();
        let warning = match reads.peek() {
            Some(PlacedRead { path, place, .. }) => warning.with_note(format!("a template reads `{path}` ({place})")),
            None => warning,
        };
        if is_given || self.declared.reads(steps(near)) || reads.any(|read| read.is_optional) {
            return Some(meant(warning, near));
        }
        let help = || format!("one of `{}` and `{near}` is likely misspelled", display(path));
        (!is_needed(near)).then(|| warning.with_help(help()))
    }

    /// Returns `true` if templates read some names of the map at a path, and so might be expected to read all.
    fn has_names(&self, path: &[Step], at: &ReadPosition) -> bool {
        !path.is_empty() && !self.identities.contains(&display(path)) && self.tree.names(at).next().is_some()
    }

    fn note(&self, path: &[Step], names: &mut Names) {
        let is_private = path.first().and_then(Step::key).is_some_and(|key| key.starts_with("x-"));
        if let Some((depth, at)) = self.lost(path)
            && !is_private
        {
            names.add(path, depth, at);
        }
    }

    /// Returns the number of the first step of `path` that nothing reads, and the position before it.
    fn lost(&self, path: &[Step]) -> Option<(usize, ReadPosition)> {
        let mut at = self.tree.start();
        for (depth, step) in path.iter().enumerate() {
            if self.tree.is_whole(&at) {
                return None;
            }
            match self.tree.step(&at, step.key()) {
                Some(next) => at = next,
                None => return Some((depth, at)),
            }
        }
        None
    }
}

/// Returns `true` for a path without which rendering fails.
type IsNeeded<'n> = &'n dyn Fn(&str) -> bool;

/// Names that nothing reads, in the order of their first values.
#[derive(Debug, Default)]
struct Names {
    order: Vec<String>,
    found: HashMap<String, Unread>,
}

/// A name that nothing reads, and the values below it.
#[derive(Debug)]
struct Unread {
    /// The first of these values.
    paths: Vec<Vec<Step>>,
    /// The number of these values.
    count: usize,
    /// The step of the name in their paths.
    depth: usize,
    /// The position of the map or list that has the name.
    at: ReadPosition,
}

impl Names {
    fn add(&mut self, path: &[Step], depth: usize, at: ReadPosition) {
        let name = display(path.get(..=depth).unwrap_or(path));
        let order = &mut self.order;
        let unread = self.found.entry(name).or_insert_with_key(|name| {
            order.push(name.clone());
            Unread { paths: Vec::new(), count: 0, depth, at }
        });
        let folded = |known: &Vec<Step>| display(known) == display(path);
        if unread.paths.iter().any(folded) {
            return;
        }
        unread.count += 1;
        if unread.paths.len() < TRIED {
            unread.paths.push(path.to_vec());
        }
    }
}

impl Unread {
    /// Returns the path to name: that of the value if there is only one.
    fn path(&self) -> &[Step] {
        let path = self.paths.first().map_or(&[][..], Vec::as_slice);
        let end = if self.count == 1 { path.len() } else { self.depth + 1 };
        let items = path.iter().take(end).rev().take_while(|step| step.key().is_none()).count();
        path.get(..end - items).unwrap_or(path)
    }

    /// Returns the key that nothing reads.
    fn key(&self) -> Option<&str> {
        self.paths.first()?.get(self.depth)?.key()
    }

    /// Returns the path that was likely meant: it is read, and none of `given` has it.
    fn near(&self, tree: &ReadPaths, given: &[&DataMap]) -> Option<String> {
        let name = self.key()?;
        let fits = |near: &&str| {
            self.paths.iter().any(|path| {
                let path = with_step(path, self.depth, near);
                tree.reads(path.iter().map(Step::key)) && !given.iter().any(|map| has(map, &path))
            })
        };
        let near = nearest(name, tree.names(&self.at).take(COMPARED).filter(fits))?;
        Some(display(&with_step(self.path(), self.depth, near)))
    }
}

/// Returns `path` with another key at `depth`.
fn with_step(path: &[Step], depth: usize, key: &str) -> Vec<Step> {
    let mut path = path.to_vec();
    if let Some(step) = path.get_mut(depth) {
        *step = Step::Key(key.to_owned());
    }
    path
}

/// Returns `true` if there is a value at `path`.
fn has(map: &DataMap, path: &[Step]) -> bool {
    let Some((Step::Key(top), rest)) = path.split_first() else { return false };
    map.get(top).is_some_and(|value| value_at(value, rest).is_some())
}

/// Formats a path. All items of a list have one name: `ports[].name`.
fn display(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.extend([".", key]),
            Step::Index(_) => text.push_str("[]"),
        }
    }
    text
}

/// Returns the steps of a displayed path.
fn steps(path: &str) -> impl Iterator<Item = Option<&str>> {
    path.split('.').flat_map(|step| {
        let key = step.trim_end_matches("[]");
        std::iter::once(Some(key)).chain(std::iter::repeat_n(None, (step.len() - key.len()) / 2))
    })
}

fn meant(warning: Box<Diagnostic>, near: &str) -> Box<Diagnostic> {
    warning.with_help(format!("did you mean `{near}`?"))
}

fn warning(mut problem: String, unread: &Unread, origins: &Origins<'_>) -> Box<Diagnostic> {
    if unread.count > 1 {
        problem += &format!(" ({})", counted(unread.count, "value"));
    }
    let given: Vec<_> = unread.paths.first().into_iter().flat_map(|path| origins.of(path)).collect();
    let of = |message| Diagnostic::warning(Code::UnreadValue, message);
    let mut warning = match given.first().filter(|origin| origin.place().is_none()) {
        Some(option) => of(format!("`{option}`: {problem}")).with_field(PROBLEM, problem),
        None => of(problem),
    };
    for (source, span) in given.iter().filter_map(|origin| origin.place()).take(TRIED) {
        warning = warning.at(source, span, "");
    }
    warning
}

#[cfg(test)]
mod tests;
