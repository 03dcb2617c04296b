//! Patches of what a release renders: merges that look like the object, and operations on paths.
//!
//! They apply to the documents of a cluster before anything else sees them: checks, layouts, the order and the state. A
//! document that no patch is for keeps its bytes. Only documents whose kind and name may be meant are read.

mod apply;
mod failure;
mod list_keys;
mod merge;
mod object;
mod operations;
mod record;
mod seen;
mod target;
mod tree;
mod write;

use std::collections::HashMap;
use std::sync::Arc;

pub(crate) use self::apply::{ClusterPatches, PatchedDocument};
use self::failure::Failure;
pub use self::object::{ObjectPatch, WrittenObject};
use self::operations::Operation;
pub(crate) use self::record::{PatchedOutput, PatchedPlace};
use self::seen::Seen;
pub use self::target::PatchTarget;
pub(crate) use self::tree::At;
use self::tree::Tree;
use crate::cluster::Cluster;
use crate::input::{all_of, limits, toml};
use crate::layer_files::{LayerGroups, ValuesFile};
use crate::layers::Layers;
use crate::values::Step;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge_base::text::{Source, Span};
use dropforge_engine::Template;
use dropforge_value::yaml;

/// The form of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchForm {
    /// A merge by RFC 7386 with the list keys of Kubernetes and the directives of strategic merge.
    Merge,
    /// Operations of RFC 6902.
    Operations,
}

/// The content of a patch.
#[derive(Debug)]
pub enum PatchContent {
    /// The value at a path of a TOML file.
    Inline(Arc<Source>, Vec<Step>),
    /// A text.
    Text(Arc<Source>),
    /// A file, which may be another one for each cluster, and a template.
    File(LayerGroups),
}

/// A patch as a project file defines it.
#[derive(Debug)]
pub struct Patch {
    /// The objects. Without a target, each document of a merge names its own.
    pub target: Option<PatchTarget>,
    /// The form.
    pub form: PatchForm,
    /// The content.
    pub content: PatchContent,
    /// The file that defines it, and the place in it.
    pub place: (Arc<Source>, Span),
}

/// The patches of a release, in order.
#[derive(Debug, Default)]
pub struct Patches {
    all: Vec<Patch>,
    /// Those that are not templates, by the number of the patch and the address of the text.
    loaded: HashMap<(usize, usize), Arc<Loaded>>,
    seen: Seen,
}

/// A patch that was read.
#[derive(Debug)]
struct Loaded {
    source: Arc<Source>,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Merges(Vec<Merge>),
    Operations(Vec<Operation>),
}

/// A document of a merge.
#[derive(Debug)]
struct Merge {
    /// The object that it names itself.
    target: Option<PatchTarget>,
    tree: Tree,
}

impl Patches {
    /// Reads all patches that are not templates.
    ///
    /// # Errors
    /// All errors of their texts.
    pub fn new(all: Vec<Patch>) -> std::result::Result<Self, Diagnostics> {
        let (mut loaded, mut errors) = (HashMap::new(), Vec::new());
        for (nth, patch) in all.iter().enumerate() {
            let mut add = |source: &Arc<Source>, trees: Result<Vec<Tree>>| match trees
                .and_then(|trees| patch.loaded(source, trees).map_err(all_of))
            {
                Ok(one) => _ = loaded.insert((nth, address(source)), Arc::new(one)),
                Err(error) => errors.push(error),
            };
            match &patch.content {
                PatchContent::Inline(source, path) => {
                    let tree = toml::at(source, path, |value, data| Tree::of_toml(value, data, number(nth)));
                    add(source, Ok(tree.into_iter().collect()));
                }
                PatchContent::Text(source) => add(source, trees(source, number(nth))),
                PatchContent::File(groups) => {
                    let mut known = std::collections::HashSet::new();
                    for file in groups.files().flatten() {
                        if let ValuesFile::Text(source) = file
                            && known.insert(address(source))
                        {
                            add(source, trees(source, number(nth)));
                        }
                    }
                }
            }
        }
        if errors.is_empty() { Ok(Self { all, loaded, seen: Seen::default() }) } else { Err(errors.into()) }
    }

    /// Returns `true` without any patch.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the templates among the patches.
    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        let files = self.all.iter().filter_map(Patch::files).flat_map(LayerGroups::files).flatten();
        files.filter_map(|file| match file {
            ValuesFile::Template(template) => Some(template),
            _ => None,
        })
    }

    /// Returns the paths of the values of clusters in the paths of files.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &str> {
        let files = self.all.iter().filter_map(Patch::files);
        files.flat_map(|groups| groups.inputs().iter().map(String::as_str))
    }

    /// Returns the patches of a cluster. `namespace` is that of objects which name none.
    ///
    /// # Errors
    /// All errors of templates among them.
    pub(super) fn of_cluster(
        &self,
        layers: &Layers,
        cluster: &Cluster,
        namespace: String,
    ) -> std::result::Result<ClusterPatches<'_>, Vec<Box<Diagnostic>>> {
        let (mut loaded, mut errors) = (Vec::new(), Vec::new());
        for nth in 0..self.all.len() {
            match self.load(nth, layers, cluster) {
                Ok(one) => loaded.push(one),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(ClusterPatches::new(self, loaded, namespace)) } else { Err(errors) }
    }

    /// Returns a patch for a cluster, if there is one.
    fn load(&self, nth: usize, layers: &Layers, cluster: &Cluster) -> Result<Option<Arc<Loaded>>> {
        let Some(patch) = self.all.get(nth) else { return Ok(None) };
        let known = |source: &Arc<Source>| self.loaded.get(&(nth, address(source))).cloned();
        let file = match &patch.content {
            PatchContent::Inline(source, _) | PatchContent::Text(source) => return Ok(known(source)),
            PatchContent::File(groups) => groups.files_of(cluster).next(),
        };
        match file {
            Some(ValuesFile::Text(source)) => Ok(known(source)),
            Some(ValuesFile::Template(template)) => {
                let source = crate::releases::rendered(template, &layers.merged(cluster)?)?;
                let read = trees(&source, number(nth)).and_then(|trees| patch.loaded(&source, trees).map_err(all_of));
                let read = read.map_err(|error| error.with_note(format!("it is what `{}` renders", template.name())));
                read.map(Arc::new).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns a warning for each patch that was for no object of the run.
    pub(super) fn warnings(&self) -> Vec<Box<Diagnostic>> {
        self.seen.warnings()
    }
}

/// Returns the number of the nth patch in trees.
fn number(nth: usize) -> u32 {
    u32::try_from(nth + 1).unwrap_or(u32::MAX)
}

fn address(source: &Arc<Source>) -> usize {
    Arc::as_ptr(source).addr()
}

/// Reads the documents of a patch.
fn trees(source: &Arc<Source>, number: u32) -> Result<Vec<Tree>> {
    let nodes = yaml::read_with(source, &limits(), yaml::Tags::Kept).map_err(all_of)?;
    // JSON has no other notation.
    let is_json = source.text().trim_start().starts_with(['{', '[']);
    let tree = |node: &yaml::Node| {
        let mut tree = Tree::of_node(node, number);
        tree.unquote(is_json);
        tree
    };
    Ok(nodes.iter().map(tree).filter(|tree| !tree.is_null()).collect())
}

impl Patch {
    fn files(&self) -> Option<&LayerGroups> {
        match &self.content {
            PatchContent::File(groups) => Some(groups),
            _ => None,
        }
    }

    fn loaded(&self, source: &Arc<Source>, trees: Vec<Tree>) -> std::result::Result<Loaded, Vec<Box<Diagnostic>>> {
        let body = match self.form {
            PatchForm::Merge => self.merges(trees).map(Body::Merges),
            PatchForm::Operations => self.operations(trees).map(Body::Operations),
        };
        match body {
            Ok(body) => Ok(Loaded { source: source.clone(), body }),
            Err(failures) => Err(failures.into_iter().map(|failure| failure.in_patch(source)).collect()),
        }
    }

    fn merges(&self, trees: Vec<Tree>) -> std::result::Result<Vec<Merge>, Vec<Failure>> {
        let (mut merges, mut errors, mut is_second) = (Vec::new(), Vec::new(), false);
        for tree in trees {
            let target = PatchTarget::of(&tree);
            match (&tree.part, &self.target) {
                (tree::Part::Map(_), Some(_)) if is_second => {
                    let error = Failure::new(tree.at, "a patch with `target` has one document");
                    errors.push(error.with_help("leave `target` out: each document then names its own object"));
                }
                (tree::Part::Map(_), None) if target.is_none() => {
                    let error = Failure::new(tree.at, "the patch does not say which object it is for");
                    errors.push(error.with_help(
                        "write `target = { kind = …, name = … }`, or `kind` and `metadata.name` in the patch",
                    ));
                }
                (tree::Part::Map(_), given) => {
                    let target = target.filter(|_| given.is_none());
                    merges.push(Merge { target, tree });
                }
                (tree::Part::List(_), _) => {
                    let error = Failure::new(tree.at, "a merge is a map that looks like the object, found a list");
                    errors.push(error.with_help("write `json = …` for operations"));
                }
                (tree::Part::Scalar(_), _) => {
                    let message = format!("a merge is a map that looks like the object, found a {}", tree.kind());
                    errors.push(Failure::new(tree.at, message));
                }
            }
            is_second = true;
        }
        if errors.is_empty() { Ok(merges) } else { Err(errors) }
    }

    fn operations(&self, trees: Vec<Tree>) -> std::result::Result<Vec<Operation>, Vec<Failure>> {
        let (mut operations, mut errors) = (Vec::new(), Vec::new());
        for tree in &trees {
            match Operation::read(tree) {
                Ok(more) => operations.extend(more),
                Err(more) => errors.extend(more),
            }
        }
        if errors.is_empty() { Ok(operations) } else { Err(errors) }
    }
}

/// Returns the error of a patch for operations that has no target.
pub fn patch_without_target(source: &Arc<Source>, span: Span) -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, "operations need a `target`")
        .at(source, span, "")
        .with_help("write `target = { kind = …, name = … }`")
}

#[cfg(test)]
mod tests;
