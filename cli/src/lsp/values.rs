//! The values of a project in the chosen cluster, with their places and schemas.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::home::{Home, Settings, chart_of};
use crate::chart;
use crate::check::CheckArgs;
use crate::input::{InputFiles, OpenFiles};
use crate::options::limits;
use crate::stderr::Stderr;
use dropforge::bulk::input::{self, Place};
use dropforge::bulk::values::Step;
use dropforge::bulk::{Cluster, Fleet, Format, Layers};
use dropforge::compiler::Key;
use dropforge::dialect::helm::chart::{Capabilities, Plan, Release, UserValues};
use dropforge::engine::EngineBuilder;
use dropforge::engine::chart::ChartTemplate;
use dropforge::function::Capabilities as Permissions;
use dropforge::limits::Limits;
use dropforge::mask::Mask;
use dropforge::schema::{each_secret, is_secret};
use dropforge::text::{Source, Span};
use dropforge::value::{Data, DataMap, value_at};
use dropforge::vm::Session;

/// Maximum size of a file of values or of a configuration, in bytes.
pub(super) const MAX_INPUT: u64 = 256 << 20;
/// Maximum number of clusters whose names are kept.
pub(super) const CLUSTERS: usize = 10_000;
/// Maximum number of characters of a value that is shown.
const SHOWN: usize = 60;

/// The time that a render for the values may take.
pub(super) const TIME: Duration = Duration::from_millis(300);

/// The number of steps that it may take.
const FUEL: u64 = 2_000_000;

/// The values of a project.
#[derive(Debug, Default)]
pub(super) struct ProjectValues {
    /// The merged values. Those of a chart are below `Values`.
    pub(super) merged: DataMap,
    /// The places of values, highest first, each with the path in the values to which it belongs.
    places: Vec<(Place, Vec<Step>)>,
    /// The schemas of values.
    schemas: Vec<Data>,
    /// The names of the clusters.
    pub(super) clusters: Vec<String>,
    /// The name of the chosen cluster.
    pub(super) cluster: Option<String>,
    /// The chart with its plan for the chosen cluster, if it can be rendered.
    pub(super) planned: Option<(ChartTemplate, Plan)>,
}

impl ProjectValues {
    /// Reads the values of a home. Whatever cannot be read is left out: the check reports it.
    pub(super) fn read(home: &Home, args: &CheckArgs, settings: &Settings, open: &OpenFiles, stderr: &Stderr) -> Self {
        let mut files = InputFiles::new(MAX_INPUT).with_open(open.clone());
        files.allow_sops(args.values.allow().allows_sops());
        let schema = (&args.schema, args.templates.as_slice());
        let given = args.values.given(schema, &mut files, stderr).ok();
        let (clusters, cluster) = given.as_ref().map(|(.., fleet)| chosen(fleet, settings)).unwrap_or_default();
        let name = cluster.as_ref().map(|cluster| cluster.name().to_owned());
        let schemas = args.schema.paths(&args.templates);
        let variables = args.schema.variables(&mut files).ok().flatten().map(|variables| variables.schema().clone());
        let schemas = schemas.iter().filter_map(|path| data(path, &mut files)).map(Data::Map).chain(variables);
        let decrypted = given.iter().flat_map(|(layers, _)| layers.secret_schemas(cluster.as_ref()));
        let schemas = schemas.chain(decrypted).collect();
        let own = Self { clusters, cluster: name, schemas, ..Self::default() };
        match home.chart() {
            Some(chart) => own.of_chart(chart, args, given.as_ref(), cluster.as_ref(), &mut files),
            None => own.of_templates(given.as_ref(), cluster.as_ref()),
        }
    }

    fn of_templates(mut self, given: Option<&(Layers, Fleet)>, cluster: Option<&Cluster>) -> Self {
        let Some((layers, _)) = given else { return self };
        self.merged = crate::values::merged(layers, cluster).unwrap_or_else(|_| layers.shared().clone());
        let places = cluster.and_then(Cluster::place).into_iter();
        let places = places.chain(layers.places_of(cluster).iter().rev().cloned());
        self.places = places.map(|place| (place, Vec::new())).collect();
        self
    }

    fn of_chart(
        mut self,
        path: &Path,
        args: &CheckArgs,
        given: Option<&(Layers, Fleet)>,
        cluster: Option<&Cluster>,
        files: &mut InputFiles,
    ) -> Self {
        let below = || vec![Step::Key("Values".to_owned())];
        let layers = given.map(|(layers, _)| layers.places_of(cluster)).unwrap_or_default();
        let layers = layers.get(args.values.values().values.len()..).unwrap_or_default();
        let mut user = chart::args::user_values(args.values.values(), layers, files).unwrap_or_default();
        user.skip_schemas(args.schema.is_off());
        args.chart.of_fleet(&mut user, args.values.name_key());
        let with_cluster =
            cluster.and_then(|cluster| user.with_cluster(cluster.inputs().ok()?.into_owned(), false).ok());
        self.planned = planned(path, args, &with_cluster.unwrap_or(user), files);
        let own = [path.join("values.yaml")];
        let defaults = own.iter().filter_map(|path| files.read(path, "-f -").ok());
        let defaults = defaults.map(|source| (Place::file(&source, Format::Yaml), below()));
        let others = given.iter().flat_map(|(layers, _)| layers.places_of(cluster).iter().rev());
        let others = others.map(|place| (place.clone(), below()));
        let of_cluster = cluster.and_then(Cluster::place).map(|place| (place, below()));
        self.places = of_cluster.into_iter().chain(others).chain(defaults).collect();
        let values = match &self.planned {
            Some((_, plan)) => plan.values().clone(),
            None => data(&path.join("values.yaml"), files).unwrap_or_default(),
        };
        self.schemas.extend(data(&path.join("values.schema.json"), files).map(Data::Map));
        self.merged = DataMap::from_iter([("Values".to_owned(), Data::Map(values))]);
        self.merged.extend(objects(self.planned.as_ref().map(|(_, plan)| plan), path, files));
        // The schemas of a chart are those of its values.
        let under = |schema| {
            let properties = DataMap::from_iter([("Values".to_owned(), schema)]);
            Data::Map(DataMap::from_iter([("properties".to_owned(), Data::Map(properties))]))
        };
        self.schemas = self.schemas.into_iter().map(under).collect();
        self
    }

    /// Returns a path among the values for a path of a template, which may be of a chart in a chart.
    pub(super) fn path(&self, file: &Path, input: &[Key]) -> Vec<Key> {
        let mut path = input.to_vec();
        if let (Some(Key::Name(first)), Some((_, name))) = (input.first(), chart_of(file))
            && first == "Values"
        {
            let mut rest = name.as_str();
            let mut at = 1;
            while let Some((chart, inner)) = rest.strip_prefix("charts/").and_then(|rest| rest.split_once('/')) {
                path.insert(at, Key::Name(chart.to_owned()));
                (at, rest) = (at + 1, inner);
            }
        }
        path
    }

    /// Returns the value at a path: of the first item where it leads to any.
    pub(super) fn get(&self, path: &[Key]) -> Option<&Data> {
        let (Key::Name(first), rest) = path.split_first()? else { return None };
        rest.iter().try_fold(self.merged.get(first)?, |value, key| match key {
            Key::Name(name) => member(value, name),
            Key::Any => match value {
                Data::Map(map) => map.values().next(),
                list => list.as_list()?.first(),
            },
        })
    }

    /// Returns the steps of a path: to the first item where it leads to any.
    pub(super) fn steps(&self, path: &[Key]) -> Vec<Step> {
        let mut steps = Vec::new();
        for (at, key) in path.iter().enumerate() {
            let within = path.get(..at).filter(|path| !path.is_empty()).and_then(|path| self.get(path));
            let index =
                |name: &str| name.parse().ok().filter(|_| within.is_some_and(|value| value.as_list().is_some()));
            steps.push(match (key, within) {
                (Key::Name(name), _) => index(name).map_or_else(|| Step::Key(name.clone()), Step::Index),
                (Key::Any, Some(Data::Map(map))) => Step::Key(map.keys().next().cloned().unwrap_or_default()),
                (Key::Any, _) => Step::Index(0),
            });
        }
        steps
    }

    /// Returns the places of the value at a path, highest first.
    pub(super) fn places(&self, path: &[Key]) -> Vec<(Arc<Source>, Span)> {
        let steps = self.steps(path);
        let find = |(place, below): &(Place, Vec<Step>)| {
            let rest = steps.strip_prefix(below.as_slice()).filter(|rest| !rest.is_empty())?;
            Some((place.source().clone(), place.find(rest)?))
        };
        self.places.iter().filter_map(find).collect()
    }

    /// Returns `true` if a schema marks the value at a path secret.
    pub(super) fn is_secret(&self, path: &[Step]) -> bool {
        self.schemas.iter().any(|schema| is_secret(schema, path))
    }

    /// Returns `true` if a schema marks an input of a run secret, or a part of it.
    pub(super) fn hides(&self, path: &[Step]) -> bool {
        let Some((_, plan)) = &self.planned else { return self.has_secret(path) };
        let value = plan.value_of(path);
        let whole: Vec<Step> = std::iter::once(Step::Key("Values".to_owned())).chain(value.path).collect();
        // The data of a template has the values, too. Other objects have no schema.
        let has_values = ["", "."].contains(&value.name.as_str()) || value.name.starts_with(".Values");
        value.is_secret || has_values && self.has_secret(&whole)
    }

    /// Returns the secrets among the values.
    pub(super) fn mask(&self) -> Mask {
        Mask::of_each(|each| {
            self.schemas.iter().for_each(|schema| each_secret(schema, &self.merged, &mut |text| each(&text)));
            if let Some((_, plan)) = &self.planned {
                plan.each_secret(each);
            }
        })
    }

    /// Returns `true` if the value at a path is secret, or a part of it.
    fn has_secret(&self, path: &[Step]) -> bool {
        let value = path.split_first().and_then(|(first, rest)| value_at(self.merged.get(first.key()?)?, rest));
        !self.schemas.is_empty()
            && (self.is_secret(path) || value.is_some_and(|value| self.plain(value, &mut path.to_vec()) != *value))
    }

    /// Returns a value with `(secret)` in place of all that is.
    fn plain(&self, value: &Data, path: &mut Vec<Step>) -> Data {
        if self.is_secret(path) {
            return Data::Str("(secret)".to_owned());
        }
        let mut below = |step: Step, value: &Data| {
            path.push(step);
            let plain = self.plain(value, path);
            path.pop();
            plain
        };
        match value {
            Data::Map(map) => {
                let entries = map.iter().map(|(key, value)| (key.clone(), below(Step::Key(key.clone()), value)));
                Data::Map(entries.collect())
            }
            Data::List(items) => {
                Data::List(items.iter().enumerate().map(|(at, item)| below(Step::Index(at), item)).collect())
            }
            scalar => scalar.clone(),
        }
    }

    /// Returns the value at a path with `(secret)` in place of all that is.
    pub(super) fn plain_at(&self, path: &[Key]) -> Option<Data> {
        let value = self.get(path)?;
        Some(if self.schemas.is_empty() { value.clone() } else { self.plain(value, &mut self.steps(path)) })
    }

    /// Returns the schemas.
    pub(super) fn schemas(&self) -> &[Data] {
        &self.schemas
    }

    /// Returns an excerpt of the value at a path, without secrets.
    pub(super) fn shown(&self, path: &[Key]) -> Option<String> {
        if self.is_secret(&self.steps(path)) {
            return self.get(path).map(|_| "(secret)".to_owned());
        }
        self.plain_at(path).map(|value| short(&json(&value), SHOWN))
    }
}

/// Writes a path.
pub(super) fn written(path: &[Key]) -> String {
    path.iter().fold(String::new(), |text, key| match key {
        Key::Name(name) if text.is_empty() => name.clone(),
        Key::Name(name) => text + "." + name,
        Key::Any => text + "[…]",
    })
}

/// Returns a value as JSON. Numbers of charts are floats, also whole ones.
pub(super) fn json(value: &Data) -> String {
    match value {
        Data::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
        value => serde_json::to_string(value).unwrap_or_default(),
    }
}

/// Shortens a text.
pub(super) fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
        None => text.to_owned(),
    }
}

fn member<'d>(value: &'d Data, name: &str) -> Option<&'d Data> {
    value.get(name).or_else(|| value.index(name.parse().ok()?))
}

/// Reads the map of a YAML or JSON file.
fn data(path: &Path, files: &mut InputFiles) -> Option<DataMap> {
    let source = files.read(path, "-f -").ok()?;
    input::map(&source, Format::Yaml).ok()
}

/// Returns the names of the clusters, and the one that is chosen, or the first.
fn chosen(fleet: &Fleet, settings: &Settings) -> (Vec<String>, Option<Cluster>) {
    let (mut names, mut found) = (Vec::new(), None);
    // What cannot be read is an error of the check.
    let _ = fleet.each(&mut |at, cluster| {
        if at == 0 || settings.cluster.as_deref() == Some(cluster.name()) {
            found = Some(cluster.clone());
        }
        names.extend((at < CLUSTERS).then(|| cluster.name().to_owned()));
        Ok(())
    });
    (names, found)
}

/// Sets the limits and permissions of a render for the values. Without random numbers, one of them would end the render and
/// leave the rest without values.
pub(super) fn bounded(engine: EngineBuilder) -> EngineBuilder {
    let limits = Limits { time: Some(TIME), fuel: FUEL, ..limits() };
    engine.limits(limits).allow(Permissions::RANDOM.and(Permissions::CLOCK))
}

fn planned(
    path: &Path,
    args: &CheckArgs,
    values: &UserValues,
    files: &mut InputFiles,
) -> Option<(ChartTemplate, Plan)> {
    let engine = bounded(args.language.engine());
    let chart = chart::open(path, engine, files).ok()?;
    let plan = chart.plan(&Session::new(), values, &Release::default(), &Capabilities::default()).ok()?;
    Some((chart, plan))
}

/// Returns the objects beside the values of a chart.
fn objects(plan: Option<&Plan>, path: &Path, files: &mut InputFiles) -> BTreeMap<String, Data> {
    let text = |text: &str| Data::Str(text.to_owned());
    let release = plan.map_or_else(Release::default, |plan| plan.release().clone());
    let release = [
        ("Name", text(&release.name)),
        ("Namespace", text(&release.namespace)),
        ("Service", text("Helm")),
        ("Revision", Data::Int(1)),
        ("IsInstall", Data::Bool(!release.is_upgrade)),
        ("IsUpgrade", Data::Bool(release.is_upgrade)),
    ];
    let release = release.map(|(name, value)| (name.to_owned(), value));
    let chart = data(&path.join("Chart.yaml"), files).unwrap_or_default();
    // Templates name the fields with capitals.
    let upper = |(name, value): (String, Data)| {
        let mut chars = name.chars();
        let first = chars.next().map(|first| first.to_ascii_uppercase());
        (first.into_iter().chain(chars).collect::<String>(), value)
    };
    let chart: DataMap = chart.into_iter().map(upper).collect();
    BTreeMap::from([
        ("Release".to_owned(), Data::Map(DataMap::from_iter(release))),
        ("Chart".to_owned(), Data::Map(chart)),
    ])
}

/// Returns the path of the file that a source is of.
pub(super) fn file_of(source: &Source, chart: Option<&Path>) -> Option<PathBuf> {
    let path = source.path().to_owned();
    let direct = PathBuf::from(&path);
    if direct.is_file() {
        return direct.canonicalize().ok();
    }
    let chart = chart?;
    let below = path.split_once('/').map(|(_, rest)| rest);
    let candidates = [Some(path.as_str()), below].into_iter().flatten().map(|name| chart.join(name));
    candidates.filter(|path| path.is_file()).find_map(|path| path.canonicalize().ok())
}
