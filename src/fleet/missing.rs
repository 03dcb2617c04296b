//! Names that templates look up and that values lack, found without rendering.

use std::cell::{Cell, OnceCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::OnceLock;

use roaring::RoaringBitmap;

use super::fleet::Fleet;
use super::layers::Layers;
use super::report::Failure;
use super::selector::Selection;
use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP, Result, Severity, counted, is_close, is_slip, nearest};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Span;
use dropforge_engine::Template;
use dropforge_machine::bytecode::Program;
use dropforge_machine::bytecode::analysis::{Effect, Lack, Miss, missing};
use dropforge_value::{DataMap, ReadPaths};

/// Maximum number of steps of the analysis, for each template and set of values.
const STEPS: u64 = 2_000_000;
/// Maximum number of steps of the analysis of all templates with all values. The clusters that are left are not looked at.
const ALL_STEPS: u64 = 2_000_000_000;
/// Maximum number of available names to compare with a missing one, and with all of them.
const COMPARED: usize = 1_000;
const ALL_COMPARED: usize = 200_000;
/// Maximum number of missing names to report.
const REPORTED: usize = 100;
/// Maximum number of maps to search for the one that lacks a name.
const SEARCHED: usize = 100_000;
/// Minimum length of a misspelled name that may be optional. Shorter ones resemble each other.
const SHORT: usize = 4;
/// Minimum length of a misspelled name if the right name is used elsewhere.
const LONG: usize = 5;

/// Returns `true` if two names have the same letters in another order: `tga` and `tag`. That is no coincidence, however short
/// they are.
pub(super) fn is_swapped(name: &str, near: &str) -> bool {
    let sorted = |name: &str| {
        let mut letters = name.as_bytes().to_vec();
        letters.sort_unstable();
        letters
    };
    name != near && sorted(name) == sorted(near)
}

/// Finds the names that templates look up and that values lack.
///
/// ```
/// use dropforge::bulk::{Layers, Merge, MissingNames};
/// use dropforge::{Dialect, Engine};
/// use dropforge::value::Data;
/// let template = Engine::new().compile(Dialect::Tera, "t.tera", "{% if tls.enabld %}{{ image.tga }}{% endif %}{{ x }}")?;
/// let values = serde_json::from_str::<Data>(r#"{"tls": {"enabled": true}, "image": {"tag": 1}}"#)?.into_map().unwrap();
/// let mut found = MissingNames::of([&template]);
/// found.look_at(0, &values);
/// let found: Vec<_> = found.into_failures(None).iter().map(|failure| failure.diagnostic.to_string()).collect();
/// assert_eq!(
///     found,
///     [
///         "E0204: nothing gives `tls.enabld`, so the condition is false (t.tera:1:11)",
///         "E0201: nothing gives `x` (t.tera:1:49)",
///     ]
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MissingNames<'t> {
    templates: Vec<&'t Template>,
    /// Compiles the program of a chart with the branches that its values do not take.
    whole: Option<&'t dyn Fn() -> Template>,
    /// All that the templates read, found when it is asked for.
    read: OnceLock<ReadPaths>,
    /// The diagnostics, with the clusters that they concern.
    found: BTreeMap<Cause, (Box<Diagnostic>, RoaringBitmap)>,
    left: u64,
    /// The number of names that may still be compared with missing ones. Later ones have no suggestion.
    compared: Cell<usize>,
}

/// The identity of a missing name: the place and the message.
type Cause = (String, Span, String);

impl<'t> MissingNames<'t> {
    /// Prepares for these templates.
    pub fn of(templates: impl IntoIterator<Item = &'t Template>) -> Self {
        let (templates, read) = (templates.into_iter().collect(), OnceLock::new());
        Self {
            templates,
            read,
            found: BTreeMap::new(),
            left: ALL_STEPS,
            compared: Cell::new(ALL_COMPARED),
            whole: None,
        }
    }

    /// Prepares for the program of a chart, which `whole` compiles with all of its branches. Also looks at templates that change maps, which may add the names that are found.
    /// Adds two fields to what is found: `looked_up`, the missing name, and `looked_in`, a JSON array with the keys that
    /// lead to the map that lacks it.
    pub(super) fn of_chart(program: &'t Template, whole: &'t dyn Fn() -> Template) -> Self {
        Self { whole: Some(whole), ..Self::of([program]) }
    }

    fn read(&self) -> &ReadPaths {
        self.read.get_or_init(|| {
            if let Some(whole) = self.whole {
                return whole().read_paths().clone();
            }
            let mut read = ReadPaths::default();
            self.templates.iter().for_each(|template| template.program().add_reads(&mut read));
            read
        })
    }

    /// Looks at the values of each cluster, or without clusters at the shared ones.
    ///
    /// # Errors
    /// Errors of [`Layers::merged`].
    pub fn look_at_all(&mut self, layers: &Layers, clusters: &Selection<'_>) -> Result<()> {
        if clusters.is_empty() {
            self.look_at(0, layers.alone()?);
        }
        clusters.each(&mut |at, cluster| {
            if self.left > 0 {
                let merged = layers.merged(cluster).map_err(|error| error.for_cluster(cluster.name()))?;
                self.look_at(at, &merged);
            }
            Ok(())
        })
    }

    /// Looks at the values of the cluster `at`. Clusters come in order.
    pub fn look_at(&mut self, at: usize, values: &DataMap) {
        for nth in 0..self.templates.len() {
            let Some(template) = self.templates.get(nth).copied() else { continue };
            let mut left = STEPS.min(self.left);
            let before = left;
            let misses = missing(template.program(), values, self.whole.is_some(), &mut left);
            self.left -= before - left;
            let ways = OnceCell::new();
            let ways = || ways.get_or_init(|| Ways::of(values));
            misses.iter().for_each(|miss| self.add(at, (template, &ways), miss));
        }
    }

    fn add<'d>(
        &mut self,
        cluster: usize,
        (template, ways): (&'t Template, &dyn Fn() -> &'d Ways<'d>),
        miss: &Miss<'_>,
    ) {
        let program = template.program();
        let place = match miss.lack.step {
            Some(step) => program.detail(miss.at, step),
            None => program.root(miss.at),
        };
        let Some((place, source)) = place.and_then(|place| Some((place.span, program.source(place)?))) else { return };
        let path = path_to(miss.path, &miss.lack);
        let cause = (source.name().to_owned(), place, path);
        if let Some(known) = self.found.get_mut(&cause) {
            // The templates of a cluster may share the place.
            known.1.extend(u32::try_from(cluster));
            return;
        }
        let Some(mut diagnostic) = self.diagnostic((program, ways), miss, &cause.2) else { return };
        if let Some(way) = miss.lack.parent.filter(|_| self.whole.is_some()).and_then(|parent| ways().to(parent)) {
            let way = serde_json::Value::from(way).to_string();
            diagnostic = diagnostic.with_field(LOOKED_UP, miss.lack.name).with_field("looked_in", way);
        }
        diagnostic = diagnostic.at(source, place, "");
        if source.name() != template.name() {
            diagnostic.template = Some(template.name().to_owned());
        }
        self.found.insert(cause, (diagnostic, u32::try_from(cluster).into_iter().collect()));
    }

    /// Returns the error or warning about a missing name. Without a similar name, there may be a reason that nothing
    /// gives what only may be needed.
    fn diagnostic<'d>(
        &self,
        (program, ways): (&Program, &dyn Fn() -> &'d Ways<'d>),
        miss: &Miss<'_>,
        path: &str,
    ) -> Option<Box<Diagnostic>> {
        let Lack { name, parent, .. } = miss.lack;
        let most = parent.map_or(0, DataMap::len).min(COMPARED).min(self.compared.get());
        self.compared.set(self.compared.get() - most);
        let keys = || parent.into_iter().flat_map(|map| map.keys()).map(String::as_str).take(most);
        let near = match miss.effect {
            Effect::Condition | Effect::Given => nearest(name, keys().filter(|near| self.is_mistake(miss, near, ways))),
            Effect::MayFail => nearest(name, keys().filter(|near| is_close(name, near))),
            Effect::Elsewhere | Effect::Fails => nearest(name, keys()),
        };
        let diagnostic = match miss.effect {
            Effect::Elsewhere => {
                let message = format!("an item has no `{name}`, so the input `{path}` is read");
                let help = "rename the loop variable, or give each item the field: a variable without it does not hide the input";
                return Some(Diagnostic::warning(Code::ReadElsewhere, message).with_help(help));
            }
            Effect::Fails => Diagnostic::new(Code::UndefinedVariable, format!("nothing gives `{path}`")),
            Effect::MayFail if near.is_none() && is_written_as_nothing(program, miss) => {
                let message = format!("nothing gives `{path}`, so nothing is written");
                Diagnostic::warning(Code::UndefinedVariable, message)
            }
            _ if near.is_none() => return None,
            Effect::MayFail | Effect::Given => {
                Diagnostic::warning(Code::UndefinedVariable, format!("nothing gives `{path}`"))
            }
            Effect::Condition => {
                let message = format!("nothing gives `{path}`, so the condition is false");
                Diagnostic::warning(Code::UngivenCondition, message)
            }
        };
        let diagnostic = if parent.is_some() { diagnostic.with_available(keys()) } else { diagnostic };
        Some(match near {
            Some(near) => {
                let help = format!("did you mean `{}`?", sibling(path, name, near));
                diagnostic.with_help(help).with_replacement(name, near)
            }
            None => diagnostic,
        })
    }

    /// Returns `true` if a name, which may be optional, is a misspelled `near`. Names often resemble each other: `host` and
    /// `hosts`, `httpPort` and `httpsPort`. If templates use that other name, only a slip of the hand counts.
    fn is_mistake<'d>(&self, miss: &Miss<'_>, near: &str, ways: &dyn Fn() -> &'d Ways<'d>) -> bool {
        let Lack { name, parent, step } = &miss.lack;
        if step.is_none() || (name.len() < SHORT && !is_swapped(name, near)) || !is_close(name, near) {
            return false;
        }
        let way = parent.and_then(|parent| ways().to(parent)).unwrap_or_default();
        (name.len() >= LONG && is_slip(name, near)) || !self.uses(&way, near)
    }

    /// Returns `true` if templates use the value `name` in the map that these keys lead to. Each template of a chart has the
    /// values below a name of its own.
    fn uses(&self, way: &[&str], name: &str) -> bool {
        let read = self.read();
        let is_read = |top: Option<&str>, rest: &[&str]| {
            read.reads(top.into_iter().chain(rest.iter().copied()).chain([name]).map(Some))
        };
        // Other inputs tell which templates are left out.
        let is_data = |top: &str| {
            read.node(ReadPaths::ROOT, top).is_some_and(|node| read.is_marked(node) || read.has_children(node))
        };
        match way.split_first() {
            Some((_, rest)) if self.whole.is_some() => {
                read.names(&read.start()).any(|top| is_data(top) && is_read(Some(top), rest))
            }
            _ => is_read(None, way),
        }
    }

    /// Returns all that was found, in the order of templates and places.
    pub(super) fn into_diagnostics(self) -> impl Iterator<Item = Box<Diagnostic>> {
        self.found.into_values().map(|(diagnostic, _)| diagnostic)
    }

    /// Returns the paths that some of these clusters lack, and without which rendering fails.
    ///
    /// # Errors
    /// Errors of [`Layers::merged`].
    pub(super) fn needed(mut self, layers: &Layers, clusters: &Selection<'_>) -> Result<HashSet<String>> {
        self.look_at_all(layers, clusters)?;
        let fails = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
        let found = self.found.into_iter().filter(|(_, (diagnostic, _))| fails(diagnostic));
        Ok(found.map(|((.., path), _)| path).collect())
    }

    /// Returns what was found, in the order of templates and places. Without a fleet, only shared values were looked at.
    pub fn into_failures(self, fleet: Option<&Fleet>) -> Vec<Failure> {
        let mut reader = fleet.filter(|fleet| !fleet.is_empty()).map(Fleet::reader);
        let failure = |(mut diagnostic, clusters): (Box<Diagnostic>, RoaringBitmap)| {
            let Some(reader) = &mut reader else { return Failure::new(diagnostic) };
            diagnostic.cluster = clusters.min().map(|at| reader.name(at as usize));
            Failure::of_clusters(diagnostic, &clusters, &mut |at| reader.name(at))
        };
        let mut found: Vec<_> = self.found.into_values().collect();
        let more = found.len().saturating_sub(REPORTED);
        if more > 0 {
            found.small_sort_by_key(|(diagnostic, _)| Reverse(diagnostic.severity));
            found.truncate(REPORTED);
            let note = format!("and {}: the limit is {REPORTED}", counted(more, "more missing name"));
            found.last_mut().into_iter().for_each(|(last, _)| last.notes.push(note.clone()));
        }
        found.into_iter().map(failure).collect()
    }
}

/// Finds inputs that templates read in place of a field that a loop variable lacks. The output is wrong then, and nothing
/// else tells.
///
/// # Errors
/// Errors of [`MissingNames::look_at_all`].
pub fn read_elsewhere<'t>(
    templates: impl IntoIterator<Item = &'t Template>,
    layers: &Layers,
    clusters: &Selection<'_>,
) -> Result<Vec<Box<Diagnostic>>> {
    let mut missing = MissingNames::of(templates);
    missing.look_at_all(layers, clusters)?;
    Ok(missing.into_diagnostics().filter(|found| found.code == Code::ReadElsewhere).collect())
}

/// Returns `true` if the missing value is written, in a language in which that is no error.
fn is_written_as_nothing(program: &Program, miss: &Miss<'_>) -> bool {
    let instruction = program.code().instruction(miss.at);
    let mark_left = miss.path.split('.').count().saturating_sub(miss.lack.step.map_or(1, |step| step as usize + 2));
    instruction.is_some_and(|instruction| instruction.op.info().writes_path())
        && miss.lack.parent.is_some()
        && !program.dialect().fails_without(miss.path, mark_left, true)
}

/// The maps among values, by their addresses: the map around each, and its key there. The outermost has neither.
struct Ways<'d>(HashMap<*const DataMap, Option<(*const DataMap, &'d str)>>);

impl<'d> Ways<'d> {
    fn of(values: &'d DataMap) -> Self {
        let (mut open, mut ways) = (vec![(values, None)], HashMap::new());
        while let Some((at, around)) = open.pop()
            && ways.len() < SEARCHED
        {
            ways.insert(std::ptr::from_ref(at), around);
            let inner = at.iter().filter_map(|(key, value)| Some((key, value.as_map()?)));
            open.extend(inner.map(|(key, inner)| (inner, Some((std::ptr::from_ref(at), key.as_str())))));
        }
        Self(ways)
    }

    /// Returns the keys that lead to a map.
    fn to(&self, map: &DataMap) -> Option<Vec<&'d str>> {
        let (mut keys, mut at) = (Vec::new(), *self.0.get(&std::ptr::from_ref(map))?);
        while let Some((around, key)) = at {
            keys.push(key);
            at = *self.0.get(&around)?;
        }
        keys.reverse();
        Some(keys)
    }
}

/// Returns the part of a path that ends with the missing name.
fn path_to(path: &str, lack: &Lack<'_>) -> String {
    let wanted = lack.step.map_or(1, |step| step as usize + 2);
    let names: Vec<&str> = path.split('.').collect();
    match names.get(..wanted) {
        Some(part) if part.last() == Some(&lack.name) => part.join("."),
        _ if lack.step.is_none() && !lack.name.is_empty() => lack.name.to_owned(),
        _ if path.ends_with(lack.name) => path.to_owned(),
        // The key is computed.
        _ => format!("{path}` with the key `{}", lack.name),
    }
}

/// Returns `path`, which ends with `name`, with `near` in its place.
fn sibling(path: &str, name: &str, near: &str) -> String {
    let is_name = |end: &&str| end.is_empty() || end.ends_with('.');
    match path.strip_suffix(name).filter(is_name) {
        Some(parent) => format!("{parent}{near}"),
        None => near.to_owned(),
    }
}
