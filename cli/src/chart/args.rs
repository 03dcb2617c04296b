//! Options of charts, and the values that a user gives to one.

use std::path::Path;

use crate::input::InputFiles;
use crate::options::{CheckMode, LanguageArgs, SetArgs, ValueArgs};
use crate::schema::SchemaArgs;
use crate::usage::{self, CHART, NO_CHART, refuse};
use clap::Args;
use dropforge::bulk::input::Place;
use dropforge::bulk::values::SetKind;
use dropforge::bulk::{ChartSet, DocumentCheck, Layers, Pattern};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge::dialect::helm::chart::{Capabilities, HelmLine, Release, Selection, UserValues};
use dropforge::engine::chart::ChartTemplate;

/// Options of a chart that is rendered once.
#[derive(Debug, Args)]
#[command(next_help_heading = "Helm charts")]
pub(crate) struct ChartArgs {
    /// Set the name of the release [default: release-name]
    #[arg(long, value_name = "NAME", value_parser = release_name)]
    name: Option<String>,
    #[command(flatten)]
    release: ReleaseArgs,
    /// Print only the documents of these templates: `templates/app.yaml`
    #[arg(short = 's', long, value_name = "PATTERN")]
    pub(super) show_only: Vec<String>,
}

/// Options of a chart that is stamped for a fleet.
#[derive(Debug, Args)]
#[command(next_help_heading = "Helm charts")]
pub(crate) struct FleetChartArgs {
    #[command(flatten)]
    releases: ReleasesArgs,
    /// Turn warnings about documents into errors (strict): duplicate keys and unknown hooks
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "usual",
        hide_possible_values = true, hide_short_help = true)]
    check_output: Option<CheckMode>,
}

/// Options of the releases of a fleet.
#[derive(Debug, Args)]
#[command(next_help_heading = "Helm charts")]
pub(crate) struct ReleasesArgs {
    /// Set the name of all releases
    ///
    /// The default is the name of the cluster.
    #[arg(long, value_name = "NAME", value_parser = release_name)]
    name: Option<String>,
    /// Take the namespace of a release from this path of its values: `cluster.namespace`
    #[arg(long, value_name = "PATH", hide_short_help = true)]
    namespace_key: Option<String>,
    #[command(flatten)]
    release: ReleaseArgs,
}

/// Options of releases.
#[derive(Debug, Args)]
struct ReleaseArgs {
    /// Set the namespace of the release
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Set the version of Kubernetes [default: v1.37.0, or v1.36.0 with `--helm 4.2`]
    #[arg(long, value_name = "VERSION", hide_short_help = true)]
    kube_version: Option<String>,
    /// Show charts this line of Helm, 4.2 or 4.3, with the APIs that it knows [default: 4.3]
    #[arg(long, value_name = "LINE", hide_short_help = true)]
    helm: Option<HelmLine>,
    /// Add APIs to those of Kubernetes: `monitoring.coreos.com/v1`
    #[arg(short = 'a', long, value_name = "APIS", value_delimiter = ',', hide_short_help = true)]
    api_versions: Vec<String>,
    /// Also write custom resource definitions
    #[arg(long, hide_short_help = true)]
    include_crds: bool,
    /// Leave out hooks
    #[arg(long, hide_short_help = true)]
    no_hooks: bool,
    /// Leave out tests, which are hooks
    #[arg(long, hide_short_help = true)]
    skip_tests: bool,
    /// Render for an upgrade instead of an installation
    #[arg(long, hide_short_help = true)]
    is_upgrade: bool,
}

impl ChartArgs {
    /// Checks that no option of charts is used with other templates.
    ///
    /// # Errors
    /// `usage` with the first such option.
    pub(crate) fn check_unused(&self, path: &Path) -> Result<()> {
        let own = [("--name", self.name.is_some()), ("--show-only", !self.show_only.is_empty())];
        refuse(&own, path, NO_CHART)?;
        refuse(&self.release.given(), path, NO_CHART)
    }

    /// Returns `true` if the name of the release is given.
    pub(crate) fn is_named(&self) -> bool {
        self.name.is_some()
    }

    /// Returns the release.
    pub(crate) fn release(&self) -> Release {
        let usual = self.release.release();
        Release { name: self.name.clone().unwrap_or(usual.name), ..usual }
    }

    /// Returns the cluster.
    ///
    /// # Errors
    /// `usage` for a text that is not a version.
    #[cfg(feature = "console")]
    pub(crate) fn capabilities(&self) -> Result<Capabilities> {
        self.release.capabilities()
    }

    /// Returns a chart with these options: for one text or for files, and with warnings about documents as errors or not.
    ///
    /// # Errors
    /// `usage` for a text that is not a version.
    pub(crate) fn chart(
        &self,
        template: ChartTemplate,
        values: Vec<UserValues>,
        (single, is_strict): (bool, bool),
    ) -> Result<ChartSet> {
        let name = Pattern::parse("release name", &self.release().name)?;
        Ok(ChartSet {
            release: self.release(),
            name: Some(name),
            single,
            check: DocumentCheck::new(is_strict),
            ..self.release.chart(template, values)?
        })
    }
}

impl FleetChartArgs {
    /// Checks that no option of charts is used with other templates.
    ///
    /// # Errors
    /// `usage` with the first such option.
    pub(crate) fn check_unused(&self, path: &Path) -> Result<()> {
        self.releases.check_unused(path)?;
        refuse(&[("--check-output", self.check_output == Some(CheckMode::Strict))], path, NO_CHART)
    }

    /// Returns a chart with these options, for the clusters of a fleet.
    ///
    /// # Errors
    /// `usage` for a text that is not a version.
    pub(crate) fn chart(
        &self,
        template: ChartTemplate,
        (values, name_key): (Vec<UserValues>, Option<&str>),
        single: bool,
    ) -> Result<ChartSet> {
        let check = DocumentCheck::new(self.check_output == Some(CheckMode::Strict));
        Ok(ChartSet { single, check, ..self.releases.chart(template, values, name_key)? })
    }
}

impl ReleasesArgs {
    /// Checks that no option of charts is used with other templates.
    ///
    /// # Errors
    /// `usage` with the first such option.
    pub(crate) fn check_unused(&self, path: &Path) -> Result<()> {
        let own = [("--name", self.name.is_some()), ("--namespace-key", self.namespace_key.is_some())];
        refuse(&own, path, NO_CHART)?;
        refuse(&self.release.given(), path, NO_CHART)
    }

    /// Marks the keys that tell a fleet about its clusters.
    pub(crate) fn of_fleet(&self, values: &mut UserValues, name_key: Option<&str>) {
        values.of_fleet(name_key.into_iter().chain(self.namespace_key.as_deref()));
    }

    /// Returns a chart with these options, with one text for each cluster.
    ///
    /// # Errors
    /// `usage` for a text that is not a version.
    pub(crate) fn chart(
        &self,
        template: ChartTemplate,
        mut values: Vec<UserValues>,
        name_key: Option<&str>,
    ) -> Result<ChartSet> {
        values.iter_mut().for_each(|values| self.of_fleet(values, name_key));
        let name = self.name.as_deref().map(|name| Pattern::parse("release name", name)).transpose()?;
        let namespace_key = self.namespace_key.clone();
        Ok(ChartSet { name, namespace_key, ..self.release.chart(template, values)? })
    }
}

impl ReleaseArgs {
    /// Returns the options, with `true` for those that are given.
    fn given(&self) -> [(&'static str, bool); 8] {
        [
            ("--namespace", self.namespace.is_some()),
            ("--kube-version", self.kube_version.is_some()),
            ("--helm", self.helm.is_some()),
            ("--api-versions", !self.api_versions.is_empty()),
            ("--include-crds", self.include_crds),
            ("--no-hooks", self.no_hooks),
            ("--skip-tests", self.skip_tests),
            ("--is-upgrade", self.is_upgrade),
        ]
    }

    fn release(&self) -> Release {
        let usual = Release::default();
        let namespace = self.namespace.clone().unwrap_or(usual.namespace);
        Release { namespace, is_upgrade: self.is_upgrade, ..usual }
    }

    fn capabilities(&self) -> Result<Capabilities> {
        let apis = self.api_versions.iter().filter(|api| !api.contains('{')).cloned();
        let capabilities = Capabilities::of_helm(self.helm.unwrap_or_default()).with_apis(apis);
        match &self.kube_version {
            Some(version) if !version.contains('{') => capabilities.with_kube_version(version),
            _ => Ok(capabilities),
        }
    }

    /// Returns the APIs with placeholders.
    fn api_patterns(&self) -> Result<Vec<Pattern>> {
        let all = self.api_versions.iter().map(|api| patterned("API", Some(api)));
        all.filter_map(Result::transpose).collect()
    }

    /// Returns a chart with one text for each cluster.
    fn chart(&self, template: ChartTemplate, values: Vec<UserValues>) -> Result<ChartSet> {
        let mut values = values.into_iter();
        Ok(ChartSet {
            template,
            values: values.next().unwrap_or_default(),
            groups: values.collect(),
            release: self.release(),
            capabilities: self.capabilities()?,
            selection: Selection { hooks: !self.no_hooks, tests: !self.skip_tests, crds: self.include_crds },
            name: None,
            namespace: patterned("namespace", self.namespace.as_deref())?,
            kube_version: patterned("version of Kubernetes", self.kube_version.as_deref())?,
            api_versions: self.api_patterns()?,
            is_one_of_many: false,
            namespace_key: None,
            single: true,
            check: DocumentCheck::new(false),
        })
    }
}

/// Returns a text with placeholders. `None` for one without any.
fn patterned(what: &'static str, text: Option<&str>) -> Result<Option<Pattern>> {
    text.filter(|text| text.contains('{')).map(|text| Pattern::parse(what, text)).transpose()
}

/// Checks that no option of languages and schemas is given that charts do not have. Values may have a schema beside those of
/// the chart.
///
/// # Errors
/// `usage` with the first such option.
pub(crate) fn refuse_others(language: &LanguageArgs, schema: &SchemaArgs, chart: &Path) -> Result<()> {
    let options = [
        ("--lang", language.lang.is_some()),
        ("--missing-key", language.missing_key.is_some()),
        ("--include-root", language.include_root.is_some()),
    ];
    let first = usage::first(&options).or_else(|| schema.first_beside_schema());
    first.map_or(Ok(()), |option| Err(usage::unfit(option, chart, CHART)))
}

/// Parses the name of a release.
fn release_name(text: &str) -> std::result::Result<String, String> {
    let release = Release { name: text.to_owned(), ..Release::default() };
    release.check_name().map(|()| release.name).map_err(|error| error.help.unwrap_or(error.message))
}

/// Kinds of `--set` options in the order in which they apply, whatever their order on the command line.
const ORDER: [SetKind; 5] = [SetKind::Json, SetKind::Typed, SetKind::Text, SetKind::File, SetKind::Literal];

/// Reads the files of `-f` and the `--set` options, for each group of clusters with the files of its layers between them.
///
/// # Errors
/// Errors of [`user_values`].
pub(crate) fn user_values_of(
    args: &ValueArgs,
    layers: &Layers,
    skips_schemas: bool,
    files: &mut InputFiles,
) -> std::result::Result<Vec<UserValues>, Diagnostics> {
    let of_group = |places: &[Place]| {
        let own = places.get(args.values.len()..).unwrap_or_default();
        let mut values = user_values(args, own, files)?;
        values.skip_schemas(skips_schemas);
        Ok(values)
    };
    layers.places().map(of_group).collect()
}

/// Reads the files of `-f` and the `--set` options. `layers` are files between them.
///
/// # Errors
/// Errors of reading and parsing; `usage` for `--env-prefix`.
pub(crate) fn user_values(
    args: &ValueArgs,
    layers: &[Place],
    files: &mut InputFiles,
) -> std::result::Result<UserValues, Diagnostics> {
    if !args.env_prefix.is_empty() {
        let error = Diagnostic::new(Code::Usage, "`--env-prefix` does not apply to Helm charts");
        return Err(error.with_help("use `-f` or `--set`").into());
    }
    args.check_dashes()?;
    let mut values = UserValues::default();
    for path in &args.values {
        let source = files.values(path, "-f -")?;
        values.file(source.name(), source.text())?;
    }
    for layer in layers {
        values.file(layer.source().name(), layer.source().text())?;
    }
    assign(&mut values, &args.sets, files)?;
    Ok(values)
}

/// Adds the `--set` options.
///
/// # Errors
/// Errors of reading and parsing.
pub(crate) fn assign(
    values: &mut UserValues,
    sets: &SetArgs,
    files: &mut InputFiles,
) -> std::result::Result<(), Diagnostics> {
    for kind in ORDER {
        for (_, text) in sets.0.iter().filter(|(one, _)| *one == kind) {
            match kind {
                SetKind::Json => values.set_json(text),
                SetKind::Text => values.set_string(text),
                SetKind::File => values
                    .set_file(text, &mut |path| Ok(files.read(path.as_ref(), "--set-file K=-")?.text().to_owned())),
                SetKind::Literal => values.set_literal(text),
                _ => values.set(text),
            }?;
        }
    }
    Ok(())
}
