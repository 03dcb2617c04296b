//! The objects that a patch is for.

use super::tree::Tree;
use crate::selector::Selector;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::globs::PathGlob;
use dropforge_value::word_at;

/// The objects that a patch is for: those that have all of these. Without any, it is for every object.
#[derive(Debug, Default)]
pub struct PatchTarget {
    words: Vec<(Field, Word)>,
    labels: Selector,
    annotations: Selector,
}

/// A part of the identity of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Group,
    Version,
    Kind,
    Namespace,
    Name,
}

const FIELDS: [(&str, Field); 5] = [
    ("group", Field::Group),
    ("kind", Field::Kind),
    ("name", Field::Name),
    ("namespace", Field::Namespace),
    ("version", Field::Version),
];

/// A text or a pattern.
#[derive(Debug)]
struct Word {
    text: String,
    glob: Option<PathGlob>,
}

impl Word {
    fn matches(&self, text: &str) -> bool {
        self.glob.as_ref().map_or_else(|| self.text == text, |glob| glob.matches(text))
    }
}

impl PatchTarget {
    /// The keys of a target in a project file.
    pub const KEYS: [&'static str; 7] = ["annotations", "group", "kind", "labels", "name", "namespace", "version"];

    /// Adds a condition. The value of `labels` and `annotations` is a selector ([`Selector`]), that of the others a text or a
    /// pattern with `*`, `?`, `[a-z]` and `{a,b}`.
    ///
    /// # Errors
    /// `usage` for an unknown key, and for a pattern or a selector that cannot be parsed.
    pub fn add(&mut self, key: &str, value: &str) -> Result<()> {
        let selector = match key {
            "labels" => Some(&mut self.labels),
            "annotations" => Some(&mut self.annotations),
            _ => None,
        };
        if let Some(selector) = selector {
            *selector = std::mem::take(selector).and(Selector::parse_keys(value)?);
            return Ok(());
        }
        let Some((_, field)) = FIELDS.iter().find(|(name, _)| *name == key) else {
            let error = Diagnostic::new(Code::Usage, format!("unknown key `{key}` of a target"));
            return Err(error.with_suggestion(key, Self::KEYS).with_available(Self::KEYS));
        };
        self.words.push((*field, word(value)?));
        Ok(())
    }

    /// Returns the target that a patch names itself: the object of the same kind and name. `None` if it does not.
    pub(super) fn of(patch: &Tree) -> Option<Self> {
        let exact = |text: &str| Word { text: text.to_owned(), glob: None };
        let (kind, metadata) = (patch.text_at("kind")?, patch.get("metadata")?);
        let mut words = vec![(Field::Kind, exact(kind)), (Field::Name, exact(metadata.text_at("name")?))];
        if let Some(version) = patch.text_at("apiVersion") {
            let (group, version) = version.split_once('/').unwrap_or(("", version));
            words.extend([(Field::Group, exact(group)), (Field::Version, exact(version))]);
        }
        words.extend(metadata.text_at("namespace").map(|namespace| (Field::Namespace, exact(namespace))));
        Some(Self { words, ..Self::default() })
    }

    /// Returns `false` for a document that is certainly none of the objects. Reads no more than a few lines of it.
    pub(super) fn may_match(&self, document: &str) -> bool {
        let is_list = |kind: &str| kind.ends_with(LIST);
        let kind = word_at(document, "kind");
        kind.is_some_and(is_list)
            || self.words.iter().all(|(field, word)| {
                let found = match field {
                    Field::Kind => kind,
                    Field::Name => word_at(document, "metadata.name"),
                    _ => None,
                };
                found.is_none_or(|found| word.matches(found))
            })
    }

    /// Returns `true` if an object is one of these. `namespace` is that of objects which name none.
    pub(super) fn matches(&self, object: &Tree, namespace: &str) -> bool {
        let metadata = object.get("metadata");
        let version = object.text_at("apiVersion").unwrap_or_default();
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let of_metadata = |name: &str| metadata.and_then(|metadata| metadata.text_at(name));
        let text = |field: &Field| match field {
            Field::Group => group,
            Field::Version => version,
            Field::Kind => object.text_at("kind").unwrap_or_default(),
            Field::Namespace => of_metadata("namespace").unwrap_or(namespace),
            Field::Name => of_metadata("name").unwrap_or_default(),
        };
        let selects = |selector: &Selector, map: &str| {
            let map = metadata.and_then(|metadata| metadata.get(map));
            selector.is_empty() || selector.matches_by(&|key| Some(map?.get(key)?.to_data()))
        };
        self.words.iter().all(|(field, word)| word.matches(text(field)))
            && selects(&self.labels, "labels")
            && selects(&self.annotations, "annotations")
    }

    /// Returns the kind and the name, as far as they are given.
    pub(super) fn described(&self) -> String {
        let text = |wanted: Field| {
            let found = self.words.iter().find(|(field, _)| *field == wanted);
            found.map_or("*", |(_, word)| word.text.as_str())
        };
        format!("{}/{}", text(Field::Kind), text(Field::Name))
    }
}

/// The end of the kinds of lists of objects.
pub(super) const LIST: &str = "List";

/// Parses a text or a pattern.
fn word(value: &str) -> Result<Word> {
    let text = value.to_owned();
    if value.contains(['|', '^', '$', '(', '+', '\\']) {
        let plain = value.trim_start_matches('^').trim_end_matches('$');
        let meant = match plain.contains('|') {
            true => format!("{{{}}}", plain.trim_matches(['(', ')']).replace('|', ",")),
            false => plain.to_owned(),
        };
        let message = format!("`{value}` is a regular expression: a target has patterns like those of files");
        let error = Diagnostic::new(Code::Usage, message);
        return Err(error.with_help(format!("write `{}`", meant.replace(".*", "*"))));
    }
    if !value.contains(['*', '?', '[', '{']) {
        return Ok(Word { text, glob: None });
    }
    match PathGlob::parse(value) {
        Some(glob) => Ok(Word { text, glob: Some(glob) }),
        None => Err(Diagnostic::new(Code::Usage, format!("invalid pattern `{value}`"))),
    }
}

/// Returns `true` for a list of objects.
pub(super) fn is_list(document: &Tree) -> bool {
    document.text_at("kind").is_some_and(|kind| kind.ends_with(LIST))
        && document.get("items").is_some_and(|items| matches!(items.part, super::tree::Part::List(_)))
}

/// Returns the kind and the name of an object.
pub(super) fn named(object: &Tree) -> String {
    let name = object.get("metadata").and_then(|metadata| metadata.text_at("name")).unwrap_or("?");
    format!("{}/{name}", object.text_at("kind").unwrap_or("?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Tree {
        let source = dropforge_base::text::Source::new("a.yaml", text);
        let node = dropforge_value::yaml::read_one(&source, &dropforge_base::limits::Limits::default()).unwrap();
        Tree::of_node(&node, 0)
    }

    fn target(keys: &[(&str, &str)]) -> PatchTarget {
        let mut target = PatchTarget::default();
        keys.iter().for_each(|(key, value)| target.add(key, value).unwrap());
        target
    }

    #[test]
    fn objects_are_matched_by_all_conditions() {
        let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-1\n  labels: {app.io/name: web, tier: \"2\"}\n";
        let object = tree(text);
        for (keys, expected) in [
            (&[][..], true),
            (&[("kind", "Deployment"), ("name", "web-*")], true),
            (&[("kind", "{Deployment,StatefulSet}")], true),
            (&[("kind", "deployment")], false),
            (&[("name", "web")], false),
            (&[("group", "apps"), ("version", "v1")], true),
            (&[("group", "")], false),
            (&[("namespace", "shop")], true),
            (&[("namespace", "default")], false),
            (&[("labels", "app.io/name=web,tier in (1, 2)")], true),
            (&[("labels", "!app.io/name")], false),
            (&[("annotations", "a")], false),
            (&[("annotations", "a!=b")], true),
        ] {
            let target = target(keys);
            assert_eq!(target.matches(&object, "shop"), expected, "{keys:?}");
            assert!(target.may_match(text) || !expected, "{keys:?}");
        }
        assert!(!target(&[("kind", "Service")]).may_match(text));
        assert!(target(&[("kind", "Service")]).may_match("kind: List\nitems: []\n"));
        assert!(target(&[("kind", "Service")]).may_match("{kind: Service}"));
    }

    #[test]
    fn regular_expressions_and_unknown_keys_are_named() {
        let error = |key: &str, value: &str| PatchTarget::default().add(key, value).unwrap_err();
        assert_eq!(error("kind", "Deployment|StatefulSet").help.as_deref(), Some("write `{Deployment,StatefulSet}`"));
        assert_eq!(error("name", "^web-.*$").help.as_deref(), Some("write `web-*`"));
        assert!(error("knd", "x").help.is_some());
        assert!(PatchTarget::default().add("labels", "a in (b").is_err());
    }

    #[test]
    fn a_pattern_takes_time_in_proportion() {
        let target = target(&[("name", &"*a".repeat(200))]);
        let object = tree(&format!("kind: A\nmetadata: {{name: {}b}}\n", "a".repeat(250)));
        assert!(!target.matches(&object, ""));
    }

    #[test]
    fn the_value_of_a_label_is_compared_as_text() {
        let object = tree("kind: A\nmetadata: {labels: {n: 2}}\n");
        assert!(target(&[("labels", "n=2")]).matches(&object, ""));
    }
}
