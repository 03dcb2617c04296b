//! The templates, clusters and values of the run before, to find what a change reaches.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use dropforge::bulk::{Cluster, Fleet, Forge, Layers, Plan};
use dropforge::diagnostics::Result;
use dropforge::value::{Data, DataMap};

/// The state of the last complete run.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    is_watching: bool,
    is_narrowed: bool,
    sources: BTreeSet<String>,
    last: Option<State>,
    next: Option<State>,
}

/// Templates and clusters by name, with hashes of their content, and the shared values.
#[derive(Debug)]
struct State {
    templates: HashMap<String, Option<u64>>,
    clusters: HashMap<String, Option<u64>>,
    shared: DataMap,
}

impl Seen {
    /// Starts to take notes. A single run needs none.
    pub(super) fn watching() -> Self {
        Self { is_watching: true, ..Self::default() }
    }

    /// Takes the outputs and clusters out of `plan` that are as in the last complete run. With `all`, that is only done
    /// if no template and no cluster is gone, as the files of those have to be found.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub(crate) fn narrow(
        &mut self,
        plan: Plan,
        fleet: &Fleet,
        layers: &Layers,
        forge: &Forge,
        all: bool,
    ) -> Result<Plan> {
        if !self.is_watching {
            return Ok(plan);
        }
        let next = State::new(fleet, layers, forge, &plan)?;
        let sources = forge.templates().flat_map(|template| template.program().sources());
        self.sources = sources.map(|source| source.name().to_owned()).collect();
        let last = self.last.as_ref();
        let last = last.filter(|last| last.shared == next.shared && !(all && last.has_more(&next)));
        self.is_narrowed = last.is_some();
        let plan = match last {
            Some(last) => last.narrow(&next, plan, fleet)?,
            None => plan,
        };
        self.next = Some(next);
        Ok(plan)
    }

    /// Notes that the run was carried out, or that it has to be repeated in full.
    pub(super) fn done(&mut self, is_complete: bool) {
        self.last = self.next.take().filter(|_| is_complete);
    }

    /// Returns `true` if the plan of the current run is not the whole one.
    pub(crate) fn is_narrowed(&self) -> bool {
        self.is_narrowed
    }

    /// Returns the names of all sources of templates.
    pub(super) fn sources(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(String::as_str)
    }
}

impl State {
    fn new(fleet: &Fleet, layers: &Layers, forge: &Forge, plan: &Plan) -> Result<Self> {
        let names = plan.outputs().iter().map(|output| output.template.clone());
        let mut clusters = HashMap::new();
        fleet.each(&mut |_, cluster| {
            clusters.insert(cluster.name().to_owned(), of_cluster(cluster));
            Ok(())
        })?;
        let templates = names.map(|name| (name.clone(), of_output(forge, &name))).collect();
        Ok(Self { templates, clusters, shared: layers.shared().clone() })
    }

    fn has_more(&self, other: &Self) -> bool {
        self.templates.keys().any(|name| !other.templates.contains_key(name))
            || self.clusters.keys().any(|name| !other.clusters.contains_key(name))
    }

    /// Takes out of `plan` what is the same in `next`. If both templates and clusters differ, every output of such a
    /// cluster and every cluster of such a template is needed, which is everything.
    fn narrow(&self, next: &Self, plan: Plan, fleet: &Fleet) -> Result<Plan> {
        let differs = |last: &HashMap<String, Option<u64>>, next: &HashMap<String, Option<u64>>, name: &str| {
            let hash = next.get(name).copied().flatten();
            hash.is_none() || last.get(name).copied().flatten() != hash
        };
        let template = |name: &str| differs(&self.templates, &next.templates, name);
        let cluster = |cluster: &Cluster| differs(&self.clusters, &next.clusters, cluster.name());
        let templates = plan.outputs().iter().any(|output| template(&output.template));
        let mut clusters = false;
        fleet.each(&mut |_, one| {
            clusters |= cluster(one);
            Ok(())
        })?;
        match (templates, clusters) {
            (true, true) => Ok(plan),
            (true, false) => plan.narrowed(fleet, &template, &|_| true),
            (false, _) => plan.narrowed(fleet, &|_| true, &cluster),
        }
    }
}

/// Returns a hash of all sources of an output: of the copied file, or of the template and what it includes, imports or
/// extends.
fn of_output(forge: &Forge, name: &str) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    forge.is_executable(name).hash(&mut hasher);
    if let Some(copied) = forge.file(name) {
        copied.hash(&mut hasher);
        return Some(hasher.finish());
    }
    let sources = forge.get(name)?.program().sources();
    for source in sources {
        (source.name(), source.text()).hash(&mut hasher);
    }
    (!sources.is_empty()).then(|| hasher.finish())
}

/// Returns a hash of a cluster's own inputs.
fn of_cluster(cluster: &Cluster) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    match cluster.json() {
        Some(text) => text.hash(&mut hasher),
        None => serde_json::to_string(&Data::Map(cluster.inputs().ok()?.into_owned())).ok()?.hash(&mut hasher),
    }
    Some(hasher.finish())
}
