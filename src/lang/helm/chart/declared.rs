//! The names that a JSON Schema declares.

use std::collections::HashSet;

use super::schema::ChartSchema;
use dropforge_base::stdlib::json_pointer::names;
use dropforge_value::Data;

/// The keywords whose schemas apply to the same object.
const SAME: [&str; 6] = ["allOf", "anyOf", "oneOf", "then", "else", "if"];

/// Maximum number of schemas to look at.
const SEARCHED: usize = 10_000;

impl ChartSchema {
    /// Returns `true` if the schema declares the property at a path, or any property of an object on the way to it.
    pub fn declares(&self, path: &[&str]) -> bool {
        serde_json::from_str::<Data>(self.text()).is_ok_and(|root| declares(&root, path))
    }
}

fn declares(root: &Data, path: &[&str]) -> bool {
    let (mut open, mut seen) = (vec![(root, path)], HashSet::new());
    while let Some((schema, path)) = open.pop() {
        if !seen.insert((std::ptr::from_ref(schema), path.len())) || seen.len() > SEARCHED {
            continue;
        }
        let Some((name, rest)) = path.split_first() else { return true };
        match schema.get("properties").and_then(|properties| properties.get(name)) {
            Some(_) if rest.is_empty() => return true,
            Some(inner) => open.push((inner, rest)),
            None => {
                let open_keys = ["additionalProperties", "patternProperties"].map(|key| schema.get(key));
                if open_keys.into_iter().flatten().any(|declared| declared.as_map().is_some()) {
                    return true;
                }
            }
        }
        open.extend(target(root, schema).map(|target| (target, path)));
        for key in SAME {
            match schema.get(key) {
                Some(Data::List(items)) => open.extend(items.iter().map(|item| (item, path))),
                Some(one @ Data::Map(_)) => open.push((one, path)),
                _ => {}
            }
        }
    }
    false
}

/// Returns the schema that `$ref` names, in the same file.
fn target<'d>(root: &'d Data, schema: &Data) -> Option<&'d Data> {
    let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    names(pointer).try_fold(root, |data, name| data.get(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_found_through_references_and_combinations() {
        let schema = r##"{"properties": {"image": {"$ref": "#/$defs/image"}, "labels": {"additionalProperties": {}}},
            "allOf": [{"properties": {"extra": {}}}], "$defs": {"image": {"properties": {"tag": {}}, "$ref": "#/$defs/image"}}}"##;
        let root: Data = serde_json::from_str(schema).unwrap();
        for (path, known) in [
            (&["image"][..], true),
            (&["image", "tag"], true),
            (&["image", "tga"], false),
            (&["labels", "x"], true),
            (&["extra"], true),
            (&["imge"], false),
        ] {
            assert_eq!(declares(&root, path), known, "{path:?}");
        }
    }
}
