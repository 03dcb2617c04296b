//! Output names and links that lead out of the output directory, unwritable directories, system limits.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Sandbox, outcome};

#[test]
fn hostile_cluster_names_are_refused_before_anything_is_written() {
    let sandbox = Sandbox::with(&[("t/a.tera", "x")]);
    let long = "n".repeat(300);
    let names = [
        "../x",
        "/etc/x",
        "a/../../b",
        "CON",
        "nul.txt",
        "a\u{0}b",
        ".git/hooks/post-checkout",
        ".git",
        "..",
        ".",
        "-rf",
        "a b",
        "e\u{301}",
        "\u{e9}",
        "a\\b",
        "a.",
        "a\nb",
        &long,
    ];
    for name in names {
        let fleet = serde_json::json!([{"name": "good"}, {"name": name}]).to_string();
        sandbox.write("fleet.json", &fleet);
        let outcome = sandbox.run(&["stamp", "t", "--fleet", "fleet.json", "-o", "out/deep"]);
        outcome.expect(2).says(&["E0912"]);
        assert!(!sandbox.path("out").exists() && !sandbox.path("x").exists(), "{name:?}");
    }
}

#[test]
fn calls_with_many_arguments_take_no_square_of_them() {
    const MANY: usize = 100_000;
    let arguments = |name: char| (0..MANY).rev().map(|at| format!("{name}{at}=1")).collect::<Vec<_>>().join(",");
    let (known, unknown) = (arguments('a'), arguments('b'));
    let text =
        format!("{{% macro m({known}) %}}x{{% endmacro %}}{{{{ self::m({known}) }}}}{{{{ self::m({unknown}) }}}}");
    let sandbox = Sandbox::with(&[("a.tera", &text)]);
    let start = Instant::now();
    sandbox.run(&["check", "a.tera"]).expect(0).says(&["macro `m` has no argument `b99999`, so it is ignored"]);
    // The square takes minutes.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn names_that_differ_in_case_only_collide() {
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "x"), ("fleet.ndjson", "{\"name\":\"A\"}\n{\"name\":\"a\"}\n")]);
    sandbox.stamp(&[]).expect(2).says(&["E0915", "`A/a.yaml`", "`a/a.yaml`"]);
    assert!(!sandbox.path("out").exists());
}

#[test]
fn a_layout_cannot_lead_out() {
    let sandbox = Sandbox::fleet(1);
    sandbox.write("fleet.ndjson", "{\"name\":\"a\",\"n\":\"../../x\"}\n");
    for layout in [
        "../{cluster}/{template}",
        "/tmp/{cluster}/{template}",
        "{n}/{cluster}/{template}",
        "{cluster}/../../{template}",
    ] {
        sandbox.stamp(&["--layout", layout]).expect(2).says(&["E0912"]);
    }
    assert!(!sandbox.path("out").exists());
}

#[test]
fn links_are_never_written_through() {
    let sandbox = Sandbox::fleet(4);
    fs::create_dir_all(sandbox.path("out/c2")).unwrap();
    fs::create_dir_all(sandbox.path("victim")).unwrap();
    sandbox.write("victim/file", "keep");
    symlink(sandbox.path("victim"), sandbox.path("out/c1")).unwrap();
    symlink(sandbox.path("victim/file"), sandbox.path("out/c2/a.yaml")).unwrap();
    symlink(sandbox.path("victim/new"), sandbox.path("out/c2/b.yaml")).unwrap();
    sandbox.stamp(&[]).expect(4).says(&["E0903", "c1", "c2"]);
    assert_eq!(sandbox.tree("victim").into_iter().collect::<Vec<_>>(), [("file".to_owned(), "keep".to_owned())]);
    assert!(sandbox.path("out/c0/a.yaml").exists() && sandbox.path("out/c3/b.yaml").exists());
    assert!(sandbox.path("out/c2/b.yaml").is_symlink());
}

#[test]
fn a_link_for_the_output_directory_or_our_own_files_is_refused() {
    let sandbox = Sandbox::fleet(1);
    fs::create_dir(sandbox.path("victim")).unwrap();
    symlink("victim", sandbox.path("out")).unwrap();
    for out in ["out", "out/", "out/."] {
        sandbox.run(&["stamp", "t", "--fleet", "fleet.ndjson", "-o", out]).expect(1).says(&["E0903"]);
    }
    assert!(sandbox.tree("victim").is_empty());
    fs::remove_file(sandbox.path("out")).unwrap();
    fs::create_dir(sandbox.path("out")).unwrap();
    for (link, target) in [(".dropforge-manifest.json", "../victim/list"), (".dropforge", "../victim")] {
        symlink(target, sandbox.path("out").join(link)).unwrap();
        sandbox.stamp(&[]).expect(1).says(&["E0903"]);
        sandbox.stamp(&["--check"]).expect(1).says(&["E0903"]);
        fs::remove_file(sandbox.path("out").join(link)).unwrap();
    }
    sandbox.stamp(&[]).expect(0);
    for file in ["runs", "clusters/c0.state"] {
        let file = sandbox.path("out/.dropforge").join(file);
        fs::remove_file(&file).unwrap();
        symlink("../../victim/list", &file).unwrap();
        sandbox.stamp(&["--prune"]).expect(1).says(&["E0903"]);
        fs::remove_file(&file).unwrap();
        sandbox.stamp(&[]).expect(0).says(&["2 unchanged"]);
    }
    assert!(sandbox.tree("victim").is_empty());
}

#[test]
fn a_planted_temporary_name_is_stepped_around() {
    let sandbox = Sandbox::fleet(1);
    sandbox.write("victim", "keep");
    fs::create_dir_all(sandbox.path("out/c0")).unwrap();
    // The process id is not known yet, so take the names of a few thousand ids.
    let start = std::process::id();
    for pid in start..start + 3_000 {
        let _ = symlink(sandbox.path("victim"), sandbox.path(&format!("out/c0/.a.yaml.{pid}.0.dropforge.tmp")));
    }
    sandbox.stamp(&[]).expect(0);
    assert_eq!((sandbox.read("victim"), sandbox.read("out/c0/a.yaml")), ("keep".into(), "name: c0\nn: 1\n".into()));
}

#[test]
fn a_directory_in_the_place_of_a_file_fails_its_cluster() {
    let sandbox = Sandbox::fleet(2);
    fs::create_dir_all(sandbox.path("out/c1/b.yaml")).unwrap();
    sandbox.stamp(&[]).expect(4).says(&["E0902", "the output path is a directory"]);
    assert!(!sandbox.path("out/c1/a.yaml").exists() && sandbox.path("out/c0/b.yaml").exists());
}

/// Runs without root privileges, so that permissions apply even if the tests run as root.
fn unprivileged(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = sandbox.command(args);
    if rustix::process::geteuid().is_root() {
        let own = sandbox.path("dropforge");
        fs::copy(env!("CARGO_BIN_EXE_dropforge"), &own).unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(sandbox.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        command = Command::new(own);
        command.current_dir(sandbox.path("")).args(args).uid(65_534).gid(65_534);
    }
    command
}

#[test]
fn a_directory_that_may_not_be_written() {
    let sandbox = Sandbox::fleet(1);
    fs::create_dir(sandbox.path("out")).unwrap();
    fs::set_permissions(sandbox.path("out"), fs::Permissions::from_mode(0o555)).unwrap();
    let command = unprivileged(&sandbox, &["stamp", "t", "--fleet", "fleet.ndjson", "-o", "out"]);
    outcome(command).expect(1).says(&["E0902", "Permission denied"]);
    assert!(sandbox.tree("out").is_empty());
}

#[test]
fn a_file_size_limit_is_an_error_and_leaves_no_torn_file() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "small\n"),
        ("t/b.yaml.tera", "{% for i in range(end=n) %}a line of some length {{ i }}\n{% endfor %}"),
        ("fleet.ndjson", "{\"name\":\"x\",\"n\":1}\n{\"name\":\"y\",\"n\":5000}\n"),
    ]);
    sandbox.write("out/y/b.yaml", "old");
    let mut command = Command::new("sh");
    let line = format!(
        "ulimit -f 16; exec '{}' stamp t --fleet fleet.ndjson -o out -j 1 --force",
        env!("CARGO_BIN_EXE_dropforge")
    );
    command.current_dir(sandbox.path("")).args(["-c", &line]);
    outcome(command).expect(4).says(&["E0902", "File too large", "cluster: y"]);
    assert_eq!((sandbox.read("out/y/b.yaml"), sandbox.read("out/x/a.yaml")), ("old".into(), "small\n".into()));
    assert!(sandbox.tree("out").into_keys().all(|path| !path.contains("tmp")));
}

#[test]
fn a_few_open_files_are_enough() {
    let sandbox = Sandbox::fleet(300);
    let mut command = Command::new("sh");
    let line =
        format!("ulimit -n 48; exec '{}' stamp t --fleet fleet.ndjson -o out -j 4", env!("CARGO_BIN_EXE_dropforge"));
    command.current_dir(sandbox.path("")).args(["-c", &line]);
    outcome(command).expect(0);
    assert_eq!(sandbox.outputs("out").len(), 600);
}

#[test]
fn includes_stay_below_the_root() {
    let sandbox = Sandbox::with(&[("secret.tera", "s3cret"), ("fleet.ndjson", "{\"name\":\"a\"}\n")]);
    for name in ["../secret.tera", "../absent.tera", "/etc/passwd"] {
        sandbox.write("t/a.tera", &format!("{{% include \"{name}\" %}}"));
        let outcome = sandbox.stamp(&[]).expect(1);
        assert!(!outcome.stderr.contains("s3cret") && !outcome.stderr.contains("root:"));
    }
}
