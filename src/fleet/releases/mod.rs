//! Several releases in one run: charts and sets of templates, each with values of its own, for every cluster that wants them.
//!
//! The releases of a run are one template set: their outputs follow one another. So one plan, one set of checks, one diff
//! and one state are made of them.

mod objects;
mod patched;
mod stamper;
mod unread;
mod values;
mod view;

use self::objects::ObjectCheck;
use self::stamper::ReleaseStamper;
use self::values::CLUSTER;
pub(crate) use self::values::rendered;
pub use self::values::{Condition, ReleaseValues};
pub use self::view::ReleaseView;
use super::charts::{ChartSet, OwnInputs};
use super::cluster::Cluster;
use super::job::Stamp;
use super::kube::KubeSchemas;
use super::layer_files::ValuesFile;
use super::layers::{Layers, Overlay};
use super::output_names::TemplatePaths;
use super::patches::{ClusterPatches, Patches};
use super::pattern::Pattern;
use super::plan::{Output, Plan};
use super::plan_digest::PlanDigest;
use super::selector::Selection;
use super::sets::{RunOutputs, RunSet};
use super::unread::ReadValues;
use crate::why::RecordedOutput;
use dropforge_base::diagnostics::{Diagnostic, Diagnostics, Result};
use dropforge_base::text::Source;
use dropforge_engine::Template;
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// The key of a cluster's values that has the values of releases by their names.
pub const RELEASES: &str = "releases";

/// A release: a chart or a set of templates, for the clusters that want it.
#[derive(Debug)]
pub struct Release {
    /// The name. Its placeholders are values of clusters.
    pub name: Pattern,
    /// The chart or the templates.
    pub set: Box<dyn RunSet>,
    /// The outputs of the set.
    pub outputs: RunOutputs,
    /// The paths of the templates.
    pub paths: TemplatePaths,
    /// The condition on clusters.
    pub when: Option<Condition>,
    /// The values of the release.
    pub values: ReleaseValues,
    /// The patches of what it renders.
    pub patches: Patches,
}

impl Release {
    /// Renders the output of a template for a cluster and records it.
    fn record(
        &self,
        template: &str,
        layers: &Layers,
        cluster: &Cluster,
    ) -> std::result::Result<RecordedOutput, Diagnostics> {
        let own = self.overlay(layers, cluster)?;
        let mut recorded = self.set.record_over(template, layers, (cluster, &own))?;
        recorded.release = self.givens(layers, cluster)?;
        if !self.patches.is_empty() {
            let outputs = self.unpatched(template, &recorded, layers, (cluster, &own))?;
            let patched = self.patches.record(outputs, (layers, cluster), self.namespace(layers, cluster))?;
            recorded.patched = Some(Box::new(patched));
        }
        Ok(recorded)
    }

    /// Returns the names and texts of the outputs that a recording has, without patches.
    fn unpatched(
        &self,
        template: &str,
        recorded: &RecordedOutput,
        layers: &Layers,
        (cluster, own): (&Cluster, &Overlay<'_>),
    ) -> Result<Vec<(String, String)>> {
        if let Some(text) = recorded.text() {
            let output = self.outputs.all.iter().find(|output| output.template == template);
            return Ok(output.into_iter().map(|output| (output.name.clone(), text.to_owned())).collect());
        }
        let (mut text, mut ends, mut rendered) = (String::new(), Vec::new(), Ok(()));
        let stamper = self.set.stamper_of(&self.outputs.all, None, layers, None)?;
        stamper.work(&mut |renderer| rendered = renderer.render(None, cluster, own, &mut text, &mut ends));
        rendered?;
        let mut start = 0;
        let mut part = |end: usize| text.get(std::mem::replace(&mut start, end)..end).unwrap_or("").to_owned();
        let texts = ends.into_iter().map(|end| end.map(&mut part)).collect::<Result<Vec<_>>>()?;
        Ok(self.outputs.all.iter().map(|output| output.name.clone()).zip(texts).collect())
    }

    /// Returns the namespace of objects that name none, for a cluster.
    fn namespace(&self, layers: &Layers, cluster: &Cluster) -> String {
        self.chart().map(|chart| chart.namespace_of(layers, cluster)).unwrap_or_default()
    }

    /// Returns the patches of a cluster.
    fn patches_of(
        &self,
        layers: &Layers,
        cluster: &Cluster,
    ) -> std::result::Result<ClusterPatches<'_>, Vec<Box<Diagnostic>>> {
        self.patches.of_cluster(layers, cluster, self.namespace(layers, cluster))
    }

    /// Returns the chart, unless the release has templates.
    pub(super) fn chart(&self) -> Option<&ChartSet> {
        let set: &dyn Any = &*self.set;
        set.downcast_ref()
    }
}

/// The releases of a run, as one template set.
#[derive(Debug)]
pub struct ReleaseSet {
    releases: Vec<Release>,
    names: Vec<Pattern>,
    objects: ObjectCheck,
    /// What the set of each release reads, by its number. It is found when it is first asked for.
    reads: Vec<OnceLock<ReadValues>>,
    /// `true` if some releases of the project are left out.
    is_part: bool,
}

impl ReleaseSet {
    /// Joins releases. Also returns their outputs, and the paths of their templates: each is named by the release and the
    /// name of the template. If `is_strict`, an object that two releases make fails the cluster. If `is_part`, the project has
    /// other releases.
    pub fn new(releases: Vec<Release>, (is_strict, is_part): (bool, bool)) -> (Self, RunOutputs, TemplatePaths) {
        let (mut all, mut paths) =
            (RunOutputs { plain_stream: true, ..RunOutputs::default() }, TemplatePaths::default());
        for (at, release) in releases.iter().enumerate() {
            let name = |template: &str| template_name(release, template);
            let own = &release.outputs;
            for output in &own.all {
                paths.add(name(&output.template), release.paths.path(&output.template));
                paths.add_to_release(name(&output.template), release.name.text());
                all.all.push(Output { template: name(&output.template), release: Some(at), ..output.clone() });
            }
            release.paths.given().for_each(|path| paths.give(path));
            all.text = all.text.or_else(|| own.text.as_deref().map(name));
            all.other = all.other.or_else(|| own.other.as_deref().map(name));
            all.copied.extend(own.copied.iter().map(|template| name(template)));
            all.documents |= own.documents;
            all.plain_stream &= own.plain_stream;
        }
        let names = releases.iter().map(|release| release.name.clone()).collect();
        let reads = releases.iter().map(|_| OnceLock::new()).collect();
        (Self { releases, names, objects: ObjectCheck::new(is_strict), reads, is_part }, all, paths)
    }

    /// Returns the release with the output of a template, and the name of the template in it.
    fn find<'n>(&self, template: &'n str) -> Option<(usize, &'n str)> {
        let is_of = |release: &Release| {
            let rest = template.strip_prefix(release.name.text())?.strip_prefix(SEPARATOR)?;
            release.outputs.all.iter().any(|output| output.template == rest).then_some(rest)
        };
        self.releases.iter().enumerate().find_map(|(at, release)| Some((at, is_of(release)?)))
    }

    fn own<'n>(&self, template: &'n str) -> Option<(&Release, &'n str)> {
        let (at, template) = self.find(template)?;
        Some((self.releases.get(at)?, template))
    }
}

/// Stands between the name of a release and that of its template.
const SEPARATOR: &str = ": ";

fn template_name(release: &Release, template: &str) -> String {
    format!("{}{SEPARATOR}{template}", release.name.text())
}

impl RunSet for ReleaseSet {
    fn reads(&self, _: Option<&Layers>) -> ReadValues {
        let sets = self.releases.iter().filter(|release| release.chart().is_none());
        let templates = sets.flat_map(|release| release.set.templates());
        let conditions = self.releases.iter().filter_map(|release| release.when.as_ref());
        let values =
            self.releases.iter().flat_map(|release| release.values.templates().chain(release.patches.templates()));
        let mut read = ReadValues::by(templates.chain(conditions.clone().map(Condition::template)).chain(values));
        conditions.for_each(|condition| read.add_below(condition.template(), CLUSTER));
        self.add_reads_of_charts(&mut read);
        for release in &self.releases {
            let of_chart = release.chart().into_iter().flat_map(ChartSet::inputs);
            let of_patches = release.patches.inputs();
            let inputs = release.name.inputs().chain(release.values.inputs()).chain(of_patches).chain(of_chart);
            inputs.for_each(|path| read.add(path));
        }
        read
    }

    fn stamper_of<'s>(
        &'s self,
        _: &'s [Output],
        plan: Option<&Plan>,
        layers: &'s Layers,
        kinds: Option<&'s KubeSchemas>,
    ) -> Result<Box<dyn Stamp + 's>> {
        Ok(Box::new(ReleaseStamper::new((&self.releases, &self.objects), plan, layers, kinds)?))
    }

    fn record(
        &self,
        template: &str,
        layers: &Layers,
        cluster: &Cluster,
    ) -> std::result::Result<RecordedOutput, Diagnostics> {
        let Some((release, template)) = self.own(template) else {
            return Err(super::templates::not_found(template).into());
        };
        release.record(template, layers, cluster)
    }

    fn record_over(
        &self,
        template: &str,
        layers: &Layers,
        (cluster, _): (&Cluster, &Overlay<'_>),
    ) -> std::result::Result<RecordedOutput, Diagnostics> {
        self.record(template, layers, cluster)
    }

    fn templates(&self) -> Vec<&Template> {
        self.releases.iter().flat_map(|release| release.set.templates()).collect()
    }

    fn template(&self, name: &str) -> Option<&Template> {
        match self.own(name) {
            Some((release, template)) => release.set.template(template),
            None => self.releases.iter().find_map(|release| release.set.template(name)),
        }
    }

    fn fingerprint(&self, template: &str) -> Option<u64> {
        let (release, template) = self.own(template)?;
        release.set.fingerprint(template)
    }

    fn values_files(&self, cluster: &Cluster) -> Vec<Arc<Source>> {
        let files = self.releases.iter().flat_map(|release| release.values.files.files_of(cluster));
        files.flat_map(ValuesFile::sources).cloned().collect()
    }

    fn is_planned_by_values(&self) -> bool {
        // Releases have values of their own, which no fingerprint of a template has.
        true
    }

    fn is_checked_first(&self) -> bool {
        self.releases.len() > 1 && self.objects.is_strict()
    }

    fn releases(&self) -> &[Pattern] {
        &self.names
    }

    fn enabled(&self, layers: &Layers, cluster: &Cluster) -> Result<Vec<bool>> {
        values::enabled(&self.releases, layers, cluster)
    }

    fn add_to_digest(&self, digest: &mut PlanDigest) -> Result<()> {
        for release in &self.releases {
            digest.text(release.name.text());
            release.set.add_to_digest(digest)?;
        }
        Ok(())
    }

    fn mistakes(
        &self,
        layers: &Layers,
        clusters: &Selection<'_>,
        all: bool,
    ) -> std::result::Result<Vec<Box<Diagnostic>>, Diagnostics> {
        let mut found = self.unread_in_files();
        for release in &self.releases {
            let Some(chart) = release.chart() else { continue };
            let own: OwnInputs<'_> = &|cluster| {
                if values::enabled(std::slice::from_ref(release), layers, cluster)? == [true] {
                    release.overlay(layers, cluster).map(Some)
                } else {
                    Ok(None)
                }
            };
            let mistakes = chart.mistakes_of((layers, own), clusters, all)?.into_iter();
            found.extend(mistakes.map(|error| values::of_release(error, release)));
        }
        Ok(found)
    }

    fn warnings(&self, is_whole: bool) -> Vec<Box<Diagnostic>> {
        let of_sets = self.releases.iter().flat_map(|release| release.set.warnings(is_whole));
        // A patch may be for the other clusters.
        let of_patches = self.releases.iter().filter(|_| is_whole).flat_map(|release| {
            let warnings = release.patches.warnings().into_iter();
            warnings.map(|warning| values::of_release(warning, release))
        });
        of_sets.chain(of_patches).chain(self.objects.warnings()).collect()
    }
}
