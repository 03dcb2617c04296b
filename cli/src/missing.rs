//! Checks of templates with values, without rendering: names that nothing gives, and values that nothing reads;
//! warnings as errors.

use std::path::PathBuf;

use clap::Args;

use dropforge::bulk::{
    self, DEFAULT_LAYOUT, Failure, Fleet, LayerGroups, Layers, Layout, MissingNames, ReadValues, Selection,
    TemplateFile,
};
use dropforge::diagnostics::{Code, Diagnostic, Result, counted};
use dropforge::engine::Template;

use crate::exit::Failed;
use crate::fleet::{FleetArgs, ReadingArgs, check_selection, selector};
use crate::input::InputFiles;
use crate::layers;
use crate::options::{AllowArgs, ValueArgs};
use crate::project::key;
use crate::schema::SchemaArgs;
use crate::stderr::Stderr;

/// Options of values that templates are checked with.
#[derive(Debug, Args)]
pub(crate) struct CheckValuesArgs {
    /// Check with the values of clusters, from a file, a directory, a glob, or `-`
    #[arg(long, value_name = "FLEET", add = key("").path())]
    fleet: Vec<String>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Select clusters by values: k, !k, k=v, k!=v, k in (v,w), k notin (v,w)
    #[arg(short = 'l', long, requires = "fleet", value_name = "SELECTOR", add = key(""))]
    selector: Vec<String>,
    #[command(flatten)]
    values: ValueArgs,
}

/// The templates that are checked.
#[derive(Debug, Default)]
pub(crate) struct CheckedTemplates {
    /// The valid templates.
    pub(crate) templates: Vec<Template>,
    /// All files.
    pub(crate) files: Vec<TemplateFile>,
}

impl CheckedTemplates {
    /// Returns the templates that `stamp` makes an output of.
    pub(crate) fn outputs(&self) -> Vec<&Template> {
        let find = |name: &str| self.templates.iter().find(|template| template.name() == name);
        let mut references = |name: &str| Ok(find(name).map_or_else(Vec::new, |template| template.reaches().to_vec()));
        let names = bulk::outputs(&self.files, &mut references).unwrap_or_default();
        names.iter().filter_map(|name| find(name)).collect()
    }
}

impl CheckValuesArgs {
    /// Returns what templates may use.
    pub(crate) fn allow(&self) -> &AllowArgs {
        &self.values.allow
    }

    /// Returns the options of the fleet.
    pub(crate) fn fleet_args(&self) -> FleetArgs {
        FleetArgs::new(self.fleet.clone(), self.reading.clone(), self.selector.clone())
    }

    /// Returns the options that give values.
    pub(crate) fn values(&self) -> &ValueArgs {
        &self.values
    }

    /// Returns the path of a cluster's name, if it is given.
    pub(crate) fn name_key(&self) -> Option<&str> {
        self.reading.name_key()
    }

    /// Returns the selectors.
    pub(crate) fn selector(&self) -> &[String] {
        &self.selector
    }

    /// Reads the clusters, if a fleet is given, and the files of layers.
    ///
    /// # Errors
    /// Errors of reading the fleet.
    pub(crate) fn fleet(&self, files: &mut InputFiles) -> std::result::Result<(Option<Fleet>, LayerGroups), Failed> {
        if self.fleet.is_empty() {
            return Ok((None, self.reading.groups(&mut Fleet::default(), files)?));
        }
        let mut fleet = self.reading.read(&self.fleet, files)?;
        let groups = self.reading.groups(&mut fleet, files)?;
        Ok((Some(fleet), groups))
    }

    /// Reads and merges the values.
    ///
    /// # Errors
    /// Errors of reading them.
    pub(crate) fn layers(&self, groups: &LayerGroups, files: &mut InputFiles, stderr: &Stderr) -> Result<Layers> {
        Ok(layers::read(&self.values, files, stderr)?.layers(groups, self.reading.merge()))
    }

    /// Returns `true` if templates are checked with values.
    pub(crate) fn any(&self) -> bool {
        !self.fleet.is_empty() || self.values.gives_values()
    }

    /// Reads the merged values, and the clusters.
    ///
    /// # Errors
    /// Errors of reading values, schemas and fleets.
    #[cfg(feature = "lsp")]
    pub(crate) fn given(
        &self,
        (schema, templates): (&SchemaArgs, &[PathBuf]),
        files: &mut InputFiles,
        stderr: &Stderr,
    ) -> std::result::Result<(Layers, Fleet), Failed> {
        let (fleet, groups) = self.fleet(files)?;
        let layers = schema.add_to(self.layers(&groups, files, stderr)?, templates, files)?;
        Ok((layers, fleet.unwrap_or_default()))
    }

    /// Finds names that `checked` looks up and that nothing gives, violations of the schema of `templates`, and values that
    /// nothing reads. The last only if nothing else is wrong and `reads_all`, as `checked` then has all that reads values.
    ///
    /// # Errors
    /// Errors of reading values and schemas; `usage` for a selector that selects nothing.
    pub(crate) fn check(
        &self,
        checked: &CheckedTemplates,
        reads_all: bool,
        (fleet, groups): (&Fleet, &LayerGroups),
        (schema, templates): (&SchemaArgs, &[PathBuf]),
        files: &mut InputFiles,
        stderr: &Stderr,
    ) -> Result<Vec<Failure>> {
        let layers = self.layers(groups, files, stderr)?;
        let layers = schema.add_to(layers, templates, files)?;
        let selector = selector(&self.selector)?;
        let clusters = Selection::of(fleet, &layers, &selector)?;
        check_selection(&selector, fleet, &layers, clusters.len())?;
        let mut found = MissingNames::of(checked.outputs());
        if self.fleet.is_empty() || !clusters.is_empty() {
            found.look_at_all(&layers, &clusters)?;
        }
        let mut failures = found.into_failures(Some(fleet));
        if self.fleet.is_empty() || !clusters.is_empty() {
            failures.extend(clusters.violations(&layers)?);
        }
        failures.extend(layers.kind_changes(&clusters)?);
        // A name that nothing gives is often the reason that nothing reads another.
        if reads_all && failures.iter().all(|failure| failure.diagnostic.code == Code::KindChange) {
            let layout = Layout::parse(DEFAULT_LAYOUT)?;
            let read = ReadValues::by(&checked.templates).and_plan(&selector, &layout, self.reading.name_key());
            let read = read.and_declared(&layers);
            let unread = read.unread(&layers).into_iter();
            failures.extend(unread.map(Failure::new));
            failures.extend(read.unread_by_clusters(&layers, &clusters)?);
        }
        layers.hide_in_failures(fleet, &mut failures)?;
        Ok(failures)
    }
}

/// Options of warnings.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Checks")]
pub(crate) struct WarningArgs {
    /// Treat warnings as errors
    ///
    /// Nothing is written if there are warnings before rendering. An output of a
    /// kind without a schema (`--kube-schemas`) fails its cluster. Warnings after
    /// writing, such as those about pruning, give exit code 1.
    #[arg(long, add = key("checks"))]
    pub(crate) strict: bool,
    /// `true` if the project has other templates, which may read other values.
    #[arg(skip)]
    pub(crate) is_part: bool,
}

impl WarningArgs {
    /// Prints warnings for values that nothing reads, unless `--quiet` or a part of a project is given, and for `mistakes` in
    /// the templates, for all clusters or the first. Returns `true` if nothing may be written: there were warnings, and they
    /// are errors.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub(crate) fn refuse(
        &self,
        layers: &Layers,
        clusters: &Selection<'_>,
        read: impl FnOnce() -> ReadValues,
        mistakes: impl FnOnce(bool) -> Vec<Box<Diagnostic>>,
        stderr: &Stderr,
    ) -> Result<bool> {
        if self.strict || !stderr.quiet {
            mistakes(self.strict).iter().for_each(|warning| stderr.diagnostic(warning));
            layers.kind_changes(clusters)?.iter().for_each(|failure| stderr.failure(failure));
            if !self.is_part {
                print(&read().and_declared(layers), layers, clusters, stderr)?;
            }
        }
        let refuse = self.are_errors(stderr);
        if refuse {
            stderr.note(&format!("nothing is written: {} (--strict)", counted(stderr.warnings(), "warning")));
        }
        Ok(refuse)
    }

    /// Returns `true` if there were warnings and they are errors.
    pub(crate) fn are_errors(&self, stderr: &Stderr) -> bool {
        self.strict && stderr.warnings() > 0
    }
}

fn print(read: &ReadValues, layers: &Layers, clusters: &Selection<'_>, stderr: &Stderr) -> Result<()> {
    for failure in read.unread_in_run(layers, clusters)? {
        match failure.diagnostic.cluster {
            Some(_) => stderr.failure(&failure),
            None => stderr.diagnostic(&failure.diagnostic),
        }
    }
    Ok(())
}
