//! Diffs show clusters with the same change together.

use std::process::Command;

use crate::support::{Outcome, Sandbox, outcome};

const APP: &str = "name: {{ name }}\nregion: {{ region }}\nspec:\n  image: web:{{ tag }}\n  replicas: {{ replicas }}\n";

/// Six stamped clusters in two regions.
fn stamped() -> Sandbox {
    let sandbox = Sandbox::with(&[("t/app.yaml.tera", APP), ("t/motd.txt.tera", "{{ motd }}\n")]);
    fleet(&sandbox, |_| (1, 2));
    stamp(&sandbox, &[]).expect(0);
    sandbox
}

/// Writes a fleet with the image tag and replicas that `of` returns for a number.
fn fleet(sandbox: &Sandbox, of: impl Fn(usize) -> (u32, u32)) {
    let one = |n: usize| {
        let ((tag, replicas), region) = (of(n), if n.is_multiple_of(2) { "eu" } else { "us" });
        format!("- {{name: c{n}, region: {region}, tag: {tag}, replicas: {replicas}, motd: hi}}\n")
    };
    sandbox.write("fleet.yaml", &(0..6).map(one).collect::<String>());
}

fn stamp(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    sandbox.run(&[&["stamp", "t", "--fleet", "fleet.yaml", "-o", "out"], more].concat())
}

#[test]
fn equal_changes_are_one_group_with_one_example() {
    let sandbox = stamped();
    fleet(&sandbox, |n| if n == 3 { (1, 7) } else { (1, 9) });
    let expected = "\
5 clusters: spec.replicas 2 → 9 (t/app.yaml.tera)
  out/c0/app.yaml
  @@ -2,4 +2,4 @@
   region: eu
   spec:
     image: web:1
  -  replicas: 2
  +  replicas: 9
c3: spec.replicas 2 → 7 (t/app.yaml.tera)
  out/c3/app.yaml
  @@ -2,4 +2,4 @@
   region: us
   spec:
     image: web:1
  -  replicas: 2
  +  replicas: 7
";
    assert_eq!(stamp(&sandbox, &["--diff"]).expect(3).stdout, expected);
    assert_eq!(stamp(&sandbox, &["--diff", "--diff-format", "summary", "-j", "1"]).expect(3).stdout, expected);
    let named = stamp(&sandbox, &["--diff", "-v"]).expect(3).stdout;
    assert!(named.contains("(t/app.yaml.tera)\n  clusters: c0, c1, c2, c4, c5\n  out/c0"), "{named}");
}

#[test]
fn several_scalars_and_other_lines() {
    let sandbox = stamped();
    fleet(&sandbox, |_| (5, 9));
    let both = stamp(&sandbox, &["--diff"]).expect(3).stdout;
    assert!(both.starts_with("6 clusters: spec.image web:1 → web:5, spec.replicas 2 → 9 (t/"), "{both}");
    sandbox.write("t/app.yaml.tera", &APP.replace("spec:\n", "spec:\n  more:\n  - {{ name }}\n"));
    let more = stamp(&sandbox, &["--diff"]).expect(3).stdout;
    assert!(more.starts_with("6 clusters: 4 lines added, 2 lines removed (t/app.yaml.tera)\n"), "{more}");
    let text = stamp(&sandbox, &["--diff", "--set", "motd=ho"]).expect(3).stdout;
    assert!(text.contains("6 clusters: 1 line added, 1 line removed (t/motd.txt.tera)\n"), "{text}");
}

#[test]
fn new_and_deleted_files_are_grouped() {
    let sandbox = stamped();
    sandbox.write("t/new.yaml.tera", "{% for i in range(end=30) %}k{{ i }}: {{ name }}\n{% endfor %}");
    std::fs::remove_file(sandbox.path("t/motd.txt.tera")).unwrap();
    let diff = stamp(&sandbox, &["--diff"]).expect(3).stdout;
    assert!(
        diff.starts_with("6 clusters: created (t/new.yaml.tera)\n  out/c0/new.yaml\n  @@ -0,0 +1,30 @@\n  +k0: c0\n")
    );
    assert!(diff.contains("  +k18: c0\n  … 11 more lines (`-v` prints them)\n"), "{diff}");
    assert!(diff.ends_with("6 clusters: deleted (t/motd.txt.tera)\n  out/c0/motd.txt\n"), "{diff}");
}

#[test]
fn a_unified_diff_is_a_patch() {
    for tool in [&["patch", "-p0"][..], &["git", "apply", "-p0"]] {
        let sandbox = stamped();
        fleet(&sandbox, |n| (u32::try_from(n).unwrap(), 9));
        std::fs::remove_file(sandbox.path("t/motd.txt.tera")).unwrap();
        sandbox.write("t/new.yaml.tera", "new: {{ name }}\n");
        let patch = stamp(&sandbox, &["--diff", "--diff-format", "unified"]).expect(3).stdout;
        sandbox.write("x.patch", &patch);
        if Command::new(tool[0]).arg("--version").output().is_err() {
            eprintln!("skipped: no {}", tool[0]);
            continue;
        }
        let applied = outcome(sandbox.shell("-c", &format!("{} < x.patch", tool.join(" "))));
        applied.expect(0);
        stamp(&sandbox, &["--check"]).expect(0);
        assert!(!sandbox.path("out/c0/motd.txt").exists());
    }
}

#[test]
fn json_has_a_line_for_each_group() {
    let sandbox = stamped();
    fleet(&sandbox, |_| (1, 9));
    let lines = stamp(&sandbox, &["--diff", "--diff-format", "json"]).expect(3).stdout;
    let groups: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(groups.len(), 1);
    let group = &groups[0];
    assert_eq!(group["clusters"], serde_json::json!(["c0", "c1", "c2", "c3", "c4", "c5"]));
    assert_eq!((&group["change"], &group["template"]), (&"update".into(), &"t/app.yaml.tera".into()));
    assert_eq!(group["values"], serde_json::json!([{"path": "spec.replicas", "old": "2", "new": "9"}]));
    assert_eq!((&group["path"], &group["files"]), (&"out/c0/app.yaml".into(), &6.into()));
    assert!(group["hunks"][0].as_str().unwrap().starts_with("@@ -2,4 +2,4 @@\n region: eu\n"));
}

#[test]
fn diffs_are_in_color_on_request() {
    let sandbox = stamped();
    fleet(&sandbox, |_| (1, 9));
    let diff = stamp(&sandbox, &["--diff", "--color", "always"]).expect(3).stdout;
    assert!(diff.starts_with("\u{1b}[1m6 clusters: spec.replicas 2 → 9\u{1b}[0m (t/"), "{diff:?}");
    assert!(diff.contains("  \u{1b}[31m-  replicas: 2\u{1b}[0m\n  \u{1b}[32m+  replicas: 9\u{1b}[0m\n"), "{diff:?}");
    assert!(!stamp(&sandbox, &["--diff"]).expect(3).stdout.contains('\u{1b}'));
    let patch = stamp(&sandbox, &["--diff", "--diff-format", "unified", "--color", "always"]).expect(3).stdout;
    assert!(patch.starts_with("\u{1b}[1m--- out/c0/app.yaml\u{1b}[0m\n"), "{patch:?}");
}

#[test]
fn one_file_for_all_has_a_diff_too() {
    let sandbox = stamped();
    let single = |more: &[&str]| {
        let stamp = ["stamp", "t/app.yaml.tera", "--fleet", "fleet.yaml", "--layout", "single", "-o", "all.yaml"];
        sandbox.run(&[&stamp[..], more].concat())
    };
    single(&[]).expect(0);
    fleet(&sandbox, |n| if n == 2 { (1, 9) } else { (1, 2) });
    let diff = single(&["--diff"]).expect(3).stdout;
    assert!(diff.starts_with("1 file: spec.replicas 2 → 9\n  all.yaml\n  @@ "), "{diff}");
    assert!(
        single(&["--diff", "--diff-format", "unified"]).expect(3).stdout.starts_with("--- all.yaml\n+++ all.yaml\n")
    );
}

#[test]
fn the_command_diff_is_stamp_with_a_diff() {
    let sandbox = stamped();
    fleet(&sandbox, |_| (1, 9));
    sandbox.write("dropforge.toml", "templates = [\"t\"]\nfleet = [\"fleet.yaml\"]\n[output]\ndir = \"out\"\n");
    let wanted = sandbox.run(&["stamp", "--diff", "-q"]).expect(3).stdout;
    assert!(wanted.starts_with("6 clusters: spec.replicas 2 → 9"), "{wanted}");
    for args in [&["diff", "-q"][..], &["-q", "-j", "1", "diff"], &["--color=never", "-C", ".", "diff", "--quiet", "t"]]
    {
        assert_eq!(sandbox.run(args).expect(3).stdout, wanted, "{args:?}");
    }
    let json = sandbox.run(&["diff", "--diff-format", "json"]).expect(3).stdout;
    assert!(json.starts_with("{\"change\":\"update\"") || json.contains("\"spec.replicas\""), "{json}");
    // Nothing was written, and the name is free for files and values.
    assert_eq!(sandbox.run(&["stamp", "--diff", "-q"]).expect(3).stdout, wanted);
    sandbox.write("diff", "name: {{ diff }}\n");
    let rendered = sandbox.run(&["render", "--no-project", "--lang", "tera", "diff", "--set", "diff=1"]).expect(0);
    assert_eq!(rendered.stdout, "name: 1\n");
    for asked in [&["diff", "-h"][..], &["diff", "--help"], &["help", "diff"]] {
        let help = sandbox.run(asked).expect(0).stdout;
        assert!(help.starts_with("Show what `stamp` would change") && !help.contains("--watch"), "{help}");
    }
    sandbox.run(&["diff", "--nope"]).expect(2).says(&["--nope"]);
    sandbox.run(&["diff", "--watch"]).expect(2).says(&["--watch"]);
}

#[test]
fn the_format_needs_a_diff() {
    stamp(&stamped(), &["--diff-format", "json"]).expect(2).says(&["--diff"]);
    stamp(&stamped(), &["--diff", "--diff-format", "xml"]).expect(2);
}

/// Clusters with a ConfigMap and a Deployment whose checksum is that of the cluster.
fn estate(sandbox: &Sandbox, count: usize) {
    sandbox.write(
        "t/app.yaml.tera",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  level: {{ level }}\n  of: {{ name }}\n---\n\
         apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  labels:\n    helm.sh/chart: web-{{ chart }}\n\
         \x20   app.kubernetes.io/version: \"{{ chart }}\"\nspec:\n  template:\n    metadata:\n      annotations:\n\
         \x20       checksum/config: {{ name }}{{ level }}{{ chart }}\n        rollme: {{ name }}{{ chart }}\n\
         \x20       built: {{ name }}{{ chart }}\n    spec:\n      containers:\n      - name: web\n        image: web:{{ tag }}\n",
    );
    sandbox.write("fleet.ndjson", &(0..count).map(|n| format!("{{\"name\": \"c{n}\"}}\n")).collect::<String>());
}

fn stamp_estate(sandbox: &Sandbox, set: &str, more: &[&str]) -> Outcome {
    let stamp = ["stamp", "t", "--fleet", "fleet.ndjson", "-o", "out", "--set", set, "--volatile", "built"];
    sandbox.run(&[&stamp[..], more].concat())
}

#[test]
fn checksums_are_folded_after_the_real_change() {
    let sandbox = Sandbox::new();
    estate(&sandbox, 300);
    stamp_estate(&sandbox, "level=info,chart=1.0.0,tag=1", &[]).expect(0);
    let diff = stamp_estate(&sandbox, "level=debug,chart=1.1.0,tag=1", &["--diff"]).expect(3);
    let expected = "\
300 clusters: ConfigMap web: data.level info → debug (t/app.yaml.tera)
  out/c0/app.yaml
  @@ -3,5 +3,5 @@
   metadata:
     name: web
   data:
  -  level: info
  +  level: debug
     of: c0
helm.sh/chart changed in 300 clusters
app.kubernetes.io/version changed in 300 clusters
checksum/config changed in 300 clusters
rollme changed in 300 clusters
built changed in 300 clusters
";
    assert_eq!(diff.stdout, expected);
    // Volatile changes alone are changes, too.
    let only = stamp_estate(&sandbox, "level=info,chart=1.0.1,tag=1", &["--diff"]).expect(3).stdout;
    assert_eq!(only.lines().count(), 5, "{only}");
    stamp_estate(&sandbox, "level=info,chart=1.0.1,tag=1", &["--check"]).expect(3);
    let both = stamp_estate(&sandbox, "level=info,chart=1.0.1,tag=2", &["--diff"]).expect(3).stdout;
    assert!(both.starts_with("300 clusters: Deployment web: spec.template.spec.containers[web].image web:1 → web:2 ("));
    assert!(!both.contains("+        checksum"), "{both}");
    sandbox.write("dropforge.toml", "[diff]\nvolatile = ['level', 'spec.template.spec.containers.web.*']\n");
    let folded = stamp_estate(&sandbox, "level=debug,chart=1.0.0,tag=2", &["--diff"]).expect(3).stdout;
    assert!(folded.contains("level changed in 300 clusters\n") && folded.contains("image changed in 300"), "{folded}");
    assert!(!folded.contains("@@"), "{folded}");
}

#[test]
fn an_object_is_the_same_wherever_it_lies() {
    let object = |kind: &str, value: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: {kind}-{{{{ name }}}}}}\nv: {value}\n")
    };
    let sandbox = Sandbox::with(&[
        ("fleet.csv", "name,first\na1,x\nb1,\nc1,x\n"),
        (
            "t/all.yaml.tera",
            &format!(
                "{{% if first %}}{}---\n{{% endif %}}{}---\n{}",
                object("A", "1"),
                object("B", "{{ n }}"),
                object("C", "1")
            ),
        ),
    ]);
    let stamp = |n: &str, more: &[&str]| {
        let stamp = ["stamp", "t", "--fleet", "fleet.csv", "-o", "out", "--set", n];
        sandbox.run(&[&stamp[..], more].concat())
    };
    stamp("n=1", &[]).expect(0);
    let diff = stamp("n=2", &["--diff"]).expect(3).stdout;
    assert!(diff.starts_with("3 clusters: B B-{cluster}: v 1 → 2 (t/all.yaml.tera)\n"), "{diff}");
    assert_eq!(diff.matches("@@ -").count(), 1, "{diff}");
    let json = stamp("n=2", &["--diff", "--diff-format", "json"]).expect(3).stdout;
    let group: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(group["operations"], serde_json::json!([{"op": "replace", "path": "/v", "from": 1, "value": 2}]));
    assert_eq!((&group["group"], &group["object"]["kind"]), (&1.into(), &"B".into()));
    // An object that goes is a group of its own.
    sandbox.write("fleet.csv", "name,first\na1,\nb1,\nc1,\n");
    let gone = stamp("n=1", &["--diff"]).expect(3).stdout;
    assert!(gone.starts_with("2 clusters: A A-{cluster}: deleted (t/all.yaml.tera)\n"), "{gone}");
    assert!(!gone.contains(": B"), "{gone}");
}

#[test]
fn a_long_line_is_shown_around_its_change() {
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "data: {{ a }}{{ n }}{{ b }}\n"), ("fleet.csv", "name\nc\n")]);
    sandbox.write("v.yaml", &format!("a: {}\nb: {}\n", "QUJD".repeat(5_000), "REVG".repeat(5_000)));
    let stamp = |n: &str, more: &[&str]| {
        let stamp = ["stamp", "t", "--fleet", "fleet.csv", "-o", "out", "-f", "v.yaml", "--set-string", n];
        sandbox.run(&[&stamp[..], more].concat())
    };
    stamp("n=11xx", &[]).expect(0);
    for format in ["text", "markdown", "json"] {
        let diff = stamp("n=22yy", &["--diff", "--diff-format", format]).expect(3).stdout;
        assert!(diff.contains("QUJD11xxREVG") && diff.contains("QUJD22yyREVG"), "{diff}");
        assert!(diff.contains("characters…") && diff.len() < 6_000, "{diff}");
    }
    let patch = stamp("n=22yy", &["--diff", "--diff-format", "unified"]).expect(3).stdout;
    assert!(patch.len() > 80_000);
}
