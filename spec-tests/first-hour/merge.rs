//! A cluster's values are merged deeply over the shared ones, in templates, selectors and layouts.

use crate::support::Sandbox;

const SHARED: &str = "app: {name: shared, port: 80, tags: [a, b]}\ntag: v1\ncluster: {env: dev, tier: small}\n";

/// A fleet of three clusters over shared values. `c` removes some of them.
fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("t/a.txt.tera", "{{ app | json_encode }} {{ tag | default(value='-') }}\n"),
        ("v.yaml", SHARED),
        (
            "fleet.ndjson",
            concat!(
                "{\"name\":\"a\"}\n",
                "{\"name\":\"b\",\"app\":{\"name\":\"own\",\"tags\":[\"c\"]},\"cluster\":{\"env\":\"prod\"}}\n",
                "{\"name\":\"c\",\"app\":{\"port\":null,\"more\":{\"x\":null}},\"tag\":null,\"cluster\":{\"tier\":null}}\n",
            ),
        ),
    ])
}

/// Stamps with these arguments and returns the outputs of the three clusters.
fn stamped(sandbox: &Sandbox, args: &[&str]) -> [String; 3] {
    sandbox.stamp(&[&["-f", "v.yaml"], args].concat()).expect(0);
    ["a", "b", "c"].map(|name| sandbox.read(&format!("out/{name}/a.txt")).trim_end().to_owned())
}

#[test]
fn maps_merge_by_key_lists_and_scalars_replace_and_null_removes() {
    let sandbox = sandbox();
    assert_eq!(
        stamped(&sandbox, &[]),
        [
            r#"{"name":"shared","port":80,"tags":["a","b"]} v1"#,
            r#"{"name":"own","port":80,"tags":["c"]} v1"#,
            r#"{"more":{"x":null},"name":"shared","tags":["a","b"]} -"#,
        ]
    );
}

#[test]
fn the_format_of_the_fleet_makes_no_difference() {
    let sandbox = sandbox();
    let from_lines = stamped(&sandbox, &[]);
    let list = format!("[{}]", sandbox.read("fleet.ndjson").trim_end().replace('\n', ","));
    sandbox.write("fleet.json", &list);
    sandbox.run(&["stamp", "t", "--fleet", "fleet.json", "-f", "v.yaml", "-o", "out"]).expect(0);
    let from_list = ["a", "b", "c"].map(|name| sandbox.read(&format!("out/{name}/a.txt")).trim_end().to_owned());
    assert_eq!(from_list, from_lines);
}

#[test]
fn sets_override_merged_values() {
    let sandbox = sandbox();
    assert_eq!(
        stamped(&sandbox, &["--set", "app.port=9,app.tags[0]=z,tag=null"]),
        [
            r#"{"name":"shared","port":9,"tags":["z","b"]} -"#,
            r#"{"name":"own","port":9,"tags":["z"]} -"#,
            r#"{"more":{"x":null},"name":"shared","port":9,"tags":["z","b"]} -"#,
        ]
    );
}

/// `docs/values.md` says so.
#[test]
fn a_null_of_an_option_only_removes() {
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "{{ z is defined }} {{ a }}\n"), ("v.yaml", "a: 1\nz: null\n")]);
    let render =
        |args: &[&str]| sandbox.run(&[&["render", "t/a.yaml.tera", "--set", "a=1"], args].concat()).expect(0).stdout;
    assert_eq!(render(&["-f", "v.yaml"]), "true 1\n");
    for option in [&["--set", "z=null"][..], &["--set-json", "z=null"], &["--set-json", "{\"z\": null}"]] {
        assert_eq!(render(option), "false 1\n", "{option:?}");
        assert_eq!(render(&[&["-f", "v.yaml"], option].concat()), "false 1\n", "{option:?}");
    }
    let page = include_str!("../../docs/values.md");
    assert!(page.contains("`--set image=null` and `--set-json image=null` only remove"));
}

#[test]
fn replacing_top_level_keys_is_an_option() {
    let sandbox = sandbox();
    let [_, own, third] = stamped(&sandbox, &["--merge", "replace"]);
    assert_eq!(own, r#"{"name":"own","tags":["c"]} v1"#);
    assert_eq!(third, r#"{"more":{"x":null},"port":null} -"#);
}

#[test]
fn selectors_and_layouts_see_merged_values() {
    let sandbox = sandbox();
    let args = ["-f", "v.yaml", "-l", "cluster.tier=small", "--layout", "{cluster.env}-{cluster.tier}/{cluster}.txt"];
    sandbox.stamp(&args).expect(0);
    let files: Vec<String> = sandbox.tree("out").into_keys().filter(|name| !name.starts_with('.')).collect();
    assert_eq!(files, ["dev-small/a.txt", "prod-small/b.txt"]);
    // A removed value is missing.
    let layout = ["-f", "v.yaml", "--layout", "{cluster.tier}/{cluster}.txt"];
    sandbox.stamp(&layout).expect(2).says(&["`cluster.tier`", "cluster: c"]);
}

#[test]
fn values_files_merge_by_the_same_rule() {
    let sandbox = Sandbox::with(&[
        ("ctx.tera", "{{ __tera_context }}"),
        ("a.yaml", "app: {name: x, port: 80}\nold: 1\n"),
        ("b.yaml", "app: {port: null}\nold: null\nnew: null\n"),
    ]);
    let text = sandbox.run(&["render", "ctx.tera", "-f", "a.yaml", "-f", "b.yaml"]).expect(0).stdout;
    let values: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(values.to_string(), r#"{"app":{"name":"x"},"new":null}"#);
}

#[test]
fn deep_values_merge_and_deeper_ones_are_refused() {
    let nested = |depth: usize, leaf: &str| format!("{}{leaf}{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let sandbox = Sandbox::with(&[("t/a.txt.tera", "{{ v | json_encode | length }}\n")]);
    let clusters = |depth| format!("{{\"name\":\"x\",\"v\":{}}}\n", nested(depth, "{\"own\":1}"));
    sandbox.write("v.yaml", &format!("v: {}\n", nested(100, "{\"shared\":1}")));
    sandbox.write("fleet.ndjson", &clusters(100));
    sandbox.stamp(&["-f", "v.yaml"]).expect(0);
    let length = nested(100, "{\"shared\":1,\"own\":1}").len();
    assert_eq!(sandbox.read("out/x/a.txt"), format!("{length}\n"));
    sandbox.write("fleet.ndjson", &clusters(10_000));
    sandbox.stamp(&["-f", "v.yaml"]).expect(4).says(&["E0602"]);
}
