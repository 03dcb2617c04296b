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
    refused(&format!("name,a[65536]\n{}", "x,1\n".repeat(9))).says(&["f.csv:6:3", "skip more than 262,144 list items"]);
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

#[test]
fn an_unclosed_quote_swallows_no_clusters() {
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "{{ note }}"), ("f.csv", "name,note\na,x\nb,y\nc,z\nd,w\n")]);
    let stamp = ["stamp", "t", "--fleet", "f.csv", "-o", "out", "--prune"];
    sandbox.run(&stamp).expect(0);
    let before = sandbox.tree("out");
    sandbox.write("f.csv", "name,note\na,x\nb,y\nc,\"z\nd,w\n");
    sandbox.run(&stamp).expect(1).says(&["E0801", "f.csv:4:3", "the quote is not closed"]);
    let piped = ["stamp", "t", "--fleet", "-", "--fleet-format", "csv", "-o", "out", "--prune"];
    sandbox.feed(&piped, &sandbox.read("f.csv")).expect(1).says(&["E0801", "-:4:3", "the quote is not closed"]);
    assert_eq!(sandbox.tree("out"), before);
    refused("name,note\n\"a\"b,x\n").says(&["f.csv:2:4", "the cell goes on after its closing quote", "doubled"]);
    // More rows than a part of the file has.
    let rows: String = (0..60_000).map(|nth| format!("c{nth},\"x, \"\"y\"\"\"\n")).collect();
    refused(&format!("name,note\nc,\"z\n{rows}")).says(&["f.csv:2:3", "the cell goes on after its closing quote"]);
    refused(&format!("name,note\n{rows}c,\"z\n")).says(&["f.csv:60002:3", "the quote is not closed"]);
}

#[test]
fn a_table_without_names_says_which_columns_it_has() {
    let refused = |csv: &str, args: &[&str]| {
        let sandbox = Sandbox::with(&[("t/a.yaml.tera", "x"), ("f.csv", csv)]);
        let outcome = sandbox.run(&[&["stamp", "t", "--fleet", "f.csv", "-o", "out"], args].concat()).expect(2);
        assert_eq!(outcome.stderr.matches("E0918").count(), 1);
        outcome
    };
    let outcome = refused("name;region;replicas\na;b;3\nc;d;4\n", &[]);
    outcome.says(&["f.csv:1:1", "the columns are name;region;replicas", "is `;` the separator?"]);
    refused("name\tn\na\t3\n", &[]).says(&["`--fleet-format tsv`"]);
    refused("n,Name\n1,a\n", &[]).says(&["the columns are n, Name", "is it `Name`? Then use `--name-key Name`"]);
    refused("cluster,n\na,1\n", &[]).says(&["is it `cluster`?"]);
    refused("x,n\na,1\n", &["--name-key", "y"]).says(&["`name` or `cluster.name` or `y`", "`--name-key PATH`"]);
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "x"), ("f.csv", "x,n\n")]);
    sandbox.run(&["stamp", "t", "--fleet", "f.csv", "-o", "out"]).expect(0);
}

#[test]
fn spaces_around_headers_are_errors() {
    refused("name, replicas\na, 3\n").says(&["f.csv:1:6", "column ` replicas` begins or ends with a space"]);
}

#[test]
fn other_encodings_are_named_with_their_place() {
    let refused = |bytes: &[u8], name: &str| {
        let sandbox = Sandbox::with(&[("t/a.yaml.tera", "x"), ("f.ndjson", "{\"name\": \"a\"}\n")]);
        std::fs::write(sandbox.path(name), bytes).unwrap();
        let fleet = if name.ends_with("csv") { name } else { "f.ndjson" };
        let values: &[&str] = if fleet == name { &[] } else { &["-f", name] };
        sandbox.run(&[&["stamp", "t", "--fleet", fleet, "-o", "out"], values].concat()).expect(1)
    };
    refused(b"name,city\na,M\xfcnchen\n", "f.csv").says(&[
        "E0107",
        "f.csv:2:4",
        "`iconv -f WINDOWS-1252 -t UTF-8 f.csv`",
    ]);
    refused(b"a: b\ncity: M\xfcnchen\n", "v.yaml").says(&["E0107", "v.yaml:2:8", "iconv"]);
    refused(b"\xff\xfen\0a\0m\0e\0\n\0", "f.csv").says(&["E0107", "f.csv:1:1", "`iconv -f UTF-16 -t UTF-8 f.csv`"]);
}

#[test]
fn values_have_the_places_of_their_cells() {
    let sandbox = Sandbox::with(&[("f.csv", "name,image.tag,\"a\"\nx,v1,1\n\"y\",v2,\"2\"\n")]);
    let shown = sandbox.run(&["values", "--fleet", "f.csv", "--cluster", "y", "--origins"]).expect(0).stdout;
    assert!(shown.contains("(f.csv:3:5)") && shown.contains("(f.csv:3:8)"), "{shown}");
}
