//! The renderer of several releases.

use super::Release;
use super::objects::ObjectCheck;
use super::patched::Rendered;
use super::values::{enabled, of_release};
use crate::cluster::Cluster;
use crate::job::{Checked, Job, Renderer, Stamp};
use crate::kube::KubeSchemas;
use crate::layers::{Layers, Overlay};
use crate::pieces::Piece;
use crate::plan::Plan;
use crate::specialised::Specialisation;
use crate::why::RecordedOutput;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_engine::recording::Why;
use std::collections::HashMap;

/// Renders the releases of each cluster, one after another.
pub(super) struct ReleaseStamper<'s> {
    releases: &'s [Release],
    objects: &'s ObjectCheck,
    stamps: Vec<Box<dyn Stamp + 's>>,
    layers: &'s Layers,
    /// The document fields in the layout.
    fields: Vec<String>,
}

impl<'s> ReleaseStamper<'s> {
    pub(super) fn new(
        (releases, objects): (&'s [Release], &'s ObjectCheck),
        plan: Option<&Plan>,
        layers: &'s Layers,
        kinds: Option<&'s KubeSchemas>,
    ) -> Result<Self> {
        let stamp = |release: &'s Release| release.set.stamper_of(&release.outputs.all, plan, layers, kinds);
        let fields = plan.into_iter().flat_map(|plan| plan.layout().placeholders_of_fields().map(str::to_owned));
        let stamps = releases.iter().map(stamp).collect::<Result<_>>()?;
        Ok(Self { releases, objects, stamps, layers, fields: fields.collect() })
    }
}

/// The bytes of stack that one release takes: the renderers of all releases lie below one another.
const STACK: usize = 128 << 10;

impl Stamp for ReleaseStamper<'_> {
    fn stack_bytes(&self) -> usize {
        self.releases.len() * STACK
    }

    fn prepare(&self, job: &Job<'_>) {
        self.stamps.iter().for_each(|stamp| stamp.prepare(job));
    }

    fn has_secrets(&self, layers: &Layers) -> bool {
        self.stamps.iter().any(|stamp| stamp.has_secrets(layers))
    }

    fn each_secret(&self, layers: &Layers, cluster: &Cluster, each: &mut dyn FnMut(&str)) {
        layers.each_secret(Some(cluster), each);
        for release in self.releases {
            if let (Some(chart), Ok(own)) = (release.chart(), release.overlay(layers, cluster)) {
                chart.each_secret(cluster, &own, each);
            }
        }
    }

    fn record(&self, layers: &Layers, cluster: &Cluster, output: usize) -> Option<RecordedOutput> {
        let (release, _, own) = of(self.releases, output)?;
        let release = self.releases.get(release)?;
        release.record(&release.outputs.all.get(own)?.template, layers, cluster).ok()
    }

    fn recording_of(&self, output: usize) -> usize {
        let found = of(self.releases, output);
        found.and_then(|(at, first, own)| Some(first + self.stamps.get(at)?.recording_of(own))).unwrap_or(output)
    }

    fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
        nest(&self.stamps, Vec::new(), &mut |renderers| {
            let Self { releases, objects, layers, fields, .. } = self;
            body(&mut Releases { releases, objects, layers, renderers, fields, pieces: HashMap::new() });
        });
    }

    fn specialisation(&self, job: &Job<'_>) -> Specialisation {
        let all = self.stamps.iter().map(|stamp| stamp.specialisation(job));
        all.max_by_key(|one| one.templates.len()).unwrap_or_default()
    }
}

/// Calls `body` with a renderer of each stamp.
fn nest<'r>(
    stamps: &[Box<dyn Stamp + '_>],
    renderers: Vec<&'r mut dyn Renderer>,
    body: &mut dyn FnMut(Vec<&mut dyn Renderer>),
) {
    let Some((first, rest)) = stamps.split_first() else { return body(renderers) };
    let mut renderers = Some(renderers);
    first.work(&mut |renderer| {
        let others = renderers.take().into_iter().flatten();
        let mut all: Vec<&mut dyn Renderer> = others.map(|one| one as &mut dyn Renderer).collect();
        all.push(renderer);
        nest(rest, all, body);
    });
}

/// The renderer of one thread.
struct Releases<'t, 'r> {
    releases: &'t [Release],
    objects: &'t ObjectCheck,
    layers: &'t Layers,
    renderers: Vec<&'r mut dyn Renderer>,
    /// The document fields in the layout.
    fields: &'t [String],
    /// The documents of releases with patches, by the number of the release.
    pieces: HashMap<usize, Vec<Piece>>,
}

/// Returns the number of the release with an output, the first output of the release, and the number of the output in it.
fn of(releases: &[Release], output: usize) -> Option<(usize, usize, usize)> {
    let mut first = 0;
    for (at, release) in releases.iter().enumerate() {
        let count = release.outputs.all.len();
        if output < first + count {
            return Some((at, first, output - first));
        }
        first += count;
    }
    None
}

impl<'t, 'r> Releases<'t, 'r> {
    /// Returns the release with an output, its renderer, and the number of the output in it.
    fn of(&mut self, output: usize) -> Option<(&'t Release, &mut &'r mut dyn Renderer, usize)> {
        let (release, _, own) = of(self.releases, output)?;
        Some((self.releases.get(release)?, self.renderers.get_mut(release)?, own))
    }
}

impl Renderer for Releases<'_, '_> {
    fn render(
        &mut self,
        at: Option<usize>,
        cluster: &Cluster,
        _: &Overlay<'_>,
        text: &mut String,
        results: &mut Vec<Result<usize>>,
    ) -> Result<()> {
        let enabled = enabled(self.releases, self.layers, cluster)?;
        let (mut own_results, first) = (Vec::new(), results.len());
        let mut start = text.len();
        self.pieces.clear();
        let renderers = self.releases.iter().zip(&mut self.renderers).zip(enabled.iter());
        for (number, ((release, renderer), is_enabled)) in renderers.enumerate() {
            let (begin, outputs) = (text.len(), &release.outputs.all);
            if !is_enabled {
                results.extend(outputs.iter().map(|_| Ok(text.len())));
                continue;
            }
            own_results.clear();
            let rendered = release
                .overlay(self.layers, cluster)
                .and_then(|own| renderer.render(at, cluster, &own, text, &mut own_results));
            if let Err(error) = rendered {
                own_results.push(Err(error));
            }
            if !release.patches.is_empty() && own_results.iter().all(Result::is_ok) {
                let mut pieces = Vec::new();
                renderer.take_pieces(&mut pieces);
                let mut rendered = Rendered { text: &mut *text, begin, results: &mut own_results, pieces: &mut pieces };
                rendered.patch(release, (self.layers, cluster), self.fields);
                self.pieces.insert(number, pieces);
            }
            let named = |(at, result): (usize, Result<usize>)| {
                result.map_err(|mut error| {
                    error.template = error.template.or_else(|| Some(outputs.get(at)?.template.clone()));
                    of_release(error, release)
                })
            };
            results.extend(own_results.drain(..).enumerate().map(named));
        }
        let ends: Option<Vec<usize>> =
            results.get(first..).unwrap_or_default().iter().map(|result| result.as_ref().ok().copied()).collect();
        if let (Some(ends), Some(at)) = (ends, at)
            && enabled.iter().filter(|one| **one).count() > 1
        {
            let mut texts = ends.into_iter().map(|end| text.get(std::mem::replace(&mut start, end)..end).unwrap_or(""));
            let of = |release: &Release| texts.by_ref().take(release.outputs.all.len()).collect();
            let texts: Vec<Vec<&str>> = self.releases.iter().map(of).collect();
            let found = self.objects.check(self.releases, self.layers, (at, cluster), &texts);
            results.extend(found.into_iter().map(Err));
        }
        Ok(())
    }

    fn check(&mut self, output: usize, path: &str, text: &str) -> Checked<'_> {
        let Some((release, renderer, output)) = self.of(output) else { return Checked::default() };
        let Checked { errors, marks } = renderer.check(output, path, text);
        Checked { errors: errors.into_iter().map(|error| of_release(error, release)).collect(), marks }
    }

    fn show_writer(
        &mut self,
        cluster: &Cluster,
        _: &Overlay<'_>,
        (output, text): (usize, &str),
        errors: &mut [Box<Diagnostic>],
    ) {
        let layers = self.layers;
        let Some((release, renderer, output)) = self.of(output) else { return };
        if !release.patches.is_empty() {
            let template = release.outputs.all.get(output).map_or("", |output| &output.template);
            let Ok(recorded) = release.record(template, layers, cluster) else { return };
            for error in errors {
                let why = error.primary().and_then(|label| recorded.why(text, label.span.start as usize));
                error.labels.extend(why.map(Why::into_labels).unwrap_or_default());
            }
        } else if let Ok(own) = release.overlay(layers, cluster) {
            renderer.show_writer(cluster, &own, (output, text), errors);
        }
    }

    fn take_pieces(&mut self, to: &mut Vec<Piece>) {
        let mut first = 0;
        for (at, (release, renderer)) in self.releases.iter().zip(&mut self.renderers).enumerate() {
            let from = to.len();
            match self.pieces.remove(&at) {
                Some(mut patched) => to.append(&mut patched),
                None => renderer.take_pieces(to),
            }
            to.iter_mut().skip(from).for_each(|piece| piece.output += first);
            first += release.outputs.all.len();
        }
    }
}
