//! Fleets in every format and from every place.

use std::os::unix::fs::symlink;

use crate::support::{Outcome, Sandbox};

const TEMPLATE: (&str, &str) = ("t/a.yaml.tera", "{{ name }} {{ region }}\n");

/// Stamps `fleet` and returns the files without the manifest.
fn stamped(sandbox: &Sandbox, fleet: &[&str]) -> Vec<(String, String)> {
    std::fs::remove_dir_all(sandbox.path("out")).unwrap_or_default();
    sandbox.run(&[&["stamp", "t", "-o", "out"], fleet].concat()).expect(0);
    files(sandbox)
}

fn files(sandbox: &Sandbox) -> Vec<(String, String)> {
    sandbox.tree("out").into_iter().filter(|(path, _)| !path.starts_with('.')).collect()
}

fn expected() -> Vec<(String, String)> {
    [("a/a.yaml", "a x\n"), ("b/a.yaml", "b y\n")].map(|(path, text)| (path.to_owned(), text.to_owned())).to_vec()
}

#[test]
fn every_format_is_read_from_standard_input() {
    let sandbox = Sandbox::with(&[TEMPLATE]);
    let inputs = [
        ("yaml", "- {name: a, region: x}\n- {name: b, region: \"y\"}\n"),
        ("json", r#"[{"name":"a","region":"x"},{"name":"b","region":"y"}]"#),
        ("ndjson", "{\"name\":\"a\",\"region\":\"x\"}\n{\"name\":\"b\",\"region\":\"y\"}\n"),
        ("csv", "name,region\na,x\nb,y\n"),
        ("tsv", "name\tregion\na\tx\nb\ty\n"),
        ("toml", "[[cluster]]\nname = \"a\"\nregion = \"x\"\n[[cluster]]\nname = \"b\"\nregion = \"y\"\n"),
        ("hcl", "cluster \"a\" {\n  region = \"x\"\n}\ncluster \"b\" {\n  region = \"y\"\n}\n"),
    ];
    for (format, text) in inputs {
        std::fs::remove_dir_all(sandbox.path("out")).unwrap_or_default();
        sandbox.feed(&["stamp", "t", "--fleet", "-", "--fleet-format", format, "-o", "out"], text).expect(0);
        assert_eq!(files(&sandbox), expected(), "{format}");
    }
    let env = ["stamp", "t", "--fleet", "-", "--fleet-format", "env", "-o", "out-env"];
    sandbox.feed(&env, "export name=a # one cluster\nregion='x'\n").expect(0);
    assert_eq!(sandbox.read("out-env/a/a.yaml"), "a x\n");
    let unnamed = sandbox.feed(&["stamp", "t", "--fleet", "-", "-o", "out"], "name,region\na,x\n").expect(1);
    unnamed.says(&["E0804", "expected a cluster as a map, found string", "`--fleet-format`"]);
    let wrong = ["stamp", "t", "--fleet", "-", "--fleet-format", "xml", "-o", "out"];
    sandbox
        .run(&wrong)
        .expect(2)
        .says(&["the formats are `yaml`, `json`, `ndjson`, `csv`, `tsv`, `toml`, `hcl`, `env`, `parquet`, `arrow`"]);
}

#[test]
fn a_format_wins_over_the_name_of_the_file() {
    let sandbox = Sandbox::with(&[TEMPLATE, ("export.txt", "name,region\na,x\nb,y\n")]);
    assert_eq!(stamped(&sandbox, &["--fleet", "export.txt", "--fleet-format", "csv"]), expected());
}

#[test]
fn a_tsv_fleet() {
    let sandbox = Sandbox::with(&[TEMPLATE, ("f.tsv", "name\tregion\na\tx\n\"b\"\ty\n")]);
    assert_eq!(stamped(&sandbox, &["--fleet", "f.tsv"]), expected());
}

#[test]
fn a_toml_fleet() {
    let lists = |name: &str| format!("[[{name}]]\nname = 'a'\nregion = 'x'\n[[{name}]]\nname = 'b'\nregion = 'y'\n");
    let sandbox = Sandbox::with(&[TEMPLATE]);
    let tables = "[cluster.a]\nregion = 'x'\n[cluster.b]\nregion = 'y'\n".to_owned();
    let inline = "clusters = [{name = 'a', region = 'x'}, {name = 'b', region = 'y'}]\n".to_owned();
    for text in [lists("cluster"), lists("clusters"), tables, inline] {
        sandbox.write("f.toml", &text);
        assert_eq!(stamped(&sandbox, &["--fleet", "f.toml"]), expected(), "{text}");
    }
}

#[test]
fn errors_in_toml_have_places() {
    let sandbox = Sandbox::with(&[TEMPLATE]);
    let refused = |text: &str| -> Outcome {
        sandbox.write("f.toml", text);
        sandbox.run(&["stamp", "t", "--fleet", "f.toml", "-o", "out"])
    };
    let both = refused("[[cluster]]\nname = \nregion = 'x'\nregion = 'y'\n").expect(1);
    both.says(&["E0801", "f.toml:2:", "E0805", "duplicate key `region`", "f.toml:4:1"]);
    refused(&format!("{}a = 1\n", "a.".repeat(200_000))).expect(1).says(&["E0602", "f.toml:1:"]);
    refused(&format!("a = {}", "[".repeat(200_000))).expect(1).says(&["E0602", "f.toml:1:"]);
    refused("[[cluster]]\nregion = 'x'\n").expect(2).says(&["E0918", "cluster 1 has no name"]);
    refused("[cluster.a]\n[[clusters]]\n").expect(2).says(&["E0918", "other keys beside `cluster`"]);
}

#[test]
fn a_folder_is_all_data_files_below_it() {
    let sandbox = Sandbox::with(&[
        TEMPLATE,
        ("clusters/a.yaml", "name: a\nregion: x\n"),
        ("clusters/eu/b.toml", "name = 'b'\nregion = 'y'\n"),
        ("clusters/README.md", "# clusters"),
        ("clusters/.draft.yaml", "name: draft\n"),
    ]);
    symlink(sandbox.path("clusters"), sandbox.path("clusters/eu/loop")).unwrap();
    for fleet in ["clusters", "clusters/", "./clusters/."] {
        assert_eq!(stamped(&sandbox, &["--fleet", fleet]), expected(), "{fleet}");
    }
    sandbox.write("clusters/z.csv", "region,name\nz,c\nz,d\n");
    assert_eq!(stamped(&sandbox, &["--fleet", "clusters"]).len(), 4);
    sandbox.write("clusters/0.json", r#"{"region": "no name"}"#);
    let unnamed = sandbox.run(&["stamp", "t", "--fleet", "clusters", "-o", "out"]).expect(2);
    unnamed.says(&["E0918", "clusters/0.json"]);
    sandbox.write("notes/readme.md", "");
    let empty = sandbox.run(&["stamp", "t", "--fleet", "notes", "-o", "out"]).expect(2);
    empty.says(&["E0921", "no data file below `notes`", "`.toml`"]);
}

#[test]
fn several_fleets_are_one() {
    let sandbox = Sandbox::with(&[TEMPLATE, ("a.csv", "name,region\na,x\n"), ("b.toml", "name = 'b'\nregion = 'y'\n")]);
    assert_eq!(stamped(&sandbox, &["--fleet", "a.csv", "--fleet", "b.toml"]), expected());
    sandbox.write("c.yaml", "name: a\n");
    let twice = sandbox.run(&["stamp", "t", "--fleet", "a.csv", "--fleet", "b.toml", "--fleet", "c.yaml", "-o", "out"]);
    twice.expect(2).says(&["E0917", "`a` (cluster 1 of `a.csv` and cluster 1 of `c.yaml`)"]);
}

#[test]
fn a_pattern_that_the_shell_expanded_is_a_mistake() {
    let sandbox = Sandbox::with(&[
        TEMPLATE,
        ("clusters/a.yaml", "name: a\nregion: x\n"),
        ("clusters/b.yaml", "name: b\nregion: \"y\"\n"),
        ("fleets/a.hcl", "name = \"a\"\n"),
        ("fleets/b.hcl", "name = \"b\"\n"),
    ]);
    let expanded = ["the shell expanded the pattern: quote it, or name the folder", "`clusters/b.yaml` is a data file"];
    let run = |line: &str| crate::support::outcome(sandbox.shell("-c", &format!("dropforge stamp {line} -o out")));
    run("t --fleet clusters/*.yaml")
        .expect(2)
        .says(&expanded)
        .says(&["--fleet 'clusters/*.yaml'", "--fleet clusters`"]);
    run("--fleet clusters/* t").expect(2).says(&expanded);
    run("t --fleet fleets/*.hcl").expect(2).says(&["`fleets/b.hcl` is a data file", "--fleet fleets`"]);
    run("t --fleet 'clusters/*.yaml'").expect(0);
    assert_eq!(files(&sandbox), expected());
    // Templates may lie beside a fleet.
    sandbox.write("clusters/c.tera", "{{ name }}");
    run("clusters/c.tera --fleet clusters/a.yaml").expect(0);
    run("clusters/b.yaml --lang tera --fleet clusters/a.yaml").expect(0);
    sandbox.write("clusters/app.cel.yaml", "name: ${name}\n");
    run("t clusters/app.cel.yaml --fleet clusters/a.yaml").expect(0);
}
