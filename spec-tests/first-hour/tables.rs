//! Parquet and Arrow files as fleets.

use std::fs;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;

use crate::support::Sandbox;

const TEMPLATE: (&str, &str) = ("t/a.yaml.tera", "{{ id }} {{ region }}\n");

fn parquet(columns: &[(&str, &[Option<&str>])]) -> Vec<u8> {
    let column = |texts: &[Option<&str>]| Arc::new(StringArray::from_iter(texts.iter().copied())) as ArrayRef;
    let columns = columns.iter().map(|(name, texts)| (*name, column(texts), true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn a_parquet_fleet_is_stamped_as_the_same_lines() {
    let sandbox = Sandbox::with(&[
        TEMPLATE,
        ("lines/f.ndjson", "{\"id\":\"a\",\"region\":\"x\"}\n{\"id\":\"b\",\"region\":\"y\"}\n"),
    ]);
    let bytes = parquet(&[("id", &[Some("a"), Some("b")]), ("region", &[Some("x"), Some("y")])]);
    sandbox.write("rows/none", "");
    fs::write(sandbox.path("rows/f.parquet"), &bytes).unwrap();
    fs::write(sandbox.path("rows.bin"), &bytes).unwrap();
    let stamp = |out: &str, fleet: &[&str]| {
        sandbox.run(&[&["stamp", "t", "--name-key", "id", "-o", out, "--fleet"], fleet].concat()).expect(0);
        sandbox.tree(out)
    };
    let expected = stamp("lines-out", &["lines/f.ndjson"]);
    assert_eq!(expected["a/a.yaml"], "a x\n");
    for (out, fleet) in [
        ("a", &["rows/f.parquet"][..]),
        ("b", &["rows"]),
        ("c", &["rows.bin"]),
        ("d", &["rows.bin", "--fleet-format", "parquet"]),
        ("e", &["rows/*.parquet"]),
    ] {
        assert_eq!(stamp(out, fleet), expected, "{fleet:?}");
    }
    let redirected = sandbox.shell("-c", "dropforge stamp t --name-key id -o f --fleet - < rows.bin").status().unwrap();
    assert!(redirected.success());
    assert_eq!(sandbox.tree("f"), expected);
}

#[test]
fn errors_of_tables() {
    let sandbox = Sandbox::with(&[TEMPLATE, ("v.schema.json", r#"{"properties": {"region": {"maxLength": 1}}}"#)]);
    let bytes = parquet(&[("name", &[Some("a"), None]), ("region", &[Some("long"), None])]);
    fs::write(sandbox.path("f.parquet"), &bytes).unwrap();
    let stamp = ["stamp", "t", "-o", "out", "--fleet", "f.parquet"];
    sandbox.run(&stamp).expect(2).says(&["E0918", "row 2 has no name", "row 2 of `f.parquet`", "--name-key"]);
    let bytes = parquet(&[("name", &[Some("b"), Some("a")]), ("region", &[None, Some("long")])]);
    fs::write(sandbox.path("f.parquet"), &bytes).unwrap();
    sandbox.run(&[&stamp[..], &["--schema", "v.schema.json"]].concat()).expect(4).says(&["f.parquet:2:1"]);
    fs::write(sandbox.path("f.parquet"), &bytes[..bytes.len() / 2]).unwrap();
    sandbox.run(&stamp).expect(1).says(&["E0801", "cannot read `f.parquet` as Parquet"]);
    fs::write(sandbox.path("v.parquet"), bytes).unwrap();
    sandbox.run(&["render", "t", "-f", "v.parquet"]).expect(1);
}
