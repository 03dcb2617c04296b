//! A fleet from a spreadsheet.

use crate::support::{Outcome, Sandbox};

/// Stamps the context of every cluster of `fleet` and returns those of the clusters `names`.
fn contexts(fleet: (&str, &str), args: &[&str], names: &[&str]) -> Vec<String> {
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "{{ __tera_context }}"), fleet]);
    sandbox.run(&[&["stamp", "t", "--fleet", fleet.0, "-o", "out"], args].concat()).expect(0);
    let context = |name: &&str| {
        let text = sandbox.read(&format!("out/{name}/a.yaml"));
        serde_json::from_str::<serde_json::Value>(&text).unwrap().to_string()
    };
    names.iter().map(context).collect()
}

fn refused(csv: &str) -> Outcome {
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "x"), ("f.csv", csv)]);
    sandbox.run(&["stamp", "t", "--fleet", "f.csv", "-o", "out"]).expect(1)
}

#[test]
fn cells_are_typed_as_set_types_them() {
    let text = "name,on,off,none,n,zip,version,list,path\n007,true,FALSE,null,3,01234,1.5,\"{a,b}\",a\\b\n";
    let expected = r#"{"list":"{a,b}","n":3,"name":"007","none":null,"off":false,"on":true,"path":"a\\b","version":"1.5","zip":"01234"}"#;
    assert_eq!(contexts(("f.csv", text), &[], &["007"]), [expected]);
}

#[test]
fn the_name_column_is_text_wherever_it_is() {
    assert_eq!(contexts(("f.csv", "name\n1\n"), &[], &["1"]), [r#"{"name":"1"}"#]);
    assert_eq!(contexts(("f.csv", "cluster.name\n2\n"), &[], &["2"]), [r#"{"cluster":{"name":"2"}}"#]);
    let key = ["--name-key", "meta.id"];
    assert_eq!(contexts(("f.csv", "meta.id,n\ntrue,3\n"), &key, &["true"]), [r#"{"meta":{"id":"true"},"n":3}"#]);
}

#[test]
fn csv_types_strings_keeps_text() {
    let strings = ["--csv-types", "strings"];
    assert_eq!(contexts(("f.csv", "name,n,b\nx,1,true\n"), &strings, &["x"]), [r#"{"b":"true","n":"1","name":"x"}"#]);
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "x")]);
    let wrong = ["stamp", "t", "--fleet", "f.csv", "-o", "out", "--csv-types", "all"];
    sandbox.run(&wrong).expect(2).says(&["expected `set` or `strings`"]);
}

#[test]
fn an_empty_cell_is_absent() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "{{ tier | default(value='small') }} {{ region }}"),
        ("v.yaml", "region: shared\n"),
        ("f.csv", "name,tier,region\na,large,eu\nb,,\n"),
    ]);
    sandbox.run(&["stamp", "t", "--fleet", "f.csv", "-f", "v.yaml", "-o", "out"]).expect(0);
    assert_eq!(
        (sandbox.read("out/a/a.yaml"), sandbox.read("out/b/a.yaml")),
        ("large eu".into(), "small shared".into())
    );
}

#[test]
fn headers_are_paths() {
    let text =
        "name,image.tag,zones[0],zones[1],ports[0].number,topology\\.kubernetes\\.io/zone\na,v1,x,y,80,z\nb,,,,,\n";
    let expected = [
        r#"{"image":{"tag":"v1"},"name":"a","ports":[{"number":80}],"topology.kubernetes.io/zone":"z","zones":["x","y"]}"#,
        r#"{"name":"b"}"#,
    ];
    assert_eq!(contexts(("f.csv", text), &[], &["a", "b"]), expected);
    refused("name,a[65537]\n").says(&["E0801", "f.csv:1:6", "index 65537 is greater than 65,536"]);
    refused(&format!("name,{}x\n", "a.".repeat(99))).says(&["f.csv:1:6", "more than 30 nested names"]);
    refused(&format!("name,a[65536]\n{}", "x,1\n".repeat(9))).says(&["f.csv:6:1", "skip more than 262,144 list items"]);
}

#[test]
fn duplicate_and_empty_headers_are_errors_with_their_columns() {
    refused("name,env,env\na,b,c\n").says(&["E0801", "duplicate column `env`", "f.csv:1:10", "the other column"]);
    refused("\u{feff}name,,env,\na,b,c,d\n").says(&["column 2 has no name", "f.csv:1:7", "column 4 has no name"]);
    refused("name,env,env.zone\na,b,c\n").says(&["column `env.zone` conflicts with column `env`", "f.csv:1:10"]);
    refused("name,No.\na,1\n").says(&["column `No.`: empty name", "write `\\.`"]);
    refused("name,n\na,1\nb\nc,1,2\n").says(&["f.csv:3:1", "f.csv:4:1", "expected 2 cells as in the header, found 3"]);
}

#[test]
fn a_row_without_a_name_has_its_line() {
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "x"), ("f.csv", "name,n\na,1\n,2\n")]);
    sandbox.run(&["stamp", "t", "--fleet", "f.csv", "-o", "out"]).expect(2).says(&["E0918", "cluster 2", "f.csv:3:1"]);
}
