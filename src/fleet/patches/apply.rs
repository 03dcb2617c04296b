//! Patching the outputs of a cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::failure::Failure;
use super::target::{PatchTarget, is_list, named};
use super::tree::{Part, Tree};
use super::write::{Mark, Writer};
use super::{Body, Loaded, Merge, Patches, merge, operations};
use crate::documents::{documents_of, first_content, read};
use crate::input::{all_of, limits};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::Source;
use dropforge_engine::OutputSyntax;
use dropforge_value::{word_at, yaml};

/// The patches of a cluster.
pub(crate) struct ClusterPatches<'p> {
    patches: &'p Patches,
    loaded: Vec<Option<Arc<Loaded>>>,
    namespace: String,
    /// The patches that were for an object: the number of the patch and of its document.
    used: BTreeSet<(usize, usize)>,
    /// The objects, if they are wanted.
    objects: Option<BTreeSet<String>>,
}

/// The text of an output with patches.
#[derive(Debug)]
pub(crate) struct Patched {
    pub text: String,
    /// The documents that were written anew.
    pub documents: Vec<PatchedDocument>,
}

/// A document that was written anew.
#[derive(Debug)]
pub(crate) struct PatchedDocument {
    /// The text with the comments that it begins with.
    pub text: String,
    pub marks: Vec<Mark>,
    /// The start of the document in the text without patches.
    pub start: usize,
}

impl PatchedDocument {
    fn of(head: &str, writer: Writer, start: usize) -> Self {
        let marks = writer.marks.into_iter().map(|mark| Mark { byte: mark.byte + head.len(), ..mark }).collect();
        Self { text: head.to_owned() + &writer.text, marks, start }
    }
}

/// A document after its patches.
enum Outcome {
    Removed,
    Written(PatchedDocument),
}

impl<'p> ClusterPatches<'p> {
    pub(super) fn new(patches: &'p Patches, loaded: Vec<Option<Arc<Loaded>>>, namespace: String) -> Self {
        let objects = patches.seen.wants_objects().then(BTreeSet::new);
        Self { patches, loaded, namespace, used: BTreeSet::new(), objects }
    }

    /// Returns the sources of the patches.
    pub(super) fn sources(&self) -> Vec<Option<Arc<Source>>> {
        self.loaded.iter().map(|one| Some(one.as_ref()?.source.clone())).collect()
    }

    /// Patches the text of an output called `name`. Returns `None` if no patch is for any of its documents.
    ///
    /// # Errors
    /// All patches that do not fit, and documents that cannot be read.
    pub fn apply(&mut self, name: &str, text: &str) -> std::result::Result<Option<Patched>, Vec<Box<Diagnostic>>> {
        let (Some(syntax), Some(documents)) = (OutputSyntax::of_file(name), documents_of(name, text)) else {
            return Ok(None);
        };
        let mut patched = Patched { text: String::new(), documents: Vec::new() };
        let (mut errors, mut copied, mut is_changed) = (Vec::new(), 0, false);
        for document in documents {
            self.note(document);
            if !self.may_match(document) {
                continue;
            }
            let start = document.as_ptr().addr() - text.as_ptr().addr();
            let range = start..start + document.len();
            let outcome = match self.document((name, syntax), document, start) {
                Ok(Some(outcome)) => outcome,
                Ok(None) => continue,
                Err(more) => {
                    errors.extend(more);
                    continue;
                }
            };
            is_changed = true;
            let before = text.get(copied..range.start).unwrap_or("");
            match outcome {
                Outcome::Removed => patched.text.push_str(without_marker(before)),
                Outcome::Written(document) => {
                    patched.text.extend([before, &document.text]);
                    patched.documents.push(document);
                }
            }
            copied = range.end;
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        patched.text.push_str(text.get(copied..).unwrap_or(""));
        Ok(is_changed.then_some(patched))
    }

    /// Remembers the object, if that is wanted.
    fn note(&mut self, document: &str) {
        let Some(objects) = &mut self.objects else { return };
        if let (Some(kind), Some(name)) = (word_at(document, "kind"), word_at(document, "metadata.name")) {
            objects.insert(format!("{kind}/{name}"));
            return;
        }
        let read = read(document);
        let text = |path: &str| read.at_path(path).and_then(|value| value.as_str().map(str::to_owned));
        objects.extend(text("kind").and_then(|kind| Some(format!("{kind}/{}", text("metadata.name")?))));
    }

    fn may_match(&self, document: &str) -> bool {
        self.loaded.iter().zip(&self.patches.all).any(|(loaded, patch)| {
            let Some(loaded) = loaded else { return false };
            match (&patch.target, &loaded.body) {
                (Some(target), _) => target.may_match(document),
                (None, Body::Merges(merges)) => {
                    merges.iter().filter_map(|merge| merge.target.as_ref()).any(|target| target.may_match(document))
                }
                (None, Body::Operations(_)) => false,
            }
        })
    }

    fn document(
        &mut self,
        (name, syntax): (&str, OutputSyntax),
        text: &str,
        start: usize,
    ) -> std::result::Result<Option<Outcome>, Vec<Box<Diagnostic>>> {
        let source = Source::new(name, text);
        let read = yaml::read_with(&source, &limits(), yaml::Tags::Kept).map_err(all_of);
        let nodes = read.map_err(|mut error| {
            error.code = Code::InvalidOutput;
            vec![error.with_note("a patch may be for this document, which cannot be read")]
        })?;
        let Some(tree) = nodes.first().map(|node| Tree::of_node(node, 0)) else { return Ok(None) };
        let mut writer = Writer::like(&tree, text);
        let (tree, is_patched) = if is_list(&tree) { self.list(tree)? } else { self.object(tree)? };
        if !is_patched {
            return Ok(None);
        }
        let Some(tree) = tree else { return Ok(Some(Outcome::Removed)) };
        match syntax {
            OutputSyntax::Yaml => writer.yaml(&tree),
            OutputSyntax::Json => writer.json(&tree),
        }
        Ok(Some(Outcome::Written(PatchedDocument::of(head(text), writer, start))))
    }

    /// Patches the items of a list of objects.
    fn list(&mut self, mut list: Tree) -> std::result::Result<(Option<Tree>, bool), Vec<Box<Diagnostic>>> {
        let Part::Map(entries) = &mut list.part else { return Ok((Some(list), false)) };
        let items = entries.iter_mut().find(|entry| &*entry.name == "items").map(|entry| &mut entry.value.part);
        let (mut is_patched, mut errors) = (false, Vec::new());
        if let Some(Part::List(items)) = items {
            let mut all = Vec::with_capacity(items.len());
            for item in std::mem::take(items) {
                match self.object(item) {
                    Ok((item, is_one)) => {
                        all.extend(item);
                        is_patched |= is_one;
                    }
                    Err(more) => errors.extend(more),
                }
            }
            *items = all;
        }
        if errors.is_empty() { Ok((Some(list), is_patched)) } else { Err(errors) }
    }

    /// Patches an object. Returns `true` if a patch was for it. The object is `None` if it is removed.
    fn object(&mut self, object: Tree) -> std::result::Result<(Option<Tree>, bool), Vec<Box<Diagnostic>>> {
        let (mut object, mut is_patched, mut errors) = (Some(object), false, Vec::new());
        for (nth, patch) in self.patches.all.iter().enumerate() {
            let Some(loaded) = self.loaded.get(nth).and_then(Option::as_ref) else { continue };
            let bodies = bodies(&loaded.body);
            for (of, body) in bodies.into_iter().enumerate() {
                let (Some(own), Some(target)) = (&object, patch.target.as_ref().or(body.target())) else { continue };
                if !target.matches(own, &self.namespace) {
                    continue;
                }
                self.used.insert((nth, of));
                is_patched = true;
                match body.apply(own) {
                    Ok(new) => object = new,
                    Err(failure) => errors.push(failure.of_object(&loaded.source, &named(own))),
                }
            }
        }
        if errors.is_empty() { Ok((object, is_patched)) } else { Err(errors) }
    }

    /// Remembers what the patches were for.
    pub fn done(self) {
        let mut wanted = Vec::new();
        for (nth, (patch, loaded)) in self.patches.all.iter().zip(&self.loaded).enumerate() {
            let Some(loaded) = loaded else { continue };
            for (of, body) in bodies(&loaded.body).into_iter().enumerate() {
                let is_used = self.used.contains(&(nth, of));
                let (target, place) = match (&patch.target, body) {
                    (None, One::Merge(merge)) => {
                        let target = merge.target.as_ref().map(PatchTarget::described);
                        (target.unwrap_or_default(), (loaded.source.clone(), merge.tree.at.span))
                    }
                    (target, _) => {
                        (target.as_ref().map(PatchTarget::described).unwrap_or_default(), patch.place.clone())
                    }
                };
                wanted.push(((nth, target), is_used, place));
            }
        }
        self.patches.seen.add(wanted.into_iter(), self.objects.iter().flatten());
    }
}

/// A part of a patch that is for an object.
#[derive(Clone, Copy)]
pub(super) enum One<'b> {
    Merge(&'b Merge),
    Operations(&'b [operations::Operation]),
}

pub(super) fn bodies(body: &Body) -> Vec<One<'_>> {
    match body {
        Body::Merges(merges) => merges.iter().map(One::Merge).collect(),
        Body::Operations(operations) => vec![One::Operations(operations)],
    }
}

impl<'b> One<'b> {
    fn target(self) -> Option<&'b PatchTarget> {
        match self {
            Self::Merge(merge) => merge.target.as_ref(),
            Self::Operations(_) => None,
        }
    }

    pub fn apply(self, object: &Tree) -> std::result::Result<Option<Tree>, Failure> {
        match self {
            Self::Merge(patch) => merge::merge(object, &patch.tree),
            Self::Operations(operations) => operations::apply(object.clone(), operations),
        }
    }
}

/// Returns the comments, the blank lines and the directives that a document begins with.
fn head(document: &str) -> &str {
    let content = first_content(document).unwrap_or("");
    let mut end = document.len() - content.len();
    if content.starts_with("---") {
        return document.get(..end).map_or("", |_| "---\n");
    }
    if content.starts_with('%') {
        let marker = content.find("\n---").map_or(content.len(), |at| at + 1);
        let line = content.get(marker..).and_then(|rest| rest.find('\n')).map_or(content.len(), |at| marker + at + 1);
        end += line.min(content.len());
    }
    document.get(..end).unwrap_or("")
}

/// Returns the text before a document without the marker that begins it.
fn without_marker(before: &str) -> &str {
    let lines = before.trim_end_matches(['\n', '\r']);
    let last = lines.rfind('\n').map_or(0, |end| end + 1);
    match lines.get(last..) {
        Some(line) if line.starts_with("---") => before.get(..last).unwrap_or(""),
        _ => before,
    }
}
