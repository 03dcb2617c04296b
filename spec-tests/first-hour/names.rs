//! The names of outputs are those of their templates without the language.

use std::os::unix::fs::PermissionsExt;

use crate::support::Sandbox;

#[test]
fn text_gets_no_extension() {
    let sandbox = Sandbox::with(&[
        ("t/Dockerfile.tera", "FROM {{ name }}\n"),
        ("t/motd.tftpl", "hello ${name}\n"),
        ("t/bin/run.tower", "echo ${params.x}\n"),
        ("t/app.yaml.tera", "name: {{ name }}\n"),
        ("fleet.ndjson", "{\"name\": \"eu\", \"params\": {\"x\": 1}}\n"),
    ]);
    sandbox.stamp(&[]).expect(0);
    assert_eq!(sandbox.read("out/eu/Dockerfile"), "FROM eu\n");
    assert_eq!(sandbox.read("out/eu/motd"), "hello eu\n");
    assert_eq!(sandbox.read("out/eu/bin/run"), "echo 1\n");
    assert_eq!(sandbox.read("out/eu/app.yaml"), "name: eu\n");
    sandbox.run(&["compile", "t", "-o", "t.mpk"]).expect(0);
    sandbox.run(&["stamp", "t.mpk", "--fleet", "fleet.ndjson", "-o", "from"]).expect(0);
    assert_eq!(sandbox.tree("from/eu"), sandbox.tree("out/eu"));
}

#[test]
fn documents_keep_the_extension_of_their_format() {
    let sandbox = Sandbox::with(&[
        ("t/a.cel", "{'a': name}"),
        ("t/b.cel.yaml", "a: ${name}\n"),
        ("fleet.ndjson", "{\"name\": \"eu\"}\n"),
    ]);
    sandbox.stamp(&[]).expect(0);
    assert_eq!(sandbox.read("out/eu/a.json"), "{\"a\":\"eu\"}\n");
    assert_eq!(sandbox.read("out/eu/b.yaml"), "a: eu\n");
}

/// Sets the mode of a file.
fn set_mode(sandbox: &Sandbox, name: &str, mode: u32) {
    std::fs::set_permissions(sandbox.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(sandbox: &Sandbox, name: &str) -> u32 {
    std::fs::metadata(sandbox.path(name)).unwrap().permissions().mode() & 0o777
}

#[test]
fn executable_by_owner_carries_over_and_nothing_else() {
    let sandbox = Sandbox::with(&[
        ("t/run.sh.tera", "echo {{ name }}\n"),
        ("t/plain.sh.tera", "echo {{ name }}\n"),
        ("t/check.json", "{}\n"),
        ("fleet.ndjson", "{\"name\": \"eu\"}\n"),
    ]);
    set_mode(&sandbox, "t/run.sh.tera", 0o4711);
    set_mode(&sandbox, "t/check.json", 0o700);
    set_mode(&sandbox, "t/plain.sh.tera", 0o677);
    sandbox.run(&["compile", "t", "-o", "t.mpk"]).expect(0);
    let inspected = sandbox.run(&["inspect", "t.mpk"]).expect(0).stdout;
    assert!(inspected.contains("run.sh.tera (tera, executable)\n") && inspected.contains("plain.sh.tera (tera)\n"));
    sandbox.stamp(&[]).expect(0);
    sandbox.run(&["stamp", "t.mpk", "--fleet", "fleet.ndjson", "-o", "from"]).expect(0);
    let usual = mode(&sandbox, "fleet.ndjson");
    for path in ["out/eu/run.sh", "from/eu/run.sh", "out/eu/check.json"] {
        assert_eq!(mode(&sandbox, path), usual | 0o100, "{path}");
    }
    assert_eq!((mode(&sandbox, "out/eu/plain.sh"), mode(&sandbox, "from/eu/plain.sh")), (usual, usual));
    // One template to one file is no different.
    let render = |more: &[&str]| sandbox.run(&[&["render", "--set", "name=eu", "-v"], more].concat()).expect(0);
    render(&["t/run.sh.tera", "-o", "run.sh"]).says(&["run.sh: created"]);
    render(&["t.mpk", "--template", "run.sh.tera", "-o", "from.sh"]);
    render(&["t/plain.sh.tera", "-o", "plain.sh"]);
    let modes = ["run.sh", "from.sh", "plain.sh"].map(|name| mode(&sandbox, name));
    assert_eq!(modes, [usual | 0o100, usual | 0o100, usual]);
    set_mode(&sandbox, "run.sh", 0o640);
    render(&["t/run.sh.tera", "-o", "run.sh"]).says(&["run.sh: updated"]);
    render(&["t/run.sh.tera", "-o", "run.sh"]).says(&["run.sh: unchanged"]);
    assert_eq!(mode(&sandbox, "run.sh"), 0o740);
    sandbox.stamp(&["--check"]).expect(0);
    // The bit alone is a difference.
    set_mode(&sandbox, "out/eu/run.sh", 0o640);
    sandbox.stamp(&["--check"]).expect(3);
    sandbox.stamp(&[]).expect(0).says(&["1 changed"]);
    assert_eq!(mode(&sandbox, "out/eu/run.sh"), 0o740);
    // A file that is executable for reasons of its own stays so.
    set_mode(&sandbox, "out/eu/plain.sh", 0o755);
    sandbox.stamp(&["--set", "name=us"]).expect(0).says(&["2 changed"]);
    assert_eq!(mode(&sandbox, "out/eu/plain.sh"), 0o755);
}

#[test]
fn markup_is_escaped_with_and_without_the_extension_of_the_language() {
    let sandbox = Sandbox::with(&[
        ("t/a.html.tera", "{{ x }}"),
        ("t/a.tera.xml", "{{ x }}"),
        ("t/a.txt.tera", "{{ x }}"),
        ("t/page.html", "{{ x }}"),
    ]);
    let render =
        |name: &str, more: &[&str]| sandbox.run(&[&["render", name, "--set", "x=<"], more].concat()).expect(0).stdout;
    assert_eq!(render("t/a.html.tera", &[]), "&lt;");
    assert_eq!(render("t/a.tera.xml", &[]), "&lt;");
    assert_eq!(render("t/a.txt.tera", &[]), "<");
    assert_eq!(render("t/a.html.tera", &["--tera", "plain"]), "<");
    assert_eq!(render("t/a.tera.xml", &["--tera", "plain"]), "&lt;");
    sandbox.run(&["compile", "t", "-o", "t.mpk"]).expect(0);
    assert_eq!(render("t.mpk", &["-t", "a.html.tera"]), "&lt;");
    let refused = sandbox.run(&["render", "t/page.html"]).expect(2);
    refused.says(&["`--lang tera`", "`page.html.tera`, which the command escapes for HTML, too"]);
}
