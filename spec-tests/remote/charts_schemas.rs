//! `deps build --schemas`: documents of other servers that schemas of charts refer to.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::charts::World;
use crate::web::{Answer, Web};

/// Writes a chart whose schema is `schema`.
fn chart(world: &World, schema: &str) {
    world.write("top/Chart.yaml", "apiVersion: v2\nname: top\nversion: 1.0.0\n");
    world.write("top/values.yaml", "port: 80\n");
    world.write("top/values.schema.json", schema);
    let files = r#"kind: ConfigMap
metadata: {name: a}
data: {port: "{{ .Values.port }}", files: "{{ range $path, $_ := .Files }}{{ $path }} {{ end }}"}
"#;
    world.write("top/templates/a.yaml", files);
}

#[test]
fn schemas_at_urls_are_fetched_once_and_used_offline() {
    let world = World::new();
    let is_new = Arc::new(AtomicBool::new(false));
    let new = is_new.clone();
    let web = Web::start(move |request| match request.path() {
        "/a.json" => Answer::ok(br##"{"properties": {"port": {"$ref": "x/b.json#/$defs/port"}}}"##.to_vec()),
        "/x/b.json" if new.load(Ordering::SeqCst) => Answer::ok(br#"{"$defs": {"port": {"type": "string"}}}"#.to_vec()),
        "/x/b.json" => Answer::ok(br#"{"$defs": {"port": {"type": "integer"}}}"#.to_vec()),
        _ => Answer::status("404 Not Found", ""),
    });
    let login = format!("repositories:\n- {{name: r, url: '{}', username: u, password: s3cret}}\n", web.url());
    world.write("helm/repositories.yaml", login);
    let url = format!("{}/a.json", web.url());
    chart(&world, &format!("{{\"$ref\": \"{url}\"}}"));
    let is_refused = || {
        let error = world.fails(&["render", "top"]);
        let parts =
            ["the schema of a chart cannot be loaded", &url, "deps build --schemas", "--skip-schema-validation"];
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    is_refused();
    assert!(web.heads().is_empty());
    world.ok(&["deps", "build", "top", "--schemas"]);
    assert_eq!(web.heads().len(), 2, "{:?}", web.heads());
    assert!(!web.heads().iter().any(|head| head.to_lowercase().contains("authorization")));
    let lock = fs::read_to_string(world.path("top/dropforge.lock")).expect("a lock");
    assert!(lock.matches("[[schema]]").count() == 2 && lock.contains("/x/b.json\"\ndigest = \"sha256:"), "{lock}");
    web.forget();
    let shown = world.ok(&["render", "top"]);
    assert!(shown.contains(r#"{port: "80", files: "dropforge.lock "}"#), "{shown}");
    let suite = |port: &str, wanted: &str| {
        let test = format!("- it: x\n  set: {{port: {port}}}\n  asserts: [{wanted}]\n");
        world.write("top/tests/a_test.yaml", format!("templates: [templates/a.yaml]\ntests:\n{test}"));
        world.ok(&["test", "top"])
    };
    suite("81", "{equal: {path: data.port, value: '81'}}");
    suite("x", "{failedTemplate: {errorPattern: want integer}}");
    fs::remove_dir_all(world.path("top/tests")).expect("removed");
    world.ok(&["compile", "top", "-o", "top.mpk"]);
    for place in ["top", "top.mpk"] {
        world.ok(&["render", place, "--set", "port=81"]);
        let error = world.fails(&["render", place, "--set", "port=x"]);
        assert!(error.contains("got string, want integer"), "{place}: {error}");
    }
    world.ok(&["deps", "build", "top", "--schemas"]);
    assert!(web.heads().is_empty());
    // A project has them in its own lock.
    fs::rename(world.path("top/dropforge.lock"), world.path("old.lock")).expect("moved");
    let project = "fleet = [\"fleet.yaml\"]\n[output]\ndir = \"out\"\n[[release]]\nname = \"web\"\nchart = \"top\"\n";
    world.write("dropforge.toml", project);
    world.write("fleet.yaml", "- name: a\n");
    is_refused();
    assert!(world.fails(&["stamp"]).contains(&url));
    world.ok(&["deps", "build", "--schemas"]);
    world.ok(&["stamp"]);
    assert!(world.fails(&["stamp", "--set", "web:port=x"]).contains("want integer"));
    assert_eq!(fs::read(world.path("dropforge.lock")).ok(), fs::read(world.path("old.lock")).ok());
    // Without the cache they are fetched again, and have to be the same.
    fs::remove_dir_all(world.path("cache")).expect("removed");
    assert!(world.fails(&["stamp"]).contains(&url));
    world.ok(&["deps", "build", "--schemas"]);
    world.ok(&["stamp"]);
    is_new.store(true, Ordering::SeqCst);
    fs::remove_dir_all(world.path("cache")).expect("removed");
    let before = fs::read(world.path("dropforge.lock")).ok();
    let error = world.fails(&["deps", "build", "--schemas"]);
    assert!(error.contains("/x/b.json") && error.contains("deps update --schemas"), "{error}");
    assert!(!world.path("cache/schemas").exists() && fs::read(world.path("dropforge.lock")).ok() == before);
    world.ok(&["deps", "update", "--schemas"]);
    assert!(world.fails(&["stamp"]).contains("got number, want string"));
}

#[test]
fn schemas_of_lying_servers_change_nothing() {
    let world = World::new();
    let next = |path: &str| path[1..].parse::<usize>().map_or(0, |n| n + 1);
    let endless =
        Web::start(move |request| Answer::ok(format!("{{\"$ref\": \"/{}\"}}", next(request.path())).into_bytes()));
    let answers = |answer: Answer| Web::start(move |_| answer.clone());
    let long = format!("{{\"a\": \"{}\"}}", "x".repeat(4 << 20)).into_bytes();
    for (part, web) in [
        ("more than 200 documents", endless),
        ("is not JSON", answers(Answer::ok(b"<html>".to_vec()))),
        ("longer than", answers(Answer::ok(long))),
        ("404", answers(Answer::status("404 Not Found", ""))),
        ("redirects", answers(Answer::status("302 Found", "").header("Location: /again"))),
    ] {
        chart(&world, &format!("{{\"$ref\": \"{}/0\"}}", web.url()));
        let before = world.files("top");
        let error = world.fails(&["deps", "build", "top", "--schemas"]);
        assert!(error.contains(part), "{part}: {error}");
        assert!(world.files("top") == before && !world.path("cache/schemas").exists(), "{part}");
    }
}
