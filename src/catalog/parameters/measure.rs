//! How large a schema is, before anything is built of it: in itself, and once its references are followed.

use std::collections::HashMap;

use serde_json::{Map, Value as Json};

use super::local;

/// Levels of a schema.
const DEPTH: usize = 64;
/// Patterns of a schema.
const PATTERNS: usize = 256;
/// Levels, once references are followed.
const FOLLOWED: usize = 300;
/// Levels of schemas for one value.
const IN_PLACE: usize = 40;
/// Schemas that hold for one value, each as often as it is referred to.
const WEIGHT: u64 = 10_000;
/// Schemas, where they lead back to themselves.
const RECURSIVE: usize = 2000;

/// How many schemas hold for one value at most, each as often as it is referred to.
///
/// # Errors
/// What is too large, or refers to what is not in it.
pub(super) fn measured(document: &Json) -> Result<u64, String> {
    sized(document)?;
    let mut measure = Measure { root: document, known: HashMap::new(), recursive: false, heaviest: 1 };
    measure.visit(document, 0)?;
    if measure.recursive && measure.known.len() > RECURSIVE {
        return Err(format!("it leads back to itself and has more than {RECURSIVE} schemas"));
    }
    Ok(measure.heaviest)
}

/// That it is not too deep, has not too many patterns, and that its references are local.
fn sized(document: &Json) -> Result<(), String> {
    let (mut waiting, mut patterns) = (vec![(document, 1)], 0);
    while let Some((value, depth)) = waiting.pop() {
        if depth > DEPTH {
            return Err(format!("it nests deeper than {DEPTH} levels"));
        }
        patterns += usize::from(value.get("pattern").is_some_and(Json::is_string));
        patterns += value.get("patternProperties").and_then(Json::as_object).map_or(0, Map::len);
        if patterns > PATTERNS {
            return Err(format!("it has more than {PATTERNS} patterns"));
        }
        closed(value, depth)?;
        match value {
            Json::Array(items) => waiting.extend(items.iter().map(|item| (item, depth + 1))),
            Json::Object(map) => waiting.extend(map.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    Ok(())
}

/// That what a schema refers to is a place in the document.
fn closed(schema: &Json, depth: usize) -> Result<(), String> {
    let text = |key: &str| schema.get(key).and_then(Json::as_str);
    if let Some(id) = text("$id").filter(|_| depth > 1) {
        return Err(format!("a schema within it has the `$id` {id:?}: references are to places in the whole"));
    }
    for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
        if let Some(target) = text(key).filter(|target| *target != "#" && !(key == "$ref" && target.starts_with("#/")))
        {
            let target: String = target.chars().take(200).collect();
            return Err(format!("`{key}` leads to {target:?}, and may lead only to `#` or, a `$ref`, to `#/…`"));
        }
    }
    Ok(())
}

/// What is known of a schema: how many there are for one value, how many levels of them, and how many levels in all.
#[derive(Clone, Copy)]
struct Known {
    weight: u64,
    in_place: usize,
    levels: usize,
}

struct Measure<'s> {
    root: &'s Json,
    /// Nothing is known of those that are being measured.
    known: HashMap<*const Json, Option<Known>>,
    recursive: bool,
    heaviest: u64,
}

impl<'s> Measure<'s> {
    fn visit(&mut self, schema: &'s Json, depth: usize) -> Result<Known, String> {
        let known = match self.known.insert(std::ptr::from_ref(schema), None) {
            None => self.all_below(schema, depth)?,
            Some(Some(known)) => known,
            Some(None) => {
                self.recursive = true;
                return Ok(Known { weight: 1, in_place: 0, levels: 0 });
            }
        };
        self.known.insert(std::ptr::from_ref(schema), Some(known));
        self.heaviest = self.heaviest.max(known.weight);
        match () {
            () if depth + known.levels > FOLLOWED => Err(format!("its references lead deeper than {FOLLOWED} levels")),
            () if known.in_place > IN_PLACE => {
                Err(format!("more than {IN_PLACE} levels of schemas hold for one value"))
            }
            () if known.weight > WEIGHT => Err(format!("more than {WEIGHT} schemas hold for one value")),
            () => Ok(known),
        }
    }

    fn all_below(&mut self, schema: &'s Json, depth: usize) -> Result<Known, String> {
        if depth > FOLLOWED {
            return Err(format!("its references lead deeper than {FOLLOWED} levels"));
        }
        let mut all = Known { weight: 1, in_place: 1, levels: 1 };
        for other in local::perhaps(self.root, schema) {
            let known = self.visit(other, depth + 1)?;
            all.weight = all.weight.saturating_add(known.weight);
            all.in_place = all.in_place.max(known.in_place + 1);
            all.levels = all.levels.max(known.levels + 1);
        }
        for below in local::below(schema) {
            all.levels = all.levels.max(self.visit(below, depth + 1)?.levels + 1);
        }
        Ok(all)
    }
}
