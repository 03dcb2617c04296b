//! Outputs that are recorded, to tell why a part of them is there.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::found::{SOURCE, found_in};
use super::report::{Answer, Given, GivenOf, Question};
use crate::cluster::Cluster;
use crate::input::Place;
use crate::layers::Layers;
use crate::origins::{Origin, Origins};
use crate::patches::{PatchedOutput, PatchedPlace};
use crate::values::{Assignment, Step};
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::mask::{HIDDEN, Mask};
use dropforge_engine::chart::{ChartRecording, ChartRender};
use dropforge_engine::recording::{Flow, Recording, Why, Within, Writer};
use dropforge_value::DataMap;
use dropforge_value::assign::InputValue;

/// Maximum number of characters of a line that are looked at and shown.
const LOOKED_AT: usize = 500;
/// Maximum number of characters of a line of a diff that are followed to their inputs.
const FOLLOWED: usize = 4_000;

/// The recorded render of an output for a cluster.
#[derive(Debug)]
pub struct RecordedOutput {
    of: Of,
    /// The error of a template, which ended the recording.
    pub error: Option<Box<Diagnostic>>,
    /// The values of its release, in a run with several.
    pub(crate) release: ReleaseGivens,
    /// The patches of its release.
    pub(crate) patched: Option<Box<PatchedOutput>>,
}

/// What gives values to a release.
#[derive(Debug, Default)]
pub(crate) struct ReleaseGivens {
    /// The values of its files with their places, low to high.
    pub files: Vec<(DataMap, Place)>,
    /// The assignments to the release alone.
    pub sets: Vec<Assignment>,
    /// The path of its values among those of the cluster: `releases` and its name, or nothing.
    pub below: Vec<Step>,
}

impl ReleaseGivens {
    /// Returns the origins of the value at a path, highest first, and its path among the values of the cluster.
    pub fn origins(&self, layers: &Layers, cluster: Option<&Cluster>, path: &[Step]) -> (Vec<Origin>, Vec<Step>) {
        let (mut sets, mut files, mut of_cluster) = (Origins::default(), Origins::default(), Vec::new());
        self.files.iter().for_each(|(map, place)| files.add_file(map, place.clone()));
        sets.add_sets(&self.sets);
        let path_of_cluster = [&self.below[..], path].concat();
        layers.origins(cluster, &mut |all| {
            of_cluster = all.of(&path_of_cluster).map(|one| one.of_value(&path_of_cluster)).collect::<Vec<_>>()
        });
        let files = files.of(path).collect();
        // A chart has the values of the cluster over the files of its release, and templates those files over all others.
        let below = if self.below.is_empty() { [files, of_cluster] } else { [of_cluster, files] };
        let origins = sets.of(path).map(|one| one.of_value(path)).chain(below.into_iter().flatten()).collect();
        (origins, path_of_cluster)
    }
}

#[derive(Debug)]
enum Of {
    /// A template, with the text that it gives.
    Template(String, Box<Recording>),
    /// All templates of a chart.
    Chart(Box<(ChartRender, ChartRecording)>),
    /// A file that is copied.
    Copied,
}

impl RecordedOutput {
    /// Creates it from the recording of a template and the text that it gives.
    pub fn of_template(text: String, recording: Recording) -> Self {
        Self::of(Of::Template(text, Box::new(recording)))
    }

    /// Creates that of a file that is copied.
    pub fn copied() -> Self {
        Self::of(Of::Copied)
    }

    /// Creates it from the recording of a chart.
    pub fn of_chart(render: ChartRender, recording: ChartRecording) -> Self {
        Self::of(Of::Chart(Box::new((render, recording))))
    }

    fn of(of: Of) -> Self {
        Self { of, error: None, release: ReleaseGivens::default(), patched: None }
    }

    /// Returns the text of a template.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.of {
            Of::Template(text, _) => Some(text),
            _ => None,
        }
    }

    /// Answers a question about byte `at` of a file, whose text is the output or documents of it. `given` tells what gives an
    /// input. `None` if the output does not have the byte.
    pub fn answer(&self, question: &Question<'_>, (file, at): (&str, usize), given: GivenOf<'_>) -> Option<Answer> {
        if let Some((line, template)) = self.head(file, at) {
            let answer = Answer::of(Some(&Why::default()), question, (file, at), given)?;
            return Some(Answer { text: line.to_owned(), heads: template.to_owned(), ..answer }.without(self.mask()));
        }
        let at = if question.has_column { at } else { self.first_value(file, at) };
        let why = match self.why(file, at) {
            None if !self.is_copied() => return None,
            why => why,
        };
        let answer = Answer::of(why.as_ref(), question, (file, at), given)?;
        let answer = Answer { text: self.line(file, at, given)?, ..answer }.without(self.mask());
        Some(self.patched.iter().fold(answer, |answer, patched| answer.without(patched.mask())))
    }

    /// Returns the secrets among the inputs of the run.
    pub fn mask(&self) -> &Mask {
        static NONE: Mask = Mask::none();
        self.recording().map_or(&NONE, Recording::mask)
    }

    /// Returns the line around `at` and the template of the document that it begins, if it is the separator or the comment
    /// before a document of a chart.
    fn head<'f>(&self, file: &'f str, at: usize) -> Option<(&'f str, &'f str)> {
        let start = file.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = file.get(start..)?.lines();
        let line = lines.next()?;
        let comment = if line == "---" { lines.next()? } else { line };
        let is_of_chart = !matches!(self.of, Of::Copied | Of::Template(..));
        comment.strip_prefix(SOURCE).filter(|_| is_of_chart).map(|template| (line, template))
    }

    /// Returns the first byte from `at` to the end of its line that is no text of the template, or `at`.
    fn first_value(&self, file: &str, at: usize) -> usize {
        let line = file.get(at..).and_then(|rest| rest.lines().next()).unwrap_or("");
        let is_value = |at: usize| self.why(file, at).is_some_and(|why| !why.is_text);
        let bytes = line.char_indices().take(LOOKED_AT).map(|(nth, _)| at + nth);
        bytes.into_iter().find(|at| is_value(*at)).unwrap_or(at)
    }

    /// Returns the line around `at`, with `…` in place of what was made from secrets or was not recorded, and of the rest of
    /// a long line.
    fn line(&self, file: &str, at: usize, given: GivenOf<'_>) -> Option<String> {
        let start = file.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
        let line = file.get(start..)?.lines().next().unwrap_or("");
        let (mut shown, mut last) = (String::new(), (Vec::new(), false));
        for (nth, char) in line.char_indices().take(LOOKED_AT) {
            let why = self.why(file, start + nth);
            let is_unknown = why.is_none() && self.is_cut();
            let inputs = why.map(|why| why.inputs).unwrap_or_default();
            if inputs != last.0 {
                let is_secret = inputs.iter().any(|flow| given(flow).is_secret);
                last = (inputs, is_secret);
            }
            match last.1 || is_unknown {
                true if shown.ends_with(HIDDEN) => {}
                true => shown.push_str(HIDDEN),
                false => shown.push(char),
            }
        }
        let is_cut = line.char_indices().nth(LOOKED_AT).is_some() && !shown.ends_with(HIDDEN);
        shown.push_str(if is_cut { HIDDEN } else { "" });
        Some(shown)
    }

    /// Returns what of the output came from secrets of a cluster. `names` are those of the secrets.
    pub(crate) fn secrets<'r>(
        &'r self,
        layers: &'r Layers,
        cluster: &'r Cluster,
        names: HashSet<String>,
    ) -> RecordedSecrets<'r> {
        RecordedSecrets { output: self, layers, cluster, names, known: RefCell::default(), keys: RefCell::default() }
    }

    /// Returns `true` if the render was too long to be recorded to its end.
    pub fn is_cut(&self) -> bool {
        self.recording().is_some_and(Recording::is_cut)
    }

    /// Returns `true` for a file that is copied as it is.
    pub fn is_copied(&self) -> bool {
        matches!(self.of, Of::Copied)
    }

    /// Returns why byte `at` of a file is there, whose text is the output or documents of it.
    pub fn why(&self, file: &str, at: usize) -> Option<Why> {
        match self.patched.as_ref().and_then(|patched| patched.find(file, at)) {
            Some(PatchedPlace::Patch(why)) => Some(why),
            Some(PatchedPlace::Text(text, at)) => self.why_unpatched(text, at),
            None => self.why_unpatched(file, at),
        }
    }

    fn why_unpatched(&self, file: &str, at: usize) -> Option<Why> {
        match &self.of {
            Of::Copied => None,
            Of::Template(text, recording) => recording.why(text, found_in(file, at, text)?),
            Of::Chart(chart) => {
                let (render, recording) = &**chart;
                let source = file.get(..at)?.lines().rev().find_map(|line| line.strip_prefix(SOURCE));
                let named = |(_, (name, _)): &(usize, &(String, _))| Some(name.as_str()) == source;
                let files = || render.files().iter().enumerate();
                let in_order = files().filter(named).chain(files());
                let mut whys = in_order.filter_map(|(nth, (_, text))| {
                    let text = text.as_str();
                    recording.why(nth, text, found_in(file, at, text)?)
                });
                whys.next()
            }
        }
    }

    /// Returns the recording of the run. `None` for a file that is copied.
    pub fn recording(&self) -> Option<&Recording> {
        match &self.of {
            Of::Copied => None,
            Of::Template(_, recording) => Some(recording),
            Of::Chart(chart) => Some(chart.1.recording()),
        }
    }

    /// Returns a function that tells what gives an input. A path is looked for once, as the files of values are read again.
    pub fn givens<'r>(&'r self, layers: &'r Layers, cluster: Option<&'r Cluster>) -> impl Fn(&Flow) -> Given + 'r {
        let known = RefCell::new(HashMap::new());
        move |flow| {
            let mut known = known.borrow_mut();
            let given: &Given = known
                .entry((flow.recording, flow.path.clone(), flow.is_secret))
                .or_insert_with(|| self.given(layers, cluster, flow));
            given.clone()
        }
    }

    fn given(&self, layers: &Layers, cluster: Option<&Cluster>, flow: &Flow) -> Given {
        if flow.is_secret {
            return Given::secret();
        }
        if let Some((recorded, flow)) = self.patched.as_ref().and_then(|patched| patched.recording_of(flow)) {
            return recorded.given(layers, cluster, &flow);
        }
        let value = self.value_of(&flow.path);
        let is_secret = self.is_secret_value(layers, cluster, &value);
        let InputValue { name: path, path: values, default, .. } = value;
        let (origins, path_of_cluster) = self.release.origins(layers, cluster, &values);
        let default = default.or_else(|| layers.default_place(&path_of_cluster).filter(|_| origins.is_empty()));
        Given { path, origins, default, is_secret }
    }

    /// Returns `true` for a value that is secret, or has one. Files of a release have their own paths: those of all its values
    /// have no secrets unless such a file was decrypted.
    fn is_secret_value(&self, layers: &Layers, cluster: Option<&Cluster>, value: &InputValue) -> bool {
        let path_of_cluster = [&self.release.below[..], &value.path].concat();
        let in_files = || match value.path.is_empty() {
            true => layers.has_decrypted(),
            false => layers.is_secret(&value.path),
        };
        value.is_secret
            || layers.is_secret_of(cluster, &path_of_cluster)
            || (!self.release.below.is_empty() && in_files())
    }

    /// Returns the value that an input is.
    pub fn value_of(&self, path: &[Step]) -> InputValue {
        match &self.of {
            Of::Chart(chart) => chart.0.plan().value_of(path),
            _ => InputValue { name: Step::joined(path), path: path.to_vec(), ..InputValue::default() },
        }
    }
}

/// The parts of an output that came from secrets.
pub(crate) struct RecordedSecrets<'r> {
    output: &'r RecordedOutput,
    layers: &'r Layers,
    cluster: &'r Cluster,
    names: HashSet<String>,
    known: RefCell<HashMap<(usize, Vec<Step>), bool>>,
    /// The keys in lines of templates that have the name of a secret, by the address of the template.
    keys: RefCell<HashMap<usize, HashSet<String>>>,
}

impl RecordedSecrets<'_> {
    /// Returns the line at byte `start` with `…` in place of what was made from secrets, what may be for other values, and
    /// what was not recorded. Returns `true` if there may be a secret at its place for other values. Of a very long line only
    /// the beginning is looked at.
    pub(crate) fn shown_line(&self, file: &str, start: usize) -> (String, bool) {
        let line = file.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("");
        if self.output.is_copied() && self.output.patched.is_none() {
            return (line.to_owned(), false);
        }
        let (mut shown, mut hides, mut may_hide) = (String::with_capacity(line.len()), false, false);
        for (nth, char) in line.char_indices().take(FOLLOWED) {
            hides = match self.output.why(file, start + nth) {
                Some(why) => {
                    may_hide = may_hide || why.within.iter().any(|within| self.may_hide(within));
                    may_hide = may_hide || nth == 0 && why.written.iter().any(|writer| self.has_key(writer, line));
                    self.is_secret(&why)
                }
                None => self.output.is_cut(),
            };
            match hides {
                true if shown.ends_with(HIDDEN) => {}
                true => shown.push_str(HIDDEN),
                false => shown.push(char),
            }
        }
        let rest = line.char_indices().nth(FOLLOWED).filter(|_| !hides);
        shown.push_str(rest.and_then(|(end, _)| line.get(end..)).unwrap_or(""));
        (shown, may_hide)
    }

    /// Returns `true` if the template has a line with the key of this one and the name of a secret, perhaps in a branch that
    /// was not taken.
    fn has_key(&self, writer: &Writer, line: &str) -> bool {
        let mut known = self.keys.borrow_mut();
        let keys = known.entry(Arc::as_ptr(&writer.source).addr()).or_insert_with(|| {
            let lines = writer.source.text().lines().filter(|line| self.has_name(line));
            lines.flat_map(keys_of).map(str::to_owned).collect()
        });
        keys_of(line).next().is_some_and(|key| keys.contains(key))
    }

    /// Returns `true` if a secret decides what is written.
    fn may_hide(&self, within: &Within) -> bool {
        let (at, inputs) = match within {
            Within::Call(at) => (at, &[][..]),
            Within::Turn { at, inputs, .. } | Within::Branch { at, inputs, .. } => (at, inputs.as_slice()),
        };
        inputs.iter().any(|flow| self.is_secret_input(flow)) || self.names_one(at)
    }

    fn is_secret(&self, why: &Why) -> bool {
        why.inputs.iter().any(|flow| self.is_secret_input(flow))
            || !why.is_text && why.written.iter().any(|writer| self.names_one(writer))
    }

    fn is_secret_input(&self, flow: &Flow) -> bool {
        let of_path = || {
            let of_patch = self.output.patched.as_ref().and_then(|patched| patched.recording_of(flow));
            let recorded = of_patch.map_or(self.output, |(recorded, _)| recorded);
            recorded.is_secret_value(self.layers, Some(self.cluster), &recorded.value_of(&flow.path))
        };
        flow.is_secret || *self.known.borrow_mut().entry((flow.recording, flow.path.clone())).or_insert_with(of_path)
    }

    /// Returns `true` if an expression has the name of a secret, which may be missing now.
    fn names_one(&self, writer: &Writer) -> bool {
        self.has_name(writer.source.slice(writer.span))
    }

    fn has_name(&self, code: &str) -> bool {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        code.split(|c| !is_name(c)).any(|word| self.names.contains(word)) || {
            // A name may have other characters.
            let mut odd = self.names.iter().filter(|name| name.contains(|c| !is_name(c)));
            odd.any(|name| code.contains(name.as_str()))
        }
    }
}

/// Returns the keys in a line: the words before `:` and `=`.
fn keys_of(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices([':', '=']).filter_map(|(end, _)| {
        let before = line.get(..end)?.trim_end_matches([' ', '"', '\'']);
        let start = before.rfind(|c: char| !c.is_alphanumeric() && !"_-./".contains(c)).map_or(0, |at| at + 1);
        before.get(start..).filter(|key| !key.is_empty())
    })
}
