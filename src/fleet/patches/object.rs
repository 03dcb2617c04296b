//! Patches of single objects, for tools that hold objects as values.

use std::collections::HashMap;
use std::sync::Arc;

use super::apply::bodies;
use super::failure::Failure;
use super::operations::Operation;
use super::target::named;
use super::tree::{At, Entry, Part, Scalar, Tree};
use super::{Body, Loaded, Merge};
use dropforge_base::diagnostics::{Diagnostics, Result};
use dropforge_base::text::{Source, Span};
use dropforge_value::yaml::{Node, Style};
use dropforge_value::{Data, DataMap};

/// An object with the notation of its scalars, on which a merge depends: a number over a text in quotes is a text.
#[derive(Debug, Clone)]
pub struct WrittenObject(Tree);

impl WrittenObject {
    /// Creates an object from its document. `data` is its value, as the caller reads it.
    pub fn of_node(node: &Node, data: &Data) -> Self {
        Self(written(Some(&Tree::of_node(node, 0)), data))
    }

    /// Creates an object whose texts are plain.
    pub fn of_data(data: &Data) -> Self {
        Self(written(None, data))
    }

    /// Sets the value. Scalars that stay the same at their places keep their notation. All others are plain.
    pub fn set(&mut self, data: &Data) {
        self.0 = written(Some(&self.0), data);
    }

    /// Returns the value.
    pub fn to_data(&self) -> Data {
        self.0.to_data()
    }
}

/// A patch of single objects: a map that is merged into them, or a list of operations.
#[derive(Debug)]
pub struct ObjectPatch(Loaded);

impl ObjectPatch {
    /// Reads a patch from a document of a text.
    ///
    /// # Errors
    /// All operations that are written wrongly.
    pub fn new(source: &Arc<Source>, patch: &WrittenObject) -> std::result::Result<Self, Diagnostics> {
        let tree = &patch.0;
        let body = match &tree.part {
            Part::List(_) => Operation::read(tree).map(Body::Operations),
            _ => Ok(Body::Merges(vec![Merge { target: None, tree: tree.clone() }])),
        };
        let errors = |failures: Vec<Failure>| failures.into_iter().map(|one| one.in_patch(source)).collect::<Vec<_>>();
        body.map(|body| Self(Loaded { source: source.clone(), body })).map_err(|all| Diagnostics::from(errors(all)))
    }

    /// Applies the patch to an object. Returns `None` for one that it removes.
    ///
    /// # Errors
    /// A patch that does not fit the object.
    pub fn apply(&self, object: &WrittenObject) -> Result<Option<WrittenObject>> {
        let Loaded { source, body } = &self.0;
        let name = named(&object.0);
        let patched = bodies(body).into_iter().try_fold(Some(object.0.clone()), |object, one| match object {
            Some(object) => one.apply(&object).map_err(|failure| failure.of_object(source, &name)),
            None => Ok(None),
        });
        Ok(patched?.map(WrittenObject))
    }
}

/// Returns a value as a tree, with the notation that its scalars have at the same places of another tree.
fn written(old: Option<&Tree>, data: &Data) -> Tree {
    let at = old.map_or(At { patch: 0, span: Span::default() }, |old| old.at);
    let part = match (data, old.map(|old| &old.part)) {
        (Data::Map(map), _) => Part::Map(entries(old, at, map)),
        (Data::List(items), Some(Part::List(own))) => {
            Part::List(items.iter().enumerate().map(|(nth, item)| written(own.get(nth), item)).collect())
        }
        (Data::List(items), _) => Part::List(items.iter().map(|item| written(None, item)).collect()),
        (scalar, Some(Part::Scalar(own))) if own.to_data() == *scalar => Part::Scalar(own.clone()),
        (scalar, _) => Part::Scalar(Scalar { style: Some(Style::Plain), ..Scalar::of_data(scalar) }),
    };
    Tree { at, part, tag: None }
}

fn entries(old: Option<&Tree>, at: At, map: &DataMap) -> Vec<Entry> {
    let own: HashMap<&str, &Entry> =
        old.into_iter().flat_map(Tree::entries).map(|entry| (&*entry.name, entry)).collect();
    let entry = |(name, value): (&String, &Data)| {
        let own = own.get(name.as_str());
        let key = own.map_or_else(|| Tree::text(name, at), |own| own.key.clone());
        Entry { name: name.as_str().into(), key, value: written(own.map(|own| &own.value), value) }
    };
    map.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge_base::limits::Limits;
    use dropforge_value::yaml;

    fn object(text: &str) -> (Arc<Source>, WrittenObject) {
        let source = Source::new("a.yaml", text);
        let node = yaml::read_one(&source, &Limits::default()).unwrap();
        let object = WrittenObject::of_node(&node, &node.to_data());
        (source, object)
    }

    #[test]
    fn a_merge_reads_the_notation_of_an_object_whose_value_was_set() {
        let (_, mut written) = object("kind: A\nspec: {quoted: \"a\", plain: a, list: [\"1\", b]}\n");
        let mut data = written.to_data();
        if let Data::Map(map) = &mut data {
            map.insert("more".to_owned(), Data::Str("x".to_owned()));
        }
        written.set(&data);
        let (source, patch) = object("spec: {quoted: 1, plain: 2, gone: {a: null}}\nmore: 3\n");
        let patched = ObjectPatch::new(&source, &patch).unwrap().apply(&written).unwrap().unwrap();
        let (_, wanted) = object("kind: A\nspec: {quoted: \"1\", plain: 2, list: [\"1\", b], gone: {}}\nmore: 3\n");
        assert_eq!(patched.to_data(), wanted.to_data());
    }

    #[test]
    fn operations_name_the_object_that_they_do_not_fit() {
        let (_, one) = object("kind: A\nmetadata: {name: x}\n");
        let (source, patch) = object("[{op: remove, path: /spec}]");
        let error = ObjectPatch::new(&source, &patch).unwrap().apply(&one).unwrap_err();
        assert!(error.message.starts_with("cannot remove `/spec` of `A/x`"), "{}", error.message);
        let (source, patch) = object("[{op: x}]");
        assert!(ObjectPatch::new(&source, &patch).is_err());
        let (source, patch) = object("{$patch: delete}");
        assert!(ObjectPatch::new(&source, &patch).unwrap().apply(&one).unwrap().is_none());
    }
}
