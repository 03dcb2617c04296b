//! Tests of the rows of record batches.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray, StructArray};
use arrow_schema::{DataType, Field};

use super::*;
use crate::schema::{Schemas, ValuesSchema};
use crate::templates::tests::folder;
use crate::values::{SetKind, parse_set};
use crate::view::Merge;
use crate::{Fleet, FleetOptions, Format, Job, Layers, Layout, Options, Plan, Selector, Templates, Watch, stream};
use dropforge_base::text::Source;
use dropforge_engine::{Engine, language_extensions};
use dropforge_value::{Data, DataMap};

fn map(text: &str) -> DataMap {
    serde_json::from_str::<Data>(text).unwrap().into_map().unwrap()
}

/// Returns a table of clusters: `name` and `image.tag`.
fn table(clusters: &[(&str, Option<&str>)]) -> RecordBatch {
    let tags: ArrayRef = Arc::new(clusters.iter().map(|(_, tag)| *tag).collect::<StringArray>());
    let image = StructArray::from(vec![(Arc::new(Field::new("tag", DataType::Utf8, true)), tags)]);
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(clusters.iter().map(|(name, _)| *name)));
    RecordBatch::try_from_iter([("name", names), ("image", Arc::new(image) as ArrayRef)]).unwrap()
}

/// Returns a stamper of templates.
fn stamper(templates: Templates, names: &[&str], values: Layers, layout: &str, options: Options) -> RowStamper {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    let outputs = templates.outputs(names, None, false).unwrap();
    let run = Run::new(Box::new(templates), outputs, Layout::parse(layout).unwrap()).unwrap();
    RowStamper::new(Run { values, ..run }, options).unwrap()
}

/// Returns the outputs of rows, and the codes of errors.
fn rows(stamper: &RowStamper, batch: &RecordBatch) -> Vec<String> {
    let mut found = Vec::new();
    let add = &mut |output: RowOutput<'_>| match output {
        RowOutput::File { path, content, .. } => found.push(format!("{path}: {content}")),
        RowOutput::Failed { cluster, error } => found.push(format!("{cluster:?} {}", error.code.id())),
    };
    stamper.stamp(batch, add).unwrap();
    found
}

#[test]
fn outputs_are_those_of_a_run() {
    let clusters = [("eu", Some("v1")), ("us", None), ("ap", Some("v3"))];
    let line = |(name, tag): &(&str, Option<&str>)| match tag {
        Some(tag) => format!("{{\"name\":\"{name}\",\"image\":{{\"tag\":\"{tag}\"}}}}\n"),
        None => format!("{{\"name\":\"{name}\",\"image\":{{}}}}\n"),
    };
    let text = Source::new("fleet.ndjson", clusters.iter().map(line).collect::<String>());
    let fleet = Fleet::read(&text, Format::Ndjson, &FleetOptions::default()).unwrap();
    let (_temp, set) = folder(&[("a.tera", "{{ name }} {{ image.tag }} {{ image.repo }}\n"), ("b.tera", "{{ name }}")]);
    for (sets, merge) in [("", Merge::Deep), ("image.tag=v9", Merge::Deep), ("image.repo=x", Merge::Replace)] {
        let sets = parse_set(SetKind::Typed, sets, &mut |_| Ok(String::new())).unwrap();
        let layers = Layers::new([map(r#"{"image":{"tag":"v0","repo":"web"}}"#)], sets, merge);
        let templates = || Templates::compile(&set, None, Engine::builder()).unwrap();
        let (names, layout) = (["a.tera", "b.tera"], "{image.tag}/{cluster}/{template}");
        let outputs = names.iter().map(|name| Output::new((*name).to_owned(), &language_extensions())).collect();
        let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs, Layout::parse(layout).unwrap());
        let stamper = stamper(templates(), &names, layers.clone(), layout, Options::default());
        let found = rows(&stamper, &table(&clusters));
        let Ok(plan) = plan else {
            assert_eq!((merge, found[2].as_str()), (Merge::Replace, "Some(\"us\") E0913"), "{found:?}");
            continue;
        };
        let mut expected = Vec::new();
        let templates = templates();
        let run = templates.stamper(["a.tera", "b.tera"], &layers).unwrap();
        let options = Options { threads: 1, ..Options::default() };
        let job = Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch: Watch::none() };
        stream(&run, &job, &mut expected).unwrap();
        let shown = |output: &String| {
            let (path, content) = output.split_once(": ").unwrap();
            format!("---\n# Source: {path}\n{}\n", content.trim_end())
        };
        assert_eq!(found.iter().map(shown).collect::<String>(), String::from_utf8(expected).unwrap());
    }
}

#[test]
fn a_cluster_fails_alone() {
    let (_temp, set) = folder(&[("a.yaml.tera", "a: {{ image.tag }}\n")]);
    let templates = Templates::compile(&set, None, Engine::builder()).unwrap();
    let options = Options { check_outputs: true, ..Options::default() };
    let stamper = stamper(templates, &["a.yaml.tera"], Layers::default(), "{cluster}/{template}", options);
    let clusters = [
        ("a", Some("1")),
        ("b", None),
        ("", Some("2")),
        ("..", Some("3")),
        ("A", Some("4")),
        ("c", Some("[")),
        ("d", Some("5")),
    ];
    let expected = ["a/a.yaml: a: 1\n", "Some(\"b\") E0201", "None E0918", "Some(\"..\") E0912", "Some(\"A\") E0914"];
    let found = rows(&stamper, &table(&clusters));
    assert_eq!(found[..5], expected);
    assert_eq!(found[5..], ["Some(\"c\") E0906", "d/a.yaml: a: 5\n"]);
}

#[test]
fn schemas_concern_rows_too() {
    let (_temp, set) = folder(&[("a.tera", "{{ image.tag }}")]);
    let templates = Templates::compile(&set, None, Engine::builder()).unwrap();
    let schema = Source::new("s.json", r#"{"properties":{"image":{"properties":{"tag":{"maxLength":2}}}}}"#);
    let schemas = Schemas { schemas: vec![ValuesSchema::read(&schema).unwrap()], ..Schemas::default() };
    let layers = Layers::default().with_schemas(schemas).unwrap();
    let stamper = stamper(templates, &["a.tera"], layers, "{cluster}", Options::default());
    assert_eq!(rows(&stamper, &table(&[("a", Some("long")), ("b", Some("v1"))])), ["Some(\"a\") E0808", "b: v1"]);
}
