//! Merges by RFC 7386, with the lists of Kubernetes that have keys ([`Type`]), and the directives of strategic merge: `$patch`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Failure;
use super::list_keys::{Field, Type};
use super::tree::{At, Entry, Part, Tree};
use dropforge_value::yaml::Style;

/// The key of a directive: `delete`, `replace` or `merge`.
const DIRECTIVE: &str = "$patch";

/// Directives that are refused, as patches for Kustomize do not have them.
const REFUSED: [&str; 3] = ["$setElementOrder/", "$deleteFromPrimitiveList/", "$retainKeys"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

type Result<T> = std::result::Result<T, Failure>;

/// Merges a patch into an object. Returns `None` for one that the patch deletes. The kind, the name and the namespace of the
/// object stay.
///
/// # Errors
/// Unknown directives; items of a list without their key.
pub(super) fn merge(object: &Tree, patch: &Tree) -> Result<Option<Tree>> {
    let Part::Map(entries) = &patch.part else {
        return Err(Failure::new(patch.at, format!("the patch of an object must be a map, found a {}", patch.kind())));
    };
    let Some(mut merged) = map(Some(object.clone()), patch.at, entries, Type::of(object))? else { return Ok(None) };
    keep(&mut merged, object, "kind");
    let (Some(metadata), Part::Map(entries)) = (object.get("metadata"), &mut merged.part) else {
        return Ok(Some(merged));
    };
    match entries.iter_mut().find(|entry| &*entry.name == "metadata") {
        Some(own) => ["name", "namespace"].into_iter().for_each(|name| keep(&mut own.value, metadata, name)),
        None => entries.extend(object.entries().iter().filter(|entry| &*entry.name == "metadata").cloned()),
    }
    Ok(Some(merged))
}

/// Gives a map the entry of another one, or takes it away if the other has none.
fn keep(map: &mut Tree, from: &Tree, name: &str) {
    let Part::Map(entries) = &mut map.part else { return };
    match from.entries().iter().find(|entry| &*entry.name == name) {
        Some(entry) => Tree::set(entries, name, entry.key.clone(), entry.value.clone()),
        None => entries.retain(|entry| &*entry.name != name),
    }
}

/// Merges a value. `None` is one that is missing, or that the patch removes. As with Kustomize, a plain scalar over a text in
/// quotes is a text: the value of an environment variable may be written as a number.
fn value(into: Option<Tree>, patch: &Tree, field: Option<&'static Field>) -> Result<Option<Tree>> {
    match (&patch.part, field) {
        (Part::Scalar(scalar), _) => Ok((!patch.is_null()).then(|| {
            let is_text = into.is_some_and(|into| into.is_quoted()) && scalar.style == Some(Style::Plain);
            if is_text { Tree { part: Part::Scalar(scalar.quoted()), ..patch.clone() } } else { patch.clone() }
        })),
        (Part::Map(entries), field) => map(into, patch.at, entries, Field::map(field)),
        (Part::List(items), Some(Field::List(keys, item))) => list(into, patch, items, (keys, item)),
        (Part::List(_), _) => Ok(Some(patch.clone())),
    }
}

fn map(into: Option<Tree>, at: At, patch: &[Entry], known: &'static Type) -> Result<Option<Tree>> {
    let directive = patch.iter().find(|entry| &*entry.name == DIRECTIVE);
    let directive = directive.map_or(Ok(Directive::Merge), |entry| directive_of(&entry.value))?;
    let mut merged = match (directive, into) {
        (Directive::Delete, _) => return Ok(None),
        (Directive::Merge, Some(into @ Tree { part: Part::Map(_), .. })) => into,
        _ => Tree::empty_map(at),
    };
    let Part::Map(entries) = &mut merged.part else { return Ok(None) };
    let mut places: HashMap<Arc<str>, usize> =
        entries.iter().enumerate().map(|(at, entry)| (entry.name.clone(), at)).collect();
    let mut removed = HashSet::new();
    for Entry { name, key, value: patch } in patch.iter().filter(|entry| &*entry.name != DIRECTIVE) {
        if let Some(refused) = REFUSED.iter().find(|refused| name.starts_with(**refused)) {
            let message = format!("`{}` is not supported", refused.trim_end_matches('/'));
            return Err(Failure::new(key.at, message).with_help("use operations: `json = [{ op = \"remove\", … }]`"));
        }
        let field = known.field(name);
        match places.get(name).and_then(|at| Some((*at, entries.get_mut(*at)?))) {
            Some((at, entry)) => {
                let own = std::mem::replace(&mut entry.value, Tree::empty_map(patch.at));
                match value(Some(own), patch, field)? {
                    Some(new) => entry.value = new,
                    None => _ = removed.insert(at),
                }
            }
            None => {
                if let Some(new) = value(None, patch, field)? {
                    places.insert(name.clone(), entries.len());
                    entries.push(Entry { name: name.clone(), key: key.clone(), value: new });
                }
            }
        }
    }
    let mut nth = 0..;
    entries.retain(|_| !nth.next().is_some_and(|at| removed.contains(&at)));
    Ok(Some(merged))
}

fn directive_of(value: &Tree) -> Result<Directive> {
    match value.as_text() {
        Some("merge") => Ok(Directive::Merge),
        Some("replace") => Ok(Directive::Replace),
        Some("delete") => Ok(Directive::Delete),
        other => {
            let message = format!("unknown directive `$patch: {}`", other.unwrap_or(value.kind()));
            Err(Failure::new(value.at, message).with_available(["delete", "merge", "replace"]))
        }
    }
}

/// Returns the directive of an item that is nothing else, which is one for the list.
fn of_list(item: &Tree) -> Option<&Tree> {
    match item.entries() {
        [entry] if &*entry.name == DIRECTIVE => Some(&entry.value),
        _ => None,
    }
}

/// Merges a list item by item. As with Kustomize, the items of the patch come first.
fn list(
    into: Option<Tree>,
    patch: &Tree,
    items: &[Tree],
    (keys, known): (&'static [&'static str], &'static Type),
) -> Result<Option<Tree>> {
    let directive = items.iter().find_map(of_list).map_or(Ok(Directive::Merge), directive_of)?;
    let own = match (directive, into) {
        (Directive::Delete, _) => return Ok(None),
        (Directive::Merge, Some(Tree { part: Part::List(own), .. })) => own,
        _ => Vec::new(),
    };
    let items = items.iter().filter(|item| of_list(item).is_none());
    let merged = match keys.split_first() {
        None => union(own, items),
        Some((first, _)) => by_key(own, items, (first, keys), known)?,
    };
    Ok(Some(Tree { at: patch.at, part: Part::List(merged), tag: None }))
}

/// Returns the scalars of both lists, those of the patch first.
fn union<'p>(own: Vec<Tree>, patch: impl Iterator<Item = &'p Tree>) -> Vec<Tree> {
    let mut seen = HashSet::new();
    let mut is_new = |item: &Tree| item.as_text().is_none_or(|text| seen.insert(text.to_owned()));
    patch.cloned().chain(own).filter(|item| is_new(item)).collect()
}

fn by_key<'p>(
    own: Vec<Tree>,
    patch: impl Iterator<Item = &'p Tree>,
    (first, keys): (&str, &'static [&'static str]),
    known: &'static Type,
) -> Result<Vec<Tree>> {
    let mut own = Keyed::new(own, keys);
    let (mut merged, mut seen) = (Vec::new(), HashSet::new());
    let patch: Vec<&Tree> = patch.collect();
    // As with Kustomize, items that are told apart by several keys stay in their places.
    let has_several = |item: &ItemKeys| item.iter().skip(1).any(Option::is_some);
    let stays = own.keys.iter().any(has_several) || patch.iter().any(|item| has_several(&keys_of(item, keys)));
    for item in patch {
        let (Part::Map(entries), Some(key)) = (&item.part, item.text_at(first)) else {
            let message = format!("an item of the list has no `{first}`, by which its items are merged");
            return Err(Failure::new(item.at, message));
        };
        let wanted = keys_of(item, keys);
        if !seen.insert(wanted.clone()) {
            return Err(Failure::new(item.at, format!("two items of the list have the `{first}` `{key}`")));
        }
        let mut alike = own.alike(&wanted).into_iter();
        let first = if stays { alike.clone().next() } else { alike.next() };
        if !stays || first.is_none() {
            let old = first.and_then(|at| own.items.get_mut(at)?.take());
            merged.extend(map(old, item.at, entries, known)?);
        }
        // A chart may have an item twice. The last one counts.
        for at in alike {
            let Some(slot) = own.items.get_mut(at) else { continue };
            *slot = map(slot.take(), item.at, entries, known)?;
        }
    }
    merged.extend(own.items.into_iter().flatten());
    Ok(merged)
}

/// The keys of an item, of which it may lack all but the first.
type ItemKeys = Vec<Option<String>>;

fn keys_of(item: &Tree, keys: &[&str]) -> ItemKeys {
    keys.iter().map(|key| item.text_at(key).map(str::to_owned)).collect()
}

/// The items of a list by their keys.
struct Keyed {
    /// The items that were not merged yet.
    items: Vec<Option<Tree>>,
    keys: Vec<ItemKeys>,
    exact: HashMap<ItemKeys, Vec<usize>>,
    /// The places of the items with a first key, and of those among them that lack another one.
    by_first: HashMap<String, (Vec<usize>, Vec<usize>)>,
}

impl Keyed {
    fn new(items: Vec<Tree>, keys: &[&str]) -> Self {
        let keys: Vec<ItemKeys> = items.iter().map(|item| keys_of(item, keys)).collect();
        let (mut exact, mut by_first): (HashMap<_, Vec<_>>, HashMap<_, (Vec<_>, Vec<_>)>) = <_>::default();
        for (at, own) in keys.iter().enumerate() {
            let Some(Some(first)) = own.first() else { continue };
            exact.entry(own.clone()).or_default().push(at);
            let (all, lacking) = by_first.entry(first.clone()).or_default();
            all.push(at);
            lacking.extend(own.contains(&None).then_some(at));
        }
        Self { items: items.into_iter().map(Some).collect(), keys, exact, by_first }
    }

    /// Returns the places of the items with these keys: of exactly these, or else of the first one that differs only in a key
    /// that one of them lacks.
    fn alike(&self, wanted: &ItemKeys) -> Vec<usize> {
        let is_left = |at: &&usize| self.items.get(**at).is_some_and(Option::is_some);
        let exact = self.exact.get(wanted).into_iter().flatten().filter(is_left).copied().collect::<Vec<_>>();
        if !exact.is_empty() {
            return exact;
        }
        let of_first = wanted.first().and_then(Option::as_ref).and_then(|first| self.by_first.get(first));
        let is_alike = |at: &&usize| {
            let pairs = self.keys.get(**at).into_iter().flatten().zip(wanted);
            pairs.into_iter().all(|(own, wanted)| own.is_none() || wanted.is_none() || own == wanted)
        };
        let near = of_first.map(|(all, lacking)| if wanted.contains(&None) { all } else { lacking });
        near.into_iter().flatten().filter(is_left).find(is_alike).copied().into_iter().collect()
    }
}
