//! Finding the output that a place is in, and its answer.

use dropforge::bulk::why::{Answer, RecordedOutput, find};
use dropforge::bulk::{Cluster, Fleet, FleetChart, Forge, Layers, Output, Selector, Stamper, TemplatePaths};
use dropforge::diagnostics::Result;

use super::place::Wanted;
use crate::console::Console;
use crate::exit::Failed;
use crate::input::InputFiles;
use crate::render::RenderArgs;
use crate::stamp::StampArgs;

/// A command that renders.
#[derive(Debug)]
pub(crate) enum Subject {
    Stamp(Box<StampArgs>),
    Render(Box<RenderArgs>),
}

/// The values of a cluster.
pub(super) type Values<'v> = (&'v Layers, &'v Cluster);

/// What a command renders.
pub(crate) struct Rendering {
    pub(crate) fleet: Fleet,
    pub(crate) layers: Layers,
    pub(crate) selector: Selector,
    pub(crate) forge: Forge,
    /// The chart that makes all outputs instead of the templates.
    pub(crate) chart: Option<FleetChart>,
    pub(crate) paths: TemplatePaths,
    pub(crate) outputs: Vec<Output>,
}

impl Subject {
    /// Reads and compiles what the command renders.
    ///
    /// # Errors
    /// Errors of the command.
    pub(super) fn rendering(
        &self,
        files: &mut InputFiles,
        console: &Console,
    ) -> std::result::Result<Rendering, Failed> {
        match self {
            Self::Stamp(args) => crate::stamp::rendering(args, files, console),
            Self::Render(args) => crate::render::rendering(args, files, console),
        }
    }
}

impl Rendering {
    fn stamper(&self) -> Result<Stamper<'_>> {
        let names = self.outputs.iter().map(|output| output.template.as_str());
        match &self.chart {
            Some(chart) => Ok(Stamper::of_chart(chart, &self.layers)),
            None => self.forge.stamper(names, &self.layers),
        }
    }

    /// Calls `each` with the name and the recording of every output of the first cluster. A chart has one.
    ///
    /// # Errors
    /// The first error of a render.
    pub(super) fn each_recorded(
        &self,
        each: &mut dyn FnMut(&str, &RecordedOutput, Values<'_>),
    ) -> std::result::Result<(), Failed> {
        let (stamper, mut reader) = (self.stamper()?, self.fleet.reader());
        let cluster = reader.cluster(0)?;
        for (nth, output) in self.outputs.iter().enumerate() {
            each(&output.template, &stamper.recorded(&self.layers, cluster, nth)?, (&self.layers, cluster));
        }
        Ok(())
    }

    /// Renders again and finds what wrote the place.
    ///
    /// # Errors
    /// Errors of the command.
    pub(super) fn search(&self, wanted: &Wanted) -> std::result::Result<Option<Answer>, Failed> {
        let stamper = self.stamper()?;
        let (mut found, mut failed) = (None, None);
        let cluster = wanted.of.as_ref().map(|maker| maker.cluster.as_str());
        self.fleet.each(&mut |_, one| {
            let is_wanted = cluster.is_none_or(|name| one.name() == name);
            if found.is_some() || failed.is_some() || !is_wanted || !self.selects(one)? {
                return Ok(());
            }
            match self.of_cluster(&stamper, one, wanted) {
                Ok(report) => found = report,
                Err(error) => failed = Some(error),
            }
            Ok(())
        })?;
        failed.map_or(Ok(found), Err)
    }

    fn selects(&self, cluster: &Cluster) -> Result<bool> {
        Ok(self.selector.is_empty() || self.selector.matches(&self.layers.view(cluster)?))
    }

    /// Finds the place among the outputs of a cluster.
    fn of_cluster(
        &self,
        stamper: &Stamper<'_>,
        cluster: &Cluster,
        wanted: &Wanted,
    ) -> std::result::Result<Option<Answer>, Failed> {
        let template = wanted.of.as_ref().map(|maker| maker.template.as_str());
        for (nth, text) in stamper.texts(&self.layers, cluster)?.into_iter().enumerate() {
            let name = self.outputs.get(nth).map_or("", |output| output.template.as_str());
            if template.is_some_and(|path| self.paths.path(name) != path) {
                continue;
            }
            let Ok(text) = text.map_err(|error| error.for_cluster(cluster.name())) else {
                continue;
            };
            let file = wanted.text.as_ref().unwrap_or(&text);
            let at = wanted.at(file)?;
            let Some((file, at)) = find(file, at, &text, template.is_some()) else { continue };
            let recorded = stamper.recorded(&self.layers, cluster, nth)?;
            let question = wanted.question(cluster.name(), name);
            let given = recorded.givens(&self.layers, Some(cluster));
            if let Some(answer) = recorded.answer(&question, (file, at), &given) {
                return Ok(Some(answer));
            }
            if recorded.is_cut() {
                return Err(wanted.not_recorded().into());
            }
        }
        Ok(None)
    }
}
