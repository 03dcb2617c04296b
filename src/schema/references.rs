//! Where references lead: parts of documents by their URLs and anchors, and other documents; the schemas of schemas.

use std::sync::{LazyLock, OnceLock};

use super::Draft;
use super::compile::member;
use super::violation::{SchemaError, below};
use crate::Schema;
use dropforge_base::stdlib::paths;
use dropforge_value::{Arena, Data, InputBuilder, Map, Shapes, Value};
use hashbrown::HashMap;

/// The documents that a schema may refer to.
pub struct Documents<'d, 'l> {
    /// The URL of the schema itself, unless it has an `$id`.
    pub url: &'l str,
    /// Returns the document at a URL, or the reason why there is none.
    pub load: &'l dyn Fn(&str) -> Result<&'d Value<'d>, String>,
}

/// A document or a part of one with a URL of its own.
struct Resource<'d> {
    url: String,
    root: &'d Value<'d>,
    /// Where it is: a JSON pointer in the schema, behind the URL in another document.
    pointer: String,
    draft: Draft,
    anchors: HashMap<&'d str, (String, &'d Value<'d>)>,
}

/// What references of a schema lead to.
pub(super) struct References<'d, 'l> {
    documents: Option<&'l Documents<'d, 'l>>,
    resources: Vec<Resource<'d>>,
    /// The resource of every schema.
    owners: HashMap<*const Value<'d>, usize>,
    /// The resource of the schema that is being compiled.
    current: usize,
    /// Anchors that a dynamic reference may lead to: name, resource, pointer and schema.
    dynamic: Vec<(&'d str, usize, String, &'d Value<'d>)>,
}

impl<'d, 'l> References<'d, 'l> {
    pub fn new(root: &'d Value<'d>, draft: Draft, documents: Option<&'l Documents<'d, 'l>>) -> Self {
        let mut references =
            Self { documents, resources: Vec::new(), owners: HashMap::new(), current: 0, dynamic: Vec::new() };
        if draft != Draft::Template {
            references.add(documents.map_or("", |documents| documents.url), String::new(), root, draft);
        }
        references
    }

    /// Returns the anchors with this name that a dynamic reference may lead to, with their resources.
    pub fn dynamic(&self, name: &str) -> Vec<(usize, String, &'d Value<'d>)> {
        let named = self.dynamic.iter().filter(|(known, ..)| *known == name);
        named.map(|(_, owner, pointer, data)| (*owner, pointer.clone(), *data)).collect()
    }

    /// Returns the resource of the schema that is being compiled.
    pub fn current(&self) -> usize {
        self.current
    }

    /// Makes the schema at `data` the one whose references are followed, and returns its draft.
    pub fn enter(&mut self, data: &'d Value<'d>) -> Draft {
        self.current = self.owners.get(&std::ptr::from_ref(data)).copied().unwrap_or(0);
        self.resources.get(self.current).map_or(Draft::Template, |resource| resource.draft)
    }

    /// Adds a document, and returns its resource.
    fn add(&mut self, url: &str, pointer: String, root: &'d Value<'d>, draft: Draft) -> usize {
        let at = self.resources.len();
        self.resources.push(resource(url.to_owned(), pointer.clone(), root, draft));
        self.collect(root, pointer, at);
        at
    }

    /// Finds the resources and anchors of the schemas in `data`, which belongs to the resource `owner`.
    fn collect(&mut self, data: &'d Value<'d>, pointer: String, owner: usize) {
        let mut open = vec![(data, pointer, owner)];
        while let Some((data, pointer, owner)) = open.pop() {
            let Some(map) = data.as_map().filter(|_| !self.owners.contains_key(&std::ptr::from_ref(data))) else {
                continue;
            };
            let owner = self.owner(map, data, &pointer, owner);
            self.owners.insert(std::ptr::from_ref(data), owner);
            let Some(resource) = self.resources.get_mut(owner) else { continue };
            for anchor in anchors(map, resource.draft) {
                resource.anchors.entry(anchor).or_insert_with(|| (pointer.clone(), data));
            }
            let draft = resource.draft;
            let dynamic =
                dynamic_anchor(map, draft).filter(|name| !name.is_empty() || std::ptr::eq(resource.root, data));
            self.dynamic.extend(dynamic.map(|name| (name, owner, pointer.clone(), data)));
            for (keyword, value) in map.slots().filter(|(keyword, _)| draft.defines(keyword)) {
                let at = below(&pointer, keyword);
                open.extend(schemas(keyword, value, &at).into_iter().map(|(pointer, data)| (data, pointer, owner)));
            }
        }
    }

    /// Returns the resource of a schema: a new one if the schema has a URL of its own.
    fn owner(&mut self, map: &'d Map<'d>, data: &'d Value<'d>, pointer: &str, owner: usize) -> usize {
        let Some(outer) = self.resources.get_mut(owner) else { return owner };
        let Some(id) = id(map, outer.draft) else { return owner };
        let url = id.split('#').next().filter(|url| !url.is_empty()).map(|url| join(&outer.url, url));
        match url {
            None => owner,
            Some(url) if std::ptr::eq(outer.root, data) => {
                outer.url = url;
                owner
            }
            Some(url) => {
                let draft = map.get("$schema").and_then(|uri| uri.as_str()).and_then(Draft::of_uri);
                let found = resource(url, pointer.to_owned(), data, draft.unwrap_or(outer.draft));
                self.resources.push(found);
                self.resources.len() - 1
            }
        }
    }

    /// Returns the schema that a reference leads to, with its pointer.
    ///
    /// # Errors
    /// That there is none.
    pub fn target(&mut self, keyword: &str, target: &str) -> Result<(String, &'d Value<'d>), SchemaError> {
        let (url, fragment) = target.split_once('#').unwrap_or((target, ""));
        // An empty reference in a schema of our own is a gap that someone left, not a reference to the document.
        let own = url.is_empty() && (!target.is_empty() || self.documents.is_some());
        let owner = if own { self.current } else { self.resource(keyword, target, url)? };
        let nothing = || SchemaError::new("", format!("there is nothing at {target:?}"));
        let fragment = percent_encoding::percent_decode_str(fragment).decode_utf8_lossy();
        let resource = self.resources.get(owner).ok_or_else(nothing)?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let (pointer, data) = resource.anchors.get(&*fragment).ok_or_else(nothing)?;
            return Ok((pointer.clone(), data));
        }
        let (mut data, pointer, mut owner) = (resource.root, format!("{}{fragment}", resource.pointer), owner);
        for name in paths::names(&fragment) {
            let next = member(data, &name).or_else(|| data.as_list()?.get(name.parse::<usize>().ok()?));
            data = next.ok_or_else(nothing)?;
            owner = self.owners.get(&std::ptr::from_ref(data)).copied().unwrap_or(owner);
        }
        // The place may be one where no keyword has a schema.
        self.collect(data, pointer.clone(), owner);
        Ok((pointer, data))
    }

    /// Returns the resource at a URL, which is relative to that of the current schema.
    fn resource(&mut self, keyword: &str, target: &str, url: &str) -> Result<usize, SchemaError> {
        let base = self.resources.get(self.current).map_or("", |resource| resource.url.as_str());
        let url = if url.is_empty() { String::new() } else { join(base, url) };
        let known = self.resources.iter().position(|resource| resource.url == url && !url.is_empty());
        if let Some(known) = known {
            return Ok(known);
        }
        let Some(documents) = self.documents else {
            let target: String = target.chars().take(200).collect();
            let message =
                format!("`{keyword}` leads to {target:?}: it may lead only to a place in the same file, such as `#/…`");
            return Err(SchemaError::new("", message));
        };
        let document = (documents.load)(&url).map_err(|why| SchemaError {
            unloaded: true,
            ..SchemaError::new("", format!("failing loading {url:?}: {why}"))
        })?;
        let draft = member(document, "$schema").and_then(|uri| Draft::of_uri(uri.as_str()?));
        Ok(self.add(&url, format!("{url}#"), document, draft.unwrap_or(Draft::Draft202012)))
    }
}

fn resource<'d>(url: String, pointer: String, root: &'d Value<'d>, draft: Draft) -> Resource<'d> {
    Resource { url, root, pointer, draft, anchors: HashMap::new() }
}

/// Returns the identity of a schema. Before draft 2019-09 a reference hides it.
fn id<'d>(map: &'d Map<'d>, draft: Draft) -> Option<&'d str> {
    let hides = draft <= Draft::Draft7 && map.get("$ref").is_some();
    let keyword = if draft == Draft::Draft4 { "id" } else { "$id" };
    map.slot(keyword).filter(|_| !hides).and_then(|id| id.as_str())
}

/// Returns the names of a schema in its resource.
fn anchors<'d>(map: &'d Map<'d>, draft: Draft) -> impl Iterator<Item = &'d str> {
    let of_id = id(map, draft).and_then(|id| id.split_once('#')).map(|(_, anchor)| anchor);
    let of_id = of_id.filter(|anchor| draft <= Draft::Draft7 && !anchor.is_empty() && !anchor.starts_with('/'));
    let own = ["$anchor", "$dynamicAnchor"].into_iter().filter(move |_| draft >= Draft::Draft201909);
    own.filter_map(move |keyword| map.slot(keyword)?.as_str()).chain(of_id)
}

/// Returns the name under which dynamic references find a schema. It is empty in draft 2019-09.
pub(super) fn dynamic_anchor<'d>(map: &'d Map<'d>, draft: Draft) -> Option<&'d str> {
    match draft {
        Draft::Draft201909 => map.slot("$recursiveAnchor").filter(|on| matches!(on, Value::Bool(true))).map(|_| ""),
        Draft::Draft202012 => map.slot("$dynamicAnchor")?.as_str(),
        _ => None,
    }
}

/// Returns the schemas in the value of a keyword, which is at `at`.
fn schemas<'d>(keyword: &str, value: &'d Value<'d>, at: &str) -> Vec<(String, &'d Value<'d>)> {
    let listed = || value.as_list().unwrap_or(&[]).iter().enumerate().map(|(n, item)| (format!("{at}/{n}"), item));
    match keyword {
        "$defs" | "definitions" | "dependencies" | "dependentSchemas" | "patternProperties" | "properties" => {
            let members = value.as_map().into_iter().flat_map(|map| map.slots());
            members.map(|(name, member)| (below(at, name), member)).collect()
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => listed().collect(),
        "items" if value.as_list().is_some() => listed().collect(),
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "else"
        | "if"
        | "items"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => vec![(at.to_owned(), value)],
        _ => Vec::new(),
    }
}

/// Returns the URL that a reference means in a document at `base`.
fn join(base: &str, reference: &str) -> String {
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    if reference.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme)) {
        return reference.to_owned();
    }
    let start = base.find("://").map_or(0, |at| at + 3);
    let (origin, path) = base.split_at(base[start..].find('/').map_or(base.len(), |at| start + at));
    let path = path.split('?').next().unwrap_or("");
    match (reference.strip_prefix("//"), reference.chars().next()) {
        (Some(_), _) => format!("{}{reference}", &base[..start.saturating_sub(2)]),
        (None, Some('/')) => format!("{origin}{}", without_dots(reference)),
        (None, Some('?')) => format!("{origin}{path}{reference}"),
        _ => {
            let folder = path.rfind('/').map_or("", |at| &path[..=at]);
            let slash = if folder.is_empty() && !origin.is_empty() { "/" } else { "" };
            format!("{origin}{slash}{}", without_dots(&format!("{folder}{reference}")))
        }
    }
}

/// Returns a path without `.` and `..`.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = path.split('/').peekable();
    while let Some(part) = rest.next() {
        match part {
            "." | ".." => {
                if part == ".." && parts.last().is_some_and(|last| !last.is_empty()) {
                    parts.pop();
                }
                if rest.peek().is_none() {
                    parts.push("");
                }
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The schemas of schemas by their URLs without `#`, as one JSON object: parts of the specification of JSON Schema, which its
/// authors license under BSD-3-Clause or AFL-3.0.
static META_SCHEMAS: LazyLock<Option<Data>> =
    LazyLock::new(|| serde_json::from_str(include_str!("metaschemas.json")).ok());

/// Maximum number of violations.
const VIOLATIONS: usize = 20;

/// Returns the schema of schemas at a URL, whatever its protocol.
pub fn meta_schema(url: &str) -> Option<&'static Data> {
    let path = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    if !path.starts_with("json-schema.org/") {
        return None;
    }
    let all = META_SCHEMAS.as_ref()?.as_map()?;
    all.iter().find(|(known, _)| known.split("//").nth(1) == Some(path)).map(|(_, found)| found)
}

/// Returns the places where a schema is none of its draft.
pub(super) fn errors(schema: Value<'_>, draft: Draft) -> Vec<SchemaError> {
    let Some(meta) = of_draft(draft) else { return Vec::new() };
    let found = meta.validate_part(Schema::ROOT, schema, VIOLATIONS, &mut |_| Ok::<(), ()>(())).unwrap_or_default();
    found.into_iter().map(|found| SchemaError::new(found.pointer.clone(), found.what())).collect()
}

/// Returns the schema of the schemas of a draft.
fn of_draft(draft: Draft) -> Option<&'static Schema> {
    static COMPILED: [OnceLock<Option<Schema>>; 6] = [const { OnceLock::new() }; 6];
    COMPILED.get(draft as usize)?.get_or_init(|| compile(draft)).as_ref()
}

fn compile(draft: Draft) -> Option<Schema> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::once(&names);
    let read = |url: &str| {
        let value = InputBuilder::new(&arena, &shapes).data(meta_schema(url)?).ok()?;
        arena.list(&[value]).as_list()?.first()
    };
    let url = draft.uri()?;
    let load = |url: &str| read(url).ok_or_else(String::new);
    Schema::compile(read(url)?, draft, Some(&Documents { url, load: &load })).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_relative_to_the_url_of_their_document() {
        for (base, reference, joined) in [
            ("https://e.x/a/b.json", "c.json", "https://e.x/a/c.json"),
            ("https://e.x/a/b.json", "./c/d.json", "https://e.x/a/c/d.json"),
            ("https://e.x/a/b.json", "../c.json", "https://e.x/c.json"),
            ("https://e.x/a/b.json", "../../../c.json", "https://e.x/c.json"),
            ("https://e.x/a/b.json", "/c.json", "https://e.x/c.json"),
            ("https://e.x/a/b.json", "//f.y/c.json", "https://f.y/c.json"),
            ("https://e.x/a/b.json", "http://f.y/c", "http://f.y/c"),
            ("https://e.x/a/b.json?q", "?r", "https://e.x/a/b.json?r"),
            ("https://e.x", "c.json", "https://e.x/c.json"),
            ("file:///values.schema.json", "schemas/x.json", "file:///schemas/x.json"),
            ("", "c.json", "c.json"),
        ] {
            assert_eq!(join(base, reference), joined, "{base} {reference}");
        }
    }
}

#[cfg(test)]
mod meta_tests {
    use super::*;

    #[test]
    fn every_draft_has_a_schema_of_schemas_that_fits_itself() {
        let found = |data: &Data, draft: Draft| {
            let (arena, names) = (Arena::new(), Arena::new());
            let shapes = Shapes::once(&names);
            errors(InputBuilder::new(&arena, &shapes).data(data).unwrap(), draft)
        };
        let bad: Data = serde_json::from_str(r#"{"not": {"not": {"title": 1}}}"#).unwrap();
        for draft in [Draft::Draft4, Draft::Draft6, Draft::Draft7, Draft::Draft201909, Draft::Draft202012] {
            assert_eq!(found(meta_schema(draft.uri().unwrap()).unwrap(), draft), [], "{draft:?}");
            let pointers: Vec<_> = found(&bad, draft).into_iter().map(|error| error.pointer).collect();
            assert_eq!(pointers, ["/not/not/title"], "{draft:?}");
        }
        assert!(meta_schema("https://json-schema.org/draft-07/schema").is_some());
        assert!(meta_schema("https://example.com/draft-07/schema").is_none());
    }
}
