//! Layers: values files whose paths may have values of clusters in them, and the groups of clusters with the same ones.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::cluster::Cluster;
use super::fleet::Fleet;
use super::input::Place;
use super::layers::Layers;
use super::pattern::Pattern;
use super::report::Failure;
use super::values::Assignment;
use super::view::{Merge, View};
use dropforge_base::diagnostics::{Code, Diagnostic, LAYER, Result};
use dropforge_base::text::{Source, Span};
use dropforge_engine::Template;
use dropforge_value::DataMap;

/// The path of a layer: `values/env/{env}.yaml`. The placeholders are values of the cluster as its fleet gives it, and
/// `{cluster}`, its name. A `?` at the end allows that the file or a value is missing.
#[derive(Debug, Clone)]
pub struct LayerPath {
    pattern: Pattern,
    is_optional: bool,
    /// The file that has the path, and the place in it.
    place: Option<(Arc<Source>, Span)>,
}

impl LayerPath {
    /// Parses the path of a layer.
    ///
    /// # Errors
    /// Errors of [`Pattern::parse`].
    pub fn parse(text: &str) -> Result<Self> {
        let path = text.strip_suffix('?');
        Ok(Self { pattern: Pattern::parse("layer", path.unwrap_or(text))?, is_optional: path.is_some(), place: None })
    }

    /// Sets the place of the path in a file, which errors then name.
    #[must_use]
    pub fn at(self, source: &Arc<Source>, span: Span) -> Self {
        Self { place: Some((source.clone(), span)), ..self }
    }

    /// Returns the path with its placeholders, without the `?`.
    pub fn path(&self) -> &str {
        self.pattern.text()
    }

    /// Returns `true` if the file may be missing.
    pub fn is_optional(&self) -> bool {
        self.is_optional
    }

    /// Returns `true` if the path is the same for all clusters.
    pub fn is_constant(&self) -> bool {
        self.pattern.is_constant()
    }
}

/// A values file.
#[derive(Debug, Clone)]
pub enum ValuesFile {
    /// Values, and where they stand.
    Map(DataMap, Place),
    /// A template of values, which is rendered for each cluster.
    Template(Template),
    /// The text of a patch.
    Text(Arc<Source>),
}

impl ValuesFile {
    /// Returns the file. A template may have others with it.
    pub(super) fn sources(&self) -> &[Arc<Source>] {
        match self {
            Self::Map(_, place) => std::slice::from_ref(place.source()),
            Self::Template(template) => template.program().sources(),
            Self::Text(text) => std::slice::from_ref(text),
        }
    }
}

/// What the files of a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileUse {
    /// Layers of the values of clusters.
    Layer,
    /// Values of a release, or templates of some.
    Values,
    /// A patch, or a template of one.
    Patch,
}

/// Paths of files with the same use.
pub type LayerList<'l> = (FileUse, &'l [LayerPath]);

/// Reads the file at a path. Returns `None` for one that is missing and may be.
type ReadFile<'r> = dyn FnMut(FileUse, &str, bool) -> Result<Option<ValuesFile>> + 'r;

/// Reads the values at a path. Returns `None` for a file that is missing and may be.
type ReadValues<'r> = dyn FnMut(&str, bool) -> Result<Option<(DataMap, Place)>> + 'r;

/// The end of a list of files in the key of a group.
const END: usize = usize::MAX;

/// The files of layers. Each is read once.
struct LayerFiles<'r> {
    read: &'r mut ReadFile<'r>,
    files: Vec<ValuesFile>,
    /// The numbers of files by their uses and paths.
    numbers: HashMap<(FileUse, String), Result<Option<usize>>>,
}

impl LayerFiles<'_> {
    /// Returns the numbers of the files of some layers for a cluster.
    fn of_cluster(&mut self, (kind, layers): LayerList<'_>, cluster: &Cluster, view: &View<'_>) -> Result<Vec<usize>> {
        let of = |layer: &LayerPath| match layer.is_optional {
            true => Ok(layer.pattern.known_text_for(cluster.name(), view)?.ok()),
            false => layer.pattern.text_for(cluster.name(), view).map(Some),
        };
        let mut numbers = Vec::new();
        for layer in layers {
            let path = of(layer).map_err(|error| cluster.label(error.with_field(LAYER, layer.path()), ""));
            let number = match path? {
                Some(path) => self.number(kind, layer, &path)?,
                None => None,
            };
            numbers.extend(number);
        }
        Ok(numbers)
    }

    /// Returns the numbers of the files of those layers that are the same for all clusters.
    fn of_all(&mut self, (kind, layers): LayerList<'_>) -> Result<Vec<usize>> {
        let constant = layers.iter().filter(|layer| layer.is_constant());
        let numbers = constant.map(|layer| self.number(kind, layer, layer.path()));
        numbers.filter_map(Result::transpose).collect()
    }

    fn number(&mut self, kind: FileUse, layer: &LayerPath, path: &str) -> Result<Option<usize>> {
        let key = (kind, path.to_owned());
        if let Some(known) = self.numbers.get(&key) {
            return known.clone();
        }
        let read = (self.read)(kind, path, layer.is_optional);
        let number = read.map_err(|error| of_layer(error, layer)).map(|file| {
            let number = file.is_some().then_some(self.files.len());
            self.files.extend(file);
            number
        });
        self.numbers.insert(key, number.clone());
        number
    }
}

/// Adds the layer to an error of its file.
fn of_layer(error: Box<Diagnostic>, layer: &LayerPath) -> Box<Diagnostic> {
    let is_here = error.code == Code::ReadFailed;
    let error = match layer.place.as_ref().filter(|_| is_here) {
        Some((source, span)) => error.at_if_nowhere(source, *span),
        None => error,
    };
    if layer.is_constant() {
        return error;
    }
    let path = layer.path();
    let error = error.with_field(LAYER, path).with_note(format!("it is a file of the layer `{path}`"));
    match error.help {
        Some(_) => error,
        None => error.with_help(format!("write the file, or `{path}?` if it may be missing")),
    }
}

/// The files of layers, by groups of clusters with the same ones.
///
/// ```
/// use dropforge::bulk::{Cluster, Fleet, Format, LayerGroups, LayerPath, Merge, input};
/// use dropforge::text::Source;
/// use dropforge::value::{Data, DataMap};
/// let cluster = |name: &str, env: &str| {
///     Cluster::new(name, DataMap::from_iter([("env".to_owned(), Data::Str(env.to_owned()))]))
/// };
/// let mut fleet = Fleet::new(vec![cluster("eu-1", "prod"), cluster("eu-2", "dev")])?;
/// let layers = [LayerPath::parse("{env}.yaml?")?];
/// let mut read = |path: &str, _: bool| {
///     let source = Source::new(path, "replicas: 3");
///     let file = (input::map(&source, Format::Yaml)?, input::Place::file(&source, Format::Yaml));
///     Ok((path == "prod.yaml").then_some(file))
/// };
/// let layers = LayerGroups::read(&layers, &mut fleet, &mut read).unwrap().over(Vec::new(), Vec::new(), Merge::Deep);
/// let mut replicas = Vec::new();
/// fleet.each(&mut |_, cluster| Ok(replicas.push(layers.merged(cluster)?.get("replicas").cloned())))?;
/// assert_eq!(replicas, [Some(Data::Int(3)), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct LayerGroups {
    /// The paths of the values that the files depend on.
    inputs: Vec<String>,
    files: Arc<[ValuesFile]>,
    /// The numbers of the files of all clusters.
    shared: Vec<usize>,
    /// Those of each group.
    groups: Vec<Vec<usize>>,
}

impl LayerGroups {
    /// Reads the files of `layers`, low to high, and puts the clusters of the fleet into groups with the same ones. `read`
    /// reads the file at a path; it returns `None` for one that is missing if it may be. It is called once for each path.
    ///
    /// # Errors
    /// Errors of `read`, and of paths that cannot be filled in: one failure for each cause, with its clusters.
    pub fn read(
        layers: &[LayerPath],
        fleet: &mut Fleet,
        read: &mut ReadValues<'_>,
    ) -> std::result::Result<Self, Vec<Failure>> {
        let mut map = |_: FileUse, path: &str, may_be_missing: bool| {
            let file = read(path, may_be_missing)?;
            Ok(file.map(|(map, place)| ValuesFile::Map(map, place)))
        };
        let mut all = Self::read_all(&[(FileUse::Layer, layers)], fleet, &mut map)?;
        Ok(all.pop().unwrap_or_default())
    }

    /// Works like [`LayerGroups::read`], for several lists of files. The groups are clusters with the same files in all of
    /// them. `read` is called once for each path and use.
    ///
    /// # Errors
    /// Same as [`LayerGroups::read`].
    pub fn read_all(
        lists: &[LayerList<'_>],
        fleet: &mut Fleet,
        read: &mut ReadFile<'_>,
    ) -> std::result::Result<Vec<Self>, Vec<Failure>> {
        let mut files = LayerFiles { read, files: Vec::new(), numbers: HashMap::new() };
        let shared = lists.iter().map(|list| files.of_all(*list)).collect::<Result<Vec<_>>>();
        let shared = shared.map_err(|error| vec![Failure::new(error)])?;
        let (mut groups, mut uses) = (Vec::<Vec<usize>>::new(), BTreeMap::<usize, usize>::new());
        if !lists.iter().flat_map(|(_, layers)| *layers).all(LayerPath::is_constant) {
            groups = fleet.group(&mut |cluster| {
                let (mut all, shared, own) = (Vec::new(), DataMap::default(), cluster.inputs()?);
                let view = View::new(&shared, &own, Merge::Deep);
                for list in lists {
                    let own = files.of_cluster(*list, cluster, &view);
                    all.extend(own.map_err(|error| error.for_cluster(cluster.name()))?);
                    all.push(END);
                }
                all.iter().collect::<BTreeSet<_>>().into_iter().for_each(|file| *uses.entry(*file).or_default() += 1);
                Ok(all)
            })?;
        }
        let read: Arc<[ValuesFile]> = files.files.into();
        let sources =
            |number: &usize| read.get(*number).filter(|_| uses.get(number) == Some(&1)).map(ValuesFile::sources);
        let of_group = |key: &Vec<usize>| key.iter().filter_map(sources).flatten().cloned().collect::<Vec<_>>();
        let own = (1..).zip(groups.iter().map(of_group)).filter(|(_, files)| !files.is_empty());
        fleet.set_own_files(own.collect());
        let one = |(nth, shared)| {
            let own = |key: &Vec<usize>| key.split(|number| *number == END).nth(nth).unwrap_or_default().to_vec();
            let inputs =
                lists.get(nth).map_or(&[][..], |(_, layers)| *layers).iter().flat_map(|layer| layer.pattern.inputs());
            let inputs = inputs.map(str::to_owned).collect();
            Self { inputs, files: read.clone(), shared, groups: groups.iter().map(own).collect() }
        };
        Ok(shared.into_iter().enumerate().map(one).collect())
    }

    /// Returns the files of each group, in order: first of clusters without a group.
    pub fn files(&self) -> impl Iterator<Item = Vec<&ValuesFile>> {
        let of = |numbers: &Vec<usize>| numbers.iter().filter_map(|number| self.files.get(*number)).collect();
        std::iter::once(&self.shared).chain(&self.groups).map(of)
    }

    /// Returns the files of a cluster, in order.
    pub(super) fn files_of(&self, cluster: &Cluster) -> impl Iterator<Item = &ValuesFile> {
        cluster.of_group(&self.shared, &self.groups).iter().filter_map(|number| self.files.get(*number))
    }

    /// Returns the paths of the values of clusters that the files depend on.
    pub(super) fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// Merges the files of layers over the values files `values` of all clusters.
    pub fn over(&self, values: Vec<(DataMap, Place)>, sets: Vec<Assignment>, merge: Merge) -> Layers {
        let files = |files: Vec<&ValuesFile>| {
            let own = files.into_iter().filter_map(|file| match file {
                ValuesFile::Map(map, place) => Some((map.clone(), place.clone())),
                ValuesFile::Template(_) | ValuesFile::Text(_) => None,
            });
            values.iter().cloned().chain(own).collect()
        };
        let mut groups = self.files().map(files);
        let shared = groups.next().unwrap_or_default();
        let mut layers = Layers::of_groups(shared, groups, sets, merge);
        layers.inputs.clone_from(&self.inputs);
        layers
    }
}
