//! Input of any size and kind: every door has a bound, and every bound has its error.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::support::{Sandbox, outcome};

/// Command lines that read `/dev/zero`. `import` is a directory with a link to it.
const ENDLESS: &[&str] = &[
    "render t.tera -f /dev/zero",
    "render t.tera --set-file a=/dev/zero",
    "inspect /dev/zero",
    "disasm endless.mpk",
    "check endless.mpk",
    "check t.tera --var-types /dev/zero",
    "stamp t.tera --fleet fleet.ndjson -o out -f /dev/zero",
    "intent validate /dev/zero",
    "eval 1 -f /dev/zero",
    "eval 1 --lang cel --set-file a=/dev/zero",
    "hcl fmt /dev/zero",
    "catalog create t /dev/zero",
    "catalog create t t.tera --schema /dev/zero",
    "catalog update t /dev/zero",
    "catalog instantiate t --stack s -f /dev/zero",
    "catalog import import",
    "catalog list --server http://127.0.0.1:1 --key-file /dev/zero",
    "serve --init-key-file /dev/zero --listen 127.0.0.1:0",
];

/// The same for standard input.
const PIPED: &[&str] = &["render - --lang tera", "inspect -", "eval 1 -f -", "hcl fmt", "catalog create t -"];

#[test]
fn endless_input_is_refused_at_every_door() {
    let sandbox = Sandbox::with(&[("t.tera", "{{ a }}"), ("fleet.ndjson", "{\"name\":\"a\"}\n")]);
    std::fs::create_dir(sandbox.path("import")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", sandbox.path("import/t.tera")).unwrap();
    sandbox.write("endless.tera", &"x".repeat(70_000));
    sandbox.run(&["compile", "endless.tera", "-o", "endless.mpk"]).expect(0);
    sandbox.run(&["catalog", "create", "t", "t.tera"]).expect(0);
    let bounded = |line: &str| line.split(' ').chain(["--max-input", "64KiB"]).collect::<Vec<_>>().join(" ");
    let run = |line: &str| sandbox.run(&bounded(line).split(' ').collect::<Vec<_>>()).expect(1);
    for line in ENDLESS.iter().filter(|line| !line.contains("endless.mpk")) {
        run(line).says(&["E0901", "it is a device, not a file"]);
    }
    // A regular file that is too long is one at the same doors.
    sandbox.write("long", &"x".repeat(70_000));
    std::fs::remove_file(sandbox.path("import/t.tera")).unwrap();
    std::os::unix::fs::symlink("../long", sandbox.path("import/t.tera")).unwrap();
    for line in ENDLESS {
        run(&line.replace("/dev/zero", "long")).says(&["E0601", "is too long: the limit is 64 KiB", "--max-input"]);
    }
    for line in PIPED {
        let args = bounded(line);
        let outcome = sandbox.feed(&args.split(' ').collect::<Vec<_>>(), &"x".repeat(70_000));
        outcome.expect(1).says(&["E0601", "`-` is too long"]);
    }
    sandbox.run(&["render", "t.tera", "--max-input", "1 ton"]).expect(2).says(&["expected a size such as 64MiB"]);
}

#[test]
fn endless_input_of_hcl_decode_is_invalid() {
    let sandbox = Sandbox::with(&[("s.hcldec", "object {}\n"), ("t.hcl", "")]);
    sandbox.write("long", &"x".repeat(70_000));
    for line in ["-s /dev/zero t.hcl", "-s s.hcldec /dev/zero", "-s s.hcldec -V /dev/zero t.hcl"] {
        let args = ["hcl", "decode", "--max-input", "64KiB"].into_iter().chain(line.split(' '));
        let args: Vec<&str> = args.collect();
        sandbox.run(&args).expect(2).says(&["E0901", "cannot read `/dev/zero`: it is a device, not a file"]);
        let args: Vec<&str> = args.iter().map(|arg| if *arg == "/dev/zero" { "long" } else { arg }).collect();
        sandbox.run(&args).expect(2).says(&["E0601", "`long` is too long", "--max-input"]);
    }
    let piped = sandbox.feed(&["hcl", "decode", "-s", "s.hcldec", "--max-input", "64KiB"], &"\n".repeat(70_000));
    piped.expect(2).says(&["E0601", "`-` is too long"]);
}

#[test]
fn a_line_of_a_fleet_is_bounded_and_the_fleet_is_not() {
    let sandbox = Sandbox::with(&[("t.tera", "{{ name }}")]);
    let stamp = ["stamp", "t.tera", "--fleet", "fleet.ndjson", "-o", "out", "--max-input", "1KiB"];
    sandbox.write("fleet.ndjson", &format!("{{\"name\":\"a\",\"x\":\"{}\"}}\n", "x".repeat(17 << 20)));
    sandbox.run(&stamp).expect(1).says(&[
        "E0601",
        "a cluster of `fleet.ndjson` is too long: the limit is 16 MiB",
        "fleet.ndjson:1:1",
    ]);
    let line = format!("\"x\":\"{}\"", "x".repeat(2_000));
    sandbox.write("fleet.ndjson", &crate::support::clusters(20, |_| line.clone()));
    sandbox.run(&stamp).expect(0);
}

#[test]
fn sources_are_bounded_by_max_source() {
    let sandbox = Sandbox::new();
    sandbox.write("t.tera", &"x".repeat(5 << 20));
    sandbox.run(&["check", "t.tera"]).expect(0);
    sandbox.run(&["check", "t.tera", "--max-source", "4MiB"]).expect(1).says(&[
        "E0601",
        "4,194,304",
        "raise the limit with `--max-source SIZE` if",
    ]);
    sandbox.write("t.tera", &"x".repeat(17 << 20));
    sandbox.run(&["check", "t.tera"]).expect(1).says(&["E0601"]);
    sandbox.run(&["check", "t.tera", "--max-source", "32MiB"]).expect(0);
    sandbox.write("t.hcl", &"# a long comment line\n".repeat(250_000));
    sandbox.write("s.hcldec", "object {}\n");
    sandbox.run(&["hcl", "fmt", "--check", "t.hcl"]).expect(0);
    sandbox.run(&["hcl", "decode", "-s", "s.hcldec", "t.hcl"]).expect(0);
    sandbox.run(&["check", "t.tera", "--max-source", "1GiB"]).expect(2).says(&["at most 256MiB"]);
}

#[test]
fn a_pipe_is_no_template() {
    let sandbox = Sandbox::with(&[("t/a.tera", "x"), ("fleet.ndjson", "{\"name\":\"a\"}\n")]);
    let pipe = sandbox.path("t/p.tera");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    for args in [["render", "t/p.tera"], ["check", "t"], ["check", "t/p.tera"], ["disasm", "t/p.tera"]] {
        sandbox.run(&args).expect(1).says(&["E0901", "p.tera` is a pipe, not a file"]);
    }
    sandbox.stamp(&[]).expect(1).says(&["p.tera` is a pipe, not a file"]);
}

#[test]
fn values_may_come_from_a_pipe() {
    let sandbox = Sandbox::with(&[("t.tera", "{{ a }}")]);
    let outcome = outcome(sandbox.shell("-ec", "echo 'a: 5' | dropforge render t.tera -f /dev/stdin"));
    assert_eq!(outcome.expect(0).stdout, "5");
}

#[test]
fn a_name_that_is_not_utf8_is_left_out_of_a_directory_and_refused_as_an_argument() {
    let sandbox = Sandbox::with(&[("t/a.tera", "x")]);
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"b\xff.tera"));
    std::fs::write(sandbox.path("t").join(odd), "x").unwrap();
    sandbox.run(&["check", "t"]).expect(0).says(&[r"`b\xff.tera` was left out", "checked 1 template: 1 warning"]);
    sandbox.run(&["check", "t", "--strict"]).expect(1);
    sandbox.run(&["compile", "t", "-o", "a.mpk"]).expect(0).says(&[r"`b\xff.tera` was left out"]);
    let mut command = sandbox.command(&["check"]);
    command.arg(Path::new("t").join(odd));
    outcome(command).expect(2).says(&["is not UTF-8"]);
}

#[test]
fn a_file_with_many_errors_prints_a_hundred() {
    let many = |line: &dyn Fn(usize) -> String| (0..500).map(line).collect::<String>();
    let sandbox = Sandbox::with(&[
        ("filters.tera", &many(&|_| "{{ a | nope }}\n".to_owned())),
        ("syntax.tera", &many(&|_| "{{ 1 + }}\n".to_owned())),
        ("syntax.hcl", &many(&|_| "a = = 1\n".to_owned())),
        ("names.hcl", &many(&|at| format!("a{at} = b(1)\n"))),
        ("calls.tftpl", &many(&|at| format!("${{b{at}(1)}}\n"))),
        ("syntax.cel.yaml", &many(&|at| format!("k{at}: ${{1 +}}\n"))),
        ("keys.cel.yaml", &many(&|_| "a: 1\n".to_owned())),
        ("v.yaml", &many(&|_| "a: 1\n".to_owned())),
        ("x.tera", "x"),
    ]);
    let mut wrong = Vec::new();
    let checks = ["filters.tera", "syntax.tera", "syntax.hcl", "names.hcl", "calls.tftpl"];
    let checks = checks.into_iter().chain(["syntax.cel.yaml", "keys.cel.yaml"]);
    let runs = checks.map(|file| vec!["check", file]);
    for run in runs.chain([vec!["render", "x.tera", "-f", "v.yaml"], vec!["hcl", "fmt", "syntax.hcl"]]) {
        let found = sandbox.run(&run).expect(1);
        let count = found.stderr.matches("error[").count();
        if !(90..=100).contains(&count) || !found.stderr.contains("more diagnostics: the limit is 100") {
            wrong.push(format!("{run:?}: {count} errors, {} bytes", found.stderr.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_long_name_does_not_make_a_long_message() {
    let name = "n".repeat(1 << 20);
    let sandbox = Sandbox::with(&[("t.tera", &format!("{{{{ {name} }}}}"))]);
    let failed = sandbox.run(&["render", "t.tera"]).expect(1).says(&["E0201", "is not defined"]);
    assert!(failed.stderr.len() < 4_000, "{}", failed.stderr.len());
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    let sandbox = Sandbox::new();
    for args in ["--help", "--version", "stamp --help", "completions bash"] {
        let failed = outcome(sandbox.shell("-c", &format!("dropforge {args} > /dev/full")));
        failed.expect(1).says(&["E0902", "cannot write to standard output"]);
    }
}
