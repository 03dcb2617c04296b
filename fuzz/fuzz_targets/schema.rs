//! JSON Schemas. Two YAML documents: a schema, in every draft and as `$schema`, and a value.

#![no_main]

use dropforge::Dialect;
use dropforge::schema::{Draft, Schema, Schemas};
use dropforge::text::Source;
use dropforge::value::{Arena, Data, InputBuilder, Shapes, yaml};
use dropforge_fuzz::limits;
use libfuzzer_sys::fuzz_target;

const DRAFTS: [Draft; 6] =
    [Draft::Template, Draft::Draft4, Draft::Draft6, Draft::Draft7, Draft::Draft201909, Draft::Draft202012];

fuzz_target!(|text: &str| {
    let Ok(documents) = yaml::read(&Source::new("s.yaml", text), &limits()) else { return };
    let mut documents = documents.iter().map(yaml::Node::to_data);
    let (Some(schema), value) = (documents.next(), documents.next().unwrap_or_default()) else { return };
    DRAFTS.into_iter().for_each(|draft| validate(&schema, &value, draft));
    if let (Ok(schema), Ok(value)) = (serde_json::to_string(&schema), serde_json::to_string(&value)) {
        dropforge_fuzz::render(
            Dialect::CelYaml,
            &format!("$schema: {{v: {schema}}}\nv: ${{v}}\n--- context\n{{\"v\": {value}}}"),
        );
    }
});

fn validate(schema: &Data, value: &Data, draft: Draft) {
    let schema = match Schema::read(schema, draft) {
        Ok(schema) => schema,
        Err(errors) => return errors.iter().for_each(|error| drop(format!("{error:?}"))),
    };
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    // Data of a file is not too deep.
    let value = InputBuilder::new(&arena, &shapes).data(value).expect("a value");
    let violations = |schema: &Schema| {
        let mut left = limits().fuel;
        let found = schema.validate(value, 20, &mut |steps| {
            left = left.checked_sub(steps).ok_or(())?;
            Ok::<(), ()>(())
        });
        found.map(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let found = violations(&schema);
    if draft == Draft::Template {
        let encoded = Schemas::text([("v", &schema)]);
        let again = Schemas::read(&encoded).unwrap_or_else(|| panic!("{encoded} is not read again"));
        assert_eq!(again.iter().map(|(_, schema)| violations(schema)).next(), Some(found), "{encoded}");
    }
}
