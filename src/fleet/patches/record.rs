//! Where the parts of patched documents come from.

use std::sync::Arc;

use super::{At, PatchContent, PatchedDocument, Patches};
use crate::cluster::Cluster;
use crate::layer_files::ValuesFile;
use crate::layers::Layers;
use crate::why::{RecordedOutput, found_in};
use dropforge_base::diagnostics::{Diagnostics, Result};
use dropforge_base::mask::Mask;
use dropforge_base::text::Source;
use dropforge_engine::recording::{Flow, Why, Within, Writer};

/// The patched documents of outputs, and where their parts come from.
#[derive(Debug)]
pub(crate) struct PatchedOutput {
    /// The texts without patches, each with its documents that were written anew.
    outputs: Vec<(String, Vec<PatchedDocument>)>,
    /// The text of each patch.
    sources: Vec<Option<Arc<Source>>>,
    /// The recordings of patches that are templates.
    recordings: Vec<Option<RecordedOutput>>,
    mask: Mask,
}

/// Where a byte of a file comes from.
pub(crate) enum PatchedPlace<'p> {
    /// A byte of a text without patches.
    Text(&'p str, usize),
    /// A patch.
    Patch(Why),
}

impl Patches {
    /// Patches the outputs of a cluster, each a name and a text, and records where their parts come from.
    ///
    /// # Errors
    /// Errors of patches.
    pub(crate) fn record(
        &self,
        outputs: Vec<(String, String)>,
        (layers, cluster): (&Layers, &Cluster),
        namespace: String,
    ) -> std::result::Result<PatchedOutput, Diagnostics> {
        let mut patches = self.of_cluster(layers, cluster, namespace)?;
        let (sources, mut all) = (patches.sources(), Vec::new());
        for (name, text) in outputs {
            let patched = patches.apply(&name, &text)?;
            all.extend(patched.map(|patched| (text, patched.documents)));
        }
        let recordings = (0..self.all.len()).map(|nth| self.recording(nth, layers, cluster)).collect::<Result<_>>()?;
        Ok(PatchedOutput { outputs: all, sources, recordings, mask: layers.mask(Some(cluster)) })
    }

    /// Records a patch that is a template.
    fn recording(&self, nth: usize, layers: &Layers, cluster: &Cluster) -> Result<Option<RecordedOutput>> {
        let Some(PatchContent::File(groups)) = self.all.get(nth).map(|patch| &patch.content) else { return Ok(None) };
        match groups.files_of(cluster).next() {
            Some(ValuesFile::Template(template)) => {
                crate::stamper::record(template, layers, (cluster, &layers.overlay(cluster)?)).map(Some)
            }
            _ => Ok(None),
        }
    }
}

impl PatchedOutput {
    /// Returns where byte `at` of a file comes from. `None` if it is in no document with patches.
    pub fn find(&self, file: &str, at: usize) -> Option<PatchedPlace<'_>> {
        let mut documents = self
            .outputs
            .iter()
            .flat_map(|(text, documents)| documents.iter().map(move |document| (text.as_str(), document)));
        let (text, document, byte) =
            documents.find_map(|(text, document)| Some((text, document, found_in(file, at, &document.text)?)))?;
        let nth = document.marks.partition_point(|mark| mark.byte <= byte);
        let Some(mark) = nth.checked_sub(1).and_then(|nth| document.marks.get(nth)) else {
            return Some(PatchedPlace::Text(text, document.start + byte));
        };
        let span = mark.at.span.range();
        let within = (byte - mark.byte).min(span.len().saturating_sub(1));
        match mark.at.patch {
            0 => Some(PatchedPlace::Text(text, document.start + span.start + within)),
            _ => self.why(mark.at, span.start + within).map(PatchedPlace::Patch),
        }
    }

    /// Returns why a byte of a patch is there.
    fn why(&self, at: At, byte: usize) -> Option<Why> {
        let nth = usize::try_from(at.patch).ok()?.checked_sub(1)?;
        let source = self.sources.get(nth)?.as_ref()?;
        let recorded = self.recordings.get(nth).and_then(Option::as_ref);
        let Some(mut why) = recorded.and_then(|recorded| recorded.why(source.text(), byte)) else {
            let written = vec![Writer { source: source.clone(), span: at.span }];
            return Some(Why { written, is_text: true, ..Why::default() });
        };
        each_flow(&mut why, &mut |flow| flow.recording = nth + 1);
        Some(why)
    }

    /// Returns the recording that a flow belongs to, and the flow in it. `None` for one of the output itself.
    pub fn recording_of(&self, flow: &Flow) -> Option<(&RecordedOutput, Flow)> {
        let nth = flow.recording.checked_sub(1)?;
        let recorded = self.recordings.get(nth)?.as_ref()?;
        Some((recorded, Flow { recording: 0, ..flow.clone() }))
    }

    /// Returns the secrets of the cluster.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }
}

fn each_flow(why: &mut Why, each: &mut dyn FnMut(&mut Flow)) {
    let of_within = why.within.iter_mut().flat_map(|within| match within {
        Within::Call(_) => [].iter_mut(),
        Within::Turn { inputs, .. } | Within::Branch { inputs, .. } => inputs.iter_mut(),
    });
    why.inputs.iter_mut().chain(&mut why.texts).chain(of_within).for_each(each);
}
