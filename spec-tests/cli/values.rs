//! `-f` and the `--set` family, as templates see them.

use crate::support::Sandbox;

/// Renders `{{ __tera_context }}` with these arguments and returns it as JSON without whitespace.
fn context(sandbox: &Sandbox, args: &[&str]) -> String {
    sandbox.write("ctx.tera", "{{ __tera_context }}");
    let text = sandbox.run(&[&["render", "ctx.tera"], args].concat()).expect(0).stdout;
    serde_json::from_str::<serde_json::Value>(&text).unwrap().to_string()
}

#[test]
fn files_merge_deeply_in_order_and_sets_come_last() {
    let sandbox = Sandbox::with(&[
        ("a.yaml", "app: {name: x, port: 80}\nlist: [1, 2]\n"),
        ("b.json", r#"{"app": {"port": 81}, "list": [3]}"#),
        ("c.yaml", ""),
    ]);
    let files = ["-f", "a.yaml", "-f", "b.json", "--values", "c.yaml"];
    assert_eq!(context(&sandbox, &files), r#"{"app":{"name":"x","port":81},"list":[3]}"#);
    let set = [&files[..], &["--set", "app.port=82,list[1]=z,new.deep=true"]].concat();
    assert_eq!(context(&sandbox, &set), r#"{"app":{"name":"x","port":82},"list":[3,"z"],"new":{"deep":true}}"#);
}

#[test]
fn the_order_of_the_command_line_decides() {
    let sandbox = Sandbox::with(&[("text.txt", "from file\n")]);
    let last = |args: &[&str]| context(&sandbox, args);
    assert_eq!(last(&["--set-string", "a=1", "--set", "a=2"]), r#"{"a":2}"#);
    assert_eq!(last(&["--set", "a=2", "--set-string", "a=1"]), r#"{"a":"1"}"#);
    assert_eq!(
        last(&["--set-file", "a=text.txt", "--set-json", r#"b={"c":[1,null]}"#]),
        r#"{"a":"from file\n","b":{"c":[1,null]}}"#
    );
    assert_eq!(last(&["--set-literal", r"a=x,y=\z", "--set", r"b=x\,y"]), r#"{"a":"x,y=\\z","b":"x,y"}"#);
}

#[test]
fn clusters_override_top_level_keys_and_sets_override_clusters() {
    let sandbox = Sandbox::with(&[
        ("t/a.tera", "{{ app | json_encode }} {{ tag | default(value='-') }}\n"),
        ("v.yaml", "app: {name: shared, port: 80}\ntag: v1\n"),
        ("fleet.ndjson", "{\"name\":\"a\"}\n{\"name\":\"b\",\"app\":{\"name\":\"own\"}}\n"),
    ]);
    sandbox.stamp(&["-f", "v.yaml", "--no-check-output"]).expect(0);
    assert_eq!(sandbox.read("out/a/a.yaml"), "{\"name\":\"shared\",\"port\":80} v1\n");
    assert_eq!(sandbox.read("out/b/a.yaml"), "{\"name\":\"own\"} v1\n");
    sandbox.stamp(&["-f", "v.yaml", "--set", "app.port=9,tag=null", "--no-check-output"]).expect(0);
    assert_eq!(sandbox.read("out/a/a.yaml"), "{\"name\":\"shared\",\"port\":9} -\n");
    assert_eq!(sandbox.read("out/b/a.yaml"), "{\"name\":\"own\",\"port\":9} -\n");
}

#[test]
fn mistakes_are_named() {
    let sandbox =
        Sandbox::with(&[("ctx.tera", ""), ("bad.yaml", "a: 1\nb: [1\n"), ("list.yaml", "- 1\n"), ("v.yaml", "a: 1\n")]);
    let render = |args: &[&str]| sandbox.run(&[&["render", "ctx.tera"], args].concat());
    render(&["--set", "a"]).expect(2).says(&["E0802", "`a` has no value"]);
    render(&["--set", "a[99999999]=1"]).expect(2).says(&["65,536"]);
    render(&["-f", "v.yaml", "--set", "a.b=1"]).expect(1).says(&["E0803", "expected a map at `a`, found integer"]);
    render(&["-f", "bad.yaml"]).expect(1).says(&["bad.yaml:"]);
    render(&["-f", "list.yaml"]).expect(1).says(&["list.yaml", "found list"]);
    render(&["-f", "none.yaml"]).expect(1).says(&["none.yaml"]);
    render(&["-f", "-", "-f", "-"]).expect(2).says(&["twice"]);
}
