//! Finding the output that a place is in, and its answer.

use dropforge::bulk::{
    Cluster, Fleet, FleetChart, Forge, Layers, Output, RecordedOutput, Selector, Stamper, TemplatePaths, found_in,
};
use dropforge::diagnostics::Result;

use super::place::Wanted;
use super::report::{Report, Values};
use crate::console::Console;
use crate::exit::Failed;
use crate::input::InputFiles;
use crate::render::RenderArgs;
use crate::stamp::StampArgs;

/// Maximum number of characters of a line that a value is looked for in.
const LOOKED_AT: usize = 200;

/// A command that renders.
#[derive(Debug)]
pub(crate) enum Subject {
    Stamp(Box<StampArgs>),
    Render(Box<RenderArgs>),
}

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
    pub(super) fn search(&self, wanted: &Wanted) -> std::result::Result<Option<Report>, Failed> {
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
    ) -> std::result::Result<Option<Report>, Failed> {
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
            let (file, at) = match found_in(file, at, &text) {
                Some(_) => (file, at),
                None => match same_line(file, at, &text).filter(|_| template.is_some()) {
                    Some(at) => (&text, at),
                    None => continue,
                },
            };
            let recorded = stamper.recorded(&self.layers, cluster, nth)?;
            let at = if wanted.column.is_none() { first_value(&recorded, file, at) } else { at };
            if let Some(report) = Report::of(&recorded, (&self.layers, cluster), (wanted, file, at), name) {
                return Ok(Some(report));
            }
        }
        Ok(None)
    }
}

/// Returns the first byte from `at` to the end of its line that is no text of the template, or `at`.
fn first_value(recorded: &RecordedOutput, file: &str, at: usize) -> usize {
    let line = file.get(at..).and_then(|rest| rest.lines().next()).unwrap_or("");
    let is_value = |at: usize| recorded.why(file, at).is_some_and(|why| !why.is_text);
    let bytes = line.char_indices().take(LOOKED_AT).map(|(nth, _)| at + nth);
    bytes.into_iter().find(|at| is_value(*at)).unwrap_or(at)
}

/// Returns the byte of another text whose line is the same: the one with the same number, or else the first.
fn same_line(file: &str, at: usize, text: &str) -> Option<usize> {
    let start = file.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let (number, line) = (file.get(..start)?.lines().count(), file.get(start..)?.lines().next()?);
    let mut starts = Vec::new();
    let mut end = 0;
    for (nth, other) in text.split_inclusive('\n').enumerate() {
        if other.trim_end() == line.trim_end() && !line.trim().is_empty() {
            starts.push((nth != number, end));
        }
        end += other.len();
    }
    starts.into_iter().min().map(|(_, found)| found + at - start)
}

#[cfg(test)]
mod tests {
    use super::same_line;

    #[test]
    fn a_line_is_found_in_a_text_that_changed() {
        let text = "a: 1\nb: 2\nc: 3\nb: 2\n";
        let at = |file: &str, part: &str| same_line(file, file.find(part).unwrap(), text);
        assert_eq!(at("a: 1\nb: 2\nc: 4\n", "2"), Some(8));
        assert_eq!(at("x\ny\nz\nb: 2\n", "2"), Some(18));
        assert_eq!(at("b: 2\n", "b"), Some(5));
        assert_eq!(at("a: 1\nb: 2\nc: 4\n", "4"), None);
        assert_eq!(at("\n\n", "\n"), None);
    }
}
