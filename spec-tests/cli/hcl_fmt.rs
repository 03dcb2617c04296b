//! `dropforge hcl fmt`: standard output, written files, exit codes.

use crate::support::Sandbox;

const ROUGH: &str = "a{\nb=1\n}\n";
const NEAT: &str = "a {\n  b = 1\n}\n";

fn sandbox() -> Sandbox {
    Sandbox::with(&[("rough.tf", ROUGH), ("neat.hcl", NEAT), ("broken.hcl", "a = 'b'\n")])
}

#[test]
fn text_goes_to_standard_output() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&["hcl", "fmt", "rough.tf", "neat.hcl"]).expect(0).stdout, [NEAT, NEAT].concat());
    assert_eq!(sandbox.feed(&["hcl", "fmt"], ROUGH).expect(0).stdout, NEAT);
    assert_eq!(sandbox.feed(&["hcl", "fmt", "-"], "\u{feff}a=1").expect(0).stdout, "a = 1");
    assert_eq!(sandbox.read("rough.tf"), ROUGH);
}

#[test]
fn check_and_diff_write_nothing() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&["hcl", "fmt", "--check", "rough.tf", "neat.hcl"]).expect(3).stdout, "rough.tf\n");
    assert_eq!(sandbox.run(&["hcl", "fmt", "--check", "neat.hcl"]).expect(0).stdout, "");
    let diff = "--- rough.tf\n+++ rough.tf\n@@ -1,3 +1,3 @@\n-a{\n-b=1\n+a {\n+  b = 1\n }\n";
    assert_eq!(sandbox.run(&["hcl", "fmt", "--diff", "neat.hcl", "rough.tf"]).expect(3).stdout, diff);
    assert_eq!(sandbox.feed(&["hcl", "fmt", "--check", "-"], ROUGH).expect(3).stdout, "-\n");
    assert_eq!(sandbox.read("rough.tf"), ROUGH);
}

#[test]
fn files_are_written_in_place() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let sandbox = sandbox();
    let node = || std::fs::metadata(sandbox.path("neat.hcl")).unwrap().ino();
    let before = node();
    std::fs::set_permissions(sandbox.path("rough.tf"), std::fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(sandbox.run(&["hcl", "fmt", "-w", "rough.tf", "neat.hcl"]).expect(0).stdout, "rough.tf\n");
    assert_eq!((sandbox.read("rough.tf").as_str(), node()), (NEAT, before));
    assert_eq!(std::fs::metadata(sandbox.path("rough.tf")).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn directories_are_searched_when_asked_for() {
    let sandbox = Sandbox::with(&[
        ("d/a.tf", ROUGH),
        ("d/b/c.nomad", ROUGH),
        ("d/b/x.tfvars", "a=1\n"),
        ("d/b/e.txt", ROUGH),
        ("d/.terraform/m.tf", ROUGH),
        ("d/l.tofu", NEAT),
    ]);
    std::os::unix::fs::symlink("..", sandbox.path("d/b/up")).unwrap();
    std::os::unix::fs::symlink("a.tf", sandbox.path("d/z.tf")).unwrap();
    sandbox.run(&["hcl", "fmt", "d"]).expect(2).says(&["--recursive"]);
    let changed = "d/a.tf\nd/b/c.nomad\nd/b/x.tfvars\n";
    assert_eq!(sandbox.run(&["hcl", "fmt", "-r", "--check", "d", "d/a.tf"]).expect(3).stdout, changed);
    assert_eq!(sandbox.run(&["hcl", "fmt", "-rw", "d"]).expect(0).stdout, changed);
    assert_eq!(sandbox.run(&["hcl", "fmt", "-rw", "d"]).expect(0).stdout, "");
    assert_eq!((sandbox.read("d/b/e.txt").as_str(), sandbox.read("d/.terraform/m.tf").as_str()), (ROUGH, ROUGH));
}

#[test]
fn a_file_with_errors_is_left_alone_and_the_others_are_not() {
    let sandbox = sandbox();
    let run = sandbox.run(&["hcl", "fmt", "-w", "broken.hcl", "missing.hcl", "rough.tf"]).expect(1);
    let run = run.says(&["E0102", "broken.hcl:1:5", "missing.hcl"]);
    assert_eq!(run.stdout, "rough.tf\n");
    assert_eq!(sandbox.read("broken.hcl"), "a = 'b'\n");
    sandbox.feed(&["hcl", "fmt"], "a = {\n").expect(1).says(&["-:"]);
    let run = sandbox.feed(&["hcl", "fmt"], "a{\nb  =  [1\n").expect(1).says(&["E0103"]);
    assert_eq!(run.stdout, "a {\n  b = [1\n");
    for option in ["--check", "--diff"] {
        assert_eq!(sandbox.run(&["hcl", "fmt", option, "broken.hcl"]).expect(1).stdout, "");
    }
    std::fs::write(sandbox.path("latin.hcl"), b"a = \"\xE9\"\n").unwrap();
    sandbox.run(&["hcl", "fmt", "latin.hcl"]).expect(1).says(&["E0107"]);
    sandbox.run(&["hcl", "fmt", "-w", "-"]).expect(2).says(&["standard input"]);
    sandbox.run(&["hcl", "fmt", "--check", "-w", "rough.tf"]).expect(2);
}
