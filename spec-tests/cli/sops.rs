//! Files that SOPS encrypted, with a stand-in for `sops`.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::{Outcome, Sandbox, outcome};

const SECRET: &str = "S3cret-Pa55word";
const ENCRYPTED: &str =
    "db:\n  password: ENC[AES256_GCM,data:xx]\n  pin: ENC[x]\nsops:\n  kms: []\n  mac: ENC[AES256_GCM,data:yy]\n";

/// A sandbox with a `sops` that prints a text for each format, and notes its arguments.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "p: {{ db.password }}\nq: {{ db.password | b64encode }}\npin: {{ db.pin }}\nn: {{ n }}\n"),
        ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("c/values.yaml", "db: {password: none, pin: 0}\nfails: false\n"),
        (
            "c/templates/a.yaml",
            "a: {{ .Values.db.password | sha256sum }}\nb: {{ .Values.db.pin }}\nn: {{ .Values.n }}\n\
             {{ if .Values.fails }}{{ fail .Values.db.password }}{{ end }}",
        ),
        ("s.yaml", ENCRYPTED),
        ("bad.yaml", ENCRYPTED),
        ("long.yaml", ENCRYPTED),
        ("odd.yaml", ENCRYPTED),
        ("s.json", r#"{"db": {"password": "ENC[x]", "pin": 1}, "sops": {"mac": "ENC[y]"}}"#),
        ("s.env", "PASSWORD=ENC[x]\nsops_mac=ENC[y]\n"),
        ("clusters/eu.yaml", &format!("name: ENC[z]\n{ENCRYPTED}")),
        ("fleet.ndjson", "{\"name\": \"eu-1\"}\n{\"name\": \"us-1\"}\n"),
    ]);
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> \"$LOG\"\nfor file; do :; done\ncase \"$file\" in\n\
         *bad*) echo 'no key could decrypt the data' >&2; exit 128 ;;\n\
         *long*) while :; do echo 0123456789; done ;;\n\
         *odd*) echo 'a: [{SECRET}' ;;\n\
         *clusters*) echo 'name: eu-9'; printf 'db:\\n  password: {SECRET}\\n  pin: 77\\n' ;;\n\
         *.json) echo '{{\"db\": {{\"password\": \"{SECRET}\", \"pin\": 77}}}}' ;;\n\
         *.env) echo 'PASSWORD={SECRET}' ;;\n\
         *) printf 'db:\\n  password: {SECRET}\\n  pin: 77\\n' ;;\nesac\n"
    );
    sandbox.write("bin/sops", &script);
    std::fs::set_permissions(sandbox.path("bin/sops"), std::fs::Permissions::from_mode(0o755)).unwrap();
    sandbox
}

fn command(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = sandbox.command(args);
    let path = format!("{}:{}", sandbox.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    command.env("PATH", path).env("LOG", sandbox.path("log"));
    command
}

fn run(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    outcome(command(sandbox, args))
}

const ALLOW: [&str; 2] = ["--allow", "exec=sops"];

#[track_caller]
fn shows_none(outcome: &Outcome) {
    let text = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(!text.contains(SECRET) && !text.contains("77"), "{text}");
}

#[test]
fn ciphertext_is_an_error_without_permission() {
    let sandbox = sandbox();
    for args in [
        &["render", "t/a.yaml.tera", "-f", "s.yaml"][..],
        &["render", "t/a.yaml.tera", "-f", "s.json"],
        &["render", "t/a.yaml.tera", "-f", "s.env"],
        &["render", "c", "-f", "s.yaml"],
        &["stamp", "t", "--fleet", "fleet.ndjson", "-f", "s.yaml", "-o", "out"],
        &["stamp", "c", "--fleet", "fleet.ndjson", "-f", "s.yaml", "-o", "out"],
        &["stamp", "t", "--fleet", "clusters", "-o", "out"],
        &["check", "t", "-f", "s.yaml"],
        &["check", "c", "-f", "s.yaml"],
        &["values", "-f", "s.yaml"],
        &["eval", "1", "-f", "s.json"],
    ] {
        let refused = run(&sandbox, args);
        assert_ne!(refused.code, 0, "{args:?}");
        refused.says(&["E0811", "encrypted with SOPS", "`--allow exec=sops`", "sops -d"]);
    }
    assert!(!sandbox.path("log").exists() && !sandbox.path("out").exists());
    sandbox.write("dropforge.toml", "allow = 'exec=sops'\n");
    run(&sandbox, &["stamp", "t", "--fleet", "fleet.ndjson", "-f", "s.yaml", "-o", "out"])
        .expect(2)
        .says(&["`allow` cannot be set"]);
}

#[test]
fn files_are_decrypted_once_in_a_run_and_are_secret() {
    let sandbox = sandbox();
    for file in ["s.yaml", "s.json"] {
        let args = ["render", "t/a.yaml.tera", "-f", file, "--set", "n=1"];
        let text = run(&sandbox, &[&args[..], &ALLOW].concat()).expect(0).stdout;
        assert!(text.starts_with(&format!("p: {SECRET}\n")), "{text}");
    }
    std::fs::remove_file(sandbox.path("log")).unwrap();
    for set in ["t", "c"] {
        let stamp =
            ["stamp", set, "--fleet", "fleet.ndjson", "-f", "s.yaml", "-o", set, "--layout", "o/{cluster}/{template}"];
        let stamp = |more: &[&str]| run(&sandbox, &[&stamp[..], &ALLOW, more].concat());
        stamp(&["--set", "n=1"]).expect(0);
        assert_eq!(sandbox.read("log"), "-d ./s.yaml\n");
        std::fs::remove_file(sandbox.path("log")).unwrap();
        for format in ["text", "unified", "markdown", "json"] {
            let diff = stamp(&["--set", "n=2,db.pin=12345", "--diff", "--diff-format", format]).expect(3);
            shows_none(&diff);
            assert!(diff.stdout.contains('2') && diff.stdout.contains('…'), "{}", diff.stdout);
        }
        std::fs::remove_file(sandbox.path("log")).unwrap();
    }
    let failed = run(&sandbox, &[&["render", "c", "-f", "s.yaml", "--set", "fails=true"][..], &ALLOW].concat());
    shows_none(&failed.expect(1));
}

#[test]
fn clusters_are_decrypted_and_secret() {
    let sandbox = sandbox();
    let stamp = |more: &[&str]| {
        run(&sandbox, &[&["stamp", "t", "--fleet", "clusters", "-o", "out"][..], &ALLOW, more].concat())
    };
    stamp(&["--set", "n=1"]).expect(0);
    assert!(sandbox.read("out/eu-9/a.yaml").starts_with(&format!("p: {SECRET}\n")));
    let diff = stamp(&["--set", "n=2,db.password=other-Pa55word-1", "--diff"]).expect(3);
    shows_none(&diff);
    assert!(diff.stdout.contains("out/eu-9/a.yaml") && diff.stdout.contains("+n: 2"), "{}", diff.stdout);
    sandbox.write("t/a.yaml.tera", "{{ db.password + 1 }}");
    shows_none(&stamp(&[]).expect(4));
}

#[test]
fn a_decrypted_line_is_covered_in_excerpts() {
    let sandbox = sandbox();
    sandbox.write("t/a.yaml.tera", "p: {{ db.password }}\n");
    let unread = run(&sandbox, &[&["render", "t/a.yaml.tera", "-f", "s.yaml"][..], &ALLOW].concat()).expect(0);
    assert!(
        unread.stderr.contains("no template reads `db.pin`") && unread.stderr.contains("pin: **"),
        "{}",
        unread.stderr
    );
}

#[test]
fn a_program_that_fails_is_an_error_with_its_message() {
    let sandbox = sandbox();
    let render = |file: &str, more: &[&str]| {
        run(&sandbox, &[&["render", "t/a.yaml.tera", "-f", file][..], &ALLOW, more].concat())
    };
    render("bad.yaml", &[]).expect(1).says(&["E0811", "cannot decrypt `bad.yaml`", "no key could decrypt the data"]);
    render("long.yaml", &["--max-input", "1KiB"]).expect(1).says(&["printed more than 1 KiB", "--max-input"]);
    let odd = render("odd.yaml", &[]).expect(1).says(&["that cannot be parsed"]);
    shows_none(&odd);
    let mut none = sandbox.command(&[&["render", "t/a.yaml.tera", "-f", "s.yaml"][..], &ALLOW].concat());
    none.env("PATH", "");
    outcome(none).expect(1).says(&["there is no `sops` on `PATH`"]);
}
