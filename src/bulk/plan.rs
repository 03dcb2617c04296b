//! The plan of a run: which clusters, which outputs, which paths; every fault found before a byte is written.

use std::collections::HashMap;

use super::documents::Piece;
use super::fleet::Fleet;
use super::layers::Layers;
use super::layout::{Layout, check_path, check_value};
use super::select::Selector;
use super::templates::output_name;
use super::unique::Hashes;
use crate::diagnostics::{Code, Diagnostic, Result};

/// Faults that are reported at once.
const REPORTED: usize = 20;

/// One template that makes an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The template's name, relative to the include root.
    pub template: String,
    /// What `{template}` stands for.
    pub name: String,
}

impl Output {
    /// The output of `template`, called as [`output_name`] says.
    pub fn new(template: String, extensions: &[&str]) -> Self {
        Self { name: output_name(&template, extensions), template }
    }
}

/// What is stamped and where it goes.
#[derive(Debug, Clone)]
pub struct Plan {
    outputs: Vec<Output>,
    layout: Layout,
    /// The chosen clusters.
    chosen: Chosen,
    /// Those that the selector left out and whose paths are known.
    left: Chosen,
}

/// Clusters: their places in the fleet, and what the layout takes from the inputs of each, one behind the other.
#[derive(Debug, Clone, Default)]
struct Chosen {
    clusters: Vec<usize>,
    values: Vec<String>,
}

impl Chosen {
    fn push(&mut self, cluster: usize, values: Vec<String>) {
        self.clusters.push(cluster);
        self.values.extend(values);
    }

    fn get(&self, at: usize) -> Option<(usize, &[String])> {
        let cluster = *self.clusters.get(at)?;
        let each = self.values.len() / self.clusters.len();
        Some((cluster, self.values.get(at * each..(at + 1) * each)?))
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[String])> {
        (0..self.clusters.len()).filter_map(|at| self.get(at))
    }
}

impl Plan {
    /// Chooses the clusters, names every output and checks all names and paths against one another.
    ///
    /// # Errors
    /// One diagnostic for each fault (the first twenty): `plan.bad_output_name`, `plan.bad_layout`,
    /// `plan.duplicate_output`, `plan.case_collision`, `plan.prefix_collision`; errors of reading a cluster.
    pub fn new(
        fleet: &Fleet,
        layers: &Layers,
        selector: &Selector,
        outputs: Vec<Output>,
        layout: Layout,
    ) -> std::result::Result<Self, Vec<Box<Diagnostic>>> {
        let mut plan = Self { outputs, layout, chosen: Chosen::default(), left: Chosen::default() };
        let mut faults = Vec::new();
        for at in 0..fleet.clusters().len() {
            if let Err(fault) = plan.choose(fleet, layers, selector, at) {
                faults.push(fault);
            }
            if faults.len() >= REPORTED {
                return Err(faults);
            }
        }
        if faults.is_empty() && !plan.is_sound(fleet) {
            faults = plan.collisions(fleet);
        }
        if faults.is_empty() { Ok(plan) } else { Err(faults) }
    }

    fn choose(&mut self, fleet: &Fleet, layers: &Layers, selector: &Selector, at: usize) -> Result<()> {
        let Some(cluster) = fleet.clusters().get(at) else { return Ok(()) };
        let needs_inputs = !selector.is_empty() || self.layout.inputs().next().is_some();
        let own = match needs_inputs {
            true => Some(layers.own(cluster).map_err(|error| error.for_cluster(cluster.name()))?),
            false => None,
        };
        let own = own.as_deref();
        let is_chosen = own.is_none_or(|own| selector.matches(layers.shared(), own));
        let values = own.map_or(Ok(Vec::new()), |own| self.layout.values(cluster.name(), layers.shared(), own));
        let checked = check_value(cluster.name(), "cluster name").and(values);
        match (is_chosen, checked) {
            (true, values) => self.chosen.push(at, values?),
            (false, Ok(values)) => self.left.push(at, values),
            (false, Err(_)) => {}
        }
        Ok(())
    }

    /// How many clusters are stamped.
    pub fn clusters(&self) -> usize {
        self.chosen.clusters.len()
    }

    /// The templates that make outputs.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The place in the fleet of the `at`-th cluster that is stamped.
    pub fn cluster(&self, at: usize) -> Option<usize> {
        self.chosen.clusters.get(at).copied()
    }

    /// Writes the path of an output of the `at`-th cluster to `path`.
    pub fn path(&self, fleet: &Fleet, at: usize, output: usize, path: &mut String) {
        if let Some(chosen) = self.chosen.get(at) {
            self.fill(fleet, chosen, output, path);
        }
    }

    /// Writes the path of a piece of the `at`-th cluster's outputs to `path`.
    pub fn path_of(&self, fleet: &Fleet, at: usize, piece: &Piece, path: &mut String) {
        let chosen = self.chosen.get(at);
        let cluster = chosen.and_then(|(cluster, values)| Some((fleet.clusters().get(cluster)?, values)));
        if let (Some((cluster, values)), Some(output)) = (cluster, self.outputs.get(piece.output)) {
            self.layout.fill(cluster.name(), &output.name, values, &piece.fields, path);
        }
    }

    /// Whether each document goes to a file of its own: which files there are is known only when all is rendered.
    pub fn is_of_documents(&self) -> bool {
        self.layout.is_of_documents()
    }

    /// Whether the selector left out clusters.
    pub(super) fn leaves_out(&self, fleet: &Fleet) -> bool {
        self.clusters() < fleet.clusters().len()
    }

    /// How many paths of a cluster are known before it is rendered; where each document goes to a file of its own, one
    /// stands for all of them.
    fn known_paths(&self) -> usize {
        if self.is_of_documents() { self.outputs.len().min(1) } else { self.outputs.len() }
    }

    fn fill(&self, fleet: &Fleet, (cluster, values): (usize, &[String]), output: usize, path: &mut String) {
        if let (Some(cluster), Some(output)) = (fleet.clusters().get(cluster), self.outputs.get(output)) {
            self.layout.fill(cluster.name(), &output.name, values, &[], path);
        }
    }

    /// Every path of the fleet, those of clusters that were not chosen included.
    pub fn each_path(&self, fleet: &Fleet, mut each: impl FnMut(&str)) {
        self.each_of(fleet, self.chosen.iter().chain(self.left.iter()), |path| each(path));
    }

    /// Whether no path is at fault, as far as hashes tell: they cost little, whatever the number of paths.
    fn is_sound(&self, fleet: &Fleet) -> bool {
        let mut sound = true;
        let all = |add: &mut dyn FnMut(&str)| {
            self.each_of(fleet, self.chosen.iter(), |path| {
                sound &= check_path(path).is_ok();
                path.make_ascii_lowercase();
                add(path);
            });
        };
        let Some(hashes) = Hashes::of_different(self.clusters() * self.known_paths(), all) else { return false };
        self.each_of(fleet, self.chosen.iter(), |path| {
            path.make_ascii_lowercase();
            sound &= !path.match_indices('/').any(|(end, _)| path.get(..end).is_some_and(|up| hashes.may_hold(up)));
        });
        sound
    }

    /// Every path of these clusters, in a buffer that `each` may change.
    fn each_of<'p>(
        &self,
        fleet: &Fleet,
        clusters: impl Iterator<Item = (usize, &'p [String])>,
        mut each: impl FnMut(&mut String),
    ) {
        let mut path = String::new();
        for cluster in clusters {
            for output in 0..self.known_paths() {
                self.fill(fleet, cluster, output, &mut path);
                each(&mut path);
            }
        }
    }

    /// Faults of single paths, and of paths with one another.
    fn collisions(&self, fleet: &Fleet) -> Vec<Box<Diagnostic>> {
        let mut faults = Vec::new();
        let mut seen: HashMap<String, (usize, usize)> = HashMap::new();
        let mut path = String::new();
        for at in 0..self.clusters() {
            for output in 0..self.known_paths() {
                self.path(fleet, at, output, &mut path);
                let fault = match check_path(&path) {
                    Err(fault) => Some(self.for_output(fault, fleet, (at, output))),
                    Ok(()) => {
                        let earlier = seen.insert(path.to_ascii_lowercase(), (at, output));
                        earlier.map(|earlier| self.same_path(fleet, earlier, (at, output)))
                    }
                };
                faults.extend(fault);
                if faults.len() >= REPORTED {
                    return faults;
                }
            }
        }
        for at in 0..self.clusters() {
            for output in 0..self.known_paths() {
                self.path(fleet, at, output, &mut path);
                path.make_ascii_lowercase();
                let prefix = path.match_indices('/').find_map(|(end, _)| seen.get(path.get(..end)?));
                faults.extend(prefix.map(|file| self.prefix(fleet, *file, (at, output))));
                if faults.len() >= REPORTED {
                    return faults;
                }
            }
        }
        faults
    }

    fn for_output(&self, fault: Box<Diagnostic>, fleet: &Fleet, at: (usize, usize)) -> Box<Diagnostic> {
        let (cluster, template) = self.names(fleet, at);
        let mut fault = fault.for_cluster(cluster);
        fault.template = Some(template);
        fault
    }

    fn names(&self, fleet: &Fleet, (at, output): (usize, usize)) -> (String, String) {
        let cluster = self.cluster(at).and_then(|at| fleet.clusters().get(at)).map_or("", |cluster| cluster.name());
        (cluster.to_owned(), self.outputs.get(output).map_or(String::new(), |output| output.template.clone()))
    }

    fn who(&self, fleet: &Fleet, at: (usize, usize)) -> String {
        let (cluster, template) = self.names(fleet, at);
        let mut path = String::new();
        self.path(fleet, at.0, at.1, &mut path);
        format!("`{path}`: cluster `{cluster}`, template `{template}`")
    }

    fn same_path(&self, fleet: &Fleet, first: (usize, usize), second: (usize, usize)) -> Box<Diagnostic> {
        let (mut one, mut two) = (String::new(), String::new());
        self.path(fleet, first.0, first.1, &mut one);
        self.path(fleet, second.0, second.1, &mut two);
        let (code, message) = match one == two {
            true => (Code::DuplicateOutput, format!("two outputs have the path `{one}`")),
            false => (Code::CaseCollision, format!("the paths `{one}` and `{two}` differ only in letter case")),
        };
        Diagnostic::new(code, message)
            .with_note(format!("first {}", self.who(fleet, first)))
            .with_note(format!("then {}", self.who(fleet, second)))
            .with_help("choose a `--layout` that has both `{cluster}` and `{template}`")
    }

    fn prefix(&self, fleet: &Fleet, file: (usize, usize), below: (usize, usize)) -> Box<Diagnostic> {
        let mut path = String::new();
        self.path(fleet, file.0, file.1, &mut path);
        Diagnostic::new(Code::PrefixCollision, format!("`{path}` would be a file and a directory"))
            .with_note(format!("the file {}", self.who(fleet, file)))
            .with_note(format!("below it {}", self.who(fleet, below)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bulk::fleet::Cluster;
    use crate::value::{Data, DataMap};

    fn plan(
        names: &[&str],
        templates: &[&str],
        layout: &str,
        selector: &str,
    ) -> std::result::Result<Vec<String>, Vec<Code>> {
        let clusters = names
            .iter()
            .map(|name| Cluster::new(*name, DataMap::from_iter([("n".into(), Data::Str(name.to_string()))])));
        let fleet = Fleet::new(clusters.collect()).unwrap();
        let outputs =
            templates.iter().map(|name| Output { template: format!("{name}.t"), name: name.to_string() }).collect();
        let selector = if selector.is_empty() { Selector::default() } else { Selector::parse(selector).unwrap() };
        let plan = Plan::new(&fleet, &Layers::default(), &selector, outputs, Layout::parse(layout).unwrap())
            .map_err(|faults| faults.iter().map(|fault| fault.code).collect::<Vec<_>>())?;
        let mut paths = Vec::new();
        for at in 0..plan.clusters() {
            for output in 0..plan.outputs().len() {
                let mut path = String::new();
                plan.path(&fleet, at, output, &mut path);
                paths.push(path);
            }
        }
        Ok(paths)
    }

    #[test]
    fn paths_in_order_of_fleet_and_templates() {
        let paths = plan(&["b", "a"], &["x.yaml", "s/y.yaml"], "{cluster}/{template}", "");
        assert_eq!(paths.unwrap(), ["b/x.yaml", "b/s/y.yaml", "a/x.yaml", "a/s/y.yaml"]);
        assert_eq!(plan(&["b", "a"], &["x"], "{n}-{template}", "n=a").unwrap(), ["a-x"]);
    }

    #[test]
    fn collisions_are_found() {
        assert_eq!(plan(&["a", "b"], &["x"], "{template}", ""), Err(vec![Code::DuplicateOutput]));
        assert_eq!(plan(&["A", "a"], &["x"], "{cluster}/{template}", ""), Err(vec![Code::CaseCollision]));
        assert_eq!(plan(&["a"], &["x", "x/y"], "{cluster}/{template}", ""), Err(vec![Code::PrefixCollision]));
        assert_eq!(plan(&["a", "b/c"], &["x"], "{template}", ""), Err(vec![Code::BadOutputName]));
        assert_eq!(plan(&["a"], &["x y"], "{template}/{cluster}", ""), Err(vec![Code::BadOutputName]));
        assert_eq!(plan(&["a", "b"], &["x"], "{m}/{template}", ""), Err(vec![Code::BadLayout, Code::BadLayout]));
        assert_eq!(plan(&["a"], &["x"], "/{cluster}", ""), Err(vec![Code::BadOutputName]));
        assert_eq!(plan(&["a"], &["x"], "../{cluster}", ""), Err(vec![Code::BadOutputName]));
    }

    #[test]
    fn a_fleet_of_bad_names_reports_the_first_twenty() {
        let names: Vec<String> = (0..100).map(|n| format!("../{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(plan(&names, &["x"], "{cluster}", "").unwrap_err().len(), 20);
    }
}
