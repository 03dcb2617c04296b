//! Plain files beside templates are copied.

use crate::support::{Outcome, Sandbox};

const CRD: &str = "# a resource\nkind: CustomResourceDefinition\n";

fn sandbox() -> Sandbox {
    let files = [
        ("t/app.yaml.tera", "name: {{ name }}\n"),
        ("t/crd.yaml", CRD),
        ("t/sub/more.yml", "kind: A\r\n"),
        ("t/sub/data.json", "{\"a\": 1}\n"),
        ("t/notes.md", "notes\n"),
        // None of these is copied.
        ("t/_part.yaml", "a: 1\n"),
        ("t/.hidden.yaml", "a: 1\n"),
        ("t/.git/x.yaml", "a: 1\n"),
        ("t/values.yaml", "a: 1\n"),
        ("t/values-prod.yaml", "a: 1\n"),
        ("t/values.schema.json", "{}\n"),
        ("t/app.test.yaml", "a: 1\n"),
        ("t/dropforge.toml", "\n"),
        ("t/prod.yaml", "shared: 1\n"),
        ("t/fleet.json", "[{\"name\": \"eu\"}, {\"name\": \"us\"}]\n"),
    ];
    Sandbox::with(&files)
}

fn stamp(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    sandbox.run(&[&["stamp", "t", "--fleet", "t/fleet.json", "-f", "t/prod.yaml", "-o", "t/out"], more].concat())
}

fn files(sandbox: &Sandbox, out: &str) -> Vec<String> {
    sandbox.tree(out).into_keys().filter(|path| !path.starts_with('.')).collect()
}

#[test]
fn yaml_and_json_of_a_folder_are_copied_for_each_cluster() {
    let sandbox = sandbox();
    let said =
        "8 files for 2 clusters: 8 new, 0 unchanged; copied 3 files: `crd.yaml`, `sub/data.json`, `sub/more.yml`";
    stamp(&sandbox, &[]).expect(0).says(&[said]);
    let wanted = ["app.yaml", "crd.yaml", "sub/data.json", "sub/more.yml"];
    assert_eq!(files(&sandbox, "t/out/eu"), wanted);
    assert_eq!(files(&sandbox, "t/out/us"), wanted);
    assert_eq!(sandbox.read("t/out/eu/crd.yaml"), CRD);
    assert_eq!(sandbox.read("t/out/us/sub/more.yml"), "kind: A\r\n");
    // What lies below the output is not copied again.
    stamp(&sandbox, &[]).expect(0).says(&["8 unchanged", "copied 3 files"]);
    assert_eq!(files(&sandbox, "t/out/eu"), wanted);
}

#[test]
fn a_folder_without_a_fleet_is_copied_too() {
    let sandbox = sandbox();
    std::fs::remove_file(sandbox.path("t/fleet.json")).unwrap();
    let render = ["render", "t", "-f", "t/prod.yaml", "--set", "name=x"];
    sandbox.run(&[&render[..], &["-o", "out"]].concat()).expect(0).says(&["rendered 4 files: 4 new", "copied 3 files"]);
    assert_eq!(files(&sandbox, "out"), ["app.yaml", "crd.yaml", "sub/data.json", "sub/more.yml"]);
    let stream = sandbox.run(&render).expect(0).says(&["copied 3 files: `crd.yaml`"]).stdout;
    assert!(stream.starts_with(&format!("---\n# Source: crd.yaml\n{CRD}---\n# Source: ")), "{stream}");
    assert!(stream.contains("# Source: sub/data.json\n{\"a\": 1}\n"), "{stream}");
}

#[test]
fn globs_select_what_is_copied() {
    let sandbox = sandbox();
    stamp(&sandbox, &["--copy", "*.md", "--copy", "sub/*.json"]).expect(0).says(&["copied 2 files: `notes.md`"]);
    assert_eq!(files(&sandbox, "t/out/eu"), ["app.yaml", "notes.md", "sub/data.json"]);
    stamp(&sandbox, &["--copy", "none", "--prune", "--prune-force"]).expect(0).says(&["4 deleted"]);
    assert_eq!(files(&sandbox, "t/out/eu"), ["app.yaml"]);
    stamp(&sandbox, &["--copy", "*.txt"]).expect(2).says(&["`--copy *.txt` matches no file", "`--copy none`"]);
    stamp(&sandbox, &["--copy", "*.schema.json"]).expect(2).says(&["matches no file"]);
}

#[test]
fn files_named_one_by_one_are_not_accompanied() {
    let sandbox = sandbox();
    let one = ["stamp", "t/app.yaml.tera", "--fleet", "t/fleet.json", "-o", "out"];
    let outcome = sandbox.run(&one).expect(0);
    assert!(!outcome.stderr.contains("copied"), "{}", outcome.stderr);
    assert_eq!(files(&sandbox, "out/eu"), ["app.yaml"]);
    sandbox.run(&["compile", "t", "-o", "t.mpk"]).expect(0);
    sandbox.run(&["stamp", "t.mpk", "--fleet", "t/fleet.json", "-o", "from"]).expect(0);
    assert_eq!(files(&sandbox, "from/eu"), ["app.yaml"]);
}

#[test]
fn files_that_templates_include_are_not_copied() {
    let sandbox = sandbox();
    sandbox.write("t/b.tera", "{% include \"crd.yaml\" %}{{ name }}\n");
    sandbox.write("t/c.cel.yaml", "$include: sub/more.yml\n");
    stamp(&sandbox, &[]).expect(0).says(&["copied 1 file: `sub/data.json`"]);
}

#[test]
fn a_copy_that_looks_like_a_template_is_a_warning() {
    for (text, mark, name) in [
        ("a: '{{ name }}'\n", "{{", "crd.yaml.tera"),
        ("# {% if x %}\n", "{%", "crd.yaml.tera"),
        ("a: ${name}\n", "${", "crd.yaml.tftpl"),
    ] {
        let sandbox = sandbox();
        sandbox.write("t/crd.yaml", text);
        let warning = format!("warning: `crd.yaml` is copied as it is, but contains `{mark}`: name it `{name}`");
        let outcome = stamp(&sandbox, &[]).expect(0).says(&[&warning]);
        assert_eq!(outcome.stderr.matches("copied as it is").count(), 1, "{}", outcome.stderr);
        assert_eq!(sandbox.read("t/out/eu/crd.yaml"), text);
    }
}

#[test]
fn templates_of_other_tools_are_warnings() {
    let sandbox = sandbox();
    for name in ["a.yaml.j2", "b.tmpl", "c.cue", "d.ytt.yaml", "e.txt"] {
        sandbox.write(&format!("t/{name}"), "a: 1\n");
    }
    let warnings = |text: &str| {
        let lines = text.lines().filter(|line| line.starts_with("warning: "));
        lines.map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
    };
    let check = |more: &[&str], code| sandbox.run(&[&["check", "t"], more].concat()).expect(code);
    let checked = check(&[], 0).says(&["checked 1 template: 4 warnings"]);
    check(&["--strict"], 1);
    let outcome = stamp(&sandbox, &[]).expect(0).says(&[
        "warning: `a.yaml.j2` is neither rendered nor copied: name it `a.yaml.tera`",
        "warning: `b.tmpl` is neither rendered nor copied: name it `b.gotmpl`",
        "warning: `c.cue` is neither rendered nor copied: dropforge does not render its language",
        "warning: `d.ytt.yaml` is copied as it is: dropforge does not render its language",
    ]);
    assert!(!outcome.stderr.contains("e.txt"), "{}", outcome.stderr);
    assert_eq!(warnings(&checked.stderr), warnings(&outcome.stderr));
    stamp(&sandbox, &["--strict"]).expect(1).says(&["nothing is written: 5 warnings"]);
    let copied = stamp(&sandbox, &["--copy", "*.j2", "--copy", "*.tmpl", "--copy", "*.ytt.yaml"]).expect(0);
    let warnings = copied.stderr.lines().filter(|line| line.starts_with("warning: "));
    assert_eq!(warnings.count(), 1, "{}", copied.stderr);
}

#[test]
fn copies_are_checked_and_collide_like_other_outputs() {
    let sandbox = sandbox();
    sandbox.write("t/crd.yaml", "a: 1\na: 2\n");
    let outcome =
        stamp(&sandbox, &[]).expect(4).says(&["E0906", "2 clusters: ", "eu/crd.yaml:2:1", "template: crd.yaml"]);
    assert_eq!(outcome.stderr.matches("error[").count(), 1, "{}", outcome.stderr);
    stamp(&sandbox, &["--no-check-output"]).expect(0);
    sandbox.write("t/app.yaml", "a: 1\n");
    stamp(&sandbox, &[]).expect(2).says(&["E0914", "`eu/app.yaml`", "template `app.yaml`", "template `app.yaml.tera`"]);
}

#[test]
fn copies_have_documents() {
    let sandbox = sandbox();
    sandbox.write("t/app.yaml.tera", "kind: App\n");
    sandbox.write("t/sub/data.json", "{\"kind\": \"Data\"}");
    stamp(&sandbox, &["--layout", "{cluster}/{kind}"]).expect(0);
    assert_eq!(files(&sandbox, "t/out/eu"), ["A.yml", "App.yaml", "CustomResourceDefinition.yaml", "Data.json"]);
    assert_eq!(sandbox.read("t/out/us/CustomResourceDefinition.yaml"), CRD);
}

#[test]
fn no_file_about_templates_is_a_template_in_any_language() {
    let sandbox = sandbox();
    stamp(&sandbox, &["--lang", "tera", "--copy", "none"]).expect(0);
    let wanted = ["app.yaml", "crd.yaml", "notes.md", "sub/data.json", "sub/more.yml"];
    assert_eq!(files(&sandbox, "t/out/eu"), wanted);
}

#[test]
fn hostile_files_are_refused() {
    let sandbox = sandbox();
    sandbox.write("t/crd.yaml", &"a".repeat(3 << 20));
    stamp(&sandbox, &["--max-input", "2MiB"]).expect(1).says(&["t/crd.yaml` is too long", "--max-input"]);
    std::fs::write(sandbox.path("t/crd.yaml"), b"\xff").unwrap();
    stamp(&sandbox, &[]).expect(4).says(&["E0906", "it is not UTF-8 at byte 0", "template: crd.yaml"]);
    std::fs::remove_file(sandbox.path("t/crd.yaml")).unwrap();
    // Links out of the folder are not followed.
    std::os::unix::fs::symlink("/etc/hosts", sandbox.path("t/crd.yaml")).unwrap();
    stamp(&sandbox, &[]).expect(0).says(&["copied 2 files"]);
    assert!(!sandbox.path("t/out/eu/crd.yaml").exists());
    std::fs::remove_file(sandbox.path("t/crd.yaml")).unwrap();
    std::os::unix::fs::symlink("sub/data.json", sandbox.path("t/link.json")).unwrap();
    stamp(&sandbox, &[]).expect(0).says(&["copied 3 files"]);
    assert_eq!(sandbox.read("t/out/eu/link.json"), sandbox.read("t/sub/data.json"));
}

#[test]
fn files_that_are_not_text_are_copied_byte_for_byte() {
    let sandbox = sandbox();
    let (png, old) = ([0x89, b'P', b'N', b'G', 0, 0xff, b'{', b'{'], [0xffu8, 0xfe]);
    std::fs::write(sandbox.path("t/logo.png"), png).unwrap();
    let copy = ["--copy", "*.png"];
    let outcome = stamp(&sandbox, &copy).expect(0).says(&["copied 1 file: `logo.png`"]);
    assert!(!outcome.stderr.contains("is copied as it is"), "{}", outcome.stderr);
    assert_eq!(std::fs::read(sandbox.path("t/out/us/logo.png")).unwrap(), png);
    stamp(&sandbox, &[&copy[..], &["--check"]].concat()).expect(0);
    // One byte that is no text differs from another.
    std::fs::write(sandbox.path("t/logo.png"), old).unwrap();
    stamp(&sandbox, &[&copy[..], &["--check"]].concat()).expect(3);
    stamp(&sandbox, &[&copy[..], &["--diff"]].concat()).expect(3);
    stamp(&sandbox, &copy).expect(0).says(&["2 changed, 2 unchanged"]);
    assert_eq!(std::fs::read(sandbox.path("t/out/eu/logo.png")).unwrap(), old);
    let stream = ["render", "t", "--set", "name=x", "--copy", "*.png"];
    sandbox.run(&stream).expect(2).says(&["`logo.png` is not text, and a stream holds only text"]);
    sandbox.run(&[&stream[..], &["-o", "one"]].concat()).expect(0);
    // YAML has to be text.
    std::fs::write(sandbox.path("t/latin.yaml"), b"a: \xe9\n").unwrap();
    let yaml = ["--copy", "latin.yaml"];
    let what = "E0906]: 2 clusters: the output is not valid YAML: it is not UTF-8 at byte 3";
    stamp(&sandbox, &yaml).expect(4).says(&[what, "template: latin.yaml"]);
    stamp(&sandbox, &[&yaml[..], &["--unchecked", "**/latin.yaml"]].concat()).expect(0);
    assert_eq!(std::fs::read(sandbox.path("t/out/eu/latin.yaml")).unwrap(), b"a: \xe9\n");
}
