//! Layouts of outputs and selectors of clusters. The first line is a layout, the second a selector.

#![no_main]

use dropforge::bulk::{Layout, Merge, Selector, View, check_path};
use dropforge::value::{Data, DataMap};
use dropforge_fuzz::{inputs, report};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let data: Data = serde_json::from_value(inputs()).expect("the inputs are data");
    let (shared, own) = (data.into_map().expect("the inputs are a map"), DataMap::default());
    let (first, second) = text.split_once('\n').unwrap_or((text, text));
    match Layout::parse(first) {
        Err(error) => report([&*error]),
        Ok(layout) => {
            fill(&layout, &shared);
            match layout.of_documents() {
                Ok(layout) => fill(&layout, &shared),
                Err(error) => report([&*error]),
            }
        }
    }
    match Selector::parse(second) {
        Err(error) => report([&*error]),
        Ok(selector) => assert_eq!(
            selector.matches(&View::new(&shared, &own, Merge::Deep)),
            selector.matches(&View::new(&own, &shared, Merge::Deep)),
            "{second:?}"
        ),
    }
    View::new(&shared, &own, Merge::Replace).get(second);
});

fn fill(layout: &Layout, shared: &DataMap) {
    let _ = layout.names_field();
    let fields: Vec<String> = layout.fields().map(str::to_owned).collect();
    match layout.values("eu-1", &View::new(shared, &DataMap::default(), Merge::Deep)) {
        Err(error) => report([&*error]),
        Ok(values) => {
            let mut path = String::new();
            layout.fill("eu-1", "app.yaml", &values, &fields, &mut path);
            check_path(&path).unwrap_or_else(|error| report([&*error]));
        }
    }
}
