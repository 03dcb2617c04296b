//! The options of a fleet, and reading it. The doc comments are help texts.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use clap::Args;

use dropforge::bulk::{
    Cluster, CsvTypes, Failure, Fleet, FleetOptions, FleetStream, Format, LayerGroups, LayerPath, Layers, Merge,
    NameFrom, Selector, dialect_of,
};
use dropforge::diagnostics::{Code, Diagnostic, Result};

use crate::exit::Failed;
use crate::glob;
use crate::input::{InputFiles, refuse_other_url};
use crate::layers::{is_missing_layer, values_file};
use crate::project::key;
use crate::releases::ReleasesOption;
use crate::values::find;

/// Options of commands that read a fleet.
#[derive(Debug, Clone, Args)]
pub(crate) struct FleetArgs {
    /// Read clusters from a file, directory, glob or `-`
    ///
    /// The formats are YAML, JSON, NDJSON, CSV and TSV with a header, TOML, HCL,
    /// environment files, Parquet and Arrow. Several fleets are read in order.
    #[arg(long, required = true, value_name = "FLEET", add = key("").path())]
    pub(crate) fleet: Vec<String>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Select clusters: k, !k, k=v, k!=v, k in (v,w)
    ///
    /// `k` is a path of their values. There is also `k notin (v,w)`, and `k=v,!l` for both.
    #[arg(short = 'l', long, value_name = "SELECTOR", add = key(""))]
    selector: Vec<String>,
    /// The name of the only cluster to read, for commands that show one.
    #[arg(skip)]
    only: Option<String>,
    /// Clusters that no file has, instead of those of the files.
    #[arg(skip)]
    given: Option<Vec<Cluster>>,
}

/// Options of commands that can show one cluster of a fleet.
#[derive(Debug, Args)]
#[command(next_help_heading = "One cluster of a fleet")]
pub(crate) struct ClusterArgs {
    /// Render for this cluster of the fleet, with its values, as `stamp` does
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
    /// Read clusters from a file, a directory, a glob, or `-`
    #[arg(long, requires = "cluster", value_name = "FLEET", add = key("").path())]
    fleet: Vec<String>,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) releases: ReleasesOption,
    /// The options as those of a fleet.
    #[arg(skip)]
    built: OnceCell<FleetArgs>,
}

impl ClusterArgs {
    /// Returns the options of the fleet, if a cluster is named.
    pub(crate) fn fleet(&self) -> Option<&FleetArgs> {
        let name = self.cluster.as_deref()?;
        Some(self.built.get_or_init(|| FleetArgs::of_cluster(self.fleet.clone(), self.reading.clone(), name)))
    }

    /// Checks that a named cluster has a fleet, and releases a cluster.
    ///
    /// # Errors
    /// `usage`.
    pub(crate) fn check(&self) -> Result<()> {
        if self.cluster.is_some() && self.fleet.is_empty() {
            let error = Diagnostic::new(Code::Usage, "`--cluster` needs a fleet");
            return Err(error.with_help("use `--fleet FILE`, or write `fleet = […]` in the project file"));
        }
        match self.releases.only.first() {
            Some(_) if self.cluster.is_none() => {
                Err(Diagnostic::new(Code::Usage, "`-r` needs a cluster").with_help("name it: `--cluster NAME`"))
            }
            _ => Ok(()),
        }
    }
}

/// Options of reading fleets and merging their values.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReadingArgs {
    /// Read fleets as yaml, json, ndjson, csv, tsv, toml, hcl, env, parquet or arrow, regardless of file names
    #[arg(long, value_name = "FORMAT", add = key(""), hide_short_help = true)]
    fleet_format: Option<Format>,
    /// Read the name of a cluster from PATH if it has no `name` or `cluster.name`
    #[arg(long, value_name = "PATH", add = key(""), hide_short_help = true)]
    name_key: Option<String>,
    /// Name a cluster without a name that is a file of its own by its file, or by the folder of its file
    #[arg(long, value_name = "file|folder", add = key(""), hide_short_help = true)]
    name_from: Option<NameFrom>,
    /// Type CSV and TSV cells as `--set` does (set), or keep them as text (strings) [default: set]
    #[arg(long, value_name = "TYPES", add = key(""), hide_short_help = true)]
    csv_types: Option<CsvTypes>,
    /// Merge a file for each `env`: values/{env}.yaml
    ///
    /// It is merged over the files of `-f`. With `?` at the end it may be missing. Several layers are merged in order, low to high, and a cluster's own values over
    /// them. Placeholders are values of the cluster as its fleet gives them, by dotted
    /// paths, and {cluster}, its name; {region|none} has a default.
    #[arg(long = "layer", value_name = "PATH", add = key("").named("layers"))]
    layers: Vec<PathBuf>,
    /// Merge a cluster's values over shared ones by key (deep), or replace whole top-level keys (replace) [default: deep]
    #[arg(long, value_name = "HOW", add = key(""), hide_short_help = true)]
    merge: Option<Merge>,
}

impl ReadingArgs {
    /// Reads the clusters of `fleets`.
    ///
    /// # Errors
    /// Errors of [`glob::expand`], of reading the files, and of [`Fleet::read_all`].
    pub(crate) fn read(&self, fleets: &[String], files: &mut InputFiles) -> Result<Fleet> {
        let mut sources = Vec::new();
        self.each_path(fleets, files, &mut |path, files| {
            sources.push(files.fleet(path, self.fleet_format)?);
            Ok(())
        })?;
        Fleet::read_all(sources, &self.options())
    }

    /// Opens `fleets` to read them once.
    ///
    /// # Errors
    /// Errors of [`glob::expand`], of opening the files, and of [`FleetStream::add`].
    fn stream(&self, fleets: &[String], files: &mut InputFiles) -> Result<FleetStream<'static>> {
        let mut stream = FleetStream::new(&self.options());
        self.each_path(fleets, files, &mut |path, files| {
            let (input, format) = files.stream(path, self.fleet_format)?;
            stream.add(path.display().to_string(), input, format)
        })?;
        Ok(stream)
    }

    /// Calls `each` with every file of `fleets`.
    fn each_path(
        &self,
        fleets: &[String],
        files: &mut InputFiles,
        each: &mut dyn FnMut(&Path, &mut InputFiles) -> Result<()>,
    ) -> Result<()> {
        for fleet in fleets {
            refuse_other_url(Path::new(fleet), "--fleet -")?;
            let is_url = files.is_url(Path::new(fleet));
            for path in if is_url { vec![PathBuf::from(fleet)] } else { glob::expand(fleet)? } {
                each(&path, files)?;
            }
        }
        Ok(())
    }

    /// Reads the files of layers, and puts the clusters of `fleet` into groups with the same ones.
    ///
    /// # Errors
    /// Errors of [`LayerPath::parse`]; failures of clusters whose files cannot be read.
    pub(crate) fn groups(
        &self,
        fleet: &mut Fleet,
        files: &mut InputFiles,
    ) -> std::result::Result<LayerGroups, Vec<Failure>> {
        let layers = self.layer_paths().map_err(|error| vec![Failure::new(error)])?;
        let mut read = |path: &str, may_be_missing: bool| {
            let path = Path::new(path);
            if is_missing_layer(path, may_be_missing, files) {
                Ok(None)
            } else {
                values_file(path, "--layer -", files).map(Some)
            }
        };
        LayerGroups::read(&layers, fleet, &mut read)
    }

    /// Works like [`ReadingArgs::groups`], for one cluster or none. Also returns the cluster in its group.
    ///
    /// # Errors
    /// Same as [`ReadingArgs::groups`].
    pub(crate) fn groups_of(
        &self,
        cluster: Option<Cluster>,
        files: &mut InputFiles,
    ) -> std::result::Result<(LayerGroups, Option<Cluster>), Failed> {
        let mut fleet = Fleet::new(cluster.into_iter().collect())?;
        let groups = self.groups(&mut fleet, files)?;
        let cluster = if fleet.is_empty() { None } else { Some(fleet.reader().cluster(0)?.clone()) };
        Ok((groups, cluster))
    }

    fn layer_paths(&self) -> Result<Vec<LayerPath>> {
        self.layers.iter().map(|path| LayerPath::parse(&path.to_string_lossy())).collect()
    }

    /// Returns the files of layers, or the folders that have those of clusters.
    pub(crate) fn layer_roots(&self) -> impl Iterator<Item = PathBuf> {
        self.layers.iter().map(|path| {
            let text = path.to_string_lossy();
            let text = text.strip_suffix('?').unwrap_or(&text);
            match text.split_once('{') {
                Some((before, _)) => Path::new(before).join("x").parent().map(Path::to_owned).unwrap_or_default(),
                None => PathBuf::from(text),
            }
        })
    }

    fn options(&self) -> FleetOptions<'_> {
        let (name_key, csv_types) = (self.name_key.as_deref(), self.csv_types.unwrap_or_default());
        FleetOptions { name_key, csv_types, name_from: self.name_from }
    }

    /// Returns the effect of a cluster's values on shared ones.
    pub(crate) fn merge(&self) -> Merge {
        self.merge.unwrap_or_default()
    }

    /// Returns the path of a cluster's name, if it is given.
    pub(crate) fn name_key(&self) -> Option<&str> {
        self.name_key.as_deref()
    }
}

impl FleetArgs {
    /// Creates the options of a fleet.
    pub(crate) fn new(fleet: Vec<String>, reading: ReadingArgs, selector: Vec<String>) -> Self {
        Self { fleet, reading, selector, only: None, given: None }
    }

    /// Creates the options of one cluster of a fleet.
    pub(crate) fn of_cluster(fleet: Vec<String>, reading: ReadingArgs, name: &str) -> Self {
        Self { only: Some(name.to_owned()), ..Self::new(fleet, reading, Vec::new()) }
    }

    /// Creates the options of clusters that no file has.
    pub(crate) fn of_clusters(clusters: Vec<Cluster>, reading: ReadingArgs) -> Self {
        Self { given: Some(clusters), ..Self::new(Vec::new(), reading, Vec::new()) }
    }

    /// Returns `true` for one cluster of the fleet.
    pub(crate) fn is_one(&self) -> bool {
        self.only.is_some()
    }

    /// Reads the clusters of all fleets.
    ///
    /// # Errors
    /// Errors of [`ReadingArgs::read`]; `usage` if there is no cluster with the name.
    pub(crate) fn read(&self, files: &mut InputFiles) -> Result<Fleet> {
        if let Some(clusters) = &self.given {
            return Fleet::new(clusters.clone());
        }
        let fleet = self.reading.read(&self.fleet, files)?;
        match &self.only {
            Some(name) => Fleet::new(vec![find(&fleet, name)?]),
            None => Ok(fleet),
        }
    }

    /// Returns the paths of layers.
    ///
    /// # Errors
    /// Errors of [`LayerPath::parse`].
    pub(crate) fn layer_paths(&self) -> Result<Vec<LayerPath>> {
        self.reading.layer_paths()
    }

    /// Returns the files of layers, or the folders that have those of clusters.
    pub(crate) fn layer_roots(&self) -> impl Iterator<Item = PathBuf> {
        self.reading.layer_roots()
    }

    /// Opens all fleets to read them once.
    ///
    /// # Errors
    /// Errors of opening the files; `usage` for a format that cannot be read batch by batch, and for layers of clusters.
    pub(crate) fn stream(&self, files: &mut InputFiles) -> Result<FleetStream<'static>> {
        if let Some(layer) = self.reading.layer_paths()?.iter().find(|layer| !layer.is_constant()) {
            let message = format!("`--stream` cannot be combined with the layer `{}`", layer.path());
            let help = "leave out `--stream`: the fleet is read first to find the files of its clusters";
            return Err(Diagnostic::new(Code::Usage, message).with_help(help));
        }
        self.reading.stream(&self.fleet, files)
    }

    /// Returns the effect of a cluster's values on shared ones.
    pub(crate) fn merge(&self) -> Merge {
        self.reading.merge()
    }

    /// Returns the path of a cluster's name, if it is given.
    pub(crate) fn name_key(&self) -> Option<&str> {
        self.reading.name_key()
    }

    /// Parses the selectors. A cluster has to meet all of them.
    ///
    /// # Errors
    /// Errors of [`Selector::parse`].
    pub(crate) fn selector(&self) -> Result<Selector> {
        selector(&self.selector)
    }

    /// Checks that no data file beside a fleet is among the templates: the shell has expanded the pattern of the fleet.
    ///
    /// # Errors
    /// `usage` for the first such file.
    pub(crate) fn check_templates(&self, templates: &[PathBuf]) -> Result<()> {
        let fleets: Vec<&Path> = self.fleet.iter().map(Path::new).filter(|path| path.is_file()).collect();
        let is_data = |path: &Path| {
            let name = path.to_string_lossy();
            Format::of_name(&name).is_some() && dialect_of(&name).is_none()
        };
        let is_beside = |path: &&PathBuf| fleets.iter().any(|fleet| path.parent() == fleet.parent());
        let Some(path) = templates.iter().filter(|path| is_data(path)).find(is_beside) else { return Ok(()) };
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let message = format!("`{}` is a data file, not a template", path.display());
        let help = format!(
            "the shell expanded the pattern: quote it, or name the folder: `--fleet '{}'` or `--fleet {}`",
            dir.join(format!("*.{extension}")).display(),
            dir.display()
        );
        Err(Diagnostic::new(Code::Usage, message).with_help(help))
    }
}

/// Parses selectors. A cluster has to meet all of them.
///
/// # Errors
/// Errors of [`Selector::parse`].
pub(crate) fn selector(texts: &[String]) -> Result<Selector> {
    texts.iter().try_fold(Selector::default(), |all, text| Selector::parse(text).map(|one| all.and(one)))
}

/// Checks that `selector` selects one of the clusters, if there are any.
///
/// # Errors
/// `usage` with the values that its keys have.
pub(crate) fn check_selection(selector: &Selector, fleet: &Fleet, layers: &Layers, selected: usize) -> Result<()> {
    match selected == 0 && !selector.is_empty() && !fleet.is_empty() {
        true => Err(selector.selects_nothing(fleet, layers)?),
        false => Ok(()),
    }
}
