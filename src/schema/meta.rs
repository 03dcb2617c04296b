//! The schemas of schemas.

use std::sync::{LazyLock, OnceLock};

use super::references::Documents;
use super::{Draft, Schema, SchemaError};
use dropforge_value::{Arena, Data, InputBuilder, Shapes, Value};

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
